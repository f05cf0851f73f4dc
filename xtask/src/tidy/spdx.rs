//! SPDX licence expressions: can one be satisfied with a list of licences? Knows the operators, not the licences.

/// Whether the licences of the list suffice for the expression, or why it cannot be read.
///
/// `WITH` binds closest, then `AND`, then `OR`; `/` is how `OR` was once written. A licence with an exception is
/// listed as such, and `X+` (this version or a later one) is satisfied by `X`.
pub fn satisfied(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let words = words(expression);
    let mut parser = Parser { words: &words, allowed };
    let satisfied = parser.any()?;
    match parser.words.first() {
        None => Ok(satisfied),
        Some(word) => Err(format!("`{word}` is not expected there")),
    }
}

fn words(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(String::from).collect()
}

struct Parser<'a> {
    words: &'a [String],
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    fn any(&mut self) -> Result<bool, String> {
        let mut satisfied = self.all()?;
        while self.take("OR") {
            // Not `||`: the right side is read in any case.
            satisfied |= self.all()?;
        }
        Ok(satisfied)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut satisfied = self.one()?;
        while self.take("AND") {
            satisfied &= self.one()?;
        }
        Ok(satisfied)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let satisfied = self.any()?;
            return if self.take(")") {
                Ok(satisfied)
            } else {
                Err("a parenthesis is not closed".into())
            };
        }
        let mut licence = self.identifier()?.trim_end_matches('+').to_string();
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.identifier()?);
        }
        Ok(self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&licence)))
    }

    fn identifier(&mut self) -> Result<String, String> {
        match self.words.split_first() {
            None => Err("a licence is missing at the end".into()),
            Some((word, _)) if ["OR", "AND", "WITH", "(", ")"].contains(&word.as_str()) => {
                Err(format!("a licence is missing before `{word}`"))
            }
            Some((word, rest)) => {
                self.words = rest;
                Ok(word.clone())
            }
        }
    }

    fn take(&mut self, expected: &str) -> bool {
        match self.words.split_first() {
            Some((word, rest)) if word == expected => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: Result<bool, &str>) {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
        assert_eq!(satisfied(expression, &allowed), expected.map_err(String::from), "{expression}");
    }

    #[test]
    fn a_licence_is_on_the_list_or_not() {
        check("MIT", Ok(true));
        check("mit", Ok(true));
        check("MIT+", Ok(true));
        check("GPL-3.0-only", Ok(false));
        check("MIT-0", Ok(false));
    }

    #[test]
    fn or_needs_one_side_and_the_slash_is_an_or() {
        check("GPL-3.0-only OR MIT", Ok(true));
        check("MIT OR GPL-3.0-only", Ok(true));
        check("GPL-3.0-only OR AGPL-3.0-only", Ok(false));
        check("GPL-3.0-only/MIT", Ok(true));
        check("GPL-3.0-only / AGPL-3.0-only", Ok(false));
    }

    #[test]
    fn and_needs_both_sides_and_binds_closer_than_or() {
        check("MIT AND Zlib", Ok(true));
        check("MIT AND GPL-3.0-only", Ok(false));
        check("MIT OR GPL-3.0-only AND AGPL-3.0-only", Ok(true));
        check("GPL-3.0-only AND AGPL-3.0-only OR MIT", Ok(true));
        check("GPL-3.0-only AND MIT OR AGPL-3.0-only", Ok(false));
    }

    #[test]
    fn parentheses_group() {
        check("(MIT OR GPL-3.0-only) AND AGPL-3.0-only", Ok(false));
        check("(MIT OR GPL-3.0-only) AND Zlib", Ok(true));
        check("((GPL-3.0-only AND MIT) OR (Zlib))", Ok(true));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        check("Apache-2.0 WITH LLVM-exception", Ok(true));
        check("Apache-2.0", Ok(false));
        check("MIT WITH LLVM-exception", Ok(false));
        check("GPL-3.0-only OR Apache-2.0 WITH LLVM-exception AND MIT", Ok(true));
    }

    #[test]
    fn what_cannot_be_read_is_not_satisfied() {
        check("", Err("a licence is missing at the end"));
        check("MIT OR", Err("a licence is missing at the end"));
        check("MIT AND OR Zlib", Err("a licence is missing before `OR`"));
        check("(MIT OR Zlib", Err("a parenthesis is not closed"));
        check("MIT OR Zlib)", Err("`)` is not expected there"));
        check("MIT Zlib", Err("`Zlib` is not expected there"));
        check("Apache-2.0 WITH", Err("a licence is missing at the end"));
    }
}
