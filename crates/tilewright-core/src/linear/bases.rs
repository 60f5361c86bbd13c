//! Maps that are linear over bits up to a constant, as strides with a swizzle, and the conversion between layouts of
//! strides and linear layouts.
//!
//! Used to convert linear layouts to layouts, and by compositions and inverses with swizzles.
//!
//! Law: a map `c ↦ z ⊕ Σ bᵢ` over the bits i of c is a layout with a swizzle iff the nonzero bases are independent. Then
//! some swizzle sends numbers `m₀, m₁ …`, no two of which share a bit, to the bases, and `o ⊕ mᵢ ⊕ mⱼ = o + dᵢ + dⱼ` with
//! `dᵢ = (o ⊕ mᵢ) − o`. Conversely, strides that are linear over bits have disjoint numbers: a bit that two of them share
//! changes its sign after the first. Disjoint numbers are independent.
//!
//! # Layouts of strides
//!
//! Law: a mode `2^n:d` adds `d`, `2d`, `4d` … for its bits. The sum is a xor for every coordinate iff no two of these
//! numbers share a bit; if two do, the sum of both carries and the xor does not. A layout is therefore linear iff its
//! extents are powers of two, its strides are 0 or more, its offset is 0 and the numbers of all modes are disjoint. A linear
//! layout is a layout of strides iff its bases are disjoint, and one with a swizzle iff its nonzero bases are independent.

use super::{Dims, LinearLayout, MAX_BITS, MAX_DIMS, Solver, width};
use crate::{
    Coord, Error, Layout, MAX_MODES, Mode, Profile, Swizzle, const_fn::tri, swizzle::Family,
};

/// A map that is linear over bits: the value that each bit of a coordinate adds by xor. The bits form groups, one for
/// each dim or for each leaf of a layout.
#[derive(Clone, Copy)]
pub(crate) struct Bases {
    /// The image of coordinate 0.
    pub(crate) zero: u64,
    /// The images of the bits, 0 after the last.
    pub(crate) images: [u64; MAX_BITS],
    /// The number of coordinates of each group. The last bit may be set in fewer than half of them.
    extents: [u64; MAX_MODES],
    /// One past the last bit of each group.
    ends: [u8; MAX_MODES],
    groups: usize,
}

/// Bases as strides with a swizzle.
pub(crate) struct Strides {
    pub(crate) swizzle: Swizzle,
    pub(crate) offset: i64,
    modes: [Mode; MAX_MODES],
    len: usize,
    /// One past the last mode of each group.
    pub(crate) ends: [u8; MAX_MODES],
}

impl Strides {
    pub(crate) const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.len).0
    }

    /// Returns the layout of these modes, coalesced.
    pub(crate) const fn coalesced(&self) -> Result<Layout, Error> {
        let flat = Profile::flat(self.len);
        let layout = tri!(Layout::new(self.modes(), &tri!(flat), self.offset, self.swizzle));
        Ok(layout.coalesce())
    }
}

impl Bases {
    pub(crate) const NONE: Bases = Bases {
        zero: 0,
        images: [0; MAX_BITS],
        extents: [1; MAX_MODES],
        ends: [0; MAX_MODES],
        groups: 0,
    };

    /// Appends a group of `extent` coordinates, which fit the bits.
    pub(crate) const fn push_group(&mut self, extent: u64, bits: usize) {
        self.extents[self.groups] = extent;
        self.ends[self.groups] = (self.len() + bits) as u8;
        self.groups += 1;
    }

    /// Returns the number of bits.
    pub(crate) const fn len(&self) -> usize {
        if self.groups == 0 { 0 } else { self.ends[self.groups - 1] as usize }
    }

    /// Returns the bits of group `at`: the first, and one past the last.
    const fn group(&self, at: usize) -> (usize, usize) {
        (if at == 0 { 0 } else { self.ends[at - 1] as usize }, self.ends[at] as usize)
    }

    /// Returns the union of the bits of all images, the constant included.
    pub(crate) const fn reach(&self) -> u64 {
        let (mut reach, mut bit) = (self.zero, 0);
        while bit < self.len() {
            reach |= self.images[bit];
            bit += 1;
        }
        reach
    }

