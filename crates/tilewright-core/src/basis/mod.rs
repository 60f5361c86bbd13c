//! Basis strides: layouts whose values are coordinates, such as the identity `(2,3):(1@0,1@1)`.
//!
//! A stride `c@i` moves component i of the result by c, and `c@j@i` moves component j within component i (innermost
//! first). A basis layout is thus up to [`MAX_BASES`] integer layouts over one shape, one for each component.
//!
//! Laws: component i of `B(c)` is `part(i)(c)`; `identity(S)(c) = c`; `parse(print(B)) = B`. A component that no mode
//! moves is 0, and is omitted after the last one that is moved. Basis and integer strides do not mix; 0 is both.
//!
//! Source: CUTLASS `include/cute/numeric/arithmetic_tuple.hpp` (`ScaledBasis`).
//!
//! A [`Path`] is the position of a component in a nested coordinate. Law: [`Leaves`] returns the paths of a profile's
//! leaves in the order of its text; walking from path to path in that order writes the brackets of the coordinate.
//!
//! # Composition
//!
//! Composition with a basis layout: `R(c) = A(B(c))`, where B's strides select the modes of A.
//!
//! A's offset is the sum of its modes' offsets, so each mode of B is composed with the one part of A that it moves
//! along. A mode that moves along several parts is refused.

mod text;

use crate::{
    Error, IntTuple, Layout, MAX_DEPTH, MAX_MODES, Mode, Profile, Swizzle,
    algebra::nested::walk::Builder, const_fn::tri,
};

/// The largest number of components that a [`BasisLayout`] moves.
pub const MAX_BASES: usize = 8;

/// A map from coordinates to coordinates, with basis strides.
///
/// ```
/// use tilewright_core::{BasisLayout, IntTuple};
/// let tuple = |text| IntTuple::parse(text).unwrap();
/// let identity = BasisLayout::identity(&tuple("(2,(3,4))")).unwrap();
/// assert_eq!(identity.to_string(), "(2,(3,4)):(1@0,(1@0@1,1@1@1))");
/// assert_eq!(identity.coord_at(&tuple("(1,7)")), Ok(tuple("(1,(1,2))")));
///
/// let swapped = BasisLayout::parse("(4,8):(1@1,2@0)").unwrap();
/// assert_eq!(swapped.coord_at(&tuple("(3,5)")), Ok(tuple("(10,3)")));
/// let error = BasisLayout::parse("(2,2):(1@0,1)").unwrap_err();
/// assert!(error.to_string().contains("basis and integer strides do not mix"));
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "ScaledBasis")]
#[doc(alias = "ArithTuple")]
pub struct BasisLayout {
    shape: IntTuple,
    /// The components that are moved, in the order of a coordinate's text.
    paths: [Path; MAX_BASES],
    /// The stride of each leaf, by component.
    strides: [[i64; MAX_MODES]; MAX_BASES],
    len: usize,
}

impl BasisLayout {
    /// Returns the map of each coordinate of a shape to itself.
    ///
    /// # Errors
    /// [limit](Error::is_limit) for more than [`MAX_BASES`] leaves; [illegal](Error::is_illegal) for an
    /// integer or `()`, whose identity is the layout `n:1`, and for negative extents.
    ///
    /// ```
    /// use tilewright_core::{BasisLayout, IntTuple};
    /// let identity = |text| BasisLayout::identity(&IntTuple::parse(text).unwrap());
    /// assert_eq!(identity("(2,2)").unwrap().to_string(), "(2,2):(1@0,1@1)");
    /// assert!(identity("4").unwrap_err().is_illegal());
    /// assert!(identity("(1,1,1,1,1,1,1,1,1)").unwrap_err().is_limit());
    /// ```
    #[doc(alias = "make_identity_layout")]
    pub const fn identity(shape: &IntTuple) -> Result<BasisLayout, Error> {
        if shape.depth() == 0 {
            return Err(Error::illegal(
                "no basis for the identity of the integer {}",
                [shape.values()[0] as i128],
                "it is the layout n:1; write (n) for a basis",
            ));
        }
        let mut identity = BasisLayout::zero(shape);
        let (mut leaves, mut leaf) = (Leaves::new(shape.profile()), 0);
        while let Some(path) = leaves.next() {
            tri!(identity.add(leaf, 1, path));
            leaf += 1;
        }
        identity.checked()
    }

