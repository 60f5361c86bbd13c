//! `Drawing`: a layout as a picture, for notebooks, files, documents and terminals.

use std::path::PathBuf;

use pyo3::prelude::*;
use tilewright::{
    Layout, ResolvedLayout,
    ask::BankConflicts,
    draw::{
        Access, Limits, NoAccess, Scene, access as read_at_once, banks, conflicts, conversion,
        expression as draw_expression, fragment, grid, memory, owners, subject,
    },
    layouts::Error,
};

use crate::{
    arguments::{html, quoted},
    errors::{Raised, refused},
};

/// A picture of a layout. A notebook shows it, and answers the pointer with coordinate and offset.
///
/// >>> from tilewright import parse
/// >>> drawing = parse("f32[3,5]{1,0:T(2,2)}").draw()
/// >>> drawing.svg[:4]
/// '<svg'
#[pyclass(name = "Drawing", module = "tilewright", frozen)]
pub(crate) struct PyDrawing(Scene);

#[pymethods]
impl PyDrawing {
    /// The picture as SVG.
    #[getter]
    fn svg(&self) -> String {
        self.0.to_svg()
    }

    /// The picture as an HTML page that responds to pointer and keyboard; it loads nothing.
    #[getter]
    fn html(&self) -> String {
        self.0.to_html()
    }

    /// The picture for LaTeX.
    #[getter]
    fn tikz(&self) -> String {
        self.0.to_tikz()
    }

    /// Returns the picture as text for a terminal, with colour codes unless ``colours`` is false.
    #[pyo3(signature = (*, colours = true))]
    fn text(&self, colours: bool) -> String {
        self.0.to_terminal(colours)
    }

    /// Writes the picture in the format of the file's extension: ``.svg``, ``.html``, ``.tex``, ``.tikz`` or ``.txt``.
    ///
    /// Raises ``ArgumentError`` for another extension, ``OSError`` if the file cannot be written.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let text = match end {
            "svg" => self.0.to_svg(),
            "html" => self.0.to_html(),
            "tex" | "tikz" => self.0.to_tikz(),
            "txt" => self.0.to_terminal(false),
            other => {
                let says = format!("a picture is .svg, .html, .tex, .tikz or .txt; not .{other}");
                return Err(refused("arguments", says));
            }
        };
        std::fs::write(&path, text).map_err(|error| {
            // Python chooses its own classes, such as FileNotFoundError, by the kind.
            let says = format!("{}: {error}", path.display());
            std::io::Error::new(error.kind(), says).into()
        })
    }

    fn __str__(&self) -> String {
        self.text(false)
    }

    fn __repr__(&self) -> String {
        let Scene { title, subtitle, .. } = &self.0;
        let says = if subtitle.is_empty() { String::new() } else { format!(", {subtitle}") };
        format!("<Drawing of {title}{says}; print() or save() shows it>")
    }

    fn _repr_html_(&self) -> String {
        self.part()
    }

    fn _repr_svg_(&self) -> String {
        self.0.to_svg()
    }
}

/// The kind of picture of an array's layout, and its arguments.
pub(crate) struct DrawingKind<'a> {
    pub(crate) name: &'a str,
    /// The other layout of a conversion.
    pub(crate) to: Option<&'a ResolvedLayout>,
    /// The number of threads that hold the elements, and the number of elements of each.
    pub(crate) threads: Option<(u64, u64)>,
    /// The number of elements that a thread reads at once.
    pub(crate) vector: Option<u64>,
}

/// The pictures, and the arguments of each.
const KINDS: [(&str, &str); 5] = [
    ("grid", "nothing more, or one of to=, threads= and vector="),
    ("memory", "nothing more"),
    ("conversion", "to=, the other layout"),
    ("threads", "threads=, the number of threads, and values=, the number of elements of each"),
    ("banks", "vector=, the number of elements that a thread reads at once"),
];