    /// Returns the bases of a layout and its swizzle over its leaves, if it is linear over bits. An extent that is not a
    /// power of two counts as a part of the next power of two.
    pub(crate) const fn of_layout(layout: &Layout) -> Option<Bases> {
        let (mut all, mut seen, mut leaf) = (Bases::NONE, 0, 0);
        let Some(zero) = from(layout.offset(), 0) else { return None };
        while leaf < layout.modes().len() {
            let mode = layout.modes()[leaf];
            let (first, bits) = (all.len(), width(mode.extent().saturating_sub(1)));
            let mut bit = 0;
            while bit < bits {
                let step = (mode.stride() as i128) << bit;
                match from(layout.offset(), step) {
                    Some(to) if first + bit < MAX_BITS && seen & (to ^ zero) == 0 => {
                        seen |= to ^ zero;
                        all.images[first + bit] = to ^ zero;
                    }
                    _ => return None,
                }
                bit += 1;
            }
            all.push_group(mode.extent(), bits);
            leaf += 1;
        }
        Some(all.xored(zero, &layout.swizzle()))
    }

    /// Returns this map followed by a swizzle; `zero` is the image of coordinate 0 before the swizzle.
    const fn xored(mut self, zero: u64, swizzle: &Swizzle) -> Bases {
        let mut bit = 0;
        while bit < self.len() {
            self.images[bit] = swizzle.apply(self.images[bit]);
            bit += 1;
        }
        self.zero = swizzle.apply(zero);
        self
    }

    /// Returns this map followed by the layout, whose last mode continues; `None` if that is not linear over the bits used.
    pub(crate) const fn then(&self, outer: &Layout) -> Option<Bases> {
        let reach = self.reach();
        let Some(outer) = Bases::of_index(outer, reach) else { return None };
        let (mut all, mut bit) = (*self, 0);
        while bit < self.len() {
            all.images[bit] = outer.xor(self.images[bit]);
            bit += 1;
        }
        all.zero = outer.zero ^ outer.xor(self.zero);
        Some(all)
    }

    /// Returns the xor of the images of these bits.
    pub(crate) const fn xor(&self, mut bits: u64) -> u64 {
        let mut image = 0;
        while bits != 0 {
            image ^= self.images[bits.trailing_zeros() as usize];
            bits &= bits - 1;
        }
        image
    }

    /// Returns the bases of a layout and its swizzle over the bits of its index, if these are all its coordinates and
    /// it is linear over them.
    pub(crate) const fn of_indices(layout: &Layout) -> Option<Bases> {
        if !layout.size().is_power_of_two() {
            return None;
        }
        Bases::of_index(layout, layout.size() - 1)
    }

    /// Returns the bases of a layout and its swizzle over the bits of its index in `used`, if it is linear over them.
    const fn of_index(layout: &Layout, used: u64) -> Option<Bases> {
        let (modes, mut seen, mut bit, mut i) = (layout.modes(), 0, 0, 0);
        let mut all = Bases::NONE;
        let Some(zero) = from(layout.offset(), 0) else { return None };
        let end = width(used);
        if end > MAX_BITS {
            return None;
        }
        while i < modes.len() && bit < end {
            let (extent, left) = (modes[i].extent(), end - bit);
            let bits = match extent.trailing_zeros() as usize {
                _ if i + 1 == modes.len() || extent >= 1 << left => left,
                bits if extent.is_power_of_two() => bits,
                _ => return None,
            };
            let mut at = 0;
            while at < bits {
                if used >> (bit + at) & 1 == 1 {
                    match from(layout.offset(), (modes[i].stride() as i128) << at) {
                        Some(to) if seen & (to ^ zero) == 0 => {
                            seen |= to ^ zero;
                            all.images[bit + at] = to ^ zero;
                        }
                        _ => return None,
                    }
                }
                at += 1;
            }
            (bit, i) = (bit + bits, i + 1);
        }
        if bit < end {
            return None;
        }
        all.push_group(1 << end, end);
        Some(all.xored(zero, &layout.swizzle()))
    }

