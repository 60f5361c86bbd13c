//! Checks that the emulated device detects errors: the tests of this crate depend on it.

use tilewright_core::TensorLayout;
use tilewright_cuda::{DeviceBytes, Move, Stream};
use tilewright_relayout::{Elements, Program};

use crate::emulated::Emulated;

fn transpose() -> Move {
    let rows = TensorLayout::row_major(&[24, 40]).unwrap();
    let columns = TensorLayout::col_major(&[24, 40]).unwrap();
    Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap())
}

/// Two moves of which the second reads the result of the first: on one stream, and on two without a defined order.
#[test]
fn order_that_nobody_asked_for_is_not_there() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let (moved, bytes) = (transpose(), 960);
    for ordered in [true, false] {
        let [src, between, dst] = [(); 3].map(|()| machine.memory(0, bytes));
        src.put(0, &vec![9; bytes]);
        let first = machine.stream(0);
        let second = if ordered { first } else { machine.stream(0) };
        cuda.launch(&moved, src.whole(), between.whole(), first).unwrap();
        cuda.launch(&moved, between.whole(), dst.whole(), second).unwrap();
        let arrived = dst.get().iter().all(|byte| *byte == 9);
        assert_eq!(arrived, ordered);
    }
}

/// Memory that is shorter than promised: the driver reports it at the next call, and nothing beyond it is accessed.
#[test]
fn memory_that_is_not_there_is_found() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let (moved, bytes) = (transpose(), 960);
    let (short, dst) = (machine.memory(0, bytes - 1), machine.memory(0, bytes));
    // SAFETY: a promise that is broken, to a device that checks every access.
    let src = unsafe { DeviceBytes::new(short.whole().address(), bytes as u64) };
    cuda.launch(&moved, src, dst.whole(), Stream::LEGACY).unwrap();
    dst.get();
    let error = cuda.launch(&moved, src, dst.whole(), Stream::LEGACY).unwrap_err();
    assert_eq!((error.kind(), error.code()), ("driver", Some(700)), "{error}");
}
