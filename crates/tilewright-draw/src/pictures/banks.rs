//! The banks of shared memory, and the conflicts of a warp's reads in them.
//!
//! The model follows NVIDIA's CUDA C++ Programming Guide for compute capability 5.0 and later: there are 32 banks of
//! words of 4 bytes, word w in bank w mod 32. The threads of a warp read together. If each thread reads more than 4
//! bytes, the read is split into turns: the threads of a turn read 128 bytes, because shared memory delivers 128 bytes
//! in a cycle. A turn takes one cycle for each different word in its busiest bank; threads that read the same word
//! share it.
//!
//! Law: the degree of a turn is the largest number, over the banks, of different words that it reads from one bank; the
//! degree of a read is the largest of its turns. A degree of 1 is free of conflicts.
//!
//! Draws the banks of shared memory that contain the elements of an array, before and after a change. Elements of
//! threads that wait for each other are marked.
//!
//! Law: a cell shows the bank of its element's first byte, in the colour of the bank; a marked cell also shows the
//! thread.

use std::cell::RefCell;

use tilewright_core::{Error, Swizzle, TensorLayout};

use crate::{
    Band, Cell, Joint, Key, Limits, Paint, Panel, Scene, Subject,
    palette::HUES,
    sheet::{Colouring, Sheet, Spot},
    subject::join,
};

const BANKS: u64 = 32;
/// The bytes of a word, which a bank delivers at a time.
const WORD: u64 = 4;
/// The threads of a warp.
const WARP: u64 = 32;
/// The bytes of a turn.
const TURN: u64 = 128;

/// The read of each thread: adjacent elements along dim 1.
///
/// ```
/// use tilewright_draw::Access;
/// // Eight elements of two bytes, as ldmatrix reads a row of its 8×8 matrices.
/// let access = Access { element_bytes: 2, vector: 8 };
/// assert_eq!(access.element_bytes * access.vector, 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The bytes of an element.
    pub element_bytes: u64,
    /// The elements that a thread reads at once.
    pub vector: u64,
}

/// Draws the banks of a matrix in shared memory; a swizzled one also without its swizzle. Below each column is the
/// degree of a warp's read of it, with one thread for each row from the first on; after each row, that of a read of the
/// row. The first column is marked.
///
/// # Errors
/// [mismatch](Error::is_mismatch) unless there are two dims; [illegal](Error::is_illegal) if a thread does not read 1,
/// 2, 4, 8 or 16 bytes, or the bytes are not contiguous in memory.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_draw::{Access, Limits, Subject, banks};
/// let layout = TensorLayout::of(&Layout::parse("Sw<3,3,3> o (8,64):(64,1)").unwrap());
/// let access = Access { element_bytes: 2, vector: 8 };
/// let scene = banks(&Subject::new(&layout), &access, &Limits::default())?;
/// let [without, with] = [0, 1].map(|at| &scene.bands[0].panels[at].columns[0].tail);
/// assert_eq!((without.as_str(), with.as_str()), ("8", "1"));
///
/// let access = Access { element_bytes: 2, vector: 3 };
/// let error = banks(&Subject::new(&layout), &access, &Limits::default()).unwrap_err();
/// assert!(error.is_illegal() && error.to_string().contains("6 bytes"));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn banks(subject: &Subject<'_>, access: &Access, limits: &Limits) -> Result<Scene, Error> {
    let plain = without_swizzle(subject.layout)?;
    let swizzled = VectorMatrix::new(subject.layout, access)?;
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: format!(
            "shared memory; a thread reads {} bytes at once, cells name the banks it reads",
            swizzled.bytes
        ),
        legend: legend(BANKS),
        ..Scene::default()
    };
    let panels = if plain.is_some() { 2 } else { 1 };
    let limits = Limits { cells: limits.kept().cells / panels, ..*limits };
    let mut band = Band::default();
    let mut degrees = Vec::new();
    for (layout, caption) in
        plain.iter().map(|p| (p, "without its swizzle")).chain([(subject.layout, "")])
    {
        let (mut panel, notes, degree) = VectorMatrix::new(layout, access)?.panel(&limits)?;
        let caption = if caption.is_empty() && plain.is_some() { "with it" } else { caption };
        panel.caption = caption.into();
        panel.detail = format!("the marked column: conflicts {degree}");
        band.panels.push(panel);
        scene.notes = notes;
        degrees.push(degree);
    }
    if plain.is_some() {
        band.joints.push(Joint::Arrow);
    }
    let degrees: Vec<String> = degrees.iter().map(u64::to_string).collect();
    scene.notes.insert(
        0,
        format!("reading a column, one row per thread: conflicts {}", degrees.join(" → ")),
    );
    scene.notes.push("below each column and after each row: the conflicts of reading it".into());
    scene.notes.push(swizzled.model());
    scene.bands.push(band);
    Ok(scene)
}

