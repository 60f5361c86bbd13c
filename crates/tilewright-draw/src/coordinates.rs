//! Draws a layout whose values are coordinates: the grid of its shape, with the value in each cell.

use tilewright_core::{BasisLayout, Error, IntTuple, Layout, TensorLayout};

use crate::{
    Cell, Limits, Scene, Subject,
    colouring::Colouring,
    grid::{bands, empty},
    sheet::{Sheet, Spot},
    subject::join,
};

/// Draws the grid of a layout with strides such as `1@0`, with the coordinate of each cell in it. Colours are those of
/// the compact layout of the same shape.
///
/// # Errors
/// [overflow](Error::is_overflow) for a shape that is too large for a layout.
///
/// ```
/// use tilewright_core::BasisLayout;
/// use tilewright_draw::{Limits, coordinates};
/// let map = BasisLayout::parse("((2,2),3):((2@0,1@0),1@1)").unwrap();
/// let scene = coordinates(&map, &Limits::default())?;
/// let panel = &scene.bands[0].panels[0];
/// assert_eq!((panel.rows.len(), panel.columns.len()), (4, 3));
/// assert_eq!(panel.cell(1, 2).unwrap().text, "2,2");
/// assert_eq!(panel.cell(3, 0).unwrap().tip, "(3,0) is sent to (3,0)");
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn coordinates(map: &BasisLayout, limits: &Limits) -> Result<Scene, Error> {
    let array = TensorLayout::of(&Layout::compact_col_major(map.shape())?);
    let subject = Subject::new(&array).named(map.to_string());
    let colouring = Colouring::new(&array);
    let sheet = Sheet::new(&subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| cell(map, &colouring, spot));
    let mut scene = Scene {
        title: subject.name.clone(),
        subtitle: "cells name the coordinate they are sent to".into(),
        bands: bands(panels),
        legend: colouring.legend(),
        notes: sheet.notes(left_out),
    };
    scene.notes.extend(empty(&subject));
    Ok(scene)
}

fn cell(map: &BasisLayout, colouring: &Colouring, spot: &Spot<'_>) -> Cell {
    let values: Vec<i64> = spot.coord.iter().map(|&x| x as i64).collect();
    // An integer of a shape without parentheses is its own coordinate.
    let coord = match (&values[..], map.shape().as_integer()) {
        (&[one], Some(_)) => Ok(IntTuple::integer(one)),
        _ => IntTuple::flat(&values),
    };
    let Ok(sent) = coord.and_then(|coord| map.coord_at(&coord)) else { return Cell::default() };
    let sent = sent.to_string();
    let inner = sent.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    Cell {
        text: inner.unwrap_or(&sent).to_owned(),
        paint: colouring.paint(spot.coord),
        tip: format!("({}) is sent to {sent}", join(spot.coord)),
        ..Cell::default()
    }
}
