//! A SPEC: the text of a layout in any notation, read.
//!
//! It may have index tables: [`Spec::array_layout`] resolves them. Any SPEC can follow a table, so a SPEC is a
//! [`StoredLayout`].

use std::{fmt, str::FromStr, sync::Arc};

use tilewright_core::{ByteOrder, Dtype, LinearLayout, Pattern};
use tilewright_table::TABLES;

use crate::{
    ArrayLayout, Error, Lists, ResolvedLayout,
    array_layout::{Rest, StoredLayout, WrittenArray},
    catalogue, dialect,
    dtype::{in_order, ordered_dims, stored_order},
    parsed_spec::{Given, ParsedSpec},
    resolved_layout::BIG_WORDS,
    tables,
    words::{self, AskedArray},
};

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// The longest text with index tables that is read, in bytes: 4 MiB, some 600,000 entries.
pub const MAX_TABLED: usize = 4 << 20;

/// A layout as written, in whatever notation; [`Spec::resolve`] gives the layout of an array.
///
/// A text is recognised by its form, or its notation is named by a prefix, `cute:`, `hlo:`, `numpy:` …,
/// which is the name of one of the [`notations`](crate::notations). A *concrete* SPEC carries its extents, a
/// *general* one needs the array's dims and, where it depends on the element, its dtype:
///
/// | SPEC | notation |
/// |---|---|
/// | `((4,2),(4,3)):((4,16),(1,32))` | CuTe and TLA, concrete |
/// | `(3,5):(1,3) valid (2,3) capacity 15` | the same with logical dims and storage length |
/// | `f32[3,5]{1,0:T(2,2)}`, `f32[2,3]{0,1}pad(3,5)fill(0)` | HLO, concrete |
/// | `{0,1:T(8,128)(2,1)}`, `{0,1}pad(3,5)fill(0)` | HLO, general |
/// | `(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0` | pattern, general |
/// | `row-major`, `col-major`, `NHWC`, `ABC->CAB`, `channels_last` | orders, general |
/// | `zN`, `zN[M0=4,C0=4]`, `NC1HWC0` | named formats, general |
/// | `aBcd16b`, `OIhw4i16o4i` | oneDNN, general |
/// | `numpy:shape=(3,5),strides=(20,4),dtype=f32` | NumPy, concrete |
/// | `torch:size=(3,5),stride=(5,1)`, `dlpack:…`, `arrow:…`, `safetensors:…`, `gguf:ne=[5,3]` | the fields of these libraries, concrete |
/// | `Layout(major_to_minor=(0, 1), tiling=((8, 128),))` | JAX, general |
/// | `memref<3x5xf32, strided<[5, 1]>>`, `affine_map<(d0, d1) -> (d1, d0)>` | MLIR, concrete and general |
/// | `linalg.pack inner_dims_pos = [0, 1] inner_tiles = [16, 16]` | MLIR, general |
/// | `std::layout_left::mapping(std::extents(3, 5))`, `layout_right_padded<8>` | C++'s mdspan, concrete and general |
/// | `rearrange('(m1 m0) n -> m1 n m0', m0=16)` | einops, general |
/// | `halide:{0,3,5},{0,5,1}` | Halide, concrete |
/// | `#ttg.blocked<{sizePerThread = [1, 8], …}>`, `#ttg.swizzled_shared<{…}>` | Triton, general |
/// | `tensor<16x32xf16, #ttg.linear<{register = [[0, 1], …], …}>>` | Triton, concrete |
/// | `{row=[5,10],column=[1,2]} -> (offset:16)` | where the bits of coordinates go, concrete |
/// | `bf16[528,200] zN`, `[8,12] col-major` | a shape before any SPEC, concrete |
/// | `>f4[528,200] zN`, `<f4[3,5]{0,1}` | the same with NumPy's code, which gives the order of an element's bytes |
/// | `u4[4096,4096] MARLIN as s32[256,8192]`, `GPTQ as s32` | any of these, its storage spelled as [words](crate::Words) |
///
/// Sources: CuTe, CUTLASS `include/cute/layout.hpp`; HLO, XLA's `xla/hlo/parser/hlo_parser.cc`; oneDNN's
/// format tags; NumPy's `ndarray.strides`, in bytes; of a named format, its
/// [`Format::source`](crate::Format::source). Patterns and the shape before a SPEC are ours.
///
/// `Display` prints the canonical text, which reads back as the same SPEC.
///
/// ```
/// use tilewright_notation::Spec;
/// let spec = Spec::parse("zN[ m0 = 4, C0 = 4 ]").unwrap();
/// assert_eq!(spec.to_string(), "zN[M0=4,C0=4]");
/// let named = spec.resolve(Some(&[8, 12]), None).unwrap();
/// assert_eq!(named.layout().layout().to_string(), "((4,2),(4,3)):((4,16),(1,32))");
///
/// let error = Spec::parse("row-mayor").unwrap_err();
/// assert!(error.to_string().contains("did you mean `row-major`?"));
/// ```
#[must_use]
#[derive(Clone)]
pub struct Spec {
    pub(crate) reading: Arc<dyn ParsedSpec>,
    pub(crate) text: Arc<str>,
    /// True if others read the text as the same layout.
    pub(crate) everywhere: bool,
    /// The text as it was written.
    written: Arc<str>,
    /// The order of an element's bytes, where the text gives it.
    order: Option<ByteOrder>,
    /// The words that the storage is spelled as for others.
    pub(crate) words: Option<AskedArray>,
    /// The canonical text without that.
    pub(crate) plain: Arc<str>,
    /// Its index tables.
    pub(crate) tables: Option<Arc<WrittenArray>>,
}

