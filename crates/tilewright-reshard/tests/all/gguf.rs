//! Results in GGUF, as one file and as files of ranks; blocks of quantised types, which move as a whole; sources whose numbers
//! are big-endian.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tilewright_files::{Collection, Key, Reading, open};
use tilewright_reshard::{Error, Form, Job, RawBox, RawTensor, Request, Rules, shards};

use crate::common::{read, write};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name)
}

fn quantised() -> PathBuf {
    corpus("data/tiny_quantised.gguf")
}

fn run(request: Request) -> Result<u64, Error> {
    Job::prepare(request.verify(true))?.run_all(&())
}

/// A file that is rewritten as a file has the same bytes, with any memory.
#[test]
fn a_file_of_whole_tensors_is_the_source() {
    let folder = tilewright_testing::folder();
    for (number, name) in
        ["data/tiny_quantised.gguf", "recipes/llama_gguf/after.gguf"].into_iter().enumerate()
    {
        let out = folder.path().join(format!("{number}.gguf"));
        run(Request::new(corpus(name), &out).memory(64 << 10)).unwrap();
        assert!(fs::read(&out).unwrap() == fs::read(corpus(name)).unwrap(), "{name}");
    }
}

/// Returns whether a rule cuts no block of the tensors of the file.
fn cuts_no_block(rules: &Rules) -> bool {
    let input = open(quantised(), &Reading::default()).unwrap();
    input.tensors().iter().all(|tensor| {
        let block = tensor.dtype().block().map_or(1, |block| u64::from(block.elements));
        let sharded = rules.sharded(tensor.name(), tensor.dims(), None).unwrap();
        sharded.shards().all(|shard| {
            let last: Vec<u64> =
                shard.dims().last().map(|list| list.indices().collect()).unwrap_or_default();
            let is_whole = |run: &[u64]| {
                run[0].is_multiple_of(block) && run.len() as u64 == block && {
                    run.windows(2).all(|pair| pair[1] == pair[0] + 1)
                }
            };
            last.chunks(block as usize).all(is_whole)
        })
    })
}

/// For all meshes and rules: a rule that cuts no block gives files of ranks with the same arrays, which join to the source bit
/// by bit; one that cuts a block is refused with the coordinate.
#[test]
fn blocks_move_as_a_whole_or_not_at_all() {
    let folder = tilewright_testing::folder();
    let source = fs::read(quantised()).unwrap();
    let expected =
        Collection::open(quantised()).unwrap().fingerprints(&Key::default(), &()).unwrap();
    let rules = [
        "[Shard(0), Replicate()]",
        "[Replicate(), Shard(1)]",
        "[Shard(1), Shard(0)]",
        "[Shard(0), Shard(0)]",
        "[_StridedShard(0, sf=2), Shard(0)]",
    ];
    let (mut whole, mut cut) = (0, 0);
    for (number, (mesh, rule)) in ["a=1,b=1", "a=2,b=1", "a=1,b=2", "a=2,b=3", "a=3,b=2"]
        .iter()
        .flat_map(|mesh| rules.iter().map(move |rule| (mesh, rule)))
        .enumerate()
    {
        let out = folder.path().join(number.to_string());
        let rules = Rules::new(mesh).unwrap().rule("*{ffn,experts}*", rule).unwrap();
        let request = Request::new(quantised(), &out).to(rules.clone()).format("gguf");
        let fits = cuts_no_block(&rules);
        let job = match Job::prepare(request.verify(true)) {
            Ok(job) => job,
            Err(error) => {
                assert!(!fits && error.kind() == "unsupported", "{mesh} {rule}: {error}");
                assert!(error.to_string().contains(" cuts a block of "), "{error}");
                cut += 1;
                continue;
            }
        };
        assert!(fits, "{mesh} {rule}");
        whole += 1;
        // A plan of blocks is read by other processes.
        let plan = folder.path().join(format!("plan-{number}"));
        job.write_plan(&plan).unwrap();
        let job = Job::of_plan(&plan).unwrap();
        for rank in 0..2 {
            job.run(job.share(rank, 2), &format!("rank-{rank}"), &()).unwrap();
        }
        job.finish().unwrap();
        let found = shards(&out, None).unwrap().unwrap();
        assert_eq!(found.fingerprints(&Key::default(), &()).unwrap(), expected, "{mesh} {rule}");
        let back = folder.path().join(format!("{number}.gguf"));
        run(Request::new(&out, &back)).unwrap();
        assert!(read(&back) == read(&quantised()), "{mesh} {rule}");
        assert_eq!(fs::metadata(&back).unwrap().len(), source.len() as u64);
    }
    assert_eq!((whole, cut), (19, 6));
}

