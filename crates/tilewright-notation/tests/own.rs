//! Users' formats in large numbers.

use std::fmt::Write as _;

use tilewright_notation::{Spec, add_formats};

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
