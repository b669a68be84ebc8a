//! A triangle as a figure: what leads from one corner to another stands on the side between them.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::drawing::{Area, draw, in_text_colour, write};

/// Something on a side of the triangle, or in its middle.
pub struct Item {
    /// Its name.
    pub label: String,
    /// Numbers of the corners it leads from and to; without them it stands in the middle.
    pub way: Option<(usize, usize)>,
}

/// Where the sides meet: at the top, on the left, on the right.
const CORNERS: [(i32, i32); 3] = [(320, 60), (130, 400), (510, 400)];
const SIDES: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];
const SIZE: (u32, u32) = (640, 460);
/// Half the width and half the height of a corner's box.
const BOX: (i32, i32) = (74, 24);
const ARROW: RGBColor = RGBColor(0x3b, 0x82, 0xc4);

/// The figure as SVG text. A corner has a name and a line that says what it means.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(corners: [(&str, &str); 3], items: &[Item]) -> Result<String, String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    for side in SIDES {
        draw(area.draw(&PathElement::new(side.map(|corner| CORNERS[corner]), BLACK)))?;
        draw_side(&area, side, items)?;
    }
    for (i, corner) in corners.into_iter().enumerate() {
        draw_corner(&area, i, corner)?;
    }
    for (i, item) in (0..).zip(items.iter().filter(|item| item.way.is_none())) {
        write(&area, &item.label, (320, 250 + 28 * i), 18, HPos::Center)?;
    }
    drop(area);
    Ok(in_text_colour(&text))
}

/// The items of one side at equal distances, each with an arrow that says which way it leads.
fn draw_side(area: &Area, side: [usize; 2], items: &[Item]) -> Result<(), String> {
    let [start, end] = side.map(|corner| CORNERS[corner]);
    let here = |&(from, to): &(usize, usize)| side.contains(&from) && side.contains(&to);
    let items: Vec<_> =
        items.iter().filter_map(|item| Some((item, item.way.filter(here)?))).collect();
    for (i, (item, (from, to))) in items.iter().enumerate() {
        let share = (i as f64 + 1.0) / (items.len() as f64 + 1.0);
        let between = |a: i32, b: i32| a + (f64::from(b - a) * share) as i32;
        let at = (between(start.0, end.0), between(start.1, end.1));
        draw_arrow(area, at, direction(CORNERS[*from], CORNERS[*to]))?;
        let (label, place) = match side {
            [0, 1] => (HPos::Right, (at.0 - 20, at.1)),
            [0, _] => (HPos::Left, (at.0 + 20, at.1)),
            _ => (HPos::Center, (at.0, at.1 + if i % 2 == 0 { -24 } else { 24 })),
        };
        write(area, &item.label, place, 18, label)?;
    }
    Ok(())
}

/// One step of length 1.
fn direction(from: (i32, i32), to: (i32, i32)) -> (f64, f64) {
    let (x, y) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    (x / x.hypot(y), y / x.hypot(y))
}

/// A filled triangle whose point looks along `(x, y)`.
fn draw_arrow(area: &Area, at: (i32, i32), (x, y): (f64, f64)) -> Result<(), String> {
    let moved = |along: f64, across: f64| {
        let shift = (along * x - across * y, along * y + across * x);
        (at.0 + shift.0.round() as i32, at.1 + shift.1.round() as i32)
    };
    let corners = [moved(11.0, 0.0), moved(-8.0, 8.0), moved(-8.0, -8.0)];
    draw(area.draw(&Polygon::new(corners, ARROW.filled())))
}

/// A box with the corner's name, outside the triangle.
fn draw_corner(area: &Area, corner: usize, (name, meaning): (&str, &str)) -> Result<(), String> {
    let (x, y) = CORNERS[corner];
    let middle = (x, if corner == 0 { y - BOX.1 } else { y + BOX.1 });
    let corners = [(x - BOX.0, middle.1 - BOX.1), (x + BOX.0, middle.1 + BOX.1)];
    draw(area.draw(&Rectangle::new(corners, BLACK.stroke_width(2))))?;
    write(area, name, (middle.0, middle.1 - 9), 20, HPos::Center)?;
    write(area, meaning, (middle.0, middle.1 + 11), 16, HPos::Center)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_and_every_corner_is_drawn_once() {
        let corners = [("up", "high"), ("left", "west"), ("right", "east")];
        let item = |label: &str, way| Item { label: label.to_string(), way };
        let items = [item("down", Some((0, 1))), item("back", Some((2, 1))), item("here", None)];
        let svg = svg(corners, &items).unwrap();
        for text in ["up", "high", "left", "west", "right", "east", "down", "back", "here"] {
            assert_eq!(svg.matches(&format!("\n{text}\n")).count(), 1, "{text} in {svg}");
        }
        assert_eq!(svg.matches("<polygon").count(), 2, "an arrow for each item on a side");
    }

    #[test]
    fn an_arrow_leads_to_the_second_corner() {
        assert_eq!(direction(CORNERS[1], CORNERS[2]), (1.0, 0.0));
        assert!(direction(CORNERS[1], CORNERS[0]).1 < 0.0, "up is towards smaller y");
    }
}
