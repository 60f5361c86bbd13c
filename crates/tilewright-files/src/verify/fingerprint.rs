//! Fingerprints of the tensors of files, read in windows of bounded size.
//!
//! Law: the fingerprint of a tensor is that of its array, whatever the layout, the format and the number of files.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tilewright_core::{ByteOrder, Dtype};
use tilewright_fingerprint::{Array, Entry, Fingerprint, Key, Window, Windows, all};
use tilewright_transfer::{Limits, Quiet, cores, first};

use crate::{
    Collection, Error, Input, Tensor, Watch,
    container::LocalBox,
    convert::budget::zeros,
    error,
    layout::element_layout::ElementLayout,
    open::{origin::Origin, tensor::Piece},
    verify::boxes::{self, Area},
};

/// The number of bytes of a window, which stay in a cache between reading and summing.
const WINDOW: u64 = 1 << 20;

/// The number of bytes of a tensor below which one thread reads it.
const SHARED: u64 = 16 << 20;

/// A tensor and its fingerprint.
///
/// ```
/// use tilewright_files::{Collection, Key};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let found = Collection::open(path).unwrap().fingerprints(&Key::default(), &()).unwrap();
/// assert_eq!((found.tensors[0].name.as_str(), &found.tensors[0].dims[..]), ("0.bias", &[32][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The name.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// The logical dims.
    pub dims: Vec<u64>,
    /// The fingerprint of the data.
    pub fingerprint: Fingerprint,
}

/// The fingerprints of tensors, sorted by name, and one hash for all of them.
///
/// ```
/// use tilewright_files::{Collection, Key};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let of = |key| Collection::open(path).unwrap().fingerprints(&key, &()).unwrap();
/// assert_eq!(of(Key::default()), of(Key::default()));
/// assert_ne!(of(Key::default()).all, of(Key::new(1)).all);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    /// The tensors.
    pub tensors: Vec<Printed>,
    /// The hash of names, element types, dims and fingerprints.
    pub all: u64,
}

impl Collection {
    /// Returns the fingerprint of every tensor.
    ///
    /// # Errors
    /// [i/o](Error::is_io) if a file cannot be read, ends early or changes meanwhile; [cancelled](Error::is_cancelled) if `watch`
    /// cancels.
    ///
    /// ```
    /// use tilewright_files::{Collection, Conversion, Key, Reading, Request, open};
    /// use tilewright_notation::Spec;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let other = folder.path().join("other.safetensors");
    /// let request = Request::new().to(Spec::parse("col-major").unwrap());
    /// let input = open(path, &Reading::default()).unwrap();
    /// Conversion::prepare(&input, &other, request).unwrap().run(&()).unwrap();
    /// let of = |path: &std::path::Path| {
    ///     Collection::open(path).unwrap().fingerprints(&Key::default(), &()).unwrap()
    /// };
    /// assert_eq!(of(path.as_ref()), of(&other));
    /// ```
    pub fn fingerprints(&self, key: &Key, watch: &dyn Watch) -> Result<Fingerprints, Error> {
        watch.total(self.bytes());
        let mut tensors = Vec::new();
        for name in self.names() {
            let Some((input, tensor)) = self.get(name) else { continue };
            let fingerprint = Data::of(input, tensor)?.fingerprint(key, watch)?;
            let (dtype, dims) = (tensor.dtype(), tensor.dims().to_vec());
            tensors.push(Printed { name: name.into(), dtype, dims, fingerprint });
        }
        self.check(watch)?;
        let all = all(&mut tensors.iter().map(Printed::entry).collect::<Vec<_>>(), key);
        Ok(Fingerprints { tensors, all })
    }
}

impl Printed {
    fn entry(&self) -> Entry<'_> {
        let Printed { name, dtype, dims, fingerprint } = self;
        Entry { name, dtype: *dtype, dims, fingerprint: *fingerprint }
    }
}

