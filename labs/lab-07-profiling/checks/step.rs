//! 7.7: small stacks are trained on simulated GPUs and profiled; large ones are computed, by a
//! formula that the small ones have confirmed.

use engine_room::autograd::{Ctx, Op, apply};
use engine_room::nn::{Mlp, Module};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::profiler::{Call, Event, Kind, Profile, profile, record_function};
use engine_room::rng::Generator;
use engine_room::sim::{self, Gpu};
use engine_room::{Device, Tensor};
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::super::kernel::Roofs;
use super::super::step::{Limit, Prediction, Rule, Stack, Work};
use super::Implementation;
use super::step_thoughts::{Question, THOUGHTS, Thought, formula};
use super::thoughts::explained;

/// 7.7
pub fn step(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut questions = Vec::new();
    for (gpu, limit, stack) in small(&mut rng) {
        let question = (stack, Roofs::of(gpu));
        let want = formula(&question, Thought::Right);
        assert_eq!(want.limit, limit, "{question:?} is to be asked of both limits");
        confirmed(&question.0, gpu, &want, &mut rng);
        questions.push(question);
    }
    questions.extend(large(&mut rng));
    let mut answers = Vec::new();
    for (stack, roofs) in &questions {
        answers.push(check.call(called(stack, roofs), || (imp.predict)(stack, roofs))?);
    }
    judge(&questions, &answers)
}

const PARTS: [&str; 3] = ["forward", "backward", "optimizer"];

/// Stacks that are trained here, and who limits them. All sizes are multiples of 8, so that each
/// row begins where a sector does.
fn small(rng: &mut Generator) -> Vec<(Gpu, Limit, Stack)> {
    let mut stacks = Vec::new();
    let mut ask = |gpu, limit, sizes: &[u64], batch: u64, x_requires_grad, rule| {
        let of_eights = |&size: &u64| size + 8 * rng.below(1 + size as usize / 128) as u64;
        let sizes = sizes.iter().map(of_eights).collect();
        let batch = batch + rng.below(1 + batch as usize / 8) as u64;
        stacks.push((gpu, limit, Stack { sizes, batch, x_requires_grad, rule }));
    };
    let (host, device) = (Limit::Host, Limit::Device);
    ask(Gpu::T4, host, &[16, 64], 5, false, Rule::Sgd);
    ask(Gpu::A100, host, &[64, 96, 8], 33, true, Rule::SgdMomentum);
    ask(Gpu::H100, host, &[8, 40, 72, 16], 24, false, Rule::AdamW);
    ask(Gpu::H200, host, &[24, 24, 24, 24, 24, 24], 1, true, Rule::Sgd);
    ask(Gpu::T4, host, &[128, 256, 8], 128, false, Rule::SgdMomentum);
    ask(Gpu::T4, device, &[640, 768], 7, false, Rule::Sgd);
    ask(Gpu::T4, device, &[512, 640], 4, true, Rule::AdamW);
    stacks
}

/// Stacks of real sizes, near the point at which the limit changes and far from it.
fn large(rng: &mut Generator) -> Vec<Question> {
    let mut questions = Vec::new();
    for gpu in Gpu::ALL {
        for width in [64, 512, 1_024, 4_096] {
            let layers = 2 + rng.below(9);
            let mut sizes = vec![width; layers];
            sizes.push(8 + rng.below(2_000) as u64);
            sizes[0] = 8 + rng.below(1_000) as u64;
            let rules = [Rule::Sgd, Rule::SgdMomentum, Rule::AdamW];
            let (rule, batch) = (rules[rng.below(3)], 1 + rng.below(256) as u64);
            let x_requires_grad = rng.below(2) == 0;
            let launch_ns = 2_000 + rng.below(8_000) as u64;
            let stack = Stack { sizes, batch, x_requires_grad, rule };
            questions.push((stack, Roofs { launch_ns, ..Roofs::of(gpu) }));
        }
    }
    questions
}

