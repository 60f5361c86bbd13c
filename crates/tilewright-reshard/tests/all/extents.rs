//! The sources that state the extents of whole tensors, and checkpoints with a missing shard file.

use std::{fs, path::Path};

use crate::common::{Tensors, file, names, read, write};
use tilewright_reshard::{Error, Form, Job, Request, Rules};

/// Writes files of a distributed checkpoint, with two rows of each tensor in each file.
fn shards(folder: &Path, tensors: &[(&str, u64)], files: u64, metadata: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..files {
        let held = |(name, columns): &(&str, u64)| {
            let bytes = (0..2 * columns).map(|at| (number * 2 * columns + at) as u8).collect();
            (name.to_string(), ("U8".to_owned(), vec![2, *columns], bytes))
        };
        let held: Tensors = tensors.iter().map(held).collect();
        let place =
            |(name, _): &(&str, u64)| format!("{name:?}:{{\"saved_offsets\":[{},0]}}", 2 * number);
        let places = tensors.iter().map(place).collect::<Vec<_>>().join(",");
        let places = format!("{{{places}}}");
        let said = [&[("DCP_SHARDING_INFO", &*places)], metadata].concat();
        write(
            &folder.join(format!("shard-{:05}-model-00001-of-00001.safetensors", number + 1)),
            &held,
            &said,
        );
    }
}

fn refused(request: Request) -> (&'static str, String) {
    let error = Job::prepare(request).unwrap_err();
    (error.kind(), error.to_string())
}

fn last(folder: &Path) -> String {
    names(folder).into_iter().rfind(|name| name.ends_with(".safetensors")).unwrap()
}

#[test]
fn extents_that_nothing_states_are_assumed_and_said() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    shards(&at, &[("v", 1), ("w", 3)], 3, &[]);
    let request = Request::new(&at, folder.path().join("out"));
    let assumed = |request: &Request| {
        let job = Job::prepare(request.clone()).unwrap();
        // A plan keeps the assumptions.
        let job = Job::of_bytes(&job.plan().unwrap()).unwrap();
        let named = |(name, dims): (&str, &[u64])| (name.to_owned(), dims.to_vec());
        (job.assumed().map(named).collect::<Vec<_>>(), job.assumption())
    };
    let (found, said) = assumed(&request);
    assert_eq!(found, [("v".to_owned(), vec![6, 1]), ("w".to_owned(), vec![6, 3])]);
    let text = "nothing states the extents of 2 tensors, so they are taken to end with the last shard: \"v\" [6, 1], \"w\" [6, 3]. \
                A last shard file that is missing makes them smaller";
    assert_eq!(said.unwrap(), text);
    // With trust: the same extents, and no sentence.
    let (found, said) = assumed(&request.clone().trust_extents(true));
    assert_eq!((found.len(), said), (2, None));
    // Stated, as text or by patterns: nothing is assumed, and the result is the same.
    for stated in [
        request.clone().extents_text(r#"{"v": [6, 1], "w": [6, 3]}"#).unwrap(),
        request.clone().extents_text("v = [6, 1]\nw = [6, 3]").unwrap(),
        request.clone().extents("v", &[6, 1]).unwrap().extents("w", &[6, 3]).unwrap(),
    ] {
        assert_eq!(assumed(&stated), (vec![], None));
    }
    // One of two is stated.
    let (found, said) = assumed(&request.clone().extents("v", &[6, 1]).unwrap());
    assert_eq!(found.len(), 1);
    assert!(said.unwrap().starts_with("nothing states the extents of 1 tensor, "));
    fs::remove_file(at.join(last(&at))).unwrap();
    let (found, _) = assumed(&request);
    assert_eq!(found[1], ("w".to_owned(), vec![4, 3]));
}

