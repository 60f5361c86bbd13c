//! Files of one array: `.npy`, and bytes without a header.

use tilewright_core::{Dtype, Fill, Remedy, TensorLayout};
use tilewright_notation::Spec;

use crate::{
    Error, Input, Reading, Tensor,
    input::{Container, Shard},
    npy,
    source::Source,
    tensor::{Held, check_width},
};

/// What the only array of a file is called.
const NAME: &str = "array";

/// Opens an `.npy` file.
pub(crate) fn npy(source: Source, reading: &Reading) -> Result<Input, Error> {
    let header = npy::Header::read(&source)?;
    let path = source.path();
    let own = header.descr.dtype;
    let Some(dtype) = reading.dtype.or(own) else {
        let npy::Descr { text, bytes, .. } = &header.descr;
        let path = path.display();
        let said =
            format!("{path}: dtype {text:?} is raw bytes, {bytes} to an element of any type");
        return Err(Error::usage(said).with(&[Remedy::Dtype]));
    };
    let bits = width(path, dtype, &header.descr)?;
    let (order, layout) = if header.fortran {
        ("col-major", TensorLayout::col_major(&header.shape))
    } else {
        ("row-major", TensorLayout::row_major(&header.shape))
    };
    let layout = layout.map_err(|error| Error::unsupported(path, error))?;
    let plain = Held::new(order, layout, dtype, bits, Fill::Unspecified);
    let mut held = reread(&plain, NAME, header.len, reading)
        .map_err(|error| Error::usage(format!("{}: {error}", path.display())))?;
    held.order = reading.order.unwrap_or(header.descr.order);
    let (dtype, shape) = (header.descr.text.clone(), header.shape);
    let file = Stored { dtype, shape, at: header.at, len: header.len };
    Ok(input(source, Container::Npy(header.descr), held, file))
}

/// The stored width of elements of `dtype` in a file whose elements have a length of their own.
fn width(path: &std::path::Path, dtype: Dtype, descr: &npy::Descr) -> Result<u32, Error> {
    match dtype.storage_bits() {
        Some(bits) if u64::from(bits) == descr.bytes * 8 => Ok(bits),
        bits => Err(Error::usage(format!(
            "{}: {} elements take {} bytes, {dtype} takes {}",
            path.display(),
            descr.text,
            descr.bytes,
            bits.unwrap_or(0) / 8
        ))),
    }
}

/// Opens bytes without a header.
pub(crate) fn raw(source: Source, reading: &Reading) -> Result<Input, Error> {
    let len = source.len();
    let wrong = |said: String| Error::usage(format!("raw:{}: {said}", source.path().display()));
    let dims = reading.dims.as_deref();
    let spec = match &reading.from {
        Some(spec) => spec.clone(),
        None if dims.is_some() => {
            Spec::parse("row-major").map_err(|error| wrong(error.to_string()))?
        }
        None => {
            let error = wrong("raw bytes do not say which array they are".into());
            return Err(error.with(&[Remedy::Source, Remedy::DimsAndDtype]));
        }
    };
    let named = spec
        .resolve(dims, reading.dtype)
        .map_err(|error| wrong(error.to_string()).with(error.remedy().as_slice()))?;
    let (Some(dtype), Some(bits)) = (named.dtype(), named.element_bits()) else {
        return Err(wrong(format!("{spec} says no element type")).with(&[Remedy::Dtype]));
    };
    check_width(dtype, bits).map_err(|said| wrong(format!("{spec} says {said}")))?;
    let mut held = Held::of(&named, dtype, bits, named.fill());
    held.order = reading.order.unwrap_or_default();
    check_bytes(&held, len).map_err(wrong)?;
    Ok(input(source, Container::Raw, held, Stored::bytes(len)))
}

/// The bytes of a layout are those of the file.
fn check_bytes(held: &Held, len: u64) -> Result<(), String> {
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

/// A tensor of `len` bytes read as the request says, where it says anything.
pub(crate) fn reread(own: &Held, name: &str, len: u64, reading: &Reading) -> Result<Held, String> {
    if reading.is_silent() {
        return Ok(own.clone());
    }
    let wrong = |error: tilewright_notation::Error| format!("tensor {name:?}: {error}");
    let dtype = reading.dtype.unwrap_or(own.dtype);
    let dims = reading.dims.as_deref();
    let mut held = match &reading.from {
        Some(spec) => {
            let dims =
                if spec.is_concrete() { dims } else { dims.or(Some(own.layout().extents())) };
            let rank = dims.map_or(0, <[u64]>::len);
            if dims.is_some() && !spec.fits(rank) {
                let own = own.layout().extents();
                return Err(format!(
                    "tensor {name:?} of dims {own:?} is read as of rank {rank}, which {spec} does not fit"
                ));
            }
            let named = spec.resolve(dims, Some(dtype)).map_err(wrong)?;
            let bits = named.explicit_bits().unwrap_or(own_bits(own, dtype));
            check_width(dtype, bits)
                .map_err(|said| format!("tensor {name:?}: {spec} says {said}"))?;
            Held::of(&named, dtype, bits, named.fill())
        }
        None => {
            let layout = match dims {
                Some(dims) => TensorLayout::row_major(dims).map_err(|error| error.to_string())?,
                None => own.layout().clone(),
            };
            let order = if dims.is_some() { "row-major" } else { own.named.name() };
            Held::new(order, layout, dtype, own_bits(own, dtype), own.named.fill())
        }
    };
    held.order = reading.order.unwrap_or(own.order);
    check_bytes(&held, len).map_err(|said| format!("tensor {name:?}: {said}"))?;
    Ok(held)
}

/// The stored width of elements read as another type: that of the file, where the type fits into it.
fn own_bits(own: &Held, dtype: Dtype) -> u32 {
    match dtype.bits() {
        Some(least) if least <= own.bits => own.bits,
        _ => dtype.storage_bits().unwrap_or(own.bits),
    }
}

/// An `.npy` file of which everything is known but where its elements start.
pub(crate) fn known_npy(source: Source, held: Held) -> Result<Input, Error> {
    let header = npy::Header::read(&source)?;
    let file = Stored {
        dtype: header.descr.text.clone(),
        shape: header.shape,
        at: header.at,
        len: header.len,
    };
    check_bytes(&held, header.len).map_err(|said| Error::corrupt(source.path(), said))?;
    Ok(input(source, Container::Npy(header.descr), held, file))
}

/// Bytes of which everything is known.
pub(crate) fn known_raw(source: Source, held: Held) -> Result<Input, Error> {
    let len = source.len();
    check_bytes(&held, len).map_err(|said| Error::corrupt(source.path(), said))?;
    Ok(input(source, Container::Raw, held, Stored::bytes(len)))
}

/// What a file says of its array.
struct Stored {
    dtype: String,
    shape: Vec<u64>,
    at: u64,
    len: u64,
}

impl Stored {
    /// The whole of a file without a header.
    fn bytes(len: u64) -> Stored {
        Stored { dtype: String::new(), shape: vec![len], at: 0, len }
    }
}

fn input(source: Source, container: Container, held: Held, file: Stored) -> Input {
    let path = source.path().to_path_buf();
    let Stored { dtype: file_dtype, shape: storage, at, len } = file;
    let tensor =
        Tensor { name: NAME.into(), file_dtype, storage, held, refusal: None, shard: 0, at, len };
    let shards = vec![Shard { name: String::new(), source, metadata: None }];
    Input { path, container, index: None, shards, tensors: vec![tensor] }
}
