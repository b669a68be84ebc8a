//! The flame graph as SVG, to be read without a program: a frame's whole name, time and share come
//! up when it is pointed at.

use std::fmt::Write;

use crate::device::driver::Nanoseconds;
use crate::profiler::event::Kind;
use crate::profiler::flame_graph::{FlameGraph, Frame};
use crate::profiler::table::{share, time};

/// Pixels: the figure's width, its margin, and the height of a frame.
const WIDTH: u64 = 1000;
const MARGIN: u64 = 10;
const ROW: usize = 18;
/// Above the frames: the title, and what the colours mean.
const HEAD: usize = 58;
/// Below them: what was left out, and whose clock it was.
const FOOT: usize = 26;
/// Tenths of a pixel that a letter takes: in fonts of one width 0.6 of their size, which is 12.
const LETTER: u64 = 73;
/// Hundredths of a pixel. Narrower frames are left out.
const NARROW: u64 = 10;

/// What stands under all frames.
const ALL: &str = "#dcdcdc";

/// Light, so that dark text can be read on each (at least 4.5 to 1), on a light page or a dark one.
fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Step => "#e8e0b0",
        Kind::Range => "#f7d98b",
        Kind::Module => "#a9cff2",
        Kind::Op => "#aadfb6",
        Kind::Backward => "#d8c1f0",
        Kind::Call(_) => "#f5b7a8",
        Kind::Kernel => "#f2ac6b",
        Kind::Copy => "#9bdce2",
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Step => "step",
        Kind::Range => "range",
        Kind::Module => "module",
        Kind::Op => "operation",
        Kind::Backward => "backward pass",
        Kind::Call(_) => "call to the device",
        Kind::Kernel => "kernel",
        Kind::Copy => "copy",
    }
}

impl FlameGraph {
    /// The figure as SVG text.
    pub fn svg(&self, title: &str) -> String {
        let levels = 1 + self.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(0);
        let height = HEAD + levels * ROW + FOOT;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\" \
             fill=\"currentColor\">\n<text x=\"{MARGIN}\" y=\"22\" font-family=\"sans-serif\" \
             font-size=\"17\">{}</text>\n",
            escaped(title)
        );
        out += &self.key();
        let place = |depth: usize| HEAD + (levels - 1 - depth) * ROW;
        let all = Frame {
            name: "all".to_string(),
            kind: Kind::Range,
            depth: 0,
            calls: 0,
            start_ns: 0,
            total_ns: self.total_ns,
            self_ns: 0,
        };
        out += &self.shape(&all, place(0), ALL);
        let mut left_out = 0;
        for frame in &self.frames {
            let shape = self.shape(frame, place(frame.depth + 1), colour(frame.kind));
            left_out += usize::from(shape.is_empty());
            out += &shape;
        }
        out + &self.foot(height, left_out) + "</svg>\n"
    }

    /// A time as hundredths of a pixel. From whole numbers, so that no frame is wider than the one
    /// that it stands upon.
    fn hundredths(&self, ns: Nanoseconds) -> u64 {
        let width = u128::from(100 * (WIDTH - 2 * MARGIN));
        (u128::from(ns) * width / u128::from(self.total_ns.max(1))) as u64
    }

    /// A frame with its tooltip, and as much of its name as it has room for; nothing if it is too
    /// narrow to be seen.
    fn shape(&self, frame: &Frame, y: usize, colour: &str) -> String {
        let left = self.hundredths(frame.start_ns);
        let width = self.hundredths(frame.start_ns + frame.total_ns) - left;
        if width < NARROW {
            return String::new();
        }
        let x = 100 * MARGIN + left;
        let mut out = format!(
            "<g><title>{}\n{}</title><rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" \
             fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>",
            escaped(&frame.name),
            self.details(frame),
            pixels(x),
            pixels(width),
            ROW - 1,
        );
        let name = fitting(&frame.name, width.saturating_sub(600) / LETTER / 10);
        if !name.is_empty() {
            let (x, y) = (pixels(x + 300), y + 13);
            let name = escaped(&name);
            let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"#1a1a1a\">{name}</text>");
        }
        out + "</g>\n"
    }

    /// What the tooltip says below the name.
    fn details(&self, frame: &Frame) -> String {
        let total = time(frame.total_ns as f64);
        let mut out = format!("{total}, {} of all", share(frame.total_ns, self.total_ns));
        if frame.calls > 0 {
            let calls = if frame.calls == 1 { "call" } else { "calls" };
            let _ = write!(out, ", {} {calls}", frame.calls);
        }
        if frame.self_ns > 0 && frame.self_ns < frame.total_ns {
            let _ = write!(out, "; {} without its parts", time(frame.self_ns as f64));
        }
        out
    }

    /// The colours of the kinds that occur.
    fn key(&self) -> String {
        let mut words: Vec<(&str, &str)> = Vec::new();
        for frame in &self.frames {
            let entry = (word(frame.kind), colour(frame.kind));
            if !words.contains(&entry) {
                words.push(entry);
            }
        }
        let (mut x, mut out) = (MARGIN, String::new());
        for (word, colour) in words {
            let text = x + 16;
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"34\" width=\"11\" height=\"11\" fill=\"{colour}\" \
                 stroke=\"currentColor\" stroke-width=\"0.5\"/><text x=\"{text}\" \
                 y=\"44\">{word}</text>"
            );
            x += 16 + word.len() as u64 * LETTER / 10 + 18;
        }
        out
    }

    fn foot(&self, height: usize, left_out: usize) -> String {
        let clock = match &self.modelled {
            Some(gpu) => format!("modelled, from the published figures of {gpu}"),
            None => "measured".to_string(),
        };
        let mut line = format!("{} in all, {clock}", time(self.total_ns as f64));
        if left_out > 0 {
            let _ = write!(line, "; {left_out} frames of less than a tenth of a pixel left out");
        }
        let y = height - 9;
        format!("<text x=\"{MARGIN}\" y=\"{y}\">{}</text>\n", escaped(&line))
    }
}

/// Hundredths of a pixel as pixels.
fn pixels(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// As much of a name as so many letters have room for. Letters from U+1100 on may be twice as wide.
fn fitting(name: &str, room: u64) -> String {
    let width = |c: char| if c < '\u{1100}' { 1 } else { 2 };
    let widths = |text: &str| text.chars().map(width).sum::<u64>();
    if widths(name) <= room {
        return name.to_string();
    }
    let (mut out, mut used) = (String::new(), 2);
    for c in name.chars() {
        used += width(c);
        if used > room {
            break;
        }
        out.push(c);
    }
    if out.chars().count() < 2 { String::new() } else { out + ".." }
}

/// Text of XML 1.0 (W3C, fifth edition, sections 2.2 and 2.4). A character that XML forbids, even
/// as a reference, becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            // As it stands, a reader of XML would make a line feed of it.
            '\r' => out += "&#13;",
            '\t' | '\n' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
