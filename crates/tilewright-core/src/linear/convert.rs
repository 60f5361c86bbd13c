//! Conversion of layouts of strides to linear layouts, and back.
//!
//! Law: a mode `2^n:d` adds `d`, `2d`, `4d` … for its bits. The sum is a xor for every coordinate iff no two of these
//! numbers share a bit; if two do, the sum of both carries and the xor does not. A layout is therefore linear iff its
//! extents are powers of two, its strides are 0 or more, its offset is 0 and the numbers of all modes are disjoint. A linear
//! layout is a layout of strides iff its bases are disjoint, and one with a swizzle iff its nonzero bases are independent
//! (`bases.rs`).

use super::{
    Dims, LinearLayout, MAX_BITS, MAX_DIMS,
    bases::{Bases, Strides},
    width,
};
use crate::{Coord, Error, Layout, Mode, Profile, Swizzle, macros::tri};

/// The names of the input dims of a layout's axes.
const AXES: [&str; MAX_DIMS] = [
    "dim0", "dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7", "dim8", "dim9", "dim10",
    "dim11", "dim12", "dim13", "dim14", "dim15",
];

impl LinearLayout {
    /// Converts a layout to a linear one. Each axis is an input dim, `dim0`, `dim1` …; the output dim is `offset`, of the
    /// smallest power of two that holds the cosize.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the map is not linear over bits: for an offset, a negative stride, an
    /// extent that is not a power of two, or two bits whose steps share a bit, with the coordinate at which both are set;
    /// [limit](Error::is_limit) beyond 16 axes.
    ///
    /// ```
    /// use tilewright_core::{LinearLayout, layout};
    /// let tiles = LinearLayout::of_layout(&layout!("(4,4):(4,1)")).unwrap();
    /// assert_eq!(tiles.to_string(), "{dim0=[4,8],dim1=[1,2]} -> (offset:16)");
    ///
    /// // 3 + 6 = 9, 3 ⊕ 6 = 5.
    /// let error = LinearLayout::of_layout(&layout!("4:3")).unwrap_err();
    /// assert!(error.is_unsupported());
    /// assert!(error.to_string().starts_with("at (3): bits 0 and 1 of the coordinate, of steps 3 and 6"));
    /// ```
    pub const fn of_layout(layout: &Layout) -> Result<LinearLayout, Error> {
        let mut all = LinearLayout::EMPTY;
        if layout.offset() != 0 {
            return Err(Error::unsupported(
                "coordinate 0 is at offset {}, and a linear map sends 0 to 0",
                [layout.offset() as i128],
                "remove the offset",
            ));
        }
        if layout.rank() > MAX_DIMS {
            return Err(Error::limit(
                "{} axes",
                [layout.rank() as i128],
                "a linear layout has at most 16 dims a side",
            ));
        }
        let (mut axis, mut leaf) = (0, 0);
        while let Some(modes) = layout.axis(axis) {
            let (mut i, from) = (0, all.ins.bits());
            let mut len = from;
            while i < modes.len() {
                len = tri!(steps(&mut all.bases, len, &modes[i], leaf));
                (i, leaf) = (i + 1, leaf + 1);
            }
            tri!(all.ins.push(AXES[axis], len - from));
            axis += 1;
        }
        tri!(all.check_apart(&all.ins));
        let (mut reach, mut i) = (0, 0);
        while i < all.ins.bits() {
            all.bases[i] = layout.swizzle().apply(all.bases[i]);
            reach |= all.bases[i];
            i += 1;
        }
        tri!(all.outs.push("offset", width(reach)));
        Ok(all)
    }

    /// Converts to a layout of strides, from an axis per input dim to the output as one index, its first dim fastest.
    /// The modes of a single input dim become axes of their own.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) if there is none, with the two bits that share an output bit and the coordinate
    /// at which both are set; [limit](Error::is_limit) beyond 32 modes.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let to_layout = |text| LinearLayout::parse(text).unwrap().to_layout();
    /// assert_eq!(to_layout("{i=[4,8,1,2]} -> (o:16)").unwrap().to_string(), "(4,4):(4,1)");
    /// let error = to_layout("{i=[1,3,4,8]} -> (o:16)").unwrap_err();
    /// assert!(error.is_no_layout());
    /// assert!(error.to_string().starts_with("at (3): bits 0 and 1 of the coordinate, of steps 1 and 3"));
    /// ```
    pub const fn to_layout(&self) -> Result<Layout, Error> {
        tri!(self.check_apart(&self.ins));
        self.layout_of(&tri!(self.bases().under(Swizzle::IDENTITY)))
    }

