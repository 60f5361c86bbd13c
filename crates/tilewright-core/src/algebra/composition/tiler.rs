//! Composition by mode: a tiler per axis.
//!
//! Law: axis i of the result is `Aᵢ ∘ Tᵢ`, where `Aᵢ` is axis i of A alone; an axis without a tiler, or
//! with [`Tiler::Keep`], stays as it is. Offset and swizzle of A stay; the tilers' offsets add to it.
//!
//! Source: CUTLASS `include/cute/layout.hpp` (`composition` with a tuple).

use crate::{
    Error, Layout, Swizzle,
    algebra::{build::Builder, walk::Node},
    macros::tri,
};

/// What one axis is composed with.
///
/// Source of the notion: CuTe's by-mode tilers, CUTLASS `include/cute/layout.hpp` (`is_tiler`).
///
/// ```
/// use tilewright_core::{Layout, Tiler};
/// let layout = Layout::parse("(6,8):(8,1)").unwrap();
/// // Every second row, four columns.
/// let rows = Layout::parse("3:2").unwrap();
/// let part = layout.composition_tiler(&[Tiler::Layout(&rows), Tiler::Extent(4)]).unwrap();
/// assert_eq!(part.to_string(), "(3,4):(16,1)");
/// let kept = layout.composition_tiler(&[Tiler::Keep, Tiler::Extent(4)]).unwrap();
/// assert_eq!(kept.to_string(), "(6,4):(8,1)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiler<'a> {
    /// This layout.
    Layout(&'a Layout),
    /// `n:1`: the first n coordinates.
    Extent(u64),
    /// CuTe's `_`: all of the axis, as it is.
    Keep,
}

impl Layout {
    /// Each axis composed with a tiler of its own. Fewer tilers than axes leave the rest as they are.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for more tilers than axes; else as [`Layout::composition`], whose
    /// numbers then are those of the axis alone.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let a = Layout::parse("(12,(4,8)):(59,(13,1))").unwrap();
    /// let by_shape = a.composition_tiler(&[Tiler::Extent(3), Tiler::Extent(8)]).unwrap();
    /// assert_eq!(by_shape.to_string(), "(3,(4,2)):(59,(13,1))");
    /// assert!(a.composition_tiler(&[Tiler::Keep; 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "composition")]
    pub const fn composition_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        let rank = self.rank();
        if tilers.len() > rank {
            return Err(Error::mismatch(
                "{} tilers for {} axes",
                [tilers.len() as i128, rank as i128],
                "give one tiler per axis at most",
            ));
        }
        let (mut builder, mut offset, mut axis) = (Builder::new(), self.offset() as i128, 0);
        builder.open();
        while axis < rank {
            let part = tri!(self.alone(axis));
            let tiled = if axis < tilers.len() { tri!(part.tiled(tilers[axis])) } else { part };
            tri!(builder.whole(&tiled));
            // At most 33 offsets of 64 bits.
            offset += tiled.offset() as i128;
            axis += 1;
        }
        tri!(builder.close());
        if offset > i64::MAX as i128 || offset < i64::MIN as i128 {
            return Err(Error::overflow(
                "the tilers' offsets add up to {}",
                [offset],
                "offsets stay below 2^63",
            ));
        }
        builder.layout(offset as i64, self.swizzle())
    }

    /// One axis without offset and swizzle.
    const fn alone(&self, axis: usize) -> Result<Layout, Error> {
        let node = tri!(Node::at(self.profile(), &[axis]));
        let mut builder = Builder::new();
        tri!(builder.node(self.modes(), self.profile(), node));
        builder.layout(0, Swizzle::IDENTITY)
    }

    const fn tiled(self, tiler: Tiler<'_>) -> Result<Layout, Error> {
        match tiler {
            Tiler::Layout(layout) => self.composition(layout),
            Tiler::Extent(extent) => self.composition(&tri!(Layout::line(extent))),
            Tiler::Keep => Ok(self),
        }
    }

    /// `n:1`.
    const fn line(extent: u64) -> Result<Layout, Error> {
        Layout::new(&[crate::Mode::new(extent, 1)], &crate::Profile::LEAF, 0, Swizzle::IDENTITY)
    }
}
