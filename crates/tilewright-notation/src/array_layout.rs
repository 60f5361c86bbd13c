//! Arrays with index tables: a SPEC with tables between the array and the layout of what is stored.
//!
//! Where the tables are digits, the SPEC is one of shape and strides like any other. Else
//! [`Spec::resolve`](crate::Spec::resolve) refuses it, and [`Spec::array_layout`](crate::Spec::array_layout) gives a
//! [`ArrayLayout`]: its callers know that there may be tables.

use std::{borrow::Cow, fmt, sync::Arc};

use tilewright_core::{Dtype, MAX_MODES};
use tilewright_table::{Along, Block, MAX_ENTRIES, TABLES, TabledLayout};

use crate::{
    Error, Lists, ResolvedLayout, TabledFormat,
    catalogue::with_tables::Found,
    dialect,
    dtype::{in_order, stored_order},
    literal::Scanner,
    parsed_spec::{Given, ParsedSpec},
    tables::{Parts, WrittenTable, add_entries},
};

/// The layout of an array that may have index tables, its name, and what is known of its elements.
///
/// ```
/// use tilewright_notation::Spec;
/// let spec = Spec::parse("f16[4,8] table(0; 0,2,3,1) row-major").unwrap();
/// let array = spec.array_layout(None, None, &()).unwrap();
/// assert_eq!(array.layout().offset(&[1, 5]), Ok(29));
/// // What the table stores.
/// assert_eq!(array.stored().to_spec(), "f16[4,8] row-major");
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct ArrayLayout {
    layout: TabledLayout,
    stored: ResolvedLayout,
    /// The text of the layout of what is stored.
    rest: Arc<str>,
    /// The name that stands for the tables and the layout.
    name: Option<Arc<str>>,
}

impl ArrayLayout {
    /// Returns a layout without tables.
    ///
    /// ```
    /// use tilewright_notation::{Spec, ArrayLayout};
    /// let named = Spec::parse("f16[4,8] zN").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(ArrayLayout::of(&named).to_spec(), named.to_spec());
    /// ```
    pub fn of(named: &ResolvedLayout) -> ArrayLayout {
        let layout = TabledLayout::of(named.layout());
        ArrayLayout { layout, stored: named.clone(), rest: named.name().into(), name: None }
    }

    /// The layout.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("f16[2,8] table(0; 0,-,1) row-major").unwrap();
    /// let array = spec.array_layout(None, None, &()).unwrap();
    /// assert_eq!((array.layout().extents(), array.layout().padding()), (&[2, 8][..], 8));
    /// ```
    pub fn layout(&self) -> &TabledLayout {
        &self.layout
    }

    /// The array that is stored, that is, after the tables.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("u4[64,16] table(0; 32..64,1,0,2..32) AWQ").unwrap();
    /// let array = spec.array_layout(None, None, &()).unwrap();
    /// assert_eq!(array.stored().to_spec(), "u4[64,16]E(4) AWQ");
    /// ```
    pub fn stored(&self) -> &ResolvedLayout {
        &self.stored
    }

    /// Replaces the stored array by one with more facts about its elements.
    ///
    /// ```
    /// use tilewright_core::{Dtype, Fill};
    /// use tilewright_notation::Spec;
    /// let spec = Spec::parse("u4[4,8] table(0; 0,2,3,1) row-major").unwrap();
    /// let array = spec.array_layout(None, None, &()).unwrap();
    /// let packed = array.stored().clone().with_elements(Some(Dtype::U4), Some(4), Fill::Unspecified);
    /// assert_eq!(array.with_stored(packed).to_spec(), "u4[4,8]E(4) table(0; 0,2,3,1) row-major");
    /// ```
    pub fn with_stored(self, stored: ResolvedLayout) -> ArrayLayout {
        // The map is that of the tables.
        debug_assert_eq!(stored.layout(), self.layout.stored());
        ArrayLayout { stored, ..self }
    }

    /// Returns whether there are tables, which shape and strides cannot express.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let has = |text: &str| {
    ///     Spec::parse(text).unwrap().array_layout(None, None, &()).unwrap().has_tables()
    /// };
    /// assert!(has("f16[4] table(0; 0,2,3,1) row-major") && !has("f16[4] table(0; 0,2,1,3) row-major"));
    /// ```
    pub fn has_tables(&self) -> bool {
        TABLES && !self.layout.tables().is_empty()
    }

