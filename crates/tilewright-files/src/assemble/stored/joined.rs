//! Tensors and fills that follow one another, as the source of one plan: the plan of a whole result reads them.
//!
//! Law: byte i of member k is byte `begin(k) + i` of the whole.

use std::path::Path;

use tilewright_transfer::in_units;

use crate::{
    Error,
    assemble::{
        pieces::exact::{self, Exact},
        stored::{Stored, moved::outside},
    },
    open::{origin::Made, source::Source},
};

/// Tensors and fills that follow one another, as the source of one plan.
#[derive(Debug)]
pub(crate) struct Joined<'c> {
    /// The members, each with the position of its first byte.
    members: Vec<(u64, Member<'c>)>,
    len: u64,
    /// The path of the input, for messages.
    path: &'c Path,
}

/// A part of a joined source.
#[derive(Clone, Debug)]
pub(crate) enum Member<'c> {
    /// The bytes of one unit.
    Fill(Vec<u8>),
    /// A tensor, from a byte of it on.
    Tensor(Stored<'c>, u64),
    /// A tensor of f32, from a byte of it on, each rounded to the nearest bf16.
    Rounded(Stored<'c>, u64),
    /// A tensor of elements of 16 bits, from a byte of it on, as f32.
    Wide(Stored<'c>, u64, Exact),
}

impl<'c> Joined<'c> {
    pub(crate) fn new(path: &'c Path) -> Joined<'c> {
        Joined { members: Vec::new(), len: 0, path }
    }

    /// Adds a member of `len` bytes, and returns the position of its first byte.
    pub(crate) fn add(&mut self, member: Member<'c>, len: u64) -> u64 {
        let begin = self.len;
        self.members.push((begin, member));
        self.len = self.len.saturating_add(len);
        begin
    }

    /// Returns the number of bytes of all members.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the member with a byte, the position of its first byte, and that of the next member.
    fn member(&self, at: u64) -> Option<(&Member<'c>, u64, u64)> {
        let next = self.members.partition_point(|(begin, _)| *begin <= at);
        let (begin, member) = self.members.get(next.checked_sub(1)?)?;
        let end = self.members.get(next).map_or(self.len, |(begin, _)| *begin);
        (at < end).then_some((member, *begin, end))
    }
}

impl Made for Joined<'_> {
    fn read(&self, mut bytes: &mut [u8], mut at: u64) -> Result<(), Error> {
        while !bytes.is_empty() {
            let found = self.member(at).ok_or_else(|| outside("a part", at))?;
            let (member, begin, end) = found;
            let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
            let (now, rest) = bytes.split_at_mut(len);
            member.read(now, at - begin)?;
            (bytes, at) = (rest, at + len as u64);
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.path
    }

    fn in_file(&self, at: u64) -> Option<(&Source, u64)> {
        match self.member(at)? {
            (Member::Tensor(stored, first), begin, _) => stored.in_file(at - begin + first),
            (Member::Fill(_) | Member::Rounded(..) | Member::Wide(..), ..) => None,
        }
    }
}

impl Member<'_> {
    /// Returns the bytes of an element that is computed from its source; 1 if any bytes can be read.
    fn unit(&self) -> u64 {
        match self {
            Member::Fill(_) | Member::Tensor(..) => 1,
            Member::Rounded(..) | Member::Wide(..) => 4,
        }
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        in_units(bytes, at, self.unit(), &mut |bytes, at| self.read_whole(bytes, at))
    }

    /// Fills `bytes` with whole units.
    fn read_whole(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        match self {
            Member::Fill(unit) => {
                let unit = unit.iter().cycle().skip(at as usize % unit.len().max(1));
                bytes.iter_mut().zip(unit).for_each(|(to, from)| *to = *from);
                Ok(())
            }
            Member::Tensor(stored, first) => stored.read(bytes, first + at),
            Member::Rounded(stored, first) => {
                stored.read(bytes, first + at)?;
                exact::round_in_place(bytes);
                Ok(())
            }
            Member::Wide(stored, first, exact) => {
                // The halves are read to the end of the buffer, and none is overwritten before it is widened.
                let half = bytes.len() / 2;
                let tail = bytes.get_mut(half..).unwrap_or_default();
                stored.read(tail, first + at / 2)?;
                exact.widen_in_place(bytes);
                Ok(())
            }
        }
    }
}
