//! Finds the least change that removes all conflicts, and proves that no smaller one does.
//!
//! Law: the change that is found leaves no conflict in any access. Each change before it in the order leaves a
//! conflict, which two threads show. Every candidate is tried, so nothing is guessed.
//!
//! Swizzles `Sw<B,M,S>` replace the layout's own swizzle. They are ordered by the number of bits `B`, then by the
//! distance `|S|` from a changed bit to its source, then by the lowest bit `M`, then `S` before `−S`. The bits inside a
//! vector do not change (`M` is at least their number), so vectors stay contiguous. No bit above those of the largest
//! offset is used, so memory grows at most to the next multiple of the swizzle's window.
//!
//! Padding leaves the same number of elements unused after each row. It is a multiple of the vector and shorter than
//! one cycle through all banks, since longer padding repeats the same banks. The length of a row is the smallest stride
//! of the dims that are not fastest in memory. Padding needs larger strides to be multiples of it.
//!
//! A [`Fix`] is such a change of a layout. The proof that it leaves a conflict is two threads of one turn that access
//! different words of one bank.

use std::fmt;

use tilewright_core::{Error, Layout, Mode, Swizzle, TensorLayout};

use crate::{
    Access, Banks, Turns,
    access::{Moment, VectorOffsets},
};

/// The largest storage that is searched for swizzles, as a power of two of elements: more than any shared memory holds.
const MAX_BITS: u32 = 20;

/// The result of the search for a change of one kind.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, fix};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[8, 64])?;
/// let access = Access::read("ldmatrix", Spread::matrices(&[8, 64], 1, false, 8)?, 8)?;
/// let search = fix(&tile, 16, &Banks::NVIDIA, &[access])?.swizzles;
/// assert_eq!(search.found.unwrap().change.to_string(), "Sw<3,3,3>");
/// assert!(search.failed.iter().all(|failed| failed.pair.threads[0] < failed.pair.threads[1]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Search {
    /// The least change that leaves no conflict, if there is one.
    pub found: Option<Found>,
    /// The changes before it in the order, or all changes if none was found.
    pub failed: Vec<Failed>,
}

/// A change that leaves no conflict.
///
/// ```
/// use tilewright_banks::{Change, Found};
/// use tilewright_core::TensorLayout;
/// let change = Change::Padding { row: 32, by: 1 };
/// let layout = change.layout(&TensorLayout::row_major(&[32, 32])?)?;
/// assert_eq!(Found { change, layout }.layout.capacity(), 1055);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Found {
    /// The change.
    pub change: Change,
    /// The changed layout.
    pub layout: TensorLayout,
}

/// The least swizzle and the least padding that remove the conflicts of all accesses.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, fix};
/// use tilewright_core::TensorLayout;
/// // Three rows of 32 read by columns: no swizzle is needed.
/// let tile = TensorLayout::row_major(&[3, 32])?;
/// let access = Access::read("row", Spread::rows(&[3, 32], 1, 1, 32)?, 1)?;
/// let fix = fix(&tile, 32, &Banks::NVIDIA, &[access])?;
/// assert_eq!(fix.best().unwrap().change.to_string(), "no swizzle");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fix {
    /// The search among swizzles.
    pub swizzles: Search,
    /// The search among paddings; `None` for a layout without rows.
    pub paddings: Option<Search>,
}

impl Fix {
    /// Returns the swizzle if there is one, otherwise the padding.
    ///
    /// ```
    /// use tilewright_banks::{Access, Banks, Spread, fix};
    /// use tilewright_core::TensorLayout;
    /// // Rows of 24: the swizzle takes no memory, the padding takes a float a row.
    /// let tile = TensorLayout::row_major(&[32, 24])?;
    /// let access = Access::read("column", Spread::columns(&[32, 24], 1, 1, 32)?, 1)?;
    /// let fix = fix(&tile, 32, &Banks::NVIDIA, &[access])?;
    /// assert_eq!(fix.best().unwrap().change.to_string(), "Sw<3,0,5>");
    /// let padding = fix.paddings.unwrap().found.unwrap();
    /// assert_eq!(padding.change.to_string(), "padding of 1 behind each 24");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn best(&self) -> Option<&Found> {
        let padding = || self.paddings.as_ref().and_then(|search| search.found.as_ref());
        self.swizzles.found.as_ref().or_else(padding)
    }
}

