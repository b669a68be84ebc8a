//! The digits: 1,797 images of 8 x 8 pixels with their labels.

use std::io::Read;

use engine_room::Tensor;
use engine_room::rng::Generator;
use flate2::read::GzDecoder;

const PIXELS: usize = 64;
const CLASSES: usize = 10;
const IMAGES: usize = 1797;

/// Images and their labels, one row of 64 pixels an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Digits {
    /// 64 pixels an image, row by row, from 0 (white) to 1 (ink).
    pub pixels: Vec<f32>,
    /// The digit, 0 to 9.
    pub labels: Vec<i64>,
}

/// The images to train on, and those held out.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Four fifths.
    pub train: Digits,
    /// One fifth, never trained on.
    pub test: Digits,
}

impl Digits {
    /// Reads `labs/data/digits.csv.gz`.
    ///
    /// # Errors
    /// If the file is missing, not gzip, or does not hold 1,797 rows of 65 numbers.
    pub fn load() -> Result<Digits, String> {
        let path = grading::root().join("labs/data/digits.csv.gz");
        let file = std::fs::File::open(&path)
            .map_err(|e| format!("labs/data/digits.csv.gz cannot be read ({e}); {RESTORE}"))?;
        let mut text = String::new();
        GzDecoder::new(file)
            .read_to_string(&mut text)
            .map_err(|e| format!("labs/data/digits.csv.gz is damaged ({e}); {RESTORE}"))?;
        let digits =
            parse(&text).map_err(|e| format!("labs/data/digits.csv.gz: {e}; {RESTORE}"))?;
        match digits.len() {
            IMAGES => Ok(digits),
            n => Err(format!("labs/data/digits.csv.gz has {n} rows, not {IMAGES}; {RESTORE}")),
        }
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The images with these numbers, in this order: a batch.
    ///
    /// # Panics
    /// If a number is not below [`Digits::len`].
    pub fn select(&self, images: &[usize]) -> Digits {
        let pixels = |&i: &usize| self.pixels[i * PIXELS..(i + 1) * PIXELS].iter().copied();
        let labels = images.iter().map(|&i| self.labels[i]).collect();
        Digits { pixels: images.iter().flat_map(pixels).collect(), labels }
    }

    /// `x: (images, 64)` as f32 and `y: (images)` as i64.
    pub fn tensors(&self) -> (Tensor, Tensor) {
        let x = Tensor::from_vec(self.pixels.clone(), &[self.len(), PIXELS]);
        (x, Tensor::from_vec(self.labels.clone(), &[self.len()]))
    }

    /// Shuffled, with a fifth of each digit held out; the same seed gives the same split.
    pub fn split(&self, seed: u64) -> Split {
        let mut left = [0; CLASSES];
        self.labels.iter().for_each(|&label| left[label as usize] += 1);
        left.iter_mut().for_each(|count| *count = (*count + 2) / 5);
        let order = Generator::new(seed).permutation(self.len());
        let (test, train): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&i| {
            let left = &mut left[self.labels[i] as usize];
            let held_out = *left > 0;
            *left -= i32::from(held_out);
            held_out
        });
        Split { train: self.select(&train), test: self.select(&test) }
    }

    /// In the file's order, with the last fifth held out. Its writers are other people than those
    /// of the first four fifths, so this split is the harder one.
    pub fn last_fifth(&self) -> Split {
        let first = self.len() - self.len() / 5;
        let train: Vec<usize> = (0..first).collect();
        let test: Vec<usize> = (first..self.len()).collect();
        Split { train: self.select(&train), test: self.select(&test) }
    }
}

const RESTORE: &str = "restore it with `git checkout -- labs/data/digits.csv.gz`";

fn parse(text: &str) -> Result<Digits, String> {
    let mut digits = Digits { pixels: Vec::new(), labels: Vec::new() };
    for (i, line) in text.lines().enumerate() {
        let row = || format!("row {} is not 64 pixels of 0 to 16 and a digit", i + 1);
        let numbers: Result<Vec<u8>, _> = line.split(',').map(str::parse).collect();
        let numbers = numbers.map_err(|_| row())?;
        let [pixels @ .., label] = numbers.as_slice() else { return Err(row()) };
        if pixels.len() != PIXELS || *label > 9 || pixels.iter().any(|&p| p > 16) {
            return Err(row());
        }
        digits.pixels.extend(pixels.iter().map(|&p| f32::from(p) / 16.0));
        digits.labels.push(i64::from(*label));
    }
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_holds_out_a_fifth_of_each_digit() {
        let digits = Digits::load().unwrap();
        let Split { train, test } = digits.split(7);
        assert_eq!((train.len() + test.len(), test.pixels.len()), (1797, 64 * test.len()));
        for digit in 0..10 {
            let count = |d: &Digits| d.labels.iter().filter(|&&l| l == digit).count();
            assert_eq!(count(&test), (count(&digits) + 2) / 5);
        }
        assert_eq!(digits.split(7).test, test);
        assert_ne!(digits.split(8).test, test);
        assert_eq!(digits.last_fifth().test.len(), 359);
    }

    #[test]
    fn a_damaged_row_is_named() {
        let good = ["1"; 65].join(",");
        assert_eq!(parse(&good).unwrap().pixels[0], 1.0 / 16.0);
        let bad = format!("{good}\n{}", ["17"; 65].join(","));
        assert!(parse(&bad).unwrap_err().starts_with("row 2 is not"));
        assert!(parse("1,2").is_err() && parse("x").is_err() && parse("\n").is_err());
    }
}
