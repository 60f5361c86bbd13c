//! Conversion of coordinates to offsets, and of offsets to coordinates.
//!
//! Laws: `locate(offset_at(c)) = c` for an injective layout; [`Solver`] returns exactly the coordinates that map to the
//! given offset.

use crate::{
    Coord, Error, Layout, MAX_MODES, Mode,
    const_fn::tri,
    layout::{observe::gcd, reach},
};

/// The number of steps after which the search from an offset to a coordinate ends undecided.
pub const SEARCH_STEPS: u32 = 65_536;

impl Layout {
    /// Returns the offset of a coordinate with one integer per axis, in elements. Within an axis the integer is unpacked
    /// into the axis's modes, the first mode fastest.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless there is one integer per axis; [out of range](Error::is_out_of_range) for an
    /// integer that is not below the size of its axis.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(layout.offset_at(&[1, 5]), Ok(37));
    /// assert!(layout.offset_at(&[1, 5, 0]).unwrap_err().is_mismatch());
    /// ```
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub const fn offset_at(&self, axes: &[u64]) -> Result<i64, Error> {
        let flat = self.rank() == self.profile().leaves() && self.rank() == axes.len();
        let affine = if flat { dot(self.modes(), axes, self.offset()) } else { self.walk(axes) };
        match affine {
            Some(offset) if self.swizzle().is_identity() => Ok(offset),
            Some(_) | None => self.offset_or_why(affine, axes),
        }
    }

    /// Returns the swizzled offset, or the error. Separate from the fast path, so that callers do not inline it.
    #[inline(never)]
    const fn offset_or_why(&self, affine: Option<i64>, axes: &[u64]) -> Result<i64, Error> {
        match affine {
            Some(offset) => Ok(self.swizzled(offset)),
            None => Err(self.outside(axes)),
        }
    }

    /// Returns the affine offset of a coordinate; `None` outside the domain.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    const fn walk(&self, axes: &[u64]) -> Option<i64> {
        if axes.len() != self.rank() {
            return None;
        }
        let (mut modes, mut ends) = (self.modes(), self.profile().ends());
        let (mut offset, mut axis) = (self.offset(), 0);
        while axis < axes.len() {
            let mut x = axes[axis];
            while let [mode, rest @ ..] = modes {
                let (last, extent) = (ends & 1 == 1, mode.extent());
                (modes, ends) = (rest, ends >> 1);
                // Inside the domain, I2 bounds every partial sum.
                if last {
                    if x >= extent {
                        return None;
                    }
                    offset += x as i64 * mode.stride();
                    break;
                }
                let Some((quotient, digit)) = divide(x, extent) else { return None };
                offset += digit as i64 * mode.stride();
                x = quotient;
            }
            axis += 1;
        }
        Some(offset)
    }

    /// Returns the offset of the coordinate with this colexicographic index (the first mode fastest), in elements.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) if `index` is not below [`Layout::size`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!((layout.offset_of(13), layout.offset_of(37)), (Ok(21), Ok(52)));
    /// assert!(layout.offset_of(96).unwrap_err().is_out_of_range());
    /// ```
    #[inline]
    pub const fn offset_of(&self, index: u64) -> Result<i64, Error> {
        if index >= self.size() {
            return Err(Error::out_of_range(
                "index {} of a layout of size {}",
                [index as i128, self.size() as i128],
                "",
            ));
        }
        let (modes, mut rest, mut offset, mut i) = (self.modes(), index, self.offset(), 0);
        while i + 1 < modes.len() {
            // No extent is 0, since the size exceeds an index.
            if let Some((quotient, digit)) = divide(rest, modes[i].extent()) {
                offset += digit as i64 * modes[i].stride();
                rest = quotient;
            }
            i += 1;
        }
        // The rest for the slowest mode is below its extent.
        if i < modes.len() {
            offset += rest as i64 * modes[i].stride();
        }
        Ok(self.swizzled(offset))
    }

    /// Returns a coordinate (one integer per axis) at this offset; `None` if there is none. If several coordinates have
    /// the offset, any of them is returned.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) after [`SEARCH_STEPS`] steps, which only interleaved strides need.
    ///
    /// ```
    /// use tilewright_core::{Coord, Layout};
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(layout.locate(37), Ok(Coord::new(&[1, 5]).ok()));
    /// assert_eq!(layout.locate(96), Ok(None));
    /// ```
    pub const fn locate(&self, offset: i64) -> Result<Option<Coord>, Error> {
        let mut solver = Solver::new(self, offset);
        Ok(match tri!(solver.next()) {
            Some(leaves) => Some(axes_of(self, &leaves)),
            None => None,
        })
    }

    /// The error of a coordinate outside the layout.
    #[cold]
    #[inline(never)]
    const fn outside(&self, axes: &[u64]) -> Error {
        let rank = self.rank();
        if axes.len() != rank {
            return Error::mismatch(
                "{} integers for {} axes",
                [axes.len() as i128, rank as i128],
                "a coordinate has one integer per axis",
            );
        }
        let mut axis = 0;
        while axis + 1 < rank && axes[axis] < self.size_of_axis(axis) {
            axis += 1;
        }
        Error::out_of_range(
            "coordinate {} of axis {}, which has {}",
            [axes[axis] as i128, axis as i128, self.size_of_axis(axis) as i128],
            "coordinates run from 0 to the size less one",
        )
    }

    const fn size_of_axis(&self, axis: usize) -> u64 {
        match self.axis_size(axis) {
            Some(size) => size,
            None => 0,
        }
    }

    /// Applies the swizzle to an affine offset. I3 keeps the offset from being negative.
    #[inline]
    pub(crate) const fn swizzled(&self, offset: i64) -> i64 {
        if self.swizzle().is_identity() {
            offset
        } else {
            self.swizzle().apply(offset as u64) as i64
        }
    }
}