/// Without the first, a middle or the last file, and with stated extents, the hole is named.
#[test]
fn a_missing_shard_is_a_hole_where_extents_are_stated() {
    for gone in 0..3u64 {
        let folder = tilewright_testing::folder();
        let at = folder.path().join("in");
        shards(&at, &[("w", 3)], 3, &[]);
        fs::remove_file(at.join(format!("shard-{:05}-model-00001-of-00001.safetensors", gone + 1)))
            .unwrap();
        let request = Request::new(&at, folder.path().join("out"));
        let hole = format!(
            "tensor `w` [6,3]: no piece holds [{},{}) × [0,3); a shard file may be missing",
            2 * gone,
            2 * gone + 2
        );
        let stated = request.clone().extents_text("w = [6, 3]").unwrap();
        assert_eq!(refused(stated), ("mismatch", hole.clone()));
        let stated = request.clone().extents("*", &[6, 3]).unwrap().trust_extents(true);
        assert_eq!(refused(stated), ("mismatch", hole));
        match Job::prepare(request) {
            Ok(job) => assert_eq!((gone, job.assumed().count()), (2, 1)),
            Err(error) => assert!(gone < 2 && error.to_string().contains("shard"), "{error}"),
        }
    }
}

/// Results state the extents of the whole, so a part of them is never taken for it.
#[test]
fn results_state_their_extents() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let tensors =
        [("norm", "U8", vec![4], vec![1, 2, 3, 4]), ("w", "U8", vec![8, 2], (0..16).collect())];
    file(&at("model.safetensors"), &tensors, &[]);
    let rules = |mesh| {
        let rules = Rules::new(mesh).unwrap().rule("w", "column").unwrap();
        rules.rule("*", "P()").unwrap()
    };
    let cut = |form, out: &str| {
        let request = Request::new(at("model.safetensors"), at(out)).to(rules("tp=4")).form(form);
        Job::prepare(request).unwrap().run_all(&()).unwrap();
    };
    cut(Form::Dcp, "dcp");
    let request = Request::new(at("dcp"), at("whole"));
    let job = Job::prepare(request.clone()).unwrap();
    let assumed: Vec<&str> = job.assumed().map(|(name, _)| name).collect();
    assert_eq!((assumed, job.tensors()), (vec!["norm"], 2));
    fs::remove_file(at("dcp").join(last(&at("dcp")))).unwrap();
    let (kind, text) = refused(request.clone());
    assert_eq!(kind, "extents", "{text}");
    assert!(text.contains("a shard file may be missing; tilewright.extents states [8, "), "{text}");
    assert!(text.ends_with("give the extents of whole tensors, or accept those of their shards"));
    let job = Job::prepare(request.trust_extents(true)).unwrap();
    assert!(job.assumed().any(|(name, extents)| name == "w" && extents == [6, 2]));

    // Some of the files of the ranks, with a smaller mesh.
    cut(Form::Ranks, "ranks");
    let whole = Request::new(at("ranks"), at("whole")).from(rules("tp=4"));
    assert_eq!(Job::prepare(whole).unwrap().assumed().count(), 0);
    for name in names(&at("ranks")).iter().skip(2) {
        fs::remove_file(at("ranks").join(name)).unwrap();
    }
    for (rank, name) in names(&at("ranks")).iter().enumerate() {
        fs::rename(at("ranks").join(name), at("ranks").join(format!("r{rank}.safetensors")))
            .unwrap();
    }
    let half = Request::new(at("ranks"), at("half")).from(rules("tp=2"));
    let (kind, text) = refused(half.clone());
    assert!(kind == "extents" && text.contains("tilewright.extents states [8, "), "{text}");
    Job::prepare(half.trust_extents(true)).unwrap().run_all(&()).unwrap();
    assert_eq!(read(&at("half"))["w"].2, (0..8).collect::<Vec<u8>>());
}