/// Returns the array without its swizzle, if it has one.
fn without_swizzle(layout: &TensorLayout) -> Result<Option<TensorLayout>, Error> {
    let own = layout.layout();
    if own.swizzle().is_identity() {
        return Ok(None);
    }
    let plain = own.with_swizzle(Swizzle::IDENTITY)?;
    let capacity = layout.capacity().max(u64::try_from(plain.cosize()).unwrap_or(0));
    TensorLayout::with_steps(layout.extents(), layout.steps(), &plain, capacity).map(Some)
}

/// Returns the colours of some banks.
pub(crate) fn legend(banks: u64) -> Vec<Key> {
    let hues = u64::from(HUES);
    let key = |hue: u64| {
        // The banks of a hue: the inverse of `bank * hues / banks`.
        let (from, to) = ((hue * banks).div_ceil(hues), ((hue + 1) * banks).div_ceil(hues));
        let text = match to.saturating_sub(from) {
            0 | 1 => format!("bank {from}"),
            _ => format!("banks {from}–{}", to - 1),
        };
        (from < to).then(|| Key::one(Paint::colour(hue), text))
    };
    (0..hues).filter_map(key).collect()
}

/// A matrix of vectors: one cell is one read of a thread.
struct VectorMatrix<'a> {
    layout: &'a TensorLayout,
    access: &'a Access,
    /// The number of rows, and of vectors in a row.
    rows: u64,
    columns: u64,
    bytes: u64,
}

