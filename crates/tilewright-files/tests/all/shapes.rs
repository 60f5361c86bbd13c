//! The shape under which a tensor is stored, by one rule in every file format; and the files that earlier versions stored under
//! another shape.

use tilewright_core::Dtype;
use tilewright_files::{Reading, Request, Verdict, open, verify};

use crate::common::*;

/// Texts of layouts, with the rank of the storage of any matrix in them.
const TEXTS: [(&str, usize); 11] = [
    ("{1,0:T(8,128)}", 4),
    ("TPU_8x128", 4),
    ("{1,0:T(4,1)}", 4),
    ("{1,0:T(8,128)(2,1)}", 6),
    ("{1,0:T(3,4)(2,1)}", 6),
    ("{1,0:T(2,2)L(64)}", 1),
    ("zN", 4),
    ("zN[M0=1,C0=8]", 4),
    ("COL32", 3),
    ("aB4b", 3),
    ("{0,1}", 2),
];

const DIMS: [(u64, u64); 9] =
    [(1, 1), (1, 256), (2, 1), (8, 128), (8, 256), (9, 129), (16, 16), (64, 8), (17, 300)];

#[test]
fn the_rank_of_what_is_stored_follows_from_the_text_and_back_is_back() {
    let folder = folder();
    let mut jobs = 0;
    for ((text, rank), (m, n)) in TEXTS.iter().flat_map(|text| DIMS.map(|dims| (text, dims))) {
        let data = noise((m * n * 2) as usize);
        let files = [
            write(&folder, "a.safetensors", one("F16", &[m, n], &data)),
            write(&folder, "a.npy", npy("<f2", false, &format!("({m}, {n})"), &data)),
        ];
        for file in &files {
            let ending = file.extension().unwrap().to_str().unwrap();
            let (there, back) = (folder.path().join("b"), folder.path().join("c"));
            let (there, back) = (there.with_extension(ending), back.with_extension(ending));
            convert(file, &there, to(text).force(true)).unwrap();
            let read = open(&there, &Reading::default()).unwrap();
            let tensor = &read.tensors()[0];
            // NumPy itself records the order of a dense array, and keeps its shape.
            let fortran = ending == "npy" && *text == "{0,1}";
            let named = spec(text).resolve(Some(&[m, n]), Some(Dtype::F16)).unwrap();
            let stored = if fortran { vec![m, n] } else { named.storage_shape() };
            assert_eq!(tensor.storage(), stored, "{text} of {m}×{n} as {ending}");
            assert_eq!(stored.len(), *rank, "{text} of {m}×{n}");
            assert_eq!(tensor.dims(), [m, n]);
            assert_eq!(tensor.layout().storage_shape(), named.storage_shape());
            convert(&there, &back, to("row-major").force(true)).unwrap();
            assert!(std::fs::read(&back).unwrap().ends_with(&data), "{text} of {m}×{n}");
            jobs += 1;
        }
    }
    assert_eq!(jobs, 2 * TEXTS.len() * DIMS.len());
}

/// Returns a file of one tensor of f32 in the layout of a SPEC, stored under a shape, and the array's elements in order.
fn noted(text: &str, shape: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let named = spec(text).resolve(None, None).unwrap();
    let layout = named.layout();
    let data = noise(layout.capacity() as usize * 4);
    let dims = layout.extents();
    let element = |mut i: u64| {
        let mut coord = vec![0; dims.len()];
        for (at, extent) in coord.iter_mut().zip(dims).rev() {
            (*at, i) = (i % extent, i / extent);
        }
        let at = layout.offset(&coord).unwrap() as usize * 4;
        data[at..at + 4].to_vec()
    };
    let elements = (0..layout.size()).flat_map(element).collect();
    let len = data.len();
    let header = format!(
        r#"{{"__metadata__":{{"tilewright.layout.t":"{text}"}},"t":{{"dtype":"F32","shape":{shape:?},"data_offsets":[0,{len}]}}}}"#
    );
    (safetensors(&header, &data), elements)
}

