//! The recorded cases of the corpus, through a SPEC.

use std::collections::BTreeSet;

use serde_json::Value;
use tilewright_core::Dtype;
use tilewright_notation::Spec;

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// h·31 + offset over all elements in row-major order.
fn table_hash(tensor: &tilewright_core::TensorLayout) -> u64 {
    (0..tensor.size()).fold(0u64, |hash, index| {
        hash.wrapping_mul(31).wrapping_add(tensor.offset_of(index).unwrap() as u64)
    })
}

#[test]
fn tiled_shapes_and_the_specs_they_are_kept_as() {
    let cases = lines("xla_tiled.jsonl");
    assert_eq!(cases.len(), 600);
    for case in cases {
        let text = case["layout"].as_str().unwrap();
        let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
        let named = spec.resolve(None, None).unwrap();
        assert_eq!(spec.to_string(), text);
        assert_eq!(named.to_spec(), text);
        assert_eq!(named.layout().capacity(), case["padded_elements"].as_u64().unwrap(), "{text}");
        let bits = u64::from(named.element_bits().unwrap());
        let bytes = (named.layout().capacity() * bits).div_ceil(8);
        assert_eq!(bytes, case["bytes"].as_u64().unwrap(), "{text}");
        let hash = format!("{:#018x}", table_hash(named.layout()));
        assert_eq!(hash, case["table_hash"].as_str().unwrap(), "{text}");
    }
}

#[test]
fn layouts_of_the_algebra_print_as_they_read() {
    let mut read = 0;
    for case in lines("algebra.jsonl") {
        for text in case["args"].as_array().unwrap().iter().filter_map(Value::as_str) {
            if !text.contains(':') || text.contains('<') {
                continue;
            }
            let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
            assert_eq!(spec.to_string(), text);
            assert!(spec.resolve(None, None).unwrap().is_bare());
            read += 1;
        }
    }
    assert!(read > 2000, "{read}");
}

