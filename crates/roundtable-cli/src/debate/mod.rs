//! `roundtable debate`, and `continue` for debates: a panel argues a question, round by round.

mod board;
pub(crate) mod budget;
mod hold;
mod panel;
mod progress;
mod report;
mod show;
mod words;
mod wrap;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use roundtable::core::budget::{Exhausted, Limits};
use roundtable::core::event::{RoundOutcome, TurnOutcome};
use roundtable::core::id::SessionId;
use roundtable::core::session::Status;
use roundtable::debate::Record;
use roundtable::prelude::*;

use crate::ask::Trouble;
use crate::config::{Config, Running, Wishes};
use crate::signal::Signals;
use crate::voice;
use hold::{End, Hold};
use show::Show;

/// What a run is told that waits for an answer nobody is there to give.
pub(crate) const WAITS: u8 = 3;

/// What is argued, by whom, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The question.
    topic: String,
    /// How the panel argues.
    #[arg(long, value_name = "MODE", default_value = "collaborative", value_parser = modes())]
    mode: Mode,
    /// How many agents are made for the mode, spread over the models there are [default: the agents
    /// of the configuration, or 4]
    #[arg(long, value_name = "N", conflicts_with = "agent")]
    agents: Option<usize>,
    /// An agent of the configuration; once for each seat.
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// After how many rounds it ends.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// End as soon as the panel agrees.
    #[arg(long)]
    exit_on_consensus: bool,
    /// A point of view, as NAME or NAME: DESCRIPTION; once for each.
    #[arg(long = "perspective", value_name = "POINT")]
    perspectives: Vec<String>,
    /// The model: vendor/model, a vendor, or a name in the configuration; also ROUNDTABLE_MODEL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What the whole debate may spend: calls=N,tokens=N,dollars=N, any of them
    #[arg(long, value_name = "LIMITS", value_parser = budget::read)]
    budget: Option<Limits>,
    /// Print every event as a line of JSON and what it came to as the last line, and nothing else.
    #[arg(long)]
    json: bool,
}

impl Options {
    pub fn wishes(&self) -> Wishes {
        Wishes::for_model(self.model.clone())
    }
}

fn modes() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(|name| name.parse::<Mode>())
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen().context("listening to signals")?;
    let trouble = Trouble::new(options.json);
    let seats = config.debaters(&options.agent, options.agents.is_some())?;
    let (running, panel) = config.engine_for_debate(&seats, &trouble.watch()).await?;
    let show = Show::new(options.json);
    let (model, why) = match seats.first() {
        Some(id) => (config.model_of_agent(id), config.why(id)),
        None => config.speaking(),
    };
    show.note(&voice::introduced("The panel", &config.spelled_out(&model), &why));
    let debate = panel
        .into_iter()
        .fold(running.engine.debate(&options.topic), |debate, agent| debate.participant(agent));
    let debate = debate
        .mode(options.mode)
        .rounds(options.rounds)
        .perspectives(options.perspectives.iter().map(|text| perspective(text)))
        .budget(options.budget.unwrap_or_default());
    let debate = options.agents.into_iter().fold(debate, |debate, count| debate.agents(count));
    let debate = if options.exit_on_consensus { debate.exit_on_consensus() } else { debate };
    show.quote(&debate.quote()?);
    let hold = Hold::new(debate.start().await?, show, None);
    finish(config, &running, hold, Begin::Anew, signals, &trouble).await
}

/// Goes on with a debate. `text` answers what is asked, or says what the next round is about.
pub(crate) async fn go_on(
    config: &Config,
    session: &SessionId,
    agents: &[Agent],
    text: Option<String>,
    budget: Option<Limits>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen().context("listening to signals")?;
    let trouble = Trouble::new(as_json);
    let running = config.engine_to_go_on(agents, &trouble.watch()).await?;
    let show = Show::new(as_json);
    if let Some(agent) = agents.first() {
        let model = config.spelled_out(&agent.model);
        show.note(&voice::introduced("The panel", &model, "as the session records it"));
    }
    let debate = running.engine.find_debate(session);
    debate.session().try_again().await?;
    let record = debate.record().await?;
    if record.status == Status::Completed {
        let why = record.completed_because.unwrap_or_else(|| "it was ended".to_owned());
        let read = config.command(&format!("export {session}"));
        running.shutdown().await;
        bail!("the debate is over ({why}); `{read}` shows what it came to");
    }
    let hold = Hold::new(debate, show, text).with_budget(budget);
    finish(config, &running, hold, Begin::Again, signals, &trouble).await
}

