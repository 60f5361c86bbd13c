//! Converts an exact map from coordinates to offsets back to an XLA layout.
//!
//! Law: `Layout::of(t)?.lower(t.extents())` is the same map as `t` with the same capacity.
//!
//! Tiles express every dense order of nested digits, with any gaps between them: a tile moves the low digits of some
//! dims after their high digits, and a tile larger than its dims pads. The search builds tiles for a number of dim
//! orders, and the shortest text whose lowering is the same map wins. Every result is checked.
//!
//! # Tiles
//!
//! The digits of a map are its modes, limited to the extents. The search finds tiles that put them into their storage
//! order. The working dims of XLA's walk are simulated as pieces: runs of digits of one dim. A tile moves the top
//! digits of some pieces to the left and leaves the rest to the right, in the same order. Each round takes the longest
//! list of the next digits in storage order that one tile can take.

use tilewright_core::{Error, Mode, TensorLayout};

use crate::{Layout, Tile, TileDim, lower::chained, permutation::permutations};

/// The number of dims of more than one coordinate up to which every order of them is tried.
const ALL_ORDERS: usize = 4;

impl Layout {
    /// Returns the shortest XLA layout found that stores every element at the offset of `tensor`, in a storage of the same
    /// length.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if no tiles express the map: for an offset, a swizzle, backwards or repeated
    /// strides, digits that interleave, a storage that ends inside its last tile, an empty array with storage, or steps.
    ///
    /// ```
    /// use tilewright_core::{Layout as Strided, TensorLayout};
    /// use tilewright_xla::Layout;
    /// let zn = Strided::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// let zn = TensorLayout::new(&[100, 100], &zn, 112 * 112).unwrap();
    /// let layout = Layout::of(&zn).unwrap();
    /// assert_eq!(layout.to_string(), "{1,0:T(112,16)}");
    /// assert_eq!(layout.lower(&[100, 100]).unwrap().offset(&[99, 99]), Ok(12339));
    ///
    /// let backwards = Strided::parse("(4):(-1)").unwrap().with_offset(3).unwrap();
    /// let backwards = TensorLayout::new(&[4], &backwards, 4).unwrap();
    /// assert!(Layout::of(&backwards).unwrap_err().is_unsupported());
    /// ```
    pub fn of(tensor: &TensorLayout) -> Result<Layout, Error> {
        refuse_foreign(tensor)?;
        if tensor.extents().contains(&0) {
            return of_empty(tensor);
        }
        let target = digits(tensor, true)?;
        refuse_unnested(&target, tensor.capacity())?;
        let candidates = candidates(tensor, &target)?.into_iter();
        let mut candidates: Vec<(usize, Layout)> =
            candidates.map(|layout| (layout.to_string().len(), layout)).collect();
        tilewright_core::sort_short(&mut candidates, |(length, _)| *length);
        let mut shortest = candidates.into_iter().map(|(_, layout)| layout);
        shortest.find(|layout| says(layout, tensor, &target)).ok_or_else(|| {
            Error::unsupported("no tiles found for {} digits", [target.len() as i128], "")
        })
    }
}

/// Returns whether a layout lowers to the same map and capacity.
fn says(layout: &Layout, tensor: &TensorLayout, target: &[RaisedDigit]) -> bool {
    layout.lower(tensor.extents()).is_ok_and(|lowered| {
        lowered.capacity() == tensor.capacity()
            && lowered.is_strided()
            && digits(&lowered, true).is_ok_and(|digits| digits == target)
    })
}

fn candidates(tensor: &TensorLayout, target: &[RaisedDigit]) -> Result<Vec<Layout>, Error> {
    let written = digits(tensor, false)?;
    let covers = u64::try_from(tensor.layout().cosize()) == Ok(tensor.capacity());
    let mut found = Vec::new();
    for order in orders(tensor, target) {
        for digits in [&written[..], target] {
            // A storage longer than the digits need is a tile if the axes cover it, otherwise `L`.
            for by_tile in [covers, !covers] {
                found.extend(layout(&order, digits, tensor, by_tile));
            }
        }
    }
    Ok(found)
}

