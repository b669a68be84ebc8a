//! What 7.3 times: kernels on a GPU that runs them while the host goes on. Its clocks are counted,
//! not read: what a call takes is written here, and two runs take the same.

/// From the end of a wait to the moment at which the host goes on.
const WAKING_NS: u64 = 5_000;
/// What putting an event into a stream takes the host.
const RECORD_NS: u64 = 1_000;
/// What the first call of a kernel takes the host besides: its code is read into the GPU.
const LOAD_NS: u64 = 400_000;
/// The longest that a launch takes the host on any GPU, with an event in front of it. The first
/// launch of a kernel is another matter.
pub const LONGEST_LAUNCH_NS: u64 = 20_000;

/// A GPU with a few streams. What one stream runs does not slow down the others.
pub struct Gpu {
    launch_ns: u64,
    host_ns: u64,
    /// When each stream is done with what it was given so far.
    streams: Vec<u64>,
}

/// A kernel, and the stream that it is launched into.
pub struct Kernel {
    stream: usize,
    /// What its calls take the GPU once it is warm, over and over.
    warm_ns: Vec<u64>,
    /// What the first one takes more, since no cache knows its numbers.
    cold_ns: u64,
    calls: usize,
}

/// A mark in a stream. It is done when all work is that was put into the stream before it.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    done_ns: u64,
}

impl Gpu {
    /// One whose launches take the host so long.
    pub fn new(launch_ns: u64, streams: usize) -> Gpu {
        Gpu { launch_ns, host_ns: 0, streams: vec![0; streams] }
    }

    /// The host's clock. Reading it takes no time, and waits for nothing.
    pub fn now_ns(&self) -> u64 {
        self.host_ns
    }

    /// Puts one call of the kernel into its stream. It runs when the launch has returned and the
    /// stream is done with what is before it.
    pub fn launch(&mut self, kernel: &mut Kernel) {
        let (load_ns, cold_ns) = if kernel.calls == 0 { (LOAD_NS, kernel.cold_ns) } else { (0, 0) };
        self.host_ns += load_ns;
        let warm_ns = kernel.warm_ns[kernel.calls % kernel.warm_ns.len()];
        kernel.calls += 1;
        self.run(kernel.stream, warm_ns + cold_ns);
    }

    /// Puts a kernel into the stream that does nothing for so long (PyTorch's `torch.cuda._sleep`).
    /// Launching it takes as long as launching any other.
    pub fn sleep(&mut self, stream: usize, ns: u64) {
        self.run(stream, ns);
    }

    fn run(&mut self, stream: usize, ns: u64) {
        self.host_ns += self.launch_ns;
        self.streams[stream] = self.streams[stream].max(self.host_ns) + ns;
    }

    /// Puts an event into the stream. The GPU writes down when it is done.
    pub fn record(&mut self, stream: usize) -> Event {
        self.host_ns += RECORD_NS;
        self.streams[stream] = self.streams[stream].max(self.host_ns);
        Event { done_ns: self.streams[stream] }
    }

    /// Waits until all streams are done with everything. The host then needs a moment to wake up.
    pub fn synchronize(&mut self) {
        let last = self.streams.iter().copied().max().unwrap_or(0);
        self.host_ns = self.host_ns.max(last) + WAKING_NS;
    }

    /// From one event to another, by the GPU's clock.
    ///
    /// # Panics
    /// If one of them is not done yet, or if `to` was done before `from`.
    pub fn elapsed_ns(&self, from: Event, to: Event) -> u64 {
        let done = from.done_ns.max(to.done_ns) <= self.host_ns;
        assert!(done, "elapsed_ns: an event is not done yet; synchronize first");
        let ns = to.done_ns.checked_sub(from.done_ns);
        ns.expect("elapsed_ns: the second event was done before the first")
    }
}

impl Kernel {
    /// One that has not been called yet. Its calls take `warm_ns`, over and over, and the first one
    /// `cold_ns` more.
    pub fn new(stream: usize, warm_ns: Vec<u64>, cold_ns: u64) -> Kernel {
        Kernel { stream, warm_ns, cold_ns, calls: 0 }
    }

    /// The stream that it is launched into.
    pub fn stream(&self) -> usize {
        self.stream
    }
}
