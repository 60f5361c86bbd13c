//! Values of expressions, and their texts.
//!
//! Strides that name bases, as values of expressions.

use std::fmt;

use tilewright_core::{BasisLayout, IntTuple, Layout, LayoutTile, LinearLayout, Swizzle};
use tilewright_notation as notation;
use tilewright_notation::{ResolvedLayout, Spec};

use super::lexer::Items;
pub(super) use super::lexer::TilerPart;
use crate::eval::lexer::Dims;

/// Value of an expression. `Display` prints it as the answer.
///
/// ```
/// use tilewright::eval::evaluate;
/// let value = evaluate("logical_divide((6,8):(8,1), <3,4>)").unwrap();
/// assert_eq!(value.to_string(), "((3,2),(4,2)):((8,24),(1,4))");
/// assert_eq!(evaluate("size((3,(2,2)))").unwrap().kind(), "integer");
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Value(pub(super) Form);

/// Forms of a value.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Boolean(bool),
    /// An integer or a tuple of integers.
    Tuple(IntTuple),
    /// `_`, or a tuple that contains `_`.
    Slicer(Items),
    Layout(Box<Layout>),
    /// A layout that prints its offset even if it is 0.
    Cut(Box<Layout>),
    Tile(Box<LayoutTile>),
    Basis(Box<BasisLayout>),
    /// The strides of such a map, alone.
    Strides(Strides),
    /// A map that is linear over bits.
    Linear(Box<LinearLayout>),
    /// The names of a linear layout's dims.
    Dims(Dims),
    Tiler(Vec<TilerPart>),
    Swizzle(Swizzle),
    List(Vec<i64>),
    Spec(Box<ResolvedLayout>),
    /// An offset without an element.
    Padding,
}

impl From<Form> for Value {
    fn from(form: Form) -> Value {
        Value(form)
    }
}

impl Form {
    /// Returns a description of the form for messages.
    pub(super) fn described(&self) -> &'static str {
        match self {
            Form::Boolean(_) => "true or false",
            Form::Tuple(tuple) if tuple.as_integer().is_some() => "an integer",
            Form::Tuple(_) => "a tuple",
            Form::Slicer(_) => "a coordinate with `_`",
            Form::Layout(_) | Form::Cut(_) => "a layout",
            Form::Tile(_) => "a tile",
            Form::Basis(_) => "a map to coordinates",
            Form::Strides(_) => "strides such as 1@0",
            Form::Linear(_) => "a linear layout",
            Form::Dims(_) => "a list of dims",
            Form::Tiler(_) => "a tiler",
            Form::Swizzle(_) => "a swizzle",
            Form::List(_) => "a list",
            Form::Spec(_) => "a SPEC",
            Form::Padding => "padding",
        }
    }
}

