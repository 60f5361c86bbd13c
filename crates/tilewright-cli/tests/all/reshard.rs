//! `reshard` as a program: in one process, and by a plan that several processes share.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn data(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/sharded");
    corpus.join(name).to_str().unwrap().to_owned()
}

const VARIABLES: [&str; 8] = [
    "RANK",
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
];

fn tilewright(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.envs(variables.iter().copied()).current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = tilewright(folder, &[], args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

fn same(folder: &Path, a: &str, b: &str) {
    assert_eq!(done(folder, &["same-data", a, b]), "same\n");
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_works() {
    let folder = tilewright_testing::folder();
    let (at, full) = (folder.path(), data("dcp_hf/full.safetensors"));
    for memory in ["1", "65535"] {
        for more in [&[][..], &["--dry-run"]] {
            let args = [&["reshard", &full, "out", "--memory", memory], more].concat();
            let output = tilewright(at, &[], &args);
            let text = said(&output);
            assert_eq!(output.status.code(), Some(2), "{text}");
            let says = format!("{memory} bytes of buffers are too few; give --memory 64K or more");
            assert!(text.contains(&says), "{text}");
        }
    }
    done(at, &["reshard", &full, "out", "--memory", "64K"]);
    same(at, "out", &full);
}

#[test]
fn a_checkpoint_of_torch_becomes_whole_and_goes_to_ranks_and_back() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let (dcp, full) = (data("dcp_hf/ckpt"), data("dcp_hf/full.safetensors"));
    let text = done(at, &["reshard", &dcp, "whole", "--max-shard-size", "2K"]);
    assert!(text.starts_with("finished: 18 tensors, 2"), "{text}");
    same(at, "whole", &full);

    let cut = [
        "--mesh",
        "dp=2,tp=2",
        "--rule",
        "{even,odd}*=P(\"dp\")",
        "--rule",
        "moe*=[Shard(0), Shard(1)]",
    ];
    // 7 and 37 rows: JAX does not cut unevenly.
    let refused = tilewright(at, &[], &[&["reshard", "whole", "ranks"][..], &cut].concat());
    assert_eq!(refused.status.code(), Some(2));
    let text = said(&refused);
    assert!(
        text.contains("tensor \"odd.S") && text.contains("rule P(\"dp\"): dim 0 of "),
        "{text}"
    );

    let cut = |mesh: &'static str, rule: &'static str| {
        [
            mesh,
            "dp=2,tp=2",
            rule,
            "{even,odd}*=[Shard(0), Replicate()]",
            rule,
            "moe*=[Shard(0), Shard(1)]",
            rule,
            "*=[Replicate(), Replicate()]",
        ]
    };
    let there = cut("--mesh", "--rule");
    done(at, &[&["reshard", "whole", "ranks", "--to", "zN[M0=4,C0=4]"][..], &there].concat());
    let back = cut("--from-mesh", "--from-rule");
    // Files of ranks may hold different parts under one name, so each tensor needs a rule.
    let forgotten = [&["reshard", "ranks", "back"][..], &back[..6]].concat();
    let refused = tilewright(at, &[], &forgotten);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("no rule gives its sharding over the files"),
        "{}",
        said(&refused)
    );
    done(at, &[&["reshard", "ranks", "back"][..], &back].concat());
    same(at, "back", &full);
}

/// Each step names the tasks that it compared; only a step that compared all says that the result is verified.
#[test]
fn steps_say_what_they_compared() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let dcp = data("dcp_hf/ckpt");
    let told = |args: &[&str]| {
        let text = done(at, &[&["-q", "--json"], args].concat());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        (value["verified"].clone(), value["tasks_compared"].clone())
    };
    let line = |args: &[&str], said: &str| {
        let text = done(at, &[&["-q"], args].concat());
        assert!(text.contains(said), "{args:?}: {text}");
    };
    let whole = ["reshard", &*dcp, "whole", "--verify", "--trust-extents"];
    assert_eq!(told(&whole), (true.into(), 18.into()));
    for (out, name, verify) in [("out-a", "a", true), ("out-b", "b", false)] {
        let plan = ["reshard", "plan", &*dcp, out, "--trust-extents", "-o", name];
        let own: &[&str] = if verify { &["--verify"] } else { &[] };
        assert_eq!(told(&[&plan, own].concat()), (false.into(), 0.into()));
        let run = |rank| ["reshard", "run", name, "--rank", rank, "--world", "2"];
        let compared = if verify { 9 } else { 0 };
        assert_eq!(told(&run("0")), (false.into(), compared.into()));
        let said = if verify { "9 of 18 tasks now, 9 compared: " } else { "9 of 18 tasks now: " };
        line(&run("1"), said);
        line(&run("1"), "0 of 18 tasks now: ");
    }
    line(
        &["reshard", "finish", "a"],
        "0 of 18 tasks now, each verified by the run that wrote it: ",
    );
    assert_eq!(told(&["reshard", "finish", "b", "--verify"]), (true.into(), 18.into()));
}

