//! Inputs that are not checkpoints, and illegal requests: the text of each refusal.

use std::path::Path;

use crate::common::{Tensors, write};
use tilewright_reshard::{Form, Job, Request, Rules};

/// Writes a file of a distributed checkpoint with one tensor `w` at this offset.
fn piece(folder: &Path, number: usize, dtype: &str, dims: &[u64], start: &[u64]) {
    let width = if dtype == "BF16" { 2 } else { 4 };
    let bytes = vec![number as u8; dims.iter().product::<u64>() as usize * width];
    let tensors: Tensors = [("w".to_owned(), (dtype.to_owned(), dims.to_vec(), bytes))].into();
    let places = format!("{{\"w\":{{\"saved_offsets\":{start:?}}}}}");
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(format!("shard-{number}.safetensors"));
    write(&path, &tensors, &[("DCP_SHARDING_INFO", &places)]);
}

fn refusal(request: Request) -> (&'static str, String) {
    let error = Job::prepare(request).unwrap_err();
    (error.kind(), error.to_string())
}

/// The type, extents and offsets of a piece.
type Part<'a> = (&'a str, &'a [u64], &'a [u64]);

#[test]
fn holes_overlaps_and_other_types_are_refused_with_their_boxes() {
    let folder = tilewright_testing::folder();
    let cases: [(&[Part<'_>], &str); 6] = [
        (
            &[("F32", &[2, 3], &[0, 0]), ("F32", &[2, 3], &[3, 0])],
            "tensor `w` [5,3]: no piece holds [2,3) × [0,3)",
        ),
        (
            &[("F32", &[2, 3], &[0, 0]), ("F32", &[2, 3], &[1, 0])],
            "tensor `w` [3,3]: source 0 and source 1 both hold [1,2) × [0,3); source 0 is shard-0.safetensors; source 1 is shard-1.safetensors",
        ),
        (
            &[("F32", &[2, 3], &[0, 0]), ("BF16", &[2, 3], &[2, 0])],
            "shard-1.safetensors: tensor \"w\" is BF16 of rank 2; earlier files say F32 of rank 2",
        ),
        (
            &[("F32", &[2, 3], &[0, 0]), ("F32", &[6], &[2])],
            "shard-1.safetensors: tensor \"w\" is F32 of rank 1; earlier files say F32 of rank 2",
        ),
        (
            &[("F32", &[2, 3], &[0])],
            "shard-0.safetensors: tensor \"w\" of rank 2: DCP_SHARDING_INFO says {\"saved_offsets\":[0]}; expected saved_offsets with a number for each dim",
        ),
        (&[("F32", &[2, 3], &[u64::MAX, 0])], "tensor \"w\""),
    ];
    for (number, (pieces, expected)) in cases.iter().enumerate() {
        let at = folder.path().join(number.to_string());
        for (file, (dtype, dims, start)) in pieces.iter().enumerate() {
            piece(&at, file, dtype, dims, start);
        }
        let (_, said) = refusal(Request::new(&at, folder.path().join("out")));
        assert!(said.starts_with(expected), "{said}");
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn equal_boxes_are_replicas_and_tensors_without_dims_are_real() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    piece(&at, 0, "F32", &[], &[]);
    std::fs::copy(at.join("shard-0.safetensors"), at.join("shard-1.safetensors")).unwrap();
    let job = Job::prepare(Request::new(&at, folder.path().join("out"))).unwrap();
    job.run_all(&()).unwrap();
    let held = crate::common::read(&folder.path().join("out"));
    assert_eq!(held["w"], ("F32".into(), vec![], vec![0; 4]));
}

#[test]
fn shards_of_another_rule_are_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    std::fs::create_dir(&at).unwrap();
    for (rank, rows) in [3u64, 2].into_iter().enumerate() {
        let tensor = ("U8".to_owned(), vec![rows], vec![0; rows as usize]);
        let name = at.join(format!("r{rank}.safetensors"));
        write(&name, &[("w".to_owned(), tensor)].into(), &[]);
    }
    let with = |mesh: &str, glob: &str, rule: &str| {
        let rules = Rules::new(mesh).unwrap().rule(glob, rule).unwrap();
        Job::prepare(Request::new(&at, folder.path().join("out")).from(rules))
    };
    assert_eq!(with("tp=2", "w", "[Shard(0)]").unwrap().bytes(), 5);
    let said = |mesh, glob, rule| with(mesh, glob, rule).unwrap_err().to_string();
    let replicas = "r1.safetensors: tensor \"w\" has [2]; by its rule that shard of [3] has [3]";
    assert_eq!(said("tp=2", "w", "[Replicate()]"), replicas);
    let six = "r1.safetensors: tensor \"w\" has [2]; by its rule that shard of [6] has [3]";
    assert_eq!(said("tp=2", "w", "[6] @ [Shard(0)]"), six);
    assert!(said("tp=3", "w", "[Shard(0)]").ends_with(
        "holds 2 files *.safetensors; mesh(tp=3) has 3 positions and needs one file for each"
    ));
    assert_eq!(said("tp=2", "v*", "[Shard(0)]"), "no tensor matches \"v*\"; similar names: \"w\"");
}

#[test]
fn requests_that_cannot_be_met_say_why() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    piece(&at, 0, "F32", &[2, 3], &[0, 0]);
    let out = folder.path().join("out");
    let rules = || Rules::new("tp=2").unwrap().rule("w", "[Shard(0)]").unwrap();
    let request = || Request::new(&at, &out);
    let said = |request| refusal(request).1;
    assert_eq!(
        said(request().to(rules()).form(Form::Hf)),
        "whole tensors are not sharded over a mesh"
    );
    let ranks = "the form ranks needs a mesh, and rules that shard over it";
    assert_eq!(said(request().form(Form::Ranks)), ranks);
    let boxes = "torch's distributed checkpoint holds only row-major boxes";
    assert_eq!(said(request().to(rules()).form(Form::Dcp).layout("zN")), boxes);
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("notes"), "").unwrap();
    let error = Job::prepare(request()).unwrap().run_all(&()).unwrap_err();
    assert_eq!(error.kind(), "exists");
}

