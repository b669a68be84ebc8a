//! What every figure is drawn with.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What a figure is drawn on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Text whose middle height is at a point, with its left end, its right end or its middle there.
pub(crate) fn write(
    area: &Area,
    text: &str,
    at: (i32, i32),
    size: i32,
    side: HPos,
) -> Result<(), String> {
    let style = TextStyle::from(("sans-serif", size).into_font());
    let style = style.pos(Pos::new(side, VPos::Center));
    draw(area.draw(&Text::new(text.to_string(), at, style)))
}

/// What came of drawing something, with the error in words.
pub(crate) fn draw<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(|_| ()).map_err(|e| e.to_string())
}

/// The figure with its black parts in the colour of the text around it: light on a dark page.
pub(crate) fn in_text_colour(svg: &str) -> String {
    svg.replace("\"#000000\"", "\"currentColor\"")
}