/// Where a debate is taken up.
enum Begin {
    Anew,
    Again,
}

/// Holds the debate, says what it came to, and lets go of everything.
async fn finish(
    config: &Config,
    running: &Running,
    mut hold: Hold,
    begin: Begin,
    mut signals: Signals,
    trouble: &Trouble,
) -> anyhow::Result<ExitCode> {
    let parked = hold.debate.session().clone();
    let held = async {
        match begin {
            Begin::Anew => hold.watch().await,
            Begin::Again => hold.go_on().await,
        }
    };
    let (end, mut stopped) = tokio::select! {
        end = held => (Some(end), None),
        reason = parked.until_parked() => {
            let told = crate::show::parked(config, parked.id(), &reason);
            (Some(Err(anyhow::anyhow!(told))), None)
        }
        code = signals.next() => (None, Some(code)),
    };
    if let Some(code) = &mut stopped {
        hold.show.stopping();
        *code = signals.drain(&running.engine).await.code(*code);
    }
    let debate = hold.debate.clone();
    let record = debate.record().await;
    running.shutdown().await;
    let id = debate.id();
    let more = record.as_ref().ok().and_then(spent_limit);
    let more = more.map_or_else(String::new, |limit| format!(" --budget {limit}"));
    let again = config.command(&format!("continue {id}{more}"));
    let show = &mut hold.show;
    let code = match end.transpose()? {
        Some(End::Failed { error }) => bail!(trouble.explain(config, &error, &again)),
        None => stopped.unwrap_or(ExitCode::SUCCESS),
        Some(End::Waits) => ExitCode::from(WAITS),
        Some(End::Over) => ExitCode::SUCCESS,
    };
    let record = record?;
    let findings = record.last_round().and_then(|number| record.findings(number));
    let over = record.status == Status::Completed;
    let asks = findings.as_ref().is_some_and(|findings| !findings.requests.is_empty());
    let decides = findings
        .as_ref()
        .is_some_and(|findings| findings.requests.iter().any(crate::approval::is_decision));
    let next = match (over, asks) {
        (false, true) if decides => {
            format!("Decide and go on: {}", config.command(&format!("continue {id}")))
        }
        (true, _) => format!("Minutes: {}", config.command(&format!("export {id}"))),
        (false, true) => {
            format!("Answer and go on: {}", config.command(&format!("continue {id} \"…\"")))
        }
        (false, false) => format!("Go on: {again}"),
    };
    if let Some(findings) = &findings {
        show.end(&record, findings, over, &next);
    }
    // A terminal writes the keys that were pressed: what follows begins a line of its own.
    let gap = if stopped.is_some() { "\n" } else { "" };
    show.note(&format!("{gap}{next}"));
    Ok(code)
}

fn perspective(text: &str) -> Perspective {
    match text.split_once(':') {
        Some((name, about)) => Perspective::new(name.trim()).describing(about.trim()),
        None => Perspective::new(text.trim()),
    }
}

/// The limit that has to be raised before the last round can be run again, if one was spent in it.
fn spent_limit(record: &Record) -> Option<&'static str> {
    let round = record.rounds.last().filter(|round| round.outcome == Some(RoundOutcome::Failed))?;
    round.turns.iter().find_map(|turn| match turn.outcome {
        Some(TurnOutcome::Exhausted { budget: Exhausted::Calls }) => Some("calls=N"),
        Some(TurnOutcome::Exhausted { budget: Exhausted::Tokens }) => Some("tokens=N"),
        Some(TurnOutcome::Exhausted { budget: Exhausted::Cost }) => Some("dollars=N"),
        _ => None,
    })
}
