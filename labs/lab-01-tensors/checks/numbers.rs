//! All numbers of a small format, listed from their bits, and rounding by looking for the nearest.

use super::super::formats::Format;

/// The numbers of a format that are not negative, in the order of their bits.
pub struct Numbers(Vec<f64>);

impl Numbers {
    /// Decodes every pattern: a zero exponent has no leading 1 (IEEE 754, 3.4). The counts leave
    /// out infinity and NaN: in e4m3 one pattern is NaN, elsewhere all with the largest exponent.
    pub fn of(format: Format) -> Numbers {
        let (exponent, mantissa, count) = match format {
            Format::F16 => (5, 10, 31 << 10),
            Format::Bf16 => (8, 7, 255 << 7),
            Format::E4m3 => (4, 3, 127),
            Format::E5m2 => (5, 2, 31 << 2),
            Format::F32 | Format::Tf32 | Format::I8 => (0, 0, 0),
        };
        let decoded = |pattern: i32| {
            let (field, rest) = (pattern >> mantissa, pattern & ((1 << mantissa) - 1));
            let significand = if field == 0 { rest } else { rest + (1 << mantissa) };
            let bias = (1 << (exponent - 1)) - 1;
            f64::from(significand) * f64::from(field.max(1) - bias - mantissa).exp2()
        };
        Numbers((0..count).map(decoded).collect())
    }

    /// The nearest number, or infinity (or NaN: the caller does not tell them apart).
    pub fn round(&self, x: f64) -> f64 {
        if self.0.is_empty() {
            return f64::from(x as f32);
        }
        let (size, last) = (x.abs(), self.0.len() - 1);
        let above = self.0.partition_point(|&number| number < size);
        let next = |at: usize| match at > last {
            true => 2.0 * self.0[last] - self.0[last - 1],
            false => self.0[at],
        };
        let nearest = match above {
            0 => 0,
            _ if above > last + 1 => last + 1,
            _ => {
                let (down, up) = (size - next(above - 1), next(above) - size);
                let goes_up = up < down || (up == down && above % 2 == 0);
                if goes_up { above } else { above - 1 }
            }
        };
        let rounded = if nearest > last { f64::INFINITY } else { self.0[nearest] };
        rounded.copysign(x)
    }
}
