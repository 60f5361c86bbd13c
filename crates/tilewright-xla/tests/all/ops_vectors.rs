//! The recorded tiled shapes, indexed without lowering.

use serde_json::Value;
use tilewright_core::Place;
use tilewright_xla::{
    ArrayShape,
    index_util::{Indexer, bump_indices},
};

/// Returns the hash of all offsets, row-major.
fn hash(indexer: &Indexer) -> u64 {
    let (mut hash, mut index) = (0u64, vec![0; indexer.dims().len()]);
    loop {
        let offset = indexer.offset(&index).unwrap();
        assert_eq!(indexer.locate(offset), Place::Element(index.clone()));
        hash = hash.wrapping_mul(31).wrapping_add(offset);
        if !bump_indices(indexer.dims(), &mut index).unwrap() {
            return hash;
        }
    }
}

#[test]
fn every_recorded_offset() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/xla_tiled.jsonl");
    let (mut count, mut hashed) = (0, 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["layout"].as_str().unwrap();
        let shape = ArrayShape::parse(text).unwrap();
        let indexer = Indexer::of(&shape).unwrap();
        assert_eq!(Some(indexer.capacity()), case["padded_elements"].as_u64(), "{text}");
        assert_eq!(shape.array_size().ok(), case["bytes"].as_u64(), "{text}");
        for probe in case["probes"].as_array().unwrap() {
            let index: Vec<u64> =
                probe[0].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
            assert_eq!(indexer.offset(&index).ok(), probe[1].as_u64(), "{text} {index:?}");
        }
        if (1..=20_000).contains(&shape.elements().unwrap()) {
            let wanted = case["table_hash"].as_str().unwrap().trim_start_matches("0x");
            assert_eq!(Ok(hash(&indexer)), u64::from_str_radix(wanted, 16), "{text}");
            hashed += 1;
        }
        count += 1;
    }
    assert!(count == 600 && hashed > 300, "{count} {hashed}");
}
