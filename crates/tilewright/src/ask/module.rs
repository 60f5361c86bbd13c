//! Answer about the arrays of an HLO module's entry: its parameters, its results, and the arrays that waste most by
//! padding.

use std::fmt;

use serde_json::{Value, json};
use tilewright_xla::{
    Buffer, Buffers, HloComputation, HloModule, ShapeIndex, Tiling, Unsized,
    shape_util::{PaddingAdvice, PaddingCause},
};

use super::{
    Answer,
    words::{bytes, counted, fitted},
};
use crate::Error;

/// The number of arrays that the text lists.
pub const LISTED: usize = 20;

/// The number of arrays for which the JSON gives reasons. The search for a better layout takes time.
const EXPLAINED: usize = 200;

/// Arrays of a module's entry.
///
/// ```
/// use tilewright::{ask::{Answer, ModuleInfo}, xla::HloModule};
/// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[3,5]{1,0:T(2,2)} parameter(0)\n}\n";
/// let module = HloModule::parse(text)?;
/// let info = ModuleInfo::of("m.txt", &module, None)?;
/// assert!(info.to_string().ends_with("1 array, 96 B, 36 B of padding\n"));
/// assert_eq!(info.to_json()["arrays"][0]["padding_bytes"], 36);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Debug)]
pub struct ModuleInfo<'a> {
    /// The name of the file as the user wrote it.
    pub file: String,
    /// The module.
    pub module: &'a HloModule,
    /// The layout that replaces the arrays' own layouts in the counts, if the user gave one.
    pub as_layout: Option<&'a str>,
    /// The entry of the module.
    pub entry: &'a HloComputation,
    /// The parameters of the entry by number.
    pub parameters: Vec<(u64, Buffers<'a>)>,
    /// The results of the entry.
    pub results: Buffers<'a>,
    /// All arrays that have storage of their own, those with the most waste first.
    pub ranked: Buffers<'a>,
}

