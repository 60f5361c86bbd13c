//! Areas: boxes of elements as loops over one memory, and their division.

use tilewright_core::Block;

/// One loop: a step along a dim, and along memory, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) dim: usize,
    pub(crate) step: u64,
    /// At least 2.
    pub(crate) extent: u64,
    pub(crate) stride: i64,
}

impl Turn {
    /// Returns the distance from its first iteration to its last along its dim.
    pub(crate) fn reach(&self) -> u64 {
        self.step * (self.extent - 1)
    }

    /// Returns the distance from its first iteration to its last along memory, with its sign.
    pub(crate) fn span(&self) -> i64 {
        self.stride * (self.extent - 1) as i64
    }

    /// Splits the loop into an inner one of `turns` iterations and an outer one; `turns` divides the extent.
    pub(crate) fn split(&self, turns: u64) -> [Turn; 2] {
        let inner = Turn { extent: turns, ..*self };
        let (step, stride) = (self.step * turns, self.stride * turns as i64);
        [inner, Turn { step, stride, extent: self.extent / turns, ..*self }]
    }
}

/// A box of elements: the coordinate of its first element in the whole array, its offset, and independent loops by
/// ascending stride.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    pub(crate) coord: Vec<u64>,
    pub(crate) at: i64,
    pub(crate) turns: Vec<Turn>,
}

impl Area {
    /// Returns the area of a block of a layout refined with itself, for a part that begins at `origin` of the whole.
    pub(crate) fn of(block: &Block, origin: &[u64]) -> Area {
        let coord = block.origin().as_slice().iter().zip(origin).map(|(a, b)| a + b).collect();
        let mut turns: Vec<Turn> = (block.loops().iter())
            .map(|turn| {
                let (dim, step, extent) = (usize::from(turn.dim), turn.step, turn.extent);
                Turn { dim, step, extent, stride: turn.src }
            })
            .collect();
        turns.sort_by_key(|turn| (turn.dim, turn.step));
        turns.dedup_by(|next, last| {
            let follows = next.dim == last.dim
                && next.step == last.step * last.extent
                && next.stride == last.stride * last.extent as i64;
            if follows {
                last.extent *= next.extent;
            }
            follows
        });
        turns.sort_by_key(|turn| (turn.stride.unsigned_abs(), turn.step));
        Area { coord, at: block.src(), turns }
    }

    /// Returns the lowest and the highest offset.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        let spans = || self.turns.iter().map(Turn::span);
        let low = spans().map(|span| span.min(0)).sum::<i64>();
        let high = spans().map(|span| span.max(0)).sum::<i64>();
        (self.at + low, self.at + high)
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.turns.iter().map(|turn| turn.extent).product()
    }

    /// Cuts the area into the first `turns` iterations of loop `i`, fewer than it has, and the rest.
    pub(crate) fn cut(&self, i: usize, turns: u64) -> [Area; 2] {
        let turn = self.turns[i];
        let (mut head, mut rest) = (self.clone(), self.clone());
        rest.coord[turn.dim] += turns * turn.step;
        rest.at += turns as i64 * turn.stride;
        head.turns[i].extent = turns;
        rest.turns[i].extent -= turns;
        for part in [&mut head, &mut rest] {
            part.turns.retain(|turn| turn.extent > 1);
        }
        [head, rest]
    }
}
