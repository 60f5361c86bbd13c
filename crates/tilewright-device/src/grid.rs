//! Loops as a grid of blocks and threads.
//!
//! A [`Grid`] numbers the tiles of loops: the number of a block encodes the tile along each loop. The gather and the
//! realigned transpose use it. A [`GridWalk`] takes loops of any number and extents; rows, elements and fills use it. The
//! inner loops, of at most 2³⁰ iterations together, are counted by a number of 32 bits; a block takes a chunk of it,
//! and the block's number encodes the iterations of the outer loops. Adjacent threads differ in the last loop.
//!
//! Laws: the numbers from 0 to the product of the counts, less one, are all combinations, each once. The walks over
//! some extents visit each combination of iterations once; so do the blocks and threads of a walk.

use crate::{
    Error,
    kernel::{KernelText, Parameters, check_blocks},
};

/// The most tiles of a loop: the largest number that [`DIV`](crate::kernel) divides by.
const MOST: u64 = (1 << 31) - 1;

/// The number of blocks along the first of two counts in a strip. Their writes are close together, and the cache keeps
/// the borders of their tiles until the strip continues.
const STRIP: u32 = 64;

/// Counts of tiles with the names of their variables.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tiles {
    One(String, u32),
    /// Two counts, walked in strips of [`STRIP`] tiles of the first.
    Strips([(String, u32); 2]),
}

impl Tiles {
    fn count(&self) -> u32 {
        match self {
            Tiles::One(_, count) => *count,
            Tiles::Strips([(_, across), (_, down)]) => across * down,
        }
    }
}

/// Counts with the names of their variables, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid(Vec<Tiles>);

impl Grid {
    /// Adds a count outside of the previous ones; `None` if it is too large for a launch.
    pub(crate) fn push(&mut self, name: impl Into<String>, count: u64) -> Option<()> {
        let count = Some(count).filter(|count| (1..=MOST).contains(count))?;
        self.0.push(Tiles::One(name.into(), count as u32));
        Some(())
    }

    /// Adds two counts outside of the previous ones: blocks walk across a strip of the first before they continue along
    /// the second. `None` if a count is too large for a launch.
    pub(crate) fn push_strips(
        &mut self,
        (across, x): (String, u64),
        (down, y): (String, u64),
    ) -> Option<()> {
        let fits = x.checked_mul(y).is_some_and(|all| (1..=MOST).contains(&all));
        if x <= STRIP.into() || !fits {
            self.push(across, x)?;
            return self.push(down, y);
        }
        self.0.push(Tiles::Strips([(across, x as u32), (down, y as u32)]));
        Some(())
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u128 {
        self.0.iter().fold(1, |all: u128, tiles| all.saturating_mul(tiles.count().into()))
    }

    /// Writes the tile along each loop, by its name, computed from the number of the block.
    pub(crate) fn write(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let mut rest = "BLOCK".to_string();
        for (i, tiles) in self.0.iter().enumerate() {
            let mut own = rest.clone();
            if i + 1 < self.0.len() {
                let (magic, by) = numbers.divisor(tiles.count());
                text.line(&format!("const u32 rest{i} = DIV({rest}, {magic});"));
                own = format!("{rest} - rest{i} * {by}");
                rest = format!("rest{i}");
            }
            match tiles {
                Tiles::One(name, _) => text.line(&format!("const u32 {name} = {own};")),
                Tiles::Strips([across, down]) => {
                    text.line(&format!("const u32 plane = {own};"));
                    let names = (&*across.0, &*down.0);
                    strips(names, (across.1, down.1), STRIP, "plane", (text, numbers));
                }
            }
        }
    }
}

/// Writes strips of `side` tiles along the first of two counts; the last strip has the remaining width. In a strip,
/// blocks walk across before they continue along the second count, so the blocks of a square are neighbours on both
/// sides.
pub(crate) fn strips(
    (x, y): (&str, &str),
    (across, down): (u32, u32),
    side: u32,
    from: &str,
    (text, numbers): (&mut KernelText, &mut Parameters),
) {
    text.line(&format!("// Strips of {side} tiles."));
    let (strip, by) = numbers.divisor(down.saturating_mul(side).min(MOST as u32));
    text.line(&format!("const u32 strip = DIV({from}, {strip});"));
    text.line(&format!("const u32 inside = {from} - strip * {by};"));
    let last = numbers.short((across - 1) / side);
    let ((least, left), (most, whole)) =
        (numbers.divisor((across - 1) % side + 1), numbers.divisor(side));
    text.line(&format!("const u32 width = strip == {last} ? {left} : {whole};"));
    text.line(&format!("const u32 {y} = DIV(inside, strip == {last} ? {least} : {most});"));
    text.line(&format!("const u32 {x} = strip * {side}u + (inside - {y} * width);"));
}

/// The threads of a block.
pub(crate) const THREADS: u32 = 256;

/// The most cells that a thread moves.
pub(crate) const EACH: u32 = 4;

/// The most iterations that a number of 32 bits counts.
const COUNTED: u64 = 1 << 30;

/// The least iterations of inner loops for which a loop is not split.
const ENOUGH: u64 = 1 << 20;

/// Iterations of a loop: `extent` of them from `first` on, with step `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Iterations {
    /// The number of the loop.
    pub(crate) of: usize,
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) extent: u64,
}

