//! NumPy: `numpy:shape=(3,5),strides=(20,4),dtype=f32`.
//!
//! ```text
//! numpy := field { ',' field }                    always behind `numpy:`
//! field := 'shape' '=' tuple | 'strides' '=' tuple | 'dtype' '=' name
//!        | 'offset' '=' int | 'order' '=' ('C' | 'F')
//! ```
//!
//! Strides and offset are **bytes**, as in NumPy. Without strides the array is dense in its order.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `numpy:shape=(3,5),strides=(20,4),dtype=f32` | | `(3,5):(5,1)` |
//! | `numpy:shape=(3,5),order=F` | | `(3,5):(1,3)` |
//! | `numpy:shape=(4,),strides=(-8,),offset=24,dtype=<f4` | | `(4):(-2)+6` |
//! | `numpy:shape=(3,5),strides=(20,5),dtype=f32` | | error: 5 bytes are no whole number of 4-byte elements |

use std::{fmt, sync::Arc};

use tilewright_core::{Fill, Layout, MAX_MODES, Mode, TensorLayout};
use tilewright_xla::PrimitiveType;

use super::strided::{Strided, unsupported};
use crate::{
    Named,
    dtype::{dtype, element_bits},
    error::{Error, Kind},
    notation::{Notation, no_words, only_by_prefix},
    reading::{Given, Reading, Resolved},
    scan::{Scanner, comma},
};

pub(super) const DIALECT: Notation = Notation {
    name: "numpy",
    aliases: &["np"],
    about: "NumPy: shape, and strides in bytes",
    claims: only_by_prefix,
    read,
    words: no_words,
    print,
};

/// An array as NumPy describes it.
#[derive(Debug, Default)]
struct Array {
    shape: Option<Vec<u64>>,
    strides: Option<Vec<i64>>,
    dtype: Option<PrimitiveType>,
    offset: i64,
    columns: bool,
}

fn read(text: &str) -> Result<Arc<dyn Reading>, Error> {
    let mut scan = Scanner::new(text);
    let (mut array, mut seen) = (Array::default(), Vec::new());
    loop {
        let (field, span) = scan.name("`shape=`, `strides=`, `dtype=`, `offset=` or `order=`")?;
        if seen.contains(&field) {
            return Err(Error::parse(span, format!("`{field}` is given twice")));
        }
        seen.push(field);
        scan.expect("=")?;
        array.read_field(field, span, &mut scan)?;
        if !scan.eat(",") {
            break;
        }
    }
    scan.end("the array")?;
    array.check(text.len())?;
    Ok(Arc::new(array))
}

impl Array {
    fn read_field(
        &mut self,
        field: &str,
        span: (usize, usize),
        scan: &mut Scanner<'_>,
    ) -> Result<(), Error> {
        match field {
            "shape" => self.shape = Some(scan.list(("(", ")"), MAX_MODES, Scanner::integer)?),
            "strides" => self.strides = Some(scan.list(("(", ")"), MAX_MODES, Scanner::signed)?),
            "offset" => self.offset = scan.signed()?,
            "dtype" => self.dtype = Some(read_dtype(scan)?),
            "order" => {
                let (order, span) = scan.name("`C` or `F`")?;
                if order != "C" && order != "F" {
                    return Err(Error::parse(span, "an order is `C` or `F`"));
                }
                self.columns = order == "F";
            }
            _ => return Err(Error::parse(span, format!("a NumPy array has no `{field}`"))),
        }
        Ok(())
    }

    fn check(&self, end: usize) -> Result<(), Error> {
        let Some(shape) = &self.shape else {
            return Err(Error::parse((end, end), "expected `shape=(…)` too"));
        };
        match &self.strides {
            Some(strides) if strides.len() != shape.len() => Err(Error::parse(
                (0, end),
                format!("{} strides for a shape of {} dims", strides.len(), shape.len()),
            )),
            Some(_) if self.columns => {
                Err(Error::parse((0, end), "strides and an order at once; leave one out"))
            }
            _ => Ok(()),
        }
    }

    fn dims(&self) -> &[u64] {
        self.shape.as_deref().unwrap_or(&[])
    }

