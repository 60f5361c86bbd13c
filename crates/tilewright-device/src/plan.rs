//! Chooses the kernels that move a program.
//!
//! Law: every element of a program is moved by exactly one kernel, and every gap is filled by exactly one.

use tilewright_core::TensorLayout;
use tilewright_relayout::{Gap, Loop, Program, Region};

use crate::{
    Alignment, Error, Options,
    byte_region::{ByteRegion, Maps, UnswizzledProgram, common, is_narrow},
    elements::{self, Cell},
    fill, gather,
    kernel::{Kernel, Way},
    realign, rows, transpose,
};

/// A way to move an area: it returns its kernels, or `None` if it does not handle the area.
type Planner = fn(&ByteRegion) -> Option<Result<Vec<Kernel>, Error>>;

/// The ways, in order of preference; the last one handles any area.
const WAYS: [Planner; 5] =
    [rows::take, transpose::take, realign::take, gather::take, elements::take];

/// The kernels of a program on a device, which are launched in order.
///
/// Source and destination must not overlap, because kernels read without regard to writes.
///
/// No two kernels write the same byte, with one exception: if [`fills_first`](DevicePlan::fills_first) is true, the
/// first kernels fill the whole destination, and the others overwrite it.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_device::{Alignment, DevicePlan, Target};
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[1000, 3]).unwrap();
/// let columns = TensorLayout::col_major(&[1000, 3]).unwrap();
/// let program = Program::new(&rows, &columns, Elements::same(24), 0).unwrap();
/// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
/// let [kernel] = plan.kernels() else { panic!("one kernel") };
/// assert!(kernel.source(Target::OpenCl).contains("KERNEL(tw_move)"));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePlan {
    kernels: Vec<Kernel>,
    fills_first: bool,
    title: String,
}

impl DevicePlan {
    /// Makes the kernels of a program between two arrays with the alignment `pointers`.
    ///
    /// # Errors
    /// - [unsupported](Error::is_unsupported) for elements narrower than a byte whose dims interleave in the
    ///   destination, and for index tables of more than 2²⁰ entries;
    /// - [overflow](Error::is_overflow) for arrays of more blocks than a launch can have.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_device::{Alignment, DevicePlan};
    /// use tilewright_relayout::{Elements, Program};
    /// // An array without elements needs no kernel.
    /// let none = TensorLayout::row_major(&[0, 4]).unwrap();
    /// let program = Program::new(&none, &none, Elements::same(32), 0).unwrap();
    /// assert!(DevicePlan::new(&program, Alignment::default()).unwrap().kernels().is_empty());
    ///
    /// // Columns 2 apart, and rows 3: the offset in the destination does not determine the row before the column.
    /// let interleaved = Layout::parse("(3,3):(3,2)").unwrap();
    /// let interleaved = TensorLayout::new(&[3, 3], &interleaved, 11).unwrap();
    /// let rows = TensorLayout::row_major(&[3, 3]).unwrap();
    /// let program = Program::new(&rows, &interleaved, Elements::same(4), 0).unwrap();
    /// assert!(DevicePlan::new(&program, Alignment::default()).unwrap_err().is_unsupported());
    /// ```
    pub fn new(program: &Program, pointers: Alignment) -> Result<DevicePlan, Error> {
        DevicePlan::with(program, pointers, Options::default())
    }

