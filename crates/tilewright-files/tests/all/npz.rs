//! `.npz`: arrays that NumPy stored or deflated are read and written; archives whose records contradict one another are errors.

use std::{fs, io::Write};

use flate2::{Compression, Crc, write::DeflateEncoder};
use proptest::prelude::*;
use tilewright_core::Dtype;
use tilewright_files::{Conversion, Reading, Request, Verdict, open, verify};

use crate::common::*;

const STORED: &str = "tiny_stored.npz";
const DEFLATED: &str = "tiny_deflated.npz";

/// An entry of an archive, with the numbers in its records.
#[derive(Clone)]
pub(crate) struct Entry {
    name: String,
    method: u16,
    flags: u16,
    data: Vec<u8>,
    size: u64,
    sum: u32,
    /// Its position in the list; `None` means the true one.
    at: Option<u64>,
}

fn sum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

pub(crate) fn stored(name: &str, bytes: &[u8]) -> Entry {
    let (name, size) = (name.into(), bytes.len() as u64);
    Entry { name, method: 0, flags: 0, data: bytes.to_vec(), size, sum: sum(bytes), at: None }
}

pub(crate) fn deflated(name: &str, bytes: &[u8]) -> Entry {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    Entry { method: 8, data: encoder.finish().unwrap(), ..stored(name, bytes) }
}

fn header(signature: &[u8], entry: &Entry) -> Vec<u8> {
    let mut bytes = signature.to_vec();
    for field in [20, entry.flags, entry.method, 0, 0x21] {
        bytes.extend_from_slice(&field.to_le_bytes());
    }
    bytes.extend_from_slice(&entry.sum.to_le_bytes());
    bytes.extend_from_slice(&(entry.data.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(entry.size as u32).to_le_bytes());
    bytes.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = entry.at.unwrap_or(bytes.len() as u64) as u32;
        bytes.extend(header(b"PK\x03\x04", entry));
        bytes.extend_from_slice(entry.name.as_bytes());
        bytes.extend_from_slice(&entry.data);
        list.extend(header(b"PK\x01\x02\x14\0", entry));
        list.extend_from_slice(&[0; 10]);
        list.extend_from_slice(&at.to_le_bytes());
        list.extend_from_slice(entry.name.as_bytes());
    }
    let at = bytes.len() as u32;
    let len = list.len() as u32;
    bytes.extend(list);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend((entries.len() as u16).to_le_bytes().repeat(2));
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&at.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

fn array(len: usize) -> Vec<u8> {
    npy("|u1", false, &format!("({len},)"), &noise(len))
}

#[test]
fn numpy_s_files_are_read_as_they_were_written() {
    for name in [STORED, DEFLATED] {
        let input = open(corpus(name), &Reading::default()).unwrap();
        assert_eq!((input.format(), input.tensors().len()), ("npz", 7));
        let facts = |name: &str| {
            let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
            (tensor.dtype(), tensor.file_dtype(), tensor.dims(), tensor.layout().name())
        };
        assert_eq!(facts("weight"), (Dtype::F32, "<f4", &[20, 33][..], "row-major"));
        assert_eq!(facts("fortran"), (Dtype::S16, "<i2", &[5, 6][..], "col-major"));
        assert_eq!(facts("big"), (Dtype::U32, ">u4", &[3, 4, 5][..], "row-major"));
        assert_eq!(facts("raw"), (Dtype::U16, "|V2", &[7, 10][..], "row-major"));
        assert_eq!(facts("deep/name"), (Dtype::Pred, "|b1", &[2, 3][..], "row-major"));
        assert_eq!(facts("scalar").2, [0u64; 0]);
        assert_eq!(facts("empty").2, [0, 4]);
    }
}

/// Returns name, type, shape and bytes of every array, read by another crate.
fn arrays(path: &std::path::Path) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let input = open(path, &Reading::default()).unwrap();
    let row = |tensor: &tilewright_files::Tensor| {
        let bytes = input.bytes(tensor, 1 << 20).unwrap();
        (tensor.name().into(), tensor.file_dtype().into(), tensor.storage().to_vec(), bytes)
    };
    input.tensors().iter().map(row).collect()
}

