//! What an agent answers: a position with reasons. Any text is read as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::loose::{self, Fields};
use roundtable_core::message::Citation;
use roundtable_core::prompt::OutputSchema;

/// Stance of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Stance {
    /// For.
    Yes,
    /// Against.
    No,
    /// Neither.
    Neutral,
}

impl Stance {
    /// The stance as agents write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "YES",
            Self::No => "NO",
            Self::Neutral => "NEUTRAL",
        }
    }

    /// Reads a stance, in the words that models use for it.
    pub fn read(text: &str) -> Option<Self> {
        let first = text.trim().split(|c: char| !c.is_ascii_alphabetic()).next()?;
        match first.to_ascii_uppercase().as_str() {
            "YES" | "FOR" | "PRO" | "SUPPORT" | "AFFIRMATIVE" | "AGREE" => Some(Self::Yes),
            "NO" | "AGAINST" | "CON" | "OPPOSE" | "NEGATIVE" | "DISAGREE" => Some(Self::No),
            "NEUTRAL" | "MIXED" | "UNDECIDED" | "ABSTAIN" => Some(Self::Neutral),
            _ => None,
        }
    }
}

/// What an agent answers. Reasoning and citations are written by
/// [`FullResponse`](crate::FullResponse) alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// Stance of the agent, if the mode asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
    /// The position itself.
    pub position: String,
    /// Why the agent asks.
    #[serde(skip)]
    pub reasoning: String,
    /// Confidence of the agent from 0 to 1, if it reported one.
    pub confidence: Option<f64>,
    /// The points that carry the position.
    pub key_points: Vec<String>,
    /// The sources that the agent names.
    #[serde(skip)]
    pub citations: Vec<Citation>,
}

/// Writes only the position itself: for `serialize_with`.
pub(super) fn words<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&position.position)
}

impl Position {
    /// Reads an answer: JSON, JSON among other words, lines with labels, else the text itself.
    ///
    /// ```
    /// use roundtable_debate::{Position, Stance};
    /// let data = Position::read(r#"{"stance": "NO", "position": "Wait.", "confidence": 0.7}"#);
    /// assert_eq!((data.stance, data.confidence), (Some(Stance::No), Some(0.7)));
    /// let words = Position::read("Stance: yes\nPosition: Begin now.\nConfidence: 80%");
    /// assert_eq!((words.position.as_str(), words.confidence), ("Begin now.", Some(0.8)));
    /// assert_eq!(Position::read("Begin now.").position, "Begin now.");
    /// ```
    pub fn read(text: &str) -> Self {
        let from_data = match loose::json(text) {
            Some(Value::Object(map)) => Self::from_fields(&unwrapped(map)),
            _ => None,
        };
        from_data
            .or_else(|| labelled(text))
            .unwrap_or_else(|| Self { position: text.trim().to_owned(), ..Self::default() })
    }

    fn from_fields(fields: &Fields) -> Option<Self> {
        let position = fields.text("position");
        let reasoning = fields.text("reasoning");
        // Data about something else is no position: its text is.
        let (position, reasoning) = match (position.is_empty(), reasoning.is_empty()) {
            (true, true) => return None,
            (true, false) => (reasoning, String::new()),
            (false, _) => (position, reasoning),
        };
        Some(Self {
            stance: Stance::read(&fields.text("stance")),
            position,
            reasoning,
            confidence: fields.share("confidence"),
            key_points: fields.texts("keyPoints"),
            citations: citations(fields.get("citations")),
        })
    }

    /// Whether it says anything: more than punctuation, and more than data without a position.
    ///
    /// ```
    /// use roundtable_debate::Position;
    /// assert!(Position::read("Wait.").has_content());
    /// for empty in ["", " \u{2026} ", "{}", r#"{"weather": "fine"}"#] {
    ///     assert!(!Position::read(empty).has_content(), "{empty}");
    /// }
    /// ```
    pub fn has_content(&self) -> bool {
        let text = self.position.trim();
        let is_data = text.starts_with(['{', '[']) && loose::json(text).is_some();
        !is_data && text.chars().any(char::is_alphanumeric)
    }

    /// The points that carry the position: those that the agent names, else its first sentences.
    pub fn points(&self) -> Vec<String> {
        if !self.key_points.is_empty() {
            return self.key_points.clone();
        }
        let text = if self.reasoning.is_empty() { &self.position } else { &self.reasoning };
        sentences(text).take(3).map(str::to_owned).collect()
    }

    /// What a model is held to.
    pub(crate) fn schema() -> OutputSchema {
        let optional = |kind: &str| json!({ "type": [kind, "null"] });
        let citation = json!({
            "type": "object",
            "properties": { "url": optional("string"), "title": optional("string"), "quote": optional("string") },
            "required": ["url", "title", "quote"],
            "additionalProperties": false
        });
        OutputSchema::or_text(
            "position",
            json!({
                "type": "object",
                "properties": {
                    "stance": { "type": ["string", "null"], "enum": ["YES", "NO", "NEUTRAL", null] },
                    "position": { "type": "string" },
                    "reasoning": { "type": "string" },
                    "confidence": { "type": "number" },
                    "keyPoints": { "type": "array", "items": { "type": "string" } },
                    "citations": { "type": "array", "items": citation }
                },
                "required": ["stance", "position", "reasoning", "confidence", "keyPoints", "citations"],
                "additionalProperties": false
            }),
        )
    }
}

