//! Named formats with parameters: `zN`, `zN[M0=4,C0=4]`, `zN[preset=torch_npu]`, `MARLIN^T`.
//!
//! ```text
//! format := name [ '[' [ param { ',' param } ] ']' ] [ '^T' ]
//! param  := unit '=' int | 'preset' '=' name | 'LD' '=' int
//! ```
//!
//! The name is from the catalogue. A *unit* is a sized digit of its pattern: `M0` sets `m0:16`, and `C0` or `N0`
//! sets `n0:C0`. A preset is a vendor's rule for the constants. Some formats have a leading dimension: `LD` is the
//! stride of the outermost digit, and the storage then ends with the last element.
//!
//! `^T` is the format of the transposed array: the last two dims of the array are exchanged, the storage is the same.
//! So a weight that PyTorch stores `[out, in]` is `VNNI^T`, whose own dims are `[K, N]`.
//!
//! Case matters. CATLASS writes the order inside a block first (`zN`), and CANN the order of the blocks first
//! (`NZ`, the same format). So `nz` and `ZN` have two readings each, and are refused. Vendors' numbers are names
//! too: `acl:29`, `cublaslt:2`.
//!
//! | text | array | layout |
//! |---|---|---|
//! | `zN` | `f16[100,100]` | `((16,7),(16,7)):((16,256),(1,1792)) valid (100,100)` |
//! | `FRACTAL_NZ[C0=8]` | `[16,16]` | `((16,1),(8,2)):((8,128),(1,128))` |
//! | `zN[preset=torch_npu]` | `f32[16,16]` | `((16,1),(16,1)):((16,256),(1,256))` |
//! | `acl:29` | `f16[32,32]` | `((16,2),(16,2)):((16,256),(1,512))` |
//! | `COL32[LD=2048]` | `s8[33,40]` | `(33,(32,2)):(32,(1,2048)) valid (33,40)` |
//! | `ROW[LD=8]` | `[3,5]` | `(3,5):(8,1)` |
//! | `VNNI^T` | `bf16[20,8]` | `(20,(2,4)):(2,(1,40))` |
//! | `zN[C0=8]^T` | `[16,32]` | `((8,2),(16,2)):((1,256),(8,128))` |
//! | `GGML_QS4^T` | `u4[64]` | error: exchanges the last two dims |
//! | `COL[LD=2]` | `[3,5]` | error: less than the 3 elements |
//! | `zN[LD=8]` | | error: does not take the parameter `LD` |
//! | `nz` | | error: has two readings: `nZ` (CATLASS |
//! | `zN` | `f16[32]` | error: the array has 1: n is missing |
//! | `Q4_0_4_4` | | error: flips the top bit |
//! | `acl:99` | | error: no format is called `acl:99` |
//! | `GPTQ` | `u4[16,3]` | `((8,2),3):((1,24),8)` |
//! | `GPTQ` | `u2[32,3]` | `((16,2),3):((1,48),16)` |
//! | `BNB_4BIT` | `u4[2,4]` | `(2,(2,2)):(4,(-1,2))+1` |
//! | `BNB_4BIT` | `u4[2,3]` | error: splits 2 neighbours over two rows |
//! | `AWQ` | `bf16[3,64]` | error: needs elements of 4 or 8 bits, and bf16 has 16 |
//! | `MARLIN` | `s32[32,128]` | error: needs elements of 4 or 8 bits, and s32 has 32 |
//! | `MARLIN` | `[32,128]` | error: needs the array's dtype |
//! | `zN[K0=4]` | | error: legal are M0, C0 (or N0), preset |
//!
//! Some formats are of the flattened array: their innermost digit goes on from one row to the next. Law: where every
//! row ends with the digit, the pattern of the last dim is that of the flattened array.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use tilewright_core::Dtype;

