//! Maps of loaders: every recorded packing of the corpus is one term, and has its layout.

use std::{collections::BTreeSet, fs};

use serde_json::Value;
use tilewright::{
    Dtype,
    learn::{
        Learned, NamedArray, Sources, Space, ZERO, array_layout, describe, from_json, learn_result,
        sized_plan, to_json, to_toml,
    },
    notation::recognise,
};

/// The recorded cases: format, extents, capacity, and the offset of each element in row-major order.
fn cases() -> impl Iterator<Item = (String, Vec<u64>, usize, Vec<usize>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/formats");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    files.into_iter().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).map(case).collect::<Vec<_>>()
    })
}

fn case(value: Value) -> (String, Vec<u64>, usize, Vec<usize>) {
    let array = value["array"].as_str().unwrap();
    let dims = array.split_once('[').unwrap().1.trim_end_matches(']');
    let dims = dims.split(',').map(|dim| dim.parse().unwrap()).collect();
    let offsets = value["offsets"].as_array().unwrap().iter();
    let offsets = offsets.map(|offset| offset.as_u64().unwrap() as usize).collect();
    let format = value["format"].as_str().unwrap().to_owned();
    (format, dims, value["capacity"].as_u64().unwrap() as usize, offsets)
}

#[test]
fn every_recorded_packing_is_one_term_and_most_have_their_name() {
    let (mut all, mut layouts, mut named) = (0, 0, BTreeSet::new());
    for (format, dims, capacity, offsets) in cases().filter(|case| !case.3.is_empty()) {
        let sources = Sources::numbered([("w".into(), dims)]).unwrap();
        let mut ids = vec![ZERO; capacity];
        offsets.iter().zip(1..).for_each(|(offset, id)| ids[*offset] = id);
        let learned = describe(&ids, &sources).unwrap();
        assert_eq!(learned.expand().unwrap(), ids, "{format}");
        assert_eq!(learned.terms().len(), 1, "{format}: {learned}");
        assert!(learned.integers() <= 40, "{format}: {learned}");
        all += 1;
        let Some(layout) = array_layout(&learned, None) else { continue };
        layouts += 1;
        for (index, offset) in offsets.iter().enumerate() {
            let found = layout.stored().layout().offset_of(index as u64);
            assert_eq!(found, Ok(*offset as i64), "{format}");
        }
        let base = format.split('[').next().unwrap();
        let is_it = |name: &str| name.split(['[', '^']).next() == Some(base);
        if recognise(layout.stored()).iter().any(|found| is_it(&found.name)) {
            named.insert(format);
        }
    }
    println!("{all} cases, {layouts} layouts, {} formats named", named.len());
    assert!(all > 300 && layouts * 100 >= all * 95, "{layouts} of {all}");
    for name in ["MARLIN", "GPTQ", "AWQ", "AITER_SHUFFLE_16x16", "SCALE_128x4"] {
        assert!(named.contains(name), "{name} of {named:?}");
    }
}

