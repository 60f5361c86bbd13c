//! The kernel that runs a [`RegisterTranspose`]: it reads, permutes and writes registers, block after block.
//!
//! If blocks go through a scratch buffer, the steps that read the next block alternate with those that write the
//! current one, and lines are prefetched before they are read. This keeps the memory busy in both directions all the
//! time.

mod sink;

use self::sink::Sink;
use crate::{
    cpu::{
        cost,
        kernel::{
            exchange::{exact, exchange, load, load_lines},
            isa::Isa,
            isa::Vector,
            isa::{Work, enter},
            prefetch::{Prefetch, Prefetches},
        },
        scratch::Scratch,
        transpose::{Blocks, Locality, NONE, RegisterTranspose, StepBuffer, TransposeBlock},
    },
    program::region::RegionRef,
};

const LINE: usize = cost::LINE as usize;

/// The way in which registers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// Through the caches.
    Cached,
    /// Past the caches.
    Streamed,
}

/// The addresses of a part's data, and the way in which it is written.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) store: Store,
}

/// One run over all blocks.
pub(super) struct BlockRun<'a> {
    pub(super) transpose: &'a RegisterTranspose,
    pub(super) buffers: Buffers,
    /// The lines that direct blocks prefetch, instead of those of the next block.
    pub(super) prefetch: Option<&'a Prefetch<'a>>,
    /// Two blocks, the buffers of a stage and the carried lines, beginning on a line.
    pub(super) scratch: *mut u8,
}

impl BlockRun<'_> {
    /// Returns the buffer of a stage for filling `number`; the buffers are used in turn.
    #[inline(always)]
    pub(super) fn buffer(&self, stage: &StepBuffer, number: usize) -> *mut u8 {
        let blocks = 2 * self.transpose.steps.lines * self.transpose.register;
        self.scratch.wrapping_add(blocks + number % stage.buffers * stage.bytes)
    }

    /// Returns the lines that a block carries, from line `line` on.
    #[inline(always)]
    pub(super) fn carried(&self, stage: &StepBuffer, block: usize, line: usize) -> *mut u8 {
        let blocks = 2 * self.transpose.steps.lines * self.transpose.register;
        let lines = (block * stage.carried + line) * LINE;
        self.scratch.wrapping_add(blocks + stage.buffers * stage.bytes + lines)
    }
}

/// Runs the blocks of a register transpose over a part that it serves, whose first unit is at byte `from` of `src` and
/// at byte `to` of `out`. Returns whether it did; it does nothing if any byte that it would read or write is outside.
pub(crate) fn transpose(
    isa: Isa,
    transpose: &RegisterTranspose,
    part: &RegionRef<'_>,
    (src, from): (&[u8], i64),
    (out, to): (&mut [u8], i64),
    prefetch: Option<&Prefetch<'_>>,
    scratch: &mut Scratch,
) -> bool {
    let target = (out.as_mut_ptr(), out.len());
    let Some(blocks) = blocks(transpose, part, (src, from), (target, to)) else { return false };
    // SAFETY: `blocks` found that they stay within the slices, of which one is exclusive; the machine has
    // the instruction set, as `Isa::chosen` and its callers make sure.
    unsafe { run(isa, transpose, blocks, (src, prefetch), target.0, scratch) }
}

/// Returns the blocks of a part that a register transpose serves, if all reads are in `src` and all writes in the bytes
/// of the destination.
pub(super) fn blocks(
    transpose: &RegisterTranspose,
    part: &RegionRef<'_>,
    (src, from): (&[u8], i64),
    ((_, len), to): ((*mut u8, usize), i64),
) -> Option<Blocks> {
    let blocks = transpose.blocks(part, from, to)?;
    let within = |(low, high): (i64, i64), len: usize| low >= 0 && high as u64 <= len as u64;
    (within(blocks.src_reach, src.len()) && within(blocks.dst_reach, len)).then_some(blocks)
}

