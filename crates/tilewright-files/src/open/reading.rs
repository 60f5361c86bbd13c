//! Reading of tensors with information that their file lacks, given by the caller.

use tilewright_core::{ByteOrder, Dtype, TensorLayout};
use tilewright_notation::{Lists, ResolvedLayout, Spec};

use crate::layout::{
    dtype::number_bytes,
    element_layout::{ElementLayout, check_width, width},
};

/// Information that a file may lack: raw bytes need a layout, raw elements a type.
///
/// ```
/// use tilewright_files::Reading;
/// use tilewright_notation::{Spec, dtype};
/// let reading = Reading::default().dims(&[100, 100]).dtype(dtype("bf16").unwrap());
/// let reading = reading.from(Spec::parse("zN").unwrap());
/// ```
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub(crate) from: Option<Spec>,
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    pub(crate) order: Option<ByteOrder>,
}

impl Reading {
    /// Sets the layout of the elements; the default is row-major.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().from(Spec::parse("f32[2,3]{0,1}").unwrap());
    /// assert_eq!(open(&raw, &reading).unwrap().tensors()[0].dims(), [2, 3]);
    /// // Bytes of another number are not read so.
    /// let reading = Reading::default().from(Spec::parse("f32[2,4]{0,1}").unwrap());
    /// assert!(open(&raw, &reading).unwrap_err().is_usage());
    /// ```
    pub fn from(mut self, spec: Spec) -> Reading {
        self.from = Some(spec);
        self
    }

    /// Sets the logical dims, for files and layouts that do not have them.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().dims(&[2, 6]).dtype(dtype("bf16").unwrap());
    /// assert_eq!(open(&raw, &reading).unwrap().tensors()[0].dims(), [2, 6]);
    /// ```
    pub fn dims(mut self, dims: &[u64]) -> Reading {
        self.dims = Some(dims.to_vec());
        self
    }

    /// Sets the type of the elements, for files that do not record it. Integers and types of 8 bits are also read as another type
    /// of their width; other types that a file states only together with [`Reading::from`], and the type of a note never.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// # use tilewright_files::{Reading, open};
    /// # use tilewright_notation::{Spec, dtype};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bytes");
    /// # std::fs::write(&path, [7; 24]).unwrap();
    /// # let raw = format!("raw:{}", path.display());
    /// let reading = Reading::default().dims(&[24]);
    /// assert!(open(&raw, &reading).unwrap_err().remedies().contains(&Remedy::Dtype));
    /// assert!(open(&raw, &reading.dtype(dtype("u8").unwrap())).is_ok());
    /// ```
    pub fn dtype(mut self, dtype: Dtype) -> Reading {
        self.dtype = Some(dtype);
        self
    }

    /// Sets the byte order of elements, for files that do not state it; the default is little-endian. A file that states another
    /// order, such as npy, is refused.
    ///
    /// ```
    /// # use tilewright_files::{Conversion, Reading, Request, open_stream};
    /// # use tilewright_notation::{Spec, dtype};
    /// use tilewright_core::ByteOrder;
    /// let reading = Reading::default().dims(&[2]).dtype(dtype("u16").unwrap());
    /// let input = open_stream(&[1, 2, 3, 4][..], "raw:-", &reading.order(ByteOrder::Big)).unwrap();
    /// let request = Request::new().to(Spec::parse("row-major").unwrap());
    /// let mut out = Vec::new();
    /// Conversion::prepare_stream(&input, "raw:-", request).unwrap().run_to(&mut out, &()).unwrap();
    /// assert_eq!(out, [2, 1, 4, 3]);
    /// ```
    pub fn order(mut self, order: ByteOrder) -> Reading {
        self.order = Some(order);
        self
    }

    /// Returns the byte order of elements, from the order in the layout and the order that the caller gives.
    pub(crate) fn order_of(&self, said: Option<ByteOrder>) -> Result<Option<ByteOrder>, String> {
        match (self.order, said) {
            (Some(one), Some(other)) if one != other => {
                Err("the layout has another order of bytes than the element type".into())
            }
            (order, said) => Ok(said.or(order)),
        }
    }

