//! A shape: an array, a tuple of shapes, a token, an opaque value, or a buffer of one array.
//!
//! [`ShapeIndex`] is a path into a shape: a member of each tuple on the way. [`ProgramShape`] has the shapes of a
//! program's parameters and of its result.
//!
//! Law: `depth ≤ MAX_DEPTH`, which the one constructor of tuples keeps. Printing, cloning, comparing and dropping a
//! shape therefore recurse at most that deep, and no shape can exhaust the stack.

use std::{fmt, ops::Deref};

use tilewright_core::Error as Refusal;
use tilewright_error::Error;

use crate::ArrayShape;

/// Any shape of XLA: the type of an instruction's value.
///
/// Source: XLA's `xla/shape.h`; for the text, `xla/hlo/parser/hlo_parser.cc`.
///
/// ```
/// use tilewright_xla::{Shape, ShapeKind};
/// let shape = Shape::parse("(f32[2,3]{0,1}, (token[], s4[8]{0:E(4)}), b(f32[8]))").unwrap();
/// assert_eq!(shape.tuple_shapes().unwrap().len(), 3);
/// assert!(matches!(shape.at(&[1, 0]).unwrap().kind(), ShapeKind::Token));
/// assert_eq!(shape.at(&[0]).unwrap().as_array().unwrap().dims().len(), 2);
/// assert_eq!(shape.to_string(), "(f32[2,3]{0,1}, (token[], s4[8]{0:E(4)}), b(f32[8]))");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    node: Node,
    /// The nesting depth of tuples and buffers, this shape included.
    depth: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Array(ArrayShape),
    Tuple(Vec<Shape>),
    Token,
    Opaque,
    Buffer(ArrayShape),
}