/// For files of ranks from other libraries, parts are assumed, copies are not.
#[test]
fn ranks_of_others_assume_what_is_cut() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    for rank in 0..2 {
        let held = [("norm", "U8", vec![2], vec![7, 7]), ("w", "U8", vec![2, 2], vec![rank; 4])];
        file(&at.join(format!("rank_{rank}.safetensors")), &held, &[]);
    }
    let rules = |mesh: &str| {
        Rules::new(mesh).unwrap().rule("w", "[Shard(0)]").unwrap().rule("*", "P()").unwrap()
    };
    let request = Request::new(&at, folder.path().join("out")).from(rules("tp=2"));
    let job = Job::prepare(request.clone()).unwrap();
    assert_eq!(job.assumed().collect::<Vec<_>>(), [("w", &[4, 2][..])]);
    let said = Rules::new("tp=2").unwrap().rule("w", "[4,2] @ [Shard(0)]").unwrap();
    let said = request.clone().from(said.rule("*", "P()").unwrap());
    assert_eq!(Job::prepare(said).unwrap().assumed().count(), 0);
    let more = request.clone().extents_text("w = [8, 2]").unwrap();
    assert!(
        refused(more)
            .1
            .contains("tensor \"w\" has [2, 2]; by its rule that shard of [8, 2] has [4, 2]")
    );
    // With one position, a file has the whole tensor.
    fs::remove_file(at.join("rank_1.safetensors")).unwrap();
    let one = Request::new(&at, folder.path().join("out")).from(rules("tp=1"));
    assert_eq!(Job::prepare(one).unwrap().assumed().count(), 0);
}

const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 3, "intermediate_size": 6, "num_hidden_layers": 1,
    "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 6, "vocab_size": 6}"#;

/// A model whose config states six rows of every tensor that is split here.
const MODEL: [(&str, u64); 6] = [
    ("model.embed_tokens.weight", 3),
    ("model.layers.0.mlp.gate_proj.weight", 3),
    ("model.layers.0.mlp.up_proj.weight", 3),
    ("model.layers.0.self_attn.q_proj.weight", 3),
    ("model.layers.0.self_attn.k_proj.weight", 3),
    ("model.layers.0.self_attn.v_proj.weight", 3),
];

/// Writes the tensors of the model that no file splits: three rows, or three elements.
fn rest(folder: &Path, prefix: &str) {
    let wide = |name: &str, dims: &[u64]| {
        let bytes = vec![0; dims.iter().product::<u64>() as usize];
        (format!("{prefix}model.{name}.weight"), ("U8".to_owned(), dims.to_vec(), bytes))
    };
    let held: Tensors = [
        wide("norm", &[3]),
        wide("layers.0.input_layernorm", &[3]),
        wide("layers.0.post_attention_layernorm", &[3]),
        wide("layers.0.self_attn.o_proj", &[3, 6]),
        wide("layers.0.mlp.down_proj", &[3, 6]),
    ]
    .into();
    let place = |(name, (_, dims, _)): (&String, &(String, Vec<u64>, Vec<u8>))| {
        format!("{name:?}:{{\"saved_offsets\":{:?}}}", vec![0; dims.len()])
    };
    let places = format!("{{{}}}", held.iter().map(place).collect::<Vec<_>>().join(","));
    let said = [("DCP_SHARDING_INFO", &*places)];
    write(&folder.join("shard-00004-model-00001-of-00001.safetensors"), &held, &said);
}

fn model(folder: &Path, prefix: &str, config: &str) -> Request {
    let named: Vec<(String, u64)> =
        MODEL.iter().map(|(name, columns)| (format!("{prefix}{name}"), *columns)).collect();
    let named: Vec<(&str, u64)> = named.iter().map(|(name, columns)| (&**name, *columns)).collect();
    shards(folder, &named, 3, &[]);
    rest(folder, prefix);
    fs::write(folder.join("config.json"), config).unwrap();
    Request::new(folder, folder.with_extension("out"))
}

