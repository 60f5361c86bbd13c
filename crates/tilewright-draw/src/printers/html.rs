//! Prints a scene as HTML: tables, which screen readers can navigate, with a style sheet and a short script inside. It
//! loads nothing from other places.
//!
//! When a cell is pointed at, or reached with the arrow keys, the page shows its description and highlights the cells
//! of the same link. All class names begin with `tw-`, so the part can be included in any page.

use std::fmt::Write as _;

use super::xml;
use crate::{
    Band, Cell, Joint, Key, Paint, Panel, Scene,
    palette::{HATCH, HUES, INK, PADDED, PAPER, shade, tint},
};

impl Scene {
    /// Returns the picture as a page that answers the pointer and the keyboard: it describes an element, and shows the
    /// other cells of the same element. The page loads nothing from other places.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let html = grid(&Subject::new(&layout), &Limits::default())?.to_html();
    /// assert!(html.starts_with("<!DOCTYPE html>") && html.contains("aria-label=\"(1,0): offset 2\""));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_html(&self) -> String {
        page(self)
    }

    /// Returns the picture as a part of a page, for notebooks; several of them can be on one page.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_draw::{Limits, Subject, grid};
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// let part = grid(&Subject::new(&layout), &Limits::default())?.to_html_part();
    /// assert!(part.starts_with("<section ") && part.ends_with("</section>\n"));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn to_html_part(&self) -> String {
        part(self)
    }
}

/// Returns a complete page.
fn page(scene: &Scene) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>body{{margin:0}}.tw-scene{{min-height:100vh;box-sizing:border-box}}</style>\n\
         </head>\n<body>\n{}</body>\n</html>\n",
        xml(&scene.title),
        part(scene)
    )
}

/// Returns a part of a page.
fn part(scene: &Scene) -> String {
    let title = xml(&scene.title);
    let mut html = format!("<section class=\"tw-scene\" aria-label=\"{title}\">\n");
    let _ = write!(html, "<style>\n{}{STYLE}</style>\n", colours());
    let _ = writeln!(html, "<h2>{title}</h2>");
    if !scene.subtitle.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", xml(&scene.subtitle));
    }
    let columns = Columns::of(&scene.bands);
    let _ = writeln!(html, "<div class=\"tw-bands{}\"{}>", columns.class(), columns.style());
    for (at, band) in scene.bands.iter().enumerate() {
        print_band(&mut html, band, &columns, at == 0);
    }
    html += "</div>\n";
    list(&mut html, "tw-legend", scene.legend.iter().map(key));
    list(&mut html, "tw-notes", scene.notes.iter().map(|note| xml(note)));
    let _ = write!(html, "<div class=\"tw-tip\" aria-hidden=\"true\" hidden=\"\"></div>\n{SCRIPT}");
    html + "</section>\n"
}

/// The common columns of panels in bands that are below one another, as on the page of the SVG: the columns, and the
/// space to the left of their cells.
struct Columns {
    /// The most characters of a row's head, by panel; only for the first panel if bands have different numbers of
    /// panels.
    heads: Vec<usize>,
    /// True if all bands have the same number of panels, so these can be aligned in columns.
    aligned: bool,
}

impl Columns {
    fn of(bands: &[Band]) -> Columns {
        let most = bands.iter().map(|band| band.panels.len()).max().unwrap_or(0);
        let aligned = bands.len() > 1 && bands.iter().all(|band| band.panels.len() == most);
        let head = |at: usize| {
            let panels = bands.iter().filter_map(|band| band.panels.get(at));
            let rows = panels.flat_map(|panel| &panel.rows);
            rows.map(|row| row.head.chars().count()).max().unwrap_or(0)
        };
        Columns {
            heads: (0..if aligned { most } else { most.min(1) }).map(head).collect(),
            aligned,
        }
    }

    fn class(&self) -> &'static str {
        if self.aligned { " tw-aligned" } else { "" }
    }

    /// Returns the style of the columns of panels and of the signs between them.
    fn style(&self) -> String {
        match self.aligned {
            true => format!(" style=\"--tw-n:{}\"", 2 * self.heads.len() - 1),
            false => String::new(),
        }
    }

    fn head(&self, at: usize) -> usize {
        self.heads.get(at).copied().unwrap_or(0)
    }
}

