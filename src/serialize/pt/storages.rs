//! Storages and the tensors over them: what the pickle says, compared with what the archive holds.

use std::fmt;

use crate::error::Quoted;
use crate::layout::Layout;
use crate::serialize::pt::globals::{Elements, Global};
use crate::serialize::pt::unpickler::{Id, Node, Unpickled};
use crate::shape::{Dims, MAX_DIMS};

/// A storage as the pickle names it. The tensors that are views of one another name the same.
#[derive(Debug, PartialEq)]
pub(super) struct SavedStorage {
    /// Its entry in the archive is `data/` and this.
    pub key: String,
    /// The device that it was saved from: `cuda:0`.
    pub location: String,
    pub elements: &'static Elements,
    /// How many elements it has.
    pub numel: i64,
}

impl SavedStorage {
    /// Its bytes; `None` if they could not be counted.
    pub fn bytes(&self) -> Option<u64> {
        u64::try_from(self.numel).ok()?.checked_mul(self.elements.size as u64)
    }

    /// Compares what the pickle says with the entry of the archive.
    pub fn expect_bytes(&self, stored: Option<u64>) -> Result<(), String> {
        let Some(stored) = stored else {
            return Err(format!("the pickle names {self}, which is not in the archive"));
        };
        match self.bytes() {
            Some(bytes) if bytes == stored => Ok(()),
            _ => Err(format!("the pickle names {self}, and the archive has {stored} bytes of it")),
        }
    }
}

impl fmt::Display for SavedStorage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (key, location) = (Quoted(&self.key), Quoted(&self.location));
        let (numel, elements) = (self.numel, self.elements.name);
        write!(f, "storage {key} of {numel} {elements} on {location}")
    }
}

/// A tensor as the pickle says it is, compared with its storage.
pub(super) struct Geometry {
    /// Its place in the list of storages.
    pub storage: u32,
    pub elements: &'static Elements,
    pub layout: Layout,
}

impl Unpickled {
    fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The tensor that `torch._utils._rebuild_tensor_v2` makes of these arguments: storage, offset,
    /// sizes, strides, requires_grad, hooks, and then, for version 3, the type of the elements,
    /// and for some the flags of a tensor that is not computed yet.
    pub fn geometry(&self, arguments: Id) -> Result<Geometry, String> {
        let Node::Tuple(given) = self.node(arguments) else {
            return Err("the arguments of a tensor are a tuple".to_string());
        };
        let &[storage, offset, sizes, strides, _, _, ref more @ ..] = &given[..] else {
            return Err(format!("a tensor has 6 arguments or more, not {}", given.len()));
        };
        let &Node::Storage(storage) = self.node(storage) else {
            return Err(format!("a tensor lies in a storage, not {}", self.node(storage).kind()));
        };
        let saved = &self.storages[storage as usize];
        let (elements, flags) = match more.first().map(|&id| (self.node(id), &more[1..])) {
            Some((&Node::Global(Global::DType(elements)), flags)) => (elements, flags),
            _ => (saved.elements, more),
        };
        self.expect_no_flags(flags)?;
        let (sizes, strides) = (self.dims(sizes)?, self.dims(strides)?);
        let offset = self.size(offset)?;
        let room = saved.bytes().unwrap_or(0) as usize / elements.size;
        let layout = layout_within(&sizes, &strides, offset, room).ok_or_else(|| {
            format!(
                "a tensor of sizes {sizes:?} and strides {strides:?} from element {offset} on \
                 does not lie in {saved}; it is damaged"
            )
        })?;
        Ok(Geometry { storage, elements, layout })
    }

    fn expect_no_flags(&self, flags: &[Id]) -> Result<(), String> {
        let plain = flags.iter().all(|&id| match self.node(id) {
            Node::None => true,
            Node::Dict { entries, .. } => entries.is_empty(),
            _ => false,
        });
        let advice = "a tensor is conjugated or negated, which its numbers do not show yet; call \
                      resolve_conj().resolve_neg() on it before it is saved";
        plain.then_some(()).ok_or_else(|| advice.to_string())
    }

    fn dims(&self, id: Id) -> Result<Dims, String> {
        let Node::Tuple(sizes) = self.node(id) else {
            return Err(format!("sizes and strides are tuples, not {}", self.node(id).kind()));
        };
        let rank = sizes.len();
        let many = || format!("a tensor has {rank} dimensions, and the engine at most {MAX_DIMS}");
        let mut dims = Dims::try_new(&[0; MAX_DIMS]).expect("it is as many as fit").first(0);
        for &size in sizes.get(..rank.min(MAX_DIMS + 1)).unwrap_or_default() {
            dims = Dims::try_new(&[&dims[..], &[self.size(size)?]].concat()).ok_or_else(many)?;
        }
        Ok(dims)
    }

    fn size(&self, id: Id) -> Result<usize, String> {
        match self.node(id) {
            &Node::Int(size) if size >= 0 => Ok(size as usize),
            Node::Int(size) => Err(format!("a size, stride or offset is {size}, below 0")),
            Node::Long => Err("a size, stride or offset has more than 64 bits".to_string()),
            other => Err(format!("a size, stride or offset is {}", other.kind())),
        }
    }
}

/// The layout, if all its elements lie in a storage of `room` elements.
///
/// An empty tensor has none, but must not begin beyond the end either. Strides that are never used
/// can be any number in a file; they are cut down, so that nobody's products with them overflow.
fn layout_within(sizes: &Dims, strides: &Dims, offset: usize, room: usize) -> Option<Layout> {
    // Sizes beside a 0 count too: without it, a part of such a tensor would have as many elements.
    let mut counted = *sizes;
    counted.iter_mut().for_each(|size| *size = (*size).max(1));
    counted.checked_numel()?;
    let mut used = *strides;
    used.iter_mut().for_each(|stride| *stride = (*stride).min(room));
    let mut steps = sizes.iter().zip(strides.iter());
    let fits = match sizes.contains(&0) {
        true => offset <= room,
        false => {
            let last = steps.try_fold(offset, |at, (size, stride)| {
                at.checked_add((size - 1).checked_mul(*stride)?)
            });
            last? < room
        }
    };
    (fits && sizes.len() == strides.len()).then(|| Layout::strided(*sizes, used, offset))
}
