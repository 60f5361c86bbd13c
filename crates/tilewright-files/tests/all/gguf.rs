//! GGUF: files of the reference library are read, converted in whole blocks, and converted back byte for byte; broken files cause
//! an error that describes the fault.

use std::{fs, path::Path};

use proptest::prelude::*;
use tilewright_core::Dtype;
use tilewright_files::{Action, Conversion, Reading, Request, Verdict, open, verify};

use crate::common::*;

const WHOLE: &str = "tiny_quantised.gguf";
const PARTS: [&str; 3] = [
    "tiny_split-00001-of-00003.gguf",
    "tiny_split-00002-of-00003.gguf",
    "tiny_split-00003-of-00003.gguf",
];

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Returns a pair of metadata.
fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&string(key)[..], &kind.to_le_bytes(), value].concat()
}

/// Returns an entry of a tensor, its dims fastest first.
fn entry(name: &str, dims: &[u64], kind: u32, at: u64) -> Vec<u8> {
    let mut bytes = string(name);
    bytes.extend_from_slice(&(dims.len() as u32).to_le_bytes());
    bytes.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&at.to_le_bytes());
    bytes
}

/// Returns a file with an alignment of 32 and these data.
fn file(version: u32, pairs: &[Vec<u8>], entries: &[Vec<u8>], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&(entries.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(pairs.len() as u64).to_le_bytes());
    bytes.extend(pairs.iter().chain(entries).flatten());
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend_from_slice(data);
    bytes
}

/// Returns a file of one Q8_0 tensor of 2 × 64 elements.
fn one(version: u32, pairs: &[Vec<u8>]) -> Vec<u8> {
    let data = [noise(4 * 34), vec![0; 24]].concat();
    file(version, pairs, &[entry("t", &[64, 2], 8, 0)], &data)
}

/// Requests whole columns of blocks, for each tensor of the file that has columns.
fn columns(path: &Path) -> Request {
    let input = open(path, &Reading::default()).unwrap();
    let wide = input.tensors().iter().filter(|tensor| tensor.dims().len() > 1);
    wide.fold(Request::new(), |request, tensor| {
        let block = tensor.dtype().block().map_or(1, |block| block.elements);
        let letters = &["a", "b", "c"][..tensor.dims().len()];
        let (last, others) = letters.split_last().unwrap();
        let outer: String = others.iter().map(|letter| format!("({letter}) ")).collect();
        let spec =
            format!("{outer}({last} {last}0:{block}) -> {last} {} {last}0", others.join(" "));
        request.rule(tensor.name(), crate::common::spec(&spec))
    })
}

#[test]
fn the_reference_s_file_is_read_as_it_was_written() {
    let input = open(corpus(WHOLE), &Reading::default()).unwrap();
    assert_eq!(input.format(), "GGUF");
    let facts = |name: &str| {
        let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
        (tensor.dtype(), tensor.file_dtype(), tensor.dims(), tensor.file_dims().unwrap())
    };
    let up = (Dtype::Q4_0, "Q4_0", &[24, 64][..], &[64, 24][..]);
    assert_eq!(facts("blk.0.ffn_up.weight"), up);
    let experts = (Dtype::Mxfp4, "MXFP4", &[2, 5, 64][..], &[64, 5, 2][..]);
    assert_eq!(facts("blk.0.experts.weight"), experts);
    let said: Vec<_> = input.metadata().collect();
    for pair in [
        ("test.int16", "-30000"),
        ("test.bools", "[true, true, true]"),
        ("test.float64", "-0.1"),
        ("test.uint64", "9223372036854775808"),
        ("general.name", "tiny: né en 2024"),
        ("general.alignment", "64"),
    ] {
        assert!(said.contains(&pair), "{pair:?} in {said:?}");
    }
    let tokens = said.iter().find(|(key, _)| key.ends_with("tokens")).unwrap();
    assert_eq!(
        tokens.1,
        r#"["<0>", "<1>", "<2>", "<3>", "<4>", "<5>", "<6>", "<7>", … 20 in all]"#
    );
}