impl<'a> ModuleInfo<'a> {
    /// Returns the arrays of a module that was read from a file, in their own layouts or as if laid out by a layout or tiles.
    ///
    /// # Errors
    /// An error in the field `layout` if that text is not a layout; an error if the module lacks an entry.
    ///
    /// ```
    /// use tilewright::{ask::ModuleInfo, xla::HloModule};
    /// let module = HloModule::parse("HloModule m\nENTRY e {\n  ROOT x = bf16[300]{0} parameter(0)\n}\n")?;
    /// let tiled = ModuleInfo::of("m.txt", &module, Some("{0:T(8,128)}"))?;
    /// assert_eq!(tiled.ranked.bytes(), (6144, 5544));
    /// let error = ModuleInfo::of("m.txt", &module, Some("T(8")).unwrap_err();
    /// assert_eq!(error.field(), Some("layout"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(
        file: &str,
        module: &'a HloModule,
        as_layout: Option<&'a str>,
    ) -> Result<ModuleInfo<'a>, Error> {
        let tiling = as_layout.map(tiling).transpose()?;
        let entry = module.entry().ok_or_else(|| {
            let says = format!("{file}: module {} lacks an entry computation", module.name);
            Error::new("module", says).of_file()
        })?;
        let parameters = entry.parameters().into_iter();
        let buffers = |one: &'a tilewright_xla::HloInstruction| one.buffers(tiling.as_ref());
        Ok(ModuleInfo {
            file: file.to_owned(),
            module,
            as_layout,
            entry,
            parameters: parameters.map(|one| (one.parameter.unwrap_or(0), buffers(one))).collect(),
            results: entry.root_instruction().map_or_else(Buffers::default, buffers),
            ranked: entry.buffers(tiling.as_ref()),
        })
    }

    /// Returns the JSON without the arrays, of which there may be millions.
    ///
    /// ```
    /// # use tilewright::{ask::ModuleInfo, xla::HloModule};
    /// # let text = "HloModule m\nENTRY e {\n  ROOT x = f32[8] parameter(0)\n}\n";
    /// # let module = HloModule::parse(text)?;
    /// let info = ModuleInfo::of("m.txt", &module, None)?;
    /// assert!(info.head()["bytes"] == 32 && info.head().get("arrays").is_none());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn head(&self) -> Value {
        let (bytes, padding) = self.ranked.bytes();
        let parameters: Vec<Value> = (self.parameters.iter())
            .flat_map(|(number, buffers)| {
                values(buffers).map(move |mut value| {
                    value["parameter"] = json!(number);
                    value
                })
            })
            .collect();
        json!({
            "file": self.file,
            "format": "hlo",
            "module": self.module.name,
            "entry": self.entry.name,
            "as_layout": self.as_layout,
            "parameters": parameters,
            "results": values(&self.results).collect::<Vec<_>>(),
            "not_applied": self.ranked.not_applied.iter().map(left).collect::<Vec<_>>(),
            "unsized": self.ranked.unsized_arrays.iter().map(unsized_array).collect::<Vec<_>>(),
            "bytes": u64::try_from(bytes).ok(),
            "padding_bytes": u64::try_from(padding).ok(),
        })
    }

    /// Iterates over the arrays as JSON.
    ///
    /// ```
    /// # use tilewright::{ask::ModuleInfo, xla::HloModule};
    /// # let text = "HloModule m\nENTRY e {\n  ROOT x = f32[256,3]{1,0:T(8,128)} parameter(0)\n}\n";
    /// # let module = HloModule::parse(text)?;
    /// let array = ModuleInfo::of("m.txt", &module, None)?.arrays().next().unwrap();
    /// assert_eq!(array["better"]["layout"], "{0,1:T(8,128)}");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn arrays(&self) -> impl Iterator<Item = Value> + '_ {
        self.ranked.buffers.iter().enumerate().map(ranked)
    }

    /// Prints the arrays, those with the most waste first, then the sums.
    fn waste(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.ranked.buffers;
        for buffer in all.iter().take(LISTED) {
            match buffer.padding_bytes() {
                0 => writeln!(f, "{}, no padding: {}", bytes(buffer.bytes), name(buffer))?,
                _ => padded(f, buffer)?,
            }
        }
        more(f, all.len())?;
        for buffer in self.ranked.not_applied.iter().take(LISTED) {
            writeln!(f, "{}: {}", not_applied(buffer), name(buffer))?;
        }
        more(f, self.ranked.not_applied.len())?;
        for one in &self.ranked.unsized_arrays {
            let (name, path) = (&one.instruction.name, path(&one.index));
            writeln!(f, "no size: {name}{path}: {}", one.error)?;
        }
        let (size, padding) = self.ranked.bytes();
        let words = |size: u128| bytes(u64::try_from(size).unwrap_or(u64::MAX));
        let (size, padding) = (words(size), words(padding));
        writeln!(f, "{}, {size}, {padding} of padding", arrays(all.len()))
    }
}

fn tiling(text: &str) -> Result<Tiling, Error> {
    Tiling::parse(text).map_err(|error| Error::from(error).in_text(text).in_field("layout"))
}

/// Prints with control characters replaced, since names are arbitrary text that could control a terminal.
impl fmt::Display for ModuleInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |c: char| c.is_control() && c != '\n';
        f.write_str(&NamedText(self).to_string().replace(hidden, "\u{fffd}"))
    }
}

/// The text with the names as they are.
struct NamedText<'a, 'b>(&'b ModuleInfo<'a>);

impl fmt::Display for NamedText<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.0;
        write!(f, "module {}, entry {}", info.module.name, info.entry.name)?;
        if let Some(layout) = &info.as_layout {
            write!(f, ", as if laid out by {layout}")?;
            if !info.ranked.not_applied.is_empty() {
                write!(f, " (not applied: {})", arrays(info.ranked.not_applied.len()))?;
            }
        }
        writeln!(f)?;
        for (number, buffers) in &info.parameters {
            list(f, &format!("parameter {number}"), buffers, true)?;
        }
        list(f, "result", &info.results, false)?;
        info.waste(f)
    }
}

impl Answer for ModuleInfo<'_> {
    fn within(&self, width: usize) -> String {
        fitted(&self.to_string(), width)
    }

    fn to_json(&self) -> Value {
        let mut value = self.head();
        value["arrays"] = self.arrays().collect();
        value
    }
}

fn arrays(count: usize) -> String {
    counted(count as u128, "array")
}

/// Prints the number of entries of a list that are not shown.
fn more(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    match count.checked_sub(LISTED) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(f, "… {}; the JSON lists all", counted(more as u128, "more array")),
    }
}

