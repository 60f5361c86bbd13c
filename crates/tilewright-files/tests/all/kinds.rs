//! Conversions between files of one array and files of named tensors: an array becomes the one tensor, with the name of its file,
//! and one tensor becomes the array.

use tilewright_core::Dtype;
use tilewright_files::{Action, Reading, Request, Verdict, open, verify};

use crate::common::*;

fn is_same(out: &std::path::Path, against: &std::path::Path, request: &Request) {
    let verdict = verify(out, against, request, &()).unwrap();
    assert!(matches!(verdict, Verdict::Same { .. }), "{}: {verdict:?}", out.display());
}

#[test]
fn an_array_is_the_one_tensor_of_a_file_and_comes_back() {
    let folder = folder();
    for (descr, shape, len, fortran) in [
        ("<f4", "(3, 5)", 60, false),
        ("<f2", "(17, 33)", 1122, true),
        ("|i1", "(4,)", 4, false),
        (">f8", "(2, 1, 3)", 48, false),
        ("<f4", "(0, 5)", 0, false),
    ] {
        let array = write(&folder, "weights.v2.npy", npy(descr, fortran, shape, &noise(len)));
        for text in ["row-major", "col-major", "(m m0:2) n -> m n m0", "zN"] {
            let rank = shape.matches(", ").count() + 1;
            let request = || to(text).verify(true).force(true);
            if !spec(text).fits(rank) {
                continue;
            }
            let (named, back) = (folder.path().join("a.safetensors"), folder.path().join("b.npy"));
            let report = convert(&array, &named, request());
            report.unwrap_or_else(|error| panic!("{descr} {shape} {text}: {error}"));
            let read = open(&named, &Reading::default()).unwrap();
            assert_eq!(read.tensors()[0].name(), "weights.v2");
            is_same(&named, &array, &Request::new());
            convert(&named, &back, to("row-major").verify(true).force(true)).unwrap();
            if !descr.starts_with('>') {
                // The file of tensors is little-endian, and so is its result.
                is_same(&back, &array, &Request::new());
            }
            is_same(&back, &named, &Request::new());
            let (one, two) = (elements(&array), elements(&back));
            assert_eq!(one, two, "{descr} {shape} {text}");
        }
    }
}

/// Returns the bytes of an array's elements, row-major and little-endian.
fn elements(path: &std::path::Path) -> Vec<u8> {
    let folder = folder();
    let raw = folder.path().join("elements");
    convert(path, format!("raw:{}", raw.display()), to("row-major")).unwrap();
    std::fs::read(raw).unwrap()
}

#[test]
fn one_tensor_of_a_file_becomes_an_array() {
    let folder = folder();
    let (npy, raw) = (folder.path().join("a.npy"), folder.path().join("a.bin"));
    let files = [
        (CNN, "0.weight", "{1,0,2,3}"),
        (LLM, "*.1.self_attn.k_proj.weight", "zN"),
        (LLM, "ids.i64", "row-major"),
        ("tiny_quantised.gguf", "*ffn_up*", "row-major"),
        ("tiny_stored.npz", "weight", "col-major"),
    ];
    for (file, name, text) in files {
        let file = corpus(file);
        let only = || Request::new().only(name);
        let asked = || only().to(spec(text)).verify(true).force(true);
        let input = open(&file, &Reading::default()).unwrap();
        convert(&file, &npy, asked()).unwrap();
        is_same(&npy, &file, &only());
        is_same(&npy, &file, &only().to(spec(text)));
        convert(&file, format!("raw:{}", raw.display()), asked()).unwrap();
        let read = open(&npy, &Reading::default()).unwrap();
        let tensor = &read.tensors()[0];
        let stored = read.tensors()[0].layout().layout();
        assert_eq!(
            stored,
            spec(text).resolve(Some(tensor.dims()), Some(tensor.dtype())).unwrap().layout()
        );
        let bytes = std::fs::read(&npy).unwrap();
        assert!(bytes.ends_with(&std::fs::read(&raw).unwrap()), "{name} of {}", file.display());
        assert!(input.tensors().iter().any(|own| own.dims() == tensor.dims()));
        // A change is found.
        let mut other = bytes.clone();
        *other.last_mut().unwrap() ^= 1;
        let other = write(&folder, "other.npy", other);
        let note = std::path::PathBuf::from(format!("{}.tilewright.json", npy.display()));
        if !note.exists() {
            let verdict = verify(&other, &file, &only(), &()).unwrap();
            assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
        }
    }
}

#[test]
fn a_tensor_must_be_chosen_and_what_is_left_out_is_said() {
    let folder = folder();
    let out = folder.path().join("a.npy");
    let error = convert(corpus(CNN), &out, to("row-major")).unwrap_err().to_string();
    assert!(error.contains(".npy holds one tensor, but 8 are selected, such as "), "{error}");
    let error = convert(corpus(CNN), &out, to("row-major").only("9*")).unwrap_err().to_string();
    assert!(error.contains("no tensor matches"), "{error}");
    let empty = write(&folder, "empty.safetensors", safetensors("{}", &[]));
    let error = convert(&empty, &out, to("row-major")).unwrap_err().to_string();
    assert!(error.contains("holds no tensor"), "{error}");

    let input = open(corpus(LLM), &Reading::default()).unwrap();
    let request = to("row-major").only("ids.i64");
    let conversion = tilewright_files::Conversion::prepare(&input, &out, request).unwrap();
    let said: Vec<String> = conversion.warnings().collect();
    assert!(said.iter().any(|said| said.contains("cannot store metadata")), "{said:?}");
    assert_eq!((conversion.jobs().len(), conversion.jobs()[0].action()), (1, &Action::Copy));
    assert_eq!(conversion.jobs()[0].from().dtype(), Some(Dtype::S64));
    assert_eq!(names(&folder), ["empty.safetensors"]);
}
