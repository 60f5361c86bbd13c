//! The bits of the iterations of a region's loops that form a tile, those that form the vectors of either side, and the
//! positions of vectors in shared memory. Elements may be narrower than a byte, so all distances are in bits.
//!
//! A tile is a choice of bits: the low bits of each loop's iteration. On either side, some of them are the element's
//! position in a vector of 16 bytes. Bits of the source's vectors that the destination's do not have are exchanged in
//! registers for as many that only the destination's have; then vectors of the destination's kind go through shared
//! memory.
//!
//! A thread that exchanges a bit has the vectors of both its values. The bit of the source's sector, which
//! distinguishes the two vectors of 32 bytes, must not be exchanged: adjacent lanes load these vectors by one
//! instruction. If the vectors of the destination have that bit, the source's bit that would be exchanged for it moves
//! to the end of the vector, and the two halves go to two cells: each lane has one half of the contents of a cell.
//!
//! Laws: the cells of a tile's vectors are the numbers from 0 to their count − 1, once each; eight adjacent lanes of
//! the writing order, and eight of the reading order, have cells in eight different banks of 16 bytes, and so do 16
//! lanes that write halves, two to a bank; on either side, the bit that counts 16 bytes is a lane bit.

use tilewright_relayout::{Loop, Region};

use crate::{
    Alignment,
    byte_region::{ByteRegion, SECTOR, VECTOR, common},
};

/// The bits of a vector.
pub(crate) const VECTOR_BITS: u64 = 8 * VECTOR;

/// A region whose offsets, runs and strides are in bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BitRegion {
    /// The first bit in the source and in the destination.
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The bits of a run.
    pub(crate) run: u64,
    /// The loops around the runs.
    pub(crate) loops: Vec<Loop>,
}

impl BitRegion {
    /// Returns an area in bits; `None` if a distance exceeds 64 bits.
    pub(crate) fn of_area(area: &ByteRegion) -> Option<BitRegion> {
        BitRegion::scaled((area.src, area.dst), area.run, &area.loops, 8)
    }

    /// Returns a region of elements of `bits` bits.
    pub(crate) fn of_elements(region: &Region, bits: u32) -> Option<BitRegion> {
        BitRegion::scaled((region.src, region.dst), region.run, &region.loops, bits.into())
    }

    fn scaled(first: (i64, i64), run: u64, loops: &[Loop], by: u64) -> Option<BitRegion> {
        let scale = |distance: i64| distance.checked_mul(by as i64);
        let one = |level: &Loop| {
            let loop_ =
                Loop { extent: level.extent, src: scale(level.src)?, dst: scale(level.dst)? };
            // A tile may reach beyond the end of a loop, to a power of two of iterations.
            let reach = i64::try_from(level.extent.checked_next_power_of_two()?).ok()?;
            loop_.src.checked_mul(reach).and(loop_.dst.checked_mul(reach)).map(|_| loop_)
        };
        Some(BitRegion {
            src: scale(first.0)?,
            dst: scale(first.1)?,
            run: run.checked_mul(by)?,
            loops: loops.iter().map(one).collect::<Option<_>>()?,
        })
    }
}

/// A bit of the iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bit {
    /// The number of the loop.
    pub(crate) of: usize,
    /// The position in the iteration.
    pub(crate) at: u32,
}

impl Bit {
    /// Returns the number of iterations that it counts.
    pub(crate) fn iterations(self) -> u64 {
        1 << self.at
    }
}

/// A side of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileSide {
    Src,
    Dst,
}

impl TileSide {
    /// Returns the stride of a loop on this side.
    pub(crate) fn of(self, level: &Loop) -> i64 {
        match self {
            TileSide::Src => level.src,
            TileSide::Dst => level.dst,
        }
    }

    /// Returns the absolute value that a bit adds to the address, in bits.
    pub(crate) fn step(self, loops: &[Loop], bit: Bit) -> u128 {
        u128::from(self.of(&loops[bit.of]).unsigned_abs()) << bit.at
    }
}

