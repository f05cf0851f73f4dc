//! Reading a debate, and telling it to pause or end. Nothing that was judged is judged again.

use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::DebateProgram as Program;

use roundtable::core::session::AsideKey;
use roundtable::debate::{Consensus, DebateFilter, Findings, FullResponse};
use roundtable::ports::{CommandKey, Owner};

use super::ask::{
    AgentQuery, CitationsQuery, Control, ControlRequest, DebatesQuery, ExportQuery, Format,
    LastRoundQuery, ResponsesQuery, RoundQuery, SynthesisRequest, agent_id,
};
use super::detail::{
    Citations, Confidence, ConfiguredAgent, ConfiguredAgents, ControlAnswer, DebateList, Responses,
    RoundDetail, SynthesisAnswer, Thoughts,
};
use crate::app::App;
use crate::export::Export;
use crate::operation::{Call, Nothing};
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::Authorized;

type Session = Authorized<SessionId>;

pub(super) async fn consensus(
    call: Call,
    session: Session,
    asked: LastRoundQuery,
) -> Result<Consensus, Problem> {
    let round = asked.round_number;
    let record = call.app.sessions.debate(&session).record().await?;
    let unknown = || no_round(round, record.last_round());
    let number = round.or(record.last_round()).ok_or_else(unknown)?;
    record.consensus(number).ok_or_else(unknown)
}

fn no_round(asked: Option<u32>, last: Option<u32>) -> Problem {
    Problem::not_found(match (asked, last) {
        (Some(asked), Some(last)) => {
            format!("round {asked} does not exist; the rounds are 1 to {last}")
        }
        _ => "no round has started yet".to_owned(),
    })
}

/// List the configured agents. Nobody's session is in it.
pub(super) async fn agents(call: Call, _: Nothing) -> Result<ConfiguredAgents, Problem> {
    let models = call.app.sessions.models();
    let agents = call.app.sessions.agents().iter().map(|agent| ConfiguredAgent {
        agent_id: agent.id.clone(),
        name: agent.name.clone(),
        provider: agent.model.split('/').next().unwrap_or_default().to_owned(),
        model: agent.model.clone(),
        active: models.contains(&agent.model),
    });
    Ok(ConfiguredAgents { agents: agents.collect(), models })
}

pub(super) async fn list(call: Call, asked: DebatesQuery) -> Result<DebateList, Problem> {
    let filter = DebateFilter {
        topic: asked.topic,
        archived: Some(false),
        mode: asked.mode,
        status: asked.status,
        from: asked.from_date,
        to: asked.to_date,
        limit: asked.limit,
        ..DebateFilter::default()
    };
    Ok(DebateList { sessions: call.app.sessions.debates(&call.principal, filter).await? })
}

pub(super) async fn thoughts(
    call: Call,
    session: Session,
    asked: AgentQuery,
) -> Result<Thoughts, Problem> {
    let agent = agent_id(&asked.agent_id)?;
    let responses = call.app.sessions.debate(&session).thoughts(&agent).await?;
    let confidence = responses.iter().map(|full| Confidence {
        round_number: full.number,
        confidence: full.response.position.confidence,
        stance: full.response.position.stance,
    });
    Ok(Thoughts {
        session_id: session.id().clone(),
        confidence_over_rounds: confidence.collect(),
        responses,
        agent_id: agent,
    })
}

pub(super) async fn responses(
    call: Call,
    session: Session,
    asked: ResponsesQuery,
) -> Result<Responses, Problem> {
    let (agent, round) = (agent_id(&asked.agent_id)?, asked.round_number);
    let record = call.app.sessions.debate(&session).record().await?;
    if let Some(round) = round.filter(|round| record.round(*round).is_none()) {
        return Err(no_round(Some(round), record.last_round()));
    }
    let mut responses = record.thoughts(&agent).ok_or_else(|| {
        Problem::not_found(format!(
            "agent {agent} is not in this debate; the responses list the agent ids"
        ))
    })?;
    responses.retain(|response| round.is_none_or(|round| round == response.number));
    Ok(Responses { session_id: session.id().clone(), agent_id: agent, responses })
}