#[test]
fn the_config_of_a_known_family_states_extents() {
    let prepared = |prefix: &str, config: &str, gone: &str| -> Result<(usize, usize), Error> {
        let folder = tilewright_testing::folder();
        let at = folder.path().join("in");
        let request = model(&at, prefix, config);
        if let Ok(number) = gone.parse::<u64>() {
            fs::remove_file(at.join(format!("shard-{number:05}-model-00001-of-00001.safetensors")))
                .unwrap();
        }
        let job = Job::prepare(request)?;
        Ok((job.tensors(), job.assumed().count()))
    };
    for prefix in ["", "model.", "module.", "exp_avg."] {
        assert_eq!(prepared(prefix, CONFIG, "").unwrap(), (11, 0), "{prefix}");
        // The file with the whole tensors is the last one.
        let error = prepared(prefix, CONFIG, "4").unwrap_err();
        let said = "config.json states tensor \"model.layers.0.self_attn.o_proj.weight\", but no file holds it; a shard file may be missing";
        assert_eq!(error.kind(), "extents");
        assert!(error.to_string().starts_with(said), "{error}");
    }
    // More rows than the shards have, and rows that the config does not have.
    let error =
        prepared("", &CONFIG.replace("\"vocab_size\": 6", "\"vocab_size\": 8"), "").unwrap_err();
    let said = "tensor `model.embed_tokens.weight` [8,3]: no piece holds [6,8) × [0,3); a shard file may be missing; config.json states [8, 3]";
    assert!(error.kind() == "extents" && error.to_string().starts_with(said), "{error}");
    let error =
        prepared("", &CONFIG.replace("\"vocab_size\": 6", "\"vocab_size\": 5"), "").unwrap_err();
    assert!(
        error.kind() == "extents" && error.to_string().contains("outside the array"),
        "{error}"
    );
    // An unknown config states nothing.
    for config in [
        CONFIG.replace("llama", "newest"),
        CONFIG.replace("\"head_dim\"", "\"quantization_config\": {}, \"head_dim\""),
        CONFIG.replace("\"hidden_size\": 3,", ""),
        "{".to_owned(),
    ] {
        assert_eq!(prepared("", &config, "").unwrap(), (11, 11), "{config}");
    }
    // Tensors with other names are not part of the model.
    let folder = tilewright_testing::folder();
    shards(folder.path(), &[("w", 3)], 2, &[]);
    fs::write(folder.path().join("config.json"), CONFIG).unwrap();
    let job =
        Job::prepare(Request::new(folder.path(), folder.path().with_extension("out"))).unwrap();
    assert_eq!(job.assumed().count(), 1);
}

#[test]
fn a_tensor_that_is_missing_as_a_whole_is_refused_or_said_to_be_unseen() {
    let prepared = |config: &str, gone: u64| {
        let folder = tilewright_testing::folder();
        let at = folder.path().join("in");
        let request = model(&at, "", config);
        let _ =
            fs::remove_file(at.join(format!("shard-{gone:05}-model-00001-of-00001.safetensors")));
        Job::prepare(request).map(|job| job.assumption())
    };
    // The output layer of an untied model is not in these files.
    let untied = CONFIG.replace("\"head_dim\"", "\"tie_word_embeddings\": false, \"head_dim\"");
    let error = prepared(&untied, 0).unwrap_err().to_string();
    assert!(error.starts_with("config.json states tensor \"lm_head.weight\""), "{error}");
    let tied = untied.replace("false", "true");
    assert_eq!(prepared(&tied, 0).unwrap(), None);
    // A family that is known to have further tensors.
    let open = CONFIG.replace("llama", "gemma");
    let said = prepared(&open, 0).unwrap().unwrap();
    assert!(
        said.starts_with("config.json states extents, but nothing lists all tensors"),
        "{said}"
    );
    assert_eq!(prepared(&open, 4).unwrap().unwrap(), said);
    let error = prepared(&open, 3).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}

/// An index that lists some files of a distributed checkpoint does not make its tensors shorter.
#[test]
fn an_index_of_boxes_lists_no_whole_tensors() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    shards(&at, &[("w", 3)], 3, &[]);
    let index = at.join("model.safetensors.index.json");
    let list = |text: &str| fs::write(&index, format!("{{\"weight_map\": {{{text}}}}}")).unwrap();
    list(r#""w": "shard-00001-model-00001-of-00001.safetensors""#);
    for input in [&at, &index] {
        let job = Job::prepare(Request::new(input, folder.path().join("out"))).unwrap();
        assert_eq!(job.assumed().collect::<Vec<_>>(), [("w", &[6, 3][..])]);
    }
    // A name that no file has.
    list(
        r#""w": "shard-00001-model-00001-of-00001.safetensors", "v": "shard-00001-model-00001-of-00001.safetensors""#,
    );
    let (kind, said) = refused(Request::new(&at, folder.path().join("out")));
    assert!(kind == "corrupt" && said.contains("puts tensor \"v\" into"), "{kind}: {said}");
}

