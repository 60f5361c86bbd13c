//! Operations by mode: each axis has its own tiler, and the results are combined in one of several forms.
//!
//! Law: axis i of the result is `Aᵢ ⋆ Tᵢ`, where `Aᵢ` is axis i of A alone and ⋆ is the operation. An axis without a
//! tiler, or with [`Tiler::Keep`], is unchanged; [`Tiler::Modes`] applies the same law to the modes within the axis. The
//! offset and swizzle of A are kept, and the offsets of the tilers add to the offset. In the gathered forms, the first parts
//! of all axes come before their second parts: tiles before rests, blocks before copies. An axis without a tiler is a second
//! part.
//!
//! Source: CUTLASS `include/cute/layout.hpp` (`transform_layout`, `tile_unzip`).

use crate::{
    Error, Layout, MAX_DEPTH, Mode, Profile, Swizzle,
    algebra::nested::walk::{Builder, ProfileNode},
    const_fn::tri,
};

/// The operand for one axis: the axis is composed with it, divided by it or multiplied with it.
///
/// Source: CuTe's by-mode tilers, CUTLASS `include/cute/layout.hpp` (`is_tiler`).
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
/// // The modes within an axis, each by its own tiler.
/// let nested = Layout::parse("((2,6),8):((1,2),12)").unwrap();
/// let inner = [Tiler::Keep, Tiler::Extent(3)];
/// let part = nested.composition_tiler(&[Tiler::Modes(&inner), Tiler::Extent(4)]).unwrap();
/// assert_eq!(part.to_string(), "((2,3),4):((1,2),12)");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiler<'a> {
    /// A layout.
    Layout(&'a Layout),
    /// The layout `n:1`: the first n coordinates.
    Extent(u64),
    /// CuTe's `_`: the whole axis, unchanged.
    Keep,
    /// A tiler for each mode within the axis.
    Modes(&'a [Tiler<'a>]),
}

/// The operation that combines an axis with its tiler.
#[derive(Clone, Copy)]
pub(crate) enum ModeOperation {
    Compose,
    /// Divides into (tile, rest).
    Divide,
    /// Divides into (tile, rest), rounded up to whole tiles.
    DivideUp,
    /// Multiplies into (block, copies).
    Multiply,
}

/// The arrangement of the first and second parts of several axes.
#[derive(Clone, Copy)]
pub(crate) enum Arrangement {
    Zipped,
    Tiled,
    Flat,
}

impl ModeOperation {
    const fn of(self, axis: &Layout, tile: &Layout) -> Result<Layout, Error> {
        tri!(check_plain(tile));
        match self {
            ModeOperation::Compose => axis.composition(tile),
            ModeOperation::Divide => axis.logical_divide(tile),
            ModeOperation::DivideUp => axis.divide_up(tile),
            ModeOperation::Multiply => axis.logical_product(tile),
        }
    }

    /// Returns which half an axis that is kept belongs to; the other half has `1:0` for it.
    const fn keeps_in(self) -> usize {
        match self {
            ModeOperation::Multiply => 0,
            ModeOperation::Compose | ModeOperation::Divide | ModeOperation::DivideUp => 1,
        }
    }
}

impl Layout {
    /// Composes each axis with its own tiler. If there are fewer tilers than axes, the other axes are unchanged.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for more tilers than axes; otherwise those of [`Layout::composition`], whose
    /// numbers then refer to the axis alone.
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
        by_mode(self, tilers, ModeOperation::Compose)
    }
}

