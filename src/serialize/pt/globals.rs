//! The names that a pickle may refer to.
//!
//! `GLOBAL` asks Python to import a module and take something out of it, and `REDUCE` calls that;
//! this is how a pickle runs `os.system`. Here a name is looked up in one list and in nothing else.
//! None of what stands in it runs: each is a way to say what a tensor or a container is.
//! The list is PyTorch's own for `weights_only=True` (`torch/_weights_only_unpickler.py`), without
//! what makes sparse, quantized, nested and meta tensors.

use crate::dtype::DType;

/// What an allowed name stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Global {
    /// `collections.OrderedDict`.
    OrderedDict,
    /// A class or function that holds what it is given, and nothing more: `set([1, 2])`.
    Holds,
    /// `_codecs.encode`, by which protocol 2 writes bytes.
    Encode,
    /// `torch._utils._rebuild_tensor_v2`.
    RebuildTensor,
    /// `torch._utils._rebuild_tensor_v3`: the same, and the type of the elements is an argument.
    RebuildTyped,
    /// A parameter, made of a tensor and what the engine does not keep.
    RebuildParameter,
    /// A tensor with attributes, made of how the tensor is made, and the attributes.
    RebuildFromType,
    /// `torch.Tensor`.
    Tensor,
    /// The class of a storage, which says the type of its elements.
    Storage(&'static Elements),
    /// An element type.
    DType(&'static Elements),
}

/// An element type of PyTorch.
#[derive(Debug, PartialEq)]
pub(super) struct Elements {
    /// Its name: `float32`.
    pub name: &'static str,
    /// The class of its storages; newer types have none.
    storage: &'static str,
    /// Bytes of an element.
    pub size: usize,
    /// The engine's type, if it has it.
    pub dtype: Option<DType>,
}

const fn elements(
    name: &'static str,
    storage: &'static str,
    size: usize,
    dtype: Option<DType>,
) -> Elements {
    Elements { name, storage, size, dtype }
}

/// The bytes of a storage without a type.
static UNTYPED: Elements = elements("uint8", "UntypedStorage", 1, Some(DType::U8));

static ELEMENTS: [Elements; 21] = [
    elements("float64", "DoubleStorage", 8, Some(DType::F64)),
    elements("float32", "FloatStorage", 4, Some(DType::F32)),
    elements("float16", "HalfStorage", 2, Some(DType::F16)),
    elements("bfloat16", "BFloat16Storage", 2, Some(DType::BF16)),
    elements("int64", "LongStorage", 8, Some(DType::I64)),
    elements("int32", "IntStorage", 4, Some(DType::I32)),
    elements("uint8", "ByteStorage", 1, Some(DType::U8)),
    elements("bool", "BoolStorage", 1, Some(DType::Bool)),
    // Read as far as their sizes go, so that the other tensors of the file can be loaded.
    elements("int16", "ShortStorage", 2, None),
    elements("int8", "CharStorage", 1, None),
    elements("uint16", "", 2, None),
    elements("uint32", "", 4, None),
    elements("uint64", "", 8, None),
    elements("complex32", "", 4, None),
    elements("complex64", "ComplexFloatStorage", 8, None),
    elements("complex128", "ComplexDoubleStorage", 16, None),
    elements("float8_e4m3fn", "", 1, None),
    elements("float8_e4m3fnuz", "", 1, None),
    elements("float8_e5m2", "", 1, None),
    elements("float8_e5m2fnuz", "", 1, None),
    elements("float8_e8m0fnu", "", 1, None),
];

impl Global {
    /// What a name stands for, if it is one of the list.
    pub fn find(module: &str, name: &str) -> Option<Global> {
        Some(match (module, name) {
            ("collections", "OrderedDict") => Global::OrderedDict,
            ("collections", "Counter") | ("torch", "Size" | "device") => Global::Holds,
            // Protocol 2 calls `builtins` by its name in Python 2.
            ("builtins" | "__builtin__", "set" | "frozenset" | "bytearray" | "complex") => {
                Global::Holds
            }
            ("_codecs", "encode") => Global::Encode,
            ("torch._utils", "_rebuild_tensor_v2") => Global::RebuildTensor,
            ("torch._utils", "_rebuild_tensor_v3") => Global::RebuildTyped,
            ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => {
                Global::RebuildParameter
            }
            ("torch._tensor", "_rebuild_from_type_v2") => Global::RebuildFromType,
            ("torch", "Tensor") => Global::Tensor,
            ("torch.storage", "UntypedStorage") => Global::Storage(&UNTYPED),
            ("torch" | "torch.cuda", name) => return of_torch(name),
            _ => return None,
        })
    }
}

fn of_torch(name: &str) -> Option<Global> {
    let storage = ELEMENTS.iter().find(|elements| elements.storage == name && !name.is_empty());
    let dtype = || ELEMENTS.iter().find(|elements| elements.name == name);
    storage.map(Global::Storage).or_else(|| dtype().map(Global::DType))
}
