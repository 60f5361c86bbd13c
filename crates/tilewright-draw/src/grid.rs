//! Draws an array as grids: coordinates in the margins, and the position of each element in its cell.

use tilewright_core::Error;

use crate::{
    Band, Cell, Joint, Key, Label, Limits, Paint, Panel, Scene, Subject,
    colouring::Colouring,
    sheet::{Sheet, Spot, tip},
};

/// The approximate number of characters of a band before another one begins.
const WIDTH: usize = 150;

/// Draws a grid of the last two dims, with a panel for each coordinate of the others. Tiles have borders, tiles of
/// tiles heavier ones; padding is hatched.
///
/// # Errors
/// None so far: every layout has a grid.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_draw::{Limits, Subject, grid};
/// let layout = TensorLayout::of(&Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap());
/// let scene = grid(&Subject::new(&layout), &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!(panel.cell(1, 5).unwrap().text, "37");
/// assert_eq!(panel.cell(1, 5).unwrap().tip, "(1,5): offset 37; 1 = digits (1,0); 5 = digits (1,1)");
/// // A tile begins before column 4.
/// assert_eq!([3, 4, 5].map(|column| panel.columns[column].rule), [0, 1, 0]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn grid(subject: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    let colouring = Colouring::new(subject.layout);
    let sheet = Sheet::new(subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| cell(&sheet, &colouring, spot));
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: subject.says(Label::Offsets).into(),
        bands: bands(panels),
        legend: colouring.legend(),
        notes: sheet.notes(left_out),
    };
    scene.legend.extend(padding(&scene, &[subject]));
    scene.notes.extend(empty(subject));
    Ok(scene)
}

/// Returns the cell of an element in its colour, or of padding.
pub(crate) fn cell(sheet: &Sheet<'_>, colouring: &Colouring, spot: &Spot<'_>) -> Cell {
    let (subject, Some(offset)) = (sheet.subject, spot.offset) else {
        return sheet.padding(spot);
    };
    Cell {
        text: subject.text(Label::Offsets, spot.coord, offset),
        paint: colouring.paint(spot.coord),
        tip: tip(subject.layout, spot.coord, offset),
        link: Some(subject.number(spot.coord)),
        marked: false,
    }
}

/// Arranges panels in bands: side by side while the page is wide enough.
pub(crate) fn bands(panels: Vec<Panel>) -> Vec<Band> {
    let (mut bands, mut used) = (Vec::<Band>::new(), 0);
    for panel in panels {
        let width = panel.columns.len() * (panel.width() + 2) + 8;
        match bands.last_mut() {
            Some(band) if used + width <= WIDTH => {
                band.panels.push(panel);
                band.joints.push(Joint::Gap);
                used += width;
            }
            _ => {
                bands.push(Band { panels: vec![panel], joints: Vec::new() });
                used = width;
            }
        }
    }
    bands
}

/// Returns the legend of padding, if some is drawn.
pub(crate) fn padding(scene: &Scene, subjects: &[&Subject<'_>]) -> Option<Key> {
    let mut cells = scene.panels().flat_map(|panel| &panel.cells);
    cells.any(|cell| cell.paint == Paint::Padding).then_some(())?;
    let mut says: Vec<String> = subjects.iter().map(|subject| subject.padding_says()).collect();
    says.dedup();
    let text = if says.len() == 1 { says.remove(0) } else { "padding".into() };
    Some(Key::one(Paint::Padding, text))
}

/// Returns a note on an array without elements.
pub(crate) fn empty(subject: &Subject<'_>) -> Option<String> {
    (subject.layout.size() == 0).then(|| "the array is empty".into())
}
