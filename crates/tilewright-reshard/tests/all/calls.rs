//! Counts of the reads, writes and bytes of tasks, for pairs of placements and layouts, at the sizes of models, without
//! data.

use proptest::{prelude::*, test_runner::Config};
use tilewright_reshard::{Calls, Job, Request, Rules, Tensor};

/// A side: a mesh and a rule; the target with a layout.
type Side = (&'static str, &'static str, Option<&'static str>);

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

fn rules((mesh, rule, _): Side) -> Rules {
    Rules::new(mesh).unwrap().rule("*", rule).unwrap()
}

/// Returns the counts if one of several copies is read.
fn counted(extents: &[u64], from: Side, to: Side, memory: u64) -> Calls {
    all_counted(extents, (from, to), memory, true)
}

fn all_counted(extents: &[u64], (from, to): (Side, Side), memory: u64, trusts: bool) -> Calls {
    let request = Request::new("in", "out").from(rules(from)).to(rules(to)).memory(memory);
    let request = request.trust_replicas(trusts);
    let request = match to.2 {
        Some(spec) => request.layout(spec),
        None => request,
    };
    let job = Job::imagine(request, &[Tensor::new("w", "BF16", extents)]).unwrap();
    job.calls(0..job.tasks()).unwrap()
}

/// Returns the tasks, reads, bytes read as a percentage of those needed, and writes.
fn facts(calls: Calls) -> [u64; 4] {
    let percent = (calls.read_bytes * 100).div_ceil(calls.bytes.max(1));
    [calls.tasks, calls.reads, percent, calls.writes]
}

const ONE: Side = ("one=1", "P()", None);
const COLUMNS: Side = ("one=1", "P()", Some("col-major"));
const FSDP4: Side = ("dp=4", "[Shard(0)]", None);
const TP8: Side = ("tp=8", "[Shard(0)]", None);
const TP8_ROW: Side = ("tp=8", "[Shard(1)]", None);
const TP8_LAST: Side = ("tp=8", "[Shard(2)]", None);
const TP4_ZN: Side = ("tp=4", "[Shard(0)]", Some("zN"));
const TP4_ZN_ROW: Side = ("tp=4", "[Shard(1)]", Some("zN"));

/// Extents, both sides, the memory, and the expected [facts].
type Case<'a> = (&'a [u64], Side, Side, u64, [u64; 4]);

#[test]
fn runs_stay_long_on_both_sides() {
    let matrix: &[u64] = &[8192, 4096];
    let experts: &[u64] = &[32, 4096, 4096];
    let cases: &[Case] = &[
        // Rows to rows: whole shards.
        (matrix, FSDP4, TP8, 64 * MB, [2, 4, 100, 8]),
        (matrix, FSDP4, TP8, 64 * KB, [2048, 2048, 100, 2048]),
        // Rows to columns: whole rows are read, and whole local rows written.
        (matrix, FSDP4, TP8_ROW, 64 * MB, [2, 4, 100, 16]),
        // Columns to rows.
        (matrix, TP8_ROW, FSDP4, 64 * MB, [2, 16, 100, 4]),
        // The last of three dims is cut, in either direction.
        (experts, ONE, TP8_LAST, 256 * MB, [8, 8, 100, 128]),
        (experts, TP8_LAST, ONE, 256 * MB, [8, 2048, 100, 8]),
        // The boxes of a transpose are squares if memory is small.
        (matrix, ONE, COLUMNS, 64 * MB, [2, 2, 100, 8192]),
        (matrix, ONE, COLUMNS, 64 * KB, [2048, 1 << 18, 100, 1 << 18]),
        // Tiles.
        (matrix, FSDP4, TP4_ZN, 64 * MB, [2, 4, 100, 8]),
        (matrix, FSDP4, TP4_ZN_ROW, 64 * KB, [2048, 1 << 16, 100, 1 << 16]),
    ];
    for (extents, from, to, memory, expected) in cases {
        let found = facts(counted(extents, *from, *to, *memory));
        assert_eq!(found, *expected, "{extents:?} {from:?} {to:?} {memory}");
    }
}

