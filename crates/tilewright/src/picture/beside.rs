//! Two layouts of one array side by side.

use std::{error, fmt, fmt::Write as _};

use tilewright_core::Error;

use super::{Cells, Picture, count, elided, join, unravel};

/// Two pictures of one array, see [`Picture::beside`].
///
/// ```
/// use tilewright::{Spec, picture::{Cells, Picture}};
/// let rows = Spec::parse("row-major")?.resolve(Some(&[2, 3]), None)?;
/// let columns = Spec::parse("col-major")?.resolve(Some(&[2, 3]), None)?;
/// let left = Picture::new(rows.layout(), rows.fill()).with_tiles();
/// let right = Picture::new(columns.layout(), columns.fill()).with_tiles();
/// let lines = [
///     " A    0 1 2      B    0 1 2",
///     "    +-------+       +-------+",
///     " 0  | 0 1 2 |    0  | 0 2 4 |",
///     " 1  | 3 4 5 |    1  | 1 3 5 |",
///     "    +-------+       +-------+",
/// ];
/// assert!(left.beside(&right)?.grid(Cells::Offsets).lines().eq(lines));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    left: &'a Picture<'a>,
    right: &'a Picture<'a>,
}

/// Error of two layouts that cannot be drawn side by side: their logical extents differ.
///
/// ```
/// use tilewright::{Fill, TensorLayout, picture::Picture};
/// let layout = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
/// let (a, b) = (layout(&[2, 3]), layout(&[3, 2]));
/// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
/// let error = a.beside(&b).unwrap_err();
/// assert_eq!((error.left.as_slice(), error.right.as_slice()), (&[2, 3][..], &[3, 2][..]));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Unequal {
    /// The extents of the left layout.
    pub left: Vec<u64>,
    /// The extents of the right layout.
    pub right: Vec<u64>,
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = (join(&self.left), join(&self.right));
        write!(
            f,
            "A has the extents ({left}) and B ({right}); only layouts of equal extents are drawn side by side"
        )
    }
}

tilewright_core::debug_as_display!(Unequal);

impl error::Error for Unequal {}

impl From<Unequal> for crate::Error {
    fn from(unequal: Unequal) -> crate::Error {
        crate::Error::mismatch(unequal.to_string()).with_source(unequal)
    }
}

impl<'a> Picture<'a> {
    /// Puts this picture to the left of another of the same array, each within its own limits.
    ///
    /// # Errors
    /// [`Unequal`] if the logical extents differ.
    ///
    /// ```
    /// use tilewright::{Fill, TensorLayout, picture::{Cells, Picture}};
    /// let (a, b) = (TensorLayout::row_major(&[2])?, TensorLayout::row_major(&[3])?);
    /// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
    /// assert!(a.beside(&b).unwrap_err().to_string().starts_with("A has the extents (2) and B (3)"));
    /// assert!(a.beside(&a)?.grid(Cells::Offsets).contains(" 0  | 0 | 1 |    0  | 0 | 1 |"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn beside(&'a self, right: &'a Picture<'a>) -> Result<Pair<'a>, Unequal> {
        let (one, other) = (self.layout.extents(), right.layout.extents());
        if one != other {
            return Err(Unequal { left: one.to_vec(), right: other.to_vec() });
        }
        Ok(Pair { left: self, right })
    }
}

