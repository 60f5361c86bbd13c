//! A transpose: vectors of 16 bytes are read in the order of the source, exchanged in registers for vectors in the
//! order of the destination, and reordered through a tile in shared memory. Vectors that both sides have, in the same
//! order, stay in registers. Blocks visit tiles in an order in which neighbours share lines.
//!
//! Laws: each vector of the destination is written once, with the bytes that the area defines. Accesses to shared
//! memory are free of bank conflicts. The blocks visit each tile once.

mod tile;

use tilewright_relayout::{Elements, Program, Region};

use crate::{
    Alignment, Error, Options,
    byte_region::{ByteRegion, Maps, VECTOR},
    grid::strips,
    kernel::{Kernel, KernelText, Launch, Parameters, Way},
};
use tile::{Bit, BitRegion, TileSide, TransposeTile};

/// Makes the kernel of an area whose vectors are whole on both sides.
pub(crate) fn take(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    let arrays = Arrays {
        bytes: area.bytes,
        alignment: area.alignment,
        options: area.options,
        maps: &area.maps,
    };
    of_bits(&BitRegion::of_area(area)?, arrays)
}

/// Makes the kernel of a region of a program that counts elements narrower than a byte, whose vectors are whole on both
/// sides.
pub(crate) fn packed(
    region: &Region,
    program: &Program,
    alignment: Alignment,
    (options, maps): (Options, &Maps),
) -> Option<Result<Vec<Kernel>, Error>> {
    let Elements { src_bits, dst_bits, .. } = program.elements();
    let bits = Some(src_bits).filter(|bits| *bits == dst_bits && bits.is_power_of_two())?;
    let bytes = (program.src_bytes(), program.dst_bytes());
    of_bits(&BitRegion::of_elements(region, bits)?, Arrays { bytes, alignment, options, maps })
}

fn of_bits(region: &BitRegion, arrays: Arrays<'_>) -> Option<Result<Vec<Kernel>, Error>> {
    let keeps_vectors = arrays.maps.unit(arrays.alignment) == VECTOR;
    let tile = TransposeTile::of(region, arrays.alignment).filter(|_| keeps_vectors)?;
    Some(Transpose::new(arrays, tile).kernel().map(|kernel| vec![kernel]))
}

/// The arrays that a region belongs to.
#[derive(Clone, Copy)]
struct Arrays<'a> {
    /// The bytes of both.
    bytes: (u64, u64),
    alignment: Alignment,
    options: Options,
    maps: &'a Maps,
}

/// A kernel that is being written.
struct Transpose<'a> {
    arrays: Arrays<'a>,
    tile: TransposeTile,
    text: KernelText,
    numbers: Parameters,
}

