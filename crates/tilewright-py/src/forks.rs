//! Processes that fork, as Python's do.
//!
//! A child has none of its parent's threads, and a plan of its parent would wait for them for ever. So a child makes
//! its own plans, and never uses the threads that all plans of a process share.

use std::sync::atomic::{AtomicU32, Ordering};

use tilewright::relayout::Plan;

/// How many forks lie between this process and the one that loaded the module.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Counts a fork: called in a child, before anything else.
pub(crate) fn count() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Which process this is.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// The threads for a run: those asked for, or one per core.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    match asked {
        Some(threads) if threads > 0 => threads,
        // The threads that are shared are lost to a child.
        _ if generation() > 0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => 0,
    }
}

/// A plan that was made in this generation, its threads being this process's own.
pub(crate) fn own(plan: &Plan, made: u32) -> Plan {
    match made == generation() {
        true => plan.clone(),
        // A changed copy of a plan starts its own threads.
        false => plan.clone().with_min_range(1 << 14),
    }
}
