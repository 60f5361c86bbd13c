//! The dims of a format: those that its maker names, else the letters of its pattern.

use crate::{catalogue::Format, dialect};

impl Format {
    /// The dims in the order of the array: as the maker names them, else the letters of the pattern. A format of any
    /// further dims before them has these alone.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let dims = |name: &str| catalogue().find(|format| format.name == name).unwrap().axes();
    /// assert_eq!(dims("MARLIN"), ["K", "N"]);
    /// assert_eq!(dims("MACHETE"), ["N", "K"]);
    /// assert_eq!(dims("COL32"), ["m", "k"]);
    /// ```
    pub fn axes(&self) -> Vec<String> {
        match self.dims {
            [] => dialect::letters_of(self.pattern),
            named => named.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// The dims for messages: those of a weight with what they count, `K (in)` and `N (out)`.
    pub(crate) fn said_axes(&self) -> Vec<String> {
        let mut axes = self.axes();
        let words = self.in_and_out().unwrap_or_default().rsplit(", ");
        for (axis, word) in axes.iter_mut().rev().zip(words).filter(|(_, word)| !word.is_empty()) {
            *axis = format!("{axis} ({word})");
        }
        axes
    }
}
