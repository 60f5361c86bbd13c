//! Tests of what recipes refuse: conditions on the source that are violated, assemblies that cannot be, too little memory, and calls
//! that fail. Nothing of a refused result remains.

use std::fs;

use tilewright_core::{Dtype, Remedy};
use tilewright_recipe::{Assembly, Digit, Equal, Made, Origin, Part};

use super::{
    Assembling, Packaging,
    laws::{MEMORIES, numbered, run, sums},
};
use crate::{Reading, Request, commit::disk::fault, open};

#[test]
fn what_must_be_equal_is_refused_with_the_first_place_and_both_values() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    numbered(&path, &[("a", &[4, 6]), ("b", &[4, 6])]);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 48;
    let (first, second) = bytes.split_at_mut(at);
    let from = first.len() - 48;
    second.copy_from_slice(&first[from..]);
    let fill: Vec<u8> = [7u8, 0].repeat(3);
    second[30..36].copy_from_slice(&fill);
    fs::write(&path, &bytes).unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    let out = folder.path().join("out.safetensors");
    let source = |tensor, offset| Origin::Source { tensor, offset };
    let digits =
        vec![Digit { extent: 4, source: 6, made: 6 }, Digit { extent: 6, source: 1, made: 1 }];
    let tied = Equal {
        first: source(0, 0),
        second: source(1, 0),
        digits,
        why: "the tied name \"b\"".into(),
    };
    let padding = |extent, bits| Equal {
        first: source(1, 15),
        second: Origin::Fill(bits),
        digits: vec![Digit { extent, source: 1, made: 0 }],
        why: "the padding of axis ~v".into(),
    };
    for memory in MEMORIES.into_iter().skip(2) {
        let equal = |equal| Assembly { equal: vec![equal], ..Assembly::default() };
        let said = run(&input, &equal(tied.clone()), &out, memory, 2).unwrap_err();
        assert!(
            said.ends_with("the tied name \"b\": tensor \"a\" at [2, 3] has 0x11, expected 0x7"),
            "{said}"
        );
        assert!(run(&input, &equal(padding(3, 7)), &out, memory, 2).is_ok());
        fs::remove_file(&out).unwrap();
        let said = run(&input, &equal(padding(4, 7)), &out, memory, 1).unwrap_err();
        assert!(
            said.contains("the padding of axis ~v: tensor \"b\" at [3, 0] has 0x14, expected 0x7"),
            "{said}"
        );
        assert!(!out.exists());
    }
}

#[test]
fn assemblies_that_cannot_be_are_refused_with_numbers() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    numbered(&path, &[("a", &[4, 6])]);
    let input = open(&path, &Reading::default()).unwrap();
    let out = folder.path().join("out.safetensors");
    let digit = |extent, source, made| Digit { extent, source, made };
    let refused = |tensor, offset, to, digits: &[Digit], layout: Option<&str>| {
        let part =
            Part { origin: Origin::Source { tensor, offset }, offset: to, digits: digits.to_vec() };
        let layout = layout.map(str::to_owned);
        let made = Made {
            name: "m".into(),
            dtype: Dtype::U16,
            extents: vec![24],
            layout,
            parts: vec![part],
        };
        run(&input, &Assembly { made: vec![made], ..Assembly::default() }, &out, 10_000, 1)
            .unwrap_err()
    };
    type Case<'a> = (usize, u64, u64, &'a [Digit], Option<&'a str>, &'a str);
    let cases: [Case<'_>; 9] = [
        (
            0,
            1,
            0,
            &[digit(24, 1, 1)],
            None,
            "tensor \"m\" reaches element 24 of its source, which has 24",
        ),
        (
            0,
            0,
            1,
            &[digit(24, 1, 1)],
            None,
            "tensor \"m\" reaches element 24 of the result, which has 24",
        ),
        (0, 0, 0, &[digit(23, 1, 1)], None, "tensor \"m\" has 24 elements, and its parts give 23"),
        (0, 0, 0, &[digit(4, 0, 0), digit(6, 1, 1)], None, "digits that overlap"),
        (0, 0, 0, &[digit(u64::MAX, u64::MAX, u64::MAX)], None, "reaches element"),
        (0, u64::MAX, u64::MAX, &[digit(2, 1, 1)], None, "reaches element"),
        (9, 0, 0, &[digit(24, 1, 1)], None, "is made of the missing tensor 9 of 1"),
        (
            0,
            0,
            0,
            &[digit(24, 1, 1)],
            Some("nonsense here"),
            "should have layout \"nonsense here\"",
        ),
        (0, 0, 0, &[digit(24, 1, 1)], Some("zN"), "rank 1"),
    ];
    for (tensor, offset, to, digits, layout, words) in cases {
        let said = refused(tensor, offset, to, digits, layout);
        assert!(said.contains(words), "{said}\n{words}");
        assert!(!out.exists());
    }
    let twice = sums([1, 1, 1]).made.remove(0);
    let assembly = Assembly { made: vec![twice.clone(), twice], ..Assembly::default() };
    numbered(&path, &[("a", &[1]), ("b", &[1])]);
    let input = open(&path, &Reading::default()).unwrap();
    assert!(run(&input, &assembly, &out, 10_000, 1).unwrap_err().contains("is made twice"));
    assert!(
        run(&input, &Assembly::default(), &path, 10_000, 1).unwrap_err().contains("is the input")
    );
}

#[test]
fn little_memory_is_an_error_that_says_so() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    numbered(&path, &[("a", &[4, 6])]);
    let input = open(&path, &Reading::default()).unwrap();
    let (out, packaging) = (folder.path().join("out.safetensors"), Packaging::default());
    let request = Request::new().memory(100);
    let error =
        Assembling::prepare(&input, &Assembly::default(), &out, request, &packaging).unwrap_err();
    assert!(matches!(error.remedies(), [Remedy::MoreMemory { least: Some(4096) }]));
}

#[test]
fn a_call_that_fails_and_a_source_that_shrinks_leave_nothing() {
    let _alone = crate::commit::faults::alone();
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    numbered(&path, &[("a", &[60]), ("b", &[60])]);
    let whole = fs::read(&path).unwrap();
    let out = folder.path().join("out.safetensors");
    let assembly = sums([3, 4, 5]);
    let input = open(&path, &Reading::default()).unwrap();
    // Calls until the rename; after it the result exists.
    let mut calls = 0;
    loop {
        fault::after(calls, fault::Fault::Fail { more: 0 });
        let done = run(&input, &assembly, &out, 400, 1);
        fault::none();
        match done {
            Ok(()) => break,
            Err(said) => assert!(said.contains("a fault of the test"), "{said}"),
        }
        if out.exists() {
            break;
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "call {calls}");
        // Most calls write boxes.
        calls += if calls < 20 { 1 } else { 97 };
    }
    assert!(calls > 200, "{calls}");
    let _ = fs::remove_file(&out);
    let input = open(&path, &Reading::default()).unwrap();
    fs::write(&path, &whole[..whole.len() - 60]).unwrap();
    let said = run(&input, &assembly, &out, 400, 2).unwrap_err();
    assert!(said.contains("it ends before byte"), "{said}");
    assert!(!out.exists() && fs::read_dir(folder.path()).unwrap().count() == 1);
}