impl<'a> VectorMatrix<'a> {
    fn new(layout: &'a TensorLayout, access: &'a Access) -> Result<VectorMatrix<'a>, Error> {
        let &[rows, width] = layout.extents() else {
            let rank = [layout.rank() as i128];
            return Err(Error::mismatch(
                "an array of {} dims",
                rank,
                "banks are shown only for a matrix",
            ));
        };
        let bytes = access.element_bytes.saturating_mul(access.vector);
        if ![1, 2, 4, 8, 16].contains(&bytes) {
            let numbers = [access.vector.into(), access.element_bytes.into(), bytes.into()];
            let legal = "a thread reads 1, 2, 4, 8 or 16 bytes";
            return Err(Error::illegal("{} elements of {} bytes are {} bytes", numbers, legal));
        }
        if !width.is_multiple_of(access.vector) {
            let numbers = [width.into(), access.vector.into()];
            return Err(Error::illegal(
                "rows of {} elements in vectors of {}",
                numbers,
                "the vector size must divide a row",
            ));
        }
        Ok(VectorMatrix { layout, access, rows, columns: width / access.vector, bytes })
    }

    /// Returns the number of threads of a turn.
    fn turn(&self) -> u64 {
        (TURN / self.bytes).min(WARP)
    }

    fn model(&self) -> String {
        let turn = self.turn();
        format!(
            "the model: {BANKS} banks of {WORD}-byte words; {turn} threads of a warp are served at once; conflicts are the most words that they need in one bank, and 1 is none"
        )
    }

    /// Returns the first byte of a vector.
    fn address(&self, row: u64, column: u64) -> Result<u64, Error> {
        let first = self.layout.offset(&[row, column * self.access.vector])?;
        for element in 1..self.access.vector {
            let next = self.layout.offset(&[row, column * self.access.vector + element])?;
            if next.checked_sub(first) != i64::try_from(element).ok() {
                let numbers =
                    [element.into(), row.into(), column.into(), self.access.vector.into()];
                let legal = "a thread reads contiguous elements along dim 1; read fewer at once";
                return Err(Error::illegal(
                    "element {} of row {}, vector {} of {}, does not follow the one before it in memory",
                    numbers,
                    legal,
                ));
            }
        }
        let byte = i128::from(first) * i128::from(self.access.element_bytes);
        let numbers = [byte, self.bytes.into()];
        let legal = "an address must be a multiple of the bytes read at once, 0 or more";
        match u64::try_from(byte) {
            Ok(byte) if byte.is_multiple_of(self.bytes) => Ok(byte),
            _ => Err(Error::illegal("a vector at byte {} of {} bytes", numbers, legal)),
        }
    }

    /// Returns the words of a vector.
    fn words(&self, row: u64, column: u64) -> Result<std::ops::RangeInclusive<u64>, Error> {
        let byte = self.address(row, column)?;
        Ok(byte / WORD..=(byte + self.bytes - 1) / WORD)
    }

    /// Returns the degree of a warp's read of these vectors.
    fn degree(&self, vectors: impl Iterator<Item = (u64, u64)>) -> Result<u64, Error> {
        let vectors: Vec<(u64, u64)> = vectors.take(WARP as usize).collect();
        let mut degree = 0;
        for turn in vectors.chunks(self.turn() as usize) {
            let mut wanted: Vec<u64> = Vec::new();
            for &(row, column) in turn {
                wanted.extend(self.words(row, column)?);
            }
            wanted.sort_unstable();
            wanted.dedup();
            let of = |bank: u64| wanted.iter().filter(|&&word| word % BANKS == bank).count() as u64;
            degree = degree.max((0..BANKS).map(of).max().unwrap_or(0));
        }
        Ok(degree)
    }

    fn column_degree(&self, column: u64) -> Result<u64, Error> {
        self.degree((0..self.rows).map(|row| (row, column)))
    }

    /// Returns the panel, notes on the parts that are left out, and the degree of its first column.
    fn panel(&self, limits: &Limits) -> Result<(Panel, Vec<String>, u64), Error> {
        let vectors = TensorLayout::row_major(&[self.rows, self.columns])?;
        let (subject, colouring) = (Subject::new(&vectors), Colouring::new(&vectors));
        let sheet = Sheet::new(&subject, &colouring, limits);
        let failure = RefCell::new(None);
        let (mut panels, left_out) = sheet.panels(&|spot| {
            self.cell(spot).unwrap_or_else(|error| {
                failure.borrow_mut().get_or_insert(error);
                Cell::default()
            })
        });
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let mut panel = panels.pop().unwrap_or_default();
        for margin in &mut panel.columns {
            if let Ok(column) = margin.head.parse() {
                margin.tail = self.column_degree(column)?.to_string();
                margin.head = (column * self.access.vector).to_string();
            }
        }
        for margin in &mut panel.rows {
            if let Ok(row) = margin.head.parse() {
                let vectors = (0..self.columns).map(|column| (row, column));
                margin.tail = self.degree(vectors)?.to_string();
            }
        }
        let degree = if self.columns > 0 { self.column_degree(0)? } else { 0 };
        Ok((panel, sheet.notes(left_out), degree))
    }

    fn cell(&self, spot: &Spot<'_>) -> Result<Cell, Error> {
        let &[row, column] = spot.coord else { return Ok(Cell::default()) };
        let words = self.words(row, column)?;
        let (first, last) = (words.start() % BANKS, words.end() % BANKS);
        let text = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let at = join(&[row, column * self.access.vector]);
        Ok(Cell {
            tip: format!("({at}): byte {}, bank {text}", self.address(row, column)?),
            text,
            paint: Paint::colour(first * u64::from(HUES) / BANKS),
            link: Some(first),
            marked: column == 0 && row < self.turn(),
        })
    }
}

