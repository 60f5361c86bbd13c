//! Lowers a layout and dims to exact offsets.
//!
//! Law: for every coordinate, `lower(dims).offset(coord)` is the row-major index of the coordinate's image under the
//! walk below, in [`Layout::final_bounds`].
//!
//! The walk, as XLA defines it: write the dims major to minor. For each tile, take one of the most minor dims for each
//! entry of the tile (missing dims count as 1), and merge at each `*` into the next more minor dim. Replace them by
//! their quotients by the tile, rounded up, followed by the tile's extents. The walk is written once ([`DimWalk`]) and
//! used three times: over bounds, over digits, and over steps.
//!
//! # Steps
//!
//! The walk over the steps of a [`TensorLayout`]: exact for every layout, also if a tile boundary falls inside a digit.
//!
//! A working dim that exists only in storage (a missing dim of a longer tile) has only coordinate 0 and needs no axis,
//! unless a dim is merged into it.
//!
//! # Digits
//!
//! The walk over digits: a sum of one stride per digit, as long as tile boundaries fall between digits.
//!
//! A working dim is a list of atoms. An atom is a digit of one logical dim, `⌊x / div⌋ mod extent`, with the weight
//! `place` in the working dim. The atoms nest: the sum of those below an atom stays below its place. A tile boundary
//! `t` is harmless if each atom is entirely below it, is a multiple of it, or can be cut at `t / place`: evenly, or
//! anywhere if it is the top digit of its dim, where rounding up is padding.
//!
//! At any other boundary the whole working dim becomes a lump, a dim of its own with its own digits. If the digits of a
//! lump chain in the end, the lump has one stride, and so have its atoms: `T(*,5)` on the most minor dims only pads.
//!
//! The result nests: each stride is larger than the reach of all smaller digits.

use tilewright_core::{Error, Layout as Strided, MAX_MODES, MAX_STEPS, Mode, Step, TensorLayout};

use crate::{Layout, PrimitiveType, Tile, TileDim};

/// The effects of the walk on one dim.
pub(crate) trait DimWalk {
    /// A working dim.
    type Axis;
    /// The reason why a step is impossible.
    type Stop;

    /// A dim of extent 1.
    fn unit(&self) -> Self::Axis;

    /// Merges `major` into the next more minor dim.
    fn merge(&mut self, major: Self::Axis, minor: Self::Axis) -> Result<Self::Axis, Self::Stop>;

    /// Returns the quotient by `by`, rounded up in extent, and the remainder.
    fn split(&mut self, axis: Self::Axis, by: u64) -> Result<(Self::Axis, Self::Axis), Self::Stop>;

    /// Applies all tiles to `axes`, major to minor.
    fn walk(
        &mut self,
        mut axes: Vec<Self::Axis>,
        tiles: &[Tile],
    ) -> Result<Vec<Self::Axis>, Self::Stop> {
        for tile in tiles {
            let missing = tile.dims().len().saturating_sub(axes.len());
            axes.splice(0..0, (0..missing).map(|_| self.unit()).collect::<Vec<_>>());
            let suffix = axes.split_off(axes.len() - tile.dims().len());
            let mut inner = Vec::with_capacity(suffix.len());
            let mut merging = None;
            for (axis, &dim) in suffix.into_iter().zip(tile.dims()) {
                let merged = match merging.take() {
                    Some(major) => self.merge(major, axis)?,
                    None => axis,
                };
                match dim {
                    TileDim::Combine => merging = Some(merged),
                    TileDim::Size(by) => {
                        let (quotient, remainder) = self.split(merged, by)?;
                        axes.push(quotient);
                        inner.push(remainder);
                    }
                }
            }
            axes.append(&mut inner);
        }
        Ok(axes)
    }
}

/// The walk over extents alone.
struct Bounds;

impl DimWalk for Bounds {
    type Axis = u64;
    type Stop = Error;

    fn unit(&self) -> u64 {
        1
    }

    fn merge(&mut self, major: u64, minor: u64) -> Result<u64, Error> {
        let merged = u128::from(major) * u128::from(minor);
        u64::try_from(merged).ok().filter(|&merged| merged <= i64::MAX as u64).ok_or_else(|| {
            Error::overflow(
                "`*` merges dims of {} and {}",
                [major.into(), minor.into()],
                "an extent is at most 2^63 - 1",
            )
        })
    }

