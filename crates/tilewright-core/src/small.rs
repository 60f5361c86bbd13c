//! All small layouts, for the tests that check a law on every one of them.

use crate::{Layout, Mode};
use core::ops::RangeInclusive;
use std::{vec, vec::Vec};

/// Calls `f` with every flat layout of 1 to `rank` modes with these extents and strides.
pub(crate) fn for_each_layout(
    rank: usize,
    extents: RangeInclusive<u64>,
    strides: RangeInclusive<i64>,
    mut f: impl FnMut(&Layout),
) {
    let modes: Vec<Mode> = extents
        .flat_map(|extent| strides.clone().map(move |stride| Mode::new(extent, stride)))
        .collect();
    for rank in 1..=rank {
        let mut pick = vec![0; rank];
        'all: loop {
            let chosen: Vec<Mode> = pick.iter().map(|&i| modes[i]).collect();
            f(&Layout::flat(&chosen).unwrap());
            for at in &mut pick {
                *at += 1;
                if *at < modes.len() {
                    continue 'all;
                }
                *at = 0;
            }
            break;
        }
    }
}

/// Returns the offsets of every coordinate, the first mode varying fastest, by an independent loop.
pub(crate) fn image(layout: &Layout) -> Vec<i64> {
    let mut offsets = vec![layout.offset()];
    if layout.size() == 0 {
        return vec![];
    }
    for mode in layout.modes() {
        offsets = (0..mode.extent() as i64)
            .flat_map(|c| {
                offsets.iter().map(move |offset| offset + c * mode.stride()).collect::<Vec<_>>()
            })
            .collect();
    }
    offsets
}
