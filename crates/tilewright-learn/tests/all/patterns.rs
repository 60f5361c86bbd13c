//! Terms as patterns and layouts.

use tilewright_learn::{Description, Sources, ZERO, describe};

/// Describes the result in which the element at (row, column) is at a place.
fn placed(rows: i64, columns: i64, size: usize, place: impl Fn(i64, i64) -> i64) -> Description {
    let sources = Sources::numbered([("w".into(), vec![rows as u64, columns as u64])]).unwrap();
    let mut ids = vec![ZERO; size];
    for row in 0..rows {
        for column in 0..columns {
            ids[place(row, column) as usize] = 1 + row * columns + column;
        }
    }
    describe(&ids, &sources).unwrap()
}

#[test]
fn onednn_weights_have_their_pattern() {
    let packed = |n: i64, k: i64, room: i64| {
        let blocks = (n + 63) / 64;
        placed(n, k, (blocks * 64 * room) as usize, |row, column| {
            row / 64 * 64 * room + column / 2 * 128 + row % 64 * 2 + column % 2
        })
    };
    let pattern = |learned: &Description| {
        assert_eq!(learned.terms().len(), 1);
        learned.pattern(&learned.terms()[0])
    };
    let whole = packed(192, 96, 96);
    assert_eq!(pattern(&whole), "w : (n n0:64) (k k0:2) -> n k n0 k0");
    assert_eq!(whole.layout().unwrap().layout().to_string(), "((64,3),(2,48)):((2,6144),(1,128))");
    // 100 rows in blocks of 64, and 80 columns in room for 96.
    let ragged = packed(100, 80, 96);
    assert_eq!(pattern(&ragged), "w : (n n0:64) (k k0:2) -> n k n0 k0 [k:48]");
    assert_eq!(ragged.layout().unwrap().extents(), [100, 80]);
    // 4 rows in one block.
    assert_eq!(pattern(&packed(4, 96, 96)), "w : n (k k0:2) -> k n k0 [n:64]");
}

#[test]
fn layouts_have_the_offsets_of_the_map() {
    let learned = placed(100, 80, 128 * 96, |row, column| {
        row / 64 * 64 * 96 + column / 2 * 128 + row % 64 * 2 + column % 2
    });
    let layout = learned.layout().unwrap();
    let ids = learned.expand().unwrap();
    for index in 0..layout.size() {
        assert_eq!(ids[layout.offset_of(index).unwrap() as usize], 1 + index as i64);
    }
}

#[test]
fn parts_have_their_ranges() {
    let sources = Sources::numbered([("qkv".into(), vec![12, 8])]).unwrap();
    let ids: Vec<i64> = (1 + 32..1 + 64).collect();
    let learned = describe(&ids, &sources).unwrap();
    assert_eq!(learned.to_string(), "qkv[4:8,0:8] : n k -> n k @ 0\n");
}

#[test]
fn stacked_experts_have_an_axis_for_their_number() {
    let sources = Sources::numbered((0..4).map(|e| (format!("e.{e}.w"), vec![6, 8]))).unwrap();
    let ids: Vec<i64> =
        (0..4).flat_map(|e| (0..48).map(move |p| 1 + e * 49 + p % 6 * 8 + p / 6)).collect();
    let learned = describe(&ids, &sources).unwrap();
    assert_eq!(learned.to_string(), "e.{x}.w : n k -> x k n @ 0\n");
}

#[test]
fn swizzles_are_written_as_digits() {
    let learned = placed(8, 8, 64, |row, column| row * 8 + (column ^ row));
    assert_eq!(learned.to_string(), "w : 0 -> 0 (8:8:8) (8:1:1) 0^1 @ 0\n");
}

#[test]
fn parts_that_begin_inside_a_block_have_their_phase() {
    // Gate and up of 144 rows each, one after the other, in blocks of 64.
    let named = ["gate", "up"].map(|name| (name.into(), vec![144, 32]));
    let sources = Sources::numbered(named).unwrap();
    let mut ids = vec![ZERO; 320 * 32];
    for row in 0..288 {
        for column in 0..32 {
            let place = row / 64 * 64 * 32 + column / 2 * 128 + row % 64 * 2 + column % 2;
            ids[place as usize] = 1 + row * 32 + column + row / 144;
        }
    }
    let learned = describe(&ids, &sources).unwrap();
    let patterns: Vec<String> = learned.terms().iter().map(|term| learned.pattern(term)).collect();
    assert_eq!(
        patterns,
        ["gate : (n n0:64) (k k0:2) -> n k n0 k0", "up : (n n0:64)+16 (k k0:2) -> n k n0 k0"]
    );
}
