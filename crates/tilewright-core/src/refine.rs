//! Two tensor layouts over the same logical coordinates, as one list of loops.
//!
//! Along a logical dim, both layouts cut the coordinate into digits. Where each cut of one divides the
//! cuts of the other that lie above it, the common digits are loops with a stride on either side, and
//! a ragged extent is a few clipped boxes of them. Where they do not divide (tiles of 3 against tiles
//! of 4), and where steps or swizzles mix dims, the dim is walked in runs instead.
//!
//! Law: the blocks visit every logical coordinate exactly once, with its offset in both layouts.

use crate::{
    Block, Coord, Error, Loop, MAX_MODES, TensorLayout,
    cuts::{modes, next_cut, stride_at},
    macros::tri,
};

/// One common digit of a dim: a cut and the distance it makes on either side.
#[derive(Clone, Copy)]
struct Cut {
    at: u64,
    src: i64,
    dst: i64,
}

/// The common refinement of a source and a destination layout.
///
/// ```
/// use tilewright_core::{Layout, Refinement, TensorLayout};
/// // 5 columns in tiles of 2: two full tiles and one clipped.
/// let src = TensorLayout::row_major(&[2, 5]).unwrap();
/// let tiled = Layout::parse("(2,(2,3)):(2,(1,4))").unwrap();
/// let dst = TensorLayout::new(&[2, 5], &tiled, 12).unwrap();
/// let refinement = Refinement::new(&src, &dst).unwrap();
/// let sizes: Vec<u64> = refinement.blocks().map(|block| block.size()).collect();
/// assert_eq!(sizes, [8, 2]);
///
/// let other = TensorLayout::row_major(&[5, 2]).unwrap();
/// assert!(Refinement::new(&src, &other).unwrap_err().is_mismatch());
/// ```
#[derive(Clone)]
pub struct Refinement<'a> {
    src: &'a TensorLayout,
    dst: &'a TensorLayout,
    cuts: [Cut; 2 * MAX_MODES],
    /// The cuts `from..to` of each dim; none for a dim walked in runs.
    ranges: [(usize, usize); MAX_MODES],
    /// The dim along which runs go, if any dim is walked.
    walked: Option<usize>,
}

