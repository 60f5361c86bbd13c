//! Explanation of a layout with index tables: its tables in words, and the layout that they store.

use std::fmt;

use serde_json::{Value, json};
use tilewright_notation::{Along, ArrayLayout, Block};

use super::{
    Answer,
    explain::{Explanation, HEAD},
    words::{counted, row, shortened},
};

/// Everything known about a layout with index tables.
///
/// ```
/// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
/// use tilewright::{Spec, ask::TabledExplanation};
/// let spec = Spec::parse("f16[3,8] table(0; 2,-,0,1) row-major")?;
/// let text = TabledExplanation::of(&spec.array_layout(None, None, &())?).to_string();
/// assert!(text.contains("dim 0: 3 indices stored at 4 places, 1 of them a hole"));
/// assert!(text.contains("padding          8 elements"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TabledExplanation {
    /// The SPEC, with its tables.
    pub spec: String,
    /// The logical extents.
    pub dims: Vec<u64>,
    /// The elements of the storage that hold no element of the array.
    pub padding: u64,
    /// A sentence for each table, in the order in which they apply.
    pub tables: Vec<String>,
    /// The explanation of the layout that the tables store.
    pub stored: Explanation,
}

impl TabledExplanation {
    /// Computes everything about a layout.
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// use tilewright::{Spec, ask::TabledExplanation};
    /// let spec = Spec::parse("f16[16,32] table(0/8,1/16; 3,0,2,1) row-major")?;
    /// let explained = TabledExplanation::of(&spec.array_layout(None, None, &())?);
    /// let said = "blocks of 8 of dim 0 and of 16 of dim 1: 4 blocks stored at 4 places";
    /// assert_eq!(explained.tables, [said]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(tabled: &ArrayLayout) -> TabledExplanation {
        let layout = tabled.layout();
        TabledExplanation {
            spec: tabled.to_spec(),
            dims: layout.extents().to_vec(),
            padding: layout.padding(),
            tables: layout.tables().iter().map(said).collect(),
            stored: Explanation::of(tabled.stored()),
        }
    }

    /// Returns the lines before the explanation of the stored layout, as titles and texts.
    ///
    /// ```
    /// # if !cfg!(feature = "tables") { return Ok::<(), tilewright::Error>(()); }
    /// use tilewright::{Spec, ask::TabledExplanation};
    /// let spec = Spec::parse("f16[3,8] table(0; 2,-,0,1) row-major")?;
    /// let lines = TabledExplanation::of(&spec.array_layout(None, None, &())?).lines();
    /// assert_eq!(lines[2], ("padding".into(), "8 elements".into()));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn lines(&self) -> Vec<(String, String)> {
        let tables = self.tables.iter().enumerate();
        let titled = tables.map(|(at, said)| (if at == 0 { "index tables" } else { "" }, said));
        let mut lines = vec![("dims".to_owned(), format!("{:?}", self.dims))];
        lines.extend(titled.map(|(title, said)| (title.to_owned(), said.clone())));
        lines.push(("padding".to_owned(), counted(self.padding.into(), "element")));
        lines
    }

    fn head(&self, width: usize) -> String {
        let lines = self.lines().into_iter();
        let rows = lines.map(|(title, said)| row(&format!("  {title}"), HEAD, &said, width));
        let name = shortened(&self.spec, width);
        format!("{name}\n{}what the tables store:\n", rows.collect::<String>())
    }
}

/// Describes a table.
fn said(along: &Along) -> String {
    let (table, blocks) = (along.table(), along.blocks());
    let (what, of) = match blocks {
        [block] if !block.has_rest() => (format!("dim {}", block.dim), "index"),
        _ => {
            let dims: Vec<String> = blocks.iter().map(listed).collect();
            (format!("blocks {}", dims.join(" and ")), "block")
        }
    };
    let things = match (of, table.extent()) {
        ("index", 1) => "1 index".to_owned(),
        ("index", many) => format!("{many} indices"),
        (of, many) => counted(many.into(), of),
    };
    let holes = match table.holes() {
        0 => String::new(),
        1 => ", 1 of them a hole".to_owned(),
        many => format!(", {many} of them holes"),
    };
    format!("{what}: {things} stored at {}{holes}", counted(table.stored().into(), "place"))
}

/// Describes the blocks of a dim.
fn listed(block: &Block) -> String {
    let group = block.of.map_or(String::new(), |of| format!(", in groups of {of}"));
    format!("of {} of dim {}{group}", block.by, block.dim)
}

impl fmt::Display for TabledExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head(usize::MAX))?;
        write!(f, "{}", self.stored)
    }
}

impl Answer for TabledExplanation {
    fn to_json(&self) -> Value {
        json!({
            "spec": self.spec,
            "dims": self.dims,
            "padding": self.padding,
            "tables": self.tables,
            "stored": self.stored.to_json(),
        })
    }

    fn within(&self, width: usize) -> String {
        self.head(width) + &self.stored.within(width)
    }
}
