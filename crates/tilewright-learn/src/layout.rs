//! The layout of a result that holds one source and padding.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{Description, Origin, dims};

impl Description {
    /// Returns the layout of the result, if it holds all elements of one source once, and else zeros. The extents are those of
    /// the source. `None` if there is none of shape and strides.
    ///
    /// ```
    /// use tilewright_learn::{Sources, describe};
    /// let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
    /// let layout = describe(&[1, 4, 2, 5, 3, 6], &sources)?.layout().unwrap();
    /// assert_eq!(layout.layout().to_string(), "(2,3):(1,2)");
    /// // Half of the source has none.
    /// assert!(describe(&[1, 2, 3], &sources)?.layout().is_none());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn layout(&self) -> Option<TensorLayout> {
        let [term] = self.terms() else {
            return None;
        };
        let Origin::Source(place) = term.origin else {
            return None;
        };
        let extents = &self.sources().list()[place].extents;
        let dims = dims::dims(term, self.families())?;
        let (members, list) = dims.list.split_first()?;
        let whole = list.iter().zip(extents).all(|(dim, e)| dim.count == *e && dim.phase == 0);
        let padded = term.elements() == self.size() || self.rest() == Origin::Zero;
        if !whole || !padded || members.count != 1 {
            return None;
        }
        let mode = |digit: &crate::MapDigit| Mode::new(digit.extent, digit.result);
        let (mut modes, mut counts) = (Vec::new(), Vec::new());
        for dim in list {
            let before = modes.len();
            modes.extend(dim.digits.iter().map(mode));
            if modes.len() == before {
                modes.push(Mode::new(1, 0));
            }
            counts.push(modes.len() - before);
        }
        let layout = Layout::nested(&modes, &counts).ok()?.with_offset(dims.at).ok()?;
        TensorLayout::new(extents, &layout, self.size()).ok()
    }
}