/// A tile of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransposeTile {
    /// The bits of an element: a power of two up to 128.
    pub(crate) element: u64,
    /// The first bit of the region in the source and in the destination.
    pub(crate) first: (i64, i64),
    /// The loops of the region, and one more if runs are several elements; strides are in bits.
    pub(crate) loops: Vec<Loop>,
    /// The number of bits of each loop's iteration.
    pub(crate) bits: Vec<u32>,
    /// The bits of a vector, the lowest first.
    pub(crate) src: Vec<Bit>,
    pub(crate) dst: Vec<Bit>,
    /// Bits of the source's vectors, each with the bit of the destination's for which it is exchanged.
    pub(crate) exchanged: Vec<(Bit, Bit)>,
    /// The source's bit that selects the cell of a half, and the sector's bit, which selects the half of the cell.
    pub(crate) halved: Option<(Bit, Bit)>,
    /// The bits that are not positions in the source's vectors and not exchanged, the nearest in the source first:
    /// first those of the number of a thread that writes to shared memory, then those that each thread iterates over.
    pub(crate) writing: Vec<Bit>,
    /// The bits that are not positions in the destination's vectors, the nearest in the destination first: those of the
    /// threads that read.
    pub(crate) reading: Vec<Bit>,
    /// The xor that each bit of `reading` contributes to the number of a cell.
    pub(crate) cells: Vec<(Bit, u32)>,
}

/// Returns the contiguous bytes that are wanted on either side, for elements of some bits.
fn line(element: u64) -> u64 {
    if element <= 8 { 128 } else { 256 }
}

/// The bytes that are wanted in a tile.
const WANTED: u64 = 16384;

/// The most bytes of a tile.
const MOST: u64 = 32768;

/// The most iterations of tiles for each iteration of the loops, if there is a choice.
const PADDED: f64 = 1.25;

/// The most pairs of bits that are exchanged: the vectors of a thread take 4 << 5 registers.
const EXCHANGED: usize = 5;

/// The bits of the number of a thread's vectors, if there are enough: with more vectors, its first instructions are
/// amortized.
const EACH: u32 = 4;

impl TransposeTile {
    /// Returns the tile of a region; `None` if vectors of either side are not whole, or not aligned.
    pub(crate) fn of(region: &BitRegion, alignment: Alignment) -> Option<TransposeTile> {
        let element = common(VECTOR_BITS, region.run);
        let mut loops = region.loops.clone();
        if region.run > element {
            let step = element as i64;
            loops.push(Loop { extent: region.run / element, src: step, dst: step });
        }
        let bits = chosen(&loops, element)?;
        let all: Vec<Bit> =
            (0..loops.len()).flat_map(|of| (0..bits[of]).map(move |at| Bit { of, at })).collect();
        let (src, dst) = (
            vector(&loops, &all, element, TileSide::Src)?,
            vector(&loops, &all, element, TileSide::Dst)?,
        );
        let mut exchanged = exchanged(&src, &dst);
        let is_halved = |(_, b): &(Bit, Bit)| is_sector(&loops, *b, TileSide::Src);
        let halved = exchanged.iter().position(is_halved).map(|at| exchanged.remove(at));
        let is_writing = |bit: &Bit| !src.contains(bit) && exchanged.iter().all(|(_, b)| b != bit);
        let writing = sorted(all.iter().copied().filter(is_writing), &loops, TileSide::Src);
        let reading =
            sorted(all.iter().copied().filter(|bit| !dst.contains(bit)), &loops, TileSide::Dst);
        let vectors = |bit: &&Bit| !dst.contains(bit);
        let cells = cells(&writing.iter().filter(vectors).copied().collect::<Vec<_>>(), &reading);
        let tile = TransposeTile {
            element,
            first: (region.src, region.dst),
            loops,
            bits,
            src,
            dst,
            exchanged,
            halved,
            writing,
            reading,
            cells,
        };
        let is_good = tile.writing.len() >= 5
            && tile.exchanged.len() <= EXCHANGED
            && tile.is_aligned(alignment)
            && tile.has_whole_vectors()
            && tile.keeps_order_within_bytes();
        is_good.then_some(tile)
    }

