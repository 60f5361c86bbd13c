//! Refusals that prevent the loss of data, and files that are copied along.

use std::{fs, path::Path};

use tilewright_files::inner::{Claim, Claimant};
use tilewright_reshard::{Error, Form, Job, Request, Rules};

use crate::common::{file, names, read, sharded};

fn run(request: Request) -> Result<u64, Error> {
    Job::prepare(request)?.run_all(&())
}

/// Writes files of ranks of a mesh, each with the tensor `w` of these bytes.
fn ranks(folder: &Path, shape: &[u64], held: &[Vec<u8>]) {
    for (rank, bytes) in held.iter().enumerate() {
        let path = folder.join(format!("rank_{rank:05}-of-{:05}.safetensors", held.len()));
        file(&path, &[("w", "U8", shape.to_vec(), bytes.clone())], &[]);
    }
}

/// One changed byte of one copy is found, and reported by its index in the whole; nothing becomes visible.
#[test]
fn a_copy_that_differs_is_refused_with_its_index() {
    // There are three copies of each half; positions 0 to 2 hold the first.
    let rules = |text: &str| Rules::new("dp=2,tp=3").unwrap().rule("w", text).unwrap();
    for (shape, whole, placed) in [
        (vec![2, 5], vec![4, 5], "[Shard(0), Replicate()]"),
        (vec![4, 5], vec![4, 5], "[Replicate(), Replicate()]"),
        (vec![4, 5], vec![4, 10], "[Shard(1), Replicate()]"),
        (vec![], vec![], "[Replicate(), Replicate()]"),
    ] {
        let len = shape.iter().product::<u64>() as usize;
        // Each byte of one copy or another, and the first byte of each copy.
        let every = (0..len).map(|byte| (byte * 5 % 6, byte));
        for (rank, byte) in every.chain((0..6).map(|rank| (rank, 0))) {
            let folder = tilewright_testing::folder();
            let (input, out) = (folder.path().join("in"), folder.path().join("out"));
            let mut held: Vec<Vec<u8>> = (0..6).map(|_| (0..len as u8).collect()).collect();
            if placed.contains("Shard") {
                held[3..].iter_mut().flatten().for_each(|byte| *byte += 100);
            }
            held[rank][byte] ^= 1;
            ranks(&input, &shape, &held);
            let request = Request::new(&input, &out).from(rules(placed));
            // Every second time, the box has several parts.
            let request = if byte % 2 == 1 { request.part(4) } else { request };
            let error = run(request.clone()).unwrap_err();
            assert_eq!(error.kind(), "replicas", "{error}");
            let half = rank as u64 / 3;
            let index: Vec<u64> = match shape[..] {
                [_, columns] => {
                    let at = [byte as u64 / columns, byte as u64 % columns];
                    let from = [half * (whole[0] - shape[0]), half * (whole[1] - shape[1])];
                    vec![at[0] + from[0], at[1] + from[1]]
                }
                _ => vec![],
            };
            assert!(error.to_string().contains(&format!("first at {index:?};")), "{error}");
            assert!(!out.exists());
            if byte == 0 {
                run(request.trust_replicas(true)).unwrap();
                assert_eq!(read(&out)["w"].1, whole);
            }
        }
    }
}

/// Copies in tiles, in a transpose, in boxes larger than the memory, and in parts of boxes.
#[test]
fn copies_are_compared_in_every_layout_and_size() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let bytes: Vec<u8> = (0..300 * 704u32).map(|n| (n * 7 + n / 251) as u8).collect();
    file(&at.join("whole/m.safetensors"), &[("w", "U8", vec![300, 704], bytes.clone())], &[]);
    for layout in ["row-major", "col-major", "zN[M0=4,C0=4]"] {
        let rules = Rules::new("tp=2,dp=2").unwrap().rule("w", "[Shard(1), Replicate()]").unwrap();
        let name = layout.replace(['[', ']', '=', ','], "");
        let (cut, back) = (at.join(&name), at.join(name.clone() + "-back"));
        let request = Request::new(at.join("whole"), &cut).to(rules.clone()).layout(layout);
        run(request.verify(true).memory(1 << 16)).unwrap();
        let request = Request::new(&cut, &back).from(rules).memory(1 << 16).part(1 << 10);
        run(request.clone()).unwrap();
        assert_eq!(read(&back)["w"].2, bytes);
        // The last element of one copy.
        let last = cut.join("rank_00003-of-00004.safetensors");
        let mut text = fs::read(&last).unwrap();
        *text.last_mut().unwrap() ^= 1;
        fs::write(&last, text).unwrap();
        fs::remove_dir_all(&back).unwrap();
        let error = run(request).unwrap_err();
        let said = "first at [299, 703];";
        assert!(error.kind() == "replicas" && error.to_string().contains(said), "{error}");
    }
}