/// Trains the stack for two steps, and compares the profile of the second with the formula.
fn confirmed(stack: &Stack, gpu: Gpu, want: &Prediction, rng: &mut Generator) {
    let profile = profiled(stack, gpu, rng);
    let parts = PARTS.map(|part| work(&profile, part));
    assert_eq!(parts, [want.forward, want.backward, want.optimizer], "{stack:?} on {gpu}");
    let sum = |is: &dyn Fn(Kind) -> bool| -> u64 {
        let events = profile.events().iter().filter(|event| is(event.kind));
        events.map(Event::duration_ns).sum()
    };
    let host_ns = sum(&|kind| kind == Kind::Call(Call::Launch));
    let device_ns = sum(&|kind| kind == Kind::Kernel);
    assert_eq!(host_ns, want.host_ns, "{stack:?} on {gpu}");
    assert!(device_ns as f64 >= want.device_ns, "{stack:?} on {gpu}");
    let limit = if device_ns > host_ns { Limit::Device } else { Limit::Host };
    assert_eq!(limit, want.limit, "{stack:?} on {gpu}: {device_ns} ns, {host_ns} ns");
}

fn profiled(stack: &Stack, gpu: Gpu, rng: &mut Generator) -> Profile {
    let device = Device::Sim(0);
    sim::select_gpu(0, gpu);
    let sizes: Vec<usize> = stack.sizes.iter().map(|&size| size as usize).collect();
    let (batch, last) = (stack.batch as usize, sizes[sizes.len() - 1]);
    let model = Mlp::new(&sizes, rng);
    model.to_device(device);
    let x = Tensor::randn(&[batch, sizes[0]], rng).to(device);
    let dy = Tensor::randn(&[batch, last], rng).to(device);
    let parameters = model.parameters();
    let mut optimizer: Box<dyn Optimizer> = match stack.rule {
        Rule::Sgd => Box::new(Sgd::new(parameters, 1e-3)),
        Rule::SgdMomentum => Box::new(Sgd::new(parameters, 1e-3).momentum(0.9)),
        Rule::AdamW => Box::new(AdamW::new(parameters, 1e-3)),
    };
    let mut step = || {
        optimizer.zero_grad(true);
        let x = match stack.x_requires_grad {
            true => apply(StackBefore, [&x.detach().requires_grad_(true)]),
            false => x.clone(),
        };
        let forward = record_function(PARTS[0]);
        let y = model.forward(&x);
        drop(forward);
        let backward = record_function(PARTS[1]);
        y.backward_with(&dy);
        drop(backward);
        let _optimizer = record_function(PARTS[2]);
        optimizer.step();
    };
    step();
    let (_, profile) = profile(&[device], |_| step()).expect("the simulated GPU works");
    profile
}

/// y = x. Shapes: any → the same. Gradient: none, since what comes is of another stack. Saves
/// nothing.
struct StackBefore;

impl Op<1> for StackBefore {
    fn name(&self) -> &'static str {
        "stack_before"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.clone()
    }

    fn backward(&self, _: &Ctx, _: &Tensor) -> [Option<Tensor>; 1] {
        [None]
    }
}

/// What the profile says of a part.
fn work(profile: &Profile, part: &str) -> Work {
    let events = profile.events();
    let mut work = Work::default();
    for (at, event) in events.iter().enumerate() {
        let on_host = event.cause.unwrap_or(at);
        let is_part = |at: usize| events[at].kind == Kind::Range && events[at].name == part;
        if !profile.ancestors(on_host).any(is_part) {
            continue;
        }
        let is_product = event.name == "linear" || event.name == "matmul";
        match event.kind {
            Kind::Call(Call::Launch) => work.launches += 1,
            Kind::Kernel => work.bytes += event.bytes,
            Kind::Op if is_product => work.flops += event.flops,
            _ => {}
        }
    }
    work
}

fn called(stack: &Stack, roofs: &Roofs) -> String {
    format!("predict({stack:?},\n{roofs:?})")
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * a.abs().max(b.abs())
}

