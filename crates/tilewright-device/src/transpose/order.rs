//! The order in which blocks visit tiles.
//!
//! Law: the blocks visit each tile once.

use super::tile::TransposeTile;
use crate::text::{KernelText, Parameters};

/// Returns the loops of more than one tile, the nearest in the destination first.
pub(crate) fn outer(tile: &TransposeTile) -> Vec<usize> {
    let mut outer: Vec<usize> = (0..tile.loops.len()).filter(|of| tile.tiles(*of) > 1).collect();
    outer.sort_by_key(|of| tile.loops[*of].dst);
    outer
}

/// Returns the loop that forms squares of tiles with the first: the nearest in the source.
fn partner(tile: &TransposeTile, outer: &[usize]) -> Option<usize> {
    let others = outer.iter().skip(1).copied();
    let nearest = |of: &usize| match tile.loops[*of].src.unsigned_abs() {
        0 => u64::MAX,
        step => step,
    };
    others.min_by_key(nearest)
}

/// Writes `b<loop>`, the number of the block's tile along each loop of more than one.
pub(crate) fn write(
    tile: &TransposeTile,
    supertile: u32,
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let mut outer = outer(tile);
    if outer.is_empty() {
        return;
    }
    let mut rest = "BLOCK".to_string();
    let second = partner(tile, &outer).filter(|_| supertile > 1);
    if let Some(second) = second {
        let first = outer.remove(0);
        outer.retain(|of| *of != second);
        let plane = match outer.is_empty() {
            true => rest.clone(),
            false => {
                let blocks = (tile.tiles(first) as u32).wrapping_mul(tile.tiles(second) as u32);
                let (magic, by) = numbers.divisor(blocks);
                text.line(&format!("const u32 around = DIV({rest}, {magic});"));
                text.line(&format!("const u32 plane = {rest} - around * {by};"));
                rest = "around".to_string();
                "plane".to_string()
            }
        };
        strips(tile, (first, second), supertile, &plane, (text, numbers));
    }
    let Some(last) = outer.pop() else { return };
    for of in outer {
        let (magic, by) = numbers.divisor(tile.tiles(of) as u32);
        text.line(&format!("const u32 q{of} = DIV({rest}, {magic});"));
        text.line(&format!("const u32 b{of} = {rest} - q{of} * {by};"));
        rest = format!("q{of}");
    }
    text.line(&format!("const u32 b{last} = {rest};"));
}

/// Writes strips of tiles along the first loop; the last strip has the remaining width. In a strip, blocks walk across
/// before they continue along the second loop, so the blocks of a square are neighbours on both sides.
fn strips(
    tile: &TransposeTile,
    (x, y): (usize, usize),
    side: u32,
    from: &str,
    (text, numbers): (&mut KernelText, &mut Parameters),
) {
    let (across, down) = (tile.tiles(x) as u32, tile.tiles(y) as u32);
    text.line(&format!("// Strips of {side} tiles."));
    let (strip, by) = numbers.divisor(down.saturating_mul(side).min((1 << 31) - 1));
    text.line(&format!("const u32 strip = DIV({from}, {strip});"));
    text.line(&format!("const u32 inside = {from} - strip * {by};"));
    let last = numbers.short((across - 1) / side);
    let ((least, left), (most, whole)) =
        (numbers.divisor((across - 1) % side + 1), numbers.divisor(side));
    text.line(&format!("const u32 width = strip == {last} ? {left} : {whole};"));
    text.line(&format!("const u32 b{y} = DIV(inside, strip == {last} ? {least} : {most});"));
    text.line(&format!("const u32 b{x} = strip * {side}u + (inside - b{y} * width);"));
}
