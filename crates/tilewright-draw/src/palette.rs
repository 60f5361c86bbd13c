//! The colours, chosen so that colour-blind readers can distinguish them. Pictures choose from them by number, and
//! printers print them.
//!
//! They are tints of the palette of Masataka Okabe and Kei Ito, *Color Universal Design* (2002, revised 2008), whose
//! colours can be distinguished under every common colour vision deficiency. Its black is replaced by a grey, since the
//! text in cells is black. A tint is a colour mixed with white, in a proportion chosen so that all pairs remain
//! distinct for normal, red-blind, green-blind and blue-blind sight, and black text is legible on all; tests check
//! both.
//!
//! # Colours of elements
//!
//! Assigns colours to elements: one for each tile, or, without tiles, one for each line. All pictures of arrays use it.
//!
//! Law: the colour is a function of the coordinate alone, so an element has the same colour in every panel of a
//! picture.

use tilewright_core::TensorLayout;

use crate::{Key, Paint, subject::join};

/// The number of colours.
pub const HUES: u8 = 8;

/// A colour in red, green and blue of the sRGB space.
///
/// ```
/// use tilewright_draw::palette::{INK, Rgb};
/// assert_eq!(Rgb(0x1a, 0x1a, 0x1a), INK);
/// assert_eq!(INK.hex(), "#1a1a1a");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The colour of text.
pub const INK: Rgb = Rgb(0x1a, 0x1a, 0x1a);
/// The colour of margins and notes.
pub const MUTED: Rgb = Rgb(0x5a, 0x5f, 0x66);
/// The colour of the hatching of padding.
pub const HATCH: Rgb = Rgb(0x9a, 0xa0, 0xa6);
/// The background of padded cells.
pub const PADDED: Rgb = Rgb(0xf4, 0xf4, 0xf4);
/// The colour of the hairlines between cells.
pub const HAIR: Rgb = Rgb(0xc4, 0xc8, 0xcc);
/// The background.
pub const PAPER: Rgb = Rgb(0xff, 0xff, 0xff);

/// The colours of the source with the percentage of each in its tint.
const SOURCE: [(Rgb, u16); HUES as usize] = [
    (Rgb(0x56, 0xb4, 0xe9), 50),
    (Rgb(0xe6, 0x9f, 0x00), 75),
    (Rgb(0x00, 0x9e, 0x73), 75),
    (Rgb(0xd5, 0x5e, 0x00), 65),
    (Rgb(0x00, 0x72, 0xb2), 75),
    (Rgb(0xf0, 0xe4, 0x42), 70),
    (Rgb(0xcc, 0x79, 0xa7), 70),
    (Rgb(0x99, 0x99, 0x99), 33),
];

/// The stops of the scale, from its first colour to its last: from dark to light, blue to yellow, an order that every
/// colour vision deficiency preserves.
const SCALE: [Rgb; 4] =
    [Rgb(0x6a, 0x8c, 0xd8), Rgb(0x7f, 0xb6, 0xd0), Rgb(0xc9, 0xd3, 0xa8), Rgb(0xff, 0xee, 0x80)];

impl Rgb {
    /// Returns the colour as style sheets write it.
    ///
    /// ```
    /// use tilewright_draw::palette::Rgb;
    /// assert_eq!(Rgb(0, 158, 115).hex(), "#009e73");
    /// ```
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Returns the contrast of two colours as the Web Content Accessibility Guidelines define it: from 1 to 21; text
    /// needs at least 4.5.
    ///
    /// ```
    /// use tilewright_draw::palette::{INK, PAPER, tint};
    /// assert!(PAPER.contrast(INK) > 17.0);
    /// assert!((0..8).all(|hue| tint(hue, false).contrast(INK) > 4.5));
    /// ```
    pub fn contrast(self, other: Rgb) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the linear intensities, from 0 to 1.
    fn linear(self) -> [f64; 3] {
        [self.0, self.1, self.2].map(|channel| match f64::from(channel) / 255.0 {
            low if low <= 0.040_45 => low / 12.92,
            high => ((high + 0.055) / 1.055).powf(2.4),
        })
    }