impl Spec {
    /// Reads a SPEC in any notation.
    ///
    /// # Errors
    /// [parse](Error::is_parse) with a span, [ambiguous](Error::is_ambiguous) with the readings,
    /// [limit](Error::is_limit) beyond [`MAX_TEXT`].
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// assert!(Spec::parse("f32[3,5]{1,0:T(2,2)}").is_ok());
    /// let error = Spec::parse("nz").unwrap_err();
    /// assert!(error.is_ambiguous());
    /// assert!(error.to_string().contains("`NZ`") && error.to_string().contains("`nZ`"));
    /// ```
    pub fn parse(text: &str) -> Result<Spec, Error> {
        Spec::among(text, dialect::notations())
    }

    /// Reads a SPEC in one of the notations that this crate has, and in none that was
    /// [added](crate::add_notation): for a text that is stored in a file or comes from another process, where it was
    /// written without them.
    ///
    /// # Errors
    /// As [`Spec::parse`].
    ///
    /// ```
    /// use tilewright_notation::{Error, Notation, Spec, add_notation};
    /// let none = |_: &str| Err(Error::parse((0, 1), "nothing is read"));
    /// add_notation(Notation::new("none", "no layout", none, |_| Err(Error::unsupported("no words")))).unwrap();
    /// assert_eq!(Spec::parse("none:x").unwrap_err().to_string(), "nothing is read");
    /// let error = Spec::parse_built_in("none:x").unwrap_err();
    /// assert!(error.to_string().starts_with("no notation is called `none`"));
    /// assert!(Spec::parse_built_in("f16[528,200] zN").is_ok());
    /// ```
    pub fn parse_built_in(text: &str) -> Result<Spec, Error> {
        Spec::among(text, dialect::DIALECTS)
    }

    /// Reads a SPEC by these notations.
    pub(crate) fn among(text: &str, all: dialect::All) -> Result<Spec, Error> {
        if !TABLES && (tables::begins(text) || catalogue::with_tables::is_named(text)) {
            return Err(Error::not_built("index tables", "tables"));
        }
        let most = if TABLES && tables::begins(text) { MAX_TABLED } else { MAX_TEXT };
        if text.len() > most {
            return Err(Error::limit(format!(
                "a layout of {} bytes of text; at most {most} are read",
                text.len()
            )));
        }
        let (start, trimmed) = (text.len() - text.trim_start().len(), text.trim());
        if TABLES && let Some(parts) = tables::split(trimmed) {
            let stored =
                |text: &str| -> Result<Rest, Error> { Ok(Arc::new(Spec::among(text, all)?)) };
            let written = parts.and_then(|parts| WrittenArray::read(trimmed, parts, &stored));
            return written
                .map(|written| Spec::of_tables(written, text))
                .map_err(|error| tables::shown(error.shifted(start), text));
        }
        if TABLES && let Some(found) = catalogue::with_tables::find(trimmed) {
            let stored =
                |text: &str| -> Result<Rest, Error> { Ok(Arc::new(Spec::among(text, all)?)) };
            let written =
                found.and_then(|found| WrittenArray::read_named(trimmed, &found, &stored));
            return written
                .map(|written| Spec::of_tables(written, text))
                .map_err(|error| tables::shown(error.shifted(start), text));
        }
        let marked = ordered_dims(trimmed);
        let plain = marked.as_ref().map_or(trimmed, |marked| &marked.plain);
        let (read, words) = read_spelled(plain, all).map_err(|error| {
            let span =
                error.span().map(|span| marked.as_ref().map_or(span, |it| it.as_written(span)));
            let placed = if let Some(span) = span { error.at(span) } else { error };
            placed.shifted(start).in_text(text)
        })?;
        let dialect::ReadText { reading, text: canonical, everywhere } = read;
        let (written, order) = (text.into(), marked.map(|marked| marked.order));
        let text: Arc<str> = canonical.into();
        let plain = Arc::clone(&text);
        let tables = None;
        let spec =
            Spec { reading, text, everywhere, written, order: None, words: None, plain, tables };
        let spec = match order {
            Some(order) => spec.ordered(order)?,
            None => spec,
        };
        Ok(match words {
            Some(words) => spec.spelled(words, all),
            None => spec,
        })
    }

