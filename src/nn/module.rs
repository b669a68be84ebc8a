//! The module tree: a module names its parts, and everything else follows from these names.

use crate::Tensor;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, misuse};
use crate::memory::inside_part;
use crate::nn::loading::{self, IncompatibleKeys};
use crate::nn::parameter::{Buffer, Parameter, Training};
use crate::nn::state_dict::StateDict;
use crate::nn::summary::Summary;
use crate::nn::tree;
use crate::profiler::{Kind, span_named};

/// A layer or a model: a struct with its parts, one method that lists them, and one that computes.
///
/// ```
/// /// x + scale · relu(linear(x)).
/// struct Residual {
///     linear: Linear,
///     scale: Parameter,
/// }
///
/// impl Module for Residual {
///     fn parts(&self) -> Parts<'_> {
///         Parts::new().module("linear", &self.linear).parameter("scale", &self.scale)
///     }
///
///     fn forward(&self, x: &Tensor) -> Tensor {
///         let y = self.linear.call("linear", x).relu();
///         x.add(&y.mul(&self.scale.get()))
///     }
/// }
/// ```
pub trait Module: Send + Sync {
    /// The parts in the order in which their names are listed and saved.
    fn parts(&self) -> Parts<'_>;

    /// Computes the output. An error names the line of the call, in every implementation.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Tensor;

    /// Computes the output as the part `name` of the module that calls it, `linear1`. A report of
    /// memory then says `blocks.3.linear1`, and a profile has a span for it. As in PyTorch, where
    /// `module(x)` is more than `module.forward(x)`. A model as a whole is no part of anything and
    /// is called by `forward`; `record_function` gives it a span.
    #[track_caller]
    fn call(&self, name: &'static str, x: &Tensor) -> Tensor {
        let _part = inside_part(name, None);
        let _span = span_named(Kind::Module, || self.type_name());
        self.forward(x)
    }

    /// The same for number `i` of the modules that share a name, `blocks.3`.
    #[track_caller]
    fn call_nth(&self, name: &'static str, i: usize, x: &Tensor) -> Tensor {
        let _part = inside_part(name, Some(i));
        let _span = span_named(Kind::Module, || self.type_name());
        self.forward(x)
    }

