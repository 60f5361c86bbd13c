//! Errors of every area, by the one type: the kind that callers decide by, and whose fault it is.

use std::{fs, path::Path};

use tilewright::{
    Error, Layout, Remedy, Spec, TensorLayout, cuda, eval, files, module,
    relayout::{Elements, Plan},
};

const TINY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");

struct Never;

impl files::Watch for Never {
    fn cancelled(&self) -> bool {
        true
    }
}

fn refused<T>(result: Result<T, impl Into<Error>>) -> Error {
    result.err().unwrap().into()
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

#[test]
fn layouts_and_texts_have_kinds() {
    let rows = || TensorLayout::row_major(&[2, 3]).unwrap();
    let plan = |from: &TensorLayout, to: &TensorLayout, bits| {
        Plan::new(from, to, Elements::same(bits), 0).unwrap()
    };
    let four = TensorLayout::row_major(&[4]).unwrap();
    let (small, apart) =
        (TensorLayout::row_major(&[3, 5]).unwrap(), TensorLayout::of(&layout("(3,5):(7,1)")));
    let nowhere = cuda::Settings::default().with_driver("no/such/libcuda.so");
    let beyond = layout("(6,2):(1,7)").composition(&layout("(3,2):(2,3)"));
    for (kind, error) in [
        ("parse", refused(Spec::parse("(8,32):(32)"))),
        ("ambiguous", refused(Spec::parse("Nz"))),
        ("arguments", refused(eval::evaluate("size()"))),
        ("needs-dims", refused(Spec::parse("NHWC").unwrap().resolve(None, None))),
        ("needs-dtype", refused(Spec::parse("zN").unwrap().resolve(Some(&[32, 32]), None))),
        ("mismatch", refused(rows().offset(&[1]))),
        ("out-of-range", refused(rows().offset(&[2, 0]))),
        ("overflow", refused(TensorLayout::row_major(&[1 << 32, 1 << 32]))),
        ("limit", refused(Spec::parse(&" ".repeat(1 << 20)))),
        ("illegal", refused(TensorLayout::ordered(&[2, 3], &[0, 0]))),
        ("undecided", refused(layout("(999,1000,3):(1000,999,7)").padding_count())),
        ("unsupported", refused(layout("4:1+3").right_inverse())),
        ("no-layout", refused(beyond)),
        ("buffer", refused(plan(&four, &four, 16).run(&[0; 7], &mut [0; 8], 1))),
        ("second-buffer", refused(plan(&small, &apart, 8).in_place())),
    ] {
        assert_eq!(
            (error.kind(), error.is_file(), error.is_usage()),
            (kind, false, true),
            "{error}"
        );
    }
    let device = refused(cuda::Cuda::open(&nowhere));
    assert!(device.is_device() && !device.is_usage(), "{device}");
    assert_eq!(device.kind(), "no-driver");
}

#[test]
fn files_have_kinds_and_tell_requests_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bad) = (folder.path().join("a"), folder.path().join("b.npy"));
    fs::write(&path, "HloModule").unwrap();
    fs::write(&bad, "no header").unwrap();
    let open = |path: &Path| files::open(path, &files::Reading::default());
    let tiny = Path::new(TINY);
    let rows = || files::Request::new().to(Spec::parse("row-major").unwrap()).force(true);
    let input = open(tiny).unwrap();
    let same = files::Conversion::prepare(&input, tiny, rows());
    for (kind, error, of_request) in [
        ("usage", refused(open(Path::new(""))), true),
        ("exists", refused(files::write(&path, b"", false)), true),
        ("converted", twice(tiny, folder.path()), true),
        ("same-file", refused(same), true),
        ("io", refused(open(Path::new("no/such/file.npy"))), false),
        ("corrupt", refused(open(&bad)), false),
        ("cancelled", refused(files::verify(tiny, tiny, &files::Request::new(), &Never)), false),
        ("input", refused(module::read("no/such/module.txt")), false),
        ("module", refused(module::read(&path)), false),
    ] {
        let said = (error.kind(), error.is_file(), error.is_usage());
        assert_eq!(said, (kind, true, of_request), "{error}");
    }
}

/// Returns the error of a second conversion to the layout that a file has by its own note.
fn twice(tiny: &Path, folder: &Path) -> Error {
    let (one, two) = (folder.join("1.safetensors"), folder.join("2.safetensors"));
    let convert = |from: &Path, to: &Path| -> Result<(), Error> {
        let request = files::Request::new().to(Spec::parse("col-major")?).only("3.weight");
        let input = files::open(from, &files::Reading::default())?;
        files::Conversion::prepare(&input, to, request)?.run(&()).map(drop)
    };
    convert(tiny, &one).unwrap();
    convert(&one, &two).unwrap_err()
}

#[test]
fn remedies_and_causes_pass_through() {
    let error = refused(files::open("no/such/file.npy", &files::Reading::default()));
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    assert!(error.cause::<std::io::Error>().is_some());
    let error = refused(Spec::parse("NHWC").unwrap().resolve(None, None));
    assert_eq!(error.remedies(), [Remedy::Dims]);
    assert_eq!(error.to_string(), format!("{}; give the dims of the array", error.message()));
    let error = refused(TensorLayout::row_major(&[2, 3]).unwrap().offset(&[1]));
    assert_eq!(error.numbers(), [1, 2]);
}
