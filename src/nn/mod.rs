//! Building blocks of models: the module tree, layers, and their initialisations.

pub mod init;
mod module;
mod parameter;
mod tree;

pub use module::{Module, Parts};
pub use parameter::{Buffer, Parameter, Training};
pub(crate) use tree::zero_grad;
