//! A requested tiling, to measure arrays as if they had it.

use tilewright_core::{Error, ParseError};

use crate::{ArrayShape, Layout, PrimitiveType, Tile, TileDim, text};

/// The bits of the words in which packed rows are stored side by side.
const WORD: u64 = 32;

/// Tiles for arrays of any rank, or a layout for the arrays of one rank.
///
/// Written as the properties of a layout, `T(8,128)`, it keeps the order of each array's dims and replaces its tiles. A
/// single tile of two extents is applied as TPUs do:
///
/// | array | layout |
/// |---|---|
/// | at least 32 bits, at least two dims | `T(8,128)` |
/// | 16 bits | `T(8,128)(2,1)`: two rows share a word |
/// | 8 bits | `T(8,128)(4,1)` |
/// | 4, 2, 1 bits, except `pred` | packed: `T(8,128)(8,1)E(4)`; never more rows than the tile has |
/// | one dim | `T(1024)`, for 16 bits `T(1024)(128)(2,1)`: the whole tile in a row |
/// | no dims | unchanged |
///
/// Any other tiles, such as `T(8,128)(2,1)`, are applied as written. A layout with an order, `{0,1:T(8,128)}`, is
/// applied as written to the arrays of its rank; others are unchanged.
///
/// ```
/// use tilewright_xla::{ArrayShape, Tiling};
/// let tiling = Tiling::parse("T(8,128)").unwrap();
/// let tiled = |text: &str| tiling.apply(&ArrayShape::parse(text).unwrap()).unwrap().to_string();
/// assert_eq!(tiled("f32[8,100,3]{1,2,0}"), "f32[8,100,3]{1,2,0:T(8,128)}");
/// assert_eq!(tiled("bf16[20,200]"), "bf16[20,200]{1,0:T(8,128)(2,1)}");
/// assert_eq!(tiled("s4[20,200]"), "s4[20,200]{1,0:T(8,128)(8,1)E(4)}");
/// assert_eq!(tiled("bf16[300]{0}"), "bf16[300]{0:T(1024)(128)(2,1)}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    layout: Layout,
    /// Set if the tiling has an order, and therefore a rank.
    ordered: bool,
}

impl Tiling {
    /// Reads `T(8,128)`, any other properties of a layout, or a whole layout.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::Tiling;
    /// let text = "T(8,0)";
    /// let error = Tiling::parse(text).unwrap_err();
    /// assert_eq!((error.span(), error.to_string().as_str()), ((4, 5), "extent 0 of dim 1 of a tile; an extent is 1 to 2^63 - 1"));
    /// ```
    pub fn parse(text: &str) -> Result<Tiling, ParseError> {
        let ordered = text.trim_start().starts_with('{');
        let read = if ordered { text::layout } else { text::layout_properties };
        Ok(Tiling { layout: text::whole(text, read)?, ordered })
    }

    /// Returns the array with its layout replaced.
    ///
    /// # Errors
    /// Those of [`ArrayShape::element_bits`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Tiling};
    /// let apply = |tiling, array| {
    ///     let tiling = Tiling::parse(tiling).unwrap();
    ///     tiling.apply(&ArrayShape::parse(array).unwrap()).map(|array| array.to_string())
    /// };
    /// // A tile keeps the order of each array; a layout applies to arrays of its rank.
    /// assert_eq!(apply("T(8,128)", "f32[9,200]{0,1}").unwrap(), "f32[9,200]{0,1:T(8,128)}");
    /// assert_eq!(apply("{0,1:T(4,4)}", "f32[9,9]{1,0}").unwrap(), "f32[9,9]{0,1:T(4,4)}");
    /// assert_eq!(apply("{0,1:T(4,4)}", "f32[9]{0}").unwrap(), "f32[9]{0}");
    /// ```
    pub fn apply(&self, array: &ArrayShape) -> Result<ArrayShape, Error> {
        let rank = array.dims.len();
        let mut tiled = array.clone();
        if self.ordered {
            if self.is_for(array) {
                tiled.layout = Some(self.layout.clone());
            }
            return Ok(tiled);
        }
        let own = array.layout_or_default();
        tiled.layout = match (self.tpu(), rank) {
            (Some(_), 0) => return Ok(tiled),
            (Some(tile), _) => Some(packed(array.element_type, &own, rank, tile)?),
            (None, _) => Some(self.layout.replaced(own.minor_to_major())?),
        };
        Ok(tiled)
    }

    /// Returns whether the tiling applies to this array: a tiling with an order applies only to arrays of its rank.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Tiling};
    /// let layout = Tiling::parse("{0,1:T(8,128)}").unwrap();
    /// let is_for = |text| layout.is_for(&ArrayShape::parse(text).unwrap());
    /// assert!(is_for("f32[9,200]") && !is_for("f32[9]") && !is_for("f32[2,9,200]"));
    /// assert!(Tiling::parse("T(8,128)").unwrap().is_for(&ArrayShape::parse("f32[9]").unwrap()));
    /// ```
    pub fn is_for(&self, array: &ArrayShape) -> bool {
        !self.ordered || self.layout.rank() == array.dims.len()
    }

    /// Returns the extents of the tile if the tiling is a single tile of two extents.
    fn tpu(&self) -> Option<[u64; 2]> {
        let [tile] = self.layout.tiles() else { return None };
        let [TileDim::Size(rows), TileDim::Size(columns)] = *tile.dims() else { return None };
        let plain = Layout::descending(0).with_tiles(self.layout.tiles());
        (self.layout == plain).then_some([rows, columns])
    }
}

/// Returns the layout with `tile` as TPUs use it for elements of this type.
fn packed(
    element_type: PrimitiveType,
    own: &Layout,
    rank: usize,
    [rows, columns]: [u64; 2],
) -> Result<Layout, Error> {
    let layout = Layout::new(own.minor_to_major())?;
    let natural = u64::from(element_type.storage_bits().ok_or_else(crate::shape_util::no_values)?);
    let bits = element_type.bits().map_or(natural, u64::from);
    let (bits, layout) = if bits < 8 && element_type != PrimitiveType::Pred {
        (bits, layout.with_element_size_in_bits(bits)?)
    } else {
        (natural, layout)
    };
    let together = (WORD / bits.max(1)).clamp(1, rows.max(1));
    let inner = [together, 1];
    let tiles: Vec<Vec<u64>> = match (rank, together) {
        (1, 1) => vec![vec![rows.saturating_mul(columns)]],
        (1, _) => vec![vec![rows.saturating_mul(columns)], vec![columns], inner.to_vec()],
        (_, 1) => vec![vec![rows, columns]],
        _ => vec![vec![rows, columns], inner.to_vec()],
    };
    let tiles: Result<Vec<Tile>, Error> = tiles.iter().map(|sizes| Tile::sizes(sizes)).collect();
    Ok(layout.with_tiles(&tiles?))
}