#[test]
fn equal_boxes_of_torch_are_compared_and_the_plan_says_how_many_bytes() {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in"), folder.path().join("out"));
    let info = [("DCP_SHARDING_INFO", r#"{"w":{"saved_offsets":[0]}}"#), ("DCP_VERSION", "1.0")];
    for (number, last) in [(1, 3u8), (2, 4)] {
        let path = input.join(format!("shard-{number:05}-model-00001-of-00001.safetensors"));
        file(&path, &[("w", "U8", vec![3], vec![1, 2, last])], &info);
    }
    let job = Job::prepare(Request::new(&input, &out)).unwrap();
    assert_eq!((job.bytes(), job.compared()), (3, 3));
    let error = job.run_all(&()).unwrap_err();
    assert!(error.to_string().contains("first at [2]"), "{error}");
}

/// If two positions share one file, and their rows differ, one of them is wrong.
#[test]
#[cfg(unix)]
fn what_is_written_is_read_back_where_that_is_asked() {
    for verified in [false, true] {
        let folder = tilewright_testing::folder();
        let (input, out) = (folder.path().join("in.safetensors"), folder.path().join("out"));
        file(&input, &[("w", "U8", vec![4], vec![1, 2, 3, 4])], &[]);
        let rules = Rules::new("tp=2").unwrap().rule("w", "[Shard(0)]").unwrap();
        let job = Job::prepare(Request::new(&input, &out).to(rules).verify(verified)).unwrap();
        let data = folder.path().join(format!("out.partial-{}/data", job.id()));
        fs::create_dir_all(&data).unwrap();
        let names: Vec<&str> = job.files().collect();
        fs::write(data.join(names[0]), "").unwrap();
        fs::hard_link(data.join(names[0]), data.join(names[1])).unwrap();
        match job.run_all(&()) {
            Err(error) => assert!(verified && error.kind() == "corrupt", "{error}"),
            Ok(_) => assert!(!verified && out.exists()),
        }
    }
}

#[test]
fn a_checkpoint_of_torch_without_one_of_its_files_is_refused() {
    let all = names(&sharded("dcp_hf/ckpt"));
    let full = read(&sharded("dcp_hf/full.safetensors"));
    for gone in &all {
        let folder = tilewright_testing::folder();
        let (input, out) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir(&input).unwrap();
        for name in all.iter().filter(|name| *name != gone) {
            fs::copy(sharded("dcp_hf/ckpt").join(name), input.join(name)).unwrap();
        }
        let error = Job::prepare(Request::new(&input, &out)).unwrap_err();
        assert_eq!(error.kind(), "mismatch", "{gone}: {error}");
        // The extents of every tensor are stated, so the hole is in a tensor.
        let mut request = Request::new(&input, &out);
        for (name, (_, extents, _)) in &full {
            request = request.extents(name, extents).unwrap();
        }
        match Job::prepare(request) {
            Err(error) if error.kind() == "mismatch" => {
                assert!(error.to_string().contains("no piece holds"), "{gone}: {error}");
            }
            // A tensor of which nothing remains.
            Err(error) => assert!(error.to_string().starts_with("no tensor matches"), "{error}"),
            Ok(job) => panic!("{gone}: {job:?}"),
        }
    }
}

/// Rows over ranks: without the last file nothing contradicts a shorter tensor, except stated extents.
#[test]
fn a_last_file_that_is_missing_is_seen_by_the_extents() {
    let folder = tilewright_testing::folder();
    let input = folder.path().join("in");
    for number in 0..3u64 {
        let path = input.join(format!("shard-{:05}-model-00001-of-00001.safetensors", number + 1));
        let info = format!(r#"{{"w":{{"saved_offsets":[{}]}}}}"#, number * 2);
        file(&path, &[("w", "U8", vec![2], vec![1, 2])], &[("DCP_SHARDING_INFO", &info)]);
    }
    let request = Request::new(&input, folder.path().join("out"));
    let job = Job::prepare(request.clone()).unwrap();
    assert!(job.assumption().unwrap().contains("\"w\" [6]"));
    let whole = request.clone().extents("w", &[6]).unwrap();
    assert_eq!(Job::prepare(whole).unwrap().assumption(), None);
    for wrong in [&[8][..], &[5], &[6, 1]] {
        let error = Job::prepare(request.clone().extents("w", wrong).unwrap()).unwrap_err();
        assert_eq!(error.kind(), "mismatch", "{error}");
    }
    let error = Job::prepare(request.extents("v", &[6]).unwrap()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("no tensor matches \"v\""), "{error}");
}

/// A result that is too large for every disk is refused before anything is written; a sparse file stands in for a large
/// one.
#[test]
fn a_disk_without_room_is_told_before_a_byte_is_written() {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in.safetensors"), folder.path().join("out"));
    let bytes = 1u64 << 43;
    let header =
        format!(r#"{{"w":{{"dtype":"U8","shape":[{bytes}],"data_offsets":[0,{bytes}]}}}}"#);
    let length = (header.len() as u64).to_le_bytes();
    fs::write(&input, [&length[..], header.as_bytes()].concat()).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&input).unwrap();
    // Some file systems do not support files of that length.
    if file.set_len(8 + header.len() as u64 + bytes).is_err() {
        return;
    }
    let job = Job::prepare(Request::new(&input, &out).memory(1 << 30)).unwrap();
    let Err(error) = job.check_space() else { return };
    let said = "out: cannot write: it takes 8796093";
    assert!(error.kind() == "io" && error.to_string().contains(said), "{error}");
    assert!(job.run_all(&()).unwrap_err().to_string().contains(said));
    assert_eq!(names(folder.path()), ["in.safetensors"]);
}

#[test]
fn a_name_on_which_another_run_works_is_refused() {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in.safetensors"), folder.path().join("out"));
    file(&input, &[("w", "U8", vec![4], vec![1, 2, 3, 4])], &[]);
    let job = Job::prepare(Request::new(&input, &out)).unwrap();
    let claim = |work: &str| {
        Claim::of(&out, Claimant { work, who: "rank-3", alone: false }, &|| ()).unwrap()
    };
    let other = claim("another-plan");
    for error in [job.run(0..1, "rank-0", &()).unwrap_err(), job.run_all(&()).unwrap_err()] {
        assert_eq!(error.kind(), "busy");
        let holder = format!("rank-3, process {}", std::process::id());
        assert!(error.to_string().ends_with(&holder), "{error}");
    }
    drop(other);
    let same = claim(job.id());
    job.run(0..1, "rank-0", &()).unwrap();
    assert_eq!(job.finish().unwrap_err().kind(), "busy");
    drop(same);
    job.finish().unwrap();
    assert_eq!(names(folder.path()), ["in.safetensors", "out"]);
}

#[test]
fn a_source_that_is_changed_behind_its_plan_is_named() {
    let folder = tilewright_testing::folder();
    let (input, plan) = (folder.path().join("in.safetensors"), folder.path().join("plan"));
    file(&input, &[("w", "U8", vec![4], vec![1, 2, 3, 4])], &[]);
    let job = Job::prepare(Request::new(&input, folder.path().join("out"))).unwrap();
    job.write_plan(&plan).unwrap();
    file(&input, &[("w", "U8", vec![5], vec![1, 2, 3, 4, 5])], &[]);
    let error = Job::of_plan(&plan).unwrap_err();
    assert_eq!(error.kind(), "changed");
    assert!(error.to_string().ends_with("it was changed since the plan was made"), "{error}");
}

#[test]
fn a_checkpoint_is_replaced_where_that_is_asked_and_nothing_else_is() {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in.safetensors"), folder.path().join("out"));
    file(&input, &[("w", "U8", vec![4], vec![1, 2, 3, 4])], &[]);
    let request = Request::new(&input, &out);
    fs::create_dir(&out).unwrap();
    run(request.clone()).unwrap();
    fs::write(out.join("old.json"), "{}").unwrap();
    assert_eq!(run(request.clone()).unwrap_err().kind(), "exists");
    run(request.clone().force(true)).unwrap();
    assert_eq!(names(&out), ["model.safetensors"]);
    assert_eq!(names(folder.path()), ["in.safetensors", "out"]);
    fs::create_dir(out.join("inner")).unwrap();
    assert_eq!(run(request.clone().force(true)).unwrap_err().kind(), "exists");
    // Arrays of another format are nothing that a result has.
    let other = folder.path().join("data");
    fs::create_dir(&other).unwrap();
    for name in ["my.npy", "my.npz", "notes.txt"] {
        fs::write(other.join(name), "").unwrap();
        assert_eq!(run(Request::new(&input, &other).force(true)).unwrap_err().kind(), "exists");
    }
    assert_eq!(names(&other), ["my.npy", "my.npz", "notes.txt"]);
    fs::remove_dir_all(&other).unwrap();
    let own = Request::new(out.join("model.safetensors"), &out).force(true);
    assert_eq!(run(own).unwrap_err().kind(), "same-file");
    assert_eq!(read(&out.join("model.safetensors"))["w"].2, [1, 2, 3, 4]);
}

/// A recorded recipe fits the tensors of its own file, and is left out with a note.
#[test]
fn a_recorded_recipe_is_left_with_a_note() {
    let folder = tilewright_testing::folder();
    let input = folder.path().join("in.safetensors");
    file(&input, &[("w", "U8", vec![2], vec![1, 2])], &[("tilewright.recipe", "pass = ['*']")]);
    let job = Job::prepare(Request::new(&input, folder.path().join("out"))).unwrap();
    let remarks: Vec<String> = job.remarks().collect();
    assert!(remarks.len() == 1 && remarks[0].contains("is not copied: undo it"), "{remarks:?}");
    job.run_all(&()).unwrap();
    let made =
        tilewright_files::open(folder.path().join("out/model.safetensors"), &Default::default());
    assert!(made.unwrap().metadata().all(|(key, _)| key != "tilewright.recipe"));
}

#[test]
fn metadata_and_files_beside_the_tensors_go_along() {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in"), folder.path().join("out"));
    for (rank, own) in ["a", "b"].into_iter().enumerate() {
        let path = input.join(format!("rank_{rank}.safetensors"));
        let said = [("format", "pt"), ("made by", "us"), ("rank", own)];
        file(&path, &[("w", "U8", vec![2], vec![1, 2])], &said);
    }
    fs::write(input.join("config.json"), "{\"a\": 1}").unwrap();
    fs::write(input.join(".metadata"), "pickle").unwrap();
    fs::create_dir(input.join("runs")).unwrap();
    let rules = Rules::new("tp=2").unwrap().rule("*", "[Shard(0)]").unwrap();
    let plan = folder.path().join("plan");
    let job = Job::prepare(Request::new(&input, &out).from(rules.clone()).to(rules)).unwrap();
    let remarks: Vec<String> = job.remarks().collect();
    assert_eq!(remarks[0], "metadata that differs between files: rank");
    assert_eq!(remarks[1], "not taken along: runs (a folder)");
    let said = "not taken along: .metadata, which describes the files that are read";
    assert_eq!(remarks[2], said);
    job.write_plan(&plan).unwrap();
    let job = Job::of_plan(&plan).unwrap();
    assert_eq!(job.companions().collect::<Vec<_>>(), ["config.json"]);
    job.run_all(&()).unwrap();
    assert_eq!(fs::read(out.join("config.json")).unwrap(), b"{\"a\": 1}");
    assert_eq!(names(&out).len(), 3);
    for rank in 0..2 {
        let path = out.join(format!("rank_{rank:05}-of-00002.safetensors"));
        let input = tilewright_files::open(&path, &Default::default()).unwrap();
        let said: Vec<(&str, &str)> = input.metadata().collect();
        let extents = ("tilewright.extents", "{\"w\":[4]}");
        let rules = ("tilewright.rules", r#"{"mesh":"tp=2","rules":[["*","[Shard(0)]"]]}"#);
        assert_eq!(said, [("format", "pt"), ("made by", "us"), extents, rules]);
    }
}

/// The recorded fingerprint of a converted file is compared with its data, and a result in a layout has one.
#[test]
fn fingerprints_are_compared_and_recorded() {
    let folder = tilewright_testing::folder();
    let (input, tiled) = (folder.path().join("in.safetensors"), folder.path().join("tiled"));
    let bytes: Vec<u8> = (0..=255).cycle().take(512 * 96).collect();
    file(&input, &[("w", "U8", vec![512, 96], bytes.clone())], &[]);
    // Several tasks of several parts, whose sums add up.
    let request = Request::new(&input, &tiled).layout("zN").memory(1 << 16).part(1 << 8);
    let job = Job::prepare(request).unwrap();
    assert!(job.tasks() > 1);
    job.run_all(&()).unwrap();
    let model = tiled.join("model.safetensors");
    let opened = tilewright_files::open(&model, &Default::default()).unwrap();
    let own = tilewright_files::Collection::open(&input).unwrap();
    let own = own.fingerprints(&Default::default(), &()).unwrap().tensors[0].fingerprint;
    assert_eq!(opened.tensors()[0].recorded(), Some(own));
    let checked = tilewright_files::verify_recorded(&model, &Default::default(), &()).unwrap();
    assert_eq!(checked.recorded, 1);
    drop(opened);

    let plain = folder.path().join("plain");
    run(Request::new(&model, &plain)).unwrap();
    assert_eq!(read(&plain)["w"].2, bytes);
    let mut text = fs::read(&model).unwrap();
    *text.last_mut().unwrap() ^= 1;
    fs::write(&model, text).unwrap();
    let error = run(Request::new(&model, folder.path().join("no"))).unwrap_err();
    assert!(error.kind() == "corrupt" && error.to_string().contains("records"), "{error}");
    assert!(!folder.path().join("no").exists());
}

#[test]
fn every_element_type_passes_and_packed_ones_are_refused() {
    let types = [
        ("BOOL", 1),
        ("U8", 1),
        ("I8", 1),
        ("F8_E4M3", 1),
        ("F8_E5M2", 1),
        ("F8_E8M0", 1),
        ("I16", 2),
        ("U16", 2),
        ("F16", 2),
        ("BF16", 2),
        ("I32", 4),
        ("U32", 4),
        ("F32", 4),
        ("I64", 8),
        ("U64", 8),
        ("F64", 8),
        ("C64", 8),
    ];
    let folder = tilewright_testing::folder();
    let (input, cut, back) = (
        folder.path().join("in.safetensors"),
        folder.path().join("cut"),
        folder.path().join("back"),
    );
    let bytes = |count: usize| (0..count as u8).collect::<Vec<u8>>();
    let extra: Vec<(String, &str, Vec<u64>, usize)> = types
        .iter()
        .flat_map(|(dtype, width)| {
            [
                (format!("{dtype}.rows"), *dtype, vec![3, 2], 6 * width),
                (format!("{dtype}._extra_state"), *dtype, vec![], *width),
                (format!("{dtype}.none"), *dtype, vec![0, 4], 0),
            ]
        })
        .collect();
    let tensors: Vec<(&str, &str, Vec<u64>, Vec<u8>)> = extra
        .iter()
        .map(|(name, dtype, shape, len)| (&**name, *dtype, shape.clone(), bytes(*len)))
        .collect();
    file(&input, &tensors, &[]);
    let rules = Rules::new("tp=2").unwrap().rule("*{rows,none}", "[Shard(0)]").unwrap();
    let rules = rules.rule("*", "P()").unwrap();
    for form in [Form::Ranks, Form::Dcp] {
        run(Request::new(&input, &cut).to(rules.clone()).form(form).verify(true)).unwrap();
        let request = Request::new(&cut, &back);
        run(if form == Form::Ranks { request.from(rules.clone()) } else { request }).unwrap();
        assert_eq!(read(&back), read(&input));
        fs::remove_dir_all(&cut).unwrap();
        fs::remove_dir_all(&back).unwrap();
    }
}

/// Elements narrower than a byte are copied unchanged, with the shape in their file, and never split.
#[test]
fn packed_elements_are_copied_and_not_cut() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let input = at("in.safetensors");
    let tensors = [
        ("even", "F32", vec![4, 2], (0..32).collect()),
        ("packed", "F4", vec![2, 4], vec![1, 2, 3, 4]),
        ("other", "F4", vec![8], vec![5, 6, 7, 8]),
    ];
    file(&input, &tensors, &[]);
    let rules = Rules::new("tp=2").unwrap().rule("even", "[Shard(0)]").unwrap();
    let rules = rules.rule("packed", "P(None, None)").unwrap().rule("*", "P()").unwrap();
    for form in [Form::Ranks, Form::Dcp] {
        let request = Request::new(&input, at("cut")).to(rules.clone()).form(form).verify(true);
        // A plan keeps the shape.
        let job = Job::prepare(request).unwrap();
        Job::of_bytes(&job.plan().unwrap()).unwrap().run_all(&()).unwrap();
        let back = Request::new(at("cut"), at("back")).layout("col-major");
        run(if form == Form::Ranks { back.from(rules.clone()) } else { back }).unwrap();
        let held = read(&at("back"));
        assert_eq!(held["packed"], ("F4".into(), vec![2, 4], vec![1, 2, 3, 4]));
        assert_eq!(held["other"], ("F4".into(), vec![8], vec![5, 6, 7, 8]));
        assert_eq!(held["even"].2, (0..32).collect::<Vec<u8>>());
        ["cut", "back"].iter().for_each(|name| fs::remove_dir_all(at(name)).unwrap());
    }
    for rule in ["[Shard(0)]", "[Shard(1)]", "column", "row"] {
        let rules = Rules::new("tp=2").unwrap().rule("packed", rule).unwrap();
        let error = Job::prepare(Request::new(&input, at("cut")).to(rules)).unwrap_err();
        let said = "tensor \"packed\": its elements have 4 bits, but shards begin at whole bytes; keep the tensor whole";
        assert!(error.kind() == "unsupported" && error.to_string().contains(said), "{error}");
    }
    // A padded part may have the extents of the whole.
    for name in ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] {
        fs::create_dir_all(at("ranks")).unwrap();
        file(&at("ranks").join(name), &tensors[1..2], &[]);
    }
    let rules = Rules::new("tp=2").unwrap().rule("packed", "megatron:vocab(pad=2)").unwrap();
    let error = Job::prepare(Request::new(at("ranks"), at("whole")).from(rules)).unwrap_err();
    assert!(
        error.kind() == "unsupported" && error.to_string().contains("keep the tensor whole"),
        "{error}"
    );
    let other = Request::new(&input, at("cut")).extents("packed", &[4, 2]).unwrap();
    let error = Job::prepare(other).unwrap_err();
    assert!(error.to_string().contains("has extents [2, 4], but its stated extents are [4, 2]"));
}

#[test]
fn bounds_of_no_byte_and_of_no_form_are_refused() {
    let input = sharded("dcp_hf/full.safetensors");
    let said = |request: Request| Job::prepare(request).unwrap_err().to_string();
    let request = Request::new(&input, "out").shard_size(0);
    assert_eq!(said(request), "the maximum size of a file is 0 bytes; give at least 1");
    let rules = Rules::new("tp=2").unwrap();
    let text = said(Request::new(&input, "out").shard_size(9).to(rules));
    assert!(text.starts_with("only files of whole tensors"), "{text}");
    // The hint about extents appears only after errors that it can fix.
    let rules = Rules::new("tp=4").unwrap().rule("*", "[Shord(0)]").unwrap();
    let text = said(Request::new(sharded("dcp_hf/ckpt"), "out").from(rules));
    assert!(text.contains("did you mean `Shard`?") && !text.contains("extents"), "{text}");
}

/// A journal refers to data in files: if one is lost or truncated, no run creates it again.
#[test]
fn promised_files_that_are_lost_are_never_made_anew() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 3] = [
        ("is missing", |data| {
            fs::remove_file(data.join("rank_00001-of-00002.safetensors")).unwrap()
        }),
        ("has 0 bytes", |data| {
            fs::write(data.join("rank_00001-of-00002.safetensors"), []).unwrap();
        }),
        ("is missing", |data| fs::remove_dir_all(data).unwrap()),
    ];
    for (says, harm) in harms {
        let folder = tilewright_testing::folder();
        let rules = Rules::new("tp=2").unwrap().rule("*.weight", "[Shard(0)]").unwrap();
        let rules = rules.rule("*", "P()").unwrap();
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
        let request = Request::new(path, folder.path().join("out")).to(rules);
        let job = Job::prepare(request).unwrap();
        job.run(0..3, "rank-0", &()).unwrap();
        let partial = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let partial = partial.into_iter().find(|path| path.is_dir()).unwrap();
        harm(&partial.join("data"));
        for _ in 0..3 {
            let errors = [
                job.run(3..4, "rank-1", &()).unwrap_err(),
                job.run_all(&()).unwrap_err(),
                job.run_all_threads(2, &()).unwrap_err(),
                job.finish().map(drop).unwrap_err(),
            ];
            for error in errors {
                let said = error.to_string();
                assert!(error.kind() == "corrupt" && said.contains(says), "{said}");
                assert!(said.contains("run all tasks again"), "{said}");
            }
            assert!(!folder.path().join("out").exists());
        }
        fs::remove_dir_all(&partial).unwrap();
        job.run_all(&()).unwrap();
    }
}

