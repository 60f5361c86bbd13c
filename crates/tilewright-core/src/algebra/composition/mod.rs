//! `composition`: one layout applied after another, with or without a swizzle inside.
//!
//! Law: `R = A ∘ B` has B's extents and brackets, where each mode of B becomes a mode or a tuple of modes of R, and
//! `R(c) = A(B(c))` for every coordinate c of B. **Sound and complete**: every answer is right, and if B allows a layout, it
//! is found. Everything else is an error with a witness or, past the budget of [`SEARCH_STATES`], "undecided".
//!
//! # Theorem
//!
//! Coalesce A to `(a₀,…):(t₀,…)`, let `P_j = a₀⋯a_{j-1}` and let the *jump* at the boundary `P_j` be
//! `e_j = t_j − a_{j-1}·t_{j-1}`, none of them 0. Then for every x ≥ 0, where the last mode continues,
//!
//! ```text
//! A(x) = A(0) + t₀·x + Σ_j e_j·⌊x / P_j⌋
//! ```
//!
//! Let `o` be B's offset, `ρ_j = o mod P_j`, and let a mode of R have the stride `D` in B's image. Take the residue of D
//! that the first step has: `σ_j = D mod P_j`, less `P_j` if `ρ_j + (D mod P_j) ≥ P_j`. With digits c_m of R's modes over
//! `D_m`, the candidate, which is linear in the digits and has the value of each first step, differs from `A(B(c))` by
//! exactly
//!
//! ```text
//! Σ_j e_j·⌊(ρ_j + Σ_m c_m·σ_mj) / P_j⌋
//! ```
//!
//! R exists iff each mode of B splits into runs and this sum, the *weighted carries*, is 0 for every coordinate.
//! Negative strides and offsets need no special case: a stride of −1 from the middle of a mode has σ = −1. The first run of
//! a mode is forced: a coalesced sequence is arithmetic up to its first extent and breaks exactly there. So is the next run,
//! among every q-th element.
//!
//! # Algorithm
//!
//! `carries.rs`: A as its jumps; splits each mode of B at its first break, repeatedly; a break that does not divide the remaining
//! extent is a refusal. `mod`: accepts if no sum `ρ_j + Σ c_m·σ_mj` leaves `[0, P_j)`, an O(modes) test. `carries.rs`: otherwise
//! walks towards a boundary that is left; if the jumps crossed at once do not cancel, refuses with that coordinate; enumerates
//! if they cancel. The error of a refusal names a coordinate, the value of A(B) there, and the different value of the only layout
//! that could be the composition.
//!
//! `DESIGN.md`, "Exact composition", has the theorem, its proof and the recorded cases.
//!
//! # A swizzle inside
//!
//! Law: every answer is right. R exists, and is found,
//! - if `A ∘ B` is linear over bits up to a constant: iff its nonzero bases are independent. Then some swizzle turns
//!   them into strides, and with dependent ones none does (`linear/bases.rs`);
//! - otherwise: iff it is a layout under a swizzle of CuTe's family.
//!
//! Both are decided for up to [`SEARCH_BITS`] coordinates of B. The first is decided for any number if B is linear over
//! bits, and so is A on the bits that B reaches.
//!
//! Beyond both, a swizzle that A only moves to other bits is found: A must map the window of B's swizzle to bits of the
//! offset that nothing else reaches. Everything else is undecided. A refusal has a witness.
//!
//! Example: `(4,4):(4,1) ∘ Sw<1,0,2> o 16:1` is `Sw<1,0,-2> o (4,4):(4,1)`, as A exchanges the two bits of the swizzle.

mod carries;

use crate::{
    Coord, Error, Layout, MAX_MODES, Mode, Profile, SEARCH_BITS, Swizzle,
    const_fn::tri,
    layout::{index::axes_of, reach},
    linear::{bases::Bases, width},
    swizzle::{Family, MAX_BITS},
};
pub use carries::SEARCH_STATES;
use carries::{Jump, Jumps, Runs, Start};

