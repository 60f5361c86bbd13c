//! In which order blocks walk tiles.
//!
//! Law: the numbers of the blocks are the tiles, each once.

use super::tile::Tile;
use crate::text::{Numbers, Text};

/// The loops of more than one tile, nearest in the destination first.
pub(crate) fn outer(tile: &Tile) -> Vec<usize> {
    let mut outer: Vec<usize> = (0..tile.loops.len()).filter(|of| tile.tiles(*of) > 1).collect();
    outer.sort_by_key(|of| tile.loops[*of].dst);
    outer
}

/// The loop that goes with the first in squares of tiles: the one nearest in the source.
fn partner(tile: &Tile, outer: &[usize]) -> Option<usize> {
    let others = outer.iter().skip(1).copied();
    let nearest = |of: &usize| match tile.loops[*of].src.unsigned_abs() {
        0 => u64::MAX,
        step => step,
    };
    others.min_by_key(nearest)
}

/// Writes `b<loop>`, the number of the block's tile along each loop of more than one.
pub(crate) fn write(tile: &Tile, supertile: u32, text: &mut Text, numbers: &mut Numbers) {
    let mut outer = outer(tile);
    if outer.is_empty() {
        return;
    }
    text.line("u32 rest = BLOCK;");
    if supertile > 1
        && let Some(second) = partner(tile, &outer)
    {
        let first = outer.remove(0);
        outer.retain(|of| *of != second);
        squares(tile, (first, second), supertile, (text, numbers));
        if outer.is_empty() {
            return;
        }
    }
    for of in outer.iter().copied() {
        if Some(&of) == outer.last() {
            text.line(&format!("const u32 b{of} = rest;"));
            break;
        }
        let (magic, by) = numbers.divisor(tile.tiles(of) as u32);
        text.line(&format!("const u32 q{of} = DIV(rest, {magic});"));
        text.line(&format!("const u32 b{of} = rest - q{of} * {by};"));
        text.line(&format!("rest = q{of};"));
    }
}

/// Squares of tiles along two loops, those at the ends as large as is left.
fn squares(
    tile: &Tile,
    (x, y): (usize, usize),
    side: u32,
    (text, numbers): (&mut Text, &mut Numbers),
) {
    let (across, down) = (tile.tiles(x) as u32, tile.tiles(y) as u32);
    text.line(&format!("// Squares of {side} by {side} tiles."));
    let (plane, by) = numbers.divisor(across.wrapping_mul(down));
    text.line(&format!("u32 square = rest - DIV(rest, {plane}) * {by};"));
    text.line(&format!("rest = DIV(rest, {plane});"));
    let (strip, by) = numbers.divisor(across.saturating_mul(side).min((1 << 31) - 1));
    text.line(&format!("const u32 strip = DIV(square, {strip});"));
    text.line(&format!("square -= strip * {by};"));
    let (across, down) = (numbers.short(across), numbers.short(down));
    text.line(&format!(
        "const u32 rows = {down} - strip * {side}u < {side}u ? {down} - strip * {side}u : {side}u;"
    ));
    text.line(&format!("const u32 part = square / (rows * {side}u);"));
    text.line(&format!("square -= part * rows * {side}u;"));
    text.line(&format!(
        "const u32 columns = {across} - part * {side}u < {side}u ? {across} - part * {side}u : {side}u;"
    ));
    text.line(&format!("const u32 b{y} = strip * {side}u + square / columns;"));
    text.line(&format!("const u32 b{x} = part * {side}u + square % columns;"));
}