    /// Returns a mixture of `percent` percent of the colour and white.
    fn mixed(self, percent: u16) -> Rgb {
        let mix = |channel: u8| (255 - (255 - u16::from(channel)) * percent / 100) as u8;
        Rgb(mix(self.0), mix(self.1), mix(self.2))
    }
}

/// Returns the colour of this number, or its lighter tint; after the last, the first is used again.
///
/// ```
/// use tilewright_draw::palette::{HUES, INK, tint};
/// assert_eq!(tint(0, false).hex(), "#abdaf4");
/// assert_eq!(tint(HUES, false), tint(0, false));
/// assert!(tint(0, true).contrast(INK) > tint(0, false).contrast(INK));
/// ```
pub fn tint(hue: u8, light: bool) -> Rgb {
    let (colour, percent) = SOURCE[usize::from(hue % HUES)];
    colour.mixed(if light { percent / 2 } else { percent })
}

/// Returns the colour at a position of the scale, from 0 to 255. The scale is for more items than there are [`tint`]s:
/// its colours become lighter from position to position and do not repeat.
///
/// ```
/// use tilewright_draw::palette::{INK, shade};
/// assert_eq!((shade(0).hex(), shade(255).hex()), ("#6a8cd8".to_owned(), "#ffee80".to_owned()));
/// assert!((0..=255).all(|place| shade(place).contrast(INK) > 4.5));
/// ```
pub fn shade(place: u8) -> Rgb {
    let at = usize::from(place) * (SCALE.len() - 1);
    let stop = (at / 255).min(SCALE.len() - 2);
    let part = (at - 255 * stop) as u32;
    let (from, to) = (SCALE[stop], SCALE[stop + 1]);
    let mix = |a: u8, b: u8| ((u32::from(a) * (255 - part) + u32::from(b) * part) / 255) as u8;
    Rgb(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The colours of the elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Colouring {
    dims: Vec<TiledDim>,
    kind: ColouringKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ColouringKind {
    /// A colour for each of the largest tiles; the smallest alternate in tint.
    Tiles,
    /// A colour for each coordinate of this dim.
    Lines(usize),
    /// One colour.
    One,
}

/// The tiles of a dim.
#[derive(Clone, Debug)]
struct TiledDim {
    extent: u64,
    /// The sizes of tiles along it, inner first.
    cuts: Vec<u64>,
    /// The stride of its outermost mode.
    stride: u64,
    /// The change of the colour from one tile to the next.
    step: u64,
}

impl Colouring {
    pub(crate) fn new(layout: &TensorLayout) -> Colouring {
        let mut dims: Vec<TiledDim> =
            (0..layout.rank()).map(|dim| TiledDim::new(layout, dim)).collect();
        let inner = layout.rank().saturating_sub(2)..layout.rank();
        let long = inner.clone().filter(|&dim| dims[dim].extent > 1);
        let kind = if dims[inner.clone()].iter().any(|dim| !dim.cuts.is_empty()) {
            ColouringKind::Tiles
        } else if inner.len() < 2 {
            ColouringKind::One
        } else {
            long.max_by_key(|&dim| (dims[dim].stride, !dim))
                .map_or(ColouringKind::One, ColouringKind::Lines)
        };
        steps(&mut dims);
        Colouring { dims, kind }
    }

    pub(crate) fn is_tiled(&self) -> bool {
        self.kind == ColouringKind::Tiles
    }

    /// Returns the sizes of tiles along a dim, inner first.
    pub(crate) fn cuts(&self, dim: usize) -> &[u64] {
        self.dims.get(dim).map_or(&[], |dim| &dim.cuts)
    }

    /// Returns the colour of an element.
    pub(crate) fn paint(&self, coord: &[u64]) -> Paint {
        let pairs = self.dims.iter().zip(coord);
        match self.kind {
            ColouringKind::Tiles => {
                let hue = pairs.clone().map(|(dim, x)| dim.tile(*x) % 8 * dim.step).sum::<u64>();
                let light = pairs.map(|(dim, x)| dim.alternate(*x)).sum::<u64>() % 2 == 1;
                Paint::Colour { hue: (hue % u64::from(HUES)) as u8, light }
            }
            ColouringKind::Lines(dim) => Paint::colour(coord.get(dim).copied().unwrap_or(0)),
            ColouringKind::One => Paint::colour(0),
        }
    }

    /// Returns the meaning of the colours.
    pub(crate) fn legend(&self) -> Vec<Key> {
        let rank = self.dims.len();
        let key = match self.kind {
            ColouringKind::Tiles => {
                let tiles = self.dims.iter().map(|dim| dim.tile(dim.extent.saturating_sub(1)) + 1);
                let size = self.tile(|dim| dim.cuts.last());
                Key::each(&format!("tile of {size}"), tiles.fold(1, u64::saturating_mul))
            }
            ColouringKind::Lines(dim) => {
                let line = if dim + 1 == rank { "column" } else { "row" };
                Key::each(&format!("{line}, dim {dim}"), self.dims[dim].extent)
            }
            ColouringKind::One => return Vec::new(),
        };
        let mut keys = vec![key];
        if self.kind == ColouringKind::Tiles && self.dims.iter().any(|dim| dim.cuts.len() > 1) {
            let paints = [false, true].map(|light| Paint::Colour { hue: 0, light });
            let text = format!(
                "tiles within, of {}, alternate in tint",
                self.tile(|dim| dim.cuts.first())
            );
            keys.push(Key { paints: paints.into(), text });
        }
        keys
    }

    /// Returns the size of a tile as `4×4`; a dim without tiles is whole.
    fn tile<'a>(&'a self, size: impl Fn(&'a TiledDim) -> Option<&'a u64>) -> String {
        let sizes: Vec<u64> =
            self.dims.iter().map(|dim| size(dim).copied().unwrap_or(dim.extent)).collect();
        join(&sizes).replace(',', "×")
    }
}

impl TiledDim {
    fn new(layout: &TensorLayout, dim: usize) -> TiledDim {
        let extent = layout.extents()[dim];
        let modes = if layout.is_strided() { layout.layout().axis(dim) } else { None };
        let modes: Vec<_> = modes.unwrap_or(&[]).iter().filter(|mode| mode.extent() != 1).collect();
        let sizes = modes.iter().scan(1u64, |size, mode| {
            *size = size.saturating_mul(mode.extent());
            Some(*size)
        });
        let cuts = sizes.take(modes.len().saturating_sub(1)).filter(|&size| size > 0).collect();
        let stride = modes.last().map_or(0, |mode| mode.stride().unsigned_abs());
        TiledDim { extent, cuts, stride, step: 0 }
    }

    /// Returns the number of the tile that contains a coordinate.
    fn tile(&self, x: u64) -> u64 {
        self.cuts.last().map_or(0, |size| x / size)
    }

    /// Returns the parity of the smallest tile, if there are tiles of tiles.
    fn alternate(&self, x: u64) -> u64 {
        if self.cuts.len() > 1 { x / self.cuts[0] % 2 } else { 0 }
    }
}

/// Numbers the tiles in the order of memory, as far as neighbours get different colours.
fn steps(dims: &mut [TiledDim]) {
    let mut order: Vec<usize> = (0..dims.len()).filter(|&d| !dims[d].cuts.is_empty()).collect();
    tilewright_core::sort_short(&mut order, |&dim| (dims[dim].stride, dim));
    let (mut count, hues) = (1, u64::from(HUES));
    for dim in order {
        dims[dim].step = if count % hues == 0 { 3 } else { count % hues };
        count = count % hues * (dims[dim].tile(dims[dim].extent.saturating_sub(1)) + 1) % hues;
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::Layout;

    use super::*;

    /// Machado, Oliveira and Fernandes, *A Physiologically-based Model for Simulation of Color Vision
    /// Deficiency* (2009), full severity: what is seen of the light, row by row.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    fn seen(colour: Rgb, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let light = colour.linear();
        sight.map(|row| {
            row.iter().zip(light).map(|(share, light)| share * light).sum::<f64>().clamp(0.0, 1.0)
        })
    }

    /// CIE L*a*b* of light in sRGB's primaries under its white, D65.
    fn lab([red, green, blue]: [f64; 3]) -> [f64; 3] {
        let root = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
        let y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue);
        let z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn every_pair_is_told_apart_by_every_sight() {
        for sight in &SIGHTS {
            for a in 0..HUES {
                for b in 0..a {
                    let [a, b] = [a, b].map(|hue| lab(seen(tint(hue, false), sight)));
                    let apart: f64 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
                    assert!(apart.sqrt() > 12.0, "{}", apart.sqrt());
                }
            }
        }
    }

    #[test]
    fn the_scale_grows_lighter_and_twelve_places_of_it_are_told_apart_by_every_sight() {
        let light: Vec<f64> = (0..=255).map(|place| shade(place).luminance()).collect();
        assert!(light.windows(2).all(|pair| pair[1] > pair[0] - 0.001));
        for (sight, least) in SIGHTS.iter().zip([8.0, 7.0, 7.0, 1.7]) {
            for a in 0..12u8 {
                for b in 0..a {
                    let [a, b] = [a, b].map(|at| lab(seen(shade(at * 23), sight)));
                    let apart: f64 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
                    assert!(apart.sqrt() > least, "{}", apart.sqrt());
                }
            }
        }
    }

    #[test]
    fn text_is_legible_on_every_ground() {
        for hue in 0..HUES {
            assert!(tint(hue, false).contrast(INK) >= 4.5);
            assert!(tint(hue, true).contrast(INK) >= 7.0);
            assert!(tint(hue, true).contrast(tint(hue, false)) > 1.05);
        }
        assert!(PAPER.contrast(INK) >= 7.0 && PADDED.contrast(INK) >= 7.0);
        assert!(PAPER.contrast(MUTED) >= 4.5 && PADDED.contrast(MUTED) >= 4.5);
    }

    fn colouring(text: &str) -> Colouring {
        Colouring::new(&TensorLayout::of(&Layout::parse(text).unwrap()))
    }

    #[test]
    fn tiles_count_in_the_order_of_memory() {
        let colours = colouring("((4,2),(4,3)):((4,16),(1,32))");
        let hue = |i, j| match colours.paint(&[i, j]) {
            Paint::Colour { hue, light: false } => hue,
            other => panic!("{other:?}"),
        };
        assert_eq!([hue(0, 0), hue(3, 3), hue(4, 0), hue(0, 4), hue(7, 11)], [0, 0, 1, 2, 5]);
        assert_eq!(colours.legend()[0].text, "one colour per tile of 4×4");
    }

    #[test]
    fn neighbouring_tiles_differ() {
        for rows in 2..20 {
            for columns in 2..20 {
                let text = format!("((2,{rows}),(2,{columns})):((1,4),(2,{}))", 4 * rows);
                let colours = colouring(&text);
                for i in 0..rows {
                    for j in 0..columns {
                        let here = colours.paint(&[2 * i, 2 * j]);
                        let (below, right) = ([2 * i + 2, 2 * j], [2 * i, 2 * j + 2]);
                        assert!(i + 1 == rows || here != colours.paint(&below), "{text}");
                        assert!(j + 1 == columns || here != colours.paint(&right), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_tiles_what_lies_together_has_one_colour() {
        assert_eq!(colouring("(4,3):(3,1)").legend()[0].text, "one colour per row, dim 0");
        assert_eq!(colouring("(4,3):(1,4)").legend()[0].text, "one colour per column, dim 1");
        assert!(colouring("12:1").legend().is_empty());
        let key = |text| colouring(text).legend()[0].clone();
        assert_eq!(key("(4,3):(3,1)").paints, [0, 1, 2, 3].map(Paint::colour));
        let many = key("(9,3):(3,1)");
        assert_eq!(
            (many.paints.len(), many.text.as_str()),
            (8, "one colour per row, dim 0, these 8 in turn")
        );
        let nested = colouring("((2,4,2),(4,8,2)):((128,4,256),(1,16,512))");
        assert_eq!(nested.paint(&[2, 0]), Paint::Colour { hue: 0, light: true });
        assert_eq!(nested.paint(&[2, 4]), Paint::colour(0));
        assert_eq!(nested.paint(&[8, 0]), Paint::colour(1));
    }
}