/// Combines each axis with its tiler and keeps the order of the axes.
pub(crate) const fn by_mode(
    layout: &Layout,
    tilers: &[Tiler<'_>],
    operation: ModeOperation,
) -> Result<Layout, Error> {
    let mut builder = Builder::new();
    let offset = tri!(in_place(&mut builder, layout, tilers, operation, 1));
    finished(&builder, layout, offset)
}

/// Arranges all first parts before all second parts.
pub(crate) const fn gathered(
    layout: &Layout,
    tilers: &[Tiler<'_>],
    operation: ModeOperation,
    form: Arrangement,
) -> Result<Layout, Error> {
    let brackets = match form {
        Arrangement::Zipped => [true, true],
        Arrangement::Tiled => [true, false],
        Arrangement::Flat => [false, false],
    };
    let (mut builder, mut offset, mut which) = (Builder::new(), 0, 0);
    builder.open();
    while which < 2 {
        if brackets[which] {
            builder.open();
        }
        offset = tri!(half(&mut builder, layout, tilers, (operation, which), 1));
        if brackets[which] {
            tri!(builder.close());
        }
        which += 1;
    }
    tri!(builder.close());
    finished(&builder, layout, offset)
}

const fn finished(builder: &Builder, layout: &Layout, added: i128) -> Result<Layout, Error> {
    let offset = layout.offset() as i128 + added;
    if offset > i64::MAX as i128 || offset < i64::MIN as i128 {
        return Err(Error::overflow(
            "the tilers' offsets add up to {}",
            [offset],
            "offsets must stay below 2^63",
        ));
    }
    builder.layout(offset as i64, layout.swizzle())
}

/// Appends the result of every axis in one bracket; returns the sum of the tilers' offsets.
const fn in_place(
    builder: &mut Builder,
    layout: &Layout,
    tilers: &[Tiler<'_>],
    operation: ModeOperation,
    depth: usize,
) -> Result<i128, Error> {
    tri!(check(layout, tilers, depth));
    // At most MAX_MODES offsets of 64 bits each.
    let (mut offset, mut axis) = (0, 0);
    builder.open();
    while axis < layout.rank() {
        let part = tri!(alone(layout, axis));
        match tiler(tilers, axis) {
            Tiler::Keep => tri!(builder.whole(&part)),
            Tiler::Modes(inner) => {
                offset += tri!(in_place(builder, &part, inner, operation, depth + 1));
            }
            Tiler::Layout(tile) => offset += tri!(result(builder, operation, &part, tile)),
            Tiler::Extent(extent) => {
                offset += tri!(result(builder, operation, &part, &tri!(line(extent))));
            }
        }
        axis += 1;
    }
    tri!(builder.close());
    Ok(offset)
}

const fn result(
    builder: &mut Builder,
    operation: ModeOperation,
    part: &Layout,
    tile: &Layout,
) -> Result<i128, Error> {
    let result = tri!(operation.of(part, tile));
    tri!(builder.whole(&result));
    Ok(result.offset() as i128)
}

/// Appends the first or second part of every axis; returns the sum of the tilers' offsets.
const fn half(
    builder: &mut Builder,
    layout: &Layout,
    tilers: &[Tiler<'_>],
    (operation, which): (ModeOperation, usize),
    depth: usize,
) -> Result<i128, Error> {
    tri!(check(layout, tilers, depth));
    let (mut offset, mut axis) = (0, 0);
    while axis < layout.rank() {
        let part = tri!(alone(layout, axis));
        let tile = match tiler(tilers, axis) {
            Tiler::Layout(tile) => tile.copied(),
            Tiler::Extent(extent) => tri!(line(extent)),
            Tiler::Modes(inner) => {
                builder.open();
                offset += tri!(half(builder, &part, inner, (operation, which), depth + 1));
                tri!(builder.close());
                axis += 1;
                continue;
            }
            Tiler::Keep => {
                let tiled = axis < tilers.len();
                if which == if tiled { operation.keeps_in() } else { 1 } {
                    tri!(builder.whole(&part));
                } else if tiled {
                    tri!(builder.leaf(Mode::new(1, 0)));
                }
                axis += 1;
                continue;
            }
        };
        let both = tri!(operation.of(&part, &tile));
        tri!(builder.whole(&tri!(both.get(&[which]))));
        offset += both.offset() as i128;
        axis += 1;
    }
    Ok(offset)
}

/// Returns the tiler of an axis; an axis without one is kept.
const fn tiler<'a>(tilers: &[Tiler<'a>], axis: usize) -> Tiler<'a> {
    if axis < tilers.len() { tilers[axis] } else { Tiler::Keep }
}

const fn check(layout: &Layout, tilers: &[Tiler<'_>], depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::limit(
            "tilers nested more than {} deep",
            [MAX_DEPTH as i128],
            "nest a tiler no deeper than its layout",
        ));
    }
    if tilers.len() > layout.rank() {
        return Err(Error::mismatch(
            "more tilers than axes: {} for {}",
            [tilers.len() as i128, layout.rank() as i128],
            "give one tiler per axis at most",
        ));
    }
    Ok(())
}

/// Refuses a tiler with a swizzle: its part of the result would need its own swizzle.
pub(crate) const fn check_plain(tile: &Layout) -> Result<(), Error> {
    if tile.swizzle().is_identity() {
        return Ok(());
    }
    Err(Error::unsupported(
        "a tiler under a swizzle of {} bits above the lowest {}",
        tile.swizzle().numbers(),
        "tile with the plain layout, and put the swizzle outside",
    ))
}

/// Returns one axis without offset and swizzle.
pub(crate) const fn alone(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    let node = tri!(ProfileNode::at(layout.profile(), &[axis]));
    let mut builder = Builder::new();
    tri!(builder.node(layout.modes(), layout.profile(), node));
    builder.layout(0, Swizzle::IDENTITY)
}

/// Returns `n:1`.
const fn line(extent: u64) -> Result<Layout, Error> {
    Layout::new(&[Mode::new(extent, 1)], &Profile::LEAF, 0, Swizzle::IDENTITY)
}
