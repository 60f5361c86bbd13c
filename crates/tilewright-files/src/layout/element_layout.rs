//! The layout of a stored tensor with the type and width of its elements.
//!
//! Types with blocks, such as GGUF's `q4_0`, are moved in whole blocks. The layout that is shown counts elements, and the layout
//! that is moved counts blocks. If a block has n elements, element n·i + j of the last dim is j places after element n·i. So a
//! block has one place, and the offset of a block is that of its first element divided by n.

use std::sync::Arc;

use tilewright_core::{ByteOrder, Dtype, ElementBlock, Fill, Place, TensorLayout};
use tilewright_notation::{ArrayLayout, ResolvedLayout};
use tilewright_table::{TABLES, TabledLayout};

use crate::layout::{dtype, gathered::Gathered, order};

/// A layout, the type and width of its elements, and their byte order. Layouts are large, and a file may have a hundred thousand
/// tensors, so they are shared.
#[derive(Clone, Debug)]
pub(crate) struct ElementLayout {
    /// The layout of the elements, with its name.
    pub(crate) named: Arc<ResolvedLayout>,
    pub(crate) dtype: Dtype,
    /// The width of an element, or of a block of them.
    pub(crate) bits: u32,
    pub(crate) order: ByteOrder,
    /// The layout of the blocks, for a type with blocks.
    blocks: Option<Arc<TensorLayout>>,
    /// The index tables, whose storage the layout describes.
    tables: Option<Arc<Tables>>,
}

/// The index tables of a tensor, and its dense elements.
#[derive(Debug)]
struct Tables {
    gathered: Gathered,
    rows: ElementLayout,
}

impl ElementLayout {
    /// Returns the coordinate of the element at a byte, or that of the first element of its block; `None` for padding.
    pub(crate) fn coord_at(&self, byte: u64) -> Option<Vec<u64>> {
        let element = byte.saturating_mul(8) / u64::from(self.bits).max(1);
        match self.layout().locate(i64::try_from(element).unwrap_or(i64::MAX)) {
            Ok(Place::Element(coord)) => {
                let mut coord = coord.as_slice().to_vec();
                if let Some(last) = coord.last_mut() {
                    *last *= self.together().max(1);
                }
                Some(coord)
            }
            _ => None, // open set
        }
    }

    /// Returns whether data read with this layout have the same fingerprint as data read with `other`: elements of another type
    /// may have other parts, and elements of other dims have other coordinates.
    pub(crate) fn has_data_of(&self, other: &ElementLayout) -> bool {
        (self.dtype, self.order, self.dims()) == (other.dtype, other.order, other.dims())
    }

    /// Returns a layout of elements of `bits` bits; its text mentions the width if it is not that of the type.
    pub(crate) fn new(
        name: &str,
        layout: TensorLayout,
        dtype: Dtype,
        bits: u32,
        fill: Fill,
    ) -> ElementLayout {
        ElementLayout::alone(ResolvedLayout::new(name, layout, None, None, fill), dtype, bits, fill)
    }

    /// Returns the layout of elements of `bits` bits for a layout that has a name.
    fn alone(named: ResolvedLayout, dtype: Dtype, bits: u32, fill: Fill) -> ElementLayout {
        let odd = dtype.storage_bits().is_some_and(|own| own != bits);
        // The text keeps a width that was given, even if it is the type's own.
        let explicit = (odd || named.explicit_bits() == Some(bits)).then_some(bits);
        let named = named.with_elements(Some(dtype), explicit, fill).with_byte_order(None);
        let order = ByteOrder::Little;
        ElementLayout { named: Arc::new(named), dtype, bits, order, blocks: None, tables: None }
    }

    /// Returns the layout of a tensor of `len` bytes whose type has none; `None` beyond 2⁶³ − 1.
    pub(crate) fn bytes_alone(len: u64) -> Option<ElementLayout> {
        let layout = TensorLayout::row_major(&[len]).ok()?;
        Some(ElementLayout::new("row-major", layout, Dtype::U8, 8, Fill::Unspecified))
    }

    /// Returns the layout of a resolved SPEC for elements of this type and width.
    pub(crate) fn of(
        named: &ResolvedLayout,
        dtype: Dtype,
        bits: u32,
        fill: Fill,
    ) -> Result<ElementLayout, String> {
        let mut held = ElementLayout::alone(named.clone(), dtype, bits, fill);
        let Some(block) = dtype.block() else { return Ok(held) };
        if bits != block.bytes * 8 {
            let ElementBlock { bytes, elements } = block;
            return Err(format!(
                "a width of {bits} bits for elements of {dtype}, of which {elements} are a block of {bytes} bytes"
            ));
        }
        held.blocks = Some(Arc::new(of_blocks(named, u64::from(block.elements))?));
        Ok(held)
    }

