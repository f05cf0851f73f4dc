//! What is done on both sides, one right after the other, so that a busy machine is as busy for
//! one as for the other.

use std::time::Duration;

use futures_util::future::try_join_all;
use roundtable_bench::{Commits, cpu, timed};

use super::bare::Bare;
use super::client::Client;
use super::talk::{Kept, Table, listen};
use super::{CALLS, LOOPS, REPEATS, SESSIONS, STREAMS, TOKENS};

/// The engine, and what it is compared with.
pub struct Pair {
    kept: Kept,
    table: Table,
    client: Client,
    bare: Bare,
}

/// What all took or used, and how often the engine waited for the disk.
#[derive(Default)]
pub struct Measured {
    pub engine: Vec<Duration>,
    /// The model client alone, where it is looked at.
    pub client: Vec<Duration>,
    pub bare: Vec<Duration>,
    /// Commits of all that was done; nothing when there is no disk.
    pub commits: Option<u32>,
}

impl Pair {
    pub async fn start(address: &str, kept: Kept) -> anyhow::Result<Self> {
        let table = Table::start(address, &kept).await?;
        let (client, bare) = (Client::new(address)?, Bare::new(address)?);
        Ok(Self { kept, table, client, bare })
    }

    pub async fn stop(self) {
        self.table.stop().await;
    }

    fn commits(&self) -> anyhow::Result<Option<Commits>> {
        self.kept.directory().map(Commits::of).transpose()
    }

    /// W1: a message in, an answer out.
    pub async fn turns(&self, way: &str, times: usize) -> anyhow::Result<Measured> {
        let sessions = self.table.open_many(way, times + 1).await?;
        let mut took = Measured::default();
        let mut commits = None;
        for (index, session) in sessions.iter().enumerate() {
            let (said, bare) = timed(self.bare.turn(way)).await;
            said?;
            let (answered, engine) = timed(session.ask("How are you?")).await;
            answered?;
            let (said, client) = timed(self.client.turn(way)).await;
            said?;
            // The first of each makes the connection.
            if index == 0 {
                commits = self.commits()?;
                continue;
            }
            took.add(engine, bare);
            took.client.push(client);
        }
        took.count(commits.as_ref())
    }

    /// W2: ten tool calls and an answer; the time of one of the eleven iterations.
    pub async fn tool_iterations(&self) -> anyhow::Result<Measured> {
        let sessions = self.table.open_many("loop", LOOPS + 1).await?;
        let mut took = Measured::default();
        let mut commits = None;
        for (index, session) in sessions.iter().enumerate() {
            let (runs, bare) = timed(self.bare.tool_loop()).await;
            anyhow::ensure!(runs? == CALLS as usize, "the loop has another length");
            let (answered, engine) = timed(session.ask("Count.")).await;
            answered?;
            match index {
                0 => commits = self.commits()?,
                _ => took.add(engine / (CALLS + 1), bare / (CALLS + 1)),
            }
        }
        took.count(commits.as_ref())
    }

    /// W4: many conversations at once, with a provider that takes its time.
    pub async fn conversations(&self) -> anyhow::Result<Measured> {
        let mut took = Measured::default();
        for index in 0..=REPEATS {
            let sessions = self.table.open_many("slow", SESSIONS).await?;
            // What is opened is not what is measured.
            let counted = self.commits()?;
            let all = try_join_all((0..SESSIONS).map(|_| self.bare.turn("slow")));
            let (said, bare) = timed(all).await;
            said?;
            let asked = try_join_all(sessions.iter().map(|session| session.ask("How are you?")));
            let (answered, engine) = timed(asked).await;
            answered?;
            if index > 0 {
                took.add(engine, bare);
                took = took.count(counted.as_ref())?;
            }
        }
        Ok(took)
    }

    /// W6: many streams at once, read as they come; the processor time of a thousand tokens.
    pub async fn streams(&self) -> anyhow::Result<Measured> {
        let mut took = Measured::default();
        let each = |used: Duration| used * 1_000 / (STREAMS * TOKENS) as u32;
        for index in 0..=REPEATS {
            let sessions = self.table.open_many("stream", STREAMS).await?;
            let counted = self.commits()?;
            let before = cpu();
            let said = try_join_all((0..STREAMS).map(|_| self.bare.turn("stream"))).await?;
            anyhow::ensure!(said.iter().all(|&tokens| tokens == TOKENS), "tokens are missing");
            let between = cpu();
            try_join_all(sessions.iter().map(listen)).await?;
            let engine = each(cpu() - between);
            let alone = cpu();
            try_join_all((0..STREAMS).map(|_| self.client.turn("stream"))).await?;
            if index > 0 {
                took.add(engine, each(between - before));
                took.client.push(each(cpu() - alone));
                took = took.count(counted.as_ref())?;
            }
        }
        Ok(took)
    }
}

impl Measured {
    fn add(&mut self, engine: Duration, bare: Duration) {
        self.engine.push(engine);
        self.bare.push(bare);
    }

    fn count(mut self, commits: Option<&Commits>) -> anyhow::Result<Self> {
        self.commits = commits.map(Commits::count).transpose()?;
        Ok(self)
    }
}