    /// Converts to a layout of strides, like [`LinearLayout::to_layout`], with a swizzle if one is needed: CuTe's swizzle
    /// of the fewest bits, and a matrix of the bases themselves if CuTe's family has none.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout) if two coordinates share an output, with one of them as the witness (the other
    /// is in [`LinearLayout::collision`]); [limit](Error::is_limit) beyond 32 modes.
    ///
    /// ```
    /// use tilewright_core::LinearLayout;
    /// let tile = LinearLayout::parse("{c=[1,2],r=[5,10]} -> (o:16)").unwrap();
    /// assert_eq!(tile.to_swizzled_layout().unwrap().to_string(), "Sw<2,0,2> o (4,4):(1,4)");
    /// assert!(tile.to_layout().unwrap_err().is_no_layout());
    /// // Bit 2 changes two bits at once, which no swizzle of CuTe's family does.
    /// let other = LinearLayout::parse("{i=[1,2,7]} -> (o:8)").unwrap();
    /// assert_eq!(other.to_swizzled_layout().unwrap().to_string(), "F2<1,2,7> o 8:1");
    /// // 3 goes where 1 and 2 go together.
    /// let singular = LinearLayout::parse("{i=[1,2],j=[3]} -> (o:4)").unwrap();
    /// let error = singular.to_swizzled_layout().unwrap_err();
    /// assert_eq!(error.witness().unwrap().as_slice(), [0, 1]);
    /// ```
    pub const fn to_swizzled_layout(&self) -> Result<Layout, Error> {
        match tri!(self.bases().strides()) {
            Some(strides) => self.layout_of(&strides),
            None => Err(self.dependent()),
        }
    }

    /// The error of dependent bases, which no swizzle makes disjoint.
    const fn dependent(&self) -> Error {
        let (bit, _) = match self.bases().dependent() {
            Some(dependent) => dependent,
            None => (0, 0),
        };
        let (dim, at) = self.ins.place(bit);
        let numbers = [at as i128, dim as i128, self.bases[bit] as i128];
        Error::no_layout(
            "the basis of bit {} of input dim {} is the xor of lower ones: two coordinates are sent to {}",
            numbers,
            "the bases must be independent",
        )
        .at(self.ins.split(1 << bit))
    }

    /// Returns the bases, a group for each input dim.
    const fn bases(&self) -> Bases {
        let (mut bases, mut dim) = (Bases::NONE, 0);
        while dim < self.ins.len() {
            bases.push_group(1 << self.ins()[dim].bits(), self.ins()[dim].bits());
            dim += 1;
        }
        bases.images = self.bases;
        bases
    }

    /// Returns the layout of these strides, with an axis per input dim.
    const fn layout_of(&self, strides: &Strides) -> Result<Layout, Error> {
        let (mut profile, mut dim, mut from) = (Profile::EMPTY, 0, 0);
        while dim < self.ins.len() {
            let to = strides.ends[dim] as usize;
            tri!(push_axis(&mut profile, to - from, dim, self.ins.len()));
            (from, dim) = (to, dim + 1);
        }
        Layout::new(strides.modes(), &profile, strides.offset, strides.swizzle)
    }

    /// Refuses bases that share a bit and names the first two. `axes` splits their coordinate.
    const fn check_apart(&self, axes: &Dims) -> Result<(), Error> {
        let mut b = 0;
        while b < axes.bits() {
            let mut a = 0;
            while a < b {
                let shared = self.bases[a] & self.bases[b];
                if shared != 0 {
                    let coord: Coord = axes.split(1 << a | 1 << b);
                    let numbers =
                        [a as i128, b as i128, self.bases[a] as i128, self.bases[b] as i128];
                    return Err(if self.outs.len() == 0 {
                        Error::unsupported(SHARED, numbers, WOULD_SUM).at(coord)
                    } else {
                        Error::no_layout(SHARED, numbers, WOULD_XOR).at(coord)
                    });
                }
                a += 1;
            }
            b += 1;
        }
        Ok(())
    }
}

const SHARED: &str =
    "bits {} and {} of the coordinate, of steps {} and {}, reach one bit of the output";
const WOULD_SUM: &str = "there the sum of strides carries, but a linear map xors";
const WOULD_XOR: &str = "there the map xors, but strides carry";

/// Appends the steps of a mode's bits.
const fn steps(
    bases: &mut [u64; MAX_BITS],
    from: usize,
    mode: &Mode,
    leaf: usize,
) -> Result<usize, Error> {
    if !mode.extent().is_power_of_two() {
        return Err(Error::unsupported(
            "mode {} has extent {}",
            [leaf as i128, mode.extent() as i128],
            "the extents of a linear layout are powers of two",
        ));
    }
    let bits = mode.extent().trailing_zeros() as usize;
    if mode.stride() < 0 && bits > 0 {
        return Err(Error::unsupported(
            "mode {} has stride {}",
            [leaf as i128, mode.stride() as i128],
            "a linear map has no values below 0",
        ));
    }
    let mut bit = 0;
    while bit < bits {
        if from + bit == MAX_BITS || mode.stride() > (1 << (62 - bit)) - 1 {
            return Err(Error::overflow(
                "bit {} of mode {} of stride {} leaves 62 bits",
                [bit as i128, leaf as i128, mode.stride() as i128],
                "the dims of a side have at most 62 together",
            ));
        }
        bases[from + bit] = (mode.stride() as u64) << bit;
        bit += 1;
    }
    Ok(from + bits)
}

/// Appends the brackets of an axis of `leaves` modes; a single axis has those of a flat layout.
const fn push_axis(
    profile: &mut Profile,
    leaves: usize,
    axis: usize,
    axes: usize,
) -> Result<(), Error> {
    let mut i = 0;
    while i < leaves {
        let (first, last) = (i == 0, i + 1 == leaves);
        let own = leaves > 1;
        let outer = axes > 1;
        let opened = (own && first) as usize + (outer && first && axis == 0) as usize;
        let closed = (own && last) as usize + (outer && last && axis + 1 == axes) as usize;
        tri!(profile.push(opened, closed));
        i += 1;
    }
    Ok(())
}
