//! Loops of any number and extents, as a grid of blocks and threads. Rows, elements and fills use it.
//!
//! The inner loops, of at most 2³⁰ iterations together, are counted by a number of 32 bits; a block takes a chunk of
//! it, and the block's number encodes the iterations of the outer loops. Adjacent threads differ in the last loop.
//!
//! Laws: the walks over some extents visit each combination of iterations once; so do the blocks and threads of a walk.

use crate::{
    Error,
    kernel::check_blocks,
    text::{KernelText, Parameters},
};

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
