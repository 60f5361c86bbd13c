//! A weave: vectors of 16 bytes are read as the source has them, exchanged in registers for vectors as the destination
//! has them, and put in order through a tile in shared memory: but for vectors that both have, in one order, which stay
//! in registers.
//!
//! Law: each vector of the destination is written once, with the bytes that the area says. Shared memory is touched
//! without conflicts.

mod exchange;
mod order;
mod tile;

use crate::{
    Error,
    area::Area,
    kernel::{Kernel, Launch, Way},
    text::{Numbers, Text},
};
use tile::{Bit, Side, Tile};

/// The kernel of an area whose vectors of both sides are whole.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let tile = Tile::of(area)?;
    Some(Weave::new(area, tile).kernel().map(|kernel| vec![kernel]))
}

/// A kernel that is being written.
struct Weave<'a> {
    area: &'a Area,
    tile: Tile,
    text: Text,
    numbers: Numbers,
}

impl<'a> Weave<'a> {
    fn new(area: &'a Area, tile: Tile) -> Weave<'a> {
        Weave { area, tile, text: Text::new(), numbers: Numbers::default() }
    }

    fn kernel(mut self) -> Result<Kernel, Error> {
        let launch = self.launch();
        launch.check()?;
        if launch.shared > 0 {
            self.text.line(&format!("SHARED(tile, {});", launch.shared));
        }
        let supertile = self.area.options.supertile();
        order::write(&self.tile, supertile, &mut self.text, &mut self.numbers);
        self.bases();
        self.strides();
        if launch.shared > 0 {
            self.write_tile();
            self.text.line("BARRIER;");
            self.read_tile();
        } else {
            self.straight();
        }
        let comment = self.comment();
        Kernel::new(launch, &comment, "", self.text, self.numbers)
    }

    fn launch(&self) -> Launch {
        let tile = &self.tile;
        let threads = 1 << tile.threads();
        let vectors = (tile.bytes() / 16) as u32 / threads;
        // The words of a thread's vectors, and some more, out of the 65536 of a multiprocessor.
        let resident = (65536 / (threads * (4 * vectors + 40))).clamp(1, 8);
        Launch {
            way: Way::Weave,
            threads,
            resident,
            blocks: (0..tile.loops.len())
                .fold(1, |all: u128, of| all.saturating_mul(tile.tiles(of).into())),
            shared: if tile.is_in_order() { 0 } else { tile.bytes() as u32 },
            bytes: self.area.bytes,
        }
    }

    fn comment(&self) -> String {
        let tile = &self.tile;
        let names = |bits: &[Bit]| {
            let name = |bit: &Bit| format!(" t{}.{}", bit.of, bit.at);
            let names: String = bits.iter().map(name).collect();
            if names.is_empty() { " one element".to_string() } else { names }
        };
        let loops = (0..tile.loops.len()).map(|of| (1u64 << tile.bits[of]).to_string());
        format!(
            "Weave: tiles of {} turns of {} bytes. Bit i of the turn of loop l is t<l>.<i>.\n\
             A vector of the source holds   {}\nA vector of the destination    {}\n\
             Threads write to shared memory {}\nThreads read from it           {}",
            loops.collect::<Vec<_>>().join(" x "),
            tile.element,
            names(&tile.src),
            names(&tile.dst),
            names(&tile.writing),
            names(&tile.reading),
        )
    }

    /// Where the block's tile begins on both sides, and how many turns of ragged loops it has.
    fn bases(&mut self) {
        let (src, dst) = (self.area.src + self.tile.behind(), self.area.dst);
        let (mut from, mut to) = (self.numbers.signed(src), self.numbers.signed(dst));
        for of in 0..self.tile.loops.len() {
            let turn = self.tile.loops[of];
            let bits = self.tile.bits[of];
            if self.tile.tiles(of) > 1 {
                let steps = (turn.src.wrapping_shl(bits), turn.dst.wrapping_shl(bits));
                from.push_str(&format!(" + (i64)b{of} * {}", self.numbers.signed(steps.0)));
                to.push_str(&format!(" + (i64)b{of} * {}", self.numbers.signed(steps.1)));
            }
            if !self.tile.is_ragged(of) {
                continue;
            }
            let last = self.tile.tiles(of) - 1;
            let left = self.numbers.short((turn.extent - (last << bits)) as u32);
            match last {
                0 => self.text.line(&format!("const u32 m{of} = {left};")),
                _ => {
                    let last = self.numbers.short(last as u32);
                    let whole = 1u64 << bits;
                    self.text
                        .line(&format!("const u32 m{of} = b{of} == {last} ? {left} : {whole}u;"));
                }
            }
        }
        self.text.line(&format!("GSRC const from = src + ({from});"));
        self.text.line(&format!("GDST const to = dst + ({to});"));
    }

    /// The strides of loops that are not all in a vector, as wide as offsets in a tile are.
    fn strides(&mut self) {
        for (side, name) in [(Side::Src, "s"), (Side::Dst, "d")] {
            let word = self.word(side);
            for of in self.strided(side) {
                let stride = side.of(&self.tile.loops[of]);
                let number = self.numbers.signed(stride);
                self.text.line(&format!("const {word} {name}{of} = ({word}){number};"));
            }
        }
    }

    /// The type of offsets in a tile.
    fn word(&self, side: Side) -> &'static str {
        let reach: u128 = (0..self.tile.loops.len())
            .map(|of| side.step(&self.tile.loops, Bit { of, at: self.tile.bits[of] }))
            .fold(0, u128::saturating_add);
        if reach < 1 << 31 { "i32" } else { "i64" }
    }