#[test]
fn tags_put_elements_where_onednn_put_them() {
    for case in lines("onednn.jsonl") {
        let tag = case["tag"].as_str().unwrap();
        let dims: Vec<u64> =
            case["dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
        let spec = Spec::parse(tag).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(spec.to_string(), tag);
        let named = spec.resolve(Some(&dims), None).unwrap();
        let tensor = named.layout();
        assert_eq!(tensor.capacity(), case["storage_elements"].as_u64().unwrap(), "{tag}");
        for (index, offset) in case["offsets_c_order_sample"].as_object().unwrap() {
            let found = tensor.offset_of(index.parse().unwrap());
            assert_eq!(found, Ok(offset.as_i64().unwrap()), "{tag} at {index}");
        }
    }
}

/// The texts of the lines whose formats have parameters.
const WITH_PARAMETERS: &[(&str, &str)] = &[
    ("MEGATRON_QKV_GQA", "MEGATRON_QKV_GQA[Q=3,HEAD=4]"),
    ("MEGATRON_QKV_GATED", "MEGATRON_QKV_GATED[HEAD=4,Q=2]"),
];

/// The dims of a line and a type of its width.
fn array(case: &Value) -> (Vec<u64>, Option<Dtype>) {
    let dims = case["dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
    let dtype = match case["bits"].as_u64().unwrap() {
        16 => Some(Dtype::F16),
        bits => tilewright_notation::dtype(&format!("u{bits}")).ok(),
    };
    (dims, dtype)
}

/// The offsets that a line records, by the row-major index of the element.
fn recorded(case: &Value) -> Vec<(u64, i64)> {
    let at = |to: &Value| to.as_i64().unwrap();
    match (&case["offsets"], &case["sample"]) {
        (Value::Array(all), _) => {
            all.iter().enumerate().map(|(index, to)| (index as u64, at(to))).collect()
        }
        (_, Value::Object(some)) => {
            some.iter().map(|(index, to)| (index.parse().unwrap(), at(to))).collect()
        }
        _ => panic!("{case} records no offsets"),
    }
}

/// Where the code of their makers puts numbered elements, and the pattern that is recorded with them: every line is of a
/// row of its name, with an index table where no pattern is recorded.
#[test]
fn elements_lie_where_kernels_have_them() {
    let (mut seen, mut elements, mut tabled) = (0, 0, BTreeSet::new());
    for case in lines("kernel_formats.jsonl") {
        let (format, (dims, dtype)) = (case["format"].as_str().unwrap(), array(&case));
        let resolve = |text: &str| {
            let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
            let array = spec.array_layout(Some(&dims), dtype, &());
            array.unwrap_or_else(|e| panic!("{text} {dims:?}: {e}"))
        };
        let set = WITH_PARAMETERS.iter().find(|(name, _)| *name == format);
        let text = set.map_or(format, |(_, text)| text);
        let layout = resolve(text);
        let capacity = layout.layout().stored().capacity();
        assert_eq!(capacity, case["capacity"].as_u64().unwrap(), "{format} {dims:?}");
        let recorded = recorded(&case);
        if !case["offsets"].is_null() {
            assert_eq!(recorded.len() as u64, layout.layout().size(), "{format}");
        }
        for &(index, to) in &recorded {
            let found = layout.layout().offset(&coord(&dims, index));
            assert_eq!(found, Ok(to), "{format} {dims:?} at {index}");
        }
        elements += recorded.len();
        if let Some(pattern) = case["pattern"].as_str() {
            let same = resolve(pattern).stored().layout().same_function(layout.stored().layout());
            assert_eq!(same, Ok(true), "{format} is not {pattern}");
        } else if Spec::parse(text).unwrap().has_tables() {
            tabled.insert(format.to_owned());
        }
        seen += 1;
    }
    assert!((seen, tabled.len()) == (141, 20) && elements > 180_000, "{seen} {elements}");
}

/// The coordinate of a row-major index.
fn coord(dims: &[u64], mut index: u64) -> Vec<u64> {
    let mut coord = vec![0; dims.len()];
    for (own, extent) in coord.iter_mut().zip(dims).rev() {
        *own = index % extent;
        index /= extent;
    }
    coord
}

/// The place of bit `bit` of nibble `high` of byte `byte` in a word of eight values of four bits, on Hopper.
fn bit_on_hopper(byte: i64, high: i64, bit: usize) -> i64 {
    let places = [[6, 7, 8, 15], [3, 4, 5, 12], [0, 1, 2, 9], [13, 10, 11, 14]];
    places[byte as usize][bit] + 16 * high
}

/// The formats that permute the bits of each word in the end are their rows of bytes before that.
#[test]
fn bits_on_hopper_are_bytes_by_a_row_and_a_table_of_a_word() {
    let mut seen = 0;
    for (format, row) in [
        ("SM90_MIXED_FP4_BITS", "SM90_MIXED_FP4_BYTES"),
        ("HOPPER_MX_VALUE_BITS", "HOPPER_MX_VALUE_BYTES"),
        ("HOPPER_MX_VALUE_BITS_MMA2", "HOPPER_MX_VALUE_BYTES_MMA2"),
        ("HOPPER_MX_VALUE_BITS_OLD", "HOPPER_MX_VALUE_BYTES[preset=release_2025]"),
        ("HOPPER_MX_VALUE_BITS_MMA2_OLD", "HOPPER_MX_VALUE_BYTES_MMA2[preset=release_2025]"),
    ] {
        for case in lines("kernel_formats.jsonl").iter().filter(|case| case["format"] == format) {
            let (dims, _) = array(case);
            let bytes = [dims[0], dims[1] / 2];
            let named = Spec::parse(row).unwrap().resolve(Some(&bytes), Some(Dtype::U8)).unwrap();
            assert_eq!(8 * named.layout().capacity(), case["capacity"].as_u64().unwrap(), "{row}");
            for (index, to) in recorded(case) {
                let (value, bit) = (index / 4, (index % 4) as usize);
                let at = named.layout().offset_of(value / 2).unwrap();
                let place = at / 4 * 32 + bit_on_hopper(at % 4, (value % 2) as i64, bit);
                assert_eq!(place, to, "{format} at {index}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 5);
}
