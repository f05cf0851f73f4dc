//! Reading a debate, and telling it to pause or end. Nothing that was judged is judged again.

use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::DebateProgram as Program;

use roundtable::core::session::{AsideKey, Status as CoreStatus};
use roundtable::debate::{DebateFilter, Findings};
use roundtable::ports::{CommandKey, Owner};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::ask::{self, Control, Debates, Format, agent_id};
use super::detail::{
    Citations, Cited, Confidence, ConfiguredAgent, ConfiguredAgents, Consensus, Controlled, Debate,
    DebateList, Exported, FullResponse, Responses, RoundDetail, SynthesisAnswer, Thoughts,
};
use crate::app::App;
use crate::auth::Principal;
use crate::http::session::MOST;
use crate::key::Key;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::Authorized;
use crate::wire::ContextRequest;

type Session<'a> = &'a Authorized<SessionId>;

/// How many bytes of an export fit in the result of a tool.
const INLINE_EXPORT: usize = 1024 * 1024;

pub(crate) async fn consensus(
    app: &App,
    session: Session<'_>,
    round: Option<u32>,
) -> Result<Consensus, Problem> {
    let record = app.sessions.debate(session).record().await?;
    let unknown = || no_round(round, record.last_round());
    let number = round.or(record.last_round()).ok_or_else(unknown)?;
    let judgement = record.judgement(number).ok_or_else(unknown)?;
    let added = record.added().filter(|_| record.last_round() == Some(number));
    Ok(Consensus::of(session.id(), judgement, added))
}

fn no_round(asked: Option<u32>, last: Option<u32>) -> Problem {
    Problem::not_found(match (asked, last) {
        (Some(asked), Some(last)) => {
            format!("there is no round {asked}; there are rounds 1 to {last}")
        }
        _ => "no round has begun yet".to_owned(),
    })
}

/// The agents of the configuration. Nobody's session is in it.
pub(crate) fn agents(app: &App) -> ConfiguredAgents {
    let models = app.sessions.models();
    let agents = app.sessions.agents().iter().map(|agent| ConfiguredAgent {
        agent_id: agent.id.clone(),
        name: agent.name.clone(),
        provider: agent.model.split('/').next().unwrap_or_default().to_owned(),
        model: agent.model.clone(),
        active: models.contains(&agent.model),
    });
    ConfiguredAgents { agents: agents.collect(), models }
}

pub(crate) async fn list(
    app: &App,
    caller: &Principal,
    asked: Debates,
) -> Result<DebateList, Problem> {
    if asked.limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
        return Err(Problem::bad_request("invalid", format!("limit is a number from 1 to {MOST}")));
    }
    let filter = DebateFilter {
        topic: asked.topic,
        mode: asked.mode.map(Into::into),
        status: asked.status.map(Into::into),
        from: asked.from_date,
        to: asked.to_date,
        limit: asked.limit,
        ..DebateFilter::default()
    };
    let entries = app.sessions.debates(caller, filter).await?;
    Ok(DebateList { sessions: entries.iter().map(Debate::of).collect() })
}

pub(crate) async fn thoughts(
    app: &App,
    session: Session<'_>,
    agent: &str,
) -> Result<Thoughts, Problem> {
    let agent = agent_id(agent)?;
    let said = app.sessions.debate(session).thoughts(&agent).await?;
    let confidence = said.iter().map(|(number, response)| Confidence {
        round_number: *number,
        confidence: response.position.confidence,
        stance: response.position.stance.map(Into::into),
    });
    Ok(Thoughts {
        session_id: session.id().clone(),
        confidence_over_rounds: confidence.collect(),
        responses: said.iter().map(|(number, it)| FullResponse::of(*number, it)).collect(),
        agent_id: agent,
    })
}

pub(crate) async fn responses(
    app: &App,
    session: Session<'_>,
    agent: &str,
    round: Option<u32>,
) -> Result<Responses, Problem> {
    let agent = agent_id(agent)?;
    let record = app.sessions.debate(session).record().await?;
    if let Some(round) = round.filter(|round| record.round(*round).is_none()) {
        return Err(no_round(Some(round), record.last_round()));
    }
    let said = record.thoughts(&agent).ok_or_else(|| {
        Problem::not_found(format!(
            "agent {agent} is not in this debate; its answers name those who are"
        ))
    })?;
    let said = said.iter().filter(|(number, _)| round.is_none_or(|round| round == *number));
    let responses = said.map(|(number, response)| FullResponse::of(*number, response)).collect();
    Ok(Responses { session_id: session.id().clone(), agent_id: agent, responses })
}

pub(crate) async fn round(
    app: &App,
    session: Session<'_>,
    number: u32,
) -> Result<RoundDetail, Problem> {
    let record = app.sessions.debate(session).record().await?;
    let unknown = || no_round(Some(number), record.last_round());
    let findings = record.findings(number).ok_or_else(unknown)?;
    let judgement = record.judgement(number);
    let Findings { standing, responses, requests, .. } = findings;
    Ok(RoundDetail {
        session_id: session.id().clone(),
        round_number: number,
        status: standing.into(),
        focus_question: record.round(number).and_then(|round| round.focus.clone()),
        responses: responses.iter().map(|it| FullResponse::of(number, it)).collect(),
        consensus: judgement.map(|it| Consensus::of(session.id(), it, None)),
        context_requests: requests.iter().map(ContextRequest::of).collect(),
    })
}

