//! The roofline as a figure: how fast each kernel computes over how much it does for a byte.
//!
//! Both axes are logarithmic, so a bandwidth is a slope and a rate of arithmetic a level. A mark
//! is as large as the kernel's share of the time, and its number leads to the list below.

mod plane;
mod text;

use engine_room::profiler::{Bound, Roof, Roofline, RooflineRow, Roofs};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::drawing::{Area, draw, in_text_colour, write};
use plane::{FRAME, Place, Plane, WIDTH};
use text::{FONT, Taken, prefixed_to_3};

/// The list of kernels: its first line, the height of a line, and how many there are at most.
const LIST: i32 = 470;
const LINE: i32 = 18;
const MOST: usize = 24;
/// The radius of a kernel that takes no time, and of one that takes all of it.
const RADIUS: (f64, f64) = (4.0, 22.0);

/// The colours have a contrast of at least 3 to 1 on white and on near-black; what binds a kernel
/// also stands in words in the list.
fn colour(bound: Bound) -> RGBColor {
    match bound {
        Bound::By(Roof::Memory) => RGBColor(0x3b, 0x82, 0xc4),
        Bound::By(Roof::L2) => RGBColor(0xb0, 0x55, 0x9b),
        Bound::By(Roof::Arithmetic) => RGBColor(0xc2, 0x57, 0x1a),
        Bound::Launches => RGBColor(0x2e, 0x8b, 0x57),
        Bound::Neither | Bound::Unknown => RGBColor(0x80, 0x80, 0x80),
    }
}

/// The figure as SVG text; the same numbers stand in [`Roofline::table`].
///
/// # Errors
/// If no kernel has bytes or operations, or it cannot be drawn.
pub fn svg(title: &str, roofline: &Roofline) -> Result<String, String> {
    let shown: Vec<&RooflineRow> =
        roofline.rows.iter().filter(|row| row.nearest.is_some()).take(MOST).collect();
    if shown.is_empty() {
        return Err(format!("the figure '{title}' cannot be drawn: no kernel has bytes or FLOPs"));
    }
    let lines = shown.len().div_ceil(2) as i32 + 1;
    let mut text = String::new();
    let size = (WIDTH as u32, (LIST + lines * LINE + 8) as u32);
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    write(&area, title, (WIDTH / 2, 22), 20, HPos::Center)?;
    let plane = Plane::around(&roofline.roofs, &shown);
    let mut taken = Taken(Vec::new());
    plane.draw_axes(&area)?;
    plane.draw_marks(&area, roofline, &shown, &mut taken)?;
    plane.draw_roofs(&area, &roofline.roofs, &mut taken)?;
    draw_list(&area, roofline, &shown)?;
    drop(area);
    Ok(in_text_colour(&text))
}

impl Plane {
    fn draw_roofs(&self, area: &Area, roofs: &Roofs, taken: &mut Taken) -> Result<(), String> {
        let ridge = (roofs.ridge(), roofs.flops);
        let slope = [self.start(roofs.memory), ridge].map(|point| self.pixel(point));
        let level = self.pixel((self.right(), roofs.flops));
        draw(area.draw(&PathElement::new([slope[0], slope[1], level], BLACK.stroke_width(2))))?;
        draw(area.draw(&Circle::new(slope[1], 4, BLACK.filled())))?;
        let foot = (slope[1].0, FRAME[3]);
        dashed(area, [slope[1], foot], 2)?;
        let at = format!("{:.1} FLOP/byte", roofs.ridge());
        let down = (0..16).map(|i| (foot.0 + 6, slope[1].1 + 14 + 20 * i));
        taken.write(area, &at, down, HPos::Left)?;
        let peak = format!("f32 {}FLOP/s", prefixed_to_3(roofs.flops));
        taken.write(area, &peak, [(level.0 - 4, level.1 - 12)].into_iter(), HPos::Right)?;
        let memory = format!("memory {}B/s", prefixed_to_3(roofs.memory));
        let below = along(slope).map(|(x, y)| (x + 10, y + 10));
        taken.write(area, &memory, below, HPos::Left)?;
        let Some(bandwidth) = roofs.l2 else { return Ok(()) };
        let slope = [self.start(bandwidth), (roofs.flops / bandwidth, roofs.flops)];
        let slope = slope.map(|point| self.pixel(point));
        dashed(area, slope, 6)?;
        let l2 = format!("L2 {}B/s", prefixed_to_3(bandwidth));
        taken.write(area, &l2, along(slope).map(|(x, y)| (x - 8, y - 9)), HPos::Right)
    }

