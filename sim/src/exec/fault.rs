//! What is wrong with an access to memory, in words.

use crate::decode::code::{Access, Space};

use super::access::{Act, Site};
use super::core::Core;
use super::report::Kind;

impl Core<'_> {
    /// What is wrong with an access, in words.
    pub fn fault<A: Act>(&self, access: &Access, at: u64, site: Site) -> (Kind, String) {
        let size = u64::from(access.bytes * access.count);
        let article = if A::NAME.starts_with('a') { "an" } else { "a" };
        let name = format!("{article} {}", A::NAME);
        let (space, inner) = access.space.of(at);
        if !inner.is_multiple_of(size) {
            let say = format!(
                "{name} of {size} bytes at {at:#x}, which is no multiple of {size}: {} \
                 beyond one",
                inner % size
            );
            return (Kind::Misaligned, say);
        }
        let (kind, say) = match space {
            Space::Shared => {
                let has = self.here.shared.len();
                let say = format!("shared memory at {inner:#x}: the block has {has} bytes");
                (Kind::OutOfBounds, say)
            }
            Space::Local => {
                let has = site.top;
                let say = format!("local memory at {inner:#x}: the thread has {has} bytes");
                (Kind::OutOfBounds, say)
            }
            Space::Param => {
                let has = self.params.len();
                (Kind::OutOfBounds, format!("parameters at {inner:#x}: there are {has} bytes"))
            }
            Space::Constant => {
                let near = self.memory.near(at, size);
                (Kind::OutOfBounds, format!("constant memory at {at:#x}: {near}"))
            }
            _ => self.global_fault(at, size),
        };
        (kind, format!("{name} of {size} bytes of {say}"))
    }

    fn global_fault(&self, at: u64, size: u64) -> (Kind, String) {
        if let Some(freed) = self.memory.freed(at)
            && self.memory.find(at).is_none()
        {
            let (start, bytes, into) = (freed.start, freed.end - freed.start, at - freed.start);
            let say = format!(
                "global memory at {at:#x}: it was freed; it is {into} bytes into {bytes} bytes \
                 that were allocated at {start:#x}"
            );
            return (Kind::UseAfterFree, say);
        }
        let null = if at < 1 << 16 { " (a null pointer)" } else { "" };
        let near = self.memory.near(at, size);
        (Kind::OutOfBounds, format!("global memory at {at:#x}{null}: {near}"))
    }
}
