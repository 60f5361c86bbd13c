//! Explanation of a sharding: mesh, extents, copies, balance, bytes, and the sharding in every notation.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_sharded::{Cut, Shard, Sharded, dialect::DIALECTS};

use super::{
    Answer,
    shards::{axes, replicated},
    words::{counted, decimal},
};
use crate::InShards;

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
            notations: notations(sharded),
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
fn notations(sharded: &Sharded) -> Vec<(&'static str, Result<String, String>)> {
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
