//! What an answer used: all of its model calls, and the session in total.

use roundtable::core::document;
use roundtable::core::id::SessionId;
use roundtable::debate::Spent;
use serde_json::{Value, json};

/// What an answer used, and the session in total.
pub(super) struct Usage {
    session: SessionId,
    answer: Spent,
    total: Spent,
}

impl Usage {
    /// The usage of an answer, by the session's account before and after it.
    pub fn between(session: &SessionId, before: Spent, total: Spent) -> Self {
        let minus = |after: u64, before: u64| after.saturating_sub(before);
        let answer = Spent {
            calls: minus(total.calls, before.calls),
            tokens: minus(total.tokens, before.tokens),
            cost: total.cost.zip(before.cost).map(|(after, before)| minus(after, before)),
            estimated: total.estimated,
        };
        Self { session: session.clone(), answer, total }
    }

    /// For people: the models, the answer, and the session where it has more.
    pub fn line(&self, models: &[String]) -> String {
        let models = models.iter().map(|model| format!("{model}: ")).collect::<String>();
        match self.answer == self.total {
            true => format!("{models}{}", self.answer),
            false => format!("{models}{}; session total: {}", self.answer, self.total),
        }
    }

    /// For programs, in the format of HTTP and MCP.
    pub fn json(&self) -> Value {
        let usage = document::Usage::from;
        json!({
            "kind": "usage", "session": self.session,
            "usage": usage(self.answer), "total": usage(self.total),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_was_added_and_an_unknown_cost_stays_unknown() {
        let session = SessionId::new("1").unwrap();
        let spent = |calls, tokens, cost| Spent { calls, tokens, cost, estimated: false };
        let usage = Usage::between(&session, spent(1, 10, Some(500)), spent(4, 70, Some(2_000)));
        assert_eq!(
            usage.line(&["m".to_owned()]),
            "m: 3 model calls, 60 tokens, $0.001500; session total: 4 model calls, 70 tokens, $0.002000"
        );
        assert_eq!(
            usage.json(),
            json!({
                "kind": "usage", "session": "ses_1",
                "usage": { "calls": 3, "tokens": 60, "cost": 0.0015 },
                "total": { "calls": 4, "tokens": 70, "cost": 0.002 },
            })
        );
        let unknown = Usage::between(&session, Spent::default(), spent(1, 10, None));
        assert_eq!(unknown.line(&[]), "1 model call, 10 tokens, cost unknown");
        assert_eq!(unknown.json()["usage"]["cost"], Value::Null);
    }
}
