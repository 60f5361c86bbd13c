//! Finds the names of the catalogue that a layout has.
//!
//! A name is found iff it gives the same map with the same padding for the same extents and elements: strides alone do
//! not decide. Where several are the same, all are listed, those without parameters and for any elements first. Of two
//! sizes of blocks that are set one is a block of the layout; the other may be 1 or the whole array. Names of the
//! transposed array, such as `MARLIN^T`, are listed only where there is no other, and sizes of no block of the layout
//! only where there is none of these either.

use tilewright_core::{Dtype, TensorLayout};

use crate::{Format, ResolvedLayout, Spec, catalogue, dialect};

/// A type of each width that constants go by.
const WIDTHS: &[Dtype] = &[Dtype::S4, Dtype::S8, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::C128];

/// The most sizes that are tried for a parameter.
const SIZES: usize = 12;

/// The most that are tried where blocks may be of one row or column, or the whole array.
const ANY_SIZES: usize = 8;

/// A name that a layout has.
///
/// ```
/// use tilewright_notation::{Spec, recognise};
/// let layout = Spec::parse("f16[20,40] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0").unwrap();
/// let found = recognise(&layout.resolve(None, None).unwrap());
/// assert_eq!((found[0].name.as_str(), found[0].bits), ("zN", None));
/// assert!(found[0].format.aliases.contains(&"FRACTAL_NZ"));
/// ```
#[must_use]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recognised {
    /// The SPEC, with its parameters: `zN`, `zN[preset=torch_npu]`, `zN[M0=4,C0=4]`.
    pub name: String,
    /// The format of that name.
    pub format: &'static Format,
    /// The width of elements for which it is this layout, where the layout does not give their type and
    /// the format goes by it.
    pub bits: Option<u32>,
}

/// Every name of the catalogue that is this layout. Extents, padding and the type of the elements decide,
/// so `NHWC` and `NCHW` of one channel are both listed, and a zN of 32-bit elements is none of 16-bit ones.
///
/// ```
/// use tilewright_notation::{Spec, recognise};
/// let names = |text: &str| {
///     let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
///     recognise(&named).into_iter().map(|found| found.name).collect::<Vec<_>>()
/// };
/// let zn = names("bf16[32,48] ((16,2),(16,3)):((16,256),(1,512))");
/// assert!(["zN", "L0C", "FRACTAL_NZ_C0_16"].iter().all(|name| zn.contains(&(*name).into())));
/// // The same strides, of elements of another width.
/// assert!(!names("s8[32,48] ((16,2),(16,3)):((16,256),(1,512))").contains(&"zN".to_owned()));
/// assert!(names("[8,12] ((4,2),(4,3)):((4,16),(1,32))").contains(&"zN[M0=4,C0=4]".to_owned()));
/// assert!(names("[8,12] (8,12):(1,9)").is_empty());
/// // Tiles of one column are blocks as wide as the array, too.
/// let tiles = names("u8[64,8]{1,0:T(4,1)}");
/// assert_eq!(tiles[0], "VNNI");
/// assert!(tiles.contains(&"PaddingColumnMajor[BR=4,BC=8]".to_owned()), "{tiles:?}");
/// // Names without parameters come first.
/// assert_eq!(names("f32[20,300]{1,0:T(8,128)}")[0], "TPU_8x128");
/// // A weight as PyTorch stores it, [N, K], in a format of [K, N].
/// let kn = "(n3 n2:4 n1:2 n0:8) (k3 k2:2 k1:4 k0:2) -> k3 n3 n0 k1 n2 k0 n1 k2";
/// assert_eq!(names(&format!("u4[128,64]E(4) {kn}")), ["MARLIN^T"]);
/// // Blocks of 32 columns, 512 elements from one to the next.
/// assert!(names("[8,64] (8,(32,2)):(32,(1,512))").contains(&"COL32[LD=512]".to_owned()));
/// ```
pub fn recognise(named: &ResolvedLayout) -> Vec<Recognised> {
    let named = &named.clone().without_words();
    let (own, any) = (blocks(named.layout()), any_blocks(named.layout()));
    let looked = [("", &own, &any), ("^T", &own, &Vec::new()), ("", &any, &any)];
    let looked = looked.iter().map(|(behind, own, any)| names(named, behind, own, any));
    let mut found = { looked }.find(|found| !found.is_empty()).unwrap_or_default();
    tilewright_core::sort_short(&mut found, |one| one.name.contains('[') || one.bits.is_some());
    found
}

/// The names of every format, with the suffix `behind`: with blocks of the sizes `own`, or one of them and one of the
/// sizes `any`.
fn names(
    named: &ResolvedLayout,
    behind: &'static str,
    own: &[u64],
    any: &[u64],
) -> Vec<Recognised> {
    let asked = NamedLayout { named, behind };
    let name = |format| {
        usual(format, asked)
            .or_else(|| set(format, asked, own, any))
            .or_else(|| spread(format, asked))
    };
    catalogue().filter_map(name).collect()
}

