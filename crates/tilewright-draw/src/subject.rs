//! A layout to draw, with the facts that are not part of the layout.

use tilewright_core::{Fill, TensorLayout};

/// A layout, its name, the contents of its padding, and the texts of cells.
///
/// ```
/// use tilewright_core::{Fill, Layout, TensorLayout};
/// use tilewright_draw::{Label, Limits, Subject, grid};
/// let padded = TensorLayout::new(&[1, 2], &Layout::parse("(2,2):(2,1)").unwrap(), 4)?;
/// let subject = Subject::new(&padded).named("two of four").filled(Fill::Zero).labelled(Label::Names);
/// let scene = grid(&subject, &Limits::default())?;
/// assert_eq!(scene.title, "two of four");
/// let texts: Vec<&str> = scene.bands[0].panels[0].cells.iter().map(|cell| &*cell.text).collect();
/// assert_eq!(texts, ["a", "b", "0", "0"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    pub(crate) layout: &'a TensorLayout,
    pub(crate) name: String,
    pub(crate) fill: Fill,
    pub(crate) boxed: bool,
    label: Option<Label>,
}

/// The texts of cells.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Label, Limits, Subject, memory};
/// let columns = TensorLayout::col_major(&[2, 2])?;
/// let texts = |label| {
///     let scene = memory(&Subject::new(&columns).labelled(label), &Limits::default())?;
///     let cells = scene.panels().flat_map(|panel| &panel.cells);
///     Ok::<_, tilewright_core::Error>(cells.map(|cell| cell.text.clone()).collect::<Vec<_>>())
/// };
/// assert_eq!(texts(Label::Offsets)?, ["0", "1", "2", "3"]);
/// assert_eq!(texts(Label::Coords)?, ["0,0", "1,0", "0,1", "1,1"]);
/// assert_eq!(texts(Label::Numbers)?, ["0", "2", "1", "3"]);
/// assert_eq!(texts(Label::Names)?, ["a", "c", "b", "d"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The offset of each element.
    Offsets,
    /// The coordinate of each element.
    Coords,
    /// The row-major number of each element.
    Numbers,
    /// The elements as a, b, c …, in row-major order.
    Names,
}

impl<'a> Subject<'a> {
    /// Makes a subject of a layout, named by its own text, with unspecified padding.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 3])?;
    /// assert_eq!(grid(&Subject::new(&layout), &Limits::default())?.title, "(2,3):(3,1)");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn new(layout: &'a TensorLayout) -> Subject<'a> {
        let mut name = layout.layout().to_string();
        let whole = |dim: usize| layout.layout().axis_size(dim) == Some(layout.extents()[dim]);
        if !layout.is_strided() || !(0..layout.rank()).all(whole) {
            name += &format!(" valid ({})", join(layout.extents()));
        }
        Subject { layout, name, fill: Fill::Unspecified, boxed: false, label: None }
    }

    /// Sets the name.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 3])?;
    /// let scene = grid(&Subject::new(&layout).named("row-major 2×3"), &Limits::default())?;
    /// assert_eq!(scene.title, "row-major 2×3");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Subject<'a> {
        self.name = name.into();
        self
    }

    /// Sets the contents of padding.
    ///
    /// ```
    /// use tilewright_core::{Fill, Layout, TensorLayout};
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let padded = TensorLayout::new(&[1], &Layout::parse("2:1").unwrap(), 2)?;
    /// let scene = grid(&Subject::new(&padded).filled(Fill::One), &Limits::default())?;
    /// assert_eq!(scene.bands[0].panels[0].cells[1].text, "1");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    #[must_use]
    pub fn filled(mut self, fill: Fill) -> Subject<'a> {
        self.fill = fill;
        self
    }

    /// Sets the texts of cells. By default, grids show offsets and memory shows coordinates.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Label, Limits, Subject, grid};
    /// let layout = TensorLayout::col_major(&[2, 3])?;
    /// let scene = grid(&Subject::new(&layout).labelled(Label::Numbers), &Limits::default())?;
    /// assert_eq!(scene.bands[0].panels[0].cells[4].text, "4");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    #[must_use]
    pub fn labelled(mut self, label: Label) -> Subject<'a> {
        self.label = Some(label);
        self
    }

    /// Draws a border around every cell, instead of borders around tiles.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[1, 2])?;
    /// let text = grid(&Subject::new(&layout).boxed(), &Limits::default())?.to_terminal(false);
    /// assert!(text.contains("    +---+---+\n 0  | 0 | 1 |\n"));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    #[must_use]
    pub fn boxed(mut self) -> Subject<'a> {
        self.boxed = true;
        self
    }

    /// Returns the text of the cell of an element.
    pub(crate) fn text(&self, usual: Label, coord: &[u64], offset: i64) -> String {
        match self.label.unwrap_or(usual) {
            Label::Offsets => offset.to_string(),
            Label::Coords => join(coord),
            Label::Numbers => self.number(coord).to_string(),
            Label::Names => name(self.number(coord)),
        }
    }

    /// Returns the legend of the cells.
    pub(crate) fn says(&self, usual: Label) -> &'static str {
        match self.label.unwrap_or(usual) {
            Label::Offsets => "numbers are offsets in elements",
            Label::Coords => "cells name the coordinate stored there",
            Label::Numbers => "numbers count the elements, row by row",
            Label::Names => "letters name the elements, row by row",
        }
    }

    /// Returns the row-major number of an element.
    pub(crate) fn number(&self, coord: &[u64]) -> u64 {
        let pairs = self.layout.extents().iter().zip(coord);
        pairs.fold(0, |number, (extent, x)| number.wrapping_mul(*extent).wrapping_add(*x))
    }

    /// Returns the text of padding.
    pub(crate) fn padding(&self) -> String {
        match self.fill {
            Fill::Unspecified => String::new(),
            Fill::Zero => "0".into(),
            Fill::One => "1".into(),
            Fill::Lowest => "min".into(),
            Fill::Highest => "max".into(),
            Fill::Unknown => "?".into(),
            Fill::Bits(bits) => format!("{bits:#x}"),
        }
    }

    /// Returns the legend of padding.
    pub(crate) fn padding_says(&self) -> String {
        match self.fill {
            Fill::Unspecified => "padding".into(),
            Fill::Zero => "padding, zero".into(),
            Fill::One => "padding, one".into(),
            Fill::Lowest => "padding, the lowest value".into(),
            Fill::Highest => "padding, the highest value".into(),
            Fill::Unknown => "padding of unknown value".into(),
            Fill::Bits(bits) => format!("padding, bits {bits:#x}"),
        }
    }
}

/// Joins numbers with commas.
pub(crate) fn join(values: &[u64]) -> String {
    values.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Returns a, b … z, aa, ab …
fn name(number: u64) -> String {
    let (mut rest, mut letters) = (number, Vec::new());
    loop {
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            break;
        }
        rest -= 1;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_in_letters() {
        for (number, text) in
            [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (701, "zz"), (702, "aaa")]
        {
            assert_eq!(name(number), text);
        }
        assert!(!name(u64::MAX).is_empty());
    }
}
