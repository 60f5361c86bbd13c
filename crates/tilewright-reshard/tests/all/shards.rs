//! The arrays of a folder of shards are the whole arrays: their fingerprints are equal, and copies that differ are named.

use std::path::Path;

use tilewright_files::{Collection, Fingerprints, Key, Verdict, same_data, verify_data};
use tilewright_reshard::{Form, Job, Request, Rules, shards};

use crate::common::{Tensors, read, write};

fn prints(all: Collection) -> Fingerprints {
    all.fingerprints(&Key::default(), &()).unwrap()
}

fn opened(path: &Path) -> Collection {
    shards(path, None).unwrap().unwrap()
}

fn tensors(dtype: &str, bytes: impl Fn(u64) -> u64) -> Tensors {
    let of = |dims: &[u64], seed: u64| {
        let count = bytes(dims.iter().product());
        let data = (0..count).map(|i| (i * 7 + i / 251 + seed) as u8).collect();
        (dtype.to_owned(), dims.to_vec(), data)
    };
    let all = [("w", of(&[6, 8], 1)), ("uneven", of(&[7, 10], 2)), ("one", of(&[1, 2], 3))];
    let all = all.into_iter().chain([("empty", of(&[0, 4], 4)), ("scalar", of(&[], 5))]);
    all.map(|(name, tensor)| (name.to_owned(), tensor)).collect()
}

/// For all meshes, rules and layouts, with element types: the fingerprints are those of the whole arrays, and the rules in the files
/// are those that were given.
#[test]
fn fingerprints_of_shards_are_those_of_whole_arrays() {
    let meshes = ["a=1,b=1", "a=2,b=1", "a=1,b=3", "a=2,b=2", "a=3,b=2"];
    let rules = [
        "[Replicate(), Replicate()]",
        "[Shard(0), Replicate()]",
        "[Replicate(), Shard(1)]",
        "[Shard(0), Shard(0)]",
        "[Shard(0), Shard(1)]",
        "[Shard(1), Shard(0)] order(1,0)",
        "[_StridedShard(0, sf=2), Shard(0)]",
    ];
    let dtypes = [("BF16", 2), ("F32", 4), ("U8", 1), ("F64", 8), ("C64", 8), ("BOOL", 1)];
    for (number, (dtype, width)) in dtypes.into_iter().enumerate() {
        let folder = tilewright_testing::folder();
        let whole = folder.path().join("whole.safetensors");
        write(&whole, &tensors(dtype, |count| count * width), &[]);
        let expected = prints(Collection::open(&whole).unwrap());
        assert!(shards(&whole, None).unwrap().is_none());
        let pairs = meshes.iter().flat_map(|mesh| rules.iter().map(move |rule| (mesh, rule)));
        // All pairs with each type; or every fourth, so each with one type or two.
        let step = tilewright_testing::cases(1, 4);
        for (at, (mesh, rule)) in pairs.enumerate().skip(number % step).step_by(step) {
            let cut = Rules::new(mesh).unwrap().rule("[wuo]*", rule).unwrap();
            let request = Request::new(&whole, folder.path().join(at.to_string())).to(cut);
            let form = if (at + number) % 3 == 0 { Form::Dcp } else { Form::Ranks };
            let request = match (form, (at + number) % 2) {
                (Form::Ranks, 0) => request.layout("col-major"),
                _ => request,
            };
            Job::prepare(request.form(form)).unwrap().run_all(&()).unwrap();
            let out = folder.path().join(at.to_string());
            assert_eq!(prints(opened(&out)), expected, "{dtype} {mesh} {rule} {form:?}");
            let against = Collection::open(&whole).unwrap();
            let verdict = verify_data(&opened(&out), &against, &()).unwrap();
            assert!(matches!(verdict, Verdict::Same { .. }));
            // The recorded rules join the shards.
            let joined = folder.path().join(format!("joined-{at}"));
            Job::prepare(Request::new(&out, &joined)).unwrap().run_all(&()).unwrap();
            assert!(read(&joined) == read(&whole), "{mesh} {rule}");
        }
    }
}