    /// One SPEC that reads back as just this layout: with dims, type, the entries of the tables, and the layout of what
    /// they store. It may be longer than [`MAX_TABLED`](crate::MAX_TABLED).
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let spec = Spec::parse("table(0; 3..8, 0, 2, 1) zN").unwrap();
    /// let array = spec.array_layout(Some(&[8, 32]), dtype("f16").ok(), &()).unwrap();
    /// assert_eq!(array.to_spec(), "f16[8,32] table(0; 3..8,0,2,1) zN");
    /// ```
    pub fn to_spec(&self) -> String {
        if !self.has_tables() {
            return self.stored.to_spec();
        }
        let (dtype, bits) = (self.stored.dtype(), self.stored.explicit_bits());
        let mut text = dialect::spell_shape(dtype, self.layout.extents(), bits, self.stored.fill());
        if let Some(order) = self.stored.byte_order() {
            let order = stored_order(order, self.stored.element_bits());
            text = in_order(&text, order).unwrap_or(text);
        }
        let tables = self.layout.tables().iter().filter(|_| self.name.is_none());
        for along in tables {
            text.push_str(&format!(" {along}"));
        }
        text.push(' ');
        text.push_str(self.name.as_ref().unwrap_or(&self.rest));
        text
    }
}

/// Functions take `impl Into<Cow<ArrayLayout>>`, so that a layout without tables is passed as the [`ResolvedLayout`] that it is.
impl<'a> From<&'a ResolvedLayout> for Cow<'a, ArrayLayout> {
    fn from(named: &'a ResolvedLayout) -> Self {
        Cow::Owned(ArrayLayout::of(named))
    }
}

impl<'a> From<&'a ArrayLayout> for Cow<'a, ArrayLayout> {
    fn from(array: &'a ArrayLayout) -> Self {
        Cow::Borrowed(array)
    }
}

/// A layout behind tables, of a kind that is not known here.
pub(crate) type Rest = Arc<dyn StoredLayout>;

/// The layout of what tables store, as the text after them gives it.
pub(crate) trait StoredLayout: fmt::Debug + Send + Sync {
    /// The layout of an array of these extents and this type.
    fn of_dims(&self, dims: &[u64], dtype: Option<Dtype>) -> Result<ResolvedLayout, Error>;
    /// That of an array that is written so.
    fn of_array(&self, array: &str, dtype: Option<Dtype>) -> Result<ResolvedLayout, Error>;
    /// Returns whether some array of this rank has the layout.
    fn fits(&self, rank: usize) -> bool;
    /// The canonical text, and that without words.
    fn texts(&self) -> (&str, &str);
    /// Returns whether others read the text as the same layout.
    fn everywhere(&self) -> bool;
}

/// Lists of this number of entries and fewer are looked at as soon as they are read.
const CHECKED: u64 = 1 << 16;

/// The text of an array with tables, read.
#[derive(Debug)]
pub(crate) struct WrittenArray {
    array: Option<WrittenShape>,
    tables: Vec<WrittenTable>,
    /// The layout of what is stored.
    rest: Rest,
    /// The format that the tables and the layout are, with its name and parameters.
    named: Option<(&'static TabledFormat, Arc<str>)>,
    /// The text that spans count in.
    text: Arc<str>,
}

/// The array that a text begins with: `f16[4,8]E(16)`.
#[derive(Debug)]
struct WrittenShape {
    dtype: String,
    dims: Vec<u64>,
    /// The text after the dims.
    more: String,
}

impl WrittenArray {
    /// Reads what a text was taken apart into.
    pub(crate) fn read(
        text: &str,
        parts: Parts<'_>,
        read: &dyn Fn(&str) -> Result<Rest, Error>,
    ) -> Result<WrittenArray, Error> {
        let Parts { array, tables, rest: (rest, at) } = parts;
        let array = match array {
            "" => None,
            array => Some(WrittenShape::read(array)?),
        };
        if crate::tables::split(rest).is_some() {
            let said =
                "an index table comes after a layout; put tables between the array and the layout";
            return Err(Error::parse((at, at + rest.len()), said));
        }
        let rest = read(rest).map_err(|error| error.shifted(at))?;
        let written = WrittenArray { array, tables, rest, named: None, text: text.into() };
        if written.array.is_some()
            && written.tables.iter().all(WrittenTable::is_inline)
            && written.entries() <= CHECKED
        {
            let _ = written.array(&Given::new(None, None), &())?;
        }
        Ok(written)
    }