    fn split(&mut self, axis: u64, by: u64) -> Result<(u64, u64), Error> {
        Ok((axis.div_ceil(by), by))
    }
}

impl Layout {
    /// Returns the extents of the tiled array, major to minor: the storage is row-major in them. The rank is not limited.
    ///
    /// Those of [`Layout::validate`]; [overflow](Error::is_overflow) if dims merged by `*` exceed 2⁶³ − 1.
    /// Those of [`Layout::validate`]; [overflow](Error::is_overflow) if dims merged by `*` exceed 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
    /// assert_eq!(layout.final_bounds(&[20, 200]).unwrap(), [3, 2, 4, 128, 2, 1]);
    /// assert!(layout.final_bounds(&[20]).unwrap_err().is_mismatch());
    /// ```
    pub fn final_bounds(&self, dims: &[u64]) -> Result<Vec<u64>, Error> {
        self.validate(dims)?;
        Bounds.walk(self.physical(dims), self.tiles())
    }

    /// Returns the length of the storage in elements: the product of the final bounds, rounded up to the tail padding
    /// alignment; 0 for an empty array.
    ///
    /// # Errors
    /// Those of [`Layout::final_bounds`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(2,2)L(32)}").unwrap();
    /// assert_eq!(layout.padded_elements(&[3, 5]), Ok(32));
    /// assert!(layout.padded_elements(&[3]).unwrap_err().is_mismatch());
    /// assert!(layout.padded_elements(&[1 << 40, 1 << 40]).unwrap_err().is_overflow());
    /// ```
    pub fn padded_elements(&self, dims: &[u64]) -> Result<u64, Error> {
        self.padded(&self.final_bounds(dims)?)
    }

    /// Returns the length of the storage in elements, for dims in physical order, the most major first.
    pub(crate) fn padded_in_order(&self, physical: Vec<u64>) -> Result<u64, Error> {
        self.padded(&Bounds.walk(physical, self.tiles())?)
    }

    fn padded(&self, bounds: &[u64]) -> Result<u64, Error> {
        if bounds.contains(&0) {
            return Ok(0);
        }
        let (mut product, limit) = (1u128, i64::MAX as u128);
        for &bound in bounds {
            product = (product * u128::from(bound)).min(limit + 1);
        }
        let padded = product.next_multiple_of(u128::from(self.tail_padding_alignment()));
        if padded > limit {
            return Err(Error::overflow(
                "the padded array has more than {} elements",
                [limit as i128],
                "a storage has at most 2^63 - 1 elements",
            ));
        }
        Ok(padded as u64)
    }

    /// Returns the bytes of the storage: [`Layout::padded_elements`] at the layout's element size, or at the type's
    /// default of whole bytes, rounded up to a byte. The metadata prefix is not included.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1 bytes;
    /// [unsupported](Error::is_unsupported) for a type without values.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let packed = Layout::parse("{1,0:T(2,128)E(4)}").unwrap();
    /// assert_eq!(packed.bytes(&[123, 456], PrimitiveType::S4), Ok(31_744));
    /// assert!(packed.bytes(&[1, 1], PrimitiveType::Token).unwrap_err().is_unsupported());
    /// ```
    pub fn bytes(&self, dims: &[u64], element_type: PrimitiveType) -> Result<u64, Error> {
        let bits = match (self.element_size_in_bits(), element_type.storage_bits()) {
            (_, None) => {
                return Err(Error::unsupported(
                    "arrays of a type without values have no known size",
                    [],
                    "",
                ));
            }
            (0, Some(bits)) => u64::from(bits),
            (bits, Some(_)) => bits,
        };
        let padded = self.padded_elements(dims)?;
        let bytes = (u128::from(padded) * u128::from(bits)).div_ceil(8);
        u64::try_from(bytes).ok().filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(|| {
            Error::overflow(
                "{} elements of {} bits exceed 2^63 - 1 bytes",
                [padded.into(), bits.into()],
                "",
            )
        })
    }

