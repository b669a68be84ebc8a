//! The tensor: a layout over a shared storage, and its place in the autograd graph.
//!
//! A clone is another handle on the same tensor, as in Python. Operations are methods that live in
//! `ops/`; this module makes tensors (`create.rs`), reads what they are (here), and keeps where
//! they stand in the graph (`history.rs`).

mod create;
mod history;
mod place;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::autograd;
use crate::device::{Device, View};
use crate::dtype::{DType, Element};
use crate::error::misuse;
use crate::layout::Layout;
use crate::profiler::{self, Kind};
use crate::storage::Storage;
use history::{History, ViewOf};

/// A multi-dimensional array.
#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

struct Inner {
    storage: Arc<Storage>,
    layout: Layout,
    history: Mutex<History>,
    /// The tensor whose numbers this one shows, if an operation made it as a view.
    view: Option<ViewOf>,
    /// Whether a leaf that has a node asks for a gradient no longer.
    frozen: AtomicBool,
    inference: bool,
}

impl Tensor {
    /// A tensor over an existing storage, outside the graph.
    pub(crate) fn over(storage: Arc<Storage>, layout: Layout) -> Tensor {
        Tensor::new(storage, layout, None, autograd::is_inference_mode())
    }

    fn new(storage: Arc<Storage>, layout: Layout, view: Option<ViewOf>, inference: bool) -> Tensor {
        let (history, frozen) = (Mutex::new(History::default()), AtomicBool::new(false));
        Tensor(Arc::new(Inner { storage, layout, history, view, frozen, inference }))
    }

    /// A fresh contiguous tensor with the result of a kernel.
    pub(crate) fn packed(storage: Storage, shape: &[usize]) -> Tensor {
        Tensor::over(Arc::new(storage), Layout::contiguous(shape))
    }

    /// Another tensor over the same storage, outside the graph. It is an inference tensor if this
    /// one is, whatever the mode is now: the promise is about the memory.
    pub(crate) fn with_layout(&self, layout: Layout) -> Tensor {
        Tensor::new(self.0.storage.clone(), layout, None, self.0.inference)
    }

    /// Size of each dimension.
    pub fn shape(&self) -> &[usize] {
        self.0.layout.shape()
    }

    /// Elements to step over in the storage for one step in each dimension.
    pub fn strides(&self) -> &[usize] {
        self.0.layout.strides()
    }

    /// Elements of the storage before the first one that the tensor shows.
    pub fn storage_offset(&self) -> usize {
        self.0.layout.offset()
    }

    /// The address of the first element, in the memory of the tensor's device. Two tensors at one
    /// address need not share anything: the allocator hands freed memory out again.
    pub fn data_ptr(&self) -> u64 {
        let bytes = self.0.layout.offset() * self.dtype().size();
        self.0.storage.address() + bytes as u64
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

    /// The elements in logical order. Those of a tensor on a device are first copied to the host,
    /// which waits for the device, as PyTorch's `tolist` does.
    ///
    /// # Panics
    /// If they are not of type `T`.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        if self.dtype() != T::DTYPE {
            let message = format!("the elements are not {}; ask for the type they have", T::DTYPE);
            misuse("to_vec", &[&self.brief()], message)
        }
        let _span = profiler::span(Kind::Op, "to_vec");
        let host = self.on_host();
        let buffer = host.0.storage.read("to_vec");
        let values = buffer.as_slice::<T>().expect("its type was compared above");
        host.0.layout.positions().map(|position| values[position]).collect()
    }

    /// The one element of a tensor with one element.
    ///
    /// # Panics
    /// If there are more or none, or if they are not `f32`; [`item_as`](Tensor::item_as) reads
    /// other types.
    #[track_caller]
    pub fn item(&self) -> f32 {
        self.item_as()
    }

    /// The one element of a tensor with one element, of type `T`.
    ///
    /// # Panics
    /// If there are more or none, or if they are not of type `T`.
    #[track_caller]
    pub fn item_as<T: Element>(&self) -> T {
        let _span = profiler::span(Kind::Op, "item");
        match self.to_vec::<T>()[..] {
            [value] => value,
            _ => misuse("item", &[&self.brief()], "needs a tensor of one element".to_string()),
        }
    }

    /// Type and shape in a few characters, for messages: `f32 [2, 3]`; with the device if that is
    /// not the CPU.
    pub fn brief(&self) -> String {
        match self.device() {
            Device::Cpu => format!("{} {:?}", self.dtype(), self.shape()),
            device => format!("{} {:?} on {device}", self.dtype(), self.shape()),
        }
    }

    /// Storage and layout, as a kernel takes them.
    pub(crate) fn view_of(&self) -> View<'_> {
        View { storage: &self.0.storage, layout: &self.0.layout }
    }

    /// Whether this is not the only handle on the tensor.
    pub(crate) fn has_other_handles(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether no other tensor, and no other handle on this one, can see the numbers.
    pub(crate) fn is_sole_owner(&self) -> bool {
        !self.has_other_handles() && Arc::strong_count(&self.0.storage) == 1
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