impl<'a> Refinement<'a> {
    /// The refinement of two layouts of equal logical extents.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents differ.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Refinement, TensorLayout};
    /// let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let zz = Fractal::ZZ.pattern(16, 16).layout(&[64, 64]).unwrap();
    /// let refinement = Refinement::new(&rows, &zz).unwrap();
    /// // 64 = 4·16 both ways: one box of four loops.
    /// let block = refinement.blocks().next().unwrap();
    /// assert_eq!((block.size(), block.loops().len()), (4096, 4));
    ///
    /// let other = TensorLayout::row_major(&[64, 63]).unwrap();
    /// assert!(Refinement::new(&other, &zz).unwrap_err().is_mismatch());
    /// ```
    pub const fn new(
        src: &'a TensorLayout,
        dst: &'a TensorLayout,
    ) -> Result<Refinement<'a>, Error> {
        tri!(same_extents(src, dst));
        let zero = Cut { at: 0, src: 0, dst: 0 };
        let mut refinement = Refinement {
            src,
            dst,
            cuts: [zero; 2 * MAX_MODES],
            ranges: [(0, 0); MAX_MODES],
            walked: None,
        };
        let (mut dim, mut at) = (0, 0);
        while dim < src.rank() {
            let end = refinement.cut(dim, at);
            refinement.ranges[dim] = (at, end);
            // Runs go along the dim that is contiguous in the destination, or else the last.
            if end == at && src.extents()[dim] > 0 && !refinement.walks_densely() {
                refinement.walked = Some(dim);
            }
            at = end;
            dim += 1;
        }
        Ok(refinement)
    }

    const fn walks_densely(&self) -> bool {
        match self.walked {
            Some(dim) => match self.dst.run(Coord::origin(self.dst.rank()).as_slice(), dim) {
                Ok(run) => run.stride == 1,
                Err(_) => false,
            },
            None => false,
        }
    }

    /// Whether no dim has to be walked in runs: few blocks, however large the arrays.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern, Refinement};
    /// let tiles = |size| {
    ///     // (m1 m0:size) n -> m1 n m0
    ///     let digits = [Digit::rest(0, 1), Digit::rest(1, 0), Digit::fixed(0, 0, size)];
    ///     Pattern::new(2, &digits).unwrap().layout(&[1 << 20, 8]).unwrap()
    /// };
    /// let (threes, fours, eights) = (tiles(3), tiles(4), tiles(8));
    /// assert!(Refinement::new(&fours, &eights).unwrap().is_regular());
    /// // 4 is no multiple of 3: every common cut begins a box of its own.
    /// assert!(!Refinement::new(&threes, &fours).unwrap().is_regular());
    /// ```
    pub const fn is_regular(&self) -> bool {
        self.walked.is_none()
    }

    pub(crate) const fn sides(&self) -> (&'a TensorLayout, &'a TensorLayout) {
        (self.src, self.dst)
    }

    /// At least this many blocks begin before `end`, or in all: no run is longer than `longest`.
    pub(crate) const fn blocks_at_least(&self, end: Option<&Coord>) -> u64 {
        let (mut count, mut leading, mut dim) = (1u64, true, 0);
        while dim < self.src.rank() {
            let mut extent = self.src.extents()[dim];
            if let Some(end) = end
                && leading
            {
                let at = end.as_slice()[dim];
                leading = at == 0;
                extent = if leading { 1 } else { at };
            }
            if is(self.walked, dim) {
                let (a, b) = (longest_run(self.src, dim), longest_run(self.dst, dim));
                extent = extent.div_ceil(if a < b { a } else { b });
            } else if self.ranges[dim].0 < self.ranges[dim].1 {
                extent = 1;
            }
            count = count.saturating_mul(extent);
            dim += 1;
        }
        count
    }

    /// Finds the common cuts of a dim and stores them from `at` on; returns their end, `at` if there
    /// are none.
    const fn cut(&mut self, dim: usize, at: usize) -> usize {
        let (src, dst) = match (modes(self.src, dim), modes(self.dst, dim)) {
            (Some(src), Some(dst)) => (src, dst),
            _ => return at,
        };
        let extent = self.src.extents()[dim];
        let (mut end, mut below) = (at, 1u64);
        loop {
            self.cuts[end] =
                Cut { at: below, src: stride_at(src, below), dst: stride_at(dst, below) };
            end += 1;
            let (a, b) = (next_cut(src, below), next_cut(dst, below));
            let next = if a < b { a } else { b };
            if next >= extent {
                return end;
            }
            if next % below != 0 {
                return at;
            }
            below = next;
        }
    }

    /// The blocks, one by one.
    ///
    /// ```
    /// use tilewright_core::{Refinement, TensorLayout};
    /// // A copy in plain loops, box by box.
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let (from, mut to) = (['a', 'b', 'c', 'd', 'e', 'f'], ['?'; 6]);
    /// for block in Refinement::new(&src, &dst).unwrap().blocks() {
    ///     let [rows, columns] = block.loops() else { panic!("two loops") };
    ///     for (i, j) in (0..rows.extent as i64).flat_map(|i| (0..3).map(move |j| (i, j))) {
    ///         let at = block.src() + i * rows.src + j * columns.src;
    ///         to[(block.dst() + i * rows.dst + j * columns.dst) as usize] = from[at as usize];
    ///     }
    /// }
    /// assert_eq!(to, ['a', 'd', 'b', 'e', 'c', 'f']);
    /// ```
    pub const fn blocks(&self) -> Blocks<'_> {
        let mut blocks = Blocks {
            refinement: self,
            level: [0; MAX_MODES],
            coord: Coord::origin(self.src.rank()),
            end: None,
            done: self.src.size() == 0,
        };
        let mut dim = 0;
        while !blocks.done && dim < self.src.rank() {
            blocks.enter(dim);
            dim += 1;
        }
        blocks
    }
}

impl core::fmt::Debug for Refinement<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?} -> {:?}", self.src, self.dst)
    }
}

const fn same_extents(a: &TensorLayout, b: &TensorLayout) -> Result<(), Error> {
    if a.rank() != b.rank() {
        return Err(Error::mismatch(
            "an array of {} dims against one of {}",
            [a.rank() as i128, b.rank() as i128],
            "both have the same logical extents",
        ));
    }
    let mut dim = 0;
    while dim < a.rank() {
        if a.extents()[dim] != b.extents()[dim] {
            return Err(Error::mismatch(
                "dim {} has extent {} against {}",
                [dim as i128, a.extents()[dim] as i128, b.extents()[dim] as i128],
                "both have the same logical extents",
            ));
        }
        dim += 1;
    }
    Ok(())
}