#[test]
fn plans_are_read_back_and_checked() {
    let tensors = ["gate", "up"].map(|name| NamedArray {
        name: name.into(),
        dtype: Dtype::Bf16,
        extents: vec![4, 6],
    });
    let named = tensors.iter().map(|tensor| (tensor.name.clone(), tensor.extents.clone()));
    let space = Space::new(Sources::numbered(named).unwrap(), 128).unwrap();
    let result = NamedArray { name: "w13".into(), dtype: Dtype::Bf16, extents: vec![8, 7] };
    let learnt = learn_result(&space, &[Dtype::Bf16; 2], result, &mut |load| {
        let rows = [0, 1].map(|source| space.coded(source, load, Dtype::Bf16));
        let mut made = Vec::new();
        for source in rows {
            source?.chunks(12).for_each(|row| made.extend([row, &[0x80, 0x3F]].concat()));
        }
        Ok(made)
    });
    let learned = Learned { sources: tensors.to_vec(), results: vec![learnt.unwrap()] };
    assert_eq!(learned.results[0].constants.runs(), [(0x3F80, 8)]);
    let json = to_json(&learned);
    assert_eq!(from_json(&json).unwrap(), learned);
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut json = json.clone();
        change(&mut json["result"][0]);
        from_json(&json).unwrap_err().to_string()
    };
    let said = wrong(&|result| result["terms"][0]["at"] = 40.into());
    assert!(said.ends_with("boxes of terms leave the result"), "{said}");
    let said = wrong(&|result| result["terms"][0]["offset"] = 1000.into());
    assert!(said.contains("leaves its source"), "{said}");
    let said = wrong(&|result| result["terms"][0]["axes"][0]["count"] = (1u64 << 60).into());
    assert_eq!(said, "result w13: term 0 has impossible digits or no source");
    // A pattern that somebody changed would be ignored: the numbers decide.
    let said = wrong(&|result| result["terms"][0]["pattern"] = "gate (a b) -> b a".into());
    let words = "result w13: term 0 has the pattern `gate (a b) -> b a`, and its numbers are `";
    assert!(said.starts_with(words) && said.ends_with("or remove the pattern"), "{said}");
    let mut bare = json.clone();
    bare["result"][0]["terms"][0].as_object_mut().unwrap().remove("pattern");
    assert_eq!(from_json(&bare).unwrap(), learned);
    let said = wrong(&|result| result["name"] = "rank{Q}/w13".into());
    assert_eq!(said, "rank{Q}/w13 names the ranks `rank{Q}`; all ranks are `rank{T}`");
    assert_eq!(
        wrong(&|result| result["unit"] = 7.into()),
        "result w13: the plan has no legal value of unit"
    );
    for rank in
        ["rank18446744073709551615", "rank99999999999999999999", "rank999999999999", "rank+70000"]
    {
        let said = wrong(&|result| result["name"] = format!("{rank}/x").into());
        assert_eq!(said, format!("{rank}/x is of a rank beyond 65536"));
    }
    let of_all = |extents: &[u64], size: u64| {
        wrong(&|result| {
            result["name"] = "rank{T}/x".into();
            (result["extents"], result["size"]) = (extents.into(), size.into());
            (result["terms"], result["constants"]) = (Value::Array(vec![]), Value::Null);
            result["rest"] = "zero".into();
        })
    };
    assert_eq!(of_all(&[], 1), "rank{T}/x has no axis of ranks");
    assert_eq!(of_all(&[0, 4], 0), "rank{T}/x has 0 ranks, not 1 to 65536");
    assert_eq!(of_all(&[1 << 20, 1], 1 << 20), "rank{T}/x has 1048576 ranks, not 1 to 65536");
    let said = wrong(&|result| {
        (result["rest"], result["constants"]) = ("computed".into(), Value::Null);
        result["terms"].as_array_mut().unwrap().retain(|term| term["other"].is_null());
    });
    assert_eq!(said, "w13 has computed elements and does not say `unexplained`");
    // TOML is read as JSON is, with bits that no signed number has and names with all characters.
    let mut odd = learned.clone();
    odd.results[0].constants = Default::default();
    odd.results[0].constants.extend(u64::MAX, 8);
    odd.sources[1].name = "up\u{7f}\n\"\\é".into();
    let mut sized = to_json(&odd);
    let terms = sized["result"][0]["terms"].to_string();
    let terms = terms.replace("\"up\"", &Value::from(&*odd.sources[1].name).to_string());
    sized["result"][0]["terms"] = serde_json::from_str(&terms).unwrap();
    let terms = sized["result"][0]["terms"].as_array_mut().unwrap().iter_mut();
    terms.for_each(|term| drop(term.as_object_mut().unwrap().remove("pattern")));
    sized["sizes"] = serde_json::json!({ "tp": 2, "rope.theta": 10000 });
    let text = to_toml(&sized);
    let (sizes, plan) = sized_plan(text.as_bytes()).unwrap();
    assert_eq!((sizes["tp"], sizes["rope.theta"]), (2, 10000), "{text}");
    assert_eq!(to_json(&plan)["source"], sized["source"]);
    assert_eq!(plan.results[0].constants, odd.results[0].constants);
    assert_eq!(sized_plan(sized.to_string().as_bytes()).unwrap(), (sizes, plan));
    let said = wrong(&|result| result["terms"][0]["step"] = 1.into());
    let words = "result w13: a term has the unknown key step; its keys are pattern, ";
    assert!(said.starts_with(words), "{said}");
    let said = wrong(&|result| result["terms"][0]["axes"][0]["stride"] = 1.into());
    assert!(said.starts_with("result w13: an axis has the unknown key stride"), "{said}");
    // A value of another type is not a missing one.
    for source in [7.into(), Value::from("up")] {
        let said = wrong(&|result| {
            let term = &mut result["terms"][0];
            (term["source"], term["other"]) = (source.clone(), "constant".into());
        });
        assert_eq!(said, "result w13: the plan has no legal value of source");
    }
    for xor in [3.into(), "0".into(), serde_json::json!({}), serde_json::json!([3])] {
        let said = wrong(&|result| result["terms"][0]["xor"] = xor.clone());
        assert_eq!(said, "result w13: the plan has no legal value of xor");
    }
    let said = wrong(&|r| r["constants"] = 3.into());
    assert_eq!(said, "result w13: the plan has no legal value of constants");
    let mut odd = json.clone();
    odd["sizes"] = 3.into();
    let said = sized_plan(odd.to_string().as_bytes()).unwrap_err().to_string();
    assert_eq!(said, "the sizes of the plan are not a table");
    let mut none = json.clone();
    none["result"] = Value::Array(vec![]);
    let said = from_json(&none).unwrap_err().to_string();
    assert_eq!(said, "the plan is without results; learn a loader that returns arrays");
}

