//! How a tensor prints: nested lists as PyTorch writes them, long dimensions shortened, then dtype,
//! shape and, if it is not the CPU, the device.

use std::fmt::{self, Display, Formatter};

use crate::device::Device;
use crate::dtype::{Element, Scalar, with_element};
use crate::tensor::Tensor;

/// Tensors of more elements than this are shortened, as in PyTorch.
const THRESHOLD: usize = 1000;
/// Entries shown at each end of a shortened dimension.
const EDGE: usize = 3;

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let host = self.detach().to(Device::Cpu);
        let shorten = self.numel() > THRESHOLD;
        let mut values = Vec::new();
        collect(&host, shorten, &mut values);
        let style = Style::of(&values);
        let texts: Vec<String> = values.iter().map(|value| style.write(*value)).collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0);
        let mut texts = texts.into_iter().map(|text| format!("{text:>width$}"));
        write_block(f, self.shape(), shorten, 1, &mut texts)?;
        write!(f, " {}", self.brief())
    }
}

/// The entries of a dimension that are shown: those before the gap and those behind it.
fn entries(size: usize, shorten: bool) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    if shorten && size > 2 * EDGE { (0..EDGE, size - EDGE..size) } else { (0..size, size..size) }
}

/// The elements that are shown, in order. Only they are read.
fn collect(x: &Tensor, shorten: bool, values: &mut Vec<Scalar>) {
    let Some(&size) = x.shape().first() else {
        values.push(with_element!(x.dtype(), T => x.item_as::<T>().to_scalar()));
        return;
    };
    let (front, back) = entries(size, shorten);
    for i in front.chain(back) {
        collect(&x.select(0, i as isize), shorten, values);
    }
}

/// Writes the elements of a shape, indented by `depth` on each new line.
fn write_block(
    f: &mut Formatter,
    shape: &[usize],
    shorten: bool,
    depth: usize,
    texts: &mut impl Iterator<Item = String>,
) -> fmt::Result {
    let Some((&size, inner)) = shape.split_first() else {
        return f.write_str(&texts.next().expect("one text for each element that is shown"));
    };
    let separator = match inner {
        [] => ", ".to_string(),
        _ => format!(",\n{}", " ".repeat(depth)),
    };
    let (front, back) = entries(size, shorten);
    let gap = back.start;
    f.write_str("[")?;
    for i in front.chain(back) {
        if i > 0 {
            f.write_str(&separator)?;
        }
        if i == gap {
            write!(f, "...{separator}")?;
        }
        write_block(f, inner, shorten, depth + 1, texts)?;
    }
    f.write_str("]")
}

/// One way of writing all floating-point numbers of a tensor, so that they can be compared.
enum Style {
    /// `3.`: all of them are whole.
    Whole,
    /// `0.2500`
    Fixed,
    /// `2.5000e-07`: they span more than three decades, or lie far from 1.
    Scientific,
}

impl Style {
    fn of(values: &[Scalar]) -> Style {
        let numbers = values.iter().map(|value| value.to_f64().abs());
        let sizes: Vec<f64> = numbers.filter(|x| x.is_finite() && *x > 0.0).collect();
        let (least, most) = sizes
            .iter()
            .fold((f64::INFINITY, 0.0), |(least, most), &x| (x.min(least), x.max(most)));
        let whole = sizes.iter().all(|x| x.fract() == 0.0);
        let wide = most / least > 1e3 || most > 1e8 || (least < 1e-4 && !whole);
        match (wide, whole) {
            (true, _) => Style::Scientific,
            (false, true) => Style::Whole,
            (false, false) => Style::Fixed,
        }
    }

    fn write(&self, value: Scalar) -> String {
        let Scalar::Float(x) = value else {
            return value.to_string();
        };
        match self {
            _ if x.is_nan() => "nan".to_string(),
            _ if x.is_infinite() => x.to_string(),
            Style::Whole => format!("{x:.0}."),
            Style::Fixed => format!("{x:.4}"),
            Style::Scientific => scientific(x),
        }
    }
}

/// As C writes it, with a sign and two digits in the exponent.
fn scientific(x: f64) -> String {
    let text = format!("{x:.4e}");
    let (digits, exponent) = text.split_once('e').expect("Rust writes an e");
    let exponent: i32 = exponent.parse().expect("an integer stands behind it");
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
