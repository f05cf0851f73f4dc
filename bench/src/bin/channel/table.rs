//! The server, with conversations that clients subscribe to.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use futures_util::future::try_join_all;
use roundtable::core::input::Command;
use roundtable::models::scripted::{Reply, Script, ScriptedModel};
use roundtable::{Engine, Session};
use roundtable_bench::cpu;
use roundtable_server::{Limits, Server, Settings, SocketLimits};
use tokio::net::TcpListener;

/// How many pieces an answer has.
pub const PIECES: usize = 100;
/// How long the model takes for each of them.
pub const PIECE_MS: u64 = 10;
/// A piece: a word.
pub const PIECE: &str = "words ";

pub struct Table {
    pub address: SocketAddr,
    pub sessions: Vec<Session>,
    paused: bool,
}

impl Table {
    /// In a directory, the sessions are paused: messages are committed and nobody answers.
    pub async fn start(directory: Option<&Path>, conversations: usize) -> anyhow::Result<Self> {
        let answer = Reply::text(PIECE.repeat(PIECES)).in_pieces(PIECE.len(), PIECE_MS);
        let model = ScriptedModel::forgetful(Script::default().voice("ann", [answer]));
        let mut engine = Engine::builder().custom_model("scripted", model);
        if let Some(directory) = directory {
            engine = engine.sqlite(directory);
        }
        let engine = engine.build().await?;
        let address = serve(&engine).await?;
        let mut sessions = Vec::new();
        for number in 0..conversations {
            let session = engine.chat(&format!("Number {number}")).agent("Ann").open().await?;
            if directory.is_some() {
                session.command(Command::Pause).await?;
            }
            sessions.push(session);
        }
        Ok(Self { address, sessions, paused: directory.is_some() })
    }

    pub fn names(&self) -> Vec<String> {
        self.sessions.iter().map(|session| session.id().to_string()).collect()
    }

    /// Lets every session answer once; the processor time that it took.
    pub async fn answer_all(&self) -> anyhow::Result<Duration> {
        anyhow::ensure!(!self.paused, "paused sessions do not answer");
        let before = cpu();
        try_join_all(self.sessions.iter().map(|session| session.ask("Tell me."))).await?;
        Ok(cpu().saturating_sub(before))
    }
}

/// A server with room for all clients of this benchmark.
pub async fn serve(engine: &Engine) -> anyhow::Result<SocketAddr> {
    let sockets = SocketLimits { frames_per_second: 100_000, ..SocketLimits::default() };
    let limits = Limits { connections: 4096, streams: 20_000, sockets, ..Limits::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = Server::new(engine.clone(), Settings { limits, ..Settings::default() });
    tokio::spawn(server.run(listener, std::future::pending()));
    Ok(address)
}