/// A loader of arrays of numbers: the sources, and what it makes of them.
#[cfg(feature = "files")]
fn recipe_of(
    sources: &[(&str, &[u64])],
    name: &str,
    extents: &[u64],
    ids: Vec<i64>,
) -> Result<String, String> {
    use tilewright::learn::{LearnedResult, recipe};
    let tensor = |name: &str, extents: &[u64]| NamedArray {
        name: name.into(),
        dtype: Dtype::Bf16,
        extents: extents.to_vec(),
    };
    let named = sources.iter().map(|(name, extents)| ((*name).into(), extents.to_vec()));
    let numbered = Sources::numbered(named).unwrap();
    let description = describe(&ids, &numbered).unwrap();
    let learnt = LearnedResult {
        tensor: tensor(name, extents),
        unit: Dtype::Bf16,
        description,
        constants: Default::default(),
        unexplained: None,
    };
    let sources = sources.iter().map(|(name, extents)| tensor(name, extents)).collect();
    let found = recipe(&Learned { sources, results: vec![learnt] });
    let found = found.map_err(|error| error.to_string())?;
    // The way back has the same rule.
    assert!(found.inverse().to_toml().contains(name));
    let text = found.to_toml();
    let line = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line.to_owned()
    };
    Ok(format!("{} {}", line("from"), line("to")))
}

