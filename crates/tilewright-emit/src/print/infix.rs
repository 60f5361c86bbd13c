//! C, CUDA, Rust, Python and Triton: one expression grammar with different surroundings.

use std::collections::HashMap;

use crate::{
    Function, Language, Width,
    expr::{Expr, Op},
    function::{Test, operands},
};

/// A printed function, with its names for common subexpressions.
struct InfixBody<'a> {
    function: &'a Function,
    language: Language,
    names: HashMap<Expr, String>,
    /// The names with their expressions, in order.
    shared: Vec<(String, Expr)>,
}

pub(super) fn print(function: &Function, name: &str, language: Language, bits: Width) -> String {
    let body = InfixBody::new(function, language);
    match language {
        Language::C | Language::Cuda => body.c(name, bits),
        Language::Rust => body.rust(name, bits),
        Language::Triton => body.triton(name),
        Language::Python | Language::Mlir => body.python(name),
    }
}

impl<'a> InfixBody<'a> {
    fn new(function: &'a Function, language: Language) -> InfixBody<'a> {
        let taken = |name: &String| function.arguments.contains(name);
        let mut free = (0..).map(|number| format!("t{number}")).filter(|name| !taken(name));
        let shared: Vec<(String, Expr)> = function
            .shared()
            .into_iter()
            .map(|expr| (free.next().unwrap_or_default(), expr))
            .collect();
        let names = shared.iter().map(|(name, expr)| (expr.clone(), name.clone())).collect();
        InfixBody { function, language, names, shared }
    }

    /// Returns the text of an expression; an operation gets brackets unless the operation around it does not need them.
    fn expr(&self, expr: &Expr, around: Option<(Op, bool)>) -> String {
        let expr = expr.plain();
        if let Some(name) = self.names.get(expr) {
            return name.clone();
        }
        match expr {
            Expr::Int(number) if *number < 0 && around.is_some() => format!("({number})"),
            Expr::Int(number) => number.to_string(),
            Expr::Var(var) => var.name.to_string(),
            _ => self.operation(expr, around),
        }
    }

    fn operation(&self, expr: &Expr, around: Option<(Op, bool)>) -> String {
        let Some((op, a, b)) = operands(expr) else { return String::new() };
        let (op, b) = multiplied(op, b);
        let right = match (op, &b) {
            // All bits except these.
            (Op::And, Expr::Int(mask)) if *mask < 0 => format!("{}{}", self.not(), !mask),
            _ => self.expr(&b, Some((op, false))),
        };
        let text = format!("{} {} {right}", self.expr(a, Some((op, true))), self.sign(op));
        let stands = match around {
            None => true,
            Some((Op::Add, left)) => op == Op::Mul || left && matches!(op, Op::Add | Op::Sub),
            Some((Op::Sub, left)) => op == Op::Mul || left && matches!(op, Op::Add | Op::Sub),
            Some((Op::Mul, left)) => left && op == Op::Mul,
            Some((Op::Xor, left)) => left && op == Op::Xor,
            Some(_) => false,
        };
        if stands { text } else { format!("({text})") }
    }

    fn not(&self) -> &'static str {
        if self.language == Language::Rust { "!" } else { "~" }
    }

