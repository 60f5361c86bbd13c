//! Draws a conversion: one array in two layouts, side by side, and the memory of each below.
//!
//! Law: cells of one element have one colour and one link, in both grids and both memories.

use tilewright_core::Error;

use crate::{
    Band, Joint, Label, Limits, Panel, Scene, Subject,
    colouring::Colouring,
    grid::{bands, cell, empty, padding},
    memory::{Strip, line},
    sheet::Sheet,
    subject::join,
};

/// The most cells of each memory that are drawn below the grids.
const MEMORY: u64 = 256;

/// Draws the positions of the elements of `from` in `to`. Colours are the tiles of the layout that has tiles, of `to`
/// if both have. The memories below show which elements are contiguous in one layout and scattered in the other.
///
/// # Errors
/// [mismatch](Error::is_mismatch) if the arrays differ in rank or in an extent;
/// [undecided](Error::is_undecided) as [`TensorLayout::locate`](tilewright_core::TensorLayout::locate).
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_draw::{Limits, Subject, conversion};
/// let rows = TensorLayout::row_major(&[4, 6])?;
/// let tiled = Fractal::ZN.pattern(2, 3).layout(&[4, 6])?;
/// let scene = conversion(&Subject::new(&rows), &Subject::new(&tiled), &Limits::default())?;
/// let [a, b] = [0, 1].map(|at| scene.bands[0].panels[at].cell(3, 4).unwrap());
/// assert_eq!((a.text.as_str(), b.text.as_str()), ("22", "22"));
/// assert_eq!((a.paint, a.link), (b.paint, b.link));
///
/// let other = TensorLayout::row_major(&[6, 4])?;
/// let error = conversion(&Subject::new(&rows), &Subject::new(&other), &Limits::default()).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains("dim 0 has 4 in A and 6 in B"));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub fn conversion(from: &Subject<'_>, to: &Subject<'_>, limits: &Limits) -> Result<Scene, Error> {
    equal(from.layout.extents(), to.layout.extents())?;
    let half = Limits { cells: limits.kept().cells / 2, ..*limits };
    let colouring = colouring(from, to);
    let mut scene = Scene {
        title: format!("{} → {}", from.name, to.name),
        subtitle: format!(
            "an array of {}; {}",
            join(from.layout.extents()).replace(',', "×"),
            from.says(Label::Offsets)
        ),
        legend: colouring.legend(),
        ..Scene::default()
    };
    grids(&mut scene, [from, to], &colouring, &half);
    memories(&mut scene, [from, to], &colouring, &half)?;
    scene.legend.extend(padding(&scene, &[from, to]));
    scene.notes.extend(empty(from));
    Ok(scene)
}

/// Returns the colours of the layout that has tiles.
fn colouring(from: &Subject<'_>, to: &Subject<'_>) -> Colouring {
    let (a, b) = (Colouring::new(from.layout), Colouring::new(to.layout));
    if a.is_tiled() && !b.is_tiled() { a } else { b }
}

fn equal(a: &[u64], b: &[u64]) -> Result<(), Error> {
    let legal = "both layouts of a conversion must be of the same array";
    if a.len() != b.len() {
        let ranks = [a.len() as i128, b.len() as i128];
        return Err(Error::mismatch("A has {} dims and B has {}", ranks, legal));
    }
    match (0..a.len()).find(|&dim| a[dim] != b[dim]) {
        None => Ok(()),
        Some(dim) => {
            let numbers = [dim as i128, a[dim].into(), b[dim].into()];
            Err(Error::mismatch("dim {} has {} in A and {} in B", numbers, legal))
        }
    }
}

/// Draws grids for the outer dims, A and B with an arrow between.
fn grids(scene: &mut Scene, both: [&Subject<'_>; 2], colouring: &Colouring, limits: &Limits) {
    let own = both.map(|subject| Colouring::new(subject.layout));
    let sheet = |at: usize| Sheet::beside(both[at], both, &own[at], colouring, limits);
    let sheets = [sheet(0), sheet(1)];
    let [(a, more), (b, _)] =
        sheets.each_ref().map(|sheet| sheet.panels(&|spot| cell(sheet, colouring, spot)));
    // Padding may reduce the number of panels of one layout.
    let more = more + a.len().saturating_sub(b.len()) as u64;
    let [of_a, of_b] = sheets.each_ref().map(|sheet| sheet.notes(more));
    scene.notes.extend(left_out(of_a, of_b));
    for (mut a, mut b) in a.into_iter().zip(b) {
        for (panel, subject, letter) in [(&mut a, both[0], "A"), (&mut b, both[1], "B")] {
            panel.caption = format!("{letter} {}", panel.caption).trim_end().into();
            panel.detail = subject.name.clone();
        }
        scene.bands.push(Band { panels: vec![a, b], joints: vec![Joint::Arrow] });
    }
}

/// Returns notes on the parts of the grids that are left out, merged if they are equal.
fn left_out(a: Vec<String>, b: Vec<String>) -> Vec<String> {
    if a == b {
        return a;
    }
    let of = |notes: Vec<String>, letter: char| {
        notes
            .into_iter()
            .map(move |note| note.replacen("left out", &format!("left out of {letter}"), 1))
    };
    of(a, 'A').chain(of(b, 'B')).collect()
}

/// Draws the memories, side by side if the page is wide enough.
fn memories(
    scene: &mut Scene,
    both: [&Subject<'_>; 2],
    colouring: &Colouring,
    limits: &Limits,
) -> Result<(), Error> {
    let limits = Limits { cells: limits.cells.min(MEMORY), ..*limits };
    let mut panels: Vec<Panel> = Vec::new();
    for (subject, letter) in both.iter().zip(["A", "B"]) {
        let strip = Strip::new(subject, colouring, line(subject.layout), &limits);
        let mut panel = strip.panel()?;
        panel.caption = format!("memory of {letter}");
        panel.detail = subject.says(Label::Coords).into();
        scene.notes.extend(strip.notes(&format!(" of {letter}")));
        panels.push(panel);
    }
    scene.bands.extend(bands(panels));
    Ok(())
}
