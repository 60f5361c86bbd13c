//! A document in Markdown as HTML: links lead to the site's files, headings have the names that links use.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{Target, address, relative, target_of};

/// A document, read.
#[derive(Debug)]
pub(super) struct Document {
    /// The text of its first heading.
    pub(super) title: String,
    pub(super) headings: Vec<Heading>,
    /// Where its links and pictures lead, within the project.
    pub(super) targets: Vec<Target>,
    pub(super) html: String,
}

/// A heading below the title.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) level: HeadingLevel,
    pub(super) name: String,
    pub(super) text: String,
}

impl Document {
    /// Reads the document at `path`.
    pub(super) fn read(path: &str, text: &str) -> Document {
        let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
        let all = headings(&mut events);
        let targets = events.iter_mut().filter_map(|event| redirected(path, event)).collect();
        let mut html = String::new();
        html::push_html(&mut html, events.into_iter().flat_map(with_room));
        // A block of Python ends with a blank line, which its test needs and a reader does not.
        let html = html.replace("\n\n</code></pre>", "\n</code></pre>");
        let title = all.first().map_or_else(|| path.to_owned(), |first| first.text.clone());
        Document { title, headings: all.into_iter().skip(1).collect(), targets, html }
    }

    /// Whether a link can name this heading.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headings.iter().any(|heading| heading.name == name)
    }
}

/// Gives every heading its name, and lists them.
fn headings(events: &mut [Event<'_>]) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    for i in 0..events.len() {
        let Event::Start(Tag::Heading { level, .. }) = events[i] else { continue };
        let text: String = events[i..]
            .iter()
            .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        let name = name_of(&text);
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[i] {
            *id = Some(name.clone().into());
        }
        found.push(Heading { level, name, text });
    }
    found
}

/// A heading's name as GitHub makes it: lower case, hyphens for spaces, no other signs.
fn name_of(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Turns a link or picture to where the site has its target, and gives that target.
fn redirected(path: &str, event: &mut Event<'_>) -> Option<Target> {
    let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
        return None;
    };
    let target = target_of(path, dest_url)?;
    let mut link = match target.path == path {
        true => String::new(),
        false => relative(path, &address(&target.path)),
    };
    if let Some(anchor) = &target.anchor {
        link.push('#');
        link.push_str(anchor);
    }
    *dest_url = CowStr::from(link);
    Some(target)
}

/// Tables stand in a box of their own, which scrolls where they are wider than the screen.
fn with_room(event: Event<'_>) -> Vec<Event<'_>> {
    let html = |text: &'static str| Event::Html(text.into());
    match event {
        Event::Start(Tag::Table(_)) => vec![html("<div class=\"wide\" tabindex=\"0\">\n"), event],
        Event::End(TagEnd::Table) => vec![event, html("</div>\n")],
        _ => vec![event],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_names_that_links_use() {
        let text = "# A\n\n## The seam, and `files`\n\n### x86-64: b\n";
        let document = Document::read("a.md", text);
        let names: Vec<&str> = document.headings.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((document.title.as_str(), names), ("A", vec!["the-seam-and-files", "x86-64-b"]));
        assert!(document.has("x86-64-b") && !document.has("a"));
    }

    #[test]
    fn tables_scroll_and_code_stays_as_it_is() {
        let html = Document::read("a.md", "| a |\n|---|\n| `<b>` |\n\n```sh\na < b\n```\n").html;
        assert!(html.starts_with("<div class=\"wide\" tabindex=\"0\">\n<table>"), "{html}");
        assert!(html.contains("<code>&lt;b&gt;</code>") && html.contains("a &lt; b"), "{html}");
        let python = Document::read("a.md", "```python\n>>> 1\n1\n\n```\n").html;
        assert!(python.ends_with("&gt;&gt;&gt; 1\n1\n</code></pre>\n"), "{python}");
    }
}