    /// Lowers the layout for an array of these dims to an exact map from coordinates to offsets, for any nesting of
    /// tiles, with `*` and with alignment.
    ///
    /// The result is strided if every tile boundary falls between digits of the dims; otherwise it has the steps of
    /// XLA's algorithm. Digits of extent 1 are omitted, unless a dim has no other. An empty array has the order of its dims and
    /// no storage.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [limit](Error::is_limit) beyond 32 dims, digits or steps.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let tiled = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap().lower(&[20, 200]).unwrap();
    /// assert_eq!(tiled.layout().to_string(), "((2,4,3),(128,2)):((1,256,2048),(2,1024))");
    /// assert_eq!(tiled.offset(&[19, 199]), Ok(5519));
    ///
    /// // 3 and 2 do not divide: exact all the same.
    /// let uneven = Layout::parse("{1,0:T(3,4)(2,1)}").unwrap().lower(&[6, 4]).unwrap();
    /// assert!(!uneven.is_strided());
    /// assert_eq!((uneven.offset(&[5, 3]), uneven.capacity()), (Ok(30), 32));
    /// // Values of the core have at most 32 dims.
    /// assert!(Layout::descending(33).lower(&[1; 33]).unwrap_err().is_limit());
    /// ```
    pub fn lower(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        let bounds = self.final_bounds(dims)?;
        let capacity = self.padded(&bounds)?;
        if dims.len() > MAX_MODES {
            return Err(Error::limit("{} dims", [dims.len() as i128], "an array has at most 32"));
        }
        if dims.contains(&0) {
            return TensorLayout::ordered(dims, self.minor_to_major());
        }
        match lower_strided(self, dims, capacity) {
            Some(tensor) => Ok(tensor),
            None => lower(self, dims, capacity),
        }
    }
}

/// A working dim.
struct Slot {
    /// The axis of the steps; `None` if its coordinate is always 0.
    axis: Option<LoweredAxis>,
    bound: u64,
}

/// An axis of the steps: a permanent name, and its extent, which is at most the bound.
#[derive(Clone, Copy)]
struct LoweredAxis {
    name: usize,
    extent: u64,
}

/// The steps written so far.
struct StepProgram {
    steps: Vec<Step>,
    /// The names of the axes in their present order.
    order: Vec<usize>,
    names: usize,
}

impl StepProgram {
    fn position(&self, name: usize) -> Result<u8, Error> {
        let at = self.order.iter().position(|&other| other == name);
        at.and_then(|at| u8::try_from(at).ok()).ok_or_else(|| too_long(self.steps.len()))
    }

    fn push(&mut self, step: Step) -> Result<(), Error> {
        if self.steps.len() == MAX_STEPS {
            return Err(too_long(MAX_STEPS + 1));
        }
        self.steps.push(step);
        Ok(())
    }

    /// Splits an axis; the quotient keeps the name, the remainder gets a new one.
    fn cut(&mut self, axis: LoweredAxis, by: u64) -> Result<(LoweredAxis, LoweredAxis), Error> {
        let at = self.position(axis.name)?;
        self.push(Step::Split { axis: at, by })?;
        let remainder = LoweredAxis { name: self.names, extent: by };
        self.order.push(self.names);
        self.names += 1;
        Ok((LoweredAxis { extent: axis.extent.div_ceil(by), ..axis }, remainder))
    }

    /// Returns the slot's axis with its extent equal to the bound, so that merging into it is exact.
    fn fitted(&mut self, slot: &Slot) -> Result<LoweredAxis, Error> {
        let axis = match (slot.axis, self.order.first()) {
            (Some(axis), _) => axis,
            // The remainder by 1 is an axis of extent 1.
            (None, Some(&name)) => self.cut(LoweredAxis { name, extent: 1 }, 1)?.1,
            (None, None) => return Err(too_long(self.steps.len())),
        };
        if axis.extent == slot.bound { Ok(axis) } else { Ok(self.cut(axis, slot.bound)?.1) }
    }
}

fn too_long(steps: usize) -> Error {
    Error::limit(
        "uneven tiles need {} steps or more",
        [steps as i128],
        "a layout has at most 32; let nested tiles divide one another",
    )
}

impl DimWalk for StepProgram {
    type Axis = Slot;
    type Stop = Error;

    fn unit(&self) -> Slot {
        Slot { axis: None, bound: 1 }
    }

