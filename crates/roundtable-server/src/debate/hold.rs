//! Starting a debate, and going on with it: one round per call, never one twice.

use std::pin::{Pin, pin};
use std::time::Duration;

use roundtable::Error;
use roundtable::core::Reject;
use roundtable::core::id::{IterationId, SessionId};
use roundtable::debate::{self, Debate, DebateBuilder, Findings, Quote, RoundStatus};
use roundtable::driver::EngineError;
use roundtable::ports::{CommandKey, Owner};
use tokio::time::Sleep;

use super::answer::RoundAnswer;
use super::ask::{Budget, ContinueRequest, StartRequest};
use super::consent::Caller;
use super::wait::{Watch, wait};
use crate::app::App;
use crate::host;
use crate::operation::Call;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::session::answers;
use crate::sessions::Authorized;
use crate::wire::Answers;

/// Who calls, and who wants to know how it goes meanwhile.
#[derive(Clone, Copy)]
struct By<'a> {
    caller: Caller,
    watch: &'a dyn Watch,
}

impl<'a> By<'a> {
    fn of(call: &'a Call) -> Self {
        Self { caller: call.by, watch: call.watch.as_ref() }
    }
}

/// What a caller is told whose input was not used, because the answer to an earlier call came first.
const UNUSED: &str = "The requested round had already failed; this is its result. focusQuestion, \
    contextResults and budget of this call were not used; send them again.";

/// How long a note that a round was delivered is waited for. It is stored later, if it has to wait.
const NOTED_WITHIN: Duration = Duration::from_secs(1);

/// Starts a debate and answers with its first round.
pub(crate) async fn start(call: Call, asked: StartRequest) -> Result<RoundAnswer, Problem> {
    let (app, by) = (&call.app, By::of(&call));
    let mut within = pin!(tokio::time::sleep(call.wait_budget()));
    let mut debate = prepare(&call, asked)?;
    if let Some(key) = &call.key {
        debate = debate.key(key.text()).key_digest(key.digest());
    }
    let known = debate.find_started().await?;
    let turn = match known {
        true => None,
        false => app.admit(&call.principal.owner(), Begin::Session).await?,
    };
    let debate = app.stored(debate.start()).await?;
    drop(turn);
    answer(app, &debate, 1, within.as_mut(), by, Vec::new()).await
}

/// Estimate the cost of a debate without starting or storing anything.
pub(crate) async fn quote(call: Call, asked: StartRequest) -> Result<Quote, Problem> {
    Ok(prepare(&call, asked)?.quote()?)
}

/// The debate that is asked for, before it starts.
fn prepare(call: &Call, asked: StartRequest) -> Result<DebateBuilder, Problem> {
    asked.check()?;
    let mode = asked.mode.unwrap_or_default();
    let mut debate = call.app.sessions.new_debate(&call.principal, &asked.topic).mode(mode);
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
    let perspectives = asked.perspectives.unwrap_or_default().into_iter().map(Into::into);
    Ok(debate.perspectives(perspectives))
}

