//! The processor time of all threads of this process.

/// Returns the seconds of processor time so far; `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Returns the seconds of processor time so far; `None` if the system does not report it.
#[cfg(not(unix))]
pub(crate) fn seconds() -> Option<f64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let before = seconds().unwrap();
        let mut sum = 0_u64;
        while seconds().unwrap() <= before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(sum < u64::MAX);
    }
}