    /// Returns whether nothing is given.
    pub(crate) fn is_silent(&self) -> bool {
        self.from.is_none() && self.dims.is_none() && self.dtype.is_none() && self.order.is_none()
    }
}

/// Checks that a layout has the number of bytes of the file.
pub(crate) fn check_bytes(held: &ElementLayout, len: u64) -> Result<(), String> {
    match held.bytes() {
        Some(bytes) if bytes == len => Ok(()),
        bytes => Err(format!(
            "{} stores {} elements of {} bits in {} bytes, {len} bytes are there",
            held.named.name(),
            held.layout().capacity(),
            held.bits,
            bytes.map_or("more than 2^63".into(), |bytes| bytes.to_string())
        )),
    }
}

/// A tensor as its file describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsStated<'a> {
    pub(crate) name: &'a str,
    pub(crate) held: &'a ElementLayout,
    /// The number of bytes.
    pub(crate) len: u64,
    /// The byte order that the file states, if it states one.
    pub(crate) order: Option<ByteOrder>,
}

impl AsStated<'_> {
    /// Returns the byte order of elements, from the layout and the request, which must not contradict the file.
    fn order_of(&self, reading: &Reading, said: Option<ByteOrder>) -> Result<ByteOrder, String> {
        match (self.order, reading.order_of(said)?) {
            (Some(own), Some(asked)) if own != asked => Err(format!(
                "the file states {own} elements, but {asked} ones are requested; omit the byte order"
            )),
            (_, asked) => Ok(asked.unwrap_or(self.held.order)),
        }
    }
}

/// Returns the layout of a tensor, read as the request says, if it says anything.
pub(crate) fn reread(
    stated: AsStated<'_>,
    reading: &Reading,
    lists: &dyn Lists,
) -> Result<ElementLayout, String> {
    let AsStated { name, held: own, len, .. } = stated;
    if reading.is_silent() {
        return Ok(own.clone());
    }
    let wrong = |error: tilewright_notation::Error| format!("tensor {name:?}: {}", error.message());
    let about = |said: String| format!("tensor {name:?}: {said}");
    let dtype = reading.dtype.unwrap_or(own.dtype);
    let dims = reading.dims.as_deref();
    let (held, said) = match &reading.from {
        Some(spec) => {
            let said = if spec.is_concrete() { reading.dtype } else { Some(dtype) };
            if let Some(named) = in_words(own, spec, dims, said).map_err(wrong)? {
                return of_words(stated, named, reading).map_err(about);
            }
            let of_words = spec.dims_from_words(own.dtype, own.dims());
            let own_dims = Some(of_words.as_deref().unwrap_or(own.dims()));
            let dims = if spec.is_concrete() { dims } else { dims.or(own_dims) };
            let rank = dims.map_or(0, <[u64]>::len);
            if dims.is_some() && !spec.fits(rank) {
                let own = own.dims();
                return Err(format!(
                    "tensor {name:?} of dims {own:?} is read with rank {rank}, which {spec} does not fit"
                ));
            }
            // With index tables, the text gives the type of the elements of words.
            let own_words = spec.has_tables() && spec.is_concrete();
            let given = if own_words { reading.dtype } else { Some(dtype) };
            let tabled = spec.array_layout(dims, given, lists).map_err(wrong)?;
            let named = tabled.stored();
            let dtype = named.dtype().unwrap_or(dtype);
            let bits = named.explicit_bits().unwrap_or(own_bits(own, dtype));
            check_width(dtype, bits).map_err(|said| about(format!("{spec} says {said}")))?;
            let held = ElementLayout::of(named, dtype, bits, named.fill());
            let held = held.and_then(|held| held.with_tables(&tabled)).map_err(about)?;
            (held, named.byte_order())
        }
        None => {
            let fill = own.named.fill();
            let named = match dims {
                Some(dims) => {
                    let layout = TensorLayout::row_major(dims).map_err(|e| e.to_string())?;
                    ResolvedLayout::new("row-major", layout, Some(dtype), None, fill)
                }
                None => ResolvedLayout::clone(&own.named).with_elements(Some(dtype), None, fill),
            };
            let held = ElementLayout::of(&named, dtype, own_bits(own, dtype), fill);
            (held.map_err(about)?, None)
        }
    };
    let order = stated.order_of(reading, said).map_err(about)?;
    let held = held.ordered(order).map_err(about)?;
    check_bytes(&held, len).map_err(about)?;
    Ok(held)
}