#[test]
fn there_and_back_gives_the_bytes_of_the_file() {
    let folder = folder();
    let (there, back) = (folder.path().join("there.gguf"), folder.path().join("back.gguf"));
    let original = fs::read(corpus(WHOLE)).unwrap();
    let requests = [
        columns(&corpus(WHOLE)),
        to("zN[C0=32]").skip_unfit(true),
        to("{0,1}").skip_unfit(true),
        to("{0:T(8)}").skip_unfit(true).fill(tilewright_core::Fill::Zero),
        to("row-major"),
    ];
    for request in requests {
        for memory in [4096, 1 << 30] {
            let request = request.clone().force(true).verify(true).memory(memory);
            let report = convert(corpus(WHOLE), &there, request.clone()).unwrap();
            assert!(report.peak_memory() <= memory);
            let verdict = verify(&there, corpus(WHOLE), &request, &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
            convert(&there, &back, to("row-major").force(true).verify(true)).unwrap();
            assert!(fs::read(&back).unwrap() == original);
        }
    }
}

#[test]
fn blocks_move_whole_and_other_readers_are_told() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    convert(corpus(WHOLE), &out, columns(&corpus(WHOLE))).unwrap();
    let (before, after) = (corpus(WHOLE), &out);
    let read = |path: &Path| {
        let input = open(path, &Reading::default()).unwrap();
        let tensor = input.tensors().iter().find(|tensor| tensor.name().contains("up")).unwrap();
        input.bytes(tensor, 1 << 20).unwrap()
    };
    let (rows, blocks) = (read(&before), read(after));
    for (m, k) in (0..24).flat_map(|m| [(m, 0), (m, 1)]) {
        let (from, at) = ((m * 2 + k) * 18, (k * 24 + m) * 18);
        assert_eq!(blocks[at..at + 18], rows[from..from + 18]);
    }
    let bytes = fs::read(&out).unwrap();
    let holds = |text: &str| {
        let text = string(text);
        bytes.windows(text.len()).any(|window| window == text)
    };
    assert!(holds("tilewright:blk.0.ffn_up.weight") && !holds("blk.0.ffn_up.weight"));
    // A tensor of one dim has no columns, and keeps its layout.
    assert!(holds("blk.0.attn_norm.weight"));
    let found = open(&out, &Reading::default()).unwrap();
    let up = found.tensors().iter().find(|tensor| tensor.name().contains("up")).unwrap();
    assert_eq!(up.layout().to_spec(), "q4_0[24,64] (a) (b b0:32) -> b a b0");
    assert_eq!((up.dims(), up.storage()), (&[24, 64][..], &[2, 24, 32][..]));
    assert_eq!(up.file_dims(), Some(&[32, 24, 2][..]));
}

#[test]
fn a_layout_that_takes_blocks_apart_is_refused_with_what_is_legal() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    let request = Request::new().rule("*ffn_up*", spec("col-major"));
    let error = convert(corpus(WHOLE), &out, request.clone()).unwrap_err();
    assert!(error.is_usage(), "{error}");
    for part in ["blk.0.ffn_up.weight", "[24, 64]", "blocks of 32", "(m) (n n0:32) -> n m n0"] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
    let input = open(corpus(WHOLE), &Reading::default()).unwrap();
    let conversion = Conversion::prepare(&input, &out, request.skip_unfit(true)).unwrap();
    let job = conversion.jobs().iter().find(|job| job.name().contains("ffn_up")).unwrap();
    assert!(matches!(job.action(), Action::Skip(said) if said.contains("blocks of 32")));
    let error = convert(
        corpus(WHOLE),
        &out,
        to("zN[C0=32]").skip_unfit(true).fill(tilewright_core::Fill::One),
    );
    assert!(error.unwrap_err().to_string().contains("elements in blocks"));
}

