//! Damages HLO texts and protos at random and checks that no reader panics or hangs, and that what is read prints back.
//!
//! ```text
//! cargo run --release -p tilewright-xla --example fuzz -- [SECONDS [SEED]]
//! ```
//!
//! The inputs are the recorded modules and a list of shapes, damaged a few times each; the same seed gives the same
//! inputs. An input that panics, that does not print back, or that takes longer than five seconds ends the run with exit
//! code 1 and is written to `fuzz-failure.bin` in the folder for temporary files.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::exit,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tilewright_xla::{
    ArrayShape, HloModule, Layout, Padded, ProgramShape, Shape,
    proto::{LayoutProto, ProgramShapeProto, ShapeProto},
};

/// The time limit for one input.
const PATIENCE: Duration = Duration::from_secs(5);
/// The length limit of an input, in bytes.
const LONGEST: usize = 1 << 17;

const SHAPES: [&str; 12] = [
    "bf16[20,200]{1,0:T(8,128)(2,1)}",
    "f32[123,456,789]{0,1,2:T(2,*,128)}",
    "(f32[1]{0}, (f32[2]{0}, token[]), opaque[], f32[3]{0}, f32[], /*index=5*/f32[])",
    "s4[123,456]{1,0:T(2,128)L(100)E(4)S(3)SC(1:200,300)M(1024)}",
    "f32[<=23,44,?]{2,1,0}",
    "b(f32[8,16]{1,0})",
    "pred[17,40]{1,0:D(D,C+~)T(8,128)(4,1)}",
    "f32[4294967296,2147483647]{0,1:T(9223372036854775807)}",
    "(arg.0: f32[2], (unknown): token[]) -> (f32[7], s32[])",
    "element_type: F32 dimensions: [2,3] layout { minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: ZERO_PAD }",
    "element_type: TUPLE tuple_shapes { element_type: BF16 dimensions: 4 is_dynamic_dimension: true layout { minor_to_major: 0 tiles { dimensions: [8,128] } } }",
    "pad(3,5)fill(lowest)",
];

/// Pieces that get an input further than random bytes do.
const PIECES: [&[u8]; 40] = [
    b"f32[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b":T(",
    b"*",
    b",",
    b"<=",
    b"?",
    b"/*",
    b"*/",
    b"//",
    b"\n",
    b"\"",
    b"\\",
    b"ENTRY e {",
    b"ROOT ",
    b" = ",
    b"parameter(0)",
    b"HloModule m\n",
    b"token[]",
    b"-1",
    b"0",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551616",
    b"SC(0:1)",
    b"E(4)",
    b"L(3)",
    b"->",
    "é".as_bytes(),
    b"\x00",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\x22\x02\x10\x0d",
    b"\x1a\xff\x7f",
    b"\x2a\x00",
    b"fill(0xFF)",
];

/// A pseudorandom generator; the same seed gives the same numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Returns a number from 0 to `below` − 1; 0 if `below` is 0.
    fn below(&mut self, below: usize) -> usize {
        (self.next() % below.max(1) as u64) as usize
    }

    /// Returns a part of `bytes`, mostly a short one.
    fn part(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let from = self.below(bytes.len() + 1);
        let most = if self.below(4) == 0 { bytes.len() } else { 24 };
        let len = self.below(most.min(bytes.len() - from) + 1);
        from..from + len
    }

    /// Damages the bytes once; a part of `other` may be inserted.
    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let part = self.part(bytes);
        match self.below(8) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(part.start) {
                    *byte = self.next() as u8;
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(part.start) {
                    *byte ^= 1 << self.below(8);
                }
            }
            3 => drop(bytes.splice(part, PIECES[self.below(PIECES.len())].iter().copied())),
            4 => drop(bytes.drain(part)),
            5 => {
                let lent = other[self.part(other)].to_vec();
                drop(bytes.splice(part, lent));
            }
            6 => {
                let times = if self.below(50) == 0 { 5000 } else { 1 + self.below(4) };
                let many = bytes[part.clone()].repeat(times);
                drop(bytes.splice(part.start..part.start, many));
            }
            _ => {
                drop(bytes.splice(
                    part.start..part.start,
                    PIECES[self.below(PIECES.len())].iter().copied(),
                ))
            }
        }
        bytes.truncate(LONGEST);
    }
}

/// The number of values read, by kind.
#[derive(Default)]
struct Counts {
    inputs: u64,
    modules_of_text: u64,
    modules_of_proto: u64,
    shapes_of_text: u64,
    shapes_of_proto: u64,
    others: u64,
}

/// Calls the methods of a shape that its users call.
fn use_shape(shape: &Shape) {
    let text = shape.to_string();
    let again = Shape::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&text)));
    assert_eq!(again.to_string(), text, "a shape that does not print back");
    // A text may have a size beyond 63 bits, which a proto refuses.
    if let (Ok(()), Ok(bytes)) = (shape.validate(), shape.to_proto_bytes()) {
        assert_eq!(Shape::from_proto_bytes(&bytes).as_ref(), Ok(shape), "{text}");
    }
    let _ = (shape.byte_size(8), shape.validate_with_layouts());
    if let Some(array) = shape.as_array() {
        use_array(array);
    }
}

