//! `Drawing`: a layout as a picture, for notebooks, files, documents and terminals.

use std::path::PathBuf;

use pyo3::prelude::*;
use tilewright::{
    Layout, Named,
    ask::BankConflicts,
    draw::{
        Access, Limits, NoAccess, Scene, access as read_at_once, banks, conflicts, conversion,
        expression as draw_expression, fragment, grid, memory, owners, subject,
    },
    layouts::Error,
};

use crate::{
    errors::{Raised, refused},
    spelling::{html, quoted},
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

    /// The picture as a page of HTML that answers the pointer and the keyboard; nothing is loaded.
    #[getter]
    fn html(&self) -> String {
        self.0.to_html()
    }

    /// The picture for LaTeX.
    #[getter]
    fn tikz(&self) -> String {
        self.0.to_tikz()
    }

    /// The picture as text, for a terminal: with its codes for colours unless told otherwise.
    #[pyo3(signature = (*, colours = true))]
    fn text(&self, colours: bool) -> String {
        self.0.to_terminal(colours)
    }

    /// Writes the picture as what the file's name ends in: ``.svg``, ``.html``, ``.tex``, ``.tikz`` or ``.txt``.
    ///
    /// Raises ``ArgumentError`` for another ending, ``OSError`` where the file cannot be written.
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
            // The classes of Python's own, such as FileNotFoundError, are by the kind.
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

/// What is drawn of an array's layout.
pub(crate) struct Kind<'a> {
    pub(crate) name: &'a str,
    /// The other layout of a conversion.
    pub(crate) to: Option<&'a Named>,
    /// The threads that hold the elements, and how many each.
    pub(crate) threads: Option<(u64, u64)>,
    /// How many elements a thread reads at once.
    pub(crate) vector: Option<u64>,
}

/// The pictures, and what each takes.
const KINDS: [(&str, &str); 5] = [
    ("grid", "nothing more, or one of to=, threads= and vector="),
    ("memory", "nothing more"),
    ("conversion", "to=, the other layout"),
    ("threads", "threads=, how many hold the elements, and values=, how many each holds"),
    ("banks", "vector=, how many elements a thread reads at once"),
];

impl Kind<'_> {
    /// Why there is no such picture.
    fn wrong(&self) -> PyErr {
        let Kind { name, to, threads, vector } = self;
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
    pub(crate) fn of(named: &Named, kind: &Kind<'_>) -> PyResult<PyDrawing> {
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

    /// The picture that an expression has of its own.
    pub(crate) fn of_expression(text: &str) -> PyResult<PyDrawing> {
        let scene = draw_expression(text, &Limits::default()).raised()?;
        let none = || refused("unsupported", format!("{text} cannot be drawn"));
        scene.map(PyDrawing).ok_or_else(none)
    }

    /// The picture of one array in two layouts.
    pub(crate) fn of_conversion(from: &Named, to: &Named) -> PyResult<PyDrawing> {
        conversion(&subject(from), &subject(to), &Limits::default()).raised().map(PyDrawing)
    }

    /// The banks of an array, and after a fix.
    pub(crate) fn of_conflicts(report: &BankConflicts) -> PyDrawing {
        PyDrawing(conflicts(report, &Limits::default()))
    }

    /// The picture as a part of a page.
    pub(crate) fn part(&self) -> String {
        self.0.to_html_part()
    }

    /// The picture of where each element is stored as a part of a page that is kept small.
    pub(crate) fn small_grid(named: &Named) -> Result<String, Error> {
        small(|limits| grid(&subject(named), limits))
    }

    /// A text for a notebook, above the picture of one array in two layouts where there is one.
    pub(crate) fn below(text: &str, from: &Named, to: &Named) -> String {
        let picture = small(|limits| conversion(&subject(from), &subject(to), limits));
        format!("<pre>{}</pre>{}", html(text), picture.unwrap_or_default())
    }

    /// Which thread holds each cell of a tile, by a layout from threads and values to cells.
    pub(crate) fn owners(tv: &Layout, tile: &[u64]) -> PyResult<PyDrawing> {
        owners(tv, tile, &Limits::default()).raised().map(PyDrawing)
    }
}

/// The most bytes of a picture that a value shows itself by in a notebook, whose file keeps it.
const SMALL: usize = 56_000;

/// The most rows and columns of such a picture; the limit on its bytes decides.
const SIDES: [u64; 9] = [32, 24, 20, 16, 12, 10, 8, 6, 4];

/// A picture as a part of a page of a bounded size: what is left out is counted in its notes.
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

fn access(named: &Named, vector: u64) -> PyResult<Access> {
    read_at_once(named, vector).map_err(|why| match why {
        NoAccess::Unknown => refused("needs-dtype", format!("{why}; give dtype=")),
        NoAccess::Packed(_) => refused("unsupported", why.to_string()),
    })
}
