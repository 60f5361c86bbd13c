//! Runs of one relayout in every way that a machine supports.

use tilewright_core::TensorLayout;

use super::{
    super::{Isa, prefetch::Prefetch, transpose::transpose},
    here, noise,
};
use crate::cpu::kernel::suite::{BufferPosition, Guarded};
use crate::{
    Elements, Plan,
    cpu::{
        kernel::rows,
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::{RegionRef, for_each},
};

/// Elements of `bits` bits from one layout to another.
#[derive(Clone, Debug)]
pub(super) struct Relayout {
    pub(super) src: TensorLayout,
    pub(super) dst: TensorLayout,
    pub(super) bits: u32,
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunParameters {
    pub(super) isa: Isa,
    pub(super) register: usize,
    pub(super) locality: Locality,
    /// The shape of blocks: the planner's or, with a seed, a random multiple of a unit for each loop.
    pub(super) blocks: Option<u64>,
    pub(super) src: BufferPosition,
    pub(super) dst: BufferPosition,
}

/// Every instruction set with every register it has.
pub(super) fn registers() -> Vec<(Isa, usize)> {
    let sizes = |isa: Isa| [16, 32, 64].into_iter().filter(move |size| *size <= isa.register());
    here().flat_map(|isa| sizes(isa).map(move |size| (isa, size))).collect()
}

/// Positions at the start and the end of memory, on lines and between them.
pub(super) const PLACES: [(BufferPosition, BufferPosition); 6] = [
    (BufferPosition::Begins, BufferPosition::Begins),
    (BufferPosition::Ends, BufferPosition::Ends),
    (BufferPosition::Begins, BufferPosition::Ends),
    (BufferPosition::Ends, BufferPosition::Behind(16)),
    (BufferPosition::Behind(7), BufferPosition::Begins),
    (BufferPosition::Behind(61), BufferPosition::Behind(35)),
];

fn moved(source: &[u8], from: u64, out: &mut [u8], to: u64, bits: u64) {
    if bits.is_multiple_of(8) && from.is_multiple_of(8) && to.is_multiple_of(8) {
        let (from, to, len) = (from as usize / 8, to as usize / 8, bits as usize / 8);
        out[to..to + len].copy_from_slice(&source[from..from + len]);
        return;
    }
    for i in 0..bits {
        let (from, to) = (from + i, to + i);
        let set = source[(from / 8) as usize] >> (from % 8) & 1;
        let byte = &mut out[(to / 8) as usize];
        *byte = *byte & !(1 << (to % 8)) | set << (to % 8);
    }
}

/// The value of the bytes of the destination before a run.
const BEFORE: u8 = 0xA5;

impl Relayout {
    fn bytes(&self, layout: &TensorLayout) -> usize {
        (layout.capacity() * u64::from(self.bits)).div_ceil(8) as usize
    }

    /// Returns the expected bytes of the destination after a run, made one element after the other.
    fn expected(&self, source: &[u8]) -> Vec<u8> {
        let mut out = vec![BEFORE; self.bytes(&self.dst)];
        let bits = u64::from(self.bits);
        for index in 0..self.src.size() {
            let from = self.src.offset_of(index).unwrap() as u64 * bits;
            let to = self.dst.offset_of(index).unwrap() as u64 * bits;
            moved(source, from, &mut out, to, bits);
        }
        out
    }

    /// Checks all these ways; returns the number of those in which register transposes ran.
    pub(super) fn check(&self, ways: impl Iterator<Item = RunParameters>) -> usize {
        let plan = Plan::new(&self.src, &self.dst, Elements::same(self.bits), 0).unwrap();
        let Some(regions) = plan.0.program.regions() else { return 0 };
        let source = noise(self.bytes(&self.src), self.src.size());
        let expected = self.expected(&source);
        let mut scratch = Scratch::default();
        let mut transposed = 0;
        for way in ways {
            let mut from = Guarded::holding(&source, way.src);
            let mut to = Guarded::holding(&vec![BEFORE; expected.len()], way.dst);
            let mut any = false;
            for region in regions {
                let (part, bits) = (region.whole(), region.src_unit(plan.elements()));
                if !way.transpose(&part, bits, from.bytes(), to.bytes(), &mut scratch) {
                    naive(&part, bits, from.bytes(), to.bytes());
                } else {
                    any = true;
                }
            }
            transposed += usize::from(any);
            if to.bytes() != expected || !to.is_intact() {
                let at = to.bytes().iter().zip(&expected).position(|(found, own)| found != own);
                panic!("{way:?}\n{self:?}\nintact: {}, first at {at:?}\n{plan}", to.is_intact());
            }
        }
        transposed
    }

    /// Checks every register with these blocks, near and far; the positions are used in turn.
    pub(super) fn check_all(&self, blocks: &[Option<u64>]) -> usize {
        let mut places = PLACES.iter().copied().cycle();
        let mut ways = Vec::new();
        for (isa, register) in registers() {
            for locality in [Locality::Cache, Locality::Arriving, Locality::Memory] {
                for &blocks in blocks {
                    // At two positions of both sides, or at one.
                    for _ in 0..tilewright_testing::cases(2, 1) {
                        let (src, dst) = places.next().unwrap();
                        ways.push(RunParameters { isa, register, locality, blocks, src, dst });
                    }
                }
            }
            // Ways and positions are combined so that they do not stay in step.
            places.next();
        }
        self.check(ways.into_iter())
    }
}

impl RunParameters {
    /// Runs a register transpose of a part, if there is one.
    fn transpose(
        &self,
        part: &RegionRef<'_>,
        bits: u32,
        src: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> bool {
        let made = match self.blocks {
            None => RegisterTranspose::of(part, bits, self.register, self.locality),
            Some(seed) => {
                let shape = |units: &[u64]| {
                    let of = |(i, unit): (usize, &u64)| {
                        let some = u64::from(noise(i + 1, seed)[i]) % 7;
                        (unit + some * (unit + 1) / 2).min(part.loops[i].extent)
                    };
                    units.iter().enumerate().map(of).collect()
                };
                RegisterTranspose::shaped(part, bits, self.register, self.locality, &shape)
            }
        };
        let Some(made) = made.filter(|made| made.register == self.register) else { return false };
        let Some((from, to)) = made.begins(part, bits) else { return false };
        // Some runs prefetch other lines meanwhile, which may be anywhere.
        let lines = [0, 64, -4096, i64::MAX, 640];
        let prefetch = Prefetch::of(src, 7, &lines, out.len());
        let prefetch = self.blocks.is_some_and(|seed| seed % 2 == 1).then_some(&prefetch);
        transpose(self.isa, &made, part, (src, from), (out, to), prefetch, scratch)
    }
}

/// Moves a part run by run.
fn naive(part: &RegionRef<'_>, bits: u32, src: &[u8], out: &mut [u8]) {
    let bits = u64::from(bits);
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        rows::copy_bits(src, from as u64 * bits, out, to as u64 * bits, part.run * bits);
    });
}
