//! Who holds what of an array in shards; what a sharding means, in words; a sharding in another notation.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};
use tilewright_notation::notation;
use tilewright_sharded::{
    Shard, Sharded,
    dialect::{DIALECTS, dialect},
};

use super::Answer;
use crate::{Error, InShards};

/// What every device holds, a line a device.
///
/// ```
/// use tilewright::{InShards, ask::{Answer, Shards}};
/// let answer = Shards::of(&InShards::parse("f32[8] @ mesh(dp=2) [Shard(0)]")?);
/// assert_eq!(answer.to_string(), "0 (dp=0)  [0,4)\n1 (dp=1)  [4,8)\n");
/// let second = serde_json::json!({ "device": 1, "coord": [1], "dims": [[[4, 4]]] });
/// assert_eq!(answer.to_json()["devices"][1], second);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shards {
    /// The array, with its mesh and its cuts.
    pub array: InShards,
}

impl Shards {
    /// The answer for an array.
    ///
    /// ```
    /// use tilewright::{InShards, ask::Shards};
    /// let shards = Shards::of(&InShards::parse("f32[1] @ mesh(2) [Shard(0)]")?);
    /// assert_eq!(shards.to_string(), "0 (0=0)  [0,1)\n1 (0=1)  empty\n");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(array: &InShards) -> Shards {
        Shards { array: array.clone() }
    }

    fn device(&self, shard: &Shard) -> Value {
        let lists = shard.dims().iter().map(|list| json!(list.as_slice()));
        let lists: Vec<Value> = lists.collect();
        let mut device = json!({ "device": shard.device(), "coord": shard.coord(), "dims": lists });
        if shard.extents() != shard.stored() {
            device["stored"] = json!(shard.stored());
        }
        if let Ok(Some(layout)) = self.array.layout(shard) {
            device["layout"] = json!(layout.to_spec());
        }
        device
    }
}

impl fmt::Display for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.sharded.shards().try_for_each(|shard| writeln!(f, "{shard}"))
    }
}

impl Answer for Shards {
    fn to_json(&self) -> Value {
        let sharded = &self.array.sharded;
        let devices: Vec<Value> = sharded.shards().map(|shard| self.device(&shard)).collect();
        json!({
            "array": sharded.array(),
            "axes": axes(sharded),
            "replicated": replicated(sharded),
            "devices": devices,
        })
    }
}

/// The axes of the mesh: name and size.
fn axes(sharded: &Sharded) -> Value {
    let mesh = sharded.mesh();
    let axes = mesh.sizes().iter().enumerate();
    axes.map(|(at, size)| json!({ "name": mesh.name(at), "size": size })).collect()
}

/// The names of the axes along which every device holds the same.
fn replicated(sharded: &Sharded) -> Vec<String> {
    sharded.replicated().into_iter().map(|axis| sharded.mesh().name(axis)).collect()
}

/// One line of many, each the text of an array in shards: a wrong one does not end the run.
///
/// ```
/// use tilewright::ask::{Answer, ShardsLine};
/// let wrong = ShardsLine::of("f32[8] @ mesh(2) [Shard(1)]");
/// assert!(wrong.is_no());
/// assert_eq!(wrong.to_json()["error"]["span"], serde_json::json!([18, 26]));
/// assert!(!ShardsLine::of("f32[8] @ mesh(2) [Shard(0)]").is_no());
/// ```
#[derive(Debug)]
pub enum ShardsLine {
    /// The line is empty.
    Nothing,
    /// Who holds what.
    Shards(Shards),
    /// Why the line is no array in shards.
    Refused(Error),
}

impl ShardsLine {
    /// The answer of a line.
    ///
    /// ```
    /// use tilewright::ask::{Answer, ShardsLine};
    /// assert_eq!(ShardsLine::of(" ").to_json()["kind"], "nothing");
    /// ```
    pub fn of(text: &str) -> ShardsLine {
        match InShards::parse(text) {
            _ if text.trim().is_empty() => ShardsLine::Nothing,
            Ok(array) => ShardsLine::Shards(Shards::of(&array)),
            Err(error) => ShardsLine::Refused(error),
        }
    }

    /// The answer of a line that is no text, or too long to be read.
    ///
    /// ```
    /// use tilewright::ask::{Answer, ShardsLine};
    /// let line = ShardsLine::unread("byte 0 of the line is no UTF-8");
    /// assert_eq!(line.to_json()["error"]["kind"], "parse");
    /// ```
    pub fn unread(message: &str) -> ShardsLine {
        ShardsLine::Refused(Error::at("parse", (0, 0), message).without_span())
    }
}

