//! Draws the banks of shared memory that contain the elements of an array, before and after a change. Elements of
//! threads that wait for each other are marked.
//!
//! Law: a cell shows the bank of its element's first byte, in the colour of the bank; a marked cell also shows the
//! thread.

use crate::{
    Band, Cell, Joint, Limits, Paint, Panel, Scene, Subject,
    banks::legend,
    colouring::Colouring,
    palette::HUES,
    sheet::{Sheet, Spot},
    subject::join,
};

/// Banks, elements, and the elements that threads wait for.
///
/// ```
/// use tilewright_draw::Waiting;
/// let waiting = Waiting { banks: 32, width: 4, element_bits: 32, threads: vec![(vec![1, 0], 1)] };
/// assert_eq!(waiting.bank(33), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The number of banks.
    pub banks: u64,
    /// The bytes of a bank's word.
    pub width: u64,
    /// The width of an element.
    pub element_bits: u32,
    /// Coordinates of elements with the threads that wait for them.
    pub threads: Vec<(Vec<u64>, u64)>,
}

impl Waiting {
    /// Returns the bank of the element at an offset.
    ///
    /// ```
    /// use tilewright_draw::Waiting;
    /// let halves = Waiting { banks: 32, width: 4, element_bits: 16, threads: Vec::new() };
    /// assert_eq!([0, 1, 2, 64].map(|offset| halves.bank(offset)), [0, 0, 1, 0]);
    /// ```
    pub const fn bank(&self, offset: u64) -> u64 {
        let byte = offset.saturating_mul(self.element_bits as u64) / 8;
        let banks = if self.banks == 0 { 1 } else { self.banks };
        byte / if self.width == 0 { 1 } else { self.width } % banks
    }
}

/// Draws the bank of each element of an array, and next to it the banks after a change.
///
/// ```
/// use tilewright_core::{TensorLayout, layout};
/// use tilewright_draw::{Limits, Subject, Waiting, bank_conflicts};
/// let (rows, padded) = (TensorLayout::row_major(&[32, 32])?, TensorLayout::of(&layout!("(32,32):(33,1)")));
/// let waiting = Waiting { banks: 32, width: 4, element_bits: 32, threads: vec![(vec![1, 0], 1)] };
/// let scene =
///     bank_conflicts(&Subject::new(&rows), Some(&Subject::new(&padded)), &waiting, &Limits::default());
/// let cells = scene.bands[0].panels.iter().map(|panel| panel.cell(1, 0).unwrap().text.as_str());
/// assert_eq!(cells.collect::<Vec<_>>(), ["0 T1", "1"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn bank_conflicts(
    before: &Subject<'_>,
    after: Option<&Subject<'_>>,
    waiting: &Waiting,
    limits: &Limits,
) -> Scene {
    let panels = if after.is_some() { 2 } else { 1 };
    let limits = Limits { cells: limits.kept().cells / panels, ..*limits };
    let mut scene = Scene {
        title: before.name.clone(),
        subtitle: "cells name the banks of shared memory, and the threads that wait".into(),
        legend: legend(waiting.banks),
        ..Scene::default()
    };
    let mut band = Band::default();
    let (panel, notes) = of(before, waiting, true, &limits);
    band.panels.extend(panel);
    scene.notes = notes;
    if let Some(after) = after {
        let (panel, _) = of(after, waiting, false, &limits);
        band.panels.extend(panel.map(|panel| Panel { caption: after.name.clone(), ..panel }));
        band.joints.push(Joint::Arrow);
    }
    scene.bands.push(band);
    scene
}

/// Returns the first panel of an array, and notes on the parts that are left out.
fn of(
    subject: &Subject<'_>,
    waiting: &Waiting,
    marked: bool,
    limits: &Limits,
) -> (Option<Panel>, Vec<String>) {
    let colouring = Colouring::new(subject.layout);
    let sheet = Sheet::new(subject, &colouring, limits);
    let (panels, left_out) = sheet.panels(&|spot| cell(spot, waiting, marked));
    (panels.into_iter().next(), sheet.notes(left_out))
}

fn cell(spot: &Spot<'_>, waiting: &Waiting, marked: bool) -> Cell {
    let Some(offset) = spot.offset.and_then(|offset| u64::try_from(offset).ok()) else {
        return Cell::default();
    };
    let bank = waiting.bank(offset);
    let thread = waiting.threads.iter().find(|(coord, _)| coord == spot.coord);
    let thread = thread.filter(|_| marked).map(|(_, thread)| thread);
    let text = thread.map_or(bank.to_string(), |thread| format!("{bank} T{thread}"));
    let hue = bank.saturating_mul(u64::from(HUES)) / waiting.banks.max(1);
    Cell {
        tip: format!("({}): offset {offset}, bank {bank}", join(spot.coord)),
        text,
        paint: Paint::colour(hue),
        link: Some(bank),
        marked: thread.is_some(),
    }
}
