//! `domain_offset`: a layout with a moved origin.
//!
//! Law: `domain_offset(L, x)(c) = L(x + c)` for every c with x + c inside L; the extents shrink by x. The sum is taken
//! where x has its integers: an integer in place of a whole axis is added to the axis's index.
//!
//! Defined iff that map is a layout. A nested layout is not translation-invariant: from the middle of a block, the next
//! block begins after fewer steps than the following ones. [`Tile`](crate::Tile) is the view that keeps its origin instead.
//!
//! Source: CUTLASS `include/cute/layout.hpp`, whose result keeps the shape and reads beyond its end.

use crate::algebra::{
    nested::build::Builder,
    nested::coordinates::unlike,
    nested::walk::{ProfileNode, ProfileWalk},
    tiling::divide::plus,
};
use crate::{Error, IntTuple, Layout, Mode, Profile, Swizzle, macros::tri};

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
    use super::*;
    use crate::small::for_each_layout;
    use std::format;

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