/// The two layouts: A as its jumps, B as the runs of its modes.
struct Problem<'a> {
    a: &'a Layout,
    b: &'a Layout,
    jumps: Jumps,
    start: Start,
}

impl Layout {
    /// Applies this layout after `b`: `R(c) = self(b(c))`, with b's extents and brackets.
    ///
    /// If b leaves this layout's domain, the last mode as written continues, as in CuTe. Both layouts may have offsets and
    /// negative strides as long as b's offsets are 0 or more. The result has this layout's swizzle. If b has a swizzle, the
    /// result is a layout under another swizzle.
    ///
    /// Source: CUTLASS `include/cute/layout.hpp`; the theorem is ours.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) if no shape and strides in b's brackets are the map, with a
    /// [witness](Error::witness); [undecided](Error::is_undecided) beyond [`SEARCH_STATES`];
    /// [out of range](Error::is_out_of_range) if b reaches below 0, or beyond a layout without modes or coordinates;
    /// [overflow](Error::is_overflow) or [limit](Error::is_limit) if the result would exceed 64 bits or [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// // 4×6 of blocks, read four by four: CuTe and its ports refuse.
    /// let every_sixth = parse("(4,6):(2,3)").composition(&parse("4:6")).unwrap();
    /// assert_eq!(every_sixth.to_string(), "(2,2):(7,9)");
    ///
    /// // CuTe's answer here is (3,2):(2,3), which is 7 where A(B) is 8.
    /// let error = parse("(6,2):(1,7)").composition(&parse("(3,2):(2,3)")).unwrap_err();
    /// assert!(error.is_no_layout());
    /// assert!(error.to_string().starts_with("at (2,1): A(B) is 8, the only candidate gives 7"));
    ///
    /// // Offsets twice as large: the swizzle is a bit further up.
    /// let doubled = parse("16:2").composition(&parse("Sw<2,0,2> o 16:1")).unwrap();
    /// assert_eq!(doubled.to_string(), "Sw<2,1,2> o 16:2");
    /// ```
    #[doc(alias = "compose")]
    pub const fn composition(&self, b: &Layout) -> Result<Layout, Error> {
        if b.size() == 0 {
            return empty(self, b);
        }
        tri!(check_domain(self, b));
        if !b.swizzle().is_identity() {
            return composition(self, b);
        }
        let jumps = Jumps::of(self.modes());
        let start = Start::of(&jumps, b.offset() as u64, self.offset());
        let problem = Problem { a: self, b, jumps, start };
        let mut runs = Runs::NONE;
        tri!(problem.split_all(&mut runs));
        if runs.carry(&problem) {
            tri!(problem.decide(&runs));
        }
        problem.result(&runs)
    }
}

/// The composition with a B without coordinates: B's extents, each with stride 0.
const fn empty(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
    while i < b.modes().len() {
        modes[i] = Mode::new(b.modes()[i].extent(), 0);
        i += 1;
    }
    Layout::new(modes.split_at(i).0, b.profile(), a.offset(), a.swizzle())
}

/// Checks that B's offsets are 0 or more, and that A has a mode that continues beyond its domain.
const fn check_domain(a: &Layout, b: &Layout) -> Result<(), Error> {
    let (low, high) = reach(b.modes(), b.offset());
    if low < 0 {
        return Err(Error::out_of_range(
            "B is {}, below A's domain",
            [low],
            "add an offset to B; layouts are not defined below 0",
        )
        .at(extreme(b, -1)));
    }
    if a.size() == 0 {
        return Err(Error::out_of_range(
            "B is {} and A has no coordinates",
            [low],
            "compose with a layout of one coordinate at least",
        )
        .at(extreme(b, -1)));
    }
    if a.modes().is_empty() && high > 0 {
        return Err(Error::out_of_range(
            "B is {} and A, of rank 0, has one coordinate",
            [high],
            "a layout of rank 0 has no mode that continues",
        )
        .at(extreme(b, 1)));
    }
    Ok(())
}

