//! Draws a step of the algebra: two operands and the result.
//!
//! Law: cells of the result and cells of A with the same offset have one colour and one link; cells of A without a
//! colour are not in the result. The colour is that of the position in the result, of the tile if A is divided into
//! tiles, or of the copy if there are copies of A.

use std::cell::RefCell;

use tilewright_core::{Error, Layout, TensorLayout};

use crate::{
    Band, Cell, Joint, Key, Limits, Paint, Panel, Scene, Subject,
    sheet::{Colouring, Sheet, Spot},
    subject::join,
};

/// The relation of the result of an operation to its operands.
///
/// ```
/// use tilewright_draw::Relation;
/// assert_ne!(Relation::Through, Relation::Copies);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// B's values are colexicographic indices of A, and the result selects A's offsets by them: composition and
    /// divisions.
    Through,
    /// The result is a copy of A for each index of B: products.
    Copies,
}

/// Draws A, B and the result of an operation, with `sign` between A and B. In a step [through](Relation::Through) B,
/// one colour is one position of the result, or one tile if B divides all of A into tiles. If the result has
/// [copies](Relation::Copies) of A, one colour is one copy. If there are more of these than colours, they are shades of
/// a scale, in their order.
///
/// # Errors
/// [undecided](Error::is_undecided) as [`Layout::locate`]; for copies, the errors of [`Layout::logical_product`].
///
/// ```
/// use tilewright_core::Layout;
/// use tilewright_draw::{Limits, Paint, Relation, step};
/// let parse = |text| Layout::parse(text).unwrap();
/// let (a, b) = (parse("(6,2):(8,2)"), parse("(4,3):(3,1)"));
/// let result = a.composition(&b)?;
/// let scene = step("∘", &a, &b, &result, Relation::Through, &Limits::default())?;
/// let [a, b, r] = [0, 1, 2].map(|at| &scene.bands[0].panels[at]);
/// // The result at (1,2) is A at index B(1,2) = 5.
/// assert_eq!(b.cell(1, 2).unwrap().text, "5");
/// assert_eq!((a.cell(5, 0).unwrap().text.as_str(), r.cell(1, 2).unwrap().text.as_str()), ("40", "40"));
/// assert_eq!(a.cell(5, 0).unwrap().paint, r.cell(1, 2).unwrap().paint);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn step(
    sign: &str,
    a: &Layout,
    b: &Layout,
    result: &Layout,
    relation: Relation,
    limits: &Limits,
) -> Result<Scene, Error> {
    let one = Limits { cells: limits.kept().cells / 3, ..*limits };
    let colours = Colours::new(a, b, result, relation)?;
    let mut scene = Scene {
        title: format!("{a} {sign} {b} = {result}"),
        subtitle: "numbers are offsets, and indices of A in B".into(),
        legend: vec![colours.legend()],
        ..Scene::default()
    };
    let mut band = Band {
        panels: Vec::new(),
        joints: vec![Joint::Sign(sign.into()), Joint::Sign("=".into())],
    };
    let of_a = |offset, _: &[u64]| colours.of_offset(offset);
    let of_b = |offset, coord: &[u64]| colours.of_index(offset, index(b, coord));
    for (layout, caption, paint) in
        [(a, "A", &of_a as &Painter<'_>), (b, "B", &of_b), (result, "result", &of_a)]
    {
        let (mut panel, notes) = panel(layout, &one, paint)?;
        panel.caption = caption.into();
        panel.detail = layout.to_string();
        band.panels.push(panel);
        scene.notes.extend(notes.iter().map(|note| format!("{caption}: {note}")));
    }
    if relation == Relation::Copies {
        scene.subtitle =
            "numbers are offsets; the result has a copy of A for each index of B".into();
    }
    scene.bands.push(band);
    Ok(scene)
}

/// The paint and the link of a cell.
#[derive(Clone, Copy)]
struct CellMark {
    paint: Paint,
    link: u64,
}

/// Returns the number of the element at an offset with a coordinate, if it has one.
type Painter<'a> = dyn Fn(i64, &[u64]) -> Result<Option<CellMark>, Error> + 'a;

/// The numbers of the cells.
struct Colours<'a> {
    a: &'a Layout,
    /// A layout of all numbered offsets, in which those of one colour are consecutive: the result, the result in tiles,
    /// or copies.
    whole: Layout,
    /// The number of offsets with one colour.
    unit: u64,
    /// The number of colours.
    count: u64,
    relation: Relation,
}

impl<'a> Colours<'a> {
    fn new(
        a: &'a Layout,
        b: &Layout,
        result: &Layout,
        relation: Relation,
    ) -> Result<Colours<'a>, Error> {
        let divides = result.size() == a.size() && b.size() < a.size();
        let (whole, unit) = match relation {
            Relation::Copies => (a.logical_product(b)?, a.size()),
            // If B is a tile of A, the other tiles are its copies.
            Relation::Through => match a.logical_divide(b) {
                Ok(tiles) if divides && tiles.size() == a.size() => (tiles, b.size()),
                _ => (result.clone(), 1),
            },
        };
        let unit = unit.max(1);
        let count = whole.size().div_ceil(unit);
        Ok(Colours { a, whole, unit, count, relation })
    }

    fn legend(&self) -> Key {
        let text = match (self.relation, self.unit) {
            (Relation::Copies, _) => "one colour per copy of A, and for its index in B",
            (Relation::Through, 1) => {
                "one colour for the same offset; A's cells without a colour are not in the result"
            }
            (Relation::Through, _) => "one colour per tile; B is the first",
        };
        let scale = matches!(Paint::among(0, self.count), Paint::Shade(_));
        let order = if scale { ", darker to lighter from the first to the last" } else { "" };
        let (what, rest) = text.split_once(';').unwrap_or((text, ""));
        let rest = if rest.is_empty() { String::new() } else { format!(";{rest}") };
        Key::among(self.count, format!("{what}{order}{rest}"))
    }

    /// Returns the number of the element at an offset of A or of the result.
    fn of_offset(&self, offset: i64) -> Result<Option<CellMark>, Error> {
        let place = self.whole.locate(offset)?.map(|coord| index(&self.whole, coord.as_slice()));
        Ok(place.map(|link| CellMark { paint: Paint::among(link / self.unit, self.count), link }))
    }

    /// Returns the number of a cell of B: the index of A that it names, or the copy that it represents.
    fn of_index(&self, value: i64, own: u64) -> Result<Option<CellMark>, Error> {
        if self.relation == Relation::Copies {
            // It is linked with the first element of the copy.
            return Ok(Some(CellMark {
                paint: Paint::among(own, self.count),
                link: own.wrapping_mul(self.unit),
            }));
        }
        match u64::try_from(value).ok().filter(|&index| index < self.a.size()) {
            Some(index) => self.of_offset(self.a.offset_of(index)?),
            None => Ok(None),
        }
    }
}

