//! `.npy`: a magic, a version, a header that is a Python dictionary, the elements.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, versions 1 to 3. The header is read by a
//! small parser of our own, so that no file makes it recurse, overflow or allocate beyond a bound.

mod descr;
mod header;
mod literal;

use std::path::Path;

pub(super) use descr::Descr;
use descr::default_descr;
pub(crate) use header::{Header, header_bytes};
use tilewright_core::{ByteOrder, Counted, Dtype, Fill, Remedy, TensorLayout};
use tilewright_notation::ResolvedLayout;

use super::{
    array::{self, Stored},
    format::{Container, Expected, Format, OneArray, Opened, Opening},
    metadata_notes::Noted,
    target::{Section, Target},
};
use crate::{
    Error, Job, Reading, error,
    layout::{
        dtype,
        element_layout::{self, ElementLayout},
        note_file::Texts,
        order,
        record::Recorded,
    },
    open::{reading::check_bytes, source::Source},
};

pub(crate) const FORMAT: Format = Format {
    name: "npy",
    shown: ".npy",
    becomes: array::BECOMES,
    prefix: Some("npy:"),
    ending: Some(".npy"),
    recognises: |head, _| head.starts_with(header::MAGIC),
    several: false,
    splits: false,
    orders: true,
    ties: false,
    longest_name: None,
    open,
    create: Some(|_| Box::new(Npy::default())),
    alone: true,
    array: Some(OneArray { says, result }),
    describes: None,
};

#[derive(Debug, Default)]
struct Npy {
    /// The number of bytes after the array.
    rest: u64,
}

impl Container for Npy {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        let job = jobs.first();
        let header = match job.and_then(|job| Some((input.tensors.get(job.tensor)?, job))) {
            Some((tensor, job)) => {
                let (descr, fortran, shape) = facts(&tensor.file_dtype, &job.to, job.bytes_out);
                header_bytes(&descr, fortran, &shape)
            }
            None => Vec::new(),
        };
        Ok(vec![Target::new(path, vec![Section::Bytes(header)], 0..jobs.len())])
    }

    fn warnings(&self) -> Vec<String> {
        let more = (self.rest > 0).then_some(self.rest).into_iter();
        more.map(|rest| format!("{} not part of it and skipped", after(rest))).collect()
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let Opening { source, reading, note, .. } = opening;
    let header = Header::read(&source)?;
    let plain = || by_header(&source, &header, reading);
    let noted = noted(&source, &header, note)?;
    let facts = (header.len, dtype::stated_order(&header.descr.text));
    let held = array::held(&source, noted, plain, facts, (reading, ""))?;
    Ok(opened(source, header, held))
}

/// Returns the layout that is noted beside the file.
fn noted(source: &Source, header: &Header, note: &Texts) -> Result<Option<Noted>, Error> {
    let facts = (header.len, header.descr.order);
    array::noted(source, note, facts, |held| check_storage(held, header))
}

/// Returns the layout that the header gives.
fn by_header(source: &Source, header: &Header, reading: &Reading) -> Result<ElementLayout, Error> {
    let path = source.path();
    let wrong = |said: String| error::usage(format!("{}: {said}", path.display()));
    let own = header.descr.dtype;
    let words = own.filter(|own| are_words(reading, *own, &header.shape));
    let Some(dtype) = words.or(reading.dtype).or(own) else {
        let Descr { text, bytes, .. } = &header.descr;
        let said = format!("dtype {text:?} is raw bytes, {bytes} per element, of unknown type");
        return Err(wrong(said).with(&[Remedy::Dtype]));
    };
    let plain =
        plain(header, dtype).map_err(|error| error::unsupported(path, error))?.map_err(wrong)?;
    if reading.from.is_none() {
        own.map_or(Ok(()), |own| dtype::check_stated(own, dtype)).map_err(wrong)?;
        check_dims(reading, &header.shape).map_err(|said| wrong(said).with(&[Remedy::Source]))?;
    }
    plain.ordered(header.descr.order).map_err(wrong)
}

/// Checks that given dims are those of the header. An array of at most one dim is a buffer, whose dims only the caller knows.
fn check_dims(reading: &Reading, own: &[u64]) -> Result<(), String> {
    match &reading.dims {
        Some(dims) if dims != own && own.len() > 1 => Err(format!(
            "the file states dims {own:?}, but {dims:?} are requested; leave the dims out"
        )),
        _ => Ok(()),
    }
}

/// Returns whether the elements of a header are words that hold the elements of the caller's layout.
fn are_words(reading: &Reading, own: Dtype, shape: &[u64]) -> bool {
    let dims = reading.dims.as_deref();
    let spec = reading.from.as_ref();
    spec.is_some_and(|spec| !matches!(spec.in_words((own, shape), dims, reading.dtype), Ok(None)))
}

/// Returns the array of a header with elements of `dtype`; the inner error says that these have another width.
pub(super) fn plain(
    header: &Header,
    dtype: Dtype,
) -> Result<Result<ElementLayout, String>, tilewright_core::Error> {
    let bits = match width(dtype, &header.descr) {
        Ok(bits) => bits,
        Err(said) => return Ok(Err(said)),
    };
    let mut stored = header.shape.clone();
    let (order, layout) = if header.fortran {
        stored.reverse();
        ("col-major", TensorLayout::col_major(&header.shape)?)
    } else {
        ("row-major", TensorLayout::row_major(&header.shape)?)
    };
    let named = ResolvedLayout::new(order, layout, Some(dtype), None, Fill::Unspecified);
    Ok(ElementLayout::of(&named.with_storage(&stored), dtype, bits, Fill::Unspecified))
}

