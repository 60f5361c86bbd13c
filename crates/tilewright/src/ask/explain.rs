//! Explanation of a layout in words and numbers.
//!
//! Each logical dim has its extents, and the digits of its coordinate with their strides. A layout with index tables
//! has its tables in words, and the layout that they store.

use std::fmt;

use serde_json::{Map, Value, json};
use tilewright_core::{Error, Mode, TensorLayout};
use tilewright_notation::{
    Along, ArrayLayout, Block, Notation, ResolvedLayout, Words, notations, recognise,
};

use super::{
    Advice, Answer,
    words::{counted, decimal, row, shortened},
};

/// The characters of the titles of a page, with the blanks around them.
pub(super) const HEAD: usize = 19;

/// Everything known about one layout. Prints as a page of text.
///
/// ```
/// use tilewright::{Explanation, Spec};
/// let named = Spec::parse("f32[3,5]{1,0:T(2,2)}")?.resolve(None, None)?;
/// let text = Explanation::of(&named).to_string();
/// assert!(text.contains("padding          9 elements (37.5 % of the storage)"));
/// assert!(text.contains("2 columns at stride 1, repeated 3× at stride 4"));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The layout as the user wrote it.
    pub name: String,
    /// The name of the element type, if known.
    pub dtype: Option<String>,
    /// The width of one stored element in bits, if known.
    pub element_bits: Option<u32>,
    /// The type and shape under which other programs store the elements, if it differs from the element type.
    pub stored_as: Option<Words>,
    /// The logical extents.
    pub dims: Vec<u64>,
    /// The number of logical elements.
    pub size: u64,
    /// 1 + the largest offset of the padded domain, in elements.
    pub cosize: i64,
    /// The length of the storage from offset 0 on, in elements.
    pub capacity: u64,
    /// The length of the storage before offset 0, in elements: strides below 0 may reach there.
    pub below: u64,
    /// The length of the storage in bytes, if the width of an element is known.
    pub bytes: Option<u128>,
    /// The number of storage elements without a logical element; more if elements share places that have gaps.
    pub padding: u64,
    /// The number of consecutive offsets that hold elements, from the first element on.
    pub contiguous_run: u64,
    /// True if `contiguous_run` is the whole run; false if only the part along one dim was computed.
    pub contiguous_run_is_exact: bool,
    /// True if all elements have different offsets; an error if that was not decided.
    pub injective: Result<bool, Error>,
    /// True if the padded domain reaches every offset of its span.
    pub exhaustive: bool,
    /// The number of dims of more than one coordinate.
    pub true_rank: usize,
    /// One line for each logical dim; empty if steps mix the dims.
    pub axes: Vec<Axis>,
    /// Row-major, column-major or neither.
    pub order: Order,
    /// If there is padding, the reasons why the storage is longer than the elements, and the order of dims with the least
    /// padding.
    pub advice: Option<Advice>,
    /// The names that the layout has in the catalogue, with their parameters.
    pub formats: Vec<String>,
    /// The layout in every notation, or the reason why the notation cannot express it.
    pub notations: Vec<(&'static str, Result<String, String>)>,
}

/// Order of the dims in memory.
///
/// ```
/// use tilewright::{Explanation, Spec, ask::explain::Order};
/// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
/// let order = |text| Explanation::of(&named(text)).order;
/// assert_eq!(order("f32[2,3]{1,0}"), Order::RowMajor);
/// assert_eq!(order("f32[2,3]{0,1}"), Order::ColumnMajor);
/// // A row of a matrix is both; a tiled matrix is neither.
/// assert_eq!((order("f32[1,3]{0,1}"), order("f32[4,4]{1,0:T(2,2)}")), (Order::Both, Order::Neither));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Dim 0 is the most major, the last dim the most minor.
    RowMajor,
    /// Dim 0 is the most minor.
    ColumnMajor,
    /// At most one dim has more than one coordinate.
    Both,
    /// Another order, or dims cut into digits.
    Neither,
}

