//! Random pairs of placements against a gather of every element: torch's cuts in any order, Megatron's lists, tiles in
//! shards, uneven, empty and scalar arrays.
//!
//! `TILEWRIGHT_PAIRS` is the number of pairs, `TILEWRIGHT_SEED` the first: a pair is determined by its number.

use std::env;

use crate::common::{Tensors, gather, read, write};
use tilewright_reshard::{Form, Job, Request, Rules};

/// A generator of pseudorandom numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Returns a placement of a mesh axis, for an array of this rank.
fn placement(random: &mut Random, rank: u64) -> String {
    let dim = random.below(rank);
    match random.below(if rank == 0 { 1 } else { 5 }) {
        0 => "Replicate()".to_owned(),
        1 | 2 => format!("Shard({dim})"),
        3 => format!("_StridedShard({dim}, sf={})", 1 + random.below(4)),
        _ => format!("S(-{})", 1 + random.below(rank)),
    }
}

/// Returns a mesh of one or two axes, and a rule for each array.
fn side(random: &mut Random, arrays: &[(String, Vec<u64>)]) -> Rules {
    let sizes: Vec<u64> = (0..1 + random.below(2)).map(|_| 1 + random.below(4)).collect();
    let axes = ["a", "b"].iter().zip(&sizes).map(|(name, size)| format!("{name}={size}"));
    let mut rules = Rules::new(&axes.collect::<Vec<_>>().join(",")).unwrap();
    for (name, extents) in arrays {
        let rank = extents.len() as u64;
        let torch = |random: &mut Random| {
            let all: Vec<String> = sizes.iter().map(|_| placement(random, rank)).collect();
            let order = if sizes.len() == 2 && random.below(3) == 0 { " order(1,0)" } else { "" };
            format!("[{}]{order}", all.join(", "))
        };
        // Megatron's rules cut over one axis, and some of their numbers must be multiples of its size.
        let rule = match (&**name, sizes.len()) {
            ("qkv", 1) if 4 % sizes[0] == 0 => "vllm:qkv(h=4,g=2,d=3)".to_owned(),
            ("gate_up", 1) if 12 % sizes[0] == 0 => "gate_up".to_owned(),
            ("vocab", 1) => "megatron:vocab(pad=4)".to_owned(),
            _ => torch(random),
        };
        let said = format!("{extents:?} @ {rule}");
        let with = |rule: &str| rules.clone().rule(name, rule).unwrap();
        let tried = with(&said);
        let fits = |rules: &Rules| rules.sharded(name, extents, None).is_ok();
        rules = if fits(&tried) { tried } else { with(&format!("{extents:?} @ P()")) };
    }
    rules
}

/// Returns the contents of the positions of a mesh, as files: each list of indices is gathered one by one.
fn files(rules: &Rules, whole: &Tensors) -> Vec<Tensors> {
    let shard = |position: u64, name: &str, dims: &[u64], bytes: &[u8]| {
        let shard = rules.sharded(name, dims, None).unwrap().shard(position).unwrap();
        let lists: Vec<Vec<u64>> = shard.dims().iter().map(|it| it.indices().collect()).collect();
        let (mut held, stored) = (gather(bytes, dims, &lists), shard.stored().to_vec());
        // Padding of a vocabulary follows the rows.
        let width = bytes.len() / dims.iter().product::<u64>().max(1) as usize;
        held.resize(stored.iter().product::<u64>() as usize * width, 0);
        (stored, held)
    };
    let file = |position| {
        let held = whole.iter().map(|(name, (dtype, dims, bytes))| {
            let (stored, held) = shard(position, name, dims, bytes);
            (name.clone(), (dtype.clone(), stored, held))
        });
        held.collect()
    };
    (0..rules.count().unwrap()).map(file).collect()
}