/// Returns the coordinate at which B is largest (`sign` 1) or smallest (−1).
const fn extreme(b: &Layout, sign: i64) -> Coord {
    let (mut leaves, mut i) = ([0; MAX_MODES], 0);
    while i < b.modes().len() {
        if b.modes()[i].stride().signum() == sign {
            leaves[i] = b.modes()[i].extent() - 1;
        }
        i += 1;
    }
    axes_of(b, &leaves)
}

impl Problem<'_> {
    /// Returns the layout whose modes are the runs.
    const fn result(&self, runs: &Runs) -> Result<Layout, Error> {
        let offset = self.start.value;
        if offset > i64::MAX as i128 || offset < i64::MIN as i128 {
            return Err(Error::overflow(
                "A is {} at B's offset {}",
                [offset, self.start.x as i128],
                "offsets must stay below 2^63",
            ));
        }
        if runs.len == self.b.modes().len() {
            return Layout::new(runs.modes(), self.b.profile(), offset as i64, self.a.swizzle());
        }
        let profile = tri!(profile_of(self.b, &runs.ends));
        Layout::new(runs.modes(), &profile, offset as i64, self.a.swizzle())
    }
}

/// Returns B's brackets, with a tuple in place of each mode that became several; `ends` holds the end of each.
const fn profile_of(b: &Layout, ends: &[u8; MAX_MODES]) -> Result<Profile, Error> {
    let (mut profile, mut at, mut leaf) = (Profile::EMPTY, 0, 0);
    while let Some((opened, closed)) = b.profile().brackets(leaf) {
        let end = ends[leaf] as usize;
        let tuple = (end - at > 1) as usize;
        let first = at;
        while at < end {
            let before = if at == first { opened + tuple } else { 0 };
            let behind = if at + 1 == end { closed + tuple } else { 0 };
            tri!(profile.push(before, behind));
            at += 1;
        }
        leaf += 1;
    }
    Ok(profile)
}

/// The error that a mode of B breaks at `coord`, the end of a `run` that begins with this step, and does not continue.
const fn split(problem: &Problem<'_>, leaf: usize, coord: u64, run: u64, step: &Jump) -> Error {
    let mut leaves = [0; MAX_MODES];
    leaves[leaf] = coord;
    let candidate = problem.start.value.wrapping_add((run as i128).wrapping_mul(step.stride));
    let (value, at) = problem.value(&leaves);
    Error::no_layout(
        "A(B) is {}, the only candidate gives {}: mode {} of B breaks there, and {} does not \
         divide its extent",
        [value, candidate, leaf as i128, coord as i128],
        "cut the mode there, or make its extent a multiple",
    )
    .at(at)
}

impl Problem<'_> {
    /// Returns A(B) at a coordinate of B given leaf by leaf, and the coordinate.
    const fn value(&self, leaves: &[u64; MAX_MODES]) -> (i128, Coord) {
        let (modes, mut x, mut i) = (self.b.modes(), self.b.offset(), 0);
        while i < modes.len() {
            x += leaves[i] as i64 * modes[i].stride();
            i += 1;
        }
        let value = self.jumps.value(x as u64).wrapping_add(self.a.offset() as i128);
        (value, axes_of(self.b, leaves))
    }
}

// Composition with a swizzle inside.

