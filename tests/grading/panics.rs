//! Panics of learner code: recorded silently, and turned into words.

use std::any::Any;
use std::cell::RefCell;

use engine_room::{Error, Misuse};

use crate::record::{self, Record};
use crate::salvage;

/// The payload of `exercise!("3.1")`: nothing is written here yet.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished(pub &'static str);

/// What [`exercise!`](crate::exercise) calls; its type fits every return type.
pub fn unfinished(id: &'static str) -> ! {
    std::panic::panic_any(Unfinished(id))
}

thread_local! {
    /// Where the last panic of this thread happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Replaces the runtime's message and backtrace by a line in the verdict file.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let location = info.location();
        let place =
            location.map_or_else(String::new, |at| place(at.file(), &at.line().to_string()));
        PLACE.with(|last| last.borrow_mut().clone_from(&place));
        record::write(&Record::Panicked { message: message(info.payload()), place });
    }));
}

/// Where the panic with this payload, this thread's last one, happened; nothing if that place is in
/// the standard library.
pub(crate) fn place_of(payload: &(dyn Any + Send)) -> String {
    // The engine prints a misuse itself, before this hook, and says where it was.
    match payload.downcast_ref::<Misuse>().and_then(|misuse| misuse.at.rsplit_once(':')) {
        Some((file, line)) => place(file, line),
        None => PLACE.with(|last| last.borrow().clone()),
    }
}

/// The panic's message, whoever raised it.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(Unfinished(id)) = payload.downcast_ref() {
        return format!("exercise!(\"{id}\") was reached");
    }
    if let Some(misuse) = payload.downcast_ref::<Misuse>() {
        return misuse.to_string();
    }
    if let Some(error) = payload.downcast_ref::<Error>() {
        return error.to_string();
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

/// A place the learner can look up, `exercise.rs line 31`: their file, or the engine's source.
fn place(file: &str, line: &str) -> String {
    let file = file.replace('\\', "/");
    match file.rsplit_once("/lab-") {
        Some((_, in_lab)) => {
            let (_, name) = in_lab.rsplit_once('/').unwrap_or(("", in_lab));
            format!("{} line {line}", name.replace(salvage::FILE, "exercise.rs"))
        }
        None if file.starts_with("src/") => format!("{file} line {line}"),
        None => String::new(),
    }
}
