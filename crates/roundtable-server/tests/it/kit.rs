//! A server with an engine on a script.

use std::net::SocketAddr;

use roundtable::core::agent::Agent;
use roundtable::core::event::Opening;
use roundtable::core::settings::{Kind, Settings as SessionSettings};
use roundtable::core::tool::ToolDecl;
use roundtable::models::Secret;
use roundtable::prelude::*;
use roundtable_server::{Access, Principal, Server, Settings, Tokens};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Two tenants, each with a token.
pub const ANN: &str = "token-of-ann-0001";
pub const BOB: &str = "token-of-bob-0002";

/// A running server.
pub struct Running {
    pub address: SocketAddr,
    pub engine: Engine,
    pub model: ScriptedModel,
    stop: CancellationToken,
    task: JoinHandle<Result<(), roundtable_server::ServeError>>,
}

impl Running {
    /// Asks the server to stop and waits until it did.
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("no panic").expect("an orderly end");
        self.engine.shutdown().await;
    }

    /// Asks the server to stop.
    pub fn ask_to_stop(&self) {
        self.stop.cancel();
    }
}

pub async fn start(script: Script, settings: Settings) -> Running {
    let model = ScriptedModel::new(script);
    let engine =
        Engine::builder().model("scripted", model.clone()).build().await.expect("an engine");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (server, stop) = (Server::new(engine.clone(), settings), CancellationToken::new());
    let task = tokio::spawn(server.run(listener, stop.clone().cancelled_owned()));
    Running { address, engine, model, stop, task }
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
        kind: Kind::Debate,
        topic: topic.to_owned(),
        agents: vec![agent],
        settings: SessionSettings { total_rounds: Some(3), ..SessionSettings::default() },
        actor: Some("ann".to_owned()),
        tenant: tenant.map(str::to_owned),
    };
    engine.open(opening).await.expect("a session")
}