#[test]
fn there_and_back_gives_the_same_arrays() {
    let folder = folder();
    let (there, back) = (folder.path().join("there.npz"), folder.path().join("back.npz"));
    for name in [STORED, DEFLATED] {
        for memory in [4096, 1 << 30] {
            let all = |request: Request| request.force(true).verify(true).memory(memory);
            let request = Request::new()
                .rule("fortran", spec("{0,1:T(2,4)}"))
                .rule("{weight,raw,deep*}", spec("zN[M0=4,C0=8]"))
                .rule("big", spec("col-major"));
            let report = convert(corpus(name), &there, all(request.clone())).unwrap();
            assert!(report.peak_memory() <= memory);
            assert_eq!(report.bytes_written(), fs::metadata(&there).unwrap().len());
            let notes: Vec<_> = open(&there, &Reading::default())
                .unwrap()
                .metadata()
                .map(|(key, _)| key.to_owned())
                .collect();
            let noted = ["deep/name", "fortran", "raw", "weight"];
            let keys =
                ["data", "layout"].map(|key| noted.map(|name| format!("tilewright.{key}.{name}")));
            assert_eq!(notes, keys.concat());
            let verdict = verify(&there, corpus(name), &Request::new(), &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
            // A layout that NumPy can record needs no note.
            let request = Request::new().rule("fortran", spec("col-major")).to(spec("row-major"));
            convert(&there, &back, all(request)).unwrap();
            assert_eq!(open(&back, &Reading::default()).unwrap().metadata().count(), 0);
            assert!(arrays(&back) == arrays(&corpus(name)));
        }
    }
}

#[test]
fn what_is_no_array_of_numbers_is_kept_as_it_is() {
    let folder = folder();
    let objects = npy("|O", false, "(1,)", b"\x80\x04N.");
    let entries =
        [stored("o.npy", &objects), deflated("a.npy", &array(600)), deflated("p.npy", &objects)];
    let (path, out) = (write(&folder, "t.npz", archive(&entries)), folder.path().join("out.npz"));
    let input = open(&path, &Reading::default()).unwrap();
    assert!(input.tensors()[0].refusal().unwrap().contains("Python objects"));
    let error = convert(&path, &out, to("{0:T(7)}")).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("Python objects"), "{error}");
    convert(&path, &out, to("{0:T(7)}").only("a").verify(true)).unwrap();
    let kept = arrays(&out);
    assert!(kept[0].3 == objects && kept[2].3 == objects && kept[1].3.len() == 602);
}

/// Opens a file of these bytes, which must fail, and returns the kind and the message.
fn refused(bytes: &[u8]) -> (&'static str, String) {
    let folder = folder();
    let path = write(&folder, "t.npz", bytes);
    let error = match open(&path, &Reading::default()) {
        Ok(input) => panic!("{} bytes were read as {:?}", bytes.len(), input.tensors()),
        Err(error) => error,
    };
    assert!(error.is_io() && error.to_string().contains("t.npz"), "{error}");
    (error.kind(), error.to_string())
}

