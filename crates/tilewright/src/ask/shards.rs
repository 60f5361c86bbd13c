//! Answers about an array in shards: the elements that each device holds, the sharding in another notation, and its explanation:
//! mesh, extents, copies, balance, bytes, and the sharding in every notation.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_notation::{notation, notations};
use tilewright_scan::did_you_mean;
use tilewright_sharded::{
    Cut, Shard, Sharded,
    dialect::{DIALECTS, dialect},
};

use crate::{
    Error, InShards,
    ask::{
        Answer,
        words::{counted, decimal},
    },
};

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
fn replicated(sharded: &Sharded) -> Vec<String> {
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

/// Explanation of a sharding in words and numbers.
///
/// ```
/// use tilewright::{InShards, ask::ShardsExplanation};
/// let text = ShardsExplanation::of(&InShards::parse("f32[9,4] @ mesh(dp=4,tp=2) [Shard(0), Replicate()]")?);
/// assert!(text.to_string().contains("dim 0      9, cut: 0 to 3 on each device"));
/// assert!(text.to_string().contains("each element on 2 devices: replicated along tp"));
/// assert_eq!((text.copies(), text.balance()), (Some(2.0), Some(12.0 / 9.0)));
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
    /// The number of devices that hold nothing.
    pub empty: u64,
    /// The largest number of boxes of one shard.
    pub boxes: u64,
    /// The elements of the largest shard.
    pub largest: u128,
    /// The elements on all devices together, with all copies.
    pub held: u128,
    /// The bytes that devices store, if the element type is known.
    pub bytes: Option<ShardBytes>,
    /// The one layout of all shards, or the reason why there is none.
    pub layout: Result<String, String>,
    /// The sharding in every notation, or the reason why the notation cannot express it.
    pub notations: Vec<(&'static str, Result<String, String>)>,
}

/// Bytes that devices store of an array, with the padding of each shard.
///
/// ```
/// use tilewright::{InShards, ask::{ShardBytes, ShardsExplanation}};
/// let bytes = |text: &str| ShardsExplanation::of(&InShards::parse(text).unwrap()).bytes;
/// // Nine numbers of 4 bytes; XLA pads what the last of four devices stores.
/// let torch = ShardBytes { least: 0, most: 12, all: 36 };
/// assert_eq!(bytes("f32[9] @ mesh(4) [Shard(0)]"), Some(torch));
/// assert_eq!(bytes("f32[9] @ {devices=[4]<=[4]}").unwrap().all, 48);
/// assert_eq!(bytes("[9] @ mesh(4) [Shard(0)]"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardBytes {
    /// The bytes of the smallest shard.
    pub least: u128,
    /// The bytes of the largest shard.
    pub most: u128,
    /// The bytes of all shards together.
    pub all: u128,
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
        let first_line = |text: String| text.lines().next().unwrap_or("").to_owned();
        let layout = array.as_layout().map(|named| named.to_spec());
        let mut explained = ShardsExplanation {
            array: array.clone(),
            least: sharded.extents().to_vec(),
            most: vec![0; sharded.extents().len()],
            empty: 0,
            boxes: 0,
            largest: 0,
            held: 0,
            bytes: None,
            layout: layout.map_err(|error| first_line(error.to_string())),
            notations: in_notations(sharded),
        };
        sharded.shards().for_each(|shard| explained.count(&shard));
        explained
    }

    /// Adds one shard to the sums.
    fn count(&mut self, shard: &Shard) {
        let extents = shard.extents();
        for ((least, most), extent) in self.least.iter_mut().zip(&mut self.most).zip(&extents) {
            (*least, *most) = ((*least).min(*extent), (*most).max(*extent));
        }
        self.empty += u64::from(shard.is_empty());
        let boxes = shard.dims().iter().map(|list| list.as_slice().len() as u64);
        self.boxes = self.boxes.max(boxes.fold(1, u64::saturating_mul));
        let elements = extents.iter().map(|extent| u128::from(*extent)).product();
        self.largest = self.largest.max(elements);
        self.held += elements;
        if let Some(bytes) = self.stored(shard) {
            let known = self.bytes.get_or_insert(ShardBytes { least: bytes, most: bytes, all: 0 });
            known.least = known.least.min(bytes);
            known.most = known.most.max(bytes);
            known.all += bytes;
        }
    }

    /// Returns the bytes of a shard as it is stored.
    fn stored(&self, shard: &Shard) -> Option<u128> {
        let (elements, bits) = match self.array.layout(shard).ok()? {
            Some(named) => (u128::from(named.layout().capacity()), named.element_bits()?),
            None if self.array.shard.is_some() => (0, 0),
            None => {
                let elements = shard.stored().iter().map(|extent| u128::from(*extent)).product();
                (elements, self.array.sharded.dtype()?.storage_bits()?)
            }
        };
        elements.checked_mul(bits.into()).map(|bits| bits.div_ceil(8))
    }

    /// Returns the mean number of devices that hold an element; `None` for an array without elements.
    ///
    /// ```
    /// use tilewright::{InShards, ask::ShardsExplanation};
    /// // Of six heads two are of keys and values, which two devices share.
    /// let heads = InShards::parse("f32[6] @ mesh(2) vllm:qkv(h=4,g=1,d=1)")?;
    /// assert_eq!(ShardsExplanation::of(&heads).copies(), Some(8.0 / 6.0));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn copies(&self) -> Option<f64> {
        let size = self.size();
        (size > 0).then(|| self.held as f64 / size as f64)
    }

    /// Returns the elements of the largest shard divided by the mean: 1 if all devices hold equally many. `None` for an array
    /// without elements.
    ///
    /// ```
    /// use tilewright::{InShards, ask::ShardsExplanation};
    /// let balance = |text: &str| ShardsExplanation::of(&InShards::parse(text).unwrap()).balance();
    /// assert_eq!(balance("f32[8] @ mesh(4) [Shard(0)]"), Some(1.0));
    /// assert_eq!(balance("f32[5] @ mesh(4) [Shard(0)]"), Some(1.6));
    /// ```
    pub fn balance(&self) -> Option<f64> {
        let count = self.array.sharded.mesh().count();
        (self.held > 0).then(|| self.largest as f64 * count as f64 / self.held as f64)
    }

    fn size(&self) -> u128 {
        self.array.sharded.extents().iter().map(|extent| u128::from(*extent)).product()
    }

    /// Returns the facts with their titles, and after them every notation under its name.
    ///
    /// ```
    /// use tilewright::{InShards, ask::ShardsExplanation};
    /// let lines = ShardsExplanation::of(&InShards::parse("f32[8] @ mesh(tp=4) [Shard(0)]")?).lines();
    /// let said = |title: &str| lines.iter().find(|(name, _)| name == title).unwrap().1.clone();
    /// assert_eq!(said("bytes"), "8 on each device, 32 on all together");
    /// let one = ShardsExplanation::of(&InShards::parse("f32[3] @ mesh(tp=4) [Shard(0)]")?);
    /// assert!(one.to_string().contains("1 device holds nothing"));
    /// assert_eq!(said("hlo"), "{devices=[4]<=[4]}");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn lines(&self) -> Vec<(String, String)> {
        let sharded = &self.array.sharded;
        let mut lines = Vec::new();
        let mut line = |title: &str, said: String| lines.push((title.to_owned(), said));
        line("array", format!("{}, {}", sharded.array(), counted(self.size(), "element")));
        line("mesh", devices(sharded));
        for (dim, extent) in sharded.extents().iter().enumerate() {
            line(&format!("dim {dim}"), range(*extent, self.least[dim], self.most[dim]));
        }
        for split in sharded.splits() {
            if let Cut::Heads(heads) = &split.cut {
                line("heads", heads.to_string());
            }
        }
        let rest = [
            ("copies", self.says_copies()),
            ("balance", self.says_balance()),
            ("bytes", self.bytes.map(|bytes| bytes.to_string())),
            ("empty", (self.empty > 0).then(|| idle(self.empty))),
            ("boxes", (self.boxes > 1).then(|| format!("a device holds up to {}", self.boxes))),
            ("shards", self.array.shard.as_ref().map(|spec| format!("each in {spec}"))),
        ];
        rest.into_iter().for_each(|(title, said)| said.into_iter().for_each(|it| line(title, it)));
        line("layout", self.layout.clone().unwrap_or_else(|why| format!("none: {why}")));
        for (name, said) in &self.notations {
            line(name, said.clone().unwrap_or_else(|why| format!("– {why}")));
        }
        lines
    }

    fn says_copies(&self) -> Option<String> {
        let (sharded, size) = (&self.array.sharded, self.size());
        if sharded.mesh().is_any() {
            return Some("every device has all of it".into());
        }
        let axes = sharded.replicated();
        let along: u128 =
            axes.iter().map(|axis| u128::from(sharded.mesh().sizes()[*axis])).product();
        let names = match axes.is_empty() {
            true => String::new(),
            false => format!(": replicated along {}", replicated(sharded).join(", ")),
        };
        Some(match size {
            0 => return None,
            _ if self.held == size.saturating_mul(along) => {
                format!("each element on {}{names}", counted(along, "device"))
            }
            _ => format!("an element on {} devices on average{names}", short(self.held, size)),
        })
    }

    fn says_balance(&self) -> Option<String> {
        let (count, largest) = (self.array.sharded.mesh().count(), self.largest);
        if self.array.sharded.mesh().is_any() {
            return None;
        }
        let (whole, said) = (largest * u128::from(count), counted(largest, "element"));
        Some(match self.held {
            0 => return None,
            held if whole == held => format!("{said} on each device"),
            held => {
                let (times, mean) = (short(whole, held), short(held, count.into()));
                format!("{said} on the fullest device, {times} times the mean of {mean}")
            }
        })
    }
}

