//! A debate, as an embedder holds it: a name and a way in. What it says is read from the log.

use roundtable_core::budget::Limits;
use roundtable_core::context_request::{ContextRequest, ContextResult};
use roundtable_core::document::Usage;
use roundtable_core::id::{AgentId, CommandId, SessionId};
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::{MessageContext, Reject};
use roundtable_debate::{
    Consensus, Debate as Program, Findings, FullResponse, Gain, Record, Source, Synthesis,
};
use roundtable_engine::EngineError;
use roundtable_ports::{CommandKey, Receipt};
use schemars::JsonSchema;
use serde::Serialize;

use super::folds::Folds;
use super::join::{decides, join, next_number, next_take, unused};
use super::wait::{find_settled, find_summed, find_summed_or_failed, last_completed};
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::session::{Events, Session, Since};

/// A debate. Cheap to clone; it keeps nothing, so it is never out of date.
#[derive(Clone)]
pub struct Debate {
    session: Session,
    folds: Folds,
}

/// What the next round is to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContinueRequest {
    /// A question for the next round to focus on.
    pub focus: Option<String>,
    /// Answers to context requests.
    pub results: Vec<ContextResult>,
    /// The round that it follows on. If that one has a successor, nothing new is begun: sending the
    /// same again never pays twice. A round in which nobody could answer does not count as one: it is
    /// run again.
    pub after_round: Option<u32>,
    /// What the whole debate may spend from here on; limits that are not named stay as they are.
    pub budget: Option<Limits>,
    /// A key for this request; sending it again has no effect. By default it is derived from the round.
    pub key: Option<CommandKey>,
}

/// The result of a request for another round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContinueOutcome {
    /// The round to wait for.
    pub number: u32,
    /// Whether it was there before.
    pub joined: bool,
    /// What the caller should know, though it was accepted.
    pub warnings: Vec<String>,
}

/// Synthesis of a debate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SynthesisReport {
    /// The synthesis.
    #[serde(flatten)]
    pub synthesis: Synthesis,
    /// Last round that the synthesis covers.
    #[serde(rename = "roundNumber")]
    pub number: u32,
    /// Id of the agent that wrote it.
    #[serde(rename = "synthesizer")]
    pub agent: AgentId,
    /// What the synthesis cost.
    pub usage: Usage,
}

impl Debate {
    pub(crate) fn new(session: Session, folds: Folds) -> Self {
        Self { session, folds }
    }

    /// The id of its session.
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// The session underneath.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Committed events, in order, each exactly once.
    ///
    /// # Errors
    /// [`Error`] when there is no such session.
    pub async fn events(&self, since: Since) -> Result<Events> {
        self.session.events(since).await
    }

    /// Starts the next round, or joins the one that is running or has started already. It runs
    /// without a waiting caller; wait for it with [`Debate::wait`]. Decisions that the open round waits for
    /// are taken while it runs; then it is joined.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate, when it is not active, when required requests are left
    /// unanswered, or when a round is running and there is something new to say to it. Then nothing changed.
    pub async fn continue_round(&self, wish: ContinueRequest) -> Result<ContinueOutcome> {
        if let Some(key) = &wish.key
            && let Some(receipt) = self.session.find_receipt(key).await?
        {
            return self.replay(&receipt).await;
        }
        let state = self.session.state().await?;
        if let Some(number) = decides(&state, &wish)? {
            let warnings = self.session.provide(wish.results).await?.warnings;
            return Ok(ContinueOutcome { number, joined: true, warnings });
        }
        if let Some(joined) = join(&state, &wish)? {
            return self.remember(joined, wish.key).await;
        }
        let number = next_number(&state);
        let take = next_take(&state, number);
        let context = MessageContext::new(&format!("round_{number}_{take}"), self.id(), None)?;
        let say = Say {
            text: wish.focus.clone(),
            // A round is not queued upon.
            on_busy: OnBusy::Reject,
            results: wish.results.clone(),
            limits: wish.budget,
            ..Say::new(context)
        };
        let key = wish.key.clone().unwrap_or_else(|| {
            CommandId::derive(self.id().as_str(), format_args!("{number}.{take}")).into()
        });
        match self.session.command_keyed(Command::Say(say), key).await {
            Ok(Receipt { warnings, .. }) => Ok(ContinueOutcome { number, joined: false, warnings }),
            // Someone else was faster: theirs is the round that was asked for.
            Err(Error::Engine(EngineError::CommandReused { .. }))
                if wish.key.is_none() && wish.after_round.is_some() =>
            {
                let state = self.session.state().await?;
                let warnings = unused(&state, &wish, number);
                Ok(ContinueOutcome { number, joined: true, warnings })
            }
            Err(Error::Engine(EngineError::Reject(Reject::Busy { round })))
                if wish.says_nothing()
                    || wish.after_round.map(|after| after + 1) == Some(round) =>
            {
                let joined = ContinueOutcome { number: round, joined: true, warnings: Vec::new() };
                self.remember(joined, wish.key).await
            }
            Err(error) => Err(error),
        }
    }

