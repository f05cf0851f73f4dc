//! What a round came to.

use roundtable_core::context_request::ContextRequest;
use roundtable_core::event::{RoundOutcome, TurnOutcome};
use roundtable_core::id::AgentId;
use roundtable_core::session::Status;
use roundtable_core::window::{RoundRecord, Utterance};
use roundtable_core::{Keep, Live, Reject};

use crate::error::Result;
use crate::reader::Reader;
use crate::session::Session;

/// What an agent came to in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Who.
    pub agent: AgentId,
    /// How its turn ended.
    pub outcome: TurnOutcome,
    /// What it said; as far as it got, if it was cut off.
    pub text: String,
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundReport {
    /// The round's number.
    pub number: u32,
    /// How it ended; nothing while it waits for someone to approve a tool call, or to answer an agent.
    pub outcome: Option<RoundOutcome>,
    /// What the agents said, in the order in which they were done.
    pub answers: Vec<Answer>,
    /// What it asked for. The next round waits for the required ones.
    pub requests: Vec<ContextRequest>,
}

impl RoundReport {
    fn of(round: &RoundRecord) -> Self {
        let answer = |turn: &Utterance| {
            let (agent, text) = (turn.agent.clone(), turn.text.clone());
            Some(Answer { agent, outcome: turn.outcome.clone()?, text })
        };
        Self {
            number: round.number,
            outcome: round.outcome,
            answers: round.turns.iter().filter_map(answer).collect(),
            requests: round.requests.clone(),
        }
    }
}

/// Reads until the round that a message opened is over, or waits for a person.
pub(crate) async fn collect(session: &Session, message_id: &str) -> Result<RoundReport> {
    // Mostly the round is over by now, and then nobody has to copy what the session's task knows.
    let own = message_id.to_owned();
    if let Some(Some(Some(report))) = session.look(move |live| over(live, &own)).await? {
        return Ok(report);
    }
    let mut reader = Reader::open(session, Keep::Window).await?;
    if let Some(report) = reader.until(|live| over(live, message_id)).await? {
        return Ok(report);
    }
    // Many rounds may have followed, and then only the whole log knows it.
    let reader = Reader::open(session, Keep::All).await?;
    let now = reader.now();
    report(now, message_id).ok_or_else(|| {
        if now.session.status != Status::Completed {
            let what = format!("message {message_id} was withdrawn before its round started");
            return Reject::Invalid { what }.into();
        }
        let hint = "the message started no round; open another session, or fork this one";
        Reject::NotActive { status: "completed".into(), hint: hint.into() }.into()
    })
}

/// What a round that is over came to; nothing in it where that is not known.
fn over(live: &Live, message_id: &str) -> Option<Option<RoundReport>> {
    live.session.is_over(message_id).then(|| report(live, message_id))
}

/// What the round that a message opened came to; nothing where it is not known.
fn report(live: &Live, message_id: &str) -> Option<RoundReport> {
    let own = |round: &&RoundRecord| round.context.message_id() == message_id;
    live.window.rounds().rev().find(own).map(RoundReport::of)
}
