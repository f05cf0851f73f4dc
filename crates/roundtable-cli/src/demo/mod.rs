//! `roundtable demo`: what the engine does, in a minute and without a key.

mod cast;
mod show;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use roundtable::core::event::{Body, RoundEvent, SessionEvent};
use roundtable::driver::Update;
use roundtable::prelude::*;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use crate::signal;
use show::Show;

/// How the demonstration runs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print every event as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
    /// Answer the question with this text instead of asking.
    #[arg(long, value_name = "TEXT")]
    answer: Option<String>,
    /// How long the agents take for a word, in milliseconds.
    #[arg(long, default_value_t = 25, value_name = "MS")]
    pace: u64,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let engine = Engine::builder()
        .model("scripted", ScriptedModel::new(cast::script(options.pace)))
        .tool(cast::EstimateEffort)
        .build()
        .await?;
    let session = cast::open(&engine).await?;
    let mut demo = Demo {
        show: Show::new(options.json),
        answer: options.answer,
        lines: BufReader::new(tokio::io::stdin()).lines(),
    };
    let code = tokio::select! {
        played = demo.play(&session) => played.map(|()| ExitCode::SUCCESS)?,
        stopped = signal::first() => {
            demo.show.stopping();
            signal::drain(&engine).await?;
            stopped?
        }
    };
    engine.shutdown().await;
    demo.show.log(&session).await?;
    Ok(code)
}

struct Demo {
    show: Show,
    answer: Option<String>,
    lines: Lines<BufReader<Stdin>>,
}

impl Demo {
    async fn play(&mut self, session: &Session) -> anyhow::Result<()> {
        self.show.opening();
        let mut updates = session.updates(From::Start).await?;
        session.say(cast::QUESTION).await?;
        loop {
            let update = updates.next().await?;
            self.show.update(&update);
            let Update::Event(event) = update else { continue };
            match &event.body {
                Body::Round(RoundEvent::RoundClosed { .. }) => self.go_on(session).await?,
                Body::Session(SessionEvent::SessionCompleted { .. }) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Tries to go on, is refused while a question is open, asks it, and goes on with the answer.
    async fn go_on(&mut self, session: &Session) -> anyhow::Result<()> {
        let refused = match session.go_on().await {
            Ok(_) => return Ok(()),
            Err(error) if error.missing_context().is_empty() => {
                // The last round completes the session: then there is nothing to go on with.
                if session.state().await?.status == roundtable::core::session::Status::Completed {
                    return Ok(());
                }
                return Err(error.into());
            }
            Err(error) => error,
        };
        self.show.refused(&refused);
        let mut results = Vec::new();
        for request in refused.missing_context() {
            self.show.question(request);
            results.push(match self.read_answer().await? {
                Some(answer) => ContextResult::found(request.id.clone(), answer),
                None => ContextResult::not_found(request.id.clone(), "nobody answered"),
            });
        }
        session.provide(results).await?;
        session.go_on().await?;
        Ok(())
    }

    /// An answer from the command line or the prompt; none when nobody is there to give one.
    async fn read_answer(&mut self) -> anyhow::Result<Option<String>> {
        if let Some(answer) = &self.answer {
            self.show.given(answer);
            return Ok(Some(answer.clone()));
        }
        let line =
            self.lines.next_line().await.context("reading the answer from standard input")?;
        let line = line.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
        if !std::io::stdin().is_terminal() {
            self.show.given(line.as_deref().unwrap_or("(nobody answered)"));
        }
        Ok(line)
    }
}
