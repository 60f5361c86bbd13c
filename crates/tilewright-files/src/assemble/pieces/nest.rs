//! Elements of one array that are elements of another, as loops: the one form of every move in `assemble`.
//!
//! ```text
//! element i0, i1 … of a nest   is at  from + Σ iₖ·fromₖ  in the one array and at  to + Σ iₖ·toₖ  in the other
//! ```
//!
//! Law: `split` visits the elements of the nest, each once. Loops are sorted by `to`, largest first, and loops that continue one
//! another on both sides are merged.

/// One loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Turn {
    pub(crate) extent: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Loops from one array to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) turns: Vec<Turn>,
}

/// The largest number of parts into which a nest is cut.
pub(crate) const MOST: usize = 1 << 16;

/// The error for a nest that would be cut into too many parts.
#[derive(Debug)]
pub(crate) struct TooMany;

impl Nest {
    /// Returns a nest of these loops; an extent of 0 is kept, because it means that there are no elements.
    pub(crate) fn new(from: u64, to: u64, turns: impl IntoIterator<Item = Turn>) -> Nest {
        let mut turns: Vec<Turn> = turns.into_iter().filter(|turn| turn.extent != 1).collect();
        turns.sort_by_key(|turn| std::cmp::Reverse((turn.to, turn.from)));
        turns.dedup_by(|inner, outer| {
            let next = |stride: u64| stride.checked_mul(inner.extent);
            let joins = next(inner.to) == Some(outer.to) && next(inner.from) == Some(outer.from);
            let extent = outer.extent.checked_mul(inner.extent).filter(|_| joins);
            if let Some(extent) = extent {
                *outer = Turn { extent, ..*inner };
            }
            extent.is_some()
        });
        Nest { from, to, turns }
    }

    /// Returns the number of its elements.
    pub(crate) fn size(&self) -> u64 {
        self.turns.iter().map(|turn| turn.extent).fold(1, u64::saturating_mul)
    }

    /// Returns the distance of its last element from its first, in both arrays.
    pub(crate) fn reach(&self) -> (u64, u64) {
        let reach = |stride: fn(&Turn) -> u64| {
            let one = |turn: &Turn| stride(turn).saturating_mul(turn.extent.saturating_sub(1));
            self.turns.iter().map(one).fold(0, u64::saturating_add)
        };
        (reach(|turn| turn.from), reach(|turn| turn.to))
    }

    /// Returns the nest with the two arrays exchanged.
    pub(crate) fn swapped(&self) -> Nest {
        let turns = self.turns.iter();
        let turns = turns.map(|&Turn { extent, from, to }| Turn { extent, from: to, to: from });
        Nest::new(self.to, self.from, turns)
    }

    /// Returns the place in the first array of the element at a place of the second; the loops must be nested.
    pub(crate) fn source_at(&self, to: u64) -> Option<u64> {
        let step = |(rest, at): (u64, u64), turn: &Turn| {
            let digit = (rest / turn.to.max(1)).min(turn.extent.saturating_sub(1));
            (rest - digit * turn.to, at + digit * turn.from)
        };
        let (rest, at) = self.turns.iter().fold((to.checked_sub(self.to)?, self.from), step);
        (rest == 0 && self.size() > 0).then_some(at)
    }

    /// Returns whether every loop steps over everything that the loops inside it reach, so that no place of the second array
    /// occurs twice.
    pub(crate) fn is_nested(&self) -> bool {
        let mut inner = 0u64;
        self.turns.iter().rev().all(|turn| {
            let clear = turn.to > inner;
            inner = inner.saturating_add(turn.to.saturating_mul(turn.extent.saturating_sub(1)));
            clear
        })
    }

    /// Returns the number of elements that are adjacent in both arrays, innermost.
    pub(crate) fn run(&self) -> u64 {
        let side = self.turns.last().filter(|turn| (turn.from, turn.to) == (1, 1));
        side.map_or(1, |turn| turn.extent)
    }

    /// Returns the nest with only these values of the loop of this number, which stays a loop.
    pub(crate) fn part(&self, number: usize, start: u64, extent: u64) -> Nest {
        let mut part = self.clone();
        if let Some(turn) = part.turns.get_mut(number) {
            (part.from, part.to) = (part.from + start * turn.from, part.to + start * turn.to);
            turn.extent = extent;
        }
        part
    }

    /// Returns the nest with only these values of the loop of this number. Loops that a split has made are not merged.
    pub(crate) fn only(&self, number: usize, start: u64, extent: u64) -> Nest {
        let mut part = self.part(number, start, extent);
        part.turns.retain(|turn| turn.extent != 1);
        part
    }

