//! Questions of any kind, with typed fields or read from JSON, and the readers of the fields.

use serde_json::Value;
use tilewright_notation::{ArrayLayout, Notation, ResolvedLayout, TABLES, notation};

use crate::{
    Error, InShards,
    ask::{
        Answer, Contents, Distribution, Example, Explanation, Formats, Functions, Inferred, Known,
        Notations, Offset, Parsed, Recognition, Shards, ShardsExplanation, ShardsTranslation,
        TabledExplanation, Translation, compare,
    },
    eval::evaluate,
    input::{self, Array},
    sharded::is_sharded,
};

#[cfg(feature = "relayout")]
use super::Moved;
#[cfg(feature = "banks")]
use crate::{
    ask::BankConflicts,
    banks::{self, Banks},
};

/// Question about layouts that needs no files.
///
/// ```
/// use tilewright::ask::Question;
/// let asked = serde_json::json!({ "ask": "same", "a": "f32[2,3]{0,1}", "b": "(2,3):(1,2)" });
/// let question = Question::from_json(&asked)?.unwrap();
/// assert_eq!(question.answer()?.to_string(), "same");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub enum Question {
    /// The whole SPEC of a layout, and the properties of its array.
    Parse(ArrayLayout),
    /// The explanation of a layout.
    Explain(ArrayLayout),
    /// The names of a layout.
    Recognise(ResolvedLayout),
    /// A layout in another notation.
    Translate {
        /// The layout.
        of: ResolvedLayout,
        /// The notation.
        to: &'static Notation,
    },
    /// The offset of an element.
    Offset {
        /// The layout.
        of: ArrayLayout,
        /// The coordinate of the element, or its colexicographic index.
        coord: Vec<u64>,
    },
    /// The contents of an offset.
    Contents {
        /// The layout.
        of: ArrayLayout,
        /// The offset, in elements.
        offset: i64,
    },
    /// The comparison of two layouts as maps.
    Same(ArrayLayout, ArrayLayout),
    /// The elements that each register of each thread holds.
    Distribution {
        /// The layout, as text.
        spec: String,
        /// The array.
        array: Array,
    },
    /// The bank conflicts of an array in shared memory.
    #[cfg(feature = "banks")]
    Banks {
        /// The layout.
        of: ResolvedLayout,
        /// The accesses, as text.
        accesses: Vec<String>,
        /// The bytes that a thread accesses at once, if given.
        vector: Option<u64>,
        /// The machine.
        banks: Banks,
        /// True to search for the least change that removes the conflicts.
        fix: bool,
    },
    /// The elements that each device holds of an array in shards.
    Shards(InShards),
    /// The explanation of a sharding.
    ExplainShards(InShards),
    /// A sharding in another notation.
    TranslateShards {
        /// The array in shards.
        of: InShards,
        /// The notation: one of shardings, or one of layouts.
        to: String,
    },
    /// The layout between two buffers of bytes.
    Infer {
        /// The elements, row-major.
        original: Vec<u8>,
        /// The extents of the array.
        dims: Vec<u64>,
        /// The elements in the unknown layout.
        packed: Vec<u8>,
    },
    /// The bytes of an array in another layout.
    #[cfg(feature = "relayout")]
    Relayout {
        /// The layout of the source.
        from: ArrayLayout,
        /// The layout of the destination.
        to: ArrayLayout,
        /// The width of an element.
        bits: u32,
    },
    /// The value of an expression.
    Eval(String),
    /// The catalogue of named formats.
    Formats,
    /// One named format.
    Format(String),
    /// The notations.
    Notations,
    /// The functions of expressions.
    Functions,
}