/// Files that record different rules are shards of different checkpoints, even if their shapes and boxes fit.
#[test]
fn files_with_different_rules_are_not_joined() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    write(&at("whole.safetensors"), &tensors("U8", |count| count), &[]);
    for (out, rule) in [("a", "[Shard(0), Shard(0)]"), ("b", "[_StridedShard(0, sf=2), Shard(0)]")]
    {
        let rules = Rules::new("a=2,b=2").unwrap().rule("w", rule).unwrap();
        Job::prepare(Request::new(at("whole.safetensors"), at(out)).to(rules))
            .unwrap()
            .run_all(&())
            .unwrap();
    }
    for number in 2..4 {
        let name = format!("rank_{number:05}-of-00004.safetensors");
        std::fs::copy(at("b").join(&name), at("a").join(&name)).unwrap();
    }
    let said = "rank_00000-of-00004.safetensors and rank_00002-of-00004.safetensors record different rules";
    let error = Job::prepare(Request::new(at("a"), at("out"))).unwrap_err().to_string();
    assert!(error.contains(said), "{error}");
    assert!(shards(at("a"), None).unwrap_err().to_string().contains(said));
}

/// A file that records rules holds its part of every tensor, copies too; rules of the caller are for other files.
#[test]
fn a_copy_that_a_file_lacks_is_missed() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    write(&at("whole.safetensors"), &tensors("U8", |count| count), &[]);
    let rules = Rules::new("tp=2").unwrap().rule("w", "[Shard(0)]").unwrap();
    let request = Request::new(at("whole.safetensors"), at("out")).to(rules);
    Job::prepare(request).unwrap().run_all(&()).unwrap();
    let other = Rules::new("tp=2").unwrap().rule("*", "[Replicate()]").unwrap();
    let all = shards(at("out"), Some(&other)).unwrap().unwrap();
    assert_eq!(prints(all), prints(Collection::open(at("whole.safetensors")).unwrap()));

    let path = at("out").join("rank_00001-of-00002.safetensors");
    let mut left = read(&path);
    let input = tilewright_files::open(&path, &Default::default()).unwrap();
    let own: Vec<(String, String)> =
        input.metadata().map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
    drop(input);
    left.remove("one").unwrap();
    let own: Vec<(&str, &str)> = own.iter().map(|(key, text)| (&**key, &**text)).collect();
    write(&path, &left, &own);
    let error = shards(at("out"), None).unwrap_err().to_string();
    assert!(
        error.contains("rank_00001-of-00002.safetensors does not hold tensor \"one\""),
        "{error}"
    );
}

/// Packed elements are whole at every position, and their fingerprints are those of the elements.
#[test]
fn packed_elements_are_read_as_elements() {
    let folder = tilewright_testing::folder();
    let (whole, out) = (folder.path().join("whole.safetensors"), folder.path().join("out"));
    let tensor = ("F4".to_owned(), vec![3, 4], vec![0x21, 0x43, 0x65, 0x07, 0x18, 0x39]);
    write(&whole, &[("w".to_owned(), tensor)].into(), &[]);
    let rules = Rules::new("tp=3").unwrap();
    Job::prepare(Request::new(&whole, &out).to(rules)).unwrap().run_all(&()).unwrap();
    assert_eq!(prints(opened(&out)), prints(Collection::open(&whole).unwrap()));
}