/// Runs blocks. Returns whether the instruction set has their registers.
///
/// # Safety
/// They are blocks of the register transpose that [`blocks`] found to read within `src` and to write within a
/// destination at `out`, of which no one else uses what they write; the machine has the instruction set.
pub(super) unsafe fn run(
    isa: Isa,
    transpose: &RegisterTranspose,
    blocks: Blocks,
    (src, prefetch): (&[u8], Option<&Prefetch<'_>>),
    out: *mut u8,
    scratch: &mut Scratch,
) -> bool {
    let store = match transpose.locality {
        Locality::Memory => Store::Streamed,
        Locality::Arriving | Locality::Cache => Store::Cached,
    };
    let aside = transpose.steps.stage.as_ref();
    let aside = aside
        .map_or(0, |stage| stage.buffers * stage.bytes + blocks.carried.max(stage.carried) * LINE);
    let lines = scratch.lines(2 * transpose.steps.lines * transpose.register + aside);
    let buffers = Buffers { src: src.as_ptr(), dst: out, store };
    let run = BlockRun { transpose, buffers, prefetch, scratch: lines };
    // SAFETY: `src_reach` and `dst_reach` are the lowest and highest bytes over all blocks, steps and
    // registers, and both were found within the slices; the scratch buffer was made for two blocks and
    // a stage; the machine has the instruction set.
    unsafe { run.all(isa, blocks) }
}

/// Blocks whose registers go directly to the destination, `W` at a time.
struct Direct<'a, const T: bool, const W: usize>(&'a BlockRun<'a>, Blocks);

impl<const T: bool, const W: usize> Work for Direct<'_, T, W> {
    /// The requirements are those of [`BlockRun::all`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Direct(run, blocks) = self;
        // SAFETY: `# Safety` of `Work::with`: the requirements of `BlockRun::all` hold, which are those of `direct`.
        unsafe {
            match run.buffers.store {
                Store::Cached => run.direct::<V, T, W, true>(blocks),
                Store::Streamed => run.direct::<V, T, W, false>(blocks),
            }
        }
        run.fence::<V>();
    }
}

/// Blocks whose registers go through the scratch buffer, read `G` at a time and written `W` at a time.
struct Through<'a, const T: bool, const G: usize, const W: usize>(&'a BlockRun<'a>, Blocks);

impl<const T: bool, const G: usize, const W: usize> Work for Through<'_, T, G, W> {
    /// The requirements are those of [`BlockRun::all`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Through(run, blocks) = self;
        // SAFETY: `# Safety` of `Work::with`: the requirements of `BlockRun::all` hold, which are those of `through`.
        unsafe {
            match run.buffers.store {
                Store::Cached => run.through::<V, T, G, W, true>(blocks),
                Store::Streamed => run.through::<V, T, G, W, false>(blocks),
            }
        }
        run.fence::<V>();
    }
}

