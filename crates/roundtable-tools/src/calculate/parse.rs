//! Reads and evaluates an expression in one pass, by binding powers. Length, depth and the size of
//! every number on the way are bounded, so any input ends soon, with a number or a mistake.

use super::Mistake;
use super::number::Number;

const MAX_BYTES: usize = 1000;
const MAX_DEPTH: usize = 64;

// How tightly operators hold what stands beside them.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;

/// The value of an expression.
pub(super) fn evaluate(text: &str) -> Result<Number, Mistake> {
    if text.len() > MAX_BYTES {
        return Err(Mistake::TooLong { most: MAX_BYTES });
    }
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.expression(SUM)?;
    match reader.peek() {
        None => Ok(value),
        Some(char) => Err(reader.unexpected(char)),
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    /// Reads on while operators hold at least this tightly.
    fn expression(&mut self, least: u8) -> Result<Number, Mistake> {
        if self.depth == MAX_DEPTH {
            return Err(Mistake::TooDeep);
        }
        self.depth += 1;
        let mut left = self.operand()?;
        while let Some((operator, holds)) = self.peek().and_then(operator) {
            if holds < least {
                break;
            }
            self.skip();
            // A power takes the powers behind it along: 2 ^ 3 ^ 2 is 2 ^ 9.
            let right = self.expression(if holds == POWER { SIGN } else { holds + 1 })?;
            left = match operator {
                '+' => left.plus(&right),
                '-' => left.minus(&right),
                '*' => left.times(&right),
                '/' => left.over(&right),
                '%' => left.modulo(&right),
                _ => left.power(&right),
            }?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, Mistake> {
        match self.peek() {
            None => Err(Mistake::EndsEarly),
            Some('-' | '−') => {
                self.skip();
                Ok(self.expression(SIGN)?.negated())
            }
            Some('+') => {
                self.skip();
                self.expression(SIGN)
            }
            Some('(') => {
                self.skip();
                let value = self.expression(SUM)?;
                self.expect(')')?;
                Ok(value)
            }
            Some('0'..='9' | '.') => self.number(),
            Some(char) if char.is_ascii_alphabetic() => self.function(),
            Some(char) => Err(self.unexpected(char)),
        }
    }

    fn number(&mut self) -> Result<Number, Mistake> {
        let whole = self.digits();
        let behind = if self.rest.starts_with('.') {
            self.skip();
            self.digits()
        } else {
            String::new()
        };
        if whole.is_empty() && behind.is_empty() {
            return Err(self.unexpected('.'));
        }
        let exponent = self.exponent()?;
        Number::written(&whole, &behind, exponent)
    }

    /// Digits, with `_` between them for the eye.
    fn digits(&mut self) -> String {
        let end = self.rest.find(|char: char| !char.is_ascii_digit() && char != '_');
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        digits.replace('_', "")
    }

    fn exponent(&mut self) -> Result<i32, Mistake> {
        let Some(rest) = self.rest.strip_prefix(['e', 'E']) else { return Ok(0) };
        let (sign, rest) = match rest.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, rest.strip_prefix('+').unwrap_or(rest)),
        };
        self.rest = rest;
        let digits = self.digits();
        if digits.is_empty() {
            return Err(Mistake::EndsEarly);
        }
        let exponent: i32 = digits.parse().map_err(|_| Mistake::TooLarge)?;
        Ok(sign * exponent)
    }

    fn function(&mut self) -> Result<Number, Mistake> {
        let end = self.rest.find(|char: char| !char.is_ascii_alphanumeric());
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let name = name.to_ascii_lowercase();
        self.rest = rest;
        self.expect('(')?;
        let first = self.expression(SUM)?;
        let mut more = Vec::new();
        while self.peek() == Some(',') {
            self.skip();
            more.push(self.expression(SUM)?);
        }
        self.expect(')')?;
        match (name.as_str(), more.as_slice()) {
            ("abs", []) => Ok(first.absolute()),
            ("floor", []) => Ok(first.floor()),
            ("ceil", []) => Ok(first.ceiling()),
            ("round", []) => Ok(first.rounded()),
            ("sqrt", []) => first.root(),
            ("min", more) => Ok(more.iter().fold(first, |least, next| least.min(next.clone()))),
            ("max", more) => Ok(more.iter().fold(first, |most, next| most.max(next.clone()))),
            ("abs" | "floor" | "ceil" | "round" | "sqrt", _) => Err(Mistake::OneArgument { name }),
            _ => Err(Mistake::UnknownFunction { name }),
        }
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    fn expect(&mut self, wanted: char) -> Result<(), Mistake> {
        match self.peek() {
            Some(char) if char == wanted => {
                self.skip();
                Ok(())
            }
            Some(char) => Err(self.unexpected(char)),
            None => Err(Mistake::EndsEarly),
        }
    }

    fn unexpected(&self, char: char) -> Mistake {
        Mistake::Unexpected { char, before: self.rest.chars().take(20).collect() }
    }
}

fn operator(char: char) -> Option<(char, u8)> {
    match char {
        '+' => Some(('+', SUM)),
        '-' | '−' => Some(('-', SUM)),
        '*' | '×' | '·' => Some(('*', PRODUCT)),
        '/' | '÷' => Some(('/', PRODUCT)),
        '%' => Some(('%', PRODUCT)),
        '^' => Some(('^', POWER)),
        _ => None,
    }
}
