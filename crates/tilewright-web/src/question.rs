//! Questions of the page and their answers, as JSON.

use serde_json::{Value, json};
use tilewright::{
    Error, InShards,
    ask::{Answer as _, Distribution, Fields, Formats, ShardsExplanation, compare},
    draw::{
        Access, Limits, NoAccess, access, banks, conversion, distribution, expression, grid,
        is_map, memory, shards, subject,
    },
    eval::evaluate,
    input,
    relayout::{Elements, Plan, Program},
    sharded::is_sharded,
};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{step, view};

type Reply = Result<Value, Error>;

/// The largest length of a question in bytes.
const MAX_QUESTION: usize = 1 << 20;

/// The width of an element in bits, if none is known.
const USUAL_BITS: u32 = 32;

/// Answers a question, both as JSON. `ask` names the question. Dims are a list, or a text as a person types it.
///
/// | `ask` | takes | answers |
/// |---|---|---|
/// | the questions that the program answers as JSON | as in `corpus/answers.jsonl` | the answers there |
/// | `view` | `spec`, `dims`, `dtype` | the answer of the program's `explain --json`, and the fields for a picture; for an array with index tables, `lines` describes these, and `stored` and `stored_dims` are the layout that they store, which the other fields describe |
/// | `convert` | `a`, `b`, `dims`, `dtype` | `a`, `b`: each as of `view`; `same` |
/// | `plan` | `a`, `b`, `dims`, `dtype` | the plan of a move: `text`, `kernel`, and the width `bits` of the elements, `assumed` if neither side gives it |
/// | `banks` | `spec`, `dims`, `dtype`, `vector` | the banks of shared memory under reads of `vector` elements at once: `svg`, `notes`, and the width `bits`, `assumed` if it is not known |
/// | `spread` | `spec`, `dims`, `dtype` | for a layout that spreads an array over threads, for an array in shards, and for maps that are not layouts: the `map`, the subject of its picture as `title`, the picture as `svg`, and `lines`: a description of the map as `[title, text]`; null for others |
/// | `picture` | `kind`: `grid` or `memory` of `spec`, `conversion` of `a` and `b`; `dims`, `dtype`; `expression` of `text` | an SVG file, or null |
/// | `step` | `op`, `a`, `b`; or `a` alone, an expression | `a`, `b`, `result`: values, layouts with a `view`; `links`: for each cell of the result that of `a`, that of `b`, and the number of its tile or copy of `a` |
///
/// A SPEC may be an expression. A refusal is `{"error": {"kind", "message", "field", "span"}}`: `field` is the field of the
/// question at fault, and `span`, or null, counts bytes of its text. Any text gets an answer.
///
/// ```
/// use tilewright_web::ask;
/// let answer = ask(r#"{"ask": "same", "a": "f32[2,3]{0,1}", "b": "(2,3):(1,2)"}"#);
/// assert_eq!(answer, r#"{"same":true,"notes":[]}"#);
///
/// let answer = ask(r#"{"ask": "view", "spec": "(2,3):(1,x)"}"#);
/// assert!(answer.contains(r#""kind":"parse""#) && answer.contains(r#""span":[9,10]"#));
/// assert!(ask("?").contains("not JSON"));
/// ```
#[wasm_bindgen]
pub fn ask(question: &str) -> String {
    answer(question).unwrap_or_else(|refused| refused.to_json()).to_string()
}

fn answer(text: &str) -> Reply {
    if text.len() > MAX_QUESTION {
        return Err(
            Error::usage(format!("a question has more than {MAX_QUESTION} bytes")).in_field("ask")
        );
    }
    let question: Value = serde_json::from_str(text).map_err(|error| {
        Error::usage(format!("the question is not JSON: {error}")).in_field("ask")
    })?;
    Page(Fields(&question)).answer()
}

/// A question of the page or of the library.
struct Page<'a>(Fields<'a>);