/// No run along `dim` is longer: one from the origin begins with every digit at 0, and one under a
/// swizzle ends with its atom. At least 1.
const fn longest_run(tensor: &TensorLayout, dim: usize) -> u64 {
    let run = match tensor.unswizzled() {
        Ok(affine) => affine.run(Coord::origin(affine.rank()).as_slice(), dim),
        Err(error) => Err(error),
    };
    match run {
        Ok(run) if run.stride != 0 && !tensor.layout().swizzle().is_identity() => {
            let fits = tensor.layout().swizzle().atom().div_ceil(run.stride.unsigned_abs());
            if fits < run.len { fits } else { run.len }
        }
        Ok(run) => run.len,
        // There is an origin, and the bounds without a swizzle are within those with it.
        Err(_) => u64::MAX,
    }
}

/// The blocks of a [`Refinement`].
///
/// ```
/// use tilewright_core::{Blocks, Layout, Refinement, TensorLayout};
/// let rows = TensorLayout::row_major(&[7]).unwrap();
/// let tiled = TensorLayout::new(&[7], &Layout::parse("((4,2)):((1,8))").unwrap(), 12).unwrap();
/// let refinement = Refinement::new(&rows, &tiled).unwrap();
/// let blocks: Blocks = refinement.blocks();
/// // Every element is in exactly one box.
/// assert_eq!(blocks.map(|block| block.size()).sum::<u64>(), 7);
/// ```
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    refinement: &'a Refinement<'a>,
    /// Which digit of each dim is clipped: the digits above are those of the extent, those below full.
    level: [u8; MAX_MODES],
    coord: Coord,
    /// Blocks whose origin is not before this coordinate are passed over.
    end: Option<Coord>,
    done: bool,
}