    /// Returns the bytes of a tile.
    pub(crate) fn bytes(&self) -> u64 {
        (self.element << self.bits.iter().sum::<u32>()) / 8
    }

    /// Returns the bits of a thread's number: 32 to 256 threads.
    pub(crate) fn threads(&self) -> u32 {
        let each = (self.reading.len() as u32).saturating_sub(EACH);
        each.clamp(5, 8).min(self.writing.len() as u32)
    }

    /// Returns the xor that a bit contributes to the number of a cell: 0 for positions in a vector.
    pub(crate) fn cell(&self, bit: Bit) -> u32 {
        self.cells.iter().find(|(other, _)| *other == bit).map_or(0, |(_, cell)| *cell)
    }

    /// Returns whether both sides have the same vectors, in the same order: no thread needs data that another one
    /// reads.
    pub(crate) fn is_in_order(&self) -> bool {
        self.exchanged.is_empty() && self.writing == self.reading
    }

    /// Returns the bits of a vector as threads write it, the lowest first: the last one selects the cells of its
    /// halves.
    pub(crate) fn written(&self) -> Vec<Bit> {
        self.with_last(|(a, _)| a)
    }

    /// Returns the bits of a vector in a cell, the lowest first.
    pub(crate) fn held(&self) -> Vec<Bit> {
        self.with_last(|(_, b)| b)
    }

    /// Returns the destination's vector without the sector's bit, and with the bit that `last` selects at the end.
    fn with_last(&self, last: fn((Bit, Bit)) -> Bit) -> Vec<Bit> {
        let Some(halved) = self.halved else { return self.dst.clone() };
        let others = self.dst.iter().copied().filter(|bit| *bit != halved.1);
        others.chain([last(halved)]).collect()
    }

    /// Returns whether a loop runs backwards in the source.
    pub(crate) fn is_reversed(&self, of: usize) -> bool {
        self.loops[of].src < 0
    }

    /// Returns the distance in bits from the beginning of a vector of the source to its first element in iteration
    /// order: vectors of reversed loops begin with their last iteration.
    pub(crate) fn behind(&self) -> i64 {
        let reversed = self.src.iter().filter(|bit| self.is_reversed(bit.of));
        reversed.map(|bit| self.loops[bit.of].src << bit.at).sum()
    }

    /// Returns the power of two of iterations of a loop that are whole bytes on a side: 0 unless its elements are
    /// narrower than a byte.
    pub(crate) fn shift(&self, side: TileSide, of: usize) -> u32 {
        3 - side.of(&self.loops[of]).trailing_zeros().min(3)
    }

    /// Returns whether the loop's extent is not a multiple of the tile's.
    pub(crate) fn is_ragged(&self, of: usize) -> bool {
        !self.loops[of].extent.is_multiple_of(1 << self.bits[of])
    }

    /// Returns the number of tiles along a loop.
    pub(crate) fn tiles(&self, of: usize) -> u64 {
        self.loops[of].extent.div_ceil(1 << self.bits[of])
    }

