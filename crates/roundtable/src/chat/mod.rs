//! Chats: a person talks to a supervisor, who answers or delegates to workers.
//!
//! ```
//! use roundtable::chat::Message;
//! use roundtable::prelude::*;
//!
//! # #[tokio::main]
//! # async fn main() -> roundtable::Result<()> {
//! let delegate = Call::new("delegate", serde_json::json!({ "agent": "digger", "mission": "Dig." }));
//! let script = Script::default()
//!     .voice("boss", [Reply::calls([delegate]), Reply::text("It is dug.")])
//!     .voice("digger", [Reply::text("Dug.")]);
//! let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(script)).build().await?;
//! let chat = engine
//!     .chat("Garden")
//!     .supervisor(Agent::new("Boss", "scripted")?)
//!     .worker(Agent::new("Digger", "scripted")?)
//!     .open()
//!     .await?;
//! assert_eq!(chat.ask("A hole, please.").await?.answers[0].text, "It is dug.");
//! # engine.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! Whoever answers several people at once sends each message with the ids that everything it causes
//! will carry. There is no way to send without them (R001-9):
//!
//! ```compile_fail
//! # async fn example(chat: &roundtable::Session) {
//! chat.send("Hello").await;
//! # }
//! ```

mod builder;
mod message;

pub use builder::ChatBuilder;
pub use message::Message;
pub use roundtable_chat::{Background, CHAT, Chat, EarlierMessage, Member, Rules, TITLE, Team};