/// The kind of a [`Shape`], with its contents borrowed: for `match`.
///
/// ```
/// use tilewright_xla::{Shape, ShapeKind};
/// let shape = Shape::parse("(f32[2], token[])").unwrap();
/// let words = match shape.kind() {
///     ShapeKind::Array(array) => format!("an array of {} dims", array.dims().len()),
///     ShapeKind::Tuple(members) => format!("a tuple of {}", members.len()),
///     ShapeKind::Token | ShapeKind::Opaque => "nothing to store".into(),
///     ShapeKind::Buffer(_) => "a reference".into(),
///     // XLA adds kinds.
///     other => format!("{other:?}"),
/// };
/// assert_eq!(words, "a tuple of 2");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShapeKind<'a> {
    /// An array of values.
    Array(&'a ArrayShape),
    /// A tuple of these shapes; the empty tuple is `nil`.
    Tuple(&'a [Shape]),
    /// A token, which orders effects and is not a value.
    Token,
    /// A value of unknown type.
    Opaque,
    /// A mutable reference to one array.
    Buffer(&'a ArrayShape),
}

impl Shape {
    /// The largest nesting depth of tuples; deeper text and protos are refused. Proto decoders accept at most 100 nested
    /// messages, and a module needs a few around a shape.
    pub const MAX_DEPTH: usize = 90;

    /// Creates the shape of an array.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType, Shape};
    /// let shape = Shape::array(ArrayShape::new(PrimitiveType::S8, &[4]));
    /// assert_eq!(shape.to_string(), "s8[4]{0}");
    /// ```
    pub fn array(array: ArrayShape) -> Shape {
        Shape { node: Node::Array(array), depth: 0 }
    }

    /// Creates a tuple; without members, it is `nil`.
    ///
    /// # Errors
    /// [limit](Refusal::is_limit) if the nesting exceeds [`Shape::MAX_DEPTH`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::token();
    /// for _ in 0..Shape::MAX_DEPTH {
    ///     shape = Shape::tuple(vec![shape]).unwrap();
    /// }
    /// assert!(Shape::tuple(vec![shape]).unwrap_err().is_limit());
    /// ```
    #[doc(alias = "MakeTupleShape")]
    #[doc(alias = "MakeTupleShapeWithPtrs")]
    pub fn tuple(shapes: Vec<Shape>) -> Result<Shape, Refusal> {
        let inner = shapes.iter().map(|shape| shape.depth).max().unwrap_or(0);
        if inner >= Shape::MAX_DEPTH {
            return Err(too_deep());
        }
        Ok(Shape { node: Node::Tuple(shapes), depth: inner + 1 })
    }

    /// Creates the tuple without members, `()`.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert_eq!(Shape::nil(), Shape::parse("()").unwrap());
    /// assert_eq!(Shape::nil().tuple_shapes(), Some(&[][..]));
    /// ```
    #[doc(alias = "MakeNil")]
    pub fn nil() -> Shape {
        Shape { node: Node::Tuple(Vec::new()), depth: 1 }
    }

    /// Creates a token.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert_eq!(Shape::token().to_string(), "token[]");
    /// ```
    #[doc(alias = "MakeTokenShape")]
    pub fn token() -> Shape {
        Shape { node: Node::Token, depth: 0 }
    }

    /// Creates an opaque value.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert_eq!(Shape::opaque().to_string(), "opaque[]");
    /// ```
    #[doc(alias = "MakeOpaqueShape")]
    pub fn opaque() -> Shape {
        Shape { node: Node::Opaque, depth: 0 }
    }

    /// Creates a mutable reference to one array.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, Shape};
    /// let shape = Shape::buffer(ArrayShape::parse("f32[8]").unwrap());
    /// assert_eq!(shape.to_string(), "b(f32[8])");
    /// ```
    #[doc(alias = "MakeBufferShape")]
    #[doc(alias = "MakeValidatedBufferShape")]
    pub fn buffer(array: ArrayShape) -> Shape {
        Shape { node: Node::Buffer(array), depth: 1 }
    }

    /// Returns the kind of the shape, for `match`.
    ///
    /// ```
    /// use tilewright_xla::{Shape, ShapeKind};
    /// assert!(matches!(Shape::token().kind(), ShapeKind::Token));
    /// assert!(matches!(Shape::parse("b(f32[8])").unwrap().kind(), ShapeKind::Buffer(_)));
    /// ```
    pub fn kind(&self) -> ShapeKind<'_> {
        match &self.node {
            Node::Array(array) => ShapeKind::Array(array),
            Node::Tuple(shapes) => ShapeKind::Tuple(shapes),
            Node::Token => ShapeKind::Token,
            Node::Opaque => ShapeKind::Opaque,
            Node::Buffer(array) => ShapeKind::Buffer(array),
        }
    }

    /// Returns the array, if the shape is one; for the array inside a buffer, use [`Shape::as_buffer`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let rank = |text| Some(Shape::parse(text).unwrap().as_array()?.dims().len());
    /// assert_eq!((rank("f32[2,3]"), rank("(f32[2,3])"), rank("b(f32[2,3])")), (Some(2), None, None));
    /// ```
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match &self.node {
            Node::Array(array) => Some(array),
            Node::Tuple(_) | Node::Token | Node::Opaque | Node::Buffer(_) => None,
        }
    }

    /// Returns the array for modification, if the shape is one.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("f32[2,3]").unwrap();
    /// shape.as_array_mut().unwrap().set_layout(Some(Layout::ascending(2)));
    /// assert_eq!(shape.to_string(), "f32[2,3]{0,1}");
    /// ```
    pub fn as_array_mut(&mut self) -> Option<&mut ArrayShape> {
        match &mut self.node {
            Node::Array(array) => Some(array),
            Node::Tuple(_) | Node::Token | Node::Opaque | Node::Buffer(_) => None,
        }
    }

    /// Returns the array that a buffer refers to; `None` for other shapes.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("b(f32[8])").unwrap();
    /// assert_eq!(shape.as_buffer().unwrap().bytes(), Ok(32));
    /// assert!(Shape::parse("f32[8]").unwrap().as_buffer().is_none());
    /// ```
    pub fn as_buffer(&self) -> Option<&ArrayShape> {
        match &self.node {
            Node::Buffer(array) => Some(array),
            Node::Array(_) | Node::Tuple(_) | Node::Token | Node::Opaque => None,
        }
    }

    /// Returns the array that a buffer refers to for modification; `None` for other shapes.
    ///
    /// ```
    /// use tilewright_xla::{Dim, Shape};
    /// let mut shape = Shape::parse("b(f32[8])").unwrap();
    /// shape.as_buffer_mut().unwrap().set_dim(0, Dim::Bounded(8)).unwrap();
    /// assert_eq!(shape.to_string(), "b(f32[<=8])");
    /// ```
    pub fn as_buffer_mut(&mut self) -> Option<&mut ArrayShape> {
        match &mut self.node {
            Node::Buffer(array) => Some(array),
            Node::Array(_) | Node::Tuple(_) | Node::Token | Node::Opaque => None,
        }
    }

    /// Returns the members of a tuple; `None` for other shapes.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s8[], token[]))").unwrap();
    /// let [_, inner] = shape.tuple_shapes().unwrap() else { panic!("two members") };
    /// assert_eq!(inner.to_string(), "(s8[], token[])");
    /// assert!(Shape::token().tuple_shapes().is_none());
    /// ```
    pub fn tuple_shapes(&self) -> Option<&[Shape]> {
        match &self.node {
            Node::Tuple(shapes) => Some(shapes),
            Node::Array(_) | Node::Token | Node::Opaque | Node::Buffer(_) => None,
        }
    }

    /// Returns the members of a tuple by value; `None` for other shapes.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let members = Shape::parse("(f32[2], token[])").unwrap().into_tuple_shapes().unwrap();
    /// assert_eq!(members[1], Shape::token());
    /// assert!(Shape::token().into_tuple_shapes().is_none());
    /// ```
    pub fn into_tuple_shapes(self) -> Option<Vec<Shape>> {
        match self.node {
            Node::Tuple(shapes) => Some(shapes),
            Node::Array(_) | Node::Token | Node::Opaque | Node::Buffer(_) => None,
        }
    }

    /// Returns whether the shape is an array. XLA's `IsArray` is also true of buffers; its `IsArrayExcludingBuffer` is
    /// this method.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_array = |text| Shape::parse(text).unwrap().is_array();
    /// assert!(is_array("f32[]") && !is_array("b(f32[])") && !is_array("(f32[])"));
    /// ```
    pub fn is_array(&self) -> bool {
        matches!(self.node, Node::Array(_))
    }

    /// Returns whether the shape is a tuple.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_tuple = |text| Shape::parse(text).unwrap().is_tuple();
    /// assert!(is_tuple("(f32[])") && is_tuple("()") && !is_tuple("f32[]"));
    /// ```
    pub fn is_tuple(&self) -> bool {
        matches!(self.node, Node::Tuple(_))
    }

    /// Returns whether the shape is the tuple without members.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_nil = |text| Shape::parse(text).unwrap().is_nil();
    /// assert!(is_nil("()") && !is_nil("(())") && !is_nil("f32[0]"));
    /// ```
    #[doc(alias = "IsEmptyTuple")]
    pub fn is_nil(&self) -> bool {
        self.tuple_shapes().is_some_and(<[Shape]>::is_empty)
    }

    /// Returns whether the shape is a token.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_token = |text| Shape::parse(text).unwrap().is_token();
    /// assert!(is_token("token[]") && !is_token("(token[])"));
    /// ```
    pub fn is_token(&self) -> bool {
        matches!(self.node, Node::Token)
    }

    /// Returns whether the shape is opaque.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_opaque = |text| Shape::parse(text).unwrap().is_opaque();
    /// assert!(is_opaque("opaque[]") && !is_opaque("token[]"));
    /// ```
    pub fn is_opaque(&self) -> bool {
        matches!(self.node, Node::Opaque)
    }

    /// Returns whether the shape is a buffer.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let is_buffer = |text| Shape::parse(text).unwrap().is_buffer();
    /// assert!(is_buffer("b(f32[8])") && !is_buffer("f32[8]"));
    /// ```
    pub fn is_buffer(&self) -> bool {
        matches!(self.node, Node::Buffer(_))
    }

    /// Returns the nesting depth of tuples and buffers, at most [`Shape::MAX_DEPTH`].
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let depth = |text| Shape::parse(text).unwrap().depth();
    /// assert_eq!((depth("f32[2]"), depth("(f32[2])"), depth("((b(f32[2])))")), (0, 1, 3));
    /// ```
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the shape at a path of tuple members; the empty path is the shape itself.
    ///
    /// # Errors
    /// [out of range](Refusal::is_out_of_range) for a member that does not exist; [mismatch](Refusal::is_mismatch) if the
    /// path continues inside a shape that is not a tuple.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], (s32[], pred[3]))").unwrap();
    /// assert_eq!(shape.at(&[1, 1]).unwrap().to_string(), "pred[3]");
    /// assert!(shape.at(&[2]).unwrap_err().is_out_of_range());
    /// assert!(shape.at(&[0, 0]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "GetSubshape")]
    #[doc(alias = "TryGetSubshape")]
    pub fn at(&self, index: &[u64]) -> Result<&Shape, Refusal> {
        let mut shape = self;
        for (level, &member) in index.iter().enumerate() {
            let shapes = shape.tuple_shapes().ok_or_else(|| no_tuple(level))?;
            let slot = usize::try_from(member).ok().and_then(|member| shapes.get(member));
            shape = slot.ok_or_else(|| no_member(member, shapes.len(), level))?;
        }
        Ok(shape)
    }

    /// Returns the array, or the array inside a buffer, at a path, for modification.
    ///
    /// # Errors
    /// Those of [`Shape::at`]; [mismatch](Refusal::is_mismatch) if the shape at the path is not an array.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("(f32[2,3], token[])").unwrap();
    /// shape.array_at_mut(&[0]).unwrap().set_layout(Some(Layout::ascending(2)));
    /// assert_eq!(shape.to_string(), "(f32[2,3]{0,1}, token[])");
    /// assert!(shape.array_at_mut(&[1]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "GetMutableSubshape")]
    pub fn array_at_mut(&mut self, index: &[u64]) -> Result<&mut ArrayShape, Refusal> {
        let mut shape = self;
        for (level, &member) in index.iter().enumerate() {
            let Node::Tuple(shapes) = &mut shape.node else { return Err(no_tuple(level)) };
            let count = shapes.len();
            let slot = usize::try_from(member).ok().and_then(|member| shapes.get_mut(member));
            shape = slot.ok_or_else(|| no_member(member, count, level))?;
        }
        match &mut shape.node {
            Node::Array(array) | Node::Buffer(array) => Ok(array),
            Node::Tuple(_) | Node::Token | Node::Opaque => Err(Refusal::mismatch(
                "no array is at this path of {} members",
                [index.len() as i128],
                "give the path of an array or a buffer",
            )),
        }
    }

    /// Calls `change` for every array, those inside buffers included, in the order of the text.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("(f32[2], b(s8[3]), token[])").unwrap();
    /// shape.for_each_array_mut(&mut |array| array.set_layout(Some(Layout::descending(1))));
    /// assert_eq!(shape.to_string(), "(f32[2]{0}, b(s8[3]{0}), token[])");
    /// ```
    #[doc(alias = "ForEachMutableSubshape")]
    #[doc(alias = "ForEachMutableSubshapeWithStatus")]
    #[doc(alias = "ForEachMutableSubshapePostOrder")]
    #[doc(alias = "ForEachMutableLeafShape")]
    pub fn for_each_array_mut(&mut self, change: &mut dyn FnMut(&mut ArrayShape)) {
        match &mut self.node {
            Node::Array(array) | Node::Buffer(array) => change(array),
            Node::Tuple(shapes) => {
                shapes.iter_mut().for_each(|shape| shape.for_each_array_mut(change));
            }
            Node::Token | Node::Opaque => {}
        }
    }

    /// Calls `visit` for every array, those inside buffers included, in the order of the text.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2], b(s8[3]), token[])").unwrap();
    /// let mut bytes = 0;
    /// shape.for_each_array(&mut |array| bytes += array.bytes().unwrap());
    /// assert_eq!(bytes, 8 + 3);
    /// ```
    pub fn for_each_array<'a>(&'a self, visit: &mut dyn FnMut(&'a ArrayShape)) {
        match &self.node {
            Node::Array(array) | Node::Buffer(array) => visit(array),
            Node::Tuple(shapes) => shapes.iter().for_each(|shape| shape.for_each_array(visit)),
            Node::Token | Node::Opaque => {}
        }
    }

    /// Returns the shape with a layout for every array: the row-major one for arrays without, as XLA's parser does.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[1], (f32[2], token[]), opaque[], f32[3])").unwrap();
    /// let filled = shape.with_default_layouts();
    /// assert_eq!(filled.to_string(), "(f32[1]{0}, (f32[2]{0}, token[]), opaque[], f32[3]{0})");
    /// ```
    pub fn with_default_layouts(mut self) -> Shape {
        self.for_each_array_mut(&mut |array| array.layout = Some(array.layout_or_default()));
        self
    }

    /// Gives scalars their only plain layout, which text does not show.
    #[cfg(feature = "proto")]
    pub(crate) fn fill_scalar_layouts(&mut self) {
        self.for_each_array_mut(&mut |array| {
            if array.dims.is_empty() && array.layout.is_none() {
                array.layout = Some(array.layout_or_default());
            }
        });
    }
}

