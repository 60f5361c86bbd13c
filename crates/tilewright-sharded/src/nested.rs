//! [`Sharded::as_layout`]: one layout of all shards, where one exists.
//!
//! One layout gives every device the same list, moved. So with the list L₀ of position 0 and the moves s_a(c) of each
//! axis a, the law is
//!
//! ```text
//! list(c) = L₀ + Σ s_a(c_a)     for every position, in every dim
//! ```
//!
//! and L₀ and every s_a are sums of digits times strides, which together count the dim: sorted by stride, each stride is
//! the product of the sizes before it. The answer is read off the lists and not off the splits, so every way to write a
//! sharding has the same answer.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{
    error::{Error, Witness},
    intervals::Intervals,
    sharded::Sharded,
};

/// A digit of a dim, and where it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) size: u64,
    /// The stride in the indices of the dim.
    pub(crate) stride: u64,
    pub(crate) of: Of,
}

/// What a digit belongs to, with its weight there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The local index of the dim.
    Local { weight: u64 },
    /// The coordinate of an axis of the mesh.
    Axis { axis: usize, weight: u64 },
}

impl Sharded {
    /// One layout of the whole array over the storage of all shards: the shards lie one after another in the order of
    /// positions, each row-major, and the digits of axes of the mesh are modes of the dims. Axes that replicate are left
    /// out: their devices hold the same storage.
    ///
    /// # Errors
    /// `no-layout`, with the first position that no one layout can have, as [`Error::witness`]; `limit` beyond the modes
    /// of a layout.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// // FSDP over TP: the pieces of one device in the one direction lie apart in the other.
    /// let sharded = Sharded::parse("f32[64,128] @ mesh(dp=2,tp=2) P((\"tp\",\"dp\"))")?;
    /// let layout = sharded.as_layout()?;
    /// assert_eq!(layout.layout().to_string(), "((16,2,2),128):((128,4096,2048),1)");
    /// // Row 16 is the first of dp=1, tp=0, which is position 2.
    /// assert_eq!(layout.offset(&[16, 0]), Ok(2 * 2048));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn as_layout(&self) -> Result<TensorLayout, Error> {
        let rank = self.extents().len();
        if self.extents().contains(&0) {
            return Ok(TensorLayout::row_major(self.extents())?);
        }
        let dims = self.digits()?;
        let local = self.at(0).extents();
        let each: u64 = local.iter().product();
        let device = device_strides(&dims, each);
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for (dim, digits) in dims.iter().enumerate().take(rank) {
            let row: u64 = local.iter().skip(dim + 1).product();
            let stride = |digit: &Digit| match digit.of {
                Of::Local { weight } => row * weight,
                Of::Axis { axis, weight } => {
                    let found = device.iter().find(|(at, _)| *at == (axis, weight));
                    found.map_or(0, |(_, stride)| *stride)
                }
            };
            modes.extend(digits.iter().map(|digit| Mode::new(digit.size, stride(digit) as i64)));
            counts.push(digits.len().max(1));
            if digits.is_empty() {
                modes.push(Mode::new(1, 0));
            }
        }
        Ok(TensorLayout::of(&Layout::nested(&modes, &counts)?))
    }

    /// The digits of each dim, the fastest first.
    pub(crate) fn digits(&self) -> Result<Vec<Vec<Digit>>, Error> {
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
                    digits.push(Digit { size, stride, of: Of::Axis { axis, weight } });
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

    /// How far each coordinate of each axis moves the lists of each dim: by axis, coordinate, dim.
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

    /// The law of the header, position by position.
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
                    let law = "one layout gives every device the same list, moved";
                    return Err(Error::no_layout(format!("{law}: {witness}")).shown_by(witness));
                }
            }
        }
        Ok(())
    }
}

/// The offset that each digit of an axis moves the storage by: all digits that are used, the last axis fastest.
fn device_strides(dims: &[Vec<Digit>], each: u64) -> Vec<((usize, u64), u64)> {
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

/// A list as digits of the local index.
fn local_digits(list: &Intervals) -> Option<Vec<Digit>> {
    let [_, run] = *list.as_slice().first()?;
    let starts = list.as_slice().iter().map(|[start, length]| {
        (*length == run && list.as_slice()[0][0] == 0).then_some(i128::from(*start))
    });
    let starts: Vec<i128> = starts.collect::<Option<_>>()?;
    let mut digits = Vec::new();
    if run > 1 {
        digits.push(Digit { size: run, stride: 1, of: Of::Local { weight: 1 } });
    }
    for (size, weight, stride) in sequence(&starts)? {
        let (stride, weight) = (u64::try_from(stride).ok()?, weight * run);
        digits.push(Digit { size, stride, of: Of::Local { weight } });
    }
    Some(digits)
}

/// Numbers as a sum of digits times strides: size, weight and stride of each digit, the fastest first.
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
    Error::no_layout(format!("dim {dim}: {list} of position 0 is no tile of the dim"))
}

fn uneven(dim: usize, axis: &str) -> Error {
    Error::no_layout(format!("dim {dim}: the axis `{axis}` moves the list by no even steps"))
}
