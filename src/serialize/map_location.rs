//! Where the tensors of a file go: to the device that they were saved from, or to another one.

use crate::device::{Device, sim};

/// Where the tensors of a file go (PyTorch's `map_location`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapLocation {
    /// To the device from which each was saved.
    Saved,
    /// All to one device.
    Device(Device),
    /// By the name of the device from which each was saved, as PyTorch writes it: `cuda:0`. What
    /// the table does not name goes to where it was saved from.
    Table(Vec<(String, Device)>),
}

impl MapLocation {
    /// The device for a tensor that was saved from `saved`, or what stands in the way: such a
    /// device is not here. `saved` is a name as PyTorch writes it.
    pub(crate) fn place(&self, saved: &str) -> Result<Device, String> {
        let device = match self {
            MapLocation::Device(device) => *device,
            MapLocation::Saved => saved.parse()?,
            MapLocation::Table(table) => {
                let row = table.iter().find(|(name, _)| name == saved);
                row.map_or_else(|| saved.parse(), |&(_, device)| Ok(device))?
            }
        };
        match device {
            Device::Cpu => Ok(device),
            Device::Sim(n) if n < sim::MAX_DEVICES => Ok(device),
            Device::Sim(_) => Err(format!("there are {} simulated GPUs", sim::MAX_DEVICES)),
            Device::Cuda(n) => Device::cuda(n).map_err(|error| error.to_string()),
        }
    }
}
