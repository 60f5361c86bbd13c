//! `coalesce`: the same map in the fewest modes.
//!
//! Law: `coalesce(L)(i) = L(i)` for every index i below the size of L, its depth is at most 1, and no flat layout of
//! fewer modes is the same map. Modes of extent 1 are removed, and neighbours `s:d` and `s':s·d` become one. If no mode
//! remains, the result is `1:0`, or `0:0` for a layout without coordinates. Offset and swizzle are kept.
//!
//! `coalesce_by` applies this below each leaf of a profile. `coalesce_extended` keeps the map past the last coordinate
//! too, where the last mode continues without end; it may therefore keep a last mode of extent 1.
//!
//! Source: CUTLASS `include/cute/layout.hpp` (`coalesce`, `coalesce_x`); the canonical form is the same.

use crate::{
    Error, Layout, MAX_DEPTH, MAX_MODES, Mode, Profile,
    algebra::nested::walk::{Builder, ProfileNode},
    const_fn::tri,
};

impl Layout {
    /// Returns the same map in the fewest modes: a bare mode or a flat tuple.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let coalesced = |text| Layout::parse(text).unwrap().coalesce().to_string();
    /// assert_eq!(coalesced("(2,(1,6)):(1,(6,2))"), "12:1");
    /// assert_eq!(coalesced("(2,1,6,1):(1,7,8,0)"), "(2,6):(1,8)");
    /// assert_eq!(coalesced("(1,1):(5,9)"), "1:0");
    /// ```
    #[doc(alias = "simplify")]
    pub const fn coalesce(&self) -> Layout {
        let mut modes = [Mode::new(1, 0); MAX_MODES];
        let len = merge(self.modes(), false, &mut modes);
        self.with_leaves(modes, len)
    }

    /// Returns the same map in the fewest modes, past the last coordinate too, where the last mode as written
    /// continues.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // Beyond 12, the last mode stays at stride 0.
    /// let layout = Layout::parse("(2,1,6,1):(1,7,8,0)").unwrap();
    /// assert_eq!(layout.coalesce_extended().to_string(), "(2,6,1):(1,8,0)");
    /// ```
    #[doc(alias = "coalesce_x")]
    #[doc(alias = "coalesce_z")]
    pub const fn coalesce_extended(&self) -> Layout {
        let mut modes = [Mode::new(1, 0); MAX_MODES];
        let len = merge(self.modes(), true, &mut modes);
        self.with_leaves(modes, len)
    }

    /// Coalesces the part below each leaf of `profile`, and keeps the brackets of `profile`. Positions beyond those of
    /// the profile are unchanged.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the profile has a tuple where the layout has a mode, or more positions than the
    /// layout; [limit](Error::is_limit) if brackets nest too deep.
    ///
    /// ```
    /// use tilewright_core::{Layout, Profile};
    /// let layout = Layout::parse("(2,(1,6)):(1,(6,2))").unwrap();
    /// let pair = Profile::flat(2).unwrap();
    /// assert_eq!(layout.coalesce_by(&pair).unwrap().to_string(), "(2,6):(1,2)");
    /// let deeper = Profile::nested(&[2, 1]).unwrap();
    /// assert!(layout.coalesce_by(&deeper).unwrap_err().is_mismatch());
    /// ```
    pub const fn coalesce_by(&self, profile: &Profile) -> Result<Layout, Error> {
        let mut work = ByMode {
            layout: self,
            profile,
            builder: Builder::new(),
            open: [(ProfileNode::root(self.profile()), ProfileNode::root(profile), 0);
                MAX_DEPTH + 1],
            depth: 0,
        };
        tri!(work.enter(ProfileNode::root(self.profile()), ProfileNode::root(profile)));
        while work.depth > 0 {
            tri!(work.next());
        }
        work.builder.layout(self.offset(), self.swizzle())
    }
}

