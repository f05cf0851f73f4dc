//! Starting a debate, and going on with it: one round per call, never one twice.

use http::StatusCode;
use roundtable::core::id::{IterationId, SessionId};
use roundtable::debate::{Continue, Debate, Findings, Standing};

use super::answer::RoundAnswer;
use super::ask::{GoOn, Start};
use super::wait::{Watch, wait};
use crate::app::App;
use crate::auth::Principal;
use crate::http::context::answers;
use crate::problem::Problem;
use crate::sessions::Authorized;
use crate::wire::Answers;

/// Starts a debate and answers with its first round.
pub(crate) async fn start(
    app: &App,
    caller: &Principal,
    asked: Start,
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
    if let Some(key) = &asked.idempotency_key {
        debate = debate.key(key);
    }
    let perspectives = asked.perspectives.unwrap_or_default().into_iter().map(Into::into);
    let debate = debate.perspectives(perspectives).start().await?;
    answer(app, &debate, 1, watch, Vec::new()).await
}

/// Goes on with a debate and answers with the round that follows.
pub(crate) async fn go_on(
    app: &App,
    session: &Authorized<SessionId>,
    asked: GoOn,
    watch: &dyn Watch,
) -> Result<RoundAnswer, Problem> {
    let debate = app.sessions.debate(session);
    if let Some(token) = &asked.turn_token {
        let number = bring(app, &debate, token, asked.contribution.as_deref()).await?;
        return answer(app, &debate, number, watch, Vec::new()).await;
    }
    let Answers { results, mut warnings } =
        answers(app, asked.context_results.unwrap_or_default())?;
    let says_nothing = asked.focus_question.is_none() && results.is_empty();
    if says_nothing
        && asked.after_round.is_none()
        && let Some(owed) = owed(&debate).await?
    {
        note_delivered(&debate, &owed).await;
        return Ok(RoundAnswer::of(&owed, None, warnings));
    }
    let wish = Continue {
        focus: asked.focus_question,
        results,
        after_round: asked.after_round,
        command: None,
    };
    let continued = debate.continue_round(wish).await?;
    warnings.extend(continued.warnings);
    answer(app, &debate, continued.number, watch, warnings).await
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
        // Whoever is told that a round is running comes back for it; so it is noted while it can be.
        let _ = debate.session().note(&promised(number)).await;
    } else {
        note_delivered(debate, &findings).await;
    }
    Ok(RoundAnswer::of(&findings, app.host.find(debate.id()), warnings))
}

/// Brings a turn in that waited for the caller's own model, and says which round it is part of. A
/// turn that was brought in before is not brought in again.
async fn bring(
    app: &App,
    debate: &Debate,
    token: &str,
    contribution: Option<&str>,
) -> Result<u32, Problem> {
    let refuse = |what: &str| Err(Problem::bad_request("invalid", what));
    let Some(contribution) = contribution.filter(|text| !text.trim().is_empty()) else {
        return refuse("contribution is what you answer to the turn's prompt; it cannot be empty");
    };
    let Ok(token) = token.parse::<IterationId>() else {
        return refuse("turnToken is none; take it from the turn of the last answer");
    };
    // Looking at it loads it: after a restart its turn then waits again.
    let state = debate.session().state().await?;
    let Some(round) = &state.round else { return Ok(state.last_number) };
    if round.turn_of_iteration(&token).is_some() {
        let waiting = app.host.wait_for_turn(&token);
        // Another process may have the turn; then it is not brought in here.
        let _ = tokio::time::timeout(app.limits.wait_budget, waiting).await;
        if !app.host.bring(debate.id(), &token, contribution) {
            let what = "this turn waits in another process that has the debate open; bring it in there, or close that one";
            return Err(Problem::new(StatusCode::CONFLICT, "elsewhere", what));
        }
    }
    Ok(round.number)
}

/// A round that is over and that nobody has been given: it comes before another one is run.
async fn owed(debate: &Debate) -> Result<Option<Findings>, Problem> {
    let record = debate.record().await?;
    let Some(last) = record.last_round() else { return Ok(None) };
    let findings = record.findings(last).filter(|found| found.standing != Standing::Running);
    let Some(findings) = findings else { return Ok(None) };
    let session = debate.session();
    let is_owed = match findings.standing {
        // Nothing can be noted about a debate that is over; what was promised is given every time.
        Standing::Completed => session.noted(&promised(last)).await?,
        _ => !session.noted(&delivered(last)).await?,
    };
    Ok(Some(findings).filter(|_| is_owed))
}

/// A note that fails costs the caller a second look at the same round.
async fn note_delivered(debate: &Debate, findings: &Findings) {
    if findings.standing != Standing::Completed {
        let _ = debate.session().note(&delivered(findings.number)).await;
    }
}

fn promised(number: u32) -> String {
    format!("promised.{number}")
}

fn delivered(number: u32) -> String {
    format!("delivered.{number}")
}
