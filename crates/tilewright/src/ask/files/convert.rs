//! Answers about a conversion: its effect on every tensor of a file, before it runs and after; about a result that a recipe
//! makes, with a line for each of its tensors before it is written, and a summary after; about the verification of a
//! converted file; and about fingerprints of data.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{
    Action, Alike, Apart, Assembling, Checked, Conversion, Difference, Divergence, Fingerprints,
    Job, Key, Report, Row, Verdict,
};

use crate::ask::{
    Answer,
    words::{bytes, counted, fitted, printable},
};

/// A conversion, before or after it runs.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Converted}, files::{Conversion, Reading, Request, open}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = open(path, &Reading::default())?;
/// let folder = tempfile::tempdir()?;
/// let request = Request::new().rule("*.k_proj.weight", Spec::parse("zN")?);
/// let conversion = Conversion::prepare(&input, folder.path().join("zn.safetensors"), request)?;
/// let plan = Converted { conversion: &conversion, report: None };
/// assert!(plan.to_string().contains("-> bf16[50,200] zN, "));
/// assert_eq!(plan.to_json()["dry_run"], true);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Debug)]
pub struct Converted<'a> {
    /// The request, tensor by tensor.
    pub conversion: &'a Conversion<'a>,
    /// The report on the finished conversion; `None` before.
    pub report: Option<Report>,
}

impl Converted<'_> {
    /// Returns `convert`, `copy` or `skip`, and the reason if the tensor is not converted.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Converted, files::{Conversion, Reading, Request, open}};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let folder = tempfile::tempdir()?;
    /// let request = Request::new().to(Spec::parse("row-major")?);
    /// let conversion = Conversion::prepare(&input, folder.path().join("a.safetensors"), request)?;
    /// assert_eq!(Converted::action(&conversion.jobs()[0]), ("copy", Some("already in that layout")));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn action(job: &Job) -> (&'static str, Option<&str>) {
        match job.action() {
            Action::Convert => ("convert", None),
            Action::Copy => ("copy", job.is_already_so().then_some("already in that layout")),
            Action::Skip(reason) => ("skip", Some(reason)),
        }
    }

    /// Returns the bytes of all tensors, before and after.
    ///
    /// ```
    /// # use tilewright::{Spec, ask::Converted, files::{Conversion, Reading, Request, open}};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// # let folder = tempfile::tempdir()?;
    /// # let request = Request::new().to(Spec::parse("row-major")?);
    /// # let conversion = Conversion::prepare(&input, folder.path().join("a.safetensors"), request)?;
    /// let (before, after) = Converted { conversion: &conversion, report: None }.bytes();
    /// // Nothing is converted here.
    /// assert_eq!(before, after);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn bytes(&self) -> (u64, u64) {
        let jobs = self.conversion.jobs();
        let sum = |bytes: fn(&Job) -> u64| jobs.iter().map(bytes).fold(0, u64::saturating_add);
        (sum(Job::bytes_in), sum(Job::bytes_out))
    }

    /// The names of the files that are copied along when a folder is converted.
    ///
    /// ```
    /// # use tilewright::{Spec, ask::Converted, files::{Conversion, Reading, Request, open}};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir()?;
    /// std::fs::copy(path, folder.path().join("model.safetensors"))?;
    /// std::fs::write(folder.path().join("config.json"), "{}")?;
    /// let input = open(folder.path(), &Reading::default())?;
    /// let out = tempfile::tempdir()?;
    /// let request = Request::new().to(Spec::parse("col-major")?);
    /// let conversion = Conversion::prepare(&input, out.path(), request)?;
    /// assert_eq!(Converted { conversion: &conversion, report: None }.files(), ["config.json"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> Vec<String> {
        let names = self.conversion.companions().filter_map(|path| path.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Iterates over the tensors that have a line: all of them before the conversion, the skipped ones after.
    fn shown(&self) -> impl Iterator<Item = &Job> {
        let is_skip = |job: &Job| matches!(job.action(), Action::Skip(_));
        let done = self.report.is_some();
        self.conversion.jobs().iter().filter(move |job| !done || is_skip(job))
    }

    /// Returns the sums, the verified bytes, and the number of files that are copied along.
    fn summary(&self) -> String {
        let verified = match self.report.as_ref().and_then(Report::verified) {
            Some(verified) => format!(", {} verified", bytes(verified)),
            None => String::new(),
        };
        let files = match self.conversion.companions().count() {
            0 => String::new(),
            files => format!(", and {}", counted(files as u128, "other file")),
        };
        format!("{}{verified}{files}", self.sums())
    }

    /// Returns a line such as "3 of 4 tensors converted, 1.00 MiB with 0 B of padding".
    fn sums(&self) -> String {
        let jobs = self.conversion.jobs();
        let converted = jobs.iter().filter(|job| matches!(job.action(), Action::Convert));
        let (count, padding) = converted.fold((0, 0), |(count, padding), job| {
            (count + 1, job.padding().saturating_add(padding))
        });
        let (from, to) = self.conversion.formats();
        if count == 0 && from != to {
            let all = counted(jobs.len() as u128, "tensor");
            return format!("{all} copied from {from} to {to}, {}", bytes(self.bytes().1));
        }
        let so = match (count, jobs.iter().filter(|job| job.is_already_so()).count()) {
            (0, 0) => ": nothing to convert".into(),
            (0, so) => format!(": nothing to convert, {so} already in that layout"),
            (_, 0) => String::new(),
            (_, so) => format!(" ({so} already in that layout)"),
        };
        let (size, padding) = (bytes(self.bytes().1), bytes(padding));
        let all = counted(jobs.len() as u128, "tensor");
        format!("{count} of {all} converted{so}, {size} with {padding} of padding")
    }
}

