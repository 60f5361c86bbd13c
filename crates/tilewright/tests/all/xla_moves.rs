//! Moves of data into, out of and between XLA's layouts: the stated cases, by number.

use tilewright::{
    TensorLayout,
    relayout::{Elements, Plan},
    xla::{ArrayShape, permutation},
};

fn lower(text: &str) -> TensorLayout {
    ArrayShape::parse(text).unwrap().lower().unwrap()
}

/// Returns the layout of an array over its coordinates before its dims were permuted.
fn output(text: &str, perm: &[u64]) -> TensorLayout {
    let back = permutation::inverse(perm).unwrap();
    ArrayShape::parse(text).unwrap().permute_dimensions(&back).unwrap().lower().unwrap()
}

fn noise(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8).collect()
}

/// Returns the destination of a plan. Before the run it is filled with a byte that the plan does not use as its fill.
fn moved(
    src: &TensorLayout,
    dst: &TensorLayout,
    bytes: usize,
    source: &[u8],
    threads: usize,
) -> Vec<u8> {
    let plan = Plan::new(src, dst, Elements::same(8 * bytes as u32), fill(bytes)).unwrap();
    let mut out = vec![0xEE; dst.capacity() as usize * bytes];
    plan.run(source, &mut out, threads).unwrap();
    out
}

fn fill(bytes: usize) -> u128 {
    u128::from_le_bytes([0x77; 16]) >> (128 - 8 * bytes)
}

/// Returns the destination when elements are moved one at a time.
fn naive(src: &TensorLayout, dst: &TensorLayout, bytes: usize, source: &[u8]) -> Vec<u8> {
    let mut out = vec![0x77; dst.capacity() as usize * bytes];
    for index in 0..src.size() {
        let coord = src.coord_of(index).unwrap();
        let from = src.offset(coord.as_slice()).unwrap() as usize * bytes;
        let to = dst.offset(coord.as_slice()).unwrap() as usize * bytes;
        out[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
    }
    out
}

fn text_of(dims: &[u64], rest: &str) -> String {
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    format!("u8[{}]{rest}", dims.join(","))
}

#[test]
fn row_111_a_negative_stride_reverses() {
    let backwards = tilewright::Layout::parse("10:-1+9").unwrap();
    let src = TensorLayout::new(&[10], &backwards, 10).unwrap();
    let source: Vec<u8> = (7..17i32).flat_map(i32::to_le_bytes).collect();
    let out = moved(&src, &lower("s32[10]{0}"), 4, &source, 1);
    let wanted: Vec<u8> = (7..17i32).rev().flat_map(i32::to_le_bytes).collect();
    assert_eq!(out, wanted);
}

#[test]
fn row_112_dims_that_stay_together_are_one_loop() {
    let dims = [4, 5, 3, 2, 5];
    let perm = [4, 1, 2, 3, 0];
    let src = TensorLayout::row_major(&dims).unwrap();
    let dst = output("u8[5,5,3,2,4]{4,3,2,1,0}", &perm);
    let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap().to_string();
    let loops: Vec<&str> = plan.lines().filter(|line| line.contains("× source")).collect();
    // {4,30,5} by {2,1,0}: the three dims in the middle are one.
    let wanted = [
        "    5× source 1, destination 120",
        "    30× source 5, destination 4",
        "    4× source 150, destination 1",
    ];
    assert_eq!(loops, wanted, "{plan}");
}

#[test]
fn row_115_there_and_back_is_the_same() {
    for text in [
        "f32[3,5]{1,0:T(2,2)}",
        "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        "f32[112,110]{1,0:T(2,3)}",
        "f32[6,6]{1,0:T(4,4)}",
        "f32[2,3,8,8]{3,2,1,0:T(4,4)}",
        "bf16[16,256]{1,0:T(8,128)(2,1)}",
        "f32[7,8]{1,0:T(2,4)(2,1,1,1)}",
        "f32[3,5,7]{1,0,2:T(2,3)(2,1)}",
        "pred[17,40]{1,0:T(8,128)(4,1)}",
        "f32[5,1]{1,0:T(8,128)}",
        "bf16[2048]{0:T(1024)(128)(2,1)}",
        "bf16[2,8,128]{2,1,0:T(8,128)(2,1)}",
        "f32[9,6]{0,1:T(4,4)L(100)}",
        "f32[6,4]{1,0:T(3,4)(2,1)}",
        "f32[2,3,1004]{2,1,0:T(2,*,128)}",
    ] {
        let shape = ArrayShape::parse(text).unwrap();
        let (tiled, bytes) = (shape.lower().unwrap(), shape.element_type().byte_width().unwrap());
        let rows = TensorLayout::row_major(&shape.extents().unwrap()).unwrap();
        let source = noise(rows.capacity() as usize * bytes as usize);
        for threads in [1, 3] {
            let there = moved(&rows, &tiled, bytes as usize, &source, threads);
            assert_eq!(there, naive(&rows, &tiled, bytes as usize, &source), "{text}");
            let back = moved(&tiled, &rows, bytes as usize, &there, threads);
            assert_eq!(back, source, "{text}");
        }
    }
}

/// Checks row-major to row-major by `perm`, in elements of each width, on 1 and 16 threads.
fn transposes(dims: &[u64], perm: &[u64], widths: &[usize]) {
    let out = permutation::permute(dims, perm).unwrap();
    let order: Vec<String> = (0..out.len()).rev().map(|dim| dim.to_string()).collect();
    let dst = output(&text_of(&out, &format!("{{{}}}", order.join(","))), perm);
    let src = TensorLayout::row_major(dims).unwrap();
    for &bytes in widths {
        let source = noise(src.capacity() as usize * bytes);
        let wanted = naive(&src, &dst, bytes, &source);
        for threads in [1, 16] {
            assert!(
                moved(&src, &dst, bytes, &source, threads) == wanted,
                "{dims:?} {perm:?} {bytes}"
            );
        }
    }
}

#[test]
fn row_116_dense_transposes() {
    const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];
    for dims in [[1], [4], [27]] {
        transposes(&dims, &[0], &WIDTHS);
    }
    for dims in [[1, 1], [2, 2], [4, 4], [8, 8], [16, 16], [11, 15]] {
        transposes(&dims, &[0, 1], &WIDTHS);
        transposes(&dims, &[1, 0], &WIDTHS);
    }
    for perm in [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1]] {
        transposes(&[11, 15, 13], &perm, &WIDTHS);
    }
    transposes(&[64, 64, 64], &[2, 1, 0], &WIDTHS);
    transposes(&[4, 8, 16, 32], &[3, 1, 0, 2], &WIDTHS);
}