impl<'a> Transpose<'a> {
    fn new(arrays: Arrays<'a>, tile: TransposeTile) -> Transpose<'a> {
        Transpose { arrays, tile, text: KernelText::new(), numbers: Parameters::default() }
    }

    fn kernel(mut self) -> Result<Kernel, Error> {
        let launch = self.launch();
        launch.check()?;
        if launch.shared > 0 {
            self.text.line(&format!("SHARED(tile, {});", launch.shared));
        }
        let supertile = self.arrays.options.supertile();
        write_block(&self.tile, supertile, &mut self.text, &mut self.numbers);
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
        let functions = self.arrays.maps.functions();
        Kernel::new(launch, &comment, &functions, self.text, self.numbers)
    }

    fn launch(&self) -> Launch {
        let tile = &self.tile;
        let threads = 1 << tile.threads();
        let vectors = (tile.bytes() / 16) as u32 / threads;
        // A thread needs the words of its vectors, and some more, of the 65536 registers of a multiprocessor.
        let resident = (65536 / (threads * (4 * vectors + 40))).clamp(1, 8);
        Launch {
            way: Way::Transpose,
            threads,
            resident,
            blocks: (0..tile.loops.len())
                .fold(1, |all: u128, of| all.saturating_mul(tile.tiles(of).into())),
            shared: if tile.is_in_order() { 0 } else { tile.bytes() as u32 },
            bytes: self.arrays.bytes,
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
            "Transpose: tiles of {} iterations, {} each. Bit i of the iteration of loop l is t<l>.<i>.\n\
             A vector of the source holds   {}\nA vector of the destination    {}\n\
             Threads write to shared memory {}\nThreads read from it           {}",
            loops.collect::<Vec<_>>().join(" x "),
            match tile.element {
                bits @ ..8 => format!("{bits} bits"),
                bits => format!("{} bytes", bits / 8),
            },
            names(&tile.src),
            names(&tile.dst),
            names(&tile.writing),
            names(&tile.reading),
        )
    }

    /// Writes the offsets of the block's tile on both sides, and the number of iterations of ragged loops in it.
    fn bases(&mut self) {
        let (src, dst) = (self.tile.first.0 + self.tile.behind(), self.tile.first.1);
        let (mut from, mut to) = (self.numbers.signed(src / 8), self.numbers.signed(dst / 8));
        for of in 0..self.tile.loops.len() {
            let level = self.tile.loops[of];
            let bits = self.tile.bits[of];
            if self.tile.tiles(of) > 1 {
                let steps = (level.src.wrapping_shl(bits), level.dst.wrapping_shl(bits));
                from.push_str(&format!(" + (i64)b{of} * {}", self.numbers.signed(steps.0 / 8)));
                to.push_str(&format!(" + (i64)b{of} * {}", self.numbers.signed(steps.1 / 8)));
            }
            if !self.tile.is_ragged(of) {
                continue;
            }
            let last = self.tile.tiles(of) - 1;
            let left = self.numbers.short((level.extent - (last << bits)) as u32);
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

    /// Writes the strides of loops that are not completely in a vector, as wide as offsets in a tile are.
    fn strides(&mut self) {
        for (side, name) in [(TileSide::Src, "s"), (TileSide::Dst, "d")] {
            let word = self.word(side);
            for of in self.strided(side) {
                let stride = side.of(&self.tile.loops[of]) << self.tile.shift(side, of);
                let number = self.numbers.signed(stride / 8);
                self.text.line(&format!("const {word} {name}{of} = ({word}){number};"));
            }
        }
    }

    /// Returns the type of offsets in a tile.
    fn word(&self, side: TileSide) -> &'static str {
        let reach: u128 = (0..self.tile.loops.len())
            .map(|of| side.step(&self.tile.loops, Bit { of, at: self.tile.bits[of] }))
            .fold(0, u128::saturating_add);
        if reach / 8 < 1 << 31 { "i32" } else { "i64" }
    }

    /// Returns the loops with bits in the thread or register numbers of a side.
    fn strided(&self, side: TileSide) -> Vec<usize> {
        let vector = match side {
            TileSide::Src => &self.tile.src,
            TileSide::Dst => &self.tile.dst,
        };
        let has =
            |of: &usize| (0..self.tile.bits[*of]).any(|at| !vector.contains(&Bit { of: *of, at }));
        (0..self.tile.loops.len()).filter(has).collect()
    }

    /// Returns the bits that a thread's number encodes on a side.
    fn lanes(&self, side: TileSide) -> &[Bit] {
        let order = if side == TileSide::Src { &self.tile.writing } else { &self.tile.reading };
        &order[..self.tile.threads() as usize]
    }

    /// Returns the sets of bits that a thread iterates over on a side.
    fn rounds(&self, side: TileSide) -> Vec<Vec<Bit>> {
        let order = if side == TileSide::Src { &self.tile.writing } else { &self.tile.reading };
        rounds(&order[self.tile.threads() as usize..])
    }

    /// Returns the xor that a bit contributes to addresses of shared memory on a side: to the number of a cell, or of
    /// half a cell.
    fn place(&self, side: TileSide, bit: Bit) -> u32 {
        match (side, self.tile.halved) {
            (TileSide::Src, Some((_, half))) if half == bit => 1,
            (TileSide::Src, Some(_)) => 2 * self.tile.cell(bit),
            _ => self.tile.cell(bit),
        }
    }

    /// Writes the iterations that a thread's number encodes, the remaining ones in ragged loops, and the position of
    /// its first vector.
    fn thread(&mut self, side: TileSide) {
        let lanes = self.lanes(side).to_vec();
        for of in 0..self.tile.loops.len() {
            let fields = fields(&lanes, of);
            if !fields.is_empty() {
                self.text.line(&format!("const u32 t{of} = {};", fields.join(" | ")));
            }
            if self.tile.is_ragged(of) {
                let here = if fields.is_empty() { String::new() } else { format!(" - (i32)t{of}") };
                self.text.line(&format!("const i32 e{of} = (i32)m{of}{here};"));
            }
        }
        if !self.tile.is_in_order() {
            let places: Vec<u32> = lanes.iter().map(|bit| self.place(side, *bit)).collect();
            self.text.line(&format!("const u32 cell = {};", xored(&places)));
        }
        self.pointer(side, &lanes);
    }

    /// Writes the address of a thread's first vector on a side.
    fn pointer(&mut self, side: TileSide, lanes: &[Bit]) {
        let stride = if side == TileSide::Src { "s" } else { "d" };
        let terms = (0..self.tile.loops.len()).filter(|of| lanes.iter().any(|bit| bit.of == *of));
        let count = |of: usize| match self.tile.shift(side, of) {
            0 => format!("t{of}"),
            shift => format!("(t{of} >> {shift})"),
        };
        let terms: String =
            terms.map(|of| format!(" + (i64){stride}{of} * {}", count(of))).collect();
        let (kind, base, name) = match side {
            TileSide::Src => ("GSRC", "from", "p"),
            TileSide::Dst => ("GDST", "to", "q"),
        };
        self.text.line(&format!("{kind} const {name} = {base}{terms};"));
    }

    /// Returns the address of a thread's vector when `bits` are set in addition to those of its number.
    fn address(&self, side: TileSide, bits: &[Bit]) -> String {
        let (name, stride) = if side == TileSide::Src { ("p", "s") } else { ("q", "d") };
        let terms = (0..self.tile.loops.len())
            .map(|of| (of, iterations(bits, of) >> self.tile.shift(side, of)));
        let terms = terms.filter(|(_, iterations)| *iterations > 0);
        let terms = terms.map(|(of, iterations)| format!(" + (i64){stride}{of} * {iterations}"));
        let address = format!("{name}{}", terms.collect::<String>());
        match side {
            TileSide::Src => self.arrays.maps.from(&address),
            TileSide::Dst => self.arrays.maps.to(&address),
        }
    }

    /// Returns the condition that a vector is within the ends of ragged loops; `None` if it always is.
    fn guard(&self, side: TileSide, bits: &[Bit]) -> Option<String> {
        let lanes = self.lanes(side);
        let ragged = (0..self.tile.loops.len()).filter(|of| self.tile.is_ragged(*of));
        let tests = ragged.filter_map(|of| {
            let iterations = iterations(bits, of);
            let is_certain = iterations == 0 && lanes.iter().all(|bit| bit.of != of);
            (!is_certain).then(|| format!("e{of} > {iterations}"))
        });
        let tests: Vec<String> = tests.collect();
        (!tests.is_empty()).then(|| tests.join(" && "))
    }

    /// Writes the store of a vector of the words `m` to the destination.
    fn store(&mut self, m: &str, set: &[Bit]) {
        let address = self.address(TileSide::Dst, set);
        self.text.line(&match self.guard(TileSide::Dst, set) {
            Some(guard) => format!("SET16IF({guard}, {address}, {m}, 0);"),
            None => format!("SET16({address}, {m}, 0);"),
        });
    }

    /// Writes the loads of the vectors of all rounds, in the order of the source, into arrays `m0_` …
    fn load(&mut self, rounds: &[Vec<Bit>]) {
        let tile = self.tile.clone();
        let vectors = 1usize << tile.exchanged.len();
        for (round, set) in rounds.iter().enumerate() {
            self.text.line(&format!("u32 m{round}_[{}];", 4 * vectors));
            let guard = self.guard(TileSide::Src, set);
            for vector in 0..vectors {
                let register =
                    tile.exchanged.iter().enumerate().filter(|(j, _)| vector >> j & 1 == 1);
                let bits: Vec<Bit> =
                    set.iter().copied().chain(register.map(|(_, (_, b))| *b)).collect();
                let address = self.address(TileSide::Src, &bits);
                let to = format!("m{round}_, {}, {address}", 4 * vector);
                self.text.line(&match &guard {
                    Some(guard) => format!("GET16IF({guard}, {to});"),
                    None => format!("GET16({to});"),
                });
            }
        }
    }

    /// Writes the move from the source to the destination through registers alone, for sides with the same vectors in
    /// the same order.
    fn straight(&mut self) {
        let tile = self.tile.clone();
        let rounds = self.rounds(TileSide::Src);
        self.text.line("THREADS_BEGIN");
        self.thread(TileSide::Src);
        self.pointer(TileSide::Dst, &tile.writing[..tile.threads() as usize]);
        self.load(&rounds);
        for (round, set) in rounds.iter().enumerate() {
            let m = format!("m{round}_");
            write_exchange(&tile, &m, &mut self.text);
            self.store(&m, set);
        }
        self.text.line("THREADS_END");
    }

    /// Writes the move from the source to shared memory.
    fn write_tile(&mut self) {
        let tile = self.tile.clone();
        let vectors = 1usize << tile.exchanged.len();
        let rounds = self.rounds(TileSide::Src);
        self.text
            .line("// Vectors as the source has them, exchanged, into the cells of shared memory.");
        self.text.line("THREADS_BEGIN");
        self.thread(TileSide::Src);
        self.load(&rounds);
        for (round, set) in rounds.iter().enumerate() {
            let m = format!("m{round}_");
            write_exchange(&tile, &m, &mut self.text);
            (0..vectors).for_each(|vector| self.put(set, &m, vector));
        }
        self.text.line("THREADS_END");
    }

    /// Writes the store of a vector of a round, or of its halves, to shared memory.
    fn put(&mut self, set: &[Bit], m: &str, vector: usize) {
        let exchanged = self.tile.exchanged.iter().enumerate();
        let bits = exchanged
            .filter(|(j, (a, _))| (vector >> j & 1 == 1) != self.tile.is_reversed(a.of))
            .map(|(_, (a, _))| *a);
        let place = |bit: &Bit| self.place(TileSide::Src, *bit);
        let here = bits.chain(set.iter().copied()).fold(0, |all, bit| all ^ place(&bit));
        let lanes = self.lanes(TileSide::Src).iter().fold(0, |all, bit| all | place(bit));
        match self.tile.halved {
            None => {
                let to = beside(lanes, here);
                self.text.line(&format!("PUT16(tile, {to}, {m}, {});", 4 * vector));
            }
            Some((a, _)) => {
                for (half, here) in [(0, here), (1, here ^ place(&a))] {
                    let to = beside(lanes, here);
                    self.text.line(&format!("PUT8(tile, {to}, {m}, {});", 4 * vector + 2 * half));
                }
            }
        }
    }

    /// Writes the move from shared memory to the destination.
    fn read_tile(&mut self) {
        self.text.line("// Vectors as the destination has them, out of the cells.");
        self.text.line("THREADS_BEGIN");
        self.thread(TileSide::Dst);
        let place = |bit: &Bit| self.place(TileSide::Dst, *bit);
        let lanes = self.lanes(TileSide::Dst).iter().fold(0, |all, bit| all | place(bit));
        for (round, set) in self.rounds(TileSide::Dst).iter().enumerate() {
            let cell = beside(lanes, set.iter().fold(0, |all, bit| all ^ self.tile.cell(*bit)));
            let v = format!("v{round}_");
            self.text.line(&format!("u32 {v}[4];"));
            self.text.line(&format!("TAKE16(tile, {cell}, {v});"));
            write_held(&self.tile, &v, &mut self.text);
            self.store(&v, set);
        }
        self.text.line("THREADS_END");
    }
}

/// Returns the loops of more than one tile, the nearest in the destination first.
pub(crate) fn outer(tile: &TransposeTile) -> Vec<usize> {
    let mut outer: Vec<usize> = (0..tile.loops.len()).filter(|of| tile.tiles(*of) > 1).collect();
    outer.sort_by_key(|of| tile.loops[*of].dst);
    outer
}

/// Returns the loop that forms squares of tiles with the first: the nearest in the source.
fn partner(tile: &TransposeTile, outer: &[usize]) -> Option<usize> {
    let others = outer.iter().skip(1).copied();
    let nearest = |of: &usize| match tile.loops[*of].src.unsigned_abs() {
        0 => u64::MAX,
        step => step,
    };
    others.min_by_key(nearest)
}

/// Writes `b<loop>`, the number of the block's tile along each loop of more than one.
pub(crate) fn write_block(
    tile: &TransposeTile,
    supertile: u32,
    text: &mut KernelText,
    numbers: &mut Parameters,
) {
    let mut outer = outer(tile);
    if outer.is_empty() {
        return;
    }
    let mut rest = "BLOCK".to_string();
    let second = partner(tile, &outer).filter(|_| supertile > 1);
    if let Some(second) = second {
        let first = outer.remove(0);
        outer.retain(|of| *of != second);
        let plane = match outer.is_empty() {
            true => rest.clone(),
            false => {
                let blocks = (tile.tiles(first) as u32).wrapping_mul(tile.tiles(second) as u32);
                let (magic, by) = numbers.divisor(blocks);
                text.line(&format!("const u32 around = DIV({rest}, {magic});"));
                text.line(&format!("const u32 plane = {rest} - around * {by};"));
                rest = "around".to_string();
                "plane".to_string()
            }
        };
        let (x, y) = (format!("b{first}"), format!("b{second}"));
        let counts = (tile.tiles(first) as u32, tile.tiles(second) as u32);
        strips((&x, &y), counts, supertile, &plane, (text, numbers));
    }
    let Some(last) = outer.pop() else { return };
    for of in outer {
        let (magic, by) = numbers.divisor(tile.tiles(of) as u32);
        text.line(&format!("const u32 q{of} = DIV({rest}, {magic});"));
        text.line(&format!("const u32 b{of} = {rest} - q{of} * {by};"));
        rest = format!("q{of}");
    }
    text.line(&format!("const u32 b{last} = {rest};"));
}

// Exchanges bits of the position in a vector for bits of the register's number, and reorders vectors; and prints bits
// of a tile: sets of them, the iterations that they encode, and the fields of a thread's number.
//
// Positions of less than a byte are exchanged by shifts and masks first; then whole bytes are permuted.
//
// Laws: after the exchanges, element `i` of the vector in registers `4 · r …` is the one with the position and
// register that the tile's bits define; a vector from a cell becomes a vector of the destination.

/// Writes the lines that make the vectors that a thread writes from those that it read, in the words `m`: bit `j` of a
/// vector's number is the source's bit of pair `j`.
///
/// First the elements of each vector go to their own position, or to that of the elements for which they are exchanged:
/// exchanges of four and eight bytes then only rename words, so they cost nothing.
pub(crate) fn write_exchange(tile: &TransposeTile, m: &str, text: &mut KernelText) {
    let written = tile.written();
    let wanted: Vec<Bit> = written.iter().map(|bit| before_exchange(tile, *bit)).collect();
    // Bits that are not exchanged run backwards if their loop does.
    let stays = |bit: Bit| tile.exchanged.iter().all(|(a, _)| *a != bit);
    let is_backwards = |bit: Bit| stays(bit) && tile.is_reversed(bit.of);
    for number in 0..1usize << tile.exchanged.len() {
        rearrange((&tile.src, &wanted), is_backwards, tile.element, (m, 4 * number), text);
    }
    for (j, (_, b)) in tile.exchanged.iter().enumerate() {
        let level = written.iter().position(|bit| bit == b).unwrap_or(0);
        let bits = tile.element << level;
        for low in (0..1usize << tile.exchanged.len()).filter(|number| number >> j & 1 == 0) {
            let (a, b) = (4 * low, 4 * (low | 1 << j));
            text.line(&match bits {
                8.. => format!("EXCHANGE{}({m}, {a}, {b});", bits / 8),
                _ => format!("EXCHANGE_BITS({m}, {a}, {b}, {bits}, {:#x}u);", low_bits(bits)),
            });
        }
    }
}

/// Writes the lines that put a vector from a cell, in the words `m`, into the order of the destination.
pub(crate) fn write_held(tile: &TransposeTile, m: &str, text: &mut KernelText) {
    rearrange((&tile.held(), &tile.dst), |_| false, tile.element, (m, 0), text);
}

/// Returns the source's bit that is at the position of a bit of a written vector before the exchanges.
fn before_exchange(tile: &TransposeTile, bit: Bit) -> Bit {
    let pair = tile.exchanged.iter().find(|(_, b)| *b == bit);
    pair.map_or(bit, |(a, _)| *a)
}

/// Returns the mask of the positions in a word whose bit number `bits`, a power of two below 32, is 0.
fn low_bits(bits: u64) -> u32 {
    (0..32).filter(|at| at & bits == 0).fold(0, |mask, at| mask | 1 << at)
}

/// Writes the lines that change the order of the bits of positions in the vector at word `first` of `m`, from the first
/// order to the second.
fn rearrange(
    (now, wanted): (&[Bit], &[Bit]),
    is_backwards: impl Fn(Bit) -> bool,
    element: u64,
    (m, first): (&str, usize),
    text: &mut KernelText,
) {
    let mut now = now.to_vec();
    let within = if element < 8 { (8 / element).trailing_zeros() as usize } else { 0 };
    for (level, wanted) in wanted.iter().take(within).enumerate() {
        let from = now.iter().position(|bit| bit == wanted).unwrap_or(level);
        if from > level {
            swap_levels((element << level, element << from), m, first, text);
            now.swap(level, from);
        }
    }
    let bytes = (element / 8).max(1);
    if let Some(elements) = order(&now[within..], &wanted[within..], is_backwards, bytes) {
        reorder(&elements, bytes as usize, m, first, text);
    }
}

/// Writes the lines that swap two bits of the position in a vector: those that count `low` and `high` bits.
fn swap_levels((low, high): (u64, u64), m: &str, first: usize, text: &mut KernelText) {
    let mask = low_bits(low);
    if high < 32 {
        // The positions with the low bit set and the high bit clear, which trade places with those above them.
        let (mask, by) = (!mask & low_bits(high), high - low);
        let lines =
            (first..first + 4).map(|word| format!("SWAP_BITS({m}[{word}], {by}, {mask:#x}u);"));
        return lines.for_each(|line| text.line(&line));
    }
    let apart = (high / 32) as usize;
    for word in (0..4).filter(|word| word & apart == 0).map(|word| first + word) {
        text.line(&format!("TRADE({m}[{word}], {m}[{}], {low}, {mask:#x}u);", word + apart));
    }
}

/// Returns, for each element of a vector with the bits `wanted`, its element in the vector with the same bits in the
/// order `now`; `None` if the order does not change.
fn order(
    now: &[Bit],
    wanted: &[Bit],
    is_backwards: impl Fn(Bit) -> bool,
    element: u64,
) -> Option<Vec<usize>> {
    let from = |element: usize| {
        let place = |(level, bit): (usize, &Bit)| {
            let at = wanted.iter().position(|other| other == bit).unwrap_or(level);
            (element >> at & 1 ^ usize::from(is_backwards(*bit))) << level
        };
        now.iter().enumerate().map(place).sum()
    };
    let elements: Vec<usize> = (0..16 / element as usize).map(from).collect();
    elements.iter().enumerate().any(|(to, from)| to != *from).then_some(elements)
}

/// Writes the lines that reorder the elements of the vector at word `first` of `m`.
fn reorder(elements: &[usize], element: usize, m: &str, first: usize, text: &mut KernelText) {
    let byte = |to: usize| elements[to / element] * element + to % element;
    let words: Vec<Vec<usize>> =
        (0..4).map(|word| (4 * word..4 * word + 4).map(byte).collect()).collect();
    text.line("{");
    let mut done = [false; 4];
    for word in 0..4 {
        if done[word] {
            continue;
        }
        let partner =
            (word + 1..4).find(|other| !done[*other] && share(&words[word], &words[*other]));
        if let Some(other) = partner {
            for (name, from) in [("low", 0), ("high", 2)] {
                let halves = [&words[word][from..from + 2], &words[other][from..from + 2]].concat();
                let two = gathered(&halves, m, first);
                text.line(&format!("const u32 {name}{word} = {two};"));
            }
            for (at, select) in [(word, "0x5410"), (other, "0x7632")] {
                text.line(&format!("const u32 w{at} = PRMT(low{word}, high{word}, {select}u);"));
            }
            done[other] = true;
        } else {
            text.line(&format!("const u32 w{word} = {};", gathered(&words[word], m, first)));
        }
    }
    for word in 0..4 {
        text.line(&format!("{m}[{}] = w{word};", first + word));
    }
    text.line("}");
}

/// Returns the words that contain bytes of a vector.
fn sources(bytes: &[usize]) -> Vec<usize> {
    let mut words: Vec<usize> = bytes.iter().map(|byte| byte / 4).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns whether two words, each with bytes of more than two words, have their low halves from two words, and also
/// their high halves.
fn share(one: &[usize], other: &[usize]) -> bool {
    let halves = |from: usize| [&one[from..from + 2], &other[from..from + 2]].concat();
    let is_wide = sources(one).len() > 2 && sources(other).len() > 2;
    is_wide && [0, 2].iter().all(|from| sources(&halves(*from)).len() <= 2)
}

/// Returns the expression of a word of four bytes of a vector.
fn gathered(bytes: &[usize], m: &str, first: usize) -> String {
    if bytes[0].is_multiple_of(4) && (1..4).all(|i| bytes[i] == bytes[0] + i) {
        return format!("{m}[{}]", first + bytes[0] / 4);
    }
    let words = sources(bytes);
    if let [one, .., other] | [one @ other] = words[..]
        && words.len() <= 2
    {
        return picked(bytes, (one, other), m, first);
    }
    let half = |two: &[usize]| picked(two, (two[0] / 4, two[1] / 4), m, first);
    format!("PRMT({}, {}, 0x5410u)", half(&bytes[..2]), half(&bytes[2..]))
}

/// Returns the expression of four bytes from two words.
fn picked(bytes: &[usize], (one, other): (usize, usize), m: &str, first: usize) -> String {
    let place = |byte: usize| byte % 4 + if byte / 4 == one { 0 } else { 4 };
    let select = bytes.iter().rev().fold(0, |all, byte| all << 4 | place(*byte));
    format!("PRMT({m}[{}], {m}[{}], {select:#x}u)", first + one, first + other)
}

/// Returns all sets of some bits.
fn rounds(bits: &[Bit]) -> Vec<Vec<Bit>> {
    let set = |number: usize| {
        let set = bits.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
        set.map(|(_, bit)| *bit).collect()
    };
    (0..1usize << bits.len()).map(set).collect()
}

/// Returns the iterations of a loop that a set of bits encodes.
fn iterations(bits: &[Bit], of: usize) -> u64 {
    bits.iter().filter(|bit| bit.of == of).map(|bit| bit.iterations()).sum()
}

/// Returns the iteration of a loop that a thread's number encodes: runs of its bits, each shifted to its position.
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

/// Returns the number of a cell relative to that of a thread: bits that the thread's number can set are xored, the
/// others are added, which is free in an address.
fn beside(lanes: u32, other: u32) -> String {
    match (other & lanes, other & !lanes) {
        (0, 0) => "cell".to_string(),
        (0, more) => format!("cell + {more}u"),
        (less, 0) => format!("cell ^ {less}u"),
        (less, more) => format!("(cell ^ {less}u) + {more}u"),
    }
}

/// Returns the xor that the bits of a thread's number contribute: consecutive bits whose images are shifted copies of
/// the first are one term.
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