#[test]
fn an_archive_that_lies_is_an_error_that_says_so() {
    let good = stored("a.npy", &array(40));
    let other = stored("b.npy", &array(50));
    let whole = archive(&[good.clone(), other.clone()]);
    let one = |entry: Entry| archive(&[entry]);
    let end = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        let from = file.len() - 22 + at;
        file[from..from + bytes.len()].copy_from_slice(bytes);
        file
    };
    let mut long_name = whole.clone();
    let list = whole.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    long_name[list + 28] = 0xff;
    let bomb = deflated("a.npy", &vec![0; 1 << 20]);
    let notes = |text: &str| archive(&[good.clone(), stored("tilewright.json", text.as_bytes())]);
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (vec![], "corrupt", "no end-of-archive record"),
        (whole[..whole.len() - 1].to_vec(), "corrupt", "no end-of-archive record"),
        ([&whole[..], b"x"].concat(), "corrupt", "no end-of-archive record"),
        ([b"x", &whole[..]].concat(), "corrupt", "a list of 2 entries"),
        (end(10, &[3, 0]), "corrupt", "a list of 3 entries in 102 bytes"),
        (long_name, "corrupt", "the list of entries is cut off"),
        (end(10, &[1, 0]), "corrupt", "bytes follow the last entry"),
        (end(10, &[0xff, 0xff]), "corrupt", "a list of 65535 entries"),
        (end(12, &[0xff; 8]), "corrupt", "a list of 2 entries"),
        (end(4, &[1, 0]), "corrupt", "several files"),
        (archive(&[good.clone(), good.clone()]), "corrupt", "\"a.npy\" occurs twice"),
        (
            archive(&[good.clone(), Entry { at: Some(0), ..other.clone() }]),
            "corrupt",
            "\"b.npy\" has a header at byte 0",
        ),
        (
            one(Entry { at: Some(u64::from(u32::MAX) - 1), ..good.clone() }),
            "corrupt",
            "is at byte 4294967294",
        ),
        (
            one(Entry { method: 12, ..good.clone() }),
            "unsupported",
            "method 12; read are stored and deflated",
        ),
        (one(Entry { flags: 1, ..good.clone() }), "unsupported", "encrypted"),
        (one(Entry { size: 1, ..good.clone() }), "corrupt", "is stored in"),
        (one(stored("a.npy", b"no array")), "corrupt", "does not start with"),
        (one(stored("a.npy", &array(40)[..100])), "corrupt", "the file has"),
        (one(Entry { size: bomb.size * 2, ..bomb.clone() }), "corrupt", "at most 1032 times"),
        (
            one(Entry { size: bomb.size - 1, ..bomb.clone() }),
            "corrupt",
            "does not unpack to the 1048575 bytes",
        ),
        (
            one(Entry { size: bomb.size + 1, ..bomb.clone() }),
            "corrupt",
            "does not unpack to the 1048577 bytes",
        ),
        (
            one(Entry { sum: 1, ..deflated("a.npy", &array(40)) }),
            "corrupt",
            "should have 0x00000001",
        ),
        (
            one(Entry { data: b"\xff\xff\xff\xff".repeat(50), ..deflated("a.npy", &array(40)) }),
            "corrupt",
            "a.npy",
        ),
        (notes("[]"), "corrupt", "tilewright.json"),
        (notes(r#"{"tilewright.layout.a":"gibberish"}"#), "corrupt", "tilewright.layout.a"),
        (notes(r#"{"tilewright.layout.a":"u8[41]{0}"}"#), "corrupt", "stores 41 elements"),
        (
            notes(r#"{"tilewright.layout.a":"u8[8,5]{0,1}"}"#),
            "corrupt",
            "is stored as \"|u1\" [8, 5]",
        ),
    ];
    for (number, (bytes, kind, part)) in cases.iter().enumerate() {
        let (found, said) = refused(bytes);
        assert!(found == *kind && said.contains(part), "case {number}: {found}: {said}");
    }
    // An entry within the data of another; both have headers that agree.
    let inner = stored("b.npy", &array(9));
    let data = [&header(b"PK\x03\x04", &inner)[..], b"b.npy", &inner.data].concat();
    let data = [data, vec![0; 400]].concat();
    let outer = stored("a.npy", &npy("|u1", false, "(400,)", &data[..400]));
    let within = 35 + outer.data.len() - 400;
    let (_, said) = refused(&archive(&[outer, Entry { at: Some(within as u64), ..inner }]));
    assert!(
        said.contains("\"b.npy\" begins at byte") && said.contains("within \"a.npy\""),
        "{said}"
    );
}

#[test]
fn stored_bytes_that_changed_are_found_before_anything_is_written() {
    let folder = folder();
    let out = folder.path().join("out.npz");
    let entry = stored("a.npy", &array(300));
    let mut bytes = archive(&[entry]);
    bytes[150] ^= 1;
    let path = write(&folder, "t.npz", &bytes);
    let error = convert(&path, &out, to("{0:T(7)}")).unwrap_err();
    assert!(error.kind() == "corrupt" && error.to_string().contains("checksum"), "{error}");
    assert_eq!(names(&folder), ["t.npz"]);
    let error = verify(&path, &path, &Request::new(), &()).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the value of a byte is, the file is an error or converts.
    #[test]
    fn any_bytes_are_an_archive_or_an_error(
        changes in proptest::collection::vec((0usize..4900, any::<u8>()), 1..4),
        is_deflated: bool,
    ) {
        let mut bytes = fs::read(corpus(if is_deflated { DEFLATED } else { STORED })).unwrap();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let folder = folder();
        let path = write(&folder, "t.npz", &bytes);
        if let Ok(input) = open(&path, &Reading::default()) {
            let out = folder.path().join("out.npz");
            let request = to("row-major").skip_unfit(true).verify(true);
            let result = Conversion::prepare(&input, &out, request).unwrap().run(&());
            prop_assert!(result.is_ok() || result.unwrap_err().kind() == "corrupt");
        }
    }
}

#[test]
fn arrays_with_the_highest_byte_first_come_back_from_layouts_with_notes() {
    let folder = tempfile::tempdir().unwrap();
    for (descr, width) in [(">f4", 4), (">u2", 2), (">c8", 8), ("<f4", 4)] {
        let data: Vec<u8> = (0..20 * 30 * width).map(|i| (i * 7 % 251) as u8).collect();
        let path = write(
            &folder,
            "in.npz",
            archive(&[stored("a.npy", &npy(descr, false, "(20, 30)", &data))]),
        );
        let (relaid, back) = (folder.path().join("zn.npz"), folder.path().join("back.npz"));
        let request = |spec| Request::new().to(spec).force(true).verify(true);
        convert(&path, &relaid, request(spec("zN"))).unwrap();
        convert(&relaid, &back, request(spec("row-major"))).unwrap();
        let whole = |path: &std::path::Path| arrays(path);
        assert_eq!(whole(&back), whole(&path), "{descr}");
    }
}

#[test]
fn an_array_that_no_layout_can_be_given_to_leaves_the_others_readable() {
    let folder = tempfile::tempdir().unwrap();
    let shape = format!("({})", "1, ".repeat(40));
    let entries = [
        stored("a.npy", &npy("<f4", false, "(2,)", &[0; 8])),
        stored("b.npy", &npy("|V16", false, "(2,)", &[0; 32])),
        stored("c.npy", &npy("<f4", false, &shape, &[0; 4])),
    ];
    let input = open(write(&folder, "odd.npz", archive(&entries)), &Reading::default()).unwrap();
    let refused: Vec<bool> =
        input.tensors().iter().map(|tensor| tensor.refusal().is_some()).collect();
    assert_eq!(refused, [false, true, true]);
}

/// The content of an archive apart from arrays is copied, and a result without it differs.
#[test]
fn entries_and_texts_that_are_no_arrays_pass_through() {
    let folder = folder();
    let text = r#"{"about":"weights","tilewright.layout.gone":"u8[3] row-major"}"#;
    let own = [
        stored("a.npy", &npy("|u1", false, "(4, 6)", &noise(24))),
        stored("readme.txt", b"hello"),
        deflated("deep/b.bin", &[7; 1000]),
        stored("tilewright.json", text.as_bytes()),
    ];
    let path = write(&folder, "in.npz", archive(&own));
    let out = folder.path().join("out.npz");
    convert(&path, &out, to("zN[M0=2,C0=4]").verify(true)).unwrap();
    let (was, is) = (arrays(&path), arrays(&out));
    for name in ["readme.txt", "deep/b.bin"] {
        let find = |list: &[(String, String, Vec<u64>, Vec<u8>)]| {
            list.iter().find(|(own, ..)| own == name).unwrap().clone()
        };
        assert_eq!(find(&was), find(&is));
    }
    let input = open(&out, &Reading::default()).unwrap();
    let said: Vec<(&str, &str)> = input.metadata().collect();
    assert!(said.contains(&("about", "weights")), "{said:?}");
    assert!(said.contains(&("tilewright.layout.a", "u8[4,6] zN[M0=2,C0=4]")), "{said:?}");
    assert_eq!(open(&path, &Reading::default()).unwrap().warnings().count(), 1);
    let same =
        |path: &std::path::Path| verify(path, corpus_like(&own, &folder), &Request::new(), &());
    assert!(matches!(same(&out).unwrap(), Verdict::Same { .. }));
    let lost = [own[0].clone(), own[1].clone(), own[2].clone()];
    let lost = write(&folder, "lost.npz", archive(&lost));
    let Verdict::Differs(found) = same(&lost).unwrap() else { panic!() };
    assert!(found.to_string().contains("about"), "{found}");
    // An array and another entry of the same name are two tensors of the same name.
    let twice = archive(&[own[0].clone(), stored("a", b"x")]);
    let (kind, said) = refused(&twice);
    assert!(kind == "unsupported" && said.contains("both called"), "{kind}: {said}");
    // Bytes after an array of an archive are not an array.
    let more = [npy("|u1", false, "(4,)", &noise(4)), vec![0]].concat();
    assert_eq!(refused(&archive(&[stored("a.npy", &more)])).0, "corrupt");
}

/// A name that would be unpacked elsewhere is read, but no archive with it is written.
#[test]
fn entries_that_leave_their_folder_are_not_written() {
    let folder = folder();
    let out = folder.path().join("out.npz");
    for name in ["../a", "a/../../b", "/a", "..\\a", "C:\\a", ".."] {
        let entry = stored(&format!("{name}.npy"), &npy("|u1", false, "(4, 6)", &noise(24)));
        let path = write(&folder, "in.npz", archive(&[entry]));
        let made = convert(&path, &out, to("col-major"));
        if name == ".." {
            // The entry has the name `...npy`.
            made.unwrap();
            fs::remove_file(&out).unwrap();
            continue;
        }
        let error = made.unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("outside of its folder"), "{error}");
        assert!(!out.exists());
        let other = folder.path().join("out.npy");
        convert(&path, &other, to("col-major")).unwrap();
        fs::remove_file(other).unwrap();
    }
    // Python's readers end a name at a byte 0.
    let (kind, said) = refused(&archive(&[stored("a\0b.npy", &array(4))]));
    assert!(kind == "corrupt" && said.contains("byte 0"), "{kind}: {said}");
}

fn corpus_like(entries: &[Entry], folder: &tempfile::TempDir) -> std::path::PathBuf {
    write(folder, "again.npz", archive(entries))
}

/// A changed byte of an archive is found by its checksum, whatever reads the archive.
#[test]
fn data_are_compared_with_the_checksums_of_an_archive() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let array = npy("<f4", false, "(4,)", &[1; 16]);
    let mut bytes = archive(&[stored("a.npy", &array)]);
    fs::write(at("good.npz"), &bytes).unwrap();
    let data = bytes.windows(16).rposition(|window| window == [1; 16]).unwrap();
    bytes[data + 5] ^= 4;
    fs::write(at("bad.npz"), &bytes).unwrap();
    let open = |name: &str| tilewright_files::Collection::open(at(name)).unwrap();
    let (good, bad) = (open("good.npz"), open("bad.npz"));
    let key = tilewright_files::Key::default();
    assert!(good.fingerprints(&key, &()).is_ok());
    for error in [
        bad.fingerprints(&key, &()).unwrap_err(),
        tilewright_files::same_data(&good, &bad, &key, &()).unwrap_err(),
    ] {
        assert!(error.is_io() && error.to_string().contains("bad.npz"), "{error}");
    }
}