#[test]
fn row_116_large_transposes() {
    let side = tilewright_testing::cases(256, 64);
    transposes(&[side, side, side], &[2, 1, 0], &[1]);
    transposes(&[tilewright_testing::cases(64, 4), 224, 224, 3], &[3, 1, 2, 0], &[4]);
}

/// Returns an array of bytes in tiles of the last two dims, computed by the definition.
fn tiled(rows: u64, columns: u64, tile: (u64, u64), at: impl Fn(u64, u64) -> u8) -> Vec<u8> {
    let (down, across) = (rows.div_ceil(tile.0), columns.div_ceil(tile.1));
    let mut out = Vec::with_capacity((down * across * tile.0 * tile.1) as usize);
    for (block, side) in (0..down).flat_map(|block| (0..across).map(move |side| (block, side))) {
        for row in block * tile.0..(block + 1) * tile.0 {
            for column in side * tile.1..(side + 1) * tile.1 {
                out.push(if row < rows && column < columns { at(row, column) } else { 0x77 });
            }
        }
    }
    out
}

#[test]
fn row_117_large_arrays_in_tiles() {
    let perm = [3, 1, 2, 0];
    let rows = tilewright_testing::cases(224, 28);
    let src = TensorLayout::row_major(&[128, rows, 224, 3]).unwrap();
    let dst = output(&format!("u8[3,{rows},224,128]{{3,2,1,0:T(8,128)}}"), &perm);
    let source = noise(src.capacity() as usize);
    // The last two dims are 224 and 128: there is no padding, and 3 matrices a row follow one another.
    let matrices = (0..3 * rows).flat_map(|matrix| {
        let (channel, row) = (matrix / rows, matrix % rows);
        let source = &source;
        tiled(224, 128, (8, 128), move |column, image| {
            source[(((image * rows + row) * 224 + column) * 3 + channel) as usize]
        })
    });
    assert!(moved(&src, &dst, 1, &source, 2).into_iter().eq(matrices));
}

#[test]
fn row_117_large_matrices_in_ragged_tiles() {
    let (rows, columns) = (129, tilewright_testing::cases(1_234_567, 12_345));
    let src = TensorLayout::row_major(&[rows, columns]).unwrap();
    let dst = lower(&format!("u8[129,{columns}]{{1,0:T(8,128)}}"));
    let source = noise(src.capacity() as usize);
    let out = moved(&src, &dst, 1, &source, 2);
    let wanted =
        tiled(rows, columns, (8, 128), |row, column| source[(row * columns + column) as usize]);
    assert!(out == wanted);
    // One tile as long as a row leaves the rows as they are.
    let long = tilewright_testing::cases(33_554_433, 2_097_153);
    let tile = lower(&format!("u8[2,{long}]{{1,0:T({long})}}"));
    let src = TensorLayout::row_major(&[2, long]).unwrap();
    let source = noise(src.capacity() as usize);
    assert!(moved(&tile, &src, 1, &source, 2) == source);
}