/// The fields, or those of the one object that they wrap.
fn unwrapped(map: serde_json::Map<String, Value>) -> Fields {
    if map.len() == 1
        && let Some(Value::Object(inner)) = map.values().next()
    {
        return Fields(inner.clone());
    }
    Fields(map)
}

fn citations(value: Option<&Value>) -> Vec<Citation> {
    let Some(Value::Array(list)) = value else { return Vec::new() };
    let one = |value: &Value| match value {
        Value::String(text) if is_address(text) => {
            Some(Citation { url: Some(text.trim().to_owned()), ..Citation::default() })
        }
        Value::String(text) if !text.trim().is_empty() => {
            Some(Citation { title: Some(text.trim().to_owned()), ..Citation::default() })
        }
        Value::Object(map) => {
            let fields = Fields(map.clone());
            let field = |name: &str| Some(fields.text(name)).filter(|text| !text.is_empty());
            let cited =
                Citation { url: field("url"), title: field("title"), quote: field("quote") };
            (cited != Citation::default()).then_some(cited)
        }
        _ => None,
    };
    list.iter().filter_map(one).collect()
}

fn is_address(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("https://") || text.starts_with("http://")
}

/// Lines like `Position: …` and `**Confidence**: 0.8`; what follows a label belongs to it.
fn labelled(text: &str) -> Option<Position> {
    let mut read = Position::default();
    let mut current = None;
    let mut found = false;
    for line in text.lines() {
        let (label, rest) =
            split_label(line).map_or((None, line), |(label, rest)| (Some(label), rest));
        current = label.or(current);
        found |= label == Some(Label::Position);
        match current {
            Some(Label::Stance) if label.is_some() => read.stance = Stance::read(rest),
            Some(Label::Confidence) if label.is_some() => {
                read.confidence = loose::parse_share(rest.trim_end_matches('.'))
            }
            Some(Label::Position) => push_line(&mut read.position, rest),
            Some(Label::Reasoning) => push_line(&mut read.reasoning, rest),
            Some(Label::KeyPoints) => {
                let point = rest.trim().trim_start_matches(['-', '*', '•']).trim();
                read.key_points.extend((!point.is_empty()).then(|| point.to_owned()));
            }
            Some(Label::Stance | Label::Confidence) | None => {}
        }
    }
    for part in [&mut read.position, &mut read.reasoning] {
        *part = part.trim().to_owned();
    }
    (found && !read.position.is_empty()).then_some(read)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Stance,
    Position,
    Reasoning,
    Confidence,
    KeyPoints,
}

fn split_label(line: &str) -> Option<(Label, &str)> {
    let (label, rest) = line.split_once(':')?;
    let label = label.trim().trim_matches(['*', '#', '_', ' ']).to_ascii_lowercase();
    let label = match label.as_str() {
        "stance" => Label::Stance,
        "position" => Label::Position,
        "reasoning" => Label::Reasoning,
        "confidence" => Label::Confidence,
        "key points" | "keypoints" => Label::KeyPoints,
        _ => return None,
    };
    Some((label, rest.trim_start_matches(['*', '_']).trim()))
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// The sentences of a text, as far as full stops tell.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n'])
        .map(str::trim)
        .filter(|sentence| sentence.chars().filter(|c| c.is_alphanumeric()).count() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_found_in_a_code_fence_and_among_words() {
        let read = Position::read(
            "Here it is:\n```json\n{\"position\": \"Go.\", \"confidence\": \"85%\",}\n```\nDone.",
        );
        assert_eq!(
            read,
            Position { position: "Go.".into(), confidence: Some(0.85), ..Position::default() }
        );
    }

    #[test]
    fn data_that_is_wrapped_or_spelt_differently_is_understood() {
        let read = Position::read(
            r#"{"answer": {"Position": "Go.", "key_points": ["a", ""], "citations": ["https://a.example", {"title": "B"}]}}"#,
        );
        assert_eq!(read.key_points, ["a"]);
        let urls: Vec<_> =
            read.citations.iter().map(|c| (c.url.as_deref(), c.title.as_deref())).collect();
        assert_eq!(urls, [(Some("https://a.example"), None), (None, Some("B"))]);
    }

    #[test]
    fn a_confidence_that_is_none_is_unknown_and_not_a_guess() {
        for bad in ["-1", "\"very\"", "1000", "null", "{}"] {
            let read = Position::read(&format!(r#"{{"position": "Go.", "confidence": {bad}}}"#));
            assert_eq!((read.position.as_str(), read.confidence), ("Go.", None), "{bad}");
        }
    }

    #[test]
    fn labelled_lines_are_read_and_what_follows_a_label_belongs_to_it() {
        let read = Position::read(
            "## Stance: Against the plan\n**Position**: Wait\nfor data.\nKey points:\n- cost\n- risk\nConfidence: 7/10",
        );
        let expected = Position {
            stance: Some(Stance::No),
            position: "Wait\nfor data.".into(),
            confidence: Some(0.7),
            key_points: vec!["cost".into(), "risk".into()],
            ..Position::default()
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn any_other_text_is_the_position_itself() {
        for text in
            ["", "No idea.", "{\"weather\": \"fine\"}", "{", "[1, 2]", "Note: position is unclear"]
        {
            assert_eq!(
                Position::read(text),
                Position { position: text.trim().into(), ..Position::default() }
            );
        }
    }
}