    /// Returns the strides and the swizzle: CuTe's swizzle of the fewest bits, the identity if strides suffice, and a
    /// matrix of the bases themselves if CuTe's family has none. `None` if the nonzero bases are dependent, or if a group whose
    /// size is not a power of two does not end with a mode.
    pub(crate) const fn strides(&self) -> Result<Option<Strides>, Error> {
        let swizzle = match self.swizzle_apart() {
            Some(swizzle) => swizzle,
            None if self.dependent().is_some() => return Ok(None),
            None => self.matrix(true),
        };
        match self.under(swizzle) {
            // The bases in their order need one mode for each group.
            Err(error) if error.is_limit() && self.dependent().is_none() => {
                self.cut(self.under(self.matrix(false)))
            }
            strides => self.cut(strides),
        }
    }

    /// Returns the layout of one axis that sends `zero ⊕ x` to the columns whose xor is x, for x of `bits` bits. Columns
    /// are known for all x.
    pub(crate) const fn inverse(columns: &Solver, zero: u64, bits: usize) -> Result<Layout, Error> {
        let (mut all, mut bit) = (Bases::NONE, 0);
        all.push_group(1 << bits, bits);
        while bit < bits {
            if let Some(found) = columns.solve(1 << bit) {
                all.images[bit] = found;
            }
            bit += 1;
        }
        if let Some(found) = columns.solve(zero) {
            all.zero = found;
        }
        match tri!(all.strides()) {
            Some(strides) => strides.coalesced(),
            None => Err(Error::no_layout("{} dependent bases", [bits as i128], "")),
        }
    }

    /// Returns a bit whose nonzero basis is the xor of those of earlier bits, and these bits.
    pub(crate) const fn dependent(&self) -> Option<(usize, u64)> {
        let (mut solver, mut bit) = (Solver::new(&[]), 0);
        while bit < self.len() {
            if self.images[bit] != 0 {
                solver.add(self.images[bit], 1 << bit);
            }
            bit += 1;
        }
        match solver.collision() {
            Some((one, others)) => Some((one.trailing_zeros() as usize, others)),
            None => None,
        }
    }

    /// Returns the coordinate of these bits, a digit for each group; `None` outside the extents.
    pub(crate) const fn digits(&self, bits: u64) -> Option<[u64; MAX_MODES]> {
        let (mut digits, mut at) = ([0; MAX_MODES], 0);
        while at < self.groups {
            let (first, end) = self.group(at);
            digits[at] = if end > first { bits >> first & ((1 << (end - first)) - 1) } else { 0 };
            if digits[at] >= self.extents[at] {
                return None;
            }
            at += 1;
        }
        Some(digits)
    }

    /// Shortens the last mode of each group to the group's number of coordinates.
    const fn cut(&self, strides: Result<Strides, Error>) -> Result<Option<Strides>, Error> {
        let mut strides = match strides {
            Ok(strides) => strides,
            Err(error) => return Err(error),
        };
        let (mut at, mut first) = (0, 0);
        while at < self.groups {
            let (last, mut below) = (strides.ends[at] as usize - 1, 1);
            while first < last {
                below *= strides.modes[first].extent();
                first += 1;
            }
            if !self.extents[at].is_multiple_of(below) {
                return Ok(None);
            }
            strides.modes[last] = Mode::new(self.extents[at] / below, strides.modes[last].stride());
            (first, at) = (last + 1, at + 1);
        }
        Ok(Some(strides))
    }

    /// Returns a swizzle that has the independent bases among its images: each at its pivot of the elimination, or all
    /// in their order followed by numbers that complete them.
    const fn matrix(&self, pivots: bool) -> Swizzle {
        let (mut solver, mut images) = (Solver::new(&[]), [0; MAX_BITS]);
        let (mut bit, mut single) = (0, true);
        while single || bit < self.len() {
            if bit == self.len() {
                // Bases of one bit are placed before the others.
                (bit, single) = (0, false);
                continue;
            }
            let basis = self.images[bit];
            if basis.is_power_of_two() == single
                && let Some(pivot) = solver.add(basis, 0)
            {
                images[if pivots { pivot } else { bit }] = basis;
            }
            bit += 1;
        }
        let (mut at, mut free) = (0, 0);
        while free < MAX_BITS {
            if solver.is_free(free) {
                while images[at] != 0 {
                    at += 1;
                }
                images[if pivots { free } else { at }] = 1 << free;
            }
            free += 1;
        }
        Swizzle::of_bijection(images, MAX_BITS)
    }

