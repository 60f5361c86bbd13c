//! Progress on a terminal, and the signals that end a run.

use std::{
    io::IsTerminal as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::{consts, flag};
use tilewright::{
    files::{self, Watch},
    reshard,
};

use crate::failure::Failure;

/// Progress bar (bytes, rate, time left), with the number of the signal that asked to stop; 0 for none.
pub(crate) struct Bar {
    bar: ProgressBar,
    signal: Arc<AtomicUsize>,
}

impl Bar {
    /// Returns a bar on stderr, which is hidden with `quiet` and if stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Bar {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let bar = if hidden { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let template = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let signal = Arc::new(AtomicUsize::new(0));
        for number in caught() {
            // If no handler can be set, the signal ends the program as usual.
            let _ = flag::register_usize(number, Arc::clone(&signal), number as usize);
        }
        // Waits for requests end at once.
        #[cfg(feature = "remote")]
        files::remote::cancel_by(Arc::clone(&signal));
        Bar { bar, signal }
    }

    /// Ends the bar, and reports the signal that cancelled a run.
    pub(crate) fn outcome<T>(&self, result: Result<T, files::Error>) -> Result<T, Failure> {
        self.bar.finish_and_clear();
        result.map_err(|error| match self.signal.load(Ordering::Relaxed) {
            signal if error.is_cancelled() => {
                Failure::interrupted(signal, error.message().split_once("; ").map(|(_, left)| left))
            }
            _ => error.into(),
        })
    }

    /// Ends the bar, and reports the signal that paused a run whose finished work is kept, or its error by `failed`.
    pub(crate) fn kept<T>(
        &self,
        result: Result<T, reshard::Error>,
        failed: fn(reshard::Error) -> Failure,
    ) -> Result<T, Failure> {
        self.bar.finish_and_clear();
        result.map_err(|error| match self.signal.load(Ordering::Relaxed) {
            signal if error.kind() == "cancelled" => Failure::paused(signal, &error.to_string()),
            _ => failed(error),
        })
    }
}

/// Returns the signals that end a run, except those that were ignored when the program started (`nohup`).
fn caught() -> Vec<i32> {
    let ignored = ignored();
    let hangup = cfg!(unix) && ignored.is_some();
    let mut signals = vec![consts::SIGINT, consts::SIGTERM];
    signals.extend(hangup.then_some(HANGUP));
    let is_ignored = |signal: &i32| ignored.is_some_and(|set| set >> (signal - 1) & 1 == 1);
    signals.retain(|signal| !is_ignored(signal));
    signals
}

/// The number of the signal that a closed terminal sends.
const HANGUP: i32 = 1;

/// Returns the signals that were ignored at the start, one bit each, if the system tells.
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

impl Watch for Bar {
    fn total(&self, bytes: u64) {
        self.bar.set_length(bytes);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn cancelled(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }
}
