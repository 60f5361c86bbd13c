//! The text form of a plan, from which a reader sees why a case is slow.

use crate::{
    Plan,
    cpu::{joined::Joined, partition::CutDirection, pool, ways::Ways},
    program::region::Region,
};
use core::fmt;

impl Plan {
    /// Returns the name of the kernel that moves most of the bytes: `copy`, `rows`, `transpose 4B`, `interleave 3 rows
    /// of 4B`, `strided pack of every 2nd 4B`, `tiled transpose 4B`, `staged 4B`, `two passes of 4B`, `unpack 4b to 8b`, `blocks
    /// 4B`, `gather 4B`, `bits`; `fill` for an array without elements, and `tables` if there are too many regions and
    /// elements are found through tables of offsets. `joined` before a name says that boxes of ragged tiles are moved
    /// together, with their padding.
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
            (Some((i, region)), _) => {
                self.joined(i).map_or_else(|| self.0.ways[i].name(region), |joined| joined.0)
            }
            (None, Some(_)) => "fill".to_string(),
            (None, None) => "tables".to_string(),
        }
    }

    /// Returns the kernels that [`run`](Plan::run) and [`run_range`](Plan::run_range) have run since this plan was
    /// made, by the name that the plan prints, with the number of runs of each. `other` counts the remainders of
    /// regions, cut by ranges of the destination, that were too small for the region's kernel.
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
        for (i, (region, ways)) in self.regions().enumerate() {
            let (first, others) = ways.ran();
            if let Some((name, ran)) = self.joined(i) {
                add(name, ran);
            }
            add(ways.name(region), first);
            add("other".to_string(), others);
        }
        add("other".to_string(), self.0.joined().map_or(0, Joined::others));
        add("tables".to_string(), self.0.tables.get());
        all
    }

    /// Returns the text of the plan for this many threads, with how they share each region; 0 means one thread per
    /// core.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2000, 3000]).unwrap();
    /// let dst = TensorLayout::col_major(&[2000, 3000]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// let text = plan.shared(2).to_string();
    /// assert!(text.contains("2 threads share"), "{text}");
    /// assert!(plan.shared(1).to_string().contains("one thread"));
    /// ```
    pub fn shared(&self, threads: usize) -> impl fmt::Display + '_ {
        SharedPlan { plan: self, threads }
    }

    /// Returns the name of the way of a region that is moved with others, and the number of its runs.
    fn joined(&self, i: usize) -> Option<(String, u64)> {
        let joined = self.0.joined()?;
        joined.name(i).map(|(name, _)| (name, joined.ran(i)))
    }

    fn regions(&self) -> impl Iterator<Item = (&Region, &Ways)> {
        self.0.program.regions().unwrap_or_default().iter().zip(&self.0.ways)
    }

    fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        i: usize,
        (region, ways): (&Region, &Ways),
    ) -> fmt::Result {
        let alone = || (ways.name(region), ways.first().details(&region.whole(), ways.terms()));
        let joined = self.0.joined().and_then(|joined| joined.name(i));
        let (name, details) = joined.unwrap_or_else(alone);
        let way = format!("{name}{details}, ");
        self.0.program.write_region(f, region, &way)
    }

    /// Writes the plan; `also` adds a text to each region.
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        also: &dyn Fn(&mut fmt::Formatter<'_>, usize) -> fmt::Result,
    ) -> fmt::Result {
        let program = &self.0.program;
        program.write_head(f)?;
        if program.regions().is_none() {
            write!(f, "\n  tables: the digits do not divide; {}", program.digits())?;
        }
        for (i, (region, ways)) in self.regions().enumerate() {
            self.write_region(f, i, (region, ways))?;
            also(f, i)?;
        }
        match program.gaps() {
            Some(gaps) if !self.0.fills_gaps_alone(gaps) && program.padding() > 0 => {
                f.write_str("\n  the fill is written everywhere before the elements")
            }
            _ => program.write_gaps(f),
        }
    }
}

/// A plan and the number of threads that share it.
struct SharedPlan<'a> {
    plan: &'a Plan,
    threads: usize,
}

impl fmt::Display for SharedPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (threads, cuts) = (pool::wanted(self.threads), self.plan.0.cuts(self.threads));
        self.plan.write(f, &|f, i| {
            if self.plan.joined(i).is_some() && threads > 1 {
                return write!(f, "\n    {threads} threads share its blocks");
            }
            let Some(cut) = cuts[i] else { return write!(f, "\n    one thread") };
            write!(f, "\n    {threads} threads share {} parts along ", cut.parts())?;
            match cut.along {
                CutDirection::Loop(i) => write!(f, "loop {i}"),
                CutDirection::Run => write!(f, "the run"),
            }
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|_, _| Ok(()))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}
