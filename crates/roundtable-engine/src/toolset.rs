//! The tools that an engine can run, with their schemas compiled once.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jsonschema::Validator;
use roundtable_core::context_request::{MAX_QUESTION, MAX_REASON};
use roundtable_core::delegation::{MAX_AGENT, MAX_MISSION, MAX_RATIONALE};
use roundtable_core::tool::{CallerSpec, ToolDecl};
use roundtable_ports::{DynTool, ToolSpec};
use serde_json::{Value, json};

use crate::error::EngineError;

struct Entry {
    tool: Arc<dyn DynTool>,
    spec: Arc<ToolSpec>,
    schema: Validator,
}

/// The tools that an engine can run.
#[derive(Default)]
pub struct Toolset {
    entries: BTreeMap<String, Entry>,
}

impl Toolset {
    /// These tools.
    ///
    /// # Errors
    /// [`EngineError::BadSchema`] when the parameters of one have no valid schema, and
    /// [`EngineError::ToolTwice`] when a name is taken already: no tool stands in for another.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Result<Self, EngineError> {
        let mut entries = BTreeMap::new();
        for tool in tools {
            let spec = tool.spec();
            if entries.contains_key(&spec.name) || own(&spec.name).is_some() {
                return Err(EngineError::ToolTwice { tool: spec.name });
            }
            let schema = jsonschema::validator_for(&spec.schema).map_err(|error| {
                EngineError::BadSchema { tool: spec.name.clone(), what: error.to_string() }
            })?;
            entries.insert(spec.name.clone(), Entry { tool, spec: Arc::new(spec), schema });
        }
        Ok(Self { entries })
    }

    /// The tool with this name.
    pub fn find(&self, name: &str) -> Option<(&Arc<dyn DynTool>, &ToolSpec)> {
        self.entries.get(name).map(|entry| (&entry.tool, entry.spec.as_ref()))
    }

    /// A declared tool, as models are told of it: the core's own are known here, and those of a
    /// caller bring their description.
    pub fn spec_of(&self, tool: &ToolDecl) -> Option<Arc<ToolSpec>> {
        if let Some(CallerSpec { description, schema }) = tool.spec.as_deref() {
            return Some(Arc::new(carried_out_here(&tool.name, description, schema.clone())));
        }
        self.find_spec(&tool.name).cloned()
    }

    /// Whether a tool has this name, the core's own included.
    pub fn is_known(&self, name: &str) -> bool {
        self.find_spec(name).is_some()
    }

    fn find_spec(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.entries.get(name).map(|entry| &entry.spec).or_else(|| own(name))
    }

    /// Why these arguments do not fit the tool, if they do not.
    pub fn misfit(&self, name: &str, arguments: &Value) -> Option<String> {
        let entry = self.entries.get(name).filter(|entry| !entry.schema.is_valid(arguments))?;
        let errors: Vec<String> = entry
            .schema
            .iter_errors(arguments)
            .take(5)
            .map(|error| format!("at \"{}\": {}", error.instance_path(), short(&error.to_string())))
            .collect();
        Some(format!("the arguments of {name} do not match its schema: {}", errors.join("; ")))
    }

    /// The names of all tools, in words.
    pub fn names(&self) -> String {
        if self.entries.is_empty() {
            return "none".to_owned();
        }
        self.entries.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

fn short(text: &str) -> String {
    text.chars().take(300).collect()
}

/// The tool with this name that the core carries out itself.
fn own(name: &str) -> Option<&'static Arc<ToolSpec>> {
    static OWN: LazyLock<[Arc<ToolSpec>; 3]> =
        LazyLock::new(|| [request_context(), delegate(), ask()].map(Arc::new));
    OWN.iter().find(|spec| spec.name == name)
}

fn request_context() -> ToolSpec {
    let properties = json!({
        "query": text(MAX_QUESTION),
        "reason": text(MAX_REASON),
        "priority": { "enum": ["required", "optional"], "default": "required" }
    });
    carried_out_here(
        "request_context",
        "Ask the people in this conversation for information that you need. The answer comes with the next round.",
        json!({
            "type": "object",
            "properties": properties,
            "required": ["query", "reason"],
            "additionalProperties": false
        }),
    )
}

fn delegate() -> ToolSpec {
    let rationale = json!({ "type": "string", "maxLength": MAX_RATIONALE });
    let properties = json!({
        "agent": text(MAX_AGENT),
        "mission": text(MAX_MISSION),
        "rationale": rationale
    });
    carried_out_here(
        "delegate",
        "Hand a mission to another agent and get its answer.",
        json!({
            "type": "object",
            "properties": properties,
            "required": ["agent", "mission"],
            "additionalProperties": false
        }),
    )
}

fn ask() -> ToolSpec {
    let properties = json!({
        "question": text(MAX_QUESTION),
        "reason": { "type": "string", "maxLength": MAX_REASON }
    });
    carried_out_here(
        "ask",
        "Ask the person you work for one question and wait for the answer. Use it only if you cannot continue without the answer.",
        json!({
            "type": "object",
            "properties": properties,
            "required": ["question"],
            "additionalProperties": false
        }),
    )
}

fn text(limit: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": limit })
}

fn carried_out_here(name: &str, description: &str, schema: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        effect: roundtable_core::tool::Effect::Idempotent,
        timeout: std::time::Duration::MAX,
    }
}
