//! What every page of the site has round its document: head, navigation, the list of its headings.

use std::fmt::Write as _;

use pulldown_cmark::HeadingLevel;

use super::{Document, PAGE, START, Site, address, relative};

/// The documents of the navigation in the order of use, each with its name there.
const PARTS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Use",
        &[
            (START, "Start"),
            ("docs/README.md", "All documents"),
            ("docs/tutorials/python.md", "Python"),
            ("docs/how-to/devices.md", "Devices"),
            ("docs/reference/json.md", "JSON"),
        ],
    ),
    (
        "Learn",
        &[
            ("docs/tutorials/algebra.md", "The layout algebra"),
            ("docs/tutorials/kernels.md", "For kernel writers"),
            ("docs/how-to/bank-conflicts.md", "Bank conflicts"),
            ("docs/tutorials/compilers.md", "For compiler writers"),
            ("docs/explanation/comparison.md", "Compare"),
        ],
    ),
    (
        "Develop",
        &[
            ("ARCHITECTURE.md", "Architecture"),
            ("DESIGN.md", "Design"),
            ("CONTRIBUTING.md", "Contributing"),
        ],
    ),
];

/// A page of the site.
pub(super) struct Frame<'a> {
    pub(super) site: &'a Site,
    /// The document's path from the root.
    pub(super) path: &'a str,
    pub(super) document: &'a Document,
    /// Whether the site has the page in the browser.
    pub(super) has_page: bool,
}

impl Frame<'_> {
    pub(super) fn html(&self) -> String {
        let title = match (self.path, self.document.title.as_str()) {
            (START, title) => title.to_owned(),
            (_, title) => format!("{title} · Tilewright"),
        };
        include_str!("frame.html")
            .replace("{title}", &escaped(&title))
            .replace("{style}", &self.link("site.css"))
            .replace("{start}", &self.link(&address(START)))
            .replace("{try}", &self.page())
            .replace("{parts}", &self.parts())
            .replace("{headings}", &self.headings())
            .replace("{document}", &self.document.html)
    }

    fn link(&self, to: &str) -> String {
        relative(self.path, to)
    }

    /// The way to the page in the browser.
    fn page(&self) -> String {
        if !self.has_page {
            return String::new();
        }
        let link = self.link(&format!("{PAGE}/index.html"));
        format!("<a class=\"try\" href=\"{link}\">Try it in the browser</a>")
    }

    /// The documents by parts; those that no link leads to are not in the site.
    fn parts(&self) -> String {
        let mut html = String::new();
        for (part, documents) in PARTS {
            let _ = write!(html, "<p>{part}</p><ul>");
            for (path, name) in documents.iter().filter(|(path, _)| self.has(path)) {
                let link = self.link(&address(path));
                let current = if *path == self.path { " aria-current=\"page\"" } else { "" };
                let _ = write!(html, "<li><a href=\"{link}\"{current}>{name}</a></li>");
            }
            html.push_str("</ul>");
        }
        html
    }

    fn has(&self, path: &str) -> bool {
        self.site.pages.contains_key(path)
    }

    /// The headings of the second level, if there are some to choose from.
    fn headings(&self) -> String {
        let second = self.document.headings.iter().filter(|one| one.level == HeadingLevel::H2);
        let items: Vec<String> = second
            .map(|one| format!("<li><a href=\"#{}\">{}</a></li>", one.name, escaped(&one.text)))
            .collect();
        if items.len() < 2 {
            return String::new();
        }
        format!(
            "<nav class=\"here\" aria-label=\"On this page\"><p>On this page</p><ul>{}</ul></nav>",
            items.concat()
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
