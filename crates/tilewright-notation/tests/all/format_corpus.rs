//! Every named format against its file of offsets, which formulas made that know no patterns.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;
use tilewright_notation::{Spec, catalogue};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/formats")
}

#[test]
fn every_format_has_its_file_and_every_file_its_format() {
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let rows: BTreeSet<String> =
        catalogue().map(|format| format!("{}.jsonl", format.name)).collect();
    assert_eq!(files, rows);
}

#[test]
fn elements_are_where_the_files_say() {
    for format in catalogue() {
        let text = fs::read_to_string(folder().join(format!("{}.jsonl", format.name))).unwrap();
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let (array, spec) = (case["array"].as_str().unwrap(), case["format"].as_str().unwrap());
            let text = format!("{array} format:{spec}");
            let named = Spec::parse(&text)
                .and_then(|spec| spec.resolve(None, None))
                .unwrap_or_else(|e| panic!("{}", e.render()));
            let tensor = named.layout();
            assert_eq!(tensor.capacity(), case["capacity"].as_u64().unwrap(), "{text}");
            let offsets = case["offsets"].as_array().unwrap();
            assert_eq!(tensor.size(), offsets.len() as u64, "{text}");
            for (index, offset) in offsets.iter().enumerate() {
                let found = tensor.offset_of(index as u64);
                assert_eq!(found, Ok(offset.as_i64().unwrap()), "{text} at {index}");
            }
        }
    }
}

#[test]
fn formats_of_no_layout_say_why() {
    for (text, words) in [
        ("Q4_0_4_4", "flips the top bit"),
        ("FRACTAL_Z_G", "number of groups"),
        ("acl:-1", "nothing is known"),
    ] {
        let error = Spec::parse(text).unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains(words), "{error}");
        assert!(error.render().contains('^'), "{}", error.render());
    }
}

#[test]
fn numbers_of_makers_are_names() {
    for (text, name) in [
        ("acl:29", "zN"),
        ("acl:50", "FRACTAL_NZ_C0_16"),
        ("acl:3[preset=torch_npu]", "NC1HWC0[preset=torch_npu]"),
        ("cublaslt:3", "COL4_4R2_8C"),
        ("ACL_FORMAT_NDC1HWC0", "NDC1HWC0"),
    ] {
        assert_eq!(Spec::parse(text).unwrap().to_string(), name);
    }
    // NHWC is the name of an order too, and the same.
    let dims = [2, 3, 4, 5];
    let layout = |text| Spec::parse(text).unwrap().resolve(Some(&dims), None).unwrap();
    assert_eq!(layout("acl:1").layout(), layout("NHWC").layout());
    assert!(Spec::parse("acl:99").unwrap_err().is_parse());
}

#[test]
fn another_rank_is_told_which_dims_are_missing() {
    for (text, dims, words) in [
        ("NC1HWC0", &[2, 3][..], "h and w are missing"),
        ("COL32", &[2], "k is missing"),
        ("zN", &[7], "2 dims m n, and any before them, the array has 1: n is missing"),
        ("FRACTAL_Z", &[2, 3, 4, 5, 6], "1 too many"),
        ("(a1 a0:4) b c -> a1 b c a0", &[8], "b and c are missing"),
    ] {
        let error = Spec::parse(text).unwrap().resolve(Some(dims), None).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains(words), "{error}");
    }
}

/// CuTe's thread-value layouts of the same instructions: (thread, value) to the colexicographic index
/// of the tile.
#[test]
fn fragments_are_the_thread_value_layouts_of_cute() {
    for (format, [rows, cols], thread_value, values) in [
        ("MMA_M16N8K16_16BIT_A", [16, 16], "((4,8),(2,2,2)):((32,1),(16,8,128))", 8),
        ("MMA_M16N8_C", [16, 8], "((4,8),(2,2)):((32,1),(16,8))", 4),
        ("MMA_M16N8K8_TF32_A", [16, 8], "((4,8),(2,2)):((16,1),(8,64))", 4),
        ("MMA_M16N8K32_8BIT_A", [16, 32], "((4,8),(4,2,2)):((64,1),(16,8,256))", 16),
        ("MMA_M8N8_C", [8, 8], "((4,8),2):((16,1),8)", 2),
    ] {
        let layout = Spec::parse(thread_value).unwrap().resolve(None, None).unwrap();
        let spec = Spec::parse(format).unwrap();
        let tile = spec.resolve(Some(&[rows, cols]), None).unwrap();
        for thread in 0..32u64 {
            for value in 0..values {
                let index = layout.layout().offset(&[thread, value]).unwrap() as u64;
                let place = tile.layout().offset(&[index % rows, index / rows]);
                assert_eq!(place, Ok((thread * values + value) as i64), "{format}");
            }
        }
    }
}