    /// Returns whether every vector of both sides begins at a multiple of 16 bytes.
    fn is_aligned(&self, alignment: Alignment) -> bool {
        let phase = |first: i64, pointer: u8| {
            first.wrapping_add(8 * i64::from(pointer)).rem_euclid(VECTOR_BITS as i64)
        };
        let src = phase(self.first.0.wrapping_add(self.behind()), alignment.src());
        let dst = phase(self.first.1, alignment.dst());
        let whole = |side: TileSide, vector: &[Bit]| {
            self.loops.iter().enumerate().all(|(of, level)| {
                let bits = (0..self.bits[of]).map(|at| Bit { of, at });
                let mut others = bits.filter(|bit| !vector.contains(bit));
                let step = |at: u32| {
                    (u128::from(side.of(level).unsigned_abs()) << at) % u128::from(VECTOR_BITS)
                };
                // The steps of higher bits, and of the tiles, are multiples of these.
                others.all(|bit| step(bit.at) == 0)
                    && (self.tiles(of) == 1 || step(self.bits[of]) == 0)
            })
        };
        src == 0 && dst == 0 && whole(TileSide::Src, &self.src) && whole(TileSide::Dst, &self.dst)
    }

    /// Returns whether no loop over elements within a byte of the source runs backwards.
    fn keeps_order_within_bytes(&self) -> bool {
        let within = |bit: &&Bit| TileSide::Src.step(&self.loops, **bit) < 8;
        self.src.iter().filter(within).all(|bit| !self.is_reversed(bit.of))
    }

    /// Returns whether no vector of either side crosses the end of a loop.
    fn has_whole_vectors(&self) -> bool {
        let mut bits = self.src.iter().chain(&self.dst);
        bits.all(|bit| self.loops[bit.of].extent.is_multiple_of(2 * bit.iterations()))
    }
}

/// Chooses the number of bits of each loop's iteration: enough for a line on both sides, then more until the tile is
/// full. If extents just above powers of two would make that wasteful, lines are shorter.
fn chosen(loops: &[Loop], element: u64) -> Option<Vec<u32>> {
    let chains = [chain(loops, element, TileSide::Src), chain(loops, element, TileSide::Dst)];
    let size = |bits: &[u32]| (u128::from(element) << bits.iter().sum::<u32>()) / 8;
    let lines = (0..4).map(|less| line(element) >> less).filter(|line| *line >= SECTOR);
    let grown = lines.map(|line| {
        let mut bits = vec![0; loops.len()];
        for chain in &chains {
            grow(loops, chain, (element, 8 * line), &mut bits);
        }
        bits
    });
    let grown: Vec<Vec<u32>> = grown.filter(|bits| size(bits) <= u128::from(MOST)).collect();
    // A shorter line is better than many iterations beyond the ends of loops.
    let thrifty = grown.iter().find(|bits| padded(loops, bits) <= PADDED);
    let mut bits = thrifty.or(grown.first())?.clone();
    let mut order: Vec<usize> = chains.concat();
    let mut rest: Vec<usize> = (0..loops.len()).filter(|of| !order.contains(of)).collect();
    rest.sort_by_key(|of| loops[*of].dst);
    order.extend(rest);
    for most in [PADDED, f64::INFINITY] {
        for of in order.iter().copied() {
            while size(&bits) < u128::from(WANTED) && 1 << bits[of] < loops[of].extent {
                bits[of] += 1;
                if padded(loops, &bits) > most {
                    bits[of] -= 1;
                    break;
                }
            }
        }
    }
    Some(bits)
}

/// Returns the iterations of all tiles for each iteration of the loops, at least 1.
fn padded(loops: &[Loop], bits: &[u32]) -> f64 {
    let one = |(level, bits): (&Loop, &u32)| {
        (level.extent.div_ceil(1 << bits) as f64) * (1u64 << bits) as f64 / level.extent as f64
    };
    loops.iter().zip(bits).map(one).product()
}

/// Returns the loops in the order in which they continue one another on a side, from the element on.
fn chain(loops: &[Loop], element: u64, side: TileSide) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut at = u128::from(element);
    let next = |chain: &[usize], at: u128| {
        let goes_on = |of: &usize| u128::from(side.of(&loops[*of]).unsigned_abs()) == at;
        (0..loops.len()).find(|of| !chain.contains(of) && goes_on(of))
    };
    while let Some(of) = next(&chain, at) {
        chain.push(of);
        at = at.saturating_mul(loops[of].extent.into());
    }
    chain
}

