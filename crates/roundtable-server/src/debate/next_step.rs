//! What a caller can do next, in the words of its transport: nobody over HTTP is told to call an MCP
//! tool.

use roundtable::core::context_request::Priority;
use roundtable::core::id::SessionId;
use roundtable::debate::{Findings, RoundStatus};

use super::consent::{Caller, is_decision, ways};

impl Caller {
    /// What to do after this answer.
    pub fn next_step(self, findings: &Findings) -> String {
        let (session, number) = (&findings.session, findings.number);
        let (next, again) =
            (self.continuing(session, number), self.continuing(session, number.saturating_sub(1)));
        match findings.status {
            RoundStatus::NeedsContext => self.context_step(findings),
            RoundStatus::InProgress => format!(
                "For the next round, {next}; add a focusQuestion to steer it. To stop here, use the decision."
            ),
            RoundStatus::NeedsTurn => format!(
                "An agent uses your own model. Answer turn.prompt as that agent. Then {again}, turnToken and contribution."
            ),
            RoundStatus::Completed => {
                format!("The debate is over. Report the decision. {}", self.afterwards(session))
            }
            RoundStatus::Failed if findings.completed_because.is_some() => format!(
                "No agent could answer in the last round, and the debate is over. The errors are in agentResponses. Fix the cause, then {}.",
                self.starting()
            ),
            RoundStatus::Failed => format!(
                "No agent could answer. The errors are in agentResponses. The round does not count. Fix the cause, then {again} to run it again. If a budget is spent, add a higher budget."
            ),
            // Running, or a status of a later version.
            _ => format!("The round is still running. To get its result, {again}."),
        }
    }

    /// What to do while requests are pending.
    fn context_step(self, findings: &Findings) -> String {
        let (session, number) = (&findings.session, findings.number);
        let after = if findings.open { number.saturating_sub(1) } else { number };
        let next = self.continuing(session, after);
        let mut steps = Vec::new();
        if findings.requests.iter().any(is_decision) {
            steps.push(match self {
                Self::ModelForPerson => format!(
                    "A person has to decide on the tool calls in contextRequests; you cannot. {} Then {next}.",
                    ways(session)
                ),
                Self::Http | Self::WebSocket | Self::Model => format!(
                    "Decide on the tool calls in contextRequests: {next} and one contextResults entry per request, {{requestId, decision}}. The decision is approve or deny for an approval. It is happened, did_not_happen or unknown for an unknown outcome."
                ),
            });
        }
        let mut questions =
            findings.requests.iter().filter(|request| !is_decision(request)).peekable();
        if questions.peek().is_some() && !findings.open {
            let is_required = questions.any(|question| question.priority == Priority::Required);
            steps.push(if is_required {
                format!(
                    "Answer the questions in contextRequests ({}). Then {next} and one contextResults entry per request.",
                    self.sources()
                )
            } else {
                format!(
                    "The questions in contextRequests are optional. To continue, {next}; add contextResults for the questions that you can answer."
                )
            });
        }
        steps.join(" ")
    }

    /// How to answer required context requests: the last sentence of their refusal.
    pub fn answering(self) -> &'static str {
        match self {
            Self::Http => {
                "Answer them with POST /api/sessions/{sessionId}/context-results, or send contextResults with this request."
            }
            Self::WebSocket => {
                "Answer them with interaction-response frames, or send contextResults with this frame."
            }
            Self::Model | Self::ModelForPerson => {
                "Use WebSearch or other tools to fulfill these requests, then call continue_roundtable with contextResults."
            }
        }
    }

    /// The request for the round after a round, up to its arguments.
    fn continuing(self, session: &SessionId, after: u32) -> String {
        match self {
            Self::Http => {
                format!("send POST /api/debates/{session}/continue with afterRound {after}")
            }
            Self::WebSocket => format!("send a continue frame with conversationId {session}"),
            Self::Model | Self::ModelForPerson => {
                format!("call continue_roundtable with sessionId {session} and afterRound {after}")
            }
        }
    }

    /// The request that starts another debate.
    fn starting(self) -> &'static str {
        match self {
            Self::Http | Self::WebSocket => "start another debate with POST /api/debates",
            Self::Model | Self::ModelForPerson => "start another debate with start_roundtable",
        }
    }

    /// What else a finished debate offers.
    fn afterwards(self, session: &SessionId) -> String {
        match self {
            Self::Http | Self::WebSocket => format!(
                "POST /api/debates/{session}/synthesis summarizes it, GET /api/debates/{session}/export returns the minutes."
            ),
            Self::Model | Self::ModelForPerson => {
                "synthesize_debate summarizes it, export_session returns the minutes.".to_owned()
            }
        }
    }

    /// Where answers to questions can come from.
    fn sources(self) -> &'static str {
        match self {
            Self::Http | Self::WebSocket => "ask the person who uses your program, or search",
            Self::Model | Self::ModelForPerson => "web search, files, the user",
        }
    }
}
