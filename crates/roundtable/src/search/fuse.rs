//! One list of several: reciprocal rank fusion.

use std::collections::HashMap;

use roundtable_ports::{FoundMessage, MessageKey};

/// The usual constant (Cormack, Clarke and Büttcher, 2009): how much a first place counts beside a
/// second one.
const DAMPING: f64 = 60.0;

/// The messages of these lists, the best first: each place counts 1 / (60 + place), and a message in
/// several lists gets the sum. Of equals, the one that comes first in the earlier list comes first.
pub(super) fn reciprocal_ranks(
    lists: impl IntoIterator<Item = Vec<FoundMessage>>,
) -> Vec<FoundMessage> {
    let mut fused: Vec<FoundMessage> = Vec::new();
    let mut known: HashMap<MessageKey, usize> = HashMap::new();
    for list in lists {
        let mut place = DAMPING;
        for message in list {
            place += 1.0;
            let next = fused.len();
            match *known.entry(message.key.clone()).or_insert(next) {
                index if index < next => {
                    if let Some(known) = fused.get_mut(index) {
                        known.score += 1.0 / place;
                    }
                }
                _ => fused.push(FoundMessage { score: 1.0 / place, ..message }),
            }
        }
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    fused
}

#[cfg(test)]
mod tests {
    use roundtable_core::Timestamp;
    use roundtable_core::event::Seq;
    use roundtable_core::id::SessionId;
    use roundtable_core::search::Snippet;
    use roundtable_core::stage::Name;

    use super::*;

    fn list(numbers: &[u64]) -> Vec<FoundMessage> {
        let message = |number: &u64| FoundMessage {
            key: MessageKey { session: SessionId::new("lake").unwrap(), number: *number },
            kind: Name::constant("chat"),
            title: String::new(),
            seq: Seq(*number),
            round: 1,
            sender: String::new(),
            by_agent: false,
            at: Timestamp::UNIX_EPOCH,
            snippet: Snippet::default(),
            score: 7.0,
        };
        numbers.iter().map(message).collect()
    }

    #[test]
    fn a_message_in_both_lists_comes_before_one_that_is_higher_in_one() {
        let fused = reciprocal_ranks([list(&[1, 2, 3]), list(&[4, 3, 5])]);
        let order: Vec<u64> = fused.iter().map(|message| message.key.number).collect();
        assert_eq!(order, [3, 1, 4, 2, 5]);
        let score = |number| fused.iter().find(|it| it.key.number == number).unwrap().score;
        assert!((score(3) - (1.0 / 63.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert!((score(1) - 1.0 / 61.0).abs() < 1e-12);
    }

    #[test]
    fn no_list_or_empty_ones_make_an_empty_list() {
        assert!(reciprocal_ranks([]).is_empty() && reciprocal_ranks([list(&[])]).is_empty());
    }
}