    /// The loops of which a side's threads or registers have bits.
    fn strided(&self, side: Side) -> Vec<usize> {
        let vector = match side {
            Side::Src => &self.tile.src,
            Side::Dst => &self.tile.dst,
        };
        let has =
            |of: &usize| (0..self.tile.bits[*of]).any(|at| !vector.contains(&Bit { of: *of, at }));
        (0..self.tile.loops.len()).filter(has).collect()
    }

    /// The turns that a thread's number says, its offset on a side, and the cell of its first vector.
    fn thread(&mut self, side: Side) {
        let order = match side {
            Side::Src => self.tile.writing.clone(),
            Side::Dst => self.tile.reading.clone(),
        };
        let lanes = &order[..self.tile.threads() as usize];
        for of in 0..self.tile.loops.len() {
            let fields = fields(lanes, of);
            if !fields.is_empty() {
                self.text.line(&format!("const u32 t{of} = {};", fields.join(" | ")));
            }
        }
        if !self.tile.is_in_order() {
            let cells: Vec<u32> = lanes.iter().map(|bit| self.tile.cell(*bit)).collect();
            self.text.line(&format!("const u32 cell = {};", xored(&cells)));
        }
        self.offset(side, lanes, "at");
    }

    /// What a thread's number adds to the address on a side.
    fn offset(&mut self, side: Side, lanes: &[Bit], name: &str) {
        let (word, stride) = (self.word(side), if side == Side::Src { "s" } else { "d" });
        let terms = (0..self.tile.loops.len()).filter(|of| lanes.iter().any(|bit| bit.of == *of));
        let terms: Vec<String> = terms.map(|of| format!("({word})t{of} * {stride}{of}")).collect();
        self.text.line(&format!("const {word} {name} = {};", terms.join(" + ")));
    }

    /// The address of what a thread moves when `bits` are set beside those of its number.
    fn address(&self, side: Side, name: &str, bits: &[Bit]) -> String {
        let (base, stride) = if side == Side::Src { ("from", "s") } else { ("to", "d") };
        let terms = (0..self.tile.loops.len()).map(|of| (of, turns(bits, of)));
        let word = self.word(side);
        let terms = terms.filter(|(_, turns)| *turns > 0);
        let terms = terms.map(|(of, turns)| format!(" + ({word}){turns} * {stride}{of}"));
        format!("{base} + ({name}{})", terms.collect::<String>())
    }

    /// Whether these bits of a thread lie within the ends of ragged loops; nothing where none is.
    fn guard(&self, order: &[Bit], bits: &[Bit]) -> String {
        let lanes = &order[..self.tile.threads() as usize];
        let ragged = (0..self.tile.loops.len()).filter(|of| self.tile.is_ragged(*of));
        let tests = ragged.filter_map(|of| {
            let turn = match (lanes.iter().any(|bit| bit.of == of), turns(bits, of)) {
                (false, 0) => return None,
                (false, turns) => format!("{turns}u"),
                (true, 0) => format!("t{of}"),
                (true, turns) => format!("t{of} + {turns}u"),
            };
            Some(format!("{turn} < m{of}"))
        });
        let tests: Vec<String> = tests.collect();
        if tests.is_empty() { String::new() } else { format!("if ({}) ", tests.join(" && ")) }
    }

    /// Loads the vectors of all rounds, as the source has them, into arrays `m0_` …
    fn load(&mut self, rounds: &[Vec<Bit>]) {
        let tile = self.tile.clone();
        let vectors = 1usize << tile.exchanged.len();
        for (round, set) in rounds.iter().enumerate() {
            self.text.line(&format!("u32 m{round}_[{}];", 4 * vectors));
            self.text.line(&format!("{}{{", self.guard(&tile.writing, set)));
            for vector in 0..vectors {
                let register =
                    tile.exchanged.iter().enumerate().filter(|(j, _)| vector >> j & 1 == 1);
                let bits: Vec<Bit> =
                    set.iter().copied().chain(register.map(|(_, (_, b))| *b)).collect();
                let address = self.address(Side::Src, "at", &bits);
                self.text.line(&format!("GET16(m{round}_, {}, {address});", 4 * vector));
            }
            self.text.line("}");
        }
    }