/// A single file of a checkpoint is compared with the config in its folder.
#[test]
fn the_config_beside_a_lone_file_states_extents() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    let request = model(&at, "", CONFIG);
    let first = at.join("shard-00001-model-00001-of-00001.safetensors");
    let alone = Request::new(&first, folder.path().join("out"));
    let (kind, said) = refused(alone.clone());
    assert!(kind == "extents" && said.contains("config.json states"), "{kind}: {said}");
    assert_eq!(Job::prepare(alone.trust_extents(true)).unwrap().assumed().count(), 6);
    let _ = Job::prepare(request).unwrap();
}

/// Opening a FIFO would wait for a writer, so it is refused before.
#[cfg(unix)]
#[test]
fn a_config_that_is_a_pipe_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    let request = model(&at, "", CONFIG);
    fs::remove_file(at.join("config.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at.join("config.json")).status();
    assert!(made.unwrap().success());
    let (_, said) = refused(request);
    assert!(said.contains("config.json"), "{said}");
}

#[test]
fn a_caller_knows_better_than_a_config() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    let config = CONFIG.replace("\"vocab_size\": 6", "\"vocab_size\": 8");
    let request = model(&at, "", &config);
    assert_eq!(refused(request.clone()).0, "extents");
    let stated = request.clone().extents("*embed_tokens*", &[6, 3]).unwrap();
    assert_eq!(Job::prepare(stated).unwrap().assumed().count(), 0);
    let stated = request.clone().extents_text("[model.embed_tokens]\nweight = [6, 3]").unwrap();
    assert_eq!(Job::prepare(stated).unwrap().assumed().count(), 0);
    let job = Job::prepare(request.trust_extents(true)).unwrap();
    assert_eq!((job.assumed().count(), job.assumption()), (11, None));
}

