//! Prints a scene as shapes with positions: as SVG, without scripts, style sheets, or fonts and pictures from other
//! places; and as a `tikzpicture`, which needs the package `tikz` and none of its libraries. Colours are defined within
//! the picture, and lengths are those of the SVG, with 0.75 pt for a pixel.
//!
//! The elements are unnamed, so several drawings can be on one page without conflicts; hatching consists of lines,
//! not of a pattern.

use std::fmt::Write as _;

use crate::{
    Scene,
    page::{Anchor, Page, PlacedShape, Rectangle, Style, place},
    palette::{HATCH, INK, PAPER, Rgb},
    printers::{tex, xml},
};

const MONO: &str = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace";
const SANS: &str = "'DejaVu Sans',Verdana,system-ui,sans-serif";

/// The distance between the lines of a hatching.
const HATCHING: i64 = 70;

impl Scene {
    /// Returns the picture as an SVG document.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let svg = grid(&Subject::new(&layout), &Limits::default())?.to_svg();
    /// assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_svg(&self) -> String {
        print(self)
    }
}

fn print(scene: &Scene) -> String {
    let page = place(scene);
    let (width, height) = (tenths(page.width), tenths(page.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n",
        xml(&scene.title)
    );
    let _ = writeln!(svg, "<title>{}</title>", xml(&scene.title));
    let _ = writeln!(svg, "<desc>{}</desc>", xml(&described(scene)));
    let paper = PAPER.hex();
    let _ =
        writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{paper}\"/>");
    fills(&page, &mut svg);
    hatching(&page, &mut svg);
    rules(&page, &mut svg);
    texts(&page, &mut svg);
    svg + "</svg>\n"
}

/// Returns a description of the picture in words.
fn described(scene: &Scene) -> String {
    let keys = scene.legend.iter().map(|key| &key.text);
    let words = [&scene.subtitle].into_iter().chain(keys).chain(&scene.notes);
    words.filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("; ")
}

/// Returns a length in pixels.
fn tenths(length: i64) -> String {
    let (whole, rest) = (length / 10, (length % 10).abs());
    let sign = if length < 0 && whole == 0 { "-" } else { "" };
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

fn fills(page: &Page, svg: &mut String) {
    for shape in &page.shapes {
        if let PlacedShape::Fill(area, colour) = shape {
            let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(tenths);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
                colour.hex()
            );
        }
    }
}

/// Writes diagonals through every hatched area, as one path.
fn hatching(page: &Page, svg: &mut String) {
    let mut path = String::new();
    for shape in &page.shapes {
        if let PlacedShape::Hatch(area) = shape {
            for [x1, y1, x2, y2] in diagonals(area) {
                let [x, y, dx, dy] = [x1, y1, x2 - x1, y2 - y1].map(tenths);
                let _ = write!(path, "M{x} {y}l{dx} {dy}");
            }
        }
    }
    if !path.is_empty() {
        let _ =
            writeln!(svg, "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"0.8\"/>", HATCH.hex());
    }
}

/// Returns lines from lower left to upper right within an area.
fn diagonals(area: &Rectangle) -> Vec<[i64; 4]> {
    let (right, low) = (area.x + area.width, area.y + area.height);
    let across = area.width + area.height;
    let from = |d: i64| (area.x + (d - area.height).max(0), (area.y + d).min(low));
    let to = |d: i64| ((area.x + d).min(right), area.y + (d - area.width).max(0));
    let steps = (1..across / HATCHING + 1).map(|step| step * HATCHING).filter(|&d| d < across);
    steps
        .map(|d| {
            let ((x1, y1), (x2, y2)) = (from(d), to(d));
            [x1, y1, x2, y2]
        })
        .collect()
}

fn rules(page: &Page, svg: &mut String) {
    for shape in &page.shapes {
        match shape {
            PlacedShape::Rules(weight, lines) => {
                let path: String = lines.iter().map(stroke).collect();
                let look = match weight {
                    0 => "stroke-width=\"0.7\" stroke-opacity=\"0.28\"".to_owned(),
                    1 => "stroke-width=\"1.3\"".into(),
                    more => format!("stroke-width=\"{}\"", tenths(4 + 9 * i64::from(*more))),
                };
                let ink = INK.hex();
                let _ = writeln!(
                    svg,
                    "<path d=\"{path}\" stroke=\"{ink}\" stroke-linecap=\"square\" {look}/>"
                );
            }
            PlacedShape::Mark(area) => {
                let inset = 20;
                let [x, y] = [area.x + inset, area.y + inset].map(tenths);
                let [width, height] =
                    [area.width, area.height].map(|side| tenths(side - 2 * inset));
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>",
                    INK.hex()
                );
            }
            PlacedShape::Arrow(x, y, length) => {
                let [x, y, line, tip] = [*x, *y, *length - 60, *length].map(tenths);
                let _ = writeln!(
                    svg,
                    "<g transform=\"translate({x} {y})\" stroke=\"{0}\" fill=\"{0}\"><path d=\"M0 0H{line}\" stroke-width=\"2\"/><path d=\"M{tip} 0l-11 -5.5v11z\" stroke=\"none\"/></g>",
                    INK.hex()
                );
            }
            PlacedShape::Fill(..) | PlacedShape::Hatch(_) | PlacedShape::Text(..) => {}
        }
    }
}

