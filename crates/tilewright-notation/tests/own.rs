//! Users' formats in large numbers.
//!
//! Added formats stay for the whole process, so this is a program of its own.

#![cfg(feature = "formats")]

use std::fmt::Write as _;

use tilewright_notation::{Spec, add_formats, recognise};

#[test]
fn the_number_of_formats_is_seen_before_what_they_say() {
    // The first of them is wrong, which is not what the error is about.
    let text = (0..1001).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "[[format]]\nname = '{i}'\npattern = 'no pattern'");
        text
    });
    let error = add_formats(&text).unwrap_err();
    assert!(error.is_limit() && error.to_string().contains("at most 1000"), "{error}");
}

#[test]
fn many_names_are_checked_against_each_other_and_against_all_notations() {
    let names: Vec<String> = (0..40_000).map(|i| format!("'many{i}'")).collect();
    let format = |names: &str| {
        format!("[[format]]\nname = 'many'\naliases = [{names}]\npattern = 'm n -> n m'")
    };
    add_formats(&format(&names.join(","))).unwrap();
    let layout = |text| Spec::parse(text).unwrap().resolve(Some(&[2, 3]), None).unwrap();
    assert_eq!(layout("many39999").layout(), layout("col-major").layout());
    for (name, other) in
        [("twice", "twice"), ("twice", "zN"), ("twice", "NHWC"), ("twice", "many7")]
    {
        let text =
            format!("[[format]]\nname = '{name}'\naliases = ['{other}']\npattern = 'm -> m'");
        let error = add_formats(&text).unwrap_err().to_string();
        assert!(error.contains(&format!("`{other}` is a layout already")), "{error}");
    }
}

/// What is wrong in a text is said with its line, and then nothing of the text is there.
#[test]
fn a_text_that_is_wrong_adds_nothing() {
    let good = "[[format]]\nname = 'before'\npattern = '(m1 m0:8) n -> m1 n m0'\n";
    let wrong = [
        ("[[format]\n", "line 4: "),
        ("[[format]]\npattern = 'm n -> m n'", "missing field `name`"),
        ("[[format]]\nname = 'other'", "missing field `pattern`"),
        ("[[format]]\nname = 'other'\npattern = 'm n -> m n'\nsize = 3", "unknown field `size`"),
        ("[[format]]\nname = '9x'\npattern = 'm n -> m n'", "line 5: `9x` is not a name"),
        ("[[format]]\nname = ''\npattern = 'm n -> m n'", "line 5: `` is not a name"),
        (
            "[[format]]\nname = 'other'\naliases = ['a b']\npattern = 'm -> m'",
            "line 6: `a b` is not a name",
        ),
        ("[[format]]\nname = 'before'\npattern = 'm n -> m n'", "`before` is a layout already"),
        (
            "[[format]]\nname = 'other'\npattern = 'm n -> m k'",
            "line 6: pattern: no digit is called `k`",
        ),
        ("[[format]]\nname = 'other'\npattern = 'm n'", "line 6: pattern: expected `->`"),
        (
            "[[format]]\nname = 'other'\npattern = 'm n -> m n'\nconstants = { C = { 8 = 4 } }",
            "line 7: the pattern lacks the constant C",
        ),
        (
            "[[format]]\nname = 'other'\npattern = 'm (n1 n0:C) -> m n1 n0'\nconstants = { C = { 8 = 0 } }",
            "expected bits of an element = a size, 1 or more",
        ),
        (
            "[[format]]\nname = 'other'\npattern = 'm (n1 n0:C) -> m n1 n0'\nconstants = { C = { 9 = 4 } }",
            "no element type has 9 bits",
        ),
        (
            "[[format]]\nname = 'other'\npattern = 'm n -> n m'\nexample = '[2,3] row-major'",
            "the example `[2,3] row-major`: it is not a layout in other",
        ),
        (
            "[[format]]\nname = 'other'\npattern = 'm n -> n m'\nexample = '[2] other'",
            "line 7: the example `[2] other`: ",
        ),
    ];
    for (text, says) in wrong {
        let error = add_formats(&format!("{good}{text}")).unwrap_err();
        assert!(error.is_parse() && error.to_string().contains(says), "{text}: {error}");
        for name in ["before", "other"] {
            assert!(Spec::parse(name).is_err(), "{name} is there after {text}");
        }
    }
}

/// A name of a user's is read in this process, and never written where others read.
#[test]
fn own_names_stay_here() {
    let text = "[[format]]\nname = 'strips'\npattern = '(m1 m0:C) n -> m1 n m0'\n\
                constants = { C = { 8 = 8, 16 = 4 } }\nexample = 'f16[8,3] strips'";
    assert_eq!(add_formats(text).unwrap(), ["strips"]);
    let resolve = |text: &str| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    for (text, unit) in
        [("f16[10,3] strips", 4), ("s8[10,3] strips", 8), ("s8[10,3] strips[C=2]", 2)]
    {
        let named = resolve(text);
        for (row, column) in (0..10).flat_map(|row| (0..3).map(move |column| (row, column))) {
            let place = (row / unit * 3 + column) * unit + row % unit;
            assert_eq!(named.layout().offset(&[row, column]), Ok(place as i64), "{text}");
        }
        let spec = named.to_spec();
        assert!(!spec.contains("strips"), "{spec}");
        assert_eq!(resolve(&spec).layout(), named.layout(), "{spec}");
        let known = recognise(&named).iter().any(|known| known.name == "strips");
        assert_eq!(known, !text.contains('='), "{text}");
    }
    let error = Spec::parse("strips").unwrap().resolve(Some(&[8, 3]), None).unwrap_err();
    assert!(error.needs_dtype(), "{error}");
}
