//! A table of what a module holds.

use std::fmt;

use crate::Tensor;
use crate::nn::module::{Part, Parts};
use crate::nn::parameter::Parameter;

/// The tree of a module as a table: a line for each module with its name and type, and below it a
/// line for each tensor of its own, with type and shape, the count of its numbers and its bytes. A
/// shared parameter counts where it appears first; elsewhere the line says what it is.
///
/// `frozen` is a parameter that asks for no gradient. `buffer` and `not saved` mark buffers, which
/// a checkpoint contains or leaves out.
///
/// ```text
/// Sequential          type and shape  numbers   bytes
///   0: Embedding
///     weight          f32 [256, 32]     8,192  32,768  trained
///   1: Residual
///     linear: Linear
///       weight        f32 [32, 32]      1,024   4,096  trained
///       bias          f32 [32]             32     128  trained
///     scale           f32 []                1       4  trained
///   2: LayerNorm
///     weight          f32 [32]             32     128  trained
///     bias            f32 [32]             32     128  frozen
///   3: Linear
///     weight          f32 [256, 32]                    is 0.weight
/// trained: 9,281 numbers, 37,124 bytes
/// frozen: 32 numbers, 128 bytes
/// buffers: 0 numbers, 0 bytes
/// ```
pub struct Summary {
    rows: Vec<[String; 5]>,
    seen: Vec<(String, Parameter)>,
    trained: Count,
    frozen: Count,
    buffers: Count,
}

#[derive(Default)]
struct Count {
    numbers: u64,
    bytes: u64,
}

impl Summary {
    /// Of a module of this type.
    pub(super) fn of(type_name: &str, parts: Parts) -> Summary {
        let head = [type_name, "type and shape", "numbers", "bytes", ""];
        let mut summary = Summary {
            rows: vec![head.map(String::from)],
            seen: Vec::new(),
            trained: Count::default(),
            frozen: Count::default(),
            buffers: Count::default(),
        };
        summary.walk(parts, 1, "");
        summary
    }

    fn walk(&mut self, parts: Parts, depth: usize, prefix: &str) {
        for (name, part) in parts.0 {
            let (full, indent) = (format!("{prefix}{name}"), "  ".repeat(depth));
            match part {
                Part::Training(_) => {}
                Part::Module(module) => {
                    let title = format!("{indent}{name}: {}", module.type_name());
                    self.rows.push([&title, "", "", "", ""].map(String::from));
                    self.walk(module.parts(), depth + 1, &format!("{full}."));
                }
                Part::Parameter(parameter) => {
                    self.parameter(format!("{indent}{name}"), full, parameter);
                }
                Part::Buffer(buffer) => {
                    let note = if buffer.is_persistent() { "buffer" } else { "not saved" };
                    self.buffers.add(&buffer.get());
                    self.tensor(format!("{indent}{name}"), &buffer.get(), note);
                }
            }
        }
    }

    fn parameter(&mut self, title: String, full: String, parameter: &Parameter) {
        let x = parameter.get();
        if let Some((first, _)) = self.seen.iter().find(|(_, other)| other.is(parameter)) {
            let note = format!("is {first}");
            return self.rows.push([title, x.brief(), String::new(), String::new(), note]);
        }
        self.seen.push((full, parameter.clone()));
        let (count, note) = match x.requires_grad() {
            true => (&mut self.trained, "trained"),
            false => (&mut self.frozen, "frozen"),
        };
        count.add(&x);
        self.tensor(title, &x, note);
    }

    fn tensor(&mut self, title: String, x: &Tensor, note: &str) {
        let (numbers, bytes) = (grouped(x.numel() as u64), grouped(x.nbytes()));
        self.rows.push([title, x.brief(), numbers, bytes, note.to_string()]);
    }
}

impl Count {
    fn add(&mut self, x: &Tensor) {
        self.numbers += x.numel() as u64;
        self.bytes += x.nbytes();
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let width = |column: usize| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let [first, second, third, fourth] = [0, 1, 2, 3].map(width);
        for [name, tensor, numbers, bytes, note] in &self.rows {
            let line = format!(
                "{name:first$}  {tensor:second$}  {numbers:>third$}  {bytes:>fourth$}  {note}"
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let kinds =
            [("trained", &self.trained), ("frozen", &self.frozen), ("buffers", &self.buffers)];
        for (kind, Count { numbers, bytes }) in kinds {
            writeln!(f, "{kind}: {} numbers, {} bytes", grouped(*numbers), grouped(*bytes))?;
        }
        Ok(())
    }
}

/// 1234567 as "1,234,567".
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
