//! The memory of a device over time, as a figure: bytes by role, one upon the other.
//!
//! Time is counted in entries of the history, since clocks differ from run to run.

use engine_room::memory::{Role, Snapshot};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use crate::axis::Axis;
use crate::drawing::{Area, draw, in_text_colour, write};

const SIZE: (u32, u32) = (720, 420);
/// The figure within its margins: left, top, right, bottom.
const FRAME: [i32; 4] = [90, 50, 700, 330];
/// From the bottom up: what lives longest lies lowest. Each colour has a contrast of at least 3 to
/// 1 on white and on near-black.
const LAYERS: [(Role, RGBColor); Role::ALL.len()] = [
    (Role::Parameter, RGBColor(0x3b, 0x82, 0xc4)),
    (Role::Optimizer, RGBColor(0xb0, 0x55, 0x9b)),
    (Role::Gradient, RGBColor(0xc2, 0x57, 0x1a)),
    (Role::Activation, RGBColor(0x2e, 0x8b, 0x57)),
    (Role::Other, RGBColor(0x80, 0x80, 0x80)),
];

/// The time line of a snapshot as SVG text.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(title: &str, snapshot: &Snapshot) -> Result<String, String> {
    let points = snapshot.time_line();
    let peak = points.iter().map(|by_role| by_role.iter().sum::<u64>()).max().unwrap_or(0);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    write(&area, title, (360, 24), 20, HPos::Center)?;
    let mut below = vec![0; points.len()];
    for (role, colour) in LAYERS {
        let bytes = points.iter().map(|by_role| by_role[role as usize]);
        let above: Vec<u64> = below.iter().zip(bytes).map(|(below, bytes)| below + bytes).collect();
        if above != below {
            let shape = outline(&below, &above, peak);
            draw(area.draw(&Polygon::new(shape, colour.filled())))?;
        }
        below = above;
    }
    draw_frame(&area, peak, points.len() - 1)?;
    draw_key(&area)?;
    drop(area);
    Ok(in_text_colour(&text))
}

/// The way along the upper edge and back along the lower one. Bytes stay as they are until the
/// next entry, so both edges are stairs.
fn outline(below: &[u64], above: &[u64], peak: u64) -> Vec<(i32, i32)> {
    let [left, top, right, bottom] = FRAME;
    let x = |i: usize| left + ((right - left) as f64 * i as f64 / below.len() as f64) as i32;
    let y = |bytes: u64| bottom - ((bottom - top) as f64 * bytes as f64 / peak as f64) as i32;
    let stairs = |edge: &[u64]| -> Vec<(i32, i32)> {
        let steps = edge.iter().enumerate();
        steps.flat_map(|(i, &bytes)| [(x(i), y(bytes)), (x(i + 1), y(bytes))]).collect()
    };
    let mut shape = stairs(above);
    shape.extend(stairs(below).into_iter().rev());
    shape
}

fn draw_frame(area: &Area, peak: u64, entries: usize) -> Result<(), String> {
    let [left, top, right, bottom] = FRAME;
    let bytes = Axis::new("", "bytes");
    let corners = [(left, top), (left, bottom), (right, bottom)];
    draw(area.draw(&PathElement::new(corners, BLACK)))?;
    for (share, y) in [(0, bottom), (1, (top + bottom) / 2), (2, top)] {
        let label = bytes.label(peak as f64 * f64::from(share) / 2.0);
        write(area, &label, (left - 8, y), 14, HPos::Right)?;
    }
    write(area, "0", (left, bottom + 16), 14, HPos::Center)?;
    write(area, &entries.to_string(), (right, bottom + 16), 14, HPos::Right)?;
    let middle = (left + right) / 2;
    write(area, "entries of the history", (middle, bottom + 16), 14, HPos::Center)
}

/// The colours and their names, in the order in which they lie.
fn draw_key(area: &Area) -> Result<(), String> {
    for (i, (role, colour)) in (0..).zip(LAYERS) {
        let (x, y) = (FRAME[0] + 122 * i, 385);
        draw(area.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], colour.filled())))?;
        write(area, role.name(), (x + 20, y), 14, HPos::Left)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use engine_room::memory::{memory_snapshot, record_memory_history};
    use engine_room::{Device, Tensor};

    use super::*;

    /// One tensor of 100 bytes of each of two roles, one after the other, on a device that nobody
    /// else uses.
    #[test]
    fn bytes_lie_upon_each_other_in_steps() {
        let gpu = Device::Sim(60);
        record_memory_history(gpu, 100);
        let x = Tensor::from_vec(vec![1_u8; 100], &[100]).to(gpu);
        let w = Tensor::ones(&[25]).to(gpu).requires_grad_(true);
        let svg = svg("two tensors", &memory_snapshot(gpu)).expect("a figure");
        drop((x, w));
        // The first entry is a segment. x comes second and lies upon w, which comes third; half of
        // the height each.
        let [left, top, right, bottom] = FRAME;
        let x = |i: i32| left + (right - left) * i / 4;
        let half = (top + bottom) / 2;
        let stairs =
            |at: &[(i32, i32)]| -> String { at.iter().map(|(x, y)| format!("{x},{y} ")).collect() };
        let w = [(x(3), bottom), (x(3), half), (x(4), half)];
        assert!(svg.contains(&stairs(&w)), "{svg}");
        let both = [(x(2), bottom), (x(2), half), (x(3), half), (x(3), top), (x(4), top)];
        assert!(svg.contains(&stairs(&both)), "{svg}");
        assert!(svg.contains("parameter") && svg.contains("200 B"), "{svg}");
    }
}
