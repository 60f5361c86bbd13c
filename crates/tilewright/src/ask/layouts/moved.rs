//! Answer about the bytes of an array in another layout, where each element is moved by itself.
//!
//! Law: these are the bytes that [`Plan::run`](crate::relayout::Plan::run) writes with zero padding. The code is slow
//! and uses none of relayout's kernels, so tests and the page compare relayout with it.

use std::{borrow::Cow, fmt};

use serde_json::{Value, json};
use tilewright_core::TensorLayout;
use tilewright_notation::ArrayLayout;
use tilewright_relayout::{Elements, Plan, Program};

use crate::{Error, ask::Answer};

/// The largest number of bytes of source and destination together.
const MAX_BYTES: u128 = 1 << 20;

/// Bytes of the destination, if byte i of the source is 7·i + 1 modulo 256 and padding is zero.
///
/// ```
/// use tilewright::{Spec, ask::Moved};
/// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
/// let moved = Moved::of(&named("[2,3] row-major"), &named("[2,3] col-major"), 8)?;
/// assert_eq!(moved.bytes, [1, 22, 8, 29, 15, 36]);
/// assert_eq!(moved.to_string(), "0116081d0f24");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The bytes in the second layout.
    pub bytes: Vec<u8>,
}

impl Moved {
    /// Moves elements of `bits` bits between layouts that may have index tables.
    ///
    /// # Errors
    /// As [`Plan::new`], and [usage](Error::is_usage) beyond 1 MiB, in the field `to`.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Moved};
    /// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    /// // Two elements in one place.
    /// let error = Moved::of(&named("[2,2] row-major"), &named("(2,2):(0,1)"), 8).unwrap_err();
    /// assert_eq!(error.field(), Some("to"));
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// let sorted = Spec::parse("[4] table(0; 2,0,-,3,1) row-major")?.array_layout(None, None, &())?;
    /// assert_eq!(Moved::of(&named("[4] row-major"), &sorted, 8)?.bytes, [15, 1, 0, 22, 8]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of<'a>(
        from: impl Into<Cow<'a, ArrayLayout>>,
        to: impl Into<Cow<'a, ArrayLayout>>,
        bits: u32,
    ) -> Result<Moved, Error> {
        fn refused(error: impl Into<Error>) -> Error {
            error.into().in_field("to")
        }
        let (from, to) = (from.into(), to.into());
        let program = Program::of_arrays(from.layout(), to.layout(), Elements::same(bits), 0);
        let plan = program.map(Plan::of).map_err(refused)?;
        if u128::from(plan.src_bytes()) + u128::from(plan.dst_bytes()) > MAX_BYTES {
            return Err(Error::usage(format!("more than {MAX_BYTES} bytes to move")).in_field("to"));
        }
        let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (7 * i + 1) as u8).collect();
        let mut bytes = vec![0u8; plan.dst_bytes() as usize];
        let array = TensorLayout::row_major(from.layout().extents()).map_err(refused)?;
        for (coord, _) in array.in_order() {
            let at = offset(&from, coord.as_slice()).map_err(refused)?;
            let goes = offset(&to, coord.as_slice()).map_err(refused)?;
            copy_bits(&source, at, &mut bytes, goes, bits as usize);
        }
        Ok(Moved { bytes })
    }
}

fn offset(of: &ArrayLayout, coord: &[u64]) -> Result<i64, tilewright_core::Error> {
    if of.has_tables() { of.layout().offset(coord) } else { of.stored().layout().offset(coord) }
}

/// Copies the element at one offset to another. The first bits of a byte are its lowest.
fn copy_bits(source: &[u8], at: i64, out: &mut [u8], goes: i64, bits: usize) {
    let first = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bits);
    let (at, goes) = (first(at), first(goes));
    for bit in 0..bits {
        let (read, write) = (at.saturating_add(bit), goes.saturating_add(bit));
        if let (Some(from), Some(to)) = (source.get(read / 8), out.get_mut(write / 8)) {
            *to |= (from >> (read % 8) & 1) << (write % 8);
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Answer for Moved {
    fn to_json(&self) -> Value {
        json!({ "bytes": self.to_string() })
    }
}
