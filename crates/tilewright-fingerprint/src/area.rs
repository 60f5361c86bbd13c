//! Areas: boxes of elements as loops over one memory, and their division.

use tilewright_core::Block;

/// One loop: a step along a dim, and along memory, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AreaLoop {
    pub(crate) dim: usize,
    pub(crate) step: u64,
    /// At least 2.
    pub(crate) extent: u64,
    pub(crate) stride: i64,
}

impl AreaLoop {
    /// Returns the distance from its first iteration to its last along its dim.
    pub(crate) fn reach(&self) -> u64 {
        self.step * (self.extent - 1)
    }

    /// Returns the distance from its first iteration to its last along memory, with its sign.
    pub(crate) fn span(&self) -> i64 {
        self.stride * (self.extent - 1) as i64
    }

    /// Splits the loop into an inner one of `iterations` iterations and an outer one; `iterations` divides the extent.
    pub(crate) fn split(&self, iterations: u64) -> [AreaLoop; 2] {
        let inner = AreaLoop { extent: iterations, ..*self };
        let (step, stride) = (self.step * iterations, self.stride * iterations as i64);
        [inner, AreaLoop { step, stride, extent: self.extent / iterations, ..*self }]
    }
}

/// A box of elements: the coordinate of its first element in the whole array, its offset, and independent loops by
/// ascending stride.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    pub(crate) coord: Vec<u64>,
    pub(crate) at: i64,
    pub(crate) loops: Vec<AreaLoop>,
}

impl Area {
    /// Returns the area of a block of a layout refined with itself, for a part that begins at `origin` of the whole.
    pub(crate) fn of(block: &Block, origin: &[u64]) -> Area {
        let coord = block.origin().as_slice().iter().zip(origin).map(|(a, b)| a + b).collect();
        let mut loops: Vec<AreaLoop> = (block.loops().iter())
            .map(|level| {
                let (dim, step, extent) = (usize::from(level.dim), level.step, level.extent);
                AreaLoop { dim, step, extent, stride: level.src }
            })
            .collect();
        loops.sort_by_key(|level| (level.dim, level.step));
        loops.dedup_by(|next, last| {
            let follows = next.dim == last.dim
                && next.step == last.step * last.extent
                && next.stride == last.stride * last.extent as i64;
            if follows {
                last.extent *= next.extent;
            }
            follows
        });
        loops.sort_by_key(|level| (level.stride.unsigned_abs(), level.step));
        Area { coord, at: block.src(), loops }
    }

    /// Returns the lowest and the highest offset.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let spans = || self.loops.iter().map(AreaLoop::span);
        let low = spans().map(|span| span.min(0)).sum::<i64>();
        let high = spans().map(|span| span.max(0)).sum::<i64>();
        (self.at + low, self.at + high)
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.loops.iter().map(|level| level.extent).product()
    }

    /// Cuts the area into the first `iterations` iterations of loop `i`, fewer than it has, and the rest.
    pub(crate) fn cut(&self, i: usize, iterations: u64) -> [Area; 2] {
        let level = self.loops[i];
        let (mut head, mut rest) = (self.clone(), self.clone());
        rest.coord[level.dim] += iterations * level.step;
        rest.at += iterations as i64 * level.stride;
        head.loops[i].extent = iterations;
        rest.loops[i].extent -= iterations;
        for part in [&mut head, &mut rest] {
            part.loops.retain(|level| level.extent > 1);
        }
        [head, rest]
    }
}