/// A line for each tensor before the conversion, or for each skipped tensor after it, then the sums.
impl fmt::Display for Converted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown().try_for_each(|job| writeln!(f, "{}", line(job, ", ")))?;
        writeln!(f, "{}", self.summary())
    }
}

/// Returns the line of a tensor, with `between` between its layouts and its numbers.
fn line(job: &Job, between: &str) -> String {
    let name = printable(job.name());
    let (before, after) = (job.bytes_in(), job.bytes_out());
    let size = |bytes: u64| counted(bytes.into(), "byte");
    match job.action() {
        Action::Copy if job.is_already_so() => {
            format!("{name}: already in that layout, {}", size(before))
        }
        Action::Copy => format!("{name}: copied, {}", size(before)),
        Action::Skip(reason) => format!("{name}: skipped, {}", printable(reason)),
        Action::Convert => {
            let padding = job.padding();
            let share = if after == 0 { 0.0 } else { 100.0 * padding as f64 / after as f64 };
            let [from, to] = [job.from(), job.to()].map(|layout| layout.to_spec());
            format!(
                "{name}: {} -> {}{between}{before} -> {}, {padding} of padding ({share:.1} %), {}",
                printable(&from),
                printable(&to),
                size(after),
                job.kernel(),
            )
        }
    }
}

impl Answer for Converted<'_> {
    fn notes(&self) -> Vec<String> {
        let beside = self.conversion.layout_file();
        let beside = beside.as_ref().and_then(|path| path.file_name());
        let beside = beside.map(|name| {
            format!("the layout is written to {}, to be kept next to the array", name.display())
        });
        self.conversion.warnings().chain(beside).collect()
    }

    /// A line for each tensor if all lines fit, else one line for the layouts and one for the numbers.
    fn within(&self, width: usize) -> String {
        let whole = self.to_string();
        if whole.lines().all(|line| line.chars().count() <= width) {
            return whole;
        }
        let jobs: String = self.shown().map(|job| line(job, "\n    ") + "\n").collect();
        fitted(&(jobs + &self.summary()), width)
    }

    fn to_json(&self) -> Value {
        let (before, after) = self.bytes();
        json!({
            "tensors": self.conversion.jobs().iter().map(job_json).collect::<Vec<_>>(),
            "bytes_in": before,
            "bytes_out": after,
            "verified": self.report.as_ref().and_then(Report::verified).is_some(),
            "dry_run": self.report.is_none(),
            "files": self.files(),
            "notes": self.notes(),
        })
    }
}