    /// Reads a text in which a format's name stands for tables and a layout.
    pub(crate) fn read_named(
        text: &str,
        found: &Found<'_>,
        read: &dyn Fn(&str) -> Result<Rest, Error>,
    ) -> Result<WrittenArray, Error> {
        let (array, after) = found.around;
        let layout = format!("{} {after}", found.text);
        let parts = crate::tables::split(layout.trim_end()).transpose()?;
        let Some(Parts { tables, rest: (rest, _), .. }) = parts else {
            return Err(Error::unsupported(format!("`{}` has no index table", found.name)));
        };
        let array = match array {
            "" => None,
            array => Some(WrittenShape::read(array)?),
        };
        if let Some(array) = &array {
            found.format.check_extents(&array.dims)?;
        }
        // The place in the layout of the name is none in the text.
        let rest = read(rest).map_err(|error| error.at((0, text.len())))?;
        let named = Some((found.format, found.name.as_str().into()));
        let written = WrittenArray { array, tables, rest, named, text: text.into() };
        if written.array.is_some() && written.entries() <= CHECKED {
            let _ = written.array(&Given::new(None, None), &())?;
        }
        Ok(written)
    }

    /// The array with these tables.
    pub(crate) fn array(&self, given: &Given<'_>, lists: &dyn Lists) -> Result<ArrayLayout, Error> {
        let own = self.array.as_ref();
        if let Some(own) = own {
            given.agree_dims(self, &own.dims)?;
        }
        let dims = own.map_or_else(|| given.need_dims(self), |own| Ok(&own.dims))?;
        if let Some((format, _)) = &self.named {
            format.check_extents(dims)?;
        }
        let (mut now, mut tables, mut entries) = (dims.to_vec(), Vec::new(), 0);
        for asked in &self.tables {
            let mut along = || {
                let count = Along::count(&asked.dims, &now)?;
                add_entries(&mut entries, count)?;
                let table = asked.table(count, lists)?;
                Ok(Along::new(&asked.dims, &now, table)?)
            };
            let along: Along = along().map_err(|error: Error| self.at(error, asked))?;
            now = along.stored_extents().to_vec();
            tables.push(along);
        }
        let stored = self.stored(&now, given)?;
        let layout = TabledLayout::new(dims, tables, stored.layout())?;
        let name = self.named.as_ref().map(|(_, name)| self.behind(name).into());
        Ok(ArrayLayout { layout, stored, rest: self.rest.texts().0.into(), name })
    }

    /// The layout of what the tables store, of these extents.
    fn stored(&self, extents: &[u64], given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let (dtype, more) = match (&self.array, &self.named) {
            (Some(WrittenShape { dtype, more, .. }), _) => (dtype.clone(), more.as_str()),
            (None, Some(_)) => (given.need_dtype(self, "its elements")?.name().to_owned(), ""),
            (None, None) => return self.rest.of_dims(extents, given.dtype),
        };
        let width = match &self.named {
            Some((format, _)) => format.bits.filter(|bits| *bits < 8 && !more.contains("E(")),
            None => None,
        };
        let width = width.map_or(String::new(), |bits| format!("E({bits})"));
        let array = format!("{dtype}[{}]{width}{more}", crate::literal::comma(extents));
        let stored = self.rest.of_array(&array, given.dtype)?;
        if let Some(((format, _), dtype)) = self.named.as_ref().zip(stored.dtype()) {
            format.check_width(dtype, stored.element_bits())?;
        }
        Ok(stored)
    }

    /// The dims of an array whose words have this shape, where the format's name gives them.
    pub(crate) fn dims_of_words(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let (format, _) = self.named.as_ref()?;
        format.of_words.and_then(|dims| dims(shape)).filter(|_| self.array.is_none())
    }

    /// The entries of all lists in the text.
    pub(crate) fn entries(&self) -> u64 {
        let dims = self.array.as_ref().map(|array| array.dims.iter());
        let all = dims.map_or(MAX_ENTRIES, |mut dims| {
            dims.try_fold(1u64, |all, dim| all.checked_mul(*dim)).unwrap_or(MAX_ENTRIES)
        });
        self.tables.iter().map(|table| table.entries(all)).fold(0, u64::saturating_add)
    }

