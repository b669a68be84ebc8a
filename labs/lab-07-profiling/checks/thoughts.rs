//! What a learner may have thought: a way of computing the answer with one thing changed.

use grading::Diagnosis;
use grading::diagnosis::key;

/// A changed way, the key of its diagnosis, and what is true instead.
pub type Known<T> = (T, &'static str, &'static str);

/// Key and words of the first way that gives everything that the learner gave.
pub fn explained<T: Copy>(
    known: &[Known<T>],
    agrees: impl Fn(T) -> bool,
) -> (&'static str, &'static str) {
    let found = known.iter().find(|(thought, ..)| agrees(*thought));
    found.map_or((key::WRONG_VALUE, ""), |&(_, key, words)| (key, words))
}

/// The same, unless it is a panic of a subtraction that goes below 0: then with this key and words.
pub fn below_zero(diagnosis: Diagnosis, (key, words): (&str, &str)) -> Diagnosis {
    if diagnosis.key == key::PANICKED && diagnosis.got.contains("subtract with overflow") {
        return Diagnosis { key: key.to_string(), ..diagnosis }.thought(words);
    }
    diagnosis
}
