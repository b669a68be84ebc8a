//! A plain model of a device's memory: a vector for each allocation.

/// Memory as a list of blocks; the address of each is what the device gave.
#[derive(Default)]
pub struct SlowMemory {
    pub blocks: Vec<(u64, Vec<u8>)>,
}

impl SlowMemory {
    /// The bytes of a range if one block holds them all.
    pub fn range(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        self.blocks.iter_mut().find_map(|(start, block)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            block.get_mut(offset..offset.checked_add(bytes)?)
        })
    }

    /// Bytes that the blocks take up, in units of 512.
    pub fn taken(&self) -> u64 {
        self.blocks.iter().map(|(_, block)| block.len().div_ceil(512) as u64 * 512).sum()
    }
}
