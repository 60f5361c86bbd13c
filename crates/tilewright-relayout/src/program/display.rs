//! The text form of a program: its moves, its fill, and the cost of finding elements by digits.

use crate::{Digits, Gap, Op, Program, Region};
use core::fmt;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        match self.regions() {
            Some(regions) => {
                regions.iter().try_for_each(|region| self.write_region(f, region, ""))?;
            }
            None if self.has_tables() => {
                write!(f, "\n  index tables, so moved by digits; {}", self.digits())?
            }
            None => write!(f, "\n  more than 1024 regions, so moved by digits; {}", self.digits())?,
        }
        self.write_gaps(f)
    }
}

impl Program {
    /// Writes the extents, the widths and the padding.
    pub(crate) fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = self.elements();
        write!(f, "{:?}", self.extents())?;
        if self.is_part() {
            let ((src, dst), (from, to)) = ((self.src(), self.dst()), self.origins());
            write!(f, " from {from:?} of {:?} to {to:?} of {:?}", src.extents(), dst.extents())?;
        }
        match elements.are_same() {
            true => write!(f, ": {} bits", elements.src_bits)?,
            false => write!(f, ": {} to {} bits", elements.src_bits, elements.dst_bits)?,
        }
        write!(f, ", {} bytes to {} bytes", self.src_bytes(), self.dst_bytes())?;
        if self.is_part() {
            return f.write_str(", the rest is unchanged");
        }
        let (padding, all) = (self.padding(), self.dst().capacity());
        write!(f, ", {padding} of {all} elements padding")?;
        if padding > 0 { write!(f, " of {:#x}", self.fill()) } else { Ok(()) }
    }

    /// Writes the loops of a region after the name of its kernel.
    pub(crate) fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        region: &Region,
        way: &str,
    ) -> fmt::Result {
        let (src, dst) = (region.src_unit(self.elements()), region.dst_unit(self.elements()));
        let Region { run, src: from, dst: to, .. } = region;
        write!(f, "\n  {way}runs of {run}{} from {from} to {to}", unit(dst))?;
        for level in &region.loops {
            write!(f, "\n    {}× source {}, destination {}", level.extent, level.src, level.dst)?;
        }
        if src != dst { write!(f, "\n    the source counts{}", unit(src)) } else { Ok(()) }
    }

    /// Writes the gaps that are filled.
    pub(crate) fn write_gaps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gaps() {
            Some(gaps) => gaps.iter().try_for_each(|gap| self.write_gap(f, gap)),
            None => f.write_str("\n  all bytes without elements are filled first"),
        }
    }

    fn write_gap(&self, f: &mut fmt::Formatter<'_>, gap: &Gap) -> fmt::Result {
        let bits = if gap.packed { self.elements().dst_bits } else { 8 };
        write!(f, "\n  fill runs of {}{} at {}", gap.run, unit(bits), gap.dst)?;
        gap.loops.iter().try_for_each(|level| write!(f, "\n    {}× {}", level.extent, level.stride))
    }
}

fn unit(bits: u32) -> String {
    if bits == 8 { " bytes".to_string() } else { format!(" elements of {bits} bits") }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outer, inner) = self.entries();
        write!(f, "leaves of {outer}×{inner} elements, tables of {} bytes, ", self.table_bytes())?;
        write!(f, "{} steps", self.steps())?;
        for (i, group) in self.groups().iter().enumerate() {
            let digits = self.digits().iter().filter(|digit| digit.group() == i);
            for digit in digits.clone() {
                let (values, register) = (digit.values(), digit.register());
                write!(f, "\n    r{register} {values:?} destination {}", digit.stride())?;
            }
            group.ops().iter().try_for_each(|op| write!(f, "\n      {op}"))?;
        }
        let (src, dst) = self.swizzles();
        match src.is_identity() && dst.is_identity() {
            true => Ok(()),
            false => write!(f, "\n    swizzles: source {src}, destination {dst}"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Op::Split { from, by, to } => write!(f, "r{to} = r{from} % {by}, r{from} /= {by}"),
            Op::Merge { major, minor, extent } => write!(f, "r{minor} += r{major} · {extent}"),
            Op::Within { register, extent } => write!(f, "r{register} < {extent}"),
            Op::Move { register, from, extent, to } => {
                write!(f, "{from} ≤ r{register} < {}, r{register} += {to} - {from}", from + extent)
            }
            Op::Digit { from, by, stride } => {
                write!(f, "source += r{from} % {by} · {stride}, r{from} /= {by}")
            }
            Op::Rest { from, stride } => write!(f, "source += r{from} · {stride}"),
            Op::Look { register, list } => write!(f, "r{register} = list {list}[r{register}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Elements, Program};
    use tilewright_core::{Digit, Fractal, Pattern, TensorLayout};

    #[test]
    fn regions_gaps_and_parts_are_said() {
        let src = TensorLayout::row_major(&[100, 100]).unwrap();
        let dst = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
        let program = Program::new(&src, &dst, Elements::same(16), 0x7FFF).unwrap();
        assert_eq!(
            program.to_string(),
            "[100, 100]: 16 bits, 20000 bytes to 25088 bytes, 2544 of 12544 elements padding of 0x7fff
  runs of 32 bytes from 0 to 0
    6× source 32, destination 3584
    100× source 200, destination 32
  runs of 8 bytes from 192 to 21504
    100× source 200, destination 32
  fill runs of 384 bytes at 3200
    6× 3584
  fill runs of 24 bytes at 21512
    99× 32
  fill runs of 408 bytes at 24680"
        );
        let part = Program::of_part((&src, &[3, 4]), (&dst, &[20, 0]), &[2, 8], Elements::same(4));
        assert_eq!(
            part.unwrap().to_string(),
            "[2, 8] from [3, 4] of [100, 100] to [20, 0] of [100, 100]: 4 bits, 5000 bytes to 6272 \
             bytes, the rest is unchanged
  runs of 4 bytes from 152 to 160
    2× source 50, destination 8"
        );
    }

    #[test]
    fn digits_say_what_they_cost() {
        let tiles = |a, b| {
            let digits = [Digit::rest(0, 1), Digit::rest(1, 1)];
            let inner = [Digit::fixed(0, 0, a), Digit::fixed(1, 0, b)];
            Pattern::new(2, &[digits, inner].concat()).unwrap().layout(&[1000, 1000]).unwrap()
        };
        let program = Program::new(&tiles(3, 4), &tiles(4, 5), Elements::same(8), 0).unwrap();
        let said = program.to_string();
        assert!(program.regions().is_none());
        let digits = program.digits();
        let (bytes, steps) = (digits.table_bytes(), digits.steps());
        assert!(said.contains(&format!("tables of {bytes} bytes, {steps} steps")), "{said}");
        assert!(said.contains("\n      source += r0 % 3 · 4, r0 /= 3\n"), "{said}");
        // Tables take kilobytes for any size of array; an element takes a step, and tables add little.
        assert!(bytes < 1 << 16 && (1_000_000..1_100_000).contains(&steps), "{said}");
    }
}
