//! One connection: frames come in, requests run side by side, and what they and the subscriptions have
//! for the client goes out through a queue with a bound. Feeds are read only while there is room in it,
//! so a client that does not read holds up nobody, and is told where to go on.

use std::collections::VecDeque;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, SplitSink, SplitStream};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

use super::frame::{ClientFrame, Echo};
use super::lanes::Lanes;
use super::pace::Pace;
use super::request::{self, Outcome, Then};
use super::subscription::{Item, Subscriptions};
use crate::access::Pass;
use crate::app::App;
use crate::problem::Problem;

/// How long a connection that ends has to take what is still to be sent.
const LAST_WORD: Duration = Duration::from_secs(5);

/// Why a connection ends.
#[derive(Debug, Clone, PartialEq)]
enum End {
    /// The client has left, or cannot be reached.
    Gone,
    /// The server says why.
    Closed { code: u16, reason: &'static str, error: Option<Problem> },
}

impl End {
    fn closed(code: u16, reason: &'static str) -> Self {
        Self::Closed { code, reason, error: None }
    }
}

/// One connection.
pub(super) struct Connection {
    app: App,
    pass: Pass,
    requests: FuturesUnordered<BoxFuture<'static, Outcome>>,
    /// What is to be sent before anything else.
    ready: VecDeque<Value>,
    subscriptions: Subscriptions,
    lanes: Lanes,
    pace: Pace,
    ping: Interval,
    /// How many pings were sent since the client was last heard.
    unanswered: u32,
}

impl Connection {
    pub fn new(app: App, pass: Pass) -> Self {
        let limits = &app.limits.sockets;
        let mut ping = tokio::time::interval(limits.ping);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        Self {
            requests: FuturesUnordered::new(),
            ready: VecDeque::new(),
            subscriptions: Subscriptions::new(limits.subscriptions),
            lanes: Lanes::default(),
            pace: Pace::new(limits.frames_per_second),
            ping,
            unanswered: 0,
            app,
            pass,
        }
    }

    /// Serves a client to the end.
    pub async fn serve(mut self, socket: WebSocket) {
        let (sink, mut incoming) = socket.split();
        let (out, queue) = mpsc::channel(self.app.limits.sockets.outgoing.max(1));
        let mut writing = std::pin::pin!(write(sink, queue));
        let principal = self.pass.principal();
        self.ready.push_back(json!({
            "type": "connected",
            "protocol": crate::auth::SUBPROTOCOL,
            "actor": principal.actor,
            "tenant": principal.tenant,
        }));
        let end = tokio::select! {
            end = self.run(&mut incoming, &out) => end,
            () = &mut writing => End::Gone,
        };
        if let End::Closed { code, reason, error } = end {
            let last = async {
                if let Some(problem) = error {
                    let frame = Echo::default().error(&problem).to_string();
                    let _ = out.send(Message::Text(frame.into())).await;
                }
                let close = CloseFrame { code, reason: reason.into() };
                let _ = out.send(Message::Close(Some(close))).await;
                drop(out);
            };
            // A client that does not read any more is not waited for.
            let _ = tokio::time::timeout(LAST_WORD, async { tokio::join!(last, writing) }).await;
        }
    }

    async fn run(
        &mut self,
        incoming: &mut SplitStream<WebSocket>,
        out: &mpsc::Sender<Message>,
    ) -> End {
        let (stopping, mut pass) = (self.app.stopping.clone(), self.pass.clone());
        let limit = self.app.limits.sockets.requests;
        loop {
            let is_stopping = stopping.is_cancelled();
            let is_idle = self.requests.is_empty() && self.ready.is_empty();
            if is_stopping && is_idle && self.subscriptions.is_idle() {
                return End::closed(close_code::AWAY, "the server is stopping");
            }
            let reads = !is_stopping
                && self.pace.has_room()
                && self.requests.len() + self.ready.len() < limit;
            let sends = send(out, &mut self.ready, &mut self.requests, &mut self.subscriptions);
            tokio::select! {
                () = pass.revoked() => return revoked(),
                () = stopping.cancelled(), if !is_stopping => {}
                frame = incoming.next(), if reads => match self.take(frame) {
                    Ok(()) => {}
                    Err(end) => return end,
                },
                step = sends => match step {
                    Step::Sent => {}
                    Step::Done(outcome) => self.settle(*outcome),
                    Step::Ended { conversation, number } => {
                        self.subscriptions.release(&conversation, number);
                    }
                    Step::Closed => return End::Gone,
                },
                () = self.pace.refill() => {}
                _ = self.ping.tick() => {
                    // While much waits to be sent, the client has other signs of life.
                    self.unanswered += u32::from(out.try_send(Message::Ping(Vec::new().into())).is_ok());
                    if self.unanswered > 2 {
                        return End::closed(close_code::POLICY, "no answer to pings");
                    }
                }
            }
        }
    }