    /// A text with index tables.
    fn of_tables(written: WrittenArray, text: &str) -> Spec {
        let tables = Arc::new(written);
        Spec {
            everywhere: ParsedSpec::is_known_everywhere(&*tables),
            reading: tables.clone(),
            text: tables.to_string().into(),
            written: text.into(),
            order: None,
            words: None,
            plain: tables.plain().into(),
            tables: Some(tables),
        }
    }

    /// Sets the byte order of the elements.
    fn ordered(mut self, order: ByteOrder) -> Result<Spec, Error> {
        let bits = self.resolve(None, None).ok().and_then(|named| named.element_bits());
        let order = stored_order(order, bits);
        let Some(text) = in_order(&self.text, order) else {
            let written = &self.written;
            let said = format!("`{written}` states an order of bytes but no layout of elements");
            return Err(Error::parse((0, written.len()), said).in_text(written));
        };
        (self.text, self.order) = (text.into(), Some(order));
        self.plain = Arc::clone(&self.text);
        Ok(self)
    }

    /// The layout of an array with these dims and this dtype. A concrete SPEC needs neither; what is
    /// given must then agree.
    ///
    /// # Errors
    /// [needs dims](Error::needs_dims), [needs dtype](Error::needs_dtype),
    /// [mismatch](Error::is_mismatch) where rank, dims or dtype disagree, and the core's refusals,
    /// [overflow](Error::is_overflow) among them.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let zn = Spec::parse("zN").unwrap();
    /// assert!(zn.resolve(None, None).unwrap_err().needs_dims());
    /// assert!(zn.resolve(Some(&[100, 100]), None).unwrap_err().needs_dtype());
    /// let named = zn.resolve(Some(&[100, 100]), Some(dtype("f16").unwrap())).unwrap();
    /// assert_eq!(named.layout().capacity(), 112 * 112);
    ///
    /// let hlo = Spec::parse("f32[3,5]{0,1}").unwrap();
    /// assert!(hlo.resolve(None, None).is_ok());
    /// let error = hlo.resolve(Some(&[5, 3]), None).unwrap_err();
    /// assert!(error.is_mismatch() && error.to_string().contains("(5,3)"));
    /// ```
    pub fn resolve(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<ResolvedLayout, Error> {
        let mut resolved = self.resolve_plain(dims, dtype)?;
        if !self.everywhere {
            // Others read another text, which gives the digits of a pattern and no other shape.
            let dims = resolved.layout.extents();
            let digits = Pattern::of(&resolved.layout).and_then(|pattern| pattern.storage(dims));
            let same = |own: &Vec<u64>| digits.is_ok_and(|digits| digits.as_slice() == own);
            resolved.storage = resolved.storage.filter(same);
        }
        if let Some(dtype) = resolved.dtype.filter(|dtype| dtype.block().is_some()) {
            // The dims count elements, and the last is whole blocks.
            dtype.packed_bytes(resolved.layout.extents())?;
        }
        if let Some(words) = &self.words {
            words.apply(&mut resolved, &self.plain)?;
            if self.order.is_some_and(ByteOrder::is_big) {
                return Err(Error::unsupported(BIG_WORDS));
            }
        }
        Ok(resolved.under(self.plain.to_string(), self.order))
    }

    /// Resolves the SPEC without words.
    pub(crate) fn resolve_plain(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<ResolvedLayout, Error> {
        let given = Given { dims, dtype };
        let mut resolved = self.reading.of_array(&given).map_err(|e| self.point(e))?;
        resolved.bits = resolved.bits.or_else(|| self.reading.packs(&given));
        Ok(resolved)
    }

    /// The width below a byte in which the elements of such an array are packed because of the name,
    /// while the text gives no width.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let bits = |text| Spec::parse(text).unwrap().packed_by_name(None, None);
    /// assert_eq!((bits("u4[3,64] AWQ"), bits("u4[3,64]E(4) AWQ")), (Some(4), None));
    /// // A format of elements of any width keeps them in bytes of their own.
    /// assert_eq!(bits("s4[64,64] zN"), None);
    /// ```
    pub fn packed_by_name(&self, dims: Option<&[u64]>, dtype: Option<Dtype>) -> Option<u32> {
        self.reading.packs(&Given { dims, dtype })
    }

    /// An overflow at the number of the text that most likely is its cause, where one is large.
    fn point(&self, error: Error) -> Error {
        match large_number(&self.written) {
            Some(span) if error.is_overflow() => error.at(span).in_text(&self.written),
            Some(_) | None => error,
        }
    }

    /// For a SPEC that spreads an array over threads, the coordinates that each place holds: from `register`,
    /// `lane`, `warp` and `block` to `dim0`, `dim1` …. `None` for a SPEC of an array in memory. A SPEC that lists
    /// bases needs no dims.
    ///
    /// # Errors
    /// As [`Spec::resolve`]; but an element may be held by several threads.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let text = "#ttg.blocked<{sizePerThread=[2], threadsPerWarp=[4], warpsPerCTA=[2], order=[0]}>";
    /// let spec = Spec::parse(text).unwrap();
    /// let map = spec.distribution(Some(&[8]), None).unwrap().unwrap();
    /// // Both warps hold all of it.
    /// assert_eq!(map.to_string(), "{register=[1],lane=[2,4],warp=[0],block=[]} -> (dim0:8)");
    /// assert!(spec.resolve(Some(&[8]), None).unwrap_err().is_unsupported());
    /// assert!(Spec::parse("row-major").unwrap().distribution(Some(&[8]), None).unwrap().is_none());
    /// ```
    pub fn distribution(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<Option<LinearLayout>, Error> {
        self.reading.distribution(&Given { dims, dtype })
    }

    /// Returns whether others read the text as the same layout.
    pub(crate) fn is_known_everywhere(&self) -> bool {
        self.everywhere
    }

    /// Returns whether the SPEC carries its extents.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// assert!(Spec::parse("(2,3):(1,2)").unwrap().is_concrete());
    /// assert!(!Spec::parse("col-major").unwrap().is_concrete());
    /// ```
    pub fn is_concrete(&self) -> bool {
        self.reading.is_concrete()
    }

    /// Returns whether some array of this rank has this layout.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let zn = Spec::parse("zN").unwrap();
    /// assert!(!zn.fits(1) && zn.fits(2) && zn.fits(3));
    /// ```
    pub fn fits(&self, rank: usize) -> bool {
        self.reading.fits(rank)
    }
}

/// Reads a text, and the words behind it if it has such.
fn read_spelled(
    text: &str,
    all: dialect::All,
) -> Result<(dialect::ReadText, Option<AskedArray>), Error> {
    let Some((to, from)) = words::split(text) else {
        return dialect::read(text, all).map(|read| (read, None));
    };
    let spelled = || {
        let read = dialect::read(&text[..to], all)?;
        let words = AskedArray::read(&text[from..]).map_err(|error| error.shifted(from))?;
        Ok((read, Some(words)))
    };
    // A notation may have names of its own that are called `as`.
    spelled().or_else(|error| dialect::read(text, all).map(|read| (read, None)).map_err(|_| error))
}

/// The longest number of a text, if it has ten digits or more: no size of a tile has.
fn large_number(text: &str) -> Option<(usize, usize)> {
    let digit = |at: &usize| text.as_bytes().get(*at).is_some_and(u8::is_ascii_digit);
    let starts =
        (0..text.len()).filter(|at| digit(at) && !at.checked_sub(1).is_some_and(|b| digit(&b)));
    let runs =
        starts.map(|from| (from, (from..text.len()).find(|at| !digit(at)).unwrap_or(text.len())));
    runs.max_by_key(|(from, to)| to - from).filter(|(from, to)| to - from >= 10)
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({})", self.text)
    }
}

/// Two SPECs are equal when their canonical texts are.
impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.text == other.text
    }
}