fn print_band(html: &mut String, band: &Band, columns: &Columns, first: bool) {
    *html += "<div class=\"tw-band\">\n";
    for (at, panel) in band.panels.iter().enumerate() {
        print_panel(html, panel, columns.head(at), first && at == 0);
        let sign = match band.joints.get(at) {
            Some(Joint::Arrow) => "→",
            Some(Joint::Sign(sign)) => sign,
            // Other bands have a sign here.
            Some(Joint::Gap) | None if columns.aligned && at + 1 < band.panels.len() => "",
            Some(Joint::Gap) | None => continue,
        };
        let _ = writeln!(html, "<div class=\"tw-joint\">{}</div>", xml(sign));
    }
    *html += "</div>\n";
}

fn print_panel(html: &mut String, panel: &Panel, head: usize, first: bool) {
    let width = panel.width();
    let _ = writeln!(html, "<table role=\"grid\" style=\"--tw-w:{width}ch;--tw-h:{head}ch\">");
    let (caption, detail) = (xml(&panel.caption), xml(&panel.detail));
    if !(caption.is_empty() && detail.is_empty()) {
        let _ = writeln!(html, "<caption><b>{caption}</b> {detail}</caption>");
    }
    let tails = panel.rows.iter().any(|row| !row.tail.is_empty());
    let across = |text: &dyn Fn(usize) -> String| -> String {
        (0..panel.columns.len()).map(|at| format!("<th scope=\"col\">{}</th>", text(at))).collect()
    };
    let heads = across(&|at| xml(&panel.columns[at].head));
    let _ = writeln!(html, "<thead><tr><td></td>{heads}</tr></thead>\n<tbody>");
    for (at, row) in panel.rows.iter().enumerate() {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", xml(&row.head));
        for column in 0..panel.columns.len() {
            print_cell(html, panel, at, column, first && at == 0 && column == 0);
        }
        if tails {
            let _ = write!(html, "<th class=\"tw-tail\">{}</th>", xml(&row.tail));
        }
        *html += "</tr>\n";
    }
    *html += "</tbody>\n";
    if panel.columns.iter().any(|column| !column.tail.is_empty()) {
        let tails = across(&|at| xml(&panel.columns[at].tail));
        let _ = writeln!(html, "<tfoot><tr><td></td>{tails}</tr></tfoot>");
    }
    *html += "</table>\n";
}

fn print_cell(html: &mut String, panel: &Panel, row: usize, column: usize, first: bool) {
    let Some(cell) = panel.cell(row, column) else { return };
    let mut classes = vec![paint(cell)];
    let edge =
        |side: &str, weight: Option<u8>| weight.map(|weight| format!("tw-{side}{}", weight.min(4)));
    classes.extend(edge("a", panel.above(row, column)));
    classes.extend(edge("l", panel.before(row, column)));
    if row + 1 == panel.rows.len() {
        classes.extend(edge("u", panel.above(row + 1, column)));
    }
    if column + 1 == panel.columns.len() {
        classes.extend(edge("r", panel.before(row, column + 1)));
    }
    if cell.marked {
        classes.push("tw-mark".into());
    }
    let _ = write!(html, "<td class=\"{}\"", classes.join(" "));
    if !cell.tip.is_empty() {
        let tab = if first { 0 } else { -1 };
        let _ = write!(html, " tabindex=\"{tab}\" aria-label=\"{}\"", xml(&cell.tip));
    }
    *html += &tone(cell.paint);
    if let Some(link) = cell.link {
        let _ = write!(html, " data-k=\"{link}\"");
    }
    let lines: Vec<String> = cell.text.lines().map(xml).collect();
    let _ = write!(html, ">{}</td>", lines.join("<br>"));
}

fn paint(cell: &Cell) -> String {
    class(cell.paint)
}

fn class(paint: Paint) -> String {
    match paint {
        Paint::Plain => "tw-plain".into(),
        Paint::Colour { hue, light } => {
            format!("tw-c{}{}", hue % HUES, if light { "x" } else { "" })
        }
        Paint::Shade(_) => "tw-s".into(),
        Paint::Padding => "tw-pad".into(),
        Paint::Gap | Paint::Absent => "tw-none".into(),
    }
}