/// Returns the sentence about devices that hold nothing.
fn idle(count: u64) -> String {
    let verb = if count == 1 { "holds" } else { "hold" };
    format!("{} {verb} nothing", counted(count.into(), "device"))
}

/// Returns a quotient with at most two digits after the point.
fn short(number: u128, by: u128) -> String {
    let text = decimal(number, by, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Describes the mesh.
fn devices(sharded: &Sharded) -> String {
    let mesh = sharded.mesh();
    let axes = mesh.sizes().iter().enumerate();
    let axes: Vec<String> = axes.map(|(at, size)| format!("{} of {size}", mesh.name(at))).collect();
    let axes = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(", ")) };
    match mesh.is_any() {
        true => "unnamed devices".to_owned(),
        false => format!("{}{axes}", counted(mesh.count().into(), "device")),
    }
}

/// Describes the part of a dim that devices hold.
fn range(extent: u64, least: u64, most: u64) -> String {
    match (least == most, most == extent) {
        (true, true) => format!("{extent}, whole on each device"),
        (true, false) => format!("{extent}, cut: {most} on each device"),
        (false, _) => format!("{extent}, cut: {least} to {most} on each device"),
    }
}

/// Returns the sharding in every notation, or the reason why the notation cannot express it.
fn in_notations(sharded: &Sharded) -> Vec<(&'static str, Result<String, String>)> {
    let said = DIALECTS.iter().map(|dialect| {
        let said = dialect.print(sharded).map_err(|error| {
            let error = error.to_string();
            let refused = format!("{} cannot express it: ", dialect.name());
            error.strip_prefix(&refused).unwrap_or(&error).to_owned()
        });
        (dialect.name(), said)
    });
    said.collect()
}

/// Prints `8 on each device, 32 on all together`.
impl fmt::Display for ShardBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least == self.most {
            true => write!(f, "{} on each device", self.most)?,
            false => write!(f, "{} to {} on a device", self.least, self.most)?,
        }
        write!(f, ", {} on all together", self.all)
    }
}

impl fmt::Display for ShardsExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|(title, said)| writeln!(f, "{title:10} {said}"))
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
        let notations: Map<String, Value> = notations.collect();
        let bytes = self.bytes.map(
            |ShardBytes { least, most, all }| json!({ "least": least, "most": most, "all": all }),
        );
        json!({
            "array": sharded.array(),
            "dims": sharded.extents(),
            "dtype": sharded.dtype().map(|dtype| dtype.name()),
            "axes": axes(sharded),
            "replicated": replicated(sharded),
            "least": self.least,
            "most": self.most,
            "copies": self.copies(),
            "balance": self.balance(),
            "bytes": bytes,
            "empty": self.empty,
            "boxes": self.boxes,
            "shard": self.array.shard.as_ref().map(ToString::to_string),
            "layout": self.layout.as_ref().ok(),
            "no_layout": self.layout.as_ref().err(),
            "lines": self.lines(),
            "notations": notations,
        })
    }
}
