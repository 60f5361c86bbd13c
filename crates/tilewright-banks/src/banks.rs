//! The banks of a machine's shared memory, the threads of a warp that are served in one turn, and the conflicts of an
//! access, counted turn by turn.
//!
//! Byte `b` belongs to word `b / width`, and word `w` to bank `w mod count`. The hardware splits a warp's access into
//! turns. In a turn each bank delivers one word a cycle, to all threads of the turn that access it.
//!
//! | machine | access | threads of a turn | banks | source |
//! |---|---|---|---|---|
//! | NVIDIA | to 4 bytes | the warp of 32 | 32 | CUDA C++ Programming Guide, compute capability 5.x: 32 banks, 32 bits a bank and cycle; equal words are broadcast |
//! | | 8 bytes | half a warp | 32 | the same guide, 64-bit requests of compute capability 2.x, which is taken to hold since |
//! | | 16 bytes | a quarter of a warp | 32 | the same guide, 128-bit requests of compute capability 2.x, likewise |
//! | CDNA3 | to 4 bytes | 0–31, 32–63 | 32 | AMD, OpenCL Programming Guide, LDS: half wavefronts are checked for conflicts |
//! | | 8 bytes | 16 in order | 32 | the same guide: quarter wavefronts of 8 bytes |
//! | | writes of 16 bytes | 8 in order | 32 | ROCm, Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts" |
//! | | reads of 16 bytes | 0–3 with 20–23, 4–7 with 16–19, 8–11 with 28–31, 12–15 with 24–27; from 32 on alike | 32 | ROCm blog, "Avoiding LDS Bank Conflicts on AMD GPUs Using CK-Tile Framework" |
//! | CDNA4 | reads to 8 bytes | 0–31, 32–63 | 64 | `HipKittens` (arXiv 2511.08083), measured for 8 bytes |
//! | | reads of 16 bytes | 0–3, 12–15, 20–27 and 4–11, 16–19, 28–31; from 32 on alike | 64 | the same, measured |
//! | | writes | as of CDNA3 | 32 | the same, measured for 8 bytes |
//! | any other | | those that take a word of every bank, 32 at most | | the same rule |

use std::fmt;

use tilewright_core::{Error, TensorLayout};

use crate::{
    Access,
    access::{Moment, VectorOffsets},
};

/// The largest number of threads in a warp.
pub const MAX_LANES: usize = 64;

/// The largest number of threads that are served in one turn.
const TOGETHER: u64 = 32;

/// The largest number of bytes that a thread may access at once.
const WIDEST: u64 = 16;

/// The turn of each group of four threads among 32, for reads of 16 bytes.
const WOVEN_CDNA3: [u8; 8] = [0, 1, 2, 3, 1, 0, 3, 2];
const WOVEN_CDNA4: [u8; 8] = [0, 1, 1, 0, 1, 0, 0, 1];

/// The banks of a machine: their number, their width, and the threads of a warp.
///
/// ```
/// use tilewright_banks::Banks;
/// assert_eq!((Banks::NVIDIA.count(), Banks::NVIDIA.width(), Banks::NVIDIA.lanes()), (32, 4, 32));
/// assert_eq!(Banks::CDNA4.to_string(), "64 banks of 4 bytes, warps of 64 (AMD CDNA4)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banks {
    count: u64,
    width: u64,
    lanes: usize,
    maker: Maker,
}

/// The maker whose rule splits accesses into turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Nvidia,
    Cdna3,
    Cdna4,
    Any,
}

impl Banks {
    /// NVIDIA, compute capability 5.0 and later.
    pub const NVIDIA: Banks = Banks { count: 32, width: 4, lanes: 32, maker: Maker::Nvidia };
    /// AMD CDNA3 (MI300) and before.
    pub const CDNA3: Banks = Banks { count: 32, width: 4, lanes: 64, maker: Maker::Cdna3 };
    /// AMD CDNA4 (MI350).
    pub const CDNA4: Banks = Banks { count: 64, width: 4, lanes: 64, maker: Maker::Cdna4 };

