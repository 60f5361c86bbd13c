//! A layout of an array without index tables, with its name and what is known of its elements.

use tilewright_core::{ByteOrder, Dtype, Fill, TensorLayout};

use crate::{
    Quantised,
    words::{self, Words},
};

/// The error for words of big-endian elements: words have one order of bytes.
pub(crate) const BIG_WORDS: &str =
    "words that hold elements are little-endian; make a big-endian array little-endian first";

/// A resolved SPEC: a [`TensorLayout`], the name it was given, and the facts about its elements that
/// are not part of the map.
///
/// ```
/// use tilewright_notation::Spec;
/// let named = Spec::parse("s4[3,5]{1,0:T(2,2)E(4)}").unwrap().resolve(None, None).unwrap();
/// assert_eq!(named.layout().offset(&[2, 3]), Ok(17));
/// assert_eq!(named.dtype().unwrap().name(), "s4");
/// assert_eq!((named.element_bits(), named.explicit_bits()), (Some(4), Some(4)));
/// assert_eq!(named.to_spec(), "s4[3,5]{1,0:T(2,2)E(4)}");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedLayout {
    /// The text of the SPEC; empty as long as a dialect makes the value.
    pub(crate) name: String,
    pub(crate) layout: TensorLayout,
    /// The extents of the storage, where the notation gives them.
    pub(crate) storage: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    pub(crate) bits: Option<u32>,
    pub(crate) fill: Fill,
    pub(crate) bare: bool,
    pub(crate) order: Option<ByteOrder>,
    /// The dims of the storage as an array of words has them, in elements, where the notation gives them: for words that are
    /// applied to the layout, and gone after that.
    pub(crate) words_dims: Option<Vec<u64>>,
    /// The words that the storage is spelled as for others.
    pub(crate) words: Option<Words>,
    /// The quantisation that it presumes, for formats of quantised weights.
    pub(crate) quantised: Option<&'static Quantised>,
}

impl ResolvedLayout {
    /// A layout under a name: the text of the SPEC it came from, or any other.
    ///
    /// `bits` is the stored width of an element where it is not the whole bytes of its dtype.
    ///
    /// ```
    /// use tilewright_core::{Fill, TensorLayout};
    /// use tilewright_notation::{ResolvedLayout, dtype};
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let named = ResolvedLayout::new("col-major", layout, dtype("f32").ok(), None, Fill::Zero);
    /// assert_eq!(named.to_spec(), "f32[2,3]fill(0) col-major");
    /// assert_eq!(named.element_bits(), Some(32));
    /// ```
    pub fn new(
        name: impl Into<String>,
        layout: TensorLayout,
        dtype: Option<Dtype>,
        bits: Option<u32>,
        fill: Fill,
    ) -> ResolvedLayout {
        ResolvedLayout {
            name: name.into(),
            layout,
            storage: None,
            dtype,
            bits,
            fill,
            bare: false,
            order: None,
            words_dims: None,
            words: None,
            quantised: None,
        }
    }

    /// Returns the layout as a SPEC of this text has it, with the order of bytes.
    pub(crate) fn under(self, name: String, order: Option<ByteOrder>) -> ResolvedLayout {
        ResolvedLayout { name, order, words_dims: None, ..self }
    }

    /// Sets the type of the elements.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_notation::dialect::{Given, ResolvedLayout};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let resolved = ResolvedLayout::plain(layout, &Given::new(None, None)).with_dtype(Dtype::F16);
    /// # let _ = resolved;
    /// ```
    pub fn with_dtype(mut self, dtype: Dtype) -> ResolvedLayout {
        self.dtype = Some(dtype);
        self
    }

    /// Sets the stored width of the elements in bits, where that is not the whole bytes of their type.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_notation::dialect::{Given, ResolvedLayout};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let packed = ResolvedLayout::plain(layout, &Given::new(None, None)).with_bits(4);
    /// # let _ = packed;
    /// ```
    pub fn with_bits(mut self, bits: u32) -> ResolvedLayout {
        self.bits = Some(bits);
        self
    }

    /// Sets the content of padding.
    ///
    /// ```
    /// use tilewright_core::{Fill, TensorLayout};
    /// use tilewright_notation::dialect::{Given, ResolvedLayout};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let zeros = ResolvedLayout::plain(layout, &Given::new(None, None)).with_fill(Fill::Zero);
    /// # let _ = zeros;
    /// ```
    pub fn with_fill(mut self, fill: Fill) -> ResolvedLayout {
        self.fill = fill;
        self
    }