    /// Returns the layout with this byte order.
    pub(crate) fn ordered(mut self, order: ByteOrder) -> Result<ElementLayout, String> {
        if order.is_big() && self.blocks.is_some() {
            return Err(format!("blocks of {} cannot have a byte order", self.dtype));
        }
        if let Some(words) = self.named.stored_as().filter(|words| words.bits() > 8)
            && order.is_big()
        {
            return Err(format!(
                "words of {} that hold elements are little-endian, and these are big-endian; make the array little-endian first",
                words.dtype()
            ));
        }
        self.order = order;
        // A text mentions the order if it is not the default.
        let wide = order.is_big() && dtype::number_bytes(self.dtype, self.bits) > 1;
        let said = wide.then_some(order);
        if self.named.byte_order() != said {
            self.named = Arc::new(ResolvedLayout::clone(&self.named).with_byte_order(said));
        }
        Ok(self)
    }

    /// Returns the layout in little-endian order.
    pub(crate) fn little(&self) -> Result<ElementLayout, String> {
        let array = self.tables().map(|tables| tables.array.clone());
        let bare = ElementLayout { tables: None, ..self.clone() }.ordered(ByteOrder::Little)?;
        array.map_or(Ok(bare.clone()), |array| bare.with_tables(&array))
    }

    /// Returns the layout with the index tables of `array`, whose storage it describes.
    pub(crate) fn with_tables(mut self, array: &ArrayLayout) -> Result<ElementLayout, String> {
        if !TABLES || !array.has_tables() {
            return Ok(self);
        }
        if self.together() > 1 {
            return Err(format!("blocks of {} cannot have index tables", self.dtype));
        }
        let gathered = Gathered::new(
            array.clone().with_stored(ResolvedLayout::clone(&self.named)),
            self.bits,
        )?;
        let (layout, fill) = (gathered.dense().clone(), Fill::Unspecified);
        let by_rows = TensorLayout::row_major(layout.extents()).is_ok_and(|rows| rows == layout);
        let name = if by_rows { "row-major" } else { "dense" };
        let rows = ElementLayout::new(name, layout, self.dtype, self.bits, fill);
        self.tables = Some(Arc::new(Tables { gathered, rows: rows.ordered(self.order)? }));
        Ok(self)
    }

    /// Returns the index tables, with the plan that gathers the dense elements.
    pub(crate) fn tables(&self) -> Option<&Gathered> {
        if TABLES { self.tables.as_ref().map(|tables| &tables.gathered) } else { None }
    }

    /// Returns the layout of the dense elements if there are index tables, else this layout.
    pub(crate) fn rows(&self) -> &ElementLayout {
        if TABLES { self.tables.as_ref().map_or(self, |tables| &tables.rows) } else { self }
    }

    /// Returns the layout of the elements with its name, and its index tables if it has any.
    pub(crate) fn array_layout(&self) -> ArrayLayout {
        match self.tables() {
            Some(tables) => tables.array.clone(),
            None => ArrayLayout::of(&self.named),
        }
    }

    /// Returns the map of the moved units, through the index tables if there are any.
    pub(crate) fn map(&self) -> TabledLayout {
        match self.tables() {
            Some(tables) => tables.array.layout().clone(),
            None => TabledLayout::of(self.layout()),
        }
    }