    fn merge(&mut self, major: Slot, minor: Slot) -> Result<Slot, Error> {
        let bound =
            major.bound.checked_mul(minor.bound).ok_or_else(|| too_long(self.steps.len()))?;
        let Some(upper) = major.axis else {
            return Ok(Slot { axis: minor.axis, bound });
        };
        if minor.bound == 1 {
            return Ok(Slot { axis: Some(upper), bound });
        }
        let lower = self.fitted(&minor)?;
        let at = (self.position(upper.name)?, self.position(lower.name)?);
        self.push(Step::Merge { major: at.0, minor: at.1 })?;
        self.order.retain(|&name| name != upper.name);
        let extent = upper.extent.saturating_mul(lower.extent);
        Ok(Slot { axis: Some(LoweredAxis { extent, ..lower }), bound })
    }

    fn split(&mut self, slot: Slot, by: u64) -> Result<(Slot, Slot), Error> {
        let bound = slot.bound.div_ceil(by);
        let remainder = |axis| Slot { axis, bound: by };
        match slot.axis {
            None => Ok((Slot { axis: None, bound }, remainder(None))),
            Some(_) if by == 1 => Ok((slot, remainder(None))),
            Some(axis) => {
                let (high, low) = self.cut(axis, by)?;
                Ok((Slot { axis: Some(high), bound }, remainder(Some(low))))
            }
        }
    }
}

/// Returns the form with steps. `dims` fit the layout and are not 0.
fn lower(layout: &Layout, dims: &[u64], capacity: u64) -> Result<TensorLayout, Error> {
    let rank = dims.len();
    let mut program = StepProgram { steps: Vec::new(), order: (0..rank).collect(), names: rank };
    let slot = |(&dim, extent): (&u64, u64)| {
        let axis = usize::try_from(dim).ok().map(|name| LoweredAxis { name, extent });
        Slot { axis, bound: extent }
    };
    let physical = layout.physical(dims);
    let slots = layout.minor_to_major().iter().rev().zip(physical).map(slot).collect();
    let slots = program.walk(slots, layout.tiles())?;
    // Axes that no working dim uses have extent 1 and remain 1:0.
    let mut modes = vec![Mode::new(1, 0); program.order.len()];
    let mut weight = 1u64;
    for slot in slots.iter().rev() {
        if let Some(axis) = slot.axis {
            let at = usize::from(program.position(axis.name)?);
            if let Some(mode) = modes.get_mut(at) {
                *mode = Mode::new(axis.extent, i64::try_from(weight).unwrap_or(i64::MAX));
            }
        }
        weight = weight.saturating_mul(slot.bound);
    }
    TensorLayout::with_steps(dims, &program.steps, &Strided::flat(&modes)?, capacity)
}

/// A digit of a logical dim or a lump within a working dim.
#[derive(Clone, Copy)]
struct Atom {
    /// The logical dim; numbers from the rank on are lumps.
    dim: usize,
    div: u64,
    extent: u64,
    /// The extent in storage; more than `extent` is padding, which only a top digit has.
    room: u64,
    place: u64,
    /// Set if the dim has no more significant digit.
    top: bool,
}

/// A working dim: its atoms, minor to major, and its extent in storage.
struct WorkingDim {
    atoms: Vec<Atom>,
    bound: u64,
}

/// A stride or a size beyond 64 bits.
struct Beyond;

/// The state of the walk; it collects lumps.
struct SplitState {
    rank: usize,
    lumps: Vec<WorkingDim>,
}

impl DimWalk for SplitState {
    type Axis = WorkingDim;
    type Stop = Beyond;

    fn unit(&self) -> WorkingDim {
        WorkingDim { atoms: Vec::new(), bound: 1 }
    }

    fn merge(&mut self, major: WorkingDim, mut minor: WorkingDim) -> Result<WorkingDim, Beyond> {
        for mut atom in major.atoms {
            atom.place = atom.place.checked_mul(minor.bound).ok_or(Beyond)?;
            match minor.atoms.last_mut() {
                Some(last) if last.continues(&atom) => *last = last.joined(&atom).ok_or(Beyond)?,
                _ => minor.atoms.push(atom),
            }
        }
        minor.bound = minor.bound.checked_mul(major.bound).ok_or(Beyond)?;
        Ok(minor)
    }