    /// Returns the map whose component i is `parts[i]`; all parts have one shape.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for different shapes; [unsupported](Error::is_unsupported) for a part with an offset
    /// or a swizzle; [limit](Error::is_limit) beyond [`MAX_BASES`]; [illegal](Error::is_illegal) if no part has a stride.
    ///
    /// ```
    /// use tilewright_core::{BasisLayout, Layout};
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let map = BasisLayout::new(&[&parse("(2,3):(1,2)"), &parse("(2,3):(0,4)")]).unwrap();
    /// assert_eq!(map.to_string(), "(2,3):(1@0,2@0+4@1)");
    /// let error = BasisLayout::new(&[&parse("(2,3)"), &parse("(3,2)")]).unwrap_err();
    /// assert!(error.is_mismatch());
    /// ```
    pub const fn new(parts: &[&Layout]) -> Result<BasisLayout, Error> {
        if parts.is_empty() || parts.len() > MAX_MODES {
            return Err(too_many(parts.len()));
        }
        let mut map = BasisLayout::zero(&parts[0].shape());
        let mut i = 0;
        while i < parts.len() {
            tri!(map.part_is_plain(parts[i], i));
            let mut leaf = 0;
            while leaf < parts[i].modes().len() {
                tri!(map.add(leaf, parts[i].modes()[leaf].stride(), Path::top(i as u8)));
                leaf += 1;
            }
            i += 1;
        }
        map.checked()
    }

    const fn part_is_plain(&self, part: &Layout, i: usize) -> Result<(), Error> {
        if part.offset() != 0 || !part.swizzle().is_identity() {
            return Err(Error::unsupported(
                "component {} has the offset {} or a swizzle",
                [i as i128, part.offset() as i128],
                "basis strides begin at the origin",
            ));
        }
        let mut same = self.shape.congruent(&part.shape());
        let mut leaf = 0;
        while same && leaf < part.modes().len() {
            same = self.shape.values()[leaf] == part.shape().values()[leaf];
            leaf += 1;
        }
        if same {
            return Ok(());
        }
        Err(Error::mismatch(
            "component {} has a different shape from component 0",
            [i as i128],
            "all components must have one shape",
        ))
    }

    /// Returns a map that moves no component yet.
    const fn zero(shape: &IntTuple) -> BasisLayout {
        BasisLayout {
            shape: shape.copied(),
            paths: [Path::ROOT; MAX_BASES],
            strides: [[0; MAX_MODES]; MAX_BASES],
            len: 0,
        }
    }

    /// Adds a stride of `leaf` along the component at `path`.
    const fn add(&mut self, leaf: usize, stride: i64, path: Path) -> Result<(), Error> {
        if stride == 0 {
            return Ok(());
        }
        let mut at = 0;
        while at < self.len && self.paths[at].before(path) {
            at += 1;
        }
        if at == self.len || !self.paths[at].is(path) {
            tri!(self.insert(at, path));
        }
        match self.strides[at][leaf].checked_add(stride) {
            Some(sum) => self.strides[at][leaf] = sum,
            None => {
                return Err(Error::overflow(
                    "strides of leaf {} along one component",
                    [leaf as i128],
                    "strides must fit 64 bits",
                ));
            }
        }
        Ok(())
    }

    /// Inserts a component.
    const fn insert(&mut self, at: usize, path: Path) -> Result<(), Error> {
        if self.len == MAX_BASES {
            return Err(too_many(MAX_BASES + 1));
        }
        let (mut i, mut inside) = (0, false);
        while i < self.len {
            inside = inside || self.paths[i].contains(path) || path.contains(self.paths[i]);
            i += 1;
        }
        if inside {
            return Err(Error::illegal(
                "component {} of the coordinate is an integer in one stride and a tuple in another",
                [path.first() as i128],
                "use the same kind in every stride",
            ));
        }
        i = self.len;
        while i > at {
            self.paths[i] = self.paths[i - 1];
            self.strides[i] = self.strides[i - 1];
            i -= 1;
        }
        self.paths[at] = path;
        self.strides[at] = [0; MAX_MODES];
        self.len += 1;
        Ok(())
    }

