//! Offsets in a layout that the compiler computed: which integer of a coordinate falls to which mode.
//!
//! Law: inside the layout, `dot` is the run-time [`Layout::crd2idx`](crate::Layout::crd2idx). The last
//! mode of a part that an integer stands for takes what is left unreduced.

use core::marker::PhantomData;

use super::{IntTuple, StaticLayout};
use crate::{
    Error, MAX_MODES,
    algebra::{coordinates::unlike, walk::Walk},
    macros::tri,
};

/// What a mode takes of the integer `leaf` of a coordinate: its digits from `divisor` on.
#[derive(Clone, Copy)]
struct Share {
    leaf: usize,
    divisor: u64,
    /// What follows belongs to the next modes; 0 for the last, which takes all of it.
    extent: u64,
    stride: i64,
}

/// The shares of the modes of `L` in a coordinate `C`.
struct Fit<C, L>(PhantomData<(C, L)>);

impl<C: IntTuple, L: StaticLayout> Fit<C, L> {
    const SHARES: [Share; MAX_MODES] = match shares(&C::TUPLE, &L::LAYOUT) {
        Ok(shares) => shares,
        Err(error) => error.panic_const(),
    };
}

const fn shares(
    coord: &crate::IntTuple,
    layout: &crate::Layout,
) -> Result<[Share; MAX_MODES], Error> {
    let mut shares = [Share { leaf: 0, divisor: 1, extent: 0, stride: 0 }; MAX_MODES];
    let (mut leaf, mut i) = (0, 0);
    while let Some((_, to)) = tri!(part(coord, layout, leaf)) {
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
    Ok(shares)
}

/// The modes `from..to` that the integer `leaf` of a coordinate stands for; `None` past the last.
const fn part(
    coord: &crate::IntTuple,
    layout: &crate::Layout,
    leaf: usize,
) -> Result<Option<(usize, usize)>, Error> {
    let (mut c, mut l) = (Walk::new(coord.profile()), Walk::new(layout.profile()));
    let mut found = None;
    while !c.end() {
        let fits = if c.open() {
            l.open()
        } else if c.close() {
            l.close()
        } else {
            let (at, node) = (c.leaf(), l.node());
            if let Some(at) = at
                && at == leaf
            {
                found = node;
            }
            node.is_some()
        };
        if !fits {
            return Err(unlike(coord, &layout.shape()));
        }
    }
    if l.end() { Ok(found) } else { Err(unlike(coord, &layout.shape())) }
}

/// The offset of a coordinate, in elements; some number outside the layout.
#[inline]
pub(crate) fn dot<C: IntTuple, L: StaticLayout>(coord: C) -> i64 {
    let (mut offset, mut i) = (const { L::LAYOUT.offset() }, 0);
    while i < const { L::LAYOUT.modes().len() } {
        let share = Fit::<C, L>::SHARES[i];
        let rest = coord.leaf(share.leaf).checked_div(share.divisor).unwrap_or(0);
        let digit = rest.checked_rem(share.extent).unwrap_or(rest);
        offset = offset.wrapping_add((digit as i64).wrapping_mul(share.stride));
        i += 1;
    }
    if const { L::LAYOUT.swizzle().is_identity() } { offset } else { L::LAYOUT.swizzled(offset) }
}
