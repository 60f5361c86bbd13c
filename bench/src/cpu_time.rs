//! The processor time of this process, of all its threads.

/// Seconds of processor time so far; none where the system does not tell.
#[cfg(unix)]
pub(crate) fn seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Seconds of processor time so far; none where the system does not tell.
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
