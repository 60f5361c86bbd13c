//! `composition`: one layout read through another.
//!
//! Law: `R = A ∘ B` has B's extents and brackets, each mode of B a mode or a tuple of modes of R, and
//! `R(c) = A(B(c))` for every coordinate c of B. **Sound and complete**: every answer is right; where B
//! has a layout at all, it is found; everything else is an error with a witness or, past the budget of
//! [`SEARCH_STATES`], "undecided".
//!
//! # Theorem
//!
//! Coalesce A to `(a₀,…):(t₀,…)`, let `P_j = a₀⋯a_{j-1}` and let the *jump* at the boundary `P_j` be
//! `e_j = t_j − a_{j-1}·t_{j-1}`, none of them 0. Then for every x ≥ 0, the last mode running on,
//!
//! ```text
//! A(x) = A(0) + t₀·x + Σ_j e_j·⌊x / P_j⌋
//! ```
//!
//! Let `o` be B's offset, `ρ_j = o mod P_j`, and let a mode of R stride over `D` in B's image. Take the
//! residue of D that the first step shows: `σ_j = D mod P_j`, less `P_j` if `ρ_j + (D mod P_j) ≥ P_j`.
//! With digits c_m of R's modes over `D_m`, the candidate, linear in the digits with the value of each
//! first step, differs from `A(B(c))` by exactly
//!
//! ```text
//! Σ_j e_j·⌊(ρ_j + Σ_m c_m·σ_mj) / P_j⌋
//! ```
//!
//! So R exists iff each mode of B splits into runs and this sum, the *weighted carries*, is 0 for every
//! coordinate. Negative strides and offsets need nothing of their own: a stride of −1 from the middle of
//! a mode has σ = −1. The first run of a mode is forced: a coalesced sequence is arithmetic up to its
//! first extent and breaks exactly there; so is the next, among every q-th element.
//!
//! # Algorithm
//!
//! `jumps`: A as its jumps. `runs`: each mode of B split at its first break, again and again; a break
//! that does not divide what is left is a refusal. `mod`: no sum `ρ_j + Σ c_m·σ_mj` leaves `[0, P_j)`, an
//! O(modes) test: accept. `carry`: otherwise walk towards a boundary that is left; where the jumps crossed
//! at once do not cancel, refuse, with that coordinate. `search`: where they cancel, enumerate.
//!
//! The theorem, its proof and the cases on record are retold in `DESIGN.md`, "Exact composition".

mod carry;
mod jumps;
mod refusal;
mod runs;
mod search;
mod swizzled;

use self::{
    jumps::{Jumps, Start},
    runs::Runs,
};
use crate::{
    Coord, Error, Layout, MAX_MODES, Mode, Profile, index::axes_of, layout::reach, macros::tri,
};

pub use search::SEARCH_STATES;

/// The two layouts, A as its jumps, B as the runs of its modes.
struct Problem<'a> {
    a: &'a Layout,
    b: &'a Layout,
    jumps: Jumps,
    start: Start,
}

impl Layout {
    /// This layout read through `b`: `R(c) = self(b(c))`, with b's extents and brackets.
    ///
    /// Where b leaves this layout's domain, the last mode as written runs on, as in CuTe. Offsets and
    /// negative strides are welcome on both sides as long as b stays at 0 and above. This layout's
    /// swizzle stays the result's. Under a swizzle of b, the result is a layout under another swizzle.
    ///
    /// Source: CUTLASS `include/cute/layout.hpp`; the theorem is ours.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) where no shape and strides in b's brackets are the map, with a
    /// [witness](Error::witness); [undecided](Error::is_undecided) beyond [`SEARCH_STATES`];
    /// [out of range](Error::is_out_of_range) if b reaches below 0, or beyond a layout without modes or
    /// coordinates; [overflow](Error::is_overflow), [limit](Error::is_limit) if the result would pass 64 bits or
    /// [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// // 4×6 of blocks, read four by four: CuTe and its ports refuse.
    /// let every_sixth = parse("(4,6):(2,3)").composition(&parse("4:6")).unwrap();
    /// assert_eq!(every_sixth.to_string(), "(2,2):(7,9)");
    ///
    /// // CuTe answers (3,2):(2,3) here, which is 7 where A(B) is 8.
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

/// B without coordinates: the map of none, at stride 0.
const fn empty(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
    while i < b.modes().len() {
        modes[i] = Mode::new(b.modes()[i].extent(), 0);
        i += 1;
    }
    Layout::new(modes.split_at(i).0, b.profile(), a.offset(), a.swizzle())
}

/// B stays at 0 and above, and A has a mode to run on beyond its domain.
const fn check_domain(a: &Layout, b: &Layout) -> Result<(), Error> {
    let (low, high) = reach(b.modes(), b.offset());
    if low < 0 {
        return Err(Error::out_of_range(
            "B is {}, below A's domain",
            [low],
            "add an offset to B; below 0 no layout is defined",
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
            "a layout of rank 0 has no last mode that runs on",
        )
        .at(extreme(b, 1)));
    }
    Ok(())
}

/// Where B is largest (`sign` 1) or smallest (−1).
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
    /// The layout whose modes are the runs.
    const fn result(&self, runs: &Runs) -> Result<Layout, Error> {
        let offset = self.start.value;
        if offset > i64::MAX as i128 || offset < i64::MIN as i128 {
            return Err(Error::overflow(
                "A is {} at B's offset {}",
                [offset, self.start.x as i128],
                "offsets stay below 2^63",
            ));
        }
        if runs.len == self.b.modes().len() {
            return Layout::new(runs.modes(), self.b.profile(), offset as i64, self.a.swizzle());
        }
        let profile = tri!(profile_of(self.b, &runs.ends));
        Layout::new(runs.modes(), &profile, offset as i64, self.a.swizzle())
    }
}

/// B's brackets, with a tuple where a mode became several, which end where `ends` has it.
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
