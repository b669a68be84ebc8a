//! Segments and the blocks in them, as a figure: one bar a segment, what is in use filled.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::cell::binary_bytes;
use crate::drawing::{Area, draw, in_text_colour, write};

/// A segment as it is drawn.
pub struct Bar {
    /// What stands above it.
    pub label: String,
    /// Its blocks from the first address on.
    pub pieces: Vec<Piece>,
}

/// A block.
pub struct Piece {
    /// The tensor in it; nothing for a free one.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

const WIDTH: i32 = 720;
const MARGIN: i32 = 14;
const TOP: i32 = 54;
const ROW: i32 = 74;
const HEIGHT: i32 = 34;
const FONT: i32 = 17;
const USED: RGBColor = RGBColor(0x3b, 0x82, 0xc4);

/// The figure as SVG text. The full width stands for `width` bytes; without it each bar has the
/// full width.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(title: &str, bars: &[Bar], width: Option<u64>) -> Result<String, String> {
    let size = (WIDTH as u32, (TOP + bars.len() as i32 * ROW) as u32);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    write(&area, title, (WIDTH / 2, 20), 20, HPos::Center)?;
    for (i, bar) in (0..).zip(bars) {
        let top = TOP + i * ROW;
        write(&area, &bar.label, (MARGIN, top), FONT, HPos::Left)?;
        let all = bar.pieces.iter().map(|piece| piece.bytes).sum();
        draw_bar(&area, top + 14, &bar.pieces, width.unwrap_or(all))?;
    }
    drop(area);
    Ok(in_text_colour(&text))
}

fn draw_bar(area: &Area, top: i32, pieces: &[Piece], width: u64) -> Result<(), String> {
    let x = |bytes: u64| {
        MARGIN + (f64::from(WIDTH - 2 * MARGIN) * bytes as f64 / width as f64).round() as i32
    };
    let mut at = 0;
    for piece in pieces {
        let (left, right) = (x(at), x(at + piece.bytes));
        at += piece.bytes;
        let corners = [(left, top), (right, top + HEIGHT)];
        if !piece.name.is_empty() {
            draw(area.draw(&Rectangle::new(corners, USED.mix(0.45).filled())))?;
        }
        draw(area.draw(&Rectangle::new(corners, BLACK)))?;
        let room = (right - left) / (FONT / 2);
        let label = caption(piece, room as usize);
        write(area, &label, ((left + right) / 2, top + HEIGHT / 2), FONT, HPos::Center)?;
    }
    Ok(())
}

/// As much of its name and size as `room` letters hold.
fn caption(piece: &Piece, room: usize) -> String {
    let name = if piece.name.is_empty() { "free" } else { &piece.name };
    let long = format!("{name}: {}", binary_bytes(piece.bytes));
    let fits = |text: &&str| text.len() < room;
    [&*long, name].into_iter().find(fits).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the first bar is in use; the second is half as long on a common scale.
    #[test]
    fn blocks_are_as_wide_as_their_bytes() {
        let piece = |name: &str, bytes| Piece { name: name.to_string(), bytes };
        let bar = |pieces| Bar { label: "large".to_string(), pieces };
        let bars =
            || [bar(vec![piece("x", 4 << 20), piece("", 4 << 20)]), bar(vec![piece("y", 4 << 20)])];
        let common = svg("two", &bars(), Some(8 << 20)).unwrap();
        let half = (WIDTH - 2 * MARGIN) / 2;
        let widths = |svg: &str, width: i32| svg.matches(&format!("width=\"{width}\"")).count();
        // What is in use is drawn twice: its colour, and its edge.
        assert_eq!((widths(&common, half), widths(&common, 2 * half)), (5, 0), "{common}");
        let own = svg("two", &bars(), None).unwrap();
        assert_eq!((widths(&own, half), widths(&own, 2 * half)), (3, 2));
        assert!(own.contains("x: 4 MiB") && own.contains("free: 4 MiB"), "{own}");
    }

    #[test]
    fn a_narrow_block_has_a_short_name_or_none() {
        let piece = Piece { name: "logits".to_string(), bytes: 3 << 20 };
        let captions = [20, 8, 3].map(|room| caption(&piece, room));
        assert_eq!(captions, ["logits: 3 MiB", "logits", ""]);
    }
}