    /// Makes the kernels of a program, with choices that measurements decide.
    ///
    /// # Errors
    /// As [`new`](DevicePlan::new).
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_device::{Alignment, DevicePlan, Options};
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[4096, 4096]).unwrap();
    /// let columns = TensorLayout::col_major(&[4096, 4096]).unwrap();
    /// let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
    /// let plan = |tiles| {
    ///     let options = Options::default().with_supertile(tiles);
    ///     DevicePlan::with(&program, Alignment::default(), options).unwrap()
    /// };
    /// assert!(plan(8).kernels()[0].text().contains("Strips of 8 tiles"));
    /// assert!(!plan(1).kernels()[0].text().contains("Strips"));
    /// ```
    pub fn with(
        program: &Program,
        pointers: Alignment,
        options: Options,
    ) -> Result<DevicePlan, Error> {
        let title = title(program);
        if program.dst_bytes() == 0 {
            return Ok(DevicePlan { kernels: Vec::new(), fills_first: false, title });
        }
        let (plain, none) = (UnswizzledProgram::of(program), Maps::default());
        let (gaps, maps) = match plain.as_ref().and_then(|plain| plain.gaps(program)) {
            Some((gaps, maps)) => (Some(gaps), maps),
            None => (program.gaps(), none.clone()),
        };
        let fewer = plain.as_ref().and_then(|plain| plain.regions(program));
        let moved = fewer.or(program.regions().map(|regions| (regions, &none)));
        let moves = match moved {
            Some(_) if gap_shares_bytes(program, gaps) => None,
            Some((regions, maps)) => of_regions(regions, program, pointers, (options, maps))?,
            None => None,
        };
        if moves.is_none() && program.elements().dst_bits < 8 {
            // These kernels write whole bytes, including their padding.
            return Ok(DevicePlan {
                kernels: elements::of_bytes(program)?,
                fills_first: false,
                title,
            });
        }
        let mut kernels = fill::of_gaps(gaps, program, pointers, &maps)?;
        kernels.extend(match moves {
            Some(moves) => moves,
            None => elements::of_digits(program, cell(program, pointers))?,
        });
        Ok(DevicePlan { kernels, fills_first: gaps.is_none(), title })
    }

    /// Makes a plan that uses one way for all regions, even if others are faster, to compare ways. It does not fill
    /// gaps.
    /// # Errors
    /// [Unsupported](Error::is_unsupported) if the way does not handle a region, or the program has no regions.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_device::{Alignment, DevicePlan, Way};
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[7, 5]).unwrap();
    /// let columns = TensorLayout::col_major(&[7, 5]).unwrap();
    /// let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
    /// for way in [Way::Realigned, Way::Gather, Way::Elements] {
    ///     let plan = DevicePlan::by(way, &program, Alignment::default()).unwrap();
    ///     assert_eq!(plan.kernels()[0].way(), way);
    /// }
    ///
    /// let error = DevicePlan::by(Way::Fill, &program, Alignment::default()).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    pub fn by(way: Way, program: &Program, pointers: Alignment) -> Result<DevicePlan, Error> {
        let refused = || Error::unsupported(format!("{} does not move this program", way.name()));
        let regions = program.regions().ok_or_else(refused)?;
        let mut kernels = Vec::new();
        for region in regions {
            let moves = match (way, region.packed) {
                (Way::Widths, true) => gather::take_widths(region, program, pointers),
                (_, true) => None,
                (_, false) => {
                    by_way(way, &ByteRegion::of(region, program, pointers, Options::default()))
                }
            };
            kernels.extend(moves.ok_or_else(refused)??);
        }
        Ok(DevicePlan { kernels, fills_first: false, title: title(program) })
    }

    /// Returns the kernels, in the order in which they are launched.
    ///
    /// ```
    /// use tilewright_core::{Fractal, TensorLayout};
    /// use tilewright_device::{Alignment, DevicePlan, Way};
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[100, 100]).unwrap();
    /// let tiles = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
    /// let program = Program::new(&rows, &tiles, Elements::same(16), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// let fills = plan.kernels().iter().filter(|kernel| kernel.way() == Way::Fill);
    /// assert_eq!(fills.count(), program.gaps().unwrap().len());
    /// ```
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the plan as a text for readers: both layouts, and each kernel with its launch and its numbers. A text
    /// that several kernels share is printed once.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_device::{Alignment, DevicePlan};
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let columns = TensorLayout::col_major(&[64, 64]).unwrap();
    /// let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
    /// let listing = DevicePlan::new(&program, Alignment::default()).unwrap().listing();
    /// assert!(listing.starts_with("// From (64,64):(64,1) of [64, 64]\n// to (64,64):(1,64) of [64, 64],"));
    /// assert!(listing.contains("// Kernel 0, transpose: 1 blocks of 64 threads"));
    /// ```
    pub fn listing(&self) -> String {
        let mut listing = self.title.clone();
        for (number, kernel) in self.kernels.iter().enumerate() {
            let (way, blocks, threads) = (kernel.way().name(), kernel.blocks(), kernel.threads());
            listing.push_str(&format!(
                "\n// Kernel {number}, {way}: {blocks} blocks of {threads} threads, {} bytes of shared memory.\n",
                kernel.shared()
            ));
            for (i, params) in kernel.params().chunks(8).enumerate() {
                let numbers = params.iter().map(|number| (*number as i64).to_string());
                let numbers: Vec<String> = numbers.collect();
                listing.push_str(&format!("// P({}) …: {}\n", 8 * i, numbers.join(", ")));
            }
            let same =
                self.kernels[..number].iter().position(|other| other.text() == kernel.text());
            match same {
                Some(other) => listing.push_str(&format!("// The text of kernel {other}.\n")),
                None => listing.push_str(kernel.text()),
            }
        }
        listing
    }

    /// Returns whether the first kernels fill the whole destination, and the others overwrite it, because the program's
    /// gaps are too many or irregular.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_device::{Alignment, DevicePlan};
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// assert!(!DevicePlan::new(&program, Alignment::default()).unwrap().fills_first());
    /// ```
    pub fn fills_first(&self) -> bool {
        self.fills_first
    }
}

