//! The operations on debates. What a model reads of a tool stands beside its name.

use http::Method;

use super::{hold, read};
use crate::export::ExportAnswer;
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
            .http(Method::POST, "/api/debates", "Start a debate and run its first round.")
            .mcp("start_roundtable", "Start a debate", "Start a debate among AI agents about a question and run its first round. Use it for decisions, designs, trade-offs and reviews that need more than one opinion. Choose the mode: collaborative (find agreement), adversarial (pro and con), socratic (probing questions), expert-panel (perspectives), devils-advocate (forced yes and no), delphi (anonymous estimates), red-team-blue-team (attack and defend a plan), council (answers, ranking, verdict). Put all background that the agents need into topic. Then follow nextStep of the answer: usually call continue_roundtable.")
            .waits(),
        Operation::on_nothing("quoteDebate", Does::Reads, hold::quote).http(
            Method::POST,
            "/api/debates/quote",
            "Estimate the cost of a debate without starting or storing anything.",
        ),
        Operation::on_session("continueDebate", Does::Adds, hold::go_on)
            .http(Method::POST, "/api/debates/{sessionId}/continue", "Run the next round of a debate, or return the running round.")
            .mcp("continue_roundtable", "Run the next round", "Run the next round of a debate, or return the running round. If the previous answer has status needs_context, first find the answers to its required contextRequests of kind question. Pass one contextResults entry for each: {requestId, success, result} or {requestId, success: false, error}. A person decides on approvals and unknown outcomes of tool calls; pass {requestId, decision} only if nextStep asks for it. Pass afterRound (the last round that you have seen): a repeated call then never runs a round twice. A focusQuestion steers the round.")
            .waits(),
        Operation::on_session("synthesizeDebate", Does::Adds, read::synthesize)
            .http(Method::POST, "/api/debates/{sessionId}/synthesis", "Summarize a debate. The synthesis is written once; later requests return it.")
            .mcp("synthesize_debate", "Summarize a debate", "Summarize a debate: common ground, key differences, changes of position, conclusion, recommendation. Call it when the debate is over or has enough rounds. The synthesis is written once and stored; later calls return it.")
            .waits(),
        Operation::on_session("controlDebate", Does::Changes, read::control)
            .http(Method::POST, "/api/debates/{sessionId}/control", "Pause, resume or stop a debate.")
            .mcp("control_session", "Pause, resume or stop a debate", "Pause a debate (no new rounds until it is resumed), resume a paused debate, or stop a debate permanently. Its rounds are kept."),
    ]
}

/// Those that read.
fn reading() -> Vec<Operation> {
    vec![
        Operation::on_session("getConsensus", Does::Reads, read::consensus)
            .http(Method::GET, "/api/debates/{sessionId}/consensus", "Get the consensus of a round. Default: the last round.")
            .mcp("get_consensus", "Consensus", "Get the consensus of a round (default: the last one): agreement, clusters, common ground, disagreements, conditions, uncertainties, and changes since the first round. It is stored with the round and costs nothing."),
        Operation::on_nothing("listAgents", Does::Reads, read::agents)
            .http(Method::GET, "/api/agents", "List the configured agents.")
            .mcp("get_agents", "List agents", "List the configured agents with provider, model and availability. Pass their ids as agents to start_roundtable. Without ids, the mode chooses the panel."),
        Operation::on_nothing("listDebates", Does::Reads, read::list)
            .http(Method::GET, "/api/debates", "List debates, newest first.")
            .mcp("list_sessions", "List debates", "List debates, newest first. Filter by topic, mode, status and date. Use it to find the sessionId of an earlier debate."),
        Operation::on_session("getThoughts", Does::Reads, read::thoughts)
            .http(Method::GET, "/api/debates/{sessionId}/agents/{agentId}/thoughts", "Get the responses and the confidence of an agent over all rounds.")
            .mcp("get_thoughts", "Responses of one agent", "Get all responses of one agent, round by round, with the changes of its confidence."),
        Operation::export::<_, ExportAnswer, _>("exportDebate", read::export)
            .http(Method::GET, "/api/debates/{sessionId}/export", "Export a debate as Markdown minutes or as JSON for import.")
            .mcp("export_session", "Export a debate", "Export the complete debate as Markdown minutes for people or as JSON for import."),
        Operation::on_session("getRound", Does::Reads, read::round)
            .http(Method::GET, "/api/debates/{sessionId}/rounds/{roundNumber}", "Get all responses of a round.")
            .mcp("get_round_details", "Round details", "Get the full responses of all agents in a round, with the consensus of the round."),
        Operation::on_session("getResponses", Does::Reads, read::responses)
            .http(Method::GET, "/api/debates/{sessionId}/agents/{agentId}/responses", "Get the full responses of an agent in one round or in all rounds.")
            .mcp("get_response_detail", "Full responses", "Get the full responses of one agent in one round or in all rounds: position, reasoning, key points, citations. Use it when actionRecommendation is query_detail."),
        Operation::on_session("getCitations", Does::Reads, read::citations)
            .http(Method::GET, "/api/debates/{sessionId}/citations", "List the sources of a debate without duplicates.")
            .mcp("get_citations", "List sources", "List the sources that agents cited, without duplicates, with the agents and rounds that cite them. Verify the sources that a decision depends on."),
    ]
}