#[cfg(feature = "files")]
#[test]
fn moves_without_padding_are_recipes() {
    let rows = |first: i64, from: i64, count: i64, columns: i64| {
        (first + from * columns)..(first + (from + count) * columns)
    };
    // Concatenated.
    let fused = rows(1, 0, 4, 6).chain(rows(26, 0, 2, 6)).collect();
    let found = recipe_of(&[("q", &[4, 6]), ("k", &[2, 6])], "qk", &[6, 6], fused);
    assert_eq!(
        found.unwrap(),
        "from = [\"q : c0_0:4 b0_0:6\", \"k : c1_0:2 b0_0:6\"] to = \"qk : (c0_0 + c1_0) b0_0\""
    );
    // Interleaved in pairs of rows, transposed.
    let at = |row: i64, column: i64| 1 + 25 * (row / 2 % 2) + (row / 4 * 2 + row % 2) * 6 + column;
    let woven = (0..48).map(|p| at(p % 8, p / 8)).collect();
    let found = recipe_of(&[("gate", &[4, 6]), ("up", &[4, 6])], "w", &[6, 8], woven);
    assert!(found.clone().unwrap().contains("to = \"w : c0_0 (b0_1 (b0_0 + b1_0))\""), "{found:?}");
    // Experts.
    let experts: Vec<String> = (0..3).map(|e| format!("e.{e}.w")).collect();
    let sources: Vec<(&str, &[u64])> =
        experts.iter().map(|name| (name.as_str(), &[2, 4][..])).collect();
    let stacked = (0..24).map(|p| 1 + p / 8 * 9 + p % 2 * 4 + p % 8 / 2).collect();
    let found = recipe_of(&sources, "w", &[3, 4, 2], stacked).unwrap();
    assert!(found.starts_with("from = \"e.{d0_0}.w : "), "{found}");
    // Two ranks: rows of q and of k are cut, columns of o too, and the norm is copied.
    let row = |rank: i64, first: i64, row: i64| {
        let at = first + (2 * rank + row) * 3;
        at..at + 3
    };
    let fused = (0..2).flat_map(|rank| {
        let of = move |first: i64| (0..2).flat_map(move |r| row(rank, first, r));
        of(1).chain(of(14))
    });
    let found =
        recipe_of(&[("q", &[4, 3]), ("k", &[4, 3])], "rank{T}/qk", &[2, 4, 3], fused.collect());
    assert_eq!(
        found.unwrap(),
        "from = [\"q : (T:2 c0_0:2) b0_0:3\", \"k : (T:2 c1_0:2) b0_0:3\"] to = \"rank{T}/qk : (c0_0 + c1_0) b0_0\""
    );
    let columns = (0..12).map(|p| 1 + p / 6 * 2 + p % 6 / 2 * 4 + p % 2).collect();
    let found = recipe_of(&[("o", &[3, 4])], "rank{T}/o", &[2, 3, 2], columns).unwrap();
    assert!(found.contains("o : c0_0:3 (T:2 b0_0:2)"), "{found}");
    let copied = (0..6).map(|p| 1 + p % 3).collect();
    let found = recipe_of(&[("norm", &[3])], "rank{T}/norm", &[2, 3], copied).unwrap();
    assert!(found.contains("to = \"rank{T}/norm : b0_0\""), "{found}");
    // A part of a source, and padding, have none.
    let refused = "no recipe expresses w; its plan does";
    assert_eq!(recipe_of(&[("a", &[4])], "w", &[2], vec![1, 2]).unwrap_err(), refused);
    assert_eq!(recipe_of(&[("a", &[2])], "w", &[3], vec![1, 2, ZERO]).unwrap_err(), refused);
    assert_eq!(recipe_of(&[("a", &[2])], "w", &[4], vec![1, 2, 1, 2]).unwrap_err(), refused);
}

