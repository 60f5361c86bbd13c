//! `composition`: one layout applied after another.
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
//! `jumps`: A as its jumps; splits each mode of B at its first break, repeatedly; a break that does not divide the remaining
//! extent is a refusal. `mod`: accepts if no sum `ρ_j + Σ c_m·σ_mj` leaves `[0, P_j)`, an O(modes) test. `search`: otherwise
//! walks towards a boundary that is left; if the jumps crossed at once do not cancel, refuses with that coordinate; enumerates
//! if they cancel. The error of a refusal names a coordinate, the value of A(B) there, and the different value of the only layout
//! that could be the composition.
//!
//! `DESIGN.md`, "Exact composition", has the theorem, its proof and the recorded cases.

mod jumps;
mod search;
mod swizzled;

pub use search::SEARCH_STATES;

use crate::{
    Coord, Error, Layout, MAX_MODES, Mode, Profile,
    algebra::composition::jumps::{Jump, Jumps, Runs, Start},
    layout::{index::axes_of, reach},
    macros::tri,
};

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
            return swizzled::composition(self, b);
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
