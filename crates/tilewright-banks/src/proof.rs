//! The proof that a change leaves a conflict: two threads of one turn that access different words of one bank.

use crate::{
    Banks, Change, Turns,
    places::{Moment, VectorOffsets},
};

/// Two threads that wait for each other.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, fix};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[32, 32])?;
/// let access = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
/// let failed = &fix(&tile, 32, &Banks::NVIDIA, &[access])?.swizzles.failed[0];
/// // Without a swizzle, threads 0 and 1 access different words of bank 0.
/// assert_eq!((failed.change.to_string(), failed.pair.threads, failed.pair.bank), ("no swizzle".into(), [0, 1], 0));
/// assert_eq!((failed.pair.coords[1].as_slice(), failed.pair.words), (&[1, 0][..], [0, 32]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The access, as an index into the list.
    pub access: usize,
    /// The instruction.
    pub moment: Moment,
    /// The number of the turn in the instruction.
    pub phase: usize,
    /// The two threads of the map.
    pub threads: [u64; 2],
    /// The coordinate of the first element that each thread accesses.
    pub coords: [Vec<u64>; 2],
    /// The words that the threads access, counted from the start of the array.
    pub words: [u64; 2],
    /// The bank that holds both words.
    pub bank: u64,
}

/// A change that leaves conflicts, with a pair of threads that shows one.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, fix};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[32, 32])?;
/// let access = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
/// let failed = &fix(&tile, 32, &Banks::NVIDIA, &[access])?.swizzles.failed;
/// assert_eq!(failed.last().unwrap().change.to_string(), "Sw<4,0,-6>");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The change.
    pub change: Change,
    /// Two threads that still wait for each other.
    pub pair: Pair,
}

/// The last access to a bank in a turn: the instruction, the word and the thread.
#[derive(Clone, Copy, Default)]
struct LastAccess {
    instruction: u64,
    word: u64,
    lane: usize,
}

/// Looks for conflicting pairs of threads; its buffer is reused.
pub(crate) struct Pairs<'a> {
    places: &'a [(VectorOffsets<'a>, Turns)],
    width: u64,
    banks: usize,
    /// One entry for each bank in each turn.
    asked: Vec<LastAccess>,
    /// The number of instructions looked at so far, over all calls.
    instruction: u64,
    /// The access and the instruction that showed the last pair; they often show the next one too.
    last: (usize, u64),
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(places: &'a [(VectorOffsets<'a>, Turns)], banks: &Banks) -> Pairs<'a> {
        let turns = places.iter().map(|(_, turns)| turns.count()).max().unwrap_or(0);
        let count = usize::try_from(banks.count()).unwrap_or(0);
        let asked = vec![LastAccess::default(); count * turns];
        Pairs { places, width: banks.width(), banks: count, asked, instruction: 0, last: (0, 0) }
    }

    /// Returns two threads that wait for each other after a change; `None` if it leaves no conflict.
    pub(crate) fn of(&mut self, change: &Change) -> Option<Pair> {
        let all = self.places.iter().enumerate();
        let all = all.flat_map(|(access, (places, _))| {
            (0..places.instructions()).map(move |at| (access, at))
        });
        for (access, at) in std::iter::once(self.last).chain(all) {
            let (places, turns) = self.places.get(access)?;
            if let Some((lanes, words)) = self.of_instruction(places, turns, at, change) {
                self.last = (access, at);
                let coord = |lane| places.coord(at, lane, 0).unwrap_or_default();
                return Some(Pair {
                    access,
                    moment: places.moment(at),
                    phase: turns.of(lanes[0]),
                    threads: lanes.map(|lane| places.thread(at, lane)),
                    coords: lanes.map(coord),
                    words,
                    bank: words[0] % turns.banks(),
                });
            }
        }
        None
    }

    fn of_instruction(
        &mut self,
        places: &VectorOffsets<'_>,
        turns: &Turns,
        at: u64,
        change: &Change,
    ) -> Option<([usize; 2], [u64; 2])> {
        self.instruction += 1;
        for (lane, start) in places.threads(at) {
            let byte = places.byte(change.apply(start));
            for word in byte / self.width..=(byte + places.bytes - 1) / self.width {
                let bank = (word % turns.banks()) as usize;
                let asked = self.asked.get_mut(turns.of(lane) * self.banks + bank)?;
                if asked.instruction == self.instruction && asked.word != word {
                    return Some(([asked.lane, lane], [asked.word, word]));
                }
                *asked = LastAccess { instruction: self.instruction, word, lane };
            }
        }
        None
    }
}