/// A lost file is also found if all tasks are done, and only the end is missing.
#[test]
fn a_lost_file_is_no_result() {
    let folder = tilewright_testing::folder();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    job.run(0..job.tasks(), "rank-0", &()).unwrap();
    let partial = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let partial = partial.into_iter().find(|path| path.is_dir()).unwrap();
    fs::write(partial.join("data/model.safetensors"), []).unwrap();
    for _ in 0..2 {
        let error = job.finish().unwrap_err();
        assert!(error.kind() == "corrupt" && error.to_string().contains("has 0 bytes"), "{error}");
    }
    assert!(!folder.path().join("out").exists());
}

/// A job does not depend on threads: a run with any number of them resumes the work of another.
#[test]
fn threads_are_no_part_of_a_job() {
    let folder = tilewright_testing::folder();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    let request = Request::new(path, folder.path().join("out"));
    let job = Job::prepare(request.clone()).unwrap();
    assert_eq!(job.run_threads(&[0, 1, 2, 3], 3, "rank-0", &()).unwrap(), 4);
    assert_eq!(Job::prepare(request).unwrap().run_all_threads(2, &()).unwrap(), 4);
}

/// The checksums of an archive are compared before its data are used, by every kind of run.
#[test]
fn a_damaged_archive_is_refused() {
    let folder = tilewright_testing::folder();
    let [archive, out] = ["in.npz", "out"].map(|name| folder.path().join(name));
    let layout = tilewright_notation::Spec::parse("u8[6,5] row-major").unwrap();
    let (layout, data) = (layout.resolve(None, None).unwrap(), (100..130).collect::<Vec<u8>>());
    let writer = tilewright_files::Writer::new(tilewright_files::Request::new());
    writer.array("w", &layout, &data).unwrap().write(&archive, &()).unwrap();
    let rules = || Rules::new("tp=2").unwrap().rule("w", "[Shard(0)]").unwrap();
    let request = || Request::new(&archive, &out).to(rules());
    let mut bytes = fs::read(&archive).unwrap();
    let at = bytes.windows(30).position(|part| part.iter().copied().eq(100..130)).unwrap();
    bytes[at + 7] ^= 1;
    fs::write(&archive, &bytes).unwrap();
    let job = Job::prepare(request()).unwrap();
    for error in [
        job.run_all(&()).unwrap_err(),
        job.run(0..1, "one", &()).unwrap_err(),
        job.run_threads(&[0], 2, "two", &()).unwrap_err(),
    ] {
        assert!(error.kind() == "corrupt" && error.to_string().contains("checksum"), "{error}");
    }
    assert!(!out.exists());
    bytes[at + 7] ^= 1;
    fs::write(&archive, &bytes).unwrap();
    assert!(run(request()).unwrap() > 0);
}