impl Pair<'_> {
    /// Draws both arrays as grids, with equal rows on one line.
    ///
    /// ```
    /// use tilewright::{Fill, Spec, TensorLayout, picture::{Cells, Picture}};
    /// let (a, b) = (TensorLayout::row_major(&[2, 2])?, TensorLayout::col_major(&[2, 2])?);
    /// let (a, b) = (Picture::new(&a, Fill::Zero), Picture::new(&b, Fill::Zero));
    /// // Element (0,1) stands at offset 1 of the one and at 2 of the other.
    /// let grids = a.beside(&b)?.grid(Cells::Offsets);
    /// assert_eq!(grids.lines().nth(2), Some(" 0  | 0 | 1 |    0  | 0 | 2 |"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn grid(&self, cells: Cells) -> String {
        let (extents, limits) = (self.left.layout.extents(), self.left.limits);
        let outer = &extents[..extents.len().saturating_sub(2)];
        let whole = count(outer);
        let mut text = String::new();
        for index in 0..whole.min(limits.panels) {
            let fixed = unravel(outer, index);
            if !outer.is_empty() {
                let _ = writeln!(text, "[{},:,:]", join(&fixed));
            }
            text += &columns(&self.panel(cells, fixed));
        }
        if whole > limits.panels {
            let _ = writeln!(text, "… {} more panels", whole - limits.panels);
        }
        text
    }

    fn panel(&self, cells: Cells, fixed: Vec<u64>) -> Vec<(String, String)> {
        let drawn = |picture: &Picture<'_>, label| {
            let (panel, text, width) = picture.filled(cells, fixed.clone());
            (picture.frame(&panel, &text, width, label), elided(&panel))
        };
        let ((left, left_out), (right, right_out)) =
            (drawn(self.left, 'A'), drawn(self.right, 'B'));
        let mut lines = left.beside(&right);
        if !(left_out.is_empty() && right_out.is_empty()) {
            lines.push((left_out.trim_end().to_owned(), right_out.trim_end().to_owned()));
        }
        lines
    }

    /// Draws both memories from the first offset to the last, one line for each offset.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) as [`Picture::memory`].
    ///
    /// ```
    /// use tilewright::{Spec, picture::{Cells, Picture}};
    /// let rows = Spec::parse("row-major")?.resolve(Some(&[1, 3]), None)?;
    /// let tiled = Spec::parse("zN[M0=1,C0=2]")?.resolve(Some(&[1, 3]), None)?;
    /// let left = Picture::new(rows.layout(), rows.fill());
    /// let right = Picture::new(tiled.layout(), tiled.fill());
    /// let lines = [
    ///     "offset  A      B",
    ///     "     0  (0,0)  (0,0)",
    ///     "     1  (0,1)  (0,1)",
    ///     "     2  (0,2)  (0,2)",
    ///     "     3         .",
    /// ];
    /// assert!(left.beside(&right)?.memory(Cells::Coords)?.lines().eq(lines));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn memory(&self, cells: Cells) -> Result<String, Error> {
        let (left, right) = (self.left.span(), self.right.span());
        let (low, high) = (left.0.min(right.0), left.1.max(right.1));
        let most = i64::try_from(self.left.limits.cells).unwrap_or(i64::MAX);
        let whole = high.saturating_sub(low);
        let drawn = whole.min(most);
        let mut lines = vec![["offset".to_owned(), "A".into(), "B".into()]];
        for offset in low..low + drawn {
            let [a, b] = [self.left.stored(cells, offset)?, self.right.stored(cells, offset)?];
            lines.push([offset.to_string(), a.unwrap_or_default(), b.unwrap_or_default()]);
        }
        let mut text = table(&lines);
        if drawn < whole {
            let _ = writeln!(text, "… {} more cells", whole - drawn);
        }
        Ok(text)
    }
}

/// Prints two columns of lines with blanks between them.
fn columns(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let line = |(left, right): &(String, String)| {
        format!("{}\n", format!("{left:<width$}   {right}").trim_end())
    };
    lines.iter().map(line).collect()
}

/// Prints three columns, offsets aligned to the right and elements to the left.
fn table(lines: &[[String; 3]]) -> String {
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (offsets, left) = (width(0), width(1));
    let line = |[offset, a, b]: &[String; 3]| {
        format!("{}\n", format!("{offset:>offsets$}  {a:<left$}  {b}").trim_end())
    };
    lines.iter().map(line).collect()
}
