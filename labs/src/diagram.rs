//! A recorded graph as a figure: a box a node, what it saves in it, and the way of the gradients.
//!
//! Nodes stand in columns by their distance from the leaves. Solid arrows lead from an input to
//! what was computed from it; the dashed ones below them are the gradients' way back.

use engine_room::autograd::{Graph, GraphNode};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::drawing::{Area, draw, in_text_colour};

const COLUMN: i32 = 130;
const ROW: i32 = 92;
const BOX: (i32, i32) = (92, 62);
const MARGIN: i32 = 14;
const BACKWARD: RGBColor = RGBColor(0xc2, 0x57, 0x1a);
const SAVED: RGBColor = RGBColor(0x3b, 0x82, 0xc4);

/// The figure as SVG text. `leaves` names the graph's leaves, oldest first.
///
/// # Errors
/// If the graph is empty.
pub fn svg(graph: &Graph, leaves: &[&str]) -> Result<String, String> {
    let places = places(graph);
    let columns = places.iter().map(|place| place.0 + 1).max().ok_or("the graph is empty")?;
    let rows = places.iter().map(|place| place.1 + 1).max().unwrap_or(1);
    let size = |count: i32, step: i32, last: i32| (2 * MARGIN + (count - 1) * step + last) as u32;
    let size = (size(columns, COLUMN, BOX.0), size(rows, ROW, BOX.1));
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let mut leaves = leaves.iter();
    for node in graph.nodes() {
        let name = if node.name == "leaf" { leaves.next() } else { None };
        let title = name.map_or(node.name.to_string(), |name| format!("leaf {name}"));
        let to = corner(places[node.place]);
        for (i, &input) in node.inputs.iter().enumerate() {
            let spread = 9 * (2 * i as i32 - (node.inputs.len() as i32 - 1));
            connect(&area, corner(places[input]), to, spread)?;
        }
        draw_node(&area, node, &title, to)?;
    }
    drop(area);
    Ok(in_text_colour(&text))
}

/// Column and row of each node: one column behind the last of its inputs, in the first free row.
fn places(graph: &Graph) -> Vec<(i32, i32)> {
    let mut places: Vec<(i32, i32)> = Vec::new();
    for node in graph.nodes() {
        let column = node.inputs.iter().map(|&input| places[input].0 + 1).max().unwrap_or(0);
        let row = places.iter().filter(|place| place.0 == column).count() as i32;
        places.push((column, row));
    }
    places
}

fn corner((column, row): (i32, i32)) -> (i32, i32) {
    (MARGIN + column * COLUMN, MARGIN + row * ROW)
}

fn draw_node(area: &Area, node: &GraphNode, title: &str, at: (i32, i32)) -> Result<(), String> {
    let width = if node.name == "leaf" { 1 } else { 2 };
    let corners = [at, (at.0 + BOX.0, at.1 + BOX.1)];
    draw(area.draw(&Rectangle::new(corners, BLACK.stroke_width(width))))?;
    let saved: Vec<String> = node.saved.iter().map(|saved| format!("{:?}", saved.shape)).collect();
    let saves = if saved.is_empty() { String::new() } else { format!("saves {}", saved[0]) };
    let lines = [
        (title.to_string(), 15, BLACK),
        (format!("{:?}", node.shape), 13, BLACK),
        (saves, 12, SAVED),
    ];
    for ((line, size, colour), down) in lines.into_iter().zip([16, 34, 51]) {
        let middle = Pos::new(HPos::Center, VPos::Center);
        let style = TextStyle::from(("sans-serif", size).into_font()).pos(middle).color(&colour);
        draw(area.draw(&Text::new(line, (at.0 + BOX.0 / 2, at.1 + down), style)))?;
    }
    Ok(())
}

/// Both arrows between two boxes; `spread` keeps several inputs of one node apart.
fn connect(area: &Area, from: (i32, i32), to: (i32, i32), spread: i32) -> Result<(), String> {
    let start = (from.0 + BOX.0, from.1 + BOX.1 / 2 + spread / 2);
    let end = (to.0, to.1 + BOX.1 / 2 + spread);
    let up = |(x, y): (i32, i32)| (x, y - 5);
    let down = |(x, y): (i32, i32)| (x, y + 5);
    draw(area.draw(&PathElement::new([up(start), up(end)], BLACK)))?;
    arrow_head(area, up(end), -1, BLACK)?;
    let back = [down(end), down(start)];
    draw(area.draw(&DashedPathElement::new(back, 5, 4, BACKWARD.stroke_width(1))))?;
    arrow_head(area, down(start), 1, BACKWARD)
}

/// A filled triangle whose point is `at`; it opens to the left with −1, to the right with 1.
fn arrow_head(area: &Area, at: (i32, i32), side: i32, colour: RGBColor) -> Result<(), String> {
    let corners = [at, (at.0 + 7 * side, at.1 - 4), (at.0 + 7 * side, at.1 + 4)];
    draw(area.draw(&Polygon::new(corners, colour.filled())))
}