/// Returns the layout of a tensor whose layout is noted. Another layout is refused, because the elements would be moved twice, and
/// so is another element type. `note` returns the place of the note.
pub(crate) fn reread_noted(
    stated: AsStated<'_>,
    reading: &Reading,
    lists: &dyn Lists,
    note: &dyn Fn() -> String,
) -> Result<ElementLayout, String> {
    let AsStated { name, held: own, .. } = stated;
    let is = own.spec();
    let wide = number_bytes(own.dtype, own.bits) > 1;
    let stated = AsStated { order: wide.then_some(own.order), ..stated };
    let held = reread(stated, reading, lists).map_err(|said| {
        let said = said.strip_prefix(&format!("tensor {name:?}: ")).unwrap_or(&said);
        format!(
            "tensor {name:?} has layout `{is}` by {}, and cannot be read as requested: {said}; omit the layout, or remove the note",
            note()
        )
    })?;
    let (one, other) = (own.layout(), held.layout());
    let alike = own.places_as(&held).unwrap_or(true);
    // A row-major layout remains row-major under other dims.
    let plain = own.is_row_major() && held.is_row_major();
    let same = (own.dtype, own.bits) == (held.dtype, held.bits);
    if same && one.capacity() == other.capacity() && (alike || plain) {
        return Ok(held);
    }
    let asked = held.spec();
    Err(format!(
        "tensor {name:?} has layout `{is}` by {}, but the requested layout is `{asked}`; omit the layout, or remove the note",
        note()
    ))
}

/// Returns the layout of a tensor whose stored elements are words that hold the elements of the layout.
fn in_words(
    own: &ElementLayout,
    spec: &Spec,
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
) -> Result<Option<ResolvedLayout>, tilewright_notation::Error> {
    // The elements of the file, in order. Bytes may be any storage, in any shape: they are words only if the layout says so, or
    // needs their shape.
    let plain =
        own.together() == 1 && own.dtype.packed_bits() == Some(own.bits) && own.is_row_major();
    if spec.has_tables() {
        return Ok(None);
    }
    let known = spec.is_concrete() || dims.is_some();
    let known = known && spec.words_dtype().is_none() && own.bits == 8;
    match plain && !known {
        true => spec.in_words((own.dtype, own.dims()), dims, dtype),
        false => Ok(None),
    }
}

/// Returns the layout of a tensor whose layout names its words.
fn of_words(
    stated: AsStated<'_>,
    named: ResolvedLayout,
    reading: &Reading,
) -> Result<ElementLayout, String> {
    let (Some(dtype), Some(bits)) = (named.dtype(), named.element_bits()) else {
        return Err(format!("{} has no element type", named.name()));
    };
    let order = stated.order_of(reading, named.byte_order())?;
    let held = ElementLayout::of(&named, dtype, bits, named.fill())?.ordered(order)?;
    check_bytes(&held, stated.len)?;
    Ok(held)
}

/// Returns the stored width of elements read as another type: the width of the file, if the type fits into it.
fn own_bits(own: &ElementLayout, dtype: Dtype) -> u32 {
    match dtype.bits() {
        Some(least) if least <= own.bits && own.together() == 1 => own.bits,
        _ => width(dtype).unwrap_or(own.bits),
    }
}