fn job_json(job: &Job) -> Value {
    let (action, reason) = Converted::action(job);
    json!({
        "name": job.name(),
        "action": action,
        "from": job.specs().0,
        "to": job.specs().1,
        "bytes_in": job.bytes_in(),
        "bytes_out": job.bytes_out(),
        "padding_bytes": job.padding(),
        "kernel": job.kernel(),
        "reason": reason,
    })
}

/// The largest number of sources whose names are printed for a tensor; others are counted.
const NAMED: usize = 3;

/// A result that a recipe makes, before or after it is written.
///
/// ```
/// use tilewright::{ask::{Answer, Assembled}, files::{Assembling, Packaging, Reading, Request, open}};
/// use tilewright::recipe::{Recipe, Sizes};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default())?;
/// let recipe = Recipe::parse("pass = ['*']\n[[map]]\nfrom = '3.weight : o i'\nto = 'head : i o'")?;
/// let assembly = recipe.solve(&input.recipe_tensors(), None, &Sizes::new())?;
/// let folder = tempfile::tempdir()?;
/// let out = folder.path().join("turned.safetensors");
/// let job = Assembling::prepare(&input, &assembly, &out, Request::new(), &Packaging::default())?;
/// let plan = Assembled { job: &job, report: None };
/// assert!(plan.to_string().contains("row-major: relayout of 3.weight, "));
/// assert_eq!(plan.to_json()["dry_run"], true);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Debug)]
pub struct Assembled<'a> {
    /// The request, tensor by tensor.
    pub job: &'a Assembling<'a>,
    /// The report on the written result; `None` before.
    pub report: Option<Report>,
}

impl Assembled<'_> {
    /// The bytes of all tensors of the result.
    ///
    /// ```
    /// # use tilewright::{ask::Assembled, files::{Assembling, Packaging, Reading, Request, open}, recipe::Assembly};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// # let input = open(path, &Reading::default())?;
    /// # let folder = tempfile::tempdir()?;
    /// # let out = folder.path().join("a.safetensors");
    /// let (request, packaging) = (Request::new(), Packaging::default());
    /// let job = Assembling::prepare(&input, &Assembly::default(), &out, request, &packaging)?;
    /// assert_eq!(Assembled { job: &job, report: None }.bytes(), 0);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.job.rows().iter().map(|row| row.bytes).fold(0, u64::saturating_add)
    }

    /// Returns a line such as "12 tensors, 3 of them relaid, 1.00 MiB, 1.00 MiB verified, and 2 other files".
    fn summary(&self) -> String {
        let rows = self.job.rows();
        let relaid = rows.iter().filter(|row| row.how == "relayout").count();
        let verified = match self.report.as_ref().and_then(Report::verified) {
            Some(verified) => format!(", {} verified", bytes(verified)),
            None => String::new(),
        };
        let files = match self.job.companions().count() {
            0 => String::new(),
            files => format!(", and {}", counted(files as u128, "other file")),
        };
        let count = counted(rows.len() as u128, "tensor");
        format!("{count}, {relaid} of them relaid, {}{verified}{files}", bytes(self.bytes()))
    }
}

/// Before the result is written, a line for each of its tensors; in any case the summary.
impl fmt::Display for Assembled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.report.is_none() {
            self.job.rows().iter().try_for_each(|row| writeln!(f, "{}", part_line(row)))?;
        }
        writeln!(f, "{}", self.summary())
    }
}

fn part_line(row: &Row) -> String {
    let (name, spec) = (printable(&row.name), printable(&row.spec));
    let size = counted(row.bytes.into(), "byte");
    let named = row.sources.iter().take(NAMED).map(|name| printable(name).into_owned());
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match row.sources.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match row.sources.is_empty() {
        true => format!("{name}: {spec}: filled, {size}"),
        false => format!("{name}: {spec}: {} of {named}{more}, {size}", row.how),
    }
}

