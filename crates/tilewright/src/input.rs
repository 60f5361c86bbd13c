//! Readers of what a person types: a SPEC or an expression in its place, two layouts of one array, a list of integers.
//!
//! # Arrays in shards
//!
//! An array in shards with the layout of each shard, `ARRAY @ SHARDING / SPEC`.
//!
//! [`sharded`](crate::sharded) computes what each device holds and reads no layouts. [`notation`] reads layouts of
//! whole arrays. This module resolves the layout after ` / ` for the part that each device holds.

use std::{cmp::Reverse, fmt};

use tilewright_core::{Dtype, Fill};
use tilewright_sharded::{Shard, Sharded, Text, is_sharded};
use {
    tilewright_notation as notation,
    tilewright_notation::{ArrayLayout, Lists, ResolvedLayout, Spec},
};

use crate::{
    Error,
    eval::{is_expression, layout_of},
};

/// The optional prefix of an expression in place of a SPEC.
const EVAL: &str = "eval:";

/// Known properties of the array that layouts describe. A general SPEC needs the dims, and some need the element type.
///
/// ```
/// use tilewright::input::Array;
/// let array = Array::read(Some("100, 30"), Some("f16"))?;
/// assert_eq!(array.layout("spec", "zN")?.to_spec(), "f16[100,30] zN");
/// // An expression may stand for a layout, and what one of two layouts lacks it takes from the other.
/// let [a, b] = Array::default().layouts("composition((4,8):(8,1), <2,4>)", "col-major")?;
/// assert_eq!((a.to_spec(), b.layout().extents()), ("(2,4):(8,1)".into(), &[2, 4][..]));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// The logical extents, if given.
    pub dims: Option<Vec<u64>>,
    /// The element type, if given.
    pub dtype: Option<Dtype>,
}

impl Array {
    /// Reads dims and element type as a person types them. An absent text is an absent value.
    ///
    /// # Errors
    /// As [`integers`] and [`notation::dtype`], in the fields `dims` and `dtype`.
    ///
    /// ```
    /// use tilewright::input::Array;
    /// assert_eq!(Array::read(Some("()"), None)?.dims, Some(vec![]));
    /// assert_eq!(Array::read(None, Some("f17")).unwrap_err().field(), Some("dtype"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn read(dims: Option<&str>, dtype: Option<&str>) -> Result<Array, Error> {
        let refused = |error: Error| error.in_field("dtype");
        Ok(Array {
            dims: dims.map(|text| integers("dims", text)).transpose()?,
            dtype: dtype.map(notation::dtype).transpose().map_err(refused)?,
        })
    }

    /// Returns the layout of this array that a text describes: a SPEC, or an expression.
    ///
    /// # Errors
    /// As [`read`] and [`Spec::resolve`], in this `field` of a question.
    ///
    /// ```
    /// use tilewright::input::Array;
    /// let error = Array::default().layout("to", "row-mayor").unwrap_err();
    /// assert_eq!((error.field(), error.span()), (Some("to"), Some((0, 9))));
    /// ```
    pub fn layout(&self, field: &'static str, text: &str) -> Result<ResolvedLayout, Error> {
        let spec = read(text).map_err(|error| error.in_field(field))?;
        let named = spec.resolve(self.dims.as_deref(), self.dtype);
        named.map_err(|error| error.in_field(field))
    }

    /// Returns two layouts of this array. Each takes what it lacks from the other.
    ///
    /// # Errors
    /// As [`Array::layout`], in the fields `a` and `b`.
    ///
    /// ```
    /// use tilewright::input::Array;
    /// let error = Array::default().layouts("(2,3):(3,1)", "(2,x):(1,2)").unwrap_err();
    /// assert_eq!((error.field(), error.span()), (Some("b"), Some((3, 4))));
    /// ```
    pub fn layouts(&self, a: &str, b: &str) -> Result<[ResolvedLayout; 2], Error> {
        let first = read(a).map_err(|error| error.in_field("a"))?;
        let second = read(b).map_err(|error| error.in_field("b"))?;
        let resolve = |spec: &Spec, dims: Option<&[u64]>, dtype| spec.resolve(dims, dtype);
        let array = |other: &ResolvedLayout| (other.layout().extents().to_vec(), other.dtype());
        let given = (self.dims.as_deref(), self.dtype);
        let [a, b] = pair([&first, &second], given, resolve, array);
        let refused = |field| move |error: Error| error.in_field(field);
        Ok([a.map_err(refused("a"))?, b.map_err(refused("b"))?])
    }
}

