//! Axe layouts as apache-tvm prints them: where it puts each element, and what it prints.

use serde_json::Value;
use tilewright_notation::{Spec, notation};

fn lines() -> Vec<Value> {
    let path = format!("{}/../../corpus/vectors/axe.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The coordinate of a row-major index.
fn coord(dims: &[u64], mut index: u64) -> Vec<u64> {
    let mut coord = vec![0; dims.len()];
    for (own, extent) in coord.iter_mut().zip(dims).rev() {
        *own = index % extent;
        index /= extent;
    }
    coord
}

#[test]
fn elements_lie_where_tvm_puts_them() {
    let (mut seen, mut crossed) = (0, 0);
    for case in lines().iter().filter(|case| case["kind"] == "memory") {
        let (text, dims) = (case["text"].as_str().unwrap(), numbers(&case["dims"]));
        let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(spec.to_string(), text);
        let named = spec.resolve(Some(&dims), None).unwrap_or_else(|e| panic!("{text}: {e}"));
        for (index, to) in numbers(&case["places"]["m"]).into_iter().enumerate() {
            assert_eq!(named.layout().offset_of(index as u64), Ok(to as i64), "{text} at {index}");
        }
        // Its own dims print as the same text; others as the same map.
        let own = spec.resolve(None, None).unwrap();
        assert_eq!(notation("tirx").unwrap().print(&own).unwrap(), text);
        let said = notation("axe").unwrap().print(&named).unwrap();
        crossed += usize::from(!named.layout().is_strided());
        let again = Spec::parse(&said).unwrap().resolve(Some(&dims), None).unwrap();
        assert_eq!(again.layout().same_function(named.layout()), Ok(true), "{text} as {said}");
        assert!(spec.distribution(Some(&dims), None).unwrap().is_none());
        seen += 1;
    }
    assert!(seen == 40 && crossed > 0, "{seen} {crossed}");
}

/// The element of each place, by the axes of TVM: registers are places of `m`, and threads count lanes, then warps.
#[test]
fn threads_hold_what_tvm_gives_them() {
    let mut seen = 0;
    for case in lines().iter().filter(|case| case["kind"] == "threads") {
        let (text, dims) = (case["text"].as_str().unwrap(), numbers(&case["dims"]));
        let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(spec.to_string(), text);
        let map = spec.distribution(Some(&dims), None).unwrap_or_else(|e| panic!("{text}: {e}"));
        let map = map.unwrap();
        let at = |axis: &str, index: u64| {
            let all = case["places"].get(axis)?.as_array()?;
            all.get(index as usize)?.as_u64()
        };
        for index in 0..dims.iter().product() {
            let thread = at("tid_in_wg", index);
            let lane = thread.map_or(at("laneid", index), |thread| Some(thread % 32));
            let warp = thread.map_or(at("warpid", index), |thread| Some(thread / 32));
            let place = [at("m", index), lane, warp, None].map(|part| part.unwrap_or(0));
            assert_eq!(map.apply(&place).unwrap().as_slice(), coord(&dims, index), "{text}");
        }
        let copies = if text.contains("T.R[") { 2 } else { 1 };
        assert!(map.in_size() >= copies * dims.iter().product::<u64>(), "{text}");
        assert!(spec.resolve(Some(&dims), None).unwrap_err().is_unsupported());
        seen += 1;
    }
    assert_eq!(seen, 40);
}

#[test]
fn what_has_no_map_says_why() {
    for (text, said) in [
        ("S[(3, 4):(4 @ laneid, 1 @ laneid)]", "a linear map needs powers of two"),
        ("S[4:1 @ gpu]", "axis gpu has no bit 0 among registers, lanes, warps and blocks"),
        ("S[64:1 @ laneid]", "axis laneid has no bit 5"),
        ("S[4:2 @ laneid]", "some lane holds no element"),
        ("S[(4, 2):(1 @ laneid, 2 @ laneid)]", "two iters move bit 1 of axis laneid"),
        ("S[4:1 @ laneid] + 1 @ laneid", "an offset of 1 on laneid"),
        (
            "ComposeLayout(3, 3, 3, S[(8, 64):(1 @ laneid, 1)])",
            "a swizzle of a layout over threads",
        ),
    ] {
        let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
        let error = spec.distribution(None, None).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    for (text, at, said) in [
        ("S[(8, 4):(4, 1)", "", "expected `]`"),
        ("S[(8, 0):(4, 1)]", "0", "extents are 1 or more"),
        ("T.TileLayout(T.R[2:1])", "T", "expected shards"),
        ("T.ComposeLayout(3, 99, 3, T.S[8:1])", "99", "at most 62 bits"),
        ("T.ComposeLayout(3, 3, 1, T.S[8:1])", "", "the bit fields overlap"),
        ("S[8:1 @ ]", "]", "expected the name of an axis"),
    ] {
        let error = Spec::parse(text).and_then(|spec| spec.resolve(None, None)).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
        if let Some((from, to)) = error.span().filter(|_| !at.is_empty()) {
            assert_eq!(&text[from..to], at, "{text}: {error}");
        }
    }
}