use super::template::{self, FormatDigit, Parameter, Size, Template, WrittenDigit, both};
use crate::{
    Error, Format, ResolvedLayout,
    catalogue::{self, Width, catalogue, is_own, with_tables},
    literal::{Scanner, alternatives, did_you_mean},
    notation::Notation,
    parsed_spec::{Given, ParsedSpec},
};

pub(in crate::dialect) const DIALECT: Notation =
    Notation::new("format", "a name of the catalogue, with its parameters", read, print)
        .with_form(claims)
        .with_words(words);

/// The suffix of the name of a format whose last two dims are exchanged.
const TRANSPOSED: &str = "^T";

/// The text without the mark of a transposed format, and whether it was there.
fn untransposed(text: &str) -> (&str, bool) {
    let stripped = text.trim_end().strip_suffix(TRANSPOSED);
    (stripped.unwrap_or(text), stripped.is_some())
}

/// The part of a text before its parameters.
fn name_of(text: &str) -> &str {
    text.split_once('[').map_or(text, |(name, _)| name).trim_end()
}

/// Orders with names of their own are read as these; a prefix, or another name, means the format.
fn claims(text: &str) -> bool {
    let (text, transposed) = untransposed(text);
    let name = name_of(text);
    let known = find(name).is_some() && (transposed || !super::order::claims(name));
    known || catalogue::refused(name).is_some() || mixed_case(name).is_some() || is_number(name)
}

/// A format with its parameters.
#[derive(Debug)]
struct Chosen {
    format: &'static Format,
    template: Template,
    preset: Option<&'static str>,
    units: Vec<FormatDigit>,
    leading: Option<u64>,
    /// True if the array's last two dims are exchanged.
    transposed: bool,
}

/// The parameter of the leading dimension.
const LEADING: &str = "LD";

fn read(text: &str) -> Result<Arc<dyn ParsedSpec>, Error> {
    let whole = text;
    let (text, transposed) = untransposed(text);
    let name = name_of(text);
    let format = find(name).ok_or_else(|| no_format(name).at((0, name.len())))?;
    let template = Template::read(format.pattern)?;
    // Parameters have the order of the format's own dims.
    let units = template.digits().filter_map(|digit| FormatDigit::of(format, digit)).collect();
    let template = turned(template, transposed, name)
        .map_err(|error| error.at((text.len(), whole.trim_end().len())))?;
    let mut named = Chosen { format, template, preset: None, units, leading: None, transposed };
    named.read_parameters(text, name.len())?;
    named.check_required(text.len())?;
    Ok(Arc::new(named))
}

/// Returns the pattern, that of the transposed array if `transposed` is set.
fn turned(template: Template, transposed: bool, name: &str) -> Result<Template, Error> {
    if !transposed {
        return Ok(template);
    }
    template.transposed().ok_or_else(|| {
        let message = format!("`{TRANSPOSED}` exchanges the last two dims, but {name} has one");
        Error::unsupported(message)
    })
}

impl Chosen {
    fn read_parameters(&mut self, text: &str, at: usize) -> Result<(), Error> {
        let (_, rest) = text.split_at(at);
        let mut scan = Scanner::new(rest);
        if !scan.eat("[") {
            return Ok(());
        }
        let mut sizes = Vec::new();
        let mut first = true;
        while !scan.eat("]") {
            if !first {
                scan.expect(",").map_err(|error| error.shifted(at))?;
            }
            sizes.extend(self.read_parameter(&mut scan).map_err(|error| error.shifted(at))?);
            first = false;
        }
        scan.end("the format").map_err(|error| error.shifted(at))?;
        // A digit's own name is the more specific one, wherever it occurs.
        tilewright_core::sort_short(&mut sizes, |parameter| !self.is_digit(parameter.name));
        sizes
            .iter()
            .try_for_each(|parameter| self.set(parameter).map_err(|error| error.shifted(at)))
    }

