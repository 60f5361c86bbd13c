//! Fingerprints of the tensors of files, read in windows of bounded size.
//!
//! Law: the fingerprint of a tensor is that of its array, whatever the layout, the format and the number of files.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tilewright_core::{ByteOrder, Dtype};
use tilewright_fingerprint::{Array, Entry, Fingerprint, Key, Window, Windows, all};
use tilewright_transfer::{cores, first};

use crate::{
    Collection, Error, Input, Tensor, Watch,
    layout::element_layout::ElementLayout,
    open::origin::Origin,
    transfer::budget::zeros,
    verify::workers::{Workers, go_on},
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
        self.check()?;
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

/// The data of a tensor or of a part of it, with the parameters of its reading.
#[derive(Clone)]
pub(crate) struct Data<'a> {
    source: Origin<'a>,
    at: u64,
    len: u64,
    name: &'a str,
    pub(crate) held: &'a ElementLayout,
    order: ByteOrder,
    /// The number of bytes of a window, and the number of threads that read.
    window: u64,
    threads: usize,
    part: Option<Vec<Range<u64>>>,
    dims: Option<Vec<usize>>,
}

impl<'a> Data<'a> {
    pub(crate) fn of(input: &'a Input, tensor: &'a Tensor) -> Result<Data<'a>, Error> {
        let (source, at) = input.place(tensor)?;
        let (source, held, (at, len)) =
            Origin::File(source).in_rows(&tensor.held, (at, tensor.len))?;
        let name = tensor.name.as_str();
        let threads = if len < SHARED { 1 } else { cores() };
        let (window, order, part, dims) = (WINDOW, held.order, None, None);
        Ok(Data { source, at, len, name, held, order, window, threads, part, dims })
    }

    /// Returns the data, read by these workers within their memory.
    pub(crate) fn by(&self, workers: Workers<'_>) -> Result<Data<'a>, Error> {
        let threads = workers.members(self.len);
        let window = WINDOW.min(workers.budget().limit() / threads as u64);
        Ok(Data { window, threads, ..self.clone() })
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

    fn error(&self, error: impl std::fmt::Display) -> Error {
        Error::unsupported(self.source.path(), format!("tensor {:?}: {error}", self.name))
    }

    fn windows(&self, key: &Key) -> Result<Windows<'a>, Error> {
        let made = || {
            let mut array = Array::new(self.held.layout(), self.held.dtype)?;
            array = array.bits(self.held.bits)?.order(self.order);
            if let Some(part) = &self.part {
                array = array.part(part)?;
            }
            if let Some(dims) = &self.dims {
                array = array.dims_as(dims)?;
            }
            array.windows(self.window, key)
        };
        made().map_err(|error| self.error(error))
    }

    pub(crate) fn fingerprint(&self, key: &Key, watch: &dyn Watch) -> Result<Fingerprint, Error> {
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
                self.bytes(&range, &mut buffer)?;
                let len = range.end - range.start;
                let own = window.fingerprint(buffer.get(..len as usize).unwrap_or_default());
                *sum.lock().unwrap_or_else(PoisonError::into_inner) += own;
                read.fetch_add(len, Ordering::Relaxed);
                Ok(None::<()>)
            })
        };
        first(self.threads, self.windows(key)?, join, &mut || {
            tell();
            go_on(watch)
        })?;
        tell();
        Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn bytes(&self, range: &Range<u64>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let Data { source, at, len, .. } = self;
        if range.end > *len {
            let said = format!("byte {} of a tensor of {len} bytes", range.end);
            return Err(Error::corrupt(source.path(), said));
        }
        let bytes = range.end - range.start;
        if (buffer.len() as u64) < bytes {
            *buffer = zeros(bytes)?;
        }
        let into = buffer.get_mut(..bytes as usize).unwrap_or_default();
        source.read(into, at + range.start)
    }
}

impl Data<'_> {
    /// Returns the bits of one element, of a wider one the first 128.
    pub(crate) fn element(&self, coord: &[u64]) -> Result<u128, Error> {
        let ElementLayout { dtype, bits, .. } = *self.held;
        let offset = self.held.layout().offset(coord).map_err(|error| self.error(error))?;
        let bit = u128::from(offset.unsigned_abs()) * u128::from(bits);
        let (first, shift) = ((bit / 8) as u64, (bit % 8) as u32);
        let len = u64::from((shift + bits).div_ceil(8)).min(16);
        let mut bytes = [0; 16];
        if first + len > self.len {
            let said = format!("byte {} of a tensor of {} bytes", first + len, self.len);
            return Err(Error::corrupt(self.source.path(), said));
        }
        self.source.read(&mut bytes[..len as usize], self.at + first)?;
        let kept = if bits < 128 { (1 << bits) - 1 } else { u128::MAX };
        let stored = u128::from_le_bytes(bytes) >> shift & kept;
        Ok(self.order.stored(dtype, bits, stored))
    }
}
