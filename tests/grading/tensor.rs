//! Compares a learner's tensor with the right one: shape before values, known ideas by name.

use engine_room::{DType, Tensor};

use crate::check::{Check, Idea};
use crate::diagnosis::{Diagnosis, key};

/// Tensors of at most so many elements are printed whole.
const SMALL: usize = 16;

impl Check {
    /// Compares two tensors; `what` names them (`da`) and `called` says what was called.
    ///
    /// An element fits if it is within `tolerance * max(1, |want|)`; a NaN never fits. If all of
    /// `got` fits the value of an idea instead, the diagnosis takes that idea's key and thought.
    pub fn tensor(
        &self,
        what: &str,
        called: &str,
        got: &Tensor,
        want: &Tensor,
        tolerance: f64,
        ideas: &[Idea<Tensor>],
    ) -> Result<(), Diagnosis> {
        let Some((got_words, want_words, generic)) = difference(what, got, want, tolerance) else {
            return Ok(());
        };
        let diagnosis = Diagnosis::new(generic).called(called).got(got_words).expected(want_words);
        let known = ideas.iter().find(|idea| {
            difference(what, got, &idea.value, tolerance).is_none()
                && difference(what, want, &idea.value, tolerance).is_some()
        });
        Err(match known {
            Some(idea) => Diagnosis { key: idea.key.to_owned(), ..diagnosis }.thought(idea.thought),
            None => diagnosis,
        })
    }
}

/// `called` with the tensors that it is about, so that a result can be checked by hand; as it is if
/// one of them is too large for that.
pub fn with_inputs(called: &str, inputs: &[(&str, &Tensor)]) -> String {
    if inputs.iter().any(|(_, tensor)| tensor.numel() > SMALL) {
        return called.to_owned();
    }
    let mut out = called.to_owned();
    for (what, tensor) in inputs {
        let values = values(tensor);
        match values[..] {
            [value] => out += &format!("\n{what} {:?} is {}", tensor.shape(), number(value)),
            _ => out += &whole(what, &values, tensor.shape()),
        }
    }
    out
}

/// What came, what was right, and the generic key of the difference; none if they are equal.
fn difference(
    what: &str,
    got: &Tensor,
    want: &Tensor,
    tolerance: f64,
) -> Option<(String, String, &'static str)> {
    if got.shape() != want.shape() {
        let words = |tensor: &Tensor| format!("{what} has shape {:?}", tensor.shape());
        return Some((words(got), words(want), key::WRONG_SHAPE));
    }
    if got.dtype() != want.dtype() {
        let words = |tensor: &Tensor| format!("{what} has dtype {}", tensor.dtype());
        return Some((words(got), words(want), key::WRONG_VALUE));
    }
    let (got_values, want_values) = (values(got), values(want));
    let mut pairs = got_values.iter().zip(&want_values);
    let first = pairs.position(|(got, want)| !fits(*got, *want, tolerance))?;
    let index = index(first, want.shape());
    let words = |tensor: &Tensor, values: &[f64]| {
        let shape = tensor.shape();
        let whole = if values.len() <= SMALL { whole(what, values, shape) } else { String::new() };
        let place = if shape.is_empty() { String::new() } else { format!("{index:?}") };
        format!("{what}{place} = {}{whole}", number(values[first]))
    };
    Some((words(got, &got_values), words(want, &want_values), key::WRONG_VALUE))
}

fn fits(got: f64, want: f64, tolerance: f64) -> bool {
    got == want || (got - want).abs() <= tolerance * want.abs().max(1.0)
}

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.detach().to(DType::F64).to_vec()
}

/// The index in each dimension of the element at `position` in logical order.
fn index(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, size) in index.iter_mut().zip(shape).rev() {
        *slot = position % size;
        position /= size;
    }
    index
}

/// All elements, one line for each row of the last dimension.
fn whole(what: &str, values: &[f64], shape: &[usize]) -> String {
    let columns = shape.last().copied().unwrap_or(1).max(1);
    if values.len() < 2 {
        return String::new();
    }
    let rows = values.chunks(columns).map(|row| {
        let row: Vec<String> = row.iter().map(|value| number(*value)).collect();
        format!("\n  [{}]", row.join(", "))
    });
    format!("\n{what} {shape:?} is{}", rows.collect::<String>())
}

/// Six digits, without zeros at the end.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if value != 0.0 && (value.abs() < 1e-3 || value.abs() >= 1e7) {
        return format!("{value:e}");
    }
    if text.contains('.') { short.to_owned() } else { text }
}