/// Banks, elements, and the elements that threads wait for.
///
/// ```
/// use tilewright_draw::Waiting;
/// let waiting = Waiting { banks: 32, width: 4, element_bits: 32, threads: vec![(vec![1, 0], 1)] };
/// assert_eq!(waiting.bank(33), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The number of banks.
    pub banks: u64,
    /// The bytes of a bank's word.
    pub width: u64,
    /// The width of an element.
    pub element_bits: u32,
    /// Coordinates of elements with the threads that wait for them.
    pub threads: Vec<(Vec<u64>, u64)>,
}

impl Waiting {
    /// Returns the bank of the element at an offset.
    ///
    /// ```
    /// use tilewright_draw::Waiting;
    /// let halves = Waiting { banks: 32, width: 4, element_bits: 16, threads: Vec::new() };
    /// assert_eq!([0, 1, 2, 64].map(|offset| halves.bank(offset)), [0, 0, 1, 0]);
    /// ```
    pub const fn bank(&self, offset: u64) -> u64 {
        let byte = offset.saturating_mul(self.element_bits as u64) / 8;
        let banks = if self.banks == 0 { 1 } else { self.banks };
        byte / if self.width == 0 { 1 } else { self.width } % banks
    }
}

/// Draws the bank of each element of an array, and next to it the banks after a change.
///
/// ```
/// use tilewright_core::{TensorLayout, layout};
/// use tilewright_draw::{Limits, Subject, Waiting, bank_conflicts};
/// let (rows, padded) = (TensorLayout::row_major(&[32, 32])?, TensorLayout::of(&layout!("(32,32):(33,1)")));
/// let waiting = Waiting { banks: 32, width: 4, element_bits: 32, threads: vec![(vec![1, 0], 1)] };
/// let scene =
///     bank_conflicts(&Subject::new(&rows), Some(&Subject::new(&padded)), &waiting, &Limits::default());
/// let cells = scene.bands[0].panels.iter().map(|panel| panel.cell(1, 0).unwrap().text.as_str());
/// assert_eq!(cells.collect::<Vec<_>>(), ["0 T1", "1"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn bank_conflicts(
    before: &Subject<'_>,
    after: Option<&Subject<'_>>,
    waiting: &Waiting,
    limits: &Limits,
) -> Scene {
    let panels = if after.is_some() { 2 } else { 1 };
    let limits = Limits { cells: limits.kept().cells / panels, ..*limits };
    let mut scene = Scene {
        title: before.name.clone(),
        subtitle: "cells name the banks of shared memory, and the threads that wait".into(),
        legend: legend(waiting.banks),
        ..Scene::default()
    };
    let mut band = Band::default();
    let (panel, notes) = of(before, waiting, true, &limits);
    band.panels.extend(panel);
    scene.notes = notes;
    if let Some(after) = after {
        let (panel, _) = of(after, waiting, false, &limits);
        band.panels.extend(panel.map(|panel| Panel { caption: after.name.clone(), ..panel }));
        band.joints.push(Joint::Arrow);
    }
    scene.bands.push(band);
    scene
}

/// Returns the first panel of an array, and notes on the parts that are left out.
fn of(
    subject: &Subject<'_>,
    waiting: &Waiting,
    marked: bool,
    limits: &Limits,
) -> (Option<Panel>, Vec<String>) {
    let colouring = Colouring::new(subject.layout);
    let sheet = Sheet::new(subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| cell(spot, waiting, marked));
    (panels.into_iter().next(), sheet.notes(left_out))
}

fn cell(spot: &Spot<'_>, waiting: &Waiting, marked: bool) -> Cell {
    let Some(offset) = spot.offset.and_then(|offset| u64::try_from(offset).ok()) else {
        return Cell::default();
    };
    let bank = waiting.bank(offset);
    let thread = waiting.threads.iter().find(|(coord, _)| coord == spot.coord);
    let thread = thread.filter(|_| marked).map(|(_, thread)| thread);
    let text = thread.map_or(bank.to_string(), |thread| format!("{bank} T{thread}"));
    let hue = bank.saturating_mul(u64::from(HUES)) / waiting.banks.max(1);
    Cell {
        tip: format!("({}): offset {offset}, bank {bank}", join(spot.coord)),
        text,
        paint: Paint::colour(hue),
        link: Some(bank),
        marked: thread.is_some(),
    }
}