impl Question {
    /// Reads a question: an object whose member `ask` names it, with the fields that `corpus/README.md` lists. `None` if `ask`
    /// names none of these questions.
    ///
    /// # Errors
    /// The errors of [`Fields`]; [`Error::field`] is the member at fault.
    ///
    /// ```
    /// use tilewright::ask::Question;
    /// let asked = |text| Question::from_json(&serde_json::from_str(text).unwrap());
    /// let offset = asked(r#"{"ask": "offset", "spec": "row-major", "dims": [4, 8], "coord": [1, 2]}"#)?;
    /// assert_eq!(offset.unwrap().answer()?.to_string(), "10");
    /// assert_eq!(asked(r#"{"ask": "offset", "coord": 5}"#).unwrap_err().field(), Some("spec"));
    /// assert!(asked(r#"{"ask": "sing"}"#)?.is_none());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn from_json(question: &Value) -> Result<Option<Question>, Error> {
        let fields = Fields(question);
        let spec = || fields.layout("spec");
        let array = || fields.array_layout("spec");
        let in_shards =
            || InShards::parse(fields.text("spec")?).map_err(|error| error.in_field("spec"));
        let cut = fields.text("spec").is_ok_and(is_sharded);
        Ok(Some(match fields.text("ask")? {
            "shards" => Question::Shards(in_shards()?),
            "explain" if cut => Question::ExplainShards(in_shards()?),
            "translate" if cut => {
                Question::TranslateShards { of: in_shards()?, to: fields.text("to")?.into() }
            }
            "parse" => Question::Parse(array()?),
            "explain" => Question::Explain(array()?),
            "recognise" => Question::Recognise(spec()?),
            "translate" => {
                let to = notation(fields.text("to")?);
                let to = to.map_err(|error| error.in_field("to"))?;
                Question::Translate { of: spec()?, to }
            }
            "offset" => Question::Offset { of: array()?, coord: fields.integers("coord")? },
            "coord" => Question::Contents { of: array()?, offset: fields.integer("offset")? },
            "same" => {
                let [a, b] = fields.array_layouts()?;
                Question::Same(a, b)
            }
            "distribution" => {
                Question::Distribution { spec: fields.text("spec")?.into(), array: fields.array()? }
            }
            #[cfg(feature = "banks")]
            "bank_conflicts" => bank_conflicts(fields)?,
            "infer" => Question::Infer {
                original: fields.bytes("original")?,
                dims: fields.integers("dims")?,
                packed: fields.bytes("packed")?,
            },
            #[cfg(feature = "relayout")]
            "relayout" => relayout(fields)?,
            "eval" => Question::Eval(fields.text("text")?.into()),
            "formats" => Question::Formats,
            "format" => Question::Format(fields.text("name")?.into()),
            "notations" => Question::Notations,
            "functions" => Question::Functions,
            _ => return Ok(None),
        }))
    }

    /// Returns the answer.
    ///
    /// # Errors
    /// The reason why there is none; [`Error::field`] is the part of the question at fault.
    ///
    /// ```
    /// use tilewright::{ask::Question, input::Array};
    /// let of = Array::default().array_layout("spec", "(2,3):(3,1)", &())?;
    /// let error = Question::Offset { of, coord: vec![2, 0] }.answer().map(|_| ()).unwrap_err();
    /// assert!(error.is_out_of_range() && error.field() == Some("coord"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn answer(&self) -> Result<Box<dyn Answer>, Error> {
        Ok(match self {
            Question::Parse(of) => Box::new(Parsed::of(of)),
            Question::Explain(of) => explained(of),
            Question::Recognise(of) => Box::new(Recognition::of(of)),
            Question::Translate { of, to } => Box::new(Translation::of(of, to)?),
            Question::Offset { of, coord } => Box::new(Offset::of(of, coord)?),
            Question::Contents { of, offset } => Box::new(Contents::of(of, *offset)?),
            Question::Same(a, b) => Box::new(compare(a, b)?),
            Question::Distribution { spec, array } => Box::new(Distribution::of(spec, array)?),
            #[cfg(feature = "banks")]
            Question::Banks { of, accesses, vector, banks, fix } => {
                let accesses: Vec<&str> = accesses.iter().map(String::as_str).collect();
                Box::new(BankConflicts::of(of, &accesses, *vector, banks, *fix)?)
            }
            Question::Shards(of) => Box::new(Shards::of(of)),
            Question::ExplainShards(of) => Box::new(ShardsExplanation::of(of)),
            Question::TranslateShards { of, to } => Box::new(ShardsTranslation::of(of, to)?),
            Question::Infer { original, dims, packed } => {
                let known = Known { bytes: original, dims, width: 1, dtype: None, bits: None };
                Box::new(Inferred::of(&known, packed))
            }
            #[cfg(feature = "relayout")]
            Question::Relayout { from, to, bits } => Box::new(Moved::of(from, to, *bits)?),
            Question::Eval(text) => {
                Box::new(evaluate(text).map_err(|error| error.in_field("text"))?)
            }
            Question::Formats => Box::new(Formats::default()),
            Question::Format(name) => Box::new(Example::of(name)?),
            Question::Notations => Box::new(Notations),
            Question::Functions => Box::new(Functions),
        })
    }
}

