//! The languages, the options of the printed text, and functions as text for each family of languages: C, CUDA, Rust,
//! Python and Triton share one expression grammar with different surroundings; MLIR is a function of the dialects
//! `func` and `arith`, with a value for each operation.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
    str::FromStr,
};

use crate::{
    Error, Function,
    expr::{Expr, Op, Test, operands},
};

/// A language in which functions are printed.
///
/// ```
/// use tilewright_emit::Language;
/// assert_eq!("cuda".parse(), Ok(Language::Cuda));
/// assert_eq!(Language::ALL.len(), 6);
/// let error = "cobol".parse::<Language>().unwrap_err().to_string();
/// assert_eq!(error, "language \"cobol\": expected one of c, cuda, rust, python, triton, mlir");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C99.
    C,
    /// CUDA C++, for the device and the host; needs no header.
    Cuda,
    /// Rust, as a `const fn`.
    Rust,
    /// Python.
    Python,
    /// Triton: a function of blocks of integers.
    Triton,
    /// MLIR: the dialects `func` and `arith`.
    Mlir,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 6] = [
        Language::C,
        Language::Cuda,
        Language::Rust,
        Language::Python,
        Language::Triton,
        Language::Mlir,
    ];

    /// Returns the name by which it is selected.
    ///
    /// ```
    /// assert_eq!(tilewright_emit::Language::Mlir.name(), "mlir");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cuda => "cuda",
            Language::Rust => "rust",
            Language::Python => "python",
            Language::Triton => "triton",
            Language::Mlir => "mlir",
        }
    }

    /// Returns an error if a word cannot be a name.
    pub(crate) fn check(self, word: &str) -> Result<(), Error> {
        let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && word.chars().any(|c| c.is_ascii_alphanumeric());
        if !is_word {
            let said = "expected a word of letters, digits and underscores that does not begin with a digit";
            return Err(Error::usage(format!("name {word:?}: {said}")));
        }
        // The functions' own names are reserved: i0, i1 … for coordinates, t0, t1 … for common subexpressions.
        let (language, words) = match self {
            Language::C => ("C", C),
            Language::Cuda => ("CUDA", C),
            Language::Rust => ("Rust", RUST),
            Language::Python | Language::Triton => ("Python", PYTHON),
            Language::Mlir => return Ok(()),
        };
        match words.split_whitespace().any(|own| own == word) {
            true => Err(Error::usage(format!(
                "name {word:?}: it is a word of {language}, or a name in the printed code"
            ))),
            false => Ok(()),
        }
    }
}

const C: &str = "auto break case char const continue default do double else enum extern float for goto if inline int long \
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool class \
template typename this new delete private public protected virtual operator namespace using try catch throw true false \
nullptr friend explicit export mutable alignas alignof and or not xor asm c main int8_t int16_t int32_t int64_t uint8_t \
uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t wchar_t NULL threadIdx blockIdx blockDim gridDim warpSize \
__host__ __device__ __forceinline__ __global__ __shared__";

const RUST: &str = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
move mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do final \
gen macro override priv try typeof unsized virtual yield i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 usize isize bool str char \
Some None Option Ok Err main _";

const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except finally for from \
global if import in is lambda nonlocal not or pass raise return try while with yield triton";

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(text: &str) -> Result<Language, Error> {
        let found = Language::ALL.into_iter().find(|language| language.name() == text);
        found.ok_or_else(|| {
            let names = Language::ALL.map(Language::name).join(", ");
            Error::usage(format!("language {text:?}: expected one of {names}"))
        })
    }
}

/// Options of the printed text.
///
/// ```
/// use tilewright_emit::{Style, Width};
/// assert_eq!(Style::default(), Style { name: None, bits: Width::Bits64 });
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The name of the function; `offset` or `coord` by default.
    pub name: Option<String>,
    /// The width of its integers, if the language has widths.
    pub bits: Width,
}

/// The width of integers.
///
/// ```
/// assert_eq!(tilewright_emit::Width::default(), tilewright_emit::Width::Bits64);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 32 bits, for arrays of fewer than 2³¹ elements.
    Bits32,
    /// 64 bits.
    #[default]
    Bits64,
}

impl Function {
    /// Returns its text in a language: definitions that compile without additions.
    ///
    /// # Errors
    /// `usage` for a name that the language reserves.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_emit::{Digits, Language, Style};
    /// let rows = Digits::of(&TensorLayout::row_major(&[3, 5]).unwrap())?.offset()?;
    /// let style = Style { name: Some("int".into()), ..Style::default() };
    /// assert!(rows.print(Language::C, &style).unwrap_err().to_string().contains("a word of C"));
    /// assert!(rows.print(Language::Python, &style).is_ok());
    /// # Ok::<(), tilewright_emit::Error>(())
    /// ```
    pub fn print(&self, language: Language, style: &Style) -> Result<String, Error> {
        let name = style.name.as_deref().unwrap_or(self.name);
        for word in self.arguments.iter().map(String::as_str).chain([name]) {
            language.check(word)?;
        }
        if let (Width::Bits32, Some(high)) = (style.bits, self.beyond_32_bits()) {
            let said = "values reach";
            return Err(Error::usage(format!(
                "{said} {high}, beyond integers of 32 bits: take 64"
            )));
        }
        let mut seen = HashSet::from([name]);
        if let Some(twice) = self.arguments.iter().find(|own| !seen.insert(own)) {
            let own = "the coordinates are i0, i1 …, an offset is o";
            return Err(Error::usage(format!("name {twice:?}: it has two meanings; {own}")));
        }
        Ok(print(self, name, language, style.bits))
    }
}

/// Returns the text of a function with a name.
fn print(function: &Function, name: &str, language: Language, bits: Width) -> String {
    match language {
        Language::Mlir => mlir(function, name, bits),
        _ => infix(function, name, language, bits),
    }
}

/// A printed function, with its names for common subexpressions.
struct InfixBody<'a> {
    function: &'a Function,
    language: Language,
    names: HashMap<Expr, String>,
    /// The names with their expressions, in order.
    shared: Vec<(String, Expr)>,
}

fn infix(function: &Function, name: &str, language: Language, bits: Width) -> String {
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

fn mlir(function: &Function, name: &str, bits: Width) -> String {
    let int = if bits == Width::Bits32 { "i32" } else { "i64" };
    let mut body = MlirBody { int, names: HashMap::new(), lines: Vec::new() };
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

struct MlirBody {
    int: &'static str,
    names: HashMap<Expr, String>,
    lines: Vec<String>,
}

impl MlirBody {
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