/// The bytes of files that earlier versions wrote: XLA's tiles without digits of extent 1, maps with them.
#[test]
fn files_of_earlier_versions_are_read() {
    let folder = folder();
    let earlier: [(&str, &[u64], &[u64]); 7] = [
        ("f32[8,256]{1,0:T(8,128)}", &[2, 8, 128], &[1, 2, 8, 128]),
        ("f32[6,4]{1,0:T(3,4)(2,1)}", &[32], &[2, 1, 2, 4, 2, 1]),
        ("f32[8,128]{1,0:T(8,128)}", &[8, 128], &[1, 1, 8, 128]),
        ("f32[2,3,1,1] (2,3,1,1):(1,2,6,6)", &[1, 1, 3, 2], &[1, 1, 3, 2]),
        ("f32[2,1,3] (2,1,3):(3,3,1)", &[2, 1, 3], &[2, 1, 3]),
        ("f32[8,256] TPU_8x128", &[1, 2, 8, 128], &[1, 2, 8, 128]),
        ("f32[2,3,1,4] (2,3,1,4):(12,1,1,3)", &[2, 4, 3, 1], &[2, 4, 3]),
    ];
    for (text, before, now) in earlier {
        for shape in [before, now] {
            let (bytes, elements) = noted(text, shape);
            let old = write(&folder, "old.safetensors", bytes);
            let back = folder.path().join("back.safetensors");
            convert(&old, &back, to("row-major").force(true)).unwrap();
            assert_eq!(tensor(&back, "t").2, elements, "{text} {shape:?}");
            // Written again, it has the present shape, or is the plain array that it always was.
            let again = folder.path().join("again.safetensors");
            convert(&back, &again, to(text).force(true)).unwrap();
            let stored: Vec<u64> = tensor(&again, "t").1.iter().map(|n| *n as u64).collect();
            assert_eq!(stored, now, "{text}");
            let verdict = verify(&again, &old, &Request::new(), &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }), "{text}: {verdict:?}");
        }
        let elements: u64 = now.iter().product();
        let (bytes, _) = noted(text, &[1, elements, 1]);
        let strange = write(&folder, "strange.safetensors", bytes);
        let error = open(&strange, &Reading::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("is stored as F32 {now:?}")), "{error}");
    }
}

/// The noted fill of a plain tensor has no meaning; the note of a result replaces it.
#[test]
fn a_fill_without_a_layout_is_no_metadata_that_a_result_keeps() {
    let folder = folder();
    let entry = |name: &str, at: u64| {
        format!(r#""{name}":{{"dtype":"F16","shape":[3,5],"data_offsets":[{at},{}]}}"#, at + 30)
    };
    let header = format!(
        r#"{{"__metadata__":{{"tilewright.fill.a":"one","tilewright.fill.c":"0","k":"v"}},{},{}}}"#,
        entry("a", 0),
        entry("b", 30)
    );
    let file = write(&folder, "a.safetensors", safetensors(&header, &noise(60)));
    let there = folder.path().join("b.safetensors");
    for (name, spec) in [("a", "zN"), ("b", "zN"), ("*", "zN"), ("a", "col-major")] {
        convert(&file, &there, to(spec).only(name).verify(true).force(true)).unwrap();
        let (header, _) = parts(&there);
        let metadata = &header["__metadata__"];
        let noted = metadata["tilewright.fill.a"].as_str();
        assert_eq!(noted, (name == "b").then_some("one"), "{name} {spec}");
        assert_eq!(
            (metadata["tilewright.fill.c"].as_str(), metadata["k"].as_str()),
            (Some("0"), Some("v"))
        );
        // The missing part of a copied tensor's note is noticed.
        let (mut header, data) = parts(&there);
        if header["__metadata__"].as_object_mut().unwrap().remove("tilewright.fill.a").is_some() {
            let dropped = write(&folder, "c.safetensors", safetensors(&header.to_string(), &data));
            let Verdict::Differs(found) = verify(dropped, &file, &Request::new(), &()).unwrap()
            else {
                panic!()
            };
            assert_eq!(
                found.to_string(),
                "metadata \"tilewright.fill.a\" is not there, was \"one\""
            );
        }
    }
}
