//! PyTorch: `torch:size=(3,5),stride=(5,1),storage_offset=2`, `torch.empty_strided((3, 5), (5, 1))`.
//!
//! ```text
//! torch := fields of
//!     size, shape | stride, strides (elements; None: dense) | storage_offset (elements)
//!   | memory_format ('contiguous_format', 'channels_last', 'channels_last_3d') | dtype
//! ```
//!
//! Strides and offset are **elements**, never negative. A call has size, stride and storage_offset in this
//! order. `channels_last` keeps the dims NCHW and stores them NHWC; alone it is an order.
//! Source: PyTorch, `torch.Tensor.as_strided`, "Tensor memory format".
//!
//! | text | array | layout |
//! |---|---|---|
//! | `torch:size=(3,5),stride=(5,1)` | | `(3,5):(5,1)` |
//! | `torch:size=(3,5),stride=(1,3),storage_offset=2,dtype=torch.float16` | | `(3,5):(1,3)+2` |
//! | `torch:size=(2,3,4,5),memory_format=torch.channels_last` | | `(2,3,4,5):(60,1,15,3)` |
//! | `torch.empty_strided((3, 5), (5, 1), dtype=torch.float32)` | | `(3,5):(5,1)` |
//! | `torch:as_strided((2, 2), (0, 1), 3)` | | `(2,2):(0,1)+3` |
//! | `torch:size=(3,5),stride=(-5,1)` | | error: does not allow negative strides |
//! | `torch:size=(3,5),memory_format=channels_last` | | error: 4 dims |
//! | `torch:size=(3,5),stride=(5,)` | | error: 1 strides for a shape of 2 dims |

use std::sync::Arc;

use tilewright_core::TensorLayout;

use super::strided::{LibraryArray, StrideUnit, Strided, not_negative, unsupported};
use crate::{
    Error, ResolvedLayout,
    literal::{Literal, LiteralFields, python_tuple},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("torch", "PyTorch: size, and stride in elements", read, print)
        .with_aliases(&["pytorch"])
        .with_form(claims);

fn claims(text: &str) -> bool {
    text.starts_with("torch.") && text.contains('(')
}

const FIELDS: &[&str] =
    &["size", "stride", "storage_offset", "memory_format", "dtype", "shape", "strides"];

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(text, "a PyTorch tensor", FIELDS, 3)?;
    let mut array = LibraryArray::read(&mut fields, &["size", "shape"], &["dtype"])?;
    let rank = array.dims.len();
    let stride = fields.take_some(&["stride", "strides"])?;
    let format = fields.take_some(&["memory_format"])?;
    if let (Some(_), Some(format)) = (&stride, &format) {
        return Err(Error::parse(format.span, "strides and a memory format; leave one out"));
    }
    if let Some(stride) = stride {
        array.strides = Some((not_negative(&stride, rank, "PyTorch")?, StrideUnit::Elements));
    }
    array.minor_to_major =
        format.map(|format| minor_to_major(&format, rank)).transpose()?.flatten();
    if let Some(offset) = fields.take(&["storage_offset"])? {
        let message = "expected a storage offset of 0 or more elements";
        let offset = offset.unsigned().map_err(|_| Error::parse(offset.span, message))?;
        let offset = i64::try_from(offset).map_err(|_| Error::parse((0, text.len()), message))?;
        array.offset = (offset, StrideUnit::Elements);
    }
    let text = spell(&array);
    Ok(array.reading(text))
}

/// The dims of a memory format, fastest first; `None` is row-major.
fn minor_to_major(format: &Literal<'_>, rank: usize) -> Result<Option<Vec<u64>>, Error> {
    let word = format.word()?;
    let (dims, order) = match word.strip_prefix("torch.").unwrap_or(word) {
        "contiguous_format" => return Ok(None),
        "channels_last" => (4, vec![1, 3, 2, 0]),
        "channels_last_3d" => (5, vec![1, 4, 3, 2, 0]),
        _ => {
            return Err(Error::parse(
                format.span,
                "a memory format is `contiguous_format`, `channels_last` or `channels_last_3d`",
            ));
        }
    };
    if rank != dims {
        let message = format!("`{word}` is the order of {dims} dims, the size has {rank}");
        return Err(Error::parse(format.span, message));
    }
    Ok(Some(order))
}

fn spell(array: &LibraryArray) -> String {
    let mut text = format!("size={}", python_tuple(&array.dims));
    if let Some((strides, _)) = &array.strides {
        text += &format!(",stride={}", python_tuple(strides));
    }
    if let Some(order) = &array.minor_to_major {
        let format = if order.len() == 4 { "channels_last" } else { "channels_last_3d" };
        text += &format!(",memory_format={format}");
    }
    if array.offset.0 != 0 {
        text += &format!(",storage_offset={}", array.offset.0);
    }
    if let Some(dtype) = array.dtype {
        text += &format!(",dtype={dtype}");
    }
    text
}

/// The layout as a tensor: with the name of its memory format where it has one, else with strides.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "PyTorch")?;
    if let Some(stride) = strided.strides.iter().find(|stride| **stride < 0) {
        return Err(unsupported(format!(
            "a stride of {stride}; PyTorch does not allow negative strides"
        )));
    }
    if strided.offset < 0 {
        return Err(unsupported("PyTorch does not allow a negative storage offset"));
    }
    let mut array = LibraryArray::dense(strided.dims.clone());
    array.dtype = named.dtype();
    array.offset = (strided.offset, StrideUnit::Elements);
    let last = match array.dims.len() {
        4 => Some(vec![1, 3, 2, 0]),
        5 => Some(vec![1, 4, 3, 2, 0]),
        _ => None,
    };
    let is_last = last.as_ref().is_some_and(|order| {
        let ordered = TensorLayout::ordered(&array.dims, order).ok();
        let strides = ordered.and_then(|tensor| Strided::of(&tensor, "PyTorch").ok());
        strides.is_some_and(|dense| dense.strides == strided.strides)
    });
    match last {
        Some(order) if is_last && !strided.is_row_major() => array.minor_to_major = Some(order),
        Some(_) | None => array.strides = Some((strided.strides, StrideUnit::Elements)),
    }
    Ok(format!("torch:{}", spell(&array)))
}