/// A format may lack constants for a quantised type: the tensor is skipped, or the error names it.
#[test]
fn a_format_without_constants_for_blocks_passes_them_over() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    convert(corpus(WHOLE), &out, to("zN").skip_unfit(true).verify(true)).unwrap();
    let skipped = to("zN").skip_unfit(true).force(true);
    let input = open(corpus(WHOLE), &Reading::default()).unwrap();
    let conversion = Conversion::prepare(&input, &out, skipped).unwrap();
    for (job, tensor) in conversion.jobs().iter().zip(input.tensors()) {
        let is_skip = matches!(job.action(), Action::Skip(_));
        assert!(is_skip || tensor.dtype().block().is_none(), "{}", job.name());
    }
    let error = convert(corpus(WHOLE), &out, to("zN").force(true)).unwrap_err();
    assert!(error.is_usage(), "{error}");
}

#[test]
fn verification_looks_into_blocks_padding_and_metadata() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    // Q6_K: blocks of 210 bytes.
    let request = Request::new().rule("*ffn_gate*", spec("(m m0:2) (n n0:256) -> n m m0 n0"));
    convert(corpus(WHOLE), &out, request.clone().verify(true)).unwrap();
    let whole = fs::read(&out).unwrap();
    let gate = {
        let input = open(&out, &Reading::default()).unwrap();
        let gate = input.tensors().iter().find(|tensor| tensor.name().contains("gate")).unwrap();
        assert_eq!((gate.bytes(), gate.padding()), (8 * 210, 2 * 210));
        gate.pieces()[0].at() as usize
    };
    let differs = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let path = write(&folder, "changed.gguf", &bytes);
        match verify(path, corpus(WHOLE), &Request::new(), &()).unwrap() {
            Verdict::Differs(said) => said.to_string(),
            Verdict::Same { .. } => panic!("byte {at} was changed"),
        }
    };
    // Block (1, 1) is the sixth of the eight blocks, and its coordinate is that of its first element.
    for within in [0, 15, 16, 209] {
        let said = differs(gate + 5 * 210 + within);
        assert!(said.contains("ffn_gate") && said.contains("[1, 256]"), "{said}");
        let said = differs(gate + 3 * 210 + within);
        assert!(said.contains("padding at offset 3"), "{said}");
    }
    let name = whole.windows(4).position(|window| window == b"tiny").unwrap();
    assert!(differs(name).contains(r#"metadata "general.architecture" is "#));
}

#[test]
fn both_versions_and_nested_arrays_pass() {
    let folder = folder();
    let inner = |value: u8| [&4u32.to_le_bytes()[..], &2u64.to_le_bytes(), &[value; 8]].concat();
    let nested = [&9u32.to_le_bytes()[..], &2u64.to_le_bytes(), &inner(1), &inner(2)].concat();
    let empty = [&8u32.to_le_bytes()[..], &0u64.to_le_bytes()].concat();
    let pairs = [
        pair("nested", 9, &nested),
        pair("empty", 9, &empty),
        pair("raw", 8, b"\x02\0\0\0\0\0\0\0\xff\xfe"),
    ];
    for version in [2, 3] {
        let path = write(&folder, "t.gguf", one(version, &pairs));
        let input = open(&path, &Reading::default()).unwrap();
        let said: Vec<_> = input.metadata().collect();
        assert_eq!(said[0], ("nested", "[[16843009, 16843009], [33686018, 33686018]]"));
        assert_eq!(said[1], ("empty", "[]"));
        let (there, back) = (folder.path().join("a.gguf"), folder.path().join("b.gguf"));
        convert(&path, &there, columns(&path).force(true).verify(true)).unwrap();
        assert_eq!(fs::read(&there).unwrap()[4], version as u8);
        convert(&there, &back, to("row-major").force(true)).unwrap();
        assert!(fs::read(&back).unwrap() == fs::read(&path).unwrap());
    }
    // A file of only a vocabulary has no tensors, and may end with its header.
    for padding in [0, 1] {
        let mut bytes = file(3, &[pair("a", 7, &[1])], &[], &[]);
        if padding == 0 {
            bytes.truncate(24 + 8 + 1 + 4 + 1);
        }
        let (path, out) = (write(&folder, "t.gguf", &bytes), folder.path().join("c.gguf"));
        convert(&path, &out, to("row-major").force(true)).unwrap();
        assert!(fs::read(&out).unwrap() == bytes);
    }
}

#[test]
fn parts_are_read_as_one_file() {
    let folder = folder();
    let out = folder.path().join("out.gguf");
    for part in PARTS {
        let input = open(corpus(part), &Reading::default()).unwrap();
        let names: Vec<_> = input.tensors().iter().map(|tensor| tensor.name()).collect();
        assert_eq!(names, ["token_embd.weight", "blk.0.ffn_up.weight", "blk.0.attn_q.weight"]);
        assert_eq!(input.files().count(), 3);
        let request = columns(&corpus(part)).force(true).verify(true);
        convert(corpus(part), &out, request).unwrap();
        let whole = open(&out, &Reading::default()).unwrap();
        assert_eq!((whole.files().count(), whole.tensors().len()), (1, 3));
        assert!(whole.metadata().all(|(key, _)| !key.starts_with("split.")));
        assert!(whole.metadata().any(|pair| pair == ("general.name", "three parts")));
        let verdict = verify(&out, corpus(part), &Request::new(), &()).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    }
}

#[test]
fn a_folder_of_parts_is_the_file_that_they_are() {
    let folder = folder();
    for part in PARTS {
        fs::copy(corpus(part), folder.path().join(part)).unwrap();
    }
    let names = |path: &Path| {
        let input = open(path, &Reading::default()).unwrap();
        input.tensors().iter().map(|tensor| tensor.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(folder.path()), names(&corpus(PARTS[0])));
    // Without one of the parts, and beside another file.
    fs::remove_file(folder.path().join(PARTS[1])).unwrap();
    assert!(open(folder.path(), &Reading::default()).is_err());
    fs::copy(corpus(PARTS[1]), folder.path().join(PARTS[1])).unwrap();
    fs::copy(corpus(PARTS[1]), folder.path().join("other.gguf")).unwrap();
    assert!(open(folder.path(), &Reading::default()).unwrap_err().is_usage());
}

#[test]
fn parts_that_do_not_belong_together_are_errors() {
    let folder = folder();
    let bytes = PARTS.map(|part| fs::read(corpus(part)).unwrap());
    let refused = |files: &[(&str, &[u8])], open_as: &str| {
        for part in PARTS {
            let _ = fs::remove_file(folder.path().join(part));
        }
        for (name, bytes) in files {
            write(&folder, name, bytes);
        }
        open(folder.path().join(open_as), &Reading::default()).unwrap_err().to_string()
    };
    let said = refused(&[(PARTS[0], &bytes[0]), (PARTS[2], &bytes[2])], PARTS[0]);
    assert!(said.contains(PARTS[1]) && said.contains("No such file"), "{said}");
    let said = refused(&[("one.gguf", &bytes[1])], "one.gguf");
    assert!(said.contains("part 2 of 3, whose name ends in -00002-of-00003.gguf"), "{said}");
    let swapped = [(PARTS[0], &bytes[0][..]), (PARTS[1], &bytes[2]), (PARTS[2], &bytes[2])];
    assert!(refused(&swapped, PARTS[0]).contains("read as part 2 of 3, and its metadata"));
    let mut more = bytes[0].clone();
    let at = more.windows(19).position(|window| window == b"split.tensors.count").unwrap();
    more[at + 19 + 4] = 4;
    let said =
        refused(&[(PARTS[0], &more), (PARTS[1], &bytes[1]), (PARTS[2], &bytes[2])], PARTS[1]);
    assert!(said.contains("split.tensors.count is 4, the parts have 3"), "{said}");
    let pairs =
        [pair("split.no", 2, &[1, 0]), pair("split.count", 2, &[3, 0]), pair("other", 7, &[1])];
    let other = one(3, &pairs);
    let said =
        refused(&[(PARTS[0], &bytes[0]), (PARTS[1], &other), (PARTS[2], &bytes[2])], PARTS[0]);
    assert!(said.contains("\"other\" is not that of the first"), "{said}");
}

#[test]
fn notes_that_do_not_fit_their_tensor_are_refused() {
    let folder = folder();
    let noted = |name: &str, spec: &str| {
        let pairs = [pair("tilewright.layout.t", 8, &string(spec))];
        let data = [noise(4 * 34), vec![0; 24]].concat();
        let bytes = file(3, &pairs, &[entry(name, &[32, 2, 2], 8, 0)], &data);
        open(write(&folder, "t.gguf", bytes), &Reading::default())
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let good = "q8_0[2,64] (m) (n n0:32) -> n m n0";
    assert_eq!(noted("tilewright:t", good), Ok(()));
    for (name, spec, part) in [
        ("t", good, "does not begin with \"tilewright:\""),
        ("tilewright:t", "gibberish", "tilewright.layout.t"),
        ("tilewright:t", "q8_0[2,32] row-major", "stores 2 elements of 272 bits"),
        ("tilewright:t", "q8_0[2,64] col-major", "blocks of 32"),
        ("tilewright:t", "q8_0[64,2] row-major", "blocks of 32"),
        ("tilewright:t", "q8_0[2,64] row-major", "is stored as Q8_0 [2, 64]"),
        ("tilewright:t", "f16[2,34] col-major", "is stored as F16 [34, 2]"),
    ] {
        let said = noted(name, spec).unwrap_err();
        assert!(said.contains(part), "{spec}: {said}");
    }
}

/// The name of a tensor that is not row-major, without its metadata: no layout is guessed, the tensor is kept, and the others of
/// the file are read.
#[test]
fn a_name_with_our_mark_and_no_note_is_kept_as_it_is() {
    let folder = folder();
    let data = [noise(16), vec![0; 16], noise(16), vec![0; 16]].concat();
    let entries = [entry("t", &[2, 2], 0, 0), entry("tilewright:t", &[4], 0, 32)];
    let path = write(&folder, "t.gguf", file(3, &[], &entries, &data));
    let input = open(&path, &Reading::default()).unwrap();
    let [plain, marked] = input.tensors() else { panic!("two tensors") };
    assert_eq!((plain.name(), plain.refusal()), ("t", None));
    assert_eq!(marked.name(), "tilewright:t");
    assert!(marked.refusal().unwrap().contains("no metadata keeps its layout"));
    let (out, back) = (folder.path().join("out.gguf"), folder.path().join("back.gguf"));
    let error = convert(&path, &out, to("col-major")).unwrap_err();
    assert!(error.kind() == "unsupported" && error.to_string().contains("tilewright:t"), "{error}");
    // The name that the result of the other tensor would have.
    let error = convert(&path, &out, to("col-major").only("t")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("has a tensor of that name"), "{error}");
    let lone =
        write(&folder, "u.gguf", file(3, &[], &[entry("tilewright:u", &[4], 0, 0)], &data[..32]));
    convert(&lone, &out, to("row-major").skip_unfit(true)).unwrap();
    convert(&out, &back, to("row-major").skip_unfit(true)).unwrap();
    assert_eq!(fs::read(&back).unwrap(), fs::read(&lone).unwrap());
}

/// Opens a file of these bytes, which must fail, and returns the kind and the message.
fn refused(bytes: &[u8]) -> (&'static str, String) {
    let folder = folder();
    let path = write(&folder, "t.gguf", bytes);
    let error = match open(&path, &Reading::default()) {
        Ok(input) => panic!("{} bytes were read as {:?}", bytes.len(), input.tensors()),
        Err(error) => error,
    };
    assert!(error.is_io() && error.to_string().contains("t.gguf"), "{error}");
    (error.kind(), error.to_string())
}

#[test]
fn a_broken_file_is_an_error_that_says_so() {
    let whole = one(3, &[]);
    let counts = |tensors: u64, pairs: u64| {
        [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &pairs.to_le_bytes(), &[0; 64]].concat()
    };
    let with = |pair: Vec<u8>| one(3, &[pair]);
    let array =
        |kind: u32, count: u64| [&kind.to_le_bytes()[..], &count.to_le_bytes(), &[0; 64]].concat();
    let deep = (0..40).fold(array(0, 1), |inner, _| {
        [&9u32.to_le_bytes()[..], &1u64.to_le_bytes(), &inner].concat()
    });
    let tensors = |entries: &[Vec<u8>], len: usize| file(3, &[], entries, &vec![0; len]);
    let max = u64::MAX;
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (
            vec![],
            "corrupt",
            "the file is cut off: in the GGUF header the magic takes 4 bytes at byte 0",
        ),
        (b"GGML".to_vec(), "corrupt", "does not start with `GGUF`"),
        (whole[..7].to_vec(), "corrupt", "the version"),
        (b"GGUF\x01\0\0\0".to_vec(), "unsupported", "version 1; known are 2 and 3"),
        (b"GGUF\0\0\0\x03".to_vec(), "unsupported", "big-endian"),
        (counts(max, 0), "corrupt", "the count of tensors is 18446744073709551615"),
        (counts(0, max), "corrupt", "the count of metadata is 18446744073709551615"),
        (counts(3, 0), "corrupt", "takes"),
        (with(pair("a", 13, &[])), "corrupt", "\"a\" has the type 13; legal are 0 to 12"),
        (with(pair("a", 9, &array(99, 1))), "corrupt", "\"a\" has the type 99"),
        (
            with(pair("a", 9, &array(8, max))),
            "corrupt",
            "the length of \"a\" is 18446744073709551615",
        ),
        (with(pair("a", 9, &array(11, max / 4))), "corrupt", "the length of \"a\""),
        (with(pair("a", 9, &deep)), "corrupt", "arrays nested in more than 8 arrays"),
        (
            with(pair("a", 8, &max.to_le_bytes())),
            "corrupt",
            "\"a\" takes 18446744073709551615 bytes",
        ),
        (
            one(3, &[pair("a", 0, &[1]), pair("a", 0, &[1])]),
            "corrupt",
            "the key \"a\" occurs twice",
        ),
        (
            with([&2u64.to_le_bytes()[..], b"\xff\xfe", &[0; 8]].concat()),
            "corrupt",
            "a key at byte 32",
        ),
        (
            with(pair("general.alignment", 4, &[0; 4])),
            "corrupt",
            "general.alignment is 0; it must be a power",
        ),
        (
            with(pair("general.alignment", 4, &[3, 0, 0, 0])),
            "corrupt",
            "is 3; it must be a power of two",
        ),
        (with(pair("general.alignment", 10, &[32, 0, 0, 0, 0, 0, 0, 0])), "corrupt", "as u32"),
        (
            tensors(&[entry("t", &[1; 5], 0, 0)], 32),
            "corrupt",
            "5 dims; a tensor of GGUF has at most 4",
        ),
        (tensors(&[entry("t", &[4], 31, 0)], 32), "unsupported", "its type is 31"),
        (tensors(&[entry("t", &[33], 8, 0)], 64), "corrupt", "33 elements in blocks of 32"),
        (tensors(&[entry("t", &[max, max], 0, 0)], 32), "corrupt", "more than 2^63"),
        (tensors(&[entry("t", &[1 << 61], 0, 0)], 32), "corrupt", "2^63"),
        (
            tensors(&[entry("t", &[1 << 60], 0, 0)], 32),
            "corrupt",
            "tensor \"t\" has 4611686018427387904 bytes",
        ),
        (
            tensors(&[entry("t", &[4], 0, 32)], 64),
            "corrupt",
            "\"t\" begins at byte 32 of the data, expected byte 0",
        ),
        (
            tensors(&[entry("t", &[9], 0, 0), entry("u", &[4], 0, 32)], 96),
            "corrupt",
            "\"u\" begins at byte 32 of the data, expected byte 64",
        ),
        (
            tensors(&[entry("t", &[4], 0, 0), entry("u", &[4], 0, max)], 96),
            "corrupt",
            "expected byte 32",
        ),
        (
            tensors(&[entry("t", &[4], 0, 0), entry("t", &[4], 0, 32)], 64),
            "corrupt",
            "the tensor \"t\" occurs twice",
        ),
        (whole[..whole.len() - 30].to_vec(), "corrupt", "tensor \"t\" has 136 bytes"),
        ([whole.clone(), vec![0; 1]].concat(), "corrupt", "the tensors end at byte"),
    ];
    for (number, (bytes, kind, part)) in cases.iter().enumerate() {
        let (found, said) = refused(bytes);
        assert!(found == *kind && said.contains(part), "case {number}: {found}: {said}");
    }
}

/// A file with holes may be as long as its header states, and still takes no memory.
#[test]
fn a_header_that_is_too_long_is_an_error_before_it_is_read() {
    let folder = folder();
    let long = 1u64 << 29;
    let pairs = [pair("a", 8, &long.to_le_bytes()), pair("b", 0, &[0])];
    let path = write(&folder, "t.gguf", file(3, &pairs, &[], &[]));
    fs::File::options().write(true).open(&path).unwrap().set_len(2 * long).unwrap();
    let said = open(&path, &Reading::default()).unwrap_err().to_string();
    assert!(said.contains("at most 268435456 are read"), "{said}");
    let counts = [&b"GGUF\x03\0\0\0"[..], &((1u64 << 20) + 1).to_le_bytes(), &[0; 8]].concat();
    fs::write(&path, counts).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(long).unwrap();
    let said = open(&path, &Reading::default()).unwrap_err().to_string();
    assert!(said.contains("1048577 entries; at most 1048576 are read"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the value of a byte is, the file is an error or converts.
    #[test]
    fn any_bytes_are_a_file_or_an_error(
        changes in proptest::collection::vec((0usize..1600, any::<u8>()), 1..4),
        len in 0usize..9000,
    ) {
        let mut bytes = fs::read(corpus(WHOLE)).unwrap();
        bytes.truncate(len.max(100));
        for (at, byte) in changes {
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        let folder = folder();
        let path = write(&folder, "t.gguf", &bytes);
        if let Ok(input) = open(&path, &Reading::default()) {
            let out = folder.path().join("out.gguf");
            let request = to("row-major").skip_unfit(true).verify(true);
            prop_assert!(Conversion::prepare(&input, &out, request).unwrap().run(&()).is_ok());
        }
    }
}

/// Returns the bytes of a GGUF file without tensors and with one metadata pair, `k`.
fn one_pair(kind: u32, value: &[u8]) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.push(b'k');
    bytes.extend(kind.to_le_bytes());
    bytes.extend(value);
    bytes
}

/// Returns an array of this type, count and content.
fn array(kind: u32, count: u64, content: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &count.to_le_bytes(), content].concat()
}

#[test]
fn arrays_within_arrays_are_spelled_from_where_each_begins() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |all: &[u32]| {
        let content: Vec<u8> = all.iter().flat_map(|number| number.to_le_bytes()).collect();
        array(4, all.len() as u64, &content)
    };
    let two = [numbers(&(1..=10).collect::<Vec<_>>()), numbers(&[77, 88])].concat();
    let path = write(&folder, "two.gguf", one_pair(9, &array(9, 2, &two)));
    let input = open(path, &Reading::default()).unwrap();
    let text = input.metadata().find(|(key, _)| *key == "k").unwrap().1.to_owned();
    assert_eq!(text, "[[1, 2, 3, 4, 5, 6, 7, 8, … 10 in all], [77, 88]]");

    // Bytes that look like arrays of arrays, within the part of an array that is not printed.
    let nested = [9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0].repeat(200_000);
    let bytes = array(0, 8 + nested.len() as u64, &[vec![0; 8], nested].concat());
    let both = [bytes, array(0, 0, &[])].concat();
    let path = write(&folder, "deep.gguf", one_pair(9, &array(9, 2, &both)));
    let input = open(path, &Reading::default()).unwrap();
    let text = input.metadata().find(|(key, _)| *key == "k").unwrap().1.to_owned();
    assert_eq!(text, "[[0, 0, 0, 0, 0, 0, 0, 0, … 2400008 in all], []]");
}