    /// Sets the type, stored width and fill; the name, layout and storage shape stay.
    /// Words that hold the elements stay where the width does.
    ///
    /// ```
    /// use tilewright_core::{Dtype, Fill};
    /// use tilewright_notation::Spec;
    /// let named = Spec::parse("f16[16,32] zN").unwrap().resolve(None, None).unwrap();
    /// let other = named.with_elements(Some(Dtype::Bf16), None, Fill::Zero);
    /// assert_eq!(other.to_spec(), "bf16[16,32]fill(0) (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0");
    /// assert_eq!(other.storage_shape(), [2, 1, 16, 16]);
    /// ```
    pub fn with_elements(
        self,
        dtype: Option<Dtype>,
        bits: Option<u32>,
        fill: Fill,
    ) -> ResolvedLayout {
        let own = self.element_bits();
        let other = ResolvedLayout { dtype, bits, fill, bare: false, ..self };
        if other.element_bits() == own { other } else { other.without_words() }
    }

    /// Sets the extents under which the array is stored, outermost first.
    ///
    /// ```
    /// use tilewright_core::{Fill, TensorLayout};
    /// use tilewright_notation::ResolvedLayout;
    /// let layout = TensorLayout::col_major(&[1, 3]).unwrap();
    /// let bare = ResolvedLayout::new("col-major", layout, None, None, Fill::Unspecified);
    /// assert_eq!(bare.storage_shape(), [1, 3]);
    /// assert_eq!(bare.with_storage(&[3, 1]).storage_shape(), [3, 1]);
    /// ```
    pub fn with_storage(mut self, extents: &[u64]) -> ResolvedLayout {
        self.storage = Some(extents.to_vec());
        self
    }

    /// Sets the byte order of the elements; `None` leaves it unknown.
    ///
    /// ```
    /// use tilewright_core::ByteOrder;
    /// use tilewright_notation::Spec;
    /// let named = Spec::parse("u32[6,5] zN").unwrap().resolve(None, None).unwrap();
    /// let big = named.with_byte_order(Some(ByteOrder::Big));
    /// assert_eq!(big.to_spec(), ">u4[6,5] zN");
    /// assert_eq!(big.with_byte_order(None).to_spec(), "u32[6,5] zN");
    /// ```
    pub fn with_byte_order(mut self, order: Option<ByteOrder>) -> ResolvedLayout {
        self.order = order;
        self
    }

    /// The order of an element's bytes, where the SPEC gives it.
    ///
    /// ```
    /// use tilewright_core::ByteOrder;
    /// use tilewright_notation::Spec;
    /// let order = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().byte_order();
    /// assert_eq!(order(">f4[3,5]{0,1}"), Some(ByteOrder::Big));
    /// assert_eq!((order("<f4[3,5]{0,1}"), order("f32[3,5]{0,1}")), (Some(ByteOrder::Little), None));
    /// ```
    pub fn byte_order(&self) -> Option<ByteOrder> {
        self.order
    }

    /// The canonical text of the SPEC.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("FRACTAL_NZ[ C0 = 16 ]").unwrap();
    /// let named = spec.resolve(Some(&[32, 32]), None).unwrap();
    /// assert_eq!(named.name(), "zN[C0=16]");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The map from the coordinates of the array to its storage.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let named = Spec::parse("zN").unwrap().resolve(Some(&[100, 30]), dtype("f16").ok()).unwrap();
    /// assert_eq!(named.layout().extents(), [100, 30]);
    /// assert_eq!(named.layout().offset(&[16, 0]), Ok(256));
    /// ```
    pub fn layout(&self) -> &TensorLayout {
        &self.layout
    }

    /// The extents of the array in memory, outermost first; their product is the capacity.
    ///
    /// Of a format, a pattern, a tag, an order and XLA's tiles these are their digits, those of extent 1 too, so that
    /// the rank follows from the text and the array's rank. A bare map, of modes or strides, has its dims where it is
    /// row-major, its dims reversed where the first is fastest, else its digits without those of extent 1. A storage
    /// that is not a box of at most 32 digits has its length.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let shape = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().storage_shape();
    /// assert_eq!(shape("f32[8,256] TPU_8x128"), [1, 2, 8, 128]);
    /// assert_eq!(shape("f32[8,256]{1,0:T(8,128)}"), [1, 2, 8, 128]);
    /// assert_eq!(shape("((8,1),(128,2)):((128,2048),(1,1024))"), [2, 8, 128]);
    /// assert_eq!((shape("(2,1,3):(3,3,1)"), shape("(4,4):(8,1)")), (vec![2, 1, 3], vec![28]));
    /// ```
    pub fn storage_shape(&self) -> Vec<u64> {
        match &self.storage {
            Some(extents) => words::checked(extents, self.layout.capacity()),
            None => words::of_map(&self.layout),
        }
    }