#[test]
fn a_changed_source_is_refused() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    piece(&at("in"), 0, "F32", &[2, 3], &[0, 0]);
    let job = Job::prepare(Request::new(at("in"), at("out"))).unwrap();
    job.write_plan(&at("plan")).unwrap();
    job.run(0..1, "a", &()).unwrap();
    piece(&at("in"), 0, "F32", &[2, 4], &[0, 0]);
    assert_eq!(job.finish().unwrap_err().kind(), "changed");
    assert_eq!(Job::of_plan(&at("plan")).unwrap_err().kind(), "changed");
    assert!(!at("out").exists());
}

/// A file that lacks a tensor which the rule cuts: the length of its part is unknown. With stated extents, an empty
/// part may be absent, and any other is a hole; a copy may be absent anywhere.
#[test]
fn a_tensor_that_a_file_lacks_is_no_shorter_tensor() {
    for gone in 0..4u64 {
        let folder = tilewright_testing::folder();
        let at = folder.path().join("in");
        std::fs::create_dir(&at).unwrap();
        for rank in 0..4 {
            let name = if rank == gone { "v" } else { "w" };
            let held = ("U8".to_owned(), vec![3], vec![rank as u8; 3]);
            let path = at.join(format!("rank_{rank}.safetensors"));
            write(&path, &[(name.to_owned(), held)].into(), &[]);
        }
        let with = |mesh: &str, rule: &str| {
            let rules = Rules::new(mesh).unwrap().rule("w", rule).unwrap();
            let rules = rules.rule("v", "P()").unwrap();
            let request = Request::new(&at, folder.path().join("out")).from(rules);
            Job::prepare(request.trust_replicas(true))
        };
        let said = |mesh, rule| with(mesh, rule).unwrap_err().to_string();
        let none = format!(
            "rank_{gone}.safetensors does not hold tensor \"w\", but its rule assigns it a part; if that part is \
             empty, write the extents of the whole tensor before the rule: [D0] @ [Shard(0)]"
        );
        assert_eq!(said("tp=4", "[Shard(0)]"), none);
        let rows = format!("[{},{})", 3 * gone, 3 * gone + 3);
        let hole = format!("no piece holds {rows}; a shard file may be missing");
        assert!(said("tp=4", "[12] @ [Shard(0)]").ends_with(&hole));
        match with("tp=4", "[9] @ [Shard(0)]") {
            Ok(job) => assert_eq!((gone, job.bytes()), (3, 9 + 3)),
            Err(error) => assert!(gone < 3, "{error}"),
        }
        assert_eq!(with("dp=2,tp=2", "[Replicate(), Shard(0)]").unwrap().bytes(), 6 + 3);
        assert_eq!(with("tp=4", "[Replicate()]").unwrap().bytes(), 3 + 3);
    }
}