fn of_empty(tensor: &TensorLayout) -> Result<Layout, Error> {
    if tensor.capacity() != 0 {
        return Err(Error::unsupported(
            "an empty array has a storage of {} elements",
            [tensor.capacity().into()],
            "tiles of an empty array take no storage; write the widths as pad(…)",
        ));
    }
    let order = by_stride(tensor, |_| None);
    Layout::new(&order.into_iter().rev().map(|dim| dim as u64).collect::<Vec<_>>())
}

fn refuse_foreign(tensor: &TensorLayout) -> Result<(), Error> {
    let layout = tensor.layout();
    if !tensor.is_strided() {
        return Err(Error::unsupported(
            "a layout with {} steps lacks the strides from which tiles are read",
            [tensor.steps().len() as i128],
            "keep the text that it was lowered from",
        ));
    }
    if !layout.swizzle().is_identity() {
        return Err(Error::unsupported(
            "XLA layouts cannot express a swizzle",
            [],
            "drop it first",
        ));
    }
    if layout.offset() != 0 {
        return Err(Error::unsupported(
            "element 0 is at offset {}",
            [layout.offset().into()],
            "XLA layouts begin at offset 0",
        ));
    }
    Ok(())
}

fn refuse_unnested(digits: &[RaisedDigit], capacity: u64) -> Result<(), Error> {
    for pair in digits.windows(2) {
        if let [low, high] = pair
            && u128::from(high.stride) < low.end()
        {
            return Err(Error::unsupported(
                "dim {} at stride {} steps into {} coordinates at stride {}",
                [high.dim as i128, high.stride.into(), low.extent.into(), low.stride.into()],
                "digits of an XLA layout nest: each stride passes over all smaller ones",
            ));
        }
    }
    match digits.last() {
        Some(last) if last.end() > u128::from(capacity) => Err(Error::unsupported(
            "a gap at the end: {} elements of storage, but whole tiles take {}",
            [capacity.into(), last.end() as i128],
            "an XLA storage ends with a whole tile; extend the capacity",
        )),
        _ => Ok(()),
    }
}

/// Returns the orders of the dims to try, each major to minor.
fn orders(tensor: &TensorLayout, target: &[RaisedDigit]) -> Vec<Vec<usize>> {
    let of = |dim: usize| target.iter().filter(move |digit| digit.dim == dim);
    let mut orders = vec![
        by_stride(tensor, |dim| of(dim).map(|digit| digit.stride).max()),
        by_stride(tensor, |dim| of(dim).map(|digit| digit.stride).min()),
    ];
    let (long, units): (Vec<usize>, Vec<usize>) =
        (0..tensor.rank()).partition(|&dim| of(dim).next().is_some());
    if let Some(order) = orders.first() {
        let (units, long): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|dim| units.contains(dim));
        orders.push([long, units].concat());
    }
    if long.len() <= ALL_ORDERS {
        orders.extend(permutations(&long).into_iter().map(|order| [&units[..], &order].concat()));
    }
    orders
}

/// Returns the dims by a stride, the largest first; dims without one use that of their first mode. Dims at the same
/// stride stay in ascending order.
fn by_stride(tensor: &TensorLayout, stride: impl Fn(usize) -> Option<u64>) -> Vec<usize> {
    let written = |dim: usize| {
        let modes = tensor.layout().axis(dim).unwrap_or(&[]);
        modes.first().map_or(0, |mode| mode.stride().unsigned_abs())
    };
    let mut order: Vec<usize> = (0..tensor.rank()).collect();
    tilewright_core::sort_short(&mut order, |&dim| {
        std::cmp::Reverse(stride(dim).unwrap_or_else(|| written(dim)))
    });
    order
}

