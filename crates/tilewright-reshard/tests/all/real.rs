//! Checkpoints of other libraries, merged: the bytes equal those of the whole tensors.

use std::path::{Path, PathBuf};

use crate::common::read;
use tilewright_reshard::{Form, Job, Request, Rules};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/sharded").join(name)
}

/// Returns the placements of the checkpoints by name: the letters after the dot.
fn rules() -> Rules {
    let rules = [
        ("*.S0S0", "[Shard(0), Shard(0)]"),
        ("*.S0S1", "[Shard(0), Shard(1)]"),
        ("*.S1S0", "[Shard(1), Shard(0)]"),
        ("*.S2S0", "[Shard(2), Shard(0)]"),
        ("*.S0R", "[Shard(0), Replicate()]"),
        ("*.RS1", "[Replicate(), Shard(1)]"),
        ("fsdp_tp.*", "[_StridedShard(0, sf=2), Shard(0)]"),
        ("*", "[Replicate(), Replicate()]"),
    ];
    let mesh = Rules::new("dp=2,tp=2").unwrap();
    rules.iter().fold(mesh, |all, (glob, rule)| all.rule(glob, rule).unwrap())
}

fn run(request: Request) {
    Job::prepare(request).unwrap().run_all(&()).unwrap();
}

#[test]
fn checkpoints_of_torch_are_their_whole_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole = read(&data("dcp_hf/full.safetensors"));
    assert_eq!(whole.len(), 18);
    run(Request::new(data("dcp_hf/ckpt"), at("dcp")));
    assert_eq!(read(&at("dcp")), whole);
    run(Request::new(data("ranks/ckpt"), at("ranks")).from(rules()));
    assert_eq!(read(&at("ranks")), whole);
    run(Request::new(data("hf_index/ckpt"), at("hf")));
    assert_eq!(read(&at("hf")), read(&data("hf_index/full.safetensors")));
}

/// From torch's files to torch's files again, and to a file for each rank, whose tensors equal those that torch wrote.
#[test]
fn the_files_of_ranks_are_those_of_torch() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run(Request::new(data("dcp_hf/ckpt"), at("dcp")).to(rules()).form(Form::Dcp));
    run(Request::new(at("dcp"), at("ranks")).to(rules()));
    for rank in 0..4 {
        let name = format!("rank_{rank:05}-of-00004.safetensors");
        assert_eq!(read(&at("ranks").join(&name)), read(&data("ranks/ckpt").join(&name)), "{name}");
    }
}
