//! One of several arrays that are moved in one launch.

use crate::{DeviceBytes, Move};

/// One of several arrays that are moved in one launch.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_cuda::{DeviceBytes, Job, Move};
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[8]).unwrap();
/// let moved = Move::new(Program::new(&rows, &rows, Elements::same(8), 0).unwrap());
/// // SAFETY: nothing is launched with them.
/// let (src, dst) = unsafe { (DeviceBytes::new(512, 8), DeviceBytes::new(1024, 8)) };
/// let job = Job { moved: &moved, src, dst };
/// assert_eq!(job.moved.dst_bytes(), job.dst.bytes());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The move.
    pub moved: &'a Move,
    /// The memory that is read.
    pub src: DeviceBytes,
    /// The memory that is written.
    pub dst: DeviceBytes,
}