impl Answer for Assembled<'_> {
    fn notes(&self) -> Vec<String> {
        self.job.warnings().collect()
    }

    fn cautions(&self) -> Vec<String> {
        self.job.cautions().map(str::to_owned).collect()
    }

    fn to_json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "name": row.name,
                "to": row.spec,
                "sources": row.sources,
                "bytes_out": row.bytes,
                "how": row.how,
            })
        };
        let rows = self.job.rows();
        json!({
            "tensors": rows.iter().map(row).collect::<Vec<_>>(),
            "bytes_out": self.bytes(),
            "verified": self.report.as_ref().and_then(Report::verified).is_some(),
            "dry_run": self.report.is_none(),
            "files": self.job.companions().collect::<Vec<_>>(),
            "notes": self.cautions().into_iter().chain(self.job.warnings()).collect::<Vec<_>>(),
        })
    }
}

// Answers about the verification of a converted file, the fingerprints of the data in files, and the arrays of two
// files or folders.

/// Verdict of a verification.
///
/// ```
/// use tilewright::{ask::{Answer, Verified}, files::{Request, verify}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let verified = Verified(verify(path, path, &Request::new(), &())?);
/// assert!(verified.to_string().starts_with("same: "));
/// assert!(!verified.is_no() && verified.to_json()["same"] == true);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(pub Verdict);

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Verdict::Same { bytes: all, .. } => {
                write!(f, "same: {} compared", bytes(*all))?;
                self.0.remark().map_or(Ok(()), |said| write!(f, "\n{}", printable(&said)))
            }
            Verdict::Differs(found) => write!(f, "differ: {}", printable(&found.to_string())),
        }
    }
}

/// Comparison of the data of a file with the fingerprints that it records.
///
/// ```
/// use tilewright::{ask::{Answer, Recorded}, files::{Checked, Verdict}};
/// let (verdict, unrecorded) = (Verdict::Same { bytes: 640, dropped: vec![], changed: vec![] }, vec![]);
/// let recorded = Recorded(Checked { recorded: 2, tensors: 3, unrecorded, verdict });
/// assert_eq!(recorded.to_string(), "same: 2 of 3 tensors have the recorded data, 640 B read");
/// assert_eq!(recorded.to_json()["recorded"], 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded(pub Checked);

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { recorded, tensors, verdict, .. } = &self.0;
        let Verdict::Same { bytes: all, .. } = verdict else {
            return Verified(verdict.clone()).fmt(f);
        };
        let (of, all) = (counted(*tensors as u128, "tensor"), bytes(*all));
        let have = if *recorded == 1 { "has" } else { "have" };
        write!(f, "same: {recorded} of {of} {have} the recorded data, {all} read")?;
        self.0.remark().map_or(Ok(()), |said| write!(f, "\n{}", printable(&said)))
    }
}

impl Answer for Recorded {
    fn to_json(&self) -> Value {
        let mut value = Verified(self.0.verdict.clone()).to_json();
        value["recorded"] = json!(self.0.recorded);
        value["tensors"] = json!(self.0.tensors);
        value["unrecorded"] = json!(self.0.unrecorded);
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.0.verdict, Verdict::Differs(_))
    }
}

impl Answer for Verified {
    fn to_json(&self) -> Value {
        let difference = match &self.0 {
            Verdict::Same { bytes, dropped, changed } => {
                return json!({ "same": true, "bytes": bytes, "dropped": dropped, "changed": changed });
            }
            Verdict::Differs(difference) => difference,
        };
        let mut value = json!({
            "same": false,
            "difference": difference.to_string(),
            "tensor": difference.tensor(),
        });
        match difference {
            Difference::Element { coord, offset, original, is, was, .. } => {
                value["coord"] = json!(coord);
                value["offset"] = json!(offset);
                value["original_offset"] = json!(original);
                value["is"] = json!(format!("{is:#x}"));
                value["was"] = json!(format!("{was:#x}"));
            }
            Difference::Padding { offset, is, expected, .. } => {
                value["offset"] = json!(offset);
                value["is"] = json!(format!("{is:#x}"));
                value["was"] = json!(format!("{expected:#x}"));
            }
            Difference::Record { is, recorded, .. } => {
                value["fingerprint"] = json!(is.to_string());
                value["recorded_fingerprint"] = json!(recorded.to_string());
            }
            // open set
            _ => {}
        }
        value
    }

    fn is_no(&self) -> bool {
        matches!(self.0, Verdict::Differs(_))
    }
}

