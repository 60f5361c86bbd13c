//! What the planner knows of memory and caches: the numbers that several ways share, or that say how large a
//! block is. Numbers that one kernel alone uses stand beside it.
//!
//! DRAM is fast only in long runs: streamed writes in runs of 64, 128 and 256 bytes reach about 0.5, 0.9
//! and 1.2 of memcpy, gathered reads in runs of 0.5, 1 and 2 KiB about 0.8, 0.9 and 1.0. A block is
//! therefore as long as that on either side. What is asked for while the block before is moved must
//! stay in the second-level cache until then, which bounds blocks that are read straight into
//! registers; a scratch buffer may be larger, at the price of the third-level cache.

/// The bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// The bytes that a block writes together.
pub(crate) const WRITE_RUN: u64 = 512;

/// The same where rows of the source lie a multiple of [`WAY`] bits apart: they share the sets of a
/// second-level cache.
pub(crate) const CROWDED_WRITE_RUN: u64 = 256;

/// The bits of a way of a second-level cache.
pub(crate) const WAY: i64 = 8 << 17;

/// The same where more would make reads too short.
pub(crate) const LEAST_WRITE_RUN: u64 = 128;

/// The most lines that blocks carry to one another along the destination's runs: a mebibyte. On Zen 5 a
/// prototype lost a tenth where blocks went along the destination first instead; two runs on a
/// busy Zen 4 do not agree.
pub(crate) const CARRIED: u64 = 1 << 14;

/// The bytes that a block reads together.
pub(crate) const READ_RUN: u64 = 4096;

/// What a block reads together at least, if it can: from here on, longer writes are worth more.
pub(crate) const LEAST_READ_RUN: u64 = 1024;

/// About the most bytes of a block that is read straight into registers: it and the next one, which is
/// asked for meanwhile, are a quarter of a second-level cache. Rows that lie a power of two apart share
/// its sets, and find no more room there.
pub(crate) const BLOCK: u64 = 128 << 10;

/// About the most bytes of a block that goes through a scratch buffer: it is read but once, in the order
/// of the source, so long reads are worth more than a second-level cache.
pub(crate) const SCRATCH_BLOCK: u64 = 1 << 20;

/// The most bytes to which a block of two hops is lengthened: it and what the next one reads stay in a
/// second-level cache.
pub(crate) const HOP_BLOCK: u64 = 512 << 10;

/// The same of two hops of which the second only copies runs: with 32 KiB to 512 KiB five cases of short runs
/// are within 10 % of one another, planning is faster with less.
pub(crate) const STAGED_BLOCK: u64 = 128 << 10;

/// The bytes of a block that is short on one side.
pub(crate) const LEAST_BLOCK: u64 = 64 << 10;

/// The bytes of a block where all data lies in caches, half a first one.
pub(crate) const NEAR_BLOCK: u64 = 16 << 10;

/// The same through a scratch buffer, or a unit if that is more.
pub(crate) const NEAR_SCRATCH_BLOCK: u64 = 2 << 10;

/// Where a register size moves this multiple of the data, registers of half the size cost less.
pub(crate) const BADLY: f64 = 1.25;

/// Runs of this many bytes fill the shortest registers.
pub(crate) const LANE: u64 = 16;

/// Runs of more bytes than this are copied one by one.
pub(crate) const MAX_LANE: u64 = 32;

/// Destinations of fewer bytes are written through the caches.
pub(crate) const STREAM: u64 = 4 << 20;

/// The lines asked for ahead of their use, into the second-level cache, or the first where that is faster.
pub(crate) const AHEAD: u64 = 128;

/// Jobs of fewer bytes are not worth tables.
pub(crate) const LEAST: u64 = 2 << 10;

/// The same of the short tables of a panel.
pub(crate) const LEAST_PANEL: u64 = 64;

/// The bytes that a block of runs writes in one piece. With [`ROWS_READ`] this is on a plain: on a Zen 4,
/// 256 B to 1 KiB written and 8 to 32 KiB read are within 10 % of one another, 64 B written and 4 KiB read
/// a fifth slower. Rows of 2 KiB lose a fifth with 16 of them in a block, since they share sets.
pub(crate) const ROWS_WRITE: u64 = 512;

/// The bytes that a block of runs reads in one piece.
pub(crate) const ROWS_READ: u64 = 16 << 10;

/// Runs that continue one another in the destination stay together within a block up to this many bytes.
pub(crate) const ROWS_CHAIN: u64 = 2 << 10;

/// The least bytes of a block of runs: 8 KiB are a tenth slower.
pub(crate) const LEAST_ROWS: u64 = 16 << 10;

/// About the most bytes of a block of runs: a first-level cache.
pub(crate) const MOST_ROWS: u64 = 32 << 10;

/// The most lines that blocks of runs carry for one another: a quarter of a second-level cache.
pub(crate) const MOST_CARRIED: usize = 4 << 10;

/// Runs of at least this many bytes are blocks of their own.
pub(crate) const LONG_RUN: u64 = 8 << 10;

/// Runs of fewer bytes with gaps behind them in the destination are written through the caches: streamed,
/// 0.36 and 0.50 of memcpy in runs of 200 and 500 B, 0.55 and 0.80 through the caches, as much from 4 KB on.
pub(crate) const STREAMED_RUN: u64 = 4 << 10;

/// The same of several runs that continue one another: they are joined.
pub(crate) const STREAMED_CHAIN: u64 = 1 << 10;

/// No range is smaller than this, in bytes, unless the plan says otherwise.
pub(crate) const MIN_RANGE: u64 = 1 << 14;
