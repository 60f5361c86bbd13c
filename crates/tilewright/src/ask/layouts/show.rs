//! Answer with a layout as a grid or as memory in text, alone or beside another; and about an array that is spread over
//! threads: which register of which thread holds which element. A picture in a file is an answer too.

use std::fmt;

use serde_json::{Value, json};
use tilewright_core::LinearLayout;
#[cfg(feature = "draw")]
use tilewright_draw::Scene;
use tilewright_notation::{ResolvedLayout, notations};

use crate::{
    Error,
    ask::{Answer, words::shortened},
    input::{self, Array},
    picture::{Cells, Limits, Picture},
};

/// The characters between two pictures, and before the text of each.
const GAP: usize = 3;

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
    pub cells: Option<Cells>,
    /// The bounds of the picture.
    pub limits: Limits,
}

impl Look {
    /// Sets the contents of the cells from two switches of a caller: names of elements, or else their numbers.
    ///
    /// ```
    /// use tilewright::{ask::Look, picture::Cells};
    /// let cells = |names, numbers| Look::default().labelled(names, numbers).cells;
    /// assert_eq!([cells(true, false), cells(false, true), cells(false, false)], [Some(Cells::Names), Some(Cells::Numbers), None]);
    /// ```
    #[must_use]
    pub fn labelled(self, names: bool, numbers: bool) -> Look {
        let cells = match (names, numbers) {
            (true, _) => Some(Cells::Names),
            (false, true) => Some(Cells::Numbers),
            (false, false) => None,
        };
        Look { cells, ..self }
    }

    fn picture<'a>(&self, named: &'a ResolvedLayout, limits: Limits) -> Picture<'a> {
        let picture = Picture::new(named.layout(), named.fill()).within(limits);
        if self.tiles { picture.with_tiles() } else { picture }
    }

    /// Returns the requested contents, or the default: offsets in a grid, `in_memory` in memory.
    fn cells(&self, in_memory: Cells) -> Cells {
        self.cells.unwrap_or(if self.memory { in_memory } else { Cells::Offsets })
    }
}

/// One layout, or two of one array, in text.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Look, Shown}};
/// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// let shown = Shown::one(&rows, &Look::default())?;
/// assert!(shown.to_string().starts_with("(2,3):(3,1)\n"));
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
    /// use tilewright::{Spec, ask::{Look, Shown}, picture::Cells};
    /// let padded = Spec::parse("{0,1}pad(3,5)fill(0)")?.resolve(Some(&[2, 3]), None)?;
    /// let names = Look { cells: Some(Cells::Names), ..Look::default() };
    /// assert_eq!(Shown::one(&padded, &names)?.picture, "a b c 0 0\nd e f 0 0\n0 0 0 0 0\n");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn one(named: &ResolvedLayout, look: &Look) -> Result<Shown, Error> {
        let picture = look.picture(named, look.limits);
        let (cells, title) = (look.cells(Cells::Names), title(named));
        let line = shortened(&title, look.limits.width);
        let picture = match (look.memory, cells == Cells::Names && !look.tiles) {
            (true, _) => picture.memory(cells)?,
            (false, true) => picture.rows(cells),
            (false, false) => format!("{line}\n{}", picture.grid(cells)),
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
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn two(a: &ResolvedLayout, b: &ResolvedLayout, look: &Look) -> Result<Shown, Error> {
        let half = Limits { width: look.limits.width.saturating_sub(GAP) / 2, ..look.limits };
        let (left, right) = (look.picture(a, half), look.picture(b, half));
        let (pair, cells) = (left.beside(&right)?, look.cells(Cells::Coords));
        let drawn = if look.memory { pair.memory(cells)? } else { pair.grid(cells) };
        let layouts = vec![title(a), title(b)];
        let short = |at: usize| shortened(&layouts[at], look.limits.width.saturating_sub(GAP));
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

/// A picture that was drawn.
///
/// ```
/// use tilewright::{Spec, ask::{Answer, Drawn}, draw::{Limits, grid, subject}};
/// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
/// let scene = grid(&subject(&rows), &Limits::default())?;
/// let drawn = Drawn::of(&scene, vec!["rows.svg".into()], None);
/// assert_eq!((drawn.to_string().as_str(), &drawn.to_json()["files"][0]), ("", &"rows.svg".into()));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "draw")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The title of the picture.
    pub title: String,
    /// Notes on omitted parts and on counts.
    pub notes: Vec<String>,
    /// The files that were written.
    pub files: Vec<String>,
    /// The picture itself, if it is not written to a file.
    pub picture: Option<String>,
}

#[cfg(feature = "draw")]
impl Drawn {
    /// Returns the answer for a scene that was written to files, or that is printed as `picture`.
    ///
    /// ```
    /// use tilewright::{Spec, ask::Drawn, draw::{Limits, grid, subject}};
    /// let rows = Spec::parse("(2,3):(3,1)")?.resolve(None, None)?;
    /// let scene = grid(&subject(&rows), &Limits::default())?;
    /// assert_eq!(Drawn::of(&scene, Vec::new(), Some(scene.to_svg())).title, "(2,3):(3,1)");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn of(scene: &Scene, files: Vec<String>, picture: Option<String>) -> Drawn {
        Drawn { title: scene.title.clone(), notes: scene.notes.clone(), files, picture }
    }
}

#[cfg(feature = "draw")]
impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.picture.as_deref().unwrap_or_default())
    }
}

#[cfg(feature = "draw")]
impl Answer for Drawn {
    fn to_json(&self) -> Value {
        json!({
            "title": self.title,
            "notes": self.notes,
            "files": self.files,
            "picture": self.picture,
        })
    }
}
