//! Starting a debate, and going on with it: one round per call, never one twice.

use roundtable::Error;
use roundtable::core::Reject;
use roundtable::core::id::{IterationId, SessionId};
use roundtable::debate::{Continue, Debate, Findings, Standing};
use roundtable::driver::EngineError;
use roundtable::ports::{CommandKey, Owner};

use super::answer::RoundAnswer;
use super::ask::{GoOn, Start};
use super::wait::{Watch, wait};
use crate::app::App;
use crate::auth::Principal;
use crate::host;
use crate::http::context::answers;
use crate::key::Key;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::Authorized;
use crate::wire::Answers;

/// Starts a debate and answers with its first round.
pub(crate) async fn start(
    app: &App,
    caller: &Principal,
    asked: Start,
    key: Option<Key>,
    watch: &dyn Watch,
) -> Result<RoundAnswer, Problem> {
    asked.check()?;
    let mut debate =
        app.sessions.new_debate(caller, &asked.topic).mode(asked.mode.unwrap_or_default().into());
    if let Some(agents) = &asked.agents {
        debate = debate.known(agents)?;
    }
    if let Some(count) = asked.agent_count {
        debate = debate.agents(count);
    }
    if let Some(rounds) = asked.rounds {
        debate = debate.rounds(rounds);
    }
    if asked.exit_on_consensus == Some(true) {
        debate = debate.exit_on_consensus();
    }
    if let Some(budget) = &asked.budget {
        debate = debate.budget(budget.limits());
    }
    if let Some(key) = &key {
        debate = debate.key(key.text()).key_digest(key.digest());
    }
    let perspectives = asked.perspectives.unwrap_or_default().into_iter().map(Into::into);
    let debate = debate.perspectives(perspectives);
    let known = debate.find_started().await?;
    let turn = match known {
        true => None,
        false => app.admit(&caller.owner(), Begin::Session).await?,
    };
    let debate = debate.start().await?;
    drop(turn);
    answer(app, &debate, 1, watch, Vec::new()).await
}

/// Goes on with a debate and answers with the round that follows.
pub(crate) async fn go_on(
    app: &App,
    session: &Authorized<SessionId>,
    asked: GoOn,
    key: Option<Key>,
    watch: &dyn Watch,
) -> Result<RoundAnswer, Problem> {
    let debate = app.sessions.debate(session);
    let key = key.map(|key| key.within(session.id()));
    if let Some(key) = &key
        && let Some(receipt) = debate.session().find_receipt(key).await?
    {
        let replayed = debate.replay(&receipt).await?;
        return answer(app, &debate, replayed.number, watch, replayed.warnings).await;
    }
    if let Some(token) = &asked.turn_token {
        let number = bring(&debate, token, asked.contribution.as_deref()).await?;
        remember(&debate, key).await?;
        return answer(app, &debate, number, watch, Vec::new()).await;
    }
    let Answers { results, mut warnings } =
        answers(app, asked.context_results.unwrap_or_default())?;
    let says_nothing = asked.focus_question.is_none() && results.is_empty();
    if says_nothing && asked.after_round.is_none() {
        match last(&debate).await? {
            Last::Running(number) => {
                remember(&debate, key).await?;
                return answer(app, &debate, number, watch, warnings).await;
            }
            Last::Owed(owed) => {
                remember(&debate, key).await?;
                if still_reads(app, watch) {
                    note_delivered(&debate, &owed).await;
                }
                return Ok(RoundAnswer::of(&owed, None, warnings));
            }
            Last::Given => {}
        }
    }
    let wish =
        Continue { focus: asked.focus_question, results, after_round: asked.after_round, key };
    let state = debate.session().state().await?;
    let is_there = asked.after_round.is_some_and(|after| state.last_number > after);
    let begins = !is_there && state.round.as_ref().is_none_or(|round| round.aside);
    let owner = Owner { tenant: state.tenant.clone(), actor: state.actor.clone() };
    let turn = if begins { app.admit(&owner, Begin::Round).await? } else { None };
    let continued = debate.continue_round(wish).await?;
    drop(turn);
    warnings.extend(continued.warnings);
    answer(app, &debate, continued.number, watch, warnings).await
}

/// Notes that a request was answered without a command of its own.
async fn remember(debate: &Debate, key: Option<CommandKey>) -> Result<(), Problem> {
    if let Some(key) = key {
        debate.session().remember(key).await?;
    }
    Ok(())
}

async fn answer(
    app: &App,
    debate: &Debate,
    number: u32,
    watch: &dyn Watch,
    warnings: Vec<String>,
) -> Result<RoundAnswer, Problem> {
    let findings = wait(app, debate, number, watch).await?;
    if findings.standing == Standing::Running {
        return Ok(RoundAnswer::of(&findings, host::find(debate).await?, warnings));
    }
    if still_reads(app, watch) {
        note_delivered(debate, &findings).await;
    }
    Ok(RoundAnswer::of(&findings, None, warnings))
}

/// Whether someone reads the answer. What is given to nobody was not given.
fn still_reads(app: &App, watch: &dyn Watch) -> bool {
    !watch.gone().is_cancelled() && !app.stopping.is_cancelled()
}

/// Brings a turn in that waited for the caller's own model, and says which round it is part of. A
/// turn that was brought in before is not brought in again.
async fn bring(debate: &Debate, token: &str, contribution: Option<&str>) -> Result<u32, Problem> {
    let refuse = |what: &str| Err(Problem::bad_request("invalid", what));
    let Some(contribution) = contribution.filter(|text| !text.trim().is_empty()) else {
        return refuse("contribution is what you answer to the turn's prompt; it cannot be empty");
    };
    let Ok(token) = token.parse::<IterationId>() else {
        return refuse("turnToken is none; take it from the turn of the last answer");
    };
    let state = debate.session().state().await?;
    let Some(round) = &state.round else { return Ok(state.last_number) };
    if round.turn_of_iteration(&token).is_some() {
        match debate.session().contribute(&token, contribution).await {
            // Someone else has brought it in meanwhile.
            Ok(()) | Err(Error::Engine(EngineError::Reject(Reject::Stale { .. }))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(round.number)
}

/// How a debate's last round stands with its callers.
enum Last {
    /// It is under way.
    Running(u32),
    /// It is over, and nobody has been given it: it comes before another one is run, and before one is
    /// told that the debate is over.
    Owed(Box<Findings>),
    /// It was given, or there is none.
    Given,
}

async fn last(debate: &Debate) -> Result<Last, Problem> {
    let record = debate.record().await?;
    let Some(findings) = record.last_round().and_then(|last| record.findings(last)) else {
        return Ok(Last::Given);
    };
    let number = findings.number;
    if findings.standing == Standing::Running {
        return Ok(Last::Running(number));
    }
    let given = debate.session().noted(&delivered(number)).await?;
    Ok(if given { Last::Given } else { Last::Owed(Box::new(findings)) })
}

/// A note that fails costs the caller a second look at the same round.
async fn note_delivered(debate: &Debate, findings: &Findings) {
    let _ = debate.session().note(&delivered(findings.number)).await;
}

fn delivered(number: u32) -> String {
    format!("delivered.{number}")
}
