//! Offsets in a layout that the compiler computed: assigns the integers of a coordinate to modes.
//!
//! Law: inside the layout, `dot` equals the run-time [`Layout::crd2idx`](tilewright_core::Layout::crd2idx). If an integer
//! addresses several modes, the last of them takes the remaining quotient unreduced.

use core::marker::PhantomData;

use tilewright_core::{Error, IntTuple, Layout, MAX_MODES};

use super::{FixedTuple, StaticLayout};

/// The share of a mode in the integer `leaf` of a coordinate: the digit `leaf / divisor mod extent`.
#[derive(Clone, Copy)]
struct Share {
    leaf: usize,
    divisor: u64,
    /// The extent of the mode; 0 for the last mode of the integer, which takes the whole quotient.
    extent: u64,
    stride: i64,
}

/// The shares of the modes of `L` in a coordinate of type `C`.
struct Fit<C, L>(PhantomData<(C, L)>);

impl<C: FixedTuple, L: StaticLayout> Fit<C, L> {
    const SHARES: [Share; MAX_MODES] = match shares(&C::TUPLE, &L::LAYOUT) {
        Ok(shares) => shares,
        Err(error) => error.panic_const(),
    };
}

const fn shares(coord: &IntTuple, layout: &Layout) -> Result<[Share; MAX_MODES], Error> {
    let mut shares = [Share { leaf: 0, divisor: 1, extent: 0, stride: 0 }; MAX_MODES];
    let (mut leaf, mut i) = (0, 0);
    loop {
        let to = match layout.modes_under(coord, leaf) {
            Ok(Some((_, to))) => to,
            Ok(None) => return Ok(shares),
            Err(error) => return Err(error),
        };
        let mut divisor = 1;
        while i < to {
            let (extent, stride) = (layout.modes()[i].extent(), layout.modes()[i].stride());
            let extent_within = if i + 1 == to { 0 } else { extent };
            shares[i] = Share { leaf, divisor, extent: extent_within, stride };
            divisor *= extent;
            i += 1;
        }
        leaf += 1;
    }
}

/// Returns the offset of a coordinate, in elements; outside the layout the result is unspecified.
#[inline]
pub(crate) fn dot<C: FixedTuple, L: StaticLayout>(coord: C) -> i64 {
    let (mut offset, mut i) = (const { L::LAYOUT.offset() }, 0);
    while i < const { L::LAYOUT.modes().len() } {
        let share = Fit::<C, L>::SHARES[i];
        let rest = coord.leaf(share.leaf).checked_div(share.divisor).unwrap_or(0);
        let digit = rest.checked_rem(share.extent).unwrap_or(rest);
        offset = offset.wrapping_add((digit as i64).wrapping_mul(share.stride));
        i += 1;
    }
    if const { L::LAYOUT.swizzle().is_identity() } {
        offset
    } else {
        L::LAYOUT.swizzle().apply(offset as u64) as i64
    }
}