/// Composes with a swizzled B of at least one coordinate, in A's domain.
const fn composition(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if let Some(inner) = Bases::of_layout(b)
        && let Some(map) = inner.then(a)
        && let Some(layout) = tri!(of_bases(b, &map))
    {
        return Ok(layout);
    }
    if let Some(layout) = tri!(around(a, b)) {
        return Ok(layout);
    }
    if b.size() > SEARCH_BITS as u64 {
        return Err(Error::undecided(
            "undecided whether A(B) is a swizzled layout of {} coordinates; up to {} are searched where A or B is not linear over bits",
            [b.size() as i128, SEARCH_BITS as i128],
            "give A and B extents and strides of powers of two, or compose with a part of B",
        ));
    }
    let table = tri!(ValueTable::of(a, b));
    if let Some(map) = table.bases()
        && let Some(layout) = tri!(of_bases(b, &map))
    {
        return Ok(layout);
    }
    table.search()
}

/// Returns the map of B's coordinates with these bases as a layout; an error if none exists, `None` if that is
/// undecided.
const fn of_bases(b: &Layout, map: &Bases) -> Result<Option<Layout>, Error> {
    if let Some(strides) = tri!(map.strides()) {
        let profile = tri!(profile_of(b, &strides.ends));
        let (offset, swizzle) = (strides.offset, strides.swizzle);
        return Ok(Some(tri!(Layout::new(strides.modes(), &profile, offset, swizzle))));
    }
    match repeated(b, map) {
        Some(error) => Err(error),
        None => Ok(None),
    }
}

