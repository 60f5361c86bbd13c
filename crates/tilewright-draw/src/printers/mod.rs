//! The printers of a scene: HTML, SVG, TikZ and text for terminals; and the escapes of text that they share.

pub(crate) mod html;
pub(crate) mod svg;
pub(crate) mod terminal;

/// Escapes text in XML and HTML, between tags and in quotes. Characters that XML cannot represent, even as references,
/// become U+FFFD.
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

/// Escapes text in TeX, in text mode. Of characters outside ASCII, letters of Latin script and the signs that scenes
/// use are kept; the others become a question mark, which every font has.
pub(crate) fn tex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '^' => escaped += "\\textasciicircum{}",
            '~' => escaped += "\\textasciitilde{}",
            '<' => escaped += "\\textless{}",
            '>' => escaped += "\\textgreater{}",
            '|' => escaped += "\\textbar{}",
            // Code 34 is the same character in every encoding of a typewriter font.
            '"' => escaped += "\\char34{}",
            // Braces prevent ligatures with adjacent characters: --, '', ``, ?`, ,,.
            '–' => escaped += "-{}",
            '-' | '\'' | '`' | ',' => {
                escaped.push(c);
                escaped += "{}";
            }
            ' '..='~' => escaped.push(c),
            _ => escaped += &sign(c),
        }
    }
    escaped
}

/// Returns TeX's command for a character outside ASCII.
fn sign(c: char) -> String {
    let name = match c {
        '×' => "times",
        '→' => "rightarrow",
        '∘' => "circ",
        '⊗' => "otimes",
        '⊘' => "oslash",
        '…' => "ldots",
        '⋯' => "cdots",
        '⋮' => "vdots",
        '⋱' => "ddots",
        '⌈' => "lceil",
        '⌉' => "rceil",
        '\t' | '\n' | '\r' => return " ".into(),
        // LaTeX reads the letters of Latin-1 and Latin Extended-A as they are, except those that its usual fonts lack:
        // it would stop at these.
        'Ð' | 'Þ' | 'ð' | 'þ' | 'Đ' | 'đ' | 'Ħ' | 'ħ' | 'ĸ' | 'Ŀ' | 'ŀ' | 'ŉ' | 'Ŋ' | 'ŋ' | 'Ŧ'
        | 'ŧ' => {
            return "?".into();
        }
        'Ą' | 'ą' | 'Ę' | 'ę' | 'Į' | 'į' | 'Ų' | 'ų' => return "?".into(),
        '\u{c0}'..='\u{17e}' => return c.to_string(),
        _ => return "?".into(),
    };
    format!("$\\{name}$")
}

/// Escapes text for a terminal: characters that would move the cursor or change the direction of the line become
/// U+FFFD.
pub(crate) fn terminal(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
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

    #[test]
    fn tex_takes_any_text() {
        assert_eq!(tex("a_b{c}"), "a\\_b\\{c\\}");
        assert_eq!(tex("8×12 → --\u{1b}\n"), "8$\\times$12 $\\rightarrow$ -{}-{}? ");
        assert_eq!(tex("éŁ÷ąĐ€"), "éŁ÷???");
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let escaped = tex(&c.to_string());
            let opened = escaped.matches('{').count() - escaped.matches("\\{").count();
            let closed = escaped.matches('}').count() - escaped.matches("\\}").count();
            assert_eq!(opened, closed, "{c:?}");
            assert!(
                !escaped.contains('\u{1b}') && (c == '$' || escaped.matches('$').count() != 1),
                "{c:?}"
            );
        }
    }

    #[test]
    fn terminals_are_told_nothing() {
        assert_eq!(terminal("\u{1b}[31mé\u{202e}\n"), "\u{fffd}[31mé\u{fffd}\u{fffd}");
    }
}
