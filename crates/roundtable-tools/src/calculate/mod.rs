//! `calculate`: exact arithmetic, because models guess digits.
//!
//! Written here and not taken from a crate, because two things matter for what a model may send:
//! results are exact, not floats, and the work that an expression can cause is bounded.

mod number;
mod parse;
#[cfg(test)]
mod tests;

use roundtable_core::tool::{Effect, ToolResult};
use roundtable_ports::{Tool, ToolContext, ToolError};

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Mistake {
    #[error("the expression has more than {most} bytes")]
    TooLong { most: usize },
    #[error("the expression nests too deeply")]
    TooDeep,
    #[error("a number on the way has more than about 1,200 digits")]
    TooLarge,
    #[error("division by zero")]
    DivisionByZero,
    #[error("a power has to be a whole number")]
    FractionalPower,
    #[error("a negative number has no square root")]
    RootOfNegative,
    #[error("the root is not a rational number; it is about {about}")]
    IrrationalRoot { about: String },
    #[error("{name} takes one argument")]
    OneArgument { name: String },
    #[error("there is no function \"{name}\"; there are: abs, ceil, floor, max, min, round, sqrt")]
    UnknownFunction { name: String },
    #[error("the expression ends early")]
    EndsEarly,
    #[error("unexpected '{char}' at \"{before}\"")]
    Unexpected { char: char, before: String },
}

/// The tool `calculate`: evaluates an arithmetic expression exactly.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calculate;

/// What `calculate` is told.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub struct Calculation {
    /// For example: `(3 + 4.5) * 2 ^ 10 / 7`.
    pub expression: String,
}

impl Tool for Calculate {
    type Params = Calculation;

    fn name(&self) -> &str {
        "calculate"
    }

    fn description(&self) -> &str {
        "Evaluates an arithmetic expression exactly, with fractions of any size: + - * / % ^, \
         parentheses, abs, ceil, floor, max, min, round, sqrt. Use it instead of computing in your head."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Calculation, _: &ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::ok(parse::evaluate(&params.expression)?.to_string()))
    }
}