impl Blocks<'_> {
    /// From here on, leaves out the blocks that begin at `end` or behind it in row-major order.
    pub(crate) const fn end_before(&mut self, end: &Coord) {
        self.end = Some(end.copied());
    }

    /// Whether the block at the present coordinate is wanted. Where it is not, none is at a larger
    /// coordinate of the dim that was advanced: the dims that turn faster are at their first block.
    const fn wanted(&self) -> bool {
        match &self.end {
            Some(end) => self.coord.is_before(end),
            None => true,
        }
    }

    /// The next block; what [`Iterator::next`] does, in `const fn`.
    ///
    /// ```
    /// use tilewright_core::{Refinement, TensorLayout, expect_const};
    /// const ROWS: TensorLayout = expect_const!(TensorLayout::row_major(&[4, 6]));
    /// const COLUMNS: TensorLayout = expect_const!(TensorLayout::col_major(&[4, 6]));
    /// // How many boxes a transpose is, known at compile time.
    /// const COUNT: usize = {
    ///     let refinement = expect_const!(Refinement::new(&ROWS, &COLUMNS));
    ///     let (mut blocks, mut count) = (refinement.blocks(), 0);
    ///     while blocks.next_block().is_some() {
    ///         count += 1;
    ///     }
    ///     count
    /// };
    /// assert_eq!(COUNT, 1);
    /// ```
    pub const fn next_block(&mut self) -> Option<Block> {
        if self.done {
            return None;
        }
        let (src, dst) = (self.refinement.src, self.refinement.dst);
        let (from, to) =
            match (src.offset(self.coord.as_slice()), dst.offset(self.coord.as_slice())) {
                (Ok(from), Ok(to)) => (from, to),
                // The coordinate is within the extents.
                _ => return None,
            };
        let mut block = Block::new(self.coord.copied(), from, to);
        let mut dim = 0;
        while dim < src.rank() {
            self.push_digits(&mut block, dim);
            dim += 1;
        }
        let run = self.push_run(&mut block);
        self.advance(run);
        Some(block)
    }

    const fn push_digits(&self, block: &mut Block, dim: usize) {
        let (from, to) = self.refinement.ranges[dim];
        if from == to {
            return;
        }
        let level = from + self.level[dim] as usize;
        let mut i = level + 1;
        while i > from {
            i -= 1;
            let cut = self.refinement.cuts[i];
            let extent = if i == level {
                self.digit(dim, i)
            } else {
                self.refinement.cuts[i + 1].at / cut.at
            };
            block.push(Loop { dim: dim as u8, step: cut.at, extent, src: cut.src, dst: cut.dst });
        }
    }

    /// The digit of the extent of `dim` at cut `i`.
    const fn digit(&self, dim: usize, i: usize) -> u64 {
        let quotient = self.refinement.src.extents()[dim] / self.refinement.cuts[i].at;
        if i + 1 == self.refinement.ranges[dim].1 {
            quotient
        } else {
            quotient % (self.refinement.cuts[i + 1].at / self.refinement.cuts[i].at)
        }
    }

    /// Adds the run along the walked dim; returns its length.
    const fn push_run(&self, block: &mut Block) -> u64 {
        let Some(dim) = self.refinement.walked else { return 1 };
        let coord = self.coord.as_slice();
        match (self.refinement.src.run(coord, dim), self.refinement.dst.run(coord, dim)) {
            (Ok(a), Ok(b)) => {
                let extent = if a.len < b.len { a.len } else { b.len };
                block.push(Loop { dim: dim as u8, step: 1, extent, src: a.stride, dst: b.stride });
                extent
            }
            // The coordinate is within the extents.
            _ => 1,
        }
    }

    /// Sets the coordinate of a dim to its first block.
    const fn enter(&mut self, dim: usize) {
        let (from, to) = self.refinement.ranges[dim];
        self.coord.as_mut_slice()[dim] = 0;
        if from < to {
            // The top digit of an extent of 1 or more is never 0.
            self.level[dim] = (to - from - 1) as u8;
        }
    }

    /// Moves a cut dim to its next clipped box; whether there was one.
    const fn next_level(&mut self, dim: usize) -> bool {
        let from = self.refinement.ranges[dim].0;
        while self.level[dim] > 0 {
            let above = self.refinement.cuts[from + self.level[dim] as usize].at;
            self.level[dim] -= 1;
            let extent = self.refinement.src.extents()[dim];
            self.coord.as_mut_slice()[dim] = extent / above * above;
            if self.digit(dim, from + self.level[dim] as usize) > 0 {
                return true;
            }
        }
        false
    }

    const fn advance(&mut self, run: u64) {
        if let Some(dim) = self.refinement.walked {
            self.coord.as_mut_slice()[dim] += run;
            if self.coord.as_slice()[dim] < self.refinement.src.extents()[dim] && self.wanted() {
                return;
            }
            self.coord.as_mut_slice()[dim] = 0;
        }
        let mut dim = self.refinement.src.rank();
        while dim > 0 {
            dim -= 1;
            let (from, to) = self.refinement.ranges[dim];
            if from < to {
                if self.next_level(dim) && self.wanted() {
                    return;
                }
            } else if self.refinement.walked.is_none() || !is(self.refinement.walked, dim) {
                self.coord.as_mut_slice()[dim] += 1;
                if self.coord.as_slice()[dim] < self.refinement.src.extents()[dim] && self.wanted()
                {
                    return;
                }
            }
            self.enter(dim);
        }
        self.done = true;
    }
}

