//! Support for processes that fork, as Python's do.
//!
//! A child has none of its parent's threads, and a plan of its parent would wait for them forever. So a child makes its own
//! plans, and never uses the thread pool that all plans of a process share.

use std::sync::atomic::{AtomicU32, Ordering};

use tilewright::relayout::Plan;

/// The number of forks between the process that loaded the module and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Counts a fork; called in a child before anything else.
pub(crate) fn count() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of forks that led to this process.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns the number of threads for a run: the requested number, or one per core.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    match asked {
        Some(threads) if threads > 0 => threads,
        // The shared thread pool does not exist in a child.
        _ if generation() > 0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => 0,
    }
}

/// Returns a plan for this process: the given one if it was made in this generation, else a copy with its own threads.
pub(crate) fn own(plan: &Plan, made: u32) -> Plan {
    match made == generation() {
        true => plan.clone(),
        // A modified copy of a plan starts its own threads.
        false => plan.clone().with_min_range(1 << 14),
    }
}
