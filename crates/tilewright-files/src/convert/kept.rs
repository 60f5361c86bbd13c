//! Bytes of a remote tensor that were read to be summed, and are moved afterwards: each byte is requested once if the tensor fits
//! into half of the memory. The queue makes one for each tensor; the last piece of work that uses it frees it.
//!
//! Law: bytes from here equal those of the source. A worker that moves waits only for workers that took earlier work.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::{
    Error,
    convert::budget::{Budget, Buffer},
    open::origin::Origin,
};

/// The kept bytes of one tensor.
#[derive(Debug)]
pub(crate) struct Kept {
    budget: Budget,
    state: Mutex<State>,
    summed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of windows that are being read.
    pending: u64,
    /// Positions in the file, and bytes, sorted.
    windows: Vec<(u64, Buffer)>,
}

/// A window that a worker will read. The wait for it ends when it is dropped, also if it is not read because a worker has failed.
pub(crate) struct Pending(Arc<Kept>);

impl Pending {
    pub(crate) fn of(kept: &Arc<Kept>) -> Pending {
        kept.state().pending += 1;
        Pending(kept.clone())
    }

    pub(crate) fn kept(&self) -> &Kept {
        &self.0
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.state().pending -= 1;
        self.0.summed.notify_all();
    }
}

impl Kept {
    pub(crate) fn new(budget: Budget) -> Kept {
        Kept { budget, state: Mutex::default(), summed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a buffer for a window, if there is memory for it.
    pub(crate) fn buffer(&self, len: u64) -> Option<Buffer> {
        self.budget.buffer(len).ok()
    }

    /// Keeps a window at this position of the file.
    pub(crate) fn keep(&self, at: u64, window: Buffer) {
        let windows = &mut self.state().windows;
        let place = windows.partition_point(|(other, _)| *other < at);
        windows.insert(place, (at, window));
    }

    /// Fills `bytes` from byte `at` of the file: from the windows, else from the source.
    pub(crate) fn read(&self, source: Origin<'_>, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let waiting = |state: &mut State| state.pending > 0;
        let waited = self.summed.wait_while(self.state(), waiting);
        let missing = filled(&waited.unwrap_or_else(PoisonError::into_inner).windows, bytes, at);
        for (from, to) in missing {
            if let Some(bytes) = bytes.get_mut(from..to) {
                source.read(bytes, at + from as u64)?;
            }
        }
        Ok(())
    }
}

/// Fills `bytes` from windows; returns the ranges of it that no window has.
fn filled(windows: &[(u64, Buffer)], bytes: &mut [u8], at: u64) -> Vec<(usize, usize)> {
    let (end, mut next, mut missing) = (at + bytes.len() as u64, at, Vec::new());
    for (from, window) in windows {
        let to = from + window.len() as u64;
        let (low, high) = (next.max(*from), end.min(to));
        if low >= high {
            continue;
        }
        if next < low {
            missing.push(((next - at) as usize, (low - at) as usize));
        }
        let own = window.get((low - from) as usize..(high - from) as usize);
        let room = bytes.get_mut((low - at) as usize..(high - at) as usize);
        if let (Some(own), Some(room)) = (own, room) {
            room.copy_from_slice(own);
        }
        next = high;
    }
    if next < end {
        missing.push(((next - at) as usize, bytes.len()));
    }
    missing
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn bytes_are_those_of_the_source_wherever_windows_lie() {
        let source: Vec<u8> = (0..200).map(|byte| byte as u8).collect();
        let origin = Origin::Memory(&source, Path::new("out"));
        for starts in [&[][..], &[0], &[20, 60, 40], &[10, 90, 50]] {
            let kept = Kept::new(Budget::new(1000));
            for start in starts {
                let mut window = kept.buffer(20).unwrap();
                window.copy_from_slice(&source[*start as usize..*start as usize + 20]);
                kept.keep(*start, window);
            }
            for (from, to) in [(0, 200), (25, 65), (30, 31), (100, 100), (95, 120)] {
                let mut bytes = vec![0; to - from];
                kept.read(origin, &mut bytes, from as u64).unwrap();
                assert_eq!(bytes, source[from..to], "{starts:?}");
            }
        }
    }

    #[test]
    fn a_reader_waits_for_windows_that_are_being_read() {
        let kept = Arc::new(Kept::new(Budget::new(1000)));
        let pending = Pending::of(&kept);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut bytes = [0; 2];
                // The source is too short: the bytes must come from the window.
                let origin = Origin::Memory(&[], Path::new("out"));
                kept.read(origin, &mut bytes, 5).map(|()| bytes)
            });
            let mut window = kept.buffer(4).unwrap();
            window.copy_from_slice(&[1, 2, 3, 4]);
            pending.kept().keep(4, window);
            drop(pending);
            assert_eq!(reader.join().unwrap().unwrap(), [2, 3]);
        });
    }
}
