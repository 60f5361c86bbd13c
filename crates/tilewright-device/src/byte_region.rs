//! Storage of both arrays in bytes: the alignment of their first bytes, swizzles, and regions in bytes.
//!
//! A region in bytes, between two arrays of any alignment. The plan makes one for each region, and each way makes its
//! kernels from it.
//!
//! Law: the unit of an area divides its run, all its strides, and the addresses of its first byte on both sides. On a
//! swizzled side, it also divides the pointer and the granule of the swizzle.

use tilewright_core::{Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Gap, Loop, Program, Region};

use crate::Error;

/// Loops around runs of bytes that are contiguous on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByteRegion {
    /// The first byte in the source and in the destination.
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The bytes of a run, at least 1.
    pub(crate) run: u64,
    /// The loops, sorted by the destination's stride, the largest first; strides are in bytes.
    pub(crate) loops: Vec<Loop>,
    /// The bytes of an element; a run is a multiple of it.
    pub(crate) element: u64,
    /// The bytes of both arrays.
    pub(crate) bytes: (u64, u64),
    pub(crate) alignment: Alignment,
    pub(crate) options: Options,
    /// The maps of the swizzled sides. All other fields describe the arrays without swizzles.
    pub(crate) maps: Maps,
}

impl ByteRegion {
    /// Returns the area of a region that counts bytes.
    pub(crate) fn of(
        region: &Region,
        program: &Program,
        alignment: Alignment,
        options: Options,
    ) -> ByteRegion {
        ByteRegion {
            src: region.src,
            dst: region.dst,
            run: region.run,
            loops: region.loops.clone(),
            element: u64::from(program.elements().dst_bits / 8).max(1),
            bytes: (program.src_bytes(), program.dst_bytes()),
            alignment,
            options,
            maps: Maps::default(),
        }
    }

    /// Returns the distance of the first byte's address from the previous multiple of 16, on either side.
    pub(crate) fn phases(&self) -> (u64, u64) {
        let phase = |first: i64, pointer: u8| (first as u64).wrapping_add(pointer.into()) % VECTOR;
        (phase(self.src, self.alignment.src()), phase(self.dst, self.alignment.dst()))
    }

    /// Returns the widest access, in bytes, that is aligned everywhere: a power of two up to 16.
    pub(crate) fn unit(&self) -> u64 {
        let (src, dst) = self.phases();
        let strides = self.loops.iter().flat_map(|level| [level.src as u64, level.dst as u64]);
        strides.chain([src, dst, self.run]).fold(self.maps.unit(self.alignment), common)
    }

    /// Returns whether vectors of 16 bytes stay contiguous on swizzled sides.
    pub(crate) fn keeps_vectors(&self) -> bool {
        self.maps.unit(self.alignment) == VECTOR
    }
}

// The alignment of the first bytes of both arrays, the bytes that move together, and the choices of a plan that
// measurements decide. A plan is made for one alignment and these choices.
//
// Bytes move together in one access and in one sector. All ways choose the width of accesses by them.

/// The distance of the first byte of either array from the previous multiple of 16: 0 for whole allocations, any value
/// for views.
///
/// ```
/// use tilewright_device::Alignment;
/// // A view of bytes that begins at the fourth.
/// let view = Alignment::new(3, 0).unwrap();
/// assert_eq!((view.src(), view.dst()), (3, 0));
/// assert_eq!(Alignment::of_addresses(0x7f03, 0x8000), view);
/// assert!(Alignment::new(0, 16).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alignment {
    src: u8,
    dst: u8,
}

impl Alignment {
    /// Makes an alignment from the distances of source and destination, each from 0 to 15 bytes.
    ///
    /// # Errors
    /// [Mismatch](Error::is_mismatch) for more than 15.
    ///
    /// ```
    /// assert!(tilewright_device::Alignment::new(15, 15).is_ok());
    /// ```
    pub fn new(src: u8, dst: u8) -> Result<Alignment, Error> {
        if src > 15 || dst > 15 {
            return Err(Error::mismatch(format!(
                "pointers {src} and {dst} bytes past a multiple of 16; allowed are 0 to 15"
            )));
        }
        Ok(Alignment { src, dst })
    }

    /// Returns the alignment of two addresses.
    ///
    /// ```
    /// let at = tilewright_device::Alignment::of_addresses(256, 257);
    /// assert_eq!((at.src(), at.dst()), (0, 1));
    /// ```
    pub fn of_addresses(src: u64, dst: u64) -> Alignment {
        Alignment { src: (src % 16) as u8, dst: (dst % 16) as u8 }
    }

    /// Returns the distance of the source.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Alignment::default().src(), 0);
    /// ```
    pub fn src(self) -> u8 {
        self.src
    }