/// Returns the explanation of a layout, with index tables or without.
fn explained(of: &ArrayLayout) -> Box<dyn Answer> {
    match of.has_tables() {
        true => Box::new(TabledExplanation::of(of)),
        false => Box::new(Explanation::of(of.stored())),
    }
}

/// Reads a question about bank conflicts. `access` is a text or a list of texts; `banks` and `vector` may be absent.
#[cfg(feature = "banks")]
fn bank_conflicts(fields: Fields<'_>) -> Result<Question, Error> {
    let machine = Some(fields.text("banks")?).filter(|text| !text.is_empty());
    let vector = Some(&fields.0["vector"]).filter(|value| !value.is_null());
    Ok(Question::Banks {
        of: fields.layout("spec")?,
        accesses: fields.texts("access")?,
        vector: vector.map(|_| fields.natural("vector").map(u64::from)).transpose()?,
        banks: machine.map_or(Ok(Banks::NVIDIA), banks::machine)?,
        fix: fields.flag("fix")?,
    })
}

/// Reads a question about a relayout. The layout `to` is one of the array of `from`.
#[cfg(feature = "relayout")]
fn relayout(fields: Fields<'_>) -> Result<Question, Error> {
    let bits = fields.natural("bits")?;
    let from = fields.array_layout("from")?;
    let dims = Some(from.layout().extents().to_vec());
    let array = Array { dims, dtype: from.stored().dtype() };
    let text = fields.text("to")?;
    let to = match TABLES {
        true => array.array_layout("to", text, &())?,
        false => ArrayLayout::of(&array.layout("to", text)?),
    };
    Ok(Question::Relayout { from, to, bits })
}

/// Fields of a question: the members of a JSON object. An absent member, or null, is an empty text or an empty list of integers.
/// A member of another type than the requested one is an error that names the member.
///
/// ```
/// use tilewright::ask::Fields;
/// let question = serde_json::json!({ "spec": "zN", "dims": "32, 48", "dtype": "f16", "coord": [1, 2] });
/// let fields = Fields(&question);
/// assert_eq!(fields.layout("spec")?.to_spec(), "f16[32,48] zN");
/// assert_eq!((fields.integers("coord")?, fields.text("to")?), (vec![1, 2], ""));
/// assert_eq!(fields.integer("spec").unwrap_err().field(), Some("spec"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a Value);

