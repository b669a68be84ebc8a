//! The tensor: a layout over a shared storage, and its place in the autograd graph.
//!
//! A clone is another handle on the same tensor, as in Python. Operations are methods that live in
//! `ops/`; this file makes tensors and reads what they are.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::autograd::{self, Node};
use crate::device::{Device, View};
use crate::dtype::{DType, Element};
use crate::error::misuse;
use crate::layout::Layout;
use crate::memory::Role;
use crate::rng::Generator;
use crate::storage::Storage;

/// A multi-dimensional array.
#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

struct Inner {
    storage: Arc<Storage>,
    layout: Layout,
    /// The node that made this tensor, or the node that collects its gradient if it is a leaf.
    node: Mutex<Option<Arc<Node>>>,
    /// Whether a leaf that has a node asks for a gradient no longer.
    frozen: AtomicBool,
    inference: bool,
}

impl Tensor {
    /// A tensor of shape `shape` with `values` in row-major order.
    ///
    /// # Panics
    /// If there are not exactly as many values as the shape has elements.
    #[track_caller]
    pub fn from_vec<T: Element>(values: Vec<T>, shape: &[usize]) -> Tensor {
        let layout = Layout::contiguous(shape);
        if values.len() != layout.shape().numel() {
            let (have, need) = (values.len(), layout.shape().numel());
            let what = format!("{have} values");
            let message = format!("the shape {shape:?} has {need} elements; pass exactly as many");
            misuse("from_vec", &[&what], message);
        }
        Tensor::over(Arc::new(Storage::new(values)), layout)
    }

