//! `roundtable debate`, and `continue` for debates: a panel argues a question, round by round.

mod board;
pub(crate) mod budget;
mod hold;
mod panel;
mod progress;
mod report;
mod show;
mod speaking;
mod words;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use roundtable::core::budget::{Exhausted, Limits};
use roundtable::core::event::{RoundOutcome, Seq, TurnOutcome};
use roundtable::core::id::SessionId;
use roundtable::core::program::Programs;
use roundtable::core::session::Status;
use roundtable::core::{Keep, Live};
use roundtable::debate::{DebateProgram, Record};
use roundtable::driver::Update;
use roundtable::prelude::*;

use crate::ask::Trouble;
use crate::config::{Config, Overrides, Running};
use crate::signal::Signals;
use crate::{text_arg, usage, voice};
use hold::{End, Hold};
use show::Show;

/// The exit code of a run that waits for an answer that nobody gives.
pub(crate) const WAITS: u8 = 3;

/// What is argued, by whom, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The topic; without it, or with `-`, read from standard input
    #[arg(value_parser = text_arg::checked)]
    topic: Option<String>,
    /// The debate mode
    #[arg(long, value_name = "MODE", default_value = "collaborative", value_parser = modes())]
    mode: Mode,
    /// Create N agents for the mode, 2 to 10, on the available models [default: one per perspective,
    /// else the configured agents, else 4]
    #[arg(long, value_name = "N", conflicts_with = "agent", value_parser = clap::value_parser!(u8).range(2..=10))]
    agents: Option<u8>,
    /// Use this configured agent; repeat for each seat
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// The number of rounds, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// End as soon as the panel agrees
    #[arg(long)]
    exit_on_consensus: bool,
    /// A perspective for one agent, as NAME or "NAME: DESCRIPTION"; repeat for each agent
    #[arg(long = "perspective", value_name = "POINT")]
    perspectives: Vec<String>,
    /// The model: vendor/model, a vendor, or a name in the configuration; also ROUNDTABLE_MODEL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The budget of the whole debate: calls=N,tokens=N,dollars=N, in any combination
    #[arg(long, value_name = "LIMITS", value_parser = budget::read)]
    budget: Option<Limits>,
    /// Print every event as a line of JSON, and the result as the last line
    #[arg(long)]
    json: bool,
}

impl Options {
    pub fn overrides(&self) -> Overrides {
        Overrides::for_model(self.model.clone())
    }
}

fn modes() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(|name| name.parse::<Mode>())
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen().context("cannot listen for signals")?;
    let trouble = Trouble::new(options.json);
    let topic = text_arg::or_stdin(options.topic.as_deref(), "the topic")?;
    let seats = config.debaters(&options.agent, options.agents.is_some())?;
    // Perspectives make agents, unless every configured agent gets exactly one.
    let is_made = options.agent.is_empty()
        && !options.perspectives.is_empty()
        && options.perspectives.len() != seats.len();
    let seats = if is_made { Vec::new() } else { seats };
    if seats.len() == 1 {
        return Err(usage::error(
            "a debate needs 2 to 10 agents; repeat --agent, or pass --agents N",
        ));
    }
    let (running, panel) = config.engine_for_debate(&seats, &trouble.watch()).await?;
    let show = Show::new(options.json);
    let (model, why) = match seats.first() {
        Some(id) => (config.model_of_agent(id), config.why(id)),
        None => config.speaking(),
    };
    show.note(&voice::introduced(&config.spelled_out(&model), &why));
    let debate = panel
        .into_iter()
        .fold(running.engine.debate(&topic), |debate, agent| debate.participant(agent));
    let debate = debate
        .mode(options.mode)
        .rounds(options.rounds)
        .perspectives(options.perspectives.iter().map(|text| perspective(text)))
        .budget(options.budget.unwrap_or_default());
    let debate =
        options.agents.into_iter().fold(debate, |debate, count| debate.agents(count.into()));
    let debate = if options.exit_on_consensus { debate.exit_on_consensus() } else { debate };
    show.quote(&debate.quote()?);
    let hold = Hold::new(debate.start().await?, show, None);
    finish(config, &running, hold, Begin::Anew, signals, &trouble).await
}

/// Continues a debate. `text` answers the pending questions, or is the focus of the next round.
pub(crate) async fn continue_debate(
    config: &Config,
    session: &SessionId,
    agents: &[Agent],
    text: Option<String>,
    budget: Option<Limits>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen().context("cannot listen for signals")?;
    let trouble = Trouble::new(as_json);
    let running = config.engine_to_continue(agents, &trouble.watch()).await?;
    let show = Show::new(as_json);
    if let Some(agent) = agents.first() {
        let model = config.spelled_out(&agent.model);
        show.note(&voice::introduced(&model, "the model of this session"));
    }
    let debate = running.engine.find_debate(session);
    debate.session().try_again().await?;
    let record = debate.record().await?;
    if record.status == Status::Completed {
        let why = record.completed_because.unwrap_or_else(|| "stopped".to_owned());
        let read = config.command(&format!("export {session}"));
        running.shutdown().await;
        bail!("the debate is over ({why})\nhint: read it with `{read}`");
    }
    let hold = Hold::new(debate, show, text).with_budget(budget);
    finish(config, &running, hold, Begin::Again, signals, &trouble).await
}

/// Where a debate is taken up.
enum Begin {
    Anew,
    Again,
}

/// Runs the debate, shows the result, and releases everything.
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
            Begin::Again => hold.resume().await,
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
    let debate = hold.debate.clone();
    if let Some(code) = &mut stopped {
        let mut live = replay(config, debate.id(), hold.show.seen()).await?;
        hold.show.stopping(&live);
        *code = signals.drain(&running.engine).await.code(*code);
        // What finished while the engine stopped.
        let after = hold.show.seen().next();
        for event in config.archive()?.read(debate.id(), after, usize::MAX).await? {
            live.apply(&event);
            hold.show.update(&Update::Event(event), &live);
        }
        hold.show.end_live();
    }
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
            format!("Decide and continue: {}", config.command(&format!("continue {id}")))
        }
        (true, _) => format!("Minutes: {}", config.command(&format!("export {id}"))),
        (false, true) => {
            format!("Answer and continue: {}", config.command(&format!("continue {id} \"…\"")))
        }
        (false, false) => format!("Continue: {again}"),
    };
    if let Some(findings) = &findings {
        show.end(&record, findings, over, &next);
    }
    // A terminal writes the keys that were pressed: what follows begins a line of its own.
    let gap = if stopped.is_some() { "\n" } else { "" };
    show.note(&format!("{gap}{next}"));
    Ok(code)
}

/// The debate as it was after an event.
async fn replay(config: &Config, session: &SessionId, head: Seq) -> anyhow::Result<Live> {
    let programs = Programs::default().with(DebateProgram);
    let mut live = Live::reader(session.clone(), &programs, Keep::All);
    let events = config.archive()?.read(session, Seq(1), usize::MAX).await?;
    events.iter().filter(|event| event.seq <= head).for_each(|event| live.apply(event));
    Ok(live)
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