impl Explanation {
    /// Computes everything about a layout.
    ///
    /// ```
    /// use tilewright::{Explanation, Spec};
    /// let named = Spec::parse("bf16[300]{0:T(8,128)}")?.resolve(None, None)?;
    /// let explanation = Explanation::of(&named);
    /// // A vector in tiles of a matrix: a row of three tiles, seven rows of each empty.
    /// assert_eq!((explanation.size, explanation.capacity), (300, 3072));
    /// assert_eq!((explanation.bytes, explanation.contiguous_run), (Some(6144), 128));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(named: &ResolvedLayout) -> Explanation {
        let layout = named.layout();
        let bits = named.element_bits();
        let (dtype, stored) = (named.dtype(), named.explicit_bits());
        let alone = ResolvedLayout::new("", layout.clone(), dtype, stored, named.fill());
        let (bounds, exhaustive) = (layout.layout().bounds(), layout.layout().exhaustive());
        let (below, injective) =
            (bounds.map_or(0, |(low, _)| low.min(0).unsigned_abs()), layout.injective());
        // If the places have no gaps, they are counted, not the elements that share them.
        let places = match bounds {
            Some((low, high)) if exhaustive && injective == Ok(false) => high.abs_diff(low) + 1,
            _ => layout.size(),
        };
        Explanation {
            name: named.to_spec(),
            dtype: named.dtype().map(|dtype| dtype.to_string()),
            element_bits: bits,
            stored_as: named.stored_as().cloned(),
            dims: layout.extents().to_vec(),
            size: layout.size(),
            cosize: layout.layout().cosize(),
            capacity: layout.capacity(),
            bytes: bits.map(|bits| (u128::from(layout.capacity()) * u128::from(bits)).div_ceil(8)),
            below,
            padding: layout.capacity().saturating_add(below).saturating_sub(places),
            contiguous_run: layout.contiguous_run(),
            contiguous_run_is_exact: layout.contiguous_run_is_exact(),
            exhaustive,
            true_rank: layout.true_rank(),
            axes: axes(layout),
            order: order(layout),
            advice: Advice::of(layout).filter(|_| injective != Ok(false)),
            injective,
            formats: recognise(&alone).into_iter().map(|found| found.name).collect(),
            notations: said(&alone),
        }
    }

    /// The share of the storage that is padding, between 0 and 1.
    ///
    /// ```
    /// use tilewright::{Explanation, Spec};
    /// let share = |text| {
    ///     let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
    ///     Explanation::of(&named).padding_share()
    /// };
    /// assert_eq!(share("f32[3,5]{1,0:T(2,2)}"), 9.0 / 24.0);
    /// // No storage, no padding.
    /// assert_eq!(share("f32[0,5]{1,0}"), 0.0);
    /// ```
    pub fn padding_share(&self) -> f64 {
        let all = self.capacity as f64 + self.below as f64;
        if all == 0.0 { 0.0 } else { self.padding as f64 / all }
    }

    /// Returns the facts with their titles, without the name and the notations. The most frequent questions come first.
    ///
    /// ```
    /// use tilewright::{Explanation, Spec};
    /// let rows = Explanation::of(&Spec::parse("(2,3):(3,1)")?.resolve(None, None)?);
    /// let lines = rows.lines();
    /// assert_eq!(lines[0], ("dims".to_owned(), "[2, 3]".to_owned()));
    /// assert!(lines.contains(&("order of dims".into(), "row-major (dim 0 is major)".into())));
    /// assert_eq!(lines.last().unwrap().0, "named formats");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = self.array();
        let rank = self.axes.len();
        lines.extend(self.axes.iter().enumerate().map(|(dim, axis)| axis.line(dim, rank)));
        if self.axes.is_empty() && !self.dims.is_empty() {
            let says = "merged or tiled unevenly: an offset is not a sum of one term per dim";
            lines.push(("map".into(), says.into()));
        }
        lines.extend(self.storage());
        if let Some(advice) = &self.advice {
            let causes = advice.causes.iter().map(ToString::to_string);
            lines.extend(causes.map(|cause| ("why padded".to_owned(), cause)));
            let least = advice.suggestion().into_iter();
            lines.extend(least.map(|text| ("least padding".to_owned(), text)));
        }
        lines.extend(self.map());
        if !self.formats.is_empty() {
            lines.push(("named formats".into(), self.formats.join(", ")));
        }
        lines
    }

    /// Returns the lines about the array and the order of its dims.
    fn array(&self) -> Vec<(String, String)> {
        let element = self.dtype.as_ref().map(|dtype| match self.element_bits {
            Some(bits) => format!("{dtype}, {bits} bits stored"),
            None => dtype.clone(),
        });
        titled([
            ("dims", Some(format!("{:?}", self.dims))),
            ("element", element),
            ("order of dims", Some(self.order.to_string())),
        ])
    }

    /// Returns the lines about memory.
    fn storage(&self) -> Vec<(String, String)> {
        let elements = |count: u64| counted(count.into(), "element");
        let mut capacity = match self.bytes {
            Some(bytes) => format!("{} ({})", elements(self.capacity), counted(bytes, "byte")),
            None => elements(self.capacity),
        };
        if self.below > 0 {
            capacity += &format!(" from offset 0 on, and {} before it", self.below);
        }
        let all = u128::from(self.capacity) + u128::from(self.below);
        let share = decimal(100 * u128::from(self.padding), all, 1);
        let some = self.injective == Ok(false) && !self.exhaustive;
        let least = if some { "at least " } else { "" };
        let padding = format!("{least}{} ({share} % of the storage)", elements(self.padding));
        let words = self.stored_as.as_ref().map(|words| format!("words {words}"));
        titled([
            ("size", Some(elements(self.size))),
            ("capacity", Some(capacity)),
            ("stored as", words),
            ("padding", Some(padding)),
        ])
    }

    /// Returns the lines about the properties of the map.
    fn map(&self) -> Vec<(String, String)> {
        let least = if self.contiguous_run_is_exact { "" } else { "at least " };
        let injective = match &self.injective {
            Ok(injective) => yes(*injective).to_owned(),
            Err(error) => format!("undecided: {error}"),
        };
        let run = counted(self.contiguous_run.into(), "element");
        titled([
            ("contiguous run", Some(format!("{least}{run} from the first on"))),
            ("injective", Some(injective)),
            ("exhaustive", Some(yes(self.exhaustive).to_owned())),
            ("true rank", Some(self.true_rank.to_string())),
            ("cosize", Some(self.cosize.to_string())),
        ])
    }

    /// Returns the page, with the reason of each notation that cannot express the layout. All lines fit the width, except texts
    /// of notations, which are not shortened.
    ///
    /// ```
    /// use tilewright::{Explanation, Spec};
    /// let zn = Explanation::of(&Spec::parse("f16[100,30] zN")?.resolve(None, None)?);
    /// assert!(zn.whole(80).contains("  numpy            cannot express it: dim 1 steps by 1 within"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn whole(&self, width: usize) -> String {
        let mut page = self.facts(width);
        for (notation, text) in &self.notations {
            page += &match text {
                Ok(text) => format!("{:HEAD$}{text}\n", format!("  {notation}")),
                Err(reason) => row(
                    &format!("  {notation}"),
                    HEAD,
                    &format!("cannot express it: {reason}"),
                    width,
                ),
            };
        }
        page
    }

    /// Returns the name, the facts, and the title of the notations.
    fn facts(&self, width: usize) -> String {
        let mut page = shortened(&self.name, width) + "\n";
        for (title, text) in self.lines() {
            page += &row(&format!("  {title}"), HEAD, &text, width);
        }
        page + "in other notations\n"
    }
}