    /// Sets the place of an error about a table, unless it has one.
    fn at(&self, error: Error, asked: &WrittenTable) -> Error {
        if error.span().is_some() {
            error
        } else {
            crate::tables::shown(error.at(asked.span), &self.text)
        }
    }

    /// The layout of shape and strides that is equal, if there is one.
    #[expect(
        clippy::result_large_err,
        reason = "the second value is the layout, handed back, not an error"
    )]
    pub(crate) fn folded(&self, array: ArrayLayout) -> Result<ResolvedLayout, ArrayLayout> {
        let Some(layout) = array.layout.fold() else { return Err(array) };
        let mut resolved = array.stored;
        resolved.layout = layout;
        // The digits of the storage are those of another map now.
        resolved.storage = None;
        Ok(resolved)
    }
}

impl WrittenShape {
    fn read(text: &str) -> Result<WrittenShape, Error> {
        let mut scan = Scanner::new(text);
        let dtype = scan.take(|c| c != '[').trim_end().to_owned();
        let expected = "an array before the index table, such as `f16[4,8]`";
        if scan.peek().is_none() {
            return Err(Error::parse((0, text.len()), format!("expected {expected}")));
        }
        let dims = scan.list(("[", "]"), MAX_MODES, Scanner::integer)?;
        let more = scan.rest().trim().to_owned();
        if more.starts_with('{') {
            let said = "a layout comes before the index table; put it after the table";
            return Err(Error::parse((scan.at(), text.len()), said));
        }
        Ok(WrittenShape { dtype, dims, more })
    }
}

impl ParsedSpec for WrittenArray {
    fn is_concrete(&self) -> bool {
        self.array.is_some()
    }

    fn is_known_everywhere(&self) -> bool {
        self.rest.everywhere()
    }

    fn fits(&self, rank: usize) -> bool {
        // Each table of several dims makes one of these, and one of what is left of each.
        let stored = self.tables.iter().try_fold(rank, |rank, asked| {
            let left = match asked.dims[..] {
                [Block { of: None, .. }] => 0,
                _ => asked.dims.iter().filter(|block| block.has_rest()).count(),
            };
            (rank + left + 1).checked_sub(asked.dims.len())
        });
        if self.named.as_ref().is_some_and(|(format, _)| !format.is_of_rank(rank)) {
            return false;
        }
        let dims = self.array.as_ref().is_none_or(|array| array.dims.len() == rank);
        dims && stored.is_some_and(|rank| self.rest.fits(rank))
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        self.folded(self.array(given, &())?).map_err(|_| {
            let said = format!(
                "`{self}` has an index table that is not digits, but shape and strides are needed here; index, same, explain, relayout, convert and TabledLayout accept these tables"
            );
            Error::unsupported(said)
        })
    }

    fn packs(&self, given: &Given<'_>) -> Option<u32> {
        let array = self.array(given, &()).ok()?;
        array.stored.element_bits().filter(|bits| *bits < 8)
    }
}

impl WrittenArray {
    /// The canonical text, or that without the words of what is stored.
    fn with_rest(&self, rest: &str) -> String {
        let mut text = String::new();
        if let Some(WrittenShape { dtype, dims, more }) = &self.array {
            text = format!("{dtype}[{}]{more} ", crate::literal::comma(dims));
        }
        if let Some((_, name)) = &self.named {
            let is_plain = rest == self.rest.texts().1;
            return text + &if is_plain { name.to_string() } else { self.behind(name) };
        }
        for asked in &self.tables {
            text.push_str(&format!("{asked} "));
        }
        text + rest
    }

    /// A name of a format with the words of what is stored.
    fn behind(&self, name: &str) -> String {
        let (text, plain) = self.rest.texts();
        name.to_owned() + text.strip_prefix(plain).unwrap_or_default()
    }

    /// The canonical text without words.
    pub(crate) fn plain(&self) -> String {
        self.with_rest(self.rest.texts().1)
    }
}

/// The canonical text.
impl fmt::Display for WrittenArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_rest(self.rest.texts().0))
    }
}
