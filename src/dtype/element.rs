//! The Rust types that can be elements of a tensor.

use std::fmt;
use std::mem::MaybeUninit;

use half::slice::HalfFloatSliceExt;

use crate::dtype::{Arithmetic, Buffer, DType, Scalar, bf16, f16};

/// A Rust type that can be the element of a tensor.
pub trait Element: Copy + Default + PartialOrd + Send + Sync + fmt::Debug + 'static {
    /// The dtype of tensors of this element.
    const DTYPE: DType;
    /// What kernels compute with: `f32` for the half types, which are only for storing; else the
    /// type itself.
    type Compute: Arithmetic;
    /// Whether kernels compute with it in wide vectors: `f32` and what is computed in it.
    const IN_VECTORS: bool;
    /// The value to compute with; exact.
    fn to_compute(self) -> Self::Compute;
    /// A computed value, rounded to the nearest if it does not fit.
    fn of_compute(x: Self::Compute) -> Self;
    /// The value as a number of any type; exact.
    fn to_scalar(self) -> Scalar;
    /// The element that stands for a number; [`Scalar`] has the rules.
    fn from_scalar(x: Scalar) -> Self;
    /// The elements as values to compute with, if they are such.
    fn as_computed(values: &[Self]) -> Option<&[Self::Compute]>;
    /// Room for elements as room for computed values, if those are the elements.
    fn as_computed_room(
        room: &mut [MaybeUninit<Self>],
    ) -> Option<&mut [MaybeUninit<Self::Compute>]>;
    /// Puts a vector of elements into a buffer; nothing is copied.
    fn into_buffer(values: Vec<Self>) -> Buffer;
    /// The elements of a buffer of this type.
    fn slice(buffer: &Buffer) -> Option<&[Self]>;
    /// The elements of a buffer of this type, to be written.
    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]>;
    /// The bytes of some elements.
    fn bytes(values: &[Self]) -> &[u8];
    /// The bytes of some elements, to be written; `None` for `bool`, of which not every byte is
    /// one.
    fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]>;
    /// Elements from their bytes.
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
}

/// What is the same for every element type: where its vector is in a buffer.
macro_rules! in_buffer {
    ($Variant:ident) => {
        const DTYPE: DType = DType::$Variant;

        fn into_buffer(values: Vec<Self>) -> Buffer {
            Buffer::$Variant(values)
        }

        fn slice(buffer: &Buffer) -> Option<&[Self]> {
            if let Buffer::$Variant(values) = buffer { Some(values) } else { None }
        }

        fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]> {
            if let Buffer::$Variant(values) = buffer { Some(values) } else { None }
        }
    };
}

/// Types that kernels compute with as they are.
macro_rules! computed_as_it_is {
    ($($T:ty, $Variant:ident, $Kind:ident, $to:ident, $read:expr, $write:expr;)*) => {$(
        impl Element for $T {
            in_buffer!($Variant);
            type Compute = $T;
            const IN_VECTORS: bool = matches!(DType::$Variant, DType::F32);

            fn as_computed(values: &[$T]) -> Option<&[$T]> {
                Some(values)
            }

            fn as_computed_room(room: &mut [MaybeUninit<$T>]) -> Option<&mut [MaybeUninit<$T>]> {
                Some(room)
            }

            #[inline(always)]
            fn to_compute(self) -> $T {
                self
            }

            #[inline(always)]
            fn of_compute(x: $T) -> $T {
                x
            }

            #[inline(always)]
            fn to_scalar(self) -> Scalar {
                Scalar::$Kind(self.into())
            }

            fn from_scalar(x: Scalar) -> $T {
                x.$to()
            }

            fn bytes(values: &[$T]) -> &[u8] {
                bytemuck::cast_slice(values)
            }

            fn bytes_mut(values: &mut [$T]) -> Option<&mut [u8]> {
                $write(values)
            }

            fn from_bytes(bytes: &[u8]) -> Vec<$T> {
                // Not cast_slice: the bytes of a device need not be aligned for the type.
                bytes.chunks_exact(size_of::<$T>()).map($read).collect()
            }
        }
    )*};
}
fn plain<T: bytemuck::Pod>(values: &mut [T]) -> Option<&mut [u8]> {
    Some(bytemuck::cast_slice_mut(values))
}

computed_as_it_is! {
    f64, F64, Float, to_f64, bytemuck::pod_read_unaligned, plain;
    f32, F32, Float, to_f32, bytemuck::pod_read_unaligned, plain;
    i64, I64, Int, to_i64, bytemuck::pod_read_unaligned, plain;
    i32, I32, Int, to_i32, bytemuck::pod_read_unaligned, plain;
    u8, U8, Int, to_u8, bytemuck::pod_read_unaligned, plain;
    bool, Bool, Bool, to_bool, |byte: &[u8]| byte[0] != 0, |_| None;
}

/// The half types: stored in 16 bits, computed in `f32`.
macro_rules! half {
    ($($T:ident, $Variant:ident;)*) => {$(
        impl Element for $T {
            in_buffer!($Variant);
            type Compute = f32;
            const IN_VECTORS: bool = true;

            fn as_computed(_: &[$T]) -> Option<&[f32]> {
                None
            }

            fn as_computed_room(_: &mut [MaybeUninit<$T>]) -> Option<&mut [MaybeUninit<f32>]> {
                None
            }

            #[inline(always)]
            fn to_compute(self) -> f32 {
                self.to_f32()
            }

            #[inline(always)]
            fn of_compute(x: f32) -> $T {
                $T::from_f32(x)
            }

            #[inline(always)]
            fn to_scalar(self) -> Scalar {
                Scalar::Float(self.to_f64())
            }

            fn from_scalar(x: Scalar) -> $T {
                $T::from_f32(x.to_f32())
            }

            fn bytes(values: &[$T]) -> &[u8] {
                bytemuck::cast_slice(values.reinterpret_cast())
            }

            fn bytes_mut(values: &mut [$T]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(values.reinterpret_cast_mut()))
            }

            fn from_bytes(bytes: &[u8]) -> Vec<$T> {
                let bits = bytes.chunks_exact(2).map(bytemuck::pod_read_unaligned);
                bits.map($T::from_bits).collect()
            }
        }
    )*};
}
half! {
    f16, F16;
    bf16, BF16;
}
