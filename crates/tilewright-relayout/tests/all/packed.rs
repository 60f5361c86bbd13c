//! Tests of packed elements in arrays that are large enough for registers, from any offset, forward and backward.

use crate::common::check;
use tilewright_core::{Layout, TensorLayout};
use tilewright_relayout::Elements;

#[test]
fn packed_arrays_that_run_backward_begin_anywhere() {
    // Byte ranges that begin and end within rows of the destination.
    let cuts = [1, 99, 1000, 1001, 2500, 4099];
    for (bits, m, n) in [(1, 128, 264), (2, 64, 128), (2, 72, 130), (4, 64, 64), (4, 64, 200)] {
        for (back_m, back_n) in [(false, true), (true, false), (true, true)] {
            for offset in [0, 1, 3, 4, 7] {
                let sign = |back: bool| if back { "-" } else { "" };
                let first = if back_m { (m - 1) * n } else { 0 } + if back_n { n - 1 } else { 0 };
                let (row, one) = (format!("{}{n}", sign(back_m)), format!("{}1", sign(back_n)));
                let text = format!("({m},{n}):({row},{one})+{}", first + offset);
                let layout = Layout::parse(&text).unwrap();
                let backward =
                    TensorLayout::new(&[m, n], &layout, m * n + offset.next_multiple_of(8))
                        .unwrap();
                for other in [
                    TensorLayout::row_major(&[m, n]).unwrap(),
                    TensorLayout::col_major(&[m, n]).unwrap(),
                ] {
                    check(&backward, &other, Elements::same(bits), 5, &cuts);
                    check(&other, &backward, Elements::same(bits), 5, &cuts);
                }
            }
        }
    }
}
