//! SPECs as text: the words of a SPEC, and the SPEC that a layout prints as.
//!
//! Words spell the storage of any layout as elements of another type. They are read here once, for every notation;
//! `words.rs` decides which are legal.
//!
//! Law: the SPEC that a layout prints as reads back as just this layout.

use tilewright_core::{Dtype, Fill, Pattern};

use crate::{
    Error, ResolvedLayout, Spec, dialect,
    dtype::{in_order, ordered_dims, stored_order},
    literal::needs_dims,
    parsed_spec::Given,
    resolved_layout::BIG_WORDS,
    words::{AskedArray, Ratio},
};

impl Spec {
    /// Spells the storage as these words.
    pub(crate) fn spelled(mut self, words: AskedArray, all: dialect::All) -> Spec {
        if let Some(packed) = self.packed(all) {
            self = packed;
        }
        self.text = format!("{} as {words}", self.plain).into();
        self.words = Some(words);
        // A concrete text gives the width of packed elements and the shape of the words.
        if let Ok(named) = self.resolve(None, None) {
            self.text = named.to_spec().into();
        }
        self
    }

    /// Adds the width of the elements to the text, where they are narrower than a byte and the text gives no width.
    fn packed(&self, all: dialect::All) -> Option<Spec> {
        let own = self.resolve_plain(None, None).ok().filter(|own| own.bits.is_none())?;
        let bits = own.dtype?.packed_bits().filter(|bits| *bits < 8)?;
        let text = dialect::with_width(&self.plain, bits)?;
        let dialect::ReadText { reading, text, everywhere } = dialect::read(&text, all).ok()?;
        let mut packed = self.clone();
        (packed.reading, packed.everywhere, packed.plain) = (reading, everywhere, text.into());
        Some(packed)
    }

    /// The type of the words that its storage is spelled as, where the text gives words.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let words = |text| Spec::parse(text).unwrap().words_dtype();
    /// assert_eq!((words("GPTQ as s32"), words("GPTQ")), (Some(Dtype::S32), None));
    /// ```
    pub fn words_dtype(&self) -> Option<Dtype> {
        self.words.as_ref().map(|words| words.dtype)
    }

    /// Spells the storage as words of this type, whose shape follows.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a type without whole bytes, [mismatch](Error::is_mismatch) where the
    /// text has other words.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let words = Spec::parse("MARLIN").unwrap().stored_as(Dtype::S32).unwrap();
    /// assert_eq!(words.to_string(), "MARLIN as s32");
    /// assert!(words.stored_as(Dtype::S64).unwrap_err().is_mismatch());
    /// ```
    pub fn stored_as(&self, dtype: Dtype) -> Result<Spec, Error> {
        if self.has_tables() {
            // Behind tables, the words are those of what is stored.
            let said = self.text.strip_prefix(&*self.plain).unwrap_or_default().trim();
            return match said.strip_prefix("as ") {
                None => Spec::parse(&format!("{self} as {dtype}")),
                Some(own) if own.split('[').next() == Some(dtype.name()) => Ok(self.clone()),
                Some(own) => Err(Error::mismatch(format!(
                    "`{self}` is stored as {own}, but {dtype} was requested"
                ))),
            };
        }
        match &self.words {
            Some(words) if words.dtype == dtype => Ok(self.clone()),
            Some(words) => Err(Error::mismatch(format!(
                "`{self}` is stored as {}, but {dtype} was requested",
                words.dtype
            ))),
            None => Ok(self.clone().spelled(AskedArray::of(dtype, None)?, dialect::notations())),
        }
    }