    /// Returns whether both are the same shared value.
    pub(crate) fn is_value_of(&self, other: &ElementLayout) -> bool {
        let tables = match (&self.tables, &other.tables) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        };
        tables && Arc::ptr_eq(&self.named, &other.named)
    }

    /// Returns whether both have the same SPEC. Equal layouts have it, which is found without a text.
    pub(crate) fn has_spec_of(&self, other: &ElementLayout) -> bool {
        let plain = self.tables.is_none() && other.tables.is_none();
        self.is_value_of(other) || plain && self.named == other.named || self.spec() == other.spec()
    }

    /// Returns one SPEC with all of the information.
    pub(crate) fn spec(&self) -> String {
        match self.tables() {
            Some(tables) => tables.array.to_spec(),
            None => self.named.to_spec(),
        }
    }

    /// Returns whether the elements are row-major and dense.
    pub(crate) fn is_row_major(&self) -> bool {
        self.tables().is_none() && order::is_row_major(&self.named)
    }

    /// Returns whether both place all elements equally, in a storage of the same size.
    pub(crate) fn places_as(&self, other: &ElementLayout) -> Result<bool, tilewright_core::Error> {
        if self.tables().is_none() && other.tables().is_none() {
            return Ok(
                self.layout() == other.layout() || self.layout().same_function(other.layout())?
            );
        }
        if self.dims() != other.dims() {
            return Ok(false);
        }
        Ok(self.map().first_difference(&other.map())?.is_none())
    }

    /// Returns the layout of the moved units: elements, or blocks of elements. With index tables it is the layout of their
    /// storage.
    pub(crate) fn layout(&self) -> &TensorLayout {
        self.blocks.as_deref().unwrap_or(self.named.layout())
    }

    /// Returns the number of elements along the last dim that are moved as one unit.
    pub(crate) fn together(&self) -> u64 {
        self.dtype.block().map_or(1, |block| u64::from(block.elements))
    }

    /// Returns the logical dims.
    pub(crate) fn dims(&self) -> &[u64] {
        match self.tables() {
            Some(tables) => tables.array.layout().extents(),
            None => self.named.layout().extents(),
        }
    }

    /// Returns the length of the storage in bytes; `None` beyond 2⁶³ − 1.
    pub(crate) fn bytes(&self) -> Option<u64> {
        bytes_of(self.layout().capacity(), self.bits)
    }

    /// Returns whether the elements end at the end of a byte, as safetensors demands.
    pub(crate) fn ends_with_a_byte(&self) -> bool {
        u128::from(self.layout().capacity()) * u128::from(self.bits) % 8 == 0
    }

    pub(crate) fn padding_bytes(&self) -> u64 {
        let padding = match self.tables() {
            Some(tables) => tables.array.layout().padding(),
            None => self.layout().padding(),
        };
        bytes_of(padding, self.bits).unwrap_or(0)
    }
}

/// Returns the layout of blocks of `n` neighbours along the last dim, if the layout keeps them together.
fn of_blocks(named: &ResolvedLayout, n: u64) -> Result<TensorLayout, String> {
    let layout = named.layout();
    let apart = || {
        format!(
            "{} splits blocks of {n} elements; a layout of {} keeps {n} neighbours of the last dim together, as row-major and `(m) (n n0:{n}) -> n m n0` do",
            named.name(),
            named.dtype().map_or("blocks".into(), |dtype| dtype.to_string()),
        )
    };
    let mut extents = layout.extents().to_vec();
    let last = extents.last_mut().ok_or_else(apart)?;
    let bare = layout.layout();
    let axis = bare.axis(layout.rank().saturating_sub(1)).unwrap_or_default();
    // Of all modes, only the innermost one of the last dim may have a stride that is not a multiple of n.
    let inner = axis.iter().find(|mode| mode.extent() > 1);
    let together = inner.is_some_and(|mode| mode.stride() == 1 && mode.extent().is_multiple_of(n));
    let within = |stride: i64| !stride.unsigned_abs().is_multiple_of(n);
    let others = bare.modes().iter().filter(|mode| mode.extent() > 1 && within(mode.stride()));
    let whole = last.is_multiple_of(n) && layout.capacity().is_multiple_of(n);
    if layout.size() > 0 && (!together || others.count() != 1 || !layout.is_strided()) || !whole {
        return Err(apart());
    }
    *last /= n;
    if layout.size() == 0 {
        return TensorLayout::row_major(&extents).map_err(|error| error.to_string());
    }
    let blocks = bare.upcast(n).map_err(|_| apart())?;
    TensorLayout::new(&extents, &blocks, layout.capacity() / n).map_err(|error| error.to_string())
}

/// Returns the default width of an element of this type in storage, or of a block of elements.
pub(crate) fn width(dtype: Dtype) -> Option<u32> {
    dtype.storage_bits().or_else(|| Some(dtype.block()?.bytes * 8))
}

/// Returns the width of a unit of a layout: of an element, or of a block of elements.
pub(crate) fn width_in(named: &ResolvedLayout) -> Option<u32> {
    named.element_bits().or_else(|| width(named.dtype()?))
}

