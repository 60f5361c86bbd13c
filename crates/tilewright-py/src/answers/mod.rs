//! Answers to questions about layouts: texts, pictures, values of expressions, code.

pub(crate) mod drawing;
pub(crate) mod expression;
pub(crate) mod kernels;
pub(crate) mod words;