    /// Returns the same elements at other places of the second array: digit `k` of a place, in the number system of these falling
    /// radices, has the weight beside its radix.
    pub(crate) fn through(&self, digits: &[(u64, u64)]) -> Result<Vec<Nest>, TooMany> {
        let mut nests = vec![self.clone()];
        for (radix, _) in digits {
            let split = nests.iter().map(|nest| nest.split(*radix));
            nests = split.collect::<Result<Vec<_>, _>>()?.concat();
            if nests.len() > MOST {
                return Err(TooMany);
            }
        }
        let moved = |place: u64| {
            let step = |(rest, sum): (u64, u64), (radix, weight): &(u64, u64)| {
                (rest % radix, sum.saturating_add((rest / radix).saturating_mul(*weight)))
            };
            digits.iter().fold((place, 0), step).1
        };
        let turn = |turn: &Turn| Turn { to: moved(turn.to), ..*turn };
        let nest = |nest: &Nest| Nest::new(nest.from, moved(nest.to), nest.turns.iter().map(turn));
        Ok(nests.iter().map(nest).collect())
    }

    /// Returns the same elements in nests that do not carry from below a multiple of `radix` of the second array to above it: the
    /// stride of each loop is a multiple, or all other loops together stay below the next multiple.
    pub(crate) fn split(&self, radix: u64) -> Result<Vec<Nest>, TooMany> {
        let (mut todo, mut done) = (vec![self.clone()], Vec::new());
        while let Some(nest) = todo.pop() {
            match nest.carrying(radix) {
                None => done.push(nest),
                Some(number) => nest.cut(number, radix, &mut todo)?,
            }
            if todo.len() + done.len() > MOST {
                return Err(TooMany);
            }
        }
        done.sort_by_key(|nest| nest.to);
        Ok(done)
    }

    /// Returns the outermost loop whose stride is not a multiple of `radix`, if together with similar loops it carries over a
    /// multiple.
    fn carrying(&self, radix: u64) -> Option<usize> {
        let low = |turn: &&Turn| !turn.to.is_multiple_of(radix);
        let reach = self.turns.iter().filter(low);
        let reach = reach.map(|turn| turn.to.saturating_mul(turn.extent.saturating_sub(1)));
        let reach = reach.fold(self.to % radix, u64::saturating_add);
        if reach < radix {
            return None;
        }
        self.turns.iter().position(|turn| !turn.to.is_multiple_of(radix))
    }

    /// Cuts one loop so that it no longer carries: into whole periods of `radix` if it meets its multiples, else into the values
    /// of a period.
    fn cut(&self, number: usize, radix: u64, out: &mut Vec<Nest>) -> Result<(), TooMany> {
        let Some(&turn) = self.turns.get(number) else { return Ok(()) };
        let base = self.to % radix;
        let lower = self.turns.iter().filter(|turn| !turn.to.is_multiple_of(radix)).skip(1);
        let lower = lower.map(|turn| turn.to.saturating_mul(turn.extent.saturating_sub(1)));
        let lower = lower.fold(base % turn.to, u64::saturating_add);
        if turn.to < radix && radix.is_multiple_of(turn.to) && lower < turn.to {
            let (period, begun) = (radix / turn.to, base / turn.to);
            let head = if begun == 0 { 0 } else { (period - begun).min(turn.extent) };
            let whole = (turn.extent - head) / period;
            let tail = turn.extent - head - whole * period;
            if head > 0 {
                out.push(self.only(number, 0, head));
            }
            if whole > 0 {
                let mut bulk = self.only(number, head, 1);
                let inner = Turn { extent: period, ..turn };
                let outer =
                    Turn { extent: whole, from: turn.from.saturating_mul(period), to: radix };
                bulk.turns.extend([inner, outer]);
                // Not merged: the pair would be the loop that was cut.
                bulk.turns.retain(|turn| turn.extent != 1);
                bulk.turns.sort_by_key(|turn| std::cmp::Reverse((turn.to, turn.from)));
                out.push(bulk);
            }
            if tail > 0 {
                out.push(self.only(number, turn.extent - tail, tail));
            }
            return Ok(());
        }
        let period = radix / tilewright_core::gcd(turn.to, radix);
        let values = period.min(turn.extent);
        if values > MOST as u64 {
            return Err(TooMany);
        }
        for value in 0..values {
            let mut nest = self.only(number, value, 1);
            let extent = (turn.extent - value).div_ceil(period);
            let stride = |stride: u64| stride.saturating_mul(period);
            nest.turns.push(Turn { extent, from: stride(turn.from), to: stride(turn.to) });
            nest.turns.retain(|turn| turn.extent != 1);
            nest.turns.sort_by_key(|turn| std::cmp::Reverse((turn.to, turn.from)));
            out.push(nest);
        }
        Ok(())
    }
}