/// Takes bits of the loops of a chain until a line is contiguous; element and line are in bits.
fn grow(loops: &[Loop], chain: &[usize], (element, line): (u64, u64), bits: &mut [u32]) {
    let mut got = element;
    for &of in chain {
        if got >= line {
            return;
        }
        let extent = loops[of].extent;
        let need = line.div_ceil(got).next_power_of_two().trailing_zeros();
        let most = extent.checked_next_power_of_two().map_or(63, u64::trailing_zeros);
        bits[of] = bits[of].max(need.min(most));
        if extent > 1 << bits[of] {
            return;
        }
        got = got.saturating_mul(extent);
    }
}

/// Returns the bits that are the positions in a vector of a side; `None` if there are not enough.
fn vector(loops: &[Loop], all: &[Bit], element: u64, side: TileSide) -> Option<Vec<Bit>> {
    let levels = (VECTOR_BITS / element).trailing_zeros();
    let mut vector: Vec<Bit> = Vec::new();
    for level in 0..levels {
        let step = u128::from(element) << level;
        let is_place = |bit: &&Bit| side.step(loops, **bit) == step && !vector.contains(bit);
        vector.push(*all.iter().find(is_place)?);
    }
    Some(vector)
}

/// Returns pairs of bits that only one side's vectors have, at the same level if possible.
fn exchanged(src: &[Bit], dst: &[Bit]) -> Vec<(Bit, Bit)> {
    let mut pairs = Vec::new();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (a, b) in src.iter().zip(dst) {
        match (dst.contains(a), src.contains(b)) {
            (false, false) => pairs.push((*a, *b)),
            (false, true) => from.push(*a),
            (true, false) => to.push(*b),
            (true, true) => {}
        }
    }
    pairs.extend(from.into_iter().zip(to));
    pairs
}

/// Returns whether a bit counts the vectors of a sector on a side.
fn is_sector(loops: &[Loop], bit: Bit, side: TileSide) -> bool {
    side.step(loops, bit) == u128::from(VECTOR_BITS)
}

/// Returns bits sorted by the distance that they add to the address on a side; those that add nothing are last.
fn sorted(bits: impl Iterator<Item = Bit>, loops: &[Loop], side: TileSide) -> Vec<Bit> {
    let mut bits: Vec<Bit> = bits.collect();
    bits.sort_by_key(|bit| (side.step(loops, *bit) == 0, side.step(loops, *bit), *bit));
    bits
}

/// Returns the swizzle: the xor that each bit of `reading` contributes to the number of a cell.
///
/// A bank is three bits. Each of the lowest three lane bits that both orders share is one, and so is the xor of a bit
/// that only the writing lanes have and one that only the reading lanes have. The row consists of all other bits, and
/// the second bits of those pairs. So the bits of a cell are the bits of a vector's position, some of them xored with
/// others: a bijection. It maps the three lane bits of either order to the three bits of the bank.
fn cells(writing: &[Bit], reading: &[Bit]) -> Vec<(Bit, u32)> {
    let lanes = |order: &[Bit]| order.iter().copied().take(3).collect::<Vec<Bit>>();
    let (write, read) = (lanes(writing), lanes(reading));
    let both: Vec<Bit> = write.iter().copied().filter(|bit| read.contains(bit)).collect();
    let first = write.iter().copied().filter(|bit| !both.contains(bit));
    let second: Vec<Bit> = read.iter().copied().filter(|bit| !both.contains(bit)).collect();
    let pairs: Vec<(Bit, Bit)> = first.zip(second).collect();
    let mut cells: Vec<(Bit, u32)> =
        both.iter().enumerate().map(|(i, bit)| (*bit, 1 << i)).collect();
    let paired = |bit: Bit, pairs: &[(Bit, Bit)]| {
        let pair = pairs.iter().position(|(a, b)| *a == bit || *b == bit)?;
        Some(1u32 << (both.len() + pair))
    };
    cells.extend(pairs.iter().filter_map(|(a, _)| Some((*a, paired(*a, &pairs)?))));
    let is_row = |bit: &Bit| !both.contains(bit) && !pairs.iter().any(|(a, _)| a == bit);
    let banks = (both.len() + pairs.len()) as u32;
    for (i, bit) in reading.iter().copied().filter(is_row).enumerate() {
        cells.push((bit, 1 << (banks + i as u32) | paired(bit, &pairs).unwrap_or(0)));
    }
    cells
}