/// A digit `⌊x / div⌋ mod extent` of a dim, `stride` elements apart in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RaisedDigit {
    dim: usize,
    div: u64,
    extent: u64,
    stride: u64,
    /// Set if the dim has no more significant digit.
    top: bool,
}

impl RaisedDigit {
    /// Returns the first offset after the digit's own.
    fn end(&self) -> u128 {
        u128::from(self.stride) * u128::from(self.extent)
    }
}

/// Returns the digits of a strided map that some coordinate uses, the smallest stride first. With `merged`, digits
/// that chain are joined, so that the same map has the same digits.
///
/// # Errors
/// [unsupported](Error::is_unsupported) for a digit whose stride is not positive.
fn digits(tensor: &TensorLayout, merged: bool) -> Result<Vec<RaisedDigit>, Error> {
    let mut all = Vec::new();
    for (dim, &extent) in tensor.extents().iter().enumerate() {
        let modes = tensor.layout().axis(dim).unwrap_or(&[]);
        let mut modes: Vec<Mode> =
            modes.iter().copied().filter(|mode| mode.extent() != 1).collect();
        if merged {
            modes = chained(&modes);
        }
        all.append(&mut used(dim, extent, &modes)?);
    }
    tilewright_core::sort_short(&mut all, |digit| digit.stride);
    Ok(all)
}

/// Returns a dim's digits, as far as coordinates below `size` reach.
fn used(dim: usize, size: u64, modes: &[Mode]) -> Result<Vec<RaisedDigit>, Error> {
    let (mut digits, mut div) = (Vec::new(), 1u64);
    for mode in modes {
        if div >= size {
            break;
        }
        let extent = mode.extent().min(size.div_ceil(div));
        let stride =
            u64::try_from(mode.stride()).ok().filter(|&stride| stride > 0).ok_or_else(|| {
                Error::unsupported(
                    "dim {} has stride {}",
                    [dim as i128, mode.stride().into()],
                    "strides of an XLA layout are positive: no dim is repeated or runs backwards",
                )
            })?;
        digits.push(RaisedDigit { dim, div, extent, stride, top: false });
        div = div.saturating_mul(mode.extent());
    }
    if let Some(last) = digits.last_mut() {
        last.top = true;
    }
    Ok(digits)
}

/// The limit up to which divisors of a capacity are searched, with their counterparts.
const DIVISORS: u64 = 4096;

/// A working dim: the numbers of its digits, minor to major.
#[derive(Clone, Default)]
struct DigitGroup {
    digits: Vec<usize>,
    bound: u64,
}

/// The goal of the tiles.
struct TileGoal {
    /// The extents of the digits, and whether they are the top ones of their dims, in storage order, minor first.
    extents: Vec<u64>,
    top: Vec<bool>,
    /// The extents of the digits in storage.
    rooms: Vec<u64>,
    /// After digit `.0`, all digits so far are merged and padded to `.1` elements.
    breaks: Vec<(usize, u64)>,
}

/// Returns a layout with the dims in `order` (major to minor), with tiles that may or may not succeed: the caller
/// verifies it. With `by_tile`, a storage longer than the digits need comes from a tile, not from `L`.
fn layout(
    order: &[usize],
    digits: &[RaisedDigit],
    tensor: &TensorLayout,
    by_tile: bool,
) -> Option<Layout> {
    let capacity = tensor.capacity();
    let (task, phantom) = TileGoal::new(digits, capacity, by_tile);
    let mut list = Vec::new();
    for &dim in order {
        let numbers = (0..digits.len()).filter(|&at| digits[at].dim == dim);
        let mut numbers: Vec<usize> = numbers.collect();
        tilewright_core::sort_short(&mut numbers, |&at| digits[at].div);
        let digits = numbers.into_iter().map(|at| at + usize::from(phantom)).collect();
        list.push(DigitGroup { digits, bound: *tensor.extents().get(dim)? });
    }
    if phantom {
        // A dim of one coordinate in the most minor position can take the padding; otherwise a dim before all.
        match list.last_mut() {
            Some(piece) if piece.digits.is_empty() => piece.digits.push(0),
            _ => list.insert(0, DigitGroup { digits: vec![0], bound: 1 }),
        }
    }
    let tiles = task.tiles(list)?;
    let minor_to_major: Vec<u64> = order.iter().rev().map(|&dim| dim as u64).collect();
    let layout = Layout::new(&minor_to_major).ok()?.with_tiles(&tiles);
    let padded = layout.padded_elements(tensor.extents()).ok()?;
    if padded == capacity {
        return Some(layout);
    }
    layout.with_tail_padding_alignment(alignment(padded, capacity)?).ok()
}

