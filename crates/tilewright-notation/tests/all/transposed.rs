//! `NAME^T`: the format of the array whose last two dims are exchanged.

use tilewright_notation::{ResolvedLayout, Spec, catalogue, recognise};

/// A format's example, its SPEC alone, and the array of it with the last two dims exchanged.
fn pair(
    example: &str,
) -> Option<(ResolvedLayout, Result<ResolvedLayout, tilewright_notation::Error>)> {
    let named = Spec::parse(example).unwrap().resolve(None, None).unwrap();
    let mut dims = named.layout().extents().to_vec();
    let rank = dims.len();
    if rank < 2 {
        return None;
    }
    dims.swap(rank - 2, rank - 1);
    let spec = example.split_once(' ').unwrap().1;
    let other = Spec::parse(&format!("{spec}^T"));
    Some((named.clone(), other.and_then(|spec| spec.resolve(Some(&dims), named.dtype()))))
}

#[test]
fn every_format_has_the_same_storage_for_the_transposed_array() {
    let mut seen = 0;
    for format in catalogue() {
        let Some((own, other)) = pair(format.example) else { continue };
        let axes = format.pattern.split("->").next().unwrap().replace('…', "");
        let other = match other {
            Ok(other) => other,
            Err(error) => {
                // One dim of the format's own is none to exchange.
                assert!(error.to_string().contains("exchanges the last two dims"), "{error}");
                assert!(axes.matches('(').count() <= 1, "{}", format.name);
                continue;
            }
        };
        assert_eq!(other.layout().capacity(), own.layout().capacity(), "{}", format.name);
        assert_eq!(other.layout().padding(), own.layout().padding(), "{}", format.name);
        for (coord, offset) in own.layout().in_order().step_by(7) {
            let mut coord = coord.as_slice().to_vec();
            let rank = coord.len();
            coord.swap(rank - 2, rank - 1);
            assert_eq!(other.layout().offset(&coord), Ok(offset), "{} {coord:?}", format.name);
        }
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn a_transposed_format_prints_back() {
    for text in ["zN^T", "zN[M0=4,C0=8]^T", "COL32[LD=2048]^T", "NHWC^T", "MARLIN^T"] {
        let spec = Spec::parse(text).unwrap();
        let said = spec.to_string();
        assert_eq!(said.strip_prefix("format:").unwrap_or(&said), text);
        assert_eq!(Spec::parse(&said).unwrap().to_string(), said);
    }
    let named = Spec::parse("bf16[20,8] VNNI ^T").unwrap().resolve(None, None).unwrap();
    assert!(named.to_spec().ends_with("VNNI^T"), "{}", named.to_spec());
    let again = Spec::parse(&named.to_spec()).unwrap().resolve(None, None).unwrap();
    assert_eq!(again.layout(), named.layout());
    // Twice is no notation of ours.
    assert!(Spec::parse("zN^T^T").is_err());
    let error = Spec::parse("XN^T").unwrap_err();
    assert!(error.is_parse());
}

#[test]
fn transposed_names_are_found_where_there_is_no_other() {
    let names = |text: &str| {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        recognise(&named).into_iter().map(|found| found.name).collect::<Vec<_>>()
    };
    assert_eq!(names("u4[128,64]E(4) MARLIN^T"), ["MARLIN^T"]);
    // nZ is zN of the transposed matrix, and has a name of its own.
    let nz = names("f16[32,48] zN^T");
    assert!(nz.contains(&"nZ".to_owned()) && nz.iter().all(|name| !name.ends_with("^T")), "{nz:?}");
    assert!(names("f32[3,5] row-major").iter().all(|name| !name.ends_with("^T")));
}

#[test]
fn a_name_where_another_kind_of_name_is_asked_for_is_told() {
    let error = tilewright_notation::notation("NZ").unwrap_err().to_string();
    assert!(error.contains("`NZ`, which is a layout"), "{error}");
    let error = Spec::parse("CUTE").unwrap_err().to_string();
    assert!(error.contains("`CUTE` is a notation") && error.contains("`cute:`"), "{error}");
    assert_eq!(tilewright_notation::notation("OneDNN").unwrap().name(), "onednn");
}
