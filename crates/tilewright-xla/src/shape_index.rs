//! A path into a shape: a member of each tuple on the way.

use std::{fmt, ops::Deref};

/// A path of tuple members from a shape to one inside it; the empty path is the shape itself.
///
/// Source: XLA's `ShapeIndex`.
///
/// ```
/// use tilewright_xla::{Shape, ShapeIndex};
/// let index = ShapeIndex::new(&[1, 0]);
/// let shape = Shape::parse("(f32[2], (s32[], pred[3]))").unwrap();
/// assert_eq!(shape.at(&index).unwrap().to_string(), "s32[]");
/// assert_eq!((index.to_string(), index.child(2).to_string()), ("{1,0}".into(), "{1,0,2}".into()));
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeIndex {
    members: Vec<u64>,
}

impl ShapeIndex {
    /// Creates the path through these members, the outermost tuple's first.
    ///
    /// ```
    /// use tilewright_xla::{Shape, ShapeIndex};
    /// let shape = Shape::parse("(f32[2], (s32[], pred[3]))").unwrap();
    /// let index = ShapeIndex::new(&[1, 1]);
    /// assert_eq!(shape.at(&index).unwrap().to_string(), "pred[3]");
    /// assert!(shape.at(&ShapeIndex::new(&[2])).is_err());
    /// ```
    pub fn new(members: &[u64]) -> ShapeIndex {
        ShapeIndex { members: members.to_vec() }
    }

    /// Returns the path to a member of the shape at this path.
    ///
    /// ```
    /// use tilewright_xla::ShapeIndex;
    /// let index = ShapeIndex::default().child(1).child(0);
    /// assert_eq!(index, ShapeIndex::new(&[1, 0]));
    /// ```
    pub fn child(&self, member: u64) -> ShapeIndex {
        let mut child = self.clone();
        child.members.push(member);
        child
    }

    /// Returns the path to the tuple that contains the shape at this path; `None` for the empty path.
    ///
    /// ```
    /// use tilewright_xla::ShapeIndex;
    /// let index = ShapeIndex::new(&[1, 0]);
    /// assert_eq!(index.parent(), Some(ShapeIndex::new(&[1])));
    /// assert_eq!(ShapeIndex::default().parent(), None);
    /// ```
    pub fn parent(&self) -> Option<ShapeIndex> {
        let (_, members) = self.members.split_last()?;
        Some(ShapeIndex::new(members))
    }

    /// Returns the members.
    ///
    /// ```
    /// use tilewright_xla::ShapeIndex;
    /// assert_eq!(ShapeIndex::new(&[1, 0]).as_slice(), [1, 0]);
    /// assert!(ShapeIndex::default().as_slice().is_empty());
    /// ```
    pub fn as_slice(&self) -> &[u64] {
        &self.members
    }
}

impl Deref for ShapeIndex {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.members
    }
}

impl From<Vec<u64>> for ShapeIndex {
    fn from(members: Vec<u64>) -> ShapeIndex {
        ShapeIndex { members }
    }
}

impl fmt::Display for ShapeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        crate::list::write_list(f, &self.members)?;
        f.write_str("}")
    }
}
