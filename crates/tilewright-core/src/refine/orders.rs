//! The cheapest order of some extents, for a cost that depends only on the extents at a few positions. Used to find the order of
//! dims that pads least under XLA's tiles.
//!
//! Law: [`Orders::least`] returns the least cost over all permutations of the extents, for any cost that depends only on
//! the extents at [`Orders::places`]. It tries every choice of extents for these positions; equal extents are one choice.

use crate::{Coord, Error, MAX_MODES};

/// The orders of some extents, to be compared by a cost.
///
/// ```
/// use tilewright_core::Orders;
/// // Rows of 8, padded to whole tiles of 4: the extent of 12 wastes nothing there, the extent of 9 does.
/// let orders = Orders { extents: &[12, 5, 9], places: &[2], enough: 12 * 5 * 9, most: 100 };
/// let extent = |at: u64| orders.extents[at as usize];
/// let cost = |order: &[u64]| Some(extent(order[0]) * extent(order[1]) * extent(order[2]).next_multiple_of(4));
/// let (order, cost) = orders.least(12 * 5 * 12, cost).unwrap().unwrap();
/// assert_eq!((order.as_slice(), cost), (&[1, 2, 0][..], 5 * 9 * 12));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Orders<'a> {
    /// The extents, in their present order.
    pub extents: &'a [u64],
    /// The positions whose extents determine the cost, ascending.
    pub places: &'a [usize],
    /// A lower bound on the cost: the search ends when it is reached.
    pub enough: u64,
    /// The largest number of orders to try.
    pub most: usize,
}

/// The state of the search.
struct OrderSearch<'a, C> {
    orders: Orders<'a>,
    cost: C,
    /// The extents chosen for the first of the positions, as indices.
    chosen: [usize; MAX_MODES],
    left: usize,
    least: u64,
    best: Option<Coord>,
}

impl Orders<'_> {
    /// Returns the first order of the least cost, and its cost; `None` if no order costs less than `now`.
    ///
    /// `cost` receives an order as the index of the extent at each position; `None` exceeds all costs. Extents that are
    /// chosen for no position keep their order.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond 32 extents; [illegal](Error::is_illegal) for positions that do not ascend or do not
    /// exist; [undecided](Error::is_undecided) if there are more than `most` orders to try.
    ///
    /// ```
    /// use tilewright_core::Orders;
    /// let first = |order: &[u64]| order.first().copied();
    /// let orders = Orders { extents: &[3, 3, 4], places: &[0], enough: 0, most: 2 };
    /// // The cost is the index, and the first is the best already; equal extents are one choice.
    /// assert_eq!(orders.least(1, first).unwrap().unwrap().1, 0);
    /// assert!(orders.least(0, first).unwrap().is_none());
    /// let few = Orders { most: 1, ..orders };
    /// assert!(few.least(5, |_| Some(4)).unwrap_err().is_undecided());
    /// assert!(Orders { places: &[3], ..orders }.least(1, first).unwrap_err().is_illegal());
    /// ```
    pub fn least(
        &self,
        now: u64,
        cost: impl FnMut(&[u64]) -> Option<u64>,
    ) -> Result<Option<(Coord, u64)>, Error> {
        let count = self.extents.len();
        if count > MAX_MODES {
            return Err(Error::limit("the orders of {} extents", [count as i128], "at most 32"));
        }
        let rising = self.places.windows(2).all(|pair| pair[0] < pair[1]);
        if !rising || self.places.last().is_some_and(|last| *last >= count) {
            let legal = "places must be in rising order, each below the number of extents";
            return Err(Error::illegal("{} places of {} extents", self.counts(), legal));
        }
        let (chosen, left) = ([0; MAX_MODES], self.most);
        let mut search = OrderSearch { orders: *self, cost, chosen, left, least: now, best: None };
        search.choose(0)?;
        Ok(search.best.map(|best| (best, search.least)))
    }

    fn counts(&self) -> [i128; 2] {
        [self.places.len() as i128, self.extents.len() as i128]
    }
}

