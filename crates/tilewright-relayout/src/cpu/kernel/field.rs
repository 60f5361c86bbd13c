//! Packing of bytes into elements of 1, 2 or 4 bits, and unpacking of such elements into bytes, in registers.
//!
//! With `F` elements in a byte, a register of packed elements becomes `F` registers of bytes, one for each position
//! within a byte. Exchanges of address bits within a byte separate the positions, and interleaving the registers byte
//! by byte puts the elements in order. Packing does the reverse.

use super::{
    Codec, Tools, gather,
    interleave::{ByteTables, sized, spread, tables},
    isa::Isa,
    isa::Vector,
    strip::{self, Make, RowStage, Strip},
};
use crate::{
    Elements, Extend,
    cpu::{cost, transpose::Locality},
    program::region::{RegionRef, for_each},
};

/// A register of zeros.
static ZEROS: [u8; 64] = [0; 64];

/// The address bits within a byte that select one of `F` positions: those of highest weight.
#[inline(always)]
fn levels<const F: usize>() -> core::ops::Range<u8> {
    3 - F.ilog2() as u8..3
}

/// Unpacks a register.
struct Unpack<'a, const F: usize> {
    tables: &'a ByteTables<F>,
    /// The sign bit of an element, or 0 for unsigned elements.
    sign: u8,
}

impl<const F: usize> Make<F> for Unpack<'_, F> {
    /// Reads one register.
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; F] {
        // SAFETY: `# Safety` of `Make::make`: every byte that this step reads is readable, one register at `from`.
        // `ZEROS` holds a register of any size, and `levels` are below 3, so levels of any register. The
        // tables were made for registers of `V`: `PackedField::of` makes both of `register` bytes.
        unsafe {
            let zeros = V::load(ZEROS.as_ptr());
            let mut places = [zeros; F];
            places[0] = V::load(from);
            // The level of weight `apart` separates position `i` from `i + apart`; the highest level comes first.
            for level in levels::<F>().rev() {
                let apart = F >> (3 - level);
                for i in (0..F).step_by(2 * apart) {
                    (places[i], places[i + apart]) = V::exchange(level, places[i], zeros);
                }
            }
            if self.sign > 0 {
                for place in &mut places {
                    *place = place.extend(self.sign);
                }
            }
            spread(places, self.tables)
        }
    }

    #[inline(always)]
    fn prefetch<V: Vector>(&self, from: *const u8) {
        V::prefetch(from);
    }
}

/// Packs registers.
struct Pack<'a, const F: usize> {
    tables: &'a ByteTables<F>,
    register: usize,
}

impl<const F: usize> Make<1> for Pack<'_, F> {
    /// Reads `F` registers.
    #[inline(always)]
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; 1] {
        // SAFETY: `# Safety` of `Make::make`: every byte that this step reads is readable, `F` registers from `from`
        // on. `levels` are below 3, so levels of any register. The tables were made for registers of `V`: `PackedField::of`
        // makes both of `register` bytes.
        unsafe {
            let mut places = [V::load(from); F];
            for (i, place) in places.iter_mut().enumerate().skip(1) {
                *place = V::load(from.add(i * V::BYTES));
            }
            let mut places = spread(places, self.tables);
            // The lowest level comes first: each level drops the high bits, which elements do not have.
            for level in levels::<F>() {
                let apart = F >> (3 - level);
                for i in (0..F).step_by(2 * apart) {
                    (places[i], _) = V::exchange(level, places[i], places[i + apart]);
                }
            }
            [places[0]]
        }
    }

    #[inline(always)]
    fn prefetch<V: Vector>(&self, from: *const u8) {
        for i in 0..F {
            V::prefetch(from.wrapping_add(i * self.register));
        }
    }
}

/// The parameters of a packed region whose elements become bytes, or the reverse.
#[derive(Clone, Debug)]
pub(crate) struct PackedField {
    register: usize,
    tables: Box<[[u8; 64]]>,
}

impl PackedField {
    /// Returns the parameters for a region; `None` if its runs are shorter than registers, or its widths are others.
    pub(crate) fn of(elements: Elements, isa: Isa, region: &RegionRef<'_>) -> Option<PackedField> {
        let Elements { src_bits, dst_bits, .. } = elements;
        let narrow = src_bits.min(dst_bits);
        if !matches!((src_bits, dst_bits), (1 | 2 | 4, 8) | (8, 1 | 2 | 4)) || !region.packed {
            return None;
        }
        let fits = |size: &&usize| region.run >= PackedField::long(**size, narrow);
        let register = *strip::registers(isa).iter().find(fits)?;
        let tables = tables(8 / narrow as usize, 1, register, dst_bits == 8);
        Some(PackedField { register, tables })
    }

    /// Returns the minimal length of a run of `narrow`-bit elements: up to a byte of them, less one, precede the first
    /// whole byte.
    fn long(register: usize, narrow: u32) -> u64 {
        (register as u64 + 1) * 8 / u64::from(narrow)
    }

    /// Returns the minimal length of a run.
    pub(crate) fn least(&self, elements: Elements) -> u64 {
        PackedField::long(self.register, elements.src_bits.min(elements.dst_bits))
    }

    /// Moves a region whose runs are long enough.
    pub(crate) fn run(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        if region.run < self.least(tools.elements) {
            return false;
        }
        let data = (src, out);
        match (tools.elements.src_bits, tools.elements.dst_bits) {
            (1, _) => self.unpack::<8>(tools, region, data),
            (2, _) => self.unpack::<4>(tools, region, data),
            (4, _) => self.unpack::<2>(tools, region, data),
            (_, 1) => self.pack::<8>(tools, region, data),
            (_, 2) => self.pack::<4>(tools, region, data),
            (_, _) => self.pack::<2>(tools, region, data),
        }
        true
    }

