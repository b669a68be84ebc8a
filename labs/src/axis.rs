//! An axis of a figure: its title, its unit, where its ticks stand and how they are written.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use crate::cell::{binary_bytes, seconds, significant, thousands};

/// The part of an axis that is shown, with a tick at each given place.
pub struct Scale {
    /// From the left or lower end to the other.
    pub range: Range<f64>,
    /// Where ticks stand.
    pub ticks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        pixels.0 + (share * f64::from(pixels.1 - pixels.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Title, unit and scale of an axis. Its own coordinates are the values, or their log10.
pub struct Axis {
    title: String,
    unit: String,
    /// Whether the scale is logarithmic.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn new(title: &str, unit: &str) -> Axis {
        Axis { title: title.to_string(), unit: unit.to_string(), log: false }
    }

    /// `saved (bytes)`, or the title alone if there is no unit.
    pub fn title(&self) -> String {
        match self.unit.as_str() {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }

    /// The value's coordinate, if the axis can show it.
    pub fn place(&self, value: f64) -> Option<f64> {
        match self.log {
            true => (value.is_finite() && value > 0.0).then(|| value.log10()),
            false => value.is_finite().then_some(value),
        }
    }

    /// What is written at a coordinate.
    pub fn label(&self, at: f64) -> String {
        let value = if self.log { 10f64.powf(at) } else { at };
        match self.unit.as_str() {
            "bytes" => binary_bytes(value.round().max(0.0) as u64),
            "seconds" => seconds(value),
            _ if (1e3..1e6).contains(&value) => thousands(value.round() as u64),
            _ => trimmed(significant(value, 4)),
        }
    }

    /// The part that shows all these places. A linear axis starts at 0 unless a value is below.
    pub fn scale(&self, places: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = places.fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p), h.max(p)));
        if self.log {
            let room = ((high - low) * 0.04).max(0.05);
            let range = low - room..high + room;
            let mut ticks = self.log_ticks(low, high);
            ticks.retain(|tick| range.contains(tick));
            return Scale { range, ticks };
        }
        let ticks = self.ticks(low.min(0.0), high);
        Scale { range: ticks[0]..ticks[ticks.len() - 1], ticks }
    }

    /// At most nine multiples of 1, 2 or 5 times a power of ten; for bytes, of a power of two.
    fn ticks(&self, low: f64, high: f64) -> Vec<f64> {
        let span = if high > low { high - low } else { 1.0 };
        let rough = span / 6.0;
        let step = if self.unit == "bytes" {
            2f64.powf(rough.max(1.0).log2().ceil())
        } else {
            let ten = 10f64.powf(rough.log10().floor());
            let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|t| t * ten >= rough * 0.9999);
            times.unwrap_or(10.0) * ten
        };
        let (first, last) = ((low / step).floor() as i64, (low + span).div_euclid(step) as i64 + 1);
        let last = if (last - 1) as f64 * step >= low + span { last - 1 } else { last };
        (first..=last).map(|i| i as f64 * step).collect()
    }

    /// Powers of ten, with 2 and 5 between them if there are few; for bytes, powers of two.
    fn log_ticks(&self, low: f64, high: f64) -> Vec<f64> {
        if self.unit == "bytes" {
            let two = 2f64.log10();
            let (first, last) = ((low / two + 1e-9).floor(), (high / two - 1e-9).ceil());
            let stride = ((last - first) / 7.0).ceil().max(1.0);
            let count = ((last - first) / stride).ceil().max(1.0) as usize;
            return (0..=count).map(|i| (first + stride * i as f64) * two).collect();
        }
        let (first, last) = (low.floor() as i32, high.ceil() as i32);
        let within: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decade = |d: i32| within.iter().map(move |t| f64::from(d) + t.log10());
        (first..=last).flat_map(decade).collect()
    }
}

/// `2.000` becomes `2`; a power of ten stays as it is.
fn trimmed(number: String) -> String {
    match number.contains('.') && !number.contains('e') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => number.replace(".000e", "e"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        let scale = axis.scale(values.iter().filter_map(|&v| axis.place(v)));
        scale.ticks.into_iter().map(|t| axis.label(t)).collect()
    }

    #[test]
    fn ticks_stand_at_round_values() {
        let mut bytes = Axis::new("saved", "bytes");
        assert_eq!(
            labels(&bytes, &[100.0, 6144.0]),
            ["0 B", "1 KiB", "2 KiB", "3 KiB", "4 KiB", "5 KiB", "6 KiB"]
        );
        bytes.log = true;
        assert_eq!(labels(&bytes, &[512.0, 4000.0]), ["512 B", "1 KiB", "2 KiB", "4 KiB"]);
        let mut batch = Axis::new("batch", "images");
        assert_eq!(labels(&batch, &[3.0, 9.5]), ["0", "2", "4", "6", "8", "10"]);
        batch.log = true;
        assert_eq!(labels(&batch, &[1.0, 30.0]), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&batch, &[1e-7, 1e2]).first().unwrap(), "1e-7");
        assert_eq!(labels(&batch, &[0.0, 20_000.0]), ["20,000"]);
    }

    #[test]
    fn one_value_still_makes_a_range() {
        let axis = Axis::new("seconds", "seconds");
        let range = axis.scale([0.0].into_iter()).range;
        assert!(range.end > range.start);
    }
}