impl<C: FnMut(&[u64]) -> Option<u64>> OrderSearch<'_, C> {
    /// Tries every extent at the next position; the recursion is at most 32 calls deep.
    fn choose(&mut self, depth: usize) -> Result<(), Error> {
        let Orders { extents, places, enough, .. } = self.orders;
        if depth == places.len() {
            return self.judge();
        }
        for at in 0..extents.len() {
            let taken = &self.chosen[..depth];
            let tried = |other: usize| !taken.contains(&other) && extents[other] == extents[at];
            if self.least <= enough || taken.contains(&at) || (0..at).any(tried) {
                continue;
            }
            self.chosen[depth] = at;
            self.choose(depth + 1)?;
        }
        Ok(())
    }

    /// Keeps the order if it is better than all before.
    fn judge(&mut self) -> Result<(), Error> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let legal = "equal dims count as one choice, and so do all dims without a tile";
            let what = "the orders of the dims under tiles: {} of {} dims";
            Error::undecided(what, self.orders.counts(), legal)
        })?;
        let order = self.order();
        if let Some(cost) = (self.cost)(order.as_slice())
            && cost < self.least
        {
            (self.least, self.best) = (cost, Some(order));
        }
        Ok(())
    }

    /// Returns the order, as indices: the chosen extents at their positions, the others around them in their order.
    fn order(&self) -> Coord {
        let Orders { extents, places, .. } = self.orders;
        let chosen = &self.chosen[..places.len()];
        let mut rest = (0..extents.len()).filter(|at| !chosen.contains(at));
        let mut order = Coord::EMPTY;
        for place in 0..extents.len() {
            let at = match places.iter().position(|one| *one == place) {
                Some(one) => Some(chosen[one]),
                None => rest.next(),
            };
            order.push(at.unwrap_or(place) as u64);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use super::*;

    /// Returns every permutation of `count` positions.
    fn permutations(count: usize) -> Vec<Vec<u64>> {
        (0..count).fold(vec![vec![]], |all, next| {
            let longer = |one: &Vec<u64>| {
                let one = one.clone();
                (0..=one.len()).map(move |at| [&one[..at], &[next as u64], &one[at..]].concat())
            };
            all.iter().flat_map(longer).collect()
        })
    }

    /// Checks the law over all extents below 5 and all tiles below 4 of up to 4 positions.
    #[test]
    fn the_least_of_all_permutations_is_found() {
        let (mut better, mut none) = (0, 0);
        for count in 0..=4 {
            let all = permutations(count);
            for code in 0..12u64.pow(count as u32) {
                let digit = |at: usize| code / 12u64.pow(at as u32) % 12;
                let extents: Vec<u64> = (0..count).map(|at| 1 + digit(at) % 4).collect();
                let tiles: Vec<u64> = (0..count).map(|at| 1 + digit(at) / 4).collect();
                let places: Vec<usize> = (0..count).filter(|&at| tiles[at] > 1).collect();
                let cost = |order: &[u64]| -> Option<u64> {
                    let sizes = order.iter().map(|&at| extents[at as usize]);
                    Some(
                        sizes
                            .zip(&tiles)
                            .map(|(size, tile)| size.next_multiple_of(*tile))
                            .product(),
                    )
                };
                let own: Vec<u64> = (0..count as u64).collect();
                let now = cost(&own).unwrap();
                let enough = extents.iter().product();
                let orders = Orders { extents: &extents, places: &places, enough, most: 24 };
                let least = all.iter().filter_map(|order| cost(order)).min().unwrap();
                match orders.least(now, cost).unwrap() {
                    Some((order, found)) => {
                        assert_eq!((found, cost(order.as_slice())), (least, Some(least)));
                        assert!(found < now && all.iter().any(|one| one == order.as_slice()));
                        better += 1;
                    }
                    None => {
                        assert_eq!(now, least, "{extents:?} under {tiles:?}");
                        none += 1;
                    }
                }
            }
        }
        assert!(better > 1000 && none > 1000, "{better} better, {none} not");
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let orders = Orders { extents: &[1; 33], places: &[], enough: 0, most: 1 };
        assert!(orders.least(1, |_| None).unwrap_err().is_limit());
        let orders = Orders { extents: &[1, 2], places: &[1, 1], enough: 0, most: 1 };
        assert!(orders.least(1, |_| None).unwrap_err().is_illegal());
        // The cost is always `None`, so no order is better.
        assert!(Orders { places: &[], ..orders }.least(1, |_| None).unwrap().is_none());
    }
}