#[test]
fn ranks_share_a_plan_and_finish_says_what_is_missing() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let dcp = data("dcp_hf/ckpt");
    done(at, &["reshard", "plan", &dcp, "out", "-o", "plan.json"]);
    let missing = tilewright(at, &[], &["reshard", "finish", "plan.json"]);
    assert_eq!(missing.status.code(), Some(1));
    let text = said(&missing);
    assert!(text.starts_with("error: 18 of 18 tasks are missing; the first is task 0, "), "{text}");

    let launched: [&[(&str, &str)]; 4] = [
        &[("RANK", "0"), ("WORLD_SIZE", "4")],
        &[
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
        ],
        &[("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4")],
        &[],
    ];
    let shares = ["4 of 18", "5 of 18", "4 of 18", "5 of 18"];
    for (rank, (variables, share)) in launched.iter().zip(shares).enumerate() {
        assert!(!at.join("out").exists());
        let own = rank.to_string();
        let options = ["--rank", &own, "--world", "4"];
        let options = if variables.is_empty() { &options[..] } else { &[] };
        let output =
            tilewright(at, variables, &[&["reshard", "run", "plan.json"], options].concat());
        let text = said(&output);
        assert!(output.status.success() && text.contains(share), "{text}");
    }
    done(at, &["reshard", "finish", "plan.json"]);
    same(at, "out", &data("dcp_hf/full.safetensors"));
    let mut left: Vec<PathBuf> =
        std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, [at.join("out"), at.join("plan.json")]);

    let again = tilewright(at, &[], &["reshard", "run", "plan.json"]);
    assert_eq!(again.status.code(), Some(2));
    let beyond = ["reshard", "run", "plan.json", "--rank", "4", "--world", "4"];
    assert_eq!(tilewright(at, &[], &beyond).status.code(), Some(2));
}

