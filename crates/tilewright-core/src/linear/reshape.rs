//! Other dims for the same bits: reshapes, transposes and renames.
//!
//! Law: as a map of indices (the first dim lowest) a reshaped map is unchanged; a transposed map is unchanged as a map
//! of named coordinates.

use super::{Dims, LinearLayout, bits_of_size, compose::carried};
use crate::{Error, macros::tri};

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
    pub(super) const fn onto(&self, outs: Dims) -> LinearLayout {
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
