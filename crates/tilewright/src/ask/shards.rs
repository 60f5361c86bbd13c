//! Answers about an array in shards: the elements that each device holds, and the sharding in another notation.

use std::fmt;

use serde_json::{Value, json};
use tilewright_notation::{notation, notations};
use tilewright_scan::did_you_mean;
use tilewright_sharded::{
    Shard, Sharded,
    dialect::{DIALECTS, dialect},
};

use super::Answer;
use crate::{Error, InShards};

/// Elements that every device holds, one device on a line.
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
    /// Returns the answer for an array.
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

/// Returns the name and size of each axis of the mesh.
pub(super) fn axes(sharded: &Sharded) -> Value {
    let mesh = sharded.mesh();
    let axes = mesh.sizes().iter().enumerate();
    axes.map(|(at, size)| json!({ "name": mesh.name(at), "size": size })).collect()
}

/// Returns the names of the axes along which all devices hold the same elements.
pub(super) fn replicated(sharded: &Sharded) -> Vec<String> {
    sharded.replicated().into_iter().map(|axis| sharded.mesh().name(axis)).collect()
}

/// Answer of one line of many, where each line is an array in shards and an error does not end the run.
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
    /// The elements that each device holds.
    Shards(Shards),
    /// The error of a line that is not an array in shards.
    Refused(Error),
}

impl ShardsLine {
    /// Reads a line.
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

    /// Returns the answer of a line that is not valid text, or too long to be read.
    ///
    /// ```
    /// use tilewright::ask::{Answer, ShardsLine};
    /// let line = ShardsLine::unread("byte 0 of the line is not UTF-8");
    /// assert_eq!(line.to_json()["error"]["kind"], "parse");
    /// ```
    pub fn unread(message: &str) -> ShardsLine {
        ShardsLine::Refused(Error::new("parse", message))
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

/// Sharding in one notation, or the one layout of all shards in a notation of layouts.
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
    /// The name of the element type, if known.
    pub dtype: Option<&'static str>,
}

impl ShardsTranslation {
    /// Prints a sharding in a notation of shardings, or its one layout in a notation of layouts.
    ///
    /// # Errors
    /// `parse` for a name that no notation has; [unsupported](Error::is_unsupported) with the first device to which the notation
    /// would give other indices; [no layout](Error::is_no_layout) with the first position that no single layout has.
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
                let sharding = dialect.print(sharded)?;
                let shard = array.shard.as_ref().map_or(String::new(), |it| format!(" / {it}"));
                (format!("{sharding}{shard}"), array.text(&sharding))
            }
            Err(_) => {
                let notation = notation(to).map_err(|_| unknown(to))?;
                let named = array.as_layout()?;
                (notation.print(&named)?, named.to_spec())
            }
        };
        let (dims, dtype) = (sharded.extents().to_vec(), sharded.dtype().map(|it| it.name()));
        Ok(ShardsTranslation { notation: to.to_owned(), text, layout, dims, dtype })
    }
}

/// Returns the error of a name that no notation has.
fn unknown(to: &str) -> Error {
    let shardings: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name()).collect();
    let layouts: Vec<&str> = notations().iter().map(|notation| notation.name()).collect();
    let near = did_you_mean(to, shardings.iter().chain(&layouts).copied());
    let (shardings, layouts) = (shardings.join(", "), layouts.join(", "));
    let said = format!("no notation is called `{to}`; of shardings there are {shardings}");
    Error::new("parse", format!("{said}; of layouts {layouts}{near}"))
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