/// Returns the colexicographic index of a coordinate, with an integer for each axis.
fn index(layout: &Layout, coord: &[u64]) -> u64 {
    let (mut index, mut size) = (0u64, 1u64);
    for (axis, x) in coord.iter().enumerate() {
        index = index.wrapping_add(x.wrapping_mul(size));
        size = size.wrapping_mul(layout.axis_size(axis).unwrap_or(1));
    }
    index
}

fn panel(
    layout: &Layout,
    limits: &Limits,
    number: &Painter<'_>,
) -> Result<(Panel, Vec<String>), Error> {
    let array = TensorLayout::of(layout);
    let (subject, colouring) = (Subject::new(&array), Colouring::new(&array));
    let sheet = Sheet::new(&subject, &colouring, &Limits { panels: 1, ..*limits });
    let failure = RefCell::new(None);
    let cell = |spot: &Spot<'_>| {
        let Some(offset) = spot.offset else { return sheet.padding(spot) };
        let number = number(offset, spot.coord).unwrap_or_else(|error| {
            failure.borrow_mut().get_or_insert(error);
            None
        });
        Cell {
            text: offset.to_string(),
            paint: number.map_or(Paint::Plain, |number| number.paint),
            tip: format!("({}): {offset}", join(spot.coord)),
            link: number.map(|number| number.link),
            marked: false,
        }
    };
    let (mut panels, left_out) = sheet.panels(&cell);
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok((panels.pop().unwrap_or_default(), sheet.notes(left_out))),
    }
}
