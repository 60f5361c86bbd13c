//! Changes a `config.json` as text: unchanged parts keep their spelling, numbers to the last digit. Packaging uses it if a recipe
//! changes the configuration of a model.

use serde_json::Value;
use tilewright_recipe::ConfigChange;

use crate::open::json::json;

/// A member of an object: the positions of its key and of its value.
struct ConfigMember {
    key: String,
    from: usize,
    value: usize,
    to: usize,
}

/// Returns the text of a JSON object with a change; `None` for a text that is not a JSON object.
pub(crate) fn changed(text: &str, change: &ConfigChange) -> Option<String> {
    json(text).ok().filter(Value::is_object)?;
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let mut object = text.get(start..end)?.to_owned();
    for key in &change.remove {
        while let Some(without) = without(&object, key) {
            object = without;
        }
    }
    for (key, value) in &change.set {
        object = with(&object, key, value);
    }
    Some(format!("{}{object}{}", &text[..start], &text[end..]))
}

/// Returns the object without the value at a path; `None` if there is no value, or if the path leads through a value that is not
/// an object.
fn without(object: &str, path: &str) -> Option<String> {
    if !object.starts_with('{') {
        return None;
    }
    let members = members(object);
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let at = members.iter().rposition(|member| member.key == key)?;
    let member = &members[at];
    if let Some(rest) = rest {
        let inner = without(&object[member.value..member.to], rest)?;
        return Some(spliced(object, (member.value, member.to), &inner));
    }
    let cut = match (members.get(at + 1), at.checked_sub(1).and_then(|at| members.get(at))) {
        (Some(next), _) => (member.from, next.from),
        (None, Some(last)) => (last.to, member.to),
        (None, None) => (member.from, member.to),
    };
    Some(spliced(object, cut, ""))
}

/// Returns the object with a value at a path; missing objects on the path are created.
fn with(object: &str, path: &str, value: &Value) -> String {
    let members = members(object);
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let found = members.iter().rfind(|member| member.key == key);
    let is_table = |member: &ConfigMember| object[member.value..].starts_with('{');
    if let (Some(rest), Some(member)) = (rest, found.filter(|member| is_table(member))) {
        let inner = with(&object[member.value..member.to], rest, value);
        return spliced(object, (member.value, member.to), &inner);
    }
    // Missing objects are created from the inside out.
    let keys = rest.into_iter().flat_map(|rest| rest.rsplit('.'));
    let text =
        keys.fold(value.to_string(), |text, key| format!("{{{}: {text}}}", Value::from(key)));
    match (found, members.first(), members.last()) {
        (Some(member), ..) => spliced(object, (member.value, member.to), &text),
        (None, Some(first), Some(last)) => {
            let space = &object[1..first.from];
            let more = format!(",{space}{}: {text}", Value::from(key));
            spliced(object, (last.to, last.to), &more)
        }
        (None, ..) => format!("{{{}: {text}}}", Value::from(key)),
    }
}

fn spliced(text: &str, (from, to): (usize, usize), by: &str) -> String {
    format!("{}{by}{}", &text[..from], &text[to..])
}

/// Returns the members of an object, whose text is valid JSON.
fn members(object: &str) -> Vec<ConfigMember> {
    let bytes = object.as_bytes();
    let blank = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let mut all = Vec::new();
    let mut from = blank(1);
    while bytes.get(from) == Some(&b'"') {
        let end = past(bytes, from);
        let value = blank(blank(end) + 1);
        let to = past(bytes, value);
        let key = object.get(from..end).and_then(|key| serde_json::from_str(key).ok());
        all.push(ConfigMember { key: key.unwrap_or_default(), from, value, to });
        // Skips the comma, or the brace that closes the object.
        from = blank(blank(to) + 1);
    }
    all
}