    /// Returns the modes before a swizzle under which the bases are disjoint.
    pub(crate) const fn under(&self, swizzle: Swizzle) -> Result<Strides, Error> {
        let back = swizzle.inverse();
        let zero = back.apply(self.zero);
        let mut all = Strides {
            swizzle,
            offset: zero as i64,
            modes: [Mode::new(1, 0); MAX_MODES],
            len: 0,
            ends: [0; MAX_MODES],
        };
        let mut group = 0;
        while group < self.groups {
            let (mut bit, end) = self.group(group);
            let first = all.len;
            while bit < end || all.len == first {
                if all.len == MAX_MODES {
                    return Err(Error::limit("a mode behind {}", [32], "a layout has at most 32"));
                }
                (all.modes[all.len], bit) = self.mode(&back, zero, bit, end);
                all.len += 1;
            }
            all.ends[group] = all.len as u8;
            group += 1;
        }
        Ok(all)
    }

    /// Returns the longest mode from bit `from` on before the swizzle that `back` undoes, and the first bit after it.
    const fn mode(&self, back: &Swizzle, zero: u64, from: usize, end: usize) -> (Mode, usize) {
        if from >= end {
            return (Mode::new(1, 0), from);
        }
        let first = self.stride(back, zero, from);
        let mut bit = from + 1;
        while bit < end && self.stride(back, zero, bit) == first << (bit - from) {
            bit += 1;
        }
        // Bases have at most 62 bits.
        (Mode::new(1 << (bit - from), first as i64), bit)
    }

    const fn stride(&self, back: &Swizzle, zero: u64, bit: usize) -> i128 {
        (zero ^ back.apply(self.images[bit])) as i128 - zero as i128
    }

    /// Returns CuTe's swizzle of the fewest bits under which the bases are disjoint.
    const fn swizzle_apart(&self) -> Option<Swizzle> {
        if self.are_apart(Swizzle::IDENTITY) {
            return Some(Swizzle::IDENTITY);
        }
        let mut family = Family::new(width(self.reach()), width(self.reach()));
        while let Some(swizzle) = family.next() {
            if self.are_apart(swizzle) {
                return Some(swizzle);
            }
        }
        None
    }

    const fn are_apart(&self, swizzle: Swizzle) -> bool {
        let (mut seen, mut i) = (0, 0);
        while i < self.len() {
            let basis = swizzle.apply(self.images[i]);
            if seen & basis != 0 {
                return false;
            }
            seen |= basis;
            i += 1;
        }
        true
    }
}

/// Returns the offset after a step, if it is at least 0 and has at most [`MAX_BITS`] bits.
const fn from(offset: i64, step: i128) -> Option<u64> {
    let to = offset as i128 + step;
    if to < 0 || to >> MAX_BITS != 0 { None } else { Some(to as u64) }
}

// Conversion of layouts of strides to linear layouts, and back.

/// The names of the input dims of a layout's axes.
const AXES: [&str; MAX_DIMS] = [
    "dim0", "dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7", "dim8", "dim9", "dim10",
    "dim11", "dim12", "dim13", "dim14", "dim15",
];

