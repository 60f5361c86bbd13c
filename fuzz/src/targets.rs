//! What is read from outside, as functions of bytes. Each checks a law or a bound: a panic is a find.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use tilewright::{
    Dtype, ResolvedLayout, Spec,
    ask::BankConflicts,
    banks,
    eval::evaluate,
    files::{Conversion, Input, Reading, Request, Verdict, open, verify},
    input::Array,
    notation::{add_formats, catalogue},
    xla::{ArrayShape, HloModule, Layout, Shape},
};

/// A function of bytes that panics where a law does not hold.
pub(crate) type Target = fn(&[u8]);

/// All targets by name.
pub(crate) const TARGETS: [(&str, Target); 9] = [
    ("spec", spec),
    ("eval", eval),
    ("hlo_text", hlo_text),
    ("hlo_proto", hlo_proto),
    ("safetensors", safetensors),
    ("numpy", numpy),
    ("gguf", gguf),
    ("formats", formats),
    ("banks", banks),
];

/// Longer inputs say nothing more.
const LONGEST: usize = 1 << 16;

/// The most bytes of tensors that are read and converted.
const MOST: u64 = 1 << 16;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST)
}

/// A span lies in the text, between characters.
fn check_span(text: &str, span: Option<(usize, usize)>) {
    if let Some((from, to)) = span {
        assert!(from <= to && to <= text.len(), "{text:?}: {from}..{to}");
        assert!(text.is_char_boundary(from) && text.is_char_boundary(to), "{text:?}");
    }
}

/// What a SPEC means, said as a SPEC, means the same; an error points into the text.
fn spec(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let spec = match Spec::parse(text) {
        Ok(spec) => spec,
        Err(error) => {
            assert!(error.render().starts_with(&error.to_string()));
            return check_span(text, error.span());
        }
    };
    let arrays: [(Option<&[u64]>, Option<Dtype>); 5] = [
        (None, None),
        (Some(&[6, 10]), Some(Dtype::F16)),
        (Some(&[5]), Some(Dtype::S8)),
        (Some(&[2, 3, 20]), Some(Dtype::F32)),
        (Some(&[2, 33, 4, 5]), Some(Dtype::S4)),
    ];
    for (dims, dtype) in arrays {
        let Ok(named) = spec.resolve(dims, dtype) else { continue };
        let said = named.to_spec();
        let again = Spec::parse(&said).and_then(|spec| spec.resolve(None, None));
        let again = again.unwrap_or_else(|error| panic!("{text:?} is {said:?}: {error}"));
        let facts = |it: &ResolvedLayout| {
            (it.layout().clone(), it.element_bits(), it.fill(), it.byte_order())
        };
        assert_eq!(facts(&again), facts(&named), "{text:?}: {said}");
    }
}

/// A value reads back as it printed; an error points into the text.
fn eval(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match evaluate(text) {
        Ok(value) => {
            let printed = value.to_string();
            let written = !["list", "boolean", "padding"].contains(&value.kind());
            let spelled =
                !printed.contains(['[', '{']) || ["linear", "dims"].contains(&value.kind());
            if written && spelled {
                let plain = printed.strip_suffix("+0").unwrap_or(&printed);
                let again = evaluate(&printed).map(|value| value.to_string());
                let again = again.unwrap_or_else(|error| panic!("{text:?} is {printed}: {error}"));
                assert_eq!(again, plain, "{text:?}");
            }
        }
        Err(error) => {
            assert!(error.render().starts_with(&error.to_string()));
            check_span(text, error.span());
        }
    }
}

/// A shape prints as text that is the same shape, but for the plain layout of a scalar, which says nothing.
fn reads_back(shape: &Shape) {
    let printed = shape.to_string();
    let again = Shape::parse(&printed);
    let mut said = shape.clone();
    said.for_each_array_mut(&mut |array| {
        if array.dims().is_empty() && array.layout() == Some(&Layout::descending(0)) {
            array.set_layout(None);
        }
    });
    assert_eq!(again.as_ref().ok(), Some(&said), "{printed}: {again:?}");
}

fn module(module: &HloModule, len: usize) {
    let shapes = module.computations.iter().flat_map(|computation| &computation.instructions);
    // An instruction takes some bytes to say.
    assert!(shapes.clone().count() <= len);
    let shapes = shapes.filter_map(|instruction| instruction.shape.as_deref());
    shapes.take(100).for_each(reads_back);
    if let Some(entry) = module.entry() {
        let _ = entry.buffers(None);
    }
}

