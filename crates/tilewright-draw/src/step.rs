//! A step of the algebra: two operands and the result.
//!
//! Law: cells of the result and cells of A with the same offset have one colour, which is that of the
//! place in the result; cells of A without a colour are not in the result.

use std::cell::RefCell;

use tilewright_core::{Error, Layout, TensorLayout};

use crate::{
    Band, Cell, Joint, Key, Limits, Paint, Panel, Scene, Subject,
    colouring::Colouring,
    sheet::{Sheet, Spot},
    subject::join,
};

/// What the result of an operation has to do with its operands.
///
/// ```
/// use tilewright_draw::Relation;
/// assert_ne!(Relation::Through, Relation::Copies);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// B's values are indices of A, colexicographic, and the result picks A's offsets by them: composition
    /// and divisions.
    Through,
    /// The result is a copy of A for each index of B: products.
    Copies,
}

/// A, B and the result of an operation, `sign` standing between A and B. In a step
/// [through](Relation::Through) B, one colour is one place of the result; where the result has
/// [copies](Relation::Copies) of A, one colour is one copy.
///
/// # Errors
/// [undecided](Error::is_undecided) as [`Layout::locate`]; for copies, what
/// [`Layout::logical_product`] refuses.
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
    let copies = match relation {
        Relation::Through => None,
        Relation::Copies => Some(a.logical_product(b)?),
    };
    let colours = Colours { a, result, copies, size: a.size() };
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

/// Gives a paint and a link to what is stored at an offset and has a coordinate.
type Painter<'a> = dyn Fn(i64, &[u64]) -> Result<Option<u64>, Error> + 'a;

/// The numbers of the colours.
struct Colours<'a> {
    a: &'a Layout,
    result: &'a Layout,
    copies: Option<Layout>,
    size: u64,
}

impl Colours<'_> {
    fn legend(&self) -> Key {
        let text = match self.copies {
            None => "one colour for the same offset; A's cells without one are not in the result",
            Some(_) => "one colour per copy of A, and for its index in B",
        };
        Key { paint: Paint::colour(0), text: text.into() }
    }

    /// The number of what is stored at an offset of A or of the result.
    fn of_offset(&self, offset: i64) -> Result<Option<u64>, Error> {
        let whole = self.copies.as_ref().unwrap_or(self.result);
        let place = whole.locate(offset)?.map(|coord| index(whole, coord.as_slice()));
        Ok(match self.copies {
            None => place,
            Some(_) => place.map(|index| index / self.size.max(1)),
        })
    }

    /// The number of a cell of B: the index of A it names, or the copy it is.
    fn of_index(&self, value: i64, own: u64) -> Result<Option<u64>, Error> {
        if self.copies.is_some() {
            return Ok(Some(own));
        }
        match u64::try_from(value).ok().filter(|&index| index < self.size) {
            Some(index) => self.of_offset(self.a.offset_of(index)?),
            None => Ok(None),
        }
    }
}

/// The colexicographic index of a coordinate, an integer an axis.
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
            paint: number.map_or(Paint::Plain, Paint::colour),
            tip: format!("({}): {offset}", join(spot.coord)),
            link: number,
            marked: false,
        }
    };
    let (mut panels, left_out) = sheet.panels(&cell);
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok((panels.pop().unwrap_or_default(), sheet.notes(left_out))),
    }
}
