//! A question and its answer, as JSON.

use serde_json::{Value, json};
use tilewright::{
    Named,
    draw::{
        Access, Limits, NoAccess, access, banks, conversion, distribution, expression, grid,
        is_map, memory, subject,
    },
    input,
    relayout::{Elements, Plan},
};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{
    answers::{self, Answer},
    facts,
    input::{Array, both, integers, read, resolve},
    refusal::Refusal,
    step,
};

/// The longest question that is read, in bytes.
const MAX_QUESTION: usize = 1 << 20;

/// The width of an element, in bits, where nobody says it.
const USUAL_BITS: u32 = 32;

/// Answers a question, both as JSON. `ask` names it; dims are a list, or a text as a person types it.
///
/// | `ask` | takes | answers |
/// |---|---|---|
/// | `parse`, `explain`, `recognise`, `translate`, `offset`, `coord`, `distribution`, `same`, `eval`, `infer`, `relayout` | as in `corpus/answers.jsonl` | the same as there |
/// | `view` | `spec`, `dims`, `dtype` | what the program explains with `--json`, and what a picture needs |
/// | `convert` | `a`, `b`, `dims`, `dtype` | `a`, `b`: each as of `view`; `same` |
/// | `plan` | `a`, `b`, `dims`, `dtype` | how the bytes would be moved: `text`, `kernel`, and the width `bits` of the elements, `assumed` where neither side says it |
/// | `banks` | `spec`, `dims`, `dtype`, `vector` | the banks of shared memory under reads of so many elements at once: `svg`, `notes`, and the width `bits`, `assumed` where it is not known |
/// | `spread` | `spec`, `dims`, `dtype` | for a layout that spreads an array over threads, and for maps that are no layouts, the `map`, what its picture shows as `title`, and the picture as `svg`; null for others |
/// | `picture` | `kind`: `grid` or `memory` of `spec`, `conversion` of `a` and `b`; `dims`, `dtype`; `expression` of `text` | an SVG file, or null |
/// | `step` | `op`, `a`, `b`; or `a` alone, an expression | `a`, `b`, `result`: values, layouts with a `view`; `links` |
/// | `formats`, `notations`, `functions` | | what there is |
///
/// A SPEC of `view` and `convert` may be an expression. A refusal is
/// `{"error": {"kind", "message", "field", "span"}}`, where `field` is the field of the question at fault and
/// `span`, or null, counts bytes of its text. Any text is answered.
///
/// ```
/// use tilewright_web::ask;
/// let answer = ask(r#"{"ask": "same", "a": "f32[2,3]{0,1}", "b": "(2,3):(1,2)"}"#);
/// assert_eq!(answer, r#""same""#);
///
/// let answer = ask(r#"{"ask": "view", "spec": "(2,3):(1,x)"}"#);
/// assert!(answer.contains(r#""kind":"parse""#) && answer.contains(r#""span":[9,10]"#));
/// assert!(ask("?").contains("no JSON"));
/// ```
#[wasm_bindgen]
pub fn ask(question: &str) -> String {
    answer(question).unwrap_or_else(|refusal| refusal.to_json()).to_string()
}

fn answer(text: &str) -> Answer {
    if text.len() > MAX_QUESTION {
        return Err(Refusal::usage("ask", format!("a question of more than {MAX_QUESTION} bytes")));
    }
    let question: Value = serde_json::from_str(text)
        .map_err(|error| Refusal::usage("ask", format!("the question is no JSON: {error}")))?;
    Question(&question).answer()
}

/// The fields of a question.
struct Question<'a>(&'a Value);

impl<'a> Question<'a> {
    fn answer(&self) -> Answer {
        match self.text("ask") {
            "view" => Ok(facts::view(&resolve("spec", self.text("spec"), self.array())?)),
            "convert" => self.convert(),
            "plan" => self.plan(),
            "banks" => self.banks(),
            "spread" => self.spread(),
            "picture" => self.picture(),
            "step" => step::step(self.text("op"), self.text("a"), self.text("b")),
            "eval" => answers::eval(self.text("text")),
            "parse" => Ok(answers::parse(&self.plain("spec")?)),
            "translate" => answers::translate(&self.plain("spec")?, self.text("to")),
            "explain" => Ok(answers::explain(&self.plain("spec")?)),
            "recognise" => Ok(answers::recognised(&self.plain("spec")?)),
            "offset" => answers::offset(&self.plain("spec")?, &self.integers("coord")?),
            "coord" => answers::coord(&self.plain("spec")?, self.integer("offset")?),
            "same" => answers::same(&self.plain("a")?, &self.plain("b")?),
            "distribution" => answers::distribution(self.text("spec"), &self.array()),
            "infer" => {
                let (original, packed) = (self.bytes("original")?, self.bytes("packed")?);
                answers::inferred(&original, &self.integers("dims")?, &packed)
            }
            "relayout" => {
                let bits = u32::try_from(self.integer("bits")?).unwrap_or(0);
                let from = self.plain("from")?;
                answers::moved(&from, &self.of_array("to", &from)?, bits)
            }
            "formats" => Ok(answers::formats()),
            "notations" => Ok(answers::notations()),
            "functions" => Ok(answers::functions()),
            other => Err(Refusal::usage("ask", format!("`{other}` is no question"))),
        }
    }