/// Returns the stored width of elements of `dtype`, which must be the length of the file's elements.
fn width(dtype: Dtype, descr: &Descr) -> Result<u32, String> {
    match dtype.storage_bits() {
        Some(bits) if u64::from(bits) == descr.bytes * 8 => Ok(bits),
        bits => Err(format!(
            "{} elements take {} bytes, {dtype} takes {}",
            descr.text,
            descr.bytes,
            bits.unwrap_or(0) / 8
        )),
    }
}

fn opened(source: Source, header: Header, held: (ElementLayout, Option<Recorded>)) -> Opened {
    let Header { descr, shape, at, len, rest, .. } = header;
    array::opened(
        source,
        Box::new(Npy { rest }),
        held,
        Stored { dtype: descr.text, shape, at, len },
    )
}

/// Opens a result, whose header must be the one that a conversion would have written, with nothing after the array.
fn result(source: Source, expected: Expected<'_>) -> Result<Result<Opened, String>, Error> {
    let header = Header::read(&source)?;
    if header.rest > 0 {
        return Ok(Err(format!("{} not part of it", after(header.rest))));
    }
    if let Some(Noted { held, data }) = noted(&source, &header, expected.note)? {
        return Ok(Ok(opened(source, header, (held, Some(Recorded { data })))));
    }
    let to = expected.to.unwrap_or(expected.from);
    let len = to.bytes().unwrap_or(header.len);
    let (descr, fortran, shape) = facts(&expected.tensor.file_dtype, to, len);
    let is = &header.descr.text;
    if *is != descr {
        return Ok(Err(format!("the header says elements of {is:?}, expected {descr:?}")));
    }
    let Some(to) = expected.to else {
        let held = by_header(&source, &header, &Reading::default().dtype(to.dtype))?;
        return Ok(Ok(opened(source, header, (held, None))));
    };
    if !has_shape(to, &header) {
        let order = |fortran| if fortran { "Fortran" } else { "C" };
        let (is, was) = (order(header.fortran), order(fortran));
        return Ok(Err(format!(
            "the header says {:?} in {is} order, expected {shape:?} in {was} order",
            header.shape
        )));
    }
    check_bytes(to, header.len).map_err(|said| error::corrupt(source.path(), said))?;
    Ok(Ok(opened(source, header, (to.clone(), None))))
}

/// Returns the subject and the verb of a sentence about bytes after the array.
fn after(rest: u64) -> String {
    let verb = if rest == 1 { "is" } else { "are" };
    format!("{} after the array {verb}", Counted(rest, "byte"))
}

/// Returns the values of a header for elements that another file spelled as `file_dtype`: type, whether the first dim is fastest,
/// shape.
pub(super) fn facts(file_dtype: &str, to: &ElementLayout, len: u64) -> (String, bool, Vec<u64>) {
    let (named, bits) = (&to.named, to.bits);
    if let Some(words) = named.stored_as() {
        let descr = default_descr(words.dtype(), u64::from(words.bits() / 8));
        return (descr, false, words.shape().to_vec());
    }
    if to.dtype.storage_bits() != Some(bits) {
        // NumPy lacks a type of this width, so the header describes bytes.
        return ("|u1".into(), false, vec![len]);
    }
    let own = Descr::parse(file_dtype).map(|descr| descr.text);
    let own = own.unwrap_or_else(|_| default_descr(to.dtype, u64::from(bits / 8)));
    let own = ordered(&own, to.order);
    // An array that is also row-major is stored in C order.
    match to.tables().is_none() && order::is_col_major(named) && !order::is_row_major(named) {
        true => (own, true, to.dims().to_vec()),
        false => (own, false, named.storage_shape()),
    }
}

/// Returns whether a header has the order and the shape under which this version or an earlier one stores an array of this
/// layout.
fn has_shape(held: &ElementLayout, header: &Header) -> bool {
    let (_, fortran, shape) = facts(&header.descr.text, held, header.len);
    let earlier = || !header.fortran && order::earlier_shape(held.named.layout()) == header.shape;
    (header.fortran == fortran && header.shape == shape) || earlier()
}

/// Checks that the header describes an array of this layout as we store it.
pub(super) fn check_storage(held: &ElementLayout, header: &Header) -> Result<(), String> {
    let (descr, _, shape) = facts(&header.descr.text, held, header.len);
    if descr == header.descr.text && has_shape(held, header) {
        return Ok(());
    }
    let (is, storage) = (&header.descr.text, &header.shape);
    Err(format!("is stored as {descr:?} {shape:?}, the file has {is:?} {storage:?}"))
}

/// Returns whether a header can record this layout, as C or Fortran order of elements that have the width of their type.
pub(super) fn says_order(to: &ElementLayout) -> bool {
    // An array that is stored as words has another shape, and neither order.
    let dense =
        to.tables().is_none() && (order::is_row_major(&to.named) || order::is_col_major(&to.named));
    dense && element_layout::width(to.dtype) == Some(to.bits)
}

/// Returns whether the header describes a result completely. It does not if the elements are raw, such as those of bf16.
fn says(file_dtype: &str, to: &ElementLayout) -> bool {
    let (descr, ..) = facts(file_dtype, to, to.bytes().unwrap_or(0));
    let known = Descr::parse(&descr).ok().and_then(|descr| descr.dtype);
    says_order(to) && known == Some(to.dtype)
}

/// Returns a type in NumPy's spelling, with this byte order of its elements.
fn ordered(descr: &str, order: ByteOrder) -> String {
    let mark = if order.is_big() { '>' } else { '<' };
    match descr.strip_prefix(['<', '>']) {
        Some(rest) => format!("{mark}{rest}"),
        None => descr.to_owned(),
    }
}
