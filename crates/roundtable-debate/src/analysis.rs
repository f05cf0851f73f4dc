//! What the analyst says: how far a panel agrees, as a model that reads all answers puts it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::loose::{self, Fields};
use roundtable_core::id::AgentId;
use roundtable_core::prompt::OutputSchema;

/// Agents that share a view.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cluster {
    /// The agents.
    pub agents: Vec<AgentId>,
    /// Their view, where a model put it into words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
}

/// The view of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct View {
    /// Agent id.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// Its view.
    pub view: String,
}

/// An issue on which agents disagree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Disagreement {
    /// The issue.
    pub issue: String,
    /// Who holds what, as far as it was said.
    pub views: Vec<View>,
}

/// What the analyst says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// Agreement from 0 (opposed) to 1 (unanimous).
    pub agreement: f64,
    /// Groups of agents with the same view.
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
    /// Summary in a few sentences.
    pub summary: String,
    /// Why the agreement may be unreliable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groupthink: Option<String>,
}

impl Analysis {
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
                    view: Some(cluster.text("view")),
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