    /// Both sides of a conversion, and whether anything has to move.
    fn convert(&self) -> Answer {
        let (a, b) = both(self.text("a"), self.text("b"), self.array())?;
        let (left, right) = (a.layout().extents(), b.layout().extents());
        if left != right {
            let says =
                format!("source and destination are different arrays: {left:?} and {right:?}");
            return Err(Refusal::usage("b", says));
        }
        let same = answers::same(&a, &b).unwrap_or_else(|refusal| refusal.to_json());
        Ok(json!({ "a": facts::view(&a), "b": facts::view(&b), "same": same }))
    }

    /// How the elements of one layout go to the other's places: the plan in words.
    fn plan(&self) -> Answer {
        let (a, b) = both(self.text("a"), self.text("b"), self.array())?;
        let known = b.element_bits().or(a.element_bits());
        let bits = known.unwrap_or(USUAL_BITS);
        let plan = Plan::new(a.layout(), b.layout(), Elements::same(bits), 0)
            .map_err(|error| Refusal::of(error.kind(), "b", error.to_string()))?;
        let (text, kernel) = (plan.to_string(), plan.kernel_name());
        Ok(json!({ "text": text, "kernel": kernel, "bits": bits, "assumed": known.is_none() }))
    }

    /// The banks of shared memory that reads of a matrix meet, and how often they collide.
    fn banks(&self) -> Answer {
        let named = resolve("spec", self.text("spec"), self.array())?;
        let vector = u64::try_from(self.integer("vector")?).unwrap_or(0);
        let usual = Access { element_bytes: u64::from(USUAL_BITS / 8), vector };
        let read = access(&named, vector);
        let access = match read {
            Err(NoAccess::Unknown) => usual,
            read => read.map_err(|why| Refusal::of("unsupported", "dtype", why.to_string()))?,
        };
        let scene = banks(&subject(&named), &access, &Limits::default())
            .map_err(|error| Refusal::core("vector", &error))?;
        let (svg, notes) = (scene.to_svg(), &scene.notes);
        let (bits, assumed) = (8 * access.element_bytes, read == Err(NoAccess::Unknown));
        Ok(json!({ "svg": svg, "notes": notes, "bits": bits, "assumed": assumed }))
    }

    /// What is no layout of an array in memory: who holds what of one that is spread over threads, a linear map,
    /// coordinates for values.
    fn spread(&self) -> Answer {
        let text = self.text("spec");
        let text = input::expression(text).unwrap_or(text);
        if is_map(text) {
            let scene = expression(text, &Limits::default());
            let scene = scene.map_err(|error| Refusal::expression("spec", 0, &error))?;
            let svg = scene.map(|scene| scene.to_svg());
            return Ok(
                json!({ "title": "Where each cell is sent", "map": text.trim(), "svg": svg }),
            );
        }
        let (dims, dtype) = (self.array().dims()?, self.array().dtype()?);
        let spec = read("spec", self.text("spec"))?;
        let map = spec.distribution(dims.as_deref(), dtype);
        let Some(map) = map.map_err(|error| Refusal::layout("spec", &error))? else {
            return Ok(Value::Null);
        };
        let scene = distribution(&map, &Limits::default())
            .map_err(|error| Refusal::core("spec", &error))?;
        let (title, svg) = ("Who holds each element", scene.to_svg());
        Ok(json!({ "title": title, "map": map.to_string(), "svg": svg }))
    }

    /// A picture to keep: of one layout, its memory, or a conversion.
    fn picture(&self) -> Answer {
        let svg = match self.text("kind") {
            "expression" => {
                let scene = expression(self.text("text"), &Limits::default());
                let scene = scene.map_err(|error| Refusal::expression("text", 0, &error))?;
                return Ok(json!(scene.map(|scene| scene.to_svg())));
            }
            "conversion" => {
                let (a, b) = both(self.text("a"), self.text("b"), self.array())?;
                conversion(&subject(&a), &subject(&b), &Limits::default())
            }
            kind => {
                let named = resolve("spec", self.text("spec"), self.array())?;
                let draw = if kind == "memory" { memory } else { grid };
                draw(&subject(&named), &Limits::default())
            }
        };
        svg.map(|scene| json!(scene.to_svg())).map_err(|error| Refusal::core("spec", &error))
    }

    fn text(&self, field: &str) -> &'a str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn array(&self) -> Array<'a> {
        Array { dims: &self.0["dims"], dtype: self.text("dtype") }
    }

    /// A SPEC, and no expression.
    fn plain(&self, field: &'static str) -> Result<Named, Refusal> {
        let (dims, dtype) = (self.array().dims()?, self.array().dtype()?);
        let refused = |error| Refusal::layout(field, &error);
        let spec = self.text(field).parse::<tilewright::Spec>().map_err(refused)?;
        spec.resolve(dims.as_deref(), dtype).map_err(refused)
    }

    /// A SPEC for the array of another layout.
    fn of_array(&self, field: &'static str, other: &Named) -> Result<Named, Refusal> {
        let refused = |error| Refusal::layout(field, &error);
        let spec = self.text(field).parse::<tilewright::Spec>().map_err(refused)?;
        spec.resolve(Some(other.layout().extents()), other.dtype()).map_err(refused)
    }

    fn integer(&self, field: &'static str) -> Result<i64, Refusal> {
        self.0[field].as_i64().ok_or_else(|| Refusal::usage(field, "expected an integer"))
    }

    fn integers(&self, field: &'static str) -> Result<Vec<u64>, Refusal> {
        integers(field, &self.0[field])
    }

    fn bytes(&self, field: &'static str) -> Result<Vec<u8>, Refusal> {
        let byte = |one: u64| {
            u8::try_from(one).map_err(|_| Refusal::usage(field, format!("{one} is no byte")))
        };
        self.integers(field)?.into_iter().map(byte).collect()
    }
}
