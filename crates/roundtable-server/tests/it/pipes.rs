//! A client at the other end of two pipes, as an editor is that started the server.

use roundtable_server::serve_pipes;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;

/// How much may lie in a pipe.
const ROOM: usize = 64 * 1024;

pub struct Pipes {
    caller: Caller,
    write: DuplexStream,
    read: BufReader<DuplexStream>,
    stop: CancellationToken,
    served: JoinHandle<Result<(), String>>,
}

impl Pipes {
    /// Connects, and says hello where the era of the protocol wants it.
    pub async fn open(caller: &Caller) -> Self {
        Self::open_with(caller, json!({})).await
    }

    /// The same for a client with these capabilities.
    pub async fn open_with(caller: &Caller, capabilities: Value) -> Self {
        let ((write, theirs_in), (theirs_out, read)) = (duplex(ROOM), duplex(ROOM));
        let stop = CancellationToken::new();
        let pipes = (theirs_in, theirs_out);
        let (engine, settings) = (caller.engine.clone(), caller.settings.clone());
        let served =
            tokio::spawn(serve_pipes(engine, settings, pipes, stop.clone().cancelled_owned()));
        let read = BufReader::new(read);
        let mut opened = Self { caller: caller.clone(), write, read, stop, served };
        if !caller.transport.is_new() {
            let client = json!({ "name": "test", "version": "1" });
            let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
            let welcome = opened.ask("initialize", hello).await;
            assert_eq!(welcome["result"]["protocolVersion"], "2025-11-25");
            opened.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        opened
    }

    pub async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.expect("a server");
    }

    /// Sends a request and returns its id.
    pub async fn post(&mut self, method: &str, params: Value) -> Value {
        let message = self.caller.message(method, params);
        self.send(&message).await;
        message["id"].clone()
    }

    /// The next message; nothing when the server has hung up.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.read.read_line(&mut line).await.expect("a pipe");
        (read > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    /// The answer to a request; what comes before it is passed over.
    pub async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next().await.expect("an answer");
            if message["id"] == *id {
                return message;
            }
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params).await;
        self.answer(&id).await
    }

    /// Tells the server not to go on with a request.
    pub async fn cancel(&mut self, id: &Value) {
        let params = json!({ "requestId": id, "reason": "the person changed their mind" });
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        )
        .await;
    }

    /// Asks the server to stop, as a signal does.
    pub fn ask_to_stop(&self) {
        self.stop.cancel();
    }

    /// Waits until the server is done with this connection, which it read to its end.
    pub async fn closed(self) {
        drop((self.write, self.read));
        self.served.await.expect("no panic").expect("an orderly end");
    }
}
