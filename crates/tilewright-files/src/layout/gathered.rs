//! A tensor whose storage order needs index tables, read as dense elements. Comparisons and sources of bytes use it.
//!
//! Code that compares, sums and cuts arrays needs a shape and strides. For this code, a tensor with tables is its elements in
//! the order of its storage, as far as an order of dims expresses it, read through a plan: a range of these bytes is gathered
//! from their places in the storage. So a range of the dense elements is near to one of the storage.
//!
//! Law: the bytes of a range are those that a conversion to the dense layout writes there.

use std::{cmp::Reverse, fmt};

use tilewright_core::{Layout, Mode, TensorLayout};
use tilewright_notation::ArrayLayout;
use tilewright_relayout::{Elements, Plan, Program, SourceStep};
use tilewright_table::TabledLayout;

use crate::{Error, convert::budget::zeros, error, open::source::Source};

/// The layout of a tensor with index tables, and the plan that gathers its dense elements.
pub(crate) struct Gathered {
    pub(crate) array: ArrayLayout,
    /// The layout of the dense elements.
    dense: TabledLayout,
    /// For each dim, whether its indices are scattered in the storage.
    scattered: Vec<bool>,
    /// The number of dense elements whose places are contiguous together, if dims are scattered.
    run: u64,
    bits: u32,
    plan: Plan,
}

impl Gathered {
    /// Returns the reader of elements of `bits` bits in this layout.
    pub(crate) fn new(array: ArrayLayout, bits: u32) -> Result<Gathered, String> {
        let extents = array.layout().extents();
        let program = |dense: &TensorLayout| {
            let dense = TabledLayout::of(dense);
            let program = Program::of_arrays(array.layout(), &dense, Elements::same(bits), 0);
            program.map_err(|error| error.to_string())
        };
        let said = |error: tilewright_core::Error| error.to_string();
        let steps = steps(extents, &program(&TensorLayout::row_major(extents).map_err(said)?)?);
        let dense = dense(extents, &steps).map_err(said)?;
        let (scattered, run) = scattered(extents, &steps);
        let plan = Plan::of(program(&dense)?);
        Ok(Gathered { dense: TabledLayout::of(&dense), scattered, run, array, bits, plan })
    }

    /// Returns the layout of the dense elements.
    pub(crate) fn dense(&self) -> &TensorLayout {
        self.dense.stored()
    }

    /// Returns for each dim whether its indices are scattered in the storage, so that only all of them are contiguous; empty if
    /// this makes no run shorter.
    pub(crate) fn scattered(&self) -> &[bool] {
        &self.scattered
    }

    /// Returns the number of bytes of the dense elements.
    pub(crate) fn len(&self) -> u64 {
        self.plan.dst_bytes()
    }

    /// Fills `bytes` with the bytes of the dense elements from byte `from` on; the tensor begins at byte `at` of its file.
    pub(crate) fn read(
        &self,
        (source, at): (&Source, u64),
        bytes: &mut [u8],
        from: u64,
    ) -> Result<(), Error> {
        let failed =
            |error: &Error| error::unsupported(source.path(), format!("an index table: {error}"));
        let mut from = from;
        for bytes in bytes.chunks_mut(self.step()) {
            let end = from.saturating_add(bytes.len() as u64);
            let chunk = self.plan.chunk(from..end).map_err(|error| failed(&error))?;
            let mut buffer = zeros(chunk.buffer_len() as u64)?;
            for read in chunk.reads() {
                let into = buffer.get_mut(read.at..read.at + read.len).unwrap_or_default();
                source.read(into, at.saturating_add(read.src))?;
            }
            chunk.run(&buffer, bytes, 1).map_err(|error| failed(&error))?;
            from = end;
        }
        Ok(())
    }

    /// Returns the bytes that are gathered at once: some runs of scattered indices, if these are not too long.
    fn step(&self) -> usize {
        let run = (self.run.saturating_mul(u64::from(self.bits)) / 8).max(1);
        (WINDOW / run).max(1).saturating_mul(run).min(LONGEST) as usize
    }
}

/// Returns the steps of each dim in the storage, from the program that writes the elements row-major.
fn steps(extents: &[u64], program: &Program) -> Vec<SourceStep> {
    let none = SourceStep { mean: 0, is_scattered: false };
    let wide = extents.iter().filter(|extent| **extent > 1).count();
    let mut digits = 0..;
    let mut step = |extent: &u64| match (*extent > 1).then(|| digits.next()).flatten() {
        Some(digit) if program.digits().digits().len() == wide => {
            program.digits().source_step(digit)
        }
        _ => none,
    };
    extents.iter().map(&mut step).collect()
}

