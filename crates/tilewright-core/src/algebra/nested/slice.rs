//! Fixing some coordinates of a layout: `slice`, `dice`, `slice_and_offset`. Moving its origin: `domain_offset`.
//!
//! Laws: `slice_and_offset(s, L)(c) = L(s with c in place of its _)`, exactly, also with a swizzle. `slice` is the same
//! with the fixed coordinates at 0, and `dice` keeps the fixed positions instead. The kept parts become neighbours one level
//! up: `((_,1),(0,_,1))` keeps two axes.
//!
//! Source: CUTLASS `include/cute/underscore.hpp`, `layout.hpp`.
//!
//! Law: `domain_offset(L, x)(c) = L(x + c)` for every c with x + c inside L; the extents shrink by x. The sum is taken
//! where x has its integers: an integer in place of a whole axis is added to the axis's index.
//!
//! Defined iff that map is a layout. A nested layout is not translation-invariant: from the middle of a block, the next
//! block begins after fewer steps than the following ones. [`Tile`](crate::Tile) is the view that keeps its origin instead.
//!
//! Source: CUTLASS `include/cute/layout.hpp`, whose result keeps the shape and reads beyond its end.

use core::fmt;

use crate::{
    Error, IntTuple, Layout, MAX_MODES, Mode, ParseError, Profile, Swizzle,
    algebra::{
        nested::{
            coordinates::{unlike, unpack},
            walk::{Builder, ProfileNode, ProfileWalk, TupleReader, whole},
        },
        tiling::divide::plus,
    },
    const_fn::tri,
};

/// A coordinate in which `_` keeps a position: `(2,_)`, `((_,1),(0,_,1))`.
///
/// ```
/// use tilewright_core::Slicer;
/// assert_eq!(Slicer::parse("( _ ,(0,_))").unwrap().to_string(), "(_,(0,_))");
/// assert!(Slicer::parse("(_,").is_err());
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "Underscore")]
pub struct Slicer {
    /// The coordinate, with 0 in place of each `_`.
    coord: IntTuple,
    kept: u32,
}

impl Slicer {
    /// Creates a slicer with these coordinates, in which the leaves of `kept` are `_`.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a leaf after the last.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Slicer};
    /// let slicer = Slicer::new(&IntTuple::flat(&[2, 0]).unwrap(), &[1]).unwrap();
    /// assert_eq!(slicer.to_string(), "(2,_)");
    /// assert!(Slicer::new(&IntTuple::integer(2), &[1]).unwrap_err().is_out_of_range());
    /// ```
    pub const fn new(coord: &IntTuple, kept: &[usize]) -> Result<Slicer, Error> {
        let (mut values, mut mask, mut i) = ([0; MAX_MODES], 0, 0);
        let leaves = coord.values().len();
        while i < leaves {
            values[i] = coord.values()[i];
            i += 1;
        }
        let mut i = 0;
        while i < kept.len() {
            if kept[i] >= leaves {
                return Err(Error::out_of_range(
                    "leaf {} of a coordinate of {}",
                    [kept[i] as i128, leaves as i128],
                    "leaves are counted from 0, without their brackets",
                ));
            }
            mask |= 1 << kept[i];
            values[kept[i]] = 0;
            i += 1;
        }
        let coord = tri!(IntTuple::new(values.split_at(leaves).0, coord.profile()));
        Ok(Slicer { coord, kept: mask })
    }

    /// Reads the text of a tuple in which `_` keeps a position.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_core::{Layout, Slicer};
    /// let slicer = Slicer::parse("((_,1),(0,_))").unwrap();
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(layout.slice(&slicer).unwrap().to_string(), "(4,3):(4,32)");
    /// let error = Slicer::parse("(_,x)").unwrap_err();
    /// assert_eq!(error.span(), (3, 4));
    /// ```
    pub const fn parse(text: &str) -> Result<Slicer, ParseError> {
        let reader = tri!(TupleReader::read(text));
        match IntTuple::built(&reader.builder) {
            Ok(coord) => Ok(Slicer { coord, kept: reader.kept }),
            Err(error) => Err(whole(text, error)),
        }
    }

    const fn keeps(&self, leaf: usize) -> bool {
        self.kept >> leaf & 1 == 1
    }
}

