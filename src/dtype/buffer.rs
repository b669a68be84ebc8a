//! Buffers: the numbers of a storage, in host memory, with their type known only at run time.

use crate::dtype::{DType, Element, bf16, f16, with_element};

/// The numbers of a storage, in host memory.
#[derive(Debug, Clone)]
pub enum Buffer {
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 16-bit IEEE floats.
    F16(Vec<f16>),
    /// Upper halves of 32-bit floats.
    BF16(Vec<bf16>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// Bytes.
    U8(Vec<u8>),
    /// True and false.
    Bool(Vec<bool>),
}

/// The vector of a buffer of any type, under one name.
macro_rules! with_values {
    ($buffer:expr, $values:ident => $body:expr) => {
        match $buffer {
            Buffer::F64($values) => $body,
            Buffer::F32($values) => $body,
            Buffer::F16($values) => $body,
            Buffer::BF16($values) => $body,
            Buffer::I64($values) => $body,
            Buffer::I32($values) => $body,
            Buffer::U8($values) => $body,
            Buffer::Bool($values) => $body,
        }
    };
}

impl Buffer {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        with_values!(self, values => of(values))
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        with_values!(self, values => size_of_val(values.as_slice()))
    }

    /// The elements as `T`, or `None` if they are of another type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::slice(self)
    }

    /// The elements as `T`, to be written, or `None` if they are of another type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        T::slice_mut(self)
    }

    /// The bytes of the elements, in the order of the machine, as a device takes them.
    pub fn bytes(&self) -> &[u8] {
        with_values!(self, values => Element::bytes(values))
    }

    /// As [`bytes`](Buffer::bytes), to be written; `None` for `bool`, of which not every byte is
    /// one.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        with_values!(self, values => Element::bytes_mut(values))
    }

    /// Elements of type `dtype` from their bytes, as a device returns them.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Buffer {
        with_element!(dtype, T => T::into_buffer(T::from_bytes(bytes)))
    }
}
