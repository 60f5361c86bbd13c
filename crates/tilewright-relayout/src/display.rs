//! A plan in words, so that a slow case explains itself.

use crate::{Plan, cpu::kernel, cpu::weave::Reach, program::region::Region};
use core::fmt;

impl Plan {
    /// The kernel that moves most of the bytes, in one or two words: `memcpy`, `rows`,
    /// `transpose 4B`, `gather 2B`, `bits`; `fill` for an array without elements, `tables` where boxes
    /// are too many and elements are found through tables of offsets.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.kernel_name(), "transpose 1B");
    /// assert_eq!(Plan::new(&src, &src, Elements::same(8), 0).unwrap().kernel_name(), "memcpy");
    /// ```
    pub fn kernel_name(&self) -> String {
        match (self.0.program.main(), self.0.program.regions()) {
            (Some(region), _) => {
                kernel::name(self.0.program.elements(), region.packed, region.run, &region.loops)
            }
            (None, Some(_)) => "fill".to_string(),
            (None, None) => "tables".to_string(),
        }
    }

    fn write_nest(&self, f: &mut fmt::Formatter<'_>, region: &Region) -> fmt::Result {
        let unit = |bits: u32| match bits {
            8 => " bytes".to_string(),
            _ => format!(" elements of {bits} bits"),
        };
        let name =
            kernel::name(self.0.program.elements(), region.packed, region.run, &region.loops);
        write!(f, "\n  {name}")?;
        let unit_bits = region.src_unit(self.0.program.elements());
        let part = region.whole();
        let reach = Reach::of(self.0.program.dst_bytes());
        if let Some(hops) = self.0.hops.iter().find(|hops| hops.fits(&part, reach)) {
            let bytes = hops.bytes;
            write!(f, " in {}, in two hops through blocks of {bytes} bytes", self.0.isa.name())?;
        } else if let Some(weave) =
            self.0.weaves.iter().find(|weave| weave.fits(&part, unit_bits, reach))
        {
            let (read, written) = weave.runs;
            let way = if weave.reach == Reach::Far { "past the caches" } else { "in the caches" };
            write!(f, " in {}, {way}, blocks of ", self.0.isa.name())?;
            write!(f, "{:?} that read {read} and write {written} bytes together", weave.shape)?;
        } else if let Some((s, d)) =
            kernel::block(self.0.program.elements(), region.packed, region.run, &region.loops)
        {
            write!(f, " in blocks of {s}×{d}")?;
        }
        let (src, dst) = (
            region.src_unit(self.0.program.elements()),
            region.dst_unit(self.0.program.elements()),
        );
        write!(f, ", runs of {}{}", region.run, unit(dst))?;
        write!(f, " from {} to {}", region.src, region.dst)?;
        for turn in &region.loops {
            write!(f, "\n    {}× source {}, destination {}", turn.extent, turn.src, turn.dst)?;
        }
        if src != dst { write!(f, "\n    the source counts{}", unit(src)) } else { Ok(()) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        write!(f, "{:?}: ", inner.program.src().extents())?;
        match inner.program.elements().are_same() {
            true => write!(f, "{} bits", inner.program.elements().src_bits)?,
            false => write!(
                f,
                "{} to {} bits",
                inner.program.elements().src_bits,
                inner.program.elements().dst_bits
            )?,
        }
        write!(f, ", {} bytes to {} bytes", inner.program.src_bytes(), inner.program.dst_bytes())?;
        write!(f, ", {} of {} elements padding", self.padding(), inner.program.dst().capacity())?;
        match inner.program.regions() {
            Some(regions) => regions.iter().try_for_each(|region| self.write_nest(f, region)),
            None => write!(f, "\n  tables: the digits do not divide; {}", inner.program.digits()),
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}