fn stroke([x1, y1, x2, y2]: &[i64; 4]) -> String {
    let [x, y, dx, dy] = [*x1, *y1, x2 - x1, y2 - y1].map(tenths);
    match (dx.as_str(), dy.as_str()) {
        ("0", _) => format!("M{x} {y}v{dy}"),
        (_, "0") => format!("M{x} {y}h{dx}"),
        _ => format!("M{x} {y}l{dx} {dy}"),
    }
}

/// Writes all texts, with a group for consecutive texts of one style.
fn texts(page: &Page, svg: &mut String) {
    let mut open: Option<(Anchor, Style)> = None;
    for shape in &page.shapes {
        let PlacedShape::Text(x, y, anchor, style, text) = shape else { continue };
        if open != Some((*anchor, *style)) {
            *svg += if open.is_some() { "</g>\n" } else { "" };
            *svg += &look(*anchor, *style);
            open = Some((*anchor, *style));
        }
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", tenths(*x), tenths(*y), xml(text));
    }
    *svg += if open.is_some() { "</g>\n" } else { "" };
}

fn look(anchor: Anchor, style: Style) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let family = if style.is_mono() { MONO } else { SANS };
    let weight = if style.is_bold() { " font-weight=\"bold\"" } else { "" };
    let (size, fill) = (tenths(style.size()), style.colour().hex());
    format!(
        "<g font-family=\"{family}\" font-size=\"{size}\"{weight} fill=\"{fill}\" text-anchor=\"{anchor}\">\n"
    )
}

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
        print_tikz(self)
    }
}

fn print_tikz(scene: &Scene) -> String {
    let page = place(scene);
    let mut tikz = String::from(
        "% Needs \\usepackage{tikz} in the preamble.\n\\begin{tikzpicture}[x=0.75pt,y=-0.75pt,line cap=rect]\n",
    );
    for (name, colour) in tikz_colours(&page) {
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
fn tikz_colours(page: &Page) -> Vec<(String, Rgb)> {
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
    let mut named: Vec<(String, Rgb)> =
        colours.into_iter().map(|rgb| (tikz_name(rgb), rgb)).collect();
    tilewright_core::sort_short(&mut named, |(name, _)| name.clone());
    named.dedup();
    named
}

fn tikz_name(colour: Rgb) -> String {
    format!("tw{}", colour.hex().trim_start_matches('#'))
}

fn draw(shape: &PlacedShape, tikz: &mut String) {
    let ink = tikz_name(INK);
    match shape {
        PlacedShape::Fill(area, colour) => {
            let _ = writeln!(tikz, "\\fill[{}] {};", tikz_name(*colour), corners(area, 0));
        }
        PlacedShape::Hatch(area) => {
            let lines: Vec<String> = diagonals(area).iter().map(line).collect();
            let _ = writeln!(
                tikz,
                "\\draw[{},line width=0.6pt] {};",
                tikz_name(HATCH),
                lines.join(" ")
            );
        }
        PlacedShape::Rules(weight, lines) => {
            let look = match weight {
                0 => "line width=0.5pt,opacity=0.28".to_owned(),
                1 => "line width=1pt".into(),
                more => format!("line width={}pt", tenths((4 + 9 * i64::from(*more)) * 3 / 4)),
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
            let [from, to, tip, back] =
                [*x, x + length - 60, x + length, x + length - 110].map(tenths);
            let [y, up, down] = [*y, y - 55, y + 55].map(tenths);
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
    let [x, y] = [area.x + inset, area.y + inset].map(tenths);
    let [right, low] = [area.x + area.width - inset, area.y + area.height - inset].map(tenths);
    format!("({x},{y}) rectangle ({right},{low})")
}

fn line([x1, y1, x2, y2]: &[i64; 4]) -> String {
    let [x1, y1, x2, y2] = [*x1, *y1, *x2, *y2].map(tenths);
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
    let (x, y, colour) = (tenths(at.0), tenths(at.1), tikz_name(style.colour()));
    let _ = writeln!(
        tikz,
        "\\node[anchor={anchor},inner sep=0pt,text={colour},font={family}{series}\\fontsize{{{size}}}{{{size}}}\\selectfont] at ({x},{y}) {{{}}};",
        tex(text)
    );
}