/// Returns the lines that exist, with their titles.
fn titled<const N: usize>(lines: [(&str, Option<String>); N]) -> Vec<(String, String)> {
    lines.into_iter().filter_map(|(title, text)| Some((title.to_owned(), text?))).collect()
}

/// Returns the layout in every notation. The texts depend on the layout alone, not on its name.
fn said(alone: &ResolvedLayout) -> Vec<(&'static str, Result<String, String>)> {
    let text =
        |notation: &Notation| notation.print(alone).map_err(|refusal| refusal.message().to_owned());
    notations().iter().map(|notation| (notation.name(), text(notation))).collect()
}

fn order(layout: &TensorLayout) -> Order {
    if layout.true_rank() < 2 {
        return Order::Both;
    }
    let (Ok(rows), Ok(columns)) = (strides(layout, true), strides(layout, false)) else {
        return Order::Neither;
    };
    match (rows, columns) {
        (true, _) => Order::RowMajor,
        (_, true) => Order::ColumnMajor,
        (false, false) => Order::Neither,
    }
}

/// Returns whether every dim of more than one coordinate has one positive stride, and the strides fall (or rise) from dim to dim
/// by at least the span of the inner dims.
fn strides(layout: &TensorLayout, falling: bool) -> Result<bool, Error> {
    let dims = 0..layout.rank();
    let dims: Vec<usize> = if falling { dims.rev().collect() } else { dims.collect() };
    let mut span = 1;
    for dim in dims.into_iter().filter(|&dim| layout.extents()[dim] > 1) {
        let origin = vec![0; layout.rank()];
        let run = layout.run(&origin, dim)?;
        if run.len < layout.extents()[dim] || run.stride < span {
            return Ok(false);
        }
        span = run.stride.saturating_mul(i64::try_from(run.len).unwrap_or(i64::MAX));
    }
    Ok(true)
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.whole(usize::MAX))
    }
}

