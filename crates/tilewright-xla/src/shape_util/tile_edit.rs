//! Changes of tiles that keep their meaning when a dim is inserted or removed. Used by `insert.rs` and `delete.rs`.
//!
//! Laws: when a dim of extent 1 is inserted or removed, every element keeps its offset. A dim inserted minor to all others
//! is the fastest: each element becomes that many neighbours. A dim inserted elsewhere is outside the tiles that would cover
//! it: these get an entry of 1 for it.
//!
//! Both changes follow, through every tile, the axes that one of the two walks has and the other has not. A tile leaves such
//! an axis unchanged by an entry of its own, and turns it into a quotient and a remainder.

use tilewright_core::Error;

use crate::{Tile, TileDim};

/// An axis of one walk only.
#[derive(Clone, Copy)]
struct Extra {
    /// The position, counted from the most minor axis.
    at: usize,
    extent: u64,
    /// Set if it stays within tiles, minor to all other axes.
    inside: bool,
}

/// Returns the tiles after an axis of `extent` is inserted at a position counted from the most minor axis. The most
/// minor axis is `inside` the tiles or outside; any other is outside.
///
/// # Errors
/// Unsupported if `*` merges physical dims across the new one.
pub(crate) fn inserted(
    tiles: &[Tile],
    at: usize,
    extent: u64,
    inside: bool,
) -> Result<Vec<Tile>, Error> {
    let mut extras = vec![Extra { at, extent, inside }];
    tiles.iter().map(|tile| insert_into(tile, &mut extras)).collect()
}

fn insert_into(tile: &Tile, extras: &mut Vec<Extra>) -> Result<Tile, Error> {
    let (mut entries, mut groups) = (Vec::new(), 0);
    let (mut quotients, mut remainders) = (Vec::new(), Vec::new());
    let mut old = tile.dims().iter().rev().copied().peekable();
    while let Some(&next) = old.peek() {
        let extra = extras.iter().find(|extra| extra.at == entries.len()).copied();
        let entry = match (extra, next) {
            (None, _) => old.next().unwrap_or(next),
            (Some(extra), TileDim::Combine) if extra.extent == 1 => TileDim::Combine,
            (Some(extra), TileDim::Combine) => return Err(merged_across(extra.extent)),
            (Some(extra), TileDim::Size(_)) => {
                let by = if extra.inside { extra.extent.max(1) } else { 1 };
                quotients.push(Extra {
                    at: groups,
                    extent: extra.extent.div_ceil(by),
                    inside: false,
                });
                remainders.push(Extra { at: groups, extent: by, inside: extra.inside });
                TileDim::Size(by)
            }
        };
        groups += usize::from(matches!(entry, TileDim::Size(_)));
        entries.push(entry);
    }
    let covered = entries.len();
    let mut after = remainders;
    after.extend(quotients.into_iter().map(|extra| Extra { at: extra.at + groups, ..extra }));
    let beyond = extras.iter().filter(|extra| extra.at >= covered);
    after.extend(beyond.map(|extra| Extra { at: extra.at - covered + 2 * groups, ..*extra }));
    *extras = after;
    entries.reverse();
    Tile::new(&entries)
}

fn merged_across(extent: u64) -> Error {
    Error::unsupported(
        "a tile's `*` merges dims across the new dim of extent {}",
        [extent.into()],
        "insert it elsewhere, or drop the tiles first",
    )
}

/// Returns the tiles after axes of extent 1, of `count` in total, are removed at positions counted from the most minor
/// one; `None` if no change of the tiles keeps every element at its offset.
pub(crate) fn removed(tiles: &[Tile], at: &[usize], mut count: usize) -> Option<Vec<Tile>> {
    let (mut extras, mut kept) = (at.to_vec(), Vec::new());
    for tile in tiles {
        let entries = remove_from(tile, &mut extras, count)?;
        let groups = tile.dims().iter().filter(|dim| matches!(dim, TileDim::Size(_))).count();
        count = count.saturating_sub(tile.dims().len()) + 2 * groups;
        if !entries.is_empty() {
            kept.push(Tile::new(&entries).ok()?);
        }
    }
    Some(kept)
}

/// Returns the remaining entries of one tile, major to minor.
fn remove_from(tile: &Tile, extras: &mut Vec<usize>, count: usize) -> Option<Vec<TileDim>> {
    let covered = tile.dims().len();
    let all = tile.dims().iter().filter(|dim| matches!(dim, TileDim::Size(_))).count();
    tilewright_core::sort_short(extras, |extra| *extra);
    let (mut entries, mut members, mut after) = (Vec::new(), 0, Vec::new());
    // Set while no axis more major than this one remains.
    let (mut leading, mut group) = (extras_beyond(extras, covered, count), all);
    for (position, dim) in (0..covered).rev().zip(tile.dims()) {
        let extra = extras.binary_search(&position).is_ok();
        members += usize::from(!extra);
        if let TileDim::Size(by) = *dim {
            group -= 1;
            match (members, by) {
                (0, 1) => after.extend([group, group + all]),
                (0, _) if leading => entries.push(TileDim::Size(by)),
                (0, _) => return None,
                (members, _) => {
                    entries.extend(std::iter::repeat_n(TileDim::Combine, members - 1));
                    entries.push(TileDim::Size(by));
                }
            }
            members = 0;
        }
        leading &= extra || position >= count;
    }
    let beyond = extras.iter().filter(|&&extra| extra >= covered);
    after.extend(beyond.map(|extra| extra - covered + 2 * all));
    *extras = after;
    Some(entries)
}

/// Returns whether all axes beyond the covered ones are among the removed ones.
fn extras_beyond(extras: &[usize], covered: usize, count: usize) -> bool {
    extras.iter().filter(|&&extra| extra >= covered).count() >= count.saturating_sub(covered)
}