/// Returns the affine offset of one digit for each mode; `None` if a digit is not below its extent.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
const fn dot(modes: &[Mode], digits: &[u64], offset: i64) -> Option<i64> {
    // Equal lengths of both slices: no element needs a bounds check.
    let modes = modes.split_at(digits.len()).0;
    let (mut offset, mut i) = (offset, 0);
    while i < digits.len() {
        if digits[i] >= modes[i].extent() {
            return None;
        }
        // Inside the domain, I2 bounds every partial sum.
        offset += digits[i] as i64 * modes[i].stride();
        i += 1;
    }
    Some(offset)
}

/// Returns quotient and remainder; `None` for an extent of 0. A division of 64 bits is among the slowest
/// instructions, and most extents do not need one.
#[inline]
const fn divide(x: u64, extent: u64) -> Option<(u64, u64)> {
    if extent == 0 {
        None
    } else if extent & (extent - 1) == 0 {
        Some((x >> extent.trailing_zeros(), x & (extent - 1)))
    } else if (x | extent) >> 32 == 0 {
        let (x, extent) = (x as u32, extent as u32);
        Some(((x / extent) as u64, (x % extent) as u64))
    } else {
        Some((x / extent, x % extent))
    }
}

/// Returns the integers per axis of a coordinate given leaf by leaf.
pub(crate) const fn axes_of(layout: &Layout, leaves: &[u64; MAX_MODES]) -> Coord {
    let (mut coord, mut axis) = (Coord::EMPTY, 0);
    while let Some((from, to)) = layout.profile().axis(axis) {
        let (mut x, mut i) = (0, to);
        while i > from {
            i -= 1;
            x = x * layout.modes()[i].extent() + leaves[i];
        }
        coord.push(x);
        axis += 1;
    }
    coord
}

