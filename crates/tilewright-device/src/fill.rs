//! Fills the gaps of the destination, to which no element is written: boxes of vectors, one for each thread. A
//! [`FillPattern`] is the element of padding, as the words that a thread writes. The fills are the first kernels of a
//! plan.
//!
//! Laws: each byte of a gap is set once, to the corresponding byte of the fill. Consecutive words of a pattern are
//! whole elements of padding.

use tilewright_relayout::{Gap, GapLoop, Program};

use crate::{
    Alignment, Error,
    byte_region::{Maps, common},
    grid::{GridWalk, THREADS, sum, walks},
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
};

/// Makes the kernels that fill gaps, whose boxes are whole bytes. Without a list of gaps, they fill the whole
/// destination.
pub(crate) fn of_gaps(
    gaps: Option<&[Gap]>,
    program: &Program,
    alignment: Alignment,
    maps: &Maps,
) -> Result<Vec<Kernel>, Error> {
    let all = Gap { packed: false, dst: 0, run: program.dst_bytes(), loops: Vec::new() };
    let gaps = gaps.unwrap_or(std::slice::from_ref(&all));
    let mut kernels = Vec::new();
    for gap in gaps.iter().filter(|gap| gap.run > 0) {
        kernels.extend(of_gap(gap, program, alignment, maps)?);
    }
    Ok(kernels)
}

fn of_gap(
    gap: &Gap,
    program: &Program,
    alignment: Alignment,
    maps: &Maps,
) -> Result<Vec<Kernel>, Error> {
    let first = gap.dst.wrapping_add(alignment.dst().into());
    let strides = gap.loops.iter().map(|level| level.stride);
    let unit = strides.chain([first, gap.run]).fold(maps.units(alignment).1, common);
    let pattern = FillPattern::new(program, unit);
    let mut loops = gap.loops.clone();
    loops.push(GapLoop { extent: gap.run / pattern.bytes(), stride: pattern.bytes() });
    loops.push(GapLoop { extent: pattern.words(), stride: pattern.unit() });
    let extents: Vec<u64> = loops.iter().map(|level| level.extent).collect();
    let bytes = (program.src_bytes(), program.dst_bytes());
    let one = |walk: &GridWalk| of_walk(walk, gap.dst, &loops, &pattern, (bytes, maps));
    walks(&extents).iter().map(one).collect()
}

fn of_walk(
    walk: &GridWalk,
    first: u64,
    loops: &[GapLoop],
    pattern: &FillPattern,
    (bytes, maps): ((u64, u64), &Maps),
) -> Result<Kernel, Error> {
    let (mut text, mut numbers) = (KernelText::new(), Parameters::default());
    walk.begin(&mut text, &mut numbers)?;
    let iterations = &walk.iterations;
    let begun = iterations
        .iter()
        .map(|iterations| iterations.first * loops[iterations.of].stride)
        .sum::<u64>();
    let strides: Vec<i64> = iterations
        .iter()
        .map(|iterations| (iterations.step * loops[iterations.of].stride) as i64)
        .collect();
    let to = numbers.add(first + begun);
    let to = sum(&format!("dst + {to}"), 0..walk.outer, |i| strides[i], &mut numbers);
    text.line(&format!("GDST to = {to};"));
    pattern.declare(&mut text, &mut numbers);
    walk.threads(&mut text, &mut numbers);
    let to = maps.to(&sum("to", walk.outer..iterations.len(), |i| strides[i], &mut numbers));
    // The last loop counts words of the element; a walk leaves it out if it has one iteration.
    let word =
        iterations.len().checked_sub(1).filter(|last| iterations[*last].of == loops.len() - 1);
    pattern.store(&to, word, &mut text);
    walk.end(&mut text);
    let launch = Launch {
        way: Way::Fill,
        threads: THREADS,
        resident: 4,
        blocks: walk.blocks(),
        shared: 0,
        bytes,
    };
    let comment = format!(
        "Fill: {} bytes a thread, {} loops in a block's count and {} around it.",
        pattern.unit(),
        iterations.len() - walk.outer,
        walk.outer
    );
    Kernel::new(launch, &comment, &maps.functions(), text, numbers)
}

/// Words of one width that make up an element of padding, or one word that contains several elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FillPattern {
    /// The bytes of a word, a power of two up to 16.
    unit: u64,
    words: u64,
    /// The first 16 bytes; the following ones are zeros.
    low: u128,
}

impl FillPattern {
    /// Returns the padding of a program in words of at most `unit` bytes.
    pub(crate) fn new(program: &Program, unit: u64) -> FillPattern {
        let bits = program.elements().dst_bits;
        let bytes = u64::from(bits / 8).max(1);
        let low = if bits < 128 { program.fill() & ((1 << bits) - 1) } else { program.fill() };
        if !bytes.is_power_of_two() || bytes > unit {
            let unit = common(unit, bytes);
            return FillPattern { unit, words: bytes / unit, low };
        }
        // One word that contains several elements.
        let repeated = (0..128 / bits).fold(0, |all, i| all | low << (i * bits));
        FillPattern { unit, words: 1, low: repeated }
    }

    /// Returns the bytes of a word.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    pub(crate) fn words(&self) -> u64 {
        self.words
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.unit * self.words
    }

    /// Writes the words as variables.
    pub(crate) fn declare(&self, text: &mut KernelText, numbers: &mut Parameters) {
        let (low, high) = (numbers.add(self.low as u64), numbers.add((self.low >> 64) as u64));
        text.line(&format!("const u64 low = {low};"));
        text.line(&format!("const u64 high = {high};"));
    }

    /// Writes the store of a word, whose number is the iteration `x<word>`, or 0.
    pub(crate) fn store(&self, to: &str, word: Option<usize>, text: &mut KernelText) {
        if self.unit == 16 {
            text.line("u128 value;");
            let none = word.map_or(String::new(), |x| format!("x{x} > 0u ? 0u : "));
            let parts = ["low", "low >> 32", "high", "high >> 32"];
            for (field, part) in ["x", "y", "z", "w"].iter().zip(parts) {
                text.line(&format!("value.{field} = {none}(u32)({part});"));
            }
        } else if let Some(x) = word {
            text.line(&format!("const u32 at = x{x} * {}u;", self.unit));
            text.line("const u64 value = at < 8u ? low >> 8u * at : at < 16u ? high >> 8u * (at - 8u) : 0u;");
        } else {
            text.line("const u64 value = low;");
        }
        let value = if self.unit == 4 { "(u32)value" } else { "value" };
        text.line(&format!("STG{}({to}, {value});", self.unit));
    }
}