impl Eq for Spec {}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Spec, Error> {
        Spec::parse(text)
    }
}

impl StoredLayout for Spec {
    fn of_dims(&self, dims: &[u64], dtype: Option<Dtype>) -> Result<ResolvedLayout, Error> {
        self.resolve(Some(dims), dtype)
    }

    fn of_array(&self, array: &str, dtype: Option<Dtype>) -> Result<ResolvedLayout, Error> {
        Spec::parse(&format!("{array} {self}"))?.resolve(None, dtype)
    }

    fn fits(&self, rank: usize) -> bool {
        Spec::fits(self, rank)
    }

    fn texts(&self) -> (&str, &str) {
        (&self.text, &self.plain)
    }

    fn everywhere(&self) -> bool {
        self.is_known_everywhere()
    }
}

impl Spec {
    /// Returns the layout of the array, which may have index tables, with what is not in the text taken from `dims` and `dtype`.
    /// Tables that are digits become shape and strides. `lists` resolves the names of lists in files.
    ///
    /// # Errors
    /// As [`Spec::resolve`]; and for a list that is not a table, at the table.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("f16[4,8] table(0; 0,2,3,1) row-major").unwrap();
    /// assert!(spec.resolve(None, None).unwrap_err().is_unsupported());
    /// assert!(spec.array_layout(None, None, &()).unwrap().has_tables());
    /// // 4 rows, of which the middle two change places, are digits.
    /// let folded = Spec::parse("f16[4,8] table(0; 0,2,1,3) row-major").unwrap();
    /// assert_eq!(folded.resolve(None, None).unwrap().layout().layout().to_string(), "((2,2),8):((16,8),1)");
    ///
    /// let error = Spec::parse("f16[4,8] table(0; 0,2,2,1) row-major").unwrap_err();
    /// assert!(error.to_string().starts_with("index 2 of the array is stored at 1 and at 2"));
    /// assert_eq!(error.span(), Some((9, 26)));
    /// ```
    pub fn array_layout(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
        lists: &dyn Lists,
    ) -> Result<ArrayLayout, Error> {
        if !TABLES {
            return self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named));
        }
        let Some(written) = &self.tables else {
            return self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named));
        };
        let array = written.array(&Given::new(dims, dtype), lists)?;
        match written.folded(array) {
            Ok(resolved) => Ok(ArrayLayout::of(&resolved.under(self.plain.to_string(), None))),
            Err(array) => Ok(array),
        }
    }

    /// The dims of an array that is given as words of this type and shape, where the text names a format with an index
    /// table whose dims follow from them.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let dims = |text| Spec::parse(text).unwrap().dims_from_words(Dtype::S32, &[6, 5]);
    /// assert_eq!((dims("GPTQ_3BIT"), dims("AWQ")), (Some(vec![64, 5, 3]), None));
    /// ```
    pub fn dims_from_words(&self, word: Dtype, shape: &[u64]) -> Option<Vec<u64>> {
        let tables = self.tables.as_ref().filter(|_| TABLES && word.packed_bits() == Some(32));
        tables?.dims_of_words(shape)
    }

    /// The number of entries of the lists in the text, which bounds the memory for resolving it.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("table(0; 0..4096,-) zN").unwrap();
    /// assert_eq!(spec.table_entries(), 4097);
    /// assert_eq!(Spec::parse("zN").unwrap().table_entries(), 0);
    /// ```
    pub fn table_entries(&self) -> u64 {
        match &self.tables {
            Some(written) if TABLES => written.entries(),
            _ => 0,
        }
    }

    /// Returns whether the text contains index tables.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// assert!(Spec::parse("table(0; tensor g_idx) MARLIN").unwrap().has_tables());
    /// assert!(!Spec::parse("MARLIN").unwrap().has_tables());
    /// ```
    pub fn has_tables(&self) -> bool {
        TABLES && self.tables.is_some()
    }
}
