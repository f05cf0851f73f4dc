//! A server with an engine on a script.

use std::net::SocketAddr;
use std::path::Path;

use roundtable::core::agent::Agent;
use roundtable::core::event::Opening;
use roundtable::core::settings::Settings as SessionSettings;
use roundtable::core::stage::Name;
use roundtable::core::tool::ToolDecl;
use roundtable::models::Secret;
use roundtable::prelude::*;
use roundtable_server::{Access, Principal, Server, Settings, Tokens};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::caller::{Caller, Transport};

/// Two tenants, each with a token.
pub const ANN: &str = "token-of-ann-0001";
pub const BOB: &str = "token-of-bob-0002";

/// A server that runs on an engine.
pub struct Serving {
    pub address: SocketAddr,
    pub engine: Engine,
    settings: Settings,
    stop: CancellationToken,
    task: JoinHandle<Result<(), roundtable_server::ServeError>>,
}

impl Serving {
    /// Someone who calls it.
    pub fn caller(&self, transport: Transport) -> Caller {
        let (engine, settings) = (self.engine.clone(), self.settings.clone());
        Caller { address: self.address, engine, settings, transport, token: None }
    }

    /// Asks the server to stop.
    pub fn ask_to_stop(&self) {
        self.stop.cancel();
    }

    /// Asks the server to stop and waits until it did.
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("no panic").expect("an orderly end");
        self.engine.shutdown().await;
    }

    /// Ends without waiting for anyone, as a crash would.
    pub async fn end(self) {
        self.stop.cancel();
        self.engine.stop().await;
    }
}

pub async fn serve(engine: Engine, settings: Settings) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (server, stop) = (Server::new(engine.clone(), settings.clone()), CancellationToken::new());
    let task = tokio::spawn(server.run(listener, stop.clone().cancelled_owned()));
    Serving { address, engine, settings, stop, task }
}

/// A server whose agents follow a script.
pub struct Running {
    serving: Serving,
    pub model: ScriptedModel,
}

impl std::ops::Deref for Running {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.serving
    }
}

impl Running {
    /// Asks the server to stop and waits until it did.
    pub async fn stop(self) {
        self.serving.stop().await;
    }

    /// Ends without waiting for anyone, as a crash would.
    pub async fn end(self) {
        self.serving.end().await;
    }
}

pub async fn start(script: Script, settings: Settings) -> Running {
    let model = ScriptedModel::new(script);
    let engine = Engine::builder().custom_model("scripted", model.clone()).build().await;
    Running { serving: serve(engine.expect("an engine"), settings).await, model }
}

/// A server on a data directory, which another one may have used before.
pub async fn on(directory: &Path, script: Script) -> Running {
    let model = ScriptedModel::new(script);
    let engine =
        Engine::builder().sqlite(directory).custom_model("scripted", model.clone()).build().await;
    Running { serving: serve(engine.expect("an engine"), Settings::default()).await, model }
}

/// A server that anyone on this machine may use.
pub async fn local(script: Script) -> Running {
    start(script, Settings::default()).await
}

/// A server with a token per tenant.
pub async fn tenants(script: Script) -> Running {
    let access = Access::from(tokens(&[(ANN, "ann"), (BOB, "bob")]));
    start(script, Settings { access, ..Settings::default() }).await
}

/// Tokens and whose they are; each of them has a tenant of their own.
pub fn tokens(known: &[(&str, &str)]) -> Tokens {
    known.iter().fold(Tokens::default(), |tokens, (token, actor)| {
        let tenant = Some(format!("of-{actor}"));
        tokens.token(&Secret::new(*token), Principal { actor: (*actor).to_owned(), tenant })
    })
}

/// An agent that asks for something in the first round.
pub fn asking() -> Script {
    let arguments = json!({ "query": "What is the budget?", "reason": "I need it." });
    let asks = Reply::calls([Call::new("request_context", arguments)]);
    let script = Script::default().voice("ada", [asks, Reply::text("I asked.")]);
    script.voice("ada", [Reply::text("Thank you.")])
}

/// A session of one agent, of a tenant.
pub async fn session(engine: &Engine, tenant: Option<&str>, topic: &str) -> Session {
    let mut agent = Agent::new("Ada", "scripted").expect("a name");
    agent.tools.push(ToolDecl::request_context());
    let opening = Opening {
        kind: Name::constant("debate"),
        topic: topic.to_owned(),
        agents: vec![agent],
        settings: SessionSettings { total_rounds: Some(3), ..SessionSettings::default() },
        actor: Some("ann".to_owned()),
        tenant: tenant.map(str::to_owned),
    };
    engine.open(opening).await.expect("a session")
}
