//! Operators of sizes. Law: a result is exact, or there is none.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Floor,
    Ceil,
}

impl Operator {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "//",
            Operator::Remainder => "%",
            Operator::Floor => "floor",
            Operator::Ceil => "ceil",
        }
    }

    pub(crate) fn apply(self, (left, right): (u64, u64)) -> Option<u64> {
        match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right).filter(|_| left % right == 0),
            Operator::Remainder => left.checked_rem(right),
            Operator::Floor => left.checked_div(right),
            Operator::Ceil => (right != 0).then(|| left.div_ceil(right)),
        }
    }
}