/// Returns the colour of a shade as a style, because shades have only one class together.
fn tone(paint: Paint) -> String {
    match paint {
        Paint::Shade(place) => format!(" style=\"--tw-s:{}\"", shade(place).hex()),
        _ => String::new(),
    }
}

fn key(key: &Key) -> String {
    let swatch = |&paint: &Paint| format!("<i class=\"{}\"{}></i>", class(paint), tone(paint));
    key.paints.iter().map(swatch).collect::<String>() + "<span></span>" + &xml(&key.text)
}

fn list(html: &mut String, name: &str, items: impl Iterator<Item = String>) {
    let items: String = items.map(|item| format!("<li>{item}</li>")).collect();
    if !items.is_empty() {
        let _ = writeln!(html, "<ul class=\"{name}\">{items}</ul>");
    }
}

/// Returns the rules of the palette.
fn colours() -> String {
    let mut css = String::new();
    for hue in 0..HUES {
        for (light, x) in [(false, ""), (true, "x")] {
            let _ =
                writeln!(css, ".tw-scene .tw-c{hue}{x}{{background:{}}}", tint(hue, light).hex());
        }
    }
    css += ".tw-scene .tw-s{background:var(--tw-s)}\n";
    let (hatch, padded) = (HATCH.hex(), PADDED.hex());
    let _ = writeln!(
        css,
        ".tw-scene .tw-pad{{background:repeating-linear-gradient(135deg,{padded} 0 4px,{hatch} 4px 5px)}}"
    );
    let _ =
        writeln!(css, ".tw-scene td,.tw-scene i{{color:{};background:{}}}", INK.hex(), PAPER.hex());
    css
}