    fn unpack<const F: usize>(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        data: (&[u8], &mut [u8]),
    ) {
        let bits = 8 / F;
        let sign = if tools.elements.extend == Extend::Sign { 1 << (bits - 1) } else { 0 };
        let make = Unpack::<F> { tables: sized(&self.tables), sign };
        runs::<_, F, F>(tools, region, self.register, &make, data, true);
    }

    fn pack<const F: usize>(
        &self,
        tools: &mut Tools<'_>,
        region: &RegionRef<'_>,
        data: (&[u8], &mut [u8]),
    ) {
        let make = Pack::<F> { tables: sized(&self.tables), register: self.register };
        runs::<_, 1, F>(tools, region, self.register, &make, data, false);
    }
}

/// Converts the runs of a part: whole packed bytes in registers, the elements before and after them one by one.
fn runs<M: Make<O>, const O: usize, const F: usize>(
    tools: &mut Tools<'_>,
    part: &RegionRef<'_>,
    register: usize,
    make: &M,
    (src, out): (&[u8], &mut [u8]),
    unpacks: bool,
) {
    let run = part.run as usize;
    // The number of elements before the first whole byte, and the number of whole bytes.
    let middle = |from: i64, to: i64| {
        let head = ((if unpacks { from } else { to }) as usize).wrapping_neg() % F;
        (head, (run - head) / F)
    };
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        let (head, bytes) = middle(from, to);
        for i in (0..head).chain(head + bytes * F..run) {
            convert(tools.elements, (src, from + i as i64), (out, to + i as i64));
        }
    });
    let far = tools.locality == Locality::Memory && run >= 4 * cost::LINE as usize * F;
    let mut stage = far.then(|| RowStage::new(tools.scratch));
    let (ins, outs) = if unpacks { (1, F) } else { (F, 1) };
    let (isa, locality) = (tools.isa, tools.locality);
    let (len, target) = (out.len(), out.as_mut_ptr());
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        let (head, bytes) = middle(from, to);
        let (from, to) = ((from as usize + head) * ins / F, (to as usize + head) * outs / F);
        let source = &src[from..][..bytes * ins];
        assert!(bytes >= register && to <= len && bytes * outs <= len - to);
        let strip = Strip {
            from: source.as_ptr(),
            next: source.as_ptr_range().end,
            step: ins * register,
            last: ins * (bytes - register),
            to: target.wrapping_add(to),
            apart: 0,
            len: bytes * outs,
            ahead: strip::ahead(locality, bytes * ins, 1),
        };
        // SAFETY: a step reads a register of packed elements and writes `F` of bytes, or the reverse;
        // the source and, as just asserted, the destination have as much for each of `bytes` packed
        // bytes, at least a register, and the last step ends where they end. The stage holds bytes of
        // the exclusive destination. The machine has the instruction set, as `Isa::chosen` and its
        // callers make sure.
        unsafe { strip::run((isa, register), make, &strip, stage.as_mut()) };
    });
    if let Some(stage) = stage {
        // SAFETY: all bytes left in the stage are the part's.
        unsafe { strip::finish(isa, stage) };
    }
}

/// Converts one element.
fn convert(elements: Elements, (src, from): (&[u8], i64), (out, to): (&mut [u8], i64)) {
    let (codec, mut row) = (Codec::Packed(elements), [[0; 1]]);
    gather::load(codec, src, from, 1, &mut row);
    gather::store(codec, out, to, 1, &row);
}

#[cfg(test)]
mod tests {
    use super::super::suite::some;
    use super::*;
    use crate::cpu::scratch::Scratch;
    use crate::cpu::way::{Terms, Way};
    use crate::program::region::Loop;

    #[test]
    fn runs_are_packed_and_unpacked_at_every_width_and_phase() {
        for narrow in [1, 2, 4] {
            for extend in [Extend::Zero, Extend::Sign] {
                let unpack = Elements { src_bits: narrow, dst_bits: 8, extend };
                let pack = Elements { src_bits: 8, dst_bits: narrow, extend };
                for count in some(&[7, 64, 130, 140, 519, 520, 521, 1041, 5000, 20_001], 7) {
                    for (from, to) in some(&[(0, 0), (1, 0), (0, 1), (3, 5), (130, 77)], 4) {
                        check(unpack, count, (from, to));
                        check(pack, count, (from, to));
                    }
                }
            }
        }
    }

    fn check(elements: Elements, run_len: u64, (src, dst): (i64, i64)) {
        let loops = [Loop { extent: 2, src: run_len as i64 + 3, dst: run_len as i64 + 5 }];
        let part = RegionRef { packed: true, src, dst, run: run_len, loops: &loops };
        let ends = 2 * run_len as usize + 400;
        let source: Vec<u8> = (0..ends).map(|i| ((i * 167) >> 3) as u8).collect();
        let mut expected = vec![0xA5; ends];
        for_each(part.loops, part.src, part.dst, &mut |from, to| {
            for i in 0..run_len as i64 {
                convert(elements, (&source, from + i), (&mut expected, to + i));
            }
        });
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for locality in [Locality::Cache, Locality::Arriving, Locality::Memory] {
                let (mut got, scratch) = (vec![0xA5; ends], &mut Scratch::default());
                let mut tools =
                    Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch };
                let way = Way::of(&part, Terms { elements, isa, locality });
                way.run(&mut tools, &part, &source, &mut got);
                assert!(got == expected, "{} {locality:?} {elements:?} {part:?}", isa.name());
            }
        }
    }
}
