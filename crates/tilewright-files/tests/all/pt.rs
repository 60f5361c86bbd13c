//! `.pt`: checkpoints of torch are read as data, and what contradicts itself or is no view of a storage is an error.

use std::fs;

use tilewright_core::Dtype;
use tilewright_files::{Collection, Error, Input, Reading, Verdict, open, verify};

use crate::{
    common::*,
    folders::inside,
    npz::{archive, deflated, stored},
};

const TORCH: &str = "tiny_torch.pt";

/// Returns the bytes of a tensor.
fn bytes(input: &Input, name: &str) -> Vec<u8> {
    let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    input.bytes(tensor, 1 << 20).unwrap()
}

#[test]
fn a_file_of_torch_has_its_tensors_with_their_strides() {
    let input = open(corpus(TORCH), &Reading::default()).unwrap();
    assert_eq!((input.format(), input.tensors().len()), ("pt", 17));
    let facts = |name: &str| {
        let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
        (tensor.dtype(), tensor.file_dtype(), tensor.dims().to_vec(), tensor.layout().name())
    };
    let by_rows =
        |dtype, file: &'static str, dims: &[u64]| (dtype, file, dims.to_vec(), "row-major");
    assert_eq!(facts("model.whole"), by_rows(Dtype::F32, "float32", &[6, 8]));
    assert_eq!(facts("model.transposed"), (Dtype::F32, "float32", vec![8, 6], "col-major"));
    assert_eq!(facts("model.cut"), (Dtype::F32, "float32", vec![2, 5], "(2,5):(16,1)"));
    assert_eq!(facts("model.repeated"), (Dtype::S16, "int16", vec![4, 3], "(4,3):(0,1)"));
    assert_eq!(facts("model.channels_last").3, "(2,3,4,5):(60,1,15,3)");
    assert_eq!(facts("model.eight"), by_rows(Dtype::F8e4m3fn, "float8_e4m3fn", &[8]));
    assert_eq!(facts("model.long"), by_rows(Dtype::S64, "int64", &[]));
    assert_eq!(facts("model.truth"), by_rows(Dtype::Pred, "bool", &[3]));
    assert_eq!(facts("averages.0"), by_rows(Dtype::F32, "float32", &[2]));
    // Of views only the bytes from the first element to the last one.
    assert_eq!(bytes(&input, "model.cut").len(), (16 + 5) * 4);
    assert_eq!(bytes(&input, "model.repeated"), [0, 0, 1, 0, 2, 0]);
    let warnings: Vec<String> = input.warnings().collect();
    assert!(
        warnings.iter().any(|said| said.contains("2 values not in a tensor, such as \"step\""))
    );
    assert!(warnings.iter().any(|said| said.contains("4 tensors, such as \"model.transposed\"")));
}

#[test]
fn all_tensors_become_rows_that_are_verified() {
    let folder = folder();
    for end in ["safetensors", "npz"] {
        let out = folder.path().join(format!("rows.{end}"));
        convert(corpus(TORCH), &out, to("row-major").verify(true)).unwrap();
        let result = open(&out, &Reading::default()).unwrap();
        let numbers = |name: &str| {
            let four = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
            bytes(&result, name).chunks(4).map(four).collect::<Vec<f32>>()
        };
        assert!((0..48).all(|at| numbers("model.whole")[at] == at as f32));
        assert!((0..48).all(|at| numbers("model.transposed")[at] == (at % 6 * 8 + at / 6) as f32));
        assert_eq!(numbers("model.cut"), [10., 11., 12., 13., 14., 26., 27., 28., 29., 30.]);
        assert_eq!(bytes(&result, "model.repeated"), [0, 0, 1, 0, 2, 0].repeat(4));
        let eight = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
        let last: Vec<f64> = bytes(&result, "model.channels_last").chunks(8).map(eight).collect();
        assert!((0..120).all(|at| last[at] == at as f64));
        let verdict = verify(&out, corpus(TORCH), &to("row-major"), &()).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    }
}

#[test]
fn nothing_is_written_as_pt() {
    let folder = folder();
    let error = convert(corpus(TORCH), folder.path().join("a.pt"), to("row-major")).unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("becomes a .safetensors or .npz file"),
        "{error}"
    );
}

