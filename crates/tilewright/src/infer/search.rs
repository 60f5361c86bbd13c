//! Search for layouts through the storage, from its first element on, one digit after the other.
//!
//! At every step a block is known: the first cells of the storage, with the element or padding that each of them holds. The cell
//! after the block begins the next digit: it holds the element one step further along some axis, or padding. The block must then
//! repeat, moved along that axis, once for each value of the digit. The first repetition that differs ends the digit. If values
//! repeat, several digits may fit, and each is tried; a wrong one fails after few cells.
//!
//! Numbers for elements: two numbers are equal if the bytes of their elements are.
//!
//! Digits in the order in which they are found, innermost first, and the layout that they make.

use std::collections::HashMap;

use tilewright_core::{Digit, Pattern, TensorLayout};

/// A cell without an element.
const PADDING: usize = usize::MAX;
/// The number of layouts after which the search ends, if values repeat.
const ENOUGH: usize = 4;
/// The largest number of digits of one layout.
const MOST_DIGITS: usize = 24;
/// The steps that the search may take, in addition to those in proportion to the buffer.
const STEPS: u64 = 1 << 28;

pub(super) struct LayoutSearch<'a> {
    elements: &'a [u64],
    dims: &'a [u64],
    /// Row-major strides.
    strides: Vec<usize>,
    packed: &'a [u64],
    /// Each element on an axis, sorted: its value, its axis and its coordinate there.
    lines: Vec<(u64, usize, u64)>,
    divisors: Vec<u64>,
    /// The element that each cell of the block holds.
    block: Vec<usize>,
    placed: Vec<Placed>,
    /// The number of layouts after which the search ends.
    enough: usize,
    steps: u64,
    furthest: usize,
    pub(super) found: Vec<TensorLayout>,
}

impl<'a> LayoutSearch<'a> {
    pub(super) fn new(elements: &'a [u64], dims: &'a [u64], packed: &'a [u64]) -> LayoutSearch<'a> {
        let mut strides = vec![1; dims.len()];
        for axis in (1..dims.len()).rev() {
            strides[axis - 1] = strides[axis] * dims[axis] as usize;
        }
        let mut lines = Vec::new();
        for (axis, (extent, stride)) in dims.iter().zip(&strides).enumerate() {
            lines.extend((1..*extent).map(|at| (elements[at as usize * stride], axis, at)));
        }
        lines.sort_unstable();
        let divisors = divisors(packed.len() as u64);
        LayoutSearch {
            elements,
            dims,
            strides,
            packed,
            lines,
            divisors,
            block: vec![0],
            placed: Vec::new(),
            // If all elements differ, each has one place, so only one layout can fit.
            enough: if distinct(elements) { 1 } else { ENOUGH },
            steps: 64 * packed.len() as u64 + STEPS,
            furthest: 0,
            found: Vec::new(),
        }
    }

    /// Searches all layouts, until enough are found.
    pub(super) fn run(&mut self) {
        if self.packed[0] == self.elements[0] {
            self.furthest = 1;
            self.go();
        }
    }

    pub(super) fn gave_up(&self) -> bool {
        self.steps == 0
    }

    /// Returns a message about the furthest element that any layout explains.
    pub(super) fn furthest(&self) -> String {
        let (at, gave_up) = (self.furthest, if self.gave_up() { "; gave up" } else { "" });
        if at == self.packed.len() {
            return format!(
                "digits explain all {at} elements of the packed buffer but not all of the array: storage that is a box of digits has another length{gave_up}"
            );
        }
        format!(
            "digits explain the first {at} of {} elements of the packed buffer but not element {at}{gave_up}",
            self.packed.len()
        )
    }

    fn ended(&self) -> bool {
        self.steps == 0 || self.found.len() >= self.enough
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps as u64);
    }

    fn go(&mut self) {
        let whole = self.block.len();
        self.furthest = self.furthest.max(whole);
        if whole == self.packed.len() {
            return self.record();
        }
        if self.placed.len() == MOST_DIGITS {
            return;
        }
        let last = self.placed.last();
        let end = last.map(|digit| (digit.axis, digit.step.saturating_mul(digit.size)));
        let mut digits = Vec::new();
        for (axis, step) in self.beginnings(whole) {
            // A digit that begins where the last one ends continues that digit.
            if end != Some((Some(axis), step)) {
                digits.push((self.reach(axis, step), axis, step));
            }
        }
        // Longest runs come first: a wrong digit ends after few repetitions.
        tilewright_core::sort_short(&mut digits, |(run, ..)| std::cmp::Reverse(*run));
        for (run, axis, step) in digits {
            if self.ended() {
                return;
            }
            self.digit(axis, step, run);
        }
        if self.placed.last().is_none_or(|digit| digit.axis.is_some()) {
            self.padding();
        }
    }