impl fmt::Display for ShardsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

impl Answer for ShardsLine {
    fn to_json(&self) -> Value {
        match self {
            ShardsLine::Nothing => json!({ "kind": "nothing" }),
            ShardsLine::Shards(shards) => shards.to_json(),
            ShardsLine::Refused(error) => error.to_json(),
        }
    }

    fn is_no(&self) -> bool {
        matches!(self, ShardsLine::Refused(_))
    }
}

/// A sharding in one notation, or the one layout of all shards in a notation of layouts.
///
/// ```
/// use tilewright::{InShards, ask::ShardsTranslation};
/// let array = InShards::parse("f32[8,6] @ mesh(dp=2,tp=2) P(\"dp\", \"tp\")")?;
/// let text = |to| ShardsTranslation::of(&array, to).map(|said| said.text);
/// assert_eq!(text("torch")?, "mesh(dp=2,tp=2) [Shard(0), Shard(1)]");
/// assert_eq!(text("hlo")?, "{devices=[2,2]<=[4]}");
/// assert_eq!(text("cute")?, "((4,2),(3,2)):((3,24),(1,12))");
/// assert!(text("megatron").unwrap_err().is_unsupported());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardsTranslation {
    /// The name of the notation.
    pub notation: String,
    /// The sharding in it, with its mesh.
    pub text: String,
    /// The array in shards as one SPEC.
    pub layout: String,
    /// The extents of the whole array.
    pub dims: Vec<u64>,
    /// The name of the element type, where it is known.
    pub dtype: Option<&'static str>,
}

impl ShardsTranslation {
    /// Says a sharding in a notation of shardings, or its one layout in a notation of layouts.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) with the first device that the notation would give other indices;
    /// [no layout](Error::is_no_layout) with the first position that no one layout has.
    ///
    /// ```
    /// use tilewright::{InShards, ask::ShardsTranslation};
    /// let uneven = InShards::parse("f32[9] @ mesh(2) [Shard(0)]")?;
    /// assert!(ShardsTranslation::of(&uneven, "jax").unwrap_err().is_unsupported());
    /// assert!(ShardsTranslation::of(&uneven, "cute").unwrap_err().is_no_layout());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(array: &InShards, to: &str) -> Result<ShardsTranslation, Error> {
        let sharded = &array.sharded;
        let (text, layout) = match dialect(to) {
            Ok(dialect) => {
                let text = dialect.print(sharded)?;
                let layout = array.text(&text);
                (text, layout)
            }
            Err(unknown) => match notation(to) {
                Ok(notation) => {
                    let named = array.as_layout()?;
                    (notation.print(&named)?, named.to_spec())
                }
                Err(_) => return Err(unknown.into()),
            },
        };
        let (dims, dtype) = (sharded.extents().to_vec(), sharded.dtype().map(|it| it.name()));
        Ok(ShardsTranslation { notation: to.to_owned(), text, layout, dims, dtype })
    }
}

impl fmt::Display for ShardsTranslation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Answer for ShardsTranslation {
    fn to_json(&self) -> Value {
        json!({
            "notation": self.notation,
            "text": self.text,
            "layout": self.layout,
            "dims": self.dims,
            "dtype": self.dtype,
        })
    }
}

/// What a sharding means, in words and numbers.
///
/// ```
/// use tilewright::{InShards, ask::ShardsExplanation};
/// let text = ShardsExplanation::of(&InShards::parse("f32[9,4] @ mesh(dp=4,tp=2) [Shard(0), Replicate()]")?);
/// assert!(text.to_string().contains("dim 0      9, cut: 0 to 3 on each device"));
/// assert!(text.to_string().contains("replicated along tp"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShardsExplanation {
    /// The array, with its mesh and its cuts.
    pub array: InShards,
    /// The extents of the smallest shard, dim by dim.
    pub least: Vec<u64>,
    /// The extents of the largest shard, dim by dim.
    pub most: Vec<u64>,
    /// How many devices hold nothing.
    pub empty: u64,
    /// The most boxes of one shard.
    pub boxes: u64,
    /// The one layout of all shards, or why there is none.
    pub layout: Result<String, String>,
    /// The sharding in every notation, or why it cannot be said there.
    pub notations: Vec<(&'static str, Result<String, String>)>,
}

