//! Changes of a layout's structure: parts taken out, inserted or grouped. Nothing is coalesced here.
//!
//! Laws, for every coordinate: `flatten` and `group` keep L(i) for every index i; `get`, `take` and `select` are L with the
//! other positions at 0; `append`, `prepend` and `replace` add the offsets of the new mode to those of L, before L's
//! swizzle; `from_layouts(L0, L1, …)(c0, c1, …) = Σ Li(ci)`; `filter_zeros` reaches the same offsets, with every mode of
//! stride 0 reduced to one coordinate, and `filter` is its coalesced form.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::{
    Error, Layout, MAX_MODES, Mode, Swizzle,
    algebra::{
        nested::walk::{Builder, ProfileNode},
        tiling::divide::plus,
    },
    const_fn::tri,
};

impl Layout {
    /// Returns the same map without inner brackets; a bare leaf is unchanged.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("((4,3),1):((3,1),0)").unwrap();
    /// assert_eq!(layout.flatten().to_string(), "(4,3,1):(3,1,0)");
    /// ```
    pub const fn flatten(&self) -> Layout {
        if self.depth() < 2 {
            return self.copied();
        }
        let mut builder = Builder::new();
        builder.open();
        let mut i = 0;
        while i < self.modes().len() {
            // A layout's leaves fit a flat layout, so neither call can fail.
            if builder.leaf(self.modes()[i]).is_err() {
                return self.copied();
            }
            i += 1;
        }
        match (builder.close(), builder.layout(self.offset(), self.swizzle())) {
            (Ok(()), Ok(flat)) => flat,
            _ => self.copied(),
        }
    }