/// The error of too deeply nested tuples.
pub(crate) fn too_deep() -> Refusal {
    Refusal::limit(
        "tuples are nested more than {} deep",
        [Shape::MAX_DEPTH as i128],
        "flatten the innermost ones",
    )
}

/// The error of an array of too many dims.
pub(crate) fn too_many_dims(dims: usize) -> Refusal {
    Refusal::limit(
        "{} dims or more, at most {}",
        [dims as i128, ArrayShape::MAX_RANK as i128],
        "merge some",
    )
}

fn no_tuple(level: usize) -> Refusal {
    Refusal::mismatch(
        "the path continues at its entry {}, but there is no tuple",
        [level as i128],
        "only tuples have members",
    )
}

fn no_member(member: u64, count: usize, level: usize) -> Refusal {
    Refusal::out_of_range(
        "member {} of a tuple of {}, at entry {} of the path",
        [member.into(), count as i128, level as i128],
        "members count from 0",
    )
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Shape {
        Shape::array(array)
    }
}

/// The largest number of bytes of an array's text in an error.
const MAX_ARRAY: usize = 200;

/// Returns the error of the array at `index`, which lacks a layout if `cause` is `None`. The [name](Error::name) of the error is
/// the path of a member.
pub(crate) fn of_member(index: &ShapeIndex, array: &ArrayShape, cause: Option<Refusal>) -> Error {
    let text = match cause {
        None => clipped(array.without_layout().to_string()),
        Some(_) => clipped(array.to_string()),
    };
    let error = match cause {
        None => Error::illegal(format!(
            "shape {text} does not have a layout; write one, or fill in the default ones"
        ))
        .of_case("missing-layout"),
        Some(cause) => Error::from(cause).about(&format!("shape {text}")),
    };
    match index.is_empty() {
        true => error,
        false => error.about(&format!("member {index}")).named(index.to_string()),
    }
}

