//! Answer with a layout as a grid or as memory in text, alone or beside another; and about an array that is spread over
//! threads: which register of which thread holds which element.

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::{self as core, LinearLayout};
use tilewright_draw::{self as draw, Label, Limits, MOST, Scene, Subject};
use tilewright_notation::{ResolvedLayout, notations};

use crate::{
    Error,
    ask::{Answer, words::shortened},
    input::{self, Array},
};

/// The characters between two pictures.
const GAP: usize = 3;

/// The most columns of a picture, unless its lines are longer.
const COLUMNS: u64 = 64;

/// Bounds of a picture in text. The picture counts what it omits.
///
/// ```
/// use tilewright::{Spec, ask::{Look, Shown, TextLimits}};
/// let rows = Spec::parse("[1048576] row-major")?.resolve(None, None)?;
/// let limits = TextLimits { width: 8, ..TextLimits::default() };
/// let memory = Look { memory: true, limits, ..Look::default() };
/// assert_eq!(Shown::one(&rows, &memory)?.picture, "a b c d\n… 1048572 more cells\n");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// Characters across.
    pub width: usize,
    /// Rows of one grid.
    pub rows: u64,
    /// Grids, for arrays of more than two dims.
    pub panels: u64,
}

impl Default for TextLimits {
    /// The limits if the width of a line is not known: 100 characters across, 64 rows, 4 panels.
    fn default() -> TextLimits {
        TextLimits { width: 100, rows: 64, panels: 4 }
    }
}

impl TextLimits {
    /// Returns limits that fit a terminal of `width` characters and `height` lines.
    ///
    /// ```
    /// use tilewright::ask::TextLimits;
    /// let limits = TextLimits::terminal(80, 24);
    /// assert_eq!((limits.width, limits.rows), (80, 12));
    /// // Something is drawn in the smallest.
    /// assert!(TextLimits::terminal(0, 0).width > 0);
    /// ```
    pub fn terminal(width: usize, height: usize) -> TextLimits {
        TextLimits { width: width.max(20), rows: (height as u64 / 2).max(4), panels: 4 }
    }

    /// Returns the limits of a scene: every column takes two characters at least.
    fn of_scene(&self) -> Limits {
        let columns = (self.width as u64 / 2).min((MOST / self.rows.max(1)).max(COLUMNS));
        let cells = columns.saturating_mul(self.rows).saturating_mul(self.panels);
        Limits { rows: self.rows, columns, panels: self.panels, cells }
    }
}

/// Options of a picture of a layout.
///
/// ```
/// use tilewright::{Spec, ask::{Look, Shown}};
/// let columns = Spec::parse("{0,1}pad(3,5)fill(0)")?.resolve(Some(&[2, 3]), None)?;
/// let memory = Look { memory: true, ..Look::default() };
/// assert_eq!(Shown::one(&columns, &memory)?.picture, "a d 0 b e 0 c f 0 0 0 0 0 0 0\n");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Draws memory from its first offset on instead of a grid.
    pub memory: bool,
    /// Draws borders round tiles instead of cells.
    pub tiles: bool,
    /// The contents of the cells; by default offsets in a grid, and elements in memory.
    pub cells: Option<Label>,
    /// The bounds of the picture.
    pub limits: TextLimits,
}

impl Look {
    /// Sets the contents of the cells from two switches of a caller: names of elements, or else their numbers.
    ///
    /// ```
    /// use tilewright::{ask::Look, draw::Label};
    /// let cells = |names, numbers| Look::default().labelled(names, numbers).cells;
    /// assert_eq!([cells(true, false), cells(false, true), cells(false, false)], [Some(Label::Names), Some(Label::Numbers), None]);
    /// ```
    #[must_use]
    pub fn labelled(self, names: bool, numbers: bool) -> Look {
        let cells = match (names, numbers) {
            (true, _) => Some(Label::Names),
            (false, true) => Some(Label::Numbers),
            (false, false) => None,
        };
        Look { cells, ..self }
    }

    /// Returns a layout with the requested contents of its cells, or the default: offsets in a grid, `in_memory` in memory.
    fn subject<'a>(&self, named: &'a ResolvedLayout, in_memory: Label) -> Subject<'a> {
        let label = self.cells.unwrap_or(if self.memory { in_memory } else { Label::Offsets });
        let subject = Subject::new(named.layout()).filled(named.fill()).labelled(label);
        if self.tiles { subject } else { subject.boxed() }
    }

    /// Draws the grid of a layout without its title.
    pub(in crate::ask) fn grid(&self, named: &ResolvedLayout) -> Result<Scene, core::Error> {
        let subject = self.subject(named, Label::Names);
        Scene::fitted(self.limits.width, self.limits.of_scene(), |limits| {
            draw::grid(&subject, limits).map(bare)
        })
    }
}

/// Returns a scene without the texts around its panels, except for notes on what is left out.
fn bare(scene: Scene) -> Scene {
    Scene { title: String::new(), subtitle: String::new(), legend: Vec::new(), ..scene }
}

/// One layout, or two of one array, in text.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Look, Shown}};
/// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// let shown = Shown::one(&rows, &Look::default())?;
/// let lines = [
///     "(2,3):(3,1)",
///     "      0   1   2",
///     "    +---+---+---+",
///     " 0  | 0 | 1 | 2 |",
///     "    +---+---+---+",
///     " 1  | 3 | 4 | 5 |",
///     "    +---+---+---+",
/// ];
/// assert!(shown.to_string().lines().eq(lines));
/// assert_eq!(shown.to_json()["layout"], "(2,3):(3,1)");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The text of each layout.
    pub layouts: Vec<String>,
    /// The picture with its titles.
    pub picture: String,
}