/// Looks for the least change of a layout that removes the conflicts of all accesses.
///
/// # Errors
/// Those of [`conflicts`](crate::conflicts) for the layout without its swizzle; [limit](Error::is_limit) for a
/// storage of more than 2²⁰ elements.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, fix};
/// use tilewright_core::TensorLayout;
/// // CUTLASS's atom of 128 bytes: 16-bit elements, rows of 64, written by rows and read by ldmatrix.
/// let tile = TensorLayout::row_major(&[64, 64])?;
/// let write = Access::write("row", Spread::rows(&[64, 64], 1, 8, 32)?, 8)?;
/// let read = Access::read("ldmatrix.x4", Spread::matrices(&[64, 64], 4, false, 8)?, 8)?;
/// let fix = fix(&tile, 16, &Banks::NVIDIA, &[write, read])?;
/// assert_eq!(fix.best().unwrap().layout.layout().to_string(), "Sw<3,3,3> o (64,64):(64,1)");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn fix(
    layout: &TensorLayout,
    bits: u32,
    banks: &Banks,
    accesses: &[Access],
) -> Result<Fix, Error> {
    let plain = Change::Swizzle(Swizzle::IDENTITY).layout(layout)?;
    let most = 1 << MAX_BITS;
    if plain.layout().cosize() > most {
        let numbers = [plain.layout().cosize().into(), most.into()];
        let legal = "take a tile that fits in shared memory";
        return Err(Error::limit(
            "a storage of {} elements exceeds the limit of {}",
            numbers,
            legal,
        ));
    }
    let places = accesses
        .iter()
        .map(|access| {
            let places = VectorOffsets::of(access, &plain, bits, banks.lanes())?;
            let turns = banks.turns(places.bytes, access.is_write())?;
            Ok((places, turns))
        })
        .collect::<Result<Vec<(VectorOffsets<'_>, Turns)>, Error>>()?;
    let widest = accesses.iter().map(Access::vector).max().unwrap_or(1);
    let swizzles = search(&plain, &places, banks, swizzles(&plain, widest))?;
    let paddings = match row(&plain) {
        Some(row) if row.is_multiple_of(widest) => {
            let cycle = banks.count() * banks.width() * 8;
            let most = cycle.div_ceil(u64::from(bits).max(1));
            let changes = (widest..most).step_by(usize::try_from(widest).unwrap_or(1));
            let changes = changes.map(|by| Change::Padding { row, by });
            Some(search(&plain, &places, banks, changes)?)
        }
        Some(_) | None => None,
    };
    Ok(Fix { swizzles, paddings })
}

/// Tries changes in order, up to the first that leaves no conflict.
fn search(
    plain: &TensorLayout,
    places: &[(VectorOffsets<'_>, Turns)],
    banks: &Banks,
    changes: impl Iterator<Item = Change>,
) -> Result<Search, Error> {
    let mut pairs = Pairs::new(places, banks);
    let mut failed = Vec::new();
    for change in changes {
        match pairs.of(&change) {
            Some(pair) => failed.push(Failed { change, pair }),
            None => {
                let layout = change.layout(plain)?;
                return Ok(Search { found: Some(Found { change, layout }), failed });
            }
        }
    }
    Ok(Search { found: None, failed })
}

/// Iterates over all swizzles that keep vectors of `widest` elements contiguous, in order.
fn swizzles(plain: &TensorLayout, widest: u64) -> impl Iterator<Item = Change> {
    let last = plain.layout().bounds().and_then(|(_, last)| u64::try_from(last).ok());
    let top = last.map_or(0, |last| u64::BITS - last.leading_zeros());
    let low = widest.checked_next_power_of_two().map_or(MAX_BITS, u64::trailing_zeros);
    in_order(low, top.min(MAX_BITS)).map(Change::Swizzle)
}

/// Iterates over the swizzles between two bits: by the number of bits, then the distance to the source, then the lowest
/// bit, then sources above before sources below.
pub(crate) fn in_order(low: u32, top: u32) -> impl Iterator<Item = Swizzle> {
    let spans = move |bits: u32| (bits..=top).map(move |span| (bits, span));
    let bases = move |(bits, span): (u32, u32)| {
        (low..(top + 1).saturating_sub(bits + span)).map(move |base| (bits, base, span as i8))
    };
    let others = (1..=top).flat_map(spans).flat_map(bases).flat_map(|(bits, base, span)| {
        [span, -span].map(|shift| Swizzle::new(bits as u8, base as u8, shift))
    });
    std::iter::once(Swizzle::IDENTITY).chain(others.flatten())
}

/// Returns the number of elements of a row: the smallest stride of the dims that are not fastest in memory, if all
/// larger strides are multiples of it.
fn row(plain: &TensorLayout) -> Option<u64> {
    let layout = plain.layout();
    let moving = |dim: usize| {
        let modes = layout.axis(dim).unwrap_or_default().iter();
        modes.filter(|mode| mode.extent() > 1).map(move |mode| (mode.stride(), mode.extent(), dim))
    };
    let modes: Vec<(i64, u64, usize)> = (0..layout.rank()).flat_map(moving).collect();
    let &(_, _, fastest) = modes.iter().min()?;
    let row = modes.iter().filter(|mode| mode.2 != fastest).map(|mode| mode.0).min()?;
    let row = u64::try_from(row).ok().filter(|&row| row > 0 && layout.offset() == 0)?;
    let mut reach = 0u64;
    for &(stride, extent, _) in &modes {
        let stride = u64::try_from(stride).ok()?;
        if stride < row {
            reach = reach.checked_add(stride.checked_mul(extent - 1)?)?;
        } else if !stride.is_multiple_of(row) {
            return None;
        }
    }
    (reach < row).then_some(row)
}

/// A change of the offsets of a layout; it replaces the layout's swizzle.
///
/// ```
/// use tilewright_banks::Change;
/// use tilewright_core::Swizzle;
/// let swizzle = Change::Swizzle(Swizzle::new(5, 0, 5).unwrap());
/// assert_eq!((swizzle.apply(33), swizzle.to_string()), (32, "Sw<5,0,5>".into()));
/// let padding = Change::Padding { row: 32, by: 1 };
/// assert_eq!((padding.apply(64), padding.to_string()), (66, "padding of 1 behind each 32".into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A swizzle of the offsets; the identity changes nothing.
    Swizzle(Swizzle),
    /// Unused elements after each row; both numbers count elements.
    Padding {
        /// The elements of a row.
        row: u64,
        /// The number of unused elements after each row.
        by: u64,
    },
}

impl Change {
    /// Returns the changed offset of an element.
    ///
    /// ```
    /// use tilewright_banks::Change;
    /// let padding = Change::Padding { row: 8, by: 2 };
    /// assert_eq!([7, 8, 17].map(|offset| padding.apply(offset)), [7, 10, 21]);
    /// ```
    pub const fn apply(&self, offset: u64) -> u64 {
        match self {
            Change::Swizzle(swizzle) => swizzle.apply(offset),
            Change::Padding { row, by } => {
                let rows = match offset.checked_div(*row) {
                    Some(rows) => rows,
                    None => 0,
                };
                offset.saturating_add(rows.saturating_mul(*by))
            }
        }
    }

    /// Returns the changed layout. The change replaces the swizzle that the layout has.
    ///
    /// # Errors
    /// Errors of the core, such as offsets that overflow.
    ///
    /// ```
    /// use tilewright_banks::Change;
    /// use tilewright_core::TensorLayout;
    /// let padded = Change::Padding { row: 32, by: 1 }.layout(&TensorLayout::row_major(&[32, 32])?)?;
    /// assert_eq!(padded.layout().to_string(), "(32,32):(33,1)");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn layout(&self, tensor: &TensorLayout) -> Result<TensorLayout, Error> {
        let changed = match *self {
            Change::Swizzle(swizzle) => tensor.layout().with_swizzle(swizzle)?,
            Change::Padding { row, by } => padded(tensor.layout(), row, by)?,
        };
        let used = u64::try_from(changed.cosize()).unwrap_or(0);
        let capacity = match self {
            Change::Swizzle(_) => tensor.capacity().max(used),
            Change::Padding { .. } => used,
        };
        TensorLayout::with_steps(tensor.extents(), tensor.steps(), &changed, capacity)
    }
}

/// Returns the layout with `by` unused elements after each `row` elements.
fn padded(layout: &Layout, row: u64, by: u64) -> Result<Layout, Error> {
    let longer = |mode: &Mode| {
        let stride = mode.stride().unsigned_abs();
        let rows = stride.checked_div(row).unwrap_or(0);
        let more = i64::try_from(rows.saturating_mul(by)).unwrap_or(i64::MAX);
        Mode::new(mode.extent(), mode.stride().saturating_add(more))
    };
    let modes: Vec<Mode> = layout.modes().iter().map(longer).collect();
    Layout::new(&modes, layout.profile(), layout.offset(), Swizzle::IDENTITY)
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Swizzle(swizzle) if swizzle.is_identity() => f.write_str("no swizzle"),
            Change::Swizzle(swizzle) => write!(f, "{swizzle}"),
            Change::Padding { row, by } => write!(f, "padding of {by} behind each {row}"),
        }
    }
}

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
