//! A change of a layout that may remove bank conflicts: a swizzle of the offsets, or unused elements after each row.

use std::fmt;

use tilewright_core::{Error, Layout, Mode, Swizzle, TensorLayout};

/// A change of the offsets of a layout; it replaces the layout's swizzle.
///
/// ```
/// use tilewright_banks::Change;
/// use tilewright_core::Swizzle;
/// let swizzle = Change::Swizzle(Swizzle::new(5, 0, 5).unwrap());
/// assert_eq!((swizzle.apply(33), swizzle.to_string()), (32, "Sw<5,0,5>".into()));
/// let padding = Change::Padding { row: 32, by: 1 };
/// assert_eq!((padding.apply(64), padding.to_string()), (66, "padding of 1 behind each 32".into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A swizzle of the offsets; the identity changes nothing.
    Swizzle(Swizzle),
    /// Unused elements after each row; both numbers count elements.
    Padding {
        /// The elements of a row.
        row: u64,
        /// The number of unused elements after each row.
        by: u64,
    },
}

impl Change {
    /// Returns the changed offset of an element.
    ///
    /// ```
    /// use tilewright_banks::Change;
    /// let padding = Change::Padding { row: 8, by: 2 };
    /// assert_eq!([7, 8, 17].map(|offset| padding.apply(offset)), [7, 10, 21]);
    /// ```
    pub const fn apply(&self, offset: u64) -> u64 {
        match self {
            Change::Swizzle(swizzle) => swizzle.apply(offset),
            Change::Padding { row, by } => {
                let rows = match offset.checked_div(*row) {
                    Some(rows) => rows,
                    None => 0,
                };
                offset.saturating_add(rows.saturating_mul(*by))
            }
        }
    }

    /// Returns the changed layout. The change replaces the swizzle that the layout has.
    ///
    /// # Errors
    /// Errors of the core, such as offsets that overflow.
    ///
    /// ```
    /// use tilewright_banks::Change;
    /// use tilewright_core::TensorLayout;
    /// let padded = Change::Padding { row: 32, by: 1 }.layout(&TensorLayout::row_major(&[32, 32])?)?;
    /// assert_eq!(padded.layout().to_string(), "(32,32):(33,1)");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn layout(&self, tensor: &TensorLayout) -> Result<TensorLayout, Error> {
        let changed = match *self {
            Change::Swizzle(swizzle) => tensor.layout().with_swizzle(swizzle)?,
            Change::Padding { row, by } => padded(tensor.layout(), row, by)?,
        };
        let used = u64::try_from(changed.cosize()).unwrap_or(0);
        let capacity = match self {
            Change::Swizzle(_) => tensor.capacity().max(used),
            Change::Padding { .. } => used,
        };
        TensorLayout::with_steps(tensor.extents(), tensor.steps(), &changed, capacity)
    }
}

/// Returns the layout with `by` unused elements after each `row` elements.
fn padded(layout: &Layout, row: u64, by: u64) -> Result<Layout, Error> {
    let longer = |mode: &Mode| {
        let stride = mode.stride().unsigned_abs();
        let rows = stride.checked_div(row).unwrap_or(0);
        let more = i64::try_from(rows.saturating_mul(by)).unwrap_or(i64::MAX);
        Mode::new(mode.extent(), mode.stride().saturating_add(more))
    };
    let modes: Vec<Mode> = layout.modes().iter().map(longer).collect();
    Layout::new(&modes, layout.profile(), layout.offset(), Swizzle::IDENTITY)
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Swizzle(swizzle) if swizzle.is_identity() => f.write_str("no swizzle"),
            Change::Swizzle(swizzle) => write!(f, "{swizzle}"),
            Change::Padding { row, by } => write!(f, "padding of {by} behind each {row}"),
        }
    }
}
