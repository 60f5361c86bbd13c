//! What no element is written to gets the fill: boxes of the destination, a vector a thread.
//!
//! Law: each byte of a gap gets the byte of the fill at its place in the element, once.

mod pattern;

use crate::{
    Alignment, Error,
    area::{VECTOR, common},
    kernel::{Kernel, Launch, Way},
    text::{Numbers, Text},
    walk::{THREADS, Walk, sum, walks},
};
use pattern::Pattern;
use tilewright_relayout::{Gap, GapLoop, Program};

/// The kernels that fill the gaps of a program, whose boxes are whole bytes: of all of the destination, where the gaps
/// are too many or in no regular way.
pub(crate) fn of_program(program: &Program, alignment: Alignment) -> Result<Vec<Kernel>, Error> {
    let all = Gap { packed: false, dst: 0, run: program.dst_bytes(), loops: Vec::new() };
    let gaps = match program.gaps() {
        Some(gaps) => gaps,
        None => std::slice::from_ref(&all),
    };
    let mut kernels = Vec::new();
    for gap in gaps.iter().filter(|gap| gap.run > 0) {
        kernels.extend(of_gap(gap, program, alignment)?);
    }
    Ok(kernels)
}

fn of_gap(gap: &Gap, program: &Program, alignment: Alignment) -> Result<Vec<Kernel>, Error> {
    let first = gap.dst.wrapping_add(alignment.dst().into());
    let strides = gap.loops.iter().map(|turn| turn.stride);
    let unit = strides.chain([first, gap.run]).fold(VECTOR, common);
    let pattern = Pattern::new(program, unit);
    let mut loops = gap.loops.clone();
    loops.push(GapLoop { extent: gap.run / pattern.bytes(), stride: pattern.bytes() });
    loops.push(GapLoop { extent: pattern.words(), stride: pattern.unit() });
    let extents: Vec<u64> = loops.iter().map(|turn| turn.extent).collect();
    let bytes = (program.src_bytes(), program.dst_bytes());
    walks(&extents).iter().map(|walk| of_walk(walk, gap.dst, &loops, &pattern, bytes)).collect()
}

fn of_walk(
    walk: &Walk,
    first: u64,
    loops: &[GapLoop],
    pattern: &Pattern,
    bytes: (u64, u64),
) -> Result<Kernel, Error> {
    let (mut text, mut numbers) = (Text::new(), Numbers::default());
    walk.begin(&mut text, &mut numbers)?;
    let turns = &walk.turns;
    let begun = turns.iter().map(|turns| turns.first * loops[turns.of].stride).sum::<u64>();
    let strides: Vec<i64> =
        turns.iter().map(|turns| (turns.step * loops[turns.of].stride) as i64).collect();
    let to = numbers.add(first + begun);
    let to = sum(&format!("dst + {to}"), 0..walk.outer, |i| strides[i], &mut numbers);
    text.line(&format!("GDST to = {to};"));
    pattern.declare(&mut text, &mut numbers);
    walk.threads(&mut text, &mut numbers);
    let to = sum("to", walk.outer..turns.len(), |i| strides[i], &mut numbers);
    // The word of the element is the turn of the last loop, which a walk leaves out where it has one turn.
    let word = turns.len().checked_sub(1).filter(|last| turns[*last].of == loops.len() - 1);
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
        turns.len() - walk.outer,
        walk.outer
    );
    Kernel::new(launch, &comment, "", text, numbers)
}