    /// Creates banks of `width` bytes each with warps of 32 threads. 32 banks of 4 bytes are [`Banks::NVIDIA`].
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless both numbers are powers of two, with at most 1,024 banks of at most 64 bytes.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::new(32, 4)?, Banks::NVIDIA);
    /// assert_eq!(Banks::new(16, 8)?.count(), 16);
    /// assert!(Banks::new(24, 4).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn new(count: u64, width: u64) -> Result<Banks, Error> {
        if !(count.is_power_of_two() && width.is_power_of_two() && count <= 1024 && width <= 64) {
            let numbers = [count.into(), width.into()];
            let legal = "both must be powers of two, at most 1024 banks and 64 bytes";
            return Err(Error::illegal("{} banks of {} bytes", numbers, legal));
        }
        let banks = Banks { count, width, lanes: 32, maker: Maker::Any };
        let nvidia = (count, width) == (Banks::NVIDIA.count, Banks::NVIDIA.width);
        Ok(if nvidia { Banks::NVIDIA } else { banks })
    }

    /// Returns the number of banks.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::CDNA4.count(), 64);
    /// ```
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the size of a word in bytes.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::CDNA3.width(), 4);
    /// ```
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// Returns the number of threads in a warp.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::CDNA3.lanes(), 64);
    /// ```
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// Splits an access of `bytes` per thread into turns.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless a thread takes 1, 2, 4, 8 or 16 bytes.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// // Quarters of a warp of NVIDIA's; CDNA3 reads in another order than it writes.
    /// assert_eq!(Banks::NVIDIA.turns(16, false)?.threads(1), [8, 9, 10, 11, 12, 13, 14, 15]);
    /// assert_eq!(Banks::CDNA3.turns(16, false)?.threads(0), [0, 1, 2, 3, 20, 21, 22, 23]);
    /// assert_eq!(Banks::CDNA3.turns(16, true)?.threads(0), [0, 1, 2, 3, 4, 5, 6, 7]);
    /// assert!(Banks::NVIDIA.turns(12, false).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn turns(&self, bytes: u64, write: bool) -> Result<Turns, Error> {
        if !bytes.is_power_of_two() || bytes > WIDEST {
            let legal = "a thread accesses 1, 2, 4, 8 or 16 bytes at once";
            return Err(Error::illegal("an access of {} bytes", [bytes.into()], legal));
        }
        let banks = if write && self.maker == Maker::Cdna4 { 32 } else { self.count };
        let together = (banks * self.width / bytes).clamp(1, TOGETHER) as usize;
        let woven = match self.maker {
            Maker::Cdna3 => Some(WOVEN_CDNA3),
            Maker::Cdna4 => Some(WOVEN_CDNA4),
            Maker::Nvidia | Maker::Any => None,
        };
        let woven = woven.filter(|_| bytes == WIDEST && !write);
        let rows = TOGETHER as usize / together;
        let turn = |lane: usize| match woven {
            Some(order) => lane / 32 * rows + usize::from(order[lane % 32 / 4]),
            None => lane / together,
        };
        Ok(Turns { banks, of: (0..self.lanes).map(turn).collect() })
    }

    /// Returns the source that documents the turns.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert!(Banks::NVIDIA.source().contains("Programming Guide"));
    /// ```
    pub const fn source(&self) -> &'static str {
        match self.maker {
            Maker::Nvidia => "NVIDIA, CUDA C++ Programming Guide, shared memory",
            Maker::Cdna3 => {
                "AMD, OpenCL Programming Guide, LDS; ROCm, Composable Kernel, LDS bank conflicts"
            }
            Maker::Cdna4 => {
                "HipKittens (arXiv 2511.08083), measured; ROCm, Composable Kernel, LDS bank conflicts"
            }
            Maker::Any => {
                "not a vendor's: threads that take one word of every bank are served together"
            }
        }
    }
}

