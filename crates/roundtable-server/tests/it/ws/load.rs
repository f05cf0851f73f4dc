//! Many clients, many conversations, cancels and reconnects at random: no payload goes astray (S35),
//! and every client's view is the log.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use roundtable::prelude::*;
use roundtable_server::{Limits, Settings, SocketLimits};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::kit;
use crate::socket::{Socket, connect};

const CLIENTS: u64 = 40;
const CONVERSATIONS: u64 = 50;

/// What one client has of one conversation: frames by their place in the log.
#[derive(Default)]
struct View {
    last: u64,
    frames: BTreeMap<u64, Vec<Value>>,
}

struct Client {
    address: SocketAddr,
    number: u64,
    socket: Socket,
    random: u64,
    views: BTreeMap<String, View>,
    /// Messages whose rounds have not ended.
    open: BTreeSet<String>,
}

/// Two clients share each conversation.
fn conversation(client: u64, number: u64) -> String {
    format!("c{}-{number}", client / 2)
}

impl Client {
    async fn new(address: SocketAddr, number: u64) -> Self {
        let (socket, views, open) = (connect(address).await, BTreeMap::new(), BTreeSet::new());
        Self { address, number, socket, random: number + 1, views, open }
    }

    /// One in so many times, as a generator with a seed says.
    fn once_in(&mut self, times: u64) -> bool {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (self.random >> 33).is_multiple_of(times)
    }

    async fn send_all(&mut self) {
        for number in 0..CONVERSATIONS {
            let name = conversation(self.number, number);
            let id = format!("m{}-{number}", self.number);
            self.open.insert(id.clone());
            let message = json!({
                "type": "message", "conversationId": name, "messageId": id,
                "content": format!("canary-{name}-x"),
            });
            self.ask(message).await;
            if self.once_in(8) {
                self.ask(json!({ "type": "stop", "conversationId": name })).await;
            }
            if self.once_in(25) {
                self.reconnect().await;
            }
        }
        while !self.open.is_empty() {
            let frame = self.socket.next().await;
            self.look(frame);
        }
    }

    async fn ask(&mut self, frame: Value) {
        for frame in self.socket.ask_collecting(frame).await {
            assert_ne!(frame["type"], "error", "{frame}");
            self.look(frame);
        }
    }

    /// Hangs up and goes on where it was, in every conversation.
    async fn reconnect(&mut self) {
        self.socket = connect(self.address).await;
        let places: Vec<_> =
            self.views.iter().map(|(name, view)| (name.clone(), view.last)).collect();
        for (name, last) in places {
            let subscribe = json!({ "type": "subscribe", "conversationId": name, "fromSeq": last });
            self.ask(subscribe).await;
        }
    }

    /// Checks that a frame belongs where it says, and keeps it.
    fn look(&mut self, frame: Value) {
        let name = frame["conversationId"].as_str().expect("a conversation").to_owned();
        let text = frame.to_string();
        let own = format!("{name}-x");
        for after in text.split("canary-").skip(1) {
            // A chunk may end inside a canary.
            let said = after.split('"').next().unwrap_or_default();
            assert!(said.starts_with(&own) || own.starts_with(said), "astray: {frame}");
        }
        if let Some(id) = frame["messageId"].as_str() {
            let (client, number) = id[1..].split_once('-').expect("an id");
            let of =
                conversation(client.parse().expect("a number"), number.parse().expect("a number"));
            assert_eq!(of, name, "astray: {frame}");
            if ["round_ended", "message_dropped"]
                .contains(&frame["type"].as_str().unwrap_or_default())
            {
                self.open.remove(id);
            }
        }
        let view = self.views.entry(name).or_default();
        let Some(seq) = frame["seq"].as_u64() else { return };
        view.last = view.last.max(seq);
        view.frames.entry(seq).or_default().push(frame);
    }
}

/// All frames of a conversation that is over, by their place.
async fn log(reader: &mut Socket, name: &str) -> BTreeMap<u64, Vec<Value>> {
    let mut frames: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for frame in super::whole(reader, name).await {
        frames.entry(frame["seq"].as_u64().expect("a place")).or_default().push(frame);
    }
    frames
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s35_forty_clients_with_fifty_conversations_each_get_their_own_and_all_of_it() {
    let script =
        Script::default().voice("supervisor", [Reply::text("Answer to {input}").in_pieces(9, 0)]);
    let sockets = SocketLimits { frames_per_second: 100_000, ..SocketLimits::default() };
    let limits = Limits { sockets, ..Limits::default() };
    let running = kit::start(script, Settings { limits, ..Settings::default() }).await;
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let address = running.address;
        clients.spawn(async move {
            let mut client = Client::new(address, number).await;
            client.send_all().await;
            client
        });
    }
    let clients = clients.join_all().await;
    let listed = running.engine.sessions(5_000).await.expect("sessions");
    assert_eq!(listed.len() as u64, CLIENTS / 2 * CONVERSATIONS);
    for session in &listed {
        let session = running.engine.session(&session.session);
        session.complete("all was said").await.expect("an end");
    }
    let mut reader = connect(running.address).await;
    let (mut messages, mut logs) = (0, BTreeMap::new());
    for client in &clients {
        for (name, view) in &client.views {
            if !logs.contains_key(name) {
                logs.insert(name.clone(), log(&mut reader, name).await);
            }
            let all = &logs[name];
            let first = *view.frames.keys().next().expect("a frame");
            let expected: BTreeMap<_, _> = all.range(first..=view.last).collect();
            assert_eq!(view.frames.iter().collect::<BTreeMap<_, _>>(), expected, "{name}");
            let own = format!("m{}-", client.number);
            let is_own = |frame: &&Value| {
                frame["type"] == "message"
                    && frame["role"] == "user"
                    && frame["messageId"].as_str().is_some_and(|id| id.starts_with(&own))
            };
            messages += all.values().flatten().filter(is_own).count();
        }
    }
    assert_eq!(messages as u64, CLIENTS * CONVERSATIONS);
    running.stop().await;
}