#[test]
fn a_dry_run_writes_nothing_and_json_has_the_fields_of_the_documents() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let dcp = data("dcp_hf/ckpt");
    let asked = ["reshard", &dcp, "out", "--mesh", "tp=2", "--as", "dcp", "--dry-run", "--json"];
    let text = done(at, &asked);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["state"], &value["form"]), (&"planned".into(), &"dcp".into()));
    assert_eq!((&value["tensors"], &value["done"]), (&18.into(), &0.into()));
    assert_eq!(value["files"].as_array().unwrap().len(), 2);
    assert!(std::fs::read_dir(at).unwrap().next().is_none());
    for wrong in [
        &["reshard"][..],
        &["reshard", &dcp],
        &["reshard", &dcp, "out", "--rule", "*=column"],
        &["reshard", &dcp, "out", "--mesh", "tp=2", "--rule", "column"],
        &["reshard", "run"],
        &["reshard", "run", "plan", "--rank", "1"],
    ] {
        assert_eq!(tilewright(at, &[], wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// Two ranks hold different rows, and a rule calls them copies.
#[test]
fn a_rule_that_calls_different_data_copies_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let full = data("dcp_hf/full.safetensors");
    let cut = ["--mesh", "tp=2", "--rule", "even.S0S0=[Shard(0)]"];
    done(at, &[&["reshard", &full, "ranks"][..], &cut].concat());
    let wrong = ["reshard", "ranks", "out", "--from-mesh", "tp=2", "--from-rule", "*=P()"];
    // The files state the extents of the whole; files of ranks from other programs do not.
    let wrong = [&wrong[..], &["--trust-extents"]].concat();
    let refused = tilewright(at, &[], &wrong);
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("hold the same box, but they differ, first at ["), "{text}");
    assert!(text.ends_with("--trust-replicas takes the first\n"), "{text}");
    assert!(!at.join("out").exists());
    let planned = done(at, &[&wrong[..], &["--dry-run"]].concat());
    assert!(planned.contains("bytes of copies compared"), "{planned}");
    assert!(planned.contains("  even.S0S0: bf16["), "{planned}");
    done(at, &[&wrong[..], &["--trust-replicas"]].concat());
}

#[test]
fn a_result_is_replaced_by_force_and_variables_that_are_no_numbers_are_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let dcp = data("dcp_hf/ckpt");
    let note = done(at, &["reshard", &dcp, "out", "--verify"]);
    assert!(note.contains("warning: nothing states the extents of 17 tensors"), "{note}");
    let again = tilewright(at, &[], &["reshard", &dcp, "out"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("--force replaces a checkpoint"), "{}", said(&again));
    done(at, &["reshard", &dcp, "out", "--force", "--max-shard-size", "1K"]);
    same(at, "out", &data("dcp_hf/full.safetensors"));
    done(at, &["reshard", "plan", &dcp, "new", "-o", "plan.json"]);
    for variable in ["RANK", "WORLD_SIZE", "SLURM_PROCID"] {
        let run = tilewright(at, &[(variable, "x")], &["reshard", "run", "plan.json"]);
        let expected = format!("the variable {variable} is \"x\"; expected a number");
        assert_eq!(run.status.code(), Some(2));
        assert!(said(&run).contains(&expected), "{}", said(&run));
    }
    for wrong in [
        &["reshard", &dcp, "new", "--max-shard-size", "0"][..],
        &["reshard", &dcp, "new", "--extents", "w"],
        &["reshard", &dcp, "new", "--extents", "no such=[1]"],
        &["reshard", &dcp, "new", "--extents", "even.S0S0=[1,1]"],
    ] {
        assert_eq!(tilewright(at, &[], wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert!(!at.join("new").exists());
}

#[test]
fn what_a_run_would_take_is_said_without_data() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let model = ["reshard", "simulate", "--params", "405e9", "--from-mesh", "dp=128"];
    let cut = ["--from-rule", "*=[Shard(0)]", "--mesh", "tp=64"];
    let rules =
        ["--rule", "*{o,down}_proj*=[Shard(1)]", "--rule", "*norm*=P()", "--rule", "*=[Shard(0)]"];
    let asked = [&model[..], &cut, &rules, &["--workers", "64,20000"]].concat();
    let text = done(at, &asked);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("tensors   1137 of 812 GB together"), "{text}");
    assert!(text.contains("\nlimit     20000 workers: "), "{text}");
    let json = done(at, &[&asked[..], &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    // Each element is read once, and written once, except for the norms, which all positions hold.
    let norms = (2 * 126 + 1) * 16384 * 2;
    assert_eq!(value["all"]["read_bytes"], value["all"]["bytes"]);
    let (bytes, written) = (value["all"]["bytes"].as_u64(), value["all"]["written"].as_u64());
    assert_eq!(written.unwrap(), bytes.unwrap() + 63 * norms);
    assert_eq!((&value["files_in"], &value["files_out"]), (&128.into(), &64.into()));
    assert!(std::fs::read_dir(at).unwrap().next().is_none());

    // A checkpoint that exists, and wrong arguments.
    let dcp = data("dcp_hf/ckpt");
    let text = done(at, &["reshard", "simulate", &dcp, "--workers", "3"]);
    assert!(text.contains("\ntasks     18 of at most ") && text.contains("\n3        "), "{text}");
    for (args, said) in [
        (&["reshard", "simulate"][..], "no tensors; give IN, --params, --config"),
        (&["reshard", "simulate", "--params", "7"], "--params 7: expected a number from 1e6"),
        (&["reshard", "simulate", &dcp, "--workers", "0"], "--workers 0: expected numbers from 1"),
    ] {
        let output = tilewright(at, &[], args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(self::said(&output).contains(said), "{}", self::said(&output));
    }
}

/// A name may contain any characters, and a plan has one line for each tensor.
#[test]
fn names_are_printed_on_one_line_without_control_characters() {
    let folder = tilewright_testing::folder();
    let header = r#"{"\u001b[31mred\nline":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 2]].concat();
    std::fs::write(folder.path().join("in.safetensors"), file).unwrap();
    let planned = done(folder.path(), &["reshard", "in.safetensors", "out", "--dry-run"]);
    assert!(planned.contains("  \\u{1b}[31mred\\nline: u8[2], whole -> whole"), "{planned}");
    assert!(!planned.contains('\u{1b}'));
}

/// General options may also precede a step.
#[test]
fn general_options_may_stand_before_a_step() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let dcp = data("dcp_hf/ckpt");
    let text = done(at, &["reshard", "--json", "-q", "plan", &dcp, "out", "-o", "p"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["state"], "planned");
    let text = done(at, &["reshard", "--json", "run", "p"]);
    assert!(text.starts_with('{') && text.contains("\"run\""), "{text}");
    done(at, &["reshard", "-q", "finish", "p"]);
    // Other options of a run are not options of a step.
    let mixed = tilewright(at, &[], &["reshard", "--mesh", "tp=2", "plan", &dcp, "b", "-o", "q"]);
    assert_eq!(mixed.status.code(), Some(2), "{}", said(&mixed));
}

/// Messages name the folder that a refused run leaves, and the folder that another request left for the same name.
#[test]
fn folders_that_runs_leave_are_named() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let full = data("dcp_hf/full.safetensors");
    let cut = ["--mesh", "tp=2", "--rule", "even.S0S0=[Shard(0)]"];
    done(at, &[&["reshard", &full, "ranks"][..], &cut].concat());
    let wrong = ["reshard", "ranks", "out", "--from-mesh", "tp=2", "--from-rule", "*=P()"];
    // The files state the extents of the whole; files of ranks from other programs do not.
    let wrong = [&wrong[..], &["--trust-extents"]].concat();
    let text = said(&tilewright(at, &[], &wrong));
    let partial = |at: &Path| {
        let names = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names = names.map(|name| name.into_string().unwrap());
        names.find(|name| name.starts_with("out.partial-"))
    };
    let left = partial(at).unwrap();
    let named = format!("{left} is left over from this run; remove it");
    assert!(text.contains(&named), "{text}");
    let right = ["--from-rule", "even.S0S0=[Shard(0)]", "--from-rule", "*=P()"];
    let right = [&["reshard", "ranks", "out", "--from-mesh", "tp=2"][..], &right].concat();
    let text = done(at, &right);
    let named = format!("{left} belongs to a run with another request or source; remove it");
    assert!(text.contains("\nnote: ") && text.contains(&named), "{text}");
    assert_eq!(partial(at), Some(left.clone()));
    std::fs::remove_dir_all(at.join(&left)).unwrap();
    let text = done(at, &[&right[..], &["--force"]].concat());
    assert!(!text.contains("another run") && partial(at).is_none(), "{text}");
}

#[test]
fn a_result_inside_of_its_source_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    std::fs::create_dir_all(at.join("a/hf")).unwrap();
    let source = at.join("a/hf/model.safetensors");
    std::fs::copy(data("dcp_hf/full.safetensors"), &source).unwrap();
    for (input, output, inner) in [
        ("a/hf", "a/hf/sub", "a/hf/sub is inside "),
        ("a/hf", "a/../a/hf/sub/more", "sub/more is inside "),
        ("a/hf", "a", "a/hf is inside "),
        ("a/hf/model.safetensors", "a", "a/hf/model.safetensors is inside "),
    ] {
        for more in [&[][..], &["--force"], &["--dry-run"]] {
            let refused = tilewright(at, &[], &[&["reshard", input, output][..], more].concat());
            let text = said(&refused);
            assert_eq!(refused.status.code(), Some(2), "{text}");
            let legal = "the result must be a separate folder, outside the source\n";
            assert!(text.contains(inner) && text.ends_with(legal), "{text}");
        }
    }
    assert_eq!(std::fs::read_dir(at.join("a/hf")).unwrap().count(), 1);
    // If the input is one file, the result may be in its folder.
    done(at, &["reshard", "a/hf/model.safetensors", "a/hf/sub"]);
    // A simulation does not write, so its placeholder destination may be inside the source.
    let source = at.join("a/hf").display().to_string();
    for input in [&*source, "/"] {
        let inside =
            tilewright(&at.join("a"), &[("TMPDIR", &source)], &["reshard", "simulate", input]);
        let text = said(&inside);
        assert!(inside.status.success() || !text.contains("is inside"), "{text}");
        assert_eq!(inside.status.success(), input == source, "{text}");
    }
}

/// Checkpoints that the program does not read are refused, with the name of a tool that reads them.
#[test]
fn checkpoints_that_are_not_read_are_refused_with_what_reads_them() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    for (file, bytes) in [
        ("torch/.metadata", &b"\x80\x02}."[..]),
        ("torch/__0_0.distcp", b"PK\x03\x04"),
        ("orbax/_METADATA", b"{}"),
    ] {
        std::fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
        std::fs::write(at.join(file), bytes).unwrap();
    }
    for (path, call) in [
        ("torch", "tilewright.reshard(FOLDER, OUT).run() writes safetensors"),
        ("torch/__0_0.distcp", "tilewright.reshard(FOLDER, OUT).run() writes safetensors"),
        ("orbax", "tilewright.orbax.unpack(FOLDER, OUT) writes them uncompressed"),
    ] {
        for words in [
            &["reshard", path, "out"][..],
            &["reshard", path, "out", "--from-mesh", "tp=2"],
            &["reshard", "simulate", path],
            &["info", path],
            &["verify", path],
            &["fingerprint", path],
            &["same-data", path, path],
            &["convert", path, "out", "--to", "zN"],
        ] {
            if path.ends_with(".distcp") && words.contains(&"--from-mesh") {
                continue;
            }
            let refused = tilewright(at, &[], words);
            let text = said(&refused);
            assert!(!refused.status.success() && text.contains(call), "{words:?}: {text}");
        }
    }
    for (file, why) in [
        (
            "../tiny_quantised.gguf",
            "its elements are blocks of q4_0, which safetensors does not store; write GGUF",
        ),
        ("../tiny_deflated.npz", "its arrays are deflated; convert it first, which stores them"),
    ] {
        let text = said(&tilewright(at, &[], &["reshard", &data(file), "out"]));
        assert!(text.contains(why), "{text}");
    }
}

/// Files of other formats are resharded; their metadata stay behind, with a note.
#[test]
fn other_formats_are_resharded() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let cnn = data("../tiny_cnn_f32.safetensors");
    std::fs::write(at.join("all.toml"), "pass = ['*']").unwrap();
    done(at, &["convert", &cnn, "in.npz", "--recipe", "all.toml"]);
    let rules = ["--mesh", "tp=2", "--rule", "*.weight=[Shard(0)]"];
    let back =
        ["--from-mesh", "tp=2", "--from-rule", "*.weight=[Shard(0)]", "--from-rule", "*=P()"];
    let text = said(&tilewright(at, &[], &["reshard", "in.npz", "out.gguf"]));
    assert!(text.contains("out.gguf: .gguf needs model metadata"), "{text}");
    for source in ["in.npz", &data("../../recipes/llama_gguf/after.gguf")] {
        let text = done(at, &[&["reshard", source, "out", "--verify"], &rules[..]].concat());
        assert_eq!(
            text.contains("are not copied: they are those of"),
            source != "in.npz",
            "{text}"
        );
        done(at, &[&["reshard", "out", "whole"], &back[..]].concat());
        same(at, "whole/model.safetensors", source);
        ["out", "whole"].iter().for_each(|it| std::fs::remove_dir_all(at.join(it)).unwrap());
    }
}

/// One file of torch's checkpoint holds boxes of arrays. Every command that opens it says so.
#[test]
fn one_file_of_a_distributed_checkpoint_is_called_boxes() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let parts = std::fs::read_dir(data("dcp_hf/ckpt")).unwrap().map(|entry| entry.unwrap().path());
    let mut parts: Vec<PathBuf> =
        parts.filter(|path| path.extension().is_some_and(|end| end == "safetensors")).collect();
    parts.sort();
    let part = parts[1].to_str().unwrap();
    let note = "boxes of possibly larger arrays, as DCP_SHARDING_INFO says";
    let text = done(at, &["info", part]);
    assert!(text.contains(note) && text.contains(", a box of an array, from ["), "{text}");
    let value: serde_json::Value =
        serde_json::from_str(&done(at, &["info", part, "--json", "-q"])).unwrap();
    let begins: Vec<&serde_json::Value> =
        value["tensors"].as_array().unwrap().iter().map(|tensor| &tensor["begin"]).collect();
    assert!(
        begins.iter().any(|begin| begin.as_array().is_some_and(|at| at.iter().any(|n| *n != 0)))
    );
    let text = done(at, &["convert", part, "out.safetensors", "--to", "col-major", "--skip-unfit"]);
    assert!(text.contains(note), "{text}");
    // A folder of such files counts as the whole arrays, and one of them does not.
    let (dcp, full) = (data("dcp_hf/ckpt"), data("dcp_hf/full.safetensors"));
    assert_eq!(done(at, &["same-data", &dcp, &full, "-q"]), "same\n");
    assert_eq!(done(at, &["fingerprint", &dcp, "-q"]), done(at, &["fingerprint", &full, "-q"]));
    let text = said(&tilewright(at, &[], &["same-data", &dcp, part]));
    assert!(text.contains("even.S0S0 has other dims: [16,12] vs [4,12]"), "{text}");
    assert!(text.contains(note), "{text}");
}

