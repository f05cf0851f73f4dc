//! How far a panel agrees, as a model that reads all answers puts it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::loose::{self, Fields};
use roundtable_core::id::AgentId;
use roundtable_core::prompt::OutputSchema;

/// Agents who hold one view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Who.
    pub agents: Vec<AgentId>,
    /// What they hold.
    pub view: String,
}

/// What one agent holds in a disagreement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Who.
    pub agent: AgentId,
    /// What.
    pub view: String,
}

/// Something that agents disagree on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// What it is about.
    pub issue: String,
    /// Who holds what, as far as it was said.
    pub views: Vec<View>,
}

/// How far a panel agrees.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Consensus {
    /// From 0 (opposed) to 1 (of one mind).
    pub agreement: f64,
    /// Who holds what.
    pub clusters: Vec<Cluster>,
    /// Common ground.
    pub common_ground: Vec<String>,
    /// What they disagree on.
    pub disagreements: Vec<Disagreement>,
    /// What some agree on.
    pub partial_agreements: Vec<String>,
    /// What the agreement depends on.
    pub conditions: Vec<String>,
    /// What nobody knows.
    pub uncertainties: Vec<String>,
    /// In a few sentences.
    pub summary: String,
    /// Why the agreement may be worth less than it looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groupthink: Option<String>,
}

/// How far a panel agrees, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Below 0.4.
    Low,
    /// From 0.4.
    Medium,
    /// From 0.7.
    High,
}

impl Level {
    /// The word for an agreement.
    pub fn of(agreement: f64) -> Self {
        if agreement >= 0.7 {
            Self::High
        } else if agreement >= 0.4 {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Consensus {
    /// Reads what an analyst said. `find` tells who is meant by a name. Nothing when the text has no
    /// agreement: an analysis without a figure cannot be compared with anything.
    pub fn read(text: &str, find: impl Fn(&str) -> Option<AgentId>) -> Option<Self> {
        let Value::Object(map) = loose::json(text)? else { return None };
        let fields = Fields(map);
        let groupthink = fields.text("groupthinkWarning");
        Some(Self {
            agreement: fields.share("agreement")?,
            clusters: objects(&fields, "clusters")
                .map(|cluster| Cluster {
                    agents: cluster.texts("agents").iter().filter_map(|name| find(name)).collect(),
                    view: cluster.text("view"),
                })
                .collect(),
            common_ground: fields.texts("commonGround"),
            disagreements: disagreements(&fields, &find),
            partial_agreements: fields.texts("partialAgreements"),
            conditions: fields.texts("conditions"),
            uncertainties: fields.texts("uncertainties"),
            summary: fields.text("summary"),
            groupthink: Some(groupthink).filter(|text| !text.is_empty()),
        })
    }

    /// What a model is held to.
    pub(crate) fn schema() -> OutputSchema {
        let text = || json!({ "type": "string" });
        let texts = || json!({ "type": "array", "items": { "type": "string" } });
        let list = |names: [&str; 2], kinds: [Value; 2]| {
            let [first, second] = kinds;
            json!({ "type": "array", "items": {
                "type": "object",
                "properties": { names[0]: first, names[1]: second },
                "required": names,
                "additionalProperties": false
            }})
        };
        let views = list(["agent", "view"], [text(), text()]);
        OutputSchema::or_text(
            "consensus",
            json!({
                "type": "object",
                "properties": {
                    "agreement": { "type": "number" },
                    "clusters": list(["agents", "view"], [texts(), text()]),
                    "commonGround": texts(),
                    "disagreements": list(["issue", "views"], [text(), views]),
                    "partialAgreements": texts(),
                    "conditions": texts(),
                    "uncertainties": texts(),
                    "summary": text(),
                    "groupthinkWarning": { "type": ["string", "null"] }
                },
                "required": ["agreement", "clusters", "commonGround", "disagreements", "partialAgreements",
                             "conditions", "uncertainties", "summary", "groupthinkWarning"],
                "additionalProperties": false
            }),
        )
    }
}

fn disagreements(fields: &Fields, find: &impl Fn(&str) -> Option<AgentId>) -> Vec<Disagreement> {
    let Some(Value::Array(list)) = fields.get("disagreements") else { return Vec::new() };
    let one = |value: &Value| match value {
        Value::Object(map) => {
            let fields = Fields(map.clone());
            let view = |said: Fields| {
                Some(View { agent: find(&said.text("agent"))?, view: said.text("view") })
            };
            let views = objects(&fields, "views").filter_map(view).collect();
            Disagreement { issue: fields.text("issue"), views }
        }
        other => Disagreement { issue: loose::text(other), views: Vec::new() },
    };
    list.iter().map(one).filter(|found| !found.issue.is_empty()).collect()
}

fn objects<'a>(fields: &'a Fields, name: &str) -> impl Iterator<Item = Fields> + 'a {
    let list = fields.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_object).cloned().map(Fields)
}