    fn sign(&self, op: Op) -> &'static str {
        let floors = matches!(self.language, Language::Python | Language::Triton);
        match op {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div if floors => "//",
            Op::Div => "/",
            Op::Rem => "%",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::And => "&",
            Op::Xor => "^",
        }
    }

    /// Returns the statements that define common subexpressions. A definition does not use its own name.
    fn statements(&self, before: &str, behind: &str) -> String {
        let line = |(name, expr): &(String, Expr)| {
            let value = self.operation(expr, None);
            format!("    {before}{name} = {value}{behind}\n")
        };
        self.shared.iter().map(line).collect()
    }

    fn results(&self) -> Vec<String> {
        self.function.results.iter().map(|result| self.expr(result, None)).collect()
    }

    /// Returns the condition under which a test fails, or holds.
    fn test(&self, test: &Test, fails: bool) -> String {
        let pair =
            |a: &Expr, sign: &str, b: &Expr| format!("{} {sign} {}", self.side(a), self.side(b));
        match (test, fails) {
            (Test::Below(a, b), true) => pair(a, ">=", b),
            (Test::Below(a, b), false) => pair(a, "<", b),
            (Test::AtLeast(a, b), true) => pair(a, "<", b),
            (Test::AtLeast(a, b), false) => pair(a, ">=", b),
            (Test::Zero(a), true) => pair(a, "!=", &Expr::Int(0)),
            (Test::Zero(a), false) => pair(a, "==", &Expr::Int(0)),
        }
    }

    /// Returns a side of a comparison: comparison operators bind less in C and more in Rust.
    fn side(&self, expr: &Expr) -> String {
        self.expr(expr, Some((Op::Shl, true)))
    }

    fn tests(&self, fails: bool) -> Vec<String> {
        self.function.tests.iter().map(|test| self.test(test, fails)).collect()
    }

    fn unused(&self) -> impl Iterator<Item = &String> {
        self.function.arguments.iter().filter(|name| !self.function.uses(name))
    }

    fn c(&self, name: &str, bits: Width) -> String {
        let cuda = self.language == Language::Cuda;
        let own = match (cuda, bits) {
            (false, Width::Bits32) => "int32_t",
            (false, Width::Bits64) => "int64_t",
            (true, Width::Bits32) => "int",
            (true, Width::Bits64) => "long long",
        };
        // An unsigned quotient takes fewer instructions.
        let int = &match (cuda, self.function.is_natural()) {
            (_, false) => own.to_owned(),
            (false, true) => format!("u{own}"),
            (true, true) => format!("unsigned {own}"),
        };
        let rank = self.function.results.len();
        let mut arguments: Vec<String> =
            self.function.arguments.iter().map(|name| format!("{int} {name}")).collect();
        if self.function.inverse {
            arguments.push(if rank > 0 { format!("{int} c[{rank}]") } else { format!("{int} *c") });
        }
        let before = if cuda { "__host__ __device__ __forceinline__" } else { "static inline" };
        let answer = if self.function.inverse { "int" } else { int };
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        let mut text = if cuda { String::new() } else { "#include <stdint.h>\n\n".to_owned() };
        text += &format!("{before} {answer} {name}({arguments})\n{{\n");
        text += &self.unused().map(|name| format!("    (void){name};\n")).collect::<String>();
        text += &self.statements(&format!("const {int} "), ";");
        if !self.function.inverse {
            return text + &format!("    return {};\n}}\n", self.results().concat());
        }
        let test = |test: String| format!("    if ({test})\n        return 0;\n");
        text += &self.tests(true).into_iter().map(test).collect::<String>();
        let store = |(dim, value): (usize, String)| format!("    c[{dim}] = {value};\n");
        text += &self.results().into_iter().enumerate().map(store).collect::<String>();
        if rank == 0 {
            text += "    (void)c;\n";
        }
        text + "    return 1;\n}\n"
    }

    fn rust(&self, name: &str, bits: Width) -> String {
        let int = match (self.function.is_natural(), bits) {
            (true, Width::Bits32) => "u32",
            (true, Width::Bits64) => "u64",
            (false, Width::Bits32) => "i32",
            (false, Width::Bits64) => "i64",
        };
        let arguments: Vec<String> =
            self.function.arguments.iter().map(|name| format!("{name}: {int}")).collect();
        let (arguments, results) = (arguments.join(", "), self.results());
        let rank = results.len();
        let answer =
            if self.function.inverse { format!("Option<[{int}; {rank}]>") } else { int.to_owned() };
        let mut text = format!(
            "#[inline]\n#[allow(non_snake_case)]\npub const fn {name}({arguments}) -> {answer} {{\n"
        );
        text += &self.unused().map(|name| format!("    let _ = {name};\n")).collect::<String>();
        text += &self.statements("let ", ";");
        if !self.function.inverse {
            return text + &format!("    {}\n}}\n", results.concat());
        }
        let test = |test: String| format!("    if {test} {{\n        return None;\n    }}\n");
        text += &self.tests(true).into_iter().map(test).collect::<String>();
        text + &format!("    Some([{}])\n}}\n", results.join(", "))
    }

    fn python(&self, name: &str) -> String {
        let mut text = format!("def {name}({}):\n", self.function.arguments.join(", "));
        text += &self.statements("", "");
        if !self.function.inverse {
            return text + &format!("    return {}\n", self.results().concat());
        }
        let test = |test: String| format!("    if {test}:\n        return None\n");
        text += &self.tests(true).into_iter().map(test).collect::<String>();
        text + &format!("    return {}\n", tuple(&self.results()))
    }

    /// Blocks of integers have no branches, so the outcome of the tests is the last result.
    fn triton(&self, name: &str) -> String {
        let arguments = self.function.arguments.join(", ");
        let mut text = format!("import triton\n\n\n@triton.jit\ndef {name}({arguments}):\n");
        text += &self.statements("", "");
        let mut results = self.results();
        if self.function.inverse {
            let tests: Vec<String> =
                self.tests(false).iter().map(|test| format!("({test})")).collect();
            results.push(if tests.is_empty() { "o >= 0".to_owned() } else { tests.join(" & ") });
            return text + &format!("    return {}\n", tuple(&results));
        }
        text + &format!("    return {}\n", results.concat())
    }
}

/// Returns a shift up as a product, because compilers find common factors of products, but not of shifts.
fn multiplied(op: Op, b: &Expr) -> (Op, Expr) {
    match (op, b) {
        (Op::Shl, Expr::Int(bits)) => (Op::Mul, Expr::Int(1 << bits)),
        _ => (op, b.clone()),
    }
}

/// Returns a tuple in Python.
fn tuple(values: &[String]) -> String {
    match values {
        [one] => format!("({one},)"),
        all => format!("({})", all.join(", ")),
    }
}
