//! The checked constructor of [`Coord`]. It has its own file because errors contain a `Coord`, and this constructor
//! returns errors.

use crate::{Coord, Error, MAX_MODES};

impl Coord {
    /// Creates the coordinate with these integers, one per axis.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] integers.
    ///
    /// ```
    /// use tilewright_core::{Coord, expect_const};
    /// const ORIGIN: Coord = expect_const!(Coord::new(&[0, 0, 0]));
    /// assert_eq!(ORIGIN.to_string(), "(0,0,0)");
    /// assert!(Coord::new(&[0; 33]).unwrap_err().is_limit());
    /// ```
    pub const fn new(axes: &[u64]) -> Result<Coord, Error> {
        if axes.len() > MAX_MODES {
            return Err(Error::limit(
                "a coordinate of {} integers",
                [axes.len() as i128],
                "a coordinate has at most 32",
            ));
        }
        let (mut coord, mut i) = (Coord::EMPTY, 0);
        while i < axes.len() {
            coord.push(axes[i]);
            i += 1;
        }
        Ok(coord)
    }
}