impl fmt::Display for Banks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} banks of {} bytes, warps of {}", self.count, self.width, self.lanes)?;
        f.write_str(match self.maker {
            Maker::Nvidia => " (NVIDIA)",
            Maker::Cdna3 => " (AMD CDNA3)",
            Maker::Cdna4 => " (AMD CDNA4)",
            Maker::Any => "",
        })
    }
}

/// The turns of a warp's access: the threads that the banks serve together.
///
/// ```
/// use tilewright_banks::Banks;
/// let turns = Banks::NVIDIA.turns(8, false)?;
/// assert_eq!((turns.count(), turns.banks(), turns.of(20)), (2, 32, 1));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    banks: u64,
    /// The turn of each thread.
    of: Vec<usize>,
}

impl Turns {
    /// Returns the number of turns.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::CDNA4.turns(16, false)?.count(), 4);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn count(&self) -> usize {
        self.of.iter().max().map_or(0, |last| last + 1)
    }

    /// Returns the number of banks that serve the access.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::CDNA4.turns(16, true)?.banks(), 32);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn banks(&self) -> u64 {
        self.banks
    }

    /// Returns the turn of a thread; 0 for a thread that the warp does not have.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::NVIDIA.turns(16, false)?.of(31), 3);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn of(&self, lane: usize) -> usize {
        self.of.get(lane).copied().unwrap_or(0)
    }

    /// Returns the threads of a turn, in order.
    ///
    /// ```
    /// use tilewright_banks::Banks;
    /// assert_eq!(Banks::NVIDIA.turns(4, false)?.threads(0).len(), 32);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn threads(&self, turn: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&lane| self.of[lane] == turn).collect()
    }
}

// The conflicts of an access, counted turn by turn.
//
// Law: each bank delivers one word a cycle. The cycles of a turn are the largest number of different words that the
// turn accesses in one bank; a word that several threads access counts once. The degree is the largest number of
// cycles of a turn; degree 1 means free of conflicts. The conflicts of a turn are its cycles beyond the first.

/// The conflicts of an access, counted over all its instructions.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, conflicts};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[32, 32])?;
/// let access = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
/// let count = conflicts(&tile, 32, &Banks::NVIDIA, &access)?;
/// assert_eq!((count.instructions, count.turns, count.cycles, count.degree), (32, 32, 1024, 32));
/// assert_eq!((count.tiles, count.values, count.outside, count.conflicts()), (1, 1024, 0, 992));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    /// The number of bytes that a thread accesses at once.
    pub bytes: u64,
    /// The number of banks that serve the access.
    pub banks: u64,
    /// The number of tiles that cover the array, the partial ones included.
    pub tiles: u64,
    /// The number of values of threads that are counted, over all tiles.
    pub values: u64,
    /// The number of values that are not counted because they are outside the array.
    pub outside: u64,
    /// The number of instructions of all warps.
    pub instructions: u64,
    /// The number of turns in which a thread accesses something.
    pub turns: u64,
    /// The cycles of all turns together.
    pub cycles: u64,
    /// The largest number of cycles of a turn; 0 if nothing is accessed.
    pub degree: u64,
    /// The turns of an instruction, in order, each counted over all instructions.
    pub phases: Vec<Phase>,
    /// The first turn with the most cycles; `None` if no turn takes more than one.
    pub worst: Option<Clash>,
}

impl Conflicts {
    /// Returns the cycles beyond the first of each turn.
    ///
    /// ```
    /// use tilewright_banks::{Access, Banks, Spread, conflicts};
    /// use tilewright_core::TensorLayout;
    /// let padded = TensorLayout::of(&tilewright_core::layout!("(32,32):(33,1)"));
    /// let access = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
    /// assert_eq!(conflicts(&padded, 32, &Banks::NVIDIA, &access)?.conflicts(), 0);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn conflicts(&self) -> u64 {
        self.cycles - self.turns
    }
}

