//! Questions of any kind, with typed fields or read from JSON.

use tilewright_notation::{ArrayLayout, Named, Notation, notation};

#[cfg(feature = "relayout")]
use super::Moved;
use super::{
    Answer, Contents, Distribution, Example, Explanation, Fields, Formats, Functions, Inferred,
    Known, Notations, Offset, Parsed, Recognition, Shards, ShardsExplanation, ShardsTranslation,
    TabledExplanation, Translation, compare,
};
use crate::{Error, InShards, eval::evaluate, input::Array, sharded::is_sharded};
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
    Recognise(Named),
    /// A layout in another notation.
    Translate {
        /// The layout.
        of: Named,
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
        of: Named,
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
    pub fn from_json(question: &serde_json::Value) -> Result<Option<Question>, Error> {
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
    let to = match tilewright_notation::TABLES {
        true => array.array_layout("to", text, &())?,
        false => ArrayLayout::of(&array.layout("to", text)?),
    };
    Ok(Question::Relayout { from, to, bits })
}
