//! Makes a case larger: its first dim becomes longer. Measurements on devices use it, so that a launch takes long
//! enough.

use crate::Case;

impl Case {
    /// Returns the case with a longer first dim, so that its larger side has at least `bytes`; `None` if its layouts
    /// only fit its own dims. The result is compared with the processor's, because no checksum is stated for it.
    ///
    /// ```
    /// use tilewright_bench::{Size, definitions};
    /// let all = definitions()?;
    /// let large = all[0].case(Size::Small)?.of_bytes(5000).unwrap();
    /// assert_eq!((large.dims(), large.checksum()), (&[216, 24][..], None));
    /// // Large enough as it is.
    /// assert_eq!(all[0].case(Size::Small)?.of_bytes(5).unwrap().dims(), [24, 24]);
    /// let fixed = all.iter().find(|case| case.name().contains("strided")).unwrap();
    /// assert!(fixed.case(Size::Small)?.of_bytes(1 << 20).is_none());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn of_bytes(&self, bytes: u64) -> Option<Case> {
        let times = bytes.div_ceil(self.bytes().max(1));
        let mut dims = self.dims().to_vec();
        let first = dims.first_mut().filter(|_| times > 1);
        let Some(first) = first else { return Some(self.clone()) };
        *first = first.checked_mul(times)?;
        let larger = Case::given(self.dtype().name(), self.from(), self.to(), &dims).ok()?;
        (larger.bytes() >= bytes)
            .then(|| larger.named(self.name().to_owned(), self.size()).at(self.offsets()))
    }
}