/// One turn of an instruction, counted over all instructions.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, conflicts};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[8, 64])?;
/// let access = Access::read("row", Spread::rows(&[8, 64], 1, 4, 32)?, 4)?;
/// let count = conflicts(&tile, 32, &Banks::NVIDIA, &access)?;
/// // Quarters of a warp take 16 bytes a thread.
/// assert_eq!(count.phases.len(), 4);
/// assert_eq!((count.phases[1].threads.len(), count.phases[1].degree), (8, 1));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The threads of a warp that the turn serves.
    pub threads: Vec<usize>,
    /// The most cycles that the turn takes in an instruction.
    pub degree: u64,
    /// The cycles beyond the first, over all instructions.
    pub conflicts: u64,
}

/// A turn in which threads wait for each other, at the bank from which most words are accessed.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, conflicts};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[32, 32])?;
/// let access = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
/// let clash = conflicts(&tile, 32, &Banks::NVIDIA, &access)?.worst.unwrap();
/// assert_eq!((clash.phase, clash.bank, clash.words.len()), (0, 0, 32));
/// assert_eq!((clash.words[2].word, &clash.words[2].threads[..]), (64, &[2][..]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The instruction.
    pub moment: Moment,
    /// The number of the turn in the instruction.
    pub phase: usize,
    /// The bank.
    pub bank: u64,
    /// The different words that are accessed in the bank.
    pub words: Vec<Word>,
}

/// A word and the threads that access it.
///
/// ```
/// use tilewright_banks::Word;
/// let word = Word { word: 64, threads: vec![2, 3], coords: vec![vec![2, 0], vec![2, 1]] };
/// assert_eq!(word.threads.len(), word.coords.len());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The number of the word, from the start of the array.
    pub word: u64,
    /// The threads of the map.
    pub threads: Vec<u64>,
    /// The coordinate of the first element that each thread accesses.
    pub coords: Vec<Vec<u64>>,
}

/// Counts the conflicts of an access of an array with elements of `bits` bits that begins at bank 0.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the tile and the array differ in rank; [illegal](Error::is_illegal) if the
/// elements of a vector are not contiguous, or a vector is not aligned or not 1, 2, 4, 8 or 16 bytes;
/// [limit](Error::is_limit) beyond [`MAX_CELLS`](crate::MAX_CELLS).
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, conflicts};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[8, 64])?;
/// // ldmatrix of 16-bit elements: the eight rows of a matrix are 128 bytes apart.
/// let access = Access::read("ldmatrix.x4", Spread::matrices(&[8, 64], 4, false, 8)?, 8)?;
/// assert_eq!(conflicts(&tile, 16, &Banks::NVIDIA, &access)?.degree, 8);
/// let columns = Access::read("column", Spread::columns(&[8, 64], 0, 2, 32)?, 2)?;
/// let error = conflicts(&tile, 16, &Banks::NVIDIA, &columns).unwrap_err();
/// assert!(error.is_illegal() && error.to_string().contains("have to be contiguous"));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn conflicts(
    layout: &TensorLayout,
    bits: u32,
    banks: &Banks,
    access: &Access,
) -> Result<Conflicts, Error> {
    let places = VectorOffsets::of(access, layout, bits, banks.lanes())?;
    let turns = banks.turns(places.bytes, access.is_write())?;
    let (tiles, values) = places.counted();
    let mut count = Conflicts {
        bytes: places.bytes,
        banks: turns.banks(),
        tiles,
        values,
        outside: access.spread().held().saturating_mul(tiles).saturating_sub(values),
        instructions: places.instructions(),
        turns: 0,
        cycles: 0,
        degree: 0,
        phases: phases(&turns),
        worst: None,
    };
    let mut worst = None;
    for at in 0..places.instructions() {
        for (phase, of) in count.phases.iter_mut().enumerate() {
            let wanted = wanted(&places, at, &turns, phase, banks.width());
            let Some((cycles, bank)) = busiest(&wanted, turns.banks()) else { continue };
            (count.turns, count.cycles) = (count.turns + 1, count.cycles + cycles);
            of.degree = of.degree.max(cycles);
            of.conflicts += cycles - 1;
            if cycles > count.degree {
                (count.degree, worst) = (cycles, Some((at, phase, bank)));
            }
        }
    }
    let worst = worst.filter(|_| count.degree > 1);
    count.worst = worst.map(|(at, phase, bank)| {
        let wanted = wanted(&places, at, &turns, phase, banks.width());
        let words = words(&places, at, &wanted, bank, turns.banks());
        Clash { moment: places.moment(at), phase, bank, words }
    });
    Ok(count)
}