/// Fills `out`, which is initialised with `1:0` modes, with the merged modes and returns their number. `extended` keeps
/// a last mode of extent 1 that does not continue the mode before.
#[inline]
pub(crate) const fn merge(modes: &[Mode], extended: bool, out: &mut [Mode; MAX_MODES]) -> usize {
    let (mut len, mut i) = (0, 0);
    while i < modes.len() {
        let mode = modes[i];
        if mode.extent() == 0 {
            *out = [Mode::new(1, 0); MAX_MODES];
            out[0] = Mode::new(0, 0);
            return 1;
        }
        let chains = len > 0 && follows(out[len - 1], mode);
        if chains {
            // I1 bounds the product of all extents.
            let extent = out[len - 1].extent() * mode.extent();
            out[len - 1] = Mode::new(extent, out[len - 1].stride());
        } else if mode.extent() > 1 || (extended && i + 1 == modes.len()) {
            out[len] = mode;
            len += 1;
        }
        i += 1;
    }
    if len == 0 { 1 } else { len }
}

/// Returns whether `next` begins where `mode` ends.
const fn follows(mode: Mode, next: Mode) -> bool {
    // I1 keeps extents below 2^63; a product beyond 64 bits is not a stride.
    match (mode.extent() as i64).checked_mul(mode.stride()) {
        Some(end) => end == next.stride(),
        None => false,
    }
}

/// A layout and a profile that are walked together.
struct ByMode<'a> {
    layout: &'a Layout,
    profile: &'a Profile,
    builder: Builder,
    /// The tuples entered, with the next position in each.
    open: [(ProfileNode, ProfileNode, usize); MAX_DEPTH + 1],
    depth: usize,
}