    /// Returns the distance of the destination.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Alignment::default().dst(), 0);
    /// ```
    pub fn dst(self) -> u8 {
        self.dst
    }
}

/// The bytes of the widest access.
pub(crate) const VECTOR: u64 = 16;

/// The bytes of a sector, which memory transfers together.
pub(crate) const SECTOR: u64 = 32;

/// Returns the largest power of two that divides both; the first argument is a power of two.
pub(crate) fn common(power: u64, number: u64) -> u64 {
    match number {
        0 => power,
        _ => power.min(1 << number.trailing_zeros()),
    }
}

/// Choices that change the speed of kernels, never their results.
///
/// ```
/// use tilewright_device::Options;
/// assert_eq!(Options::default().supertile(), 2);
/// assert_eq!(Options::default().with_supertile(1).supertile(), 1);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    supertile: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { supertile: 2 }
    }
}

impl Options {
    /// Sets the width of strips of tiles that blocks of a transpose walk: neighbours in the destination first, then in the
    /// source, so that the blocks of a square run at the same time. With 1, they walk all neighbours in the destination
    /// first. Values above 64 count as 64.
    ///
    /// ```
    /// use tilewright_device::Options;
    /// assert_eq!(Options::default().with_supertile(0).supertile(), 1);
    /// ```
    pub fn with_supertile(self, tiles: u32) -> Options {
        Options { supertile: tiles.clamp(1, 64) }
    }

    /// Returns the number of tiles across such a strip.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Options::default().supertile(), 2);
    /// ```
    pub fn supertile(self) -> u32 {
        self.supertile
    }
}

// Swizzled arrays: the same program without its swizzles, and the positions of bytes under them. The plan uses it if a
// side is swizzled, and the kernels for the addresses of their accesses.
//
// A swizzle is linear over xor, so it does not change bits below the lowest bit that it reads or changes. A kernel of
// the program without swizzles, whose accesses are no wider than that, moves the same elements if each access goes to
// the image of its offset.
//
// Laws: element by element, the offset in the swizzled array is the image of the one in the array without swizzle. An
// access of [`Map::granule`] bytes, at a multiple of them, stays one access.

/// The bits of an offset that a swizzle may read.
const BITS: u32 = 62;

/// The positions of an array's bytes: a matrix of bits that is applied to offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Map {
    /// For each bit of an offset, the other bits that it changes; the last entry is not 0.
    changes: Vec<u64>,
}

impl Map {
    /// Returns the map of an array whose elements have `bits` bits; the inner `None` is the identity.
    ///
    /// The outer `None` means that it is not a map of bytes: the width of elements is not a power of two, or they
    /// change positions within a byte.
    fn of(swizzle: Swizzle, bits: u32) -> Option<Option<Map>> {
        if swizzle.is_identity() {
            return Some(None);
        }
        if !bits.is_power_of_two() {
            return None;
        }
        let changed = |bit: u32| swizzle.apply(1 << bit) ^ (1 << bit);
        let mut changes: Vec<u64> = (0..BITS).map(changed).collect();
        while changes.last() == Some(&0) {
            changes.pop();
        }
        let up = bits.trailing_zeros();
        if up < 3 {
            let within = changes.iter().take(3 - up as usize).any(|change| *change != 0);
            let low = changes.iter().any(|change| change & ((1 << (3 - up)) - 1) != 0);
            if within || low {
                return None;
            }
            let bytes = changes.iter().skip(3 - up as usize).map(|change| change >> (3 - up));
            return Some(Some(Map { changes: bytes.collect() }));
        }
        let up = up - 3;
        let fits = changes.iter().all(|change| change.leading_zeros() > up);
        let zeros = core::iter::repeat_n(0, up as usize);
        let bytes = zeros.chain(changes.iter().map(|change| change << up));
        fits.then(|| Some(Map { changes: bytes.collect() }))
    }

    /// Returns the most bytes, up to 16, that stay contiguous.
    fn granule(&self) -> u64 {
        let moving = self.changes.iter().enumerate().filter(|(_, change)| **change != 0);
        let lowest = moving.map(|(bit, change)| (bit as u32).min(change.trailing_zeros())).min();
        lowest.map_or(VECTOR, |bit| common(VECTOR, 1 << bit))
    }

    /// Returns the image of an offset as an expression of `o`, a number of 64 bits: by shifts that move several bits
    /// together, or bit by bit, whichever has fewer terms.
    fn image(&self) -> String {
        let (shifted, single) = (self.shifted(), self.single());
        let terms = if shifted.len() <= single.len() { shifted } else { single };
        format!("o ^ {}", terms.join(" ^ "))
    }

