//! MLIR: a function of the dialects `func` and `arith`, with a value for each operation.

use std::collections::{BTreeSet, HashMap};

use crate::{
    Function, Width,
    expr::{Expr, Op},
    function::{Test, operands},
};

pub(super) fn print(function: &Function, name: &str, bits: Width) -> String {
    let int = if bits == Width::Bits32 { "i32" } else { "i64" };
    let mut body = Body { int, names: HashMap::new(), lines: Vec::new() };
    body.constants(function);
    for (number, expr) in function.all().into_iter().enumerate() {
        body.operation(number, expr);
    }
    let mut results: Vec<String> = function.results.iter().map(|it| body.value(it)).collect();
    let mut types = vec![int; results.len()];
    if function.inverse {
        results.push(body.tests(&function.tests));
        types.push("i1");
    }
    let arguments: Vec<String> =
        function.arguments.iter().map(|name| format!("%{name}: {int}")).collect();
    let (arguments, lines) = (arguments.join(", "), body.lines.concat());
    let answer = if types.len() == 1 { types.concat() } else { format!("({})", types.join(", ")) };
    let (results, types) = (results.join(", "), types.join(", "));
    format!(
        "func.func @{name}({arguments}) -> {answer} {{\n{lines}  func.return {results} : {types}\n}}\n"
    )
}

struct Body {
    int: &'static str,
    names: HashMap<Expr, String>,
    lines: Vec<String>,
}

impl Body {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("  {text}\n"));
    }

    /// Adds a line for every number.
    fn constants(&mut self, function: &Function) {
        let mut numbers = BTreeSet::new();
        let mut take = |expr: &Expr| {
            if let Expr::Int(number) = expr.plain() {
                numbers.insert(*number);
            }
        };
        for expr in function.all() {
            if let Some((_, a, b)) = operands(&expr) {
                [a, b].into_iter().for_each(&mut take);
            }
        }
        function.results.iter().for_each(&mut take);
        function.tests.iter().flat_map(Test::operands).for_each(&mut take);
        if function.tests.iter().any(|test| matches!(test, Test::Zero(_))) {
            numbers.insert(0);
        }
        for number in numbers {
            let sign = if number < 0 { "m" } else { "" };
            let (name, int) = (format!("%c{sign}{}", number.unsigned_abs()), self.int);
            self.line(&format!("{name} = arith.constant {number} : {int}"));
            self.names.insert(Expr::Int(number), name);
        }
    }

    fn value(&self, expr: &Expr) -> String {
        match expr.plain() {
            Expr::Var(var) => format!("%{}", var.name),
            other => self.names.get(other).cloned().unwrap_or_default(),
        }
    }

    fn operation(&mut self, number: usize, expr: Expr) {
        let Some((op, a, b)) = operands(&expr) else { return };
        let word = match op {
            Op::Add => "addi",
            Op::Sub => "subi",
            Op::Mul => "muli",
            Op::Div => "divui",
            Op::Rem => "remui",
            Op::Shl => "shli",
            Op::Shr => "shrui",
            Op::And => "andi",
            Op::Xor => "xori",
        };
        let (a, b, int) = (self.value(a), self.value(b), self.int);
        self.line(&format!("%{number} = arith.{word} {a}, {b} : {int}"));
        self.names.insert(expr, format!("%{number}"));
    }

    /// Returns a value of one bit, which is set if all tests hold.
    fn tests(&mut self, tests: &[Test]) -> String {
        let mut all = None;
        for (number, test) in tests.iter().enumerate() {
            let (word, a, b) = match test {
                Test::Below(a, b) => ("slt", self.value(a), self.value(b)),
                Test::AtLeast(a, b) => ("sge", self.value(a), self.value(b)),
                Test::Zero(a) => ("eq", self.value(a), self.value(&Expr::Int(0))),
            };
            self.line(&format!("%t{number} = arith.cmpi {word}, {a}, {b} : {}", self.int));
            all = Some(match all {
                None => format!("%t{number}"),
                Some(before) => {
                    self.line(&format!("%a{number} = arith.andi {before}, %t{number} : i1"));
                    format!("%a{number}")
                }
            });
        }
        all.unwrap_or_else(|| {
            self.line("%always = arith.constant true");
            "%always".to_owned()
        })
    }
}