/// A safetensors source needs the metadata of a model; files of ranks record their rules beside them, which no result of
/// whole tensors keeps.
#[test]
fn metadata_are_those_of_the_model() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let cnn = corpus("data/tiny_cnn_f32.safetensors");
    let error = run(Request::new(&cnn, at("out.gguf"))).unwrap_err();
    let said = "out.gguf: .gguf needs model metadata, which its source lacks: take those of a .gguf file; give a file with metadata";
    assert!(error.is_usage() && error.to_string().ends_with(said), "{error}");
    let error = run(Request::new(&cnn, at("out.gguf")).metadata(&cnn)).unwrap_err();
    assert!(error.to_string().contains("the metadata are those of"), "{error}");

    let rules = Rules::new("tp=2").unwrap().rule("*.weight", "[Shard(0)]").unwrap();
    let ranks = Request::new(&cnn, at("tp2")).to(rules).format("gguf").metadata(quantised());
    run(ranks).unwrap();
    run(Request::new(at("tp2"), at("whole.gguf"))).unwrap();
    assert!(
        read(&at("whole.gguf")) == read(&cnn) || {
            // GGUF names element types in its own way.
            let bytes = |path: &Path| {
                read(path)
                    .into_iter()
                    .map(|(name, (_, dims, bytes))| (name, dims, bytes))
                    .collect::<Vec<_>>()
            };
            bytes(&at("whole.gguf")) == bytes(&cnn)
        }
    );
    let keys = |path: &Path| {
        let input = open(path, &Reading::default()).unwrap();
        input.metadata().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    let model = keys(&quantised());
    assert_eq!(keys(&at("whole.gguf")), model);
    let own = keys(&at("tp2/rank_00000-of-00002.gguf"));
    let more: Vec<&String> = own.iter().filter(|key| !model.contains(key)).collect();
    assert_eq!(more, ["tilewright.rules", "tilewright.extents"]);
}

/// A result in a layout records it in GGUF too, with the fingerprint of the data, which a later verification compares.
#[test]
fn a_layout_is_recorded_with_the_fingerprint() {
    let folder = tilewright_testing::folder();
    let (out, cnn) = (folder.path().join("out.gguf"), corpus("data/tiny_cnn_f32.safetensors"));
    run(Request::new(&cnn, &out).metadata(quantised()).layout("zN")).unwrap();
    let input = open(&out, &Reading::default()).unwrap();
    let mut laid =
        input.tensors().iter().filter(|tensor| tensor.layout().to_spec().ends_with("zN"));
    assert!(laid.next().unwrap().recorded().is_some());
    let request = tilewright_files::Request::new();
    let checked = tilewright_files::verify_recorded(&out, &request, &()).unwrap();
    let is_same = matches!(checked.verdict, tilewright_files::Verdict::Same { .. });
    assert!(is_same && checked.recorded == 4, "{checked:?}");
}

/// A result that is a file is replaced only if that is asked, and only a file; what cannot be written says what can.
#[test]
fn files_are_replaced_on_demand_and_other_results_are_refused() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let cnn = corpus("data/tiny_cnn_f32.safetensors");
    let request = || Request::new(&cnn, at("out.safetensors"));
    run(request()).unwrap();
    assert!(read(&at("out.safetensors")) == read(&cnn));
    let error = run(request()).unwrap_err();
    assert!(
        error.kind() == "exists" && error.to_string().contains("nothing is left to do"),
        "{error}"
    );
    fs::write(at("out.safetensors"), "other").unwrap();
    assert!(run(request()).unwrap_err().to_string().ends_with("exists already"));
    run(request().force(true)).unwrap();
    assert!(read(&at("out.safetensors")) == read(&cnn));
    let own = Request::new(at("out.safetensors"), at("out.safetensors")).force(true);
    assert_eq!(run(own).unwrap_err().kind(), "same-file");
    // A folder with the ending of a file gets nothing.
    fs::create_dir(at("e.gguf")).unwrap();
    let error = run(Request::new(quantised(), at("e.gguf")).force(true)).unwrap_err();
    assert!(error.to_string().contains("e.gguf is a folder, and the result is a file"), "{error}");
    fs::remove_dir(at("e.gguf")).unwrap();
    // One array is a .npy file.
    let one = [("w".to_owned(), ("F32".to_owned(), vec![3], vec![7; 12]))];
    write(&at("one.safetensors"), &one.into(), &[]);
    run(Request::new(at("one.safetensors"), at("one.npy"))).unwrap();
    assert_eq!(fs::read(at("one.npy")).unwrap()[128..], [7; 12]);

    let tp = || Rules::new("tp=2").unwrap();
    for (request, said) in [
        (Request::new(&cnn, at("x.npz")), "write a .safetensors file and convert it"),
        (
            Request::new(&cnn, at("x.npy")),
            "x.npy: .npy holds one array, and the result is 8 tensors",
        ),
        (Request::new(&cnn, at("x.gguf")).to(tp()), "shards are files in a folder; name a folder"),
        (request().format("gguf"), "the ending of its name gives its format"),
        (request().shard_size(9), "is one file, and a maximum size splits results"),
        (Request::new(&cnn, at("x")).format("npz"), "have the format safetensors or gguf, not npz"),
        (Request::new(quantised(), at("x")).format("gguf").shard_size(9), "write one file"),
        (
            Request::new(&cnn, at("x")).format("gguf").form(Form::Dcp).to(tp()),
            "are safetensors, not gguf",
        ),
        (Request::new(&cnn, at("x")).metadata(quantised()), "are for GGUF"),
        (Request::new(quantised(), at("x")), "write GGUF: end the name of the result with .gguf"),
    ] {
        let error = run(request).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(said), "{error}");
    }
    let names = crate::common::names(folder.path());
    assert_eq!(names, ["one.npy", "one.safetensors", "out.safetensors"]);
}