    /// Takes what a client has sent.
    fn take(&mut self, frame: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        self.unanswered = 0;
        self.pace.take();
        match frame {
            None | Some(Ok(Message::Close(_))) => Err(End::Gone),
            Some(Err(error)) => Err(broken(error)),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
            Some(Ok(Message::Binary(_))) => {
                let what = "binary frames are not supported; send JSON as text";
                let problem = Problem::bad_request("binary", what);
                self.ready.push_back(Echo::default().error(&problem));
                Ok(())
            }
            Some(Ok(Message::Text(text))) => {
                self.accept(&text);
                Ok(())
            }
        }
    }

    fn accept(&mut self, text: &str) {
        let frame = match ClientFrame::parse(text, self.app.limits.sockets.frame) {
            Ok(frame) => frame,
            Err((echo, problem)) => return self.ready.push_back(echo.error(&problem)),
        };
        if matches!(frame.kind.as_str(), "message" | "new-conversation" | "subscribe")
            && let Err(problem) = self.subscriptions.check_room(frame.conversation())
        {
            return self.ready.push_back(frame.echo.error(&problem));
        }
        let turn = frame.conversation().map(|conversation| self.lanes.enter(conversation));
        let handled = request::handle(self.app.clone(), self.pass.clone(), frame);
        self.requests.push(match turn {
            Some(turn) => turn.run(handled).boxed(),
            None => handled.boxed(),
        });
    }

    /// Answers a request that is done, and does what it asks for.
    fn settle(&mut self, outcome: Outcome) {
        let Outcome { frames, then } = outcome;
        self.ready.extend(frames);
        match then {
            Then::Nothing => {}
            Then::Follow { conversation, session, after } => {
                if let Some(number) = self.subscriptions.reserve(&conversation) {
                    let (app, pass) = (self.app.clone(), self.pass.clone());
                    let opening = request::follow(app, pass, conversation, *session, after, number);
                    self.requests.push(opening.boxed());
                }
            }
            Then::Replace(reading) => self.subscriptions.replace(*reading),
            Then::Leave(conversation) => drop(self.subscriptions.remove(&conversation)),
            Then::Opened { reading, number } => self.subscriptions.fill(*reading, number),
            Then::NotOpened { conversation, number } => {
                self.subscriptions.release(&conversation, number);
            }
        }
    }
}

/// What happens while frames are sent.
enum Step {
    /// A frame was put into the queue.
    Sent,
    /// A request is done.
    Done(Box<Outcome>),
    /// A subscription has ended.
    Ended { conversation: String, number: u64 },
    /// Nobody takes frames any more.
    Closed,
}

/// Sends the next frame when there is room for it, or says what else happened.
async fn send(
    out: &mpsc::Sender<Message>,
    ready: &mut VecDeque<Value>,
    requests: &mut FuturesUnordered<BoxFuture<'static, Outcome>>,
    subscriptions: &mut Subscriptions,
) -> Step {
    let Ok(permit) = out.reserve().await else { return Step::Closed };
    let frame = match ready.pop_front() {
        Some(frame) => frame,
        None => tokio::select! {
            Some(outcome) = requests.next() => return Step::Done(Box::new(outcome)),
            Some(item) = subscriptions.next() => match item {
                Item::Payload(frame) => frame,
                Item::Ended { conversation, number } => return Step::Ended { conversation, number },
            },
            else => return std::future::pending().await,
        },
    };
    permit.send(Message::Text(frame.to_string().into()));
    Step::Sent
}

/// Writes what is in the queue until it is closed, or the client cannot be reached.
async fn write(mut sink: SplitSink<WebSocket, Message>, mut queue: mpsc::Receiver<Message>) {
    while let Some(message) = queue.recv().await {
        let is_last = matches!(message, Message::Close(_));
        if sink.feed(message).await.is_err() {
            return;
        }
        // Frames that are ready together are written together.
        if (is_last || queue.is_empty()) && sink.flush().await.is_err() {
            return;
        }
    }
    let _ = sink.close().await;
}

fn revoked() -> End {
    let what = "the token was revoked; connect again with another one";
    let error = Problem::new(http::StatusCode::UNAUTHORIZED, "revoked", what);
    End::Closed { code: close_code::POLICY, reason: "token revoked", error: Some(error) }
}

/// The end of a connection on which something came that cannot be read.
fn broken(error: axum::Error) -> End {
    use tungstenite::Error;
    let inner = error.into_inner();
    let (code, reason, name) = match inner.downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => (close_code::SIZE, "frame too large", "too_large"),
        Some(Error::Utf8(_)) => (close_code::INVALID, "text is not UTF-8", "malformed"),
        Some(Error::Protocol(_)) => (close_code::PROTOCOL, "protocol error", "malformed"),
        _ => return End::Gone,
    };
    let what = format!("{reason}: {inner}; the connection is closed, connect again");
    End::Closed { code, reason, error: Some(Problem::bad_request(name, what)) }
}
