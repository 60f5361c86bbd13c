//! The steps of a block: reads and writes of registers.

/// Registers that are read into the scratch buffer, after the exchanges of the highest bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadStep {
    /// The bytes from the block's first byte.
    pub(crate) src: i64,
    /// The bytes from the start of the scratch buffer to the position of the first register.
    pub(crate) to: usize,
}

/// Registers that are written to the destination, after the exchanges of the lower bits of their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteStep {
    /// The bytes from the start of the scratch buffer, or from the block's first byte if registers are read directly
    /// from the source.
    pub(crate) from: i64,
    /// The bytes from the block's first byte.
    pub(crate) dst: i64,
}
