//! Every shipped recipe that splits heads, on all small head counts and sizes: each element goes where a naive formula
//! says, or the recipe refuses.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tilewright_core::Dtype;
use tilewright_recipe::{Recipe, Sizes, Tensor, shipped};

use crate::{
    corpus,
    interpreter::{Array, run},
};

/// A model: heads of queries, of keys, rows of a head.
#[derive(Clone, Copy, Debug)]
struct Heads {
    n: u64,
    g: u64,
    d: u64,
}

/// The width of the embeddings where it is not that of all heads, as in Gemma; and the rows of an MLP.
const HIDDEN: u64 = 5;
const INNER: u64 = 12;

/// A configuration, and sizes that are given.
type Way<'a> = (Option<&'a Value>, Vec<(&'a str, u64)>);
type Model = BTreeMap<String, Vec<u32>>;
type Shapes = BTreeMap<String, Vec<u64>>;

/// All models with small counts; head counts that no group divides are among them.
fn all() -> Vec<Heads> {
    let mut all = Vec::new();
    let counts: &[u64] = tilewright_testing::cases(&[1, 2, 3, 4, 6, 9], &[1, 2, 3, 4, 6]);
    for &n in counts {
        for g in 1..=n {
            for d in [2, 4, 6] {
                all.push(Heads { n, g, d });
            }
        }
    }
    all
}

fn recipe(name: &str) -> Recipe {
    shipped().iter().find(|one| one.name == name).unwrap().recipe().unwrap()
}

/// Tensors of `u32` whose elements are all different: tensor number, then place.
fn arrays(shapes: &[(&str, Vec<u64>)]) -> (Vec<Array>, Model) {
    let mut model = Model::new();
    let mut all = Vec::new();
    for (at, (name, extents)) in shapes.iter().enumerate() {
        let count = extents.iter().product::<u64>() as u32;
        let values: Vec<u32> = (0..count).map(|place| (at as u32) << 20 | place).collect();
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        all.push((Tensor::new(*name, Dtype::U32, extents.clone()), bytes));
        model.insert((*name).to_owned(), values);
    }
    (all, model)
}

/// What a recipe makes, as numbers and as extents.
fn made(
    recipe: &Recipe,
    sources: &[Array],
    config: Option<&Value>,
    sizes: &[(&str, u64)],
) -> Result<(Model, Shapes), String> {
    let sizes: Sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
    let assembly = recipe
        .solve(&corpus::heads(sources), config, &sizes)
        .map_err(|errors| errors.to_string())?;
    let (mut model, mut shapes) = (Model::new(), Shapes::new());
    for (name, (head, bytes)) in run(&assembly, sources).unwrap() {
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        model.insert(name.clone(), words.collect());
        shapes.insert(name, head.extents);
    }
    Ok((model, shapes))
}

/// Some rows of a matrix.
fn rows(matrix: &[u32], width: u64, rows: impl Iterator<Item = u64>) -> Vec<u32> {
    let row = |row: u64| &matrix[(row * width) as usize..((row + 1) * width) as usize];
    rows.flat_map(|at| row(at).to_vec()).collect()
}

fn llama(
    Heads { n, g, d }: Heads,
    hidden: u64,
    names: [&'static str; 8],
) -> Vec<(&'static str, Vec<u64>)> {
    let [q, k, v, o, gate, up, down, norm] = names;
    vec![
        (q, vec![n * d, hidden]),
        (k, vec![g * d, hidden]),
        (v, vec![g * d, hidden]),
        (o, vec![hidden, n * d]),
        (gate, vec![INNER, hidden]),
        (up, vec![INNER, hidden]),
        (down, vec![hidden, INNER]),
        (norm, vec![hidden]),
    ]
}

const HF: [&str; 8] = [
    "model.layers.0.self_attn.q_proj.weight",
    "model.layers.0.self_attn.k_proj.weight",
    "model.layers.0.self_attn.v_proj.weight",
    "model.layers.0.self_attn.o_proj.weight",
    "model.layers.0.mlp.gate_proj.weight",
    "model.layers.0.mlp.up_proj.weight",
    "model.layers.0.mlp.down_proj.weight",
    "model.layers.0.input_layernorm.weight",
];

/// A whole model of Hugging Face's Llama: the layer and what stands around it.
fn hf(heads: Heads, hidden: u64) -> Vec<(&'static str, Vec<u64>)> {
    let mut all = llama(heads, hidden, HF);
    all.push(("model.layers.0.post_attention_layernorm.weight", vec![hidden]));
    all.push(("model.embed_tokens.weight", vec![7, hidden]));
    all.push(("model.norm.weight", vec![hidden]));
    all.push(("lm_head.weight", vec![7, hidden]));
    all
}

#[test]
fn megatron_ranks_hold_the_rows_of_their_groups_or_the_recipe_refuses() {
    let recipe = recipe("llama-hf-to-megatron");
    let (mut right, mut refused) = (0, 0);
    for heads in all() {
        let Heads { n, g, d } = heads;
        let (sources, model) = arrays(&hf(heads, HIDDEN));
        for ranks in 1..=6 {
            let config = json!({"num_attention_heads": n, "num_key_value_heads": g, "head_dim": d});
            let ways: [Way<'_>; 2] = [
                (Some(&config), vec![("T", ranks), ("m", 1)]),
                (None, vec![("T", ranks), ("m", 1), ("head_dim", d)]),
            ];
            for (config, sizes) in ways {
                let got = made(&recipe, &sources, config, &sizes);
                let legal = n % g == 0 && g % ranks == 0 && INNER.is_multiple_of(ranks);
                assert_eq!(got.is_ok(), legal, "{heads:?} T={ranks}: {:?}", got.err());
                let Ok((got, _)) = got else {
                    refused += 1;
                    continue;
                };
                right += 1;
                let group = n / g;
                for rank in 0..ranks {
                    // Megatron-Core: of each group of a rank the queries, then the key, then the value.
                    let mut qkv = Vec::new();
                    for kv in rank * (g / ranks)..(rank + 1) * (g / ranks) {
                        qkv.extend(rows(
                            &model[HF[0]],
                            HIDDEN,
                            kv * group * d..(kv + 1) * group * d,
                        ));
                        qkv.extend(rows(&model[HF[1]], HIDDEN, kv * d..(kv + 1) * d));
                        qkv.extend(rows(&model[HF[2]], HIDDEN, kv * d..(kv + 1) * d));
                    }
                    let layer = format!("rank{rank:02}.decoder.layers.0");
                    assert_eq!(
                        got[&format!("{layer}.self_attention.linear_qkv.weight")],
                        qkv,
                        "{heads:?} T={ranks}"
                    );
                    let inner = INNER / ranks;
                    let fc1: Vec<u32> = [HF[4], HF[5]]
                        .iter()
                        .flat_map(|name| {
                            rows(&model[*name], HIDDEN, rank * inner..(rank + 1) * inner)
                        })
                        .collect();
                    assert_eq!(got[&format!("{layer}.mlp.linear_fc1.weight")], fc1);
                }
            }
        }
    }
    assert!(right > 100 && refused > 100, "{right} {refused}");
}

#[test]
fn what_cannot_be_cut_says_what_divides_what_and_what_must_be_given() {
    let recipe = recipe("llama-hf-to-megatron");
    let smol = Heads { n: 9, g: 3, d: 64 };
    let (sources, _) = arrays(&hf(smol, 576));
    let config = json!({"num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576});
    let refused = made(&recipe, &sources, Some(&config), &[("T", 2)]).unwrap_err();
    assert_eq!(refused, "T=2 does not divide num_key_value_heads=3; choose T from 1, 3");
    let unknown = made(&recipe, &sources, None, &[("T", 3)]).unwrap_err();
    assert!(
        unknown.starts_with("the size `head_dim` does not follow from the shapes; give it: "),
        "{unknown}"
    );
    assert!(made(&recipe, &sources, None, &[("T", 3), ("head_dim", 64)]).is_ok());
    // The configuration and the shapes contradict each other.
    let wrong = json!({"num_attention_heads": 9, "num_key_value_heads": 3, "head_dim": 32});
    let refused = made(&recipe, &sources, Some(&wrong), &[("T", 3)]).unwrap_err();
    assert!(refused.contains("num_attention_heads = 9, head_dim = 32, dim("), "{refused}");
}

/// Rows of rotary pairs, side by side, from halves.
fn pairs(matrix: &[u32], width: u64, heads: u64, d: u64) -> Vec<u32> {
    let order = (0..heads)
        .flat_map(|head| (0..d / 2).flat_map(move |i| [head * d + i, head * d + d / 2 + i]));
    rows(matrix, width, order)
}

/// Rows of halves, from rotary pairs.
fn halves(matrix: &[u32], width: u64, heads: u64, d: u64) -> Vec<u32> {
    let order = (0..heads).flat_map(|head| {
        (0..2).flat_map(move |half| (0..d / 2).map(move |i| head * d + 2 * i + half))
    });
    rows(matrix, width, order)
}

#[test]
fn rotary_rows_of_llama_are_turned_by_the_heads_that_are_there() {
    let meta = [
        "layers.0.attention.wq.weight",
        "layers.0.attention.wk.weight",
        "layers.0.attention.wv.weight",
        "layers.0.attention.wo.weight",
        "layers.0.feed_forward.w1.weight",
        "layers.0.feed_forward.w3.weight",
        "layers.0.feed_forward.w2.weight",
        "layers.0.attention_norm.weight",
    ];
    let recipe = recipe("llama-original-to-hf");
    for heads in all() {
        let Heads { n, g, d } = heads;
        let mut shapes = llama(heads, HIDDEN, meta);
        shapes.push(("layers.0.ffn_norm.weight", vec![HIDDEN]));
        shapes.push(("tok_embeddings.weight", vec![7, HIDDEN]));
        shapes.push(("norm.weight", vec![HIDDEN]));
        shapes.push(("output.weight", vec![7, HIDDEN]));
        let (sources, model) = arrays(&shapes);
        let config = json!({"n_heads": n, "n_kv_heads": g, "head_dim": d});
        for (config, sizes) in
            [(Some(&config), vec![]), (None, vec![("n", n)]), (None, vec![("n", n), ("g", g)])]
        {
            let got = made(&recipe, &sources, config, &sizes);
            assert_eq!(got.is_ok(), n % g == 0, "{heads:?} {:?}", got.err());
            let Ok((got, _)) = got else { continue };
            assert_eq!(got[HF[0]], halves(&model[meta[0]], HIDDEN, n, d), "{heads:?}");
            assert_eq!(got[HF[1]], halves(&model[meta[1]], HIDDEN, g, d), "{heads:?}");
            assert_eq!(got[HF[2]], model[meta[2]]);
        }
    }
}

/// The places of the rows of q, k and v in a fused tensor.
type Cut = fn(Heads) -> [Vec<u64>; 3];

type Case = (&'static str, &'static str, &'static str, &'static str, Cut, fn(Heads) -> bool);

fn blocks(Heads { n, g, d }: Heads) -> [Vec<u64>; 3] {
    [(0..n * d).collect(), (n * d..(n + g) * d).collect(), ((n + g) * d..(n + 2 * g) * d).collect()]
}

fn groups(Heads { n, g, d }: Heads) -> [Vec<u64>; 3] {
    let r = n / g;
    let of = |from: u64, to: u64| {
        (0..g).flat_map(|kv| (kv * (r + 2) * d + from * d)..(kv * (r + 2) * d + to * d)).collect()
    };
    [of(0, r), of(r, r + 1), of(r + 1, r + 2)]
}

#[test]
fn fused_rows_are_cut_as_each_model_fuses_them() {
    // Recipe, fused name, output projection, names of the three, the order, whether there is one key head a query head,
    // or one for all.
    let cases: [Case; 7] = [
        (
            "gpt-neox-qkv-to-split",
            "gpt_neox.layers.0.attention.query_key_value.weight",
            "gpt_neox.layers.0.attention.dense.weight",
            "gpt_neox.layers.0.attention.?_proj.weight",
            groups,
            |h| h.n == h.g,
        ),
        (
            "bloom-qkv-to-split",
            "h.0.self_attention.query_key_value.weight",
            "h.0.self_attention.dense.weight",
            "h.0.self_attention.?_proj.weight",
            groups,
            |h| h.n == h.g,
        ),
        (
            "falcon-7b-qkv-to-split",
            "h.0.self_attention.query_key_value.weight",
            "h.0.self_attention.dense.weight",
            "h.0.self_attention.?_proj.weight",
            blocks,
            |h| h.g == 1,
        ),
        (
            "falcon-qkv-to-split",
            "h.0.self_attention.query_key_value.weight",
            "h.0.self_attention.dense.weight",
            "h.0.self_attention.?_proj.weight",
            groups,
            |_| true,
        ),
        (
            "chatglm-to-split",
            "t.0.self_attention.query_key_value.weight",
            "t.0.self_attention.dense.weight",
            "t.0.self_attention.?_proj.weight",
            blocks,
            |_| true,
        ),
        (
            "phi3-to-split",
            "model.layers.0.self_attn.qkv_proj.weight",
            "model.layers.0.self_attn.o_proj.weight",
            "model.layers.0.self_attn.?_proj.weight",
            blocks,
            |_| true,
        ),
        (
            "internlm2-to-llama",
            "model.layers.0.attention.wqkv.weight",
            "model.layers.0.attention.wo.weight",
            "model.layers.0.self_attn.?_proj.weight",
            groups,
            |_| true,
        ),
    ];
    for (name, fused, out, split, cut, is_for) in cases {
        let recipe = recipe(name);
        let mut right = 0;
        for heads in all().into_iter().filter(|heads| is_for(*heads)) {
            let Heads { n, g, d } = heads;
            let hidden = n * d;
            let mut shapes =
                vec![(fused, vec![(n + 2 * g) * d, hidden]), (out, vec![hidden, n * d])];
            match name {
                "chatglm-to-split" => {
                    shapes.push(("t.0.mlp.dense_h_to_4h.weight", vec![4, hidden]))
                }
                "phi3-to-split" => shapes.extend([
                    ("model.layers.0.mlp.gate_up_proj.weight", vec![4, hidden]),
                    ("model.layers.0.mlp.down_proj.weight", vec![hidden, 2]),
                    ("lm_head.weight", vec![7, hidden]),
                ]),
                "internlm2-to-llama" => shapes.extend([
                    ("model.layers.0.feed_forward.w1.weight", vec![4, hidden]),
                    ("model.layers.0.feed_forward.w2.weight", vec![hidden, 4]),
                    ("model.layers.0.feed_forward.w3.weight", vec![4, hidden]),
                    ("model.layers.0.attention_norm.weight", vec![hidden]),
                    ("model.layers.0.ffn_norm.weight", vec![hidden]),
                    ("model.tok_embeddings.weight", vec![7, hidden]),
                    ("model.norm.weight", vec![hidden]),
                    ("output.weight", vec![7, hidden]),
                ]),
                _ => {}
            }
            let (sources, model) = arrays(&shapes);
            let config = json!({"num_attention_heads": n, "n_head": n, "hidden_size": hidden, "num_key_value_heads": g, "num_kv_heads": g, "multi_query_attention": true, "multi_query_group_num": g});
            let wrong = json!({"num_attention_heads": n, "n_head": n, "hidden_size": hidden + n, "num_key_value_heads": g, "num_kv_heads": g});
            for (config, sizes) in [(Some(&config), vec![]), (None, vec![("n", n)])] {
                let got = made(&recipe, &sources, config, &sizes);
                assert_eq!(got.is_ok(), n % g == 0, "{name} {heads:?} {:?}", got.err());
                let Ok((got, shapes)) = got else { continue };
                for (letter, order) in ["q", "k", "v"].into_iter().zip(cut(heads)) {
                    let made = split.replace('?', letter);
                    assert_eq!(shapes[&made], [order.len() as u64, hidden], "{name} {heads:?}");
                    assert_eq!(
                        got[&made],
                        rows(&model[fused], hidden, order.into_iter()),
                        "{name} {heads:?}"
                    );
                }
                right += 1;
            }
            // A size of a head that the shapes contradict is refused.
            assert!(made(&recipe, &sources, Some(&wrong), &[]).is_err(), "{name} {heads:?}");
        }
        assert!(right > 10, "{name} {right}");
    }
}

#[test]
fn rows_for_gguf_are_turned_by_the_heads_that_are_there() {
    let recipe = recipe("llama-hf-to-gguf");
    for heads in all() {
        let Heads { n, g, d } = heads;
        // Norms are widened, so they have a type that widens.
        let (mut sources, model) = arrays(&hf(heads, HIDDEN));
        sources
            .iter_mut()
            .filter(|(head, _)| head.extents.len() == 1)
            .for_each(|(head, _)| head.dtype = Dtype::F32);
        let config = json!({"num_attention_heads": n, "num_key_value_heads": g, "head_dim": d});
        for (config, sizes) in
            [(Some(&config), vec![]), (None, vec![("n", n)]), (None, vec![("head_dim", d)])]
        {
            let got = made(&recipe, &sources, config, &sizes);
            assert_eq!(got.is_ok(), n % g == 0, "{heads:?} {:?}", got.err());
            let Ok((got, _)) = got else { continue };
            assert_eq!(got["blk.0.attn_q.weight"], pairs(&model[HF[0]], HIDDEN, n, d), "{heads:?}");
            assert_eq!(got["blk.0.attn_k.weight"], pairs(&model[HF[1]], HIDDEN, g, d), "{heads:?}");
        }
    }
}

#[test]
fn a_gguf_without_the_factors_that_its_reader_wants_is_refused_unless_allowed() {
    let recipe = recipe("llama-hf-to-gguf");
    let heads = Heads { n: 4, g: 2, d: 4 };
    let mut shapes = hf(heads, HIDDEN);
    shapes.retain(|(name, _)| *name != "lm_head.weight");
    let (mut sources, _) = arrays(&shapes);
    sources
        .iter_mut()
        .filter(|(head, _)| head.extents.len() == 1)
        .for_each(|(head, _)| head.dtype = Dtype::F32);
    let mut config = json!({
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "tie_word_embeddings": true,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0}
    });
    let refused = made(&recipe, &sources, Some(&config), &[]).unwrap_err();
    assert!(refused.ends_with("; to convert anyway, allow `rope_freqs.weight`"), "{refused}");
    let allowed = recipe.allowing(["rope_freqs.weight"]).unwrap();
    assert!(made(&allowed, &sources, Some(&config), &[]).is_ok());
    config["tie_word_embeddings"] = json!(false);
    assert!(made(&allowed, &sources, Some(&config), &[]).unwrap_err().contains("lm_head.weight"));
    // Factors that the input has go along.
    config["tie_word_embeddings"] = json!(true);
    sources.push((Tensor::new("rope_freqs.weight", Dtype::F32, [2]), vec![0; 8]));
    assert!(
        made(&recipe, &sources, Some(&config), &[]).unwrap().0.contains_key("rope_freqs.weight")
    );
}

#[test]
fn every_shipped_recipe_states_its_conditions_and_what_becomes_of_the_configuration() {
    // What a recipe does not say is not printed.
    for one in shipped() {
        let recipe = one.recipe().unwrap();
        for text in [recipe.to_toml(), recipe.inverse().to_toml()] {
            let is_said = |part: &str| text.split("\n[[map]]").next().unwrap().contains(part);
            assert!(is_said("\nrequire = ["), "{} has no conditions", one.name);
            assert!(is_said("\n[config]\n"), "{} does not say", one.name);
        }
    }
}
