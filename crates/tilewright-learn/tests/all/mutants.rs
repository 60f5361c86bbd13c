//! Loaders that were changed: fresh data find the first difference.

use tilewright_core::Dtype;
use tilewright_learn::{
    CONSTANT, Learned, MapSource, NamedArray, Sources, Space, describe, learn_result,
};

use crate::random::Random;

const GATE: usize = 6 * 8;

fn tensor(name: &str, extents: &[u64]) -> NamedArray {
    NamedArray { name: name.into(), dtype: Dtype::Bf16, extents: extents.to_vec() }
}

/// The places of a loader that interleaves gate and up, pads rows to 10, and repeats a bias.
fn places() -> Vec<Vec<Option<(usize, usize)>>> {
    let row = |r: usize| (0..10).map(move |c| (c < 8).then_some((r % 2, r / 2 * 8 + c)));
    let bias = (0..12).map(|i| Some((2, i % 6)));
    vec![(0..12).flat_map(row).collect(), bias.collect()]
}

fn load(places: &[Vec<Option<(usize, usize)>>], sources: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let element = |place: &Option<(usize, usize)>| match place {
        Some((source, i)) => [sources[*source][2 * i], sources[*source][2 * i + 1]],
        None => [0, 0],
    };
    places.iter().map(|result| result.iter().flat_map(element).collect()).collect()
}

fn learned() -> Learned {
    let sources = vec![tensor("gate", &[6, 8]), tensor("up", &[6, 8]), tensor("bias", &[6])];
    let named = sources.iter().map(|source| (source.name.clone(), source.extents.clone()));
    let space = Space::new(Sources::numbered(named).unwrap(), 128).unwrap();
    let coded = |load: u32| -> Vec<Vec<u8>> {
        (0..3).map(|source| space.coded(source, load, Dtype::Bf16).unwrap()).collect()
    };
    let mut results = Vec::new();
    for (number, result) in
        [tensor("w13", &[12, 10]), tensor("bias", &[12])].into_iter().enumerate()
    {
        let read = &mut |k: u32| Ok(load(&places(), &coded(k))[number].clone());
        results.push(learn_result(&space, &[Dtype::Bf16; 3], result, read).unwrap());
    }
    Learned { sources, results }
}

#[test]
fn the_first_difference_of_200_mutants_is_named() {
    let learned = learned();
    let (mut random, right) = (Random(1), places());
    let mut tried = 0;
    while tried < 200 {
        let mut wrong = right.clone();
        let result = random.below(2);
        let size = wrong[result].len();
        match random.below(4) {
            0 => wrong[result].swap(random.below(size), random.below(size)),
            1 => wrong[0].rotate_left(10 * (1 + random.below(11))),
            2 => wrong[0].iter_mut().flatten().for_each(|place| place.0 = 1 - place.0),
            _ => {
                let (from, to) = (random.below(size), random.below(size));
                wrong[result][to] = wrong[result][from];
            }
        }
        if wrong == right {
            continue;
        }
        tried += 1;
        let fresh = learned.fresh(tried).unwrap();
        let found = learned.compare(&fresh, &load(&wrong, &fresh)).unwrap().unwrap();
        let (want, have) = (load(&right, &fresh), load(&wrong, &fresh));
        let result = (0..2).find(|k| want[*k] != have[*k]).unwrap();
        let places = || want[result].chunks(2).zip(have[result].chunks(2));
        assert_eq!(found.result, result);
        assert_eq!(found.place as usize, places().position(|(a, b)| a != b).unwrap());
        assert_eq!(found.differing as usize, places().filter(|(a, b)| a != b).count());
    }
}

#[test]
fn the_inverse_gives_the_sources_back_and_names_what_is_lost() {
    let learned = learned();
    let fresh = learned.fresh(3).unwrap();
    let mut results = learned.apply(&fresh).unwrap();
    assert_eq!(results, load(&places(), &fresh));
    let back = learned.invert(&results).unwrap();
    assert_eq!(back.sources.into_iter().flatten().collect::<Vec<Vec<u8>>>(), fresh);
    assert_eq!(back.lost, [0, 0, 0]);

    let held = learned.held().unwrap();
    assert_eq!((held[0].least, held[0].most, held[2].least), (1, 1, 2));
    let part = Learned { results: learned.results[1..].to_vec(), ..learned.clone() };
    let back = part.invert(&results[1..]).unwrap();
    assert_eq!(back.lost, [GATE as u64, GATE as u64, 0]);
    assert_eq!(
        part.lost(&|name| name == "gate").unwrap().into_keys().collect::<Vec<String>>(),
        ["up"]
    );

    results[1][2 * 7] ^= 1;
    let error = learned.invert(&results).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two places hold element [1] of bias and differ; one of them is in bias"
    );
}

#[test]
fn widened_elements_are_their_bits_and_padding() {
    let space = Space::new(Sources::numbered([("w".into(), vec![40])]).unwrap(), 128).unwrap();
    let widened = |load: u32| -> Vec<u8> {
        let bytes = space.coded(0, load, Dtype::Bf16).unwrap();
        bytes.chunks(2).flat_map(|b| [0, 0, b[0], b[1]]).collect()
    };
    let result = NamedArray { name: "w".into(), dtype: Dtype::F32, extents: vec![40] };
    let learnt =
        learn_result(&space, &[Dtype::Bf16], result, &mut |load| Ok(widened(load))).unwrap();
    // Read as bf16, each second element is zero.
    assert_eq!((learnt.unit, learnt.unexplained), (Dtype::Bf16, None));
}

/// A mask beside half-precision weights: no whole number of their elements, and no element of them.
#[test]
fn a_result_of_another_width_is_constant_or_computed() {
    let sources = Sources::numbered([("w".into(), vec![4])]).unwrap();
    let space = Space::new(sources, 128).unwrap();
    let mask = |name: &str| NamedArray { name: name.into(), dtype: Dtype::Pred, extents: vec![3] };
    let learnt =
        learn_result(&space, &[Dtype::F16], mask("ones"), &mut |_| Ok(vec![1; 3])).unwrap();
    assert!(learnt.unexplained.is_none());
    assert!(learnt.description.expand().unwrap().iter().all(|id| *id == CONSTANT));
    let mut drawn = |load: u32| Ok((0..3).map(|k| (k * 7 + load * 13) as u8).collect());
    let learnt = learn_result(&space, &[Dtype::F16], mask("drawn"), &mut drawn).unwrap();
    assert_eq!(learnt.unexplained.unwrap().count, 3);
}

/// Numbers near the largest one, and shapes that no machine holds, are errors.
#[test]
fn sizes_beyond_all_memory_are_refused() {
    let source = |first, extent| {
        Sources::new(vec![MapSource { name: "w".into(), extents: vec![extent], first }])
    };
    assert!(source(i64::MAX, 1).is_err() && source(1, u64::MAX).is_err());
    let sources = source(1, 1 << 50).unwrap();
    let learned = describe(&[1, 5, 2], &sources).unwrap();
    assert_eq!(learned.expand().unwrap(), [1, 5, 2]);
    assert!(learned.held().unwrap_err().is_unsupported());
}
