//! Element types: what one number of a tensor is, and how a Rust slice is made of them.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    /// 32-bit IEEE 754 floating point: 24 bits of precision, up to about 3.4e38.
    F32,
    /// 64-bit signed integers: class labels and indices.
    I64,
}

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::F32 => 4,
            DType::I64 => 8,
        }
    }

    /// Whether gradients are defined for it.
    pub const fn is_floating_point(self) -> bool {
        matches!(self, DType::F32)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            DType::F32 => "f32",
            DType::I64 => "i64",
        })
    }
}

/// The numbers of a storage, in host memory.
#[derive(Debug, Clone)]
pub enum Buffer {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit integers.
    I64(Vec<i64>),
}

impl Buffer {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Buffer::F32(_) => DType::F32,
            Buffer::I64(_) => DType::I64,
        }
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        match self {
            Buffer::F32(values) => size_of_val(values.as_slice()),
            Buffer::I64(values) => size_of_val(values.as_slice()),
        }
    }

    /// The elements as `T`, or `None` if they are of another type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::slice(self)
    }

    /// The elements as `T`, to be written, or `None` if they are of another type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        T::slice_mut(self)
    }
}

/// A Rust type that can be the element of a tensor.
pub trait Element: Copy + Send + Sync + fmt::Debug + 'static {
    /// The dtype of tensors of this element.
    const DTYPE: DType;
    /// Puts a vector of elements into a buffer; nothing is copied.
    fn into_buffer(values: Vec<Self>) -> Buffer;
    /// The elements of a buffer of this type.
    fn slice(buffer: &Buffer) -> Option<&[Self]>;
    /// The elements of a buffer of this type, to be written.
    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]>;
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;

    fn into_buffer(values: Vec<f32>) -> Buffer {
        Buffer::F32(values)
    }

    fn slice(buffer: &Buffer) -> Option<&[f32]> {
        if let Buffer::F32(values) = buffer { Some(values) } else { None }
    }

    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [f32]> {
        if let Buffer::F32(values) = buffer { Some(values) } else { None }
    }
}

impl Element for i64 {
    const DTYPE: DType = DType::I64;

    fn into_buffer(values: Vec<i64>) -> Buffer {
        Buffer::I64(values)
    }

    fn slice(buffer: &Buffer) -> Option<&[i64]> {
        if let Buffer::I64(values) = buffer { Some(values) } else { None }
    }

    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [i64]> {
        if let Buffer::I64(values) = buffer { Some(values) } else { None }
    }
}