    /// The layout of an array that is given as words: an array of the type `word` and the extents `shape`, whose bits
    /// are its elements. The dims follow from the words where they are not given and the layout does not carry them.
    /// `None` where this layout stores no elements of another width than the words have: these are the elements then.
    ///
    /// # Errors
    /// As [`Spec::resolve`]; [needs dims](Error::needs_dims) where they do not follow, [mismatch](Error::is_mismatch)
    /// where the layout is of other words.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let gptq = Spec::parse("GPTQ").unwrap();
    /// let named = gptq.in_words((Dtype::S32, &[8, 12]), None, Some(Dtype::U4)).unwrap().unwrap();
    /// assert_eq!(named.to_spec(), "u4[64,12]E(4) GPTQ as s32[8,12]");
    /// // Bytes that are elements.
    /// assert!(gptq.in_words((Dtype::U8, &[64, 12]), None, Some(Dtype::U8)).unwrap().is_none());
    /// let flat = Spec::parse("BNB_4BIT").unwrap();
    /// let error = flat.in_words((Dtype::U8, &[384, 1]), None, Some(Dtype::U4)).unwrap_err();
    /// assert!(error.needs_dims());
    /// ```
    pub fn in_words(
        &self,
        (word, shape): (Dtype, &[u64]),
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<Option<ResolvedLayout>, Error> {
        let Some(bits) = self.element_width(dims, dtype) else { return Ok(None) };
        // Words of a floating-point type hold packed elements only where the text has words.
        let is_integer = word.is_signed_integer() || word.name().starts_with('u');
        if self.words.is_none() && (word.packed_bits() == Some(bits) || !is_integer) {
            return Ok(None);
        }
        let asked = AskedArray::of(word, None)?;
        self.check_words(&asked, shape)?;
        let ratio = asked.ratio(bits, self)?;
        let found = match dims {
            Some(_) => None,
            None if self.is_concrete() => None,
            None => Some(self.dims_of_words(&asked, shape, ratio, dtype)?),
        };
        if let Some(dims) = dims.filter(|_| !self.is_concrete()) {
            self.check_shape((&asked, shape), dims, ratio, dtype)?;
        }
        let dims = dims.or(found.as_deref());
        let named = self.resolve(dims, dtype)?.without_words();
        named.with_stored_as(word, Some(shape)).map(Some)
    }

    /// The width of an element, where this text is for elements of some widths or has words.
    fn element_width(&self, dims: Option<&[u64]>, dtype: Option<Dtype>) -> Option<u32> {
        if let Some(named) = self.resolve(None, dtype).ok().filter(|_| self.is_concrete()) {
            return named.stored_as().map_or(named.explicit_bits(), |_| named.element_bits());
        }
        let own = self.reading.width(&Given { dims, dtype });
        own.or_else(|| self.words.as_ref().and_then(|_| dtype?.packed_bits()))
    }

    /// Refuses an array of other words than the text gives.
    fn check_words(&self, is: &AskedArray, shape: &[u64]) -> Result<(), Error> {
        let Some(words) = &self.words else { return Ok(()) };
        let other = words.shape.as_deref().is_some_and(|own| own != shape);
        if words.dtype == is.dtype && !other {
            return Ok(());
        }
        let is = AskedArray { shape: Some(shape.to_vec()), ..is.clone() };
        let message = format!("`{self}` is stored as {words}, and the array is {is}");
        Err(Error::mismatch(message))
    }

    /// Refuses an array of words of another shape than that which the format states for an array of these dims.
    fn check_shape(
        &self,
        (asked, shape): (&AskedArray, &[u64]),
        dims: &[u64],
        ratio: Ratio,
        dtype: Option<Dtype>,
    ) -> Result<(), Error> {
        let named = self.stored_as(asked.dtype)?.resolve(Some(dims), dtype)?;
        let own = named.stored_as().map_or(shape, |words| words.shape());
        if own == shape || self.dims_of_words(asked, shape, ratio, dtype).is_err() {
            return Ok(());
        }
        let (own, is) = [own, shape]
            .map(|own| AskedArray { shape: Some(own.to_vec()), ..asked.clone() })
            .into();
        let message =
            format!("`{self}` of dims {dims:?} is stored as {own}, and the array is {is}");
        Err(Error::mismatch(message))
    }

    /// The dims of the array whose storage is words of this shape.
    fn dims_of_words(
        &self,
        asked: &AskedArray,
        shape: &[u64],
        ratio: Ratio,
        dtype: Option<Dtype>,
    ) -> Result<Vec<u64>, Error> {
        let given = Given { dims: None, dtype };
        let candidates = match ratio {
            Ratio::Elements(per) => self.reading.dims_of_words(&given, shape, per),
            Ratio::Words(each) => {
                let whole = divided(shape, each);
                whole.map_or_else(Vec::new, |shape| self.reading.dims_of_words(&given, &shape, 1))
            }
        };
        let spelled =
            self.clone().spelled(AskedArray { shape: None, ..asked.clone() }, dialect::notations());
        let is_so = |dims: &Vec<u64>| {
            let named = spelled.resolve(Some(dims), dtype).ok();
            let words = named
                .as_ref()
                .and_then(ResolvedLayout::stored_as)
                .map(|words| words.shape().to_vec());
            words.is_some_and(|own| without_ones(&own) == without_ones(shape))
        };
        candidates.into_iter().find(is_so).ok_or_else(|| {
            let is = AskedArray { shape: Some(shape.to_vec()), ..asked.clone() };
            let message = format!(
                "`{self}` needs the array's dims: those of its words, {is}, do not determine them"
            );
            needs_dims(message)
        })
    }
}

impl ResolvedLayout {
    /// Spells the storage as words of this type; without extents they follow. Elements that nothing
    /// says a width of are packed.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) where the words do not have the storage's bits, [needs dtype](Error::needs_dtype),
    /// [unsupported](Error::is_unsupported) for a type without whole bytes and for big-endian elements.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_notation::Spec;
    /// let named = Spec::parse("u4[64,64] MARLIN").unwrap().resolve(None, None).unwrap();
    /// let words = named.clone().with_stored_as(Dtype::S32, None).unwrap();
    /// assert_eq!(words.to_spec(), "u4[64,64]E(4) MARLIN as s32[4,128]");
    /// let error = named.with_stored_as(Dtype::S32, Some(&[4, 127])).unwrap_err();
    /// assert!(error.is_mismatch() && error.to_string().ends_with("s32[4,128] fits"));
    /// ```
    pub fn with_stored_as(
        self,
        dtype: Dtype,
        shape: Option<&[u64]>,
    ) -> Result<ResolvedLayout, Error> {
        let asked = AskedArray::of(dtype, shape)?;
        let (name, order) = (self.name().to_owned(), self.byte_order());
        let mut resolved = self.without_words();
        let dims = resolved.layout.extents();
        let own =
            Spec::parse(&name).and_then(|spec| spec.resolve_plain(Some(dims), resolved.dtype));
        let own = own.ok().filter(|own| own.layout == resolved.layout);
        resolved.words_dims = own.and_then(|own| own.words_dims);
        asked.apply(&mut resolved, &name)?;
        match order {
            Some(order) if order.is_big() => Err(Error::unsupported(BIG_WORDS)),
            _ => Ok(resolved.under(name, order)),
        }
    }
}

/// The extents with the last divided, where it can be.
fn divided(shape: &[u64], each: u64) -> Option<Vec<u64>> {
    let (last, outer) = shape.split_last()?;
    last.is_multiple_of(each).then(|| {
        let mut divided = outer.to_vec();
        divided.push(last / each);
        divided
    })
}

/// A shape without the extents of 1 at its end.
fn without_ones(shape: &[u64]) -> &[u64] {
    let end = shape.iter().rposition(|extent| *extent != 1).map_or(0, |last| last + 1);
    shape.get(..end).unwrap_or(shape)
}

impl ResolvedLayout {
    /// One concrete SPEC with dims, dtype, layout, capacity, element width and fill: parsed and
    /// resolved, it gives the same layout. It keeps the name where the name still describes the layout, to
    /// everybody: not that of a format that a user added.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let zn = Spec::parse("zN").unwrap();
    /// let named = zn.resolve(Some(&[528, 200]), dtype("bf16").ok()).unwrap();
    /// assert_eq!(named.to_spec(), "bf16[528,200] zN");
    /// let again = Spec::parse("bf16[528,200] zN").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(again.layout(), named.layout());
    /// ```
    pub fn to_spec(&self) -> String {
        if let Some(words) = self.stored_as() {
            return format!("{} as {words}", self.clone().without_words().to_spec());
        }
        let said = self.unordered();
        let Some(order) = self.byte_order() else { return said };
        let order = stored_order(order, self.element_bits());
        let shape = self.shape(self.explicit_bits(), self.fill());
        // A name that gives the element type elsewhere cannot hold the order; unknown elements have none.
        let shaped = || in_order(&self.plain_text(&shape), order);
        in_order(&said, order).or_else(shaped).unwrap_or(said)
    }