/// A rule with other heads than the configuration is refused, for the source and for the result, unless the caller
/// accepts it.
#[test]
fn the_heads_of_a_rule_are_those_of_the_config() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    fs::create_dir_all(&at).unwrap();
    let fused: Tensors = [("qkv".to_owned(), ("U8".to_owned(), vec![128], vec![7; 128]))].into();
    write(&at.join("model.safetensors"), &fused, &[]);
    let request = |rule: &str| {
        let rules = Rules::new("tp=2").unwrap().rule("qkv", rule).unwrap();
        Request::new(&at, folder.path().join("out")).to(rules)
    };
    let against = |config: &str, rule: &str| {
        fs::write(at.join("config.json"), config).unwrap();
        match Job::prepare(request(rule)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let config = r#"{"hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": null}"#;
    for maker in ["vllm", "megatron"] {
        let right = format!("{maker}:qkv(h=8,g=4,d=8)");
        assert_eq!(against(config, &right), "");
        assert_eq!(against("{}", &format!("{maker}:qkv(h=12,g=2,d=8)")), "");
    }
    let said = against(config, "vllm:qkv(h=12,g=2,d=8)");
    let both = "tensor \"qkv\", rule vllm:qkv(h=12,g=2,d=8): h is 12, and by config.json num_attention_heads is 8; \
                g is 2, and by config.json num_key_value_heads is 4; accept the heads of the rule";
    assert_eq!(said, both);
    let said = against(&config.replace("64", "128"), "vllm:qkv(h=8,g=4,d=8)");
    assert!(
        said.contains("d is 8, and by config.json hidden_size / num_attention_heads is 16"),
        "{said}"
    );
    // A model with several parts has different heads in each.
    let parts = |one: &str, other: &str| {
        format!(
            r#"{{"vision_config": {{"num_attention_heads": {one}}}, "text_config": {{"num_attention_heads": {other}}}}}"#
        )
    };
    assert_eq!(against(&parts("16", "8"), "vllm:qkv(h=8,g=4,d=8)"), "");
    let said = against(&parts("16", "12"), "vllm:qkv(h=8,g=4,d=8)");
    assert!(said.contains("h is 8, and by config.json num_attention_heads is 16"), "{said}");
    let said = against(&config.replace("null", "16"), "vllm:qkv(h=8,g=4,d=8)");
    assert!(said.contains("d is 8, and by config.json head_dim is 16"), "{said}");
    // In known families, a model without this number has one key for each query.
    let config = r#"{"model_type": "llama", "num_attention_heads": 8}"#;
    let said = against(config, "vllm:qkv(h=8,g=4,d=8)");
    assert!(said.contains("g is 4, and by config.json num_key_value_heads is 8"), "{said}");
    assert_eq!(against(&config.replace("llama", "falcon"), "vllm:qkv(h=8,g=4,d=8)"), "");
    // The rules of a source; and a caller who overrides the check.
    assert_eq!(refused(request("vllm:qkv(h=12,g=2,d=8)")).0, "extents");
    let _ = Job::prepare(request("vllm:qkv(h=12,g=2,d=8)").trust_extents(true)).unwrap();
    let ranks = folder.path().join("ranks");
    fs::create_dir_all(&ranks).unwrap();
    let half: Tensors = [("qkv".to_owned(), ("U8".to_owned(), vec![64], vec![7; 64]))].into();
    (0..2).for_each(|rank| write(&ranks.join(format!("r{rank}.safetensors")), &half, &[]));
    fs::write(ranks.join("config.json"), r#"{"num_attention_heads": 8}"#).unwrap();
    let rules = Rules::new("tp=2").unwrap().rule("qkv", "vllm:qkv(h=12,g=2,d=8)").unwrap();
    let said = refused(Request::new(&ranks, folder.path().join("out")).from(rules)).1;
    assert!(said.contains("h is 12, and by config.json num_attention_heads is 8"), "{said}");
}

/// Files of ranks from 1 on may lack the first: it is named if no source states the extents.
#[test]
fn a_rank_before_the_first_may_be_missing() {
    let said = |first: u64| {
        let folder = tilewright_testing::folder();
        let at = folder.path().join("in");
        fs::create_dir_all(&at).unwrap();
        for rank in first..first + 3 {
            let part: Tensors = [("w".to_owned(), ("U8".to_owned(), vec![2], vec![1, 2]))].into();
            write(&at.join(format!("model-rank{rank}.safetensors")), &part, &[]);
        }
        let rules = Rules::new("tp=3").unwrap().rule("w", "[Shard(0)]").unwrap();
        let request = Request::new(&at, folder.path().join("out")).from(rules);
        assert_eq!(Job::prepare(request.clone().trust_extents(true)).unwrap().assumption(), None);
        Job::prepare(request).unwrap().assumption().unwrap()
    };
    let first =
        "A first shard file that is missing (model-rank0), or a last one, makes them smaller";
    assert!(said(1).ends_with(first), "{}", said(1));
    assert!(
        said(0).ends_with("A last shard file that is missing makes them smaller"),
        "{}",
        said(0)
    );
}

#[test]
fn lists_of_extents_are_read_or_refused() {
    let list = |text: &str| {
        Request::new("in", "out").extents_text(text).map_err(|error| {
            assert_eq!(error.kind(), "usage", "{text}");
            error.to_string()
        })
    };
    let same = [
        r#"{"a.b": [1, 2], "a.c": []}"#,
        r#" {"a": {"b": [1, 2], "c": []}}"#,
        "\"a.b\" = [1, 2]\n'a.c' = []",
        "a.b = [1, 2]\na.c = []",
        "[a]\nb = [1, 2]\nc = []",
    ];
    for text in same {
        assert_eq!(list(text).unwrap(), list(same[0]).unwrap(), "{text}");
    }
    for (text, says) in [
        ("{", "cannot read the JSON list of extents"),
        ("a = ", "cannot read the TOML list of extents"),
        ("a", "cannot read the TOML list of extents"),
        (r#"{"a": 3}"#, "tensor \"a\": expected a list of extents such as [50257, 64]"),
        (r#"{"a": [3, -1]}"#, "tensor \"a\": expected a list"),
        (r#"{"a": [3.5]}"#, "tensor \"a\": expected a list"),
        ("a = ['3']", "tensor \"a\": expected a list"),
        (r#"{"a.b": [1], "a": {"b": [2]}}"#, "tensor \"a.b\" is listed twice"),
    ] {
        let error = list(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
    // A tensor that is listed must exist, also among whole tensors.
    let folder = tilewright_testing::folder();
    let path = folder.path().join("model.safetensors");
    file(&path, &[("w", "U8", vec![4], vec![0; 4])], &[]);
    let request = Request::new(&path, folder.path().join("out"));
    let said = refused(request.clone().extents_text("v = [4]").unwrap());
    let text =
        "the extents of tensor \"v\" are stated, but no file holds it; a shard file may be missing";
    assert_eq!(said, ("mismatch", text.to_owned()));
    assert!(Job::prepare(request.clone().extents_text("w = [4]").unwrap()).is_ok());
    let (_, text) = refused(request.extents_text("w = [5]").unwrap());
    assert!(text.contains("no piece holds [4,5); a shard file may be missing"), "{text}");
}

/// Files that contradict each other, and notes that cannot be read.
#[test]
fn notes_of_extents_are_checked() {
    let folder = tilewright_testing::folder();
    let tried = |number: usize, notes: [&str; 2]| {
        let at = folder.path().join(number.to_string());
        for (file, note) in notes.into_iter().enumerate() {
            let other = folder.path().join(format!("{number}-{file}"));
            shards(&other, &[("w", 3)], 2, &[("tilewright.extents", note)]);
            let name = format!("shard-{:05}-model-00001-of-00001.safetensors", file + 1);
            fs::create_dir_all(&at).unwrap();
            fs::copy(other.join(&name), at.join(&name)).unwrap();
        }
        let request = Request::new(&at, at.with_extension("out"));
        Job::prepare(request).map(|job| job.assumed().count()).map_err(|error| error.to_string())
    };
    let whole = r#"{"w": [4, 3]}"#;
    assert_eq!(tried(0, [whole, whole]).unwrap(), 0);
    assert_eq!(tried(1, [whole, "{}"]).unwrap(), 0);
    let cases = [
        ([whole, r#"{"w": [6, 3]}"#], "tensor \"w\" is [6, 3]; earlier files say [4, 3]"),
        (
            [whole, r#"{"v": [6, 3]}"#],
            "tilewright.extents states tensor \"v\", but no file holds it",
        ),
        ([whole, "3"], "shard-00002-model-00001-of-00001.safetensors: tilewright.extents: "),
        ([r#"{"w": [4]}"#, "{}"], "tensor \"w\" has 2 dims, but its stated extents are [4]"),
        ([r#"{"w": [6, 3]}"#, "{}"], "no piece holds [4,6) × [0,3)"),
    ];
    for (number, (notes, says)) in cases.into_iter().enumerate() {
        let error = tried(2 + number, notes).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

/// A shard of another size is reported by its name or its box.
#[test]
fn a_shard_of_another_size_is_named() {
    let folder = tilewright_testing::folder();
    let at = folder.path().join("in");
    shards(&at, &[("w", 3)], 3, &[]);
    let second = at.join("shard-00002-model-00001-of-00001.safetensors");
    let bytes = fs::read(&second).unwrap();
    let request = Request::new(&at, folder.path().join("out"));
    fs::write(&second, &bytes[..bytes.len() - 2]).unwrap();
    assert!(refused(request.clone()).1.contains("shard-00002-model-00001-of-00001.safetensors"));
    let wide: Tensors = [("w".to_owned(), ("U8".to_owned(), vec![3, 3], vec![0; 9]))].into();
    let places = r#"{"w":{"saved_offsets":[2,0]}}"#;
    write(&second, &wide, &[("DCP_SHARDING_INFO", places)]);
    let (_, text) = refused(request.clone());
    assert!(text.contains("both hold [4,5) × [0,3)") && text.contains("is shard-00002-"), "{text}");
    let short: Tensors = [("w".to_owned(), ("U8".to_owned(), vec![1, 3], vec![0; 3]))].into();
    write(&second, &short, &[("DCP_SHARDING_INFO", places)]);
    assert!(
        refused(request).1.contains("no piece holds [3,4) × [0,3); a shard file may be missing")
    );
}