impl DrawingKind<'_> {
    /// Returns the error for a picture that does not exist with these arguments.
    fn wrong(&self) -> PyErr {
        let DrawingKind { name, to, threads, vector } = self;
        let Some((_, takes)) = KINDS.iter().find(|(kind, _)| kind == name) else {
            let all: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
            let (name, all) = (quoted(name), all.join(", "));
            return refused("arguments", format!("no picture is called {name}; there are {all}"));
        };
        let given =
            [("to=", to.is_some()), ("threads=", threads.is_some()), ("vector=", vector.is_some())];
        let given: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let given = if given.is_empty() { "nothing".to_owned() } else { given.join(" and ") };
        refused(
            "arguments",
            format!("the picture {} takes {takes}; given is {given}", quoted(name)),
        )
    }
}

impl PyDrawing {
    pub(crate) fn of(named: &ResolvedLayout, kind: &DrawingKind<'_>) -> PyResult<PyDrawing> {
        let (limits, own) = (Limits::default(), subject(named));
        let scene = match (kind.name, kind.to, kind.threads, kind.vector) {
            ("grid", None, None, None) => grid(&own, &limits),
            ("memory", None, None, None) => memory(&own, &limits),
            ("grid" | "conversion", Some(to), None, None) => {
                return PyDrawing::of_conversion(named, to);
            }
            ("grid" | "threads", None, Some((threads, values)), None) => {
                fragment(&own, threads, values, &limits)
            }
            ("grid" | "banks", None, None, Some(vector)) => {
                banks(&own, &access(named, vector)?, &limits)
            }
            _ => return Err(kind.wrong()),
        };
        scene.raised().map(PyDrawing)
    }

    /// Returns the picture of an expression that has one.
    pub(crate) fn of_expression(text: &str) -> PyResult<PyDrawing> {
        let scene = draw_expression(text, &Limits::default()).raised()?;
        let none = || refused("unsupported", format!("{text} cannot be drawn"));
        scene.map(PyDrawing).ok_or_else(none)
    }

    /// Returns the picture of one array in two layouts.
    pub(crate) fn of_conversion(from: &ResolvedLayout, to: &ResolvedLayout) -> PyResult<PyDrawing> {
        conversion(&subject(from), &subject(to), &Limits::default()).raised().map(PyDrawing)
    }

    /// Returns the banks of an array, before and after a fix.
    pub(crate) fn of_conflicts(report: &BankConflicts) -> PyDrawing {
        PyDrawing(conflicts(report, &Limits::default()))
    }

    /// Returns the picture as a part of a page.
    pub(crate) fn part(&self) -> String {
        self.0.to_html_part()
    }

    /// Returns the picture of the storage of each element, as a part of a page of bounded size.
    pub(crate) fn small_grid(named: &ResolvedLayout) -> Result<String, Error> {
        small(|limits| grid(&subject(named), limits))
    }

    /// Returns a text for a notebook, with the picture of one array in two layouts below it if there is one.
    pub(crate) fn below(text: &str, from: &ResolvedLayout, to: &ResolvedLayout) -> String {
        let picture = small(|limits| conversion(&subject(from), &subject(to), limits));
        format!("<pre>{}</pre>{}", html(text), picture.unwrap_or_default())
    }

    /// Returns the picture of the thread that holds each cell of a tile, for a layout from threads and values to cells.
    pub(crate) fn owners(tv: &Layout, tile: &[u64]) -> PyResult<PyDrawing> {
        owners(tv, tile, &Limits::default()).raised().map(PyDrawing)
    }
}

/// The largest number of bytes of the picture of a value in a notebook, whose file stores it.
const SMALL: usize = 56_000;

/// The numbers of rows and columns of such a picture that are tried, until its bytes are within the limit.
const SIDES: [u64; 9] = [32, 24, 20, 16, 12, 10, 8, 6, 4];

/// Returns a picture as a part of a page of bounded size; its notes count the omitted cells.
fn small(draw: impl Fn(&Limits) -> Result<Scene, Error>) -> Result<String, Error> {
    let mut part = String::new();
    for side in SIDES {
        let limits =
            Limits { rows: side, columns: side, cells: 2 * side * side, ..Limits::default() };
        part = draw(&limits)?.to_html_part();
        if part.len() <= SMALL {
            break;
        }
    }
    Ok(part)
}

fn access(named: &ResolvedLayout, vector: u64) -> PyResult<Access> {
    read_at_once(named, vector).map_err(|why| match why {
        NoAccess::Unknown => refused("needs-dtype", format!("{why}; give dtype=")),
        NoAccess::Packed(_) => refused("unsupported", why.to_string()),
    })
}