/// Iterator over all coordinates at one offset: a depth-first search over the modes, largest stride first.
///
/// Each mode's coordinate is limited to the range that the smaller modes can compensate, so a layout whose strides
/// nest is solved without backtracking.
pub(crate) struct Solver {
    /// Modes of extent > 1 and nonzero stride, by |stride|, largest first.
    order: [u8; MAX_MODES],
    len: usize,
    extent: [u64; MAX_MODES],
    stride: [u64; MAX_MODES],
    negative: [bool; MAX_MODES],
    /// The reach and the common divisor of the modes after each in the order.
    reach: [u64; MAX_MODES],
    divisor: [u64; MAX_MODES],
    /// The state of the search: the remaining offset before each mode, and the choice of the mode.
    left: [u64; MAX_MODES + 1],
    next: [u64; MAX_MODES],
    last: [u64; MAX_MODES],
    chosen: [u64; MAX_MODES],
    depth: usize,
    state: State,
    steps: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Enter,
    Advance,
    Done,
}

impl Solver {
    pub(crate) const fn new(layout: &Layout, offset: i64) -> Solver {
        let zero = [0; MAX_MODES];
        let mut solver = Solver {
            order: [0; MAX_MODES],
            len: 0,
            extent: zero,
            stride: zero,
            negative: [false; MAX_MODES],
            reach: zero,
            divisor: zero,
            left: [0; MAX_MODES + 1],
            next: zero,
            last: zero,
            chosen: zero,
            depth: 0,
            state: State::Done,
            steps: 0,
        };
        let affine = if layout.swizzle().is_identity() {
            offset
        } else if offset < 0 {
            return solver;
        } else {
            layout.swizzle().inverse().apply(offset as u64) as i64
        };
        let (low, high) = reach(layout.modes(), layout.offset());
        if layout.size() == 0 || (affine as i128) < low || affine as i128 > high {
            return solver;
        }
        solver.sort(layout.modes());
        solver.left[0] = (affine as i128 - low) as u64;
        solver.state = State::Enter;
        solver
    }

    const fn sort(&mut self, modes: &[Mode]) {
        let mut i = 0;
        while i < modes.len() {
            let (extent, stride) = (modes[i].extent(), modes[i].stride().unsigned_abs());
            self.extent[i] = extent;
            self.stride[i] = stride;
            self.negative[i] = modes[i].stride() < 0;
            if extent > 1 && stride > 0 {
                let mut at = self.len;
                while at > 0 && self.stride[self.order[at - 1] as usize] < stride {
                    self.order[at] = self.order[at - 1];
                    at -= 1;
                }
                self.order[at] = i as u8;
                self.len += 1;
            }
            i += 1;
        }
        let (mut reach, mut divisor, mut at) = (0, 0, self.len);
        while at > 0 {
            at -= 1;
            let mode = self.order[at] as usize;
            self.reach[at] = reach;
            self.divisor[at] = divisor;
            reach += (self.extent[mode] - 1) * self.stride[mode];
            divisor = gcd(divisor, self.stride[mode]);
        }
    }

    /// Returns the next coordinate at the offset, leaf by leaf.
    pub(crate) const fn next(&mut self) -> Result<Option<[u64; MAX_MODES]>, Error> {
        loop {
            match self.state {
                State::Done => return Ok(None),
                State::Enter if self.depth == self.len => {
                    self.state = State::Advance;
                    if self.left[self.depth] == 0 {
                        return Ok(Some(self.leaves()));
                    }
                }
                State::Enter => {
                    tri!(self.enter());
                }
                State::Advance => self.advance(),
            }
        }
    }

    /// Limits the choices of the mode at `depth` and takes the first.
    const fn enter(&mut self) -> Result<(), Error> {
        self.steps += 1;
        if self.steps > SEARCH_STEPS {
            return Err(Error::undecided(
                "the coordinate at an offset of interleaved strides was not found in {} steps",
                [SEARCH_STEPS as i128],
                "make each stride a multiple of the extent it strides over",
            ));
        }
        let (at, mode) = (self.depth, self.order[self.depth] as usize);
        let (left, stride) = (self.left[at], self.stride[mode]);
        let first = left.saturating_sub(self.reach[at]).div_ceil(stride);
        let last = left / stride;
        let most = self.extent[mode] - 1;
        self.next[at] = first;
        self.last[at] = if last < most { last } else { most };
        self.take();
        Ok(())
    }

