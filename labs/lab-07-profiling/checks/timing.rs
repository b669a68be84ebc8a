//! 7.3: the same kernel is timed on GPUs that differ in what must not matter.

use engine_room::rng::Generator;
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::Implementation;
use super::timing_ways::{Case, Clock, Way};
use super::timing_words::{
    FIRST_CALL, Fault, GAPS, LAUNCHES, NOT_DONE, OTHER_WORK, QUEUED, SLIPS, TOO_SHORT,
};

/// 7.3
pub fn timing(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let cases = cases(&mut check.rng());
    let mut answers = Vec::new();
    for case in &cases {
        let (mut gpu, mut kernel) = case.made();
        let got = check.call(called(case), || (imp.kernel_ns)(&mut gpu, &mut kernel, case.calls));
        answers.push(got.map_err(not_done)?);
    }
    let pairs = || cases.iter().zip(answers.iter().copied());
    let Some((case, answer)) = pairs().find(|(case, answer)| case.mean_ns() != *answer) else {
        return Ok(());
    };
    let (key, thought) = explained(&cases, &answers);
    let right = pairs().filter(|(case, answer)| case.mean_ns() == *answer).count();
    Err(Diagnosis::new(key)
        .called(called(case))
        .got(format!("{answer}\n{right} of {} answers are right", cases.len()))
        .expected(case.mean_ns().to_string())
        .thought(thought))
}

/// A panic of `elapsed_ns` is a misconception, any other one is not.
fn not_done(diagnosis: Diagnosis) -> Diagnosis {
    let (key, words) = NOT_DONE;
    if diagnosis.key == key::PANICKED && diagnosis.got.contains("not done yet") {
        return Diagnosis { key: key.to_string(), ..diagnosis }.thought(words);
    }
    diagnosis
}

/// A long kernel and a short one, each in a plain state and then with one thing changed.
fn cases(rng: &mut Generator) -> Vec<Case> {
    let mut about = |ns: u64| ns + rng.below(ns as usize / 4) as u64;
    let mut cases = vec![Case {
        name: "an idle GPU",
        launch_ns: 10_000,
        stream: 0,
        warm_ns: vec![2_000_000],
        cold_ns: 0,
        calls: 4,
        pending: vec![],
    }];
    for mean_ns in [about(90_000), about(2_000)] {
        let base = Case {
            name: "an idle GPU",
            launch_ns: about(8_000),
            stream: 1,
            warm_ns: uneven(mean_ns),
            cold_ns: about(700_000),
            calls: 8,
            pending: vec![],
        };
        let pending = vec![(1, about(3_000_000))];
        let other = vec![(2, about(40_000_000)), (0, about(60_000))];
        let turned = [&base.warm_ns[2..], &base.warm_ns[..2]].concat();
        cases.push(base.clone());
        cases.push(Case { name: WORK, pending, ..base.clone() });
        cases.push(Case { name: OTHERS_WORK, pending: other, ..base.clone() });
        cases.push(Case { name: COLD, cold_ns: about(3_000_000), ..base.clone() });
        cases.push(Case { name: HOST, launch_ns: about(14_000), ..base.clone() });
        cases.push(Case { name: "a kernel in stream 0", stream: 0, ..base.clone() });
        cases.push(Case { name: "many calls", calls: 1_000, ..base.clone() });
        cases.push(Case { name: "few calls", calls: 4, warm_ns: turned, ..base });
    }
    cases
}

const WORK: &str = "a GPU whose stream has work from before";
const OTHERS_WORK: &str = "a GPU whose other streams have work";
const COLD: &str = "a kernel that is slow at first";
const HOST: &str = "a slow host";

/// Four different times with this mean; neither the middle ones nor their mean are equal to it.
fn uneven(mean_ns: u64) -> Vec<u64> {
    let unit = mean_ns / 100;
    vec![mean_ns + 5 * unit, mean_ns + 31 * unit, mean_ns - 13 * unit, mean_ns - 23 * unit]
}

fn called(case: &Case) -> String {
    let Case { name, launch_ns, stream, warm_ns, cold_ns, calls, .. } = case;
    format!(
        "kernel_ns({name}, a kernel in stream {stream}, {calls} calls)\na launch takes \
         {launch_ns} ns, a warm call {warm_ns:?} in turn, and the first one {cold_ns} ns more"
    )
}

/// The way that finds all of it; or else what has changed an answer although it must not.
fn explained(cases: &[Case], answers: &[u64]) -> (&'static str, String) {
    let agrees = |found: &dyn Fn(&Case) -> u64| {
        cases.iter().zip(answers).all(|(case, answer)| found(case) == *answer)
    };
    if let Some((_, (key, words))) = SLIPS.iter().find(|(slip, _)| agrees(&|it| slip.found(it))) {
        return (key, words.to_string());
    }
    if let Some(way) = Way::all().into_iter().find(|way| agrees(&|case| way.found(case))) {
        return in_words(&way.faults());
    }
    match changed(cases, answers) {
        Some((key, words)) => (key, words.to_string()),
        None => (key::WRONG_VALUE, String::new()),
    }
}

/// The worst fault, and whether others are left behind it.
fn in_words(faults: &[Fault]) -> (&'static str, String) {
    let (key, words) = faults[0];
    // Mending one can bring another to light, so they are not counted.
    let more = if faults.len() > 1 { " More is wrong behind that." } else { "" };
    (key, format!("{words}{more}"))
}

fn changed(cases: &[Case], answers: &[u64]) -> Option<Fault> {
    let with_gaps = Way { clock: Clock::Events, warm: true, waits: false, ahead: false };
    let answered = || cases.iter().zip(answers.iter().copied());
    let between = |(case, it): (&Case, u64)| it >= case.mean_ns() && it <= with_gaps.found(case);
    if answered().all(between) {
        return Some(TOO_SHORT);
    }
    // Behind each plain case stand its variations, which have the same kernel.
    let plain = |at: usize| (0..=at).rev().find(|&it| cases[it].name == "an idle GPU");
    let differs = |name: &str| {
        let of_name = |&at: &usize| cases[at].name == name;
        let mut all = (0..cases.len()).filter(of_name);
        all.any(|at| plain(at).is_some_and(|plain| answers[plain] != answers[at]))
    };
    let same = answers[1].abs_diff(answers[9]) < cases[1].mean_ns() / 2;
    match () {
        _ if same => Some(LAUNCHES),
        _ if differs(OTHERS_WORK) => Some(OTHER_WORK),
        _ if differs(COLD) => Some(FIRST_CALL),
        _ if differs(WORK) => Some(QUEUED),
        _ if differs(HOST) => Some(GAPS),
        _ => None,
    }
}