    /// The round that a request was answered with, whose receipt this is.
    ///
    /// # Errors
    /// [`Error`] when the log cannot be read.
    pub async fn replay(&self, receipt: &Receipt) -> Result<ContinueOutcome> {
        let mut reader = Reader::replay(&self.session).await?;
        let then = reader.read_to(receipt.seq).await?;
        // The round that it was accepted for, or else the last one that had begun.
        let waiting = then.session.waiting.iter().find(|waiting| waiting.seq > receipt.after);
        let named = waiting.and_then(|waiting| {
            waiting.context.message_id().strip_prefix("round_")?.split('_').next()?.parse().ok()
        });
        let last = || then.window.rounds().next_back().map_or(1, |round| round.number);
        let number = named.unwrap_or_else(last);
        Ok(ContinueOutcome { number, joined: true, warnings: receipt.warnings.clone() })
    }

    /// Notes that a request was answered with a round that it did not begin.
    async fn remember(
        &self,
        joined: ContinueOutcome,
        key: Option<CommandKey>,
    ) -> Result<ContinueOutcome> {
        if let Some(key) = key {
            self.session.remember(key).await?;
        }
        Ok(joined)
    }

    /// The debate as it was right after a request whose receipt this is.
    ///
    /// # Errors
    /// [`Error`] when the log cannot be read, or the session is not a debate.
    pub async fn record_at(&self, receipt: &Receipt) -> Result<Record> {
        let mut reader = Reader::replay(&self.session).await?;
        Record::of(reader.read_to(receipt.seq).await?).ok_or_else(|| self.no_debate())
    }

    fn no_debate(&self) -> Error {
        invalid(format!("session {} is not a debate; read it as a session", self.id()))
    }

    /// Waits until a round is over, or until it waits for people, and returns its result. Dropping
    /// the future loses nothing.
    ///
    /// # Errors
    /// [`Error`] when there is no such round and none will come, or the log cannot be read.
    pub async fn wait(&self, number: u32) -> Result<Findings> {
        self.reader().await?.until(|live| find_settled(live, number)).await?
    }

    /// The debate as it is now, and as it continues: [`Record::of`] and [`super::find_settled`] are
    /// functions of it. The log is read once.
    ///
    /// # Errors
    /// [`Error`] when there is no such session, or it is not a debate.
    pub async fn reader(&self) -> Result<Reader> {
        let reader = self.folds.open(&self.session).await?;
        if reader.now().session.settings.program.name == Program::KIND {
            return Ok(reader);
        }
        Err(self.no_debate())
    }

    /// Waits for the round that is under way, or else for the last one, also after a restart, when the
    /// caller does not know its number.
    ///
    /// # Errors
    /// The same as [`Debate::wait`], and [`Error`] when no round has begun.
    pub async fn wait_current(&self) -> Result<Findings> {
        let state = self.session.state().await?;
        let number = match (state.waiting.is_empty(), &state.round) {
            (false, _) => next_number(&state) - 1,
            (true, Some(round)) => round.number,
            (true, None) => state.last_number,
        };
        if number == 0 {
            return Err(invalid("no round has started yet; start the debate".to_owned()));
        }
        self.wait(number).await
    }

    /// The result of a round so far. Default: the last round.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate or no such round.
    pub async fn findings(&self, number: Option<u32>) -> Result<Findings> {
        let record = self.record().await?;
        let number = pick(&record, number)?;
        record.findings(number).ok_or_else(|| no_round(&record, number))
    }

    /// The whole debate, folded from its log. Only a few logs are folded at once; the others wait for
    /// their turn.
    ///
    /// # Errors
    /// [`Error`] when there is no such session, or it is not a debate.
    pub async fn record(&self) -> Result<Record> {
        let reader = self.folds.open(&self.session).await?;
        Record::of(reader.now()).ok_or_else(|| self.no_debate())
    }

    /// How far the panel agreed in a round, by a model and without one; in the last round when none is
    /// named. It was stored with the round: nothing is asked again.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate or no such round.
    pub async fn consensus(&self, number: Option<u32>) -> Result<Consensus> {
        let record = self.record().await?;
        let number = pick(&record, number)?;
        record.consensus(number).ok_or_else(|| no_round(&record, number))
    }

    /// What an agent said in each round, and how sure it was.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate, or the agent takes no part in it.
    pub async fn thoughts(&self, agent: &AgentId) -> Result<Vec<FullResponse>> {
        let unknown = || Reject::UnknownAgent { agent: agent.clone() };
        Ok(self.record().await?.thoughts(agent).ok_or_else(unknown)?)
    }

    /// The sources of the debate, of one round, of one agent: each once.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate or round, or the agent takes no part in it.
    pub async fn citations(
        &self,
        number: Option<u32>,
        agent: Option<&AgentId>,
    ) -> Result<Vec<Source>> {
        let record = self.record().await?;
        if let Some(number) = number.filter(|number| record.round(*number).is_none()) {
            return Err(no_round(&record, number));
        }
        if let Some(agent) = agent.filter(|agent| record.member(agent).is_none()) {
            return Err(Reject::UnknownAgent { agent: agent.clone() }.into());
        }
        Ok(record.sources(number, agent))
    }

