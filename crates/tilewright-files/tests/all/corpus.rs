//! Converts the weight files of the corpus and back, and compares their bytes with a formula.

use std::fs;

use tilewright_files::{Action, Conversion, Reading, Request, Verdict, open, verify};

use crate::common::*;

/// Compares bit for bit: the whole file, including the header, whose text is canonical too.
fn there_and_back(name: &str, there: Request, back: Request) {
    let folder = folder();
    let (a, b) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    convert(corpus(name), &a, there.verify(true)).unwrap();
    assert!(matches!(
        verify(&a, corpus(name), &Request::new(), &()).unwrap(),
        Verdict::Same { .. }
    ));
    convert(&a, &b, back.verify(true)).unwrap();
    assert!(matches!(
        verify(&b, corpus(name), &Request::new(), &()).unwrap(),
        Verdict::Same { .. }
    ));
    let ((header, data), (was_header, was_data)) = (parts(&b), parts(corpus(name)));
    assert_eq!(header, was_header);
    assert!(data == was_data, "{name}: the tensors differ");
}

#[test]
fn the_llm_comes_back_bit_for_bit() {
    let specs = [
        "zN",
        "nZ",
        "col-major",
        "{1,0:T(8,128)(2,1)}",
        "{0,1:T(3,5)}",
        "(m1 m0:7) (n1 n0:3) -> n1 n0 m1 m0",
    ];
    for text in specs.into_iter().step_by(tilewright_testing::cases(1, 2)) {
        let there =
            to(text).skip_unfit(true).only("*proj.weight").only("scale.*").only("mask.bool");
        there_and_back(LLM, there, to("row-major"));
    }
    for &memory in tilewright_testing::cases(&[4096, 70_000][..], &[70_000]) {
        there_and_back(
            LLM,
            to("zN").skip_unfit(true).memory(memory),
            to("row-major").memory(memory),
        );
    }
}

#[test]
fn the_cnn_comes_back_bit_for_bit() {
    for text in ["NC1HWC0", "NHWC", "(n) (c1 c0:5) h w -> c1 h w n c0"] {
        there_and_back(CNN, to(text).skip_unfit(true), to("row-major"));
    }
    there_and_back(CNN, to("col-major"), to("row-major").threads(2));
}

#[test]
fn zn_bytes_are_what_the_formula_says() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    convert(corpus(LLM), &out, Request::new().rule("*proj.weight", spec("zN"))).unwrap();
    let input = open(corpus(LLM), &Reading::default()).unwrap();
    let mut seen = 0;
    for t in input.tensors().iter().filter(|t| t.name().ends_with("proj.weight")) {
        let (rows, cols) = (t.dims()[0] as usize, t.dims()[1] as usize);
        let (_, _, was) = tensor(corpus(LLM), t.name());
        let (dtype, shape, is) = tensor(&out, t.name());
        let (m1, n1) = (rows.div_ceil(16), cols.div_ceil(16));
        assert_eq!(dtype, safetensors::Dtype::BF16);
        assert_eq!(shape, [n1, m1, 16, 16]);
        let mut expected = vec![0u8; m1 * n1 * 512];
        for row in 0..rows {
            for col in 0..cols {
                let offset = col / 16 * (m1 * 256) + row / 16 * 256 + row % 16 * 16 + col % 16;
                let (from, at) = ((row * cols + col) * 2, offset * 2);
                expected[at..at + 2].copy_from_slice(&was[from..from + 2]);
            }
        }
        assert!(is == expected, "{}", t.name());
        seen += 1;
    }
    assert_eq!(seen, 14);
    let (header, _) = parts(&out);
    let noted = &header["__metadata__"]["tilewright.layout.model.layers.0.self_attn.k_proj.weight"];
    assert_eq!(noted, "bf16[50,200] zN");
    assert_eq!(header["__metadata__"]["format"], "pt");
}

#[test]
fn a_dry_run_says_what_a_run_does() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    let input = open(corpus(LLM), &Reading::default()).unwrap();
    let request =
        to("zN").skip_unfit(true).rule("mask.*", spec("row-major")).only("m*").only("scalar*");
    let conversion = Conversion::prepare(&input, &out, request).unwrap();
    assert!(names(&folder).is_empty());
    let job = |name: &str| conversion.jobs().iter().find(|job| job.name() == name).unwrap();
    assert_eq!(*job("mask.bool").action(), Action::Copy);
    assert_eq!(*job("ids.i64").action(), Action::Copy);
    assert!(matches!(job("scalar.f32").action(), Action::Skip(said) if said.contains("rank 0")));
    let embed = job("model.embed_tokens.weight");
    assert_eq!((embed.bytes_in(), embed.bytes_out()), (400_000, 1008 * 208 * 2));
    assert_eq!(embed.padding(), (1008 * 208 - 200_000) * 2);
    assert_ne!(embed.kernel(), "");
    let report = conversion.run(&()).unwrap();
    let written: u64 = conversion.jobs().iter().map(|job| job.bytes_out()).sum();
    let len = fs::metadata(&out).unwrap().len();
    assert_eq!(report.bytes_written(), len);
    assert!(written < len && written + 8192 > len);
    assert_eq!(report.verified(), None);
}