impl Array {
    /// Returns the layout of this array that a text describes, which may have index tables; `lists` resolves the names of lists
    /// in it.
    ///
    /// # Errors
    /// As [`read`] and [`Spec::array_layout`], in this `field` of a question.
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// use tilewright::input::Array;
    /// let array = Array::read(Some("4,8"), Some("f16"))?;
    /// let tabled = array.array_layout("spec", "table(0; 0,2,3,1) zN", &())?;
    /// assert_eq!(tabled.to_spec(), "f16[4,8] table(0; 0,2,3,1) zN");
    /// let error = array.array_layout("spec", "table(0; 0,2,3,4) zN", &()).unwrap_err();
    /// assert_eq!((error.field(), error.span()), (Some("spec"), Some((0, 17))));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array_layout(
        &self,
        field: &'static str,
        text: &str,
        lists: &dyn Lists,
    ) -> Result<ArrayLayout, Error> {
        let spec = read(text).map_err(|error| error.in_field(field))?;
        let array = spec.array_layout(self.dims.as_deref(), self.dtype, lists);
        array.map_err(|error| error.in_field(field))
    }

    /// Returns two layouts of this array that may have index tables. Each takes what it lacks from the other.
    ///
    /// # Errors
    /// As [`Array::array_layout`], in the fields `a` and `b`.
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// use tilewright::input::Array;
    /// let [a, b] = Array::default().array_layouts("f16[4,9] table(0; 0,2,3,1) zN", "row-major", &())?;
    /// assert_eq!(a.layout().extents(), b.layout().extents());
    /// let error = Array::default().array_layouts("table(0; 1,0) zN", "row-major", &()).unwrap_err();
    /// assert_eq!(error.field(), Some("a"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array_layouts(
        &self,
        a: &str,
        b: &str,
        lists: &dyn Lists,
    ) -> Result<[ArrayLayout; 2], Error> {
        let first = read(a).map_err(|error| error.in_field("a"))?;
        let second = read(b).map_err(|error| error.in_field("b"))?;
        let [a, b] = both([&first, &second], self.dims.as_deref(), self.dtype, lists);
        let refused = |field| move |error: Error| error.in_field(field);
        Ok([a.map_err(refused("a"))?, b.map_err(refused("b"))?])
    }
}

/// Reads a SPEC, or the layout that an expression evaluates to. The prefix `eval:` or the form of the text marks an expression.
///
/// # Errors
/// As [`Spec::parse`] and [`layout_of`].
///
/// ```
/// use tilewright::input::read;
/// let spec = |text| read(text).unwrap().resolve(None, None).unwrap().to_spec();
/// assert_eq!(spec("f32[2,3]{1,0}"), "f32[2,3]{1,0}");
/// assert_eq!(spec("composition((4,8):(8,1), <2,4>)"), "(2,4):(8,1)");
/// assert_eq!(spec("eval:(4,8):(8,1) o <2,4>"), "(2,4):(8,1)");
/// assert_eq!(spec("make_layout((4,2), (1,4))"), spec("make_layout(make_shape(4,2), make_stride(1,4))"));
/// assert_eq!(read("eval: size(4:1)").unwrap_err().span(), Some((5, 15)));
/// // Of a text that neither reads, the error is that of the reading that gets further.
/// let error = read("make_layout(make_shape(4,8), make_stride(8,1)").unwrap_err();
/// assert_eq!(error.span(), Some((45, 45)));
/// ```
pub fn read(text: &str) -> Result<Spec, Error> {
    if let Some(expression) = text.trim_start().strip_prefix(EVAL) {
        let at = text.len() - expression.len();
        return evaluated(expression).map_err(|error| error.shifted(at));
    }
    match Spec::parse(text) {
        Ok(spec) => Ok(spec),
        Err(error) if error.is_not_built() => Err(error),
        Err(_) if is_sharded(text) => {
            let said = "a sharded array, where the layout of an array is expected";
            Err(Error::new("unsupported", said).at((0, text.len())).in_text(text))
        }
        Err(error) if is_expression(text) => evaluated(text).map_err(|other| further(error, other)),
        Err(error) => Err(error),
    }
}

/// Returns the layout that an expression evaluates to.
fn evaluated(expression: &str) -> Result<Spec, Error> {
    Spec::parse(&layout_of(expression)?.to_spec())
}

/// Returns, of the errors of two readings of one text, the one that gets further, since the text was probably meant that way. An
/// expression that parses counts as the furthest.
fn further(spec: Error, expression: Error) -> Error {
    let at = |error: &Error| error.span().map(|(from, to)| (from, Reverse(to)));
    if expression.is_parse() && at(&spec) > at(&expression) { spec } else { expression }
}