impl fmt::Display for Slicer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.coord.profile().write(f, |f, leaf| {
            if self.keeps(leaf) {
                f.write_str("_")
            } else {
                write!(f, "{}", self.coord.values()[leaf])
            }
        })
    }
}

crate::const_fn::debug_as_display!(Slicer);

impl core::str::FromStr for Slicer {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Slicer, ParseError> {
        Slicer::parse(text)
    }
}

/// Splits a layout by a slicer: returns the parts at `_` (or the others), and the fixed coordinate.
const fn cut(
    layout: &Layout,
    by: &Slicer,
    dice: bool,
) -> Result<(Builder, [u64; MAX_MODES]), Error> {
    let (shape, mut builder, mut digits) = (layout.shape(), Builder::new(), [0; MAX_MODES]);
    let (mut c, mut s) = (ProfileWalk::new(by.coord.profile()), ProfileWalk::new(shape.profile()));
    // A bare `_` keeps the whole layout; parts kept from a tuple form a tuple.
    let tuple = by.coord.depth() > 0 || by.keeps(0) == dice;
    if tuple {
        builder.open();
    }
    while !c.end() {
        if let Some(leaf) = c.leaf() {
            let level = s.level();
            let (from, to) = match s.node() {
                Some(range) => range,
                None => return Err(unlike(&by.coord, &shape)),
            };
            if !by.keeps(leaf) && !dice {
                tri!(unpack(by.coord.values()[leaf], &shape, from, to, &mut digits));
            }
            if by.keeps(leaf) != dice {
                let node = ProfileNode { from, to, level };
                tri!(builder.node(layout.modes(), layout.profile(), node));
            }
        } else if !((c.open() && s.open()) || (c.close() && s.close())) {
            return Err(unlike(&by.coord, &shape));
        }
    }
    if !s.end() {
        return Err(unlike(&by.coord, &shape));
    }
    if tuple {
        tri!(builder.close());
    }
    Ok((builder, digits))
}