pub(crate) async fn citations(
    app: &App,
    session: Session<'_>,
    round: Option<u32>,
    agent: Option<&str>,
) -> Result<Citations, Problem> {
    let agent = agent.map(agent_id).transpose()?;
    let sources = app.sessions.debate(session).citations(round, agent.as_ref()).await?;
    let citations: Vec<Cited> = sources.into_iter().map(Cited::of).collect();
    Ok(Citations { session_id: session.id().clone(), total: citations.len(), citations })
}

pub(crate) async fn synthesize(
    app: &App,
    session: Session<'_>,
    synthesizer: Option<&str>,
    key: Option<Key>,
) -> Result<SynthesisAnswer, Problem> {
    let agent = synthesizer.map(agent_id).transpose()?;
    let debate = app.sessions.debate(session);
    let key = key.map(|key| key.within(session.id()));
    begin_synthesis(app, &debate, agent.as_ref(), key.as_ref()).await?;
    let summed = tokio::select! {
        biased;
        summed = debate.synthesize_keyed(agent.as_ref(), key) => Some(summed?),
        () = tokio::time::sleep(app.limits.wait_budget) => None,
        () = app.stopping.cancelled() => None,
    };
    Ok(match summed {
        Some(summed) => SynthesisAnswer::completed(session.id(), summed),
        None => SynthesisAnswer::running(session.id()),
    })
}

/// Has a synthesis begun, as far as the limits allow it. One that there is already is read for nothing.
async fn begin_synthesis(
    app: &App,
    debate: &roundtable::debate::Debate,
    agent: Option<&AgentId>,
    key: Option<&CommandKey>,
) -> Result<(), Problem> {
    if let Some(key) = key
        && debate.session().find_receipt(key).await?.is_some()
    {
        return Ok(());
    }
    let state = debate.session().state().await?;
    let by = |done: &AsideKey| agent.is_none_or(|agent| done.agent.as_ref() == Some(agent));
    let is_there = state.asides_done.iter().any(by);
    let owner = Owner { tenant: state.tenant.clone(), actor: state.actor.clone() };
    match app.admit(&owner, Begin::Round).await {
        Ok(None) => Ok(()),
        Ok(Some(turn)) => {
            debate.session().command(Program::synthesize(agent)).await?;
            drop(turn);
            Ok(())
        }
        Err(_) if is_there => Ok(()),
        Err(limited) => Err(limited),
    }
}

/// The text of an export, and the place that it takes: whoever has the text in memory keeps it.
pub(crate) async fn export_text(
    app: &App,
    session: Session<'_>,
    format: Format,
) -> Result<(String, OwnedSemaphorePermit), Problem> {
    // It waits for as long as the caller does: whoever goes away leaves the queue.
    let place = tokio::select! {
        place = app.exports.clone().acquire_owned() => place.map_err(|_| stopping())?,
        () = app.stopping.cancelled() => return Err(stopping()),
    };
    let debate = app.sessions.debate(session);
    let text = match format {
        Format::Markdown => debate.export_markdown().await?,
        Format::Json => debate.export_json().await?,
    };
    Ok((text, place))
}

fn stopping() -> Problem {
    let what = "The server is stopping. Try again when it runs.";
    Problem::new(http::StatusCode::SERVICE_UNAVAILABLE, "stopping", what)
}

/// An export as one value, for callers that cannot read a stream. It has to be small enough to be
/// held several times.
pub(crate) async fn export(
    app: &App,
    session: Session<'_>,
    format: Format,
) -> Result<Exported, Problem> {
    let (text, _place) = export_text(app, session, format).await?;
    if text.len() > INLINE_EXPORT {
        let (bytes, id) = (text.len(), session.id());
        let what = format!(
            "The export has {bytes} bytes, and a tool result carries at most {INLINE_EXPORT}. \
             Read the resource roundtable://sessions/{id}/transcript page by page, or run `roundtable export {id}`."
        );
        return Err(Problem::new(http::StatusCode::PAYLOAD_TOO_LARGE, "too_large", what));
    }
    let content = match format {
        Format::Markdown => Value::String(text),
        Format::Json => serde_json::from_str(&text).unwrap_or_default(),
    };
    Ok(Exported { session_id: session.id().clone(), format, content })
}

pub(crate) async fn control(
    app: &App,
    session: Session<'_>,
    action: Control,
    key: Option<Key>,
) -> Result<Controlled, Problem> {
    let debate = app.sessions.debate(session);
    let key = key.map(|key| key.within(session.id()));
    let receipt = match action {
        Control::Pause => app.stored(debate.pause_keyed(key)).await?,
        Control::Resume => app.stored(debate.resume_keyed(key)).await?,
        Control::Stop => app.stored(debate.stop_keyed(key)).await?,
    };
    let record = debate.record_at(&receipt).await?;
    let status = match record.status {
        CoreStatus::Active => ask::Stands::Active,
        CoreStatus::Paused => ask::Stands::Paused,
        CoreStatus::Completed => ask::Stands::Completed,
    };
    Ok(Controlled::new(session.id(), status, record.rounds_completed(), record.spent()))
}