/// A result in other files than its source, and with the metadata that resharding adds, is verified against its source.
#[test]
fn a_result_in_other_files_is_verified_against_its_source() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let header = r#"{"__metadata__":{"step":"7"},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}}"#;
    let file = |text: &str| {
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &[1, 2, 3, 4, 5]].concat()
    };
    std::fs::write(at.join("in.safetensors"), file(header)).unwrap();
    done(at, &["reshard", "in.safetensors", "two", "--max-shard-size", "3"]);
    done(at, &["reshard", "two", "one"]);
    done(at, &["reshard", "one", "again", "--max-shard-size", "3"]);
    for (out, against) in [
        ("two", "in.safetensors"),
        ("one", "two"),
        ("one", "in.safetensors"),
        ("again", "one"),
        ("again", "two"),
    ] {
        let text = done(at, &["verify", out, "--against", against]);
        assert!(text.starts_with("same"), "{out} against {against}: {text}");
    }
    // Files of the same names without the addition, and files with another text in its place.
    let changed = |from: &str, to: &str, by: &str| {
        std::fs::create_dir(at.join(to)).unwrap();
        for entry in std::fs::read_dir(at.join(from)).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(14).position(|it| it == br#""format":"pt","#);
            found.into_iter().for_each(|at| bytes[at..at + 14].copy_from_slice(by.as_bytes()));
            std::fs::write(at.join(to).join(path.file_name().unwrap()), bytes).unwrap();
        }
    };
    changed("two", "plain", "              ");
    changed("two", "strange", r#""format":"xx","#);
    changed("one", "strange-one", r#""format":"xx","#);
    assert!(done(at, &["verify", "two", "--against", "plain"]).starts_with("same"));
    for (out, against) in [("strange", "plain"), ("strange", "one"), ("strange-one", "plain")] {
        let other = tilewright(at, &[], &["verify", out, "--against", against]);
        let text = said(&other);
        assert!(other.status.code() == Some(1) && text.contains("format\" is \"xx\""), "{text}");
    }
    let other = tilewright(at, &[], &["verify", "strange-one", "--against", "in.safetensors"]);
    assert!(
        said(&other).contains("metadata \"format\" is \"xx\", was not there"),
        "{}",
        said(&other)
    );
    std::fs::write(at.join("in.safetensors"), file(&header.replace("\"7\"", "\"8\""))).unwrap();
    for out in ["one", "two"] {
        let other = tilewright(at, &[], &["verify", out, "--against", "in.safetensors"]);
        assert_eq!(other.status.code(), Some(1));
        assert!(said(&other).contains("metadata \"step\" is \"7\", was \"8\""), "{}", said(&other));
    }
}

/// A dry run reports why a run would be refused, and nothing about a request that a run accepts.
#[test]
fn a_dry_run_says_what_a_run_refuses() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let input = data("dcp_hf/full.safetensors");
    for name in ["empty", "notes", "old"] {
        std::fs::create_dir(at.join(name)).unwrap();
    }
    std::fs::write(at.join("notes/a.txt"), "a").unwrap();
    std::fs::copy(&input, at.join("old/model.safetensors")).unwrap();
    for (out, force, refused) in [
        ("new", false, None),
        ("empty", false, None),
        ("notes", false, Some("exists already")),
        ("notes", true, Some("does not hold only a checkpoint")),
        ("old", false, Some("exists already")),
        ("old", true, None),
    ] {
        let mut words = vec!["reshard", &*input, out];
        words.extend(force.then_some("--force"));
        let dry = done(at, &[&words[..], &["--dry-run"]].concat());
        assert_eq!(dry.contains("a run would fail: "), refused.is_some(), "{words:?}: {dry}");
        let run = tilewright(at, &[], &words);
        assert_eq!(run.status.success(), refused.is_none(), "{}", said(&run));
        let text = refused.unwrap_or_default();
        assert!(dry.contains(text) && said(&run).contains(text), "{words:?}: {dry}");
    }
}