fn text(text: &str) -> Vec<u8> {
    [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
    [b"(", &items.concat()[..], b"t"].concat()
}

fn numbers(numbers: &[i32]) -> Vec<u8> {
    tuple(
        &numbers
            .iter()
            .map(|number| [&b"J"[..], &number.to_le_bytes()].concat())
            .collect::<Vec<_>>(),
    )
}

fn number(number: i32) -> Vec<u8> {
    [&b"J"[..], &number.to_le_bytes()].concat()
}

/// Returns the code that makes a tensor: a view of storage 0.
fn tensor(class: &str, offset: i32, extents: &[i32], strides: &[i32]) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n").into_bytes();
    let storage =
        [tuple(&[text("storage"), class, text("0"), text("cpu"), number(4)]), b"Q".to_vec()]
            .concat();
    let arguments =
        tuple(&[storage, number(offset), numbers(extents), numbers(strides), b"\x89".to_vec()]);
    [&b"ctorch._utils\n_rebuild_tensor_v2\n"[..], &arguments, b"R"].concat()
}

/// Returns the bytes of an archive with a dict of these values and a storage of 16 bytes, each with the value `fill`.
fn made(pairs: &[(&str, Vec<u8>)], fill: u8) -> Vec<u8> {
    let pairs: Vec<u8> =
        pairs.iter().flat_map(|(name, value)| [text(name), value.clone()].concat()).collect();
    let pickle = [b"\x80\x02}(", &pairs[..], b"u."].concat();
    archive(&[stored("m/data.pkl", &pickle), stored("m/data/0", &[fill; 16])])
}

fn opened(pairs: &[(&str, Vec<u8>)]) -> Result<Input, Error> {
    open_bytes(&made(pairs, 7))
}

fn open_archive(entries: &[crate::npz::Entry]) -> Result<Input, Error> {
    open_bytes(&archive(entries))
}

fn open_bytes(bytes: &[u8]) -> Result<Input, Error> {
    let folder = folder();
    let path = folder.path().join("a.pt");
    fs::write(&path, bytes).unwrap();
    open(&path, &Reading::default())
}