    /// Returns this value if it is legal: every component is a layout, and the coordinates fit a tuple.
    const fn checked(self) -> Result<BasisLayout, Error> {
        if self.len == 0 {
            return Err(Error::illegal(
                "none of {} modes moves a coordinate",
                [self.shape.values().len() as i128],
                "at least one stride must name a basis, such as 1@0",
            ));
        }
        let mut i = 0;
        while i < self.len {
            let _ = tri!(self.component(i));
            i += 1;
        }
        match self.coordinate(&[0; MAX_BASES]) {
            Ok(_) => Ok(self),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of components that are moved.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// assert_eq!(BasisLayout::parse("(4,8):(1@5,2@0)").unwrap().components(), 2);
    /// ```
    pub const fn components(&self) -> usize {
        self.len
    }

    /// Returns the extents with their brackets.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// let map = BasisLayout::parse("(4,(2,8)):(1@1,(1@0,2@0))").unwrap();
    /// assert_eq!(map.shape().to_string(), "(4,(2,8))");
    /// ```
    pub const fn shape(&self) -> &IntTuple {
        &self.shape
    }

    /// Returns the layout of the i-th component that is moved, in the order of a coordinate's text.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// let map = BasisLayout::parse("(4,8):(1@1,2@0)").unwrap();
    /// assert_eq!(map.part(0).unwrap().to_string(), "(4,8):(0,2)");
    /// assert!(map.part(2).is_none());
    /// ```
    pub const fn part(&self, i: usize) -> Option<Layout> {
        if i >= self.len {
            return None;
        }
        match self.component(i) {
            Ok(layout) => Some(layout),
            Err(_) => None,
        }
    }

    /// Returns the path of the i-th component that is moved: its positions in a coordinate, outermost first.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// let map = BasisLayout::parse("(4,8):(1@1@2,2@0)").unwrap();
    /// assert_eq!((map.path(0), map.path(1)), (Some(&[0][..]), Some(&[2, 1][..])));
    /// ```
    pub const fn path(&self, i: usize) -> Option<&[u8]> {
        if i < self.len { Some(self.paths[i].steps()) } else { None }
    }

    const fn component(&self, i: usize) -> Result<Layout, Error> {
        let (mut modes, mut leaf) = ([Mode::new(1, 0); MAX_MODES], 0);
        while leaf < self.shape.values().len() {
            let extent = self.shape.values()[leaf];
            if extent < 0 {
                return Err(Error::illegal(
                    "extent {} of leaf {}",
                    [extent as i128, leaf as i128],
                    "extents are 0 or more",
                ));
            }
            modes[leaf] = Mode::new(extent as u64, self.strides[i][leaf]);
            leaf += 1;
        }
        Layout::new(modes.split_at(leaf).0, self.shape.profile(), 0, Swizzle::IDENTITY)
    }

    /// Returns the coordinate that `coord` is sent to.
    ///
    /// # Errors
    /// Those of [`Layout::crd2idx`].
    ///
    /// ```
    /// use tilewright_core::{BasisLayout, IntTuple};
    /// let map = BasisLayout::parse("(4,8):(1@1@2,2@0)").unwrap();
    /// let at = |text| map.coord_at(&IntTuple::parse(text).unwrap());
    /// assert_eq!(at("(3,5)").unwrap().to_string(), "(10,0,(0,3))");
    /// assert!(at("(4,0)").unwrap_err().is_out_of_range());
    /// ```
    pub const fn coord_at(&self, coord: &IntTuple) -> Result<IntTuple, Error> {
        let (mut values, mut i) = ([0; MAX_BASES], 0);
        while i < self.len {
            values[i] = tri!(tri!(self.component(i)).crd2idx(coord));
            i += 1;
        }
        self.coordinate(&values)
    }

    /// Returns the coordinate with these components, and 0 in all others.
    const fn coordinate(&self, values: &[i64; MAX_BASES]) -> Result<IntTuple, Error> {
        let (mut builder, mut at, mut i) = (Builder::new(), Path::ROOT, 0);
        while i < self.len {
            tri!(at.walk(self.paths[i], &mut builder));
            tri!(builder.integer(values[i]));
            i += 1;
        }
        tri!(at.leave(&mut builder));
        IntTuple::built(&builder)
    }

    /// Returns whether both maps send every (colexicographic) index to the same coordinate.
    ///
    /// ```
    /// use tilewright_core::BasisLayout;
    /// let parse = |text| BasisLayout::parse(text).unwrap();
    /// assert!(parse("(2,3):(1@0,2@0)").same_function(&parse("6:1@0")));
    /// assert!(!parse("(2,3):(1@0,1@1)").same_function(&parse("(3,2):(1@0,1@1)")));
    /// ```
    pub const fn same_function(&self, other: &BasisLayout) -> bool {
        let mut i = 0;
        while i < self.len || i < other.len {
            let (Some(a), Some(b)) = (self.part(i), other.part(i)) else { return false };
            if a.size() != b.size() {
                return false;
            }
            if a.size() == 0 {
                return true;
            }
            if !self.paths[i].is(other.paths[i]) || !same_chain(&a.coalesce(), &b.coalesce()) {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// Returns whether the modes are equal: the coalesced form of a map over a size is unique.
const fn same_chain(a: &Layout, b: &Layout) -> bool {
    let (a, b) = (a.modes(), b.modes());
    let (mut same, mut i) = (a.len() == b.len(), 0);
    while same && i < a.len() {
        same = a[i].extent() == b[i].extent() && a[i].stride() == b[i].stride();
        i += 1;
    }
    same
}

const fn too_many(count: usize) -> Error {
    Error::limit(
        "a coordinate with {} components that move; at least 1 and at most {}",
        [count as i128, MAX_BASES as i128],
        "coalesce the shape, or take several layouts",
    )
}

/// Positions, outermost first; an empty path is the coordinate itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Path {
    steps: [u8; MAX_DEPTH],
    depth: usize,
}

impl Path {
    const ROOT: Path = Path { steps: [0; MAX_DEPTH], depth: 0 };

    /// A position of the coordinate itself.
    const fn top(position: u8) -> Path {
        let mut path = Path::ROOT;
        path.steps[0] = position;
        path.depth = 1;
        path
    }

    const fn steps(&self) -> &[u8] {
        self.steps.split_at(self.depth).0
    }

    const fn first(self) -> u8 {
        self.steps[0]
    }

    /// Returns this path with one more position outside of it, unless it becomes too deep.
    const fn within(self, position: u8) -> Option<Path> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        let (mut path, mut i) = (Path::top(position), 0);
        while i < self.depth {
            path.steps[i + 1] = self.steps[i];
            i += 1;
        }
        path.depth = self.depth + 1;
        Some(path)
    }

    /// Returns the number of positions with which both begin.
    const fn common(self, other: Path) -> usize {
        let mut i = 0;
        while i < self.depth && i < other.depth && self.steps[i] == other.steps[i] {
            i += 1;
        }
        i
    }

    const fn is(self, other: Path) -> bool {
        self.depth == other.depth && self.common(other) == self.depth
    }

    /// Returns whether the other path is inside this one.
    const fn contains(self, other: Path) -> bool {
        self.depth < other.depth && self.common(other) == self.depth
    }

    /// Returns whether this path comes first in a coordinate's text.
    const fn before(self, other: Path) -> bool {
        let common = self.common(other);
        common < self.depth && common < other.depth && self.steps[common] < other.steps[common]
    }

    /// Writes the brackets and zeros between the component at this path, the last one written, and the next; then moves
    /// to the next.
    const fn walk(&mut self, next: Path, builder: &mut Builder) -> Result<(), Error> {
        let common = self.common(next);
        let (mut depth, mut from) = (self.depth, 0);
        while depth > common + 1 {
            tri!(builder.close());
            depth -= 1;
        }
        if self.depth > 0 {
            from = self.steps[common] as usize + 1;
        } else {
            builder.open();
        }
        let mut level = common;
        while level < next.depth {
            if level > common {
                builder.open();
                from = 0;
            }
            while from < next.steps[level] as usize {
                tri!(builder.integer(0));
                from += 1;
            }
            level += 1;
        }
        *self = next;
        Ok(())
    }

    /// Closes all brackets after the last component.
    const fn leave(self, builder: &mut Builder) -> Result<(), Error> {
        let mut depth = self.depth;
        while depth > 0 {
            tri!(builder.close());
            depth -= 1;
        }
        Ok(())
    }
}

/// Iterator over the paths of a profile's leaves.
struct Leaves<'a> {
    profile: &'a Profile,
    leaf: usize,
    at: Path,
}

impl Leaves<'_> {
    const fn new(profile: &Profile) -> Leaves<'_> {
        Leaves { profile, leaf: 0, at: Path::ROOT }
    }

    const fn next(&mut self) -> Option<Path> {
        let (opened, _) = match self.profile.brackets(self.leaf) {
            Some(both) => both,
            None => return None,
        };
        if self.leaf > 0 {
            let (_, closed) = match self.profile.brackets(self.leaf - 1) {
                Some(both) => both,
                None => return None,
            };
            self.at.depth -= closed;
            self.at.steps[self.at.depth - 1] += 1;
        }
        let mut i = 0;
        while i < opened {
            self.at.steps[self.at.depth] = 0;
            self.at.depth += 1;
            i += 1;
        }
        self.leaf += 1;
        // Positions past the depth are 0 in every path, so that equal paths are equal values.
        let mut path = self.at;
        let mut i = path.depth;
        while i < MAX_DEPTH {
            path.steps[i] = 0;
            i += 1;
        }
        Some(path)
    }
}

impl Layout {
    /// Returns the layout that sends c to the offset of the coordinate `b(c)`.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a component that this layout does not have;
    /// [unsupported](Error::is_unsupported) for a mode that moves along several components; otherwise those of
    /// [`Layout::composition`], whose numbers then refer to one component.
    ///
    /// ```
    /// use tilewright_core::{BasisLayout, Layout};
    /// let a = Layout::parse("(12,(4,8)):(59,(13,1))").unwrap();
    /// let b = |text| BasisLayout::parse(text).unwrap();
    /// let picked = a.composition_basis(&b("(8,3):(1@1,4@0)")).unwrap();
    /// assert_eq!(picked.to_string(), "((4,2),3):((13,1),236)");
    /// assert!(a.composition_basis(&b("2:1@2")).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "composition")]
    pub const fn composition_basis(&self, b: &BasisLayout) -> Result<Layout, Error> {
        let leaves = b.shape().values().len();
        let (mut picked, mut leaf) = ([usize::MAX; MAX_MODES], 0);
        while leaf < leaves {
            picked[leaf] = tri!(component(b, leaf));
            leaf += 1;
        }
        let mut builder = Builder::new();
        let (mut parts, mut i) = ([const { None }; MAX_BASES], 0);
        while i < b.components() {
            parts[i] = Some(tri!(self.along(b, i)));
            i += 1;
        }
        leaf = 0;
        while leaf < leaves {
            let (opened, closed) = match b.shape().profile().brackets(leaf) {
                Some(both) => both,
                None => (0, 0),
            };
            tri!(brackets(&mut builder, opened, true));
            match if picked[leaf] < MAX_BASES { &parts[picked[leaf]] } else { &None } {
                Some(part) => tri!(builder.whole(&tri!(Layout::get(part, &[leaf])))),
                None => tri!(builder.leaf(Mode::new(b.shape().values()[leaf] as u64, 0))),
            }
            tri!(brackets(&mut builder, closed, false));
            leaf += 1;
        }
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns the part of this layout that component `i` of `b` moves along, composed with that component.
    const fn along(&self, b: &BasisLayout, i: usize) -> Result<Layout, Error> {
        let (mut path, mut depth) = ([0; MAX_DEPTH], 0);
        while depth < b.paths[i].steps().len() {
            path[depth] = b.paths[i].steps()[depth] as usize;
            depth += 1;
        }
        let affine = tri!(self.with_swizzle(Swizzle::IDENTITY));
        let part = tri!(tri!(affine.get(path.split_at(depth).0)).with_offset(0));
        let flat = tri!(b.component(i));
        let profile = tri!(Profile::flat(flat.modes().len()));
        part.composition(&tri!(Layout::new(flat.modes(), &profile, 0, Swizzle::IDENTITY)))
    }
}

const fn brackets(builder: &mut Builder, count: usize, open: bool) -> Result<(), Error> {
    let mut i = 0;
    while i < count {
        if open {
            builder.open();
        } else {
            tri!(builder.close());
        }
        i += 1;
    }
    Ok(())
}

/// Returns the one component that a leaf moves along; `usize::MAX` for none.
const fn component(b: &BasisLayout, leaf: usize) -> Result<usize, Error> {
    let (mut found, mut i) = (usize::MAX, 0);
    while i < b.components() {
        if b.strides[i][leaf] != 0 {
            if found != usize::MAX {
                return Err(Error::unsupported(
                    "mode {} moves along several components of a coordinate",
                    [leaf as i128],
                    "each mode moves along one",
                ));
            }
            found = i;
        }
        i += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{format, string::ToString, vec::Vec};

    use super::*;
    use crate::{IntTuple, small::for_each_layout};

    fn tuple(text: &str) -> IntTuple {
        IntTuple::parse(text).unwrap()
    }

    #[test]
    fn the_identity_sends_every_coordinate_to_itself() {
        let shapes =
            ["(4)", "(2,3)", "((2,3),4)", "(1,(2,(2,1)),(3))", "((((2))),1)", "(2,1,2,1,2,1,2,1)"];
        for text in shapes {
            let shape = tuple(text);
            let identity = BasisLayout::identity(&shape).unwrap();
            for index in 0..shape.product().unwrap() {
                let coord = shape.idx2crd(index).unwrap();
                assert_eq!(identity.coord_at(&coord), Ok(coord.clone()), "{text}");
                assert_eq!(identity.coord_at(&IntTuple::integer(index)), Ok(coord));
            }
        }
    }

    #[test]
    fn components_are_their_parts() {
        let parse = |text| Layout::parse(text).unwrap();
        let parts = [parse("(3,2):(1,2)"), parse("(3,2):(0,0)"), parse("(3,2):(-1,5)")];
        let map = BasisLayout::new(&[&parts[0], &parts[1], &parts[2]]).unwrap();
        assert_eq!(map.to_string(), "(3,2):(1@0+-1@2,2@0+5@2)");
        for index in 0..6 {
            let values: Vec<i64> =
                parts.iter().map(|part| part.offset_of(index).unwrap()).collect();
            let coord = map.coord_at(&IntTuple::integer(index as i64)).unwrap();
            assert_eq!(coord, IntTuple::flat(&values).unwrap());
        }
    }

    #[test]
    fn what_is_no_basis_layout() {
        let parse = |text| Layout::parse(text).unwrap();
        let line = parse("4:1");
        assert!(BasisLayout::new(&[]).unwrap_err().is_limit());
        assert!(BasisLayout::new(&[&line; 9]).unwrap_err().is_limit());
        assert!(BasisLayout::new(&[&parse("4:0")]).unwrap_err().is_illegal());
        assert!(BasisLayout::new(&[&line, &parse("4:1+2")]).unwrap_err().is_unsupported());
        assert!(BasisLayout::new(&[&line, &parse("(4):(1)")]).unwrap_err().is_mismatch());
        assert!(BasisLayout::identity(&tuple("()")).unwrap_err().is_illegal());
        assert!(BasisLayout::identity(&tuple("(-2,2)")).unwrap_err().is_illegal());
        let huge = IntTuple::flat(&[i64::MAX, 2]).unwrap();
        assert!(BasisLayout::identity(&huge).unwrap_err().is_overflow());
    }

    #[test]
    fn equal_maps_over_different_shapes() {
        let parse = |text| BasisLayout::parse(text).unwrap();
        assert!(parse("(2,1,3):(1@0,7@0,2@0)").same_function(&parse("6:1@0")));
        assert!(parse("(0,3):(1@0,1@1)").same_function(&parse("(2,0):(5@0,1@3)")));
        for (a, b) in [
            ("4:1@0", "4:1@1"),
            ("4:1@0", "4:2@0"),
            ("4:1@0", "5:1@0"),
            ("(2,2):(1@0,1@1)", "(2,2):(1@0,2@0)"),
        ] {
            assert!(!parse(a).same_function(&parse(b)), "{a} {b}");
        }
    }

    #[test]
    fn every_small_pick_of_small_axes() {
        let mut axes = Vec::new();
        for_each_layout(2, 2..=3, 0..=3, |axis| axes.push(axis.clone()));
        let picks = ["(2,3):(1@1,1@0)", "(3,2):(1@0,2@1)", "((2,2),2):((1@0,2@1),2@0)", "4:1@1"];
        let (mut answered, mut refused) = (0, 0);
        for a in axes.iter().step_by(2) {
            for b in axes.iter().step_by(3) {
                let whole = Layout::from_layouts(&[a, b]).unwrap().with_offset(5).unwrap();
                for pick in picks.map(|pick| BasisLayout::parse(pick).unwrap()) {
                    let size = pick.shape().product().unwrap();
                    let at = |i| pick.coord_at(&IntTuple::integer(i)).unwrap();
                    let offset = |i| match at(i).values().len() {
                        1 => whole.crd2idx(&IntTuple::flat(&[at(i).values()[0], 0]).unwrap()),
                        _ => whole.crd2idx(&at(i)),
                    };
                    // An index that leaves an axis continues in its last mode; only indices that stay inside are compared.
                    let inside: Vec<i64> = (0..size).filter(|&i| offset(i).is_ok()).collect();
                    match whole.composition_basis(&pick) {
                        Ok(result) => {
                            answered += 1;
                            assert_eq!(&result.shape().product(), &Ok(size));
                            for i in inside {
                                assert_eq!(
                                    result.offset_of(i as u64),
                                    offset(i),
                                    "{whole} o {pick}"
                                );
                            }
                        }
                        Err(error) => {
                            refused += 1;
                            assert!(error.is_no_layout(), "{whole} o {pick}: {error}");
                        }
                    }
                }
            }
        }
        assert!(answered > 2_000 && refused > 1_000, "{answered} {refused}");
    }

    #[test]
    fn the_identity_changes_nothing() {
        for text in
            ["(2,3):(3,1)", "((4,2),(4,3)):((4,16),(1,32))", "Sw<1,0,1> o 4 o (2,(2,2)):(1,(2,4))"]
        {
            let layout = Layout::parse(text).unwrap();
            let identity = BasisLayout::identity(&layout.shape()).unwrap();
            assert_eq!(layout.composition_basis(&identity).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_picks_no_mode() {
        let a = Layout::parse("(4,(2,2)):(1,(4,8))").unwrap();
        let error =
            |text: &str| a.composition_basis(&BasisLayout::parse(text).unwrap()).unwrap_err();
        assert!(error("2:1@0+1@1").is_unsupported());
        assert!(error("2:1@2").is_out_of_range());
        assert!(error(&format!("2:1@0{}", "@1".repeat(3))).is_out_of_range());
        let nested = BasisLayout::parse("(2,2):(1@1@1,1@0@1)").unwrap();
        assert_eq!(a.composition_basis(&nested).unwrap().to_string(), "(2,2):(8,4)");
    }
}
