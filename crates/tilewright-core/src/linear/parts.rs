//! Linear layouts made of others: some of the dims, layouts joined from parts, other dims for the same bits (reshapes, transposes
//! and renames), compositions, products and quotients.
//!
//! Laws:
//! - The sublayouts of all pairs of dims, joined again, are the map.
//! - As a map of indices (the first dim lowest) a reshaped map is unchanged; a transposed map is unchanged as a map of named
//!   coordinates.
//! - `A.compose(B)(x) = B(A(x))`. In `A.product(B)` the low bits of every dim are A's and the high bits B's:
//!   `(A·B)(x + |A|·y) = A(x) + |A|·B(y)`, dim by dim.
//! - `A.divide_left(B)` is the C with `A = B·C`, and `A.divide_right(B)` is the C with `A = C·B`, up to dims of size 1, which C
//!   keeps.

use crate::{
    Error,
    const_fn::tri,
    linear::{Dims, LinearLayout, MAX_BITS, bits_of_size},
};

impl LinearLayout {
    /// Returns the map from the named input dims to the named output dims, with the other inputs at 0 and the other
    /// outputs dropped. Dims keep their order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the map lacks a named dim.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,0],[2,1]],b=[[0,2]]} -> (x:4,y:4)").unwrap();
    /// assert_eq!(layout.sublayout(&["a"], &["y"]).unwrap().to_string(), "{a=[0,1]} -> (y:4)");
    /// assert!(layout.sublayout(&["c"], &["y"]).unwrap_err().is_mismatch());
    /// ```
    pub const fn sublayout(&self, ins: &[&str], outs: &[&str]) -> Result<LinearLayout, Error> {
        let onto = self.onto(tri!(chosen(&self.outs, outs)));
        let ins = tri!(chosen(&self.ins, ins));
        let (mut all, mut dim, mut to) =
            (LinearLayout { ins, outs: onto.outs, bases: [0; MAX_BITS] }, 0, 0);
        while dim < ins.len() {
            let mut bit = 0;
            while bit < ins.as_slice()[dim].bits() {
                all.bases[to] = onto.column(ins.as_slice()[dim].name(), bit);
                (bit, to) = (bit + 1, to + 1);
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Returns whether the map sends everything to 0. For a [`LinearLayout::sublayout`], this means that its outputs do
    /// not depend on its inputs.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,0]],b=[[0,2]]} -> (x:2,y:4)").unwrap();
    /// assert!(layout.sublayout(&["a"], &["y"]).unwrap().is_zero());
    /// assert!(!layout.is_zero());
    /// ```
    #[doc(alias = "sublayoutIsZero")]
    pub const fn is_zero(&self) -> bool {
        let mut bit = 0;
        while bit < self.ins.bits() && self.bases[bit] == 0 {
            bit += 1;
        }
        bit == self.ins.bits()
    }

    /// Returns whether the named dims are sent to themselves, unmixed with any other dim. The map of the other dims then
    /// is a [`LinearLayout::quotient`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[2,0],[1,0]],b=[[0,1],[0,2]]} -> (a:4,b:4)").unwrap();
    /// assert!(layout.is_trivial_over(&["b"]));
    /// assert!(!layout.is_trivial_over(&["a"]) && !layout.is_trivial_over(&["c"]));
    /// ```
    #[doc(alias = "isTrivialOver")]
    pub const fn is_trivial_over(&self, names: &[&str]) -> bool {
        self.quotient(names).is_ok()
    }

    /// Returns the map with another size of an input dim: dropped bits are removed, new bits are sent to 0.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if there is no such dim; [illegal](Error::is_illegal) for a size that is not a power
    /// of two; [overflow](Error::is_overflow) beyond 62 bits.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[1,2],b=[4]} -> (x:8)").unwrap();
    /// assert_eq!(layout.resize_in("a", 2).unwrap().to_string(), "{a=[1],b=[4]} -> (x:8)");
    /// assert_eq!(layout.resize_in("a", 8).unwrap().to_string(), "{a=[1,2,0],b=[4]} -> (x:8)");
    /// assert!(layout.resize_in("c", 8).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "resizeInDim")]
    pub const fn resize_in(&self, input: &str, size: u64) -> Result<LinearLayout, Error> {
        let at = tri!(self.ins.need(input));
        let bits = tri!(bits_of_size(size));
        let (mut all, mut dim) =
            (LinearLayout { ins: Dims::NONE, outs: self.outs, bases: [0; MAX_BITS] }, 0);
        while dim < self.ins.len() {
            let (own, first) = (self.ins.as_slice()[dim], self.ins.before(dim));
            let count = if dim == at { bits } else { own.bits() };
            let (from, mut bit) = (all.ins.bits(), 0);
            tri!(all.ins.push(own.name(), count));
            while bit < count && bit < own.bits() {
                all.bases[from + bit] = self.bases[first + bit];
                bit += 1;
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Appends the input dims of another map into the same output dims: the images of both are xored.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless the output dims are equal; [illegal](Error::is_illegal) for an input dim
    /// that both have; [overflow](Error::is_overflow) and [limit](Error::is_limit) beyond 62 bits or 16 dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let both = parse("{a=[1]} -> (x:4)").concat_ins(&parse("{b=[3]} -> (x:4)")).unwrap();
    /// assert_eq!(both.to_string(), "{a=[1],b=[3]} -> (x:4)");
    /// assert!(both.concat_ins(&parse("{c=[1]} -> (x:2)")).unwrap_err().is_mismatch());
    /// ```
    pub fn concat_ins(&self, other: &LinearLayout) -> Result<LinearLayout, Error> {
        if self.outs != other.outs {
            return Err(Error::mismatch(
                "{} output dims and {} that are not the same",
                [self.outs.len() as i128, other.outs.len() as i128],
                "names, order and sizes must be equal",
            ));
        }
        let (mut all, from) = (self.copied(), self.ins.bits());
        for dim in other.ins() {
            all.ins.push(dim.name(), dim.bits())?;
        }
        all.bases[from..all.ins.bits()].copy_from_slice(other.columns());
        Ok(all)
    }

    /// Appends the output dims of another map of the same input dims.
    ///
    /// # Errors
    /// Those of [`LinearLayout::concat_ins`], with input and output exchanged.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let both = parse("{a=[1,0]} -> (x:2)").concat_outs(&parse("{a=[2,1]} -> (y:4)")).unwrap();
    /// assert_eq!(both.to_string(), "{a=[[1,2],[0,1]]} -> (x:2,y:4)");
    /// assert!(both.concat_outs(&parse("{a=[1]} -> (z:2)")).unwrap_err().is_mismatch());
    /// ```
    pub fn concat_outs(&self, other: &LinearLayout) -> Result<LinearLayout, Error> {
        if self.ins != other.ins {
            return Err(Error::mismatch(
                "{} input dims and {} that are not the same",
                [self.ins.len() as i128, other.ins.len() as i128],
                "names, order and sizes must be equal",
            ));
        }
        let (mut all, from) = (self.copied(), self.outs.bits());
        for dim in other.outs() {
            all.outs.push(dim.name(), dim.bits())?;
        }
        for (basis, behind) in all.bases.iter_mut().zip(other.columns()) {
            *basis |= behind << from;
        }
        Ok(all)
    }

    /// Returns the map without the bits of an input dim that are sent to 0.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if there is no such dim.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{register=[0,1,0],lane=[0]} -> (x:2)").unwrap();
    /// let less = layout.remove_zeros("register").unwrap();
    /// assert_eq!(less.to_string(), "{register=[1],lane=[0]} -> (x:2)");
    /// assert!(layout.remove_zeros("x").unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "removeZeroBasesAlongDim")]
    pub fn remove_zeros(&self, input: &str) -> Result<LinearLayout, Error> {
        let at = self.ins.need(input)?;
        let mut all = LinearLayout { outs: self.outs, ..LinearLayout::EMPTY };
        let mut to = 0;
        for (i, dim) in self.ins().iter().enumerate() {
            let first = self.ins.before(i);
            let bases = self.bases[first..first + dim.bits()].iter();
            let from = to;
            for &basis in bases.filter(|&&basis| i != at || basis != 0) {
                all.bases[to] = basis;
                to += 1;
            }
            all.ins.push(dim.name(), to - from)?;
        }
        Ok(all)
    }

    /// Returns the map without the named dims, each of which must be sent to itself, unmixed with any other dim.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a dim is missing or the map is not the identity in it.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{lane=[[2,0],[1,0]],block=[[0,1]]} -> (lane:4,block:2)").unwrap();
    /// assert_eq!(layout.quotient(&["block"]).unwrap().to_string(), "{lane=[2,1]} -> (lane:4)");
    /// assert!(layout.quotient(&["lane"]).unwrap_err().is_mismatch());
    /// ```
    pub const fn quotient(&self, names: &[&str]) -> Result<LinearLayout, Error> {
        let mut i = 0;
        while i < names.len() {
            let (from, to) = (tri!(self.ins.need(names[i])), tri!(self.outs.need(names[i])));
            if !self.is_trivial(from, to) {
                return Err(Error::mismatch(
                    "the map is not the identity from input dim {} to output dim {}",
                    [from as i128, to as i128],
                    "a dim can be left out only if it maps to itself and nothing else maps to it",
                ));
            }
            i += 1;
        }
        let (ins, outs) = (tri!(without(&self.ins, names)), tri!(without(&self.outs, names)));
        let mut all = LinearLayout { ins, outs, bases: [0; MAX_BITS] };
        let (mut dim, mut to) = (0, 0);
        while dim < ins.len() {
            let mut bit = 0;
            while bit < ins.as_slice()[dim].bits() {
                let basis = self.column(ins.as_slice()[dim].name(), bit);
                all.bases[to] = carried(basis, &self.outs, &outs, &Dims::NONE);
                (bit, to) = (bit + 1, to + 1);
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Returns whether input dim `from` is sent to output dim `to` unchanged, and nothing else is.
    const fn is_trivial(&self, from: usize, to: usize) -> bool {
        let (first, bits) = (self.ins.before(from), self.ins()[from].bits());
        let (low, mut bit) = (self.outs.before(to), 0);
        while bit < self.ins.bits() {
            let inside = bit >= first && bit < first + bits;
            let fits = if inside {
                self.bases[bit] == 1 << (low + bit - first)
            } else {
                self.outs.cut(self.bases[bit], to) == 0
            };
            if !fits {
                return false;
            }
            bit += 1;
        }
        bits == self.outs()[to].bits()
    }
}

/// Returns the named dims, in their own order.
const fn chosen(from: &Dims, names: &[&str]) -> Result<Dims, Error> {
    let mut i = 0;
    while i < names.len() {
        tri!(from.need(names[i]));
        i += 1;
    }
    select(from, names, true)
}

const fn without(from: &Dims, names: &[&str]) -> Result<Dims, Error> {
    select(from, names, false)
}

/// Returns the dims that are among `names`, or with `named` false those that are not.
const fn select(from: &Dims, names: &[&str], named: bool) -> Result<Dims, Error> {
    let (mut all, mut i) = (Dims::NONE, 0);
    while i < from.len() {
        let dim = &from.as_slice()[i];
        let (mut among, mut j) = (false, 0);
        while j < names.len() {
            among = among || dim.is(names[j]);
            j += 1;
        }
        if among == named {
            tri!(all.push(dim.name(), dim.bits()));
        }
        i += 1;
    }
    Ok(all)
}

impl LinearLayout {
    /// Returns the same map of indices with other input dims of the same total size.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the product of the sizes differs; [illegal](Error::is_illegal) for sizes that are
    /// not powers of two, and for malformed names.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{in1=[1,4,8],in2=[2]} -> (out:16)").unwrap();
    /// let other = layout.reshape_ins(&[("in3", 2), ("in4", 8)]).unwrap();
    /// assert_eq!(other.to_string(), "{in3=[1],in4=[4,8,2]} -> (out:16)");
    /// assert!(layout.reshape_ins(&[("in3", 2)]).unwrap_err().is_mismatch());
    /// ```
    pub const fn reshape_ins(&self, dims: &[(&str, u64)]) -> Result<LinearLayout, Error> {
        Ok(LinearLayout { ins: tri!(reshaped(&self.ins, dims)), ..self.copied() })
    }

    /// Returns the same map of indices with other output dims of the same total size.
    ///
    /// # Errors
    /// Those of [`LinearLayout::reshape_ins`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{in1=[1,4,8],in2=[3]} -> (out:16)").unwrap();
    /// let other = layout.reshape_outs(&[("out2", 2), ("out3", 8)]).unwrap();
    /// assert_eq!(other.to_string(), "{in1=[[1,0],[0,2],[0,4]],in2=[[1,1]]} -> (out2:2,out3:8)");
    /// assert!(layout.reshape_outs(&[("out2", 3)]).unwrap_err().is_illegal());
    /// ```
    pub const fn reshape_outs(&self, dims: &[(&str, u64)]) -> Result<LinearLayout, Error> {
        Ok(LinearLayout { outs: tri!(reshaped(&self.outs, dims)), ..self.copied() })
    }

    /// Joins all input dims into one with the name of the first. A map without input dims is unchanged.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{in1=[1,4],in2=[2]} -> (out:8)").unwrap();
    /// assert_eq!(layout.flatten_ins().to_string(), "{in1=[1,4,2]} -> (out:8)");
    /// ```
    pub const fn flatten_ins(&self) -> LinearLayout {
        LinearLayout { ins: flattened(&self.ins), ..self.copied() }
    }

    /// Joins all output dims into one with the name of the first. A map without output dims is unchanged.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,0],[2,1]]} -> (x:4,y:2)").unwrap();
    /// assert_eq!(layout.flatten_outs().to_string(), "{a=[1,6]} -> (x:8)");
    /// ```
    pub const fn flatten_outs(&self) -> LinearLayout {
        LinearLayout { outs: flattened(&self.outs), ..self.copied() }
    }

    /// Returns the map with its input dims in another order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless each dim is named once.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[1],b=[2,4]} -> (x:8)").unwrap();
    /// assert_eq!(layout.transpose_ins(&["b", "a"]).unwrap().to_string(), "{b=[2,4],a=[1]} -> (x:8)");
    /// assert!(layout.transpose_ins(&["b", "b"]).is_err());
    /// ```
    pub const fn transpose_ins(&self, names: &[&str]) -> Result<LinearLayout, Error> {
        let ins = tri!(ordered(&self.ins, names));
        let (mut all, mut dim, mut to) = (LinearLayout { ins, ..self.copied() }, 0, 0);
        while dim < ins.len() {
            let mut bit = 0;
            while bit < ins.as_slice()[dim].bits() {
                all.bases[to] = self.column(ins.as_slice()[dim].name(), bit);
                (bit, to) = (bit + 1, to + 1);
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Returns the map with its output dims in another order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless each dim is named once.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[[1,0],[0,2]]} -> (x:2,y:4)").unwrap();
    /// let other = layout.transpose_outs(&["y", "x"]).unwrap();
    /// assert_eq!(other.to_string(), "{a=[[0,1],[2,0]]} -> (y:4,x:2)");
    /// assert!(layout.transpose_outs(&["y"]).unwrap_err().is_mismatch());
    /// ```
    pub const fn transpose_outs(&self, names: &[&str]) -> Result<LinearLayout, Error> {
        Ok(self.onto(tri!(ordered(&self.outs, names))))
    }

    /// Returns the map into `outs`, some or all of the output dims in any order.
    const fn onto(&self, outs: Dims) -> LinearLayout {
        let (mut all, mut bit) = (LinearLayout { outs, ..self.copied() }, 0);
        while bit < self.ins.bits() {
            all.bases[bit] = carried(self.bases[bit], &self.outs, &outs, &Dims::NONE);
            bit += 1;
        }
        all
    }

    /// Returns the map with other names for its input dims, in order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless there is a name for each dim; [illegal](Error::is_illegal) for a malformed
    /// or repeated name.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[1],b=[2]} -> (x:4)").unwrap();
    /// assert_eq!(layout.rename_ins(&["lane", "a"]).unwrap().to_string(), "{lane=[1],a=[2]} -> (x:4)");
    /// assert!(layout.rename_ins(&["lane"]).unwrap_err().is_mismatch());
    /// ```
    pub const fn rename_ins(&self, names: &[&str]) -> Result<LinearLayout, Error> {
        Ok(LinearLayout { ins: tri!(renamed(&self.ins, names)), ..self.copied() })
    }

    /// Returns the map with other names for its output dims, in order.
    ///
    /// # Errors
    /// Those of [`LinearLayout::rename_ins`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let layout = LinearLayout::parse("{a=[1],b=[2]} -> (x:4)").unwrap();
    /// assert_eq!(layout.rename_outs(&["row"]).unwrap().to_string(), "{a=[1],b=[2]} -> (row:4)");
    /// assert!(layout.rename_outs(&["1"]).unwrap_err().is_illegal());
    /// ```
    pub const fn rename_outs(&self, names: &[&str]) -> Result<LinearLayout, Error> {
        Ok(LinearLayout { outs: tri!(renamed(&self.outs, names)), ..self.copied() })
    }
}

const fn reshaped(from: &Dims, dims: &[(&str, u64)]) -> Result<Dims, Error> {
    let (mut all, mut i) = (Dims::NONE, 0);
    while i < dims.len() {
        tri!(all.push(dims[i].0, tri!(bits_of_size(dims[i].1))));
        i += 1;
    }
    if all.bits() != from.bits() {
        return Err(Error::mismatch(
            "dims of {} coordinates in all for {}",
            [1 << all.bits(), 1 << from.bits()],
            "a reshape keeps their number",
        ));
    }
    Ok(all)
}

const fn flattened(from: &Dims) -> Dims {
    let mut all = Dims::NONE;
    if from.len() == 0 || all.push(from.as_slice()[0].name(), from.bits()).is_err() {
        return *from;
    }
    all
}

/// Returns all dims, in the order of `names`.
const fn ordered(from: &Dims, names: &[&str]) -> Result<Dims, Error> {
    let (mut all, mut i) = (Dims::NONE, 0);
    while i < names.len() {
        let at = tri!(from.need(names[i]));
        tri!(all.push(names[i], from.as_slice()[at].bits()));
        i += 1;
    }
    if all.len() != from.len() {
        return Err(Error::mismatch(
            "an order of {} dims for {}",
            [all.len() as i128, from.len() as i128],
            "name each dim once",
        ));
    }
    Ok(all)
}

const fn renamed(from: &Dims, names: &[&str]) -> Result<Dims, Error> {
    if names.len() != from.len() {
        return Err(Error::mismatch(
            "{} names for {} dims",
            [names.len() as i128, from.len() as i128],
            "give one per dim",
        ));
    }
    let (mut all, mut i) = (Dims::NONE, 0);
    while i < names.len() {
        tri!(all.push(names[i], from.as_slice()[i].bits()));
        i += 1;
    }
    Ok(all)
}

// Composition, product and division.

impl LinearLayout {
    /// Returns this map followed by `outer`, whose input dims are this map's output dims in any order.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the names differ, or if an output dim is larger than the corresponding input
    /// dim.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let first = parse("{in1=[[1,1],[0,1]],in2=[[1,0],[1,2]]} -> (out1:2,out2:4)");
    /// let then = parse("{out1=[[2,2],[1,0]],out2=[[1,1],[2,1]]} -> (out3:4,out4:4)");
    /// assert_eq!(
    ///     first.compose(&then).unwrap().to_string(),
    ///     "{in1=[[3,3],[1,1]],in2=[[2,2],[0,3]]} -> (out3:4,out4:4)",
    /// );
    /// assert!(then.compose(&first).unwrap_err().is_mismatch());
    /// ```
    pub const fn compose(&self, outer: &LinearLayout) -> Result<LinearLayout, Error> {
        tri!(self.check_meets(&outer.ins));
        let mut i = 0;
        while i < self.outs.len() {
            let (ours, theirs) = (&self.outs()[i], outer.ins.bits_of(self.outs()[i].name()));
            if ours.bits() > theirs {
                return Err(Error::mismatch(
                    "output dim {} of size {} goes into an input dim of size {}",
                    [i as i128, ours.size() as i128, 1 << theirs],
                    "the outer map must take all its coordinates",
                ));
            }
            i += 1;
        }
        let mut all = LinearLayout { ins: self.ins, outs: outer.outs, bases: [0; MAX_BITS] };
        let mut bit = 0;
        while bit < self.ins.bits() {
            all.bases[bit] =
                outer.image(carried(self.bases[bit], &self.outs, &outer.ins, &Dims::NONE));
            bit += 1;
        }
        Ok(all)
    }

    /// Refuses unless the output dims are `dims` in some order.
    pub(super) const fn check_meets(&self, dims: &Dims) -> Result<(), Error> {
        if self.outs.same_names(dims) {
            return Ok(());
        }
        Err(Error::mismatch(
            "{} output dims meet {} dims of other names",
            [self.outs.len() as i128, dims.len() as i128],
            "the names must be the same, in any order",
        ))
    }

    /// Combines both maps: in every dim, this map has the low bits and `outer` the high bits.
    ///
    /// Dims that both maps have must be in the same order in both; otherwise those of this map come first.
    /// [`LinearLayout::EMPTY`] is neutral.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if no order of the dims agrees with both; [overflow](Error::is_overflow) and
    /// [limit](Error::is_limit) beyond 62 bits or 16 dims.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let identity = |size, a, b| LinearLayout::identity(size, a, b).unwrap();
    /// let tile = identity(4, "lane", "column").product(&identity(2, "lane", "row")).unwrap();
    /// assert_eq!(tile.to_string(), "{lane=[[1,0],[2,0],[0,1]]} -> (column:4,row:2)");
    /// let other = identity(2, "lane", "row").product(&identity(2, "lane", "column")).unwrap();
    /// assert!(tile.product(&other).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "operator*")]
    #[doc(alias = "direct sum")]
    pub const fn product(&self, outer: &LinearLayout) -> Result<LinearLayout, Error> {
        let ins = tri!(self.ins.merged(&outer.ins));
        let outs = tri!(self.outs.merged(&outer.outs));
        let (mut all, mut dim, mut to) = (LinearLayout { ins, outs, bases: [0; MAX_BITS] }, 0, 0);
        while dim < ins.len() {
            let name = all.ins.as_slice()[dim].name();
            let (low, high) = (self.ins.bits_of(name), outer.ins.bits_of(name));
            let mut bit = 0;
            while bit < low {
                let basis = self.column(name, bit);
                all.bases[to] = carried(basis, &self.outs, &outs, &Dims::NONE);
                (bit, to) = (bit + 1, to + 1);
            }
            bit = 0;
            while bit < high {
                let basis = outer.column(name, bit);
                all.bases[to] = carried(basis, &outer.outs, &outs, &self.outs);
                (bit, to) = (bit + 1, to + 1);
            }
            dim += 1;
        }
        Ok(all)
    }

    /// Returns the basis of a bit of an existing dim.
    pub(super) const fn column(&self, name: &str, bit: usize) -> u64 {
        match self.ins.find(name) {
            Some(dim) => self.bases[self.ins.before(dim) + bit],
            None => 0,
        }
    }
}

/// Converts the coordinates of `from` to those of `to`, dim by dim by name, above the bits that `low` has of each
/// dim.
pub(super) const fn carried(value: u64, from: &Dims, to: &Dims, low: &Dims) -> u64 {
    let (mut all, mut i) = (0, 0);
    while i < from.len() {
        let name = from.as_slice()[i].name();
        if let Some(at) = to.find(name) {
            all |= from.cut(value, i) << (to.before(at) + low.bits_of(name));
        }
        i += 1;
    }
    all
}

impl LinearLayout {
    /// Returns the C with `self = divisor · C`. It exists iff this map acts on its low bits like `divisor` and its high
    /// bits do not reach the outputs of those.
    ///
    /// C has all dims of this map; those that `divisor` takes completely have size 1.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a dim of `divisor` is missing in this map or larger; [no layout](Error::is_no_layout)
    /// with the first bit at which no such C exists.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (all, low) = (parse("{a=[1,2,8,4]} -> (x:16)"), parse("{a=[1,2]} -> (x:4)"));
    /// assert_eq!(all.divide_left(&low).unwrap().to_string(), "{a=[2,1]} -> (x:4)");
    /// let error = all.divide_left(&parse("{a=[2,1]} -> (x:4)")).unwrap_err();
    /// assert!(error.is_no_layout());
    /// ```
    pub const fn divide_left(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        let mut quotient = tri!(self.quotient_shape(divisor));
        let (mut dim, mut to) = (0, 0);
        while dim < self.ins.len() {
            let name = self.ins()[dim].name();
            let (low, mut bit) = (divisor.ins.bits_of(name), 0);
            while bit < self.ins()[dim].bits() {
                let basis = self.bases[self.ins.before(dim) + bit];
                if bit < low {
                    let wanted = divisor.column(name, bit);
                    if basis != carried(wanted, &divisor.outs, &self.outs, &Dims::NONE) {
                        return Err(differs(dim, bit));
                    }
                } else {
                    let high = shifted_down(basis, &self.outs, &quotient.outs, &divisor.outs);
                    if carried(high, &quotient.outs, &self.outs, &divisor.outs) != basis {
                        return Err(enters(dim, bit));
                    }
                    quotient.bases[to] = high;
                    to += 1;
                }
                bit += 1;
            }
            dim += 1;
        }
        Ok(quotient)
    }

    /// Returns the C with `self = C · divisor`: like [`LinearLayout::divide_left`], with `divisor` in the high bits.
    ///
    /// # Errors
    /// Those of [`LinearLayout::divide_left`].
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let parse = |text| LinearLayout::parse(text).unwrap();
    /// let (all, high) = (parse("{a=[1,2,8,4]} -> (x:16)"), parse("{a=[2,1]} -> (x:4)"));
    /// assert_eq!(all.divide_right(&high).unwrap().to_string(), "{a=[1,2]} -> (x:4)");
    /// assert!(all.divide_right(&parse("{a=[1,2]} -> (x:4)")).unwrap_err().is_no_layout());
    /// ```
    pub const fn divide_right(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        let mut quotient = tri!(self.quotient_shape(divisor));
        let (mut dim, mut to) = (0, 0);
        while dim < self.ins.len() {
            let name = self.ins()[dim].name();
            let (low, mut bit) = (quotient.ins.bits_of(name), 0);
            while bit < self.ins()[dim].bits() {
                let basis = self.bases[self.ins.before(dim) + bit];
                if bit < low {
                    let lower = shifted_down(basis, &self.outs, &quotient.outs, &Dims::NONE);
                    if carried(lower, &quotient.outs, &self.outs, &Dims::NONE) != basis {
                        return Err(enters(dim, bit));
                    }
                    quotient.bases[to] = lower;
                    to += 1;
                } else {
                    let wanted = divisor.column(name, bit - low);
                    if basis != carried(wanted, &divisor.outs, &self.outs, &quotient.outs) {
                        return Err(differs(dim, bit));
                    }
                }
                bit += 1;
            }
            dim += 1;
        }
        Ok(quotient)
    }

    /// Returns a map with the dims of the quotient and all bases 0.
    const fn quotient_shape(&self, divisor: &LinearLayout) -> Result<LinearLayout, Error> {
        Ok(LinearLayout {
            ins: tri!(less(&self.ins, &divisor.ins)),
            outs: tri!(less(&self.outs, &divisor.outs)),
            bases: [0; MAX_BITS],
        })
    }
}

/// Returns the dims of `all` without the bits of `part`.
const fn less(all: &Dims, part: &Dims) -> Result<Dims, Error> {
    let (mut rest, mut i) = (Dims::NONE, 0);
    while i < part.len() {
        let dim = &part.as_slice()[i];
        if all.bits_of(dim.name()) < dim.bits() || all.find(dim.name()).is_none() {
            return Err(Error::mismatch(
                "dim {} of the divisor has size {}, that of the map {}",
                [i as i128, dim.size() as i128, 1 << all.bits_of(dim.name())],
                "a divisor's dims must be dims of the map, none larger",
            ));
        }
        i += 1;
    }
    i = 0;
    while i < all.len() {
        let dim = &all.as_slice()[i];
        tri!(rest.push(dim.name(), dim.bits() - part.bits_of(dim.name())));
        i += 1;
    }
    Ok(rest)
}

/// Returns the bits of each dim of `all` above those of `low`, cut to the dim's size in `to`: the inverse of
/// [`carried`].
const fn shifted_down(value: u64, all: &Dims, to: &Dims, low: &Dims) -> u64 {
    let (mut rest, mut i) = (0, 0);
    while i < all.len() {
        let high = all.cut(value, i) >> low.bits_of(all.as_slice()[i].name());
        rest |= (high & (to.as_slice()[i].size() - 1)) << to.before(i);
        i += 1;
    }
    rest
}

const fn differs(dim: usize, bit: usize) -> Error {
    Error::no_layout(
        "bit {} of input dim {} is not sent where the divisor sends it",
        [bit as i128, dim as i128],
        "",
    )
}

const fn enters(dim: usize, bit: usize) -> Error {
    Error::no_layout(
        "bit {} of input dim {} is sent into the bits of the divisor",
        [bit as i128, dim as i128],
        "",
    )
}