    /// Returns the axis and the step of each digit that can begin with the element in a cell.
    fn beginnings(&self, cell: usize) -> Vec<(usize, u64)> {
        let value = self.packed[cell];
        let from = self.lines.partition_point(|line| line.0 < value);
        let same = self.lines[from..].iter().take_while(|line| line.0 == value);
        same.map(|&(_, axis, step)| (axis, step))
            .filter(|&(axis, step)| room(&self.placed, axis, step).is_some())
            .collect()
    }

    /// Returns the largest number of coordinates that a digit that begins here may have.
    fn most(&self, axis: usize, step: u64) -> u64 {
        let extent = self.dims[axis].div_ceil(step);
        match room(&self.placed, axis, step) {
            None | Some(0) => extent,
            Some(room) => room.min(extent),
        }
    }

    /// Returns the number of coordinates over which a digit that begins here fits the storage.
    fn reach(&mut self, axis: usize, step: u64) -> u64 {
        self.run_of(axis, step, self.most(axis, step))
    }

    /// Tries every size of a digit that begins here and fits over `run` coordinates.
    fn digit(&mut self, axis: usize, step: u64, run: u64) {
        let Some(room) = room(&self.placed, axis, step) else { return };
        let left = (self.packed.len() / self.block.len()) as u64;
        let fits: Vec<u64> =
            self.divisors.iter().copied().filter(|d| left.is_multiple_of(*d)).collect();
        // A digit that reaches the end of its axis may continue with padding.
        let to_the_end = run == self.most(axis, step);
        let beyond = fits.iter().copied().filter(|&size| to_the_end && size >= run);
        let most = if to_the_end { run - 1 } else { run };
        let within = fits.iter().rev().copied().filter(|&size| 1 < size && size <= most);
        let sizes: Vec<u64> = beyond.chain(within).collect();
        for size in sizes {
            if room != 0 && (size > room || room % size != 0) {
                continue;
            }
            if self.ended() {
                return;
            }
            self.extend(axis, step, size);
        }
    }

    /// Returns the number of times that the block repeats along an axis, itself included.
    fn run_of(&mut self, axis: usize, step: u64, most: u64) -> u64 {
        let (stride, extent) = (self.strides[axis], self.dims[axis] as usize);
        let whole = self.block.len();
        let limit = most.min((self.packed.len() / whole) as u64);
        for j in 1..limit {
            let (ahead, base) = ((j * step) as usize, j as usize * whole);
            let fits =
                self.block.iter().zip(&self.packed[base..base + whole]).all(|(&at, &cell)| {
                    at == PADDING
                        || at / stride % extent + ahead >= extent
                        || self.elements[at + ahead * stride] == cell
                });
            self.spend(if fits { whole } else { 1 });
            if !fits {
                return j;
            }
        }
        limit
    }

    /// Adds a digit of an axis and continues the search.
    fn extend(&mut self, axis: usize, step: u64, size: u64) {
        let (stride, extent) = (self.strides[axis], self.dims[axis] as usize);
        let whole = self.block.len();
        self.spend(whole * size as usize);
        for j in 1..size {
            let ahead = j.saturating_mul(step).min(extent as u64) as usize;
            for i in 0..whole {
                let at = self.block[i];
                let outside = at == PADDING || at / stride % extent + ahead >= extent;
                self.block.push(if outside { PADDING } else { at + ahead * stride });
            }
        }
        self.placed.push(Placed { axis: Some(axis), step, size });
        self.go();
        self.placed.pop();
        self.block.truncate(whole);
    }

    /// Adds a digit of padding and continues the search.
    fn padding(&mut self) {
        let whole = self.block.len();
        let left = (self.packed.len() / whole) as u64;
        let sizes: Vec<u64> =
            self.divisors.iter().copied().filter(|&d| d > 1 && left.is_multiple_of(d)).collect();
        for size in sizes {
            let next = whole * size as usize;
            if self.ended() {
                return;
            }
            if next < self.packed.len() && self.beginnings(next).is_empty() {
                continue;
            }
            if next == self.packed.len() && layout(&self.placed, self.dims).is_none() {
                continue;
            }
            // All padding between digits holds one value.
            let cells = &self.packed[whole..next];
            let same = cells.iter().take_while(|cell| **cell == cells[0]).count();
            self.spend(same);
            if same < cells.len() {
                return;
            }
            self.block.resize(next, PADDING);
            self.placed.push(Placed { axis: None, step: 0, size });
            self.go();
            self.placed.pop();
            self.block.truncate(whole);
        }
    }