fn clipped(mut text: String) -> String {
    if text.len() > MAX_ARRAY {
        text.truncate(MAX_ARRAY);
        text.push('…');
    }
    text
}

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
        crate::layout::write_list(f, &self.members)?;
        f.write_str("}")
    }
}

/// The shapes of a computation's parameters and result.
///
/// Text: `(x: f32[2]{0}, (unknown): token[]) -> f32[7]{0}`; a parameter without a name prints as `(unknown)`. Printed
/// names read back if they consist of letters, digits and `_.-%`.
///
/// Source: XLA's `xla/shape.h`.
///
/// ```
/// use tilewright_xla::ProgramShape;
/// let program = ProgramShape::parse("(x: f32[2,3]{0,1}, (unknown): token[]) -> f32[7]").unwrap();
/// assert_eq!(program.parameters[0].name, "x");
/// assert_eq!(program.parameters[1].name, "");
/// assert_eq!(program.to_string(), "(x: f32[2,3]{0,1}, (unknown): token[]) -> f32[7]");
/// assert_eq!(
///     program.without_layouts().to_string(),
///     "(x: f32[2,3], (unknown): token[]) -> f32[7]"
/// );
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramShape {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The shape of the result.
    pub result: Shape,
}

/// A parameter of a [`ProgramShape`].
///
/// ```
/// use tilewright_xla::{Parameter, ProgramShape, Shape};
/// let program = ProgramShape::parse("(x: f32[2]) -> f32[2]").unwrap();
/// let x = Parameter { name: "x".into(), shape: Shape::parse("f32[2]").unwrap() };
/// assert_eq!(program.parameters, [x]);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The name of the parameter; empty if it has none.
    pub name: String,
    /// The shape of the parameter.
    pub shape: Shape,
}

