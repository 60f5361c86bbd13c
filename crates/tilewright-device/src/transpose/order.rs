//! The order in which blocks visit tiles.
//!
//! Law: the blocks visit each tile once.

use super::tile::TransposeTile;
use crate::{
    grid::strips,
    text::{KernelText, Parameters},
};

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
        let (x, y) = (format!("b{first}"), format!("b{second}"));
        let counts = (tile.tiles(first) as u32, tile.tiles(second) as u32);
        strips((&x, &y), counts, supertile, &plane, (text, numbers));
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