/// Returns a comment that describes the move of a program.
fn title(program: &Program) -> String {
    let (src, dst, elements) = (program.src(), program.dst(), program.elements());
    let widths = match (elements.src_bits, elements.dst_bits) {
        (from, to) if from == to => format!("{from} bits an element"),
        (from, to) => format!("{from} bits an element to {to}"),
    };
    let (src, dst) = (said(src), said(dst));
    format!("// From {src}\n// to {dst}, {widths}.\n")
}

/// Returns a layout and the extents of its array as text.
fn said(layout: &TensorLayout) -> String {
    format!("{} of {:?}", layout.layout(), layout.extents())
}

/// Makes the kernels of regions; `None` if elements of a region share bytes with other data.
fn of_regions(
    regions: &[Region],
    program: &Program,
    pointers: Alignment,
    how: (Options, &Maps),
) -> Result<Option<Vec<Kernel>>, Error> {
    let mut kernels = Vec::new();
    for region in regions {
        match of_region(region, program, pointers, how) {
            Some(more) => kernels.extend(more?),
            None => return Ok(None),
        }
    }
    Ok(Some(kernels))
}

/// Makes the kernels of a region of whole bytes, or of elements whose width changes by whole bytes.
fn of_region(
    region: &Region,
    program: &Program,
    pointers: Alignment,
    (options, maps): (Options, &Maps),
) -> Option<Result<Vec<Kernel>, Error>> {
    if !region.packed {
        let area =
            ByteRegion { maps: maps.clone(), ..ByteRegion::of(region, program, pointers, options) };
        return Some(WAYS.iter().find_map(|take| take(&area)).unwrap_or_else(|| {
            Err(Error::unsupported(format!("no kernel moves runs of {} bytes", area.run)))
        }));
    }
    if let Some(kernels) = transpose::packed(region, program, pointers, (options, maps)) {
        return Some(kernels);
    }
    if maps.are_none()
        && let Some(kernels) = gather::take_widths(region, program, pointers)
    {
        return Some(kernels);
    }
    (!is_narrow(program)).then(|| widened(region, program, pointers, maps))
}

/// Makes the kernels of a region of elements whose width changes by whole bytes.
fn widened(
    region: &Region,
    program: &Program,
    pointers: Alignment,
    maps: &Maps,
) -> Result<Vec<Kernel>, Error> {
    let mut cell = cell(program, pointers);
    let (from, to) = (cell.src as i64, cell.dst as i64);
    let mut loops = region.loops.clone();
    loops.push(Loop { extent: region.run, src: 1, dst: 1 });
    for level in &mut loops {
        (level.src, level.dst) = (level.src * from, level.dst * to);
    }
    let bytes = (program.src_bytes(), program.dst_bytes());
    let first = (region.src * from, region.dst * to);
    let units = maps.units(pointers);
    cell.units = (cell.units.0.min(units.0), cell.units.1.min(units.1));
    elements::of_loops(first, &loops, cell, bytes, maps)
}

/// Returns the part of an element that one access can move: the whole element if its width changes.
fn cell(program: &Program, pointers: Alignment) -> Cell {
    let elements = program.elements();
    let (src, dst) = (u64::from(elements.src_bits / 8), u64::from(elements.dst_bits / 8));
    if src != dst {
        let unit = |pointer: u8, bytes: u64| common(bytes, pointer.into());
        let units = (unit(pointers.src(), src), unit(pointers.dst(), dst));
        return Cell { src, dst, extend: elements.extend, units };
    }
    let unit = [pointers.src().into(), pointers.dst().into(), src];
    Cell::same(unit.into_iter().fold(crate::byte_region::VECTOR, common))
}

/// Makes the kernels of an area by a given way, if the way can move it, even if others are faster.
fn by_way(way: Way, area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
    match way {
        Way::Realigned => realign::any(area),
        Way::Gather => gather::any(&gather::GatherJob::of(area)),
        Way::Elements => elements::take(area),
        Way::Rows => rows::take(area),
        Way::Transpose => transpose::take(area),
        Way::Widths | Way::Fill => None,
    }
}

/// Returns whether a gap begins or ends within a byte.
fn gap_shares_bytes(program: &Program, gaps: Option<&[Gap]>) -> bool {
    let narrow = program.elements().dst_bits < 8;
    narrow && gaps.is_none_or(|gaps| gaps.iter().any(|gap| gap.packed))
}