#[test]
fn a_tensor_that_a_layout_does_not_fit_is_named() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    let error = convert(corpus(LLM), &out, to("zN")).unwrap_err();
    assert!(error.is_usage());
    let said = error.to_string();
    assert!(said.contains("\"ids.i64\"") && said.contains("rank 1"), "{said}");
    assert!(error.remedies().contains(&tilewright_core::Remedy::SkipUnfit));
    let error = convert(corpus(LLM), &out, to("zN").only("nothing.*")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("\"nothing.*\""));
    let error =
        convert(corpus(LLM), &out, Request::new().rule("mask.bol", spec("zN"))).unwrap_err();
    assert!(error.to_string().contains("similar names: \"mask.bool\""), "{error}");
    let error = convert(corpus(LLM), &out, Request::new()).unwrap_err();
    assert!(error.is_usage() && error.remedies().contains(&tilewright_core::Remedy::Target));
    let error = convert(corpus(LLM), &out, to("zN").only("[")).unwrap_err();
    assert!(error.is_usage());
    assert!(names(&folder).is_empty());
}

/// A tensor stored in tiles without a note: `--from` gives its layout.
#[test]
fn a_tensor_without_a_note_is_read_as_asked() {
    let folder = folder();
    let (zn, plain) = (folder.path().join("a.safetensors"), folder.path().join("b.safetensors"));
    let data = noise(10 * 7 * 2);
    let path = write(&folder, "t.safetensors", one("F16", &[10, 7], &data));
    convert(&path, &zn, to("zN[M0=4,C0=4]")).unwrap();
    let (_, shape, bytes) = tensor(&zn, "t");
    assert_eq!(shape, [2, 3, 4, 4]);
    let bare = write(&folder, "bare.safetensors", one("F16", &[2, 3, 4, 4], &bytes));

    let request = to("row-major").from(spec("zN[M0=4,C0=4]")).dims(&[10, 7]);
    convert(&bare, &plain, request.verify(true)).unwrap();
    assert_eq!(tensor(&plain, "t"), (safetensors::Dtype::F16, vec![10, 7], data));

    // With the same source and target, the bytes are unchanged and a note is added.
    let request = to("zN[M0=4,C0=4]").from(spec("zN[M0=4,C0=4]")).dims(&[10, 7]);
    convert(&bare, &plain, request.force(true).verify(true)).unwrap();
    assert_eq!(tensor(&plain, "t"), (safetensors::Dtype::F16, vec![2, 3, 4, 4], bytes));
    assert_eq!(parts(&plain).0["__metadata__"]["tilewright.layout.t"], "f16[10,7] zN[M0=4,C0=4]");

    let request = to("row-major").from(spec("zN[M0=4,C0=4]")).dims(&[10, 70]);
    let error = convert(&bare, &plain, request.force(true)).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("192 bytes are there"), "{error}");
}

/// A converted tensor is converted again from its present layout, not from row-major.
#[test]
fn notes_are_read_as_sources() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let data = noise(33 * 50 * 4);
    write(&folder, "0", one("F32", &[33, 50], &data));
    let specs = [
        "zN",
        "{0,1:T(3,7)}",
        "nZ",
        "Sw<2,0,3> o (33,50):(64,1)",
        "f32[33,50]{1,0:T(2,4)}",
        "row-major",
    ];
    for (number, text) in specs.iter().enumerate() {
        let (from, to_path) = (path(&number.to_string()), path(&(number + 1).to_string()));
        let out = to_path.with_extension("safetensors");
        convert(&from, &out, to(text).verify(true))
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        fs::rename(&out, &to_path).unwrap();
    }
    assert!(tensor(path(&specs.len().to_string()), "t").2 == data);
}

/// Offsets beyond 32 bits; the file has a hole in place of 5 GiB of zeros.
#[test]
fn files_beyond_four_gibibytes_are_read() {
    use std::io::{Seek, Write};
    let folder = folder();
    let big = 5u64 << 30;
    let header = format!(
        r#"{{"big":{{"dtype":"U8","shape":[5,{}],"data_offsets":[0,{big}]}},"t":{{"dtype":"F32","shape":[1],"data_offsets":[{big},{}]}}}}"#,
        1u64 << 30,
        big + 4
    );
    let path = write(&folder, "t.safetensors", safetensors(&header, &[]));
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(std::io::SeekFrom::Start(8 + header.len() as u64 + big)).unwrap();
    file.write_all(&[1, 2, 3, 4]).unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    assert_eq!(input.tensors().iter().map(|t| t.bytes()).collect::<Vec<_>>(), [big, 4]);
    let out = folder.path().join("out.safetensors");
    let conversion = Conversion::prepare(&input, &out, to("col-major").only("big")).unwrap();
    assert_eq!(conversion.jobs()[0].bytes_out(), big);
    file.set_len(8 + header.len() as u64 + big).unwrap();
    let error = open(&path, &Reading::default()).unwrap_err();
    assert!(error.to_string().contains(&(big + 4).to_string()), "{error}");
}