const STYLE: &str = "\
.tw-scene{font:14px/1.45 system-ui,sans-serif;color:#1a1a1a;background:#fff;padding:16px;position:relative}
.tw-scene h2{font:bold 17px/1.3 ui-monospace,Menlo,Consolas,monospace;margin:0;overflow-wrap:anywhere}
.tw-scene p{margin:2px 0 0;color:#5a5f66}
.tw-band{display:flex;flex-wrap:wrap;align-items:start;gap:16px 20px;margin:16px 0;overflow-x:auto}
.tw-aligned{display:grid;grid-template-columns:repeat(var(--tw-n),max-content);align-items:start;gap:16px 20px;margin:16px 0;overflow-x:auto}
.tw-aligned .tw-band{display:contents}
.tw-joint{font-size:30px;align-self:center}
@media (max-width:700px){
.tw-aligned{display:block}
.tw-aligned .tw-band{display:flex}
}
.tw-scene table{border-collapse:separate;border-spacing:0;font:13px/1.2 ui-monospace,Menlo,Consolas,monospace;margin:0}
.tw-scene caption{text-align:left;padding:0 0 4px 4px;color:#5a5f66;font:13px/1.3 system-ui,sans-serif}
.tw-scene caption b{color:#1a1a1a}
@media (min-width:701px){.tw-scene caption{white-space:nowrap}}
.tw-scene th{font-weight:normal;color:#5a5f66;padding:2px 6px;text-align:center;background:none;border:0}
.tw-scene tbody th{text-align:right;min-width:var(--tw-h)}
.tw-scene th.tw-tail{text-align:left}
.tw-scene thead td,.tw-scene tfoot td,.tw-scene td.tw-none{background:none;color:#5a5f66}
.tw-scene td{padding:3px 4px;min-width:max(1.9em,var(--tw-w));height:1.2em;text-align:center;border:0 solid #1a1a1a}
.tw-scene td.tw-a0{border-top:1px solid #0003}
.tw-scene td.tw-l0{border-left:1px solid #0003}
.tw-scene td.tw-u0{border-bottom:1px solid #0003}
.tw-scene td.tw-r0{border-right:1px solid #0003}
.tw-scene td.tw-a1{border-top-width:2px}.tw-scene td.tw-l1{border-left-width:2px}
.tw-scene td.tw-u1{border-bottom-width:2px}.tw-scene td.tw-r1{border-right-width:2px}
.tw-scene td.tw-a2{border-top-width:3px}.tw-scene td.tw-l2{border-left-width:3px}
.tw-scene td.tw-u2{border-bottom-width:3px}.tw-scene td.tw-r2{border-right-width:3px}
.tw-scene td.tw-a3{border-top-width:4px}.tw-scene td.tw-l3{border-left-width:4px}
.tw-scene td.tw-u3{border-bottom-width:4px}.tw-scene td.tw-r3{border-right-width:4px}
.tw-scene td.tw-a4{border-top-width:5px}.tw-scene td.tw-l4{border-left-width:5px}
.tw-scene td.tw-u4{border-bottom-width:5px}.tw-scene td.tw-r4{border-right-width:5px}
.tw-scene td.tw-mark{box-shadow:inset 0 0 0 2px #1a1a1a}
.tw-scene td.tw-on{background:#1a1a1a;color:#fff;box-shadow:inset 0 0 0 2px #fff8}
.tw-scene td:focus{outline:3px solid #0b57d0;outline-offset:-3px}
.tw-scene ul{list-style:none;display:flex;flex-wrap:wrap;gap:4px 24px;margin:8px 0 0;padding:0;color:#5a5f66}
.tw-scene i{display:inline-block;width:14px;height:14px;border:1px solid #0005;margin-right:-1px;vertical-align:-2px}
.tw-scene ul span{margin-right:7px}
.tw-tip{position:fixed;z-index:9;border:1px solid #fff8;max-width:40em;background:#1a1a1a;color:#fff;padding:3px 8px;border-radius:4px;pointer-events:none}
.tw-tip[hidden]{display:none}
@media (prefers-color-scheme:dark){
.tw-scene{background:#17191c;color:#eee}
.tw-scene p,.tw-scene caption,.tw-scene th,.tw-scene ul,.tw-scene td.tw-none{color:#b4bac1}
.tw-scene caption b{color:#eee}
}
";

const SCRIPT: &str = "\
<script>
document.querySelectorAll('.tw-scene:not([data-on])').forEach(function (root) {
  root.dataset.on = '';
  var tip = root.querySelector('.tw-tip'), same = new Map(), lit = [];
  root.querySelectorAll('td[data-k]').forEach(function (td) {
    var list = same.get(td.dataset.k);
    if (list) list.push(td); else same.set(td.dataset.k, [td]);
  });
  function leave() {
    lit.forEach(function (td) { td.classList.remove('tw-on'); });
    lit = [];
    tip.hidden = true;
  }
  function enter(event) {
    leave();
    var td = event.target.closest('td[aria-label]');
    if (!td) return;
    lit = same.get(td.dataset.k) || [td];
    lit.forEach(function (one) { one.classList.add('tw-on'); });
    var box = td.getBoundingClientRect();
    tip.textContent = td.getAttribute('aria-label');
    tip.hidden = false;
    tip.style.left = Math.max(0, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + 'px';
    var below = box.bottom + 6;
    tip.style.top = (below + tip.offsetHeight < innerHeight ? below : box.top - tip.offsetHeight - 6) + 'px';
  }
  root.addEventListener('mouseover', enter);
  root.addEventListener('mouseleave', leave);
  root.addEventListener('focusin', enter);
  root.addEventListener('focusout', leave);
  root.addEventListener('keydown', function (event) {
    var step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    var td = event.target.closest('td[aria-label]');
    if (event.key === 'Escape') leave();
    if (!step || !td) return;
    event.preventDefault();
    var table = td.closest('table'), y = td.parentNode.rowIndex, x = td.cellIndex, next;
    do {
      y += step[0];
      x += step[1];
      next = table.rows[y] && table.rows[y].cells[x];
    } while (next && !next.hasAttribute('aria-label'));
    if (!next) {
      var tables = Array.from(root.querySelectorAll('table'));
      var other = tables[tables.indexOf(table) + step[0] + step[1]];
      next = other && other.querySelector('td[aria-label]');
    }
    if (!next) return;
    td.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
});
</script>
";