/// The loops of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GridWalk {
    /// The iterations of each loop, the outermost first.
    pub(crate) iterations: Vec<Iterations>,
    /// The number of loops that the block's number encodes.
    pub(crate) outer: usize,
}

/// Returns the walks over some extents, the outermost first: one, and one more for each remainder of a loop that is
/// split.
pub(crate) fn walks(extents: &[u64]) -> Vec<GridWalk> {
    if extents.contains(&0) {
        return Vec::new();
    }
    let iterations = extents.iter().enumerate().filter(|(_, extent)| **extent > 1);
    let iterations =
        iterations.map(|(of, &extent)| Iterations { of, first: 0, step: 1, extent }).collect();
    let (mut all, mut left) = (Vec::new(), Some(iterations));
    while let Some(iterations) = left.take() {
        all.push(split(iterations, &mut left));
    }
    all
}

/// Returns the walk over some iterations, and stores the remainder of a loop that it splits.
fn split(mut iterations: Vec<Iterations>, left: &mut Option<Vec<Iterations>>) -> GridWalk {
    let (mut outer, mut counted) = (iterations.len(), 1);
    while outer > 0 && iterations[outer - 1].extent <= COUNTED / counted {
        outer -= 1;
        counted *= iterations[outer].extent;
    }
    if outer == 0 || counted >= ENOUGH {
        return GridWalk { iterations, outer };
    }
    // The next loop alone is too long: it is split into parts of `each` iterations, and a remainder.
    let Iterations { of, first, step, extent } = iterations[outer - 1];
    let each = COUNTED / counted;
    if extent % each > 0 {
        let mut rest = iterations.clone();
        let done = extent / each * each;
        rest[outer - 1] =
            Iterations { of, first: first + done * step, step, extent: extent % each };
        *left = Some(rest);
    }
    iterations[outer - 1] = Iterations { of, first, step: step * each, extent: extent / each };
    iterations.insert(outer, Iterations { of, first: 0, step, extent: each });
    GridWalk { iterations, outer }
}

impl GridWalk {
    fn counted(&self) -> u64 {
        self.iterations[self.outer..].iter().map(|iterations| iterations.extent).product()
    }