/// Returns the greatest common divisor; that of 0 and n is n.
#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns every element as `(to, from)`, in order of `to`.
    pub(crate) fn visited(nests: &[Nest]) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        for nest in nests {
            let mut some = vec![(nest.to, nest.from)];
            for turn in &nest.turns {
                let steps = |(to, from): &(u64, u64)| {
                    let (to, from) = (*to, *from);
                    (0..turn.extent).map(move |i| (to + i * turn.to, from + i * turn.from))
                };
                some = some.iter().flat_map(steps).collect();
            }
            all.extend(some);
        }
        all.sort_unstable();
        all
    }

    fn turns() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
        // Extent, a gap after the inner loops, the stride on the other side.
        prop::collection::vec((1u64..6, 1u64..4, 0u64..30), 0..4)
    }

    /// Returns a nest whose places in the second array are distinct.
    fn nested(offset: u64, turns: &[(u64, u64, u64)]) -> Nest {
        let (mut reach, mut all) = (0, Vec::new());
        for &(extent, gap, from) in turns {
            let to = reach + gap;
            reach += to * (extent - 1);
            all.push(Turn { extent, from, to });
        }
        Nest::new(3, offset, all)
    }

    proptest! {
        #[test]
        fn a_split_visits_the_same_and_carries_nowhere(
            offset in 0u64..40, turns in turns(), radix in 1u64..50, swapped: bool,
        ) {
            let nest = nested(offset, &turns);
            let nest = if swapped { nest.swapped() } else { nest };
            let split = nest.split(radix).unwrap();
            let mut was = visited(std::slice::from_ref(&nest));
            was.sort_unstable();
            prop_assert_eq!(visited(&split), was);
            for nest in &split {
                let low = nest.turns.iter().filter(|turn| turn.to % radix > 0);
                let reach: u64 = low.map(|turn| turn.to * (turn.extent - 1)).sum();
                prop_assert!(nest.to % radix + reach < radix);
            }
        }

        #[test]
        fn the_source_of_a_place_is_found(offset in 0u64..40, turns in turns()) {
            let nest = nested(offset, &turns);
            prop_assert!(nest.is_nested());
            let all = visited(std::slice::from_ref(&nest));
            for to in 0..all.last().map_or(0, |(to, _)| to + 2) {
                let expected = all.iter().find(|(own, _)| *own == to).map(|(_, from)| *from);
                prop_assert_eq!(nest.source_at(to), expected);
            }
        }

        #[test]
        fn digits_count_with_their_weights(
            offset in 0u64..40, turns in turns(), radices in (1u64..6, 1u64..6), weights in (0u64..50, 0u64..50, 0u64..50),
        ) {
            let nest = nested(offset, &turns);
            let digits = [(radices.0 * radices.1, weights.0), (radices.0, weights.1), (1, weights.2)];
            let moved = |to: u64| {
                let (high, rest) = (to / digits[0].0, to % digits[0].0);
                high * weights.0 + rest / radices.0 * weights.1 + rest % radices.0 * weights.2
            };
            let was = visited(std::slice::from_ref(&nest));
            let mut was: Vec<_> = was.into_iter().map(|(to, from)| (moved(to), from)).collect();
            was.sort_unstable();
            prop_assert_eq!(visited(&nest.through(&digits).unwrap()), was);
        }
    }

    #[test]
    fn turns_that_continue_one_another_are_one() {
        let turn = |extent, from, to| Turn { extent, from, to };
        let nest = Nest::new(0, 0, [turn(2, 12, 12), turn(4, 1, 1), turn(3, 4, 4), turn(1, 9, 9)]);
        assert_eq!(nest.turns, [turn(24, 1, 1)]);
        assert_eq!((nest.size(), nest.run(), nest.reach()), (24, 24, (23, 23)));
        let copies = Nest::new(0, 0, [turn(2, 0, 3), turn(3, 0, 1)]);
        assert_eq!(copies.turns, [turn(6, 0, 1)]);
        assert!(!Nest::new(0, 0, [turn(2, 1, 2), turn(3, 2, 1)]).is_nested());
    }

    #[test]
    fn a_cut_of_too_many_parts_is_refused() {
        let turn = Turn { extent: 1 << 40, from: 1, to: 3 };
        assert!(Nest::new(0, 0, [turn]).split(1 << 30).is_err());
    }
}