impl BlockRun<'_> {
    /// Moves all blocks. Returns whether the instruction set has registers of this size.
    ///
    /// # Safety
    /// Every byte that a step of a block reads is in the source and every byte it writes in the destination, which no
    /// one else uses; the scratch buffer holds two blocks and a stage; the machine has the instruction set.
    unsafe fn all(&self, isa: Isa, blocks: Blocks) -> bool {
        // SAFETY: `# Safety` of `all` is what `sized` requires.
        unsafe {
            if self.transpose.permutation.is_transpose(self.transpose.register) {
                self.sized::<true>(isa, blocks)
            } else {
                self.sized::<false>(isa, blocks)
            }
        }
    }

    /// Moves all blocks; with `T`, by the exchanges of a transpose, which are known at compile time.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`].
    unsafe fn sized<const T: bool>(&self, isa: Isa, blocks: Blocks) -> bool {
        let (steps, register) = (&self.transpose.steps, self.transpose.register);
        macro_rules! go {
            ($work:expr) => {
                // SAFETY: `# Safety` of `all`, which `sized` shares: the machine has the instruction set, and the
                // requirements of `Direct` and `Through` hold.
                unsafe { enter(isa, register, $work) }
            };
        }
        match (steps.write_dst.len(), steps.gather.is_empty()) {
            (1, true) => go!(Direct::<T, 1>(self, blocks)),
            (2, true) => go!(Direct::<T, 2>(self, blocks)),
            (4, true) => go!(Direct::<T, 4>(self, blocks)),
            (8, true) => go!(Direct::<T, 8>(self, blocks)),
            (_, true) => go!(Direct::<T, 16>(self, blocks)),
            // With five to seven exchanges, reading steps do half of them.
            (8, _) if steps.gather_src.len() == 4 => go!(Through::<T, 4, 8>(self, blocks)),
            (8, _) => go!(Through::<T, 8, 8>(self, blocks)),
            _ => go!(Through::<T, 8, 16>(self, blocks)),
        }
    }

    /// Moves registers from the source to the destination, `W` at a time.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`].
    #[inline(always)]
    unsafe fn direct<V: Vector, const T: bool, const W: usize, const CACHED: bool>(
        &self,
        mut blocks: Blocks,
    ) {
        let steps = &self.transpose.steps;
        let registers: [i64; W] = *exact(&steps.write_src);
        let levels: [[u8; 2]; 4] = self.levels(0);
        let mut next = blocks.next();
        let mut sink = Sink::<W, CACHED>::new(self);
        while let Some(block) = next {
            let src = block.src;
            next = blocks.next();
            let after = next.map_or(src, |block| block.src);
            let after = self.buffers.src.wrapping_offset(after as isize);
            let mut prefetches = Prefetches::of(self.prefetch, after, &steps.prefetched);
            for (number, together) in sink.begin::<V>(&block).enumerate() {
                // SAFETY: registers of a step of a block are in the source and in the destination; the machine has the
                // instruction set, and the levels fit the register.
                unsafe {
                    let open = sink.open::<V>(number, together);
                    for step in together {
                        let from = self.buffers.src.offset((src + step.from) as isize);
                        let mut held = load::<V, W>(from, &registers);
                        exchange::<V, T, W, 1>(&mut held, &levels);
                        sink.put::<V>(open, step, &mut held, &mut prefetches);
                    }
                }
                sink.close();
            }
            prefetches.rest::<V>();
        }
        // SAFETY: all blocks are in the destination.
        unsafe { sink.end::<V>() };
    }

    /// Orders all writes past the caches before all later writes.
    #[inline(always)]
    fn fence<V: Vector>(&self) {
        if self.buffers.store == Store::Streamed {
            V::fence();
        }
    }

    /// Returns the levels of the bits of a register index from `first` on.
    #[inline(always)]
    fn levels(&self, first: usize) -> [[u8; 2]; 4] {
        let mut levels = [[NONE; 2]; 4];
        for (level, given) in
            levels.iter_mut().zip(self.transpose.permutation.levels.iter().skip(first))
        {
            *level = *given;
        }
        levels
    }

    /// Prefetches the lines of registers.
    #[inline(always)]
    fn prefetch<V: Vector, const N: usize>(&self, at: i64, registers: &[i64; N]) {
        // If registers cross lines, the first line of a row was read with the previous row.
        let at = self.buffers.src.wrapping_offset(at as isize + V::BYTES as isize - 1);
        for register in registers {
            V::prefetch(at.wrapping_offset(*register as isize));
        }
    }

    /// Moves registers through the scratch buffer: read `G` at a time, written `W` at a time.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`].
    #[inline(always)]
    unsafe fn through<
        V: Vector,
        const T: bool,
        const G: usize,
        const W: usize,
        const CACHED: bool,
    >(
        &self,
        mut blocks: Blocks,
    ) {
        let steps = &self.transpose.steps;
        let size = steps.lines * V::BYTES;
        let (mut current, mut other) = (self.scratch, self.scratch.wrapping_add(size));
        let levels: [[u8; 2]; 4] = self.levels(0);
        let Some(mut block) = blocks.next() else { return };
        let mut next = blocks.next();
        let read = BlockReading::<G>::new(self, W);
        for step in 0..steps.gather.len() {
            // SAFETY: `# Safety` of `BlockRun::all`: every byte that step `step` of the block reads is in the source.
            // `current` is the first half of the scratch buffer, which holds two blocks.
            unsafe {
                let soon = next.map_or(block.src, |next| next.src);
                read.step::<V, T>(self, block.src, soon, step, current);
            }
        }
        let mut sink = Sink::<W, CACHED>::new(self);
        loop {
            let after = blocks.next();
            let (mut written, mut step) = (0, 0);
            for (number, together) in sink.begin::<V>(&block).enumerate() {
                // SAFETY: the filling's steps follow.
                let open = unsafe { sink.open::<V>(number, together) };
                for write in together {
                    // SAFETY: a writing step's lines are in the scratch buffer and its registers in the destination;
                    // the machine has the instruction set, and the levels fit the register.
                    unsafe {
                        let mut held = load_lines::<V, W>(current.offset(write.from as isize));
                        exchange::<V, T, W, G>(&mut held, &levels);
                        sink.put::<V>(open, write, &mut held, &mut Prefetches::none());
                    }
                    written += W;
                    // One register is read for every register written.
                    let Some(TransposeBlock { src, .. }) = next else { continue };
                    let soon = after.map_or(src, |after| after.src);
                    while (step + 1) * G <= written {
                        // SAFETY: `# Safety` of `BlockRun::all`: the step reads within the source. There is a
                        // reading step for each `G` registers written. `other` holds a block.
                        unsafe { read.step::<V, T>(self, src, soon, step, other) };
                        step += 1;
                    }
                }
                sink.close();
            }
            let Some(following) = next else { break };
            (block, next) = (following, after);
            core::mem::swap(&mut current, &mut other);
        }
        // SAFETY: all blocks are in the destination.
        unsafe { sink.end::<V>() };
    }
}

