//! The crate `strided-perm`: a strided copy for each box.

use bytemuck::Pod;
use strided_perm::copy_into;
use strided_view::{StridedView, StridedViewMut};
use threadteam::{Exec, Pool};
use tilewright_bench::{Boxed, Case};

use crate::Run;

pub(crate) fn run(case: &Case, boxes: Vec<Boxed>, threads: usize) -> Option<Run> {
    let pool = match threads {
        1 => None,
        _ => Some(Pool::builder().threads(threads).build().ok()?),
    };
    by_width!(case, copies, boxes, pool, threads)
}

fn copies<T: Pod + Send + Sync>(boxes: Vec<Boxed>, pool: Option<Pool>, threads: usize) -> Run {
    let one = |boxed: &Boxed| {
        let dims: Vec<usize> = boxed.loops.iter().map(|level| level.extent as usize).collect();
        let src: Vec<isize> = boxed.loops.iter().map(|level| level.src as isize).collect();
        let dst: Vec<isize> = boxed.loops.iter().map(|level| level.dst as isize).collect();
        (dims, src, dst, boxed.src as isize, boxed.dst as isize)
    };
    let boxes: Vec<_> = boxes.iter().map(one).collect();
    Box::new(move |from, to| {
        let (from, to): (&[T], &mut [T]) =
            (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        for (dims, src, dst, src_at, dst_at) in &boxes {
            let view = StridedView::<T>::new(from, dims, src, *src_at).expect("a box inside");
            let mut out = StridedViewMut::<T>::new(to, dims, dst, *dst_at).expect("a box inside");
            let exec = match &pool {
                Some(pool) => Exec::new(pool, threads).expect("the pool has `threads` threads"),
                None => Exec::serial(),
            };
            copy_into(&mut out, &view, exec).expect("two views of one shape");
        }
    })
}