    /// What the debate added to its first round; nothing before a second one is over.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate.
    pub async fn added(&self) -> Result<Option<Gain>> {
        Ok(self.record().await?.added())
    }

    /// The context requests that are pending.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate.
    pub async fn pending(&self) -> Result<Vec<ContextRequest>> {
        Ok(self.record().await?.pending_context_requests)
    }

    /// Answers context requests without beginning a round.
    ///
    /// # Errors
    /// [`Error`] when it is refused; then nothing changed.
    pub async fn provide(&self, results: Vec<ContextResult>) -> Result<Receipt> {
        self.session.provide(results).await
    }

    /// The debate as minutes that one would send to colleagues, in Markdown.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate.
    pub async fn export_markdown(&self) -> Result<String> {
        Ok(self.record().await?.minutes())
    }

    /// The debate as JSON that can be imported again.
    ///
    /// # Errors
    /// [`Error`] when there is no such debate.
    pub async fn export_json(&self) -> Result<String> {
        Ok(self.record().await?.export())
    }

    /// Begins no more rounds until it is resumed.
    ///
    /// # Errors
    /// [`Error`] when it is not active.
    pub async fn pause(&self) -> Result<Receipt> {
        self.pause_keyed(None).await
    }

    /// The same under a key: sent again, it does nothing.
    ///
    /// # Errors
    /// The same, and [`Error`] when the key stands for another request.
    pub async fn pause_keyed(&self, key: Option<CommandKey>) -> Result<Receipt> {
        self.session.send_command(Command::Pause, key).await
    }

    /// Begins rounds again.
    ///
    /// # Errors
    /// [`Error`] when it is not paused.
    pub async fn resume(&self) -> Result<Receipt> {
        self.resume_keyed(None).await
    }

    /// The same under a key: sent again, it does nothing.
    ///
    /// # Errors
    /// The same, and [`Error`] when the key stands for another request.
    pub async fn resume_keyed(&self, key: Option<CommandKey>) -> Result<Receipt> {
        self.session.send_command(Command::Resume, key).await
    }

    /// Ends the debate. A running round is cut off; what exists is kept.
    ///
    /// # Errors
    /// [`Error`] when it is over already.
    pub async fn stop(&self) -> Result<Receipt> {
        self.stop_keyed(None).await
    }

    /// The same under a key: sent again, it does nothing.
    ///
    /// # Errors
    /// The same, and [`Error`] when the key stands for another request.
    pub async fn stop_keyed(&self, key: Option<CommandKey>) -> Result<Receipt> {
        let command = Command::Complete { reason: "it was stopped".to_owned() };
        self.session.send_command(command, key).await
    }

    /// Summarizes the debate, also when it is over: by this agent, or by the analyst, the chair or the
    /// first seat. A synthesis is written once and then read.
    ///
    /// # Errors
    /// [`Error`] when no round is completed, or when the model could not do it; asking again tries again.
    pub async fn synthesize(&self, agent: Option<&AgentId>) -> Result<SynthesisReport> {
        self.synthesize_keyed(agent, None).await
    }

    /// The same under a key: sent again, it gives the synthesis that was asked for first, also when more
    /// rounds were run since.
    ///
    /// # Errors
    /// The same, and [`Error`] when the key stands for another request.
    pub async fn synthesize_keyed(
        &self,
        agent: Option<&AgentId>,
        key: Option<CommandKey>,
    ) -> Result<SynthesisReport> {
        if let Some(key) = key {
            let receipt = match self.session.find_receipt(&key).await? {
                Some(receipt) => receipt,
                None => self.session.command_keyed(Program::synthesize(agent), key).await?,
            };
            let mut reader = Reader::replay(&self.session).await?;
            let last = last_completed(reader.read_to(receipt.seq).await?);
            let head = self.session.state().await?.head;
            if let Some(summed) = find_summed(reader.read_to(head).await?, last, agent) {
                return Ok(summed);
            }
        }
        let receipt = self.session.command(Program::synthesize(agent)).await?;
        let mut reader = Reader::replay(&self.session).await?;
        let last = last_completed(reader.read_to(receipt.seq).await?);
        reader.until(|live| find_summed_or_failed(live, last, agent)).await?
    }
}

fn pick(record: &Record, number: Option<u32>) -> Result<u32> {
    number
        .or(record.last_round())
        .ok_or_else(|| invalid("no round has started yet; start the debate".to_owned()))
}

fn no_round(record: &Record, number: u32) -> Error {
    invalid(match record.last_round() {
        None => format!("round {number} does not exist; no round has started yet"),
        Some(last) => format!("round {number} does not exist; the rounds are 1 to {last}"),
    })
}

pub(super) fn invalid(what: String) -> Error {
    Reject::Invalid { what }.into()
}
