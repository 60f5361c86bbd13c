//! [`Dropped`]: the names of sources that no result needs to hold, as patterns.

use tilewright_files::inner::Pattern;

use crate::Error;

/// Patterns of names, as those that choose tensors of files.
///
/// ```
/// use tilewright::learn::Dropped;
/// let patterns = ["*.inv_freq".into(), "lm_head.*".into()];
/// let dropped = Dropped::new(&patterns)?;
/// assert!(dropped.has("layers.0.inv_freq"));
/// // A pattern without a match is probably mistyped.
/// assert!(dropped.check(["layers.0.inv_freq"].into_iter()).unwrap_err().to_string().contains("lm_head.*"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Dropped(Vec<Pattern>);

impl Dropped {
    /// Reads the patterns.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a pattern that is not one.
    ///
    /// ```
    /// use tilewright::learn::Dropped;
    /// assert!(Dropped::new(&["[a".into()]).unwrap_err().is_usage());
    /// ```
    pub fn new(patterns: &[String]) -> Result<Dropped, Error> {
        let all = patterns.iter().map(|text| Pattern::new(text));
        all.collect::<Result<_, Error>>().map(Dropped)
    }

    /// Returns whether a name matches one of the patterns.
    ///
    /// ```
    /// assert!(!tilewright::learn::Dropped::new(&[])?.has("w"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Checks that each pattern matches one of the names.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for the first that matches none, with similar names.
    ///
    /// ```
    /// let patterns = ["a".to_owned()];
    /// let dropped = tilewright::learn::Dropped::new(&patterns)?;
    /// assert!(dropped.check(["a"].into_iter()).is_ok());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn check<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Result<(), Error> {
        self.0.iter().try_for_each(|pattern| pattern.check(names.clone()))
    }
}
