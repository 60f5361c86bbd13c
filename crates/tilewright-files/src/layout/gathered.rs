//! A tensor whose storage order needs index tables, read as row-major elements. Comparisons and sources of bytes use it.
//!
//! Code that compares, sums and cuts arrays needs a shape and strides. For this code, a tensor with tables is its elements in
//! row-major order, read through a plan: a range of these bytes is gathered from their places in the storage.
//!
//! Law: the bytes of a range are those that a conversion to row-major writes there.

use std::fmt;

use tilewright_core::TensorLayout;
use tilewright_notation::ArrayLayout;
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_table::TabledLayout;

use crate::{Error, open::source::Source, transfer::budget::zeros};

/// The layout of a tensor with index tables, and the plan that gathers its row-major elements.
pub(crate) struct Gathered {
    pub(crate) array: ArrayLayout,
    /// The layout of the row-major elements.
    rows: TabledLayout,
    bits: u32,
    plan: Plan,
}

impl Gathered {
    /// Returns the reader of elements of `bits` bits in this layout.
    pub(crate) fn new(array: ArrayLayout, bits: u32) -> Result<Gathered, String> {
        let layout = TensorLayout::row_major(array.layout().extents());
        let rows = TabledLayout::of(&layout.map_err(|error| error.to_string())?);
        let program = Program::of_arrays(array.layout(), &rows, Elements::same(bits), 0);
        let plan = Plan::of(program.map_err(|error| error.to_string())?);
        Ok(Gathered { array, rows, bits, plan })
    }

    /// Returns the layout of the row-major elements.
    pub(crate) fn rows(&self) -> &TensorLayout {
        self.rows.stored()
    }

    /// Returns the number of bytes of the row-major elements.
    pub(crate) fn len(&self) -> u64 {
        self.plan.dst_bytes()
    }

    /// Fills `bytes` with the bytes of the row-major elements from byte `from` on; the tensor begins at byte `at` of its file.
    pub(crate) fn read(
        &self,
        (source, at): (&Source, u64),
        bytes: &mut [u8],
        from: u64,
    ) -> Result<(), Error> {
        let failed = |error: &tilewright_relayout::Error| {
            Error::unsupported(source.path(), format!("an index table: {error}"))
        };
        let end = from.saturating_add(bytes.len() as u64);
        let chunk = self.plan.chunk(from..end).map_err(|error| failed(&error))?;
        let mut buffer = zeros(chunk.buffer_len() as u64)?;
        for read in chunk.reads() {
            let into = buffer.get_mut(read.at..read.at + read.len).unwrap_or_default();
            source.read(into, at.saturating_add(read.src))?;
        }
        chunk.run(&buffer, bytes, 1).map_err(|error| failed(&error))
    }
}

/// The number of bytes of storage that are checked at once for padding.
const WINDOW: u64 = 256 << 10;

impl Gathered {
    /// Returns the first element of the storage that is neither an element of the array nor `fill`, with its value.
    ///
    /// The padding is found by two conversions, of an array of zeros and of an array of ones: their results differ exactly at the
    /// places of elements.
    pub(crate) fn unfilled(
        &self,
        (source, at): (&Source, u64),
        fill: u128,
    ) -> Result<Option<(u64, u128)>, Error> {
        let failed = |error: tilewright_relayout::Error| {
            Error::unsupported(source.path(), format!("an index table: {error}"))
        };
        let (layout, bits) = (self.array.layout(), self.bits);
        if layout.padding() == 0 {
            return Ok(None);
        }
        let program = Program::of_arrays(&self.rows, layout, Elements::same(bits), fill);
        let plan = Plan::of(program.map_err(failed)?);
        for range in plan.ranges(WINDOW) {
            let (len, chunk) =
                (range.end - range.start, plan.chunk(range.clone()).map_err(failed)?);
            let mut buffer = zeros(chunk.buffer_len() as u64)?;
            let (mut low, mut high, mut is) = (zeros(len)?, zeros(len)?, zeros(len)?);
            chunk.run(&buffer, &mut low, 1).map_err(failed)?;
            buffer.fill(0xFF);
            chunk.run(&buffer, &mut high, 1).map_err(failed)?;
            source.read(&mut is, at.saturating_add(range.start))?;
            let each = low.iter().zip(&high).zip(&is);
            let wrong = |((low, high), is): ((&u8, &u8), &u8)| !(low ^ high) & (low ^ is) != 0;
            if let Some(byte) = each.map(wrong).position(|wrong| wrong) {
                let first = (range.start + byte as u64) * 8 / u64::from(bits);
                return self.holding((source, at), first).map(|holds| Some((first, holds)));
            }
        }
        Ok(None)
    }

    /// Returns the first 128 bits of an element of the storage.
    fn holding(&self, (source, at): (&Source, u64), offset: u64) -> Result<u128, Error> {
        let (bits, mut bytes) = (u64::from(self.bits), [0; 16]);
        let len = bits.div_ceil(8).min(16) as usize;
        let into = bytes.get_mut(..len).unwrap_or_default();
        source.read(into, at.saturating_add(offset * bits / 8))?;
        let shift = offset * bits % 8;
        let all = u128::from_le_bytes(bytes) >> shift;
        Ok(if bits < 128 { all & ((1 << bits) - 1) } else { all })
    }
}

impl fmt::Debug for Gathered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gathered({:?})", self.array.layout())
    }
}
