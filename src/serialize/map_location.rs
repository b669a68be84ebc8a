//! Where the tensors of a file go: to the device that they were saved from, or to another one.

use std::collections::BTreeMap;
use std::path::Path;

use crate::device::{Device, sim};
use crate::error::{Error, Quoted};

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
    /// The device for a tensor that was saved from `saved`, a name as PyTorch writes it; or a
    /// sentence on why there is none.
    pub(crate) fn place(&self, saved: &str) -> Result<Device, String> {
        let device = match self {
            MapLocation::Device(device) => *device,
            MapLocation::Saved => known(saved)?,
            MapLocation::Table(table) => {
                let row = table.iter().find(|(name, _)| is_same(name, saved));
                row.map_or_else(|| known(saved), |&(_, device)| Ok(device))?
            }
        };
        match device {
            Device::Cpu => Ok(device),
            Device::Sim(n) if n < sim::MAX_DEVICES => Ok(device),
            Device::Sim(_) => {
                Err(format!("{device} is not here: there are {} of them", sim::MAX_DEVICES))
            }
            Device::Cuda(n) => {
                Device::cuda(n).map_err(|error| format!("{device} is not here: {error}"))
            }
        }
    }
}

fn known(saved: &str) -> Result<Device, String> {
    saved.parse().map_err(|_| format!("{} is no device that the engine knows", Quoted(saved)))
}

/// Whether two names are those of one device: `cuda` is `cuda:0`.
fn is_same(a: &str, b: &str) -> bool {
    let device = |name: &str| name.parse::<Device>().ok();
    a == b || (device(a).is_some() && device(a) == device(b))
}

/// How many names a message lists.
const LISTED: usize = 10;

/// The device for each tensor: `saved` has their names and the devices that they were saved from.
///
/// # Errors
/// Every device that is not here with the tensors that would go to it, and what to do.
pub(super) fn place_all<'a>(
    path: &Path,
    map_location: &MapLocation,
    saved: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Device>, Error> {
    let mut places: BTreeMap<&str, Result<Device, String>> = BTreeMap::new();
    let mut absent: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut devices = Vec::new();
    for (name, device) in saved {
        match places.entry(device).or_insert_with(|| map_location.place(device)) {
            Ok(device) => devices.push(*device),
            Err(why) => absent.entry(why.clone()).or_default().push(name),
        }
    }
    if absent.is_empty() {
        return Ok(devices);
    }
    let absent: Vec<String> = absent
        .iter()
        .map(|(why, names)| format!("{} cannot be placed: {why}", listed(names)))
        .collect();
    let message = format!(
        "{}; pass MapLocation::Device(Device::Cpu) as map_location, or a table from the devices of \
         the file to those that are here",
        absent.join("; ")
    );
    Err(Error::file(path, message))
}

/// The first names and how many more there are.
pub(super) fn listed(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(LISTED).map(|name| Quoted(name).to_string()).collect();
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tensors = if names.len() == 1 { "tensor" } else { "tensors" };
    format!("{tensors} {}{more}", shown.join(", "))
}
