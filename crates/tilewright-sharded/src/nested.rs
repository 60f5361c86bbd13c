//! [`Sharded::as_layout`]: one layout of all shards, if it exists.
//!
//! One layout gives every device the same list, shifted. So with the list L₀ of position 0 and the shifts s_a(c) of
//! each axis a, the law is
//!
//! ```text
//! list(c) = L₀ + Σ s_a(c_a)     for every position, in every dim
//! ```
//!
//! and L₀ and every s_a are sums of digits times strides, which together count the dim: sorted by stride, each stride
//! is the product of the sizes before it. The answer is computed from the lists and not from the splits, so it does not
//! depend on how a sharding is written.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{Error, mesh::Witness, sharded::Sharded, split::Intervals};

/// A digit of a dim, and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NestedDigit {
    pub(crate) size: u64,
    /// The stride in the indices of the dim.
    pub(crate) stride: u64,
    pub(crate) of: Of,
}

/// The origin of a digit, with its weight there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The local index of the dim.
    Local { weight: u64 },
    /// The coordinate of an axis of the mesh.
    Axis { axis: usize, weight: u64 },
}

impl Sharded {
    /// Returns one layout of the whole array over the storage of all shards: the shards follow one another in the order
    /// of positions, each row-major, and the digits of axes of the mesh are modes of the dims. Axes that replicate are
    /// left out, because their devices store the same data.
    ///
    /// # Errors
    /// `no-layout`, with the first position that excludes one layout, as the [cause](Error::cause); `limit` beyond the modes
    /// of a layout.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// // FSDP over TP: rows that are adjacent in the array are on devices that are not.
    /// let sharded = Sharded::parse("f32[64,128] @ mesh(dp=2,tp=2) P((\"tp\",\"dp\"))")?;
    /// let layout = sharded.as_layout()?;
    /// assert_eq!(layout.layout().to_string(), "((16,2,2),128):((128,4096,2048),1)");
    /// // Row 16 is the first of dp=1, tp=0, which is position 2.
    /// assert_eq!(layout.offset(&[16, 0]), Ok(2 * 2048));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn as_layout(&self) -> Result<TensorLayout, Error> {
        self.as_layout_of(&TensorLayout::row_major(&self.at(0).extents())?)
    }

    /// Returns one layout of the whole array over the storage of shards that each have this layout. The digits of a
    /// shard replace those of the row-major one; padding of a shard is storage without elements.
    ///
    /// # Errors
    /// As [`Sharded::as_layout`]; `mismatch` for a layout whose extents differ from those of a shard; `no-layout` also
    /// for one whose digits do not end at those of the shards, or with padding within a dim that devices share.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[8,6] @ mesh(2) [Shard(1)]")?;
    /// let columns = TensorLayout::col_major(&[8, 3]).unwrap();
    /// assert_eq!(sharded.as_layout_of(&columns)?.layout().to_string(), "(8,(3,2)):(1,(8,24))");
    /// let other = TensorLayout::col_major(&[8, 4]).unwrap();
    /// assert_eq!(sharded.as_layout_of(&other).unwrap_err().kind(), "mismatch");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn as_layout_of(&self, shard: &TensorLayout) -> Result<TensorLayout, Error> {
        let (local, bare) = (self.at(0).extents(), shard.layout());
        if shard.extents() != local {
            let given = shard.extents();
            return Err(Error::mismatch(format!("a layout of {given:?} for shards of {local:?}")));
        }
        if self.extents().contains(&0) {
            return Ok(TensorLayout::row_major(self.extents())?);
        }
        let dims = self.digits()?;
        if !shard.is_strided() || !bare.swizzle().is_identity() || bare.offset() != 0 {
            let says =
                "shards with a swizzle, a first offset or a table of bits cannot share modes";
            return Err(Error::no_layout(says));
        }
        let device = device_strides(&dims, shard.capacity());
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for (dim, digits) in dims.iter().enumerate() {
            let (own, before) = (bare.axis(dim).unwrap_or_default(), modes.len());
            for (i, digit) in digits.iter().enumerate() {
                match digit.of {
                    Of::Local { weight } => {
                        let last = i + 1 == digits.len();
                        let found = part(own, weight, digit.size, last);
                        modes.extend(found.ok_or_else(|| across(dim, weight, digit.size))?);
                    }
                    Of::Axis { axis, weight } => {
                        let found = device.iter().find(|(at, _)| *at == (axis, weight));
                        let stride = found.map_or(0, |(_, stride)| *stride);
                        modes.push(Mode::new(digit.size, stride as i64));
                    }
                }
            }
            if modes.len() == before {
                modes.push(Mode::new(1, 0));
            }
            counts.push(modes.len() - before);
        }
        let layout = Layout::nested(&modes, &counts)?;
        let all = device.iter().map(|((axis, weight), stride)| {
            let of = |digit: &&NestedDigit| digit.of == Of::Axis { axis: *axis, weight: *weight };
            stride.saturating_mul(dims.iter().flatten().find(of).map_or(1, |digit| digit.size))
        });
        let capacity = all.max().unwrap_or(shard.capacity());
        // Without padding, the layout is enough.
        let bare = TensorLayout::of(&layout);
        match bare.extents() == self.extents() && bare.capacity() == capacity {
            true => Ok(bare),
            false => Ok(TensorLayout::new(self.extents(), &layout, capacity)?),
        }
    }

    /// Returns the digits of each dim, the fastest first.
    pub(crate) fn digits(&self) -> Result<Vec<Vec<NestedDigit>>, Error> {
        let first = self.at(0).dims;
        let moves = self.moves();
        self.check_moves(&first, &moves)?;
        let dims = first.iter().enumerate().map(|(dim, list)| {
            let mut digits = local_digits(list).ok_or_else(|| no_digits(dim, list))?;
            for (axis, moves) in moves.iter().enumerate() {
                let of: Vec<i128> = moves.iter().filter_map(|at| at.get(dim).copied()).collect();
                let found = sequence(&of).ok_or_else(|| uneven(dim, &self.mesh().name(axis)))?;
                for (size, weight, stride) in found.into_iter().filter(|found| found.2 != 0) {
                    let stride =
                        u64::try_from(stride).map_err(|_| uneven(dim, &self.mesh().name(axis)))?;
                    digits.push(NestedDigit { size, stride, of: Of::Axis { axis, weight } });
                }
            }
            tilewright_core::sort_short(&mut digits, |digit| digit.stride);
            let counted = digits.iter().try_fold(1u64, |product, digit| {
                (digit.stride == product).then(|| product.checked_mul(digit.size))?
            });
            match counted == self.extents().get(dim).copied() {
                true => Ok(digits),
                false => Err(no_digits(dim, list)),
            }
        });
        dims.collect()
    }

    /// Returns the shift of the lists of each dim by each coordinate of each axis: by axis, coordinate, dim.
    fn moves(&self) -> Vec<Vec<Vec<i128>>> {
        let start = |list: &Intervals| list.as_slice().first().map_or(0, |at| i128::from(at[0]));
        let first: Vec<i128> = self.at(0).dims.iter().map(start).collect();
        let sizes = self.mesh().sizes();
        let weight = |axis: usize| sizes.iter().skip(axis + 1).product::<u64>();
        let along = |axis: usize, size: u64| {
            (0..size).map(move |at| at * weight(axis)).map(|position| self.at(position).dims)
        };
        let axes = sizes.iter().enumerate().map(|(axis, size)| {
            let by = |dims: Vec<Intervals>| {
                dims.iter().zip(&first).map(|(list, first)| start(list) - first).collect()
            };
            along(axis, *size).map(by).collect()
        });
        axes.collect()
    }

    /// Checks the law of the header, position by position.
    fn check_moves(&self, first: &[Intervals], moves: &[Vec<Vec<i128>>]) -> Result<(), Error> {
        for shard in self.shards() {
            let coord = shard.coord();
            for (dim, list) in first.iter().enumerate() {
                let by = coord.iter().zip(moves).filter_map(|(at, axis)| {
                    axis.get(usize::try_from(*at).ok()?)?.get(dim).copied()
                });
                let instead = list.moved(by.sum()).unwrap_or_default();
                let holds = shard.dims.get(dim).cloned().unwrap_or_default();
                if holds != instead {
                    let (position, place) = (shard.position, shard.place());
                    let (holds, instead) = (holds.as_slice().to_vec(), instead.as_slice().to_vec());
                    let witness = Witness { position, place, dim, holds, instead };
                    let law = "one layout needs the same list, shifted, on every device";
                    return Err(Error::no_layout(format!("{law}: {witness}")).with_source(witness));
                }
            }
        }
        Ok(())
    }
}

