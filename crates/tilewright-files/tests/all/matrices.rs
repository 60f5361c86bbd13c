//! Tensors stored under matrices of bits: written, noted, recorded, compared, and back byte for byte.

use std::fs;

use tilewright_core::TensorLayout;
use tilewright_files::{Reading, Request, Verdict, open, verify_recorded};

use crate::common::*;

/// Matrices of 64×64 elements of 16 bits: a swizzle of tensor cores, rotated rows, a reversal of all bits, and one
/// that mixes the highest bits with the lowest.
fn layouts() -> Vec<String> {
    let reversed: Vec<String> = (0..12).map(|bit| (1 << (11 - bit)).to_string()).collect();
    let mixed = |bit: u64| match bit {
        0 => 1 | 1 << 11,
        11 => 4 | 1 << 11,
        _ => (1 << bit) | (bit % 2),
    };
    let mixed: Vec<String> = (0..12).map(|bit| mixed(bit).to_string()).collect();
    // Rows become the high bits, and change the columns in the low bits in reverse.
    let list = |bases: Vec<u64>| bases.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let rows = list((0..6).map(|bit| (64 << bit) ^ (32 >> bit)).collect());
    let columns = list((0..6).map(|bit| 1 << bit).collect());
    vec![
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
            .into(),
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>".into(),
        format!("F2<{}> o (64,64):(64,1)", reversed.join(",")),
        format!("{{row=[{rows}],column=[{columns}]}} -> (offset:4096)"),
        format!("F2<{}> o (64,64):(1,64)", mixed.join(",")),
    ]
}

#[test]
fn a_tensor_under_a_matrix_comes_back_bit_for_bit() {
    let folder = folder();
    let data = noise(64 * 64 * 2);
    let input = write(&folder, "in.safetensors", one("F16", &[64, 64], &data));
    for (i, layout) in layouts().iter().enumerate() {
        let out = folder.path().join(format!("out{i}.safetensors"));
        let named =
            spec(layout).resolve(Some(&[64, 64]), Some(tilewright_core::Dtype::F16)).unwrap();
        let mut expected = vec![0; data.len()];
        let rows = TensorLayout::row_major(&[64, 64]).unwrap();
        for index in 0..64 * 64 {
            let from = 2 * rows.offset_of(index).unwrap() as usize;
            let at = 2 * named.layout().offset_of(index).unwrap() as usize;
            expected[at..at + 2].copy_from_slice(&data[from..from + 2]);
        }
        for memory in [4096, 1 << 20] {
            let request = to(layout).force(true).memory(memory).verify(true);
            convert(&input, &out, request).unwrap();
            assert!(parts(&out).1 == expected, "{layout} within {memory}");
            // The note has the layout, and the record the data.
            let read = open(&out, &Reading::default()).unwrap();
            let tensor = &read.tensors()[0];
            assert_eq!(
                tensor.layout().layout().same_function(named.layout()),
                Ok(true),
                "{layout}"
            );
            let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
            assert!(matches!(checked.verdict, Verdict::Same { .. }) && checked.recorded == 1);
            let back = folder.path().join("back.safetensors");
            convert(&out, &back, to("row-major").force(true).memory(memory)).unwrap();
            assert!(parts(&back).1 == data, "{layout} and back within {memory}");
        }
        // A flipped bit is found.
        let mut bytes = fs::read(&out).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 4;
        fs::write(&out, bytes).unwrap();
        let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
        assert!(matches!(checked.verdict, Verdict::Differs(_)), "{layout}");
    }
    let refused = spec("{i=[1,2,4],j=[3]} -> (offset:8)").resolve(None, None).unwrap_err();
    assert!(refused.to_string().contains("(0,1) and (3,0) share offset 3"), "{refused}");
}
