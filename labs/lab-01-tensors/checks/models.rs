//! Ways of thinking that are wrong: which of them explains all of a learner's answers?
//!
//! One answer fits many mistakes. So all questions are asked first, and then each model answers
//! them too: the one that agrees with the learner most often is probably what the learner thought.

use std::fmt::Debug;

use grading::diagnosis::key;
use grading::{Check, Diagnosis};

/// A wrong way of thinking, and what it answers.
pub struct Model<Q, A> {
    /// The key of the diagnosis.
    pub key: &'static str,
    /// What is thought, and what is true instead.
    pub thought: &'static str,
    /// The answer to a question.
    pub answer: fn(&Q) -> A,
}

/// A question with the learner's answer and the right one.
pub struct Answered<Q, A> {
    /// What was called.
    pub called: String,
    /// What it was about.
    pub question: Q,
    /// What came.
    pub got: A,
    /// What is right.
    pub want: A,
}

/// The first wrong answer, with the model that explains it and agrees with most of the others.
pub fn judge<Q, A: PartialEq + Debug>(
    check: &Check,
    answers: &[Answered<Q, A>],
    models: &[Model<Q, A>],
) -> Result<(), Diagnosis> {
    let Some(wrong) = answers.iter().find(|answer| answer.got != answer.want) else {
        return Ok(());
    };
    let agrees = |model: &&Model<Q, A>| (model.answer)(&wrong.question) == wrong.got;
    let agreements = |model: &Model<Q, A>| {
        answers.iter().filter(|answer| (model.answer)(&answer.question) == answer.got).count()
    };
    // Of equals the first: the list goes from the common to the rare.
    let best = models.iter().filter(agrees).rev().max_by_key(|model| agreements(model));
    let right = answers.iter().filter(|answer| answer.got == answer.want).count();
    let best = best.filter(|model| agreements(model) > right);
    let (key, thought) = best.map_or((key::WRONG_VALUE, ""), |model| (model.key, model.thought));
    check.require(false, || {
        Diagnosis::new(key)
            .called(wrong.called.as_str())
            .got(format!("{:?}; {right} of {} answers are right", wrong.got, answers.len()))
            .expected(format!("{:?}", wrong.want))
            .thought(thought)
    })
}