impl Layout {
    /// Returns the parts at the `_`, with the fixed coordinates at 0; offset and swizzle are kept. A bare `_` keeps
    /// everything.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit; [out of range](Error::is_out_of_range) for a fixed
    /// coordinate outside the layout.
    ///
    /// ```
    /// use tilewright_core::{Layout, Slicer};
    /// let layout = Layout::parse("((3,2),(2,5,2)):((4,1),(2,13,100))").unwrap();
    /// let slicer = |text| Slicer::parse(text).unwrap();
    /// assert_eq!(layout.slice(&slicer("(2,_)")).unwrap().to_string(), "((2,5,2)):((2,13,100))");
    /// assert!(layout.slice(&slicer("(6,_)")).unwrap_err().is_out_of_range());
    /// ```
    pub const fn slice(&self, by: &Slicer) -> Result<Layout, Error> {
        let (builder, _) = tri!(cut(self, by, false));
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns the parts at the fixed positions, with the others at 0: the opposite of [`Layout::slice`]. Only the places of the
    /// `_` count: as in CuTe, the fixed numbers need not be coordinates.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit.
    ///
    /// ```
    /// use tilewright_core::{Layout, Slicer};
    /// let layout = Layout::parse("((3,2),(2,5,2)):((4,1),(2,13,100))").unwrap();
    /// let diced = layout.dice(&Slicer::parse("(2,_)").unwrap()).unwrap();
    /// assert_eq!(diced.to_string(), "((3,2)):((4,1))");
    /// let diced = layout.dice(&Slicer::parse("(99,_)").unwrap()).unwrap();
    /// assert_eq!(diced.to_string(), "((3,2)):((4,1))");
    /// ```
    pub const fn dice(&self, by: &Slicer) -> Result<Layout, Error> {
        let (builder, _) = tri!(cut(self, by, true));
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns the layout with some coordinates fixed: the parts at the `_`; its offset includes the fixed coordinates.
    ///
    /// # Errors
    /// Those of [`Layout::slice`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Slicer};
    /// let layout = Layout::parse("((3,2),(2,5,2)):((4,1),(2,13,100))").unwrap();
    /// let cut = layout.slice_and_offset(&Slicer::parse("((_,1),(0,_,1))").unwrap()).unwrap();
    /// assert_eq!(cut.to_string(), "(3,5):(4,13)+101");
    /// let unlike = Slicer::parse("(_,(0,_))").unwrap();
    /// assert!(layout.slice_and_offset(&unlike).is_err());
    /// ```
    pub const fn slice_and_offset(&self, by: &Slicer) -> Result<Layout, Error> {
        let (builder, digits) = tri!(cut(self, by, false));
        builder.layout(tri!(self.affine(&digits)), self.swizzle())
    }
}

impl Layout {
    /// Returns the layout from `coord` on, with the remaining extent of each part.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the brackets do not fit; [out of range](Error::is_out_of_range) for a coordinate
    /// outside the layout; [unsupported](Error::is_unsupported) if the rest is not a layout.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// let from = |text| layout.domain_offset(&IntTuple::parse(text).unwrap());
    /// assert_eq!(from("(4,4)").unwrap().to_string(), "(4,(4,2)):(4,(1,32))+48");
    /// let error = from("(0,2)").unwrap_err();
    /// assert!(error.is_unsupported() && error.to_string().contains("begins within a block"));
    /// ```
    pub const fn domain_offset(&self, coord: &IntTuple) -> Result<Layout, Error> {
        let shape = self.shape();
        let (mut builder, mut offset) = (Builder::new(), self.offset());
        let (mut c, mut s) = (ProfileWalk::new(coord.profile()), ProfileWalk::new(shape.profile()));
        while !c.end() {
            if let Some(leaf) = c.leaf() {
                let level = s.level();
                let (from, to) = match s.node() {
                    Some(range) => range,
                    None => return Err(unlike(coord, &shape)),
                };
                let part = tri!(self.part(ProfileNode { from, to, level }));
                let moved = tri!(from_index(&part, coord.values()[leaf], from));
                tri!(builder.whole(&moved));
                offset = tri!(plus(offset, moved.offset()));
            } else if c.open() && s.open() {
                builder.open();
            } else if c.close() && s.close() {
                tri!(builder.close());
            } else {
                return Err(unlike(coord, &shape));
            }
        }
        if !s.end() {
            return Err(unlike(coord, &shape));
        }
        builder.layout(offset, self.swizzle())
    }

    /// Returns a part alone, without offset and swizzle.
    const fn part(&self, node: ProfileNode) -> Result<Layout, Error> {
        let mut builder = Builder::new();
        tri!(builder.node(self.modes(), self.profile(), node));
        builder.layout(0, Swizzle::IDENTITY)
    }
}

/// Returns the part from index `x` on.
const fn from_index(part: &Layout, x: i64, leaf: usize) -> Result<Layout, Error> {
    if x < 0 || x as u64 >= part.size() {
        return Err(Error::out_of_range(
            "coordinate {} of the part from leaf {} on, which has {}",
            [x as i128, leaf as i128, part.size() as i128],
            "coordinates run from 0 to the size less one",
        ));
    }
    if x == 0 {
        return Ok(part.copied());
    }
    if part.modes().len() == 1 {
        let mode = part.modes()[0];
        let rest = [Mode::new(mode.extent() - x as u64, mode.stride())];
        // Inside the domain, I2 bounds the product.
        return Layout::new(&rest, part.profile(), x * mode.stride(), Swizzle::IDENTITY);
    }
    let rest = [Mode::new(part.size() - x as u64, 1)];
    let line = tri!(Layout::new(&rest, &Profile::LEAF, x, Swizzle::IDENTITY));
    match part.composition(&line) {
        Ok(moved) => Ok(moved),
        Err(error) if error.is_no_layout() => Err(Error::unsupported(
            "coordinate {} of the part from leaf {} on, which has {}, begins within a block: the rest is not a layout",
            [x as i128, leaf as i128, part.size() as i128],
            "begin on whole blocks, or take a `Tile`, which keeps its origin",
        )),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{format, string::ToString};

    use super::*;
    use crate::small::for_each_layout;

    #[test]
    fn the_cases_of_the_documents() {
        let layout = Layout::parse("((3,2),(2,5,2)):((4,1),(2,13,100))").unwrap();
        for (slicer, sliced) in [
            ("(2,_)", "((2,5,2)):((2,13,100))+8"),
            ("(_,5)", "((3,2)):((4,1))+28"),
            ("((_,_),5)", "(3,2):(4,1)+28"),
            ("((_,1),(0,_,1))", "(3,5):(4,13)+101"),
            ("((2,_),(_,3,_))", "(2,2,2):(1,2,100)+47"),
            ("_", "((3,2),(2,5,2)):((4,1),(2,13,100))"),
            ("(0,0)", "():()"),
            ("7", "():()+6"),
        ] {
            let by = Slicer::parse(slicer).unwrap();
            assert_eq!(layout.slice_and_offset(&by).unwrap().to_string(), sliced, "{slicer}");
            assert_eq!(
                layout.slice(&by).unwrap(),
                layout.slice_and_offset(&by).unwrap().with_offset(0).unwrap()
            );
        }
        for slicer in ["(_)", "(_,_,_)", "((_,_,_),0)", "((_),0)", "()"] {
            let by = Slicer::parse(slicer).unwrap();
            assert!(layout.slice(&by).unwrap_err().is_mismatch(), "{slicer}");
        }
    }

    #[test]
    fn a_slice_is_the_layout_at_the_fixed_coordinates() {
        for_each_layout(3, 1..=3, -1..=4, |flat| {
            if flat.rank() < 3 || flat.modes()[0].stride() < 0 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[1, 2]).unwrap();
            let swizzle = Swizzle::new(1, 0, 1).unwrap();
            let swizzled = layout.with_offset(9).unwrap().with_swizzle(swizzle).unwrap();
            for layout in [layout, swizzled] {
                for x in 0..layout.modes()[0].extent() {
                    for y in 0..layout.modes()[1].extent() {
                        for z in 0..layout.modes()[2].extent() {
                            let offset = layout
                                .crd2idx(&IntTuple::parse(&format!("({x},({y},{z}))")).unwrap());
                            let sliced = |text: &str, at: &str| {
                                let cut =
                                    layout.slice_and_offset(&Slicer::parse(text).unwrap()).unwrap();
                                cut.crd2idx(&IntTuple::parse(at).unwrap())
                            };
                            assert_eq!(
                                sliced(&format!("({x},(_,{z}))"), &format!("({y})")),
                                offset
                            );
                            assert_eq!(
                                sliced(&format!("(_,({y},_))"), &format!("({x},{z})")),
                                offset
                            );
                            assert_eq!(
                                sliced(&format!("({x},_)"), &format!("(({y},{z}))")),
                                offset
                            );
                            assert_eq!(sliced(&format!("({x},({y},{z}))"), "()"), offset);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn every_origin_of_every_small_layout() {
        let (mut moved, mut refused) = (0, 0);
        for_each_layout(3, 1..=4, -1..=5, |flat| {
            if flat.rank() < 3 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[2, 1]).unwrap().with_offset(7).unwrap();
            let (rows, columns) = (layout.axis_size(0).unwrap(), layout.axis_size(1).unwrap());
            for x in 0..rows {
                for y in [0, columns - 1] {
                    let coord = IntTuple::parse(&format!("({x},{y})")).unwrap();
                    let view = match layout.domain_offset(&coord) {
                        Ok(view) => view,
                        Err(error) => {
                            assert!(error.is_unsupported() && x % layout.modes()[0].extent() != 0);
                            refused += 1;
                            continue;
                        }
                    };
                    moved += 1;
                    assert_eq!(view.axis_size(0), Some(rows - x));
                    for i in 0..rows - x {
                        for j in 0..columns - y {
                            let whole = layout.offset_at(&[x + i, y + j]);
                            assert_eq!(view.offset_at(&[i, j]), whole, "{layout} {coord} {view}");
                        }
                    }
                }
            }
        });
        assert!(moved > 50_000 && refused > 10_000, "{moved} {refused}");
    }

    #[test]
    fn coordinates_of_other_brackets() {
        let layout = Layout::parse("Sw<1,1,3> o ((4,2),3):((1,8),16)").unwrap();
        let from = |text| layout.domain_offset(&IntTuple::parse(text).unwrap());
        assert_eq!(
            from("((1,1),2)").unwrap(),
            Layout::parse("Sw<1,1,3> o 41 o ((3,1),1):((1,8),16)").unwrap()
        );
        assert!(from("(0,0,0)").unwrap_err().is_mismatch());
        assert!(from("(8,0)").unwrap_err().is_out_of_range());
        assert!(from("(-1,0)").unwrap_err().is_out_of_range());
        assert_eq!(from("23").unwrap().size(), 1);
        assert!(from("(1,(1),1)").is_err());
    }
}
