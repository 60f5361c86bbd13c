//! A plan in words, so that a slow case explains itself.

use crate::{
    Plan,
    cpu::{cut::Along, ways::Ways},
    program::region::Region,
};
use core::fmt;

impl Plan {
    /// What moves most of the bytes, in a few words: `copy`, `rows`, `transpose 4B`,
    /// `join 3 rows of 4B`, `every 2nd of 4B`, `unpack 4b to 8b`, `blocks 4B`, `gather 4B`, `bits`; `fill` for an
    /// array without elements, `tables` where regions are too many and elements are found through tables
    /// of offsets.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[200, 300]).unwrap();
    /// let dst = TensorLayout::col_major(&[200, 300]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.kernel_name(), "transpose 1B");
    /// assert_eq!(Plan::new(&src, &src, Elements::same(8), 0).unwrap().kernel_name(), "copy");
    /// ```
    pub fn kernel_name(&self) -> String {
        match (self.0.program.main(), self.0.program.regions()) {
            (Some((i, region)), _) => name(region, &self.0.ways[i]),
            (None, Some(_)) => "fill".to_string(),
            (None, None) => "tables".to_string(),
        }
    }

    /// The ways that this plan has run since it was made, by the name that the plan prints, and how often
    /// each did; `other` counts what ranges of the destination left of a region that was too small for its
    /// way.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[200, 300]).unwrap();
    /// let dst = TensorLayout::col_major(&[200, 300]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// plan.run(&[0; 60_000], &mut [0; 60_000], 1).unwrap();
    /// assert_eq!(plan.ways_run(), [("transpose 1B".to_string(), 1)]);
    /// ```
    pub fn ways_run(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = Vec::new();
        let mut add = |name: String, ran: u64| match all.iter_mut().find(|way| way.0 == name) {
            Some(way) => way.1 += ran,
            None if ran > 0 => all.push((name, ran)),
            None => {}
        };
        for (region, ways) in self.regions() {
            let (first, others) = ways.ran();
            add(name(region, ways), first);
            add("other".to_string(), others);
        }
        add("tables".to_string(), self.0.tables.get());
        all
    }

    /// The plan in words, with how this many threads share each region; 0 for one per core.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2000, 3000]).unwrap();
    /// let dst = TensorLayout::col_major(&[2000, 3000]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// assert!(plan.shared(2).to_string().contains("2 threads share 8 parts along loop 0"));
    /// assert!(plan.shared(1).to_string().contains("one thread"));
    /// ```
    pub fn shared(&self, threads: usize) -> impl fmt::Display + '_ {
        Shared { plan: self, threads }
    }

    fn regions(&self) -> impl Iterator<Item = (&Region, &Ways)> {
        self.0.program.regions().unwrap_or_default().iter().zip(&self.0.ways)
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.0.program;
        write!(f, "{:?}: ", program.src().extents())?;
        match program.elements().are_same() {
            true => write!(f, "{} bits", program.elements().src_bits)?,
            false => {
                let elements = program.elements();
                write!(f, "{} to {} bits", elements.src_bits, elements.dst_bits)?
            }
        }
        write!(f, ", {} bytes to {} bytes", program.src_bytes(), program.dst_bytes())?;
        write!(f, ", {} of {} elements padding", self.padding(), program.dst().capacity())?;
        if program.regions().is_none() {
            write!(f, "\n  tables: the digits do not divide; {}", program.digits())?;
        }
        Ok(())
    }

    fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        region: &Region,
        ways: &Ways,
    ) -> fmt::Result {
        let unit = |bits: u32| match bits {
            8 => " bytes".to_string(),
            _ => format!(" elements of {bits} bits"),
        };
        let details = ways.first().details(&region.whole(), ways.terms());
        write!(f, "\n  {}{details}", name(region, ways))?;
        let elements = self.0.program.elements();
        let (src, dst) = (region.src_unit(elements), region.dst_unit(elements));
        write!(f, ", runs of {}{}", region.run, unit(dst))?;
        write!(f, " from {} to {}", region.src, region.dst)?;
        for turn in &region.loops {
            write!(f, "\n    {}× source {}, destination {}", turn.extent, turn.src, turn.dst)?;
        }
        if src != dst { write!(f, "\n    the source counts{}", unit(src)) } else { Ok(()) }
    }
}

/// A plan that some threads share.
struct Shared<'a> {
    plan: &'a Plan,
    threads: usize,
}

impl fmt::Display for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.write_head(f)?;
        for (region, ways) in self.plan.regions() {
            self.plan.write_region(f, region, ways)?;
            let threads = crate::cpu::pool::wanted(self.threads);
            match self.plan.0.parts(region, ways, self.threads) {
                None => write!(f, "\n    one thread")?,
                Some(cut) => {
                    write!(f, "\n    {threads} threads share {} parts along ", cut.parts())?;
                    match cut.along {
                        Along::Loop(i) => write!(f, "loop {i}")?,
                        Along::Run => write!(f, "the run")?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// The name of the way of a region.
fn name(region: &Region, ways: &Ways) -> String {
    ways.first().name(&region.whole(), ways.terms())
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        self.regions().try_for_each(|(region, ways)| self.write_region(f, region, ways))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}
