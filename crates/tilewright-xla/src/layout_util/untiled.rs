//! Checks whether tiles have an effect.

use tilewright_core::Error;

use crate::Layout;

impl Layout {
    /// Returns whether arrays of these dims are stored as without the tiles: the same order, no padding. The alignment of
    /// the tail is ignored.
    ///
    /// # Errors
    /// Those of [`Layout::lower`]; [undecided](Error::is_undecided) as in
    /// [`same_function`](tilewright_core::TensorLayout::same_function).
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let tiled = |text: &str| Layout::parse(text).unwrap();
    /// assert_eq!(tiled("{1,0:T(8,128)}").is_untiled(&[24, 128]), Ok(true));
    /// assert_eq!(tiled("{1,0:T(1,128)}").is_untiled(&[4, 256]), Ok(true));
    /// assert_eq!(tiled("{2,1,0:T(8,128)}").is_untiled(&[2, 3, 4]), Ok(false));
    /// ```
    #[doc(alias = "IsUntiledLayout")]
    pub fn is_untiled(&self, dims: &[u64]) -> Result<bool, Error> {
        self.validate(dims)?;
        if self.tiles().is_empty() {
            return Ok(true);
        }
        let plain = Layout::new(self.minor_to_major())?;
        let tiled = plain.clone().with_tiles(self.tiles());
        if tiled.padded_elements(dims)? != plain.padded_elements(dims)? {
            return Ok(false);
        }
        crate::semantic::same_map(&tiled, &plain, dims)
    }
}
