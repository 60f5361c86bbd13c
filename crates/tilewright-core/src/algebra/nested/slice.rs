//! Fixing some coordinates of a layout: `slice`, `dice`, `slice_and_offset`.
//!
//! Laws: `slice_and_offset(s, L)(c) = L(s with c in place of its _)`, exactly, also with a swizzle. `slice` is the same
//! with the fixed coordinates at 0, and `dice` keeps the fixed positions instead. The kept parts become neighbours one level
//! up: `((_,1),(0,_,1))` keeps two axes.
//!
//! Source: CUTLASS `include/cute/underscore.hpp`, `layout.hpp`.

use core::fmt;

use crate::algebra::{
    nested::build::Builder,
    nested::coordinates::{unlike, unpack},
    nested::tuple_text::{TupleReader, whole},
    nested::walk::{ProfileNode, ProfileWalk},
};
use crate::{Error, IntTuple, Layout, MAX_MODES, ParseError, macros::tri};

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

crate::macros::debug_as_display!(Slicer);

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use std::{format, string::ToString};

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
            let swizzle = crate::Swizzle::new(1, 0, 1).unwrap();
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
}