    /// Returns the number of cells that a thread moves.
    pub(crate) fn each(&self) -> u32 {
        if self.counted() <= u64::from(THREADS) { 1 } else { EACH }
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u128 {
        let chunks = self.counted().div_ceil(u64::from(THREADS * self.each()));
        let outer = self.iterations[..self.outer].iter();
        outer.fold(chunks.into(), |all: u128, iterations| {
            all.saturating_mul(iterations.extent.into())
        })
    }

    /// Writes the iterations `x0` … of the outer loops, and the first count of the block.
    ///
    /// # Errors
    /// Overflow if a launch cannot have the blocks.
    pub(crate) fn begin(
        &self,
        text: &mut KernelText,
        numbers: &mut Parameters,
    ) -> Result<(), Error> {
        check_blocks(self.blocks(), THREADS)?;
        let chunk = THREADS * self.each();
        if self.outer == 0 {
            text.line(&format!("const u32 first = BLOCK * {chunk}u;"));
            return Ok(());
        }
        let chunks = self.counted().div_ceil(chunk.into()) as u32;
        let (magic, by) = numbers.divisor(chunks);
        text.line(&format!("u32 rest = DIV(BLOCK, {magic});"));
        text.line(&format!("const u32 first = (BLOCK - rest * {by}) * {chunk}u;"));
        self.coordinates(0..self.outer, "rest", text, numbers);
        Ok(())
    }

    /// Writes the loop over the cells of a thread, and the iterations of the inner loops.
    pub(crate) fn threads(&self, text: &mut KernelText, numbers: &mut Parameters) {
        self.threads_with(&[], &[], text, numbers);
    }

    /// Writes the loop for a thread that loads all its cells before it stores them: `v[k]` of a type, to `at[k]`, if
    /// `whole[k]` is set.
    pub(crate) fn loads(&self, kind: &str, text: &mut KernelText, numbers: &mut Parameters) {
        let each = self.each();
        let declared = [
            format!("{kind} v[{each}];"),
            format!("GDST at[{each}];"),
            format!("u32 whole[{each}];"),
        ];
        self.threads_with(&declared, &["whole[k] = 0u;"], text, numbers);
    }

    /// Closes the blocks that [`loads`](Walk::loads) opened, and writes the stores, of `bytes` bytes.
    pub(crate) fn stores(&self, bytes: u64, text: &mut KernelText) {
        ["}", "}", "UNROLL"].iter().for_each(|line| text.line(line));
        text.line(&format!("for (u32 k = 0; k < {}u; k++) {{", self.each()));
        text.line(&format!("if (whole[k]) STG{bytes}(at[k], v[k]);"));
        ["}", "THREADS_END"].iter().for_each(|line| text.line(line));
    }

    /// Writes lines before the loop, and at the beginning of each of its iterations.
    fn threads_with(
        &self,
        before: &[String],
        always: &[&str],
        text: &mut KernelText,
        numbers: &mut Parameters,
    ) {
        let total = numbers.short(self.counted() as u32);
        text.line("THREADS_BEGIN");
        before.iter().for_each(|line| text.line(line));
        text.line("UNROLL");
        text.line(&format!("for (u32 k = 0; k < {}u; k++) {{", self.each()));
        always.iter().for_each(|line| text.line(line));
        text.line("u32 n = first + k * NT + tid;");
        text.line(&format!("if (n < {total}) {{"));
        self.coordinates(self.outer..self.iterations.len(), "n", text, numbers);
    }

    /// Closes the blocks that [`threads`](Walk::threads) opened.
    pub(crate) fn end(&self, text: &mut KernelText) {
        ["}", "}", "THREADS_END"].iter().for_each(|line| text.line(line));
    }

    /// Writes the iterations of some loops, which a counter encodes, the last one the fastest.
    fn coordinates(
        &self,
        range: core::ops::Range<usize>,
        counter: &str,
        text: &mut KernelText,
        numbers: &mut Parameters,
    ) {
        let first = range.start;
        for i in range.rev() {
            if i == first {
                text.line(&format!("const u32 x{i} = {counter};"));
                break;
            }
            let (magic, by) = numbers.divisor(self.iterations[i].extent as u32);
            text.line(&format!("const u32 q{i} = DIV({counter}, {magic});"));
            text.line(&format!("const u32 x{i} = {counter} - q{i} * {by};"));
            text.line(&format!("{counter} = q{i};"));
        }
    }
}

/// Returns the sum of a base and of iterations times strides, as an expression of the text: the iterations `range` of a
/// walk.
pub(crate) fn sum(
    base: &str,
    range: core::ops::Range<usize>,
    stride: impl Fn(usize) -> i64,
    numbers: &mut Parameters,
) -> String {
    let terms = range.map(|i| format!(" + (i64)x{i} * {}", numbers.signed(stride(i))));
    format!("{base}{}", terms.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_read_the_fastest_first() {
        let mut grid = Grid::default();
        grid.push("a", 3).unwrap();
        grid.push("b", 5).unwrap();
        assert_eq!(grid.push("c", 1 << 31), None);
        assert_eq!(grid.push("c", 0), None);
        assert_eq!(grid.blocks(), 15);
        let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
        grid.write(&mut text, &mut numbers);
        let expected = "  const u32 rest0 = DIV(BLOCK, P(0));
  const u32 a = BLOCK - rest0 * (u32)P(1);
  const u32 b = rest0;
";
        assert_eq!(text.into_string(), expected);
        assert_eq!(numbers.into_params()[1], 3);
    }

    #[test]
    fn walks_are_the_loops_once() {
        let long = [1u64, 2, 3, 1 << 10, (1 << 20) + 1, 1 << 30, (1 << 30) + 7, (1 << 33) + 5];
        let all = long.iter().flat_map(|a| long.iter().map(move |b| (*a, *b)));
        for (a, b) in all {
            for extents in [vec![a], vec![a, b], vec![a, 3, b]] {
                let walks = walks(&extents);
                let total: u128 = extents.iter().map(|extent| u128::from(*extent)).product();
                let size = |walk: &GridWalk| {
                    walk.iterations
                        .iter()
                        .map(|iterations| u128::from(iterations.extent))
                        .product::<u128>()
                };
                assert_eq!(walks.iter().map(size).sum::<u128>(), total, "{extents:?}");
                for walk in &walks {
                    assert!(
                        walk.counted() <= COUNTED
                            && walk.iterations.iter().all(|iterations| iterations.extent > 0)
                    );
                    assert!(
                        walk.outer == 0 || walk.counted() >= ENOUGH / 2,
                        "{extents:?}: {walk:?}"
                    );
                    // Iterations of one loop: from its first one on, each once.
                    for (of, extent) in extents.iter().enumerate() {
                        let parts: Vec<_> = walk
                            .iterations
                            .iter()
                            .filter(|iterations| iterations.of == of)
                            .collect();
                        let last: u64 = parts
                            .iter()
                            .map(|part| part.first + part.step * (part.extent - 1))
                            .sum();
                        assert!(last < *extent);
                        if let [outer, inner] = parts[..] {
                            assert_eq!((outer.step, inner.step), (inner.extent, 1));
                        }
                    }
                }
            }
        }
        assert!(walks(&[3, 0]).is_empty());
        assert_eq!(walks(&[]), [GridWalk { iterations: vec![], outer: 0 }]);
    }
}
