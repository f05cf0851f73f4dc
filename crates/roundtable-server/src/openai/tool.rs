//! Tools that the caller runs: how they are declared, and how their calls are named outside.

use roundtable::core::id::{SessionId, ToolCallId};
use roundtable::core::tool::{CallerSpec, ToolDecl};
use serde_json::{Value, json};

use super::request::{invalid, is_name, unsupported};
use crate::problem::Problem;

/// How many tools a request may declare.
pub(super) const MAX_TOOLS: usize = 128;

/// How many characters the description of a tool may have.
const MAX_DESCRIPTION: usize = 8_192;

/// How many bytes the parameters of a tool may have as JSON.
const MAX_SCHEMA: usize = 64 * 1024;

/// What the ids of tool calls begin with.
const PREFIX: &str = "call_";

/// How many characters of a tool call's own id tell it from the others of its session.
const SHORT: usize = 8;

/// The tools of a request, as far as its choice lets agents use them.
pub(super) fn read(tools: &[Value], choice: Option<&Value>) -> Result<Vec<ToolDecl>, Problem> {
    if tools.len() > MAX_TOOLS {
        let why = format!("{} tools are too many; the limit is {MAX_TOOLS}", tools.len());
        return Err(invalid("tools", &why));
    }
    let mut read: Vec<ToolDecl> = Vec::with_capacity(tools.len());
    for tool in tools {
        let tool = read_tool(tool)?;
        if read.iter().any(|other| other.name == tool.name) {
            return Err(invalid("tools", &format!("{} is declared twice", tool.name)));
        }
        read.push(tool);
    }
    match choice.map(|choice| choice.as_str()) {
        None | Some(Some("auto")) => Ok(read),
        Some(Some("none")) => Ok(Vec::new()),
        Some(_) => Err(unsupported("tool_choice", "agents choose their tools; send auto or none")),
    }
}

fn read_tool(tool: &Value) -> Result<ToolDecl, Problem> {
    if tool["type"] != "function" {
        return Err(unsupported("tools", "only tools with the type function are supported"));
    }
    let function = &tool["function"];
    let name = function["name"].as_str().filter(|name| is_name(name)).ok_or_else(|| {
        invalid("tools", "a function name must have 1 to 64 letters, digits, _ and -")
    })?;
    let description = function["description"].as_str().unwrap_or_default();
    let length = description.chars().count();
    if length > MAX_DESCRIPTION {
        let why = format!(
            "the description of {name} has {length} characters; at most {MAX_DESCRIPTION} are allowed"
        );
        return Err(invalid("tools", &why));
    }
    let schema = match &function["parameters"] {
        Value::Null => json!({ "type": "object", "properties": {} }),
        schema @ Value::Object(_) => schema.clone(),
        _ => {
            return Err(invalid(
                "tools",
                &format!("the parameters of {name} are not a JSON Schema"),
            ));
        }
    };
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA {
        let why = format!(
            "the parameters of {name} have {bytes} bytes; at most {MAX_SCHEMA} are allowed"
        );
        return Err(invalid("tools", &why));
    }
    let spec = CallerSpec { description: description.to_owned(), schema };
    Ok(ToolDecl::caller(name, spec))
}

/// The id of a call outside. It names the session, so that a result finds its turn after a restart.
pub(super) fn call_id(session: &SessionId, call: &ToolCallId) -> String {
    let short: String = call.suffix().chars().take(SHORT).collect();
    format!("{PREFIX}{}_{short}", session.suffix())
}

/// The session that a call belongs to, if it is one of a session here.
pub(super) fn session_of(id: &str) -> Option<SessionId> {
    let (session, short) = id.strip_prefix(PREFIX)?.rsplit_once('_')?;
    (short.len() == SHORT).then(|| SessionId::new(session).ok())?
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn function(name: &str) -> Value {
        json!({ "type": "function", "function": { "name": name, "description": "Adds." } })
    }

    #[test]
    fn the_id_of_a_call_leads_to_its_session_and_is_short_enough_for_every_client() {
        let session = SessionId::derive("completion", "one");
        let id = call_id(&session, &ToolCallId::derive("itr_1", 1));
        assert_eq!(session_of(&id), Some(session));
        assert!(id.len() <= 40, "{id}");
        for other in ["call_abc", "toolu_1", "", "call_", "call__", "call_../x_12345678"] {
            assert_eq!(session_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_tool_is_a_function_with_a_name_of_its_own() {
        let names = |tools: &[Value], choice: Option<Value>| {
            read(tools, choice.as_ref()).map(|tools| tools.len()).map_err(|it| it.body.reason)
        };
        let (add, sub) = (function("add"), function("sub"));
        assert_eq!(names(&[add.clone(), sub], Some(json!("auto"))), Ok(2));
        assert_eq!(names(from_ref(&add), Some(json!("none"))), Ok(0));
        let refused = |reason: &str| Err(reason.to_owned());
        assert_eq!(names(&[add.clone(), add.clone()], None), refused("invalid_value"));
        assert_eq!(names(&[function("a b")], None), refused("invalid_value"));
        assert_eq!(
            names(from_ref(&add), Some(json!("required"))),
            refused("unsupported_parameter")
        );
        assert_eq!(names(&[json!({ "type": "custom" })], None), refused("unsupported_parameter"));
        assert_eq!(names(&vec![add; MAX_TOOLS + 1], None), refused("invalid_value"));
        let mut large = function("large");
        large["function"]["parameters"] = json!({ "title": "x".repeat(MAX_SCHEMA) });
        assert_eq!(names(&[large], None), refused("invalid_value"));
    }
}