impl ByMode<'_> {
    /// Coalesces a part of the layout at a leaf of the profile; enters it at a tuple.
    const fn enter(&mut self, part: ProfileNode, pattern: ProfileNode) -> Result<(), Error> {
        if pattern.is_leaf(self.profile) {
            return self.put(part);
        }
        let (has, asked) = (part.rank(self.layout.profile()), pattern.rank(self.profile));
        if part.is_leaf(self.layout.profile()) || asked > has {
            return Err(Error::mismatch(
                "the profile has {} positions after mode {}, where the layout has {}",
                [asked as i128, part.from as i128, has as i128],
                "the layout must have the profile's brackets; a leaf matches a part of any depth",
            ));
        }
        self.builder.open();
        self.open[self.depth] = (part, pattern, 0);
        self.depth += 1;
        Ok(())
    }

    /// Handles the next position of the innermost open tuple.
    const fn next(&mut self) -> Result<(), Error> {
        let (part, pattern, position) = self.open[self.depth - 1];
        self.open[self.depth - 1].2 += 1;
        match (part.child(self.layout.profile(), position), pattern.child(self.profile, position)) {
            (Some(part), Some(pattern)) => self.enter(part, pattern),
            (Some(part), None) => {
                self.builder.node(self.layout.modes(), self.layout.profile(), part)
            }
            (None, _) => {
                self.depth -= 1;
                self.builder.close()
            }
        }
    }

    /// Appends a part, coalesced.
    const fn put(&mut self, part: ProfileNode) -> Result<(), Error> {
        let modes = self.layout.modes().split_at(part.to).0.split_at(part.from).1;
        let mut merged = [Mode::new(1, 0); MAX_MODES];
        let len = merge(modes, false, &mut merged);
        if len > 1 {
            self.builder.open();
        }
        let mut i = 0;
        while i < len {
            tri!(self.builder.leaf(merged[i]));
            i += 1;
        }
        if len > 1 { self.builder.close() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Swizzle;
    use crate::small::{for_each_layout, image};
    use std::{collections::BTreeMap, string::ToString, vec::Vec};

    #[test]
    fn two_small_layouts_are_the_same_map_if_and_only_if_they_coalesce_alike() {
        let mut canonical: BTreeMap<Vec<i64>, Layout> = BTreeMap::new();
        let mut seen = 0;
        for_each_layout(3, 0..=4, -3..=9, |layout| {
            let coalesced = layout.coalesce();
            let table = image(layout);
            assert_eq!(image(&coalesced), table, "{layout} {coalesced}");
            assert!(coalesced.depth() <= 1 && coalesced.modes().len() <= layout.modes().len());
            assert_eq!(coalesced.coalesce(), coalesced);
            let first = canonical.entry(table).or_insert_with(|| coalesced.clone());
            assert_eq!(*first, coalesced, "{layout}");
            seen += 1;
        });
        assert!(seen > 250_000, "{seen}");
        // Different maps have different forms, since a form is a map.
        assert!(canonical.len() > 50_000, "{}", canonical.len());
    }

    /// Returns L at any index; its last mode continues.
    fn beyond(layout: &Layout, mut index: u64) -> i64 {
        let (mut offset, modes) = (layout.offset(), layout.modes());
        for (i, mode) in modes.iter().enumerate() {
            let last = i + 1 == modes.len();
            let digit = if last { index } else { index % mode.extent() };
            offset += digit as i64 * mode.stride();
            index /= mode.extent();
        }
        offset
    }

    #[test]
    fn the_extended_form_is_the_same_map_beyond_the_last_coordinate() {
        for_each_layout(3, 1..=3, -2..=6, |layout| {
            let extended = layout.coalesce_extended();
            for index in 0..60 {
                assert_eq!(beyond(&extended, index), beyond(layout, index), "{layout} {extended}");
            }
            assert!(extended.modes().len() <= layout.modes().len());
        });
    }

    #[test]
    fn below_a_profile_every_part_keeps_its_map() {
        for_each_layout(4, 1..=2, 0..=4, |layout| {
            let modes = layout.modes();
            if modes.len() < 4 {
                return;
            }
            let nested = Layout::nested(modes, &[2, 2]).unwrap();
            let pair = Profile::flat(2).unwrap();
            let by = nested.coalesce_by(&pair).unwrap();
            assert_eq!((by.rank(), image(&by)), (2, image(layout)), "{nested}");
            for axis in 0..2 {
                let part = nested.get(&[axis]).unwrap().coalesce();
                assert_eq!(by.get(&[axis]).unwrap(), part, "{nested}");
            }
        });
    }

    #[test]
    fn known_cases() {
        let parse = |text| Layout::parse(text).unwrap();
        for (case, text, expected) in [
            ("C1", "(2,(1,6)):(1,(6,2))", "12:1"),
            ("C2", "(2,1,6,1):(1,7,8,0)", "(2,6):(1,8)"),
            ("C3", "(4,4):(-1,-4)", "16:-1"),
            ("C4", "(2,3):(0,0)", "6:0"),
            ("C5", "((2,2),(2,2)):((1,4),(2,8))", "(2,2,2,2):(1,4,2,8)"),
            ("", "(1,1):(5,9)", "1:0"),
            ("", "():()", "1:0"),
            ("", "(3,0):(1,3)", "0:0"),
            ("", "Sw<2,0,2> o 3 o (2,2):(1,2)", "Sw<2,0,2> o 3 o 4:1"),
        ] {
            assert_eq!(parse(text).coalesce(), parse(expected), "{case} {text}");
        }
        let pair = Profile::flat(2).unwrap();
        let six = parse("(2,(1,6)):(1,(6,2))").coalesce_by(&pair).unwrap();
        assert_eq!(six.to_string(), "(2,6):(1,2)", "C6");
        let seven = parse("(2,1,6,1):(1,7,8,0)").coalesce_extended();
        assert_eq!(seven.to_string(), "(2,6,1):(1,8,0)", "C7");
        let eight = parse("((4,3),1):((3,1),0)").flatten();
        assert_eq!(eight.to_string(), "(4,3,1):(3,1,0)", "C8");
    }

    #[test]
    fn a_shorter_profile_keeps_the_rest_and_a_deeper_one_is_refused() {
        let layout = Layout::parse("((1,2,6),(5,2)):((60,10,60),(1,5))").unwrap();
        let one = Profile::flat(1).unwrap();
        let by = layout.coalesce_by(&one).unwrap().to_string();
        assert_eq!(by, "((2,6),(5,2)):((10,60),(1,5))");
        assert_eq!(layout.coalesce_by(&Profile::LEAF).unwrap(), layout.coalesce());
        assert_eq!(layout.coalesce_by(&Profile::EMPTY).unwrap(), layout);
        assert!(layout.coalesce_by(&Profile::flat(3).unwrap()).unwrap_err().is_mismatch());
        let mode = Layout::parse("6:1").unwrap();
        assert!(mode.coalesce_by(&one).unwrap_err().is_mismatch());
        let swizzled = layout.with_swizzle(Swizzle::new(1, 0, 1).unwrap()).unwrap();
        assert_eq!(swizzled.coalesce_by(&one).unwrap().swizzle(), swizzled.swizzle());
    }
}