const fn is(walked: Option<usize>, dim: usize) -> bool {
    match walked {
        Some(walked) => walked == dim,
        None => false,
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        self.next_block()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digit, Layout, Pattern, Step, Swizzle};
    use std::{vec, vec::Vec};

    /// Every coordinate the blocks visit, with its two offsets.
    fn visits(src: &TensorLayout, dst: &TensorLayout) -> Vec<(Vec<u64>, i64, i64)> {
        let mut all = vec![];
        for block in Refinement::new(src, dst).unwrap().blocks() {
            let mut list = vec![(block.origin().as_slice().to_vec(), block.src(), block.dst())];
            for turn in block.loops() {
                list = list
                    .iter()
                    .flat_map(|(coord, a, b)| {
                        (0..turn.extent).map(move |i| {
                            let mut coord = coord.clone();
                            coord[turn.dim as usize] += i * turn.step;
                            (coord, a + i as i64 * turn.src, b + i as i64 * turn.dst)
                        })
                    })
                    .collect();
            }
            all.extend(list);
        }
        all.sort();
        all
    }

    fn check(src: &TensorLayout, dst: &TensorLayout) {
        let expected: Vec<_> = (0..src.size())
            .map(|i| {
                let coord = src.coord_of(i).unwrap();
                let coord = coord.as_slice();
                (coord.to_vec(), src.offset(coord).unwrap(), dst.offset(coord).unwrap())
            })
            .collect();
        assert_eq!(visits(src, dst), expected, "{src:?} {dst:?}");
    }

    /// One axis of up to three digits.
    fn axis_patterns() -> Vec<Pattern> {
        let mut all = vec![Pattern::new(1, &[Digit::rest(0, 0)]).unwrap()];
        for a in 1..=6 {
            all.push(Pattern::new(1, &[Digit::fixed(0, 0, a), Digit::rest(0, 1)]).unwrap());
            for b in 1..=3 {
                let digits = [Digit::rest(0, 2), Digit::fixed(0, 0, a), Digit::fixed(0, 1, b)];
                all.push(Pattern::new(1, &digits).unwrap());
            }
        }
        all
    }

    #[test]
    fn every_pair_of_small_digit_systems_visits_each_element_once() {
        let patterns = axis_patterns();
        for src in &patterns {
            for dst in &patterns {
                for extent in 0..=26 {
                    check(&src.layout(&[extent]).unwrap(), &dst.layout(&[extent]).unwrap());
                }
            }
        }
    }

    fn mixed() -> Vec<TensorLayout> {
        let merged = Layout::parse("(2,5,4):(4,8,1)").unwrap();
        let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
        let uneven = Layout::parse("(2,2,6,2,2):(24,12,2,1,96)").unwrap();
        let splits = [Step::Split { axis: 1, by: 3 }, Step::Split { axis: 3, by: 2 }];
        let box3 = |digits: &[Digit]| Pattern::new(3, digits).unwrap().layout(&[2, 3, 6]).unwrap();
        let row = TensorLayout::row_major(&[2, 3, 6]).unwrap();
        let swizzle = Swizzle::new(2, 1, 2).unwrap();
        let swizzled = row.layout().with_swizzle(swizzle).unwrap();
        vec![
            row.copied(),
            TensorLayout::col_major(&[2, 3, 6]).unwrap(),
            TensorLayout::with_steps(&[2, 3, 6], &steps, &merged, 40).unwrap(),
            TensorLayout::with_steps(&[2, 3, 6], &splits, &uneven, 192).unwrap(),
            TensorLayout::new(&[2, 3, 6], &swizzled, 40).unwrap(),
            box3(&[
                Digit::rest(2, 1),
                Digit::rest(0, 0),
                Digit::rest(1, 1),
                Digit::fixed(1, 0, 2),
                Digit::fixed(2, 0, 4),
            ]),
            box3(&[Digit::rest(2, 1), Digit::rest(1, 0), Digit::fixed(2, 0, 3), Digit::rest(0, 0)]),
        ]
    }

    #[test]
    fn merged_split_and_swizzled_dims_are_walked() {
        for src in mixed() {
            for dst in mixed() {
                check(&src, &dst);
            }
        }
    }

    #[test]
    fn digits_that_go_on_are_not_cut() {
        let of = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
        let (threes, fours) = (of("(3,4):(1,3)"), of("(4,3):(1,4)"));
        let line = |layout: &TensorLayout| TensorLayout::linear(layout.layout()).unwrap();
        let (src, dst) = (line(&threes), line(&fours));
        let refinement = Refinement::new(&src, &dst).unwrap();
        assert!(refinement.is_regular() && refinement.blocks().count() == 1);
        check(&src, &dst);
        check(&src, &line(&of("(4,3):(1,5)")));
        check(&line(&of("(3,2,2):(-1,-3,7)+6")), &line(&of("(2,2,3):(5,10,1)")));
    }

    #[test]
    fn large_ragged_arrays_are_few_blocks() {
        let src = TensorLayout::row_major(&[1_000_003, 1_000_003]).unwrap();
        let tile = Pattern::new(
            2,
            &[Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, 8), Digit::fixed(1, 0, 128)],
        )
        .unwrap();
        let dst = tile.layout(&[1_000_003, 1_000_003]).unwrap();
        let refinement = Refinement::new(&src, &dst).unwrap();
        assert!(refinement.is_regular());
        assert_eq!(refinement.blocks().count(), 4);
        assert_eq!(refinement.blocks().map(|block| block.size()).sum::<u64>(), src.size());
    }
}
