//! 4.6: trainings of a watched model by a watched optimizer. Three properties are looked at one by
//! one, so that who has mended one of them is told so.

use engine_room::Tensor;
use engine_room::nn::{Linear, Module};
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::training::{Batch, Epoch, Plan};
use super::Implementation;
use super::epochs::{Seen, Told, in_order};
use super::properties::{Fault, gradients, live_bytes, modes, told};
use super::softmax::Examples;
use super::watched::{Log, WatchedModel, WatchedSgd};

const PIXELS: usize = 12;
const CLASSES: usize = 10;
/// Images of a batch.
const BATCH: usize = 8;
/// Held-out images: their graph keeps more than the slack.
const HELD_OUT: usize = 120;

/// Batches, batches a step, epochs.
const PLANS: [(usize, usize, usize); 7] =
    [(6, 1, 3), (8, 4, 3), (10, 4, 3), (5, 2, 4), (3, 5, 3), (1, 1, 2), (7, 3, 1)];

/// What the curves are about, in the order of the statement.
const PROPERTIES: [&str; 3] =
    ["the gradient of each step", "training and evaluation of the model", "the live bytes"];

/// 4.6
pub fn training_loop(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::Panicked, "4.6-not-recorded", UNRECORDED);
    let mut rng = check.rng();
    let mut faults: [Option<Fault>; 3] = [None, None, None];
    let mut returned = None;
    for (batches, accumulate, epochs) in PLANS {
        let plan = Plan { epochs, accumulate };
        let run = trained(imp, check, &mut rng, batches, &plan)?;
        let seen = [gradients(&run), modes(&run), live_bytes(&run)];
        for (fault, seen) in faults.iter_mut().zip(seen) {
            *fault = fault.take().or(seen);
        }
        returned = returned.or_else(|| told(&run));
    }
    verdict(faults, returned)
}

/// The first fault, with what is right already.
fn verdict(faults: [Option<Fault>; 3], returned: Option<Fault>) -> Result<(), Diagnosis> {
    let right = PROPERTIES.iter().zip(&faults).filter(|(_, fault)| fault.is_none());
    let right: Vec<&str> = right.map(|(property, _)| *property).collect();
    let count = right.len();
    let Some(fault) = faults.into_iter().flatten().next().or(returned) else { return Ok(()) };
    let credit = match count {
        0 => "None of the three is right yet.".to_owned(),
        3 => "The three bugs are mended, and something else is wrong.".to_owned(),
        _ => format!("{count} of 3 right: {}.", right.join(" and ")),
    };
    Err(Diagnosis::new(fault.key)
        .called(fault.called)
        .got(format!("{}\n{credit}", fault.got))
        .expected(fault.expected)
        .thought(fault.thought))
}

fn examples(rng: &mut Generator, images: usize) -> Examples {
    let labels: Vec<i64> = (0..images).map(|_| rng.below(CLASSES) as i64).collect();
    // Pixels that go with the label, so that there is something to learn.
    let pixel = |rng: &mut Generator, label: i64, at: usize| {
        rng.uniform() + if at == label as usize { 1.0 } else { 0.0 }
    };
    let all = labels.iter().flat_map(|&label| (0..PIXELS).map(move |at| (label, at)));
    let images = all.map(|(label, at)| pixel(rng, label, at)).collect();
    Examples { images, labels }
}

fn batch(examples: &Examples) -> Batch {
    let n = examples.labels.len();
    Batch {
        images: Tensor::from_vec(examples.images.clone(), &[n, PIXELS]),
        labels: Tensor::from_vec(examples.labels.clone(), &[n]),
    }
}

/// One training by the learner's loop, and what was seen of it.
fn trained(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
    batches: usize,
    plan: &Plan,
) -> Result<Seen, Diagnosis> {
    let (log, layer) = (Log::default(), Linear::new(PIXELS, CLASSES, true, rng));
    let model = WatchedModel::new(layer, &log);
    if batches.is_multiple_of(2) {
        // As after a look at the loss before the training.
        model.eval();
    }
    let mut optimizer = WatchedSgd::new(model.parameters(), 0.3, &log);
    let train: Vec<Examples> = (0..batches).map(|_| examples(rng, BATCH)).collect();
    let held_out = examples(rng, HELD_OUT);
    let (tensors, held) = (train.iter().map(batch).collect::<Vec<Batch>>(), batch(&held_out));
    let Plan { epochs, accumulate } = *plan;
    let called = format!(
        "train(a model, its optimizer, batches: {batches}, held_out, epochs {epochs}, accumulate \
         {accumulate})"
    );
    let told: Vec<Epoch> = check
        .call(called.as_str(), || (imp.train)(&model, &mut optimizer, &tensors, &held, plan))?;
    let told = Told { epochs: told };
    in_order(called, log.take(), train, held_out, plan, told)
}

const UNRECORDED: &str = "A loss that was computed inside `no_grad` has no graph to walk back \
    through. Only the held-out images are looked at without recording.";
