//! 6.3: lists of events by hand and at random, and the history of a training step of the engine.

use engine_room::memory::{
    Action, Role, max_memory_allocated, memory_snapshot, record_memory_history,
    reset_peak_memory_stats,
};
use engine_room::nn::{Linear, Module, Relu, Sequential};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};
use grading::{Check, Death, Diagnosis};

use super::super::events::{ByRole, Event, Peak};
use super::Implementation;
use super::thoughts::{Known, explained};

/// A question: what was live before, and what happens.
struct Question {
    name: String,
    before: ByRole,
    events: Vec<Event>,
}

/// 6.3
pub fn peak(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut questions = by_hand();
    for number in 0..40 {
        questions.push(at_random(number, &mut rng));
    }
    questions.push(training_step(&mut rng));
    check.if_it_dies(Death::Panicked, "6.3-below-zero", BELOW_ZERO);
    let mut answers = Vec::new();
    for question in &questions {
        let called = || (imp.peak)(&question.before, &question.events);
        answers.push(check.call(called_words(question), called)?);
    }
    judge(&questions, &answers)
}

fn judge(questions: &[Question], answers: &[Peak]) -> Result<(), Diagnosis> {
    let pairs = || questions.iter().zip(answers);
    let right = |question: &Question| formula(question, Right);
    let wrong = pairs().filter(|(question, answer)| right(question) != **answer);
    // The shortest list is the easiest to follow.
    let Some((question, answer)) = wrong.min_by_key(|(question, _)| question.events.len()) else {
        return Ok(());
    };
    let agrees = |thought| pairs().all(|(question, answer)| formula(question, thought) == *answer);
    let (key, thought) = explained(THOUGHTS, agrees);
    Err(Diagnosis::new(key)
        .called(called_words(question))
        .got(words(answer))
        .expected(words(&right(question)))
        .thought(thought))
}

/// Short ones: the examples of the statement, and the smallest list for each rule.
fn by_hand() -> Vec<Question> {
    let x = Role::Other;
    let alloc = |bytes| Event::Alloc { bytes, role: x };
    let free = |bytes| Event::Free { bytes, role: x };
    let reset = Event::ResetPeak;
    let [none, some] = [[0; 5], [3072, 4096, 1024, 0, 2048]];
    let gradient = |bytes| Event::Alloc { bytes, role: Role::Gradient };
    let activation = |bytes| Event::Alloc { bytes, role: Role::Activation };
    let lists: Vec<(ByRole, Vec<Event>)> = vec![
        (none, vec![alloc(6144), alloc(6144), free(6144)]),
        (none, vec![alloc(6144), free(6144), alloc(6144)]),
        (some, vec![]),
        (some, vec![free(1024), free(512)]),
        (some, vec![alloc(2048), reset]),
        (some, vec![alloc(4096), free(1024), reset, free(2048), alloc(512)]),
        (
            none,
            vec![activation(4096), gradient(512), free_of(4096, Role::Activation), {
                gradient(3584)
            }],
        ),
        (none, vec![alloc(512), gradient(1024), free_of(1024, Role::Gradient), activation(1024)]),
    ];
    let named = |(number, (before, events)): (usize, (ByRole, Vec<Event>))| Question {
        name: format!("list {}", number + 1),
        before,
        events,
    };
    lists.into_iter().enumerate().map(named).collect()
}

fn free_of(bytes: u64, role: Role) -> Event {
    Event::Free { bytes, role }
}

/// Tensors that come and go; sizes are few, so that heights repeat.
fn at_random(number: usize, rng: &mut Generator) -> Question {
    let mut live: Vec<(u64, Role)> = Vec::new();
    for _ in 0..rng.below(6) {
        live.push((512 * (1 + rng.below(6) as u64), Role::ALL[rng.below(5)]));
    }
    let mut before = [0; 5];
    for &(bytes, role) in &live {
        before[role as usize] += bytes;
    }
    let mut events = Vec::new();
    for _ in 0..20 + rng.below(60) {
        match rng.below(15) {
            0 => events.push(Event::ResetPeak),
            1..7 if !live.is_empty() => {
                let (bytes, role) = live.swap_remove(rng.below(live.len()));
                events.push(Event::Free { bytes, role });
            }
            _ => {
                let (bytes, role) = (512 * (1 + rng.below(6) as u64), Role::ALL[rng.below(5)]);
                live.push((bytes, role));
                events.push(Event::Alloc { bytes, role });
            }
        }
    }
    Question { name: format!("random list {}", number + 1), before, events }
}