impl Value {
    /// The kind of the value: `boolean`, `integer`, `tuple`, `slicer` (with `_`), `layout` (also with an offset or valid
    /// extents), `basis` (a map to coordinates), `strides` (those of such a map, alone), `linear` (a linear layout), `dims` (names
    /// of its dims), `tiler`, `swizzle`, `list`, `padding`.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let kind = |text| evaluate(text).unwrap().kind();
    /// assert_eq!([kind("size((4,8):(8,1))"), kind("shape((4,8):(8,1))")], ["integer", "tuple"]);
    /// assert_eq!([kind("coalesce((4,8):(8,1))"), kind("<3,4>")], ["layout", "tiler"]);
    /// ```
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Form::Boolean(_) => "boolean",
            Form::Tuple(tuple) if tuple.as_integer().is_some() => "integer",
            Form::Tuple(_) => "tuple",
            Form::Slicer(_) => "slicer",
            Form::Layout(_) | Form::Cut(_) | Form::Tile(_) | Form::Spec(_) => "layout",
            Form::Basis(_) => "basis",
            Form::Strides(_) => "strides",
            Form::Linear(_) => "linear",
            Form::Dims(_) => "dims",
            Form::Tiler(_) => "tiler",
            Form::Swizzle(_) => "swizzle",
            Form::List(_) => "list",
            Form::Padding => "padding",
        }
    }

    /// Returns the result of a comparison.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// assert_eq!(evaluate("same((2,3):(3,1), (2,3):(1,2))").unwrap().as_bool(), Some(false));
    /// assert_eq!(evaluate("size(4:1)").unwrap().as_bool(), None);
    /// ```
    pub fn as_bool(&self) -> Option<bool> {
        match &self.0 {
            Form::Boolean(answer) => Some(*answer),
            _ => None,
        }
    }

    /// Returns an integer, or a tuple of integers.
    ///
    /// ```
    /// use tilewright::{layouts::IntTuple, eval::evaluate};
    /// let shape = evaluate("shape(((4,2),3):((1,12),4))").unwrap();
    /// assert_eq!(shape.as_tuple(), IntTuple::parse("((4,2),3)").ok().as_ref());
    /// assert!(evaluate("4:1").unwrap().as_tuple().is_none());
    /// ```
    pub fn as_tuple(&self) -> Option<&IntTuple> {
        match &self.0 {
            Form::Tuple(tuple) => Some(tuple),
            _ => None,
        }
    }

    /// Returns the integers of a list.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let offsets = evaluate("offsets((2,3):(3,1))").unwrap();
    /// // Colexicographically: the first axis varies fastest.
    /// assert_eq!(offsets.as_list(), Some(&[0, 3, 1, 4, 2, 5][..]));
    /// ```
    pub fn as_list(&self) -> Option<&[i64]> {
        match &self.0 {
            Form::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the swizzle.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// assert_eq!(evaluate("Sw<2,4,3>").unwrap().as_swizzle().unwrap().base(), 4);
    /// assert!(evaluate("4:1").unwrap().as_swizzle().is_none());
    /// ```
    pub fn as_swizzle(&self) -> Option<Swizzle> {
        match &self.0 {
            Form::Swizzle(swizzle) => Some(*swizzle),
            _ => None,
        }
    }

    /// Returns the layout: for a tile its own, for a SPEC that of the padded array. A tuple is not a layout here.
    ///
    /// ```
    /// use tilewright::{Layout, eval::evaluate};
    /// let value = evaluate("slice((_,1), (4,8):(8,1))").unwrap();
    /// assert_eq!(value.as_layout(), Some(&Layout::parse("(4):(8)").unwrap()));
    /// assert!(evaluate("(4,8)").unwrap().as_layout().is_none());
    /// ```
    pub fn as_layout(&self) -> Option<&Layout> {
        match &self.0 {
            Form::Layout(layout) | Form::Cut(layout) => Some(layout),
            Form::Tile(tile) => Some(tile.layout()),
            Form::Spec(named) => named.layout().is_strided().then(|| named.layout().layout()),
            _ => None,
        }
    }

    /// Returns the map to coordinates.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let value = evaluate("make_identity_layout((2,3))").unwrap();
    /// assert_eq!(value.as_basis().unwrap().to_string(), "(2,3):(1@0,1@1)");
    /// assert!(evaluate("(2,3):(1,2)").unwrap().as_basis().is_none());
    /// ```
    pub fn as_basis(&self) -> Option<&BasisLayout> {
        match &self.0 {
            Form::Basis(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the map that is linear over bits.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let value = evaluate("linear((4,4):(4,1))").unwrap();
    /// assert_eq!(value.as_linear().unwrap().to_string(), "{dim0=[4,8],dim1=[1,2]} -> (offset:16)");
    /// assert!(evaluate("(4,4):(4,1)").unwrap().as_linear().is_none());
    /// ```
    pub fn as_linear(&self) -> Option<&LinearLayout> {
        match &self.0 {
            Form::Linear(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the names of dims, each with its size if one is given.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let value = evaluate("[lane:32,warp]").unwrap();
    /// assert_eq!(value.as_dims(), Some(vec![("lane", Some(32)), ("warp", None)]));
    /// assert_eq!(evaluate("4:1").unwrap().as_dims(), None);
    /// ```
    pub fn as_dims(&self) -> Option<Vec<(&str, Option<u64>)>> {
        match &self.0 {
            Form::Dims(dims) => Some(dims.pairs().collect()),
            _ => None,
        }
    }

    /// Returns whether the value is `_`, all coordinates of an axis.
    ///
    /// ```
    /// use tilewright::eval::{Value, evaluate};
    /// assert!(Value::keep().is_keep() && !evaluate("(1,_)").unwrap().is_keep());
    /// ```
    pub fn is_keep(&self) -> bool {
        matches!(&self.0, Form::Slicer(items) if *items == Items::leaf(None))
    }

    /// Returns the parts of a tiler or of a coordinate with `_`: for each axis a layout, an integer, `_`, or parts again.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let texts = |text| {
    ///     let parts = evaluate(text).unwrap().parts()?;
    ///     Some(parts.iter().map(|part| part.to_string()).collect::<Vec<_>>())
    /// };
    /// assert_eq!(texts("<3:2,(4,_)>").unwrap(), ["3:2", "<4,_>"]);
    /// assert_eq!(texts("((1,_),2,_)").unwrap(), ["(1,_)", "2", "_"]);
    /// assert_eq!(texts("4:1"), None);
    /// ```
    pub fn parts(&self) -> Option<Vec<Value>> {
        let form = |items: &Items| match items.integers() {
            Ok(Some(tuple)) => Form::Tuple(tuple),
            Ok(None) | Err(_) => Form::Slicer(items.clone()),
        };
        match &self.0 {
            Form::Tiler(parts) => Some(parts.iter().map(|part| Value(of_axis(part))).collect()),
            Form::Slicer(items) => {
                Some(items.split().iter().map(|part| Value(form(part))).collect())
            }
            _ => None,
        }
    }

    /// Returns the value as the layout of an array, for `show`, `explain` and `same`. A tuple is the compact layout of its shape.
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let named = evaluate("tile((8,12):(12,1), (3,5))").unwrap().to_named().unwrap();
    /// assert_eq!(named.layout().extents(), [3, 5]);
    /// assert!(evaluate("same(4:1, 4:1)").unwrap().to_named().is_none());
    /// ```
    pub fn to_named(&self) -> Option<ResolvedLayout> {
        let text = match &self.0 {
            Form::Layout(layout) | Form::Cut(layout) => layout.to_string(),
            Form::Tile(tile) => tile.to_string(),
            Form::Tuple(shape) => Layout::compact_col_major(shape).ok()?.to_string(),
            Form::Spec(named) => return Some(ResolvedLayout::clone(named)),
            _ => return None,
        };
        Spec::parse(&format!("cute:{text}")).and_then(|spec| spec.resolve(None, None)).ok()
    }
}

/// Returns the part of a tiler for one axis as a value.
fn of_axis(part: &TilerPart) -> Form {
    match part {
        TilerPart::Layout(layout) => Form::Layout(layout.clone()),
        // Extents are read as signed integers of 64 bits.
        TilerPart::Extent(extent) => {
            Form::Tuple(IntTuple::integer(i64::try_from(*extent).unwrap_or(i64::MAX)))
        }
        TilerPart::Keep => Form::Slicer(Items::leaf(None)),
        TilerPart::Modes(inner) => Form::Tiler(inner.clone()),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Boolean(answer) => write!(f, "{answer}"),
            Form::Tuple(tuple) => write!(f, "{tuple}"),
            Form::Slicer(items) => match items.slicer() {
                Ok(slicer) => write!(f, "{slicer}"),
                Err(error) => write!(f, "{error}"),
            },
            Form::Layout(layout) => write!(f, "{layout}"),
            Form::Cut(layout) => cut(f, layout),
            Form::Tile(tile) => write!(f, "{tile}"),
            Form::Basis(map) => write!(f, "{map}"),
            Form::Strides(strides) => write!(f, "{strides}"),
            Form::Linear(map) => write!(f, "{map}"),
            Form::Dims(dims) => write!(f, "{dims}"),
            Form::Tiler(parts) => f.write_str(&TilerPart::text(parts)),
            Form::Swizzle(swizzle) => write!(f, "{swizzle}"),
            Form::List(list) => {
                let list: Vec<String> = list.iter().map(i64::to_string).collect();
                write!(f, "[{}]", list.join(","))
            }
            Form::Spec(named) => f.write_str(&spec(named)),
            Form::Padding => f.write_str("padding"),
        }
    }
}

/// Prints `layout+offset`, also for an offset of 0.
fn cut(f: &mut fmt::Formatter<'_>, layout: &Layout) -> fmt::Result {
    let shown = layout.offset() != 0 || !layout.swizzle().is_identity();
    write!(f, "{layout}{}", if shown { "" } else { "+0" })
}

/// Returns the layout of a SPEC in modes and strides, or the SPEC if these cannot express it.
fn spec(named: &ResolvedLayout) -> String {
    let modes = notation::notations().iter().find(|notation| notation.name() == "cute");
    modes.and_then(|modes| modes.print(named).ok()).unwrap_or_else(|| named.to_spec())
}

/// Strides that name bases, such as `(1@0,1@1)`, as the text that core reads behind a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strides(String);

impl Strides {
    /// Returns the strides of a text: one stride such as `1@0`, or a tuple.
    pub(super) fn new(text: String) -> Strides {
        Strides(text)
    }

    /// Returns the strides of a map.
    pub(super) fn of(map: &BasisLayout) -> Strides {
        let text = map.to_string();
        Strides(text.split_once(':').map_or("", |(_, strides)| strides).to_owned())
    }

    /// Returns the sum of two strides.
    pub(super) fn plus(&self, other: &Strides) -> Strides {
        Strides(format!("{self}+{other}"))
    }

    /// Returns a single stride times an integer.
    pub(super) fn times(&self, by: i64) -> Option<Strides> {
        let (value, path) = self.0.split_once('@').filter(|_| !self.0.contains(['+', '(']))?;
        Some(Strides(format!("{}@{path}", value.parse::<i64>().ok()?.checked_mul(by)?)))
    }

    /// Returns the map of a shape with these strides, or core's message of why there is none.
    pub(super) fn over(&self, shape: &IntTuple) -> Result<BasisLayout, String> {
        BasisLayout::parse(&format!("{shape}:{self}")).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
