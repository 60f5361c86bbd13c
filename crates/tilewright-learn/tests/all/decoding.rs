//! What decoders say of values that moved, and of values that were changed.

use tilewright_core::Dtype;
use tilewright_learn::{COMPUTED, Decoded, Decoder, Sources, Space};

use crate::random::Random;

const N: usize = 2000;

fn space() -> Space {
    Space::new(Sources::numbered([("w".into(), vec![N as u64])]).unwrap(), 128).unwrap()
}

/// Decodes what a loader makes of coded f32 arrays.
fn decoded(loader: &dyn Fn(&[f32]) -> Vec<f32>) -> Decoded {
    let space = space();
    let mut decoder = Decoder::new(&space, Dtype::F32, N).unwrap();
    for load in 0..space.loads() {
        let bytes = space.coded(0, load, Dtype::F32).unwrap();
        let values: Vec<f32> = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let made: Vec<u8> = loader(&values).iter().flat_map(|v| v.to_le_bytes()).collect();
        decoder.add(&made).unwrap();
    }
    decoder.finish().unwrap()
}

#[test]
fn a_move_is_decoded_in_every_type() {
    for dtype in Dtype::all().filter(|dtype| tilewright_learn::Code::of(*dtype).is_ok()) {
        let sources =
            Sources::numbered([("a".into(), vec![30, 7]), ("b".into(), vec![5])]).unwrap();
        let space = Space::of(sources, &[dtype]).unwrap();
        for (place, source) in space.sources().list().iter().enumerate() {
            let mut decoder = Decoder::new(&space, dtype, source.size() as usize).unwrap();
            let mut odd = false;
            for load in 0..space.loads() {
                let bytes = space.coded(place, load, dtype).unwrap();
                decoder.add(&bytes).unwrap();
                odd |= bytes.is_empty();
            }
            let ids: Vec<i64> = (source.first..source.end()).collect();
            assert_eq!((decoder.finish().unwrap().ids, odd), (ids, false), "{dtype}");
        }
    }
}

/// Changes of values in 1 to 100 % of a tensor: most changed elements are unexplained, so the tensor never passes.
#[test]
fn changed_values_are_never_a_move() {
    type Change = (&'static str, fn(&[f32], usize) -> f32);
    let changes: [Change; 6] = [
        ("add", |all, i| all[i] + 1.0),
        ("add a little", |all, i| all[i] + 1.0 / 128.0),
        ("scale", |all, i| all[i] * 1.5),
        ("exp", |all, i| -all[i].exp()),
        ("average", |all, i| (all[i] + all[(i + 1) % N]) / 2.0),
        ("absmax", |all, i| all[i] / all.iter().fold(0.0, |a: f32, b| a.max(b.abs()))),
    ];
    for percent in [1, 10, 50, 100] {
        for (name, change) in changes {
            let mut random = Random(percent as u64);
            let chosen: Vec<bool> = (0..N).map(|_| random.below(100) < percent).collect();
            let count = chosen.iter().filter(|chosen| **chosen).count();
            let map = decoded(&|all| {
                (0..N).map(|i| if chosen[i] { change(all, i) } else { all[i] }).collect()
            });
            let unexplained = map.ids.iter().filter(|id| **id == COMPUTED).count();
            let kept = (0..N).all(|i| chosen[i] || map.ids[i] == 1 + i as i64);
            assert!(kept, "{name}");
            assert!(unexplained * 10 >= count * 8, "{name} {percent} %: {unexplained} of {count}");
        }
    }
}

/// Sorting decides on values: each load sorts in another order.
#[test]
fn sorted_values_are_never_a_move() {
    let map = decoded(&|all| {
        let mut sorted = all.to_vec();
        sorted.sort_by(f32::total_cmp);
        sorted
    });
    assert!(map.ids.iter().filter(|id| **id == COMPUTED).count() > N * 9 / 10);
}

#[test]
fn a_constant_that_looks_like_a_digit_is_a_constant() {
    for digit in 0..128 {
        let map = decoded(&|_| vec![1.0 + digit as f32 / 128.0; N]);
        assert!(map.ids.iter().all(|id| *id == tilewright_learn::CONSTANT));
        assert_eq!(map.constants.runs().len(), 1);
    }
}

#[test]
fn loads_in_another_order_are_unexplained() {
    let space = space();
    let mut decoder = Decoder::new(&space, Dtype::Bf16, N).unwrap();
    for load in [1, 0, 2] {
        decoder.add(&space.coded(0, load, Dtype::Bf16).unwrap()).unwrap();
    }
    let unexplained = decoder.finish().unwrap().ids.iter().filter(|id| **id == COMPUTED).count();
    assert!(unexplained > N * 9 / 10);
}