    fn split(&mut self, axis: WorkingDim, by: u64) -> Result<(WorkingDim, WorkingDim), Beyond> {
        if let Some(parts) = axis.parts(by) {
            return Ok(parts);
        }
        let mut extent = 1u64;
        for atom in &axis.atoms {
            extent = (atom.extent - 1)
                .checked_mul(atom.place)
                .and_then(|x| x.checked_add(extent))
                .ok_or(Beyond)?;
        }
        let (dim, room) = (self.rank + self.lumps.len(), axis.bound);
        let lump = Atom { dim, div: 1, extent, room, place: 1, top: true };
        let whole = WorkingDim { atoms: vec![lump], bound: axis.bound };
        self.lumps.push(axis);
        whole.parts(by).ok_or(Beyond)
    }
}

impl WorkingDim {
    /// Returns the quotient and the remainder by `by`, if the boundary falls between digits.
    fn parts(&self, by: u64) -> Option<(WorkingDim, WorkingDim)> {
        let last = self.atoms.iter().rposition(|atom| atom.extent > 1);
        let last = last.or(self.atoms.len().checked_sub(1));
        let mut outer = WorkingDim { atoms: Vec::new(), bound: self.bound.div_ceil(by) };
        let mut inner = WorkingDim { atoms: Vec::new(), bound: by };
        for (at, &atom) in self.atoms.iter().enumerate() {
            match atom.place.checked_mul(atom.extent) {
                Some(end) if end <= by => inner.atoms.push(atom.below(by, Some(at) == last)),
                _ if atom.place.is_multiple_of(by) || atom.extent == 1 => {
                    outer.atoms.push(Atom { place: atom.place / by, ..atom });
                }
                _ => {
                    let (low, high) = atom.cut(by)?;
                    inner.atoms.push(low);
                    outer.atoms.push(high);
                }
            }
        }
        Some((outer, inner))
    }
}

impl Atom {
    /// Returns whether `high` is the next digit of the same dim, at the next place.
    fn continues(&self, high: &Atom) -> bool {
        self.dim == high.dim
            && self.room == self.extent
            && self.div.checked_mul(self.extent) == Some(high.div)
            && self.place.checked_mul(self.extent) == Some(high.place)
    }

    /// Joins the two digits into one.
    fn joined(&self, high: &Atom) -> Option<Atom> {
        let extent = self.extent.checked_mul(high.extent)?;
        Some(Atom { extent, room: self.extent.checked_mul(high.room)?, top: high.top, ..*self })
    }

    /// Returns the atom below boundary `by`; the `last` atom of its working dim may be padded up to the boundary.
    fn below(self, by: u64, last: bool) -> Atom {
        let room = by / self.place;
        let widens = self.top && last && by.is_multiple_of(self.place);
        Atom { room: if widens { room } else { self.room.min(room) }, ..self }
    }

    /// Returns the parts below and above a boundary inside the atom.
    fn cut(self, by: u64) -> Option<(Atom, Atom)> {
        let extent = by / self.place;
        if !by.is_multiple_of(self.place) || !(self.top || self.extent.is_multiple_of(extent)) {
            return None;
        }
        let low = Atom { extent, room: extent, top: false, ..self };
        let (high, room) = (self.extent.div_ceil(extent), self.room.div_ceil(extent));
        let div = self.div.checked_mul(extent)?;
        Some((low, Atom { div, extent: high, room, place: 1, ..self }))
    }
}

/// Returns the strided form, if there is one within the limits. `dims` fit the layout and are not 0.
fn lower_strided(layout: &Layout, dims: &[u64], capacity: u64) -> Option<TensorLayout> {
    let whole = |&dim: &u64| {
        let dim = usize::try_from(dim).ok()?;
        let extent = *dims.get(dim)?;
        let atom = Atom { dim, div: 1, extent, room: extent, place: 1, top: true };
        Some(WorkingDim { atoms: vec![atom], bound: extent })
    };
    let axes: Option<Vec<WorkingDim>> = layout.minor_to_major().iter().rev().map(whole).collect();
    let mut split = SplitState { rank: dims.len(), lumps: Vec::new() };
    let axes = split.walk(axes?, layout.tiles()).ok()?;
    let digits = strides(&axes, split)?;
    // The digits of a lump may use less than the space of the digits merged into it.
    let axes = axes_of(&digits, true).or_else(|| axes_of(&digits, false))?;
    let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
    let strided = Strided::nested(&axes.concat(), &counts).ok()?;
    TensorLayout::new(dims, &strided, capacity).ok()
}