/// Returns the end of the value that begins at a byte.
fn past(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut depth, mut quoted) = (from, 0usize, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, quoted) {
            (b'\\', true) => at += 1,
            (b'"', _) => quoted = !quoted,
            (b'{' | b'[', false) => depth += 1,
            (b'}' | b']', false) if depth > 0 => depth -= 1,
            (b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n', false) if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && !quoted && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(set: &str, remove: &[&str]) -> ConfigChange {
        let Value::Object(set) = serde_json::from_str(set).unwrap() else { panic!() };
        ConfigChange { set, remove: remove.iter().map(|key| (*key).to_owned()).collect() }
    }

    #[test]
    fn what_does_not_change_stays_as_it_was_written() {
        let text = "{\n  \"a\": 1e-05,\n  \"t\": {\"x, }\": [1, {\"b\": \"]\\\"\"}], \"m\": \"old\"},\n  \"z\": 0.10000000000000000001\n}\n";
        for (set, remove, expected) in [
            ("{}", &[][..], text.to_owned()),
            (r#"{"a": 2}"#, &[], text.replace("1e-05", "2")),
            (r#"{"t.m": "new"}"#, &[], text.replace("\"old\"", "\"new\"")),
            (r#"{"n": [1]}"#, &[], text.replace("01\n}", "01,\n  \"n\": [1]\n}")),
            ("{}", &["a"], text.replace("\"a\": 1e-05,\n  ", "")),
            ("{}", &["a.b", "a..b", "t.x, .0", "t.m.k", "z.", "."], text.to_owned()),
            ("{}", &["z", "none", "t.m.k"], text.replace(",\n  \"z\": 0.10000000000000000001", "")),
            ("{}", &["t.m"], text.replace(", \"m\": \"old\"", "")),
            (
                r#"{"u.v.w": true}"#,
                &[],
                text.replace("01\n}", "01,\n  \"u\": {\"v\": {\"w\": true}}\n}"),
            ),
        ] {
            let got = changed(text, &change(set, remove)).unwrap();
            assert_eq!(got, expected, "{set} {remove:?}");
            assert!(serde_json::from_str::<Value>(&got).is_ok());
        }
        assert_eq!(changed("{}", &change(r#"{"a": 1}"#, &[])).unwrap(), r#"{"a": 1}"#);
        assert_eq!(changed(r#"{"a": 1, "a": 2}"#, &change("{}", &["a"])).unwrap(), "{}");
        let bare = r#"{"limit": -Infinity, "a": [NaN]}"#;
        let got = changed(bare, &change(r#"{"b": 1}"#, &["a"])).unwrap();
        assert_eq!(got, r#"{"limit": -Infinity,"b": 1}"#);
        assert_eq!(changed("[1]", &change("{}", &[])), None);
        assert_eq!(changed("{", &change("{}", &[])), None);
    }

    /// Compares with the definition: the objects of the texts, changed key by key.
    #[test]
    fn all_small_changes_are_those_of_the_tables() {
        let objects = [
            r#"{}"#,
            r#"{"a":1}"#,
            r#"{ "a" : {"b": 2 , "c":[]}, "b":"}" }"#,
            r#"{"b":{"a":{}},"a":null,"c":-1.5e3}"#,
        ];
        let keys = ["a", "b", "c", "a.b", "b.a", "a.c", "b.a.c"];
        for text in objects {
            for key in keys {
                let path: Vec<&str> = key.split('.').collect();
                let got = changed(text, &change(&format!("{{\"{key}\": 7}}"), &[])).unwrap();
                let got: Value = serde_json::from_str(&got).unwrap();
                assert_eq!(
                    got.pointer(&format!("/{}", path.join("/"))),
                    Some(&Value::from(7)),
                    "{text} {key}"
                );
                let got = changed(text, &change("{}", &[key])).unwrap();
                let got: Value = serde_json::from_str(&got).unwrap();
                assert_eq!(got.pointer(&format!("/{}", path.join("/"))), None, "{text} {key}");
                // Everything else is unchanged.
                let mut was: Value = serde_json::from_str(text).unwrap();
                if let [table @ .., last] = &path[..]
                    && let Some(Value::Object(table)) = was
                        .pointer_mut(&table.iter().map(|key| format!("/{key}")).collect::<String>())
                {
                    table.remove(*last);
                }
                assert_eq!(got, was, "{text} {key}");
            }
        }
    }
}