#[cfg(test)]
mod tests {
    //! The laws of tiles, over all small choices of bits and many areas.

    use super::*;
    use crate::Alignment;

    fn bits(count: usize) -> Vec<Bit> {
        (0..count).map(|of| Bit { of, at: 0 }).collect()
    }

    /// Returns the cell of the position whose bits are the low bits of `place`, in the order of `reading`.
    fn cell_of(cells: &[(Bit, u32)], order: &[Bit], place: u32) -> u32 {
        let at = |bit: Bit| cells.iter().find(|(other, _)| *other == bit).unwrap().1;
        order.iter().enumerate().fold(0, |all, (i, bit)| match place >> i & 1 {
            0 => all,
            _ => all ^ at(*bit),
        })
    }

    fn check_cells(writing: &[Bit], reading: &[Bit]) {
        let cells = cells(writing, reading);
        let mut seen = vec![false; 1 << reading.len()];
        for place in 0..1 << reading.len() {
            let cell = cell_of(&cells, reading, place) as usize;
            assert!(
                !std::mem::replace(&mut seen[cell], true),
                "{writing:?} {reading:?}: {cells:?}"
            );
        }
        for order in [writing, reading] {
            // Adjacent lanes, for all values of the other bits.
            for rest in 0..1u32 << (order.len() - 3) {
                let banks = (0..8).map(|lane| cell_of(&cells, order, rest << 3 | lane) & 7);
                assert_eq!(
                    banks.fold(0, |all, bank| all | 1 << bank),
                    0xFF,
                    "{writing:?} {reading:?}"
                );
            }
        }
    }

    /// Calls `f` with every order of `left`, after `begun`.
    fn orders(begun: &mut Vec<Bit>, left: &[Bit], count: usize, f: &mut dyn FnMut(&[Bit])) {
        if begun.len() == count {
            return f(begun);
        }
        for (i, bit) in left.iter().enumerate() {
            let rest: Vec<Bit> = left[..i].iter().chain(&left[i + 1..]).copied().collect();
            begun.push(*bit);
            orders(begun, &rest, count, f);
            begun.pop();
        }
    }

    #[test]
    fn the_swizzle_is_a_bijection_without_conflicts_for_any_two_orders() {
        let mut count = 0;
        for all in 3..=7 {
            let reading = bits(all);
            // Any order of any of the bits: by symmetry, one reading order is enough.
            for some in 3..=all.min(5) {
                orders(&mut Vec::new(), &reading, some, &mut |writing| {
                    check_cells(writing, &reading);
                    count += 1;
                });
            }
        }
        assert!(count > 3000, "{count}");
    }

    /// Returns a region of runs of some bits; strides are in bits too.
    fn region(run: u64, loops: &[(u64, i64, i64)]) -> BitRegion {
        let loops = loops.iter().map(|&(extent, src, dst)| Loop { extent, src, dst }).collect();
        BitRegion { src: 0, dst: 0, run, loops }
    }

    fn tile_of(region: &BitRegion) -> Option<TransposeTile> {
        TransposeTile::of(region, Alignment::default())
    }

    fn matrix(element: u64, m: u64, n: u64) -> BitRegion {
        let (e, rows, columns) = (element as i64, m as i64, n as i64);
        region(element, &[(n, e, rows * e), (m, columns * e, e)])
    }

