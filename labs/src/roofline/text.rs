//! Words in the plane of a roofline, where they cover nothing, and numbers with prefixes.

use plotters::style::text_anchor::HPos;

use super::plane::{FRAME, WIDTH};
use crate::drawing::{Area, write};

/// The size of the letters.
pub const FONT: i32 = 13;
/// Pixels of a letter of that size, on average.
const LETTER: i32 = 7;

/// Rectangles that hold text or marks already: left, top, right, bottom.
pub struct Taken(pub Vec<[i32; 4]>);

impl Taken {
    /// Writes at the first of some places that is free; at the first one if none is.
    pub fn write(
        &mut self,
        area: &Area,
        text: &str,
        places: impl Iterator<Item = (i32, i32)>,
        side: HPos,
    ) -> Result<(), String> {
        let width = text.chars().count() as i32 * LETTER;
        let held = |&(x, y): &(i32, i32)| {
            let left = match side {
                HPos::Left => x,
                HPos::Right => x - width,
                HPos::Center => x - width / 2,
            };
            [left, y - 7, left + width, y + 7]
        };
        let places: Vec<(i32, i32)> = places.collect();
        let free = places.iter().find(|place| self.is_free(held(place)));
        let Some(&at) = free.or(places.first()) else { return Ok(()) };
        self.0.push(held(&at));
        write(area, text, at, FONT, side)
    }

    fn is_free(&self, [left, top, right, bottom]: [i32; 4]) -> bool {
        let inside = left > FRAME[0] && right < WIDTH && top > FRAME[1] - 16 && bottom < FRAME[3];
        let apart =
            |it: &[i32; 4]| right <= it[0] || it[2] <= left || bottom <= it[1] || it[3] <= top;
        inside && self.0.iter().all(apart)
    }
}

/// `0.01`, `1`, `1,000`: a power of ten.
pub fn power(decade: i32) -> String {
    match decade {
        ..0 => format!("{:.*}", -decade as usize, 10f64.powi(decade)),
        0..3 => format!("{:.0}", 10f64.powi(decade)),
        3.. => prefixed(10f64.powi(decade)),
    }
}

/// `10 G`
pub fn prefixed(number: f64) -> String {
    let (value, prefix) = scaled(number);
    format!("{value:.0} {prefix}").trim_end().to_string()
}

/// `8.14 T`
pub fn prefixed_to_3(number: f64) -> String {
    let (value, prefix) = scaled(number);
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {prefix}")
}

fn scaled(number: f64) -> (f64, &'static str) {
    let prefixes = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")];
    let fits = prefixes.iter().find(|(size, _)| number >= 0.999 * size);
    fits.map_or((number, ""), |&(size, prefix)| (number / size, prefix))
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;

    use super::*;

    #[test]
    fn words_do_not_cover_each_other() {
        let mut taken = Taken(Vec::new());
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, (720, 400)).into_drawing_area();
        let places = [(300, 200), (310, 204), (300, 230)];
        for number in ["1", "2"] {
            taken.write(&area, number, places.into_iter(), HPos::Left).expect("text");
        }
        assert_eq!(taken.0, [[300, 193, 307, 207], [310, 197, 317, 211]]);
        taken.write(&area, "a word", places.into_iter(), HPos::Left).expect("text");
        assert_eq!(taken.0[2], [300, 223, 342, 237]);
        // Outside the axes nothing is free.
        assert!(!taken.is_free([20, 100, 60, 114]));
    }

    #[test]
    fn numbers_are_written_with_prefixes() {
        let powers = [-2, 0, 2, 3, 9, 13].map(power);
        assert_eq!(powers, ["0.01", "1", "100", "1 K", "1 G", "10 T"]);
        assert_eq!(prefixed_to_3(8.14e12), "8.14 T");
        assert_eq!(prefixed_to_3(66.9e12), "66.9 T");
        assert_eq!(prefixed_to_3(320e9), "320 G");
    }
}
