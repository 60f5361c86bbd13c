//! Progress on a terminal, and the interrupt key.

use std::{
    io::IsTerminal as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressStyle};
use tilewright::files::Watch;

/// A progress bar (bytes, rate, time left) and a flag that the interrupt key sets.
pub(crate) struct Bar {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl Bar {
    /// A bar on stderr, hidden by `quiet` and where stderr is no terminal.
    pub(crate) fn new(quiet: bool) -> Bar {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let bar = if hidden { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let template = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        // Where no handler can be set, the signal ends the program as it always did.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
        Bar { bar, interrupted }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Bar {
    fn total(&self, bytes: u64) {
        self.bar.set_length(bytes);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn cancelled(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