impl Page<'_> {
    fn answer(&self) -> Reply {
        let Page(fields) = self;
        match fields.text("ask")? {
            "view" => self.view(),
            "convert" => self.convert(),
            "plan" => self.plan(),
            "banks" => self.banks(),
            "spread" => self.spread(),
            "picture" => self.picture(),
            "step" => step::step(fields.text("op")?, fields.text("a")?, fields.text("b")?),
            "formats" => Ok(Formats::default().to_json()),
            other => asked(other, fields.0),
        }
    }

    /// Answers with one layout. For an array in shards, errors in its text come before the refusal.
    fn view(&self) -> Reply {
        let text = self.0.text("spec")?;
        if is_sharded(text) {
            InShards::parse(text).map_err(|error| error.in_field("spec"))?;
        }
        Ok(view::of_array(&self.0.array_layout("spec")?))
    }

    /// Answers with both sides of a conversion, and whether any element has to move.
    fn convert(&self) -> Reply {
        let [a, b] = self.0.array_layouts()?;
        let (left, right) = (a.layout().extents(), b.layout().extents());
        if left != right {
            let says =
                format!("source and destination are different arrays: {left:?} and {right:?}");
            return Err(Error::usage(says).in_field("b"));
        }
        let same =
            compare(&a, &b).map_or_else(|error| error.to_json(), |same| json!(same.to_string()));
        Ok(json!({ "a": view::of_array(&a), "b": view::of_array(&b), "same": same }))
    }

    /// Answers with the plan of a move between two layouts.
    fn plan(&self) -> Reply {
        let [a, b] = self.0.array_layouts()?;
        let known = b.stored().element_bits().or(a.stored().element_bits());
        let bits = known.unwrap_or(USUAL_BITS);
        let program = Program::of_arrays(a.layout(), b.layout(), Elements::same(bits), 0);
        let plan = program.map(Plan::of).map_err(|error| error.in_field("b"))?;
        let (text, kernel) = (plan.to_string(), plan.kernel_name());
        Ok(json!({ "text": text, "kernel": kernel, "bits": bits, "assumed": known.is_none() }))
    }

    /// Answers with the banks of shared memory that reads of a matrix access, and their conflicts.
    fn banks(&self) -> Reply {
        let named = self.0.layout("spec")?;
        let vector = u64::from(self.0.natural("vector")?);
        let usual = Access { element_bytes: u64::from(USUAL_BITS / 8), vector };
        let read = access(&named, vector);
        let access = match read {
            Err(NoAccess::Unknown) => usual,
            read => read.map_err(|why| Error::from(why).in_field("dtype"))?,
        };
        let scene = banks(&subject(&named), &access, &Limits::default())
            .map_err(|error| Error::from(error).in_field("vector"))?;
        let (svg, notes) = (scene.to_svg(), &scene.notes);
        let (bits, assumed) = (8 * access.element_bytes, read == Err(NoAccess::Unknown));
        Ok(json!({ "svg": svg, "notes": notes, "bits": bits, "assumed": assumed }))
    }

    /// Answers with a map that is not a layout of an array in memory: an array spread over threads, a linear map, a map to
    /// coordinates.
    fn spread(&self) -> Reply {
        let text = self.0.text("spec")?;
        if is_sharded(text) {
            return in_shards(text);
        }
        let text = input::expression(text).unwrap_or(text);
        if is_map(text) {
            let scene = expression(text, &Limits::default());
            let scene = scene.map_err(|error| error.in_field("spec"))?;
            let svg = scene.map(|scene| scene.to_svg());
            let map = evaluate(text).map_or_else(|_| text.trim().to_owned(), |map| map.to_string());
            let (title, lines) = ("Where each cell is sent", json!([["map", map]]));
            return Ok(json!({ "title": title, "map": text.trim(), "svg": svg, "lines": lines }));
        }
        let spread = Distribution::of(self.0.text("spec")?, &self.0.array()?)?;
        let Some(map) = spread.map else {
            return Ok(Value::Null);
        };
        let mut scene = distribution(&map, &Limits::default())
            .map_err(|error| Error::from(error).in_field("spec"))?;
        scene.title = text.trim().to_owned();
        let (title, svg, lines) = ("Who holds each element", scene.to_svg(), view::spread(&map));
        Ok(json!({ "title": title, "map": map.to_string(), "svg": svg, "lines": lines }))
    }

    /// Answers with a picture to save: of one layout, its memory, or a conversion.
    fn picture(&self) -> Reply {
        let svg = match self.0.text("kind")? {
            "expression" => {
                let scene = expression(self.0.text("text")?, &Limits::default());
                let scene = scene.map_err(|error| error.in_field("text"))?;
                return Ok(json!(scene.map(|scene| scene.to_svg())));
            }
            "conversion" => {
                let [a, b] = self.0.layouts()?;
                conversion(&subject(&a), &subject(&b), &Limits::default())
            }
            kind => {
                let named = self.0.layout("spec")?;
                let draw = if kind == "memory" { memory } else { grid };
                draw(&subject(&named), &Limits::default())
            }
        };
        svg.map(|scene| json!(scene.to_svg())).map_err(|error| Error::from(error).in_field("spec"))
    }
}

/// Answers a question of the library, all of which the late module answers.
#[cfg(feature = "late")]
fn asked(name: &str, question: &Value) -> Reply {
    match tilewright::ask::Question::from_json(question)? {
        Some(question) => Ok(question.answer()?.to_json()),
        None => Err(Error::usage(format!("`{name}` is not a question")).in_field("ask")),
    }
}

/// Refuses a question that is not the page's own.
#[cfg(not(feature = "late"))]
fn asked(name: &str, _: &Value) -> Reply {
    Err(tilewright::notation::Error::not_built(&format!("questions such as `{name}`"), "late")
        .into())
}

/// Answers with the elements that each device holds of an array in shards.
fn in_shards(text: &str) -> Reply {
    let array = InShards::parse(text).map_err(|error| error.in_field("spec"))?;
    let mut scene = shards(&array, &Limits::default());
    scene.title = text.trim().to_owned();
    let lines = ShardsExplanation::of(&array).lines();
    let (title, svg) = ("Who holds each element", scene.to_svg());
    Ok(json!({ "title": title, "map": text.trim(), "svg": svg, "lines": lines }))
}