/// Returns the end of a text that holds an expression, if the text is an expression instead of a SPEC.
///
/// ```
/// use tilewright::input::expression;
/// assert_eq!(expression("eval: size(4:1)"), Some(" size(4:1)"));
/// assert_eq!(expression("coalesce(4:1)"), Some("coalesce(4:1)"));
/// assert_eq!(expression("row-major"), None);
/// ```
pub fn expression(text: &str) -> Option<&str> {
    match text.trim_start().strip_prefix(EVAL) {
        None => (Spec::parse(text).is_err() && is_expression(text)).then_some(text),
        expression => expression,
    }
}

/// Resolves two layouts of one array, which may have index tables. A SPEC takes from the other only what it needs and is not
/// given: what a concrete SPEC states about its elements is not a part of the map.
///
/// # Errors
/// As [`Spec::array_layout`], for each.
///
/// ```
/// # if !cfg!(feature = "tables") { return; }
/// use tilewright::{Spec, input::both};
/// let specs = ["f16[4,8] table(0; 0,2,3,1) row-major", "zN"].map(|text| Spec::parse(text).unwrap());
/// let [rows, zn] = both([&specs[0], &specs[1]], None, None, &()).map(Result::unwrap);
/// assert_eq!(rows.layout().extents(), zn.layout().extents());
/// ```
pub fn both(
    specs: [&Spec; 2],
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
    lists: &dyn Lists,
) -> [Result<ArrayLayout, Error>; 2] {
    let resolve = |spec: &Spec, dims: Option<&[u64]>, dtype| spec.array_layout(dims, dtype, lists);
    pair(specs, (dims, dtype), resolve, |other| {
        (other.layout().extents().to_vec(), other.stored().dtype())
    })
}

/// Resolves two SPECs with the given dims and element type. A SPEC that needs more takes it from the array of the other.
fn pair<T: Clone>(
    specs: [&Spec; 2],
    (dims, dtype): (Option<&[u64]>, Option<Dtype>),
    resolve: impl Fn(&Spec, Option<&[u64]>, Option<Dtype>) -> Result<T, Error>,
    array: impl Fn(&T) -> (Vec<u64>, Option<Dtype>),
) -> [Result<T, Error>; 2] {
    let alone = specs.map(|spec| resolve(spec, dims, dtype));
    [0, 1].map(|side| match (&alone[side], &alone[1 - side]) {
        (Err(error), Ok(other)) if error.needs_dims() || error.needs_dtype() => {
            let (extents, other) = array(other);
            resolve(specs[side], dims.or(Some(&extents)), dtype.or(other))
        }
        (own, _) => own.clone(),
    })
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`; `()` are the dims of a scalar.
///
/// # Errors
/// [usage](Error::is_usage), in this `field` of a question, for the first part that is not an integer from 0 to 2⁶⁴ − 1.
///
/// ```
/// use tilewright::input::integers;
/// for text in ["1,5", "(1,5)", "[1, 5]", " 1 , 5 ", "(1,5,)"] {
///     assert_eq!(integers("dims", text)?, [1, 5]);
/// }
/// assert!(integers("dims", "")?.is_empty() && integers("dims", "()")?.is_empty());
/// for text in ["1,,5", "x", "-1", "1 5", "99999999999999999999", "(1,5"] {
///     assert!(integers("dims", text).is_err());
/// }
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn integers(field: &'static str, text: &str) -> Result<Vec<u64>, Error> {
    let text = text.trim();
    let bracketed = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inner = bracketed('(', ')').or_else(|| bracketed('[', ']')).unwrap_or(text).trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let says = match digits {
            true => "exceeds 2^64 - 1; expected a list such as 100,100",
            false => "is not an integer from 0 to 2^64 - 1; expected a list such as 100,100",
        };
        Error::usage(format!("`{part}` {says}")).in_field(field)
    };
    inner.split(',').map(|part| part.trim().parse().map_err(|_| refused(part.trim()))).collect()
}

/// An array in shards, with the layout of each shard in the memory of its device.
///
/// ```
/// use tilewright::InShards;
/// let array = InShards::parse("f16[100,64] @ mesh(tp=2) row / zN")?;
/// let shard = array.sharded.shard(1)?;
/// let zn = array.layout(&shard)?.unwrap();
/// assert_eq!(zn.to_spec(), "f16[100,32] zN");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InShards {
    /// The sharding, which gives what each device holds.
    pub sharded: Sharded,
    /// The layout of each shard; row-major if the text has none.
    pub shard: Option<Spec>,
}

