//! An optimizer and a model that write down what happens to them, for 4.5 and 4.6.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::memory::memory_allocated;
use engine_room::nn::{Linear, Module, Parameter, Parts, Training};
use engine_room::optim::{Optimizer, OptimizerState, ParamGroup};
use engine_room::{Device, Error, Tensor, no_grad};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// The optimizer was asked to step.
    Step(Stepped),
    /// The model was run.
    Forward(Ran),
}

/// What a step was asked to do.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// The weights before it.
    pub weights: Vec<Vec<f32>>,
    /// The gradients, times the factor of the step; none where there is none.
    pub gradients: Vec<Option<Vec<f64>>>,
}

/// How the model was run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// All numbers of its input.
    pub input: Vec<f32>,
    /// Whether it was in training.
    pub training: bool,
    /// Live bytes when it began.
    pub live: u64,
}

/// What has happened so far.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    fn push(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// Everything since the last time this was asked.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The steps among it.
    pub fn take_steps(&self) -> Vec<Stepped> {
        let step = |event| match event {
            Event::Step(stepped) => Some(stepped),
            Event::Forward(_) => None,
        };
        self.take().into_iter().filter_map(step).collect()
    }
}

/// Plain gradient descent that writes down its steps.
pub struct WatchedSgd {
    groups: Vec<ParamGroup>,
    log: Log,
}

impl WatchedSgd {
    /// For these parameters.
    pub fn new(params: Vec<Parameter>, lr: f64, log: &Log) -> WatchedSgd {
        let groups = vec![ParamGroup { params, lr, weight_decay: 0.0 }];
        WatchedSgd { groups, log: log.clone() }
    }
}

impl Optimizer for WatchedSgd {
    fn step_scaled(&mut self, factor: f64) {
        let ParamGroup { params, lr, .. } = &self.groups[0];
        let scaled = |parameter: &Parameter| -> Option<Vec<f64>> {
            let values = parameter.get().grad()?.to_vec::<f32>();
            Some(values.into_iter().map(|value| f64::from(value) * factor).collect())
        };
        let weights = params.iter().map(|parameter| parameter.get().to_vec()).collect();
        let gradients = params.iter().map(scaled).collect();
        self.log.push(Event::Step(Stepped { weights, gradients }));
        for tensor in params.iter().map(Parameter::get) {
            if let Some(gradient) = tensor.grad() {
                no_grad(|| tensor.add_(&gradient, -lr * factor));
            }
        }
    }

    fn groups(&self) -> &[ParamGroup] {
        &self.groups
    }

    fn groups_mut(&mut self) -> &mut [ParamGroup] {
        &mut self.groups
    }

    fn state_dict(&self) -> OptimizerState {
        OptimizerState { groups: Vec::new(), params: Vec::new() }
    }

    fn load_state_dict(&mut self, _: &OptimizerState) -> Result<(), Error> {
        Ok(())
    }
}

/// A linear layer that writes down how it is run.
pub struct WatchedModel {
    /// The layer.
    pub layer: Linear,
    training: Training,
    log: Log,
}

impl WatchedModel {
    /// Around a layer.
    pub fn new(layer: Linear, log: &Log) -> WatchedModel {
        WatchedModel { layer, training: Training::default(), log: log.clone() }
    }
}

impl Module for WatchedModel {
    fn parts(&self) -> Parts<'_> {
        Parts::new().module("layer", &self.layer).training(&self.training)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let (training, live) = (self.training.is_on(), memory_allocated(Device::Cpu));
        self.log.push(Event::Forward(Ran { input: x.to_vec(), training, live }));
        self.layer.forward(x)
    }
}
