//! The conflicts of an access, counted turn by turn.
//!
//! Law: each bank delivers one word a cycle. The cycles of a turn are the largest number of different words that the
//! turn accesses in one bank; a word that several threads access counts once. The degree is the largest number of
//! cycles of a turn; degree 1 means free of conflicts. The conflicts of a turn are its cycles beyond the first.

use tilewright_core::{Error, TensorLayout};

use crate::{
    Access, Banks, Turns,
    access::{Moment, VectorOffsets},
};

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