    /// Large ones first, so that none is hidden.
    fn draw_marks(
        &self,
        area: &Area,
        roofline: &Roofline,
        rows: &[&RooflineRow],
        taken: &mut Taken,
    ) -> Result<(), String> {
        let all: u64 = roofline.rows.iter().map(|row| row.time_ns).sum();
        let mut marks = Vec::new();
        for row in rows {
            let at = self.pixel(self.point(row));
            let share = row.time_ns as f64 / all as f64;
            let radius = RADIUS.0 + (RADIUS.1 - RADIUS.0) * share.sqrt();
            marks.push((at, radius.round() as i32));
            draw_mark(area, row, at, radius.round() as i32)?;
        }
        for &((x, y), radius) in &marks {
            taken.0.push([x - radius, y - radius, x + radius, y + radius]);
        }
        for (number, ((x, y), radius)) in (1..).zip(marks) {
            let around = (0..4).flat_map(|ring| {
                let far = radius + 9 + 9 * ring;
                let near = [(far, 0), (-far, 0), (0, far), (0, -far), (far, far), (-far, far)];
                near.map(|(dx, dy)| (x + dx, y + dy))
            });
            taken.write(area, &format!("{number}"), around, HPos::Center)?;
        }
        Ok(())
    }
}

/// A disc for one that is placed by bytes of memory, a ring by bytes of L2, a triangle at an edge.
fn draw_mark(area: &Area, row: &RooflineRow, at: (i32, i32), size: i32) -> Result<(), String> {
    let colour = colour(row.bound);
    match Place::of(row) {
        Place::Memory(_) => {
            draw(area.draw(&Circle::new(at, size, colour.mix(0.55).filled())))?;
            draw(area.draw(&Circle::new(at, size, colour.stroke_width(1))))
        }
        Place::L2(_) => draw(area.draw(&Circle::new(at, size, colour.stroke_width(3)))),
        Place::Left | Place::Right => {
            draw(area.draw(&TriangleMarker::new(at, size + 2, colour.filled())))
        }
    }
}

/// Points of a line, from a third of it on, then those before.
fn along([from, to]: [(i32, i32); 2]) -> impl Iterator<Item = (i32, i32)> {
    let steps = [6, 7, 8, 9, 10, 11, 12, 13, 5, 4, 3, 2, 14, 15, 16];
    let at = move |i: i32| (from.0 + (to.0 - from.0) * i / 18, from.1 + (to.1 - from.1) * i / 18);
    steps.into_iter().map(at)
}

fn dashed(area: &Area, line: [(i32, i32); 2], size: i32) -> Result<(), String> {
    draw(area.draw(&DashedPathElement::new(line, size, size, BLACK)))
}

/// Numbers, names, shares of the time, what binds: two columns, and a line on the marks.
fn draw_list(area: &Area, roofline: &Roofline, rows: &[&RooflineRow]) -> Result<(), String> {
    let all: u64 = roofline.rows.iter().map(|row| row.time_ns).sum();
    let half = rows.len().div_ceil(2);
    for (i, row) in rows.iter().enumerate() {
        let (column, line) = ((i / half) as i32, (i % half) as i32);
        let (x, y) = (28 + 352 * column, LIST + line * LINE);
        let share = 100.0 * row.time_ns as f64 / all as f64;
        draw(area.draw(&Circle::new((x - 12, y), 4, colour(row.bound).filled())))?;
        let name = short(&row.name);
        write(area, &format!("{}  {name}", i + 1), (x, y), FONT, HPos::Left)?;
        let rest = format!("{share:.1}%  {}", row.bound);
        write(area, &rest, (x + 210, y), FONT, HPos::Left)?;
    }
    let y = LIST + half as i32 * LINE + 4;
    write(area, &note(roofline, rows), (16, y), FONT, HPos::Left)
}

/// A name that fits into its column. XML has no control characters.
fn short(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match name.chars().count() {
        ..=30 => name,
        _ => name.chars().take(28).chain("..".chars()).collect(),
    }
}