/// Returns the storage stride of each digit of an axis: for all digits that are used, the last axis fastest.
fn device_strides(dims: &[Vec<NestedDigit>], each: u64) -> Vec<((usize, u64), u64)> {
    let mut used: Vec<(usize, u64, u64)> = Vec::new();
    for digit in dims.iter().flatten() {
        if let Of::Axis { axis, weight } = digit.of {
            used.push((axis, weight, digit.size));
        }
    }
    tilewright_core::sort_short(&mut used, |(axis, weight, _)| (std::cmp::Reverse(*axis), *weight));
    let mut stride = each;
    let strides = used.into_iter().map(|(axis, weight, size)| {
        let this = stride;
        stride = stride.saturating_mul(size);
        ((axis, weight), this)
    });
    strides.collect()
}

/// Returns the modes of an axis for `size` indices from `weight` on, in steps of `weight`; if `last` is true, the axis
/// may continue after them. `None` if a mode crosses either end.
fn part(axis: &[Mode], weight: u64, size: u64, last: bool) -> Option<Vec<Mode>> {
    let (end, mut place, mut found) = (weight.checked_mul(size)?, 1u64, Vec::new());
    for mode in axis {
        let (from, next) = (place, place.checked_mul(mode.extent())?);
        place = next;
        if next <= weight || from >= end && !last {
            continue;
        }
        // Indices of the mode before the first, or after the last, belong to another digit.
        let (skip, to) = (weight.max(from), if last { next } else { next.min(end) });
        if !skip.is_multiple_of(from) || !to.is_multiple_of(skip) || !next.is_multiple_of(to) {
            return None;
        }
        let stride = mode.stride().checked_mul(i64::try_from(skip / from).ok()?)?;
        found.push(Mode::new(to / skip, stride));
    }
    (place >= end).then_some(found)
}

