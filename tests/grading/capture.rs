//! Collects what a child prints, without ever waiting for it.

use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How many bytes of the beginning and of the end of a stream are kept.
const KEPT: usize = 32 << 10;

/// A stream that a thread is reading. The thread is never joined: a grandchild of the learner's
/// making may hold the other end open for ever.
pub(crate) struct Capture(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: usize,
    done: bool,
}

impl Capture {
    pub(crate) fn of(stream: Option<impl Read + Send + 'static>) -> Capture {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let shared = Arc::clone(&kept);
        match stream {
            Some(stream) => drop(std::thread::spawn(move || read_all(stream, &shared))),
            None => with(&kept, |kept| kept.done = true),
        }
        Capture(kept)
    }

    /// The text so far; waits up to `patience` for the stream to end.
    pub(crate) fn text(&self, patience: Duration) -> String {
        let until = Instant::now() + patience;
        while !with(&self.0, |kept| kept.done) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        with(&self.0, |kept| {
            let left_out = kept.total - kept.head.len() - kept.tail.len();
            let mut text = String::from_utf8_lossy(&kept.head).into_owned();
            if left_out > 0 {
                text += &format!("\n({left_out} bytes left out)\n");
            }
            text + &String::from_utf8_lossy(&kept.tail)
        })
    }
}

fn read_all(mut stream: impl Read, kept: &Mutex<Kept>) {
    let mut chunk = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut chunk) {
        with(kept, |kept| kept.push(&chunk[..count]));
    }
    with(kept, |kept| kept.done = true);
}

fn with<T>(kept: &Mutex<Kept>, work: impl FnOnce(&mut Kept) -> T) -> T {
    work(&mut kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let (head, tail) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
    }
}