impl LinearLayout {
    /// Converts a layout to a linear one. Each axis is an input dim, `dim0`, `dim1` …; the output dim is `offset`, of the
    /// smallest power of two that holds the cosize.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the map is not linear over bits: for an offset, a negative stride, an
    /// extent that is not a power of two, or two bits whose steps share a bit, with the coordinate at which both are set;
    /// [limit](Error::is_limit) beyond 16 axes.
    ///
    /// ```
    /// use tilewright_core::{LinearLayout, layout};
    /// let tiles = LinearLayout::of_layout(&layout!("(4,4):(4,1)")).unwrap();
    /// assert_eq!(tiles.to_string(), "{dim0=[4,8],dim1=[1,2]} -> (offset:16)");
    ///
    /// // 3 + 6 = 9, 3 ⊕ 6 = 5.
    /// let error = LinearLayout::of_layout(&layout!("4:3")).unwrap_err();
    /// assert!(error.is_unsupported());
    /// assert!(error.to_string().starts_with("at (3): bits 0 and 1 of the coordinate, of steps 3 and 6"));
    /// ```
    pub const fn of_layout(layout: &Layout) -> Result<LinearLayout, Error> {
        let mut all = LinearLayout::EMPTY;
        if layout.offset() != 0 {
            return Err(Error::unsupported(
                "coordinate 0 is at offset {}, and a linear map sends 0 to 0",
                [layout.offset() as i128],
                "remove the offset",
            ));
        }
        if layout.rank() > MAX_DIMS {
            return Err(Error::limit(
                "{} axes",
                [layout.rank() as i128],
                "a linear layout has at most 16 dims a side",
            ));
        }
        let (mut axis, mut leaf) = (0, 0);
        while let Some(modes) = layout.axis(axis) {
            let (mut i, from) = (0, all.ins.bits());
            let mut len = from;
            while i < modes.len() {
                len = tri!(steps(&mut all.bases, len, &modes[i], leaf));
                (i, leaf) = (i + 1, leaf + 1);
            }
            tri!(all.ins.push(AXES[axis], len - from));
            axis += 1;
        }
        tri!(all.check_apart(&all.ins));
        let (mut reach, mut i) = (0, 0);
        while i < all.ins.bits() {
            all.bases[i] = layout.swizzle().apply(all.bases[i]);
            reach |= all.bases[i];
            i += 1;
        }
        tri!(all.outs.push("offset", width(reach)));
        Ok(all)
    }

    /// Converts to a layout of strides, from an axis per input dim to the output as one index, its first dim fastest.
    /// The modes of a single input dim become axes of their own.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) if there is none, with the two bits that share an output bit and the coordinate
    /// at which both are set; [limit](Error::is_limit) beyond 32 modes.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let to_layout = |text| LinearLayout::parse(text).unwrap().to_layout();
    /// assert_eq!(to_layout("{i=[4,8,1,2]} -> (o:16)").unwrap().to_string(), "(4,4):(4,1)");
    /// let error = to_layout("{i=[1,3,4,8]} -> (o:16)").unwrap_err();
    /// assert!(error.is_no_layout());
    /// assert!(error.to_string().starts_with("at (3): bits 0 and 1 of the coordinate, of steps 1 and 3"));
    /// ```
    pub const fn to_layout(&self) -> Result<Layout, Error> {
        tri!(self.check_apart(&self.ins));
        self.layout_of(&tri!(self.bases().under(Swizzle::IDENTITY)))
    }

    /// Converts to a layout of strides, like [`LinearLayout::to_layout`], with a swizzle if one is needed: CuTe's swizzle
    /// of the fewest bits, and a matrix of the bases themselves if CuTe's family has none.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) if two coordinates share an output, with one of them as the witness (the other
    /// is in [`LinearLayout::collision`]); [limit](Error::is_limit) beyond 32 modes.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let tile = LinearLayout::parse("{c=[1,2],r=[5,10]} -> (o:16)").unwrap();
    /// assert_eq!(tile.to_swizzled_layout().unwrap().to_string(), "Sw<2,0,2> o (4,4):(1,4)");
    /// assert!(tile.to_layout().unwrap_err().is_no_layout());
    /// // Bit 2 changes two bits at once, which no swizzle of CuTe's family does.
    /// let other = LinearLayout::parse("{i=[1,2,7]} -> (o:8)").unwrap();
    /// assert_eq!(other.to_swizzled_layout().unwrap().to_string(), "F2<1,2,7> o 8:1");
    /// // 3 goes where 1 and 2 go together.
    /// let singular = LinearLayout::parse("{i=[1,2],j=[3]} -> (o:4)").unwrap();
    /// let error = singular.to_swizzled_layout().unwrap_err();
    /// assert_eq!(error.witness().unwrap().as_slice(), [0, 1]);
    /// ```
    pub const fn to_swizzled_layout(&self) -> Result<Layout, Error> {
        match tri!(self.bases().strides()) {
            Some(strides) => self.layout_of(&strides),
            None => Err(self.dependent()),
        }
    }

