//! `roundtable demo`: what the engine does, in a minute and without a key. Cut off at any moment,
//! it goes on where it was.

mod cast;
mod kill;
mod show;
mod tabs;

use std::collections::VecDeque;
use std::process::ExitCode;

use anyhow::Context as _;
use roundtable::Reader;
use roundtable::core::event::{Body, ContextEvent, Event, RoundEvent, Seq};
use roundtable::core::session::{Session as State, Status};
use roundtable::driver::Update;
use roundtable::prelude::*;

use crate::config::{Config, built};
use crate::prompt::Prompt;
use crate::signal::Signals;
use cast::Play;
use show::Show;

/// How the demonstration runs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A part of it alone.
    play: Option<Play>,
    /// Print every event as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
    /// Answer the question with this text instead of asking.
    #[arg(long, value_name = "TEXT")]
    answer: Option<String>,
    /// How long the agents take for a word, in milliseconds.
    #[arg(long, default_value_t = 25, value_name = "MS")]
    pace: u64,
    /// Begin anew, though an earlier demonstration was cut off.
    #[arg(long)]
    fresh: bool,
    /// What `demo nested` starts to kill it.
    #[arg(long, hide = true)]
    until_killed: bool,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    if options.play == Some(Play::Tabs) {
        return tabs::run(config, options).await;
    }
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let play = options.play.unwrap_or(Play::Whole);
    let script = cast::script(play, options.pace, options.until_killed);
    let builder = Engine::builder()
        .sqlite(&config.data_dir)
        .custom_model("scripted", ScriptedModel::new(script))
        .tool(cast::EstimateEffort { play });
    let engine = built(builder).await?;
    let mut demo = Demo {
        play,
        session: None,
        show: Show::new(options.json, play),
        answer: options.answer.clone(),
        prompt: Prompt::default(),
        asked: VecDeque::new(),
    };
    let code = tokio::select! {
        played = demo.play(config, &engine, options) => played.map(|()| ExitCode::SUCCESS),
        code = signals.next() => {
            demo.show.stopping();
            Ok(signals.drain(&engine).await.code(code))
        }
    };
    engine.shutdown().await;
    let code = code?;
    if let Some(session) = &demo.session {
        demo.show.log(session, config).await?;
    }
    Ok(code)
}

struct Demo {
    play: Play,
    session: Option<Session>,
    show: Show,
    answer: Option<String>,
    prompt: Prompt,
    /// The questions that are at the prompt, oldest first.
    asked: VecDeque<ContextRequest>,
}

impl Demo {
    async fn play(
        &mut self,
        config: &Config,
        engine: &Engine,
        options: &Options,
    ) -> anyhow::Result<()> {
        let mut cut_off = if options.fresh { None } else { cast::find(engine, self.play).await? };
        if cut_off.is_none() && self.play == Play::Nested && !options.until_killed {
            self.show.killing();
            if kill::begin_and_kill(config).await? {
                self.show.killed();
            }
            cut_off = cast::find(engine, self.play).await?;
        }
        if let Some(session) = &cut_off {
            self.show.going_on(session.id());
        }
        let session = match cut_off {
            Some(session) => session,
            None => cast::open(engine, self.play).await?,
        };
        self.session = Some(session.clone());
        self.show.opening();
        let past = session.state().await?.head;
        let mut reader = Reader::replay(&session).await?;
        loop {
            tokio::select! {
                biased;
                update = reader.next() => {
                    let update = update?;
                    let now = &reader.now().session;
                    self.show.update(&update, now);
                    let Update::Event(event) = update else { continue };
                    if now.status == Status::Completed {
                        return Ok(());
                    }
                    self.react(&session, now, &event, past).await?;
                }
                line = self.prompt.answer(), if !self.asked.is_empty() => {
                    let line = line.context("cannot read the answer from standard input")?;
                    self.show.typed(line.as_deref());
                    self.provide(&session, line).await?;
                    self.ask_next(&session, &reader.now().session).await?;
                }
            }
        }
    }

    /// What happened may call for the next input. The past does not, but its end does.
    async fn react(
        &mut self,
        session: &Session,
        now: &State,
        event: &Event,
        past: Seq,
    ) -> anyhow::Result<()> {
        let turns_over = match &event.body {
            Body::Round(RoundEvent::RoundClosed { .. }) => true,
            Body::Context(ContextEvent::ContextProvided(result)) => {
                self.asked.retain(|request| request.id != result.request);
                true
            }
            _ => false,
        };
        if event.seq == past || (turns_over && event.seq > past) {
            self.continue_session(session, now).await?;
        }
        Ok(())
    }

    /// Sends the input of the next round, unless one is running. That depends on the session's state
    /// alone, and each input has its own id: sending it again, from any process, has no effect.
    async fn continue_session(&mut self, session: &Session, now: &State) -> anyhow::Result<()> {
        let under_way = now.round.is_some() || !now.waiting.is_empty();
        if now.status != Status::Active || under_way {
            return Ok(());
        }
        let (input, id) = cast::input(session.id(), self.play, now.last_number + 1)?;
        match session.command_once(input, id).await {
            Ok(_) => Ok(()),
            Err(refused) if refused.missing_context().is_empty() => over_or(session, refused).await,
            Err(refused) => self.ask(session, now, &refused).await,
        }
    }

    /// A question is open, and the session waits for its answer.
    async fn ask(
        &mut self,
        session: &Session,
        now: &State,
        refused: &roundtable::Error,
    ) -> anyhow::Result<()> {
        if !self.asked.is_empty() {
            return Ok(());
        }
        self.asked.extend(refused.missing_context().iter().cloned());
        self.show.refused(refused);
        self.ask_next(session, now).await
    }

    /// Puts the next question to the person, or answers all of them as the command line says.
    async fn ask_next(&mut self, session: &Session, now: &State) -> anyhow::Result<()> {
        while let Some(request) = self.asked.front() {
            self.show.question(request, now);
            let Some(answer) = self.answer.clone() else { return Ok(()) };
            self.show.given(&answer);
            self.provide(session, Some(answer)).await?;
        }
        Ok(())
    }

    /// Answers the question at the prompt. The first answer to a question counts, and the log shows
    /// when there is one.
    async fn provide(&mut self, session: &Session, line: Option<String>) -> anyhow::Result<()> {
        let Some(request) = self.asked.pop_front() else { return Ok(()) };
        let result = match line {
            Some(answer) => ContextResult::found(request.id, answer),
            None => ContextResult::not_found(request.id, "nobody answered"),
        };
        match session.provide(vec![result]).await {
            Ok(_) => Ok(()),
            Err(refused) => over_or(session, refused).await,
        }
    }
}

/// A refusal is fine if another process has ended the session in the meantime.
async fn over_or(session: &Session, refused: roundtable::Error) -> anyhow::Result<()> {
    match session.state().await?.status {
        Status::Completed => Ok(()),
        Status::Active | Status::Paused => Err(refused.into()),
    }
}