/// Returns the smallest alignment found that rounds `padded` elements up to `capacity`.
fn alignment(padded: u64, capacity: u64) -> Option<u64> {
    let more = capacity.checked_sub(padded)?;
    let small = (1..=DIVISORS.min(capacity)).filter(|&divisor| capacity.is_multiple_of(divisor));
    small.flat_map(|divisor| [divisor, capacity / divisor]).filter(|&divisor| divisor > more).min()
}

impl TileGoal {
    /// Returns the task, and whether digit 0 belongs to no dim: it is the space below the smallest stride.
    fn new(digits: &[RaisedDigit], capacity: u64, by_tile: bool) -> (TileGoal, bool) {
        let lowest =
            digits.first().map_or(if by_tile { capacity } else { 1 }, |digit| digit.stride);
        let phantom = lowest > 1;
        let mut task = TileGoal { extents: vec![], top: vec![], rooms: vec![], breaks: vec![] };
        if phantom {
            task.push(1, true, lowest);
        }
        for (at, digit) in digits.iter().enumerate() {
            let next = digits.get(at + 1).map(|next| next.stride);
            let room = match next.or(by_tile.then_some(capacity)) {
                Some(next) if next.is_multiple_of(digit.stride) => next / digit.stride,
                Some(next) => {
                    task.breaks.push((at + usize::from(phantom), next));
                    digit.extent
                }
                None => digit.extent,
            };
            task.push(digit.extent, digit.top, room);
        }
        (task, phantom)
    }

    fn push(&mut self, extent: u64, top: bool, room: u64) {
        self.extents.push(extent);
        self.top.push(top);
        self.rooms.push(room);
    }

    fn tiles(&self, mut list: Vec<DigitGroup>) -> Option<Vec<Tile>> {
        let (mut tiles, mut start, mut left) = (Vec::new(), 0, self.extents.len());
        // Each round takes a digit, fixes bounds or splits a piece.
        for _ in 0..=4 * self.extents.len() {
            while list.get(start).is_some_and(|piece| self.settled(piece, left)) {
                left -= list[start].digits.len();
                start += 1;
            }
            if start == list.len() {
                return self.breaks(list, tiles);
            }
            let active = list.split_off(start);
            let taken = self.plan(&active, left)?;
            let (tile, mut next) = self.apply(active, &taken);
            tiles.push(Tile::sizes(&tile).ok()?);
            list.append(&mut next);
        }
        None
    }

    /// Returns whether a piece is in its final position: its digits are the next of `left`, with their extents in storage.
    fn settled(&self, piece: &DigitGroup, left: usize) -> bool {
        let count = piece.digits.len();
        let in_order =
            piece.digits.iter().rev().enumerate().all(|(i, &digit)| digit + i + 1 == left);
        count <= left && in_order && self.fits(&piece.digits, piece.bound)
    }

    /// Returns whether digits that share a working dim of this bound all have their extents in storage.
    fn fits(&self, digits: &[usize], bound: u64) -> bool {
        let Some((&last, lower)) = digits.split_last() else {
            return bound == 1;
        };
        let breaks = |digit| self.breaks.iter().any(|&(at, _)| at == digit);
        let full = |&digit: &usize| self.rooms[digit] == self.extents[digit] && !breaks(digit);
        let exact = lower.iter().all(full);
        exact && self.low(lower).checked_mul(self.rooms[last]) == Some(bound)
    }

