//! An account book that knows only events: what is reserved and spent in the whole session, and
//! whether any account ever holds more than its limit.

use std::collections::BTreeMap;

use roundtable_core::budget::{Account, Spend};
use roundtable_core::event::{Body, Event, IterationEvent};
use roundtable_core::id::IterationId;
use roundtable_core::session::Session;

#[derive(Default)]
pub struct Ledger {
    reserved: BTreeMap<IterationId, Spend>,
    spent: Spend,
}

impl Ledger {
    pub fn see(&mut self, event: &Event) {
        let (Body::Iteration(body), Some(id)) = (&event.body, &event.place.iteration) else {
            return;
        };
        let actual = match body {
            IterationEvent::ModelCallStarted { reserved, .. } => {
                let earlier = self.reserved.insert(id.clone(), *reserved);
                assert_eq!(earlier, None, "one reservation at a time");
                return;
            }
            IterationEvent::ModelCallFinished { record, charge, .. } => match record.usage {
                None => charge.expect("what nobody counted is estimated").spend(),
                Some(usage) => Spend {
                    calls: 1,
                    tokens: usage.input + usage.output,
                    cost: record.cost.expect("every agent here has a price"),
                },
            },
            IterationEvent::ModelCallRetried { charge, .. } => {
                assert_eq!(charge.calls, 1, "every request counts");
                self.spent = sum([self.spent, charge.spend()]);
                return;
            }
            IterationEvent::ModelCallInterrupted { charge, .. }
            | IterationEvent::ModelCallFailed { charge, .. }
            | IterationEvent::ModelCallCancelled { charge, .. } => {
                let charge =
                    charge.expect("what a call that ends without an answer cost is recorded");
                assert_eq!(charge.calls, 1, "every request counts");
                charge.spend()
            }
            IterationEvent::IterationOpened { .. } | IterationEvent::IterationClosed { .. } => {
                return;
            }
        };
        self.reserved.remove(id).expect("what ends was reserved");
        self.spent = sum([self.spent, actual]);
    }

    pub fn check(&self, session: &Session) {
        let reserved = sum(self.reserved.values().copied());
        assert_eq!((session.account.spent, session.account.reserved), (self.spent, reserved));
        within(&session.account);
        if let Some(round) = &session.round {
            within(&round.account);
            round.turns.iter().for_each(|turn| within(&turn.account));
        }
    }
}

fn within(account: &Account) {
    let total = sum([account.spent, account.reserved]);
    for (limit, total) in [
        (account.limits.calls, total.calls),
        (account.limits.tokens, total.tokens),
        (account.limits.cost, total.cost),
    ] {
        assert!(limit.is_none_or(|limit| total <= limit), "{account:?} overshoots");
    }
}

fn sum(amounts: impl IntoIterator<Item = Spend>) -> Spend {
    amounts.into_iter().fold(Spend::default(), |a, b| Spend {
        calls: a.calls + b.calls,
        tokens: a.tokens + b.tokens,
        cost: a.cost + b.cost,
    })
}
