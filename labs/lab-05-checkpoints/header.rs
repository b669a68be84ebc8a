//! What 5.2 reads from a file, and the reasons for which it refuses one.

/// A tensor as the header of a safetensors file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// The type of its elements as it is written: `F32`.
    pub dtype: String,
    /// Its sizes.
    pub shape: Vec<u64>,
    /// Its first byte, counted from the end of the header.
    pub start: u64,
    /// The byte behind its last one.
    pub end: u64,
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that it breaks.
    pub problem: Problem,
    /// The name of the tensor that breaks it; empty if it is the file as a whole.
    pub name: String,
}

/// The rules of the format, as what breaks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The file has not even the 8 bytes of the header's length.
    TooShort,
    /// The header would be longer than what follows these 8 bytes.
    HeaderTooLong,
    /// The header is not UTF-8, or not JSON.
    NotJson,
    /// The header is JSON, and not an object.
    NotAnObject,
    /// A name stands twice.
    Duplicate,
    /// `__metadata__` is not an object, or one of its values is not a text.
    BadMetadata,
    /// A tensor is not an object of exactly `dtype`, `shape` and `data_offsets`, each once.
    BadFields,
    /// `dtype` is not a text, or no type that is known.
    UnknownDType,
    /// `shape` is not a list of whole numbers.
    BadShape,
    /// `data_offsets` is not a list of two whole numbers, or the second is below the first.
    BadOffsets,
    /// The bytes of the elements are not as many as lie between the offsets.
    WrongSize,
    /// A tensor does not begin where the one before it ends, or the first one not at 0.
    NotInARow,
    /// The last tensor does not end where the file ends.
    WrongEnd,
}

/// The bytes of one element, by the name of its type; `None` if the type is not known.
pub fn item_size(dtype: &str) -> Option<u64> {
    match dtype {
        "BOOL" | "U8" | "I8" => Some(1),
        "F16" | "BF16" | "I16" | "U16" => Some(2),
        "F32" | "I32" | "U32" => Some(4),
        "F64" | "I64" | "U64" => Some(8),
        _ => None,
    }
}
