//! The 600 tiled layouts of the corpus, against an independent reader of them.

use std::path::Path;

use serde_json::Value;
use tilewright_core::{Place, TensorLayout};
use tilewright_xla::{ArrayShape, Layout};

fn vectors() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/vectors/xla_tiled.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn shape_of(vector: &Value) -> ArrayShape {
    ArrayShape::parse(vector["layout"].as_str().unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn hash(tensor: &TensorLayout) -> u64 {
    (0..tensor.size()).fold(0u64, |hash, index| {
        hash.wrapping_mul(31).wrapping_add(tensor.offset_of(index).unwrap() as u64)
    })
}

/// Checks that every element is located at its offset, and that everything else is padding.
fn check_places(tensor: &TensorLayout, name: &str) {
    let mut elements = 0;
    for offset in 0..tensor.capacity() as i64 {
        match tensor.locate(offset).unwrap() {
            Place::Element(coord) => {
                assert_eq!(tensor.offset(coord.as_slice()), Ok(offset), "{name}");
                elements += 1;
            }
            Place::Padding => {}
            Place::OutOfRange => panic!("{name}: offset {offset}"),
        }
    }
    assert_eq!(elements, tensor.size(), "{name}");
    assert_eq!(tensor.locate(tensor.capacity() as i64), Ok(Place::OutOfRange));
}

#[test]
fn every_vector_is_exact() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 600);
    let (mut strided, mut walked) = (0, 0);
    for vector in &vectors {
        let (shape, name) = (shape_of(vector), vector["layout"].as_str().unwrap());
        assert_eq!(shape.to_string(), name);
        let (extents, layout) = (shape.extents().unwrap(), shape.layout_or_default());
        assert_eq!(layout.final_bounds(&extents).unwrap(), numbers(&vector["bounds"]), "{name}");
        let padded = layout.padded_elements(&extents).unwrap();
        assert_eq!(Some(padded), vector["padded_elements"].as_u64(), "{name}");
        assert_eq!(shape.bytes().ok(), vector["bytes"].as_u64(), "{name}");
        let tensor = shape.lower().unwrap();
        assert_eq!(tensor.capacity(), padded, "{name}");
        for probe in vector["probes"].as_array().unwrap() {
            assert_eq!(tensor.offset(&numbers(&probe[0])).ok(), probe[1].as_i64(), "{name}");
        }
        let wanted = vector["table_hash"].as_str().unwrap().trim_start_matches("0x");
        assert_eq!(hash(&tensor), u64::from_str_radix(wanted, 16).unwrap(), "{name}");
        if tensor.capacity() <= 5000 {
            check_places(&tensor, name);
            walked += 1;
        }
        strided += u32::from(tensor.is_strided());
    }
    assert_eq!(strided, STRIDED);
    assert!(walked > 300, "{walked}");
}

/// The number of vectors that lower without steps.
const STRIDED: u32 = 573;

#[test]
fn every_strided_vector_is_raised_to_the_same_map() {
    let mut longer = 0;
    for vector in &vectors() {
        let shape = shape_of(vector);
        let tensor = shape.lower().unwrap();
        if !tensor.is_strided() {
            assert!(Layout::of(&tensor).unwrap_err().is_unsupported());
            continue;
        }
        let raised = Layout::of(&tensor).unwrap_or_else(|error| panic!("{shape}: {error}"));
        let back = raised.lower(tensor.extents()).unwrap();
        assert_eq!(back.capacity(), tensor.capacity(), "{shape} {raised}");
        assert_eq!(hash(&back), hash(&tensor), "{shape} {raised}");
        let plain = shape.layout_or_default().with_element_size_in_bits(0).unwrap();
        longer += u32::from(raised.to_string().len() > plain.to_string().len());
    }
    println!("{longer} raised layouts are longer than the original text");
    assert!(longer < 60, "{longer} raised layouts are longer than the original text");
}
