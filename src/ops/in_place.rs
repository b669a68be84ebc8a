//! Operations that change a tensor's numbers where they are. They are not recorded.

use crate::Tensor;
use crate::autograd::{is_grad_enabled, is_inference_mode};
use crate::ops::{expect_f32, refuse};

impl Tensor {
    /// x += alpha · other, in place. Every view of the storage sees it, and its version goes up.
    ///
    /// # Panics
    /// If the shapes differ, if x repeats elements, if x is an inference tensor outside inference
    /// mode, or if one of the two belongs to a graph and recording is on.
    #[track_caller]
    pub fn add_(&self, other: &Tensor, alpha: f32) {
        expect_f32("add_", &[self, other]);
        self.check_writable("add_", &[self, other]);
        if self.shape() != other.shape() {
            let message = "both must have one shape".to_string();
            refuse("add_", &[self, other], message);
        }
        self.device().backend().add_in_place(self.view_of(), other.view_of(), alpha);
    }

    /// x = value everywhere, in place. Every view of the storage sees it, and its version goes up.
    ///
    /// # Panics
    /// If x repeats elements, or if x belongs to a graph and recording is on.
    #[track_caller]
    pub fn fill_(&self, value: f32) {
        expect_f32("fill_", &[self]);
        self.check_writable("fill_", &[self]);
        self.device().backend().fill_in_place(self.view_of(), value);
    }

    #[track_caller]
    fn check_writable(&self, op: &'static str, operands: &[&Tensor]) {
        if is_grad_enabled() && operands.iter().any(|operand| operand.requires_grad()) {
            let message = "an operand belongs to a graph, and a change in place would not be \
                           recorded; wrap the update in no_grad";
            refuse(op, operands, message.to_string());
        }
        if self.is_inference() && !is_inference_mode() {
            let message = "an inference tensor can be changed only in inference mode; copy() it";
            refuse(op, &[self], message.to_string());
        }
        if self.layout().shows_an_element_twice() {
            let message = "an expanded tensor, or one in overlapping windows, shows one element in \
                           several places, which cannot take several values; copy() it first";
            refuse(op, &[self], message.to_string());
        }
    }
}
