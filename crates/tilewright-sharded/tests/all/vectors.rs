//! Recorded answers of torch and JAX, and Megatron's rules by formula.

use serde_json::Value;
use tilewright_sharded::{
    Mesh, Shard, Sharded,
    dialect::{dialect, hlo::HloSharding},
};

fn rows(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/vectors/sharding_{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn comma(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// Returns the lists of a shard in the form of the JSON.
fn lists(shard: &Shard) -> Value {
    shard
        .dims()
        .iter()
        .map(|list| {
            Value::from(
                list.as_slice().iter().map(|pair| Value::from(pair.to_vec())).collect::<Vec<_>>(),
            )
        })
        .collect::<Vec<_>>()
        .into()
}

#[test]
fn torch_cuts_so() {
    let (mut checked, mut boxes) = (0, 0);
    for row in rows("torch") {
        let (mesh, shape) = (comma(&numbers(&row["mesh"])), comma(&numbers(&row["shape"])));
        let right_to_left = row["kind"] == "torch_fsdp2";
        let rule = match right_to_left {
            true if row["placements"][0].as_str().unwrap().starts_with("_S") => {
                "[Shard(0), Shard(0)] order(1,0)".to_owned()
            }
            true => format!("[{}] order(1,0)", words(&row["placements"]).join(", ")),
            false => format!("[{}]", words(&row["placements"]).join(", ")),
        };
        let text = format!("f32[{shape}] @ mesh({mesh}) {rule}");
        let sharded = Sharded::parse(&text).unwrap();
        let says = row["placements"].as_array().unwrap();
        let says = says.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(", ");
        let says = Sharded::parse(&format!("f32[{shape}] @ mesh({mesh}) [{says}]")).unwrap();
        for (at, expected) in row["shards"].as_array().unwrap().iter().enumerate() {
            let shard = sharded.shard(at as u64).unwrap();
            assert_eq!(shard.device(), expected["rank"].as_u64());
            assert_eq!(shard.coord(), numbers(&expected["coord"]));
            assert_eq!(lists(&shard), expected["dims"], "{text} {at}");
            if right_to_left {
                let said = says.shard(at as u64).unwrap();
                let same = said.dims()[0] == shard.dims()[0];
                assert_eq!(expected["agree"], same, "{text} {at}");
                assert_eq!(expected["says"]["rows"], said.extents()[0]);
            } else {
                assert_eq!(shard.extents(), numbers(&expected["local"]), "{text} {at}");
                assert_eq!(expected["boxes"], shard.boxes().count(), "{text} {at}");
                boxes += shard.boxes().count();
            }
            checked += 1;
        }
    }
    assert!(checked > 5000 && boxes > 4000, "{checked} {boxes}");
}

/// Checks the boxes of a row, and the devices that hold them.
fn check_boxes(sharded: &Sharded, boxes: &Value, device: impl Fn(&Value) -> u64, text: &str) {
    let boxes = boxes.as_array().unwrap();
    assert_eq!(sharded.mesh().count(), boxes.len() as u64, "{text}");
    for expected in boxes {
        let device = device(expected);
        let shard = sharded.shards().find(|shard| shard.device() == Some(device)).unwrap();
        let lists: Vec<Vec<u64>> = shard
            .dims()
            .iter()
            .map(|list| list.as_slice().first().map_or(vec![0, 0], |pair| pair.to_vec()))
            .collect();
        for (dim, list) in expected["box"].as_array().unwrap().iter().enumerate() {
            let list = numbers(list);
            let same = list == lists[dim] || (list[1] == 0 && lists[dim][1] == 0);
            assert!(same, "{text}: {expected} and {lists:?}");
        }
    }
}

#[test]
fn jax_cuts_and_prints_so() {
    let (mut checked, mut refused, mut texts, mut shardy) = (0, 0, 0, 0);
    for row in rows("jax").iter().filter(|row| row["kind"] == "jax") {
        let (sizes, names) = (numbers(&row["mesh"]), words(&row["axes"]));
        let axes: Vec<String> =
            names.iter().zip(&sizes).map(|(name, size)| format!("{name}={size}")).collect();
        let axes = axes.join(",");
        let shape = comma(&numbers(&row["shape"]));
        let spec = row["spec"].as_str().unwrap();
        let devices = comma(&numbers(&row["devices"]));
        let text = format!("f32[{shape}] @ mesh({axes}; {devices}) {spec}");
        let sharded = Sharded::parse(&text);
        if row["refused"].is_string() {
            assert!(sharded.unwrap_err().to_string().contains("not divisible"), "{text}");
            refused += 1;
            continue;
        }
        let sharded = sharded.unwrap();
        check_boxes(&sharded, &row["boxes"], |it| it["device"].as_u64().unwrap(), &text);
        // Numbers of HLO and Shardy are positions: they are compared on a mesh in its own order.
        let plain = Sharded::parse(&format!("f32[{shape}] @ mesh({axes}) {spec}")).unwrap();
        let said = dialect("hlo").unwrap().print(&plain).unwrap();
        let hlo = row["hlo"].as_str().unwrap();
        assert!(said == hlo || said == format!("{} {hlo}", plain.mesh()), "{text}: {said} {hlo}");
        let through = Sharded::parse(&format!("f32[{shape}] @ mesh({axes}; {devices}) {hlo}"));
        assert_eq!(sharded.difference(&through.unwrap()), None, "{text}");
        assert_eq!(dialect("jax").unwrap().print(&sharded).map(|_| ()), Ok(()), "{text}");
        texts += 1;
        if let (Some(mesh), Some(rule)) = (row["sdy_mesh"].as_str(), row["sdy"].as_str()) {
            let inline = mesh.strip_prefix("@mesh = ").unwrap();
            let inline = format!("sdy {}", rule.replace("@mesh", &format!("mesh{inline}")));
            let read = |text: &str| Sharded::parse(&format!("f32[{shape}] @ {text}")).unwrap();
            assert_eq!(plain.difference(&read(&inline)), None, "{inline}");
            let named = format!("mesh({axes}; {devices}) #sdy.sharding{rule}");
            assert_eq!(sharded.difference(&read(&named)), None, "{named}");
            // Axes of size 1 are not digits of the lists, and are left out.
            if !sizes.contains(&1) && !numbers(&row["shape"]).contains(&0) {
                assert_eq!(dialect("shardy").unwrap().print(&plain), Ok(inline), "{text}");
                shardy += 1;
            }
        }
        checked += 1;
    }
    assert_eq!((checked, refused, texts), (524, 15, 524));
    assert!(shardy > 100, "{shardy}");
}

#[test]
fn hlo_text_is_read_and_printed_so() {
    let (mut printed, mut refused, mut cases) = (0, 0, 0);
    for row in rows("jax").iter().filter(|row| row["kind"] == "hlo") {
        let text = row["text"].as_str().unwrap();
        let read = HloSharding::parse(text);
        if row["careful_reader"] == "refuse" {
            assert!(read.is_err(), "{text}");
            refused += 1;
            continue;
        }
        if row["refused"] == true {
            continue;
        }
        let read = read.unwrap();
        assert_eq!(row["printed"], read.to_string(), "{text}");
        assert_eq!(HloSharding::parse(&read.to_string()), Ok(read.clone()), "{text}");
        if let Some(tiled) = row["v2"].as_str() {
            assert_eq!(read.tiled().unwrap().to_string(), tiled, "{text}");
        }
        let leaves: Vec<String> = read.leaves().iter().map(|leaf| leaf.to_string()).collect();
        assert_eq!(leaves, row["tuple"].as_array().map_or(vec![], |_| words(&row["tuple"])));
        printed += 1;
        for case in row["cases"].as_array().into_iter().flatten() {
            let shape = numbers(&case["shape"]);
            let sharded = read.sharded(&shape, None, None).unwrap();
            check_boxes(&sharded, &case["boxes"], |it| it["position"].as_u64().unwrap(), text);
            // Checks the same positions on a mesh with one axis and the same number of devices.
            if sharded.mesh().order().is_none_or(|order| order.iter().max() < Some(&64)) {
                let mesh = Mesh::new(&[sharded.mesh().count()]).unwrap();
                if let Ok(over) = read.sharded(&shape, None, Some(mesh)) {
                    assert_eq!(sharded.difference(&over), None, "{text}");
                }
            }
            cases += 1;
        }
    }
    assert_eq!((printed, refused), (33, 16));
    assert!(cases > 60, "{cases}");
}

/// Returns the rule, the axes and the array of a row.
fn rule(row: &Value) -> (String, String, String) {
    let p = |name: &str| row["params"][name].as_u64().unwrap_or(0);
    let n = row["global_rows"].as_u64().unwrap();
    let heads = |maker: &str, words: &str| {
        format!("{maker}:qkv(h={},g={},d={}{words})", p("heads"), p("groups"), p("head_dim"))
    };
    let tp = format!("tp={}", p("tp"));
    let plain = |rule: &str| (rule.to_owned(), tp.clone(), format!("{n},4"));
    match row["rule"].as_str().unwrap() {
        "column" => plain("column"),
        "norm" => plain("replicated"),
        "row" => ("row".into(), tp, format!("3,{n}")),
        "gate_up" => plain("gate_up"),
        "gate_up_3parts" => plain("gate_up(parts=3)"),
        "vocab" => plain(&format!("megatron:vocab(pad={})", p("make_vocab_size_divisible_by"))),
        "qkv_concat" | "qkv_concat_replicated_kv" => plain(&heads("vllm", "")),
        "qkv_interleaved_local" => plain(&heads("megatron", "")),
        "qkv_interleaved_to_concat" => plain(&heads("megatron", ",array=concat")),
        "experts" => ("column".into(), format!("ep={}", p("ep")), format!("{n},4")),
        "experts_gate_up" => (
            "[Shard(0), _StridedShard(1, sf=2)]".into(),
            format!("ep={},etp={}", p("ep"), p("etp")),
            format!("{},{}", p("experts"), 2 * p("ffn")),
        ),
        other => panic!("{other}"),
    }
}

#[test]
fn megatron_cuts_so() {
    let mut checked = 0;
    for row in rows("megatron") {
        let (rule, axes, array) = rule(&row);
        let text = format!("f32[{array}] @ mesh({axes}) {rule}");
        let sharded = Sharded::parse(&text).unwrap();
        let dim = row["dim"].as_u64().unwrap() as usize;
        for (shard, expected) in sharded.shards().zip(row["shards"].as_array().unwrap()) {
            let held: Vec<u64> = if row["rule"] == "experts_gate_up" {
                let width = sharded.extents()[1];
                let row = |at: u64| shard.dims()[1].indices().map(move |i| at * width + i);
                shard.dims()[0].indices().flat_map(row).collect()
            } else {
                shard.dims()[dim].indices().collect()
            };
            let intervals = expected["intervals"].as_array().unwrap().iter().map(numbers);
            let expected: Vec<u64> = intervals.flat_map(|at| at[0]..at[0] + at[1]).collect();
            assert_eq!(held, expected, "{text} {}", shard.position());
            if let Some(rows) = row["padded_rows_per_rank"].as_u64() {
                assert_eq!(shard.stored()[0], rows, "{text}");
                let padding = row["padding_rows"][shard.position() as usize].as_u64();
                assert_eq!(Some(rows - shard.extents()[0]), padding, "{text}");
            }
            checked += 1;
        }
        // Reads the rule as torch writes it, if it can.
        if let Some(torch) = row["torch"].as_array() {
            let torch = torch[0].as_str().unwrap().replace("dim=", "");
            let said = dialect("torch").unwrap().print(&sharded).unwrap();
            assert_eq!(said, format!("mesh({axes}) [{torch}]"), "{text}");
        }
        if row["rule"] != "experts_gate_up" {
            let said = dialect("megatron").unwrap().print(&sharded).unwrap();
            let again = Sharded::parse(&format!("f32[{array}] @ {said}")).unwrap();
            assert_eq!(sharded.difference(&again), None, "{text}: {said}");
        }
    }
    assert!(checked > 400, "{checked}");
}

/// The rows of Axe layouts with axes of devices.
fn axe() -> Vec<Value> {
    let path = format!("{}/../../corpus/vectors/axe.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|row| row["kind"] == "devices").collect()
}

/// The row-major numbers of the elements of a shard, in its order.
fn elements(shard: &Shard, extents: &[u64]) -> Vec<u64> {
    shard.dims().iter().zip(extents).fold(vec![0], |all, (list, extent)| {
        let next = |at: u64| list.indices().map(move |index| at * extent + index);
        all.into_iter().flat_map(next).collect()
    })
}

/// What the replicas of an axis add to a coordinate.
fn copies(row: &Value, axis: &str) -> Vec<u64> {
    let own = row["copies"].as_array().unwrap().iter().filter(|copy| copy[2] == axis);
    own.fold(vec![0], |all, copy| {
        let [extent, stride] = [0, 1].map(|at| copy[at].as_u64().unwrap());
        all.iter().flat_map(|at| (0..extent).map(move |copy| at + copy * stride)).collect()
    })
}

#[test]
fn tvm_cuts_so() {
    let mut checked = 0;
    for row in axe() {
        let (said, dims) = (row["text"].as_str().unwrap(), numbers(&row["dims"]));
        let axes = row["mesh"].as_object().unwrap();
        let sizes: Vec<String> = axes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let text = format!("f32[{}] @ mesh({}) {said}", comma(&dims), sizes.join(","));
        let sharded = Sharded::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let local = numbers(&row["places"]["m"]);
        for shard in sharded.shards() {
            let coord = shard.coord();
            let held = |index: &u64| {
                axes.keys().zip(&coord).all(|(name, own)| {
                    let at = row["places"].get(name).map_or(0, |all| numbers(all)[*index as usize]);
                    copies(&row, name).iter().any(|more| at + more == *own)
                })
            };
            let mut expected: Vec<u64> = (0..local.len() as u64).filter(held).collect();
            expected.sort_by_key(|index| local[*index as usize]);
            assert_eq!(elements(&shard, &dims), expected, "{text} {}", shard.position());
            checked += 1;
        }
        let printed = dialect("axe").unwrap().print(&sharded).unwrap();
        let again = Sharded::parse(&format!("f32[{}] @ {printed}", comma(&dims))).unwrap();
        assert_eq!(sharded.difference(&again), None, "{text}: {printed}");
        // Without a mesh, the axes are those of the text.
        assert!(Sharded::parse(&format!("f32[{}] @ {said}", comma(&dims))).is_ok(), "{said}");
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn what_tvm_means_otherwise_is_refused() {
    for (text, said) in [
        ("f32[8] @ S[(2, 4):(1 @ x, 2)]", "the shards are not row-major: stride 2 instead of 1"),
        ("f32[8] @ S[(2, 4):(4, 1)]", "no iter names an axis of devices"),
        ("f32[8] @ mesh(x=4) S[(2, 4):(1 @ x, 1)]", "iters reach 2 of the 4 devices of axis `x`"),
        ("f32[8] @ mesh(x=2) S[(2, 4):(1 @ y, 1)]", "the mesh lacks the axis `y`"),
        ("f32[6] @ S[(2, 4):(1 @ x, 1)]", "iters of (2,4) do not split the dims [6]"),
        ("f32[4] @ S[(2, 4):(1 @ x, 1)]", "iters of (2,4) do not split the dims [4]"),
        ("f32[8] @ S[(2, 4):(1 @ x, 1)] + 3", "an offset of 3 on axis `m`"),
        ("f32[8] @ S[(2, 4):(1 @ x, 1)] + R[2:1 @ m]", "each device holds every element 2 times"),
        ("f32[8] @ S[(2, 4):(1 @ x, 1)] + R[2]", "each device holds every element 2 times"),
        ("f32[8] @ S[(2, 4):(1 @ x, -1)]", "a stride of -1"),
        ("f32[8] @ S[(2 @ x, 4):(1, 1)]", "extents are 1 or more, without an axis"),
        ("f32[8] @ S[(2, 4):(1 @ x)]", "1 stride for 2 extents"),
        ("f32[8] @ mesh(x=4) S[(2, 4):(3 @ x, 1)]", "does not split the 4 devices"),
        ("f32[4] @ S[(2, 2):(1 @ x, 1 @ x)]", "does not split the 3 devices"),
    ] {
        let error = Sharded::parse(text).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    let unnamed = Sharded::parse("f32[8] @ mesh(2) [Shard(0)]").unwrap();
    let error = dialect("axe").unwrap().print(&unnamed).unwrap_err();
    assert!(error.to_string().contains("its axes have names"), "{error}");
}
