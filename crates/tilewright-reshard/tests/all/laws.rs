//! Resharding from any placement to any other equals a gather, element by element, with any memory, in any form and
//! layout.

use crate::common::{Tensors, gather, read, write};
use proptest::{
    prelude::{Just, Strategy, prop_oneof},
    proptest,
    test_runner::Config,
};
use tilewright_files::{Collection, Key};
use tilewright_reshard::{Form, Job, Request, Rules, shards};

/// A mesh of two axes, and a rule for arrays of two dims.
type Placement = (u64, u64, &'static str);

fn placement() -> impl Strategy<Value = Placement> {
    let rules = prop_oneof![
        Just("[Replicate(), Replicate()]"),
        Just("[Shard(0), Replicate()]"),
        Just("[Shard(0), Shard(0)]"),
        Just("[Shard(0), Shard(1)]"),
        Just("[Shard(1), Shard(0)]"),
        Just("[Shard(1), Shard(1)]"),
        Just("[Replicate(), Shard(1)]"),
        Just("[_StridedShard(0, sf=2), Shard(0)]"),
        Just("[_StridedShard(0, sf=3), Replicate()]"),
        Just("[_StridedShard(1, sf=2), _StridedShard(0, sf=2)]"),
        Just("[Shard(0), Shard(0)] order(1,0)"),
    ];
    (1..4u64, 1..4u64, rules)
}

fn rules((a, b, rule): Placement) -> Rules {
    let cut = Rules::new(&format!("a={a},b={b}")).unwrap().rule("w*", rule).unwrap();
    cut.rule("*", "[Replicate(), Replicate()]").unwrap()
}

fn tensors(dims: [u64; 2], dtype: &str, width: u64) -> Tensors {
    let bytes = |n: u64, seed: u64| -> Vec<u8> {
        (0..n * width).map(|i| (i * 7 + i / 251 + seed) as u8).collect()
    };
    let of =
        |dims: &[u64], seed| (dtype.to_owned(), dims.to_vec(), bytes(dims.iter().product(), seed));
    let scalar = ("F32".to_owned(), vec![], vec![1, 2, 3, 4]);
    let all = [("w", of(&dims, 1)), ("w2", of(&[dims[1], dims[0]], 2)), ("norm", of(&[5], 3))];
    let all = all.into_iter().chain([("scalar", scalar)]);
    all.map(|(name, tensor)| (name.to_owned(), tensor)).collect()
}

/// Checks that each file of a mesh contains the elements at its lists of indices.
fn check_ranks(folder: &std::path::Path, rules: &Rules, whole: &Tensors) {
    let count = rules.count().unwrap();
    for position in 0..count {
        let file = folder.join(format!("rank_{position:05}-of-{count:05}.safetensors"));
        let held = read(&file);
        assert_eq!(held.len(), whole.len());
        for (name, (dtype, dims, bytes)) in whole {
            let shard = rules.sharded(name, dims, None).unwrap().shard(position).unwrap();
            let lists: Vec<Vec<u64>> =
                shard.dims().iter().map(|list| list.indices().collect()).collect();
            let expected = (dtype.clone(), shard.extents(), gather(bytes, dims, &lists));
            assert!(held[name] == expected, "{name} at {position}");
        }
    }
}

fn run(request: Request) {
    Job::prepare(request).unwrap().run_all(&()).unwrap();
}

proptest! {
    #![proptest_config(Config { cases: tilewright_testing::cases(80, 25), ..Config::default() })]

    #[test]
    fn any_placement_to_any_other_is_a_gather(
        from in placement(),
        to in placement(),
        rows in 0..41u64,
        columns in 1..23u64,
        (dtype, width) in prop_oneof![Just(("BF16", 2u64)), Just(("F32", 4)), Just(("U8", 1))],
        layout in prop_oneof![Just(None), Just(Some("col-major")), Just(Some("zN[M0=4,C0=4]"))],
        form in prop_oneof![Just(Form::Ranks), Just(Form::Dcp)],
    ) {
        let folder = tilewright_testing::folder();
        let at = |name: &str| folder.path().join(name);
        let whole = tensors([rows, columns], dtype, width);
        write(&at("whole.safetensors"), &whole, &[]);
        let (from, to) = (rules(from), rules(to));

        let laid = |request: Request| match layout {
            Some(spec) => request.layout(spec),
            None => request,
        };
        run(laid(Request::new(at("whole.safetensors"), at("a")).to(from.clone())));
        check_ranks(&at("a"), &from, &whole);
        let prints = |all: Collection| all.fingerprints(&Key::default(), &()).unwrap();
        let expected = prints(Collection::open(at("whole.safetensors")).unwrap());
        assert_eq!(prints(shards(at("a"), None).unwrap().unwrap()), expected);
        run(Request::new(at("a"), at("b")).from(from).to(to.clone()).form(form));
        let back = Request::new(at("b"), at("c"));
        if form == Form::Ranks {
            check_ranks(&at("b"), &to, &whole);
            run(back.from(to));
        } else {
            run(back);
        }
        assert!(read(&at("c")) == whole);
    }
}

/// Boxes of a few rows or columns, and parts of them, give the same files.
#[test]
fn memory_changes_no_byte() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let whole = tensors([700, 300], "BF16", 2);
    write(&at("whole.safetensors"), &whole, &[]);
    let (from, to) = (
        rules((2, 2, "[_StridedShard(1, sf=2), Shard(0)]")),
        rules((1, 3, "[Replicate(), Shard(1)]")),
    );
    run(Request::new(at("whole.safetensors"), at("a")).to(from.clone()).layout("zN"));
    let mut tasks = Vec::new();
    for memory in [64 << 10, 300 << 10, 8 << 20] {
        let out = at(&format!("b{memory}"));
        let request = Request::new(at("a"), &out).from(from.clone()).to(to.clone()).memory(memory);
        let job = Job::prepare(request).unwrap();
        tasks.push(job.tasks());
        job.run_all(&()).unwrap();
        check_ranks(&out, &to, &whole);
    }
    assert!(tasks[0] > 20 && tasks[0] > tasks[1] && tasks[1] > tasks[2], "{tasks:?}");
}