    /// Backtracks to the deepest mode that has another choice.
    const fn advance(&mut self) {
        if self.depth == 0 {
            self.state = State::Done;
            return;
        }
        self.depth -= 1;
        self.take();
    }

    /// Takes the next choice at `depth` whose rest is divisible for the smaller modes, or backtracks.
    const fn take(&mut self) {
        let (at, mode) = (self.depth, self.order[self.depth] as usize);
        while self.next[at] <= self.last[at] {
            let choice = self.next[at];
            let rest = self.left[at] - choice * self.stride[mode];
            self.next[at] += 1;
            let divides = if self.divisor[at] == 0 {
                rest == 0
            } else {
                rest.is_multiple_of(self.divisor[at])
            };
            if divides {
                self.chosen[mode] = choice;
                self.depth = at + 1;
                self.left[at + 1] = rest;
                self.state = State::Enter;
                return;
            }
            self.steps += 1;
            if self.steps > SEARCH_STEPS {
                // `enter` reports the error.
                self.state = State::Enter;
                return;
            }
        }
        self.state = State::Advance;
    }

    const fn leaves(&self) -> [u64; MAX_MODES] {
        let (mut leaves, mut i) = ([0; MAX_MODES], 0);
        while i < MAX_MODES {
            leaves[i] = if self.negative[i] && self.extent[i] > 1 {
                self.extent[i] - 1 - self.chosen[i]
            } else {
                self.chosen[i]
            };
            i += 1;
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{collections::BTreeMap, string::ToString, vec::Vec};

    #[test]
    fn the_solver_finds_every_coordinate_at_every_offset_of_every_small_layout() {
        for_each_layout(3, 0..=3, -3..=7, |layout| {
            let mut at: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
            for (index, offset) in image(layout).into_iter().enumerate() {
                at.entry(offset).or_default().push(index as u64);
            }
            let (low, high) = layout.bounds().unwrap_or((0, 0));
            for offset in low - 2..=high + 2 {
                let mut solver = Solver::new(layout, offset);
                let mut found = Vec::new();
                while let Some(leaves) = solver.next().unwrap() {
                    let coord = axes_of(layout, &leaves);
                    assert_eq!(layout.offset_at(coord.as_slice()), Ok(offset), "{layout}");
                    found.push(leaves);
                }
                let expected = at.get(&offset).map_or(0, Vec::len);
                let repeats: u64 = layout
                    .modes()
                    .iter()
                    .filter(|mode| mode.stride() == 0)
                    .map(|mode| mode.extent())
                    .product();
                // For modes of stride 0, only their first coordinate is returned.
                assert_eq!(found.len() as u64 * repeats, expected as u64, "{layout} at {offset}");
            }
        });
    }

    #[test]
    fn the_documents_examples() {
        let layout = Layout::parse("(3,(2,3)):(3,(12,1))").unwrap();
        assert_eq!((layout.offset_of(16), layout.offset_at(&[1, 5])), (Ok(17), Ok(17)));
        let swizzled = Layout::parse("Sw<3,4,3> o (8,64):(64,1)").unwrap();
        assert_eq!(
            [[1, 0], [1, 16], [7, 63]].map(|c| swizzled.offset_at(&c).unwrap()),
            [64, 80, 463]
        );
        assert_eq!(swizzled.locate(80).unwrap().unwrap().to_string(), "(1,16)");
    }

    #[test]
    fn a_search_without_end_is_undecided() {
        // Sums of many nearly equal strides.
        let text = "(40,40,40,40,40,40):(100003,100019,100043,100049,100057,100069)";
        let layout = Layout::parse(text).unwrap();
        let answers: Vec<_> = (0..200).map(|i| layout.locate(11_000_000 + i)).collect();
        assert!(answers.iter().any(|answer| answer.as_ref().is_err_and(Error::is_undecided)));
    }
}