/// Returns the composition without swizzles, under the image of B's swizzle; `None` if A mixes its bits with others,
/// or if no layout is the composition.
const fn around(a: &Layout, b: &Layout) -> Result<Option<Layout>, Error> {
    let (_, last) = reach(b.modes(), b.offset());
    let Some(swizzle) = carried(a, &b.swizzle().up_to(last as u64)) else {
        return Ok(None);
    };
    let (a_plain, b_plain) =
        (tri!(a.with_swizzle(Swizzle::IDENTITY)), tri!(b.with_swizzle(Swizzle::IDENTITY)));
    match a_plain.composition(&b_plain) {
        Ok(plain) => Ok(Some(tri!(plain.with_swizzle(a.swizzle().after(&swizzle))))),
        Err(error) if error.is_no_layout() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The error that dependent bases send two coordinates to one offset.
const fn repeated(b: &Layout, map: &Bases) -> Option<Error> {
    let Some((bit, others)) = map.dependent() else { return None };
    let Some(digits) = map.digits(others | 1 << bit) else { return None };
    let error = Error::no_layout(
        "A(B) is {}, as at 0, and no mode of B alone repeats it: no strides give it under any swizzle",
        [map.zero as i128],
        "compose with a B whose modes are not the xor of one another in A",
    );
    Some(error.at(axes_of(b, &digits)))
}

/// Returns the swizzle S' with `A ∘ swizzle = S' ∘ A`, if A sends the bits that the swizzle touches to bits that no
/// others are sent to.
const fn carried(a: &Layout, swizzle: &Swizzle) -> Option<Swizzle> {
    let window = (u64::BITS - swizzle.touched().leading_zeros()) as usize;
    let (mut images, mut used, mut unit) = ([0; MAX_BITS], 0u64, a.offset() as u64);
    let (modes, mut bit, mut i) = (a.modes(), 0, 0);
    while i < modes.len() {
        let (extent, stride, left) = (modes[i].extent(), modes[i].stride(), window - bit);
        let last = i + 1 == modes.len();
        let bits = match extent.trailing_zeros() as usize {
            _ if last => left,
            zeros if zeros >= left => left,
            zeros if extent.is_power_of_two() => zeros,
            _ => return None,
        };
        let mut at = 0;
        while at < bits {
            let image = (stride as i128) << at;
            if image < 0 || image >> MAX_BITS != 0 || image as u64 & used != 0 {
                return None;
            }
            (images[bit + at], used) = (image as u64, used | image as u64);
            at += 1;
        }
        // The rest of the mode has strides of whole windows.
        if last || extent >> bits > 1 {
            unit |= (stride as u64).wrapping_shl(bits as u32);
        }
        (bit, i) = (bit + bits, i + 1);
    }
    if bit < window || used > 0 && unit.trailing_zeros() < u64::BITS - used.leading_zeros() {
        return None;
    }
    turned(swizzle, &images, window)
}

/// Returns the swizzle that does to the images of bits what `swizzle` does to the bits.
const fn turned(swizzle: &Swizzle, images: &[u64; MAX_BITS], window: usize) -> Option<Swizzle> {
    let (mut all, mut bit, mut top) = ([0; MAX_BITS], 0, 0);
    while bit < MAX_BITS {
        all[bit] = 1 << bit;
        bit += 1;
    }
    bit = 0;
    while bit < window {
        let (mut rest, mut to) = (swizzle.image(bit), 0);
        while rest != 0 {
            to ^= images[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        if images[bit] != 0 {
            // The lowest bit of an image represents it; its other bits are unchanged.
            all[images[bit].trailing_zeros() as usize] = to ^ images[bit] & (images[bit] - 1);
        } else if to != 0 {
            return None;
        }
        top = if images[bit] > top { images[bit] } else { top };
        bit += 1;
    }
    let len = (u64::BITS - top.leading_zeros()) as usize;
    match Swizzle::of_images(all.split_at(len).0) {
        Ok(swizzle) => Some(swizzle),
        Err(_) => None,
    }
}

/// The values of `A ∘ B` at every coordinate of B.
struct ValueTable<'a> {
    b: &'a Layout,
    values: [i128; SEARCH_BITS],
    /// The union of the bits of all values.
    reach: u64,
    /// Set if a value is beyond the bits that a swizzle permutes.
    outside: bool,
}

/// The first index at which a candidate differs from the value, and the candidate's value.
struct Off(u64, i128);

impl ValueTable<'_> {
    const fn of<'a>(a: &Layout, b: &'a Layout) -> Result<ValueTable<'a>, Error> {
        let jumps = Jumps::of(a.modes());
        let mut table = ValueTable { b, values: [0; SEARCH_BITS], reach: 0, outside: false };
        let mut i = 0;
        while i < b.size() {
            if let Ok(x) = b.offset_of(i) {
                let value = jumps.value(x as u64).wrapping_add(a.offset() as i128);
                let inside = value >= 0 && value >> MAX_BITS == 0;
                if !inside && !a.swizzle().is_identity() {
                    return Err(Error::out_of_range(
                        "A is {} before its swizzle, which permutes offsets from 0 to 2^62",
                        [value],
                        "compose with a B inside A",
                    ));
                }
                let value = if inside { a.swizzle().apply(value as u64) as i128 } else { value };
                table.values[i as usize] = value;
                table.reach |= value as u64;
                table.outside |= !inside;
            }
            i += 1;
        }
        Ok(table)
    }

    /// Returns the bases of the values, if these are linear over the bits of the index.
    const fn bases(&self) -> Option<Bases> {
        if self.outside {
            return None;
        }
        let (mut all, mut leaf, mut bit, mut index) = (Bases::NONE, 0, 0, 0);
        all.zero = self.values[0] as u64;
        while leaf < self.b.modes().len() {
            let extent = self.b.modes()[leaf].extent();
            if !extent.is_power_of_two() {
                return None;
            }
            all.push_group(extent, extent.trailing_zeros() as usize);
            while bit < all.len() {
                all.images[bit] = self.values[1 << bit] as u64 ^ all.zero;
                bit += 1;
            }
            leaf += 1;
        }
        while index < self.b.size() {
            if self.values[index as usize] as u64 != all.zero ^ all.xor(index) {
                return None;
            }
            index += 1;
        }
        Some(all)
    }

    /// Returns the layout under the first swizzle of the family that allows one.
    const fn search(&self) -> Result<Layout, Error> {
        let Off(index, candidate) = match tri!(self.under(Swizzle::IDENTITY)) {
            Ok(layout) => return Ok(layout),
            Err(off) => off,
        };
        let mut family = Family::new(width(self.reach), MAX_BITS);
        while let Some(swizzle) = family.next()
            && !self.outside
        {
            if let Ok(layout) = tri!(self.under(swizzle)) {
                return Ok(layout);
            }
        }
        let value = self.values[index as usize];
        let error = Error::no_layout(
            "A(B) is {}, the only candidate without a swizzle gives {}, and no swizzle of bits, base and shift gives strides",
            [value, candidate],
            "compose with the modes of B one by one, or give A and B extents of powers of two",
        );
        Err(error.at(self.coordinate(index)))
    }

    /// Returns the value at an index before a swizzle that is its own inverse.
    const fn before(&self, index: u64, swizzle: &Swizzle) -> i128 {
        let value = self.values[index as usize];
        if swizzle.is_identity() { value } else { swizzle.apply(value as u64) as i128 }
    }

    /// Returns the layout of the values under a swizzle of the family.
    const fn under(&self, swizzle: Swizzle) -> Result<Result<Layout, Off>, Error> {
        let (mut modes, mut ends, mut len) = ([Mode::new(1, 0); MAX_MODES], [0; MAX_MODES], 0);
        let (mut leaf, mut below) = (0, 1);
        let zero = self.before(0, &swizzle);
        while leaf < self.b.modes().len() {
            let (extent, first) = (self.b.modes()[leaf].extent(), len);
            let (mut left, mut step) = (extent, below);
            while left > 1 || len == first {
                let stride = if left > 1 { self.before(step, &swizzle) - zero } else { 0 };
                let mut run = 1;
                while run < left && self.before(run * step, &swizzle) == zero + run as i128 * stride
                {
                    run += 1;
                }
                if !left.is_multiple_of(run) {
                    return Ok(Err(Off(run * step, zero + run as i128 * stride)));
                }
                if len == MAX_MODES || stride > i64::MAX as i128 || stride < i64::MIN as i128 {
                    return Err(Error::limit(
                        "the composition takes more than {} modes, or strides beyond 64 bits",
                        [MAX_MODES as i128],
                        "compose with one axis at a time",
                    ));
                }
                modes[len] = Mode::new(run, stride as i64);
                (len, left, step) = (len + 1, left / run, step * run);
            }
            ends[leaf] = len as u8;
            (leaf, below) = (leaf + 1, below * extent);
        }
        self.checked(modes.split_at(len).0, &tri!(profile_of(self.b, &ends)), zero, swizzle)
    }

    /// Returns the layout of these modes if it has the values.
    const fn checked(
        &self,
        modes: &[Mode],
        profile: &Profile,
        zero: i128,
        swizzle: Swizzle,
    ) -> Result<Result<Layout, Off>, Error> {
        let mut index = 0;
        while index < self.b.size() {
            let (mut rest, mut value, mut i) = (index, zero, 0);
            while i < modes.len() {
                value += (rest % modes[i].extent()) as i128 * modes[i].stride() as i128;
                (rest, i) = (rest / modes[i].extent(), i + 1);
            }
            if value != self.before(index, &swizzle) {
                return Ok(Err(Off(index, value)));
            }
            index += 1;
        }
        if zero > i64::MAX as i128 || zero < i64::MIN as i128 {
            return Err(Error::overflow(
                "A is {} at B's offset",
                [zero],
                "offsets must stay below 2^63",
            ));
        }
        Ok(Ok(tri!(Layout::new(modes, profile, zero as i64, swizzle))))
    }

    /// Returns the coordinate of B with an index.
    const fn coordinate(&self, index: u64) -> Coord {
        let (mut leaves, mut rest, mut leaf) = ([0; MAX_MODES], index, 0);
        while leaf < self.b.modes().len() {
            let extent = self.b.modes()[leaf].extent();
            (leaves[leaf], rest, leaf) = (rest % extent, rest / extent, leaf + 1);
        }
        axes_of(self.b, &leaves)
    }
}