impl Answer for Explanation {
    /// The page with long texts shortened, and one line for the notations that cannot express the layout.
    fn within(&self, width: usize) -> String {
        let mut page = self.facts(width);
        let said =
            self.notations.iter().filter_map(|(name, text)| Some((name, text.as_ref().ok()?)));
        for (notation, text) in said {
            let text = shortened(text, width.saturating_sub(HEAD));
            page += &format!("{:HEAD$}{text}\n", format!("  {notation}"));
        }
        let silent = self.notations.iter().filter(|(_, text)| text.is_err());
        let silent: Vec<&str> = silent.map(|(name, _)| *name).collect();
        if !silent.is_empty() {
            page += &row("  refused by", HEAD, &silent.join(", "), width);
        }
        page
    }

    fn to_json(&self) -> Value {
        let notations = self.notations.iter().map(|(name, text)| match text {
            Ok(text) => ((*name).to_owned(), json!({ "text": text })),
            Err(reason) => ((*name).to_owned(), json!({ "refused": reason })),
        });
        let mut json = json!({
            "layout": self.name,
            "dtype": self.dtype,
            "element_bits": self.element_bits,
            "dims": self.dims,
            "size": self.size,
            "cosize": self.cosize,
            "capacity": self.capacity,
            "bytes": self.bytes.and_then(|bytes| u64::try_from(bytes).ok()),
            "padding": self.padding,
            "contiguous_run": self.contiguous_run,
            "injective": self.injective.as_ref().ok(),
            "exhaustive": self.exhaustive,
            "true_rank": self.true_rank,
            "axes": self.axes.iter().map(Axis::to_json).collect::<Vec<_>>(),
            "order": self.order.to_string(),
            "why_padded": self.advice.as_ref().map(Advice::to_json),
            "lines": self.lines(),
            "formats": self.formats,
            "notations": notations.collect::<Map<_, _>>(),
        });
        if self.below > 0 {
            json["below"] = self.below.into();
        }
        if let Some(words) = &self.stored_as {
            json["stored_as"] = words_json(words);
        }
        json
    }
}

/// Returns words as JSON.
pub(super) fn words_json(words: &Words) -> Value {
    json!({ "dtype": words.dtype().name(), "shape": words.shape() })
}

fn yes(answer: bool) -> &'static str {
    if answer { "yes" } else { "no" }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::RowMajor => "row-major (dim 0 is major)",
            Order::ColumnMajor => "column-major (dim 0 is minor)",
            Order::Both => {
                "row-major and column-major (at most one dim has more than one coordinate)"
            }
            Order::Neither => "neither row-major nor column-major",
        })
    }
}