    /// A tensor filled with `value`.
    #[track_caller]
    pub fn full(shape: &[usize], value: f32) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        Tensor::from_vec(vec![value; numel], shape)
    }

    /// A tensor of zeros.
    #[track_caller]
    pub fn zeros(shape: &[usize]) -> Tensor {
        Tensor::full(shape, 0.0)
    }

    /// A tensor of ones.
    #[track_caller]
    pub fn ones(shape: &[usize]) -> Tensor {
        Tensor::full(shape, 1.0)
    }

    /// One number, with no dimensions.
    pub fn scalar(value: f32) -> Tensor {
        Tensor::full(&[], value)
    }

    /// 0, 1, … n − 1.
    pub fn arange(n: usize) -> Tensor {
        Tensor::from_vec((0..n).map(|i| i as f32).collect(), &[n])
    }

    /// Uniform random numbers in [0, 1).
    #[track_caller]
    pub fn rand(shape: &[usize], generator: &mut Generator) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        Tensor::from_vec((0..numel).map(|_| generator.uniform()).collect(), shape)
    }

    /// Normal random numbers with mean 0 and variance 1.
    #[track_caller]
    pub fn randn(shape: &[usize], generator: &mut Generator) -> Tensor {
        let numel = Layout::contiguous(shape).shape().numel();
        Tensor::from_vec((0..numel).map(|_| generator.normal()).collect(), shape)
    }

    /// A tensor over an existing storage, outside the graph.
    pub(crate) fn over(storage: Arc<Storage>, layout: Layout) -> Tensor {
        Tensor::new(storage, layout, autograd::is_inference_mode())
    }

    fn new(storage: Arc<Storage>, layout: Layout, inference: bool) -> Tensor {
        let (node, frozen) = (Mutex::new(None), AtomicBool::new(false));
        Tensor(Arc::new(Inner { storage, layout, node, frozen, inference }))
    }

    /// A fresh contiguous tensor with the result of a kernel.
    pub(crate) fn packed(storage: Storage, shape: &[usize]) -> Tensor {
        Tensor::over(Arc::new(storage), Layout::contiguous(shape))
    }

    /// Another tensor over the same storage, outside the graph. It is an inference tensor if this
    /// one is, whatever the mode is now: the promise is about the memory.
    pub(crate) fn with_layout(&self, layout: Layout) -> Tensor {
        Tensor::new(self.0.storage.clone(), layout, self.0.inference)
    }

    /// Size of each dimension.
    pub fn shape(&self) -> &[usize] {
        self.0.layout.shape()
    }

    /// Elements to step over in the storage for one step in each dimension.
    pub fn strides(&self) -> &[usize] {
        self.0.layout.strides()
    }

    /// Shape, strides and offset together.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// The memory behind the tensor; views share it.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.0.storage
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.0.layout.shape().numel()
    }

    /// Bytes of the elements that the tensor shows; its storage can hold more.
    pub fn nbytes(&self) -> u64 {
        (self.numel() * self.dtype().size()) as u64
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.storage.dtype()
    }

    /// Where the tensor is.
    pub fn device(&self) -> Device {
        self.0.storage.device()
    }

    /// Whether the elements lie in the storage in logical order with no gaps.
    pub fn is_contiguous(&self) -> bool {
        self.0.layout.is_contiguous()
    }

    /// Whether the tensor was made in inference mode.
    pub fn is_inference(&self) -> bool {
        self.0.inference
    }

    /// The elements in logical order.
    ///
    /// # Panics
    /// If they are not of type `T`.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        let buffer = self.0.storage.read("to_vec");
        let Some(values) = buffer.as_slice::<T>() else {
            let message = format!("the elements are not {}; ask for the type they have", T::DTYPE);
            misuse("to_vec", &[&self.brief()], message)
        };
        self.0.layout.positions().map(|position| values[position]).collect()
    }

    /// The one element of a tensor with one element.
    ///
    /// # Panics
    /// If there are more or none, or if they are not `f32`.
    #[track_caller]
    pub fn item(&self) -> f32 {
        match self.to_vec::<f32>()[..] {
            [value] => value,
            _ => misuse("item", &[&self.brief()], "needs a tensor of one element".to_string()),
        }
    }

    /// Type and shape in a few characters, for messages: `f32 [2, 3]`.
    pub fn brief(&self) -> String {
        format!("{} {:?}", self.dtype(), self.shape())
    }

    /// Storage and layout, as a kernel takes them.
    pub(crate) fn view_of(&self) -> View<'_> {
        View { storage: &self.0.storage, layout: &self.0.layout }
    }

    /// The node that made this tensor, or that collects its gradient if it is a leaf that asks for
    /// one; `None` for a tensor outside the graph.
    pub fn node(&self) -> Option<Arc<Node>> {
        self.any_node().filter(|_| !self.0.frozen.load(Ordering::Relaxed))
    }

    /// The node, also of a leaf that asks for a gradient no longer.
    fn any_node(&self) -> Option<Arc<Node>> {
        self.0.node.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_node(&self, node: Option<Arc<Node>>) {
        *self.0.node.lock().unwrap_or_else(PoisonError::into_inner) = node;
    }

    /// Whether this is not the only handle on the tensor.
    pub(crate) fn has_other_handles(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether no other tensor, and no other handle on this one, can see the numbers.
    pub(crate) fn is_sole_owner(&self) -> bool {
        !self.has_other_handles() && Arc::strong_count(&self.0.storage) == 1
    }

    /// Whether operations on this tensor are recorded.
    pub fn requires_grad(&self) -> bool {
        self.node().is_some()
    }

    /// Whether nothing recorded made this tensor: what you create is a leaf, what you compute from
    /// a leaf that requires a gradient is not.
    pub fn is_leaf(&self) -> bool {
        self.node().is_none_or(|node| node.is_leaf())
    }

    /// Asks for a gradient of this leaf, or no longer, and returns the tensor. Its bytes count as
    /// a parameter's from then on. A frozen leaf keeps its gradient and its place in the graphs
    /// that hold it already.
    ///
    /// # Panics
    /// If the elements are integers, if the tensor is not a leaf, or if it was made in inference
    /// mode.
    #[track_caller]
    pub fn requires_grad_(self, requires_grad: bool) -> Tensor {
        let fault = if !self.dtype().is_floating_point() {
            Some("only floating-point tensors can require a gradient; convert it first")
        } else if !self.is_leaf() {
            Some("only a leaf can change this; `detach` makes one of a computed tensor")
        } else if self.is_inference() {
            Some("the tensor was made in inference mode and can never enter a graph; copy it")
        } else {
            None
        };
        if let Some(message) = fault {
            misuse("requires_grad_", &[&self.brief()], message.to_string());
        }
        self.0.frozen.store(!requires_grad, Ordering::Relaxed);
        if requires_grad && !self.requires_grad() {
            self.set_node(Some(Node::leaf(self.shape())));
            self.0.storage.set_role(Role::Parameter);
        }
        self
    }

    /// The gradient that `backward` has left at this leaf.
    pub fn grad(&self) -> Option<Tensor> {
        self.any_node()?.grad()
    }

    /// Drops the gradient and its memory (PyTorch's `zero_grad(set_to_none=True)`).
    pub fn zero_grad(&self) {
        if let Some(node) = self.any_node() {
            node.set_grad(None);
        }
    }

    /// The same storage, version counter included, outside the graph.
    pub fn detach(&self) -> Tensor {
        self.with_layout(self.0.layout)
    }

    /// Computes the gradient of this one number with respect to every leaf that asked for one.
    ///
    /// # Panics
    /// If the tensor has more than one element, requires no gradient, or has been through
    /// `backward` already.
    #[track_caller]
    pub fn backward(&self) {
        autograd::backward(self, None, false);
    }

    /// As [`backward`](Tensor::backward) with the gradient `dy` of this tensor given.
    #[track_caller]
    pub fn backward_with(&self, dy: &Tensor) {
        autograd::backward(self, Some(dy), false);
    }

    /// As [`backward`](Tensor::backward), but the graph keeps its saved tensors, so that it can be
    /// walked again (PyTorch's `retain_graph=True`).
    #[track_caller]
    pub fn backward_retain_graph(&self) {
        autograd::backward(self, None, true);
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
