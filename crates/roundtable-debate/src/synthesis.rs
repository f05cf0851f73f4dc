//! The debate summed up.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::loose;
use roundtable_core::prompt::OutputSchema;

/// Synthesis of a debate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Synthesis {
    /// Common ground.
    pub common_ground: Vec<String>,
    /// What they differ in.
    pub key_differences: Vec<String>,
    /// How the positions moved over the rounds.
    pub evolution_summary: String,
    /// Conclusion of the debate.
    pub conclusion: String,
    /// What to do.
    pub recommendation: String,
    /// Confidence of the synthesizer, from 0 to 1.
    pub confidence: Option<f64>,
}

impl Synthesis {
    /// Reads the answer of a model. Text that is not data is the conclusion.
    pub fn read(text: &str) -> Self {
        let Some(Value::Object(map)) = loose::json(text) else {
            return Self { conclusion: text.trim().to_owned(), ..Self::default() };
        };
        let map = loose::Fields(map);
        let read = Self {
            common_ground: map.texts("commonGround"),
            key_differences: map.texts("keyDifferences"),
            evolution_summary: map.text("evolutionSummary"),
            conclusion: map.text("conclusion"),
            recommendation: map.text("recommendation"),
            confidence: map.share("confidence"),
        };
        if read.conclusion.is_empty() && read.recommendation.is_empty() {
            return Self { conclusion: text.trim().to_owned(), ..read };
        }
        read
    }

    /// What a model is held to.
    pub(crate) fn schema() -> OutputSchema {
        let texts = || json!({ "type": "array", "items": { "type": "string" } });
        OutputSchema::or_text(
            "synthesis",
            json!({
                "type": "object",
                "properties": {
                    "commonGround": texts(),
                    "keyDifferences": texts(),
                    "evolutionSummary": { "type": "string" },
                    "conclusion": { "type": "string" },
                    "recommendation": { "type": "string" },
                    "confidence": { "type": "number" }
                },
                "required": ["commonGround", "keyDifferences", "evolutionSummary", "conclusion",
                             "recommendation", "confidence"],
                "additionalProperties": false
            }),
        )
    }
}