/// Explanation of one logical dim.
///
/// Extents count coordinates; the strides of the digits count elements.
///
/// ```
/// use tilewright::{Explanation, Spec};
/// let named = Spec::parse("f16[100,30] zN")?.resolve(None, None)?;
/// let [rows, columns] = &Explanation::of(&named).axes[..] else { panic!("two dims") };
/// assert_eq!((rows.letter, rows.extent, rows.padded), (Some('y'), 100, 112));
/// // 16 columns of a block side by side, then 7 blocks of 256 elements further.
/// assert_eq!((columns.digits[0].stride(), columns.digits[1].stride()), (1, 1792));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The dim's letter, counted from the minor end: x, y, z, p.
    pub letter: Option<char>,
    /// Its logical extent.
    pub extent: u64,
    /// Its extent with padding.
    pub padded: u64,
    /// Its digits, fastest first.
    pub digits: Vec<Mode>,
}

/// Returns the dims of a layout whose offsets are sums of one term for each dim; empty for others.
fn axes(layout: &TensorLayout) -> Vec<Axis> {
    if !layout.is_strided() {
        return Vec::new();
    }
    let rank = layout.rank();
    let axis = |dim| Axis {
        letter: letter(rank, dim),
        extent: layout.extents()[dim],
        padded: layout.layout().axis_size(dim).unwrap_or(0),
        digits: layout.layout().axis(dim).unwrap_or(&[]).to_vec(),
    };
    (0..rank).map(axis).collect()
}

/// Returns the letter of a dim: x is the last of up to four dims, then y, z, p.
fn letter(rank: usize, dim: usize) -> Option<char> {
    if rank > 4 { None } else { ['x', 'y', 'z', 'p'].get(rank - 1 - dim).copied() }
}

impl Axis {
    fn line(&self, dim: usize, rank: usize) -> (String, String) {
        let title = match self.letter {
            Some(letter) => format!("dim {dim} ({letter})"),
            None => format!("dim {dim}"),
        };
        let size = if self.padded == self.extent {
            self.extent.to_string()
        } else {
            format!("{} padded to {}", self.extent, self.padded)
        };
        (title, format!("{size}: {}", self.words(dim, rank)))
    }

    fn to_json(&self) -> Value {
        let digits = self.digits.iter().map(|mode| (mode.extent(), mode.stride()));
        json!({
            "letter": self.letter,
            "extent": self.extent,
            "padded": self.padded,
            "digits": digits.collect::<Vec<_>>(),
        })
    }

    /// Returns words such as "4 rows at stride 4, repeated 2× at stride 16".
    fn words(&self, dim: usize, rank: usize) -> String {
        let word = |i: usize, mode: &Mode| {
            let (extent, stride) = (mode.extent(), mode.stride());
            if i == 0 {
                format!("{} at stride {stride}", counted(extent.into(), noun(rank, dim)))
            } else {
                format!("repeated {extent}× at stride {stride}")
            }
        };
        self.digits.iter().enumerate().map(|(i, mode)| word(i, mode)).collect::<Vec<_>>().join(", ")
    }
}

fn noun(rank: usize, dim: usize) -> &'static str {
    match rank - dim {
        1 if rank > 1 => "column",
        1 => "element",
        2 => "row",
        3 => "plane",
        _ => "step",
    }
}

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
            tables: layout.tables().iter().map(table_words).collect(),
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
fn table_words(along: &Along) -> String {
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tilewright_notation::Spec;

    use super::*;

    /// A title occurs once among the facts and the notations, except that each reason for padding has a row of its own.
    #[test]
    fn titles_are_unique() {
        for text in [
            "f32[5,6,7]{2,1,0:T(2,*,4)}",
            "bf16[20,200]{1,0:T(8,128)(2,1)}",
            "f16[100,30] zN",
            "(4,8):(8,1)",
            "Sw<3,3,3> o (8,64):(64,1)",
            "f32[2,3,4,5,6] row-major",
        ] {
            let asked = Explanation::of(&Spec::parse(text).unwrap().resolve(None, None).unwrap());
            let mut titles: Vec<String> =
                asked.lines().into_iter().map(|(title, _)| title).collect();
            titles.dedup_by(|a, b| a == b && a == "why padded");
            titles.extend(asked.notations.iter().map(|(name, _)| (*name).to_owned()));
            let unique: HashSet<&String> = titles.iter().collect();
            assert_eq!(unique.len(), titles.len(), "{text}: {titles:?}");
        }
    }
}
