//! Groups of adjacent reads that one call reads together.
//!
//! Law: a call reads at most one and a half times the bytes of its reads, which may contain gaps themselves. Every read
//! is part of one call, in its order.

use tilewright_relayout::{CALL, Read};

/// Reads that one call serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadGroup {
    /// The first byte in the source.
    pub(crate) src: u64,
    /// The bytes of the call, gaps included.
    pub(crate) span: u64,
    /// The number of reads.
    pub(crate) count: usize,
    /// The bytes without gaps.
    needed: u64,
}

impl ReadGroup {
    /// Adds a read that follows, if the call stays within `most` bytes and the gap costs less than a call.
    fn joins(&mut self, read: &Read, most: u64) -> bool {
        let (len, needed) = (read.len as u64, self.needed + read.len as u64);
        let Some(from) = read.src.checked_sub(self.src).filter(|from| *from >= self.span) else {
            return false;
        };
        let is_near = from - self.span <= CALL;
        let joins = is_near && from + len <= needed + needed / 2 && from + len <= most;
        if joins {
            (self.span, self.needed, self.count) = (from + len, needed, self.count + 1);
        }
        joins
    }
}

/// Returns reads in groups of adjacent reads, in their order. Each group has at most `most` bytes, or one read.
pub(crate) fn groups(
    reads: impl Iterator<Item = Read>,
    most: u64,
) -> impl Iterator<Item = ReadGroup> {
    let mut reads = reads.peekable();
    std::iter::from_fn(move || {
        let first = reads.next()?;
        let len = first.len as u64;
        let mut group = ReadGroup { src: first.src, span: len, count: 1, needed: len };
        while reads.next_if(|read| group.joins(read, most)).is_some() {}
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_hold_all_reads_and_few_other_bytes(
            gaps in prop::collection::vec((0u64..6000, 1usize..3000), 0..40), most in 1u64..20_000,
        ) {
            let (mut src, mut reads) = (0, Vec::new());
            for (gap, len) in gaps {
                src += gap;
                reads.push(Read { src, len, at: 0 });
                src += len as u64;
            }
            let mut rest = reads.iter();
            for group in groups(reads.iter().copied(), most) {
                let own: Vec<&Read> = rest.by_ref().take(group.count).collect();
                prop_assert_eq!(own[0].src, group.src);
                let last = own[own.len() - 1];
                prop_assert_eq!(last.src + last.len as u64, group.src + group.span);
                let needed: u64 = own.iter().map(|read| read.len as u64).sum();
                prop_assert!(2 * group.span <= 3 * needed);
                prop_assert!(group.count == 1 || group.span <= most);
                prop_assert!(own.windows(2).all(|two| two[1].src - two[0].src - two[0].len as u64 <= CALL));
            }
            prop_assert!(rest.next().is_none());
        }
    }
}
