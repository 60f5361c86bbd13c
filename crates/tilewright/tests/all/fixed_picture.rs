//! The grid of the TLA document, drawn from a layout in types.

use tilewright::{
    TensorLayout,
    draw::{Limits, Subject, grid},
    fixed::{_1, _2, _3, _4, _16, _32, make_layout},
};

#[test]
fn the_documents_grid() {
    let layout = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
    let tensor = TensorLayout::new(&[8, 12], &layout.into(), 96).unwrap();
    let scene = grid(&Subject::new(&tensor).boxed(), &Limits::default()).unwrap();
    let grid = scene.to_terminal(false);
    let lines: Vec<String> = grid
        .lines()
        .skip(2)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(lines[0], "0 1 2 3 4 5 6 7 8 9 10 11");
    assert!(lines[1].chars().all(|c| "+-".contains(c)) && lines[1].matches('+').count() == 13);
    assert_eq!(lines[2], "0 | 0 | 1 | 2 | 3 | 32 | 33 | 34 | 35 | 64 | 65 | 66 | 67 |");
    assert_eq!(lines[4], "1 | 4 | 5 | 6 | 7 | 36 | 37 | 38 | 39 | 68 | 69 | 70 | 71 |");
    assert_eq!(lines[16], "7 | 28 | 29 | 30 | 31 | 60 | 61 | 62 | 63 | 92 | 93 | 94 | 95 |");
    assert_eq!(lines.len(), 18);
}
