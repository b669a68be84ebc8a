//! 7.2: calls by hand, each list with one trap, and calls within calls at random.

use engine_room::profiler::GroupBy;
use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::averages::{Call, Row};
use super::Implementation;
use super::average_thoughts::{
    DESCENDANTS, NEGATIVE, ORDER, THOUGHTS, Thought, formula, is_explained,
};
use super::thoughts::{below_zero, explained};
use super::tree::{self, Timed};

/// A list of calls, and how they are to be grouped.
struct Question {
    name: String,
    calls: Vec<Call>,
    by_shape: bool,
    negative: (&'static str, &'static str),
}

/// 7.2
pub fn averages(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut questions = by_hand();
    for number in 0..20 {
        questions.extend(at_random(number, &mut rng));
    }
    let mut answers = Vec::new();
    for question in &questions {
        let Question { calls, by_shape, .. } = question;
        let got = check.call(called_words(question), || (imp.key_averages)(calls, *by_shape));
        answers.push(got.map_err(|diagnosis| below_zero(diagnosis, question.negative))?);
    }
    judge(&questions, &answers)
}

fn right(question: &Question) -> Vec<Row> {
    formula(&question.calls, question.by_shape, Thought::Right)
}

fn judge(questions: &[Question], answers: &[Vec<Row>]) -> Result<(), Diagnosis> {
    let pairs = || questions.iter().zip(answers);
    let wrong = pairs().filter(|(question, answer)| right(question) != **answer);
    // The shortest list is the easiest to follow.
    let Some((question, answer)) = wrong.min_by_key(|(question, _)| question.calls.len()) else {
        return Ok(());
    };
    let agrees = |thought| {
        let gives = |it: &Question| formula(&it.calls, it.by_shape, thought);
        pairs().all(|(question, answer)| is_explained(&gives(question), &right(question), answer))
    };
    let in_any_order = pairs().all(|(question, answer)| {
        let want = right(question);
        want.len() == answer.len() && want.iter().all(|row| answer.contains(row))
    });
    let (key, thought) = if in_any_order { ORDER } else { explained(THOUGHTS, agrees) };
    let (got, expected) = difference(&right(question), answer);
    Err(Diagnosis::new(key)
        .called(called_words(question))
        .got(got)
        .expected(expected)
        .thought(thought))
}

/// The first row that differs, or else the keys.
fn difference(want: &[Row], got: &[Row]) -> (String, String) {
    let keys = |rows: &[Row]| {
        let shown: Vec<String> =
            rows.iter().take(8).map(|it| key_words(&it.name, &it.shapes)).collect();
        let more = if rows.len() > 8 { ", .." } else { "" };
        format!("{} rows: {}{more}", rows.len(), shown.join(", "))
    };
    let same_keys = want.len() == got.len()
        && want.iter().zip(got).all(|(a, b)| (&a.name, &a.shapes) == (&b.name, &b.shapes));
    let first = want.iter().zip(got).find(|(want, got)| want != got);
    match first.filter(|_| same_keys) {
        None => (keys(got), keys(want)),
        Some((want, got)) => {
            let right = want_got_right(want, got);
            (format!("{}\n{right} of the 5 numbers are right", row_words(got)), row_words(want))
        }
    }
}

fn numbers(row: &Row) -> [u64; 5] {
    let Row { count, cpu_total_ns, self_cpu_ns, device_total_ns, self_device_ns, .. } = row;
    [*count, *cpu_total_ns, *self_cpu_ns, *device_total_ns, *self_device_ns]
}

fn want_got_right(want: &Row, got: &Row) -> usize {
    numbers(want).iter().zip(numbers(got)).filter(|(want, got)| **want == *got).count()
}

fn key_words(name: &str, shapes: &[Vec<usize>]) -> String {
    if shapes.is_empty() { name.to_string() } else { format!("{name} {shapes:?}") }
}

fn row_words(row: &Row) -> String {
    let [count, total, own, device, own_device] = numbers(row);
    let key = key_words(&row.name, &row.shapes);
    format!("{key}: count {count}, CPU {total}, self {own}, device {device}, self {own_device}")
}

fn called_words(Question { name, calls, by_shape, .. }: &Question) -> String {
    let call = |call: &Call| {
        let within = call.parent.map_or(String::new(), |parent| format!(" in {parent}"));
        let shapes = if *by_shape { call.shapes.as_slice() } else { &[] };
        let kernels = match call.kernels_ns {
            0 => String::new(),
            ns => format!(" + {ns}"),
        };
        format!("{}{within}: {}{kernels}", key_words(&call.name, shapes), call.cpu_ns)
    };
    let shown: Vec<String> = calls.iter().take(6).map(call).collect();
    let more = calls.len().saturating_sub(6);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("key_averages([{}{more}], {by_shape}), {name}", shown.join(", "))
}

fn by_hand() -> Vec<Question> {
    let call = |name: &str, parent, cpu_ns, kernels_ns| Call {
        name: name.to_string(),
        shapes: vec![vec![2, cpu_ns as usize]],
        parent,
        cpu_ns,
        kernels_ns,
    };
    let lists: [(&str, Vec<Call>, (&str, &str)); 4] = [
        ("no calls", vec![], NEGATIVE),
        (
            "calls one after the other",
            vec![call("mul", None, 30, 7), call("add", None, 20, 50), call("mul", None, 40, 9)],
            NEGATIVE,
        ),
        (
            "parts of parts",
            vec![
                call("linear", None, 100, 0),
                call("matmul", Some(0), 60, 300),
                call("pack", Some(1), 25, 40),
                call("copy", Some(2), 20, 0),
                call("add", Some(0), 20, 10),
            ],
            DESCENDANTS,
        ),
        (
            "a module in itself, with another one between",
            vec![
                call("block", None, 100, 5),
                call("norm", Some(0), 70, 0),
                call("block", Some(1), 50, 30),
                call("block", Some(2), 20, 11),
                call("block", None, 10, 1),
            ],
            NEGATIVE,
        ),
    ];
    let question = |(name, calls, negative): (&str, Vec<Call>, _)| {
        let name = name.to_string();
        Question { name, calls, by_shape: false, negative }
    };
    lists.into_iter().map(question).collect()
}

/// A tree of calls, grouped both ways; the engine's own averages must agree with what is thought
/// to be right.
fn at_random(number: usize, rng: &mut Generator) -> Vec<Question> {
    let tree = tree::random(1 + number % 3, 1 + number % 5, rng);
    let calls = tree::calls(&tree);
    let both = [false, true].map(|by_shape| {
        let want = formula(&calls, by_shape, Thought::Right);
        assert_eq!(of_engine(&tree, by_shape), want, "the engine says otherwise");
        let name = format!("random list {}", number + 1);
        Question { name, calls: calls.clone(), by_shape, negative: NEGATIVE }
    });
    both.into()
}

fn of_engine(tree: &[Timed], by_shape: bool) -> Vec<Row> {
    let group_by = if by_shape { GroupBy::InputShape } else { GroupBy::Name };
    let rows = tree::profile(tree).key_averages(group_by).rows.into_iter();
    let row = |row: engine_room::profiler::Average| Row {
        name: row.key,
        shapes: row.shapes,
        count: row.count,
        cpu_total_ns: row.cpu_time_total,
        self_cpu_ns: row.self_cpu_time_total,
        device_total_ns: row.device_time_total,
        self_device_ns: row.self_device_time_total,
    };
    rows.filter(|row| !row.is_on_device).map(row).collect()
}