/// A tensor of several parts in several threads gives the same files as one thread and as little memory; verification
/// reads the same parts.
#[test]
fn parts_and_threads_change_no_byte() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let whole = tensors(tilewright_testing::cases([2111, 1300], [1011, 700]), "BF16", 2);
    write(&at("whole.safetensors"), &whole, &[]);
    let to = rules((2, 3, "[_StridedShard(0, sf=3), Shard(0)]"));
    for (layout, spec) in [("rows", None), ("columns", Some("col-major")), ("zN", Some("zN"))] {
        let run = |name: &str, memory, threads| {
            let out = at(&format!("{layout}-{name}"));
            let request = Request::new(at("whole.safetensors"), &out).to(to.clone()).memory(memory);
            let request = match spec {
                Some(spec) => request.layout(spec),
                None => request,
            };
            let job = Job::prepare(request.verify(true)).unwrap();
            let tasks = job.tasks();
            assert_eq!(job.run_all_threads(threads, &()).unwrap(), tasks);
            (0..6)
                .map(|n| {
                    std::fs::read(out.join(format!("rank_0000{n}-of-00006.safetensors"))).unwrap()
                })
                .collect::<Vec<_>>()
        };
        let known = run("one", 64 << 20, 1);
        assert!(known == run("little", 100 << 10, 1), "{layout}");
        assert!(known == run("threads", 2 << 20, 3), "{layout}");
    }
    check_ranks(&at("rows-one"), &to, &whole);
}

/// TP4×FSDP2 → TP2 → whole → TP8 → whole.
#[test]
fn a_round_trip_is_the_identity() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let whole = tensors([96, 40], "BF16", 2);
    write(&at("whole.safetensors"), &whole, &[]);
    let mesh = |mesh: &str, rule: &str| {
        Rules::new(mesh).unwrap().rule("w*", rule).unwrap().rule("*", "P()").unwrap()
    };
    let fsdp = mesh("fsdp=2,tp=4", "[_StridedShard(0, sf=4), Shard(0)]");
    let (tp2, tp8) = (mesh("tp=2", "column"), mesh("tp=8", "[Shard(1)]"));
    run(Request::new(at("whole.safetensors"), at("1")).to(fsdp.clone()));
    run(Request::new(at("1"), at("2")).from(fsdp).to(tp2.clone()));
    run(Request::new(at("2"), at("3")).from(tp2).shard_size(4000));
    assert!(at("3/model.safetensors.index.json").exists());
    assert!(read(&at("3")) == whole);
    run(Request::new(at("3"), at("8")).to(tp8.clone()));
    check_ranks(&at("8"), &tp8, &whole);
    run(Request::new(at("8"), at("9")).from(tp8));
    assert!(read(&at("9")) == whole);
}