    /// The words that the storage is spelled as for others: their type and shape; `None` where
    /// it is spelled as the elements are.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let words = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().stored_as().cloned();
    /// assert_eq!(words("u4[16,64] AWQ as s32").unwrap().to_string(), "s32[16,8]");
    /// assert_eq!(words("u4[16,64] AWQ"), None);
    /// ```
    pub fn stored_as(&self) -> Option<&Words> {
        self.words.as_ref()
    }

    /// Removes the words that the storage is spelled as.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let named = Spec::parse("u4[3,5] row-major as s32[2]").unwrap().resolve(None, None).unwrap();
    /// assert_eq!((named.layout().capacity(), named.to_spec().as_str()), (16, "u4[3,5]E(4) row-major as s32[2]"));
    /// // The last word is not padded then.
    /// let plain = named.without_words();
    /// assert_eq!((plain.layout().capacity(), plain.to_spec().as_str()), (15, "u4[3,5]E(4) row-major"));
    /// ```
    pub fn without_words(mut self) -> ResolvedLayout {
        let Some(words) = self.words.take() else { return self };
        // A capacity that the layout had.
        if let Ok(layout) = self.layout.with_capacity(words.capacity) {
            self.layout = layout;
        }
        self
    }

    /// The last part of the name of a tensor beside this one that lists the group of each row, where the format has
    /// one: rows that are not in the order of their groups want an index table.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let table = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().row_table();
    /// assert_eq!((table("u4[64,8] GPTQ"), table("u4[64,8] AWQ")), (Some("g_idx"), None));
    /// ```
    pub fn row_table(&self) -> Option<&'static str> {
        self.quantised?.row_table
    }

    /// Returns the quantisation that the format presumes; `None` for formats that hold no quantised weights.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    /// assert_eq!(named("u4[64,8] GPTQ").quantised().unwrap().zeros, Some("qzeros"));
    /// assert!(named("u4[64,8] col-major").quantised().is_none());
    /// ```
    pub fn quantised(&self) -> Option<&'static Quantised> {
        self.quantised
    }

    /// Returns whether the notation gives the storage shape.
    pub(crate) fn says_storage(&self) -> bool {
        self.storage.is_some()
    }

    /// The element type, where it is known.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let dtype = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().dtype();
    /// assert_eq!(dtype("bf16[3,5]{0,1}"), Some(Dtype::Bf16));
    /// assert_eq!(dtype("(3,5):(1,3)"), None);
    /// ```
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// The stored width of an element in bits: that of the layout if it gives one, else the whole bytes of the
    /// dtype; `None` where neither is known, and for elements in blocks, which do not have a width.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let bits = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().element_bits();
    /// // Four bits in a byte of their own, or packed.
    /// assert_eq!((bits("s4[8]{0}"), bits("s4[8]{0:E(4)}")), (Some(8), Some(4)));
    /// assert_eq!(bits("8:1"), None);
    /// ```
    pub fn element_bits(&self) -> Option<u32> {
        self.bits.or_else(|| self.dtype?.storage_bits())
    }

    /// The stored width of an element, where the layout itself gives it (HLO's `E(4)`).
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let bits = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().explicit_bits();
    /// assert_eq!((bits("pred[8]{0:E(32)}"), bits("pred[8]{0}")), (Some(32), None));
    /// ```
    pub fn explicit_bits(&self) -> Option<u32> {
        self.bits
    }

    /// The content of padding.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_notation::Spec;
    /// let fill = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().fill();
    /// assert_eq!(fill("f32[2,3]{0,1}pad(3,5)fill(0)"), Fill::Zero);
    /// assert_eq!(fill("f32[3,5]{1,0:T(2,2)}"), Fill::Unspecified);
    /// ```
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// Returns whether this is a CuTe layout alone, without extents of its own or a dtype, so that an integer
    /// coordinate counts colexicographically.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let bare = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().is_bare();
    /// assert!(bare("(4,8):(8,1)"));
    /// assert!(!bare("(4,8):(8,1) valid (3,8)") && !bare("f32[4,8] (4,8):(8,1)"));
    /// ```
    pub fn is_bare(&self) -> bool {
        self.bare
    }
}
