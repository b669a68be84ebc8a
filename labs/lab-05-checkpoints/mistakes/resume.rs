//! Wrong ways to save a run and to go on from it: 5.7.

use engine_room::data::{Sampler, SamplerState};
use engine_room::nn::{Module, StateDict};
use engine_room::optim::{Optimizer, OptimizerState, SchedulerState};
use engine_room::rng::{self, GeneratorState};

use super::super::solution::{resume_run, save_run};
use super::super::training_run::{Run, SavedRun};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_saved_tensors();
    all.extend(of_saving());
    all.extend(of_the_sampler());
    all.extend(of_the_generator());
    all.extend(of_the_optimizer());
    all.extend(of_the_schedule());
    all.extend(of_the_model());
    all
}

fn saves(diagnosis: &'static str, name: &'static str, f: fn(&Run) -> SavedRun) -> Wrong {
    wrong("5.7", diagnosis, name, |table| table.save_run = f)
}

fn resumes(diagnosis: &'static str, name: &'static str, f: fn(&SavedRun, &mut Run)) -> Wrong {
    wrong("5.7", diagnosis, name, |table| table.resume_run = f)
}

fn of_saved_tensors() -> Vec<Wrong> {
    vec![
        saves("5.7-moments-go-on", "clones the optimizer's state", |run| {
            let optimizer = run.optimizer.state_dict().clone();
            SavedRun { optimizer, ..save_run(run) }
        }),
        saves("5.7-one-moment", "copies the first tensor", |run| {
            let mut optimizer = run.optimizer.state_dict();
            for param in &mut optimizer.params {
                if let Some((_, x)) = param.tensors.first_mut() {
                    *x = x.copy();
                }
            }
            SavedRun { optimizer, ..save_run(run) }
        }),
        saves("5.7-weights-go-on", "clones the model's state", |run| SavedRun {
            model: run.model.state_dict().clone(),
            ..save_run(run)
        }),
        saves("5.7-buffers-go-on", "copies parameters", |run| {
            let mut model = StateDict::new();
            for (name, x) in run.model.state_dict().iter() {
                let trained = name.ends_with("weight") || name.ends_with("bias");
                model.insert(name, if trained { x.copy() } else { x.clone() }).unwrap();
            }
            SavedRun { model, ..save_run(run) }
        }),
    ]
}

fn of_saving() -> Vec<Wrong> {
    vec![
        saves("5.7-saving-changes-it", "saves in evaluation", |run| {
            run.model.eval();
            save_run(run)
        }),
        saves("5.7-saving-fails", "takes two tensors for granted", |run| {
            let mut optimizer = run.optimizer.state_dict();
            for param in &mut optimizer.params {
                param.tensors[0].1 = param.tensors[0].1.copy();
                param.tensors[1].1 = param.tensors[1].1.copy();
            }
            SavedRun { optimizer, ..save_run(run) }
        }),
        saves("5.7-does-not-fit", "saves parameters only", |run| {
            let mut model = StateDict::new();
            for (name, parameter) in run.model.named_parameters() {
                model.insert(&name, parameter.get().detach().copy()).unwrap();
            }
            SavedRun { model, ..save_run(run) }
        }),
    ]
}

/// The right way, and then the sampler somewhere else.
fn with_sampler(saved: &SavedRun, run: &mut Run, state: SamplerState) {
    resume_run(saved, run);
    run.sampler = Sampler::from_state(state);
}

fn of_the_sampler() -> Vec<Wrong> {
    vec![
        resumes("5.7-epoch-anew", "begins the epoch", |saved, run| {
            with_sampler(saved, run, SamplerState { taken: 0, ..saved.sampler });
        }),
        resumes("5.7-first-epoch", "a new sampler", |saved, run| {
            with_sampler(saved, run, SamplerState { taken: 0, epoch: 0, ..saved.sampler });
        }),
        resumes("5.7-epoch-skipped", "the next epoch", |saved, run| {
            resume_run(saved, run);
            run.sampler.next_epoch();
        }),
        resumes("5.7-other-order", "the new run's seed", |saved, run| {
            let seed = run.sampler.state().seed;
            with_sampler(saved, run, SamplerState { seed, ..saved.sampler });
        }),
        resumes("5.7-taken-computed", "steps times batch", |saved, run| {
            let SamplerState { len, .. } = saved.sampler;
            let taken = saved.step as usize * run.setup.batch % len;
            with_sampler(saved, run, SamplerState { taken, ..saved.sampler });
        }),
        resumes("5.7-taken-beyond", "steps times batch, of all epochs", |saved, run| {
            let taken = saved.step as usize * run.setup.batch;
            with_sampler(saved, run, SamplerState { taken, ..saved.sampler });
        }),
        resumes("5.7-one-stop", "where it stood when it was tried", |saved, run| {
            let taken = run.setup.batch;
            with_sampler(saved, run, SamplerState { taken, ..saved.sampler });
        }),
    ]
}

