//! One step of a block: what it reads, or what it writes.

/// Registers read into the scratch buffer, after the exchanges of the highest bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gather {
    /// Bytes from the block's first.
    pub(crate) src: i64,
    /// Bytes from the first of the scratch buffer, where the first register goes.
    pub(crate) to: usize,
}

/// Registers written to the destination, after the exchanges of the lower bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// Bytes from the first of the scratch buffer, or from the block's first where registers are read
    /// straight from the source.
    pub(crate) from: i64,
    /// Bytes from the block's first.
    pub(crate) dst: i64,
}