fn phases(turns: &Turns) -> Vec<Phase> {
    let phase = |turn| Phase { threads: turns.threads(turn), degree: 0, conflicts: 0 };
    (0..turns.count()).map(phase).collect()
}

/// Returns the words that the threads of a turn access, each with a thread, sorted.
fn wanted(
    places: &VectorOffsets<'_>,
    at: u64,
    turns: &Turns,
    phase: usize,
    width: u64,
) -> Vec<(u64, usize)> {
    let of_phase = places.threads(at).filter(|(lane, _)| turns.of(*lane) == phase);
    let mut wanted: Vec<(u64, usize)> = of_phase
        .flat_map(|(lane, start)| {
            let byte = places.byte(start);
            (byte / width..=(byte + places.bytes - 1) / width).map(move |word| (word, lane))
        })
        .collect();
    wanted.sort_unstable();
    wanted
}

/// Returns the largest number of different words that are accessed in one bank, and the first such bank.
fn busiest(wanted: &[(u64, usize)], banks: u64) -> Option<(u64, u64)> {
    let mut counts = vec![0u64; usize::try_from(banks).unwrap_or(0)];
    let mut last = None;
    for &(word, _) in wanted {
        if last.replace(word) != Some(word)
            && let Some(count) = counts.get_mut((word % banks) as usize)
        {
            *count += 1;
        }
    }
    let most = counts.iter().copied().max().filter(|&most| most > 0)?;
    Some((most, counts.iter().position(|&count| count == most)? as u64))
}

/// Returns the words that are accessed in a bank, with their threads.
fn words(
    places: &VectorOffsets<'_>,
    at: u64,
    wanted: &[(u64, usize)],
    bank: u64,
    banks: u64,
) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for &(word, lane) in wanted.iter().filter(|(word, _)| word % banks == bank) {
        if words.last().is_none_or(|last| last.word != word) {
            words.push(Word { word, threads: Vec::new(), coords: Vec::new() });
        }
        if let Some(last) = words.last_mut() {
            last.threads.push(places.thread(at, lane));
            last.coords.push(places.coord(at, lane, 0).unwrap_or_default());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_one_turn_and_a_turn_never_wants_more_than_all_banks() {
        for banks in [Banks::NVIDIA, Banks::CDNA3, Banks::CDNA4, Banks::new(16, 8).unwrap()] {
            for (bytes, write) in [1, 2, 4, 8, 16].into_iter().flat_map(|n| [(n, false), (n, true)])
            {
                let turns = banks.turns(bytes, write).unwrap();
                let all: Vec<Vec<usize>> =
                    (0..turns.count()).map(|turn| turns.threads(turn)).collect();
                assert_eq!(all.iter().map(Vec::len).sum::<usize>(), banks.lanes());
                let most = all.iter().map(Vec::len).max().unwrap() as u64;
                assert!(most * bytes <= turns.banks() * banks.width(), "{banks} {bytes}");
                assert!(all.iter().all(|threads| threads.len() as u64 == most));
            }
        }
    }

    #[test]
    fn the_documented_turns() {
        let turns = Banks::CDNA4.turns(16, false).unwrap();
        let first = [0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27];
        let third = first.map(|lane| lane + 32);
        assert_eq!((turns.threads(0), turns.threads(2)), (first.to_vec(), third.to_vec()));
        let turns = Banks::CDNA3.turns(16, false).unwrap();
        assert_eq!(turns.threads(7), [44, 45, 46, 47, 56, 57, 58, 59]);
    }
}