/// Returns an error for elements that are stored in fewer bits than their values have.
pub(crate) fn check_width(dtype: Dtype, bits: u32) -> Result<(), String> {
    match dtype.bits() {
        Some(least) if bits < least => Err(format!(
            "a width of {bits} bits for elements of {dtype}, whose values have {least}; legal are {least} bits or more"
        )),
        _ => Ok(()),
    }
}

/// Returns the number of bytes of `elements` elements of `bits` bits each, rounded up; `None` beyond 2⁶³ − 1.
pub(crate) fn bytes_of(elements: u64, bits: u32) -> Option<u64> {
    let bytes = (u128::from(elements) * u128::from(bits)).div_ceil(8);
    u64::try_from(bytes).ok().filter(|bytes| *bytes <= i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use tilewright_core::Layout;
    use tilewright_notation::Spec;

    use super::*;

    /// Every layout of an array of blocks is the layout of the blocks' first elements, and the elements of a block follow each
    /// other. Every other layout is refused.
    #[test]
    fn blocks_lie_where_their_first_elements_do() {
        let texts = [
            "row-major",
            "col-major",
            "(m) (n n0:32) -> n m n0",
            "(m m0:3) (n n0:64) -> n m m0 n0",
            "(m) (n n0:16) -> n m n0",
            "(m m0:2) (n n0:32) -> m n n0 m0",
            "zN[C0=32]",
            "zN[C0=96]",
            "{1,0:T(2,64)}",
            "{0,1:T(32,2)}",
        ];
        let mut whole = 0;
        for (text, n) in texts.iter().flat_map(|text| [32, 96, 160].map(|n| (text, n))) {
            let named =
                Spec::parse(text).unwrap().resolve(Some(&[5, n]), Some(Dtype::Q4_0)).unwrap();
            let layout = named.layout();
            let at = |m, n| layout.offset(&[m, n]).unwrap();
            let together = (0..5).all(|m| {
                (0..n).all(|k| {
                    at(m, k) == at(m, k / 32 * 32) + (k % 32) as i64 && at(m, k / 32 * 32) % 32 == 0
                })
            });
            let held = ElementLayout::of(&named, Dtype::Q4_0, 144, Fill::Unspecified);
            assert_eq!(held.is_ok(), together, "{text} of {n}");
            let Ok(held) = held else { continue };
            whole += 1;
            assert_eq!(held.layout().extents(), [5, n / 32]);
            assert_eq!(held.layout().capacity() * 32, layout.capacity());
            for (m, k) in (0..5).flat_map(|m| (0..n / 32).map(move |k| (m, k))) {
                assert_eq!(held.layout().offset(&[m, k]).unwrap() * 32, at(m, k * 32), "{text}");
            }
        }
        assert!(whole > 10);
    }

    /// Checks the memory that a file of many tensors needs for each, in bytes; layouts are shared.
    #[test]
    fn a_tensor_takes_little_memory() {
        let sizes =
            [size_of::<ElementLayout>(), size_of::<crate::Tensor>(), size_of::<crate::Job>()];
        assert!(sizes[0] <= 48 && sizes[1] <= 256 && sizes[2] <= 256, "{sizes:?}");
        let held = ElementLayout::bytes_alone(100).unwrap();
        assert!(Arc::ptr_eq(&held.named, &held.clone().named));
    }

    #[test]
    fn an_array_of_no_blocks_and_a_width_of_elements_are_told() {
        let named = |dims: &[u64]| {
            Spec::parse("row-major").unwrap().resolve(Some(dims), Some(Dtype::Q4K)).unwrap()
        };
        let of = |dims: &[u64], bits| {
            ElementLayout::of(&named(dims), Dtype::Q4K, bits, Fill::Unspecified)
        };
        assert_eq!(of(&[0, 256], 1152).unwrap().layout().extents(), [0, 1]);
        assert_eq!(of(&[3, 0], 1152).unwrap().bytes(), Some(0));
        assert!(of(&[3, 256], 8).unwrap_err().contains("256 are a block of 144 bytes"));
        let bare = Layout::parse("(2,(32,2)):(32,(1,64))").unwrap();
        let named =
            ResolvedLayout::new("x", TensorLayout::of(&bare), Some(Dtype::Q8_0), None, Fill::Zero);
        assert!(
            ElementLayout::of(&named, Dtype::Q8_0, 272, Fill::Zero)
                .unwrap()
                .ordered(ByteOrder::Big)
                .is_err()
        );
    }
}
