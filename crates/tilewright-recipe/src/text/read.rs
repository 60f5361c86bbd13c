//! Reads a recipe from its file: the rules, then conditions, notes, sizes that people give, and changes of `config.json`.

use std::collections::BTreeMap;

use tilewright_core::{Dtype, Fill};

use crate::{
    config::{ConfigChange, ConfigJson},
    error::{Error, Errors, InFile, TextPlace},
    kind,
    recipe::{self, Recipe},
    rule::{Reference, Rule, SideTerms, Unequal, name::Rename},
    text::toml_file::{File, TomlTable, TomlValue},
    value::{
        condition::{Condition, Direction, Must, Note, Requirement},
        models::Conditions,
        quantity::Quantity,
    },
};

/// The most sizes in a table.
const MOST_SIZES: usize = 1 << 12;

/// The most steps of computing sizes for all rules that have their own.
const MOST_STEPS: usize = 1 << 26;

/// The most rules of a recipe.
const MOST_RULES: usize = 1 << 16;

/// The most renames of a recipe: each is tried on every name.
const MOST_RENAMES: usize = 1 << 10;

/// The keys of a recipe, of a rule, and of a rename.
const KEYS: [&str; 19] = [
    "title",
    "source",
    "for",
    "inverse_for",
    "require",
    "note",
    "pass",
    "drop",
    "lost",
    "tie",
    "untie",
    "same",
    "every",
    "give",
    "config",
    "sizes",
    "pad_to",
    "rename",
    "map",
];
const RULE_KEYS: [&str; 17] = [
    "from",
    "to",
    "optional",
    "some",
    "rest",
    "layout",
    "from_layout",
    "copies",
    "varying",
    "drop",
    "lost",
    "round",
    "unequal",
    "fill",
    "dtype",
    "from_dtype",
    "sizes",
];

const RENAME_KEYS: [&str; 4] = ["from", "to", "optional", "after"];

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// All faults at once: a text that is no TOML; keys and values that recipes do not have; operations that compute; names
    /// and axes that cannot be read; rules whose two sides are not the same sum of terms. A file has at most 4 MiB and
    /// 65,536 rules.
    ///
    /// ```
    /// use tilewright_recipe::{kind, Recipe};
    /// assert!(Recipe::parse("[[map]]\nfrom = 'w : i o'\nto = 'w : o i'").is_ok());
    /// let errors = Recipe::parse("[[map]]\nfrom = 'norm'\nto = 'norm'\nop = 'w - 1'").unwrap_err();
    /// assert_eq!(errors.first().kind(), kind::ARITHMETIC);
    /// assert_eq!(errors.to_string(), "line 4: `op` is refused: recipes move elements and never compute");
    /// ```
    pub fn parse(text: &str) -> Result<Recipe, Errors> {
        let (mut file, table) = File::open(text)?;
        let place = TextPlace { line: 1, ..TextPlace::default() };
        let table = file.table(table.get_ref(), place, &KEYS);
        let recipe = recipe(&mut file, &table);
        // A rule that cannot be read has names that are not known.
        if file.faults.is_empty() {
            recipe::check(&recipe, &mut file.faults);
        }
        file.faults.or(recipe)
    }
}