fn of_the_generator() -> Vec<Wrong> {
    vec![
        resumes("5.7-seed-again", "the seed again", |saved, run| {
            resume_run(saved, run);
            rng::manual_seed(saved.random.seed);
        }),
        resumes("5.7-another-seed", "the seed and the step", |saved, run| {
            resume_run(saved, run);
            rng::manual_seed(saved.random.seed.wrapping_add(saved.step));
        }),
        resumes("5.7-random-left", "leaves the generator alone", |saved, run| {
            let before = rng::get_state();
            resume_run(saved, run);
            rng::set_state(before);
        }),
        resumes("5.7-drawn-computed", "steps times numbers a step", |saved, run| {
            resume_run(saved, run);
            let drawn = saved.step * (run.setup.batch * run.setup.sizes[0]) as u64;
            rng::set_state(GeneratorState { drawn, ..saved.random });
        }),
    ]
}

fn of_the_optimizer() -> Vec<Wrong> {
    vec![
        resumes("5.7-moments-lost", "learning rates only", |saved, run| {
            let params = run.optimizer.state_dict().params;
            resume_run(saved, run);
            let groups = saved.optimizer.groups.clone();
            run.optimizer.load_state_dict(&OptimizerState { groups, params }).unwrap();
        }),
        resumes("5.7-optimizer-steps", "moments only", |saved, run| {
            let mut optimizer = saved.optimizer.clone();
            optimizer.params.iter_mut().for_each(|param| param.step = 0);
            resume_run(saved, run);
            run.optimizer.load_state_dict(&optimizer).unwrap();
        }),
        resumes("5.7-rate-of-the-new-run", "keeps its groups", |saved, run| {
            let groups = run.optimizer.state_dict().groups;
            resume_run(saved, run);
            let params = saved.optimizer.params.clone();
            run.optimizer.load_state_dict(&OptimizerState { groups, params }).unwrap();
        }),
    ]
}

fn of_the_schedule() -> Vec<Wrong> {
    vec![
        resumes("5.7-schedule-anew", "the rate by hand", |saved, run| {
            let schedule = run.scheduler.state_dict();
            resume_run(saved, run);
            run.scheduler.load_state_dict(&schedule).unwrap();
            run.optimizer.groups_mut()[0].lr = saved.optimizer.groups[0].0;
        }),
        resumes("5.7-schedule-base", "a schedule upon the loaded optimizer", |saved, run| {
            resume_run(saved, run);
            let base_lrs = run.optimizer.groups().iter().map(|group| group.lr).collect();
            let last_epoch = saved.scheduler.last_epoch;
            run.scheduler.load_state_dict(&SchedulerState { last_epoch, base_lrs }).unwrap();
        }),
        resumes("5.7-schedule-count", "counts once too often", |saved, run| {
            resume_run(saved, run);
            run.scheduler.step(&mut run.optimizer);
        }),
        resumes("5.7-count", "counts from 0", |saved, run| {
            resume_run(saved, run);
            run.step = 0;
        }),
    ]
}

fn of_the_model() -> Vec<Wrong> {
    vec![
        resumes("5.7-weights", "optimizer only", |saved, run| {
            let mut model = StateDict::new();
            for (name, x) in run.model.state_dict().iter() {
                model.insert(name, x.copy()).unwrap();
            }
            resume_run(&SavedRun { model, ..saved.clone() }, run);
        }),
        resumes("5.7-buffers", "parameters only", |saved, run| {
            let mut model = StateDict::new();
            for (name, _) in run.model.named_parameters() {
                model.insert(&name, saved.model.get(&name).unwrap().clone()).unwrap();
            }
            for (name, buffer) in run.model.named_buffers() {
                model.insert(&name, buffer.get().copy()).unwrap();
            }
            resume_run(&SavedRun { model, ..saved.clone() }, run);
        }),
        resumes("5.7-evaluation", "loads as for inference", |saved, run| {
            resume_run(saved, run);
            run.model.eval();
        }),
        resumes("5.7-saved-run-changed", "hands the tensors over", |saved, run| {
            resume_run(saved, run);
            for (name, parameter) in run.model.named_parameters() {
                parameter.set(saved.model.get(&name).unwrap().clone());
            }
        }),
    ]
}
