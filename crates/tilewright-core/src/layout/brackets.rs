//! Nested tuples as text: the brackets of a profile around the text of its leaves.

use core::fmt;

use crate::Profile;

impl Profile {
    /// Writes the brackets, and each leaf by `leaf`, with commas between them.
    ///
    /// # Errors
    /// Those of the formatter.
    ///
    /// ```
    /// use std::fmt;
    /// use tilewright_core::Profile;
    /// struct Letters(Profile);
    /// impl fmt::Display for Letters {
    ///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    ///         self.0.write(f, |f, leaf| f.write_str(["a", "b", "c"][leaf]))
    ///     }
    /// }
    /// assert_eq!(Letters(Profile::nested(&[2, 1]).unwrap()).to_string(), "((a,b),c)");
    /// assert_eq!(Letters(Profile::EMPTY).to_string(), "()");
    /// ```
    pub fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        leaf: impl Fn(&mut fmt::Formatter<'_>, usize) -> fmt::Result,
    ) -> fmt::Result {
        if self.leaves() == 0 {
            return f.write_str("()");
        }
        for i in 0..self.leaves() {
            let (opened, closed) = self.brackets(i).unwrap_or((0, 0));
            f.write_str(if i == 0 { "" } else { "," })?;
            (0..opened).try_for_each(|_| f.write_str("("))?;
            leaf(f, i)?;
            (0..closed).try_for_each(|_| f.write_str(")"))?;
        }
        Ok(())
    }
}
