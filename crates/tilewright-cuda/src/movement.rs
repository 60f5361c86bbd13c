//! A move of one array on a device: a program, and its kernels for pointers of each alignment. A [`Job`] is one of
//! several arrays that are moved in one launch.

use std::sync::{Arc, Mutex};

use tilewright_device::{Alignment, DevicePlan, Kernel, Options};
use tilewright_relayout::Program;

use crate::{
    Error,
    modules::{CodeKey, lock},
    raw::DeviceBytes,
};

/// A move from one layout to another on a device: planned once, launched many times, from many threads.
///
/// Kernels depend on the distances of the two pointers from multiples of 16 bytes. They are made when pointers of an
/// alignment are first used, and kept.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_cuda::Move;
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[64, 96]).unwrap();
/// let columns = TensorLayout::col_major(&[64, 96]).unwrap();
/// let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
/// let moved = Move::new(program);
/// assert_eq!((moved.src_bytes(), moved.dst_bytes()), (24_576, 24_576));
/// ```
#[derive(Debug)]
pub struct Move {
    program: Program,
    options: Options,
    /// At most 256, and rarely more than one.
    made: Mutex<Vec<(Alignment, Arc<KeyedKernels>)>>,
}

/// Kernels with the keys of their texts.
#[derive(Debug)]
pub(crate) struct KeyedKernels {
    plan: DevicePlan,
    keys: Vec<CodeKey>,
}

impl KeyedKernels {
    /// Iterates over the kernels; those that fill come before those that move.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = (&CodeKey, &Kernel)> {
        self.keys.iter().zip(self.plan.kernels())
    }
}

impl Move {
    /// Makes the move of a program. It does not use a device.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_cuda::Move;
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8]).unwrap();
    /// let moved = Move::new(Program::new(&rows, &rows, Elements::same(8), 0).unwrap());
    /// assert_eq!(moved.src_bytes(), 8);
    /// ```
    pub fn new(program: Program) -> Move {
        Move::with(program, Options::default())
    }

    /// Makes the move of a program, with choices that measurements decide.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_cuda::Move;
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8]).unwrap();
    /// use tilewright_device::Options;
    /// let program = Program::new(&rows, &rows, Elements::same(8), 0).unwrap();
    /// let moved = Move::with(program, Options::default().with_supertile(1));
    /// assert_eq!(moved.src_bytes(), 8);
    /// ```
    pub fn with(program: Program, options: Options) -> Move {
        Move { program, options, made: Mutex::default() }
    }

    /// Returns the program.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_cuda::Move;
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8]).unwrap();
    /// let moved = Move::new(Program::new(&rows, &rows, Elements::same(8), 0).unwrap());
    /// assert_eq!(moved.program().extents(), [8]);
    /// ```
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the bytes of a source.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_cuda::Move;
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8]).unwrap();
    /// let moved = Move::new(Program::new(&rows, &rows, Elements::same(32), 0).unwrap());
    /// assert_eq!(moved.src_bytes(), 32);
    /// ```
    pub fn src_bytes(&self) -> u64 {
        self.program.src_bytes()
    }

    /// Returns the bytes of a destination, padding included.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_cuda::Move;
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8]).unwrap();
    /// let moved = Move::new(Program::new(&rows, &rows, Elements::same(32), 0).unwrap());
    /// assert_eq!(moved.dst_bytes(), 32);
    /// ```
    pub fn dst_bytes(&self) -> u64 {
        self.program.dst_bytes()
    }

    /// Returns the kernels for two pointers.
    ///
    /// # Errors
    /// `unsupported` if no kernel supports the move; `limit` if the array is too large for one launch.
    pub(crate) fn ready(
        &self,
        src: DeviceBytes,
        dst: DeviceBytes,
    ) -> Result<Arc<KeyedKernels>, Error> {
        let alignment = Alignment::of_addresses(src.address(), dst.address());
        let find = |made: &[(Alignment, Arc<KeyedKernels>)]| {
            made.iter().find(|(own, _)| *own == alignment).map(|(_, ready)| ready.clone())
        };
        if let Some(ready) = find(&lock(&self.made)) {
            return Ok(ready);
        }
        let plan = DevicePlan::with(&self.program, alignment, self.options).map_err(|error| {
            let kind = if error.is_overflow() { "limit" } else { "unsupported" };
            Error::new(kind, format!("no kernel for this move: {error}"))
        })?;
        let keys = plan.kernels().iter().map(|kernel| CodeKey::of(&[kernel.text()])).collect();
        let ready = Arc::new(KeyedKernels { plan, keys });
        let mut made = lock(&self.made);
        // Another thread may have made it in the meantime.
        Ok(find(&made).unwrap_or_else(|| {
            made.push((alignment, ready.clone()));
            ready
        }))
    }
}

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