impl ShardsExplanation {
    /// Explains a sharding.
    ///
    /// ```
    /// use tilewright::{InShards, ask::ShardsExplanation};
    /// let strided = InShards::parse("f32[9] @ mesh(2) [_StridedShard(0, sf=2)]")?;
    /// let explained = ShardsExplanation::of(&strided);
    /// assert_eq!((explained.boxes, explained.least, explained.most), (2, vec![4], vec![5]));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(array: &InShards) -> ShardsExplanation {
        let sharded = &array.sharded;
        let mut least = sharded.extents().to_vec();
        let (mut most, mut empty, mut boxes) = (vec![0; least.len()], 0, 0);
        for shard in sharded.shards() {
            for (at, extent) in shard.extents().into_iter().enumerate() {
                least[at] = least[at].min(extent);
                most[at] = most[at].max(extent);
            }
            empty += u64::from(shard.is_empty());
            let count = shard.dims().iter().map(|list| list.as_slice().len() as u64);
            boxes = boxes.max(count.fold(1, u64::saturating_mul));
        }
        let layout = array.as_layout().map(|named| named.to_spec());
        let text = |error: String| error.lines().next().unwrap_or("").to_owned();
        let notations = DIALECTS.iter().map(|dialect| {
            let said = dialect.print(sharded).map_err(|error| {
                let error = error.to_string();
                let refused = format!("{} cannot say it: ", dialect.name());
                error.strip_prefix(&refused).unwrap_or(&error).to_owned()
            });
            (dialect.name(), said)
        });
        let (array, layout) = (array.clone(), layout.map_err(|error| text(error.to_string())));
        let notations = notations.collect();
        ShardsExplanation { array, least, most, empty, boxes, layout, notations }
    }
}

/// A line of an explanation: a title, and what it says.
fn line(out: &mut String, title: &str, said: &str) {
    let _ = writeln!(out, "{title:10} {said}");
}

impl fmt::Display for ShardsExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sharded = &self.array.sharded;
        let mesh = sharded.mesh();
        let mut out = String::new();
        let size: u64 = sharded.extents().iter().product();
        line(&mut out, "array", &format!("{}, {size} elements", sharded.array()));
        let axes = mesh.sizes().iter().enumerate();
        let axes: Vec<String> =
            axes.map(|(at, size)| format!("{} of {size}", mesh.name(at))).collect();
        let devices = match mesh.is_any() {
            true => "devices that are not named".to_owned(),
            false => format!("{} devices", mesh.count()),
        };
        let axes = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(", ")) };
        line(&mut out, "mesh", &format!("{devices}{axes}"));
        for (dim, extent) in sharded.extents().iter().enumerate() {
            let (least, most) = (self.least[dim], self.most[dim]);
            let said = match (least == most, most == *extent) {
                (true, true) => format!("{extent}, whole on each device"),
                (true, false) => format!("{extent}, cut: {most} on each device"),
                (false, _) => format!("{extent}, cut: {least} to {most} on each device"),
            };
            line(&mut out, &format!("dim {dim}"), &said);
        }
        let along = replicated(sharded);
        if !along.is_empty() {
            line(&mut out, "copies", &format!("replicated along {}", along.join(", ")));
        }
        if self.empty > 0 {
            line(&mut out, "empty", &format!("{} devices hold nothing", self.empty));
        }
        if self.boxes > 1 {
            line(&mut out, "boxes", &format!("a device holds up to {} boxes", self.boxes));
        }
        if let Some(spec) = &self.array.shard {
            line(&mut out, "shards", &format!("each in {spec}"));
        }
        match &self.layout {
            Ok(text) => line(&mut out, "layout", text),
            Err(why) => line(&mut out, "layout", &format!("none: {why}")),
        }
        for (name, said) in &self.notations {
            let said = said.as_ref().map_or_else(|why| format!("– {why}"), Clone::clone);
            line(&mut out, name, &said);
        }
        f.write_str(&out)
    }
}

impl Answer for ShardsExplanation {
    fn to_json(&self) -> Value {
        let sharded = &self.array.sharded;
        let notations = self.notations.iter().map(|(name, said)| {
            let said = match said {
                Ok(text) => json!({ "text": text }),
                Err(why) => json!({ "refused": why }),
            };
            ((*name).to_owned(), said)
        });
        let notations: serde_json::Map<String, Value> = notations.collect();
        json!({
            "array": sharded.array(),
            "dims": sharded.extents(),
            "dtype": sharded.dtype().map(|dtype| dtype.name()),
            "axes": axes(sharded),
            "replicated": replicated(sharded),
            "least": self.least,
            "most": self.most,
            "empty": self.empty,
            "boxes": self.boxes,
            "shard": self.array.shard.as_ref().map(ToString::to_string),
            "layout": self.layout.as_ref().ok(),
            "no_layout": self.layout.as_ref().err(),
            "notations": notations,
        })
    }
}
