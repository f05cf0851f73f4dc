//! `roundtable ask` and `roundtable continue`: one turn of an agent, in a session that is kept.

mod show;
mod talk;
mod trouble;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use roundtable::core::budget::Limits;
use roundtable::core::event::{Body, Seq, SessionEvent};
use roundtable::core::id::SessionId;
use roundtable::core::message::Image;
use roundtable::core::session::Session as State;
use roundtable::debate::Rules;

use crate::config::{Config, Needs, Running, Wishes};
use crate::debate;
use crate::signal::Signals;
use show::Show;
use talk::{End, Said, Talk};
pub(crate) use trouble::Trouble;

/// How much of a question becomes the session's topic.
const TOPIC: usize = 200;

/// What is asked, and of whom.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to ask.
    question: String,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    pub wishes: Wishes,
    /// Print every event as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
}

/// What is shown beside the words.
#[derive(clap::Args)]
struct Shown {
    /// Show a picture (PNG, JPEG, GIF, WebP); can be given several times.
    #[arg(long = "image", value_name = "FILE")]
    images: Vec<PathBuf>,
}

impl Shown {
    fn read(&self) -> anyhow::Result<Vec<Image>> {
        let read = |path: &PathBuf| {
            let bytes =
                std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
            Image::from_bytes(&bytes).with_context(|| path.display().to_string())
        };
        self.images.iter().map(read).collect()
    }
}

/// How a session goes on.
#[derive(clap::Args)]
pub(crate) struct GoOn {
    /// The session.
    session: SessionId,
    /// What to say; an answer, if an agent asked a question. Without it, a debate goes on, and asks for
    /// what it waits for; another session asks for the decisions that its tool calls wait for.
    text: Option<String>,
    #[command(flatten)]
    shown: Shown,
    /// Set what the whole debate may spend, what it has spent included: calls=N, tokens=N, dollars=N.
    #[arg(long, value_name = "LIMITS", value_parser = debate::budget::read)]
    budget: Option<Limits>,
    /// Print every event as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn ask(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let said = Said { text: Some(&options.question), images: options.shown.read()? };
    let id = config.chosen_agent()?;
    let needs = config.needs(&id);
    let toolbox = config.toolbox_for(&needs).await?;
    let agents = config.agents(&id, &toolbox)?;
    let show = Show::new(options.json);
    let trouble = Trouble::new(options.json);
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    if let Some(agent) = agents.first() {
        show.speaker(&agent.name, &config.spelled_out(&agent.model), &config.why(&id));
    }
    let topic = crate::out::line(&options.question, TOPIC);
    let chat =
        agents.into_iter().fold(running.engine.chat(&topic), |chat, agent| chat.participant(agent));
    let session = chat.open().await?;
    let talk = Talk::new(session, show);
    finish(config, &running, talk, said, &trouble).await
}

pub(crate) async fn go_on(config: &Config, options: &GoOn) -> anyhow::Result<ExitCode> {
    let (session, text) = (&options.session, &options.text);
    let state = state(config, session).await?;
    if Rules::of(&state.settings).is_some() {
        return debate::go_on(
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
    let said = Said { text: text.as_deref(), images: options.shown.read()? };
    let agents = state.agents;
    let needs = Needs::of(&agents);
    let toolbox = config.toolbox_for(&needs).await?;
    let show = Show::new(options.json);
    let trouble = Trouble::new(options.json);
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    if let Some(agent) = agents.first() {
        let model = config.spelled_out(&agent.model);
        show.speaker(&agent.name, &model, "as the session records it");
    }
    let talk = Talk::new(running.engine.session(session), show);
    talk.session.try_again().await?;
    finish(config, &running, talk, said, &trouble).await
}

/// How a session stands: it goes on with the agents that it has.
async fn state(config: &Config, session: &SessionId) -> anyhow::Result<State> {
    let archive = config.archive()?;
    if archive.find(session).await?.is_none() {
        bail!(crate::show::unknown_session(&archive, session).await?);
    }
    let first = archive.read(session, Seq(1), 1).await?;
    match first.first().map(|event| &event.body) {
        Some(Body::Session(SessionEvent::SessionImported(_))) => bail!(
            "{session} was imported, to be read; `{}` does that",
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
    said: Said<'_>,
    trouble: &Trouble,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen().context("listening to signals")?;
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
    match end? {
        End::Answered { questions } => talk.show.end(&questions, &again),
        End::Stopped => talk.show.end(&[], &again),
        End::Waits => {
            talk.show.waits(&config.command(&format!("continue {}", talk.session.id())));
            return Ok(code.unwrap_or(ExitCode::from(debate::WAITS)));
        }
        End::Failed { error } => bail!(trouble.explain(config, &error, &again)),
    }
    Ok(code.unwrap_or(ExitCode::SUCCESS))
}