fn across(dim: usize, weight: u64, size: u64) -> Error {
    let says = format!(
        "dim {dim}: no digits of the shards' layout give its {size} values in steps of {weight}"
    );
    Error::no_layout(says)
}

/// Returns a list as digits of the local index.
fn local_digits(list: &Intervals) -> Option<Vec<NestedDigit>> {
    let [_, run] = *list.as_slice().first()?;
    let starts = list.as_slice().iter().map(|[start, length]| {
        (*length == run && list.as_slice()[0][0] == 0).then_some(i128::from(*start))
    });
    let starts: Vec<i128> = starts.collect::<Option<_>>()?;
    let mut digits = Vec::new();
    if run > 1 {
        digits.push(NestedDigit { size: run, stride: 1, of: Of::Local { weight: 1 } });
    }
    for (size, weight, stride) in sequence(&starts)? {
        let (stride, weight) = (u64::try_from(stride).ok()?, weight * run);
        digits.push(NestedDigit { size, stride, of: Of::Local { weight } });
    }
    Some(digits)
}

/// Returns numbers as a sum of digits times strides: size, weight and stride of each digit, the fastest first.
pub(crate) fn sequence(numbers: &[i128]) -> Option<Vec<(u64, u64, i128)>> {
    let (mut rest, mut weight, mut digits) = (numbers.to_vec(), 1, Vec::new());
    while let [first, second, ..] = rest[..] {
        let stride = second - first;
        let steps = rest.windows(2).take_while(|pair| pair[1] - pair[0] == stride).count();
        let size = steps + 1;
        let runs = |run: &[i128]| {
            run.len() == size && run.windows(2).all(|pair| pair[1] - pair[0] == stride)
        };
        if !rest.chunks(size).all(runs) {
            return None;
        }
        digits.push((size as u64, weight, stride));
        weight *= size as u64;
        rest = rest.iter().copied().step_by(size).collect();
    }
    Some(digits)
}

fn no_digits(dim: usize, list: &Intervals) -> Error {
    Error::no_layout(format!("dim {dim}: {list} of position 0 is not a tile of the dim"))
}

fn uneven(dim: usize, axis: &str) -> Error {
    Error::no_layout(format!("dim {dim}: the axis `{axis}` does not move the list by even steps"))
}