fn use_array(array: &ArrayShape) {
    let (Ok(dims), layout) = (array.extents(), array.layout_or_default()) else { return };
    if let (Ok(advice), Ok(least)) = (layout.padding_advice(&dims), layout.least_padding(&dims)) {
        assert!(least.padded_elements <= advice.factor.padded, "{array}: {advice}");
    }
    let bounds = layout.final_bounds(&dims);
    if let (Ok(_), Ok(tensor)) = (&bounds, layout.lower(&dims)) {
        assert_eq!(Ok(tensor.capacity()), layout.padded_elements(&dims), "{array}");
        let last: Vec<u64> = dims.iter().map(|&extent| extent.saturating_sub(1)).collect();
        if !dims.contains(&0) {
            let offset = tensor.offset(&last).unwrap_or(-1);
            assert!((0..tensor.capacity() as i64).contains(&offset), "{array}: {offset}");
        }
    }
}

fn use_module(module: &HloModule) {
    for computation in module.computations.iter().take(64) {
        let _ = computation.program_shape();
        let shapes = computation.instructions.iter().filter_map(|one| one.shape.as_deref());
        shapes.take(64).for_each(use_shape);
    }
}

/// Passes an input to every reader.
fn read(bytes: &[u8], counts: &mut Counts) {
    counts.inputs += 1;
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    if let Ok(module) = HloModule::parse(&text) {
        counts.modules_of_text += 1;
        use_module(&module);
    }
    let _ = HloModule::from_bytes(bytes);
    if let Ok(module) = HloModule::from_proto_bytes(bytes) {
        counts.modules_of_proto += 1;
        use_module(&module);
    }
    if let Ok(shape) = Shape::parse(&text) {
        counts.shapes_of_text += 1;
        use_shape(&shape);
    }
    if let Ok(shape) = Shape::from_proto_bytes(bytes) {
        counts.shapes_of_proto += 1;
        use_shape(&shape);
    }
    counts.others += others(&text);
}

/// Passes a text to the readers of smaller values and of proto text.
fn others(text: &str) -> u64 {
    let layout = Layout::parse(text).map(|layout| {
        assert_eq!(Layout::parse(&layout.to_string()), Ok(layout));
    });
    let program = ProgramShape::parse(text).map(|program| {
        let printed = program.to_string();
        assert_eq!(ProgramShape::parse(&printed).map(|again| again.to_string()), Ok(printed));
    });
    let padded = Padded::parse(text).map(|padded| {
        assert_eq!(Padded::parse(&padded.to_string()), Ok(padded));
    });
    let shape = ShapeProto::parse(text).map(|proto| proto.to_shape().map(|one| use_shape(&one)));
    let proto = LayoutProto::parse(text).map(|proto| proto.to_layout());
    let program_proto = ProgramShapeProto::parse(text).map(|proto| proto.to_program_shape());
    let read = [
        layout.is_ok(),
        program.is_ok(),
        padded.is_ok(),
        shape.is_ok(),
        proto.is_ok(),
        program_proto.is_ok(),
    ];
    read.into_iter().filter(|&is| is).count() as u64
}

/// Returns the files of the corpus and the shapes, as bytes.
fn seeds() -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/hlo");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for text in SHAPES {
        seeds.push(text.as_bytes().to_vec());
        if let Some(bytes) = Shape::parse(text).ok().and_then(|shape| shape.to_proto_bytes().ok()) {
            seeds.push(bytes);
        }
    }
    seeds
}

fn fail(why: &str, input: &[u8]) -> ! {
    let path = std::env::temp_dir().join("fuzz-failure.bin");
    let kept = std::fs::write(&path, input);
    eprintln!("{why}; {} bytes of input in {} ({kept:?})", input.len(), path.display());
    exit(1)
}

/// The input being read, and its start time in milliseconds of the run.
#[derive(Default)]
struct Current {
    since: AtomicU64,
    input: Mutex<Vec<u8>>,
}

/// Ends the run if one input takes too long.
fn watch(current: Arc<Current>, start: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(250));
            let now = start.elapsed().as_millis() as u64;
            if now.saturating_sub(current.since.load(Ordering::Relaxed))
                > PATIENCE.as_millis() as u64
            {
                let input = current.input.lock().map(|input| input.clone()).unwrap_or_default();
                fail("an input takes too long", &input);
            }
        }
    });
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(60, |text| text.parse().expect("SECONDS: an integer"));
    let seed: u64 = arguments.next().map_or(1, |text| text.parse().expect("SEED: an integer"));
    let (seeds, mut random, mut counts) = (seeds(), Random(seed), Counts::default());
    let (start, current) = (Instant::now(), Arc::new(Current::default()));
    let mut slowest = Duration::ZERO;
    watch(Arc::clone(&current), start);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut input = seeds[random.below(seeds.len())].clone();
        for _ in 0..1 + random.below(6) {
            let other = random.below(seeds.len());
            random.damage(&mut input, &seeds[other]);
        }
        let begin = Instant::now();
        current.since.store(start.elapsed().as_millis() as u64, Ordering::Relaxed);
        if let Ok(mut shared) = current.input.lock() {
            shared.clone_from(&input);
        }
        if catch_unwind(AssertUnwindSafe(|| read(&input, &mut counts))).is_err() {
            fail("a panic", &input);
        }
        slowest = slowest.max(begin.elapsed());
    }
    let Counts {
        inputs,
        modules_of_text,
        modules_of_proto,
        shapes_of_text,
        shapes_of_proto,
        others,
    } = counts;
    println!(
        "{inputs} inputs in {seconds} s (seed {seed}), the slowest {slowest:.1?}: no panic, no hang"
    );
    println!(
        "read: {modules_of_text} modules of text, {modules_of_proto} of proto, {shapes_of_text} shapes of text, {shapes_of_proto} of proto, {others} others"
    );
}
