//! The operations on debates. What a model reads of a tool stands beside its name.

use http::Method;

use super::{hold, read};
use crate::export::Exported;
use crate::operation::{Does, Operation};

pub(crate) fn operations() -> Vec<Operation> {
    let mut all = holding();
    all.extend(reading());
    all
}

/// Those that have something done.
fn holding() -> Vec<Operation> {
    vec![
        Operation::on_nothing("startDebate", Does::Adds, hold::start)
            .http(Method::POST, "/api/debates", "Starts a debate and runs its first round.")
            .mcp("start_roundtable", "Start a debate", "Puts a question to a panel of AI agents and runs the first round of their debate. Use it for decisions, designs, trade-offs and reviews where one answer is not enough. Choose the mode: collaborative (find agreement), adversarial (pro and con), socratic (probing questions), expert-panel (points of view), devils-advocate (forced yes and no), delphi (anonymous estimates), red-team-blue-team (attack and defend a plan), council (answers, ranking, verdict). Put all that the agents need to know into topic. Then do what nextStep of the answer says: usually continue_roundtable.")
            .waits(),
        Operation::on_nothing("quoteDebate", Does::Reads, hold::quote).http(
            Method::POST,
            "/api/debates/quote",
            "What a debate would cost. Nothing is started or stored.",
        ),
        Operation::on_session("continueDebate", Does::Adds, hold::go_on)
            .http(Method::POST, "/api/debates/{sessionId}/continue", "Runs the next round of a debate, or answers with the one that is running.")
            .mcp("continue_roundtable", "Next round", "Runs the next round of a debate, or returns the round that is running. If the last answer has status needs_context, first find out what its required contextRequests of kind question ask for, and pass one contextResults entry for each: {requestId, success, result} or {requestId, success: false, error}. Approvals and unknown outcomes of tool calls are decided by a person, or by {requestId, decision} where nextStep says so. Pass afterRound (the last round that you have seen), so that a repeated call never runs or pays for a round twice. A focusQuestion steers the round.")
            .waits(),
        Operation::on_session("synthesizeDebate", Does::Adds, read::synthesize)
            .http(Method::POST, "/api/debates/{sessionId}/synthesis", "Has a debate summed up; once, however often it is asked for.")
            .mcp("synthesize_debate", "Sum up", "Has the debate summed up: common ground, key differences, how positions moved, conclusion, recommendation. Call it when the debate is over or has said enough. It is written once and stored; calling it again reads it.")
            .waits(),
        Operation::on_session("controlDebate", Does::Changes, read::control)
            .http(Method::POST, "/api/debates/{sessionId}/control", "Pauses, resumes or stops a debate.")
            .mcp("control_session", "Pause, resume or stop", "Pauses a debate (no more rounds until it is resumed), resumes a paused one, or stops one for good. What was said is kept."),
    ]
}

/// Those that read.
fn reading() -> Vec<Operation> {
    vec![
        Operation::on_session("getConsensus", Does::Reads, read::consensus)
            .http(Method::GET, "/api/debates/{sessionId}/consensus", "How far the panel agreed in a round, the last one if none is named.")
            .mcp("get_consensus", "How far they agree", "How far the panel agreed in a round (the last one if none is named): agreement, clusters, common ground, disagreements, conditions, uncertainties, and what the debate added to the first round. It was stored with the round, so it costs nothing."),
        Operation::on_nothing("listAgents", Does::Reads, read::agents)
            .http(Method::GET, "/api/agents", "The agents of the configuration.")
            .mcp("get_agents", "Who can take part", "The agents of the configuration with provider and model, and whether each can be asked. Pass their ids as agents to start_roundtable; without any, a panel is made for the mode."),
        Operation::on_nothing("listDebates", Does::Reads, read::list)
            .http(Method::GET, "/api/debates", "Debates, newest first.")
            .mcp("list_sessions", "Earlier debates", "Debates, newest first, filtered by topic, mode, status and date. Use it to find the sessionId of an earlier debate and go on with it."),
        Operation::on_session("getThoughts", Does::Reads, read::thoughts)
            .http(Method::GET, "/api/debates/{sessionId}/agents/{agentId}/thoughts", "What an agent said over the rounds, and how sure it was.")
            .mcp("get_thoughts", "One agent's way", "Everything that one agent said, round by round, and how its confidence changed."),
        Operation::export::<_, Exported, _>("exportDebate", read::export)
            .http(Method::GET, "/api/debates/{sessionId}/export", "A debate as Markdown minutes, or as JSON that can be imported again.")
            .mcp("export_session", "Minutes", "The whole debate as Markdown minutes to send to people, or as JSON that can be imported again."),
        Operation::on_session("getRound", Does::Reads, read::round)
            .http(Method::GET, "/api/debates/{sessionId}/rounds/{roundNumber}", "What everyone said in a round.")
            .mcp("get_round_details", "A whole round", "What every agent said in a round, in full, with the consensus of that round."),
        Operation::on_session("getResponses", Does::Reads, read::responses)
            .http(Method::GET, "/api/debates/{sessionId}/agents/{agentId}/responses", "The full answers of an agent, in one round or in all.")
            .mcp("get_response_detail", "Full answers", "The full answers of one agent: position, reasoning, key points, citations; of one round or of all. Use it when actionRecommendation says query_detail."),
        Operation::on_session("getCitations", Does::Reads, read::citations)
            .http(Method::GET, "/api/debates/{sessionId}/citations", "The sources of a debate, each once.")
            .mcp("get_citations", "Sources", "The sources that agents named, each once, with who named it and when. Check those that a decision rests on."),
    ]
}
