//! Halide: the dims of a buffer, `halide:{min=0,extent=3,stride=5},{0,5,1}`.
//!
//! ```text
//! halide := [ dim { ',' dim } ]
//! dim    := '{' [ 'min' '=' ] int ',' [ 'extent' '=' ] int ',' [ 'stride' '=' ] int '}'
//! ```
//!
//! Dim 0 comes first; it is the fastest dim of most buffers. Strides are elements. Coordinates begin at `min` in
//! Halide and at 0 here. The buffer's pointer is the address of the element at the mins.
//! Source: Halide, `HalideRuntime.h`, `halide_dimension_t`, `halide_buffer_t`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `halide:{0,3,5},{0,5,1}` | | `(3,5):(5,1)` |
//! | `halide:{min=-2, extent=3, stride=1}, {min=0, extent=5, stride=4}` | | `(3,5):(1,4)` |
//! | `halide:{0,3}` | | error: `,` |
//! | `halide:{0,-3,1}` | | error: an extent of -3 |

use std::{fmt, sync::Arc};

use tilewright_core::MAX_MODES;

use super::strided::{Strided, unsupported};
use crate::{
    Error, ResolvedLayout,
    literal::Scanner,
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("halide", "Halide: min, extent and stride of each dim", read, print);

#[derive(Debug)]
struct HalideBuffer {
    mins: Vec<i64>,
    strided: Strided,
}

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let mut scan = Scanner::new(text);
    let strided = Strided { dims: vec![], strides: vec![], offset: 0 };
    let mut buffer = HalideBuffer { mins: vec![], strided };
    while scan.peek().is_some() {
        if !buffer.mins.is_empty() {
            scan.expect(",")?;
        }
        if buffer.mins.len() == MAX_MODES {
            return Err(scan.expected("at most 32 dims"));
        }
        scan.expect("{")?;
        buffer.mins.push(field(&mut scan, "min")?);
        scan.expect(",")?;
        scan.skip();
        let from = scan.at();
        let extent = field(&mut scan, "extent")?;
        let dim = u64::try_from(extent)
            .map_err(|_| Error::parse((from, scan.at()), format!("an extent of {extent}")))?;
        buffer.strided.dims.push(dim);
        scan.expect(",")?;
        buffer.strided.strides.push(field(&mut scan, "stride")?);
        scan.expect("}")?;
    }
    Ok(Arc::new(buffer))
}

/// An integer, perhaps behind its name.
fn field(scan: &mut Scanner<'_>, name: &str) -> Result<i64, Error> {
    if scan.eat(name) {
        scan.expect("=")?;
    }
    scan.signed()
}

impl fmt::Display for HalideBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.mins.iter().zip(&self.strided.dims).zip(&self.strided.strides);
        let parts = parts.map(|((min, dim), stride)| format!("{{{min},{dim},{stride}}}"));
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

impl ParsedSpec for HalideBuffer {
    fn is_concrete(&self) -> bool {
        true
    }

    fn fits(&self, rank: usize) -> bool {
        rank == self.mins.len()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        given.agree_dims(self, &self.strided.dims)?;
        Ok(ResolvedLayout::plain(self.strided.layout()?, given))
    }
}

/// The layout as the dims of a buffer.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let strided = Strided::of(named.layout(), "Halide")?;
    if strided.offset != 0 {
        return Err(unsupported(format!(
            "element 0 lies {} elements into the storage; a Halide buffer points at element 0",
            strided.offset
        )));
    }
    let buffer = HalideBuffer { mins: vec![0; strided.dims.len()], strided };
    Ok(format!("halide:{buffer}"))
}