/// A box of a tensor in a file.
#[derive(Clone)]
struct StoredBox<'a> {
    source: Origin<'a>,
    at: u64,
    /// The length of the local array in bytes.
    len: u64,
    held: &'a ElementLayout,
    /// The first index in the local array, in the tensor, and the extents; in blocks for a type with blocks.
    local: Arc<[u64]>,
    start: Vec<u64>,
    extents: Vec<u64>,
}

/// The data of a tensor or of a part of it, with the parameters of its reading.
#[derive(Clone)]
pub(crate) struct Data<'a> {
    /// The boxes that cover the tensor; copies of a box are adjacent.
    boxes: Vec<StoredBox<'a>>,
    name: &'a str,
    pub(crate) held: &'a ElementLayout,
    order: ByteOrder,
    /// The number of bytes of a window, and the number of threads that read.
    window: u64,
    threads: Option<usize>,
    part: Option<Vec<Range<u64>>>,
    dims: Option<Vec<usize>>,
}

impl<'a> Data<'a> {
    pub(crate) fn of(input: &'a Input, tensor: &'a Tensor) -> Result<Data<'a>, Error> {
        let name = tensor.name.as_str();
        let (boxes, held) = match input.opened.container.boxes(name) {
            Some(places) => (in_shards(input, tensor, places)?, &tensor.held),
            None => {
                let one = StoredBox::whole(input, tensor)?;
                let held = one.held;
                (vec![one], held)
            }
        };
        let (window, order, threads, part, dims) = (WINDOW, held.order, None, None, None);
        Ok(Data { boxes, name, held, order, window, threads, part, dims })
    }

    /// Returns the data, read by these workers within their memory.
    pub(crate) fn by(&self, limits: &Limits<'_>) -> Result<Data<'a>, Error> {
        let len = self.boxes.iter().map(|one| one.len).fold(0, u64::saturating_add);
        let threads = limits.members(len);
        let window = WINDOW.min(limits.budget().limit() / threads as u64);
        Ok(Data { window, threads: Some(threads), ..self.clone() })
    }

    /// Returns a part of the data: a box of coordinates of elements, or of blocks.
    pub(crate) fn part(&self, part: &[Range<u64>]) -> Data<'a> {
        Data { part: Some(part.to_vec()), ..self.clone() }
    }

    /// Returns the data with permuted dims.
    pub(crate) fn dims_as(&self, dims: &[usize]) -> Data<'a> {
        Data { dims: Some(dims.to_vec()), ..self.clone() }
    }

    /// Returns the data with the other byte order of numbers.
    pub(crate) fn swapped(&self) -> Data<'a> {
        let order = if self.order.is_big() { ByteOrder::Little } else { ByteOrder::Big };
        Data { order, ..self.clone() }
    }

    fn error(&self, one: &StoredBox<'_>, error: impl std::fmt::Display) -> Error {
        error::unsupported(one.source.path(), format!("tensor {:?}: {error}", self.name))
    }

    /// Returns the windows of the part in a box; `None` if they do not overlap.
    fn windows(&self, one: &StoredBox<'a>, key: &Key) -> Result<Option<Windows<'a>>, Error> {
        let Some((start, part)) = one.within(self.part.as_deref()) else { return Ok(None) };
        let made = || {
            let array = Array::new(one.held.layout(), one.held.dtype)?;
            let mut array = array.bits(one.held.bits)?.order(self.order).part_at(&part, &start)?;
            if let Some(dims) = &self.dims {
                array = array.dims_as(dims)?;
            }
            array.windows(self.window, key)
        };
        made().map(Some).map_err(|error| self.error(one, error))
    }

    /// Returns the fingerprint. Copies of a box count once, and are compared.
    pub(crate) fn fingerprint(&self, key: &Key, watch: &dyn Watch) -> Result<Fingerprint, Error> {
        let (mut sum, mut known) = (Fingerprint::default(), None::<(&StoredBox<'_>, Fingerprint)>);
        for one in &self.boxes {
            let Some(windows) = self.windows(one, key)? else { continue };
            let own = self.sum(one, windows, watch)?;
            match known.filter(|(other, _)| other.is_copy_of(one)) {
                Some((_, print)) if print == own => {}
                Some((other, _)) => return Err(self.differ(other, one, key, watch)?),
                None => {
                    sum += own;
                    known = Some((one, own));
                }
            }
        }
        Ok(sum)
    }

    /// Returns the error for two copies of a box that differ.
    fn differ(
        &self,
        other: &StoredBox<'a>,
        one: &StoredBox<'a>,
        key: &Key,
        watch: &dyn Watch,
    ) -> Result<Error, Error> {
        let [was, is] = [other, one].map(|one| Data { boxes: vec![one.clone()], ..self.clone() });
        let ends = one.start.iter().zip(&one.extents);
        let part = ends.map(|(start, extent)| *start..start + extent).collect();
        let coord = self.of_elements(&was.first_apart(&is, part, key, watch)?);
        let known = other.source.path().display();
        let said =
            format!("tensor {:?} differs from its copy in {known}, first at {coord:?}", self.name);
        let why = "the rule that makes them copies is wrong, or a file is damaged";
        Ok(error::corrupt(one.source.path(), format!("{said}; {why}")))
    }

    /// Returns the first coordinate, of an element or a block, at which two data of different fingerprints differ.
    pub(crate) fn first_apart(
        &self,
        other: &Data<'_>,
        part: Area,
        key: &Key,
        watch: &dyn Watch,
    ) -> Result<Vec<u64>, Error> {
        let last = |part: &Area| {
            part.iter().map(|range| range.end.saturating_sub(1)).collect::<Vec<u64>>()
        };
        let quiet = Quiet(watch);
        let mut among = |part: &Area| {
            let [is, was] = [self, other].map(|it| it.part(part).fingerprint(key, &quiet));
            Ok((is? != was?).then(|| last(part)))
        };
        boxes::first(part.clone(), last(&part), &mut among)
    }

    /// Returns the coordinate of an element, or that of the first element of a block.
    pub(crate) fn of_elements(&self, coord: &[u64]) -> Vec<u64> {
        let last = coord.len().saturating_sub(1);
        let of =
            |(dim, at): (usize, &u64)| if dim == last { at * self.held.together() } else { *at };
        coord.iter().enumerate().map(of).collect()
    }

    /// Returns the fingerprint of the elements in windows of a box.
    fn sum(
        &self,
        one: &StoredBox<'_>,
        windows: Windows<'_>,
        watch: &dyn Watch,
    ) -> Result<Fingerprint, Error> {
        let (sum, read, told) =
            (Mutex::new(Fingerprint::default()), AtomicU64::new(0), AtomicU64::new(0));
        let tell = || {
            let now = read.load(Ordering::Relaxed);
            watch.advance(now - told.swap(now, Ordering::Relaxed));
        };
        let join = || {
            let mut buffer = vec![];
            let (sum, read) = (&sum, &read);
            Ok(move |window: &Window| {
                let range = window.bytes();
                one.read(&range, &mut buffer)?;
                let len = range.end - range.start;
                let own = window.fingerprint(buffer.get(..len as usize).unwrap_or_default());
                *sum.lock().unwrap_or_else(PoisonError::into_inner) += own;
                read.fetch_add(len, Ordering::Relaxed);
                Ok(None::<()>)
            })
        };
        let own = if one.len < SHARED { 1 } else { cores() };
        first(self.threads.unwrap_or(own), windows, join, &mut || {
            tell();
            watch.check_cancelled()
        })?;
        tell();
        Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the bits of one element, of a wider one the first 128.
    pub(crate) fn element(&self, coord: &[u64]) -> Result<u128, Error> {
        let one = self.boxes.iter().find_map(|one| Some((one, one.index(coord)?)));
        let Some((one, index)) = one else {
            return Err(error::usage(format!(
                "tensor {:?}: coordinate {coord:?} is outside the array",
                self.name
            )));
        };
        let ElementLayout { dtype, bits, .. } = *one.held;
        let offset = one.held.layout().offset(&index).map_err(|error| self.error(one, error))?;
        let bit = u128::from(offset.unsigned_abs()) * u128::from(bits);
        let (first, shift) = ((bit / 8) as u64, (bit % 8) as u32);
        let len = u64::from((shift + bits).div_ceil(8)).min(16);
        let mut buffer = vec![];
        one.read(&(first..first + len), &mut buffer)?;
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(buffer).for_each(|(byte, read)| *byte = read);
        let kept = if bits < 128 { (1 << bits) - 1 } else { u128::MAX };
        let stored = u128::from_le_bytes(bytes) >> shift & kept;
        Ok(self.order.stored(dtype, bits, stored))
    }
}

/// Returns the boxes of a tensor whose local arrays have these places.
fn in_shards<'a>(
    input: &'a Input,
    tensor: &'a Tensor,
    places: &'a [LocalBox],
) -> Result<Vec<StoredBox<'a>>, Error> {
    let pieces = tensor.pieces.iter().zip(places);
    let one = |(piece, LocalBox { held, local }): (&'a Piece, &'a LocalBox)| {
        let source = Origin::File(input.opened.file(&input.path, tensor, piece)?);
        let (start, extents) = (piece.origin.clone(), piece.dims.clone());
        let (at, len, local) = (piece.at, piece.len, local.clone());
        Ok(StoredBox { source, at, len, held, local, start, extents })
    };
    pieces.map(one).collect()
}

impl<'a> StoredBox<'a> {
    /// Returns the whole of a tensor that is in one place.
    fn whole(input: &'a Input, tensor: &'a Tensor) -> Result<StoredBox<'a>, Error> {
        let (source, at) = input.place(tensor)?;
        let (source, held, (at, len)) =
            Origin::File(source).in_rows(&tensor.held, (at, tensor.len))?;
        let extents = held.layout().extents().to_vec();
        let start = vec![0; extents.len()];
        Ok(StoredBox { source, at, len, held, local: start.clone().into(), start, extents })
    }

    fn is_copy_of(&self, other: &StoredBox<'_>) -> bool {
        (&self.start, &self.extents) == (&other.start, &other.extents)
    }

    /// Returns the intersection with a part of the tensor: its first coordinate there, and its ranges in the local array; `None`
    /// if it is empty.
    fn within(&self, part: Option<&[Range<u64>]>) -> Option<(Vec<u64>, Vec<Range<u64>>)> {
        let (mut first, mut ranges) = (Vec::new(), Vec::new());
        for (dim, (start, extent)) in self.start.iter().zip(&self.extents).enumerate() {
            let own = *start..start + extent;
            let all = part.and_then(|part| part.get(dim)).unwrap_or(&own);
            let (low, high) = (own.start.max(all.start), own.end.min(all.end));
            let local = self.local.get(dim)? + low.checked_sub(*start)?;
            if low >= high {
                return None;
            }
            first.push(low);
            ranges.push(local..local + (high - low));
        }
        Some((first, ranges))
    }

    /// Returns the index in the local array of a coordinate of the tensor, if the box has it.
    fn index(&self, coord: &[u64]) -> Option<Vec<u64>> {
        let part: Vec<Range<u64>> = coord.iter().map(|at| *at..at + 1).collect();
        let (_, ranges) = self.within(Some(&part))?;
        Some(ranges.into_iter().map(|range| range.start).collect())
    }

    fn read(&self, range: &Range<u64>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let StoredBox { source, at, len, .. } = self;
        if range.end > *len {
            let said = format!("byte {} of a tensor of {len} bytes", range.end);
            return Err(error::corrupt(source.path(), said));
        }
        let bytes = range.end - range.start;
        if (buffer.len() as u64) < bytes {
            *buffer = zeros(bytes)?;
        }
        let into = buffer.get_mut(..bytes as usize).unwrap_or_default();
        source.read(into, at + range.start)
    }
}