/// Numbers of all widths in big-endian order become little-endian ones, whole and in shards.
#[test]
fn big_endian_numbers_are_reversed() {
    let folder = tilewright_testing::folder();
    for (descr, unit) in
        [(">i2", 2), (">f2", 2), (">u4", 4), (">f4", 4), (">i8", 8), (">f8", 8), (">c8", 4)]
    {
        let width = descr[2..].parse::<usize>().unwrap();
        let (count, at) = (12, |name: &str| folder.path().join(format!("{descr}-{name}")));
        let bytes: Vec<u8> = (0..count * width).map(|i| (i * 37 + 5) as u8).collect();
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3, 4), }}");
        header += &" ".repeat(117 - header.len());
        let head = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), b"\n"].concat();
        fs::write(at("in.npy"), [&head[..], &bytes].concat()).unwrap();
        let swapped: Vec<u8> =
            bytes.chunks(unit).flat_map(|number| number.iter().rev()).copied().collect();
        let whole = |path: &Path| read(path).into_values().next().unwrap().2;
        run(Request::new(at("in.npy"), at("out")).memory(64 << 10)).unwrap();
        assert!(whole(&at("out")) == swapped, "{descr}");
        let rules = Rules::new("tp=3").unwrap().rule("*", "[Shard(1)]").unwrap();
        let job = Job::prepare(Request::new(at("in.npy"), at("tp3")).to(rules)).unwrap();
        let job = Job::of_bytes(&job.plan().unwrap()).unwrap();
        job.run_all(&()).unwrap();
        run(Request::new(at("tp3"), at("back"))).unwrap();
        assert!(whole(&at("back")) == swapped, "{descr}");
    }
}

/// Packed elements whose type GGUF lacks are bytes there with a note; they are read as elements again, from one file, from
/// files of ranks, and by other processes.
#[test]
fn packed_elements_survive_gguf() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let f4: Vec<u8> = (0..24).map(|i| i * 10 + 3).collect();
    let f32s: Vec<u8> = (0..64).collect();
    let tensors = [
        ("packed", ("F4", vec![3, 16], f4)),
        ("flat", ("F4", vec![6], vec![1, 2, 3])),
        ("wide", ("F32", vec![4, 4], f32s)),
    ];
    let tensors = tensors
        .map(|(name, (dtype, dims, bytes))| (name.to_owned(), (dtype.to_owned(), dims, bytes)));
    write(&at("in.safetensors"), &tensors.into(), &[]);
    run(Request::new(at("in.safetensors"), at("out.gguf")).metadata(quantised())).unwrap();
    let rules = Rules::new("tp=2").unwrap().rule("wide", "[Shard(1)]").unwrap();
    let ranks = Request::new(at("in.safetensors"), at("tp2")).to(rules.clone()).format("gguf");
    run(ranks.metadata(quantised())).unwrap();
    let prints = |all: Collection| all.fingerprints(&Key::default(), &()).unwrap();
    let expected = prints(Collection::open(at("in.safetensors")).unwrap());
    assert_eq!(prints(Collection::open(at("out.gguf")).unwrap()), expected);
    assert_eq!(prints(shards(at("tp2"), None).unwrap().unwrap()), expected);
    for (number, source) in ["out.gguf", "tp2"].into_iter().enumerate() {
        let back = at(&format!("back-{number}.safetensors"));
        run(Request::new(at(source), &back)).unwrap();
        assert!(read(&back) == read(&at("in.safetensors")), "{source}");
        let job = Job::prepare(Request::new(at(source), at(&format!("again-{number}.gguf"))));
        let job = Job::of_bytes(&job.unwrap().plan().unwrap()).unwrap();
        job.run_all(&()).unwrap();
        let again = Collection::open(at(&format!("again-{number}.gguf"))).unwrap();
        assert_eq!(prints(again), expected, "{source}");
    }
    // Such a tensor is whole in every file: a rule that cuts it is refused.
    let cut = rules.rule("packed", "[Shard(0)]").unwrap();
    let error = run(Request::new(at("out.gguf"), at("cut")).to(cut).format("gguf")).unwrap_err();
    assert!(error.to_string().contains("its elements have 4 bits"), "{error}");
}

