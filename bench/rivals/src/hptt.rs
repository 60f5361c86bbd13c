//! The crate `hptt`: permutations of dense arrays of f32 and f64.

use hptt::{MemoryOrder, transpose_f32, transpose_f64};
use tilewright_bench::{Boxed, Case};

use crate::Run;

pub(crate) fn run(case: &Case, boxes: Vec<Boxed>, threads: usize) -> Option<Run> {
    let [boxed] = &boxes[..] else { return None };
    let (shape, permutation) = permutation(case, boxed)?;
    match case.elements().src_bits {
        32 => Some(Box::new(move |src, dst| {
            let (src, dst) = (bytemuck::cast_slice(src), bytemuck::cast_slice_mut(dst));
            let row = MemoryOrder::RowMajor;
            transpose_f32(&permutation, 1.0, src, &shape, 0.0, dst, threads, row)
                .expect("a permutation");
        })),
        64 => Some(Box::new(move |src, dst| {
            let (src, dst) = (bytemuck::cast_slice(src), bytemuck::cast_slice_mut(dst));
            let row = MemoryOrder::RowMajor;
            transpose_f64(&permutation, 1.0, src, &shape, 0.0, dst, threads, row)
                .expect("a permutation");
        })),
        _ => None,
    }
}

/// Reloops the source's shape, outermost first, and the source axis of each axis of the destination, if both sides are
/// dense.
fn permutation(case: &Case, boxed: &Boxed) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut loops = boxed.loops.clone();
    loops.sort_by_key(|level| std::cmp::Reverse(level.src));
    let dense = |strides: Vec<(u64, i64)>| {
        strides
            .iter()
            .rev()
            .try_fold(1, |next, (extent, stride)| (*stride == next).then(|| next * *extent as i64))
    };
    let bytes = |elements: i64| elements as u64 * u64::from(case.elements().src_bits) / 8;
    let src = dense(loops.iter().map(|level| (level.extent, level.src)).collect())?;
    let dst = dense(boxed.loops.iter().map(|level| (level.extent, level.dst)).collect())?;
    if (boxed.src, boxed.dst, bytes(src), bytes(dst)) != (0, 0, case.src_bytes(), case.dst_bytes())
    {
        return None;
    }
    let place = |level| loops.iter().position(|other| other == level);
    let permutation: Option<Vec<usize>> = boxed.loops.iter().map(place).collect();
    Some((loops.iter().map(|level| level.extent as usize).collect(), permutation?))
}
