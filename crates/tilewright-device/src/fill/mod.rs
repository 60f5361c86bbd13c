//! Fills the gaps of the destination, which no element is written to: boxes of vectors, one for each thread. Its
//! kernels are the first of a plan.
//!
//! Law: each byte of a gap is set once, to the corresponding byte of the fill.

mod pattern;

use crate::{
    Alignment, Error,
    access::common,
    kernel::{Kernel, Launch, Way},
    swizzled::Maps,
    text::{KernelText, Parameters},
    walk::{GridWalk, THREADS, sum, walks},
};
use pattern::FillPattern;
use tilewright_relayout::{Gap, GapLoop, Program};

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