fn is_same(a: &Prediction, b: &Prediction) -> bool {
    let of = |it: &Prediction| Prediction { device_ns: 0.0, ..*it };
    of(a) == of(b) && is_near(a.device_ns, b.device_ns)
}

/// The first wrong answer, with the thought that gives all of them.
fn judge(questions: &[Question], answers: &[Prediction]) -> Result<(), Diagnosis> {
    let wants: Vec<Prediction> =
        questions.iter().map(|question| formula(question, Thought::Right)).collect();
    let Some(at) = (0..wants.len()).find(|&at| !is_same(&wants[at], &answers[at])) else {
        return Ok(());
    };
    let (key, thought) = thought_of(questions, answers, &wants);
    let right = wants.iter().zip(answers).filter(|(want, answer)| is_same(want, answer)).count();
    let (stack, roofs) = &questions[at];
    let (got, want) = differing(&answers[at], &wants[at]);
    let fields = right_fields(&wants, answers);
    Err(Diagnosis::new(key)
        .called(called(stack, roofs))
        .got(format!("{got}\n{right} of {} answers are right{fields}", wants.len()))
        .expected(want)
        .thought(thought))
}

/// The thought that gives all of the answers; or else the one that gives the first part of them
/// that is wrong, since somebody can be wrong twice.
fn thought_of(
    questions: &[Question],
    answers: &[Prediction],
    wants: &[Prediction],
) -> (&'static str, &'static str) {
    let pairs = || questions.iter().zip(answers);
    let of_all = explained(THOUGHTS, |thought| {
        pairs().all(|(question, answer)| is_same(&formula(question, thought), answer))
    });
    if of_all.0 != key::WRONG_VALUE {
        return of_all;
    }
    for part in [&FIELDS[..3], &FIELDS[3..6], &FIELDS[6..9], &FIELDS[10..11], &FIELDS[11..]] {
        let alike = |a: &Prediction, b: &Prediction| part.iter().all(|(_, of)| of(a) == of(b));
        if !wants.iter().zip(answers).all(|(want, answer)| alike(want, answer)) {
            return explained(THOUGHTS, |thought| {
                pairs().all(|(question, answer)| alike(&formula(question, thought), answer))
            });
        }
    }
    of_all
}

/// A part of a prediction, in words.
type Field = (&'static str, fn(&Prediction) -> String);

const FIELDS: [Field; 12] = [
    ("forward launches", |it| it.forward.launches.to_string()),
    ("forward flops", |it| it.forward.flops.to_string()),
    ("forward bytes", |it| it.forward.bytes.to_string()),
    ("backward launches", |it| it.backward.launches.to_string()),
    ("backward flops", |it| it.backward.flops.to_string()),
    ("backward bytes", |it| it.backward.bytes.to_string()),
    ("optimizer launches", |it| it.optimizer.launches.to_string()),
    ("optimizer flops", |it| it.optimizer.flops.to_string()),
    ("optimizer bytes", |it| it.optimizer.bytes.to_string()),
    ("host_ns", |it| it.host_ns.to_string()),
    ("device_ns", |it| format!("{:.3}", it.device_ns)),
    ("limit", |it| format!("{:?}", it.limit)),
];

/// The fields of two predictions that are not alike.
fn differing(got: &Prediction, want: &Prediction) -> (String, String) {
    let differ = || FIELDS.iter().filter(|(_, of)| of(got) != of(want));
    let words = |it: &Prediction| {
        let fields: Vec<String> = differ().map(|(name, of)| format!("{name} {}", of(it))).collect();
        fields.join(", ")
    };
    (words(got), words(want))
}

/// The fields that are right in every answer, so that nobody looks there.
fn right_fields(wants: &[Prediction], answers: &[Prediction]) -> String {
    let is_right =
        |(_, of): &&Field| wants.iter().zip(answers).all(|(want, answer)| of(want) == of(answer));
    let names: Vec<&str> = FIELDS.iter().filter(is_right).map(|(name, _)| *name).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; in all of them right: {}", names.join(", ")),
    }
}