    /// Returns a term for each distance between a bit and one that it changes: a shift with a mask.
    fn shifted(&self) -> Vec<String> {
        let span = self.changes.iter().fold(1 << (self.changes.len().max(1) - 1), |a, b| a | b);
        let low = if span < 1 << 32 { "(u32)o" } else { "o" };
        let most = 64 - span.leading_zeros() as i32;
        let masked = |by: i32| {
            let changed = |(bit, change): (usize, &u64)| match bit as i32 - by {
                to if (0..64).contains(&to) => change & 1 << to,
                _ => 0,
            };
            self.changes.iter().enumerate().map(changed).fold(0, |mask, bit| mask | bit)
        };
        let all = (1 - most..most).map(|by| (by, masked(by))).filter(|(_, mask)| *mask != 0);
        let term = |(by, mask): (i32, u64)| match by {
            0.. => format!("({low} >> {by} & {})", literal(mask)),
            _ => format!("({low} << {} & {})", -by, literal(mask)),
        };
        all.map(term).collect()
    }

    /// Returns a term for each bit that changes others.
    fn single(&self) -> Vec<String> {
        let moving = self.changes.iter().enumerate().filter(|(_, change)| **change != 0);
        let term = |(bit, change): (usize, &u64)| match *change < 1 << 32 && bit < 32 {
            true => format!("((u32)o >> {bit} & 1u) * {}", literal(*change)),
            false => format!("(o >> {bit} & 1u) * (u64){}", literal(*change)),
        };
        moving.map(term).collect()
    }
}

/// Returns a mask as the text has it: it is part of the structure, not a number of the array.
fn literal(mask: u64) -> String {
    match u32::try_from(mask) {
        Ok(mask) => format!("{mask:#x}u"),
        Err(_) => format!("((u64){:#x}u << 32 | {:#x}u)", mask >> 32, mask as u32),
    }
}

/// The maps of both arrays, if they are swizzled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Maps {
    src: Option<Map>,
    dst: Option<Map>,
}

impl Maps {
    /// Returns whether neither side is swizzled.
    pub(crate) fn are_none(&self) -> bool {
        self.src.is_none() && self.dst.is_none()
    }

    /// Returns whether the source is swizzled.
    pub(crate) fn has_src(&self) -> bool {
        self.src.is_some()
    }

    /// Returns the most bytes, up to 16, of an access on a swizzled side. They also divide the pointer, because bytes
    /// change positions relative to the array, not to memory.
    pub(crate) fn units(&self, pointers: Alignment) -> (u64, u64) {
        let unit = |map: &Option<Map>, pointer: u8| match map {
            Some(map) => common(map.granule(), pointer.into()),
            None => VECTOR,
        };
        (unit(&self.src, pointers.src()), unit(&self.dst, pointers.dst()))
    }

    /// Returns the most bytes of accesses that are possible on both sides.
    pub(crate) fn unit(&self, pointers: Alignment) -> u64 {
        let (src, dst) = self.units(pointers);
        src.min(dst)
    }

    /// Returns the address in the source of the byte that would be at `address` without a swizzle.
    pub(crate) fn from(&self, address: &str) -> String {
        match self.src {
            Some(_) => format!("src + tw_from({address} - src)"),
            None => address.to_string(),
        }
    }

    /// Returns the address in the destination of the byte that would be at `address` without a swizzle.
    pub(crate) fn to(&self, address: &str) -> String {
        match self.dst {
            Some(_) => format!("dst + tw_to({address} - dst)"),
            None => address.to_string(),
        }
    }

    /// Returns the functions that these addresses call.
    pub(crate) fn functions(&self) -> String {
        let sides = [("from", "source", &self.src), ("to", "destination", &self.dst)];
        let function = |(name, side, map): (&str, &str, &Option<Map>)| {
            let image = map.as_ref()?.image();
            Some(format!(
                "// Where byte o is in the {side}, which is swizzled.\nDEVICE u64 tw_{name}(u64 o) {{ return {image}; }}\n"
            ))
        };
        sides.into_iter().filter_map(function).collect()
    }
}

/// A program of arrays without swizzles, and the positions of their bytes.
#[derive(Clone, Debug)]
pub(crate) struct UnswizzledProgram {
    program: Program,
    maps: Maps,
}