impl Shown {
    /// Draws one layout.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) if an offset of the memory is not decided.
    ///
    /// ```
    /// use tilewright::{Spec, ask::{Look, Shown}, draw::Label};
    /// let padded = Spec::parse("{0,1}pad(3,5)fill(0)")?.resolve(Some(&[2, 3]), None)?;
    /// let names = Look { cells: Some(Label::Names), ..Look::default() };
    /// assert_eq!(Shown::one(&padded, &names)?.picture, "a b c 0 0\nd e f 0 0\n0 0 0 0 0\n");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn one(named: &ResolvedLayout, look: &Look) -> Result<Shown, Error> {
        let (title, width) = (title(named), look.limits.width);
        let plain = look.cells == Some(Label::Names) && !look.tiles;
        let picture = if look.memory {
            draw::memory_line(&look.subject(named, Label::Names), width)?
        } else if plain {
            look.grid(named)?.to_rows()
        } else {
            let grid = look.grid(named)?.to_terminal_within(false, width);
            format!("{}\n{grid}", shortened(&title, width))
        };
        Ok(Shown { layouts: vec![title], picture })
    }

    /// Draws two layouts of one array side by side, in half the width each.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for layouts of different arrays, and as [`Shown::one`].
    ///
    /// ```
    /// use tilewright::{Spec, ask::{Look, Shown}};
    /// let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    /// let both = Shown::two(&named("(2,2):(2,1)"), &named("(2,2):(1,2)"), &Look::default())?;
    /// assert_eq!(both.layouts, ["(2,2):(2,1)", "(2,2):(1,2)"]);
    /// assert!(both.picture.starts_with("A  (2,2):(2,1)\nB  (2,2):(1,2)\n"));
    /// // Element (0,1) has offset 1 in the one and 2 in the other.
    /// assert!(both.picture.contains(" 0  | 0 | 1 |     0  | 0 | 2 |\n"));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn two(a: &ResolvedLayout, b: &ResolvedLayout, look: &Look) -> Result<Shown, Error> {
        let [left, right] = [a, b].map(|named| look.subject(named, Label::Coords));
        let both = if look.memory { draw::memory_pair } else { draw::pair };
        let width = look.limits.width;
        let scene =
            Scene::fitted(width / 2 - GAP.min(width / 2), look.limits.of_scene(), |limits| {
                both(&left, &right, limits).map(bare)
            });
        let drawn = scene?.to_terminal_within(false, width);
        let layouts = vec![title(a), title(b)];
        let short = |at: usize| shortened(&layouts[at], width.saturating_sub(GAP));
        let picture = format!("A  {}\nB  {}\n{drawn}", short(0), short(1));
        Ok(Shown { layouts, picture })
    }
}

/// Returns the layout in the first notation of the list, which is shape and strides alone, or else as one SPEC.
///
/// ```
/// use tilewright::{Spec, ask::title};
/// let zn = Spec::parse("zN[M0=4,C0=4]")?.resolve(Some(&[8, 12]), None)?;
/// assert_eq!(title(&zn), "((4,2),(4,3)):((4,16),(1,32))");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn title(named: &ResolvedLayout) -> String {
    let first = notations().first().and_then(|notation| notation.print(named).ok());
    first.unwrap_or_else(|| named.to_spec())
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.picture)
    }
}

impl Answer for Shown {
    fn to_json(&self) -> Value {
        match &self.layouts[..] {
            [one] => json!({ "layout": one, "picture": self.picture }),
            several => json!({ "layouts": several, "picture": self.picture }),
        }
    }
}

/// Map from registers, lanes, warps and blocks to coordinates.
///
/// ```
/// use tilewright::{ask::{Answer, Distribution}, input::Array};
/// let of = |text| Distribution::of(text, &Array { dims: Some(vec![8]), dtype: None });
/// let text = "#ttg.blocked<{sizePerThread=[2], threadsPerWarp=[4], warpsPerCTA=[2], order=[0]}>";
/// assert_eq!(of(text)?.to_string(), "{register=[1],lane=[2,4],warp=[0],block=[]} -> (dim0:8)");
/// // An array in memory is held by no thread.
/// assert!(of("row-major")?.is_no());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// The map; `None` for an array in memory.
    pub map: Option<LinearLayout>,
}

impl Distribution {
    /// Returns the map that a text describes for an array.
    ///
    /// # Errors
    /// As [`input::read`] and [`Spec::distribution`](crate::Spec::distribution), in the field `spec`.
    ///
    /// ```
    /// use tilewright::{ask::Distribution, input::Array};
    /// let error = Distribution::of("#ttg.blocked<{sizePerThread=[1]}>", &Array::default()).unwrap_err();
    /// assert_eq!(error.field(), Some("spec"));
    /// ```
    pub fn of(spec: &str, array: &Array) -> Result<Distribution, Error> {
        let spec = input::read(spec).map_err(|error| error.in_field("spec"))?;
        let map = spec.distribution(array.dims.as_deref(), array.dtype);
        map.map(|map| Distribution { map }).map_err(|error| error.in_field("spec"))
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.map {
            Some(map) => write!(f, "{map}"),
            None => f.write_str("an array in memory"),
        }
    }
}

impl Answer for Distribution {
    fn to_json(&self) -> Value {
        json!({ "map": self.map.as_ref().map(ToString::to_string) })
    }

    fn is_no(&self) -> bool {
        self.map.is_none()
    }
}