pub(super) async fn round(
    call: Call,
    session: Session,
    asked: RoundQuery,
) -> Result<RoundDetail, Problem> {
    let number = asked.round_number;
    let record = call.app.sessions.debate(&session).record().await?;
    let unknown = || no_round(Some(number), record.last_round());
    let findings = record.findings(number).ok_or_else(unknown)?;
    let Findings { status, responses, requests, consensus, .. } = findings;
    let responses = responses.into_iter().map(|it| FullResponse::new(number, it));
    Ok(RoundDetail {
        session_id: session.id().clone(),
        round_number: number,
        status,
        focus_question: record.round(number).and_then(|round| round.focus.clone()),
        responses: responses.collect(),
        consensus,
        context_requests: requests,
    })
}

pub(super) async fn citations(
    call: Call,
    session: Session,
    asked: CitationsQuery,
) -> Result<Citations, Problem> {
    let agent = asked.agent_id.as_deref().map(agent_id).transpose()?;
    let debate = call.app.sessions.debate(&session);
    let citations = debate.citations(asked.round_number, agent.as_ref()).await?;
    Ok(Citations { session_id: session.id().clone(), total: citations.len(), citations })
}

pub(super) async fn synthesize(
    call: Call,
    session: Session,
    asked: SynthesisRequest,
) -> Result<SynthesisAnswer, Problem> {
    let app = &call.app;
    let agent = asked.synthesizer.as_deref().map(agent_id).transpose()?;
    let debate = app.sessions.debate(&session);
    let wait_budget = call.wait_budget();
    let key = call.key.map(|key| key.within(session.id()));
    begin_synthesis(app, &debate, agent.as_ref(), key.as_ref()).await?;
    let summed = tokio::select! {
        biased;
        summed = debate.synthesize_keyed(agent.as_ref(), key) => Some(summed?),
        () = tokio::time::sleep(wait_budget) => None,
        () = app.stopping.cancelled() => None,
    };
    Ok(SynthesisAnswer::new(session.id(), summed))
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

/// The text of a debate. It waits for a place for as long as the caller does: whoever goes away
/// leaves the queue.
pub(super) async fn export(
    call: Call,
    session: Session,
    asked: ExportQuery,
) -> Result<Export, Problem> {
    let app = &call.app;
    let place = tokio::select! {
        place = app.exports.clone().acquire_owned() => place.map_err(|_| stopping())?,
        () = app.stopping.cancelled() => return Err(stopping()),
    };
    let debate = app.sessions.debate(&session);
    let text = match asked.format {
        Format::Markdown => debate.export_markdown().await?,
        Format::Json => debate.export_json().await?,
    };
    Ok(Export { session: session.id().clone(), format: asked.format, text, place })
}

fn stopping() -> Problem {
    let what = "The server is stopping; retry when it is running again";
    Problem::new(http::StatusCode::SERVICE_UNAVAILABLE, "stopping", what)
}

pub(super) async fn control(
    call: Call,
    session: Session,
    asked: ControlRequest,
) -> Result<ControlAnswer, Problem> {
    let (app, debate) = (&call.app, call.app.sessions.debate(&session));
    let key = call.key.map(|key| key.within(session.id()));
    let receipt = match asked.action {
        Control::Pause => app.stored(debate.pause_keyed(key)).await?,
        Control::Resume => app.stored(debate.resume_keyed(key)).await?,
        Control::Stop => app.stored(debate.stop_keyed(key)).await?,
    };
    let record = debate.record_at(&receipt).await?;
    Ok(ControlAnswer {
        session_id: session.id().clone(),
        status: record.status.into(),
        current_round: record.rounds_completed(),
        usage: record.spent().into(),
    })
}
