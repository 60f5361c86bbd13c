//! Tests of every operation of every kind of register against a model of its bits.

use super::{
    super::{Isa, isa::portable::Words, vector::Vector},
    noise,
};
use crate::cpu::kernel::suite::{BufferPosition, Guarded};

fn bit(bytes: &[u8], at: usize) -> bool {
    bytes[at / 8] >> (at % 8) & 1 == 1
}

fn load<V: Vector>(bytes: &[u8]) -> V {
    assert_eq!(bytes.len(), V::BYTES);
    // SAFETY: `bytes` has the length of a register, as asserted; callers checked the instruction set.
    unsafe { V::load(bytes.as_ptr()) }
}

fn stored<V: Vector>(register: V, place: BufferPosition) -> Vec<u8> {
    let mut to = Guarded::new(V::BYTES, place);
    // SAFETY: `to` has the length of a register; callers checked the instruction set.
    unsafe { register.store(to.bytes().as_mut_ptr()) };
    assert!(to.is_intact());
    to.bytes().to_vec()
}

/// The element of the pair at `(register, bit)` comes from the position with the two bits exchanged.
fn exchanges<V: Vector>() {
    for level in 0..(8 * V::BYTES).ilog2() {
        for seed in 0..8 {
            let pair = [noise(V::BYTES, 2 * seed), noise(V::BYTES, 2 * seed + 1)];
            // SAFETY: the level is one of the register; callers checked the instruction set.
            let (a, b) = unsafe { V::exchange(level as u8, load(&pair[0]), load(&pair[1])) };
            for (which, register) in [a, b].into_iter().enumerate() {
                let found = stored(register, BufferPosition::Ends);
                for at in 0..8 * V::BYTES {
                    let (from, rest) = (at >> level & 1, at & !(1 << level));
                    let expected = bit(&pair[from], rest | which << level);
                    assert_eq!(bit(&found, at), expected, "level {level}, {which}, bit {at}");
                }
            }
        }
    }
}

fn arrangements<V: Vector>() {
    let bytes = V::BYTES;
    let same: Vec<u8> = (0..bytes as u8).collect();
    let turned = same.iter().rev().copied().collect();
    let mut tables = vec![same, turned];
    tables.extend(
        (0..if cfg!(miri) { 20 } else { 200 }).map(|seed| {
            noise(bytes, seed).iter().map(|byte| byte % bytes as u8).collect::<Vec<u8>>()
        }),
    );
    for (seed, table) in tables.into_iter().enumerate() {
        let from = noise(bytes, seed as u64 + 7);
        let mut held = Guarded::holding(&table, BufferPosition::Ends);
        // SAFETY: the table has the length of a register; callers checked the instruction set.
        let found = unsafe { load::<V>(&from).arrange(held.bytes().as_ptr()) };
        let expected: Vec<u8> = table.iter().map(|at| from[usize::from(*at)]).collect();
        assert_eq!(stored(found, BufferPosition::Begins), expected, "{table:?}");
    }
}

/// Checks that loads, stores and short copies touch the right bytes at the very end of memory, and no others.
fn bounds<V: Vector>() {
    for place in [
        BufferPosition::Begins,
        BufferPosition::Ends,
        BufferPosition::Behind(1),
        BufferPosition::Behind(33),
    ] {
        let bytes = noise(V::BYTES, 3);
        let mut from = Guarded::holding(&bytes, place);
        assert_eq!(stored(load::<V>(from.bytes()), place), bytes);
        for len in 0..64 {
            let bytes = noise(len, 5);
            let (mut from, mut to) = (Guarded::holding(&bytes, place), Guarded::new(len, place));
            // SAFETY: both have `len` bytes, below 64; callers checked the instruction set.
            unsafe { V::copy_short(from.bytes().as_ptr(), to.bytes().as_mut_ptr(), len) };
            assert!(to.bytes() == bytes && to.is_intact(), "{len} bytes");
        }
    }
    let bytes = noise(V::BYTES, 4);
    for place in [BufferPosition::Begins, BufferPosition::Ends] {
        let mut to = Guarded::new(V::BYTES, place);
        // SAFETY: pages begin and end on lines; callers checked the instruction set.
        unsafe { load::<V>(&bytes).stream(to.bytes().as_mut_ptr()) };
        V::fence();
        assert!(to.bytes() == bytes && to.is_intact());
    }
}

/// Checks `count` bytes of one register followed by the rest of another, for each count.
fn splices<V: Vector>() {
    let (own, rest) = (noise(V::BYTES, 8), noise(V::BYTES, 9));
    for count in 0..=V::BYTES {
        // SAFETY: the count is at most a register's; callers checked the instruction set.
        let found = unsafe { load::<V>(&own).splice(load(&rest), count) };
        let expected = [&own[..count], &rest[count..]].concat();
        assert_eq!(stored(found, BufferPosition::Ends), expected, "{count}");
    }
}

fn all<V: Vector>() {
    assert!(V::BYTES.is_power_of_two() && V::BYTES >= 16);
    exchanges::<V>();
    arrangements::<V>();
    splices::<V>();
    bounds::<V>();
    // Prefetches of addresses that are not mapped.
    V::prefetch(core::ptr::without_provenance(64));
    V::prefetch_to_write(core::ptr::without_provenance(64));
}

#[test]
fn every_register_exchanges_arranges_and_copies_as_the_model() {
    for isa in super::here() {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => all::<super::super::x86_64::avx512::Zmm>(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                all::<super::super::x86_64::avx2::Ymm>();
                all::<super::super::x86_64::xmm::Xmm>();
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => all::<super::super::isa::neon::Quad>(),
            Isa::Generic => all::<Words>(),
        }
    }
}
