//! Who does what when: a bar for each span of time, a lane for each who works.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::axis::Axis;
use crate::drawing::{Area, draw, in_text_colour, write};

const WIDTH: i32 = 720;
const LEFT: i32 = 70;
const RIGHT: i32 = 700;
const TOP: i32 = 50;
const HEIGHT: i32 = 46;
const GAP: i32 = 18;
const FONT: i32 = 13;
/// It has a contrast of at least 3 to 1 on white and on near-black.
const BAR: RGBColor = RGBColor(0x3b, 0x82, 0xc4);

/// Some time in which somebody was busy, in seconds.
pub struct Span {
    /// It stands in the bar if that is long enough.
    pub name: String,
    /// When it began.
    pub start: f64,
    /// When it ended.
    pub end: f64,
}

/// One who works.
pub struct Lane {
    /// It stands before the lane.
    pub name: String,
    /// Whatever kept it busy.
    pub spans: Vec<Span>,
}

/// The lanes as SVG text, one below the other over one axis of time, which begins at 0.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(title: &str, lanes: &[Lane]) -> Result<String, String> {
    let bottom = TOP + lanes.len() as i32 * (HEIGHT + GAP);
    let ends = lanes.iter().flat_map(|lane| lane.spans.iter().map(|span| span.end));
    let end = ends.fold(0.0, f64::max);
    let place = |seconds: f64| LEFT + ((RIGHT - LEFT) as f64 * seconds / end).round() as i32;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH as u32, bottom as u32 + 40));
    let area = area.into_drawing_area();
    write(&area, title, (WIDTH / 2, 24), 20, HPos::Center)?;
    for (i, lane) in lanes.iter().enumerate() {
        let top = TOP + i as i32 * (HEIGHT + GAP);
        write(&area, &lane.name, (LEFT - 10, top + HEIGHT / 2), 16, HPos::Right)?;
        for span in &lane.spans {
            bar(&area, span, (place(span.start), place(span.end)), top)?;
        }
    }
    draw(area.draw(&PathElement::new([(LEFT, bottom), (RIGHT, bottom)], BLACK)))?;
    let axis = Axis::new("", "seconds");
    for quarter in 0..=4 {
        let at = end * f64::from(quarter) / 4.0;
        write(&area, &axis.label(at), (place(at), bottom + 16), FONT, HPos::Center)?;
    }
    drop(area);
    Ok(in_text_colour(&text))
}

fn bar(area: &Area, span: &Span, (left, right): (i32, i32), top: i32) -> Result<(), String> {
    let corners = [(left, top), (right.max(left + 1), top + HEIGHT)];
    draw(area.draw(&Rectangle::new(corners, BAR.mix(0.45).filled())))?;
    draw(area.draw(&Rectangle::new(corners, BLACK)))?;
    let fits = (span.name.chars().count() as i32) < (right - left) / (FONT / 2);
    match fits {
        true => {
            let middle = ((left + right) / 2, top + HEIGHT / 2);
            write(area, &span.name, middle, FONT, HPos::Center)
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second half of the time, over half of the width; the axis ends with the last span.
    #[test]
    fn bars_are_as_long_as_their_time() {
        let span = |name: &str, start, end| Span { name: name.to_string(), start, end };
        let lane = |spans| Lane { name: "host".to_string(), spans };
        let lanes = [lane(vec![span("launch", 0.0, 2e-6)]), lane(vec![span("a", 2e-6, 4e-6)])];
        let svg = svg("two", &lanes).unwrap();
        let half = (RIGHT - LEFT) / 2;
        let bars = |x: i32| {
            svg.contains(&format!("x=\"{x}\" y=\"{TOP}\" width=\"{half}\""))
                || svg.contains(&format!("x=\"{x}\" y=\"{}\"", TOP + HEIGHT + GAP))
        };
        assert!(bars(LEFT) && bars(LEFT + half), "{svg}");
        assert!(svg.contains("launch") && svg.contains("4.00 us"), "{svg}");
    }
}
