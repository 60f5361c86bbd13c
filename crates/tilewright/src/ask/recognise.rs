//! Answer about the names of a layout in the catalogue.

use std::fmt;

use serde_json::{Value, json};
use tilewright_notation::{Named, Recognised, recognise};

use super::Answer;

/// Named formats that describe a layout.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Recognition}};
/// let blocks = Spec::parse("bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))")?.resolve(None, None)?;
/// let names = Recognition::of(&blocks);
/// assert_eq!(names.formats[0].name, "zN");
/// assert!(names.to_string().starts_with("zN  = NZ, FRACTAL_NZ"));
/// let gaps = Recognition::of(&Spec::parse("(8,12):(1,9)")?.resolve(None, None)?);
/// assert!(gaps.is_no() && gaps.to_string() == "no named format");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recognition {
    /// The layout as one SPEC.
    pub layout: String,
    /// The names of the layout, in the order of the catalogue.
    pub formats: Vec<Recognised>,
}

impl Recognition {
    /// Finds all names of a layout.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Recognition};
    /// let channels = Spec::parse("f16[2,1,4,5] NHWC")?.resolve(None, None)?;
    /// let names: Vec<String> = Recognition::of(&channels).formats.into_iter().map(|one| one.name).collect();
    /// assert!(names.contains(&"NCHW".into()) && names.contains(&"NHWC".into()));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(named: &Named) -> Recognition {
        Recognition { layout: named.to_spec(), formats: recognise(named) }
    }

    /// Iterates over the names, one on a line.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.formats.iter().map(line)
    }

    /// Returns the names as JSON.
    pub(super) fn values(&self) -> Vec<Value> {
        let one = |found: &Recognised| {
            json!({
                "name": found.name,
                "aliases": found.format.aliases,
                "bits": found.bits,
                "source": found.format.source,
            })
        };
        self.formats.iter().map(one).collect()
    }
}

/// Returns a name with its other names, and the width of elements if the layout does not give it.
fn line(found: &Recognised) -> String {
    let aliases = found.format.aliases;
    let others =
        if aliases.is_empty() { String::new() } else { format!("  = {}", aliases.join(", ")) };
    let bits = found.bits.map(|bits| format!("  of {bits}-bit elements")).unwrap_or_default();
    format!("{}{bits}{others}", found.name)
}

impl fmt::Display for Recognition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_no() {
            return f.write_str("no named format");
        }
        self.lines().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Answer for Recognition {
    fn to_json(&self) -> Value {
        json!({ "layout": self.layout, "formats": self.values() })
    }

    fn is_no(&self) -> bool {
        self.formats.is_empty()
    }
}
