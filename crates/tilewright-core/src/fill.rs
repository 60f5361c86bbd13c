//! What padding holds.

/// The value promised for storage elements that hold no logical element.
///
/// The bit pattern of `One`, `Lowest` and `Highest` depends on the element type, which this crate does
/// not know; whoever writes padding asks the type for it.
///
/// Source of all but `Bits`: XLA's `xla_data.proto` until 2018, `PaddingValue`.
///
/// ```
/// use tilewright_core::Fill;
/// assert_eq!(Fill::default(), Fill::Unspecified);
/// assert!(!Fill::Unspecified.is_promised() && Fill::Zero.is_promised());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Nothing is promised; written as zero.
    #[default]
    Unspecified,
    /// Zero.
    Zero,
    /// One.
    One,
    /// The lowest value of the type (for reductions by maximum): −∞ where the type has it.
    Lowest,
    /// The highest value of the type (for reductions by minimum): +∞ where the type has it.
    Highest,
    /// Promised to be arbitrary (XLA's `UNKNOWN_PAD`); written as zero.
    Unknown,
    /// This bit pattern, in the low bits.
    Bits(u128),
}

impl Fill {
    /// Whether a reader may rely on the value.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// // A reduction over a padded row may run over zeros, but not over what is merely written.
    /// assert!(Fill::Zero.is_promised() && Fill::Bits(0x7fc0).is_promised());
    /// assert!(!Fill::Unspecified.is_promised() && !Fill::Unknown.is_promised());
    /// ```
    pub const fn is_promised(self) -> bool {
        match self {
            Fill::Unspecified | Fill::Unknown => false,
            Fill::Zero | Fill::One | Fill::Lowest | Fill::Highest | Fill::Bits(_) => true,
        }
    }
}