impl<'a> Fields<'a> {
    /// Returns a text; empty if absent.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "to": "cute" })).text("to")?, "cute");
    /// let error = Fields(&serde_json::json!({ "to": 5 })).text("to").unwrap_err();
    /// assert_eq!((error.field(), error.to_string().as_str()), (Some("to"), "expected a text, found 5"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn text(&self, field: &'static str) -> Result<&'a str, Error> {
        match &self.0[field] {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text),
            other => Err(is_not(field, "a text", other)),
        }
    }

    /// Returns a list of texts. A single text is a list of one.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let texts = |value| Fields(&serde_json::json!({ "access": value })).texts("access");
    /// assert_eq!(texts(serde_json::json!(["row", "column"]))?, ["row", "column"]);
    /// assert_eq!(texts(serde_json::json!("row"))?, ["row"]);
    /// assert!(texts(serde_json::json!([5])).is_err());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn texts(&self, field: &'static str) -> Result<Vec<String>, Error> {
        let Value::Array(list) = &self.0[field] else {
            let one = self.text(field)?;
            return Ok(if one.is_empty() { Vec::new() } else { vec![one.to_owned()] });
        };
        let text = |one: &Value| one.as_str().map(str::to_owned);
        list.iter().map(|one| text(one).ok_or_else(|| is_not(field, "a text", one))).collect()
    }

    /// Returns a truth value; false if absent.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert!(Fields(&serde_json::json!({ "fix": true })).flag("fix")?);
    /// assert!(Fields(&serde_json::json!({ "fix": 1 })).flag("fix").is_err());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn flag(&self, field: &'static str) -> Result<bool, Error> {
        match &self.0[field] {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            other => Err(is_not(field, "true or false", other)),
        }
    }

    /// Returns the array of `dims`, a list or a text as a person types it, and `dtype`. An empty text counts as absent.
    ///
    /// # Errors
    /// As [`Array::read`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let array = Fields(&serde_json::json!({ "dims": [2, 3], "dtype": "" })).array()?;
    /// assert_eq!((array.dims, array.dtype), (Some(vec![2, 3]), None));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array(&self) -> Result<Array, Error> {
        let dtype = Some(self.text("dtype")?.trim()).filter(|text| !text.is_empty());
        let dims = match &self.0["dims"] {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => None,
            _ => Some(self.integers("dims")?),
        };
        Ok(Array { dims, ..Array::read(None, dtype)? })
    }

    /// Returns the layout of that array in this field.
    ///
    /// # Errors
    /// As [`Array::layout`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let error = Fields(&serde_json::json!({ "from": "(2" })).layout("from").unwrap_err();
    /// assert_eq!((error.field(), error.span()), (Some("from"), Some((2, 2))));
    /// ```
    pub fn layout(&self, field: &'static str) -> Result<ResolvedLayout, Error> {
        self.array()?.layout(field, self.text(field)?)
    }

    /// Returns the layouts `a` and `b` of that array. Each takes what it lacks from the other.
    ///
    /// # Errors
    /// As [`Array::layouts`].
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// let question = serde_json::json!({ "a": "(2,3):(3,1)", "b": "col-major" });
    /// assert_eq!(Fields(&question).layouts()?[1].layout().extents(), [2, 3]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn layouts(&self) -> Result<[ResolvedLayout; 2], Error> {
        self.array()?.layouts(self.text("a")?, self.text("b")?)
    }

    /// Returns the layout of that array in this field, which may have index tables. No file is read for them.
    ///
    /// # Errors
    /// As [`Array::array_layout`].
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// # use tilewright::ask::Fields;
    /// let question = serde_json::json!({ "spec": "f16[4] table(0; 0,2,3,1) row-major" });
    /// assert!(Fields(&question).array_layout("spec")?.has_tables());
    /// let question = serde_json::json!({ "spec": "f16[4] table(0; @order.npy) row-major" });
    /// assert!(Fields(&question).array_layout("spec").unwrap_err().is_unsupported());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array_layout(&self, field: &'static str) -> Result<ArrayLayout, Error> {
        if !TABLES {
            return self.layout(field).map(|named| ArrayLayout::of(&named));
        }
        self.array()?.array_layout(field, self.text(field)?, &())
    }

    /// Returns the layouts `a` and `b` of that array, which may have index tables. Each takes what it lacks from the other.
    ///
    /// # Errors
    /// As [`Array::array_layouts`].
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// # use tilewright::ask::Fields;
    /// let question = serde_json::json!({ "a": "f16[4] table(0; 0,2,3,1) row-major", "b": "col-major" });
    /// assert_eq!(Fields(&question).array_layouts()?[1].layout().extents(), [4]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn array_layouts(&self) -> Result<[ArrayLayout; 2], Error> {
        if !TABLES {
            return self.layouts().map(|both| both.map(|named| ArrayLayout::of(&named)));
        }
        self.array()?.array_layouts(self.text("a")?, self.text("b")?, &())
    }

    /// Returns an integer.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "offset": -1 })).integer("offset")?, -1);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn integer(&self, field: &'static str) -> Result<i64, Error> {
        let value = &self.0[field];
        value.as_i64().ok_or_else(|| is_not(field, "an integer", value))
    }

    /// Returns an integer from 0 to 2³² − 1.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "bits": 16 })).natural("bits")?, 16);
    /// assert!(Fields(&serde_json::json!({ "bits": -16 })).natural("bits").unwrap_err().is_usage());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn natural(&self, field: &'static str) -> Result<u32, Error> {
        let value = &self.0[field];
        let integer = value.as_u64().and_then(|integer| u32::try_from(integer).ok());
        integer.ok_or_else(|| is_not(field, "an integer from 0 to 4294967295", value))
    }

    /// Returns a list of integers from 0 on, given as a list or as a person types it.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert_eq!(Fields(&serde_json::json!({ "coord": "(1, 5)" })).integers("coord")?, [1, 5]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn integers(&self, field: &'static str) -> Result<Vec<u64>, Error> {
        let list = match &self.0[field] {
            Value::Null => return Ok(Vec::new()),
            Value::String(text) => return input::integers(field, text),
            Value::Array(list) => list,
            other => return Err(is_not(field, "a list of integers", other)),
        };
        let says = |one: &Value| {
            Error::usage(format!("{one} is not an integer from 0 on")).in_field(field)
        };
        list.iter().map(|one| one.as_u64().ok_or_else(|| says(one))).collect()
    }

    /// Returns a list of bytes.
    ///
    /// # Errors
    /// [usage](Error::is_usage) for anything else.
    ///
    /// ```
    /// # use tilewright::ask::Fields;
    /// assert!(Fields(&serde_json::json!({ "packed": [256] })).bytes("packed").is_err());
    /// ```
    pub fn bytes(&self, field: &'static str) -> Result<Vec<u8>, Error> {
        let says = |one| Error::usage(format!("{one} is not a byte")).in_field(field);
        let byte = |one: u64| u8::try_from(one).map_err(|_| says(one));
        self.integers(field)?.into_iter().map(byte).collect()
    }
}

