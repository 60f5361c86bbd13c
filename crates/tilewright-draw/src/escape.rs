//! Text that means itself, in the languages pictures are printed in.

/// Text in XML and HTML, between tags and in quotes. Characters that XML has no way to say, not even as
/// references, become U+FFFD.
pub(crate) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_takes_any_text() {
        assert_eq!(xml("a<b>&\"'\u{1b}\n"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd} ");
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let text = format!("<a b=\"{0}\">{0}</a>", xml(&c.to_string()));
            assert!(roxmltree::Document::parse(&text).is_ok(), "{c:?}");
        }
    }
}
