//! How the elements of a nest are read: in spans of the source, each in one call.
//!
//! A span takes in the turns with the smallest strides as long as it stays dense: between what is needed are gaps of up
//! to [`GAP`] bytes, and it reads at most [`MOST`] times what is needed. So what is read beyond the need is bounded.
//! What was read lies side by side in memory, span by span, and the nest goes on from there.

use super::nest::{Nest, Turn};

/// A gap of this many bytes is read over: a call costs no less.
const GAP: u64 = 4096;

/// A span reads no more than this many times what is needed of it.
const MOST: u64 = 16;

/// How a nest is read.
#[derive(Clone, Debug)]
pub(crate) struct Spans {
    /// The units of one span.
    pub(crate) span: u64,
    /// The loops over the spans, outermost first: their extents and strides in the source.
    pub(crate) outer: Vec<(u64, u64)>,
    /// The nest from the spans in memory.
    pub(crate) rest: Nest,
}

impl Spans {
    /// `width` bytes are a unit, and a span of `room` bytes fits in; `gaps` says whether what is not needed may be read.
    pub(crate) fn of(nest: &Nest, width: u64, room: u64, gaps: bool) -> Spans {
        let mut order: Vec<usize> = (0..nest.turns.len()).collect();
        let stride = |number: &usize| nest.turns.get(*number).map_or(0, |turn| turn.from);
        order.sort_by_key(stride);
        let (mut span, mut needed, mut outer, mut held) = (1u64, 1u64, Vec::new(), 1u64);
        let mut turns = nest.turns.clone();
        for number in order {
            let Some(turn) = turns.get_mut(number) else { continue };
            let Turn { extent, from, .. } = *turn;
            if from == 0 {
                continue;
            }
            let wider = from.saturating_mul(extent - 1).saturating_add(span);
            let all = needed.saturating_mul(extent);
            let gap = from.saturating_sub(span).saturating_mul(width);
            let dense = gap == 0 || gaps && gap <= GAP && wider <= all.saturating_mul(MOST);
            if outer.is_empty() && dense && wider.saturating_mul(width) <= room {
                (span, needed, held) = (wider, all, wider);
                continue;
            }
            outer.push((extent, from));
            turn.from = held;
            held = held.saturating_mul(extent);
        }
        outer.reverse();
        Spans { span, outer, rest: Nest::new(0, nest.to, turns) }
    }

    /// The number of calls.
    pub(crate) fn calls(&self) -> u64 {
        self.outer.iter().map(|(extent, _)| *extent).fold(1, u64::saturating_mul)
    }

    /// The units that are read, and held.
    pub(crate) fn units(&self) -> u64 {
        self.calls().saturating_mul(self.span)
    }

    /// Where the spans begin, behind the first, in the order in which they are held.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        let place = |number: u64| {
            let step = |(rest, at): (u64, u64), (extent, from): &(u64, u64)| {
                (rest / extent, at + rest % extent * from)
            };
            self.outer.iter().rev().fold((number, 0), step).1
        };
        (0..self.calls()).map(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::nest::tests::visited;
    use proptest::prelude::*;

    proptest! {
        /// What is read, put side by side, is where the rest of the nest looks for it.
        #[test]
        fn spans_hold_what_the_nest_needs(
            turns in prop::collection::vec((2u64..5, 0u64..40), 0..4), width in 1u64..4, room in 1u64..200, gaps: bool,
        ) {
            let mut to = 1;
            let turns = turns.into_iter().map(|(extent, from)| {
                let turn = Turn { extent, from, to };
                to *= extent;
                turn
            });
            let nest = Nest::new(7, 0, turns.collect::<Vec<_>>());
            let spans = Spans::of(&nest, width, room, gaps);
            let mut held = Vec::new();
            for start in spans.starts() {
                held.extend((0..spans.span).map(|i| nest.from + start + i));
            }
            prop_assert_eq!(held.len() as u64, spans.units());
            prop_assert!(spans.span == 1 || spans.span * width <= room);
            let is: Vec<(u64, u64)> = visited(std::slice::from_ref(&spans.rest)).into_iter()
                .map(|(to, at)| (to, held[at as usize])).collect();
            prop_assert_eq!(is, visited(std::slice::from_ref(&nest)));
            if !gaps {
                let mut needed: Vec<u64> = visited(&[nest]).into_iter().map(|(_, from)| from).collect();
                needed.sort_unstable();
                needed.dedup();
                held.sort_unstable();
                held.dedup();
                prop_assert_eq!(held, needed);
            }
        }
    }
}
