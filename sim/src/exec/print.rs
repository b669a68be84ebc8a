//! What a kernel says in words: `printf` and failed assertions.
//!
//! Both are functions of the CUDA runtime (CUDA C++ Programming Guide, "Formatted Output" and
//! "Assertion"), called like any other: `vprintf(format, arguments)` with the addresses of a text
//! and of a buffer; `__assertfail(message, file, line, function, character size)`.

use crate::decode::code::{Call, Carrier, Space};

use super::access::Site;
use super::core::Core;
use super::lanes::lanes_of;
use super::report::Kind;
use super::warp::Warp;
use super::{call, format};

/// What a block can print in bytes; the rest is dropped.
const MOST_PRINTED: usize = 1 << 20;

/// The longest text that is read.
const MOST_TEXT: usize = 4096;

/// Prints for each lane, lowest first, and gives it the number of arguments.
pub(super) fn printf(core: &mut Core, warp: &mut Warp, site: Site, call: &Call, on: u32) {
    let arguments = arguments(warp, site, call);
    let argument = |i: usize, lane: usize| arguments.get(i).map_or(0, |values| values[lane]);
    let mut printed = [0; 32];
    for lane in lanes_of(on) {
        let text = core.text(warp, site, lane, argument(0, lane));
        let buffer = argument(1, lane);
        let mut source = Buffer { core, warp, site, lane, at: buffer };
        let line = format::format(&text, &mut source);
        printed[lane] = line.arguments;
        let room = MOST_PRINTED.saturating_sub(core.here.stdout.len());
        core.here.stdout.extend(&line.text[..line.text.len().min(room)]);
    }
    if let Some(result) = call.results.first() {
        call::put(warp, result, site.base, &[printed], on);
    }
}

/// Reports a failed assertion.
pub(super) fn assertion(core: &mut Core, warp: &mut Warp, site: Site, call: &Call, on: u32) {
    let arguments = arguments(warp, site, call);
    let lane = on.trailing_zeros() as usize;
    let argument = |i: usize| arguments.get(i).map_or(0, |values| values[lane]);
    let text = |core: &Core, i: usize| {
        String::from_utf8_lossy(&core.text(warp, site, lane, argument(i))).into_owned()
    };
    let line = argument(2) as u32;
    core.report(Kind::Assert, site.pc, (warp.number, on), None, |core| {
        let (message, file, function) = (text(core, 0), text(core, 1), text(core, 3));
        format!("{file}:{line}: {function}: assertion `{message}` failed")
    });
}

fn arguments(warp: &Warp, site: Site, call: &Call) -> Vec<[u64; 32]> {
    let first = |from: &Carrier| call::take(warp, from, site.base).first().copied();
    call.arguments.iter().map(|from| first(from).unwrap_or([0; 32])).collect()
}

/// The arguments of one lane's `printf`, in memory like a structure's members.
struct Buffer<'a, 'm> {
    core: &'a Core<'m>,
    warp: &'a Warp,
    site: Site,
    lane: usize,
    at: u64,
}

impl format::Source for Buffer<'_, '_> {
    fn next(&mut self, bytes: u64) -> u64 {
        let at = self.at.next_multiple_of(bytes);
        self.at = at.wrapping_add(bytes);
        let mut word = [0; 8];
        for (i, byte) in word.iter_mut().enumerate().take(bytes as usize) {
            let at = at.wrapping_add(i as u64);
            *byte = self.core.byte(self.warp, self.site, self.lane, at).unwrap_or(0);
        }
        u64::from_le_bytes(word)
    }

    fn text(&self, at: u64) -> Vec<u8> {
        self.core.text(self.warp, self.site, self.lane, at)
    }
}

impl Core<'_> {
    /// A byte at a generic address, as a lane sees it.
    fn byte(&self, warp: &Warp, site: Site, lane: usize, at: u64) -> Option<u8> {
        let (space, address) = Space::Generic.of(at);
        let (cells, base, address) =
            self.locate((&warp.local, warp.local_bytes), site, (space, address, lane), 1)?;
        let offset = usize::try_from(address - base).ok()?;
        (offset < cells.len()).then(|| cells.load(offset))
    }

    /// A text that ends with a zero.
    fn text(&self, warp: &Warp, site: Site, lane: usize, at: u64) -> Vec<u8> {
        let bytes = (0..MOST_TEXT as u64).map(|i| self.byte(warp, site, lane, at.wrapping_add(i)));
        bytes.map_while(|byte| byte.filter(|byte| *byte != 0)).collect()
    }
}
