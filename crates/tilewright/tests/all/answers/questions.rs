//! The questions, made from the recorded vectors, the catalogue, and the examples in the headers of the notations, with a few
//! that are written here.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tilewright::{
    ResolvedLayout, Spec,
    eval::functions,
    notation::{catalogue, notations},
};

/// Returns all questions, the same ones on every call.
pub(crate) fn all() -> Vec<Value> {
    let mut questions = Vec::new();
    questions.extend(algebra());
    questions.extend(calls());
    questions.extend(headers());
    questions.extend(tiled());
    questions.extend(tags());
    questions.extend(formats());
    questions.extend(tables());
    questions.extend(pairs());
    questions.extend(threads());
    questions.extend(shards());
    questions.extend(bank_conflicts());
    questions.extend(buffers());
    questions.extend(moves());
    questions.extend(refusals());
    questions
}

fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name)
}

fn rows(path: PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn eval(text: impl Into<String>) -> Value {
    json!({ "ask": "eval", "text": text.into() })
}

/// The recorded operations and compositions, as expressions.
fn algebra() -> Vec<Value> {
    let operation = |row: Value| {
        let op = row["op"].as_str().unwrap();
        let args: Vec<&str> =
            row["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let name = match op {
            "coalesce_profile" => "coalesce",
            op => op.strip_suffix("_tiler").unwrap_or(op),
        };
        eval(format!("{name}({})", args.join(", ")))
    };
    let composition = |row: Value| {
        eval(format!("{} o {}", row["A"].as_str().unwrap(), row["B"].as_str().unwrap()))
    };
    let operations = rows(corpus("vectors/algebra.jsonl")).into_iter().map(operation);
    let compositions = rows(corpus("vectors/composition.jsonl")).into_iter().step_by(3);
    operations.chain(compositions.map(composition)).collect()
}

/// Calls every function of the language with arguments of every kind, right and wrong.
fn calls() -> Vec<Value> {
    const FIRST: [&str; 10] = [
        "12",
        "(4,(2,3))",
        "((4,2),(4,3)):((4,16),(1,32))",
        "Sw<3,3,3> o (8,64):(64,1)",
        "<3:1,(2,4):(1,8)>",
        "Sw<2,0,2>",
        "\"f32[3,5]{1,0:T(2,2)}\"",
        "(2,2):(1@0,1@1)",
        "{lane=[1,2],warp=[4]} -> (row:8)",
        "(1,_)",
    ];
    const REST: [&str; 9] = [
        "",
        ", 2",
        ", 3, 1",
        ", (2,3)",
        ", (2,2):(1,2)",
        ", \"f32[3,5]{0,1}\"",
        ", (1,2), (3,1)",
        ", 8, 16",
        ", {lane=[1,2],warp=[4]} -> (row:8)",
    ];
    let texts = functions().flat_map(|function| {
        FIRST.iter().flat_map(move |first| {
            REST.iter().map(move |rest| format!("{}({first}{rest})", function.name()))
        })
    });
    // All answers are kept, and some of the errors: most errors only say that the kinds do not fit.
    let kept = texts
        .enumerate()
        .filter(|(at, text)| at % 11 == 0 || tilewright::eval::evaluate(text).is_ok());
    let extra = [
        "crd2offset((1,2), (4,8), (8,1))",
        "slice((_,1), (4,8):(8,1))",
        "slice_and_offset((2,_), (4,8):(8,1))",
        "domain_offset((1,1), (4,8):(8,1))",
        "idx2crd(13, (4,8))",
        "tile((8,12):(12,1), (3,5))",
        "make_ordered_layout((2,3,4), (2,0,1))",
        "make_layout_tv((4,8):(8,1), (2,2):(2,1))",
        "tile_to_shape((4,4):(4,1), (8,12), (1,0))",
        "get(((4,2),3):((1,12),4), 0, 1)",
        "shape_div((12,6), (4,3))",
        "swizzle(Sw<2,0,2>, 16)",
        "offset(\"f32[3,5]{1,0:T(2,2)}\", (2,3))",
        "coord(\"f32[3,5]{1,0:T(2,2)}\", 9)",
        "same((2,3):(3,1), (2,3):(1,2))",
        "swizzle_between((8,64):(64,1), Sw<3,3,3> o (8,64):(64,1))",
        "swizzle_between((3,5):(5,1), (3,5):(5,1))",
        "swizzle_between((8,64):(64,1), (8,64):(1,8))",
        "(6,2):(1,7) o (3,2):(2,3)",
        "select((2,3,4):(12,4,1), 2, 0)",
        "take((2,3,4):(12,4,1), 1, 3)",
        "group((2,3,4):(12,4,1), 0, 2)",
        "replace((2,3,4):(12,4,1), 1, 5:1)",
        "insert((2,(3,4)), 1, 7)",
        "remove((2,(3,4)), 1)",
        "local_tile((8,16), <2,3,4>, (1,2,_), (1,_,1))",
        "local_tile((8,16), <2,3,4>, (1,2,_), (1,_))",
        "crd2crd((1,2), (4,8), (8,4))",
        "identity(8, [lane], [row])",
        "identity(6, [lane], [row])",
        "strided(8, 4, [lane], [row])",
        "zeros(4, [lane], [row])",
        "compose({lane=[1,2]} -> (row:4), {row=[2,1]} -> (bank:4))",
        "apply({lane=[1,2],warp=[4]} -> (row:8), (3,1))",
        "reshape_ins({lane=[1,2,4]} -> (row:8), [a:2,b:4])",
        "reshape_outs({lane=[1,2,4]} -> (row:8), [a:2,b:4])",
        "transpose_ins({lane=[1,2],warp=[4]} -> (row:8), [warp,lane])",
        "transpose_outs({lane=[[1,0],[0,1]]} -> (row:2,col:2), [col,row])",
        "rename_ins({lane=[1,2],warp=[4]} -> (row:8), [x,y])",
        "rename_outs({lane=[1,2],warp=[4]} -> (row:8), [z])",
        "sublayout({lane=[1,2],warp=[4]} -> (row:8), [lane], [row])",
        "concat_ins({lane=[1,2]} -> (row:8), {warp=[4]} -> (row:8))",
        "concat_outs({lane=[1,2]} -> (row:4), {lane=[1,0]} -> (col:2))",
        "remove_zeros({lane=[1,0,2]} -> (row:4), [lane])",
        "quotient({lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block])",
        "is_trivial_over({lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block])",
        "resize_in({lane=[1,2],warp=[4]} -> (row:8), [lane:2])",
        "lstsq({reg=[2,1]} -> (row:4), {lane=[1,2]} -> (row:4))",
        "consecutive({lane=[1,2,8]} -> (row:16))",
        "free_bits({lane=[1,2,0],warp=[4,3]} -> (row:8))",
        "append_to((2,3):(3,1), 4)",
        "prepend_to((2,3):(3,1), 4, 5:7)",
        "((4,2),3):((1,12),4)+5",
        "offsets(slice((_,1), Sw<2,0,2> o (4,4):(4,1)))",
        "size(",
        "",
        "1 +",
        "(2,3):(1",
        "o",
    ];
    kept.map(|(_, text)| text).chain(extra.map(String::from)).map(eval).collect()
}

/// SPEC with the array for which it is resolved.
#[derive(Clone)]
struct Given {
    spec: String,
    dims: Option<Vec<u64>>,
    dtype: Option<&'static str>,
}

impl Given {
    fn alone(spec: impl Into<String>) -> Given {
        Given { spec: spec.into(), dims: None, dtype: None }
    }

    fn ask(&self, kind: &str) -> Value {
        let mut question = json!({ "ask": kind, "spec": self.spec });
        if let Some(dims) = &self.dims {
            question["dims"] = json!(dims);
        }
        if let Some(dtype) = self.dtype {
            question["dtype"] = json!(dtype);
        }
        question
    }

    fn ask_with(&self, kind: &str, name: &str, value: Value) -> Value {
        let mut question = self.ask(kind);
        question[name] = value;
        question
    }

    fn named(&self) -> Option<ResolvedLayout> {
        let dtype = self.dtype.map(|dtype| tilewright::notation::dtype(dtype).unwrap());
        Spec::parse(&self.spec).ok()?.resolve(self.dims.as_deref(), dtype).ok()
    }

    /// Returns all questions about one layout.
    fn everything(&self) -> Vec<Value> {
        let mut questions = vec![self.ask("parse"), self.ask("explain"), self.ask("recognise")];
        let to = notations().iter().map(|to| self.ask_with("translate", "to", json!(to.name())));
        questions.extend(to);
        questions.extend(self.places());
        questions
    }

    /// Returns questions about the offsets of some elements and the contents of some offsets.
    fn places(&self) -> Vec<Value> {
        let Some(named) = self.named() else { return Vec::new() };
        let extents = named.layout().extents();
        let coord =
            |part: u64| extents.iter().map(move |extent| extent.saturating_sub(1) * part / 3);
        let coords = (0..4).map(|part| coord(part).collect::<Vec<_>>());
        let capacity = i64::try_from(named.layout().capacity()).unwrap_or(i64::MAX);
        let offsets = [0, 1, capacity / 2, capacity - 1, capacity];
        coords
            .map(|coord| self.ask_with("offset", "coord", json!(coord)))
            .chain(offsets.map(|offset| self.ask_with("coord", "offset", json!(offset))))
            .collect()
    }
}

/// Returns all questions about the examples in the headers of the notations.
fn headers() -> Vec<Value> {
    notations()
        .iter()
        .flat_map(|notation| header(notation.name()))
        .flat_map(|given| given.everything())
        .collect()
}

fn header(name: &str) -> Vec<Given> {
    let path = format!("../tilewright-notation/src/dialect/{name}.rs");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let file = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rows = file.lines().map_while(|line| line.strip_prefix("//!"));
    rows.filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'))
        .skip(2)
        .map(example)
        .collect()
}

/// Reads a row of a table of examples: a text, and the array for which it is resolved.
fn example(line: &str) -> Given {
    let line = line.replace("\\|", "\u{1}");
    let cells: Vec<String> = line
        .split('|')
        .map(|cell| cell.trim().replace('\u{1}', "|").trim_matches('`').to_owned())
        .collect();
    let array = (!cells[1].is_empty()).then(|| {
        Spec::parse(&format!("{} row-major", cells[1])).unwrap().resolve(None, None).unwrap()
    });
    Given {
        spec: cells[0].clone(),
        dims: array.as_ref().map(|array| array.layout().extents().to_vec()),
        dtype: array.and_then(|array| array.dtype()).map(|dtype| dtype.name()),
    }
}

/// XLA's tiled shapes.
fn tiled() -> Vec<Value> {
    let shapes = rows(corpus("vectors/xla_tiled.jsonl"));
    let mut questions = Vec::new();
    for row in &shapes {
        let given = Given::alone(row["layout"].as_str().unwrap());
        questions.push(given.ask("parse"));
        for probe in row["probes"].as_array().unwrap() {
            questions.push(given.ask_with("offset", "coord", probe[0].clone()));
        }
    }
    let some = shapes.iter().step_by(25).map(|row| Given::alone(row["layout"].as_str().unwrap()));
    questions.extend(some.flat_map(|given| given.everything()));
    questions
}

/// oneDNN's tags.
fn tags() -> Vec<Value> {
    let mut questions = Vec::new();
    for row in rows(corpus("vectors/onednn.jsonl")) {
        let dims =
            row["dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
        let spec = format!("onednn:{}", row["tag"].as_str().unwrap());
        let given = Given { spec, dims: Some(dims), dtype: None };
        questions.push(given.ask("parse"));
        questions.push(given.ask_with("translate", "to", json!("pattern")));
        questions.push(given.ask_with("translate", "to", json!("cute")));
        questions.extend(given.places());
    }
    questions
}

/// The formats of the catalogue, by their makers' formulas and by their own examples.
fn formats() -> Vec<Value> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(corpus("formats")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut questions = Vec::new();
    for row in files.into_iter().flat_map(rows) {
        let [array, format] = ["array", "format"].map(|name| row[name].as_str().unwrap());
        let given = Given::alone(format!("{array} {format}"));
        questions.push(given.ask("parse"));
        questions.push(given.ask_with("translate", "to", json!("cute")));
        questions.extend(given.places());
    }
    for format in catalogue() {
        let given = Given::alone(format.example);
        questions.push(given.ask("parse"));
        questions.push(given.ask("recognise"));
        questions.push(given.ask_with("translate", "to", json!("pattern")));
    }
    questions
}

/// Pairs of layouts that are the same map, and pairs that are not.
fn pairs() -> Vec<Value> {
    const TEXTS: [&str; 14] = [
        "f32[2,3] row-major",
        "(2,3):(3,1)",
        "(2,3):(1,2)",
        "f32[2,3]{0,1}",
        "(2,3):(3,1) capacity 8",
        "6:1",
        "f32[3,2]{1,0}",
        "numpy:shape=(2,3),strides=(12,4),dtype=f32",
        "f32[3,5]{1,0:T(2,2)}",
        "f32[3,5] (m1 m0:2) (n1 n0:2) -> m1 n1 m0 n0",
        "Sw<2,0,2> o (4,4):(4,1)",
        "((2,2),(2,2)):((1,4),(2,8))",
        "f16[32,48] zN",
        "f16[32,48] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0",
    ];
    let ask = |a: &str, b: &str| json!({ "ask": "same", "a": a, "b": b });
    let mut questions: Vec<Value> =
        TEXTS.iter().flat_map(|a| TEXTS.iter().map(move |b| ask(a, b))).collect();
    questions.push(ask("zN", "(2,3):(3,1)"));
    questions.push(ask("(2,3):(3,1)", "(2,3:(3,1)"));
    questions
}

/// Layouts that spread an array over threads.
fn threads() -> Vec<Value> {
    let triton = header("triton").into_iter().map(|given| given.ask("distribution"));
    let mut questions: Vec<Value> = triton.collect();
    for (sizes, lanes, warps) in
        [("1, 4", "8, 4", "4, 1"), ("2, 2", "4, 8", "2, 2"), ("4, 1", "16, 2", "1, 2")]
    {
        let spec = format!(
            "#ttg.blocked<{{sizePerThread = [{sizes}], threadsPerWarp = [{lanes}], warpsPerCTA = [{warps}], order = [1, 0]}}>"
        );
        for dims in [[32, 32], [64, 16]] {
            let given = Given { spec: spec.clone(), dims: Some(dims.to_vec()), dtype: None };
            questions.push(given.ask("distribution"));
        }
    }
    questions.push(Given::alone("#ttg.blocked<{sizePerThread = [1, 4]}>").ask("distribution"));
    questions
}

/// Arrays in shards, each in every notation of shardings and as one layout, and texts that are not arrays in shards.
fn shards() -> Vec<Value> {
    const TEXTS: [&str; 28] = [
        "f32[8,6] @ mesh(dp=2,tp=2) [Shard(0), Shard(1)]",
        "f32[37] @ mesh(2,2) [Shard(0), Shard(0)]",
        "bf16[17,4] @ mesh(dp=4,tp=2) [Shard(0), Shard(0)] order(tp,dp)",
        "f32[8,3] @ mesh(2,2) [_StridedShard(0, sf=2), Replicate()]",
        "f32[3,4] @ mesh(4) [S(0)]",
        "f32[8,6] @ mesh(dp=2,tp=2; 3,1,2,0) P((\"tp\",\"dp\"), None)",
        "f32[10,8] @ {devices=[4,1,2]<=[8] last_tile_dim_replicate}",
        "f32[10] @ mesh(a=2,b=2) {devices=[4]<=[2,2]T(1,0)}",
        "f32[4,4] @ {devices=[2,2]3,1,0,2}",
        "f32[4,8] @ {mesh['a'=2,'b'=4], [{'b':(2)2}, {'a'}]}",
        "f32[4] @ {maximal device=3}",
        "f32[4] @ {replicated}",
        "f32[6,4] @ sdy <mesh<[\"x\"=4, \"y\"=2]>, [{\"x\":(1)2, ?}p1, {\"y\"}]>",
        "bf16[32,4] @ mesh(tp=4) qkv(h=4,g=2,d=4)",
        "bf16[32,4] @ mesh(tp=4) vllm:qkv(h=4,g=2,d=4)",
        "bf16[32,4] @ mesh(tp=4) megatron:qkv(h=4,g=2,d=4)",
        "bf16[48] @ mesh(tp=2) vllm:qkv(h=8,g=4,d=3,array=grouped)",
        "bf16[48] @ mesh(tp=2) megatron:qkv(h=8,g=4,d=3,array=concat)",
        "bf16[48] @ mesh(tp=2) qkv(h=8,g=4,d=3,array=grouped,shard=grouped)",
        "bf16[12,4] @ mesh(tp=2) gate_up",
        "f32[100,4] @ mesh(tp=4) vocab(pad=8)",
        "f32[100,4] @ mesh(tp=4) megatron:vocab(pad=8)",
        "f32[100,4] @ mesh(tp=4) vllm:vocab(pad=8)",
        "f16[100,64] @ mesh(tp=2) row / zN",
        "f32[] @ mesh(2) [R]",
        "f32[0,3] @ mesh(2) [S(0)]",
        "[4,4,4] @ mesh(2,2,2) [S(2), S(1), S(0)]",
        "u8[64,64] @ mesh(8,2) [S(1), R] / col-major",
    ];
    const REFUSED: [&str; 8] = [
        "f32[8] @ mesh(2) [Shord(0)]",
        "f32[8] @ mesh(2) [Partial(sum)]",
        "f32[9] @ mesh(x=2) P(\"x\")",
        "f32[8] @ {devices=[2]0,0}",
        "f32[8] @ {manual}",
        "f32[8] @ sdy <mesh<[\"x\"=2]>, [{\"y\"}]>",
        "f32[9] @ mesh(tp=2) column",
        "f32[8] @ mesh(2) [S(0)] / zN",
    ];
    let notations = tilewright::sharded::dialect::DIALECTS.iter().map(|dialect| dialect.name());
    let to: Vec<&str> = notations.chain(["cute", "numpy"]).collect();
    let all = TEXTS.iter().flat_map(|text| {
        let given = Given::alone(*text);
        let asked = ["shards", "explain"].map(|kind| given.ask(kind));
        let to = to.iter().map(move |to| given.ask_with("translate", "to", json!(to)));
        asked.into_iter().chain(to).collect::<Vec<_>>()
    });
    let refused = REFUSED.iter().flat_map(|text| {
        let given = Given::alone(*text);
        [given.ask("shards"), given.ask_with("translate", "to", json!("torch"))]
    });
    all.chain(refused).collect()
}

/// Arrays with index tables: lists that are digits, others, blocks, holes, and formats whose names stand for tables.
fn tables() -> Vec<Value> {
    const SPECS: [&str; 7] = [
        "f16[4,8] table(0; 0,2,1,3) row-major",
        "f16[4,8] table(0; 0,2,3,1) row-major",
        "f16[3,8] table(0; 2,-,0,1) row-major",
        "f16[16,32] table(0/8,1/16; 3,0,2,1) zN",
        "u1[64,5,3] GPTQ_3BIT",
        "bf16[40,5] MEGATRON_QKV[Q=3,HEAD=4]",
        "f16[4,8] table(0; 0,2,2,1) row-major",
    ];
    let of = |spec: &str| {
        let given = Given::alone(spec);
        let coord = vec![1; spec.split(']').next().unwrap_or("").matches(',').count() + 1];
        let mut questions = vec![given.ask("parse"), given.ask("explain"), given.ask("recognise")];
        questions.push(given.ask_with("translate", "to", json!("cute")));
        questions.push(given.ask_with("offset", "coord", json!(coord)));
        questions.extend([0, 9, 23].map(|at| given.ask_with("coord", "offset", json!(at))));
        questions.push(json!({ "ask": "same", "a": spec, "b": "row-major" }));
        questions.push(json!({ "ask": "relayout", "from": spec, "to": "row-major", "bits": 16 }));
        questions
    };
    SPECS.into_iter().flat_map(of).collect()
}

/// Tiles in shared memory with accesses of every kind, also impossible ones.
fn bank_conflicts() -> Vec<Value> {
    let ask = |spec: &str, access: Value| json!({ "ask": "bank_conflicts", "spec": spec, "access": access });
    let blocked =
        "#ttg.blocked<{sizePerThread=[1,4],threadsPerWarp=[8,4],warpsPerCTA=[2,1],order=[1,0]}>";
    let mut questions = vec![
        ask("f32[32,32] row-major", json!(["write row", "column"])),
        ask("f32[32,32] (32,32):(33,1)", json!("column")),
        ask("f16[64,64] Sw<3,3,3> o (64,64):(64,1)", json!("ldmatrix.x4")),
        ask("f16[16,64] row-major", json!(["stmatrix.x2", "MMA_M16N8K16_16BIT_A"])),
        ask("f16[64,16] col-major", json!("ldmatrix.x2.trans")),
        ask("f32[64,16] row-major", json!(blocked)),
        ask("f32[16,8] row-major", json!("write ((4,8),2):((32,1),16) over (16,8)")),
        ask("f32[4,4] row-major", json!("diagonal")),
        ask("(4,4):(4,1)", json!("row")),
        ask("f32[4,4] row-major", json!([])),
        ask("f16[64,16] row-major", json!("ldmatrix.trans")),
    ];
    for (spec, access, more) in [
        ("f32[8,8] row-major", json!("column"), json!({ "banks": "8x4", "fix": true })),
        ("f32[8,12] row-major", json!("column"), json!({ "banks": "8x4", "fix": true })),
        ("f16[8,64] row-major", json!("ldmatrix"), json!({ "fix": true })),
        ("f16[64,32] row-major", json!("row"), json!({ "vector": 16, "banks": "cdna3" })),
        ("f16[64,64] row-major", json!("column"), json!({ "vector": 16, "banks": "64x4" })),
        ("f32[4,4] row-major", json!("row"), json!({ "vector": 3 })),
        ("f32[4,4] row-major", json!("row"), json!({ "banks": "31x4" })),
    ] {
        let mut question = ask(spec, access);
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        questions.push(question);
    }
    questions
}

/// Buffers of numbered bytes, packed by a layout, intact and corrupted.
fn buffers() -> Vec<Value> {
    let mut questions = Vec::new();
    let ask = |dims: &[u64], original: &[u64], packed: &[u64]| json!({ "ask": "infer", "dims": dims, "original": original, "packed": packed });
    for spec in [
        "u8[3,5]{0,1}",
        "u8[3,5]{1,0:T(2,2)}",
        "u8[8,12] zN[M0=4,C0=4]",
        "u8[2,3,4]{0,2,1}",
        "u8[12,4] (m1 m0:3) n -> m0 n m1",
        "u8[4,4] (m1 m0:2) (n1 n0:2) -> n1 m1 m0 n0",
        "u8[2,8,2,2] (n) (c1 c0:4) h w -> n c1 h w c0",
    ] {
        let named = Given::alone(spec).named().unwrap();
        let layout = named.layout();
        let original: Vec<u64> = (1..=layout.size()).collect();
        let mut packed = vec![0; layout.capacity() as usize];
        for index in 0..layout.size() {
            packed[layout.offset_of(index).unwrap() as usize] = original[index as usize];
        }
        questions.push(ask(layout.extents(), &original, &packed));
        packed.reverse();
        questions.push(ask(layout.extents(), &original, &packed));
        questions.push(ask(layout.extents(), &original, &packed[1..]));
    }
    questions.push(ask(&[2, 2], &[7, 7, 7, 7], &[7, 7, 7, 7]));
    questions.push(ask(&[2, 3], &[1, 2, 3, 4, 5, 6], &[1, 2, 3]));
    questions
}

/// Numbered bytes moved between layouts.
fn moves() -> Vec<Value> {
    const JOBS: [(&str, &str, u32); 16] = [
        ("[2,3] row-major", "[2,3] col-major", 8),
        ("[3,5] row-major", "f32[3,5]{1,0:T(2,2)}", 32),
        ("[20,40] row-major", "f16[20,40] zN", 16),
        ("f16[20,40] zN", "[20,40] row-major", 16),
        ("[2,3,4,5] row-major", "[2,3,4,5] NHWC", 8),
        ("[2,8,3,3] row-major", "onednn:aBcd4b", 16),
        ("[8,8] row-major", "Sw<2,0,3> o (8,8):(8,1)", 8),
        ("[3,7] row-major", "[3,7] col-major", 4),
        ("[5,3] row-major", "[5,3] col-major", 1),
        ("[6,6] row-major", "(6,6):(1,8)", 64),
        ("[4,6] row-major", "[4,6] (m1 m0:2) (n1 n0:4) -> n1 m1 n0 m0", 128),
        ("(4,3):(0,1)", "[4,3] row-major", 8),
        ("[4,3] row-major", "(4,3):(0,1)", 8),
        ("[4,3] row-major", "[3,4] row-major", 8),
        ("[4,3] row-major", "(4,3):(-3,1)", 8),
        ("[4,3] row-major", "[4,3] col-major", 12),
    ];
    let ask = |&(from, to, bits): &(&str, &str, u32)| {
        let mut question = json!({ "ask": "relayout", "from": from, "to": to, "bits": bits });
        if to.starts_with("onednn:") {
            question["dims"] = json!([2, 8, 3, 3]);
        }
        question
    };
    JOBS.iter().map(ask).collect()
}

/// Questions that are refused, with the place in the text.
fn refusals() -> Vec<Value> {
    const TEXTS: [&str; 24] = [
        "",
        " ",
        "row-mayor",
        "f32[3,5]{1,0",
        "f32[3,5]{1,1}",
        "f99[3,5]",
        "{0,1:T(8,128)(2,x)}",
        "(2,3):(3,1",
        "(2,3):(3)",
        "((2,3):(3,1)",
        "Sw<3,3> o 8:1",
        "zN[M0=0]",
        "zN[Q=4]",
        "nz",
        "Nz",
        "ab->ab",
        "(m1 m0:16) n -> n m1 m2",
        "numpy:shape=(3,5),strides=(20),dtype=f32",
        "cute:",
        "hlo:zN",
        "[4294967296,4294967296,4] row-major",
        "é",
        "a\nb",
        "NC1HWC1",
    ];
    let alone = TEXTS.map(Given::alone);
    let given = |spec: &str, dims: &[u64], dtype| Given {
        spec: spec.into(),
        dims: Some(dims.to_vec()),
        dtype,
    };
    let arrays = [
        given("zN", &[100, 100], None),
        given("NHWC", &[3, 5], None),
        given("f32[3,5]", &[5, 3], None),
        given("f32[3,5]", &[3, 5], Some("bf16")),
        given("zN", &[8, 8], Some("nothing")),
        given("row-major", &[1 << 40, 1 << 40], None),
    ];
    let mut questions = Vec::new();
    for given in alone.iter().chain(&arrays) {
        questions.extend(["parse", "explain", "recognise"].map(|kind| given.ask(kind)));
        questions.push(given.ask_with("translate", "to", json!("cute")));
        questions.push(given.ask_with("offset", "coord", json!([0, 0])));
        questions.push(given.ask_with("coord", "offset", json!(0)));
    }
    questions.push(Given::alone("(2,3):(3,1)").ask_with("translate", "to", json!("cuet")));
    questions.push(Given::alone("(2,3):(3,1)").ask_with("offset", "coord", json!([2, 0])));
    questions.push(Given::alone("(2,3):(3,1)").ask_with("offset", "coord", json!([0, 0, 0])));
    questions
}
