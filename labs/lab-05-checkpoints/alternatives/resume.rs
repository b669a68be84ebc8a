//! Other right ways to save a run and to go on from it: 5.7.

use engine_room::data::Sampler;
use engine_room::nn::{Module, StateDict};
use engine_room::optim::{Optimizer, OptimizerState, ParamState};
use engine_room::{Tensor, no_grad, rng};

use super::super::training_run::{Run, SavedRun};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.7", "by map", |table| table.save_run = by_map),
        other("5.7", "through plain numbers", |table| table.save_run = as_numbers),
        other("5.7", "replays what is counted", |table| table.resume_run = replays),
        other("5.7", "exchanges the tensors", |table| table.resume_run = exchanges),
    ]
}

fn saved(run: &Run, copy: fn(&Tensor) -> Tensor) -> SavedRun {
    let mut model = StateDict::new();
    for (name, x) in run.model.state_dict().iter() {
        model.insert(name, copy(x)).unwrap();
    }
    let OptimizerState { groups, params } = run.optimizer.state_dict();
    let kept = |ParamState { step, tensors }: ParamState| {
        let tensors = tensors.into_iter().map(|(name, x)| (name, copy(&x))).collect();
        ParamState { step, tensors }
    };
    SavedRun {
        random: rng::get_state(),
        sampler: run.sampler.state(),
        scheduler: run.scheduler.state_dict(),
        step: run.step,
        optimizer: OptimizerState { groups, params: params.into_iter().map(kept).collect() },
        model,
    }
}

fn by_map(run: &Run) -> SavedRun {
    saved(run, |x| x.detach().copy())
}

/// The numbers leave the engine and come back.
fn as_numbers(run: &Run) -> SavedRun {
    saved(run, |x| match x.dtype() {
        engine_room::DType::I64 => Tensor::from_vec(x.to_vec::<i64>(), x.shape()),
        _ => Tensor::from_vec(x.to_vec::<f32>(), x.shape()),
    })
}

/// Counts up to where the run was, part by part.
fn replays(saved: &SavedRun, run: &mut Run) {
    no_grad(|| {
        for (name, x) in run.model.state_dict().iter() {
            x.copy_(saved.model.get(name).unwrap());
        }
    });
    for _ in 0..saved.scheduler.last_epoch {
        run.scheduler.step(&mut run.optimizer);
    }
    run.optimizer.load_state_dict(&saved.optimizer).unwrap();
    let Some(seed) = saved.sampler.seed else { return };
    run.sampler = Sampler::random(saved.sampler.len, seed);
    for _ in 0..saved.sampler.epoch {
        run.sampler.next_epoch();
    }
    run.sampler.take(saved.sampler.taken);
    rng::manual_seed(saved.random.seed);
    rng::with_default(|generator| generator.skip(saved.random.drawn));
    run.step = saved.scheduler.last_epoch;
}

/// Copies of what was saved in the place of the new run's own tensors.
fn exchanges(saved: &SavedRun, run: &mut Run) {
    rng::set_state(saved.random);
    run.step = saved.step;
    run.sampler = Sampler::from_state(saved.sampler);
    run.scheduler.load_state_dict(&saved.scheduler).unwrap();
    run.optimizer.load_state_dict(&saved.optimizer).unwrap();
    for (name, parameter) in run.model.named_parameters() {
        parameter.set(saved.model.get(&name).unwrap().copy());
    }
    for (name, buffer) in run.model.named_buffers() {
        buffer.set(saved.model.get(&name).unwrap().copy());
    }
}
