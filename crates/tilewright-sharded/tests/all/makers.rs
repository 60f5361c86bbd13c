//! The rules of Megatron and vLLM, compared row by row with their own formulas.

use tilewright_sharded::{Cut, Sharded};

/// A row of a fused tensor: the queries (0), keys (1) or values (2), the head, the row of the head.
type Row = (u64, u64, u64);

/// Returns the rows of an array [q; k; v].
fn concat(heads: u64, groups: u64, rows: u64) -> Vec<Row> {
    let part = |part: u64, count: u64| {
        (0..count).flat_map(move |head| (0..rows).map(move |row| (part, head, row)))
    };
    part(0, heads).chain(part(1, groups)).chain(part(2, groups)).collect()
}

/// Megatron-Core: `mixed_qkv` is viewed as `[ng, (np / ng + 2) * hn]`, and split into np / ng queries, a key, a value.
fn grouped(heads: u64, groups: u64, rows: u64) -> Vec<Row> {
    let each = heads / groups;
    let head = move |at: u64| match at % (each + 2) {
        query if query < each => (0, at / (each + 2) * each + query),
        other => (1 + other - each, at / (each + 2)),
    };
    let all = (0..groups * (each + 2)).flat_map(|at| (0..rows).map(move |row| (head(at), row)));
    all.map(|((part, head), row)| (part, head, row)).collect()
}

/// `ColumnParallelLinear`: rank r of t holds rows r·N/t to (r + 1)·N/t of Megatron's own order.
fn megatron((heads, groups, rows): (u64, u64, u64), (rank, tp): (u64, u64)) -> Vec<Row> {
    let all = grouped(heads, groups, rows);
    let each = all.len() / tp as usize;
    all[rank as usize * each..][..each].to_vec()
}

/// `QKVParallelLinear`: the loader narrows each of q, k and v, for k and v by the rank over `num_kv_head_replicas`.
fn vllm((heads, groups, rows): (u64, u64, u64), (rank, tp): (u64, u64)) -> Vec<Row> {
    let (own, replicas) = if tp >= groups { (1, tp / groups) } else { (groups / tp, 1) };
    let part = |part: u64, first: u64, count: u64| {
        (first..first + count).flat_map(move |head| (0..rows).map(move |row| (part, head, row)))
    };
    let queries = heads / tp;
    let kv = rank / replicas * own;
    part(0, rank * queries, queries).chain(part(1, kv, own)).chain(part(2, kv, own)).collect()
}

#[test]
fn heads_lie_as_their_makers_put_them() {
    let (mut replicated, mut checked) = (0, 0);
    for (heads, groups, rows) in [
        (8, 2, 4),
        (8, 4, 6),
        (32, 8, 2),
        (9, 3, 64),
        (40, 10, 3),
        (16, 1, 16),
        (6, 6, 5),
        (24, 2, 8),
    ] {
        for tp in 1..=16u64 {
            let counts = (heads, groups, rows);
            let fits = heads % tp == 0 && (groups % tp == 0 || tp % groups == 0);
            let total = (heads + 2 * groups) * rows;
            let numbers = format!("h={heads},g={groups},d={rows}");
            for (maker, shard) in [("megatron", megatron as fn(_, _) -> _), ("vllm", vllm)] {
                let fits = fits && (maker == "vllm" || total % tp == 0);
                let own = if maker == "megatron" { "grouped" } else { "concat" };
                for array in ["concat", "grouped"] {
                    let all = if array == "concat" { concat } else { grouped }(heads, groups, rows);
                    let named = match array == own {
                        true => format!("{maker}:qkv({numbers})"),
                        false => format!("{maker}:qkv({numbers},array={array})"),
                    };
                    let stated = format!("qkv({numbers},array={array},shard={own})");
                    for rule in [named, stated] {
                        let text = format!("f32[{total},3] @ mesh(tp={tp}) {rule}");
                        let read = Sharded::parse(&text);
                        assert_eq!(read.is_ok(), fits, "{text}: {read:?}");
                        let Ok(sharded) = read else { continue };
                        for one in sharded.shards() {
                            let held: Vec<Row> =
                                one.dims()[0].indices().map(|row| all[row as usize]).collect();
                            assert_eq!(held, shard(counts, (one.position(), tp)), "{text}");
                            checked += 1;
                        }
                        let heads = Cut::Heads(tilewright_sharded::Heads {
                            queries: counts.0,
                            groups: counts.1,
                            rows: counts.2,
                            array: order(array),
                            shard: order(own),
                        });
                        assert_eq!(sharded.splits()[0].cut, heads);
                        replicated += usize::from(maker == "vllm" && tp > groups);
                    }
                }
            }
        }
    }
    assert!(checked > 500 && replicated > 20, "{checked} {replicated}");
}

fn order(name: &str) -> tilewright_sharded::HeadOrder {
    match name {
        "concat" => tilewright_sharded::HeadOrder::Concat,
        _ => tilewright_sharded::HeadOrder::Grouped,
    }
}

/// On one device, an array in the maker's own order equals its shard.
#[test]
fn one_device_holds_the_array() {
    for rule in ["megatron:qkv(h=8,g=2,d=4)", "vllm:qkv(h=8,g=2,d=4)"] {
        let sharded = Sharded::parse(&format!("f32[48] @ mesh(tp=1) {rule}")).unwrap();
        assert_eq!(sharded.shard(0).unwrap().dims()[0].as_slice(), [[0, 48]], "{rule}");
    }
}

/// Megatron's `_vocab_size_with_padding` and vLLM's `pad_vocab_size` with `divide`.
#[test]
fn vocabularies_are_padded_as_their_makers_do() {
    let (mut equal, mut differ) = (0, 0);
    for rows in [7u64, 64, 1010, 32_000, 32_001, 50_257, 151_936] {
        for pad in [1u64, 8, 64, 128] {
            for tp in [1u64, 2, 3, 4, 8] {
                let stored = |maker: &str| {
                    let text = format!("f32[{rows},2] @ mesh(tp={tp}) {maker}:vocab(pad={pad})");
                    Sharded::parse(&text).map(|sharded| {
                        let held = sharded.shards().map(|one| one.extents()[0]).sum::<u64>();
                        assert_eq!(held, rows, "{text}");
                        sharded.shard(tp - 1).unwrap().stored()[0]
                    })
                };
                let megatron = rows.next_multiple_of(pad * tp) / tp;
                assert_eq!(stored("megatron"), Ok(megatron), "{rows} {pad} {tp}");
                let padded = rows.next_multiple_of(pad);
                match padded % tp {
                    0 => assert_eq!(stored("vllm"), Ok(padded / tp), "{rows} {pad} {tp}"),
                    _ => assert!(stored("vllm").is_err(), "{rows} {pad} {tp}"),
                }
                match stored("vllm") == Ok(megatron) {
                    true => equal += 1,
                    false => differ += 1,
                }
            }
        }
    }
    assert!(equal > 20 && differ > 20, "{equal} {differ}");
}

/// The makers agree on the other rules: a form with a maker equals the form without.
#[test]
fn other_rules_need_no_maker() {
    for rule in ["column", "row", "replicated", "gate_up", "gate_up(parts=3)"] {
        let read = |maker: &str| {
            Sharded::parse(&format!("f32[24,8] @ mesh(dp=2,tp=4) {maker}{rule}")).unwrap()
        };
        assert_eq!(read(""), read("megatron:"), "{rule}");
        assert_eq!(read(""), read("vllm:"), "{rule}");
    }
}