    /// From the source to the destination, where both have the same vectors in the same order: registers only.
    fn straight(&mut self) {
        let tile = self.tile.clone();
        let rounds = rounds(&tile.writing[tile.threads() as usize..]);
        self.text.line("THREADS_BEGIN");
        self.thread(Side::Src);
        self.offset(Side::Dst, &tile.writing[..tile.threads() as usize], "into");
        self.load(&rounds);
        for (round, set) in rounds.iter().enumerate() {
            let m = format!("m{round}_");
            self.text.line(&format!("{}{{", self.guard(&tile.writing, set)));
            exchange::write(&tile, &m, &mut self.text);
            let address = self.address(Side::Dst, "into", set);
            self.text.line(&format!("SET16({address}, {m}, 0);"));
            self.text.line("}");
        }
        self.text.line("THREADS_END");
    }

    /// From the source to shared memory.
    fn write_tile(&mut self) {
        let tile = self.tile.clone();
        let vectors = 1usize << tile.exchanged.len();
        let rounds = rounds(&tile.writing[tile.threads() as usize..]);
        self.text
            .line("// Vectors as the source has them, exchanged, into the cells of shared memory.");
        self.text.line("THREADS_BEGIN");
        self.thread(Side::Src);
        self.load(&rounds);
        for (round, set) in rounds.iter().enumerate() {
            let m = format!("m{round}_");
            self.text.line(&format!("{}{{", self.guard(&tile.writing, set)));
            exchange::write(&tile, &m, &mut self.text);
            for vector in 0..vectors {
                let bits = tile
                    .exchanged
                    .iter()
                    .enumerate()
                    .filter(|(j, (a, _))| (vector >> j & 1 == 1) != tile.is_reversed(a.of));
                let bits = set.iter().copied().chain(bits.map(|(_, (a, _))| *a));
                let cell = bits.fold(0, |all, bit| all ^ tile.cell(bit));
                self.text.line(&format!("PUT16(tile, cell ^ {cell}u, {m}, {});", 4 * vector));
            }
            self.text.line("}");
        }
        self.text.line("THREADS_END");
    }

    /// From shared memory to the destination.
    fn read_tile(&mut self) {
        let tile = self.tile.clone();
        self.text.line("// Vectors as the destination has them, out of the cells.");
        self.text.line("THREADS_BEGIN");
        self.thread(Side::Dst);
        for set in rounds(&tile.reading[tile.threads() as usize..]) {
            let cell = set.iter().fold(0, |all, bit| all ^ tile.cell(*bit));
            let (guard, address) =
                (self.guard(&tile.reading, &set), self.address(Side::Dst, "at", &set));
            self.text.line(&format!("{guard}STG16({address}, LDS16(tile, cell ^ {cell}u));"));
        }
        self.text.line("THREADS_END");
    }
}

/// All sets of some bits.
fn rounds(bits: &[Bit]) -> Vec<Vec<Bit>> {
    let set = |number: usize| {
        let set = bits.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
        set.map(|(_, bit)| *bit).collect()
    };
    (0..1usize << bits.len()).map(set).collect()
}

/// The turns of a loop that a set of bits says.
fn turns(bits: &[Bit], of: usize) -> u64 {
    bits.iter().filter(|bit| bit.of == of).map(|bit| bit.turns()).sum()
}

/// The turn of a loop that a thread's number says: runs of its bits, each where it belongs.
fn fields(lanes: &[Bit], of: usize) -> Vec<String> {
    let mut fields = Vec::new();
    let mut i = 0;
    while i < lanes.len() {
        let goes_on = |next: usize| {
            next < lanes.len()
                && lanes[next].of == of
                && lanes[next].at as usize == lanes[i].at as usize + next - i
        };
        let end = (i..).find(|next| !goes_on(*next)).unwrap_or(i);
        if end > i {
            fields.push(format!("(tid >> {i} & {}u) << {}", (1u32 << (end - i)) - 1, lanes[i].at));
        }
        i = end.max(i + 1);
    }
    fields
}

/// What the bits of a thread's number are xored to: runs of bits whose images are shifted ones of the first.
fn xored(images: &[u32]) -> String {
    let mut terms = Vec::new();
    let mut i = 0;
    while i < images.len() {
        let goes_on =
            |next: &usize| *next < images.len() && images[*next] == images[i] << (next - i);
        let mut end = i + 1;
        while goes_on(&end) {
            end += 1;
        }
        terms.push(format!("(tid >> {i} & {}u) * {}u", (1u32 << (end - i)) - 1, images[i]));
        i = end;
    }
    terms.join(" ^ ")
}