    /// The error of dependent bases, which no swizzle makes disjoint.
    const fn dependent(&self) -> Error {
        let (bit, _) = match self.bases().dependent() {
            Some(dependent) => dependent,
            None => (0, 0),
        };
        let (dim, at) = self.ins.place(bit);
        let numbers = [at as i128, dim as i128, self.bases[bit] as i128];
        Error::no_layout(
            "the basis of bit {} of input dim {} is the xor of lower ones: two coordinates are sent to {}",
            numbers,
            "the bases must be independent",
        )
        .at(self.ins.split(1 << bit))
    }

    /// Returns the bases, a group for each input dim.
    const fn bases(&self) -> Bases {
        let (mut bases, mut dim) = (Bases::NONE, 0);
        while dim < self.ins.len() {
            bases.push_group(1 << self.ins()[dim].bits(), self.ins()[dim].bits());
            dim += 1;
        }
        bases.images = self.bases;
        bases
    }

    /// Returns the layout of these strides, with an axis per input dim.
    const fn layout_of(&self, strides: &Strides) -> Result<Layout, Error> {
        let (mut profile, mut dim, mut from) = (Profile::EMPTY, 0, 0);
        while dim < self.ins.len() {
            let to = strides.ends[dim] as usize;
            tri!(push_axis(&mut profile, to - from, dim, self.ins.len()));
            (from, dim) = (to, dim + 1);
        }
        Layout::new(strides.modes(), &profile, strides.offset, strides.swizzle)
    }

    /// Refuses bases that share a bit and names the first two. `axes` splits their coordinate.
    const fn check_apart(&self, axes: &Dims) -> Result<(), Error> {
        let mut b = 0;
        while b < axes.bits() {
            let mut a = 0;
            while a < b {
                let shared = self.bases[a] & self.bases[b];
                if shared != 0 {
                    let coord: Coord = axes.split(1 << a | 1 << b);
                    let numbers =
                        [a as i128, b as i128, self.bases[a] as i128, self.bases[b] as i128];
                    return Err(if self.outs.len() == 0 {
                        Error::unsupported(SHARED, numbers, WOULD_SUM).at(coord)
                    } else {
                        Error::no_layout(SHARED, numbers, WOULD_XOR).at(coord)
                    });
                }
                a += 1;
            }
            b += 1;
        }
        Ok(())
    }
}

const SHARED: &str =
    "bits {} and {} of the coordinate, of steps {} and {}, reach one bit of the output";
const WOULD_SUM: &str = "there the sum of strides carries, but a linear map xors";
const WOULD_XOR: &str = "there the map xors, but strides carry";

/// Appends the steps of a mode's bits.
const fn steps(
    bases: &mut [u64; MAX_BITS],
    from: usize,
    mode: &Mode,
    leaf: usize,
) -> Result<usize, Error> {
    if !mode.extent().is_power_of_two() {
        return Err(Error::unsupported(
            "mode {} has extent {}",
            [leaf as i128, mode.extent() as i128],
            "the extents of a linear layout are powers of two",
        ));
    }
    let bits = mode.extent().trailing_zeros() as usize;
    if mode.stride() < 0 && bits > 0 {
        return Err(Error::unsupported(
            "mode {} has stride {}",
            [leaf as i128, mode.stride() as i128],
            "a linear map has no values below 0",
        ));
    }
    let mut bit = 0;
    while bit < bits {
        if from + bit == MAX_BITS || mode.stride() > (1 << (62 - bit)) - 1 {
            return Err(Error::overflow(
                "bit {} of mode {} of stride {} leaves 62 bits",
                [bit as i128, leaf as i128, mode.stride() as i128],
                "the dims of a side have at most 62 together",
            ));
        }
        bases[from + bit] = (mode.stride() as u64) << bit;
        bit += 1;
    }
    Ok(from + bits)
}

/// Appends the brackets of an axis of `leaves` modes; a single axis has those of a flat layout.
const fn push_axis(
    profile: &mut Profile,
    leaves: usize,
    axis: usize,
    axes: usize,
) -> Result<(), Error> {
    let mut i = 0;
    while i < leaves {
        let (first, last) = (i == 0, i + 1 == leaves);
        let own = leaves > 1;
        let outer = axes > 1;
        let opened = (own && first) as usize + (outer && first && axis == 0) as usize;
        let closed = (own && last) as usize + (outer && last && axis + 1 == axes) as usize;
        tri!(profile.push(opened, closed));
        i += 1;
    }
    Ok(())
}
