//! A progress bar for training, on a terminal only.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::LabArgs;

/// A bar on standard error. It shows nothing where that is not a terminal, or with `--json`.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A lab's bar of so many steps.
    pub fn new(args: &LabArgs, label: &'static str, steps: u64) -> Progress {
        Progress::shown(!args.json, label, steps)
    }

    /// A bar of so many steps, hidden unless it is to be shown and there is a terminal to show it.
    pub fn shown(show: bool, label: &'static str, steps: u64) -> Progress {
        let target = match show {
            true => ProgressDrawTarget::stderr_with_hz(10),
            false => ProgressDrawTarget::hidden(),
        };
        let template = "{prefix} [{bar:30}] {pos}/{len} {elapsed} {msg}";
        let style = ProgressStyle::with_template(template).expect("a template we wrote");
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(label);
        Progress { bar }
    }

    /// One step is done; `message` is shown behind the bar (a loss, the bytes held).
    pub fn step(&self, message: impl Into<Cow<'static, str>>) {
        self.bar.set_message(message);
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    /// Takes the bar away, also when a step fails, so that the result stands alone.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
