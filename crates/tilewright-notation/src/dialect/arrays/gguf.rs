//! GGUF: the dims of a tensor's entry, **fastest first**: `gguf:ne=[4096,32000],type=F16`.
//!
//! ```text
//! gguf := fields of ne, dims, shape (1 to 4 dims, fastest first) | type, dtype
//! ```
//!
//! The logical dims are the reverse, as in Python's readers, and row-major. Types of quantised blocks are refused,
//! because their elements do not have addresses of their own.
//! Source: ggml, `docs/gguf.md`, `ggml_tensor::ne`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `gguf:ne=[4096,32000],type=F16` | | `(32000,4096):(4096,1)` |
//! | `gguf:[5,3]` | | `(3,5):(5,1)` |
//! | `gguf:ne=[4096,32000],type=Q4_0` | | error: blocks of `Q4_0` |
//! | `gguf:ne=[2,2,2,2,2]` | | error: at most 4 dims |

use std::sync::Arc;

use tilewright_core::{Dtype, DtypeKind};

use super::strided::{LibraryArray, Strided, in_whole_bytes, read_dtype, unsupported};
use crate::{
    Error, ResolvedLayout,
    literal::{Literal, LiteralFields, comma},
    notation::Notation,
    parsed_spec::ParsedSpec,
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("gguf", "GGUF: dims, fastest first", read, print).with_aliases(&["ggml"]);

/// `GGML_MAX_DIMS`.
const MAX_RANK: usize = 4;

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut fields = LiteralFields::read(
        text,
        "a tensor of GGUF",
        &["ne", "type", "dims", "shape", "dtype"],
        1,
    )?;
    let ne = fields.need(&["ne", "dims", "shape"])?;
    let mut dims = ne.dims()?;
    if dims.len() > MAX_RANK {
        return Err(Error::parse(ne.span, "a tensor of GGUF has at most 4 dims"));
    }
    dims.reverse();
    let mut array = LibraryArray::dense(dims);
    if let Some(dtype) = fields.take_some(&["type", "dtype"])? {
        refuse_blocks(&dtype)?;
        array.dtype = Some(read_dtype(&dtype)?);
    }
    let text = spell(&array);
    Ok(array.reading(text))
}

fn refuse_blocks(dtype: &Literal<'_>) -> Result<(), Error> {
    let name = dtype.word()?;
    if Dtype::spelled(name).is_none_or(|dtype| dtype.kind() != DtypeKind::Block) {
        return Ok(());
    }
    let message =
        format!("blocks of `{name}` pack values with their scales; no element has its own address");
    Err(Error::parse(dtype.span, message))
}

fn spell(array: &LibraryArray) -> String {
    let reversed: Vec<u64> = array.dims.iter().rev().copied().collect();
    let dtype = array
        .dtype
        .map_or(String::new(), |dtype| format!(",type={}", dtype.name().to_ascii_uppercase()));
    let known = array.dtype.is_none_or(|d| crate::dtype(&d.name().to_ascii_uppercase()) == Ok(d));
    let plain = array.dtype.map_or(String::new(), |dtype| format!(",type={dtype}"));
    format!("ne=[{}]{}", comma(&reversed), if known { dtype } else { plain })
}

/// The dims, if the layout is row-major.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "GGUF")?;
    if strided.offset != 0 || !strided.is_row_major() {
        return Err(unsupported(
            "GGUF lists dims but no strides: its tensors are dense, the first dim fastest",
        ));
    }
    if strided.dims.len() > MAX_RANK {
        return Err(unsupported("a tensor of GGUF has at most 4 dims"));
    }
    let mut array = LibraryArray::dense(strided.dims);
    array.dtype = in_whole_bytes(named, "GGUF")?.map(|(dtype, _)| dtype);
    Ok(format!("gguf:{}", spell(&array)))
}
