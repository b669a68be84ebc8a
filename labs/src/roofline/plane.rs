//! The plane of a roofline: decades of intensity and of operations per second.

use engine_room::profiler::{Roof, RooflineRow, Roofs};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::text::{FONT, power, prefixed};
use crate::drawing::{Area, draw, write};

/// The width of the figure.
pub const WIDTH: i32 = 720;
/// The figure within its margins: left, top, right, bottom.
pub const FRAME: [i32; 4] = [84, 52, 704, 400];

/// Where a kernel stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// At this intensity, by the bytes of the GPU's memory.
    Memory(f64),
    /// At this intensity, by the bytes of the L2 cache: that is the nearest roof.
    L2(f64),
    /// It has no operations, so no logarithm of an intensity: at the left edge, as far below the
    /// slope of its nearest roof as its bandwidth is below that roof's.
    Left,
    /// It has no bytes: at the right edge.
    Right,
}

fn by_l2(row: &RooflineRow) -> bool {
    matches!(row.nearest, Some((Roof::L2, _)))
}

impl Place {
    /// That of a row with a nearest roof.
    pub fn of(row: &RooflineRow) -> Place {
        let flops = row.flops as f64;
        match (row.flops, by_l2(row), row.bytes) {
            (0, ..) => Place::Left,
            (_, true, _) => Place::L2(flops / row.l2_bytes as f64),
            (_, false, 0) => Place::Right,
            (_, false, bytes) => Place::Memory(flops / bytes as f64),
        }
    }
}

/// What the axes show: decades of intensity and of operations per second.
pub struct Plane {
    x: (f64, f64),
    y: (f64, f64),
}

impl Plane {
    /// Whole decades around all kernels and the point where the roofs meet.
    pub fn around(roofs: &Roofs, rows: &[&RooflineRow]) -> Plane {
        let mut x = (roofs.ridge() / 10.0, roofs.ridge() * 4.0);
        for row in rows {
            if let Place::Memory(at) | Place::L2(at) = Place::of(row) {
                x = (x.0.min(at), x.1.max(at * 1.5));
            }
        }
        let x = (x.0.log10().floor(), x.1.log10().ceil());
        let mut plane = Plane { x, y: (0.0, 0.0) };
        let mut y = (roofs.flops / 10.0, roofs.flops * 1.2);
        for row in rows {
            let (_, rate) = plane.point(row);
            y = (y.0.min(rate), y.1.max(rate));
        }
        plane.y = (y.0.log10().floor(), y.1.log10().ceil());
        plane
    }

    /// Intensity and rate of a kernel.
    pub fn point(&self, row: &RooflineRow) -> (f64, f64) {
        let left = 10f64.powf(self.x.0);
        match Place::of(row) {
            Place::Memory(at) | Place::L2(at) => (at, row.flops_per_s()),
            Place::Left => {
                let bytes = if by_l2(row) { row.l2_bytes } else { row.bytes };
                (left, left * bytes as f64 * 1e9 / row.time_ns as f64)
            }
            Place::Right => (self.right(), row.flops_per_s()),
        }
    }

    /// Where an intensity and a rate lie in the figure.
    pub fn pixel(&self, (intensity, rate): (f64, f64)) -> (i32, i32) {
        let [left, top, right, bottom] = FRAME;
        let share = |at: f64, (from, to): (f64, f64)| (at.log10() - from) / (to - from);
        let x = f64::from(left) + share(intensity, self.x) * f64::from(right - left);
        let y = f64::from(bottom) - share(rate, self.y) * f64::from(bottom - top);
        (x.round() as i32, y.round() as i32)
    }

    /// Draws decades, their labels and titles.
    pub fn draw_axes(&self, area: &Area) -> Result<(), String> {
        let [left, top, right, bottom] = FRAME;
        let grid = BLACK.mix(0.12);
        for decade in self.x.0 as i32..=self.x.1 as i32 {
            let (x, _) = self.pixel((10f64.powi(decade), 1.0));
            draw(area.draw(&PathElement::new([(x, top), (x, bottom)], grid)))?;
            write(area, &power(decade), (x, bottom + 15), FONT, HPos::Center)?;
        }
        for decade in self.y.0 as i32..=self.y.1 as i32 {
            let (_, y) = self.pixel((1.0, 10f64.powi(decade)));
            draw(area.draw(&PathElement::new([(left, y), (right, y)], grid)))?;
            write(area, &prefixed(10f64.powi(decade)), (left - 8, y), FONT, HPos::Right)?;
        }
        let corners = [(left, top), (left, bottom), (right, bottom)];
        draw(area.draw(&PathElement::new(corners, BLACK)))?;
        write(area, "FLOP/s", (left - 8, top - 16), FONT, HPos::Right)?;
        let middle = (left + right) / 2;
        write(area, "intensity (FLOP/byte)", (middle, bottom + 34), 14, HPos::Center)
    }

    /// The intensity at the right edge.
    pub fn right(&self) -> f64 {
        10f64.powf(self.x.1)
    }

    /// Where a bandwidth's slope comes into the picture.
    pub fn start(&self, bandwidth: f64) -> (f64, f64) {
        let (left, low) = (10f64.powf(self.x.0), 10f64.powf(self.y.0));
        if left * bandwidth >= low { (left, left * bandwidth) } else { (low / bandwidth, low) }
    }
}