/// What the engine's history says of two steps, the peak reset between them. The engine's own
/// counter must agree with what is thought to be right.
fn training_step(rng: &mut Generator) -> Question {
    let [batch, width] = [64 + 8 * rng.below(8), 96 + 8 * rng.below(8)];
    let model = Sequential::new()
        .append(Linear::new(64, width, true, rng))
        .append(Relu)
        .append(Linear::new(width, 32, true, rng));
    let mut optimizer = AdamW::new(model.parameters(), 0.1);
    let x = Tensor::rand(&[batch, 64], rng);
    let mut step = || {
        optimizer.zero_grad(true);
        model.forward(&x).square().mean().backward();
        optimizer.step();
    };
    record_memory_history(Device::Cpu, 100_000);
    step();
    let snapshot = memory_snapshot(Device::Cpu);
    let reset_at = snapshot.trace.len();
    reset_peak_memory_stats(Device::Cpu);
    step();
    let measured = max_memory_allocated(Device::Cpu);
    let before = snapshot.time_line()[0];
    let snapshot = memory_snapshot(Device::Cpu);
    record_memory_history(Device::Cpu, 0);
    let mut events = Vec::new();
    for (place, entry) in snapshot.trace.iter().enumerate() {
        if place == reset_at {
            events.push(Event::ResetPeak);
        }
        let (bytes, role) = (entry.size, entry.label.role);
        match entry.action {
            Action::Alloc => events.push(Event::Alloc { bytes, role }),
            Action::FreeRequested => events.push(Event::Free { bytes, role }),
            _ => {}
        }
    }
    let name = format!("two training steps, {batch} x 64 x {width} x 32");
    let question = Question { name, before, events };
    assert_eq!(formula(&question, Right).bytes, measured, "the engine's counter says otherwise");
    question
}

fn called_words(Question { name, before, events }: &Question) -> String {
    let event = |event: &Event| match event {
        Event::Alloc { bytes, role } => format!("+{bytes} {}", role.name()),
        Event::Free { bytes, role } => format!("-{bytes} {}", role.name()),
        Event::ResetPeak => "reset".to_string(),
    };
    let shown: Vec<String> = events.iter().take(12).map(event).collect();
    let more = events.len().saturating_sub(12);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("peak({before:?}, [{}{more}]), {name}", shown.join(", "))
}

fn words(Peak { bytes, by_role }: &Peak) -> String {
    let roles = Role::ALL.map(|role| format!("{} {}", role.name(), by_role[role as usize]));
    format!("{bytes} bytes: {}", roles.join(", "))
}

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Thought {
    Right,
    ResetToZero,
    ResetIgnored,
    OwnPeaks,
    SumOfPeaks,
    LastOfEqual,
    RolesNow,
    Now,
    BeforeIgnored,
    StartIgnored,
    FreesIgnored,
}

use Thought::*;

fn formula(Question { before, events, .. }: &Question, thought: Thought) -> Peak {
    let mut live = if thought == BeforeIgnored { [0; 5] } else { *before };
    let start = if thought == StartIgnored { [0; 5] } else { live };
    let mut highest = Peak { bytes: start.iter().sum(), by_role: start };
    // Each role's own highest point.
    let mut own = live;
    for event in events {
        match *event {
            Event::Alloc { bytes, role } => live[role as usize] += bytes,
            Event::Free { .. } if thought == FreesIgnored => {}
            Event::Free { bytes, role } => {
                live[role as usize] = live[role as usize].saturating_sub(bytes);
            }
            Event::ResetPeak if thought == ResetIgnored => {}
            Event::ResetPeak => {
                let from = if thought == ResetToZero { [0; 5] } else { live };
                highest = Peak { bytes: from.iter().sum(), by_role: from };
                own = live;
                continue;
            }
        }
        let bytes = live.iter().sum();
        if bytes > highest.bytes || thought == LastOfEqual && bytes == highest.bytes {
            highest = Peak { bytes, by_role: live };
        }
        own = std::array::from_fn(|role| own[role].max(live[role]));
    }
    match thought {
        OwnPeaks => Peak { by_role: own, ..highest },
        SumOfPeaks => Peak { bytes: own.iter().sum(), by_role: own },
        RolesNow => Peak { by_role: live, ..highest },
        Now => Peak { bytes: live.iter().sum(), by_role: live },
        _ => highest,
    }
}

const THOUGHTS: &[Known<Thought>] = &[
    (ResetToZero, "6.3-reset-to-zero", RESET),
    (ResetIgnored, "6.3-reset-ignored", IGNORED),
    (OwnPeaks, "6.3-own-peaks", OWN),
    (SumOfPeaks, "6.3-sum-of-peaks", OWN),
    (LastOfEqual, "6.3-last-of-equal", LAST),
    (RolesNow, "6.3-roles-now", NOW),
    (Now, "6.3-live-now", NOW),
    (BeforeIgnored, "6.3-before-ignored", BEFORE),
    (StartIgnored, "6.3-start-ignored", START),
    (FreesIgnored, "6.3-sum-of-all", ALL),
];

const RESET: &str = "After a reset the peak began at 0. What is live at that moment is live, and \
    the peak begins there: it can never be below what is live.";
const IGNORED: &str = "The reset changed nothing. Peaks from before it are forgotten: only what is \
    live at the reset, and what comes after it, counts.";
const OWN: &str = "Each role was given its own highest point. Those are different moments: \
    activations are highest when the backward pass begins, gradients when it ends, and their sum \
    was never live.";
const LAST: &str = "The peak was reached twice, and the roles are those of the last time. The \
    engine keeps those of the first.";
const NOW: &str = "These are the bytes at the end of the list. What stood at the peak has to be \
    kept when the peak is reached, since it is gone later.";
const BEFORE: &str = "What was live before the first event is missing. Histories are bounded, and \
    most of them begin in the middle.";
const START: &str = "The peak began at 0 although something was live already. Before any event the \
    peak is what is live.";
const ALL: &str = "Everything that was ever taken was added up. What was freed in between makes \
    room: the peak is the most that was live at one moment.";
const BELOW_ZERO: &str = "A subtraction has gone below 0. Everything that is freed was live: \
    from `before`, or from an event that came earlier, and a reset frees nothing.";
