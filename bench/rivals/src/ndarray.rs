//! The crate `ndarray`: an assignment of strided views for each box; with threads, its parallel `Zip`.

use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, Axis, IxDyn, ShapeBuilder, Zip};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tilewright_bench::{Boxed, Case};

use crate::Run;

pub(crate) fn run(case: &Case, boxes: Vec<Boxed>, threads: usize) -> Option<Run> {
    let pool = match threads {
        1 => None,
        _ => Some(ThreadPoolBuilder::new().num_threads(threads).build().ok()?),
    };
    by_width!(case, assignments, boxes, pool)
}

/// One side of a box: the offset of its lowest element, the strides, and the axes that run backwards.
struct Side {
    first: usize,
    strides: Vec<usize>,
    backwards: Vec<bool>,
}

fn side(first: i64, loops: &[(u64, i64)]) -> Side {
    let below = |(extent, stride): &(u64, i64)| stride.min(&0) * (*extent as i64 - 1);
    Side {
        first: (first + loops.iter().map(below).sum::<i64>()) as usize,
        strides: loops.iter().map(|(_, stride)| stride.unsigned_abs() as usize).collect(),
        backwards: loops.iter().map(|(_, stride)| *stride < 0).collect(),
    }
}

fn assignments<T: Pod + Send + Sync>(boxes: Vec<Boxed>, pool: Option<ThreadPool>) -> Run {
    let one = |boxed: &Boxed| {
        let shape: Vec<usize> = boxed.loops.iter().map(|level| level.extent as usize).collect();
        let loops = |stride: fn(&tilewright_bench::Loop) -> i64| -> Vec<(u64, i64)> {
            boxed.loops.iter().map(|level| (level.extent, stride(level))).collect()
        };
        (shape, side(boxed.src, &loops(|t| t.src)), side(boxed.dst, &loops(|t| t.dst)))
    };
    let boxes: Vec<_> = boxes.iter().map(one).collect();
    Box::new(move |from, to| {
        let (from, to): (&[T], &mut [T]) =
            (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        for (shape, src, dst) in &boxes {
            let of = |side: &Side| IxDyn(shape).strides(IxDyn(&side.strides));
            let mut view =
                ArrayView::from_shape(of(src), &from[src.first..]).expect("a box inside");
            let mut out =
                ArrayViewMut::from_shape(of(dst), &mut to[dst.first..]).expect("a box inside");
            turn(&src.backwards, |axis| view.invert_axis(axis));
            turn(&dst.backwards, |axis| out.invert_axis(axis));
            match &pool {
                None => out.assign(&view),
                Some(pool) => {
                    pool.install(|| Zip::from(out).and(view).par_for_each(|to, from| *to = *from));
                }
            }
        }
    })
}

fn turn(backwards: &[bool], mut invert: impl FnMut(Axis)) {
    for (axis, _) in backwards.iter().enumerate().filter(|(_, backwards)| **backwards) {
        invert(Axis(axis));
    }
}
