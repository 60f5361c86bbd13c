//! The colours, chosen so that colour-blind readers can distinguish them. Pictures choose from them by number, and
//! printers print them.
//!
//! They are tints of the palette of Masataka Okabe and Kei Ito, *Color Universal Design* (2002, revised 2008), whose
//! colours can be distinguished under every common colour vision deficiency. Its black is replaced by a grey, since the
//! text in cells is black. A tint is a colour mixed with white, in a proportion chosen so that all pairs remain
//! distinct for normal, red-blind, green-blind and blue-blind sight, and black text is legible on all; tests check
//! both.

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

#[cfg(test)]
mod tests {
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
}