    /// Returns the part at a path of positions, with all others at 0; offset and swizzle are kept.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) past a part's rank.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(layout.get(&[1]).unwrap().to_string(), "(4,3):(1,32)");
    /// assert_eq!(layout.get(&[1, 1]).unwrap().to_string(), "3:32");
    /// assert!(layout.get(&[2]).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "layout")]
    pub const fn get(&self, path: &[usize]) -> Result<Layout, Error> {
        let node = tri!(ProfileNode::at(self.profile(), path));
        let mut builder = Builder::new();
        tri!(builder.node(self.modes(), self.profile(), node));
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns the given axes in the given order, with all others at 0; offset and swizzle are kept.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) past the last axis; [illegal](Error::is_illegal) for an axis named twice.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,(5,7)):(1,2,(6,30))").unwrap();
    /// assert_eq!(layout.select(&[2, 0]).unwrap().to_string(), "((5,7),2):((6,30),1)");
    /// assert!(layout.select(&[0, 0]).unwrap_err().is_illegal());
    /// ```
    pub const fn select(&self, axes: &[usize]) -> Result<Layout, Error> {
        let (mut builder, mut seen, mut i) = (Builder::new(), [false; MAX_MODES], 0);
        builder.open();
        while i < axes.len() {
            let node = tri!(ProfileNode::at(self.profile(), axes.split_at(i + 1).0.split_at(i).1));
            if seen[axes[i]] {
                return Err(Error::illegal(
                    "axis {} named twice, the second time at position {}",
                    [axes[i] as i128, i as i128],
                    "name each axis once at most",
                ));
            }
            seen[axes[i]] = true;
            tri!(builder.node(self.modes(), self.profile(), node));
            i += 1;
        }
        tri!(builder.close());
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns the axes `from..to`, with all others at 0; offset and swizzle are kept.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) unless `from ≤ to ≤ rank`.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,5):(1,2,6)").unwrap();
    /// assert_eq!(layout.take(1, 3).unwrap().to_string(), "(3,5):(2,6)");
    /// assert!(layout.take(1, 4).unwrap_err().is_out_of_range());
    /// ```
    pub const fn take(&self, from: usize, to: usize) -> Result<Layout, Error> {
        tri!(check_range(self, from, to));
        let (mut axes, mut i) = ([0; MAX_MODES], from);
        while i < to {
            axes[i - from] = i;
            i += 1;
        }
        self.select(axes.split_at(to - from).0)
    }

    /// Returns the same map with the axes `from..to` in one bracket.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) unless `from < to ≤ rank`; [limit](Error::is_limit) if the nesting becomes
    /// deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,5,7):(1,2,6,30)").unwrap();
    /// assert_eq!(layout.group(1, 3).unwrap().to_string(), "(2,(3,5),7):(1,(2,6),30)");
    /// assert!(layout.group(2, 2).unwrap_err().is_out_of_range());
    /// ```
    pub const fn group(&self, from: usize, to: usize) -> Result<Layout, Error> {
        tri!(check_range(self, from, to));
        if from == to {
            return Err(Error::out_of_range(
                "axes {} to {} to group: none",
                [from as i128, to as i128],
                "group at least one axis",
            ));
        }
        let (root, mut builder, mut i) = (ProfileNode::root(self.profile()), Builder::new(), 0);
        builder.open();
        while let Some(node) = root.child(self.profile(), i) {
            if i == from {
                builder.open();
            }
            tri!(builder.node(self.modes(), self.profile(), node));
            i += 1;
            if i == to {
                tri!(builder.close());
            }
        }
        tri!(builder.close());
        builder.layout(self.offset(), self.swizzle())
    }

    /// Returns this layout with the whole of `mode` as one more axis after the others.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if `mode` has a swizzle; [illegal](Error::is_illegal) if it has rank 0;
    /// otherwise those of [`Layout::new`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(8,4):(1,8)").append(&parse("2:32")).unwrap().to_string(), "(8,4,2):(1,8,32)");
    /// let swizzled = parse("Sw<1,0,1> o 4:1");
    /// assert!(parse("2:4").append(&swizzled).unwrap_err().is_unsupported());
    /// ```
    pub const fn append(&self, mode: &Layout) -> Result<Layout, Error> {
        let mut builder = Builder::new();
        builder.open();
        tri!(builder.parts(self));
        tri!(builder.whole(mode));
        tri!(builder.close());
        below(self, mode, &builder)
    }

    /// Returns this layout with the whole of `mode` as one more axis before the others.
    ///
    /// # Errors
    /// Those of [`Layout::append`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(8,4):(1,8)").prepend(&parse("2:32")).unwrap().to_string(), "(2,8,4):(32,1,8)");
    /// assert!(parse("4:1").prepend(&parse("()")).unwrap_err().is_illegal());
    /// ```
    pub const fn prepend(&self, mode: &Layout) -> Result<Layout, Error> {
        let mut builder = Builder::new();
        builder.open();
        tri!(builder.whole(mode));
        tri!(builder.parts(self));
        tri!(builder.close());
        below(self, mode, &builder)
    }

    /// Returns this layout with `mode` in place of axis `axis`.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) past the last axis; otherwise those of [`Layout::append`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let layout = parse("(8,4):(1,8)").replace(0, &parse("(2,4):(4,1)")).unwrap();
    /// assert_eq!(layout.to_string(), "((2,4),4):((4,1),8)");
    /// assert!(layout.replace(2, &parse("4:1")).unwrap_err().is_out_of_range());
    /// ```
    pub const fn replace(&self, axis: usize, mode: &Layout) -> Result<Layout, Error> {
        tri!(ProfileNode::at(self.profile(), &[axis]));
        let (root, mut builder, mut i) = (ProfileNode::root(self.profile()), Builder::new(), 0);
        let bare = self.depth() == 0;
        if !bare {
            builder.open();
        }
        while let Some(node) = root.child(self.profile(), i) {
            if i == axis {
                tri!(builder.whole(mode));
            } else {
                tri!(builder.node(self.modes(), self.profile(), node));
            }
            i += 1;
        }
        if !bare {
            tri!(builder.close());
        }
        below(self, mode, &builder)
    }

    /// Concatenates layouts, each as one axis of the result: CuTe's `make_layout(L0, L1, …)`.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if one has a swizzle (the sum of swizzled offsets is not a swizzled sum);
    /// [illegal](Error::is_illegal) if one has rank 0; otherwise those of [`Layout::new`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (a, b) = (parse("(2,2):(1,4)"), parse("3:2"));
    /// assert_eq!(Layout::from_layouts(&[&a, &b]).unwrap().to_string(), "((2,2),3):((1,4),2)");
    /// assert!(Layout::from_layouts(&[&a, &parse("()")]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "make_layout")]
    pub const fn from_layouts(layouts: &[&Layout]) -> Result<Layout, Error> {
        let (mut builder, mut offset, mut i) = (Builder::new(), 0i64, 0);
        builder.open();
        while i < layouts.len() {
            tri!(check_affine(layouts[i]));
            tri!(builder.whole(layouts[i]));
            offset = tri!(plus(offset, layouts[i].offset()));
            i += 1;
        }
        tri!(builder.close());
        builder.layout(offset, Swizzle::IDENTITY)
    }

    /// Returns the layout with every mode of stride 0 reduced to `1:0`; a mode of extent 0 is kept.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,4,5):(0,42,1,0)").unwrap();
    /// assert_eq!(layout.filter_zeros().unwrap().to_string(), "(1,3,4,1):(0,42,1,0)");
    /// ```
    ///
    /// # Errors
    /// A legal layout causes none.
    pub const fn filter_zeros(&self) -> Result<Layout, Error> {
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < self.modes().len() {
            let mode = self.modes()[i];
            let shrinks = mode.stride() == 0 && mode.extent() > 0;
            modes[i] = if shrinks { Mode::new(1, 0) } else { mode };
            i += 1;
        }
        Layout::new(modes.split_at(i).0, self.profile(), self.offset(), self.swizzle())
    }

    /// Returns [`Layout::filter_zeros`], coalesced: the same offsets, without the repetitions by stride 0.
    ///
    /// # Errors
    /// A legal layout causes none.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(2,3,4,5):(0,42,1,0)").unwrap();
    /// assert_eq!(layout.filter().unwrap().to_string(), "(3,4):(42,1)");
    /// ```
    pub const fn filter(&self) -> Result<Layout, Error> {
        Ok(tri!(self.filter_zeros()).coalesce())
    }
}