    #[test]
    fn tiles_of_transposes_are_as_wide_as_said() {
        let of = |element, m, n| tile_of(&matrix(element, m, n)).unwrap().bits;
        assert_eq!(of(8, 4096, 4096), [7, 7]);
        assert_eq!(of(16, 4096, 4096), [7, 7]);
        assert_eq!(of(32, 4096, 4096), [6, 6]);
        assert_eq!(of(64, 4096, 4096), [6, 5]);
        assert_eq!(of(128, 4096, 4096), [6, 4]);
        // Nibbles: lines of 128 bytes.
        assert_eq!(of(4, 4096, 4096), [8, 8]);
        // Extents need not be multiples of the tile's, only of a vector's.
        assert_eq!(of(32, 1004, 772), [6, 6]);
        assert!(tile_of(&matrix(32, 1003, 772)).is_none());
        assert!(tile_of(&matrix(16, 1004, 1000)).is_none());
    }

    #[test]
    fn extents_just_above_powers_of_two_have_shorter_lines() {
        // Four dims of 24 in reverse: lines of 256 bytes would need 2^16 elements, including those beyond the ends.
        let e = 16;
        let loops = [
            (24, e, 24 * 24 * 24 * e),
            (24, 24 * e, 24 * 24 * e),
            (24, 24 * 24 * e, 24 * e),
            (24, 24 * 24 * 24 * e, e),
        ];
        let tile = tile_of(&region(16, &loops)).unwrap();
        assert!(tile.bytes() <= MOST && tile.bytes() >= WANTED / 2, "{tile:?}");
    }

    #[test]
    fn every_bit_of_a_tile_is_of_one_kind_on_either_side() {
        let mut count = 0;
        for element in [4, 8, 16, 32, 64, 128] {
            for (m, n) in [
                (16u64, 64u64),
                (64, 16),
                (64, 64),
                (48, 1000 * 16),
                (256, 272),
                (1 << 20, 1 << 22),
            ] {
                for (batch, between) in [(1, 0), (2, 1), (7, 0), (32, 2)] {
                    let e = element as i64;
                    let (rows, columns) = (m as i64 * e, n as i64 * e);
                    let matrix = m as i64 * columns;
                    let loops = match between {
                        0 => [(batch, matrix, matrix), (n, e, rows), (m, columns, e)],
                        1 => [(n, e, rows * batch as i64), (batch, matrix, rows), (m, columns, e)],
                        _ => [
                            (n, e * batch as i64, rows),
                            (m, columns * batch as i64, e),
                            (batch, e, matrix),
                        ],
                    };
                    let loops: Vec<_> = loops.into_iter().filter(|level| level.0 > 1).collect();
                    let Some(tile) = tile_of(&region(element, &loops)) else { continue };
                    count += 1;
                    let all = tile.bits.iter().sum::<u32>() as usize;
                    let pairs = tile.exchanged.len();
                    assert_eq!(tile.writing.len() + tile.src.len() + pairs, all);
                    assert_eq!(tile.reading.len() + tile.dst.len(), all);
                    assert!(tile.bytes() <= MOST);
                    let vectors: Vec<Bit> = tile
                        .writing
                        .iter()
                        .copied()
                        .filter(|bit| !tile.dst.contains(bit))
                        .collect();
                    check_cells(&vectors, &tile.reading);
                    for (a, b) in &tile.exchanged {
                        assert!(tile.src.contains(a) && !tile.dst.contains(a));
                        assert!(tile.dst.contains(b) && !tile.src.contains(b));
                    }
                }
            }
        }
        assert!(count > 60, "{count}");
    }