/// If files state the offsets of their boxes, a rule with other offsets is refused.
#[test]
fn a_rule_that_contradicts_the_offsets_of_files_is_refused() {
    let folder = tilewright_testing::folder();
    for (number, starts) in [[0, 2], [2, 0]].into_iter().enumerate() {
        let at = folder.path().join(number.to_string());
        for (file, start) in starts.into_iter().enumerate() {
            piece(&at, file, "F32", &[2, 3], &[start, 0]);
        }
        let with = |rule: &str| {
            let rules = Rules::new("tp=2").unwrap().rule("w", rule).unwrap();
            Job::prepare(Request::new(&at, folder.path().join("out")).from(rules))
        };
        let said = |rule| with(rule).unwrap_err().to_string();
        match number {
            0 => assert_eq!(with("[Shard(0)]").unwrap().bytes(), 48),
            _ => assert_eq!(
                said("[Shard(0)]"),
                "shard-0.safetensors: tensor \"w\" begins at [2, 0] by DCP_SHARDING_INFO; by its rule the shard \
                 begins at [0, 0]"
            ),
        }
        assert!(said("[Shard(1)]").contains("by its rule the shard begins at [0, "));
        assert!(said("[Replicate()]").contains("by its rule the shard begins at [0, 0]"));
        assert!(said("[_StridedShard(0, sf=2)]").ends_with("by its rule the shard is not a box"));
    }
}

#[test]
fn a_tensor_named_as_the_metadata_and_tasks_that_are_none_are_refused() {
    let folder = tilewright_testing::folder();
    let (path, out) = (folder.path().join("bytes"), folder.path().join("out"));
    std::fs::write(&path, [0; 8]).unwrap();
    let all = tilewright_reshard::RawBox { file: 0, at: 0, start: vec![0], extents: vec![8] };
    let job = |name: &str| {
        let (name, dtype, boxes) = (name.to_owned(), "U8".to_owned(), vec![all.clone()]);
        let tensor = tilewright_reshard::RawTensor { name, dtype, extents: vec![8], boxes };
        Job::of_boxes(Request::new(&path, &out), std::slice::from_ref(&path), &[tensor])
    };
    let said = "tensor \"__metadata__\": safetensors keep their metadata under this name";
    assert_eq!(job("__metadata__").unwrap_err().to_string(), said);
    let error = job("w").unwrap().run(0..3, "a", &()).unwrap_err();
    assert!(error.is_usage());
    assert_eq!(error.to_string(), "task 2 does not exist: task numbers are below 1");
    assert!(!out.exists());
}

/// A plan appears complete, once, and without other files.
#[test]
fn a_plan_is_written_whole_and_never_replaced() {
    let folder = tilewright_testing::folder();
    piece(&folder.path().join("in"), 0, "F32", &[2, 3], &[0, 0]);
    let job = Job::prepare(Request::new(folder.path().join("in"), folder.path().join("out")));
    let (job, plan) = (job.unwrap(), folder.path().join("plan"));
    job.write_plan(&plan).unwrap();
    let text = std::fs::read(&plan).unwrap();
    assert_eq!(text, job.plan().unwrap());
    let error = job.write_plan(&plan).unwrap_err();
    assert!(error.kind() == "exists" && error.to_string().ends_with("a plan is never overwritten"));
    assert_eq!(std::fs::read(&plan).unwrap(), text);
    assert_eq!(crate::common::names(folder.path()), ["in", "plan"]);
}

/// Every field of a plan counts: a field that was changed by hand, or that this version does not know, is refused.
#[test]
fn a_plan_that_was_changed_by_hand_is_refused() {
    let folder = tilewright_testing::folder();
    let input = folder.path().join("in.safetensors");
    let tensors: Tensors = [("w".to_owned(), ("U8".to_owned(), vec![4], vec![1, 2, 3, 4]))].into();
    write(&input, &tensors, &[]);
    let job = Job::prepare(Request::new(&input, folder.path().join("out"))).unwrap();
    let text = String::from_utf8(job.plan().unwrap()).unwrap();
    assert_eq!(Job::of_bytes(text.as_bytes()).unwrap().id(), job.id());
    let edits = [
        ("\"metadata\":{", "\"metadata\":{\"more\":\"x\","),
        ("\"companions\":[", "\"companions\":[\"file:///more\""),
        ("\"force\":false", "\"force\":true"),
        ("\"version\":", "\"more\":1,\"version\":"),
        ("in.safetensors", "an.safetensors"),
    ];
    for (from, to) in edits {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{from}");
        let error = Job::of_bytes(edited.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), "corrupt", "{to}: {error}");
    }
}

/// A single file of a distributed checkpoint contains boxes, not whole tensors.
#[test]
fn a_file_of_a_distributed_checkpoint_alone_is_not_whole() {
    let folder = tilewright_testing::folder();
    piece(folder.path(), 1, "F32", &[2], &[0]);
    piece(folder.path(), 2, "F32", &[2], &[2]);
    let mut files: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let out = folder.path().join("out");
    let (kind, text) = refusal(Request::new(&files[1], &out));
    assert_eq!(kind, "mismatch", "{text}");
    // The first file may be all that exists, and a remark says that the extents are unknown.
    let job = Job::prepare(Request::new(&files[0], &out)).unwrap();
    assert_eq!(job.assumed().collect::<Vec<_>>(), [("w", &[2][..])]);
}