impl ProgramShape {
    /// Displays the program's shape without layouts, as XLA's `ToString` does; [`fmt::Display`] includes the layouts.
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// let program = ProgramShape::parse("(x: f32[2,3]{0,1}) -> f32[6]{0}").unwrap();
    /// assert_eq!(program.without_layouts().to_string(), "(x: f32[2,3]) -> f32[6]");
    /// ```
    pub fn without_layouts(&self) -> impl fmt::Display + '_ {
        PrintedProgram { program: self, layouts: false }
    }
}

struct PrintedProgram<'a> {
    program: &'a ProgramShape,
    layouts: bool,
}

impl PrintedProgram<'_> {
    fn shape(&self, f: &mut fmt::Formatter<'_>, shape: &Shape) -> fmt::Result {
        if self.layouts { write!(f, "{shape}") } else { write!(f, "{}", shape.without_layouts()) }
    }
}

impl fmt::Display for PrintedProgram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, parameter) in self.program.parameters.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(if parameter.name.is_empty() { "(unknown)" } else { &parameter.name })?;
            f.write_str(": ")?;
            self.shape(f, &parameter.shape)?;
        }
        f.write_str(") -> ")?;
        self.shape(f, &self.program.result)
    }
}

impl fmt::Display for ProgramShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrintedProgram { program: self, layouts: true }.fmt(f)
    }
}
