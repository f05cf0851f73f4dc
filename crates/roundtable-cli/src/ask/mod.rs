//! `roundtable ask` and `roundtable continue`: one turn of an agent, in a session that is kept.

mod show;
mod talk;
mod trouble;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use roundtable::core::budget::Limits;
use roundtable::core::event::{Body, Seq, SessionEvent};
use roundtable::core::id::SessionId;
use roundtable::core::message::Image;
use roundtable::core::session::Session as State;
use roundtable::debate::{Rules, Spent};
use roundtable::driver::Update;

use crate::config::{Config, Needs, Overrides, Running};
use crate::debate;
use crate::session_arg::SessionArg;
use crate::signal::Signals;
use crate::text_arg;
use show::Show;
use talk::{End, Input, Talk};
pub(crate) use trouble::Trouble;
use usage::Usage;

/// How much of a question becomes the session's topic.
const TOPIC: usize = 200;

/// What is asked, and of whom.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The question; without it, or with `-`, read from standard input
    #[arg(value_parser = text_arg::checked)]
    question: Option<String>,
    #[command(flatten)]
    shown: ShowOptions,
    #[command(flatten)]
    pub overrides: Overrides,
    /// Print every event as a line of JSON, and the total usage as the last line
    #[arg(long)]
    json: bool,
}

/// What is shown beside the words.
#[derive(clap::Args)]
struct ShowOptions {
    /// Attach an image (PNG, JPEG, GIF, WebP); can be repeated
    #[arg(long = "image", value_name = "FILE")]
    images: Vec<PathBuf>,
}

impl ShowOptions {
    fn read(&self) -> anyhow::Result<Vec<Image>> {
        let read = |path: &PathBuf| {
            let bytes =
                std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
            Image::from_bytes(&bytes).with_context(|| path.display().to_string())
        };
        self.images.iter().map(read).collect()
    }
}

/// Arguments of `continue`.
#[derive(clap::Args)]
pub(crate) struct ContinueRequest {
    /// The session id, or a unique start of it
    session: SessionArg,
    /// Your message, or the answer to an agent's question. Without it, a debate runs its next round,
    /// and pending tool calls are presented for approval
    #[arg(value_parser = text_arg::checked)]
    text: Option<String>,
    #[command(flatten)]
    shown: ShowOptions,
    /// Set the budget of the whole debate, past spending included: calls=N,tokens=N,dollars=N
    #[arg(long, value_name = "LIMITS", value_parser = debate::budget::read)]
    budget: Option<Limits>,
    /// Print every event as a line of JSON, and the result as the last line
    #[arg(long)]
    json: bool,
}

pub(crate) async fn ask(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let question = text_arg::or_stdin(options.question.as_deref(), "the question")?;
    let said = Input { text: Some(&question), images: options.shown.read()? };
    let id = config.chosen_agent()?;
    let needs = config.needs(&id);
    let toolbox = config.toolbox_for(&needs).await?;
    let agents = config.agents(&id, &toolbox)?;
    let show = Show::new(options.json);
    let trouble = Trouble::new(options.json);
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    if let Some(agent) = agents.first() {
        show.model(&config.spelled_out(&agent.model), &config.why(&id));
    }
    let topic = crate::out::line(&question, TOPIC);
    let chat =
        agents.into_iter().fold(running.engine.chat(&topic), |chat, agent| chat.participant(agent));
    let session = chat.open().await?;
    let talk = Talk::new(session, show);
    finish(config, &running, talk, said, &trouble).await
}

pub(crate) async fn continue_session(
    config: &Config,
    options: &ContinueRequest,
) -> anyhow::Result<ExitCode> {
    let session = &options.session.find(&config.archive()?).await?.session;
    let text = &options.text;
    let state = state(config, session).await?;
    if Rules::of(&state.settings).is_some() {
        return debate::continue_debate(
            config,
            session,
            &state.agents,
            text.clone(),
            options.budget,
            options.json,
        )
        .await;
    }
    let is_parked = config.archive()?.find(session).await?.is_some_and(|it| it.parked.is_some());
    if text.is_none() && !is_parked && !state.requests.iter().any(crate::approval::is_decision) {
        bail!(
            "Nothing to decide; pass a message: {}",
            config.command(&format!("continue {session} \"…\""))
        );
    }
    let said = Input { text: text.as_deref(), images: options.shown.read()? };
    let agents = state.agents;
    let needs = Needs::of(&agents);
    let toolbox = config.toolbox_for(&needs).await?;
    let show = Show::new(options.json);
    let trouble = Trouble::new(options.json);
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    if let Some(agent) = agents.first() {
        let model = config.spelled_out(&agent.model);
        show.model(&model, "the model of this session");
    }
    let talk = Talk::new(running.engine.session(session), show);
    talk.session.try_again().await?;
    finish(config, &running, talk, said, &trouble).await
}

/// The state of a session, with the agents that continue it.
async fn state(config: &Config, session: &SessionId) -> anyhow::Result<State> {
    let archive = config.archive()?;
    let first = archive.read(session, Seq(1), 1).await?;
    match first.first().map(|event| &event.body) {
        Some(Body::Session(SessionEvent::SessionImported(_))) => bail!(
            "{session} is imported and read-only\nhint: read it with `{}`",
            config.command(&format!("export {session}"))
        ),
        _ => Ok(archive.state(session).await?),
    }
}

/// Says something, shows the answer, and lets go of everything.
async fn finish(
    config: &Config,
    running: &Running,
    mut talk: Talk,
    said: Input<'_>,
    trouble: &Trouble,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let parked = talk.session.clone();
    let (end, code) = tokio::select! {
        end = talk.say(&running.engine, said) => (end, None),
        reason = parked.until_parked() => {
            let told = crate::show::parked(config, parked.id(), &reason);
            (Err(anyhow::anyhow!(told)), None)
        }
        code = signals.next() => {
            talk.show.stopping();
            let drained = signals.drain(&running.engine).await;
            (Ok(End::Stopped), Some(drained.code(code)))
        }
    };
    running.shutdown().await;
    let again = config.command(&format!("continue {} \"…\"", talk.session.id()));
    let archive = config.archive()?;
    let id = talk.session.id();
    if matches!(end, Ok(End::Stopped)) {
        // What finished while the engine stopped.
        for event in archive.read(id, talk.show.seen().next(), usize::MAX).await? {
            talk.show.update(&Update::Event(event));
        }
    }
    let total = Spent::of(&archive.state(id).await?.account);
    let usage = Usage::between(id, talk.before, total);
    match end? {
        End::Answered { questions } => talk.show.end(&questions, &usage, &again),
        End::Stopped => talk.show.end(&[], &usage, &again),
        End::Waits => {
            talk.show.waits(&config.command(&format!("continue {}", talk.session.id())));
            return Ok(code.unwrap_or(ExitCode::from(debate::WAITS)));
        }
        End::Failed { error } => bail!(trouble.explain(config, &error, &again)),
    }
    Ok(code.unwrap_or(ExitCode::SUCCESS))
}
