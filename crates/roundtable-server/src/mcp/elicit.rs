//! Decisions on tool calls go to the person: the client asks them, where it declares that it can.
//!
//! In the older era of the protocol the server sends the client a request while the call waits. In the
//! newer one the call is answered with what is asked, and the client sends it again with the answers.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use roundtable::core::context_request::{Decision, RequestKind};
use roundtable::core::document::ContextRequest;
use roundtable::core::id::ContextRequestId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::debate::Watch;
use crate::wire::ContextResult;

/// How long a person may think while the call waits; what is asked stays pending after that.
const TIME_TO_DECIDE: Duration = Duration::from_secs(120);

/// How long a client is left without progress while its person thinks.
const PROGRESS_EVERY: Duration = Duration::from_secs(8);

/// How a client can ask its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By a request of the server, while the call waits.
    Request,
    /// By the answer to the call, which the client then sends again.
    InputRequired,
}

impl Way {
    /// The way that this client declares, if it does.
    pub fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let declared = context.client_capabilities()?.elicitation?;
        if declared.form.is_none() && declared.url.is_some() {
            return None;
        }
        let version = context.protocol_version()?;
        if version >= ProtocolVersion::V_2026_07_28 {
            return Some(Self::InputRequired);
        }
        // A client that never said hello on this connection cannot be sent a request.
        context.peer.peer_info().map(|_| Self::Request)
    }
}

/// The round that a call waits for, as the client carries it between two calls. It grants nothing:
/// the second call is authorized like the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Waiting {
    pub session_id: String,
    pub round_number: u32,
}

impl Waiting {
    /// The round of an answer that is still open.
    pub fn of(answer: &Value) -> Option<Self> {
        if answer["status"] != "needs_context" {
            return None;
        }
        let round = answer["roundNumber"].as_u64().and_then(|number| u32::try_from(number).ok());
        Some(Self { session_id: answer["sessionId"].as_str()?.to_owned(), round_number: round? })
    }

    pub fn read(state: &str) -> Option<Self> {
        serde_json::from_str(state).ok()
    }
}

/// The requests that a person has to decide on, without those that were put to them already.
pub(super) fn undecided(
    requests: Vec<ContextRequest>,
    asked: &BTreeSet<ContextRequestId>,
) -> Vec<ContextRequest> {
    let mut requests = requests;
    requests.retain(|it| it.kind != RequestKind::Question && !asked.contains(&it.id));
    requests
}

/// An answer to a call that asks the person for these decisions.
pub(super) fn input_required(
    waiting: &Waiting,
    requests: &[ContextRequest],
) -> Option<InputRequiredResult> {
    let asked = requests.iter().map(|request| {
        let params = ElicitRequest::new(question(request)?);
        Some((request.id.to_string(), InputRequest::Elicitation(params)))
    });
    let state = serde_json::to_string(waiting).ok()?;
    Some(InputRequiredResult::new(Some(asked.collect::<Option<_>>()?), Some(state)))
}

/// The decisions among a client's answers. What is no decision answers nothing.
pub(super) fn decisions(
    requests: &[ContextRequest],
    responses: &InputResponses,
) -> Vec<ContextResult> {
    let decided = requests.iter().filter_map(|request| {
        let answered = responses.get(request.id.as_str())?;
        decision(request, ElicitResult::deserialize(answered).ok()?)
    });
    decided.collect()
}

/// Puts one request to the person and waits for the decision, not longer than they may take.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    request: &ContextRequest,
    watch: &dyn Watch,
) -> Option<ContextResult> {
    let asked =
        context.peer.create_elicitation_with_timeout(question(request)?, Some(TIME_TO_DECIDE));
    tokio::pin!(asked);
    loop {
        tokio::select! {
            biased;
            answer = &mut asked => return decision(request, answer.ok()?),
            () = watch.gone().cancelled() => return None,
            () = tokio::time::sleep(PROGRESS_EVERY) => {
                watch.tell("Waiting for a decision on a tool call").await;
            }
        }
    }
}

/// Only an accepted form with a decision of the right kind decides; declined and cancelled ones do not.
fn decision(request: &ContextRequest, answer: ElicitResult) -> Option<ContextResult> {
    if answer.action != ElicitationAction::Accept {
        return None;
    }
    let decision = Decision::deserialize(answer.content?.get("decision")?).ok()?;
    let fits = request.kind.decisions().contains(&decision);
    fits.then(|| ContextResult::decided(&request.id, decision))
}

fn question(request: &ContextRequest) -> Option<ElicitRequestParams> {
    let words: Vec<&str> = request.kind.decisions().iter().map(|it| it.word()).collect();
    let schema = json!({
        "type": "object",
        "properties": { "decision": { "type": "string", "title": "Decision", "enum": words } },
        "required": ["decision"]
    });
    let requested_schema = ElicitationSchema::deserialize(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(request),
        requested_schema,
    })
}

/// The whole call and who asks, for a person.
fn message(request: &ContextRequest) -> String {
    let agent = &request.agent_id;
    let Some(call) = &request.call else {
        return harmless(&format!("{}\nAgent: {agent}\n{}", request.query, request.reason));
    };
    let arguments = match &call.arguments {
        Some(arguments) => format!("{arguments:#}"),
        None => "(larger than 64 KiB; not shown)".to_owned(),
    };
    let asks = match request.kind {
        RequestKind::Approval => "May this tool be called?",
        RequestKind::UnknownOutcome | RequestKind::Question => "Did this tool call take effect?",
    };
    harmless(&format!(
        "{asks}\nTool: {}\nAgent: {} ({agent})\nArguments: {arguments}\nDigest: {}\n{}",
        call.tool,
        request.agent_name.as_deref().unwrap_or_default(),
        call.digest.as_str(),
        request.reason
    ))
}

/// Shows characters that would hide or reorder text by their numbers.
fn harmless(text: &str) -> String {
    let hides = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if hides(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}
