//! Expressions that read the elements of a run of the destination from a tile, and assemble them to words.

use super::{job::GatherJob, place::SharedTile, tile::GatherTile};
use crate::access::VECTOR;
use tilewright_relayout::Extend;

/// The side whose order of elements within a run the tile keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    AsSource,
    AsDestination,
}

impl Lies {
    pub(super) fn other(self) -> Lies {
        match self {
            Lies::AsSource => Lies::AsDestination,
            Lies::AsDestination => Lies::AsSource,
        }
    }

    /// Returns the word for the side.
    pub(super) fn word(self) -> &'static str {
        match self {
            Lies::AsSource => "source",
            Lies::AsDestination => "destination",
        }
    }

    /// Returns the name of its array in the text.
    pub(super) fn array(self) -> &'static str {
        match self {
            Lies::AsSource => "src",
            Lies::AsDestination => "dst",
        }
    }
}

/// Expressions of a tile. If the tile keeps the destination's order, the job is mirrored: its source is the array's
/// destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch<'a> {
    pub(super) lies: Lies,
    pub(super) job: &'a GatherJob,
    pub(super) tile: &'a GatherTile,
    pub(super) place: &'a SharedTile,
}

impl Fetch<'_> {
    /// Returns the functions before the kernel: the position of element `x` of a run in the tile, counted from the
    /// run's first element; the distance between the beginning of its run of the source and that of the first run; and
    /// the order of the chunks.
    pub(super) fn functions(self) -> String {
        let mut text = format!(
            "// Where element x of a run of the {} is in the tile, in {}.\n",
            self.lies.other().word(),
            self.units()
        );
        text.push_str(&format!(
            "DEVICE u32 place(u32 x) {{ return {}; }}\n",
            self.sum(|at| Some(format!("{}u", self.step(at) as u32)))
        ));
        let leaning = self.leaning();
        if !leaning.is_empty() {
            let parameters: String = leaning.iter().map(|at| format!(", u32 z{at}")).collect();
            let sum = self.sum(|at| leaning.contains(&at).then(|| format!("z{at}")));
            text.push_str(&format!(
                "// How far its run of the {} begins behind the first one's.\n",
                self.lies.word()
            ));
            text.push_str(&format!("DEVICE u32 leans(u32 x{parameters}) {{ return {sum}; }}\n"));
        }
        if let Some(shift) = self.place.xor {
            text.push_str("// Where a byte of the tile is: neighbours are in different banks.\n");
            text.push_str(&format!(
                "DEVICE u32 spot(u32 byte) {{ return byte ^ (byte >> {shift}u & 0x70u); }}\n"
            ));
        }
        text
    }

    fn units(self) -> &'static str {
        if self.job.src.bits < 8 { "bits" } else { "bytes" }
    }

    /// Returns the distance between iterations of a loop in the tile, in units of the source.
    pub(super) fn step(self, at: usize) -> i64 {
        self.place.step(self.job, self.tile, at)
    }

    /// Returns the sum of iterations times factors, for the iterations of element `x` of a run of the destination.
    fn sum(self, factor: impl Fn(usize) -> Option<String>) -> String {
        let (mut terms, mut by) = (Vec::new(), 1u64);
        for (i, &at) in self.tile.to.iter().enumerate() {
            let quotient = if by == 1 { "x".to_string() } else { format!("x / {by}u") };
            by = by.wrapping_mul(self.tile.take[at]);
            let last = i + 1 == self.tile.to.len();
            let iteration =
                if last { quotient } else { format!("{quotient} % {}u", self.tile.take[at]) };
            if let Some(factor) = factor(at) {
                terms.push(if iteration == "x" {
                    format!("x * {factor}")
                } else {
                    format!("({iteration}) * {factor}")
                });
            }
        }
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// Returns the loops of a run of the destination whose iterations are runs of the source with different offsets
    /// within a chunk.
    pub(super) fn leaning(self) -> Vec<usize> {
        let index = self.tile.index_from(self.job);
        let leans = |at: &&usize| self.place.varies && index.contains(at);
        self.tile.to.iter().filter(leans).copied().collect()
    }

    /// Returns the unit of the source at which element `x` begins, as an expression of `home`, and of `lean` if offsets
    /// of runs vary.
    pub(super) fn unit(self, x: &str) -> String {
        let leaning = self.leaning();
        if leaning.is_empty() {
            return format!("home + place({x})");
        }
        let arguments: String = leaning.iter().map(|at| format!(", z{at}")).collect();
        let mask = self.job.src.vector() - 1;
        format!("home + place({x}) + (lean + leans({x}{arguments}) & {mask}u)")
    }

    /// Returns a byte of the tile as accesses address it.
    pub(super) fn spot(self, byte: &str) -> String {
        if self.place.xor.is_some() { format!("spot({byte})") } else { byte.to_string() }
    }

    /// Returns the value of element `x` as an expression. If a value is narrower than 32 bits and `clean` is false,
    /// higher bits may have any value.
    pub(super) fn value(self, x: &str, clean: bool) -> String {
        let GatherJob { src, dst, extend, .. } = *self.job;
        let unit = self.unit(x);
        if src.bits > 32 {
            return format!("LDS{}(sm, {})", src.bits / 8, self.spot(&unit));
        }
        let read = if src.bits < 8 {
            let word = self.spot(&format!("({unit}) / 32u * 4u"));
            format!("LDS4(sm, {word}) >> ({unit} & 31u)")
        } else {
            format!("(u32)LDS{}(sm, {})", src.bits / 8, self.spot(&unit))
        };
        let mask = |bits: u64| {
            if bits < 32 { format!(" & 0x{:x}u", (1u64 << bits) - 1) } else { String::new() }
        };
        if dst.bits > src.bits && extend == Extend::Sign {
            let above = 32 - src.bits;
            let value = format!("(u32)((i32)(({read}) << {above}u) >> {above}u)");
            return if clean { format!("({value}{})", mask(dst.bits)) } else { value };
        }
        let dirty = src.bits < 8 || dst.bits < src.bits;
        if dirty && (clean || dst.bits > src.bits) {
            return format!("(({read}){})", mask(src.bits.min(dst.bits)));
        }
        format!("({read})")
    }

    /// Returns the word of the elements from `x` on, as an expression.
    pub(super) fn word(self, x: &str) -> String {
        let element = |i: u64, clean: bool| {
            self.value(&if i == 0 { format!("({x})") } else { format!("({x} + {i}u)") }, clean)
        };
        match self.job.dst.bits {
            32 => element(0, true),
            16 => format!("PRMT({}, {}, 0x5410u)", element(0, false), element(1, false)),
            8 => {
                let pair =
                    |i| format!("PRMT({}, {}, 0x0040u)", element(i, false), element(i + 1, false));
                format!("PRMT({}, {}, 0x5410u)", pair(0), pair(2))
            }
            // The callers assemble narrower elements one by one.
            _ => element(0, true),
        }
    }

    /// Returns the units of a run of the source, as an expression.
    pub(super) fn length(self) -> String {
        let Fetch { job, tile, .. } = self;
        let reach = |at: &usize| (tile.take[*at] - 1) * job.loops[*at].src.unsigned_abs();
        match tile.from.last().filter(|at| !tile.is_whole(job, **at)) {
            Some(last) => {
                let rest = tile.units_from(job) - reach(last);
                format!("{rest}u + (k{last} - 1u) * {}u", job.loops[*last].src.unsigned_abs())
            }
            None => format!("{}u", tile.units_from(job)),
        }
    }

    /// Returns the condition that the vector from byte `x` on is completely within a run. The last byte of a run may
    /// have fewer elements than others.
    pub(super) fn all_of_vector(self) -> String {
        match self.job.dst.bits {
            bits if bits < 8 => format!("(u32)(x + 4) * {}u <= elements", 8 / bits),
            _ => format!("x + {VECTOR} <= row"),
        }
    }
}

/// Returns the number of a lane, shifted: the rotation of the lane's order of words.
pub(super) fn lanes(shift: u32) -> String {
    match shift {
        0 => "tid & 31u".into(),
        _ => format!("tid >> {shift} & {}u", 31 >> shift),
    }
}