    /// The layout in elements of `bytes` bytes.
    fn layout(&self, bytes: i64) -> Result<TensorLayout, Error> {
        let dims = self.dims();
        let Some(strides) = &self.strides else {
            let dense = if self.columns {
                TensorLayout::col_major(dims)?
            } else {
                TensorLayout::row_major(dims)?
            };
            let moved = dense.layout().with_offset(whole(self.offset, bytes)?)?;
            return Ok(TensorLayout::of(&moved));
        };
        let mut modes = Vec::new();
        for (extent, stride) in dims.iter().zip(strides) {
            modes.push(Mode::new(*extent, whole(*stride, bytes)?));
        }
        let layout = Layout::flat(&modes)?.with_offset(whole(self.offset, bytes)?)?;
        Ok(TensorLayout::of(&layout))
    }
}

fn read_dtype(scan: &mut Scanner<'_>) -> Result<PrimitiveType, Error> {
    scan.skip();
    let from = scan.at();
    let name = scan.take(|c| c.is_ascii_alphanumeric() || "_.<>=|?".contains(c));
    dtype(name).map_err(|error| error.shifted(from))
}

/// Bytes as elements.
fn whole(bytes: i64, width: i64) -> Result<i64, Error> {
    if bytes % width == 0 {
        return Ok(bytes / width);
    }
    Err(Error::new(
        Kind::Unsupported,
        format!("{bytes} bytes are no whole number of {width}-byte elements"),
    ))
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shape={}", numpy_tuple(self.dims()))?;
        if let Some(strides) = &self.strides {
            write!(f, ",strides={}", numpy_tuple(strides))?;
        }
        if self.offset != 0 {
            write!(f, ",offset={}", self.offset)?;
        }
        if self.columns {
            f.write_str(",order=F")?;
        }
        self.dtype.map_or(Ok(()), |dtype| write!(f, ",dtype={dtype}"))
    }
}

/// `(3,)`, `(3,5)`.
fn numpy_tuple<T: fmt::Display>(values: &[T]) -> String {
    format!("({}{})", comma(values), if values.len() == 1 { "," } else { "" })
}

impl Reading for Array {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.dims().len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<Resolved, Error> {
        given.agree_dims(self, self.dims())?;
        let known = given.agree_dtype(self, self.dtype)?;
        let in_bytes = self.strides.is_some() || self.offset != 0;
        let bytes = match known {
            Some(dtype) => i64::from(element_bits(dtype) / 8).max(1),
            None if in_bytes => {
                given.need_dtype(self, "its strides in bytes")?;
                1
            }
            None => 1,
        };
        Ok(Resolved {
            layout: self.layout(bytes)?,
            dtype: known,
            bits: None,
            fill: Fill::Unspecified,
            bare: false,
        })
    }
}

/// The layout as a NumPy array.
fn print(named: &Named) -> Result<String, Error> {
    let tensor = named.layout();
    let strided = Strided::of(tensor, "NumPy")?;
    let Some(dtype) = named.dtype() else { return without_dtype(strided) };
    if named.element_bits() != Some(element_bits(dtype)) {
        return Err(unsupported("elements of NumPy have the width of their dtype"));
    }
    let bytes = i64::from(element_bits(dtype) / 8);
    let strides = strided.strides.iter().map(|stride| in_bytes(*stride, bytes));
    let written = Array {
        shape: Some(strided.dims.clone()),
        strides: Some(strides.collect::<Result<_, _>>()?),
        dtype: Some(dtype),
        offset: in_bytes(strided.offset, bytes)?,
        columns: false,
    };
    Ok(format!("numpy:{written}"))
}

/// A dense array needs no strides, so no width either.
fn without_dtype(strided: Strided) -> Result<String, Error> {
    let columns = !strided.is_row_major();
    if strided.offset != 0 || (columns && !strided.is_col_major()) {
        return Err(unsupported("NumPy counts strides in bytes, and the dtype is not known"));
    }
    Ok(format!("numpy:{}", Array { shape: Some(strided.dims), columns, ..Array::default() }))
}

fn in_bytes(elements: i64, bytes: i64) -> Result<i64, Error> {
    elements.checked_mul(bytes).ok_or_else(|| {
        Error::new(Kind::Overflow, format!("{elements} elements of {bytes} bytes leave 64 bits"))
    })
}