/// Checks the pair of this number; returns its numbers of tensors and bytes.
fn check(number: u64, folder: &std::path::Path) -> [u64; 2] {
    let mut random = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let (dtype, width) = random.of(&[("BF16", 2u64), ("F32", 4), ("U8", 1), ("I64", 8)]);
    let mut arrays = vec![("scalar".to_owned(), vec![])];
    let fixed = [("qkv", 24u64), ("gate_up", 24), ("vocab", 1 + random.below(40))];
    for (name, rows) in fixed {
        arrays.push((name.to_owned(), vec![rows, 1 + random.below(9)]));
    }
    for n in 0..1 + random.below(3) {
        let dims = (0..1 + random.below(3)).map(|_| random.of(&[0, 1, 2, 3, 5, 7, 8, 13, 16, 31]));
        arrays.push((format!("w{n}"), dims.collect()));
    }
    let bytes = |random: &mut Random, dims: &[u64]| -> Vec<u8> {
        (0..dims.iter().product::<u64>() * width).map(|_| random.next() as u8).collect()
    };
    let whole: Tensors = (arrays.iter())
        .map(|(name, dims)| {
            (name.clone(), (dtype.to_owned(), dims.clone(), bytes(&mut random, dims)))
        })
        .collect();
    let (from, to) = (side(&mut random, &arrays), side(&mut random, &arrays));
    let at = |name: &str| folder.join(format!("{number}-{name}"));
    std::fs::create_dir(at("in")).unwrap();
    for (position, held) in files(&from, &whole).into_iter().enumerate() {
        write(&at("in").join(format!("rank_{position}.safetensors")), &held, &[]);
    }
    let request = Request::new(at("in"), at("out")).from(from.clone()).memory(64 << 10);
    let layout =
        random.of(&[None, None, Some("col-major"), Some("zN[M0=4,C0=4]"), Some("nZ[M0=2,C0=4]")]);
    // Boxes in one part, and in several, down to one element.
    let part = random.of(&[None, Some(1), Some(16), Some(100)]);
    let request = part.into_iter().fold(request, Request::part);
    let said = format!("pair {number}: {from:?} to {to:?}, {layout:?}, {part:?}, {arrays:?}");
    let form = random.of(&[Form::Ranks, Form::Ranks, Form::Hf, Form::Dcp]);
    let request = match form {
        Form::Hf => request.form(form).shard_size(200),
        Form::Dcp => request.form(form).to(to.clone()),
        Form::Ranks => request.to(to.clone()),
    };
    let request = match layout {
        Some(spec) if form != Form::Dcp => request.layout(spec),
        _ => request,
    };
    let run = |request: Request| {
        let job = Job::prepare(request).unwrap_or_else(|error| panic!("{error}; {said}"));
        job.run_all(&()).unwrap_or_else(|error| panic!("{error}; {said}"));
    };
    run(request.verify(number.is_multiple_of(4)));
    if form == Form::Ranks {
        let count = to.count().unwrap();
        for (position, expected) in files(&to, &whole).into_iter().enumerate() {
            let file = format!("rank_{position:05}-of-{count:05}.safetensors");
            assert!(read(&at("out").join(file)) == expected, "position {position}; {said}");
        }
    } else if form == Form::Hf {
        assert!(read(&at("out")) == whole, "{said}");
    } else {
        run(Request::new(at("out"), at("whole")));
        assert!(read(&at("whole")) == whole, "{said}");
    }
    [whole.len() as u64, whole.values().map(|(_, _, bytes)| bytes.len() as u64).sum()]
}

#[test]
fn random_pairs_are_gathers() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (
        number("TILEWRIGHT_SEED"),
        number("TILEWRIGHT_PAIRS").unwrap_or(tilewright_testing::cases(300, 60)),
    );
    let (first, mut sums) = (first.unwrap_or(0), [0; 2]);
    for pair in first..first + count {
        let folder = tilewright_testing::folder();
        let [tensors, bytes] = check(pair, folder.path());
        sums = [sums[0] + tensors, sums[1] + bytes];
    }
    println!("    {count} pairs of placements: {} tensors of {} bytes", sums[0], sums[1]);
}
