//! What was compiled, read, loaded and launched: for tests, and for those who ask why a first call takes long.

/// What happened since the driver was opened.
///
/// ```
/// use tilewright_cuda::Counts;
/// assert_eq!(Counts::default().compiled, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Texts that were compiled.
    pub compiled: u64,
    /// Code that was read from disk in place of that.
    pub read: u64,
    /// Modules that were loaded.
    pub loaded: u64,
    /// Launches that were queued, or refused by the driver.
    pub launched: u64,
    /// Modules that are kept now.
    pub kept: u64,
}
