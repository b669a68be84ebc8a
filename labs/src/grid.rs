//! A storage and views of it as a figure: the numbers as they lie, and what each header shows.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::drawing::{Area, draw, in_text_colour, write};

/// A view of two dimensions, as it is drawn.
pub struct Shown {
    /// The code that makes it.
    pub title: String,
    /// Its header in words.
    pub header: String,
    /// Sizes of the two dimensions.
    pub shape: [usize; 2],
    /// The place in the storage of each element, in logical order.
    pub places: Vec<usize>,
}

const WIDTH: i32 = 540;
const MARGIN: i32 = 14;
const CELL: (i32, i32) = (40, 28);
/// Where the first row of views begins, and how much a view needs besides its cells.
const TOP: i32 = 96;
const HEAD: i32 = 48;
const GAP: i32 = 30;
/// One for each group of places, so that the eye can follow a number.
const COLOURS: [RGBColor; 3] =
    [RGBColor(0x3b, 0x82, 0xc4), RGBColor(0xc2, 0x57, 0x1a), RGBColor(0x2e, 0x8b, 0x57)];

/// The figure as SVG text: a storage of `len` numbers, and the views two by two below it. Numbers
/// `group` places apart have colours of their own.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(len: usize, group: usize, views: &[Shown]) -> Result<String, String> {
    let heights: Vec<i32> = views.chunks(2).map(height).collect();
    let size = (WIDTH as u32, (TOP + heights.iter().sum::<i32>()) as u32);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let colour = |place: usize| COLOURS[place / group % COLOURS.len()];
    write(&area, "the storage, by place", (MARGIN, 18), 20, HPos::Left)?;
    for place in 0..len {
        cell(&area, (MARGIN + place as i32 * CELL.0, 34), place, colour(place))?;
    }
    let mut top = TOP;
    for (row, height) in views.chunks(2).zip(heights) {
        for (left, view) in [MARGIN, WIDTH / 2 + MARGIN].into_iter().zip(row) {
            write(&area, &view.title, (left, top), 20, HPos::Left)?;
            write(&area, &view.header, (left, top + 22), 19, HPos::Left)?;
            for (i, &place) in view.places.iter().enumerate() {
                let (row, column) = ((i / view.shape[1]) as i32, (i % view.shape[1]) as i32);
                let at = (left + column * CELL.0, top + HEAD - 8 + row * CELL.1);
                cell(&area, at, place, colour(place))?;
            }
        }
        top += height;
    }
    drop(area);
    Ok(in_text_colour(&text))
}

/// Of two views side by side.
fn height(row: &[Shown]) -> i32 {
    let rows = row.iter().map(|view| view.shape[0]).max().unwrap_or(0);
    HEAD + rows as i32 * CELL.1 + GAP
}

/// A box with a place in it.
fn cell(area: &Area, at: (i32, i32), place: usize, colour: RGBColor) -> Result<(), String> {
    let corners = [at, (at.0 + CELL.0, at.1 + CELL.1)];
    draw(area.draw(&Rectangle::new(corners, colour.mix(0.3).filled())))?;
    draw(area.draw(&Rectangle::new(corners, BLACK)))?;
    let middle = (at.0 + CELL.0 / 2, at.1 + CELL.1 / 2);
    write(area, &place.to_string(), middle, 20, HPos::Center)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_drawn_as_often_as_it_is_shown() {
        let view = |title: &str, shape, places: &[usize]| Shown {
            title: title.to_string(),
            header: format!("shape {shape:?}"),
            shape,
            places: places.to_vec(),
        };
        let views = [view("turned", [2, 2], &[0, 2, 1, 3]), view("twice", [2, 1], &[3, 3])];
        let svg = svg(4, 2, &views).unwrap();
        let drawn = |text: &str| svg.matches(&format!("\n{text}\n")).count();
        assert_eq!(["0", "1", "2", "3"].map(drawn), [2, 2, 2, 4]);
        assert_eq!(["turned", "twice", "shape [2, 2]"].map(drawn), [1, 1, 1]);
        assert!(!svg.contains("#000000"));
    }
}