    /// The SPEC without the order of bytes.
    fn unordered(&self) -> String {
        let shape = self.shape(self.explicit_bits(), self.fill());
        // The name may give width and fill itself.
        let short = self.shape(None, Fill::Unspecified);
        let written = self.name();
        let name = &ordered_dims(written).map_or(written.to_owned(), |marked| marked.plain);
        let candidates = [
            name.clone(),
            format!("{short}{name}"),
            format!("{short} {name}"),
            format!("{shape} {name}"),
        ];
        candidates
            .into_iter()
            .find_map(|text| self.canonical(&text))
            .unwrap_or_else(|| self.plain_text(&shape))
    }

    /// The SPEC without the name: modes, or the pattern where these are stored under other extents.
    fn plain_text(&self, shape: &str) -> String {
        let modes = self.modes(shape);
        if !self.says_storage() || self.canonical(&modes).is_some() {
            return modes;
        }
        let pattern = Pattern::of(self.layout()).ok();
        let text = pattern.map(|pattern| format!("{shape} {}", dialect::spell_pattern(&pattern)));
        text.and_then(|text| self.canonical(&text)).unwrap_or(modes)
    }

    /// CuTe text after the shape where one is needed, with its prefix where a notation that a user added reads it
    /// too.
    fn modes(&self, shape: &str) -> String {
        let text = dialect::spell_cute(self.layout());
        let shape = if self.is_bare() { String::new() } else { format!("{shape} ") };
        let plain = format!("{shape}{text}");
        match Spec::parse(&plain) {
            Err(error) if error.is_ambiguous() => format!("{shape}cute:{text}"),
            _ => plain,
        }
    }

