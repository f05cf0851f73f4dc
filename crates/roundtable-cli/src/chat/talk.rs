//! The loop of a conversation: a line is typed, its round is shown, until someone leaves.

use std::path::Path;
use std::process::ExitCode;

use roundtable::chat::{Message, Team};
use roundtable::core::input::Command;
use roundtable::core::message::Attachment;
use roundtable::core::session::Session as State;
use roundtable::driver::{Subscription, Update};
use roundtable::prelude::*;

use super::attachment;
use super::input::{Input, Line};
use super::show::Show;
use crate::approval;
use crate::config::Config;
use crate::signal::Signals;

/// Why a conversation was left.
pub(super) enum End {
    Left,
    Signal(ExitCode),
}

pub(super) struct Talk {
    engine: Engine,
    pub session: Session,
    team: Team,
    /// The conversation as far as it was shown.
    state: State,
    updates: Subscription,
    input: Input,
    show: Show,
    /// The files that go with the next message.
    attached: Vec<Attachment>,
}

/// What a line asks for.
enum Wish<'a> {
    Say(&'a str),
    Attach(&'a str),
    New,
    Stop,
    Regenerate,
    Help,
    Leave,
    Unknown(&'a str),
}

impl<'a> Wish<'a> {
    fn read(line: &'a str) -> Self {
        match line {
            "/new" => Self::New,
            "/stop" => Self::Stop,
            "/regenerate" => Self::Regenerate,
            "/help" => Self::Help,
            "/quit" | "/exit" => Self::Leave,
            _ if line.starts_with("/attach ") => Self::Attach(line["/attach ".len()..].trim()),
            _ if line.starts_with('/') && !line.contains(char::is_whitespace) => {
                Self::Unknown(line)
            }
            _ => Self::Say(line),
        }
    }
}

impl Talk {
    pub async fn new(engine: Engine, session: Session, team: Team) -> anyhow::Result<Self> {
        let state = session.state().await?;
        let updates = session.updates(Since::After(state.head)).await?;
        let (input, show) = (Input::new(), Show::default());
        let attached = Vec::new();
        Ok(Self { engine, session, team, state, updates, input, show, attached })
    }

    pub fn greet(&mut self, config: &Config) {
        let Some(first) = self.state.agents.first() else { return };
        let others = self.state.agents.iter().skip(1).map(|agent| agent.name.as_str());
        let others: Vec<&str> = others.collect();
        let with =
            if others.is_empty() { String::new() } else { format!(", with {}", others.join(", ")) };
        let model = config.spelled_out(&first.model);
        let why = "see `roundtable config show`";
        self.show.whole(&crate::voice::introduced(&model, why));
        self.show.whole(&format!("{}{with}. /help lists the commands.", first.name));
    }

    pub fn leave(&mut self, again: &str) {
        self.show.whole(&format!("Continue: {again}"));
    }

    pub async fn converse(&mut self, signals: &mut Signals) -> anyhow::Result<End> {
        loop {
            if self.is_busy()
                && let Some(end) = self.watch(signals).await?
            {
                return Ok(end);
            }
            let line = tokio::select! {
                line = self.input.line("> ") => line,
                code = signals.next() => return Ok(End::Signal(code)),
            };
            let Line::Text(line) = line else { return Ok(End::Left) };
            if line.is_empty() {
                continue;
            }
            if let Some(end) = self.follow(&line).await? {
                return Ok(end);
            }
        }
    }

    /// Whether something is being answered, or will be.
    fn is_busy(&self) -> bool {
        let state = &self.state;
        state.round.is_some() || state.redo.is_some() || !state.waiting.is_empty()
    }

    /// The oldest request that a call of the open round waits for.
    fn asked(&self) -> Option<ContextRequest> {
        let waits = |request: &&ContextRequest| request.about.waiting_call().is_some();
        self.state.requests.iter().find(waits).cloned()
    }

    /// Shows the round until it is over. Lines that are typed meanwhile are followed.
    async fn watch(&mut self, signals: &mut Signals) -> anyhow::Result<Option<End>> {
        let mut stopping = false;
        while self.is_busy() {
            let asked = self.asked();
            let typed = async {
                match &asked {
                    Some(_) => self.input.line("answer> ").await,
                    None => self.input.meanwhile().await,
                }
            };
            let line = tokio::select! {
                biased;
                update = self.updates.next() => {
                    self.take(&update?);
                    continue;
                }
                line = typed => line,
                code = signals.next() => {
                    if std::mem::replace(&mut stopping, true) {
                        return Ok(Some(End::Signal(code)));
                    }
                    Line::Interrupted
                }
            };
            match (line, asked) {
                (Line::Interrupted, _) => self.stop().await?,
                (Line::End, Some(_)) => return Ok(Some(End::Left)),
                (Line::End, None) => {}
                (Line::Text(line), _) if line.is_empty() => {}
                (Line::Text(line), Some(request)) if !line.starts_with('/') => {
                    self.answer(&request, &line).await?;
                }
                (Line::Text(line), _) => {
                    if let Some(end) = self.follow(&line).await? {
                        return Ok(Some(end));
                    }
                }
            }
        }
        self.show.end_line();
        Ok(None)
    }

    fn take(&mut self, update: &Update) {
        if let Update::Event(event) = update {
            self.state.evolve(event);
        }
        self.show.update(update, &self.state);
    }

    /// Reads on until everything up to here was shown.
    async fn catch_up(&mut self, to: roundtable::core::event::Seq) -> anyhow::Result<()> {
        while self.state.head < to {
            let update = self.updates.next().await?;
            self.take(&update);
        }
        Ok(())
    }

    async fn follow(&mut self, line: &str) -> anyhow::Result<Option<End>> {
        let done = match Wish::read(line) {
            Wish::Leave => return Ok(Some(End::Left)),
            Wish::Help => {
                self.show.whole(super::HELP);
                return Ok(None);
            }
            Wish::Unknown(name) => {
                self.show.whole(&format!("Unknown command {name}. /help lists the commands."));
                return Ok(None);
            }
            Wish::Attach(path) => {
                self.attach(Path::new(path));
                return Ok(None);
            }
            Wish::Stop if !self.is_busy() => {
                self.show.whole("Nothing is running.");
                return Ok(None);
            }
            Wish::New => {
                self.begin().await?;
                return Ok(None);
            }
            Wish::Stop => self.session.stop().await,
            Wish::Regenerate => self.session.command(Command::Regenerate).await,
            Wish::Say(text) => self.say(text).await,
        };
        match done {
            Ok(receipt) => self.catch_up(receipt.seq).await?,
            // What is refused changes nothing; the conversation goes on.
            Err(error) => self.show.whole(&error.to_string()),
        }
        Ok(None)
    }

    /// Reads a file that goes with the next message.
    fn attach(&mut self, path: &Path) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let said = match attachment::read(path, &name) {
            Ok(attachment) => {
                let kind = attachment.media_type().to_owned();
                self.attached.push(attachment);
                format!("Attached {name} ({kind}). It goes with your next message.")
            }
            Err(error) => format!("{error:#}"),
        };
        self.show.whole(&said);
    }

    /// Sends a message with what was attached. What was asked between rounds is answered by it.
    async fn say(&mut self, text: &str) -> roundtable::Result<roundtable::ports::Receipt> {
        let id = format!("msg_{}", self.engine.driver().parts().ids.fresh());
        let asked = self.state.required().filter(|request| request.about.waiting_call().is_none());
        let results: Vec<ContextResult> = asked
            .filter(|request| !approval::is_decision(request))
            .map(|request| ContextResult::found(request.id.clone(), text))
            .collect();
        let context = self.session.context(&id, None)?;
        let message = Message::new(context, text).answering(results);
        let attached = self.attached.iter().cloned();
        let receipt = self.session.send(attached.fold(message, Message::attach)).await?;
        self.attached.clear();
        Ok(receipt)
    }

    async fn stop(&mut self) -> anyhow::Result<()> {
        let receipt = self.session.stop().await?;
        self.catch_up(receipt.seq).await
    }

    /// Answers what the turn waits for.
    async fn answer(&mut self, request: &ContextRequest, line: &str) -> anyhow::Result<()> {
        let result = if approval::is_decision(request) {
            let Some(decided) = approval::decided(request, line) else {
                self.show.whole(approval::again(request));
                return Ok(());
            };
            decided
        } else {
            ContextResult::found(request.id.clone(), line)
        };
        let receipt = self.session.provide(vec![result]).await?;
        for warning in &receipt.warnings {
            self.show.whole(warning);
        }
        self.catch_up(receipt.seq).await
    }

    /// Begins another conversation with the same team. The earlier one goes on by itself.
    async fn begin(&mut self) -> anyhow::Result<()> {
        self.session = self.engine.open(self.team.clone().opening("")).await?;
        self.state = self.session.state().await?;
        self.updates = self.session.updates(Since::After(self.state.head)).await?;
        self.show = Show::default();
        self.show.whole(&format!("New conversation {}.", self.session.id()));
        Ok(())
    }
}
