//! Answer about a result that a recipe makes: a line for each of its tensors before it is written, and a summary after.

use std::fmt;

use serde_json::{Value, json};
use tilewright_files::{Assembling, Report, Row};

use super::{
    Answer,
    words::{bytes, counted, printable},
};

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
            self.job.rows().iter().try_for_each(|row| writeln!(f, "{}", line(row)))?;
        }
        writeln!(f, "{}", self.summary())
    }
}

fn line(row: &Row) -> String {
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