/// The parameters of reading a block.
struct BlockReading<const G: usize> {
    registers: [i64; G],
    apart: [usize; G],
    levels: [[u8; 2]; 4],
    /// The steps by which prefetches are ahead, the steps of a block less these, and whether lines are prefetched.
    ahead: usize,
    level: usize,
    far: bool,
}

impl<const G: usize> BlockReading<G> {
    #[inline(always)]
    fn new(run: &BlockRun<'_>, written: usize) -> BlockReading<G> {
        let steps = &run.transpose.steps;
        let ahead = (cost::AHEAD as usize / G).min(steps.gather.len());
        BlockReading {
            registers: *exact(&steps.gather_src),
            apart: *exact(&steps.gather_to),
            levels: run.levels(written.trailing_zeros() as usize),
            ahead,
            level: steps.gather.len() - ahead,
            far: run.buffers.store == Store::Streamed,
        }
    }

    /// Runs one reading step of the block at `src`, and prefetches for a later one, of the block at `soon` if this
    /// block ends before.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`], for this step; `scratch` holds a block.
    #[inline(always)]
    unsafe fn step<V: Vector, const T: bool>(
        &self,
        run: &BlockRun<'_>,
        src: i64,
        soon: i64,
        step: usize,
        scratch: *mut u8,
    ) {
        let gather = &run.transpose.steps.gather;
        // SAFETY: `# Safety` of `BlockReading::step`: `step` is one of the reading steps of a block. `later` is one of them,
        // too: `ahead` is at most their number, and `level` is their number less `ahead`. The step reads bytes of
        // the source, and `scratch` holds a block.
        unsafe {
            if self.far {
                let (block, later) = if step < self.level {
                    (src, step + self.ahead)
                } else {
                    (soon, step - self.level)
                };
                run.prefetch::<V, G>(block + gather.get_unchecked(later).src, &self.registers);
            }
            let step = gather.get_unchecked(step);
            let from = run.buffers.src.offset((src + step.src) as isize);
            let mut held = load::<V, G>(from, &self.registers);
            // The levels of a transpose end with the highest.
            exchange::<V, T, G, 1>(&mut held, &self.levels);
            for (register, apart) in held.iter().zip(self.apart) {
                register.store(scratch.add(step.to + apart));
            }
        }
    }
}