/// Changes every byte of a shard in turn: an element of one box is a difference of that element, a copy is named with the first
/// difference, and a byte of padding is neither.
#[test]
fn every_changed_byte_is_found_where_it_is() {
    let folder = tilewright_testing::folder();
    let (whole, out) = (folder.path().join("whole.safetensors"), folder.path().join("out"));
    let tensor = |dims: &[u64]| {
        let count: u64 = dims.iter().product();
        ("U8".to_owned(), dims.to_vec(), (0..count as u8).collect::<Vec<u8>>())
    };
    let named = [("cut".to_owned(), tensor(&[4, 3])), ("same".to_owned(), tensor(&[2, 5]))];
    write(&whole, &named.into(), &[]);
    let rules = Rules::new("tp=2").unwrap().rule("cut", "[Shard(0)]").unwrap();
    let request = Request::new(&whole, &out).to(rules).layout("(m) (n n0:2) -> n m n0");
    Job::prepare(request).unwrap().run_all(&()).unwrap();
    let path = out.join("rank_00001-of-00002.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let begin = bytes.len() - (2 * 4 + 2 * 6);
    let against = Collection::open(&whole).unwrap();
    let (mut elements, mut copies, mut padding) = (Vec::new(), Vec::new(), 0);
    for at in begin..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x80;
        std::fs::write(&path, changed).unwrap();
        match same_data(&against, &opened(&out), &Key::default(), &()) {
            Ok(found) if found.is_empty() => padding += 1,
            Ok(found) => elements.push(found[0].to_string()),
            Err(error) => copies.push(error.to_string()),
        }
    }
    let elements: std::collections::BTreeSet<String> = elements.into_iter().collect();
    let coords = (2..4).flat_map(|row| (0..3).map(move |column| (row, column)));
    let expected = coords.map(|(row, column)| {
        let value = row * 3 + column;
        format!("cut differs at ({row},{column}): {value:#x} vs {:#x}", value + 0x80)
    });
    assert_eq!(elements, expected.collect());
    assert_eq!((copies.len(), padding), (10, 4));
    for coord in (0..2).flat_map(|row| (0..5).map(move |column| [row, column])) {
        let said = format!("rank_00000-of-00002.safetensors, first at {coord:?}; the rule that");
        let found: Vec<_> = copies.iter().filter(|error| error.contains(&said)).collect();
        let [one] = found[..] else { panic!("{coord:?}: {copies:?}") };
        assert!(one.contains("rank_00001-of-00002.safetensors: tensor \"same\" differs"), "{one}");
    }
}

/// Files that record no rules are read by the caller's; other folders are not shards.
#[test]
fn rules_of_the_caller_are_for_folders_of_files() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let whole = tensors("F32", |count| count * 4);
    write(&at("whole.safetensors"), &whole, &[]);
    let rules = Rules::new("tp=2").unwrap().rule("w", "[Shard(0)]").unwrap();
    let all = rules.clone().rule("*", "P()").unwrap();
    Job::prepare(Request::new(at("whole.safetensors"), at("out")).to(rules))
        .unwrap()
        .run_all(&())
        .unwrap();
    std::fs::create_dir(at("bare")).unwrap();
    for name in ["rank_00000-of-00002.safetensors", "rank_00001-of-00002.safetensors"] {
        write(&at("bare").join(name), &read(&at("out").join(name)), &[]);
    }
    assert!(shards(at("bare"), None).unwrap().is_none());
    let expected = prints(Collection::open(at("whole.safetensors")).unwrap());
    let bare = shards(at("bare"), Some(&all)).unwrap().unwrap();
    assert!(bare.warnings().any(|said| said.contains("nothing states the extents of 1 tensor")));
    assert_eq!(prints(bare), expected);
    assert!(shards(at("whole.safetensors"), Some(&all)).unwrap().is_none());
    // A record that is not one is an error, not a guess.
    let one = at("bare").join("rank_00000-of-00002.safetensors");
    for (text, said) in [("{", "EOF"), (r#"{"mesh":"tp=0","rules":[]}"#, "the mesh")] {
        write(
            &one,
            &read(&at("out").join("rank_00000-of-00002.safetensors")),
            &[("tilewright.rules", text)],
        );
        let error = shards(at("bare"), None).unwrap_err();
        assert!(error.kind() == "corrupt" && error.to_string().contains(said), "{error}");
        assert!(
            error.to_string().contains("rank_00000-of-00002.safetensors: tilewright.rules"),
            "{error}"
        );
    }
}

/// Shards of torch have the fingerprints of the whole tensors that torch saved beside them.
#[test]
fn shards_of_torch_are_its_whole_tensors() {
    let of = |name: &str| crate::common::sharded(name);
    let whole = Collection::open(of("dcp_hf/full.safetensors")).unwrap();
    assert_eq!(prints(opened(&of("dcp_hf/ckpt"))), prints(whole));
}