    /// `bf16[528,200]E(8)fill(0)`.
    fn shape(&self, bits: Option<u32>, fill: Fill) -> String {
        dialect::spell_shape(self.dtype(), self.layout().extents(), bits, fill)
    }

    /// The canonical form of a text, if it is a concrete SPEC of just this layout.
    fn canonical(&self, text: &str) -> Option<String> {
        let spec = Spec::parse(text).ok().filter(Spec::is_known_everywhere)?;
        let again = spec.resolve(None, None).ok()?;
        let facts = |named: &ResolvedLayout| {
            (named.dtype(), named.explicit_bits(), named.fill(), named.is_bare())
        };
        let stored = !self.says_storage() || again.storage_shape() == self.storage_shape();
        let same = stored && again.layout() == self.layout() && facts(&again) == facts(self);
        same.then(|| spec.to_string())
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::{ByteOrder, Dtype};

    use super::*;

    fn resolved(text: &str) -> Option<ResolvedLayout> {
        Spec::parse(text).ok()?.resolve(None, None).ok()
    }

    /// Of every type in every width, the SPEC with an order of bytes is the same array; where its elements are known and
    /// no blocks, it keeps the order.
    #[test]
    fn an_order_of_bytes_loses_nothing() {
        let (mut wide, mut narrow) = (0, 0);
        for dtype in Dtype::all() {
            let layouts =
                [" col-major", " zN[C0=4]", " (6,64):(1,6)", " (8,64):(1,8) valid (6,64)"];
            let bits = ["", "E(4)", "E(8)", "E(16)", "E(32)", "E(64)"];
            for text in layouts
                .iter()
                .flat_map(|layout| bits.map(|bits| format!("{dtype}[6,64]{bits}{layout}")))
            {
                let Some(plain) = resolved(&text) else { continue };
                for order in [ByteOrder::Little, ByteOrder::Big] {
                    let named = plain.clone().with_byte_order(Some(order));
                    let said = named.to_spec();
                    let again = resolved(&said).unwrap_or_else(|| panic!("{text}: {said}"));
                    let facts = |it: &ResolvedLayout| {
                        (it.layout().clone(), it.dtype(), it.element_bits(), it.fill())
                    };
                    assert_eq!(facts(&again), facts(&named), "{text}: {said}");
                    let has = dtype.block().is_none();
                    let order = stored_order(order, named.element_bits());
                    assert_eq!(again.byte_order(), has.then_some(order), "{text}: {said}");
                    assert_eq!(again.to_spec(), said);
                    if named.element_bits() > Some(8) { wide += 1 } else { narrow += 1 }
                }
            }
        }
        assert!(wide > 300 && narrow > 100, "{wide} {narrow}");
    }

    #[test]
    fn a_layout_of_no_known_elements_has_no_order_of_bytes() {
        for text in ["(2,3):(1,2)", "[2,3] col-major", "(4,3):(1,4) valid (2,3)"] {
            let plain = resolved(text).unwrap();
            let big = plain.clone().with_byte_order(Some(ByteOrder::Big));
            assert_eq!(big.to_spec(), plain.to_spec());
        }
    }
}