impl InShards {
    /// Reads the text of an array in shards.
    ///
    /// # Errors
    /// The errors of [`Text::parse`] and [`Spec::parse`], and an error for a layout that does not fit what some device holds;
    /// each with its bytes of the text.
    ///
    /// ```
    /// use tilewright::InShards;
    /// let error = InShards::parse("f16[64] @ mesh(2) [Shard(0)] / zN").unwrap_err();
    /// assert_eq!(error.span(), Some((31, 33)));
    /// assert!(error.message().starts_with("device 0 holds [32]"));
    /// ```
    pub fn parse(text: &str) -> Result<InShards, Error> {
        let read = Text::parse(text).map_err(|error| error.in_text(text))?;
        let Some((from, to)) = read.shard else {
            return Ok(InShards { sharded: read.sharded, shard: None });
        };
        let spec = Spec::parse(text.get(from..to).unwrap_or(""))
            .map_err(|error| error.shifted(from).in_text(text))?;
        let array = InShards { sharded: read.sharded, shard: Some(spec) };
        array.check().map_err(|error| error.at((from, to)).in_text(text))?;
        Ok(array)
    }

    /// Returns the layout of a shard over its own extents. `None` for a device that holds nothing, and for a text without a layout.
    ///
    /// # Errors
    /// As [`Spec::resolve`].
    ///
    /// ```
    /// use tilewright::InShards;
    /// let array = InShards::parse("f16[3,16] @ mesh(4) [Shard(0)] / row-major")?;
    /// let text = |position| -> Result<_, tilewright::Error> {
    ///     Ok(array.layout(&array.sharded.shard(position)?)?.map(|named| named.to_spec()))
    /// };
    /// assert_eq!((text(2)?, text(3)?), (Some("f16[1,16] row-major".into()), None));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn layout(&self, shard: &Shard) -> Result<Option<ResolvedLayout>, Error> {
        match &self.shard {
            Some(spec) if !shard.is_empty() => {
                Ok(Some(spec.resolve(Some(&shard.extents()), self.sharded.dtype())?))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Returns one layout of all shards, with the memories of the devices one after another.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout), with the first position that no single layout has; also if the digits of a shard's
    /// layout do not end where the shards do.
    ///
    /// ```
    /// use tilewright::InShards;
    /// let array = InShards::parse("f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]")?;
    /// assert_eq!(array.as_layout()?.to_spec(), "f32[8,6] ((4,2),(3,2)):((3,24),(1,12))");
    /// let tiles = InShards::parse("f16[64,64] @ mesh(2) [Shard(0)] / zN")?;
    /// assert_eq!(tiles.as_layout()?.to_spec(), "f16[64,64] ((16,2,2),(16,4)):((16,256,2048),(1,512))");
    /// assert!(InShards::parse("f32[9] @ mesh(2) [Shard(0)]")?.as_layout().unwrap_err().is_no_layout());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn as_layout(&self) -> Result<ResolvedLayout, Error> {
        let (sharded, dtype) = (&self.sharded, self.sharded.dtype());
        let Some(own) = self.layout(&sharded.shard(0)?)? else {
            return Ok(ResolvedLayout::new(
                "shards",
                sharded.as_layout()?,
                dtype,
                None,
                Fill::Unspecified,
            ));
        };
        let layout = sharded.as_layout_of(own.layout())?;
        Ok(ResolvedLayout::new("shards", layout, dtype, own.explicit_bits(), own.fill()))
    }

    /// Returns the whole text with this sharding.
    pub(crate) fn text(&self, sharding: &str) -> String {
        let shard = self.shard.as_ref().map_or(String::new(), |spec| format!(" / {spec}"));
        format!("{} @ {sharding}{shard}", self.sharded.array())
    }

    /// Checks that the layout fits what every device holds.
    fn check(&self) -> Result<(), Error> {
        let mut known: Vec<Vec<u64>> = Vec::new();
        for shard in self.sharded.shards() {
            let extents = shard.extents();
            if !known.contains(&extents) {
                let device =
                    shard.device().map_or("every device".into(), |at| format!("device {at}"));
                let said = format!("{device} holds {extents:?}: ");
                self.layout(&shard).map_err(|error| error.prefixed(&said))?;
                known.push(extents);
            }
        }
        Ok(())
    }
}

/// The whole text, in the first notation of shardings that can express it.
///
/// ```
/// use tilewright::InShards;
/// let array = InShards::parse("f16[64] @ mesh(2) P('0') / row-major")?;
/// assert_eq!(array.to_string(), "f16[64] @ mesh(2) [Shard(0)] / row-major");
/// # Ok::<(), tilewright::Error>(())
/// ```
impl fmt::Display for InShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shard = self.shard.as_ref().map_or(String::new(), |spec| format!(" / {spec}"));
        write!(f, "{}{shard}", self.sharded)
    }
}