    fn record(&mut self) {
        let Some(layout) = layout(&self.placed, self.dims) else { return };
        let known = |other: &TensorLayout| other.same_function(&layout) == Ok(true);
        if !self.found.iter().any(known) {
            self.found.push(layout);
        }
    }
}

fn distinct(elements: &[u64]) -> bool {
    let mut sorted = elements.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// Returns all divisors in ascending order.
fn divisors(number: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (1..=number.isqrt()).filter(|d| number.is_multiple_of(*d)).collect();
    let large: Vec<u64> = all.iter().map(|d| number / d).collect();
    all.extend(large);
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the numbers of the elements of two buffers, `width` bytes each; `None` if a buffer does not hold whole elements.
pub(super) fn of(original: &[u8], packed: &[u8], width: usize) -> Option<(Vec<u64>, Vec<u64>)> {
    if width == 0 || !original.len().is_multiple_of(width) || !packed.len().is_multiple_of(width) {
        return None;
    }
    if width <= 8 {
        return Some((words(original, width), words(packed, width)));
    }
    let mut seen = HashMap::new();
    let mut number = |bytes: &[u8]| number(&mut seen, bytes);
    let first = original.chunks_exact(width).map(&mut number).collect();
    let second = packed.chunks_exact(width).map(&mut number).collect();
    Some((first, second))
}

/// Returns the number of an element of more than 8 bytes, in the order of appearance.
fn number(seen: &mut HashMap<Vec<u8>, u64>, bytes: &[u8]) -> u64 {
    let next = seen.len() as u64;
    *seen.entry(bytes.to_vec()).or_insert(next)
}

fn words(bytes: &[u8], width: usize) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks_exact(width).map(word).collect()
}

/// One digit: `size` coordinates of an axis, `step` apart. The axis is `None` if all coordinates but the first are padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) axis: Option<usize>,
    pub(super) step: u64,
    pub(super) size: u64,
}

/// Returns the largest size of a digit at `step` below the digits of its axis that are placed: `Some(0)` if there is no bound,
/// `None` if a digit cannot begin there.
pub(super) fn room(placed: &[Placed], axis: usize, step: u64) -> Option<u64> {
    let mut room = 0;
    for digit in placed.iter().filter(|digit| digit.axis == Some(axis)) {
        let end = digit.step.checked_mul(digit.size)?;
        if step >= end && step.is_multiple_of(end) {
            continue;
        }
        if step >= digit.step || !digit.step.is_multiple_of(step) {
            return None;
        }
        let steps = digit.step / step;
        room = if room == 0 { steps } else { room.min(steps) };
    }
    Some(room)
}

/// Returns the layout of all digits; `None` if an axis has gaps.
pub(super) fn layout(placed: &[Placed], dims: &[u64]) -> Option<TensorLayout> {
    let axes: Vec<usize> = (0..placed.len()).map(|at| axis_of(placed, dims, at)).collect();
    let mut digits = Vec::new();
    let mut levels = vec![0u8; placed.len()];
    for (axis, extent) in dims.iter().enumerate() {
        let mut own: Vec<usize> = (0..placed.len()).filter(|at| axes[*at] == axis).collect();
        // Digits of padding alone come above all real digits.
        tilewright_core::sort_short(&mut own, |at| (placed[*at].axis.is_none(), placed[*at].step));
        let mut whole = 1u64;
        for (level, at) in own.iter().enumerate() {
            let digit = placed[*at];
            let begins = if digit.axis.is_some() { digit.step } else { whole.max(*extent) };
            if begins != whole {
                return None;
            }
            whole = whole.checked_mul(digit.size)?;
            levels[*at] = u8::try_from(level).ok()?;
        }
        if whole < *extent {
            return None;
        }
        if own.is_empty() {
            digits.push(Digit::fixed(u8::try_from(axis).ok()?, 0, 1));
        }
    }
    for at in (0..placed.len()).rev() {
        digits.push(Digit::fixed(u8::try_from(axes[at]).ok()?, levels[at], placed[at].size));
    }
    Pattern::new(dims.len(), &digits).ok()?.layout(dims).ok()
}

/// Returns the axis of a digit. A digit of padding alone belongs to an axis without other digits, else to the axis of the digit
/// inside it, else to the last axis.
fn axis_of(placed: &[Placed], dims: &[u64], at: usize) -> usize {
    let bare = || (0..dims.len()).find(|axis| placed.iter().all(|digit| digit.axis != Some(*axis)));
    let inside = || at.checked_sub(1).and_then(|at| placed.get(at)?.axis);
    placed[at].axis.or_else(bare).or_else(inside).unwrap_or(dims.len().saturating_sub(1))
}
