//! Composition with a basis layout: `R(c) = A(B(c))`, where B's strides select the modes of A.
//!
//! A's offset is the sum of its modes' offsets, so each mode of B is composed with the one part of A that it moves
//! along. A mode that moves along several parts is refused.

use super::{BasisLayout, MAX_BASES};
use crate::{
    Error, Layout, MAX_DEPTH, MAX_MODES, Mode, Profile, Swizzle, algebra::nested::walk::Builder,
    macros::tri,
};

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
    use super::*;
    use crate::{IntTuple, small::for_each_layout};
    use std::{format, string::ToString, vec::Vec};

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
