//! The map of the book: on which side of the triangle each chapter's technique moves the bill.
//!
//! The corners are memory (bytes held), compute (operations done) and communication (bytes moved).

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A corner of the triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Bytes that are held.
    Memory,
    /// Operations that are done.
    Compute,
    /// Bytes that are moved, between memories, devices and disks.
    Communication,
}

/// Something that a chapter teaches to do.
pub struct Technique {
    /// The chapter's number.
    pub chapter: &'static str,
    /// What is done, in a few words.
    pub what: &'static str,
    /// Which corner it pays with, and which one it saves; none if it concerns all three.
    pub pays_saves: Option<(Corner, Corner)>,
}

use Corner::{Communication, Compute, Memory};

/// Every chapter's, in their order.
pub const TECHNIQUES: [Technique; 13] = [
    technique("01", "fewer bytes a number", None),
    technique("02", "share, not copy", Some((Communication, Memory))),
    technique("03", "keep results", Some((Memory, Compute))),
    technique("04", "keep m and v", Some((Memory, Compute))),
    technique("05", "write progress down", Some((Communication, Compute))),
    technique("06", "compute again", Some((Compute, Memory))),
    technique("07", "find the corner", None),
    technique("08", "work in tiles", Some((Memory, Communication))),
    technique("09", "fuse operations", Some((Compute, Communication))),
    technique("10", "split the batch", Some((Communication, Compute))),
    technique("10", "split the weights", Some((Communication, Memory))),
    technique("11", "quantise weights", Some((Compute, Memory))),
    technique("12", "choose among them", None),
];

const fn technique(
    chapter: &'static str,
    what: &'static str,
    pays_saves: Option<(Corner, Corner)>,
) -> Technique {
    Technique { chapter, what, pays_saves }
}

impl Corner {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Memory => "memory",
            Compute => "compute",
            Communication => "communication",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Memory => "bytes held",
            Compute => "operations done",
            Communication => "bytes moved",
        }
    }

    fn place(self) -> (i32, i32) {
        match self {
            Memory => (320, 60),
            Compute => (130, 400),
            Communication => (510, 400),
        }
    }
}

const SIZE: (u32, u32) = (640, 460);
const BOX: (i32, i32) = (74, 24);
const SAVES: RGBColor = RGBColor(0x3b, 0x82, 0xc4);
const SIDES: [[Corner; 2]; 3] =
    [[Memory, Compute], [Memory, Communication], [Compute, Communication]];

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The triangle as SVG text.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg() -> Result<String, String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    for side in SIDES {
        draw(area.draw(&PathElement::new(side.map(Corner::place), BLACK)))?;
        draw_side(&area, side)?;
    }
    for corner in [Memory, Compute, Communication] {
        draw_corner(&area, corner)?;
    }
    let centre = TECHNIQUES.iter().filter(|technique| technique.pays_saves.is_none());
    for (i, technique) in (0..).zip(centre) {
        write(&area, &technique.label(), (320, 250 + 28 * i), 18, HPos::Center)?;
    }
    drop(area);
    Ok(text.replace("\"#000000\"", "\"currentColor\""))
}

impl Technique {
    fn label(&self) -> String {
        format!("{} {}", self.chapter, self.what)
    }
}

/// The techniques of one side, an arrow each, towards what is saved.
fn draw_side(area: &Area, side: [Corner; 2]) -> Result<(), String> {
    let joins = |(pays, saves): (Corner, Corner)| side.contains(&pays) && side.contains(&saves);
    let on_side: Vec<(&Technique, (Corner, Corner))> = TECHNIQUES
        .iter()
        .filter_map(|technique| Some((technique, technique.pays_saves.filter(|m| joins(*m))?)))
        .collect();
    let (from, to) = (side[0].place(), side[1].place());
    for (i, (technique, (pays, saves))) in on_side.iter().enumerate() {
        let share = (i as f64 + 1.0) / (on_side.len() as f64 + 1.0);
        let between = |a: i32, b: i32| a + ((b - a) as f64 * share) as i32;
        let at = (between(from.0, to.0), between(from.1, to.1));
        draw_arrow(area, at, direction(pays.place(), saves.place()))?;
        let (label, place) = match side {
            [Memory, Compute] => (HPos::Right, (at.0 - 20, at.1)),
            [Memory, Communication] => (HPos::Left, (at.0 + 20, at.1)),
            _ => (HPos::Center, (at.0, at.1 + if i % 2 == 0 { -24 } else { 24 })),
        };
        write(area, &technique.label(), place, 18, label)?;
    }
    Ok(())
}

fn direction(from: (i32, i32), to: (i32, i32)) -> (f64, f64) {
    let (x, y) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    (x / x.hypot(y), y / x.hypot(y))
}

/// A filled triangle on the side whose point looks along `(x, y)`.
fn draw_arrow(area: &Area, at: (i32, i32), (x, y): (f64, f64)) -> Result<(), String> {
    let moved = |along: f64, across: f64| {
        let shift = (along * x - across * y, along * y + across * x);
        (at.0 + shift.0.round() as i32, at.1 + shift.1.round() as i32)
    };
    let corners = [moved(11.0, 0.0), moved(-8.0, 8.0), moved(-8.0, -8.0)];
    draw(area.draw(&Polygon::new(corners, SAVES.filled())))
}

/// A box with the corner's name, which covers the ends of the sides: they begin at its edge.
fn draw_corner(area: &Area, corner: Corner) -> Result<(), String> {
    let (x, y) = corner.place();
    let down = if corner == Memory { -BOX.1 } else { BOX.1 };
    let middle = (x, y + down);
    let corners = [(x - BOX.0, middle.1 - BOX.1), (x + BOX.0, middle.1 + BOX.1)];
    draw(area.draw(&Rectangle::new(corners, BLACK.stroke_width(2))))?;
    write(area, corner.name(), (middle.0, middle.1 - 9), 20, HPos::Center)?;
    write(area, corner.meaning(), (middle.0, middle.1 + 11), 16, HPos::Center)
}

fn write(area: &Area, text: &str, at: (i32, i32), size: i32, side: HPos) -> Result<(), String> {
    let style = TextStyle::from(("sans-serif", size).into_font());
    let style = style.pos(Pos::new(side, VPos::Center));
    draw(area.draw(&Text::new(text.to_string(), at, style)))
}

fn draw<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), String> {
    result.map(|_| ()).map_err(|e| e.to_string())
}
