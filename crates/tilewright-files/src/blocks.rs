//! Reads at any position of a tensor, with bounded memory: the whole tensor is held where it fits, else
//! blocks of it, of which a new one replaces the oldest.

use std::collections::HashMap;

use crate::{
    Error,
    budget::{Budget, Buffer},
    source::Source,
};

/// The length of a block in bytes, where a tensor does not fit whole.
const BLOCK: u64 = 1 << 14;

/// The bytes `at..at + len` of a file.
pub(crate) struct Blocks<'a, 'b> {
    source: &'a Source,
    at: u64,
    len: u64,
    block: u64,
    slots: Vec<Buffer<'b>>,
    /// Which slot holds which block, and the other way round.
    held: HashMap<u64, usize>,
    holds: Vec<Option<u64>>,
    /// The slot that is filled next.
    next: usize,
    /// The bytes of the block asked for last, and its slot.
    last: (u64, u64, usize),
}

impl<'a, 'b> Blocks<'a, 'b> {
    /// Reads through at most `bound` bytes of buffers; a block is a whole number of units of `unit`
    /// bytes.
    pub(crate) fn new(
        source: &'a Source,
        (at, len): (u64, u64),
        unit: u64,
        bound: u64,
        budget: &'b Budget,
    ) -> Result<Blocks<'a, 'b>, Error> {
        let unit = unit.max(1);
        let block = if len <= bound { len.max(1) } else { (BLOCK.min(bound) / unit).max(1) * unit };
        let count = if len <= bound { 1 } else { (bound / block).max(1) };
        let mut slots = Vec::new();
        for _ in 0..count {
            slots.push(budget.buffer(block)?);
        }
        let holds = vec![None; slots.len()];
        let (held, next, last) = (HashMap::new(), 0, (0, 0, 0));
        Ok(Blocks { source, at, len, block, slots, held, holds, next, last })
    }

    /// The bytes from byte `from` on that its block holds: at least one, at most `len`. An error
    /// beyond the tensor.
    pub(crate) fn get(&mut self, from: u64, len: usize) -> Result<&[u8], Error> {
        let (start, end, _) = self.last;
        if from < start || from >= end {
            self.find(from)?;
        }
        let (start, end, slot) = self.last;
        let len = (end - from).min(len as u64) as usize;
        let within = (from - start) as usize;
        let part = self.slots.get(slot).and_then(|bytes| bytes.get(within..within + len));
        part.ok_or_else(|| beyond(self.source, from, self.len))
    }

    /// Makes the block of byte `from` the last one asked for, reading it if need be.
    fn find(&mut self, from: u64) -> Result<(), Error> {
        if from >= self.len {
            return Err(beyond(self.source, from, self.len));
        }
        let block = from / self.block;
        let start = block * self.block;
        let end = start.saturating_add(self.block).min(self.len);
        let slot = match self.held.get(&block) {
            Some(slot) => *slot,
            None => self.read(block, start, (end - start) as usize)?,
        };
        self.last = (start, end, slot);
        Ok(())
    }

    fn read(&mut self, block: u64, start: u64, len: usize) -> Result<usize, Error> {
        let slot = self.next;
        self.next = (slot + 1) % self.slots.len().max(1);
        let (Some(bytes), Some(holds)) = (self.slots.get_mut(slot), self.holds.get_mut(slot))
        else {
            return Err(beyond(self.source, start, self.len));
        };
        // Until it is read, the slot holds nothing.
        if let Some(old) = holds.take() {
            self.held.remove(&old);
        }
        self.source.read(&mut bytes[..len], self.at + start)?;
        *holds = Some(block);
        self.held.insert(block, slot);
        Ok(slot)
    }
}

fn beyond(source: &Source, from: u64, len: u64) -> Error {
    Error::corrupt(source.path(), format!("byte {from} of a tensor of {len} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn blocks_give_the_bytes_of_the_file_within_the_bound() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let data: Vec<u8> = (0..100_000u32).map(|i| ((i * 7919) >> 8) as u8).collect();
        file.write_all(&data).unwrap();
        let source = Source::open(file.path()).unwrap();
        for bound in [3, 100, 20_000, 50_000, 200_000] {
            let budget = Budget::new(bound);
            let mut blocks = Blocks::new(&source, (1000, 90_000), 3, bound, &budget).unwrap();
            let mut at = 1u64;
            for _ in 0..2000 {
                at = (at * 48_271) % 89_991;
                let (at, mut seen) = (at / 3 * 3, 0);
                while seen < 9 {
                    let part = blocks.get(at + seen as u64, 9 - seen).unwrap();
                    let from = 1000 + at as usize + seen;
                    assert_eq!(part, &data[from..from + part.len()]);
                    assert!(part.len().is_multiple_of(3) && !part.is_empty());
                    seen += part.len();
                }
            }
            assert!(blocks.get(90_000, 1).is_err() && blocks.get(u64::MAX, 1).is_err());
            drop(blocks);
            assert!(budget.peak() <= bound.max(3));
        }
    }
}