/// Shapes print as themselves, and take the bytes of their storage; an error has a line of the text.
fn hlo_text(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match HloModule::parse(text) {
        Ok(it) => module(&it, text.len()),
        Err(error) => {
            assert!(error.line().unwrap_or(0) <= text.lines().count() + 1, "{text:?}: {error}")
        }
    }
    if let Ok(shape) = Shape::parse(text) {
        reads_back(&shape);
    }
    if let Ok(array) = ArrayShape::parse(text)
        && let (Ok(layout), Ok(bytes)) = (array.lower(), array.bytes())
    {
        let bits = array.element_bits().unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let stored = u128::from(layout.capacity()) * u128::from(bits);
        assert_eq!(u128::from(bytes), stored.div_ceil(8), "{text:?}");
    }
}

/// What is read is written again, and read as the same.
fn hlo_proto(bytes: &[u8]) {
    if bytes.len() > LONGEST {
        return;
    }
    if let Ok(it) = HloModule::from_proto_bytes(bytes) {
        let shapes = it.computations.iter().flat_map(|computation| &computation.instructions);
        assert!(shapes.count() <= bytes.len());
    }
    if let Ok(shape) = Shape::from_proto_bytes(bytes) {
        let written = shape.to_proto_bytes().unwrap_or_else(|error| panic!("{shape}: {error}"));
        assert_eq!(Shape::from_proto_bytes(&written).as_ref().ok(), Some(&shape), "{shape}");
    }
}

/// How many conversions were run and verified.
pub(crate) static VERIFIED: AtomicUsize = AtomicUsize::new(0);

/// Tensors lie within their file; what is converted is verified.
fn file(bytes: &[u8], name: &str, beside: &[(&str, Vec<u8>)]) {
    if bytes.len() > LONGEST {
        return;
    }
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join(name);
    let all = beside.iter().map(|(name, bytes)| (*name, bytes.as_slice())).chain([(name, bytes)]);
    for (name, bytes) in all {
        if fs::write(folder.path().join(name), bytes).is_err() {
            return;
        }
    }
    let Ok(input) = open(&path, &Reading::default()) else { return };
    within(&input);
    let sum: u64 = input.tensors().iter().map(|tensor| tensor.bytes()).sum();
    let out = folder.path().join(format!("out{}", &name[name.find('.').unwrap_or(0)..]));
    let request = Request::new().to(col_major()).skip_unfit(true).memory(MOST);
    if sum > MOST || input.tensors().len() > 50 {
        return;
    }
    let Ok(conversion) = Conversion::prepare(&input, &out, request.clone()) else { return };
    if conversion.run(&()).is_err() {
        return;
    }
    match verify(&out, &path, &request, &()) {
        Ok(Verdict::Same { .. }) => _ = VERIFIED.fetch_add(1, Ordering::Relaxed),
        Ok(Verdict::Differs(found)) => panic!("{found}"),
        Err(error) => panic!("a result that cannot be verified: {error}"),
    }
}

fn col_major() -> Spec {
    Spec::parse("col-major").unwrap_or_else(|error| panic!("{error}"))
}

fn within(input: &Input) {
    let sizes: Vec<u64> =
        input.files().map(|path| fs::metadata(path).map_or(0, |facts| facts.len())).collect();
    for tensor in input.tensors() {
        for piece in tensor.pieces() {
            let end = piece.at().checked_add(piece.bytes());
            let size = sizes.get(piece.file()).copied().unwrap_or(0);
            let packed = input.format() == "npz";
            assert!(packed || end.is_some_and(|end| end <= size), "{}: {piece:?}", tensor.name());
        }
        if tensor.bytes() <= MOST {
            let _ = input.bytes(tensor, MOST);
        }
    }
}