/// Fingerprint of every tensor of a file or a folder, and one number for all of them. The same arrays in any layout, format and
/// number of files have the same fingerprints.
///
/// ```
/// use tilewright::{ask::{Answer, Printed}, files::{Collection, Key}};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let key = Key::default();
/// let found = Collection::open(path)?.only(&["0.bias"])?.fingerprints(&key, &())?;
/// let answer = Printed { key, found };
/// assert!(answer.to_string().starts_with("0.bias f32 [32] "));
/// assert_eq!(answer.to_json()["tensors"][0]["name"], "0.bias");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The key of the fingerprints.
    pub key: Key,
    /// The fingerprints.
    pub found: Fingerprints,
}

/// A line for each tensor, then one for all.
impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for tensor in &self.found.tensors {
            let dims: Vec<String> = tensor.dims.iter().map(u64::to_string).collect();
            let (name, dtype, dims) = (printable(&tensor.name), tensor.dtype, dims.join(","));
            writeln!(f, "{name} {dtype} [{dims}] {}", tensor.fingerprint)?;
        }
        writeln!(f, "all {:016x}", self.found.all)
    }
}

impl Answer for Printed {
    fn to_json(&self) -> Value {
        let tensor = |tensor: &tilewright_files::Printed| {
            json!({
                "name": tensor.name,
                "dtype": tensor.dtype.name(),
                "dims": tensor.dims,
                "fingerprint": tensor.fingerprint.to_string(),
            })
        };
        json!({
            "key": self.key.to_string(),
            "tensors": self.found.tensors.iter().map(tensor).collect::<Vec<_>>(),
            "all": format!("{:016x}", self.found.all),
        })
    }
}

/// Tensors that differ between two files or folders; empty if both hold the same arrays.
///
/// ```
/// use tilewright::{ask::{Answer, SameData}, files::{Apart, Divergence}};
/// assert_eq!(SameData(vec![]).to_string(), "same");
/// let apart = Apart::Element { coord: vec![1, 2], a: 7, b: 9 };
/// let differ = SameData(vec![Divergence { name: "w".into(), apart, alike: vec![] }]);
/// assert_eq!(differ.to_string(), "w differs at (1,2): 0x7 vs 0x9\n");
/// assert!(differ.is_no() && differ.to_json()["tensors"][0]["coord"][1] == 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameData(pub Vec<Divergence>);

/// Prints `same`, or a line for each tensor that differs.
impl fmt::Display for SameData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("same"),
            false => {
                self.0.iter().try_for_each(|one| writeln!(f, "{}", printable(&one.to_string())))
            }
        }
    }
}

impl Answer for SameData {
    fn to_json(&self) -> Value {
        let tensors: Vec<Value> = self.0.iter().map(tensor).collect();
        json!({ "same": self.0.is_empty(), "tensors": tensors })
    }

    fn is_no(&self) -> bool {
        !self.0.is_empty()
    }
}

fn tensor(divergence: &Divergence) -> Value {
    let mut value = json!({ "name": divergence.name, "difference": divergence.apart.to_string() });
    match &divergence.apart {
        Apart::Missing { first } => {
            value["missing"] = json!(if *first { "first" } else { "second" })
        }
        Apart::Dropped { first, whole } => {
            value["missing"] = json!(if *first { "first" } else { "second" });
            value["dropped"] = json!(if *whole { "whole" } else { "part" });
        }
        Apart::Dtype { a, b } => value["dtypes"] = json!([a, b]),
        Apart::Dims { a, b } => value["dims"] = json!([a, b]),
        Apart::Element { coord, a, b } => {
            value["coord"] = json!(coord);
            value["values"] = json!([format!("{a:#x}"), format!("{b:#x}")]);
        }
        // open set
        _ => {}
    }
    let mut named = Vec::new();
    for alike in &divergence.alike {
        match alike {
            Alike::Transposed(dims) => value["transposed"] = json!(dims),
            Alike::Swapped => value["byte_swapped"] = json!(true),
            Alike::Named(name) | Alike::NamedFirst(name) => named.push(name),
            // open set
            _ => {}
        }
    }
    if !named.is_empty() {
        value["same_as"] = json!(named);
    }
    value
}