    /// Reads a preset, which is set at once, or a size.
    fn read_parameter<'t>(
        &mut self,
        scan: &mut Scanner<'t>,
    ) -> Result<Option<Parameter<'t>>, Error> {
        let (name, span) = scan.name("a parameter, such as `C0=16`")?;
        scan.expect("=")?;
        scan.skip();
        let from = scan.at();
        if name == "preset" {
            let (preset, span) = scan.name("the name of a preset")?;
            self.preset = Some(self.find_preset(preset, span)?);
            return Ok(None);
        }
        let size = scan.integer()?;
        if size == 0 {
            return Err(Error::parse((from, scan.at()), format!("{name} is 1 or more")));
        }
        Ok(Some(Parameter { name, span, size }))
    }

    fn is_digit(&self, name: &str) -> bool {
        self.units.iter().any(|unit| name.eq_ignore_ascii_case(&unit.digit))
    }

    /// Sets the unit of this name. A constant whose own digit is set by the digit's name is the unit of
    /// columns that is left:
    /// `nZ[M0=4,C0=8]` are blocks of 4 rows and 8 columns, as in `zN[M0=4,C0=8]`.
    fn set(&mut self, parameter: &Parameter<'_>) -> Result<(), Error> {
        let Parameter { name, span, size } = *parameter;
        if self.format.leading && name.eq_ignore_ascii_case(LEADING) {
            return match self.leading.replace(size) {
                None => Ok(()),
                Some(_) => Err(Error::parse(span, "LD is set twice")),
            };
        }
        let legal = self.legal();
        let Some(own) = self.units.iter().position(|unit| unit.is_called(name)) else {
            let message = format!(
                "{} does not take the parameter `{name}`; legal are {legal}",
                self.format.name
            );
            return Err(Error::parse(span, message));
        };
        let open: Vec<usize> =
            (0..self.units.len()).filter(|&i| self.units[i].set.is_none()).collect();
        let at = match (&self.units[own].set, &open[..]) {
            (None, _) => own,
            (Some(_), [left]) if !self.is_digit(name) && *left > own => *left,
            _ => {
                let message =
                    format!("{} is set twice; {legal} can be set", both(&self.units[own]));
                return Err(Error::parse(span, message));
            }
        };
        self.units[at].set = Some(size);
        Ok(())
    }

    fn find_preset(&self, name: &str, span: (usize, usize)) -> Result<&'static str, Error> {
        let presets: Vec<&'static str> =
            self.format.constants.iter().flat_map(|c| c.presets).map(|p| p.name).collect();
        presets.iter().copied().find(|preset| *preset == name).ok_or_else(|| {
            let list = if presets.is_empty() { "none".to_owned() } else { presets.join(", ") };
            let message = format!("{} lacks the preset `{name}`; legal: {list}", self.format.name);
            Error::parse(span, message)
        })
    }

    /// The legal parameters, for messages.
    fn legal(&self) -> String {
        let presets = self.format.constants.iter().any(|constant| !constant.presets.is_empty());
        let mut names: Vec<String> = self.units.iter().map(both).collect();
        names.extend(presets.then(|| "preset".to_owned()));
        names.extend(self.format.leading.then(|| LEADING.to_owned()));
        names.join(", ")
    }

    /// Refuses an array of another rank; of a format whose maker names the dims, by these names.
    fn check_rank(&self, rank: usize) -> Result<(), Error> {
        if self.format.dims.is_empty() || self.fits(rank) {
            return self.template.check_rank(self, rank);
        }
        let mut names = self.format.said_axes();
        if let Some(before) = names.len().checked_sub(2).filter(|_| self.transposed) {
            names.swap(before, before + 1);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Err(template::misfit(self, &names, self.template.more(), rank))
    }

    /// The width of these elements, and its pattern, for a format that is not of any width.
    fn pattern_of(&self, given: &Given<'_>) -> Result<Option<&'static Width>, Error> {
        match (self.format.widths, given.dtype) {
            ([], _) => Ok(None),
            ([one], None) => Ok(Some(one)),
            (_, None) => given.need_dtype(self, "its order").map(|_| None),
            (all, Some(dtype)) => {
                match all.iter().find(|legal| Some(legal.bits) == dtype.packed_bits()) {
                    Some(found) => Ok(Some(found)),
                    None => Err(self.no_width(dtype)),
                }
            }
        }
    }

    /// The pattern of elements of this width, for a format that is not of any width.
    fn own_template(&self, given: &Given<'_>) -> Result<Option<Template>, Error> {
        let own = self.pattern_of(given)?.map(|width| Template::read(width.pattern));
        let turned = |template| turned(template, self.transposed, self.format.name);
        own.transpose()?.map(turned).transpose()
    }

    /// The size of a digit, for the elements of an array; of a digit whose size depends on the width of these, that of
    /// the width.
    fn size(&self, digit: &WrittenDigit, given: &Given<'_>) -> Result<Option<u64>, Error> {
        let name = digit.name.to_ascii_uppercase();
        let unit = self.units.iter().find(|unit| unit.digit == name);
        match (unit, &digit.size) {
            (Some(unit), Size::Fixed(size)) if unit.set.is_none() => Ok(Some(*size)),
            // Of another width the same name may be the digit that takes the rest.
            (Some(unit), Size::Rest) => Ok(unit.set),
            (Some(unit), _) => unit.size(self, self.preset, given).map(Some),
            (None, Size::Fixed(size)) => Ok(Some(*size)),
            (None, _) => Ok(None),
        }
    }

    /// The error of elements of another width.
    fn no_width(&self, dtype: Dtype) -> Error {
        let all = self.format.widths.iter();
        let mut widths: Vec<u32> = all.clone().map(|legal| legal.bits).collect();
        let patterns: Vec<&str> = all.map(|legal| legal.pattern).collect();
        let (usual, bits) = (widths[0], dtype.packed_bits().unwrap_or(0));
        widths.sort_unstable();
        let widths: Vec<String> = widths.iter().map(u32::to_string).collect();
        let (widths, patterns) = (alternatives(&widths), patterns.join("` or `"));
        let message = format!(
            "{self} needs elements of {widths} bits, and {dtype} has {bits}; read words that hold these elements as the elements themselves, such as u{usual}, or use a pattern, which puts elements of any width into this order: `{patterns}`"
        );
        Error::mismatch(message)
    }

    /// Refuses a format whose parameters lack a usual value and are not set.
    fn check_required(&self, end: usize) -> Result<(), Error> {
        let open = |unit: &&FormatDigit| {
            unit.usual.or(unit.set).is_none() && unit.constant.is_none_or(|c| c.units.is_empty())
        };
        let missing: Vec<&str> = self.units.iter().filter(open).map(FormatDigit::name).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let example: Vec<String> = self.units.iter().map(|u| format!("{}=16", u.name())).collect();
        let (name, example) = (self.format.name, example.join(","));
        let missing = missing.join(" and ");
        let message = format!("{name} needs {missing}, as in `{name}[{example}]`");
        Err(Error::parse((end, end), message))
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let preset = self.preset.map(|preset| format!("preset={preset}"));
        let set = self.units.iter().filter_map(|u| Some(format!("{}={}", u.name(), u.set?)));
        let leading = self.leading.map(|stride| format!("{LEADING}={stride}"));
        let parameters: Vec<String> = preset.into_iter().chain(set).chain(leading).collect();
        f.write_str(self.format.name)?;
        if !parameters.is_empty() {
            write!(f, "[{}]", parameters.join(","))?;
        }
        f.write_str(if self.transposed { TRANSPOSED } else { "" })
    }
}

impl ParsedSpec for Chosen {
    fn is_concrete(&self) -> bool {
        false
    }

    fn is_known_everywhere(&self) -> bool {
        !is_own(self.format)
    }

    fn fits(&self, rank: usize) -> bool {
        self.template.rank_fits(rank)
    }

    fn packs(&self, given: &Given<'_>) -> Option<u32> {
        ParsedSpec::width(self, given).filter(|bits| *bits < 8)
    }

    fn width(&self, given: &Given<'_>) -> Option<u32> {
        self.pattern_of(given).ok()?.map(|width| width.bits)
    }

    fn dims_of_words(&self, given: &Given<'_>, shape: &[u64], per: u64) -> Vec<Vec<u64>> {
        let Ok(own) = self.own_template(given) else { return Vec::new() };
        let template = own.as_ref().unwrap_or(&self.template);
        let size = |digit: &WrittenDigit| self.size(digit, given);
        template.dims_of_words(shape, per, &size).into_iter().collect()
    }

    fn resolve(&self, given: &Given<'_>) -> Result<ResolvedLayout, Error> {
        let dims = given.need_dims(self)?;
        self.check_rank(dims.len())?;
        let own = self.own_template(given)?;
        let template = own.as_ref().unwrap_or(&self.template);
        let about = |error: Error| error.about(&format!("{self} ({template})"));
        let size = |digit: &WrittenDigit| self.size(digit, given);
        let mut dense = template.resolve(dims, given, &size).map_err(about)?;
        dense.quantised = self.format.quantised;
        check(self.format, template.innermost(), dims)?;
        let Some(stride) = self.leading else { return Ok(dense) };
        let pattern = template.pattern(&size)?;
        let layout = template::spread(&pattern, &dense.layout, stride).map_err(about)?;
        // The stride may leave gaps, whether it does in this array or not.
        let length = [layout.capacity()];
        Ok(ResolvedLayout::plain(layout, given).with_storage(&length))
    }
}

/// The name, where it still describes this layout. A format is carried, never inferred from strides.
fn print(named: &ResolvedLayout) -> Result<String, Error> {
    let given = Given { dims: Some(named.layout().extents()), dtype: named.dtype() };
    let kept = claims(named.name()).then(|| read(named.name()).ok()).flatten();
    let same = |reading: &Arc<dyn ParsedSpec>| {
        reading.resolve(&given).is_ok_and(|again| again.layout == *named.layout())
    };
    kept.filter(same).map(|reading| reading.to_string()).ok_or_else(|| {
        Error::unsupported("strides do not determine a name: two formats can put the elements of one array at the same places",
        )
    })
}

/// The digits of a format whose sizes tell its arrays apart: those that must be given, else all that can be set.
pub(crate) fn units(format: &Format) -> Vec<String> {
    let template = Template::read(format.pattern).ok();
    let digits = template.iter().flat_map(Template::digits);
    let all: Vec<FormatDigit> = digits.filter_map(|digit| FormatDigit::of(format, digit)).collect();
    let given =
        |unit: &FormatDigit| unit.constant.is_some_and(|constant| constant.units.is_empty());
    let some = all.iter().any(given);
    all.into_iter().filter(|unit| !some || given(unit)).map(|unit| unit.digit).collect()
}

/// The letters of the axes of a pattern.
pub(crate) fn letters_of(pattern: &str) -> Vec<String> {
    let template = Template::read(pattern).ok();
    let letters = template.iter().flat_map(Template::letters);
    letters.map(str::to_owned).collect()
}

/// The dims of a small array that a pattern takes, and its constants.
#[cfg_attr(not(feature = "formats"), expect(dead_code, reason = "formats read from TOML need it"))]
pub(crate) fn parts_of(pattern: &str) -> Result<(Vec<u64>, Vec<String>), Error> {
    let template = Template::read(pattern)?;
    let mut constants: Vec<String> = Vec::new();
    for digit in template.digits() {
        if let Size::Constant(name) = &digit.size
            && !constants.contains(name)
        {
            constants.push(name.clone());
        }
    }
    Ok((template.small_dims(), constants))
}

/// Refuses an array one of whose rows ends within the innermost digit, of `step` elements.
fn check(format: &Format, step: u64, dims: &[u64]) -> Result<(), Error> {
    let Some((last, rows)) = dims.split_last().filter(|_| format.flat) else { return Ok(()) };
    if last.is_multiple_of(step.max(1)) || rows.iter().all(|rows| *rows == 1) {
        return Ok(());
    }
    let name = format.name;
    let message = format!(
        "{name} counts the elements of the flattened array, and a last dim of {last} splits {step} neighbours over two rows; use a multiple of {step}, or an array of one row"
    );
    Err(Error::mismatch(message))
}

/// Every name of the catalogue.
fn words() -> Vec<&'static str> {
    catalogue().flat_map(names).chain(with_tables::names()).collect()
}