    /// What the module is: the name of its type, without its path.
    fn type_name(&self) -> &'static str {
        let name = std::any::type_name::<Self>();
        let plain = name.split('<').next().unwrap_or(name);
        plain.rsplit("::").next().unwrap_or(plain)
    }

    /// Every parameter with its name, `block.0.attention.weight`, in the order of the parts. One
    /// that is shared is listed once, under its first name.
    fn named_parameters(&self) -> Vec<(String, Parameter)> {
        tree::named_parameters(self.parts())
    }

    /// Every parameter once; what an optimizer is given.
    fn parameters(&self) -> Vec<Parameter> {
        self.named_parameters().into_iter().map(|(_, parameter)| parameter).collect()
    }

    /// Every buffer with its name, once.
    fn named_buffers(&self) -> Vec<(String, &Buffer)> {
        tree::named_buffers(self.parts())
    }

    /// Every parameter and every persistent buffer under every name that it has: what a checkpoint
    /// contains. A shared parameter appears under each of its names. The tensors are those of the
    /// module, no copies.
    ///
    /// # Panics
    /// If two parts have one name.
    #[track_caller]
    fn state_dict(&self) -> StateDict {
        tree::state_dict(self.parts())
    }

    /// Copies a state into the parameters and persistent buffers, in place: each keeps its device
    /// and its type, to which the numbers are converted as PyTorch's `copy_` does. Gives the names
    /// that only one side has; `strict` makes them an error. A shape that differs always is one,
    /// with PyTorch's one exception: `[1]` goes into a tensor without dimensions.
    ///
    /// # Errors
    /// All missing and unexpected names, and all that differ in shape with both shapes, in one
    /// message. Nothing is changed then.
    fn load_state_dict(&self, state: &StateDict, strict: bool) -> Result<IncompatibleKeys, Error> {
        loading::load(self.type_name(), &self.state_dict(), state, strict)
    }

    /// How many numbers training changes; shared ones count once.
    fn num_parameters(&self) -> usize {
        self.parameters().iter().map(|parameter| parameter.get().numel()).sum()
    }

    /// Puts this module and all in it into training (`true`) or evaluation.
    fn train(&self, on: bool) {
        tree::train(self.parts(), on);
    }

    /// The same as `train(false)`.
    fn eval(&self) {
        self.train(false);
    }

    /// Whether any layer in it behaves as in training. Where no layer tells the two apart, none
    /// does.
    fn is_training(&self) -> bool {
        tree::is_training(self.parts())
    }

    /// Moves every parameter and buffer to a device; what is there already stays as it is.
    /// Gradients stay behind: call it before training.
    fn to_device(&self, device: Device) {
        let elsewhere = |x: &Tensor| x.device() != device;
        tree::convert(self.parts(), &elsewhere, device.into());
    }

    /// Converts every floating-point parameter and buffer that has another type. Gradients stay
    /// behind, as with [`to_device`](Module::to_device).
    ///
    /// # Panics
    /// If the type is not floating-point.
    #[track_caller]
    fn to_dtype(&self, dtype: DType) {
        if !dtype.is_floating_point() {
            let message = "parameters have gradients, so they must be floating-point".to_string();
            misuse("to_dtype", &[&dtype], message);
        }
        let other = |x: &Tensor| x.dtype().is_floating_point() && x.dtype() != dtype;
        tree::convert(self.parts(), &other, dtype.into());
    }

    /// Drops every gradient and its memory, or fills it with zeros.
    fn zero_grad(&self, set_to_none: bool) {
        for parameter in self.parameters() {
            tree::zero_grad(&parameter.get(), set_to_none);
        }
    }

    /// The module tree as a table, for people.
    fn summary(&self) -> Summary {
        Summary::of(self.type_name(), self.parts())
    }

    /// Calls `visit` with the name of every module in this one and the module, children before
    /// parents, as PyTorch's `apply` does; at last with this one, whose name is empty.
    fn apply(&self, visit: &mut dyn FnMut(&str, &dyn Module))
    where
        Self: Sized,
    {
        tree::apply(self.parts(), "", visit);
        visit("", self);
    }
}

impl Module for Box<dyn Module> {
    fn parts(&self) -> Parts<'_> {
        self.as_ref().parts()
    }

    fn type_name(&self) -> &'static str {
        self.as_ref().type_name()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        self.as_ref().forward(x)
    }
}

/// One part of a module.
pub(super) enum Part<'a> {
    Parameter(&'a Parameter),
    Buffer(&'a Buffer),
    Training(&'a Training),
    Module(&'a dyn Module),
}

/// The parts of a module, each with its name.
#[derive(Default)]
pub struct Parts<'a>(pub(super) Vec<(String, Part<'a>)>);

impl<'a> Parts<'a> {
    /// None yet.
    pub fn new() -> Parts<'a> {
        Parts::default()
    }

    /// A parameter, or one that the layer can lack: `self.bias.as_ref()`.
    pub fn parameter(mut self, name: &str, it: impl Into<Option<&'a Parameter>>) -> Parts<'a> {
        if let Some(parameter) = it.into() {
            self.0.push((name.to_string(), Part::Parameter(parameter)));
        }
        self
    }

    /// A buffer.
    pub fn buffer(mut self, name: &str, buffer: &'a Buffer) -> Parts<'a> {
        self.0.push((name.to_string(), Part::Buffer(buffer)));
        self
    }

    /// The flag of a layer that behaves otherwise in training; it has no name.
    pub fn training(mut self, training: &'a Training) -> Parts<'a> {
        self.0.push((String::new(), Part::Training(training)));
        self
    }

    /// A module inside this one.
    pub fn module(mut self, name: &str, module: &'a dyn Module) -> Parts<'a> {
        self.0.push((name.to_string(), Part::Module(module)));
        self
    }

    /// A list of modules, named `name.0`, `name.1`, …
    pub fn modules<M: Module>(mut self, name: &str, modules: &'a [M]) -> Parts<'a> {
        for (i, module) in modules.iter().enumerate() {
            self.0.push((format!("{name}.{i}"), Part::Module(module)));
        }
        self
    }
}