/// Returns the error of a member of another type.
fn is_not(field: &'static str, expected: &str, found: &Value) -> Error {
    let found = match found {
        Value::Null => "nothing".into(),
        Value::Object(_) => "an object".into(),
        Value::Array(_) => "a list".into(),
        other => shortened(&other.to_string()),
    };
    Error::usage(format!("expected {expected}, found {found}")).in_field(field)
}

/// Returns the beginning of a long text.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::ask::Question;

    /// Every member of every question is refused by its name if it has a value of a wrong type.
    #[test]
    fn a_member_of_the_wrong_type_is_refused_by_its_name() {
        let spec = json!("row-major");
        let whole = [
            json!({ "ask": "explain", "spec": spec, "dims": [2, 3], "dtype": "f16" }),
            json!({ "ask": "translate", "spec": spec, "dims": "2,3", "to": "cute" }),
            json!({ "ask": "offset", "spec": spec, "dims": [2, 3], "coord": [1, 2] }),
            json!({ "ask": "coord", "spec": spec, "dims": [2, 3], "offset": 1 }),
            json!({ "ask": "same", "a": spec, "b": spec, "dims": [2, 3] }),
            json!({ "ask": "bank_conflicts", "spec": spec, "dims": [2, 3], "dtype": "f32", "access": ["row"] }),
            json!({ "ask": "infer", "original": [1, 2], "dims": [2], "packed": [2, 1] }),
            json!({ "ask": "relayout", "from": "(2,3):(3,1)", "to": spec, "bits": 8 }),
            json!({ "ask": "eval", "text": "4:1" }),
            json!({ "ask": "format", "name": "zN" }),
        ];
        for question in &whole {
            let _ = Question::from_json(question).unwrap().unwrap();
            for member in question.as_object().unwrap().keys().filter(|name| *name != "ask") {
                for wrong in [json!(true), json!({ "a": 1 }), json!(-5.5), json!([[1]])] {
                    let mut question = question.clone();
                    question[member] = wrong;
                    let error = Question::from_json(&question).unwrap_err();
                    assert!(error.is_usage() && error.field() == Some(member), "{question}");
                }
            }
        }
        let negative = json!({ "ask": "relayout", "from": "(2,3):(3,1)", "to": spec, "bits": -8 });
        let error = Question::from_json(&negative).unwrap_err();
        assert_eq!(error.to_string(), "expected an integer from 0 to 4294967295, found -8");
        let coord = json!({ "ask": "offset", "spec": spec, "dims": [6], "coord": 5 });
        let error = Question::from_json(&coord).unwrap_err();
        assert_eq!(error.to_string(), "expected a list of integers, found 5");
    }
}