/// What the marks mean that are no discs, and how many rows have none.
fn note(roofline: &Roofline, rows: &[&RooflineRow]) -> String {
    let has = |wanted: fn(Place) -> bool| rows.iter().any(|row| wanted(Place::of(row)));
    let mut parts = vec![match &roofline.roofs.of_host {
        true => "% of the time of all operations".to_string(),
        false => "% of the time of all kernels".to_string(),
    }];
    if has(|place| matches!(place, Place::L2(_))) {
        parts.push("rings: by bytes of L2".to_string());
    }
    if has(|place| place == Place::Left) {
        parts.push("triangles: no FLOPs, by bytes/s".to_string());
    }
    if has(|place| place == Place::Right) {
        parts.push("triangles on the right: no bytes".to_string());
    }
    let missing = roofline.rows.len() - rows.len();
    if missing > 0 {
        parts.push(format!("{missing} more in the table"));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use engine_room::Device;
    use engine_room::profiler::{Event, Kind, Profile};

    use super::*;

    /// They meet at 100 operations a byte.
    fn roofs() -> Roofs {
        Roofs {
            name: "toy".to_string(),
            memory: 1e10,
            l2: Some(4e10),
            flops: 1e12,
            source: "by hand",
            of_host: false,
        }
    }

    /// Kernels of 1000 ns with these bytes, bytes of L2 and operations.
    fn figure(kernels: &[(&str, [u64; 3])]) -> Result<String, String> {
        let kernel = |&(name, [bytes, l2_bytes, flops]): &(&str, [u64; 3])| {
            let event = Event::of_host(Kind::Kernel, name, 0).between(0, 1000);
            Event { device: Device::Sim(0), bytes, l2_bytes, flops, ..event }
        };
        let profile = Profile::from_events(kernels.iter().map(kernel).collect());
        svg("A title", &profile.roofline(&roofs()))
    }

    /// The axes go from 1 to 1,000 operations a byte, and from 1e9 to 1e13 operations per second:
    /// 620 pixels for three decades, 348 for four.
    #[test]
    fn roofs_and_kernels_stand_where_the_logarithms_say() {
        // 5e9 operations per second, 1 a byte; 1e11, 10 a byte of L2.
        let svg = figure(&[
            ("bound_by_bytes", [5000, 5000, 5000]),
            ("bound_by_l2", [1000, 10_000, 100_000]),
        ])
        .expect("a figure");
        let ridge = (84 + 620 * 2 / 3, 400 - 348 * 3 / 4);
        assert_eq!(ridge, (497, 139));
        // 10^9.699 and 10^11, of 10^9 to 10^13.
        for (x, y) in [ridge, (84, 339), (291, 226)] {
            assert!(svg.contains(&format!("cx=\"{x}\" cy=\"{y}\"")), "({x}, {y}) in\n{svg}");
        }
        let memory = "84,313 497,139 704,139";
        assert!(svg.contains(memory), "10 GB/s make 1e10 at 1 a byte\n{svg}");
        for text in [
            "A title",
            "100.0 FLOP/byte",
            "memory 10.0 GB/s",
            "L2 40.0 GB/s",
            "f32 1.00 TFLOP/s",
            "1  bound_by_bytes",
            "2  bound_by_l2",
            "50.0%  memory",
            "rings: by bytes of L2",
        ] {
            assert!(svg.contains(text), "{text} is not in\n{svg}");
        }
        assert!(!svg.contains("#000000") && !svg.contains("NaN"));
    }

    #[test]
    fn what_has_no_logarithm_stands_at_an_edge() {
        let svg = figure(&[
            ("copy<&>", [10_000, 10_000, 0]),
            ("spin", [0, 0, 1_000_000]),
            ("nothing_known", [0, 0, 0]),
        ])
        .expect("a figure");
        assert!(svg.contains("triangles: no FLOPs, by bytes/s"), "{svg}");
        assert!(svg.contains("triangles on the right: no bytes; 1 more in the table"), "{svg}");
        assert!(svg.contains("copy&lt;&amp;&gt;") && !svg.contains("nothing_known"), "{svg}");
        // At its roof, both: at the left edge the slope begins, at the right one the level ends.
        let rows = |kernels: &[(&str, [u64; 3])]| -> Vec<RooflineRow> {
            let kernel = |&(name, [bytes, _, flops]): &(&str, [u64; 3])| Event {
                bytes,
                flops,
                ..Event::of_host(Kind::Kernel, name, 0).between(0, 1000)
            };
            Profile::from_events(kernels.iter().map(kernel).collect()).roofline(&roofs()).rows
        };
        let rows = rows(&[("copy", [10_000, 0, 0]), ("spin", [0, 0, 1_000_000])]);
        let plane = Plane::around(&roofs(), &rows.iter().collect::<Vec<_>>());
        assert_eq!(plane.pixel(plane.point(&rows[0])), plane.pixel(plane.start(1e10)));
        assert_eq!(plane.pixel(plane.point(&rows[1])), plane.pixel((1000.0, 1e12)));
    }

    #[test]
    fn a_profile_without_counts_is_an_error() {
        let message = figure(&[("nothing_known", [0, 0, 0])]).unwrap_err();
        assert!(message.contains("'A title'") && message.contains("no kernel"), "{message}");
    }

    #[test]
    fn a_name_is_one_line_that_fits() {
        assert_eq!(short(&"x".repeat(40)).len(), 30);
        assert_eq!(short("new\nline"), "new line");
    }
}
