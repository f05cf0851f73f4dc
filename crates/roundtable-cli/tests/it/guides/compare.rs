//! Comparing what a document shows with what was printed. Ids, times and digests differ from run to
//! run, and so do numbers of tokens when prompts change; `…` stands for anything.

use std::collections::BTreeMap;

use serde_json::Value;

const PREFIXES: [&str; 9] =
    ["ses_", "rnd_", "trn_", "itr_", "tcl_", "evt_", "ctx_", "msg_", "cmd_"];

/// The ids of a document, and what they are called in this run.
#[derive(Default)]
pub struct Ids(BTreeMap<String, String>);

impl Ids {
    /// A text of the document with the ids of this run.
    pub fn real(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (shown, real)| text.replace(shown, real))
    }

    fn bind(&mut self, shown: &str, real: &str) {
        self.0.entry(shown.to_owned()).or_insert_with(|| real.to_owned());
    }
}

/// A text with placeholders, and the ids that it had, by their place in it.
struct Steady {
    text: String,
    ids: Vec<(usize, String)>,
}

impl Steady {
    fn of(text: &str) -> Self {
        let mut steady = Self { text: String::new(), ids: Vec::new() };
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-:.+".contains(c);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            if length == 0 {
                steady.text.push(c);
                rest = &rest[c.len_utf8()..];
            } else {
                let (word, after) = rest.split_at(length);
                let is_count = word.chars().all(|c| c.is_ascii_digit() || c == ',');
                match is_count && after.starts_with(" tokens") {
                    true => steady.text.push('N'),
                    false => steady.push(word),
                }
                rest = after;
            }
        }
        steady
    }

    fn push(&mut self, word: &str) {
        if is_time(word) {
            self.text.push_str("TIME");
            return;
        }
        let mut parts = word.split(':').peekable();
        while let Some(part) = parts.next() {
            let core = part.trim_end_matches('.');
            let is_hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
            let prefix = PREFIXES.iter().find(|prefix| core.starts_with(**prefix));
            match prefix {
                Some(prefix) if core.len() >= prefix.len() + 16 && is_hex(&core[4..]) => {
                    self.ids.push((self.text.len(), core.to_owned()));
                    self.text.push_str(prefix);
                    self.text.push_str("ID");
                }
                _ if core.len() == 64 && is_hex(core) => self.text.push_str("DIGEST"),
                _ => self.text.push_str(core),
            }
            self.text.push_str(&part[core.len()..]);
            if parts.peek().is_some() {
                self.text.push(':');
            }
        }
    }
}

/// Whether a word is a date, a date with a time, or a time such as `13:56`.
fn is_time(word: &str) -> bool {
    let fits = |pattern: &str| {
        let same = |(letter, wanted): (u8, u8)| match wanted {
            b'0' => letter.is_ascii_digit(),
            wanted => letter == wanted,
        };
        word.len() >= pattern.len() && word.bytes().zip(pattern.bytes()).all(same)
    };
    fits("0000-00-00") || (word.len() == 5 && fits("00:00"))
}

/// Compares texts, and notes which id of the document is which.
pub fn texts(shown: &str, printed: &str, ids: &mut Ids) -> Result<(), String> {
    let (shown, printed) = (Steady::of(shown), Steady::of(printed));
    let mut found = Vec::new();
    let (mut at, mut start) = (0, 0);
    let parts: Vec<&str> = shown.text.split('…').collect();
    for (index, part) in parts.iter().enumerate() {
        let rest = &printed.text[at..];
        let place = match (index == 0, index + 1 == parts.len()) {
            (true, true) => (rest == *part).then_some(0),
            (true, false) => rest.starts_with(part).then_some(0),
            (false, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            (false, false) => rest.find(part),
        };
        let Some(place) = place else {
            return Err(format!("shown:\n{}\nprinted:\n{}", shown.text, printed.text));
        };
        found.push((start, at + place, part.len()));
        at += place + part.len();
        start += part.len() + '…'.len_utf8();
    }
    for (shown_at, printed_at, length) in found {
        let inside = shown.ids.iter().filter(|(at, _)| (shown_at..shown_at + length).contains(at));
        for (place, id) in inside {
            let there = place - shown_at + printed_at;
            let (_, real) = printed.ids.iter().find(|(at, _)| *at == there).unwrap();
            ids.bind(id, real);
        }
    }
    Ok(())
}

/// Compares JSON. A member `"…"` stands for other members, an element `"…"` for other elements.
pub fn json(shown: &Value, sent: &Value, ids: &mut Ids) -> Result<(), String> {
    match (shown, sent) {
        (Value::Object(shown), Value::Object(sent)) => {
            let is_open = shown.contains_key("…");
            for (name, value) in shown.iter().filter(|(name, _)| *name != "…") {
                let there = sent.get(name).ok_or_else(|| format!("no {name:?} in {sent:?}"))?;
                if is_token_count(name) && value.is_u64() && there.is_u64() {
                    continue;
                }
                json(value, there, ids).map_err(|error| format!("{name}: {error}"))?;
            }
            let more = sent.keys().find(|name| !shown.contains_key(*name));
            match more.filter(|_| !is_open) {
                Some(name) => Err(format!("{name:?} is not shown: {}", sent[name])),
                None => Ok(()),
            }
        }
        (Value::Array(shown), Value::Array(sent)) => {
            let is_open = shown.last() == Some(&Value::from("…"));
            let listed = &shown[..shown.len() - usize::from(is_open)];
            if listed.len() > sent.len() || (listed.len() < sent.len() && !is_open) {
                return Err(format!("{} elements, not {}: {sent:?}", sent.len(), listed.len()));
            }
            let mut both = listed.iter().zip(sent);
            both.try_for_each(|(shown, sent)| json(shown, sent, ids))
        }
        (Value::String(shown), _) if shown == "…" => Ok(()),
        (Value::String(shown), Value::String(sent)) => texts(shown, sent, ids),
        (shown, sent) if shown == sent => Ok(()),
        (shown, sent) => Err(format!("{sent} instead of {shown}")),
    }
}

/// The number of tokens depends on the wording of prompts.
fn is_token_count(name: &str) -> bool {
    ["tokens", "inputTokens", "outputTokens"].contains(&name)
}

#[test]
fn ids_times_and_digests_are_steady_and_ids_are_bound() {
    let mut ids = Ids::default();
    let (shown, real) =
        ("ses_01a1e1a60d447452a2ec59290439ce58", "ses_02b2e1a60d447452a2ec59290439ce58");
    let line = |id: &str, day: &str| format!("{id}  2026-11-{day}T10:00:00Z\nmore\nend {id}:7\n");
    assert_eq!(texts(&line(shown, "15"), &line(real, "18"), &mut ids), Ok(()));
    assert_eq!(ids.real(&format!("show {shown}")), format!("show {real}"));
    let elided = format!("{shown} …\nend {shown}:7\n");
    assert_eq!(texts(&elided, &line(real, "18").replace("  ", " "), &mut ids), Ok(()));
    assert!(texts("a\n…\nc\n", "a\nb\nd\n", &mut ids).is_err());
    assert!(
        json(&serde_json::json!({ "a": 1 }), &serde_json::json!({ "a": 1, "b": 2 }), &mut ids)
            .is_err()
    );
    let open = serde_json::json!({ "a": [1, "…"], "…": "…" });
    assert_eq!(json(&open, &serde_json::json!({ "a": [1, 2], "b": 2 }), &mut ids), Ok(()));
}