    #[test]
    fn vectors_that_are_not_whole_or_begin_anywhere_are_left_to_others() {
        let one = matrix(32, 64, 64);
        assert!(tile_of(&one).is_some());
        let moved = |src: i64, dst: i64| BitRegion { src: 8 * src, dst: 8 * dst, ..one.clone() };
        assert!(tile_of(&moved(16, 32)).is_some());
        assert!(tile_of(&moved(4, 0)).is_none() && tile_of(&moved(0, 8)).is_none());
        let at = |src, dst| TransposeTile::of(&moved(4, 8), Alignment::new(src, dst).unwrap());
        assert!(at(12, 8).is_some() && at(12, 0).is_none());
        // Backwards in the source: a vector begins with its last element.
        let reversed = |src| BitRegion { src, ..region(32, &[(64, -32, 2048), (64, 2048, 32)]) };
        assert!(tile_of(&reversed(63 * 32)).is_some_and(|tile| tile.behind() == -96));
        assert!(tile_of(&reversed(64 * 32)).is_none());
        // Nibbles that run backwards within a byte.
        let reversed = BitRegion { src: 255 * 4, ..region(4, &[(256, -4, 1024), (256, 1024, 4)]) };
        assert!(tile_of(&reversed).is_none());
    }

    /// Checks the laws of a tile of contiguous arrays: the lanes of a sector are adjacent on either side, and banks are
    /// used once.
    fn check_sectors(tile: &TransposeTile) {
        let lanes = tile.threads() as usize;
        for (side, order) in [(TileSide::Src, &tile.writing), (TileSide::Dst, &tile.reading)] {
            let sector: Vec<Bit> =
                order.iter().copied().filter(|bit| is_sector(&tile.loops, *bit, side)).collect();
            assert_eq!(sector.len(), 1, "{side:?} {tile:?}");
            assert!(order[..lanes.min(5)].contains(&sector[0]), "{side:?} {tile:?}");
        }
        let vectors: Vec<Bit> =
            tile.writing.iter().copied().filter(|bit| !tile.dst.contains(bit)).collect();
        check_cells(&vectors, &tile.reading);
        if let Some((a, half)) = tile.halved {
            // Sixteen neighbours write halves: of pairs to one cell, and of eight cells in eight banks.
            assert!(tile.writing[0] == half && tile.dst.contains(&half) && tile.src.contains(&a));
            assert_eq!(tile.cell(half), 0);
            let sorted = |mut bits: Vec<Bit>| {
                bits.sort_unstable();
                bits
            };
            assert_eq!(sorted(tile.held()), sorted(tile.dst.clone()));
        }
    }

    #[test]
    fn sectors_are_of_neighbouring_lanes_for_all_permutations_of_bits() {
        let (mut count, mut halved) = (0, 0);
        // Nibbles have most of the permutations.
        let elements =
            tilewright_testing::cases(&[4, 8, 16, 32, 64, 128][..], &[8, 16, 32, 64, 128]);
        let mut permutations = 0;
        for &element in elements {
            let levels = (VECTOR_BITS / element).trailing_zeros() as usize;
            // The lowest bits of the destination are any of the lowest of the source, or of those far away.
            let near = levels + 1;
            let all = bits(near + 3);
            permutations += (4..=near + 3).product::<usize>();
            orders(&mut Vec::new(), &all, near, &mut |lowest| {
                let others = all.iter().filter(|bit| !lowest.contains(bit));
                let order: Vec<Bit> = lowest.iter().chain(others).copied().collect();
                let step = |at: usize| (element << at) as i64;
                let mut loops: Vec<(u64, i64, i64)> =
                    order.iter().enumerate().map(|(to, bit)| (2, step(bit.of), step(to))).collect();
                // Batches around them, in the same order on both sides.
                loops.push((64, step(near + 3), step(near + 3)));
                let Some(tile) = tile_of(&region(element, &loops)) else { return };
                check_sectors(&tile);
                count += 1;
                halved += usize::from(tile.halved.is_some());
            });
        }
        // 9 · 8 · 7 · 6 · 5 · 4 for nibbles, and so on: no choice is left out.
        assert_eq!(count, permutations);
        assert!(halved * 5 > count, "{halved} of {count}");
    }
}