impl UnswizzledProgram {
    /// Returns `None` if no side is swizzled, elements change positions within a byte, or a side has index tables.
    pub(crate) fn of(program: &Program) -> Option<UnswizzledProgram> {
        let Elements { src_bits, dst_bits, .. } = program.elements();
        let swizzle = |side: &TensorLayout| side.layout().swizzle();
        let maps = Maps {
            src: Map::of(swizzle(program.src()), src_bits)?,
            dst: Map::of(swizzle(program.dst()), dst_bits)?,
        };
        if maps.are_none() || program.has_tables() {
            return None;
        }
        let (src, dst) = (without(program.src())?, without(program.dst())?);
        let plain = match program.is_part() {
            true => {
                let (from, to) = program.origins();
                let extents = program.extents();
                Program::of_part((&src, from), (&dst, to), extents, program.elements())
            }
            false => Program::new(&src, &dst, program.elements(), program.fill()),
        };
        Some(UnswizzledProgram { program: plain.ok()?, maps })
    }

    /// Returns the regions of the arrays without swizzles, if they are fewer than those of the program and whole bytes.
    pub(crate) fn regions(&self, program: &Program) -> Option<(&[Region], &Maps)> {
        let regions = self.program.regions()?;
        let shares = is_narrow(program) && regions.iter().any(|region| region.packed);
        let fewer = !shares && program.regions().is_none_or(|others| regions.len() < others.len());
        fewer.then_some((regions, &self.maps))
    }

    /// Returns the gaps of the destination without a swizzle, if they are fewer than those of the program, and the
    /// swizzle permutes the bytes within the destination.
    pub(crate) fn gaps(&self, program: &Program) -> Option<(&[Gap], Maps)> {
        let window = program.dst().layout().swizzle().window();
        if !program.dst().capacity().is_multiple_of(window) {
            return None;
        }
        let gaps = self.program.gaps()?;
        let shares = is_narrow(program) && gaps.iter().any(|gap| gap.packed);
        let fewer = !shares && program.gaps().is_none_or(|others| gaps.len() < others.len());
        let maps = Maps { src: None, dst: self.maps.dst.clone() };
        fewer.then_some((gaps, maps))
    }
}

/// Returns whether elements of either side are narrower than a byte.
pub(crate) fn is_narrow(program: &Program) -> bool {
    program.elements().src_bits.min(program.elements().dst_bits) < 8
}

/// Returns the array without its swizzle, in the same storage.
fn without(side: &TensorLayout) -> Option<TensorLayout> {
    let layout = side.layout().with_swizzle(Swizzle::IDENTITY).ok()?;
    // Under a swizzle, the last element may be before the end of the bytes that are used without it.
    let capacity = side.capacity().max(layout.cosize().try_into().ok()?);
    TensorLayout::with_steps(side.extents(), side.steps(), &layout, capacity).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(map: &Option<Map>, offset: u64) -> u64 {
        let changes = map.iter().flat_map(|map| map.changes.iter().enumerate());
        let changed = changes.filter(|(bit, _)| offset >> bit & 1 == 1);
        changed.fold(offset, |all, (_, change)| all ^ change)
    }

    fn swizzles() -> Vec<Swizzle> {
        let family = (1..=3u8).flat_map(|bits| (0..=4u8).map(move |base| (bits, base)));
        let family =
            family.flat_map(|(bits, base)| (-4..=4i8).map(move |shift| (bits, base, shift)));
        let made = family.filter_map(|(bits, base, shift)| Swizzle::new(bits, base, shift).ok());
        let matrices: [&[u64]; 3] =
            [&[2, 1], &[1, 3, 7, 15, 31, 63], &[1, 2, 4, 8 + 16, 16 + 32 + 8, 32 + 8]];
        let matrices = matrices.map(|images| Swizzle::of_images(images).unwrap());
        made.chain(matrices).collect()
    }

    #[test]
    fn bytes_lie_where_their_elements_do() {
        let mut none = 0;
        for swizzle in swizzles() {
            for bits in [1u32, 2, 4, 8, 16, 32, 64, 128] {
                let Some(map) = Map::of(swizzle, bits) else {
                    none += 1;
                    assert!(bits < 8);
                    continue;
                };
                let granule = map.as_ref().map_or(VECTOR, Map::granule);
                for bit in 0..1u64 << 14 {
                    let element = bit / u64::from(bits);
                    let to = swizzle.apply(element) * u64::from(bits) + bit % u64::from(bits);
                    assert_eq!(apply(&map, bit / 8), to / 8, "{swizzle} of {bits}: bit {bit}");
                    assert_eq!(to % 8, bit % 8);
                    let of_bytes = apply(&map, bit / 8 / granule * granule);
                    assert_eq!(of_bytes + bit / 8 % granule, to / 8);
                    assert!(of_bytes.is_multiple_of(granule));
                }
            }
            assert!(Map::of(swizzle, 24).is_none_or(|map| map.is_none()));
        }
        assert!(none > 20, "{none}");
    }
}