fn recipe(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Recipe {
    let pairs = |file: &mut File<'_>, key: &str| {
        table.get(key).map(|value| file.pairs(key, value)).unwrap_or_default()
    };
    let line = |file: &mut File<'_>, key: &str| Some(file.text(key, table.get(key)?, "a text")?.0);
    let mut recipe = Recipe {
        title: line(file, "title"),
        source: line(file, "source"),
        serves: table
            .get("for")
            .map(|value| Conditions::read(file, "for", value))
            .unwrap_or_default(),
        inverse_serves: table
            .get("inverse_for")
            .map(|value| Conditions::read(file, "inverse_for", value)),
        require: list(file, table, "require", requirement),
        note: list(file, table, "note", note),
        give: table.get("give").map(|value| give(file, value)).unwrap_or_default(),
        config: ConfigJson::Unsaid,
        config_back: ConfigJson::Unsaid,
        pass: names(file, table, "pass"),
        drop: names(file, table, "drop"),
        lost: names(file, table, "lost"),
        tie: pairs(file, "tie"),
        untie: pairs(file, "untie"),
        same: names(file, table, "same"),
        every: names(file, table, "every"),
        sizes: table.get("sizes").map(|value| sizes(file, "sizes", value)).unwrap_or_default(),
        pad_to: table.get("pad_to").map(|value| pad_to(file, value)).unwrap_or_default(),
        renames: Vec::new(),
        rules: Vec::new(),
        rounding: false,
    };
    if let Some(value) = table.get("config") {
        (recipe.config, recipe.config_back) = configs(file, value);
    }
    read_lists(file, table, &mut recipe);
    let own = recipe.rules.iter().map(|rule| rule.sizes.len()).filter(|own| *own > 0);
    let steps = own.map(|own| (recipe.sizes.len() + own).pow(2)).fold(0, usize::saturating_add);
    if steps > MOST_STEPS {
        let says = "too many sizes: each rule with sizes computes those of the recipe again";
        file.faults.push(Error::new(kind::LIMIT, says));
    }
    recipe
}

/// Reads the renames and the rules.
fn read_lists(file: &mut File<'_>, table: &TomlTable<'_, '_>, recipe: &mut Recipe) {
    let renames = table.get("rename").map(|value| file.tables("rename", value));
    let renames = renames.unwrap_or_default();
    let tables = table.get("map").map(|value| file.tables("map", value)).unwrap_or_default();
    for (many, most, what) in
        [(tables.len(), MOST_RULES, "rules"), (renames.len(), MOST_RENAMES, "renames")]
    {
        if many > most {
            file.faults.push(Error::new(kind::LIMIT, format!("more than {most} {what}")));
            return;
        }
    }
    for (table, place) in renames {
        let table = file.table(table, place, &RENAME_KEYS);
        recipe.renames.extend(rename(file, &table));
    }
    for (table, place) in tables {
        let table = file.table(table, place, &RULE_KEYS);
        recipe.rules.extend(rule(file, &table));
    }
}

/// The names under a key; none where the key is missing.
fn names<C: FromIterator<String>>(file: &mut File<'_>, table: &TomlTable<'_, '_>, key: &str) -> C {
    let texts = table.get(key).map(|value| file.texts(key, value)).unwrap_or_default();
    texts.into_iter().map(|(text, _)| text).collect()
}

fn quantity(file: &mut File<'_>, key: &str, value: &TomlValue<'_>) -> Option<Quantity> {
    match file.number_or_text(key, value)? {
        Ok(number) => Some(Quantity::Number(number)),
        Err((text, place)) => file.faults.take(Quantity::parse(&text, &place)),
    }
}

fn sizes(file: &mut File<'_>, key: &str, value: &TomlValue<'_>) -> BTreeMap<String, Quantity> {
    let mut sizes = BTreeMap::new();
    let entries = file.free(key, value);
    if entries.len() > MOST_SIZES {
        file.faults.push(Error::new(kind::LIMIT, format!("more than {MOST_SIZES} sizes")));
        return sizes;
    }
    for (name, value) in entries {
        sizes.extend(quantity(file, name, value).map(|quantity| (name.to_owned(), quantity)));
    }
    sizes
}

fn pad_to(file: &mut File<'_>, value: &TomlValue<'_>) -> BTreeMap<String, (String, Quantity)> {
    let what = "an axis and the multiple that it is filled up to, as in [\"v\", 128]";
    let mut all = BTreeMap::new();
    for (name, value) in file.free("pad_to", value) {
        let Some([axis, multiple]) = file.two(name, value, what) else { continue };
        let axis = file.text(name, axis, what);
        let multiple = quantity(file, name, multiple);
        if let (Some((axis, _)), Some(multiple)) = (axis, multiple) {
            all.insert(name.trim_start_matches('~').to_owned(), (axis, multiple));
        }
    }
    all
}