/// Returns the dense layout whose dims are in the order of their steps; the last dim is the fastest of those with equal steps.
fn dense(extents: &[u64], steps: &[SourceStep]) -> Result<TensorLayout, tilewright_core::Error> {
    let wide = |dim: &usize| extents.get(*dim).is_some_and(|extent| *extent > 1);
    let mut order: Vec<usize> = (0..extents.len()).filter(wide).collect();
    order.sort_by_key(|dim| (steps.get(*dim).map_or(0, |step| step.mean), Reverse(*dim)));
    if extents.contains(&0) || order.is_sorted_by(|a, b| a > b) {
        return TensorLayout::row_major(extents);
    }
    if order.is_sorted() {
        return TensorLayout::col_major(extents);
    }
    let (mut modes, mut pitch) = (vec![Mode::new(1, 0); extents.len()], 1u64);
    for dim in order {
        if let (Some(mode), Some(extent)) = (modes.get_mut(dim), extents.get(dim)) {
            *mode = Mode::new(*extent, pitch as i64);
            pitch = pitch.saturating_mul(*extent);
        }
    }
    let size = extents.iter().product();
    TensorLayout::new(extents, &Layout::nested(&modes, &vec![1; modes.len()])?, size)
}

/// Returns for each dim whether its indices are scattered, if those of the fastest dim are.
fn scattered(extents: &[u64], steps: &[SourceStep]) -> (Vec<bool>, u64) {
    let each = extents.iter().zip(steps).rev().filter(|(extent, _)| **extent > 1);
    match each.min_by_key(|(_, step)| step.mean) {
        Some((extent, step)) if step.is_scattered => {
            (steps.iter().map(|step| step.is_scattered).collect(), *extent)
        }
        _ => (Vec::new(), 1),
    }
}

/// The number of bytes that are gathered at once, or checked at once for padding.
const WINDOW: u64 = 256 << 10;

/// The largest number of bytes that are gathered at once.
const LONGEST: u64 = 4 << 20;

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
        let failed =
            |error: Error| error::unsupported(source.path(), format!("an index table: {error}"));
        let (layout, bits) = (self.array.layout(), self.bits);
        if layout.padding() == 0 {
            return Ok(None);
        }
        let program = Program::of_arrays(&self.dense, layout, Elements::same(bits), fill);
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

#[cfg(test)]
mod tests {
    use tilewright_core::Dtype;
    use tilewright_notation::Spec;

    use super::*;

    /// Returns an order of numbers in which few follow each other.
    fn shuffled(count: u64) -> String {
        let all: Vec<String> = (0..count).map(|i| (i * 389 % count).to_string()).collect();
        all.join(",")
    }

    /// The dense elements are near to the storage: their ranges together read it about once, in few calls.
    #[test]
    fn ranges_of_dense_elements_are_near_to_the_storage() {
        for (dim, stored) in
            [0, 1].into_iter().flat_map(|dim| [(dim, "row-major"), (dim, "col-major")])
        {
            let (dims, list) = ([1024, 1024], shuffled(1024));
            let spec = Spec::parse(&format!("table({dim}; {list}) {stored}")).unwrap();
            let array = spec.array_layout(Some(&dims), Some(Dtype::F32), &()).unwrap();
            let gathered = Gathered::new(array, 32).unwrap();
            let columns = TensorLayout::col_major(&dims).unwrap();
            assert_eq!(*gathered.dense() == columns, stored == "col-major");
            let inner = (dim == 1) == (stored == "row-major");
            let scattered: &[bool] = if inner { &[dim == 0, dim == 1] } else { &[] };
            assert_eq!(gathered.scattered(), scattered, "{dim} {stored}");
            let (step, len) = (gathered.step() as u64, gathered.len());
            let (mut calls, mut bytes) = (0, 0);
            for at in (0..len).step_by(step as usize) {
                let chunk = gathered.plan.chunk(at..(at + step).min(len)).unwrap();
                (calls, bytes) = (calls + chunk.reads().count(), bytes + chunk.buffer_len() as u64);
            }
            assert!(calls <= 2048 && bytes <= len * 5 / 4, "{dim} {stored}: {calls} {bytes}");
        }
    }
}
