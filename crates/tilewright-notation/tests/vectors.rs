//! The recorded cases of the corpus, through a SPEC.

use serde_json::Value;
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

/// Packed weights, where the code of their makers puts numbered elements; and the pattern that is recorded with them.
#[test]
fn packed_weights_lie_where_their_makers_put_them() {
    let (mut seen, mut elements) = (0, 0);
    for case in lines("kernel_formats.jsonl") {
        let (format, bits) = (case["format"].as_str().unwrap(), case["bits"].as_u64().unwrap());
        let dims: Vec<u64> =
            case["dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
        let dtype = match bits {
            16 => Some(tilewright_core::Dtype::F16),
            bits => tilewright_notation::dtype(&format!("u{bits}")).ok(),
        };
        let resolve = |text: &str| Spec::parse(text).unwrap().resolve(Some(&dims), dtype).unwrap();
        let layout = resolve(format).layout().clone();
        assert_eq!(layout.capacity(), case["capacity"].as_u64().unwrap(), "{format} {dims:?}");
        let at = |index: u64| layout.offset_of(index).unwrap();
        if let Some(all) = case["offsets"].as_array() {
            assert_eq!(all.len() as u64, layout.size());
            assert!(
                all.iter().enumerate().all(|(i, to)| Some(at(i as u64)) == to.as_i64()),
                "{format}"
            );
            elements += all.len();
        }
        for (index, to) in case["sample"].as_object().into_iter().flatten() {
            assert_eq!(Some(at(index.parse().unwrap())), to.as_i64(), "{format} {dims:?} {index}");
            elements += 1;
        }
        if let Some(pattern) = case["pattern"].as_str() {
            assert_eq!(*resolve(pattern).layout(), layout, "{format}");
        }
        seen += 1;
    }
    assert!(seen == 21 && elements > 29_000, "{seen} {elements}");
}