/// The maps of packing functions of vLLM, AITER, torchao and torch: one term for each source, and exact.
#[cfg(feature = "files")]
#[test]
fn maps_of_packing_functions_are_one_term() {
    use tilewright::{
        files::{Reading, open},
        learn::MapSource,
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/learn/packers");
    let index = fs::read_to_string(format!("{folder}.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    let arrays = open(format!("{folder}.npz"), &Reading::default()).unwrap();
    let functions = index.as_array().unwrap();
    assert_eq!(functions.len(), 29);
    for (number, function) in functions.iter().enumerate() {
        let name = function["function"].as_str().unwrap();
        let source = |one: &Value| MapSource {
            name: one[0].as_str().unwrap().into(),
            extents: one[1].as_array().unwrap().iter().map(|e| e.as_u64().unwrap()).collect(),
            first: one[2].as_i64().unwrap(),
        };
        let list: Vec<MapSource> =
            function["sources"].as_array().unwrap().iter().map(source).collect();
        let count = list.len();
        let sources = Sources::new(list).unwrap();
        let tensor = arrays.tensor(&format!("a{number}")).unwrap();
        let bytes = arrays.bytes(tensor, 1 << 24).unwrap();
        let mut id = 0i64;
        let steps =
            bytes.as_chunks::<4>().0.iter().map(|word| i64::from(i32::from_le_bytes(*word)));
        let ids: Vec<i64> = steps.map(|step| (id += step, id).1).collect();
        let described = describe(&ids, &sources).unwrap();
        assert_eq!(described.expand().unwrap(), ids, "{name}");
        assert!(described.terms().len() <= count, "{name}: {described}");
        assert!(described.integers() <= 32, "{name}: {} integers", described.integers());
    }
}

/// A loader of two ranks that fuses gate and up, learned at sizes, with a plan for other sizes.
#[cfg(feature = "files")]
mod sizes {
    use tilewright::{
        Dtype,
        learn::{
            Constants, Learned, LearnedResult, NamedArray, NamedSizes, Sources, describe, predict,
        },
    };

    /// Returns the plan of a loader that cuts gate and up of `[n, k]` in rows for `tp` ranks, and fuses them.
    fn fused(n: u64, k: u64, tp: u64) -> (NamedSizes, Learned) {
        let tensors = ["gate", "up"].map(|name| NamedArray {
            name: name.into(),
            dtype: Dtype::Bf16,
            extents: vec![n, k],
        });
        let named = tensors.iter().map(|one| (one.name.clone(), one.extents.clone()));
        let sources = Sources::numbered(named).unwrap();
        let own = n / tp;
        let row = |rank: u64, part: u64, row: u64| {
            (0..k).map(move |c| (1 + part * (n * k + 1) + (rank * own + row) * k + c) as i64)
        };
        let ids: Vec<i64> = (0..tp)
            .flat_map(|rank| (0..2).map(move |part| (rank, part)))
            .flat_map(|(rank, part)| (0..own).flat_map(move |r| row(rank, part, r)))
            .collect();
        let result = LearnedResult {
            tensor: NamedArray {
                name: "rank{T}/gate_up".into(),
                dtype: Dtype::Bf16,
                extents: vec![tp, 2 * own, k],
            },
            unit: Dtype::Bf16,
            description: describe(&ids, &sources).unwrap(),
            constants: Constants::default(),
            unexplained: None,
        };
        let sizes = NamedSizes::from([("n".into(), n), ("k".into(), k), ("tp".into(), tp)]);
        (sizes, Learned { sources: tensors.to_vec(), results: vec![result] })
    }

    #[test]
    fn plans_at_other_sizes_are_predicted_and_confirmed() {
        let known = [fused(12, 5, 2), fused(20, 7, 2), fused(28, 11, 4), fused(36, 5, 4)];
        for (n, k, tp) in [(44, 13, 2), (52, 17, 4), (104, 3, 8)] {
            let (sizes, want) = fused(n, k, tp);
            let predicted = predict(&known, &sizes, &want.sources);
            if tp == 8 {
                // 3 is below 8: no plan has a size below the number of ranks.
                assert!(
                    predicted.unwrap_err().to_string().contains("k=3 at 8 ranks is a new regime")
                );
                continue;
            }
            let predicted = predicted.unwrap();
            assert_eq!(predicted.plan, want, "{n} {k} {tp}");
            let fresh = want.fresh(1).unwrap();
            let results = want.apply(&fresh).unwrap();
            let mut wrong = results.clone();
            wrong[0][6] ^= 1;
            assert_eq!(predicted.clone().confirmed(&fresh, &wrong).unwrap().unwrap_err().place, 3);
            assert_eq!(predicted.confirmed(&fresh, &results).unwrap(), Ok(want));
        }
    }

    #[test]
    fn sizes_that_no_plan_varies_are_refused() {
        let known = [fused(12, 5, 2), fused(20, 5, 2), fused(28, 5, 2)];
        let (sizes, want) = fused(44, 7, 2);
        let error = predict(&known, &sizes, &want.sources).unwrap_err().to_string();
        assert_eq!(error, "k=7, and k is 5 in every plan; learn one at another k");
        let (sizes, want) = fused(44, 5, 2);
        assert_eq!(predict(&known, &sizes, &want.sources).unwrap().plan, want);
    }

    #[test]
    fn element_types_are_those_of_the_plans() {
        let known = [fused(12, 5, 2), fused(20, 7, 2), fused(28, 11, 2)];
        let (sizes, mut want) = fused(44, 13, 2);
        want.sources[1].dtype = Dtype::F8e4m3fn;
        let error = predict(&known, &sizes, &want.sources).unwrap_err();
        let said = "up is f8e4m3fn in the checkpoint, and bf16 in a plan";
        assert!(error.is_mismatch() && error.to_string().starts_with(said), "{error}");
    }

    #[test]
    fn formulas_that_differ_are_refused() {
        // n is 4 k in every plan: the rows may be either.
        let known = [fused(12, 3, 2), fused(20, 5, 2), fused(28, 7, 2)];
        let (sizes, want) = fused(44, 13, 2);
        let error = predict(&known, &sizes, &want.sources).unwrap_err().to_string();
        assert!(error.contains("have formulas that differ at these sizes"), "{error}");
    }
}

/// Copies of elements in the files of a plan: each is compared on the way back.
#[cfg(feature = "files")]
mod copies {
    use tilewright::{
        Dtype,
        files::{Reading, Request, Writer, open},
        learn::{Constants, Learned, LearnedResult, NamedArray, Sources, describe, unpack},
        notation::Spec,
    };

    fn result(name: &str, ids: &[i64], sources: &Sources) -> LearnedResult {
        let extents = vec![ids.len() as u64];
        LearnedResult {
            tensor: NamedArray { name: name.into(), dtype: Dtype::U8, extents },
            unit: Dtype::U8,
            description: describe(ids, sources).unwrap(),
            constants: Constants::default(),
            unexplained: None,
        }
    }

    /// Converts results of one source of `size` elements back, and then with each place of each result changed.
    fn every_copy_is_compared(size: i64, results: &[Vec<i64>]) {
        let source = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![size as u64] };
        let named = (source.name.clone(), source.extents.clone());
        let sources = Sources::numbered([named]).unwrap();
        let of = |(k, ids): (usize, &Vec<i64>)| result(&format!("r{k}"), ids, &sources);
        let learned = Learned {
            sources: vec![source],
            results: results.iter().enumerate().map(of).collect(),
        };
        let folder = tempfile::tempdir().unwrap();
        let [from, back] = ["from", "back"].map(|n| folder.path().join(format!("{n}.safetensors")));
        let run = |wrong: Option<(usize, usize)>| {
            let data = |(k, ids): (usize, &Vec<i64>)| {
                let mut bytes: Vec<u8> = ids.iter().map(|id| *id as u8).collect();
                wrong.filter(|wrong| wrong.0 == k).iter().for_each(|wrong| bytes[wrong.1] ^= 128);
                bytes
            };
            let all: Vec<Vec<u8>> = results.iter().enumerate().map(data).collect();
            let mut writer = Writer::new(Request::new().force(true));
            for (k, bytes) in all.iter().enumerate() {
                let spec = Spec::parse(&format!("u8[{}] row-major", bytes.len())).unwrap();
                let layout = spec.resolve(None, None).unwrap();
                writer = writer.array(format!("r{k}"), &layout, bytes).unwrap();
            }
            writer.write(&from, &()).unwrap();
            unpack(&learned, &from, &back, Request::new().force(true), &())
        };
        run(None).unwrap();
        let made = open(&back, &Reading::default()).unwrap();
        let bytes = made.bytes(&made.tensors()[0], 1 << 20).unwrap();
        assert_eq!(bytes, (1..=size as u8).collect::<Vec<u8>>());
        for (k, ids) in results.iter().enumerate() {
            for (place, own) in ids.iter().enumerate() {
                let copies = results.iter().flatten().filter(|id| *id == own).count();
                let said = run(Some((k, place))).map_err(|error| error.to_string());
                let is_said = said.as_ref().is_err_and(|said| said.contains("copies of one"));
                assert_eq!(is_said, copies > 1, "{results:?}: {k} {place}: {said:?}");
            }
        }
    }

    #[test]
    fn every_copy_is_compared_with_the_part_that_is_given_back() {
        let rows = || (1..=24).collect::<Vec<i64>>();
        // A second copy in another packing: transposed, and in tiles of two by two.
        let transposed = (0..24).map(|p| 1 + p % 6 * 4 + p / 6).collect();
        let tiled =
            (0..24).map(|p| 1 + p / 8 * 8 + p % 8 / 4 * 2 + p / 2 % 2 * 4 + p % 2).collect();
        every_copy_is_compared(24, &[rows(), transposed, tiled]);
        // The holder is tiled, and the copy a part of it.
        let tiled = (0..24).map(|p| 1 + p % 4 * 6 + p / 4).collect();
        every_copy_is_compared(24, &[tiled, (5..=21).collect()]);
        // Parts of three results, one with an end that no other has.
        every_copy_is_compared(24, &[(1..=10).collect(), (7..=24).rev().collect(), rows()]);
    }

    #[test]
    fn memory_of_unknown_ranks_and_partial_plans_are_not_compared() {
        use tilewright::learn::{RankMemory, Unexplained, check};
        let source = NamedArray { name: "w".into(), dtype: Dtype::U8, extents: vec![3] };
        let sources = Sources::numbered([("w".into(), vec![3])]).unwrap();
        let ranks = [0, 1].map(|rank| result(&format!("rank{rank}/r"), &[1, 2, 3], &sources));
        let mut learned = Learned { sources: vec![source], results: ranks.to_vec() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let layout = Spec::parse("u8[3] row-major").unwrap().resolve(None, None).unwrap();
        let writer = Writer::new(Request::new()).array("w", &layout, &[1, 2, 3]).unwrap();
        writer.write(&path, &()).unwrap();
        let input = open(&path, &Reading::default()).unwrap();
        let of =
            |rank: usize, bytes: &'static [u8]| (rank, RankMemory::from([("r".into(), bytes)]));
        let said = |learned: &Learned, memory: &[(usize, RankMemory<'_>)]| {
            check(learned, &input, memory).map_err(|error| error.to_string())
        };
        assert_eq!(said(&learned, &[of(0, &[1, 2, 3]), of(1, &[1, 2, 3])]), Ok(None));
        let unknown = said(&learned, &[of(7, &[9, 9, 9])]).unwrap_err();
        assert_eq!(unknown, "memory of rank 7, and the plan has 2 ranks, from 0");
        let twice = said(&learned, &[of(1, &[1, 2, 3]), of(1, &[1, 2, 3])]).unwrap_err();
        assert_eq!(twice, "memory of rank 1 is given twice");
        learned.results[1].unexplained = Some(Unexplained { place: 0, count: 1, seen: vec![] });
        let partial = said(&learned, &[of(0, &[1, 2, 3])]).unwrap_err();
        assert!(partial.starts_with("rank1/r has elements that are not explained"), "{partial}");
    }

    #[test]
    fn repeated_elements_are_given_back_once() {
        every_copy_is_compared(2, &[vec![1, 1, 2, 2]]);
        every_copy_is_compared(6, &[vec![1, 2, 3, 1, 2, 3, 1, 2, 3], vec![3, 4, 5, 4, 5, 6]]);
        every_copy_is_compared(5, &[vec![1, 2, 3, 2, 3, 4, 3, 4, 5]]);
    }
}