fn names(format: &'static Format) -> impl Iterator<Item = &'static str> {
    std::iter::once(format.name).chain(format.aliases.iter().copied())
}

/// The built-in formats in the order of their names and aliases. Every text is looked up here, of any notation.
static BUILT_IN: LazyLock<Vec<(&str, &Format)>> = LazyLock::new(|| {
    let named = |format| names(format).map(move |name| (name, format));
    let mut all: Vec<_> = catalogue::built_in().flat_map(named).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
});

/// The format of this name, which may be an alias.
fn find(name: &str) -> Option<&'static Format> {
    let own =
        || catalogue::formats().into_iter().find(|format| names(format).any(|other| other == name));
    match BUILT_IN.binary_search_by_key(&name, |(name, _)| name) {
        Ok(at) => Some(BUILT_IN[at].1),
        Err(_) => own(),
    }
}

/// Returns whether a name is a vendor's number, known or not: `acl:99`.
fn is_number(name: &str) -> bool {
    let Some((vendor, number)) = name.split_once(':') else { return false };
    let is_vendors = |other: &str| other.split_once(':').is_some_and(|(other, _)| other == vendor);
    number.bytes().all(|b| b.is_ascii_digit() || b == b'-') && words().into_iter().any(is_vendors)
}

/// The two readings of a name whose case is neither CATLASS's nor CANN's.
fn mixed_case(name: &str) -> Option<[&'static str; 2]> {
    let readings = match name {
        name if name.eq_ignore_ascii_case("nz") => ["nZ", "NZ"],
        name if name.eq_ignore_ascii_case("zn") => ["zN", "FRACTAL_ZN"],
        _ => return None,
    };
    find(name).is_none().then_some(readings)
}