/// A folder as transformers wrote it: one file, or an index of several.
#[test]
fn a_folder_of_torch_is_opened_by_its_index_or_its_file() {
    let folder = folder();
    let at = |name: &str| folder.path().join("model").join(name);
    fs::create_dir(folder.path().join("model")).unwrap();
    let square = || tensor("FloatStorage", 0, &[2, 2], &[1, 2]);
    fs::write(at("pytorch_model.bin"), made(&[("a", square())], 1)).unwrap();
    let model = folder.path().join("model");
    let input = open(&model, &Reading::default()).unwrap();
    assert_eq!((input.format(), input.tensors()[0].name()), ("pt", "a"));

    fs::write(at("1.bin"), made(&[("a", square())], 1)).unwrap();
    fs::write(at("2.bin"), made(&[("b", square()), ("c", square())], 2)).unwrap();
    let index = |map: &str| {
        let text = format!(r#"{{"metadata":{{"total_size":48}},"weight_map":{{{map}}}}}"#);
        fs::write(at("pytorch_model.bin.index.json"), text).unwrap();
        open(&model, &Reading::default())
    };
    let input = index(r#""a":"1.bin","b":"2.bin","c":"2.bin""#).unwrap();
    assert_eq!((input.format(), input.tensors().len()), ("sharded pt", 3));
    assert_eq!((bytes(&input, "a"), bytes(&input, "c")), (vec![1; 16], vec![2; 16]));
    assert!(input.warnings().any(|said| said.contains("not in row-major order")));
    // The result is a folder with a newer file, and with the other files of the model.
    fs::write(at("config.json"), "{}").unwrap();
    let out = folder.path().join("out");
    convert(&model, &out, to("row-major").verify(true)).unwrap();
    assert_eq!(inside(&out), ["config.json", "model.safetensors"]);
    let verdict = verify(&out, &model, &to("row-major"), &()).unwrap();
    assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    let out = out.join("model.safetensors");
    let result = open(&out, &Reading::default()).unwrap();
    assert_eq!((bytes(&result, "a"), bytes(&result, "b")), (vec![1; 16], vec![2; 16]));
    let collection = Collection::open(&model).unwrap();
    assert_eq!(collection.names().count(), 3);

    for (map, why) in [
        (r#""a":"1.bin","b":"2.bin""#, "holds tensor \"c\", which the index does not name"),
        (r#""a":"2.bin","b":"2.bin","c":"2.bin""#, "which does not hold it"),
        (r#""a":"../1.bin""#, "a shard must be a file name beside the index"),
        (r#""a":"3.bin""#, "3.bin"),
    ] {
        let error = index(map).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // A newer checkpoint in the folder is read in its place.
    fs::copy(&out, at("model.safetensors")).unwrap();
    assert_eq!(open(&model, &Reading::default()).unwrap().format(), "safetensors");
}

#[test]
fn what_is_no_view_of_a_storage_is_an_error_that_says_why() {
    let plain = tensor("FloatStorage", 0, &[2, 2], &[2, 1]);
    let input =
        opened(&[("a", plain.clone()), ("b", tensor("LongStorage", 1, &[1], &[1]))]).unwrap();
    assert_eq!(bytes(&input, "b"), [7; 8]);

    let sparse = b"ctorch._utils\n_rebuild_sparse_tensor\n)R".to_vec();
    let open = [&b"}("[..], &text("a")].concat().repeat(40);
    let deep = [&open[..], &number(3), &b"u".repeat(40)].concat();
    for (value, why) in [
        (
            tensor("FloatStorage", 1, &[2, 2], &[2, 1]),
            "16 bytes from element 1 on exceed its storage of 16 bytes",
        ),
        (tensor("FloatStorage", 0, &[2, 2], &[1 << 30, 1]), "exceed its storage of 16 bytes"),
        (tensor("FloatStorage", 0, &[2, 2], &[2]), "1 strides for 2 dims"),
        (tensor("FloatStorage", -1, &[2], &[1]), "are not whole numbers"),
        (tensor("FloatStorage", 0, &[2], &[-1]), "are not whole numbers"),
        (tensor("QInt8Storage", 0, &[2], &[1]), "elements of QInt8Storage, which are not read"),
        (sparse, "made by _rebuild_sparse_tensor, which is not a view of a storage"),
        (number(3), "it holds no tensors in dicts and lists"),
        (deep, "is nested deeper than 32 dicts and lists"),
    ] {
        let error = opened(&[("a", value)]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let inner = [&b"}("[..], &text("b"), &plain, b"u"].concat();
    let error = opened(&[("a.b", plain.clone()), ("a", inner)]).unwrap_err();
    assert!(error.to_string().contains("two tensors are called \"a.b\""), "{error}");
}

/// Values that a small pickle makes large: names, names of classes, dims, tensors.
#[test]
fn what_grows_beyond_its_pickle_is_refused() {
    let with = |pickle: &[u8]| {
        open_archive(&[stored("m/data.pkl", pickle), stored("m/data/0", &[7; 16])]).unwrap_err()
    };
    let long = text(&"n".repeat(500_000));
    let named =
        [b"\x80\x02}q\x00(", &long[..], b"q\x01K\x01", &b"h\x01K\x01".repeat(100_000), b"u."];
    let list = [&b"\x80\x02]q\x00("[..], &b"h\x00".repeat(100_000), b"e."];
    let class = [b"\x80\x04", &long[..], b"\x94", &b"h\x00h\x00\x93".repeat(10), b"."];
    for (pickle, why) in [
        (named.concat(), "a name of more than 4096 bytes"),
        (list.concat(), "more than 1048576 values"),
        (class.concat(), "the name of a class is not a short text"),
    ] {
        let error = with(&pickle).to_string();
        assert!(error.contains(why) && error.len() < 500, "{error}");
    }
    let wide = tensor("FloatStorage", 0, &[1; 40], &[1; 40]);
    let error = opened(&[("a", wide)]).unwrap_err();
    assert!(error.to_string().contains("more than 16 arguments, or more than 32 dims"), "{error}");
}

#[test]
fn tensors_alone_and_in_other_dicts_are_read_and_lazy_views_are_errors() {
    let plain = tensor("FloatStorage", 0, &[2, 2], &[2, 1]);
    let alone = [b"\x80\x02", &plain[..], b"."].concat();
    let input = open_archive(&[stored("m/data.pkl", &alone), stored("m/data/0", &[7; 16])]);
    assert_eq!(input.unwrap().tensors()[0].name(), "tensor");
    let default = [&b"ccollections\ndefaultdict\n)R("[..], &text("b"), &plain, b"u"].concat();
    let input = opened(&[("a", default), ("c", b"cmodels\nNet\n)R".to_vec())]).unwrap();
    assert_eq!(input.tensors()[0].name(), "a.b");
    assert!(input.warnings().any(|said| said.contains("\"c\", an object of class \"Net\"")));
    let function = b"ctorch._utils\n_rebuild_tensor_v2\n";
    let arguments = &plain[function.len()..plain.len() - 1];
    let parts = [
        &b"ctorch._tensor\n_rebuild_from_type_v2\n("[..],
        function,
        b"cmodels\nMine\n",
        arguments,
        b"NtR",
    ];
    let input = opened(&[("a", parts.concat())]).unwrap();
    assert_eq!((input.tensors()[0].name(), bytes(&input, "a")), ("a", vec![7; 16]));
    let bit = [&b"}("[..], &text("conj"), b"\x88u"].concat();
    let end = plain.len() - 2;
    let lazy = [&plain[..end], &bit, b"tR"].concat();
    let error = opened(&[("a", lazy)]).unwrap_err();
    assert!(error.to_string().contains("save what resolve_conj() returns"), "{error}");
}

#[test]
fn archives_that_torch_would_not_write_are_errors() {
    let pickle =
        [b"\x80\x02}(", &text("a")[..], &tensor("FloatStorage", 0, &[4], &[1]), b"u."].concat();
    let pickled = || stored("m/data.pkl", &pickle);
    let little =
        open_archive(&[pickled(), stored("m/byteorder", b"little"), stored("m/data/0", &[7; 16])]);
    assert_eq!(little.unwrap().tensors()[0].spec(), "f32[4] row-major");
    let big =
        open_archive(&[pickled(), stored("m/byteorder", b"big"), stored("m/data/0", &[7; 16])]);
    assert_eq!(big.unwrap().tensors()[0].spec(), ">f4[4] row-major");
    for (entries, why) in [
        (vec![pickled()], "the archive lacks the entry \"data/0\""),
        (vec![pickled(), stored("n/data/0", &[7; 16])], "the archive lacks the entry \"data/0\""),
        (vec![pickled(), deflated("m/data/0", &[7; 16])], "the entry \"data/0\" is deflated"),
        (
            vec![pickled(), stored("m/byteorder", b"mixed"), stored("m/data/0", &[7; 16])],
            "\"mixed\", neither",
        ),
        (vec![stored("m/data.pkl", b"\x80\x02}")], "the pickle has no end"),
    ] {
        let error = open_archive(&entries).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    // Of a dict that holds itself, every round counts.
    let endless = [b"\x80\x02}q\x00(", &text("a")[..], b"h\x00u."].concat();
    let error = open_archive(&[stored("m/data.pkl", &endless)]).unwrap_err();
    assert!(error.to_string().contains("nested deeper than 32 dicts and lists"), "{error}");
}

#[test]
fn a_file_before_archives_says_how_to_save_it_again() {
    let folder = folder();
    let path = folder.path().join("old.pt");
    fs::write(
        &path,
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.",
    )
    .unwrap();
    let error = open(&path, &Reading::default()).unwrap_err();
    assert!(error.to_string().contains("torch.save(torch.load(FILE), FILE)"), "{error}");
}

#[test]
fn a_changed_byte_of_a_storage_is_found_before_a_result_is_there() {
    let folder = folder();
    let (path, out) = (folder.path().join("a.pt"), folder.path().join("a.safetensors"));
    let mut file = fs::read(corpus(TORCH)).unwrap();
    let at = open(corpus(TORCH), &Reading::default()).unwrap().tensors()[0].pieces()[0].at();
    file[at as usize + 5] ^= 1;
    fs::write(&path, file).unwrap();
    let error = convert(&path, &out, to("row-major")).unwrap_err();
    assert!(error.to_string().contains("has the checksum") && !out.exists(), "{error}");
}

/// Tests every byte of the pickle and of the records around it, each with three other values.
#[test]
fn any_change_is_read_or_refused() {
    let folder = folder();
    let file = fs::read(corpus(TORCH)).unwrap();
    let path = folder.path().join("a.pt");
    let ends = file.len() - 2500..file.len();
    for at in (0..2200).chain(ends).step_by(7) {
        let mut changed = file.clone();
        changed[at] = changed[at].wrapping_add([1, 64, 200][at % 3]);
        fs::write(&path, changed).unwrap();
        let _ = open(&path, &Reading::default());
    }
}