/// Returns the modes of each dim, with or without padding, if they nest.
fn axes_of(digits: &[Vec<PlacedDigit>], padded: bool) -> Option<Vec<Vec<Mode>>> {
    let axes = digits.iter().map(|digits| ordered(digits, padded)).collect();
    Some(shortened(axes)).filter(|axes| nests(axes.concat()))
}

/// The divisor, extent and mode of a digit.
type PlacedDigit = (u64, u64, Mode);

/// Returns the digits of each logical dim with their strides, unless a lump has several strides.
fn strides(axes: &[WorkingDim], split: SplitState) -> Option<Vec<Vec<PlacedDigit>>> {
    let mut digits = vec![Vec::new(); split.rank + split.lumps.len()];
    let mut weight = 1u64;
    for axis in axes.iter().rev() {
        spread(axis, weight, &mut digits)?;
        weight = weight.checked_mul(axis.bound)?;
    }
    for lump in split.lumps.iter().rev() {
        let stride = common_stride(digits.pop()?)?;
        spread(lump, stride, &mut digits)?;
    }
    Some(digits)
}

/// Adds the atoms of a working dim of this weight to the digits of their dims.
fn spread(axis: &WorkingDim, weight: u64, digits: &mut [Vec<PlacedDigit>]) -> Option<()> {
    for atom in &axis.atoms {
        let stride = i64::try_from(weight.checked_mul(atom.place)?).ok()?;
        digits.get_mut(atom.dim)?.push((atom.div, atom.extent, Mode::new(atom.room, stride)));
    }
    Some(())
}

/// Returns the stride of a lump whose digits chain.
fn common_stride(mut digits: Vec<PlacedDigit>) -> Option<u64> {
    digits.retain(|&(_, extent, _)| extent > 1);
    tilewright_core::sort_short(&mut digits, |&(div, _, _)| div);
    let Some(&(_, _, first)) = digits.first() else { return Some(1) };
    let stride = u64::try_from(first.stride()).ok()?;
    let chains = |&(div, _, mode): &PlacedDigit| {
        i128::from(mode.stride()) == i128::from(div) * i128::from(stride)
    };
    digits.iter().all(chains).then_some(stride)
}

/// Returns a dim's modes, the fastest first, without those of extent 1 unless there is no other.
fn ordered(digits: &[PlacedDigit], padded: bool) -> Vec<Mode> {
    let mut digits = digits.to_vec();
    tilewright_core::sort_short(&mut digits, |&(div, extent, mode)| {
        (div, extent == 1, mode.extent() == 1)
    });
    let mode = |&(_, extent, mode): &PlacedDigit| {
        if padded { mode } else { Mode::new(extent, mode.stride()) }
    };
    let modes: Vec<Mode> = digits.iter().map(mode).collect();
    let longer: Vec<Mode> = modes.iter().copied().filter(|mode| mode.extent() > 1).collect();
    if longer.is_empty() { modes.into_iter().take(1).collect() } else { longer }
}

/// Returns whether each stride exceeds the reach of all smaller modes. A lump may violate this if a tile is larger
/// than the part that the lump uses but smaller than its bound.
fn nests(mut modes: Vec<Mode>) -> bool {
    modes.retain(|mode| mode.extent() > 1);
    tilewright_core::sort_short(&mut modes, |mode| mode.stride());
    modes.windows(2).all(|pair| match pair {
        [low, high] => {
            i128::from(low.stride()) * i128::from(low.extent()) <= i128::from(high.stride())
        }
        _ => true,
    })
}

/// Merges modes that chain, if there are more than a layout can hold.
fn shortened(mut axes: Vec<Vec<Mode>>) -> Vec<Vec<Mode>> {
    if axes.iter().map(Vec::len).sum::<usize>() > MAX_MODES {
        for modes in &mut axes {
            *modes = chained(modes);
        }
    }
    axes
}

/// Merges each mode that continues the one before it.
pub(crate) fn chained(modes: &[Mode]) -> Vec<Mode> {
    let mut merged: Vec<Mode> = Vec::new();
    for &mode in modes {
        match merged.last_mut() {
            Some(last) if continues(*last, mode) => {
                *last = Mode::new(last.extent().saturating_mul(mode.extent()), last.stride());
            }
            _ => merged.push(mode),
        }
    }
    merged
}

fn continues(low: Mode, high: Mode) -> bool {
    i128::from(low.stride()) * i128::from(low.extent()) == i128::from(high.stride())
}
