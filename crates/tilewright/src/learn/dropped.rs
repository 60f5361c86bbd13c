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
/// assert_eq!(dropped.unmatched(["layers.0.inv_freq"].into_iter()).collect::<Vec<&str>>(), ["lm_head.*"]);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Dropped<'a>(Vec<(&'a str, Pattern)>);

impl<'a> Dropped<'a> {
    /// Reads the patterns.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for a pattern that is not one.
    ///
    /// ```
    /// use tilewright::learn::Dropped;
    /// assert!(Dropped::new(&["[a".into()]).unwrap_err().is_usage());
    /// ```
    pub fn new(patterns: &'a [String]) -> Result<Dropped<'a>, Error> {
        let one = |text: &'a String| Ok((text.as_str(), Pattern::new(text)?));
        patterns.iter().map(one).collect::<Result<_, Error>>().map(Dropped)
    }

    /// Returns whether a name matches one of the patterns.
    ///
    /// ```
    /// assert!(!tilewright::learn::Dropped::new(&[])?.has("w"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(_, pattern)| pattern.matches(name))
    }

    /// Returns the patterns that match none of the names.
    ///
    /// ```
    /// let patterns = ["a".to_owned()];
    /// let dropped = tilewright::learn::Dropped::new(&patterns)?;
    /// assert_eq!(dropped.unmatched(["a"].into_iter()).count(), 0);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn unmatched<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> impl Iterator<Item = &'a str> {
        let none =
            |(_, pattern): &&(&str, Pattern)| !names.clone().any(|name| pattern.matches(name));
        self.0.iter().filter(none).map(|(text, _)| *text).collect::<Vec<&str>>().into_iter()
    }
}
