//! Random numbers that are the same on every system: Philox 4x32-10, a counter-based generator.
//!
//! The numbers are a function of the seed and a counter alone, so a generator's whole state is two
//! integers, and any number can be computed without the ones before it: that is why GPUs use it.
//! Source: J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

use std::cell::RefCell;

/// A stream of random numbers with an explicit seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    state: GeneratorState,
    /// The four numbers of which the last one drawn is part.
    block: [u32; 4],
}

/// All that a stream is: write these two numbers down, and it goes on from there anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratorState {
    /// Which stream.
    pub seed: u64,
    /// How many 32-bit numbers have been drawn from it.
    pub drawn: u64,
}

impl Generator {
    /// The stream that belongs to `seed`, from its beginning.
    pub fn new(seed: u64) -> Generator {
        Generator::from_state(GeneratorState { seed, drawn: 0 })
    }

    /// A stream from where [`state`](Generator::state) was taken.
    pub fn from_state(state: GeneratorState) -> Generator {
        Generator { state, block: philox(state.seed, state.drawn / 4) }
    }

    /// Where the stream is.
    pub fn state(&self) -> GeneratorState {
        self.state
    }

    /// Goes on as if `count` 32-bit numbers had been drawn: another device has.
    pub fn skip(&mut self, count: u64) {
        let GeneratorState { seed, drawn } = self.state;
        *self = Generator::from_state(GeneratorState { seed, drawn: drawn + count });
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        let place = (self.state.drawn % 4) as usize;
        if place == 0 {
            self.block = philox(self.state.seed, self.state.drawn / 4);
        }
        self.state.drawn += 1;
        self.block[place]
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴, so that every value is an exact `f32`.
    pub fn uniform(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// Normal with mean 0 and variance 1, by Box and Muller's transform computed in `f64`. The
    /// logarithm and the cosine come from a crate: those of the C library differ between systems.
    pub fn normal(&mut self) -> f32 {
        let bits = (self.next_u32(), self.next_u32());
        // Shifted by a half so that the logarithm never sees 0.
        let [u, v] = [bits.0, bits.1].map(|bits| (bits as f64 + 0.5) / (1u64 << 32) as f64);
        ((-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v)) as f32
    }

    /// Uniform in 0..n.
    ///
    /// # Panics
    /// If `n` is 0 or more than 2³².
    pub fn below(&mut self, n: usize) -> usize {
        assert!((1..=1 << 32).contains(&(n as u64)), "below({n}): n must be 1 to 2^32");
        // The product's upper half is biased by at most n / 2³²: too little to matter here.
        ((self.next_u32() as u64 * n as u64) >> 32) as usize
    }

    /// The numbers 0..n in random order (Fisher and Yates' shuffle).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// Ten rounds of the Philox bijection on the counter, keyed by the seed.
fn philox(seed: u64, counter: u64) -> [u32; 4] {
    let mut x = [counter as u32, (counter >> 32) as u32, 0, 0];
    let mut key = [seed as u32, (seed >> 32) as u32];
    for _ in 0..10 {
        let low = x[0] as u64 * 0xD251_1F53;
        let high = x[2] as u64 * 0xCD9E_8D57;
        x = [
            (high >> 32) as u32 ^ x[1] ^ key[0],
            high as u32,
            (low >> 32) as u32 ^ x[3] ^ key[1],
            low as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    x
}

thread_local! {
    /// What layers draw from that draw in their forward pass. A thread's numbers must not depend on
    /// what other threads draw meanwhile, so each has its own.
    static DEFAULT: RefCell<Generator> = RefCell::new(Generator::new(0));
}

/// Starts this thread's default generator anew. Until then, every thread's has the seed 0.
pub fn manual_seed(seed: u64) {
    DEFAULT.set(Generator::new(seed));
}

/// Runs `f` with this thread's default generator.
///
/// # Panics
/// If `f` asks for the default generator in turn: it would draw the same numbers twice.
pub fn with_default<T>(f: impl FnOnce(&mut Generator) -> T) -> T {
    DEFAULT.with(|generator| {
        let lent = generator.try_borrow_mut();
        f(&mut lent.expect("the default generator is lent already, by with_default"))
    })
}

/// Where this thread's default generator is: what a checkpoint keeps of it.
pub fn get_state() -> GeneratorState {
    with_default(|generator| generator.state())
}

/// Puts this thread's default generator where [`get_state`] found one.
pub fn set_state(state: GeneratorState) {
    with_default(|generator| *generator = Generator::from_state(state));
}