/// A file of one tensor of two bytes.
pub(crate) fn shard(name: &str) -> Vec<u8> {
    let header = format!(r#"{{"{name}":{{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}}}}"#);
    let len = (header.len() as u64).to_le_bytes();
    [&len[..], header.as_bytes(), &[1, 2]].concat()
}

/// A safetensors file, or the index of two.
fn safetensors(bytes: &[u8]) {
    match bytes.first() {
        Some(b'{') => {
            let beside = [("a.safetensors", shard("a")), ("b.safetensors", shard("b"))];
            file(bytes, "in.safetensors.index.json", &beside);
        }
        _ => file(bytes, "in.safetensors", &[]),
    }
}

/// An array or an archive of arrays.
fn numpy(bytes: &[u8]) {
    file(bytes, if bytes.starts_with(b"PK") { "in.npz" } else { "in.npy" }, &[]);
}

fn gguf(bytes: &[u8]) {
    file(bytes, "in.gguf", &[]);
}

/// The formats of a process are few; beyond this number a text is only read.
const FORMATS: usize = 500;

/// What is added has its name in the catalogue, once; what is refused leaves the catalogue as it was.
fn formats(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let before = catalogue().count();
    let refused = format!("{text}\n[[format]]\nname = 'zN'\npattern = 'm n -> m n'\n");
    assert!(add_formats(&refused).is_err(), "{text:?}");
    assert_eq!(catalogue().count(), before, "{text:?}");
    if before > FORMATS {
        return;
    }
    match add_formats(text) {
        Ok(names) => {
            assert_eq!(catalogue().count(), before + names.len());
            for name in &names {
                assert_eq!(catalogue().filter(|format| format.name == *name).count(), 1);
            }
            assert!(names.is_empty() || add_formats(text).is_err(), "{text:?}");
        }
        Err(error) => {
            check_span(text, error.span());
            assert_eq!(catalogue().count(), before, "{text:?}");
        }
    }
}

/// The most elements of an array whose conflicts are counted.
const TILE: u64 = 1 << 12;

/// Lines say a layout, a machine and accesses. Each word that is wanted takes a cycle at one bank at most, every turn has its
/// first cycle, and after the least swizzle there are no conflicts; an error names the part at fault.
fn banks(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let mut lines = text.lines();
    let (Some(spec), Some(machine)) = (lines.next(), lines.next()) else { return };
    let accesses: Vec<&str> = lines.take(3).collect();
    let Ok(layout) = Array::default().layout("spec", spec) else { return };
    let machine = match banks::machine(machine) {
        Ok(machine) => machine,
        Err(error) => return assert_eq!(error.field(), Some("banks"), "{text:?}"),
    };
    let is_small = layout.layout().size() <= TILE && layout.layout().capacity() <= 2 * TILE;
    let report = match BankConflicts::of(&layout, &accesses, None, &machine, is_small) {
        Ok(report) => report,
        Err(error) => {
            let known = ["access", "vector", "dtype"].map(Some).contains(&error.field());
            return assert!(known, "{text:?}: {error}");
        }
    };
    for (_, count) in &report.accesses {
        let most = count.phases.iter().map(|phase| phase.degree).max().unwrap_or(0);
        assert_eq!(count.degree, most, "{text:?}");
        assert!(count.turns <= count.cycles, "{text:?}");
        assert!(count.cycles <= count.turns * count.degree, "{text:?}");
        assert_eq!(count.worst.is_some(), count.degree > 1, "{text:?}");
    }
    if let Some(fixed) = report.fixed() {
        let again = BankConflicts::of(&fixed, &accesses, None, &machine, false);
        let again = again.unwrap_or_else(|error| panic!("{text:?} fixed: {error}"));
        assert_eq!(again.conflicts(), 0, "{text:?}");
    }
}

/// The inputs that every search of a target begins with: its own, and the files of the corpus that it reads.
pub(crate) fn seeds(root: &Path, target: &str) -> Vec<Vec<u8>> {
    let data = root.join("corpus/data");
    let (folder, ending) = match target {
        "hlo_text" => (data.join("hlo"), "txt"),
        "hlo_proto" => (data.join("hlo"), "pb"),
        "numpy" => (data, "npz"),
        "gguf" => (data, "gguf"),
        _ => (data, "none"),
    };
    let listed = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).map(|entries| entries.flatten().collect());
        entries.unwrap_or_else(|_| Vec::new()).iter().map(|entry| entry.path()).collect()
    };
    let of_corpus = listed(&folder).into_iter();
    let of_corpus = of_corpus.filter(|path| path.extension().is_some_and(|it| it == ending));
    let mut paths = listed(&root.join("fuzz/seeds").join(target));
    paths.extend(of_corpus);
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}
