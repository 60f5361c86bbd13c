//! Files have at most 800 lines without their tests (examples in the documentation are tests), functions at most 60.

use super::{
    examples,
    finding::Finding,
    source::{Source, item_end, line_of, word_places},
};

const FILE: usize = 800;
const FUNCTION: usize = 60;

/// Finds files and functions that are too long.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    let lines = source.shipped().count() - examples::line_count(source);
    let says =
        format!("{lines} lines without tests, at most {FILE}; which part is a notion of its own?");
    let file = (lines > FILE).then(|| Finding::new(&source.path, 0, "length", says));
    let long = functions(source).into_iter().filter(|function| function.lines > FUNCTION);
    let says = |function: &Function| {
        format!("`{}` has {} lines, at most {FUNCTION}", function.name, function.lines)
    };
    file.into_iter()
        .chain(long.map(|long| Finding::new(&source.path, long.first, "length", says(&long))))
        .collect()
}

struct Function {
    name: String,
    /// The line of `fn`, from 1.
    first: usize,
    lines: usize,
}

/// Returns every function outside tests.
fn functions(source: &Source) -> Vec<Function> {
    let bare = &source.bare;
    let shipped = |first: usize| source.lines.get(first).is_some_and(|line| !line.test);
    let at = word_places(bare, "fn")
        .map(|place| (place, line_of(bare, place)))
        .filter(|&(_, first)| shipped(first));
    at.filter_map(|(place, first)| {
        let name: String = bare[place + 2..]
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let last = line_of(bare, item_end(bare, place).saturating_sub(1));
        (!name.is_empty()).then_some(Function { name, first: first + 1, lines: last - first + 1 })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::finding::{NONE, lines},
        *,
    };

    fn function(body: usize) -> String {
        format!("fn a(b: [u8; 2]) {{\n{}}}\n", "    b();\n".repeat(body))
    }

    fn found(text: &str) -> Vec<usize> {
        lines(&findings(&Source::new("crates/tilewright-core/src/a.rs", text)))
    }

    #[test]
    fn long_functions_are_found() {
        assert_eq!(found(&function(58)), NONE);
        assert_eq!(found(&format!("//! a\n{}", function(59))), [2]);
        assert_eq!(found(&format!("#[cfg(test)]\nmod tests {{\n{}}}", function(59))), NONE);
        assert_eq!(
            found(&format!("trait A {{ fn b();\n}}\ntype C = fn(u8);\n{}", function(58))),
            NONE
        );
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(found(&"//! a\n".repeat(799)), NONE);
        assert_eq!(found(&"//! a\n".repeat(801)), [0]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", "// a\n".repeat(800));
        assert_eq!(found(&format!("//! a\n{tests}")), NONE);
        let example = format!("/// ```\n{}/// ```\n", "/// a();\n".repeat(300));
        assert_eq!(found(&format!("{example}{}", "// a\n".repeat(799))), NONE);
        assert_eq!(found(&format!("{example}{}", "// a\n".repeat(801))), [0]);
    }
}