/// Returns the built layout with the sum of both offsets and the swizzle of `base`.
const fn below(base: &Layout, mode: &Layout, builder: &Builder) -> Result<Layout, Error> {
    tri!(check_affine(mode));
    builder.layout(tri!(plus(base.offset(), mode.offset())), base.swizzle())
}

const fn check_affine(mode: &Layout) -> Result<(), Error> {
    if mode.swizzle().is_identity() {
        return Ok(());
    }
    let swizzle = mode.swizzle();
    Err(Error::unsupported(
        "a part under a swizzle of {} bits above the lowest {}: the sum of swizzled offsets is not a swizzled sum",
        swizzle.numbers(),
        "join the affine layouts, then set the swizzle on the whole",
    ))
}

const fn check_range(layout: &Layout, from: usize, to: usize) -> Result<(), Error> {
    if from <= to && to <= layout.rank() {
        return Ok(());
    }
    Err(Error::out_of_range(
        "axes {} to {} of a layout of rank {}",
        [from as i128, to as i128, layout.rank() as i128],
        "from ≤ to ≤ rank",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        IntTuple,
        small::{for_each_layout, image},
    };
    use std::{collections::BTreeSet, string::ToString, vec::Vec};

    fn at(layout: &Layout, coord: &[u64]) -> i64 {
        layout.offset_at(coord).unwrap()
    }

    #[test]
    fn parts_add_up() {
        for_each_layout(3, 1..=3, -1..=4, |layout| {
            let layout = layout.with_offset(5).unwrap();
            let parts: Vec<Layout> = (0..layout.rank())
                .map(|axis| layout.get(&[axis]).unwrap().with_offset(0).unwrap())
                .collect();
            let whole = Layout::from_layouts(&parts.iter().collect::<Vec<_>>()).unwrap();
            assert_eq!(whole.with_offset(5).unwrap(), layout);
            let last = &parts[layout.rank() - 1];
            let axes: Vec<usize> = (0..layout.rank()).collect();
            let front = layout.take(0, layout.rank() - 1).unwrap();
            if layout.rank() > 1 {
                assert_eq!(front.append(last).unwrap(), layout);
                assert_eq!(
                    layout.take(1, layout.rank()).unwrap().prepend(&parts[0]).unwrap(),
                    layout
                );
            }
            assert_eq!(layout.select(&axes).unwrap(), layout);
            assert_eq!(layout.replace(0, &parts[0]).unwrap(), layout);
            for from in 0..layout.rank() {
                for to in from + 1..=layout.rank() {
                    let grouped = layout.group(from, to).unwrap();
                    assert_eq!(image(&grouped), image(&layout));
                    assert_eq!(grouped.rank(), layout.rank() + 1 - (to - from));
                    assert_eq!(grouped.flatten(), layout);
                }
            }
        });
    }

    #[test]
    fn filtering_keeps_the_set_of_offsets() {
        for_each_layout(3, 0..=3, -2..=4, |layout| {
            let set = |layout: &Layout| image(layout).into_iter().collect::<BTreeSet<_>>();
            let zeros = layout.filter_zeros().unwrap();
            assert!(zeros.profile().same(layout.profile()));
            let filtered = layout.filter().unwrap();
            assert_eq!((set(&zeros), set(&filtered)), (set(layout), set(layout)), "{layout}");
            assert_eq!(image(&filtered), image(&zeros), "{layout}");
            assert!(
                filtered.size() == 0
                    || filtered.modes().iter().all(|mode| mode.extent() > 1 && mode.stride() != 0)
                    || filtered.to_string() == "1:0"
            );
        });
    }

    #[test]
    fn under_a_swizzle() {
        let parse = |text| Layout::parse(text).unwrap();
        let base = parse("Sw<1,1,1> o 4 o (4,2):(1,4)");
        let grown = base.append(&parse("2:8")).unwrap();
        assert_eq!(grown.to_string(), "Sw<1,1,1> o 4 o (4,2,2):(1,4,8)");
        for i in 0..8 {
            let coord = [i % 4, i / 4];
            assert_eq!(at(&grown, &[coord[0], coord[1], 0]), at(&base, &coord));
        }
        assert_eq!(base.get(&[0]).unwrap().to_string(), "Sw<1,1,1> o 4 o 4:1");
        assert!(Layout::from_layouts(&[&base]).unwrap_err().is_unsupported());
        assert!(parse("2:9223372036854775806").append(&parse("2:3")).unwrap_err().is_overflow());
        assert_eq!(base.get(&[1]).unwrap().crd2idx(&IntTuple::integer(1)), Ok(at(&base, &[0, 1])));
    }
}
