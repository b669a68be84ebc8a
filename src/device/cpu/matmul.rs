//! The matrix product, by the `matrixmultiply` crate: it takes strides, so a transposed operand
//! is read where it lies.

use crate::device::View;
use crate::device::cpu::elements;
use crate::layout::Layout;
use crate::storage::Storage;

/// `(M, K) · (K, N) → (M, N)`.
pub fn matmul(a: View, b: View) -> Storage {
    let (m, k, n) = (a.layout.shape()[0], a.layout.shape()[1], b.layout.shape()[1]);
    let (left, right) = (a.storage.read("matmul"), b.storage.read("matmul"));
    let (left, right) = (elements::<f32>(&left), elements::<f32>(&right));
    let mut out = vec![0.0; Layout::contiguous(&[m, n]).shape().numel()];
    if out.is_empty() || k == 0 {
        return Storage::new(out);
    }
    let within = |layout, len: usize| last_position(layout).is_some_and(|last| last < len);
    assert!(b.layout.shape()[0] == k, "the caller has compared the inner sizes");
    assert!(within(a.layout, left.len()) && within(b.layout, right.len()));
    let strides = |layout: &Layout| layout.strides().to_vec();
    let (a_steps, b_steps) = (strides(a.layout), strides(b.layout));
    // SAFETY: strides are not negative and neither matrix is empty, so `sgemm` reads from the
    // offset up to the last position, which the assertion above has found within each slice, and
    // it writes the m * n elements of `out`, a packed matrix that nothing else can see yet.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            1.0,
            left.as_ptr().add(a.layout.offset()),
            a_steps[0] as isize,
            a_steps[1] as isize,
            right.as_ptr().add(b.layout.offset()),
            b_steps[0] as isize,
            b_steps[1] as isize,
            0.0,
            out.as_mut_ptr(),
            n as isize,
            1,
        );
    }
    Storage::new(out)
}

/// The position of the last element of a matrix that is not empty; none lies behind it. `None` if
/// it is too large for a number.
fn last_position(layout: &Layout) -> Option<usize> {
    let mut steps = layout.shape().iter().zip(layout.strides().iter());
    steps.try_fold(layout.offset(), |at, (size, stride)| {
        at.checked_add((size - 1).checked_mul(*stride)?)
    })
}