/// The error for a name that is not a format's.
fn no_format(name: &str) -> Error {
    if let Some([catlass, cann]) = mixed_case(name) {
        let same = find(cann).map_or("", |format| format.name);
        return Error::new(
            "ambiguous",
            format!(
                "`{name}` has two readings: `{catlass}` (CATLASS: order inside a block first) and `{cann}` (CANN: order of the blocks first; the same as `{same}`); write the one you mean"
            ),
        );
    }
    if let Some((law, why)) = catalogue::refused(name) {
        let said = format!("`{name}` is not a layout: {why}; {law}");
        return Error::unsupported(said);
    }
    let nearest = did_you_mean(name, words());
    Error::parse((0, name.len()), format!("no format is called `{name}`{nearest}"))
}

impl Format {
    /// The dims in the order of the array: as the maker names them, else the letters of the pattern. A format of any
    /// further dims before them has these alone.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let dims = |name: &str| catalogue().find(|format| format.name == name).unwrap().axes();
    /// assert_eq!(dims("MARLIN"), ["K", "N"]);
    /// assert_eq!(dims("MACHETE"), ["N", "K"]);
    /// assert_eq!(dims("COL32"), ["m", "k"]);
    /// ```
    pub fn axes(&self) -> Vec<String> {
        match self.dims {
            [] => letters_of(self.pattern),
            named => named.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// The dims for messages: those of a weight with what they count, `K (in)` and `N (out)`.
    pub(crate) fn said_axes(&self) -> Vec<String> {
        let mut axes = self.axes();
        let words = self.in_and_out().unwrap_or_default().rsplit(", ");
        for (axis, word) in axes.iter_mut().rev().zip(words).filter(|(_, word)| !word.is_empty()) {
            *axis = format!("{axis} ({word})");
        }
        axes
    }
}