#[test]
fn copies_are_read_to_be_compared_unless_they_are_trusted() {
    let copies = ("a=2,b=2", "[Replicate(), Shard(0)]", None);
    let read = |trusts| {
        let calls = all_counted(&[64, 64], (copies, TP8), MB, trusts);
        (calls.bytes, calls.read_bytes)
    };
    assert_eq!((read(true), read(false)), ((8192, 8192), (8192, 16384)));
}

/// Counts that would take hours, and memory for each task, are refused.
#[test]
fn too_many_tasks_are_not_counted() {
    let job = |bytes: u64| {
        let tensors = tilewright_reshard::Model::even(bytes, 1, "BF16").unwrap();
        Job::imagine(Request::new("in", "out").memory(64 * KB), &tensors)
    };
    let large = job(1 << 40).unwrap();
    let error = tilewright_reshard::Outlook::of(&large, &[]).unwrap_err();
    assert_eq!(error.kind(), "limit");
    assert!(error.to_string().ends_with("give more memory"), "{error}");
    assert_eq!(large.calls(0..8).unwrap().tasks, 8);
    assert!(job(8 << 40).unwrap().tasks() >= 1 << 28);
    let error = job(16 << 40).unwrap_err();
    assert_eq!(error.kind(), "limit");
    assert!(
        error.to_string().ends_with("at most 268435456 are possible; give more memory"),
        "{error}"
    );
}

/// A Boolean has a byte, as in files.
#[test]
fn truth_values_are_thought_of_as_they_are_stored() {
    let tensor = Tensor::new("w", "BOOL", &[64]);
    assert_eq!(tensor.bytes(), 64);
    assert_eq!(Job::imagine(Request::new("in", "out"), &[tensor]).unwrap().bytes(), 64);
}

fn side() -> impl Strategy<Value = Side> {
    let mesh = prop_oneof![Just("a=2,b=2"), Just("a=4,b=3"), Just("a=1,b=8"), Just("a=3,b=1")];
    let rule = prop_oneof![
        Just("[Replicate(), Replicate()]"),
        Just("[Shard(0), Replicate()]"),
        Just("[Shard(0), Shard(1)]"),
        Just("[Shard(1), Shard(1)]"),
        Just("[Shard(1), Shard(0)]"),
        Just("[_StridedShard(0, sf=2), Shard(0)]"),
        Just("[_StridedShard(1, sf=3), Replicate()]"),
    ];
    let spec = prop_oneof![Just(None), Just(None), Just(Some("col-major")), Just(Some("zN"))];
    (mesh, rule, spec)
}

/// Reads have at most twice the needed bytes, and a tenth more on average, if runs have 64 bytes or more. Shorter runs
/// are read together with the gaps between them.
#[test]
fn little_is_read_that_is_not_needed() {
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        Config { cases: 300, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(Default::default()),
    );
    let sums = std::cell::Cell::new((0u64, 0u64));
    let memory = prop_oneof![Just(MB), Just(16 * MB)];
    let case = (side(), side(), 1..1000u64, 1200..3000u64, memory);
    let law = |(from, to, rows, columns, memory): (Side, Side, u64, u64, u64)| {
        let calls = counted(&[rows, columns], from, to, memory);
        prop_assert_eq!(calls.bytes, rows * columns * 2);
        prop_assert!(calls.read_bytes >= calls.bytes);
        prop_assert!(calls.read_bytes <= 2 * calls.bytes, "{calls:?}");
        let (read, needed) = sums.get();
        sums.set((read + calls.read_bytes, needed + calls.bytes));
        Ok(())
    };
    runner.run(&case, law).unwrap();
    let (read, needed) = sums.get();
    assert!(read * 10 <= needed * 11, "{read} bytes read for {needed}");
}
