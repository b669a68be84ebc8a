//! 7.1: spans by hand, each list with one trap, and calls within calls at random.

use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::spans::{Span, Times};
use super::Implementation;
use super::span_thoughts::{
    DESCENDANTS, NAMES, NEGATIVE, ONE_A_NAME, SIBLING, THREADS, Thought, formula, is_same, known,
};
use super::thoughts::{below_zero, explained};
use super::tree;

/// A list, and what it means if a subtraction goes below 0 here for the first time.
struct Question {
    name: String,
    spans: Vec<Span>,
    negative: (&'static str, &'static str),
}

/// 7.1
pub fn spans(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut questions = by_hand();
    questions.extend(that_touch());
    for number in 0..30 {
        questions.push(at_random(number, &mut rng));
    }
    questions.push(Question {
        name: "no spans".to_string(),
        spans: Vec::new(),
        negative: NEGATIVE,
    });
    let mut answers = Vec::new();
    for question in &questions {
        let called = called_words(question);
        let got = check.call(called.as_str(), || (imp.self_times)(&question.spans));
        let got = got.map_err(|diagnosis| below_zero(diagnosis, question.negative))?;
        check.require(got.len() == question.spans.len(), || {
            let mut names: Vec<&str> = question.spans.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let is_one_a_name = got.len() == names.len();
            let (key, words) = if is_one_a_name { ONE_A_NAME } else { ("wrong-shape", "") };
            Diagnosis::new(key)
                .called(called.as_str())
                .got(format!("{} times", got.len()))
                .expected(format!("{}: one for each span", question.spans.len()))
                .thought(words)
        })?;
        answers.push(got);
    }
    judge(&questions, &answers)
}

fn judge(questions: &[Question], answers: &[Vec<Times>]) -> Result<(), Diagnosis> {
    let pairs = || questions.iter().zip(answers);
    let gives = |thought, question: &Question, answer: &[Times]| {
        is_same(&formula(&question.spans, thought), answer)
    };
    let wrong = pairs().filter(|(question, answer)| !gives(Thought::Right, question, answer));
    // The shortest list is the easiest to follow.
    let Some((question, answer)) = wrong.min_by_key(|(question, _)| question.spans.len()) else {
        return Ok(());
    };
    let agrees = |thought| pairs().all(|(question, answer)| gives(thought, question, answer));
    let (key, thought) = explained(&known(), agrees);
    let want = formula(&question.spans, Thought::Right);
    let is_right = |&at: &usize| is_same(&want[at..=at], &answer[at..=at]);
    let right = (0..want.len()).filter(is_right).count();
    let at = (0..want.len()).find(|at| !is_right(at)).unwrap_or(0);
    let Times { total_ns, self_ns } = answer[at];
    Err(Diagnosis::new(key)
        .called(called_words(question))
        .got(format!(
            "{}: total {total_ns}, self {self_ns}\n{right} of {} spans are right",
            words(&question.spans[at], true),
            want.len()
        ))
        .expected(format!("total {}, self {}", want[at].0, want[at].1))
        .thought(thought))
}

/// `(name, thread, start, end)`, in the order in which they ended.
fn list(spans: &[(&str, usize, u64, u64)]) -> Vec<Span> {
    let span = |&(name, thread, start_ns, end_ns): &(&str, usize, u64, u64)| Span {
        name: name.to_string(),
        thread,
        start_ns,
        end_ns,
    };
    spans.iter().map(span).collect()
}

fn question(
    name: &str,
    spans: &[(&str, usize, u64, u64)],
    negative: (&'static str, &'static str),
) -> Question {
    Question { name: name.to_string(), spans: list(spans), negative }
}

/// Spans that begin or end with others.
fn that_touch() -> Vec<Question> {
    let one = 4711;
    let borders = [
        ("copy", one, 20, 20),
        ("norm", one, 0, 40),
        ("matmul", one, 40, 90),
        ("linear", one, 40, 90),
        ("block", one, 0, 90),
        ("copy", one, 90, 100),
        ("model", one, 0, 100),
    ];
    let equals = [
        ("copy", one, 10, 20),
        ("matmul", one, 0, 50),
        ("linear", one, 0, 50),
        ("block", one, 0, 50),
    ];
    vec![
        question("parts that touch", &borders, NEGATIVE),
        question("calls that do nothing but call", &equals, NEGATIVE),
    ]
}

fn by_hand() -> Vec<Question> {
    let (one, two) = (4711, 36);
    let beside = [("add", one, 10, 30), ("matmul", one, 40, 90), ("linear", one, 0, 100)];
    let nested = [
        ("copy", one, 20, 30),
        ("pack", one, 15, 35),
        ("matmul", one, 10, 70),
        ("add", one, 75, 95),
        ("linear", one, 0, 100),
    ];
    let again = [
        ("visit", one, 30, 60),
        ("visit", one, 20, 80),
        ("visit", one, 10, 90),
        ("visit", one, 92, 97),
        ("main", one, 0, 100),
    ];
    let threads = [
        ("decode", two, 15, 55),
        ("decode", two, 60, 85),
        ("forward", one, 10, 90),
        ("load", two, 5, 95),
        ("step", one, 0, 100),
    ];
    vec![
        question("two parts", &beside, SIBLING),
        question("parts of parts", &nested, DESCENDANTS),
        question("a function that calls itself", &again, NAMES),
        question("two threads", &threads, THREADS),
    ]
}

/// A tree of calls; the engine's own self times must agree with what is thought to be right.
fn at_random(number: usize, rng: &mut Generator) -> Question {
    let tree = tree::random(1 + number % 4, 1 + number % 5, rng);
    let spans = tree::spans(&tree);
    let of = |times: Vec<i128>| {
        let mut times = times;
        times.sort_unstable();
        times
    };
    let profile = tree::profile(&tree);
    let engine = profile.self_times();
    let engine = engine[..tree.len()].iter().map(|&ns| i128::from(ns)).collect();
    let own = formula(&spans, Thought::Right).iter().map(|&(_, self_ns)| self_ns).collect();
    assert_eq!(of(own), of(engine), "the engine says otherwise");
    Question { name: format!("random list {}", number + 1), spans, negative: NEGATIVE }
}

fn words(span: &Span, with_thread: bool) -> String {
    let Span { name, thread, start_ns, end_ns } = span;
    let thread = if with_thread { format!(" on {thread}") } else { String::new() };
    format!("{name}{thread} {start_ns}..{end_ns}")
}

fn called_words(Question { name, spans, .. }: &Question) -> String {
    let with_thread = spans.iter().any(|span| span.thread != spans[0].thread);
    let shown: Vec<String> = spans.iter().take(8).map(|span| words(span, with_thread)).collect();
    let more = spans.len().saturating_sub(8);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("self_times([{}{more}]), {name}", shown.join(", "))
}