/// Goes on with a debate and answers with the round that follows.
pub(crate) async fn go_on(
    call: Call,
    session: Authorized<SessionId>,
    asked: ContinueRequest,
) -> Result<RoundAnswer, Problem> {
    let (app, by) = (&call.app, By::of(&call));
    let mut within = pin!(tokio::time::sleep(call.wait_budget()));
    let debate = app.sessions.debate(&session);
    if session.listed().parked.is_some() {
        app.stored(debate.session().try_again()).await?;
    }
    let key = call.key.as_ref().map(|key| key.within(session.id()));
    if let Some(key) = &key
        && let Some(receipt) = debate.session().find_receipt(key).await?
    {
        let replayed = debate.replay(&receipt).await?;
        let (number, warnings) = (replayed.number, replayed.warnings);
        return answer(app, &debate, number, within.as_mut(), by, warnings).await;
    }
    if let Some(token) = &asked.turn_token {
        let brought = bring(&debate, token, asked.contribution.as_deref());
        let number = app.stored(brought).await?;
        remember(&debate, key).await?;
        let warnings = unused(asked.focus_question.is_some(), asked.context_results.is_some());
        return answer(app, &debate, number, within.as_mut(), by, warnings).await;
    }
    let Answers { results, mut warnings } =
        answers(app, asked.context_results.unwrap_or_default())?;
    if !results.is_empty() {
        by.caller.check(&debate.session().state().await?, &results)?;
    }
    let budget = asked.budget.as_ref().map(Budget::limits);
    let says_nothing = asked.focus_question.is_none() && results.is_empty() && budget.is_none();
    if says_nothing || asked.after_round.is_some() {
        let owed = match (last(&debate).await?, asked.after_round) {
            (Last::Running(number), None) => {
                remember(&debate, key).await?;
                return answer(app, &debate, number, within.as_mut(), by, warnings).await;
            }
            (Last::Owed(owed), None) => Some(owed),
            // A failure that nobody was told of is told once; then the round is run again.
            (Last::Owed(owed), Some(after)) => Some(owed)
                .filter(|owed| owed.status == RoundStatus::Failed && owed.number == after + 1),
            (Last::Running(_) | Last::Given, _) => None,
        };
        if let Some(owed) = owed {
            remember(&debate, key).await?;
            if !says_nothing {
                warnings.push(UNUSED.to_owned());
            }
            if still_reads(app, by.watch) {
                note_delivered(&debate, &owed).await;
            }
            return Ok(RoundAnswer::of(*owed, by.caller, None, warnings));
        }
    }
    let wish = debate::ContinueRequest {
        focus: asked.focus_question,
        results,
        after_round: asked.after_round,
        budget,
        key,
    };
    let focus = wish.focus.clone();
    let state = debate.session().state().await?;
    let owner = Owner { tenant: state.tenant.clone(), actor: state.actor.clone() };
    let begins = wish.begins_round(&state);
    let turn = if begins { app.admit(&owner, Begin::Round).await? } else { None };
    let continued = app.stored(debate.continue_round(wish)).await?;
    drop(turn);
    warnings.extend(continued.warnings);
    if continued.joined {
        warnings.extend(check_focus(&debate, continued.number, focus).await?);
    }
    answer(app, &debate, continued.number, within.as_mut(), by, warnings).await
}

/// What is said of a focus question for a round that exists already: nothing if it is the one that
/// the round was opened with, as in a retry.
async fn check_focus(
    debate: &Debate,
    number: u32,
    focus: Option<String>,
) -> Result<Option<String>, Problem> {
    let Some(focus) = focus else { return Ok(None) };
    let record = debate.record().await?;
    let Some(round) = record.round(number) else { return Ok(None) };
    if round.focus.as_ref() == Some(&focus) || record.topic == focus {
        return Ok(None);
    }
    if round.outcome.is_none() {
        return Err(Reject::Busy { round: number }.into());
    }
    Ok(Some(format!("round {number} already exists; focusQuestion was not used")))
}

/// What is said of fields that a contribution does not need.
fn unused(focus: bool, results: bool) -> Vec<String> {
    let named = [(focus, "focusQuestion"), (results, "contextResults")];
    let named = named.into_iter().filter(|(given, _)| *given);
    named.map(|(_, name)| format!("{name} was not used; send it without turnToken")).collect()
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
    within: Pin<&mut Sleep>,
    by: By<'_>,
    warnings: Vec<String>,
) -> Result<RoundAnswer, Problem> {
    let findings = wait(app, debate, number, within, by.watch).await?;
    if findings.open {
        return Ok(RoundAnswer::of(findings, by.caller, host::find(debate).await?, warnings));
    }
    if still_reads(app, by.watch) {
        note_delivered(debate, &findings).await;
    }
    Ok(RoundAnswer::of(findings, by.caller, None, warnings))
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
        return refuse("contribution is empty; send your answer to turn.prompt");
    };
    let Ok(token) = token.parse::<IterationId>() else {
        return refuse("invalid turnToken; use the one from the previous answer");
    };
    let state = debate.session().state().await?;
    let open = state.turn_of_iteration(&token).map(|(scope, _)| scope);
    if open.is_some() {
        match debate.session().contribute(&token, contribution).await {
            // Someone else has brought it in meanwhile.
            Ok(()) | Err(Error::Engine(EngineError::Reject(Reject::Stale { .. }))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(open.or(state.round.as_ref()).map_or(state.last_number, |round| round.number))
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
    if findings.open {
        return Ok(Last::Running(number));
    }
    let given = debate.session().noted(&delivered(&findings)).await?;
    Ok(if given { Last::Given } else { Last::Owed(Box::new(findings)) })
}

/// A note that fails costs the caller a second look at the same round.
async fn note_delivered(debate: &Debate, findings: &Findings) {
    let what = delivered(findings);
    let noted = debate.session().note(&what);
    let _ = tokio::time::timeout(NOTED_WITHIN, noted).await;
}

fn delivered(findings: &Findings) -> String {
    match (findings.number, findings.take) {
        (number, 1) => format!("delivered.{number}"),
        (number, take) => format!("delivered.{number}.{take}"),
    }
}