/// The layout that a name is looked for.
#[derive(Clone, Copy)]
struct NamedLayout<'a> {
    named: &'a ResolvedLayout,
    /// The suffix of each name that is tried.
    behind: &'static str,
}

/// The format as it is, or else by a vendor's preset.
fn usual(format: &'static Format, asked: NamedLayout<'_>) -> Option<Recognised> {
    let presets = format.constants.iter().flat_map(|constant| constant.presets);
    let texts = presets.map(|preset| format!("format:{}[preset={}]", format.name, preset.name));
    std::iter::once(format!("format:{}", format.name))
        .chain(texts)
        .find_map(|text| matches(format, &text, asked))
}

/// The format with sizes for what depends on the element or the user.
fn set(
    format: &'static Format,
    asked: NamedLayout<'_>,
    own: &[u64],
    any: &[u64],
) -> Option<Recognised> {
    let vary =
        |constant: &&crate::Constant| constant.units.is_empty() || !constant.presets.is_empty();
    if !format.constants.iter().any(vary) {
        return None;
    }
    let units = dialect::units(format);
    let texts: Vec<String> = match &units[..] {
        [one] => own.iter().map(|size| format!("{one}={size}")).collect(),
        [one, two] => [(own, own), (own, any), (any, own)]
            .into_iter()
            .flat_map(|(all, others)| all.iter().flat_map(|a| others.iter().map(move |b| (a, b))))
            .map(|(a, b)| format!("{one}={a},{two}={b}"))
            .collect(),
        _ => Vec::new(),
    };
    texts.iter().find_map(|text| matches(format, &format!("format:{}[{text}]", format.name), asked))
}

/// The format with a leading dimension: one of the layout's strides. Without blocks that would name any matrix.
fn spread(format: &'static Format, asked: NamedLayout<'_>) -> Option<Recognised> {
    if !format.leading || dialect::units(format).is_empty() {
        return None;
    }
    let mut modes = asked.named.layout().layout().modes().iter();
    modes.find_map(|mode| {
        matches(format, &format!("format:{}[LD={}]", format.name, mode.stride()), asked)
    })
}

/// The sizes that blocks may have: extents of modes, the fastest of each axis first. A block that is the
/// whole axis carries no information.
fn blocks(layout: &TensorLayout) -> Vec<u64> {
    let axes = || (0..layout.layout().rank()).filter_map(|axis| layout.layout().axis(axis));
    let first = axes().filter(|modes| modes.len() > 1).filter_map(|modes| modes.first());
    let rest = axes().flatten();
    let mut sizes: Vec<u64> = Vec::new();
    for mode in first.chain(rest) {
        let size = mode.extent();
        let whole = axes().any(|modes| modes.len() == 1 && modes[0].extent() == size);
        if size > 1 && !whole && !sizes.contains(&size) && sizes.len() < SIZES {
            sizes.push(size);
        }
    }
    sizes
}

/// The sizes that blocks may have where one may be a row, a column or the whole array: how far each digit steps over
/// the one below it, 1, and the extents.
fn any_blocks(layout: &TensorLayout) -> Vec<u64> {
    let long = layout.layout().modes().iter().filter(|mode| mode.extent() > 1);
    let strides = long.filter_map(|mode| u64::try_from(mode.stride()).ok());
    let mut steps: Vec<u64> = strides.chain([layout.capacity()]).filter(|step| *step > 0).collect();
    tilewright_core::sort_short(&mut steps, |step| *step);
    let ratios = steps.windows(2).filter_map(|pair| match pair {
        [low, high] if high.is_multiple_of(*low) => Some(high / low),
        _ => None,
    });
    let mut sizes: Vec<u64> = Vec::new();
    for size in ratios.chain([1]).chain(layout.extents().iter().copied()) {
        if size > 0 && !sizes.contains(&size) && sizes.len() < ANY_SIZES {
            sizes.push(size);
        }
    }
    sizes
}

/// The name, if this SPEC is the layout.
fn matches(format: &'static Format, text: &str, asked: NamedLayout<'_>) -> Option<Recognised> {
    let NamedLayout { named, behind } = asked;
    let spec = Spec::parse(&format!("{text}{behind}")).ok()?;
    let dims = Some(named.layout().extents());
    if !spec.fits(named.layout().rank()) {
        return None;
    }
    let is = |dtype| {
        let other = spec.resolve(dims, dtype).ok();
        other.is_some_and(|other| same(other.layout(), named.layout()))
    };
    let name = spec.to_string();
    let name = name.strip_prefix("format:").unwrap_or(&name).to_owned();
    if is(named.dtype()) {
        return Some(Recognised { name, format, bits: None });
    }
    let by_width =
        named.dtype().is_none() && spec.resolve(dims, None).is_err_and(|e| e.needs_dtype());
    let width = WIDTHS.iter().copied().find(|dtype| by_width && is(Some(*dtype)))?;
    Some(Recognised { name, format, bits: width.bits() })
}

/// Returns whether two layouts have the same map and the same padding.
fn same(a: &TensorLayout, b: &TensorLayout) -> bool {
    a.capacity() == b.capacity() && (a == b || a.same_function(b) == Ok(true))
}