    /// Returns the product of the extents of digits.
    fn low(&self, digits: &[usize]) -> u64 {
        digits.iter().fold(1, |product: u64, &digit| product.saturating_mul(self.extents[digit]))
    }

    /// Returns the bound that a piece should have.
    fn wanted(&self, piece: &DigitGroup) -> u64 {
        match piece.digits.split_last() {
            None => 1,
            Some((&last, [])) => self.rooms[last],
            Some((&last, lower)) if self.top[last] => {
                self.low(lower).saturating_mul(self.rooms[last])
            }
            Some(_) => piece.bound,
        }
    }

    /// Returns how many top digits the next tile takes from each piece.
    fn plan(&self, active: &[DigitGroup], left: usize) -> Option<Vec<usize>> {
        let taken = self.longest(active, left);
        let pads = active.iter().any(|piece| self.wanted(piece) != piece.bound);
        if pads || taken.iter().any(|&count| count > 0) {
            return Some(taken);
        }
        // The next digit is inside a piece: take the digits above it, or, to be padded, the digit itself.
        let inside = |piece: &DigitGroup| piece.digits.iter().position(|&digit| digit + 1 == left);
        let mut above = taken;
        for (count, piece) in above.iter_mut().zip(active) {
            if let Some(at) = inside(piece) {
                *count = (piece.digits.len() - 1 - at).max(1);
            }
        }
        above.iter().any(|&count| count > 0).then_some(above)
    }

    /// Returns the longest run of next digits that one tile takes.
    fn longest(&self, active: &[DigitGroup], mut left: usize) -> Vec<usize> {
        let mut taken = vec![0; active.len()];
        let mut from = 0;
        while left > 0 {
            let next = (from..active.len()).find(|&at| {
                let digits = &active[at].digits;
                digits.len().checked_sub(taken[at] + 1).is_some_and(|top| digits[top] + 1 == left)
            });
            let Some(at) = next else { break };
            let (low, high) = active[at].digits.split_at(active[at].digits.len() - taken[at] - 1);
            if !self.fits(high, active[at].bound.div_ceil(self.low(low))) {
                break;
            }
            taken[at] += 1;
            from = at;
            left -= 1;
        }
        taken
    }

    /// Returns the tile that takes `taken[i]` top digits of piece `i`, and the working dims after it.
    fn apply(&self, active: Vec<DigitGroup>, taken: &[usize]) -> (Vec<u64>, Vec<DigitGroup>) {
        let (mut tile, mut outer, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, &count) in active.into_iter().zip(taken) {
            let (low, high) = piece.digits.split_at(piece.digits.len() - count);
            let size = if count == 0 { self.wanted(&piece) } else { self.low(low) };
            tile.push(size);
            outer.push(DigitGroup {
                digits: high.to_vec(),
                bound: piece.bound.div_ceil(size.max(1)),
            });
            inner.push(DigitGroup { digits: low.to_vec(), bound: size });
        }
        outer.append(&mut inner);
        (tile, outer)
    }

    /// Adds a merging tile for each stride that is not a multiple of the one before.
    fn breaks(&self, mut list: Vec<DigitGroup>, mut tiles: Vec<Tile>) -> Option<Vec<Tile>> {
        for &(digit, size) in &self.breaks {
            let within =
                |piece: &DigitGroup| piece.digits.iter().max().is_some_and(|&top| top <= digit);
            let from = list.iter().position(within)?;
            let merged = list.split_off(from);
            let mut dims = vec![TileDim::Combine; merged.len() - 1];
            dims.push(TileDim::Size(size));
            tiles.push(Tile::new(&dims).ok()?);
            let digits = merged.into_iter().flat_map(|piece| piece.digits).collect();
            list.extend([
                DigitGroup { digits: vec![], bound: 1 },
                DigitGroup { digits, bound: size },
            ]);
        }
        Some(tiles)
    }
}
