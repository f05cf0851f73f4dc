//! A server on a store in a directory, with sessions that are written and read.

use std::net::SocketAddr;

use roundtable::core::input::Command;
use roundtable::models::scripted::{Script, ScriptedModel};
use roundtable::{Engine, Session};
use roundtable_server::{Server, Settings};
use tokio::net::TcpListener;

/// How many sessions are written.
const WRITTEN: usize = 8;

/// How far behind a reader is who comes back.
pub const BEHIND: usize = 100;

/// The server, and its sessions.
pub struct Table {
    pub address: SocketAddr,
    /// Those that are written.
    pub written: Vec<Session>,
    /// The one that is read by those who come back.
    pub read: Session,
    _directory: tempfile::TempDir,
}

impl Table {
    pub async fn set() -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let model = ScriptedModel::forgetful(Script::default());
        let engine = Engine::builder().sqlite(directory.path()).custom_model("scripted", model);
        let engine = engine.build().await?;
        let mut written = Vec::new();
        for number in 0..WRITTEN {
            written.push(engine.chat(&format!("Written {number}")).agent("Ann").open().await?);
        }
        let read = engine.chat("Read").agent("Ann").open().await?;
        for _ in 0..BEHIND / 2 {
            read.command(Command::Pause).await?;
            read.command(Command::Resume).await?;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = Server::new(engine, Settings::default());
        tokio::spawn(server.run(listener, std::future::pending()));
        Ok(Self { address, written, read, _directory: directory })
    }
}
