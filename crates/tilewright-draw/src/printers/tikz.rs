//! Prints a scene as a `tikzpicture`. It needs the package `tikz` and none of its libraries; colours are defined within
//! the picture, and lengths are those of the SVG, with 0.75 pt for a pixel.

use std::fmt::Write as _;

use super::{svg::diagonals, tex};
use crate::{
    Scene,
    palette::{HATCH, INK, Rgb},
    place::{Anchor, Page, PlacedShape, Rectangle, Style, place},
};

impl Scene {
    /// Returns the picture as a `tikzpicture`, for a document with `\usepackage{tikz}`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let tikz = grid(&Subject::new(&layout), &Limits::default())?.to_tikz();
    /// assert!(tikz.ends_with("\\end{tikzpicture}\n"));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_tikz(&self) -> String {
        print(self)
    }
}

fn print(scene: &Scene) -> String {
    let page = place(scene);
    let mut tikz = String::from(
        "% Needs \\usepackage{tikz} in the preamble.\n\\begin{tikzpicture}[x=0.75pt,y=-0.75pt,line cap=rect]\n",
    );
    for (name, colour) in colours(&page) {
        let hex = colour.hex().trim_start_matches('#').to_ascii_uppercase();
        let _ = writeln!(tikz, "\\definecolor{{{name}}}{{HTML}}{{{hex}}}");
    }
    for shape in &page.shapes {
        draw(shape, &mut tikz);
    }
    // Texts are last, above everything.
    for shape in &page.shapes {
        if let PlacedShape::Text(x, y, anchor, style, text) = shape {
            node(&mut tikz, (*x, *y), *anchor, *style, text);
        }
    }
    tikz + "\\end{tikzpicture}\n"
}

/// Returns the colours that a page needs, each once, with descriptive names.
fn colours(page: &Page) -> Vec<(String, Rgb)> {
    let mut colours = vec![INK, HATCH];
    for shape in &page.shapes {
        match shape {
            PlacedShape::Fill(_, colour) => colours.push(*colour),
            PlacedShape::Text(_, _, _, style, _) => colours.push(style.colour()),
            PlacedShape::Hatch(_)
            | PlacedShape::Rules(..)
            | PlacedShape::Mark(_)
            | PlacedShape::Arrow(..) => {}
        }
    }
    let mut named: Vec<(String, Rgb)> = colours.into_iter().map(|rgb| (name(rgb), rgb)).collect();
    tilewright_core::sort_short(&mut named, |(name, _)| name.clone());
    named.dedup();
    named
}

fn name(colour: Rgb) -> String {
    format!("tw{}", colour.hex().trim_start_matches('#'))
}

/// Returns a length in pixels.
fn px(length: i64) -> String {
    let (whole, rest) = (length / 10, (length % 10).abs());
    let sign = if length < 0 && whole == 0 { "-" } else { "" };
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

fn draw(shape: &PlacedShape, tikz: &mut String) {
    let ink = name(INK);
    match shape {
        PlacedShape::Fill(area, colour) => {
            let _ = writeln!(tikz, "\\fill[{}] {};", name(*colour), corners(area, 0));
        }
        PlacedShape::Hatch(area) => {
            let lines: Vec<String> = diagonals(area).iter().map(line).collect();
            let _ = writeln!(tikz, "\\draw[{},line width=0.6pt] {};", name(HATCH), lines.join(" "));
        }
        PlacedShape::Rules(weight, lines) => {
            let look = match weight {
                0 => "line width=0.5pt,opacity=0.28".to_owned(),
                1 => "line width=1pt".into(),
                more => format!("line width={}pt", px((4 + 9 * i64::from(*more)) * 3 / 4)),
            };
            let lines: Vec<String> = lines.iter().map(line).collect();
            let _ = writeln!(tikz, "\\draw[{ink},{look}] {};", lines.join(" "));
        }
        PlacedShape::Mark(area) => {
            let _ = writeln!(
                tikz,
                "\\draw[{ink},line width=1.35pt,rounded corners=2pt] {};",
                corners(area, 20)
            );
        }
        PlacedShape::Arrow(x, y, length) => {
            let [from, to, tip, back] = [*x, x + length - 60, x + length, x + length - 110].map(px);
            let [y, up, down] = [*y, y - 55, y + 55].map(px);
            let _ = writeln!(tikz, "\\draw[{ink},line width=1.5pt] ({from},{y}) -- ({to},{y});");
            let _ = writeln!(
                tikz,
                "\\fill[{ink}] ({tip},{y}) -- ({back},{up}) -- ({back},{down}) -- cycle;"
            );
        }
        PlacedShape::Text(..) => {}
    }
}

fn corners(area: &Rectangle, inset: i64) -> String {
    let [x, y] = [area.x + inset, area.y + inset].map(px);
    let [right, low] = [area.x + area.width - inset, area.y + area.height - inset].map(px);
    format!("({x},{y}) rectangle ({right},{low})")
}

fn line([x1, y1, x2, y2]: &[i64; 4]) -> String {
    let [x1, y1, x2, y2] = [*x1, *y1, *x2, *y2].map(px);
    format!("({x1},{y1}) -- ({x2},{y2})")
}

fn node(tikz: &mut String, at: (i64, i64), anchor: Anchor, style: Style, text: &str) {
    let anchor = match anchor {
        Anchor::Start => "base west",
        Anchor::Middle => "base",
        Anchor::End => "base east",
    };
    let family = if style.is_mono() { "\\ttfamily" } else { "\\sffamily" };
    let series = if style.is_bold() { "\\bfseries" } else { "" };
    // The size is in whole points, for which TeX has fonts; its letters are a little wider than those of a browser.
    let size = (style.size() * 7 / 100).clamp(7, 17);
    let (x, y, colour) = (px(at.0), px(at.1), name(style.colour()));
    let _ = writeln!(
        tikz,
        "\\node[anchor={anchor},inner sep=0pt,text={colour},font={family}{series}\\fontsize{{{size}}}{{{size}}}\\selectfont] at ({x},{y}) {{{}}};",
        tex(text)
    );
}