/// Returns the path of a tuple's member after a space; empty for other arrays.
fn path(index: &ShapeIndex) -> String {
    if index.is_empty() { String::new() } else { format!(" {index}") }
}

/// Returns why a layout is not applied to an array.
fn not_applied(buffer: &Buffer<'_>) -> String {
    format!("not applied: rank {}", buffer.array.dims().len())
}

/// Prints a line for each array of one value.
fn list(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    buffers: &Buffers<'_>,
    named: bool,
) -> fmt::Result {
    let applied = buffers.buffers.iter().map(|one| (one, String::new()));
    let left = buffers.not_applied.iter().map(|one| (one, format!(", {}", not_applied(one))));
    for (buffer, note) in applied.chain(left) {
        let path = path(&buffer.index);
        let name = if named { format!(" {}", buffer.instruction.name) } else { String::new() };
        writeln!(f, "{title}{path}:{name} {}, {}{note}", buffer.array, bytes(buffer.bytes))?;
    }
    let all = &buffers.unsized_arrays;
    all.iter().try_for_each(|one| writeln!(f, "{title}{}: {}", path(&one.index), one.error))
}

/// Returns a name such as `v.1 = parameter f32[2048,10]{1,0:T(8,128)}`, with the path of a tuple's member.
fn name(buffer: &Buffer<'_>) -> String {
    let one = buffer.instruction;
    format!("{}{} = {} {}", one.name, path(&buffer.index), one.opcode, buffer.array)
}

/// Prints an array with padding, the causes, and a layout with less padding.
fn padded(f: &mut fmt::Formatter<'_>, buffer: &Buffer<'_>) -> fmt::Result {
    let (padding, size) = (bytes(buffer.padding_bytes()), bytes(buffer.bytes));
    writeln!(f, "{size}, {padding} of padding, {}: {}", buffer.factor(), name(buffer))?;
    match buffer.advice() {
        Err(error) => writeln!(f, "    {error}"),
        Ok(advice) => {
            advice.causes.iter().try_for_each(|cause| writeln!(f, "    {cause}"))?;
            writeln!(f, "    {}", advice.suggestion())
        }
    }
}

fn array(buffer: &Buffer<'_>) -> Value {
    json!({
        "instruction": buffer.instruction.name,
        "opcode": buffer.instruction.opcode,
        "index": buffer.index.as_slice(),
        "shape": buffer.array.to_string(),
        "bytes": buffer.bytes,
        "padding_bytes": buffer.padding_bytes(),
    })
}

/// Returns an array to which the layout is not applied, with the reason.
fn left(buffer: &Buffer<'_>) -> Value {
    let mut value = array(buffer);
    value["not_applied"] = json!(format!("rank {}", buffer.array.dims().len()));
    value
}

/// Iterates over the arrays of one value as JSON.
fn values<'b>(buffers: &'b Buffers<'_>) -> impl Iterator<Item = Value> + 'b {
    buffers.buffers.iter().map(array).chain(buffers.not_applied.iter().map(left))
}

/// Returns an array as JSON with its factor and, for arrays with the most waste, the causes and the better layout.
fn ranked((rank, buffer): (usize, &Buffer<'_>)) -> Value {
    let mut value = array(buffer);
    value["factor"] = json!(buffer.factor().ratio());
    if rank < EXPLAINED
        && let Ok(advice) = buffer.advice()
    {
        value["causes"] = advice.causes.iter().map(cause).collect();
        value["better"] = better(&advice);
    }
    value
}

/// Returns one reason for padding as JSON.
fn cause(cause: &PaddingCause) -> Value {
    json!({
        "dims": cause.dims,
        "extent": cause.extent,
        "padded": cause.padded,
        "tile": cause.tile.as_ref().map(|(_, _, tile)| tile.to_string()),
        "text": cause.to_string(),
    })
}

/// Returns the layout with the least padding; null if it is this one or was not decided.
fn better(advice: &PaddingAdvice) -> Value {
    let better = advice.better.as_ref().ok().and_then(Option::as_ref);
    better.map_or(
        Value::Null,
        |(layout, factor)| json!({ "layout": layout.to_string(), "factor": factor.ratio() }),
    )
}

fn unsized_array(one: &Unsized<'_>) -> Value {
    json!({
        "instruction": one.instruction.name,
        "index": one.index.as_slice(),
        "reason": one.error.to_string(),
    })
}