/// The file whose metadata a result gets is no source of tensors, but must not change, also while a plan exists.
#[test]
fn a_file_of_metadata_must_not_change_and_is_not_a_source() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let model = || {
        fs::remove_file(at("model.gguf")).ok();
        fs::write(at("model.gguf"), fs::read(quantised()).unwrap()).unwrap();
    };
    model();
    let cnn = corpus("data/tiny_cnn_f32.safetensors");
    let request = |out: &str| Request::new(&cnn, at(out)).metadata(at("model.gguf"));
    let job = Job::prepare(request("out.gguf")).unwrap();
    let outlook = tilewright_reshard::Outlook::of(&job, &[3]).unwrap();
    assert_eq!((outlook.inputs, outlook.bytes_in), (1, fs::metadata(&cnn).unwrap().len()));
    assert_eq!(outlook.workers[0].looks, 6);
    let plan = job.plan().unwrap();
    assert_eq!(Job::of_bytes(&plan).unwrap().id(), job.id());
    let over = Job::prepare(Request::new(&cnn, at("model.gguf")).metadata(at("model.gguf")));
    assert_eq!(over.unwrap().check_free().unwrap_err().kind(), "exists");
    let over = request("model.gguf").force(true);
    assert_eq!(run(over).unwrap_err().kind(), "same-file");
    std::thread::sleep(std::time::Duration::from_millis(20));
    model();
    for error in [job.run_all(&()).unwrap_err(), Job::of_bytes(&plan).unwrap_err()] {
        let said = error.to_string();
        assert!(error.kind() == "changed" && said.contains("model.gguf"), "{error}");
    }
    assert!(!at("out.gguf").exists());
}

/// Boxes that a caller lists become one file, too, with the metadata of another file.
#[test]
fn listed_boxes_become_a_file() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("in")).unwrap();
    fs::write(at("in/a"), [7; 24]).unwrap();
    let (dtype, extents) = ("F32".to_owned(), vec![2, 3]);
    let boxes = vec![RawBox { file: 0, at: 0, start: vec![0, 0], extents: vec![2, 3] }];
    let tensors = [RawTensor { name: "w".into(), dtype, extents, boxes }];
    let request = Request::new(at("in"), at("out.gguf")).metadata(quantised());
    Job::of_boxes(request, &[at("in/a")], &tensors).unwrap().run_all(&()).unwrap();
    assert_eq!(read(&at("out.gguf"))["w"].2, [7; 24]);
}

/// Metadata that contradict the tensors are refused, and written if the request trusts them; changes to them are notes.
#[test]
fn metadata_are_compared_with_the_tensors_unless_they_are_trusted() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let llama = corpus("recipes/llama_gguf/after.gguf");
    let input = open(&llama, &Reading::default()).unwrap();
    // The names are those of the model, and the tensors are not.
    let whole = read(&llama);
    let small = |(name, (dtype, dims, bytes)): (&String, &(String, Vec<u64>, Vec<u8>))| {
        let (dims, half) = ([&[dims[0] / 2], &dims[1..]].concat(), bytes.len() / 2);
        (name.clone(), (dtype.clone(), dims, bytes[..half].to_vec()))
    };
    drop(input);
    write(&at("same.safetensors"), &whole, &[]);
    write(&at("other.safetensors"), &whole.iter().map(small).collect(), &[]);
    run(Request::new(at("same.safetensors"), at("same.gguf")).metadata(&llama)).unwrap();
    let request = || Request::new(at("other.safetensors"), at("other.gguf")).metadata(&llama);
    let error = run(request()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("do not fit the tensors"), "{error}");
    assert!(!at("other.gguf").exists());
    run(request().trust_metadata(true)).unwrap();
    let metadata = |path: &Path| {
        let input = open(path, &Reading::default()).unwrap();
        let pairs = input.metadata().map(|(key, text)| (key.to_owned(), text.to_owned()));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(metadata(&at("other.gguf")), metadata(&llama));
    let error = run(Request::new(&llama, at("x")).trust_metadata(true)).unwrap_err();
    assert!(error.to_string().contains("options about metadata are for GGUF"), "{error}");
}
