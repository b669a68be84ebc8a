//! 6.7: small models are trained and the history of their memory is read; large ones are computed,
//! by a formula that the small ones have confirmed.

use engine_room::nn::GptConfig;
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::step::{Moment, PeakBytes, Rule, Step};
use super::Implementation;
use super::step_thoughts::{Question, THOUGHTS, Thought, formula, moments, together};
use super::thoughts::explained;
use super::twin::{ends_of_gpt, measured};

/// A question with its answers.
struct Answered {
    question: Question,
    called: String,
    got: PeakBytes,
    want: PeakBytes,
}

/// 6.7
pub fn step_peak(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for (question, peak_at) in small(&mut rng) {
        let seen = measured(&question.0, &question.1, &mut rng);
        assert_eq!(moments(&question, Thought::Right), seen, "the engine says otherwise");
        let gpt = ends_of_gpt(&question.0, &question.1, &mut rng);
        assert_eq!([seen[0], seen[seen.len() - 1]], gpt, "the twin is no Gpt");
        let want = formula(&question, Thought::Right);
        assert_eq!(want.moment, peak_at, "each moment is to be a peak once");
        answers.push(asked(imp, check, question, want)?);
    }
    check.if_it_dies(Death::Panicked, "6.7-32-bits", WIDTH);
    for question in large(&mut rng) {
        let want = formula(&question, Thought::Right);
        answers.push(asked(imp, check, question, want)?);
    }
    judge(&answers)
}

/// Models that are trained here, and where the peak is to be.
fn small(rng: &mut Generator) -> Vec<(Question, Moment)> {
    let mut questions = Vec::new();
    let mut ask = |numbers: [usize; 7], dropout: f64, tied, rule, recompute, peak_at| {
        let [vocab, width, layers, heads, batch, time, longer] = numbers;
        let context = time + longer;
        let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
        let step = Step { batch: batch as u64, time: time as u64, rule, recompute };
        questions.push(((config, step), peak_at));
    };
    let mut about = |least: usize| least + rng.below(2 + least.min(90) / 9);
    let (last, first) = (Moment::Block(2), Moment::Block(0));
    // Many tokens for the width: all activations are there when the loss is.
    ask([about(40), 12, 3, 3, about(4), about(24), 5], 0.0, true, Rule::Sgd, false, Moment::Loss);
    ask([about(50), 16, 2, 2, 3, about(20), 0], 0.0, false, Rule::AdamW, false, Moment::Loss);
    ask([about(30), 12, 3, 4, 5, about(16), 3], 0.2, true, Rule::AdamW, false, Moment::Loss);
    // Few tokens: the gradients are more than the activations.
    ask([about(60), 20, 2, 4, 1, 2, 9], 0.1, true, Rule::SgdMomentum, false, Moment::Step);
    ask([about(60), 16, 3, 2, 2, 1, 2], 0.0, false, Rule::Sgd, true, Moment::Step);
    // A head whose gradient is more than what the loss has kept.
    let seventh = Moment::Block(6);
    ask([about(480), 32, 7, 32, 2, 14, 0], 0.1, false, Rule::Sgd, false, seventh);
    // Recomputed: by what a block has computed again, the last, the first or none of them.
    ask([about(40), 8, 3, 2, about(6), 32, 1], 0.1, true, Rule::AdamW, true, last);
    ask([about(40), 8, 3, 4, about(8), 24, 0], 0.0, false, Rule::SgdMomentum, true, last);
    ask([about(40), 16, 3, 2, 2, about(30), 4], 0.0, true, Rule::Sgd, true, first);
    ask([about(36), 16, 3, 4, 3, about(20), 2], 0.3, false, Rule::AdamW, true, first);
    ask([about(900), 8, 3, 2, 5, about(20), 7], 0.1, true, Rule::AdamW, true, Moment::Loss);
    // As much at the loss as at the step, and as at the last block: the first one counts.
    ask([66, 8, 2, 2, 3, 3, 107], 0.0, true, Rule::Sgd, false, Moment::Loss);
    ask([218, 8, 1, 2, 8, 2, 0], 0.0, true, Rule::AdamW, true, Moment::Loss);
    questions
}

/// Models of real sizes: GPT-2's four, each with something of its own.
fn large(rng: &mut Generator) -> Vec<Question> {
    let sizes = [(768, 12, 12), (1024, 24, 16), (1280, 36, 20), (1600, 48, 25)];
    let mut questions = Vec::new();
    for (at, (width, layers, heads)) in sizes.into_iter().enumerate() {
        for recompute in [false, true] {
            let (vocab, context) = (50_257, 1_024);
            let (dropout, tied) = (if at % 2 == 0 { 0.1 } else { 0.0 }, at < 3);
            let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
            let (batch, time) = (1 + rng.below(32) as u64, 1 + rng.below(1_024) as u64);
            questions.push((config, Step { batch, time, rule: Rule::AdamW, recompute }));
        }
    }
    questions
}

fn asked(
    imp: &Implementation,
    check: &mut Check,
    question: Question,
    want: PeakBytes,
) -> Result<Answered, Diagnosis> {
    let (config, step) = &question;
    let called = format!("peak_of_step({config:?}, {step:?})");
    let got = check.call(called.as_str(), || (imp.peak_of_step)(config, step))?;
    Ok(Answered { question, called, got, want })
}

/// The first wrong answer, with the thought that gives all of them.
fn judge(answers: &[Answered]) -> Result<(), Diagnosis> {
    let Some(wrong) = answers.iter().find(|answer| answer.got != answer.want) else {
        return Ok(());
    };
    // Who adds up the wrong bytes may name any moment.
    let bytes = |it: PeakBytes| PeakBytes { moment: Moment::Loss, ..it };
    let agrees =
        |thought| answers.iter().all(|it| bytes(formula(&it.question, thought)) == bytes(it.got));
    let (key, thought) = match answers.iter().all(|it| bytes(it.got) == bytes(it.want)) {
        true => ("6.7-moment", MOMENT),
        false => explained(THOUGHTS, agrees),
    };
    let right = answers.iter().filter(|answer| answer.got == answer.want).count();
    let roles = right_roles(answers);
    Err(Diagnosis::new(key)
        .called(wrong.called.as_str())
        .got(format!("{}\n{right} of {} answers are right{roles}", words(wrong.got), answers.len()))
        .expected(words(wrong.want))
        .thought(thought))
}

/// The roles that are right in every answer, so that nobody looks there.
fn right_roles(answers: &[Answered]) -> String {
    let names = ["parameters", "gradients", "optimizer", "activations"];
    let roles = |it: &PeakBytes| [it.parameters, it.gradients, it.optimizer, it.activations];
    let right =
        |role: &usize| answers.iter().all(|it| roles(&it.got)[*role] == roles(&it.want)[*role]);
    let right: Vec<&str> = (0..4).filter(right).map(|role| names[role]).collect();
    match right.is_empty() {
        true => String::new(),
        false => format!("; in all of them right: {}", right.join(", ")),
    }
}

fn words(it: PeakBytes) -> String {
    let PeakBytes { moment, parameters, gradients, optimizer, activations } = it;
    format!(
        "{moment:?}: parameters {parameters}, gradients {gradients}, optimizer {optimizer}, \
         activations {activations}; together {}",
        together(&it)
    )
}

const MOMENT: &str = "The bytes are right, and the moment is not the one that they belong to.";
const WIDTH: &str = "The number does not fit into its type. A batch of a real model keeps tens of \
    GiB: count bytes as `u64` from the start, and take care not to subtract below 0.";