fn rule(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<Rule> {
    let from = side(file, table, ("from", "from_layout", "from_dtype"));
    let to = side(file, table, ("to", "layout", "dtype"));
    let rule = Rule {
        place: table.place.clone(),
        from: from?,
        to: to?,
        optional: table.get("optional").is_some_and(|value| file.truth("optional", value)),
        some: table.get("some").is_some_and(|value| file.truth("some", value)),
        rest: table.get("rest").is_some_and(|value| file.truth("rest", value)),
        copies: names(file, table, "copies"),
        varying: names(file, table, "varying"),
        drop: names(file, table, "drop"),
        lost: names(file, table, "lost"),
        round: table.get("round").is_some_and(|value| file.truth("round", value)),
        unequal: table.get("unequal").map(|value| unequal(file, value)).unwrap_or_default(),
        fill: table.get("fill").and_then(|value| fill(file, value)).unwrap_or(Fill::Zero),
        sizes: table.get("sizes").map(|value| sizes(file, "sizes", value)).unwrap_or_default(),
    };
    let pairs = file.faults.take(rule.pairs())?;
    for fault in rule.faults(&pairs) {
        file.faults.push(fault);
    }
    Some(rule)
}

/// Axes whose sizes differ: the axis that numbers them, or a table that lists the sizes as well.
fn unequal(file: &mut File<'_>, value: &TomlValue<'_>) -> BTreeMap<String, Unequal> {
    let what = "the axis that numbers the pieces, or a table with `by` and `sizes`";
    let mut all = BTreeMap::new();
    for (axis, value) in file.free("unequal", value) {
        let (by, mut sizes) = match value.get_ref().as_str() {
            Some(by) => (Some(by.to_owned()), Vec::new()),
            None => {
                let Some(table) = file.inner(axis, value, (what, &["by", "sizes"])) else {
                    continue;
                };
                let listed = table.get("sizes").map(|value| file.values("sizes", value));
                let by = table.get("by").and_then(|value| file.text("by", value, what));
                (by.map(|(by, _)| by), listed.unwrap_or_default())
            }
        };
        let Some(by) = by else {
            file.faults.push(Error::new(kind::KEY, format!("`unequal` of `{axis}` is {what}")));
            continue;
        };
        let mut one = |value| file.number_or_text("sizes", value).and_then(Result::ok);
        let read: Vec<u64> = sizes.iter().filter_map(|value| one(value)).collect();
        if read.len() < sizes.len() {
            let says = format!("`sizes` of `{axis}` must be integers of 0 or more");
            file.faults.push(Error::new(kind::SIZE, says));
        }
        sizes.clear();
        all.insert(axis.to_owned(), Unequal { by, sizes: read });
    }
    all
}

fn rename(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<Rename> {
    let mut one = |key: &str| {
        let Some(value) = table.get(key) else {
            let says = format!("a rename without `{key}`, which is a name");
            file.faults.push(Error::new(kind::KEY, says).on(&table.place));
            return None;
        };
        let (text, place) = file.text(key, value, "a name as a text")?;
        file.faults.take(Reference::parse(&text, &place))
    };
    let (from, to) = (one("from"), one("to"));
    let mut truth = |key: &str| table.get(key).is_some_and(|value| file.truth(key, value));
    let (optional, after) = (truth("optional"), truth("after"));
    let rename = Rename { place: table.place.clone(), from: from?, to: to?, optional, after };
    match rename.fault() {
        Some(fault) => file.faults.push(fault),
        None => return Some(rename),
    }
    None
}

fn side(
    file: &mut File<'_>,
    table: &TomlTable<'_, '_>,
    (key, layout, dtype): (&str, &str, &str),
) -> Option<SideTerms> {
    let texts = table.get(key).map(|value| file.texts(key, value)).unwrap_or_default();
    if texts.is_empty() {
        let says = format!("a rule without `{key}`, which names a tensor or several");
        file.faults.push(Error::new(kind::KEY, says).on(&table.place));
    }
    let count = texts.len();
    let read =
        |(text, place): &(String, TextPlace)| file.faults.take(Reference::parse(text, place));
    let references: Vec<Reference> = texts.iter().filter_map(read).collect();
    let layout = table.get(layout).map(|value| file.texts(layout, value)).unwrap_or_default();
    let dtype = table.get(dtype).and_then(|value| element_type(file, dtype, value));
    let layout = layout.into_iter().map(|(text, _)| text).collect();
    (count > 0 && references.len() == count).then_some(SideTerms { references, layout, dtype })
}

fn element_type(file: &mut File<'_>, key: &str, value: &TomlValue<'_>) -> Option<Dtype> {
    let (text, place) = file.text(key, value, "an element type, as \"f32\"")?;
    let dtype = Dtype::spelled(&text);
    if dtype.is_none() {
        let says =
            format!("`{text}` is not an element type; `{key}` widens bf16 and f16 exactly, to f32");
        file.faults.push(Error::new(kind::KEY, says).on(&place));
    }
    dtype
}

fn fill(file: &mut File<'_>, value: &TomlValue<'_>) -> Option<Fill> {
    let (text, place) = match file.number_or_text("fill", value)? {
        Ok(0) => return Some(Fill::Zero),
        Ok(number) => (number.to_string(), TextPlace { line: 0, ..TextPlace::default() }),
        Err(text) => text,
    };
    let fill = text.parse::<Fill>().map_err(|error| {
        let error = Error::new(kind::KEY, format!("`fill`: {error}"));
        if place.line > 0 { error.on(&place) } else { error }
    });
    file.faults.take(fill)
}

const REQUIRE_KEYS: [&str; 6] = ["that", "tensor", "if", "say", "way", "allow"];
const NOTE_KEYS: [&str; 3] = ["say", "if", "way"];
const CONFIG_KEYS: [&str; 5] = ["keep", "set", "remove", "leave", "back"];
const BACK_KEYS: [&str; 4] = ["keep", "set", "remove", "leave"];

/// The entries of a list, each read by `one`; none where the key is missing.
pub(crate) fn list<T>(
    file: &mut File<'_>,
    table: &TomlTable<'_, '_>,
    key: &str,
    one: fn(&mut File<'_>, &TomlValue<'_>) -> Option<T>,
) -> Vec<T> {
    let values = table.get(key).map(|value| file.values(key, value)).unwrap_or_default();
    values.into_iter().filter_map(|value| one(file, value)).collect()
}

/// A condition as a text, or a table with more fields.
pub(crate) fn requirement(file: &mut File<'_>, value: &TomlValue<'_>) -> Option<Requirement> {
    let what = "a condition as a text, or a table with `that` or `tensor`";
    if value.get_ref().as_str().is_some() {
        let that = condition(file, "require", value)?;
        let (way, must) = (Direction::Both, Must::That(that));
        return Some(Requirement { way, allow: None, when: None, must, say: None });
    }
    let table = file.inner("require", value, (what, &REQUIRE_KEYS))?;
    let tensor = text(file, &table, "tensor");
    let that = table.get("that").map(|value| condition(file, "that", value));
    let (must, way) = match (that, tensor) {
        (Some(that), None) => (Must::That(that?), Direction::Both),
        // The names of the result are those of one direction.
        (None, Some(tensor)) => (Must::Tensor(tensor), Direction::Forth),
        _ => {
            let says = "an entry of `require` has `that`, a condition, or `tensor`, which the result must have";
            file.faults.push(Error::new(kind::KEY, says).on(&table.place));
            return None;
        }
    };
    let (when, way) = (when(file, &table)?, direction(file, &table, way)?);
    let (allow, say) = (text(file, &table, "allow"), text(file, &table, "say"));
    Some(Requirement { way, allow, when, must, say })
}

/// A sentence, or a table with a condition.
pub(crate) fn note(file: &mut File<'_>, value: &TomlValue<'_>) -> Option<Note> {
    if let Some(say) = value.get_ref().as_str() {
        return Some(Note { way: Direction::Forth, when: None, say: say.to_owned() });
    }
    let what = "a sentence, or a table with `say`";
    let table = file.inner("note", value, (what, &NOTE_KEYS))?;
    let (when, way) = (when(file, &table)?, direction(file, &table, Direction::Forth)?);
    let say = text(file, &table, "say");
    if say.is_none() {
        let says = "the note lacks `say`";
        file.faults.push(Error::new(kind::KEY, says).on(&table.place));
    }
    Some(Note { way, when, say: say? })
}

/// Reads the sizes that people give, with their descriptions.
pub(crate) fn give(file: &mut File<'_>, value: &TomlValue<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in file.free("give", value) {
        let what = "the size, as a text";
        all.extend(file.text(name, value, what).map(|(text, _)| (name.to_owned(), text)));
    }
    all
}

/// Reads the changes to `config.json`, and those of the inverse.
pub(crate) fn configs(file: &mut File<'_>, value: &TomlValue<'_>) -> (ConfigJson, ConfigJson) {
    let what = ("a table", &CONFIG_KEYS[..]);
    let Some(table) = file.inner("config", value, what) else { return Default::default() };
    let back = table.get("back").and_then(|value| {
        let table = file.inner("back", value, ("a table", &BACK_KEYS))?;
        config(file, &table)
    });
    (config(file, &table).unwrap_or_default(), back.unwrap_or_default())
}

fn config(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<ConfigJson> {
    let keep = table.get("keep").is_some_and(|value| file.truth("keep", value));
    let leave = text(file, table, "leave");
    let set = table.get("set").map(|value| object(file, value));
    let remove: Vec<String> = table
        .get("remove")
        .map(|value| file.texts("remove", value))
        .unwrap_or_default()
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    for path in &remove {
        table.get("remove").into_iter().for_each(|value| file.path(path, value));
    }
    let changes = set.is_some() || !remove.is_empty();
    match (keep, changes, leave) {
        (false, false, None) => Some(ConfigJson::Unsaid),
        (true, false, None) => Some(ConfigJson::Keep),
        (false, true, None) => {
            let change = ConfigChange { set: set.unwrap_or(Some(Default::default()))?, remove };
            Some(ConfigJson::Change(change))
        }
        (false, false, Some(why)) => Some(ConfigJson::Leave(why)),
        _ => {
            let says = "`config` has `keep`, or `set` and `remove`, or `leave`";
            file.faults.push(Error::new(kind::KEY, says).on(&table.place));
            None
        }
    }
}

/// A JSON object as a text.
fn object(
    file: &mut File<'_>,
    value: &TomlValue<'_>,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    let what = "a JSON object as a text, as in '{\"model_type\": \"llama\"}'";
    let (text, place) = file.text("set", value, what)?;
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(object)) => {
            object.keys().for_each(|path| file.path(path, value));
            Some(object)
        }
        _ => {
            let says = format!("`set` is {what}");
            file.faults.push(Error::new(kind::KEY, says).on(&place));
            None
        }
    }
}

fn text(file: &mut File<'_>, table: &TomlTable<'_, '_>, key: &str) -> Option<String> {
    Some(file.text(key, table.get(key)?, "a text")?.0)
}

fn condition(file: &mut File<'_>, key: &str, value: &TomlValue<'_>) -> Option<Condition> {
    let (text, place) = file.text(key, value, "a condition as a text")?;
    file.faults.take(Condition::parse(&text, &place))
}

/// The condition under `if`; the outer one is none where it cannot be read.
fn when(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<Option<Condition>> {
    match table.get("if") {
        None => Some(None),
        Some(value) => condition(file, "if", value).map(Some),
    }
}

fn direction(
    file: &mut File<'_>,
    table: &TomlTable<'_, '_>,
    without: Direction,
) -> Option<Direction> {
    let Some(value) = table.get("way") else { return Some(without) };
    let (text, place) = file.text("way", value, "`forth`, `back` or `both`")?;
    let way = Direction::spelled(&text);
    if way.is_none() {
        let says = format!("`way` is `forth`, `back` or `both`, and not `{text}`");
        file.faults.push(Error::new(kind::KEY, says).on(&place));
    }
    way
}
