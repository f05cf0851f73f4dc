//! The operations on conversations.

use http::Method;

use super::{history, message, open, stream};
use crate::operation::{Does, Operation};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::on_nothing("openConversation", Does::Adds, open::open)
            .http(
                Method::POST,
                "/api/conversations",
                "Opens a conversation. One that is open under the same name is returned as it is.",
            )
            .frames("new-conversation"),
        Operation::on_nothing("sendMessage", Does::Adds, message::send)
            .http(
                Method::POST,
                "/api/conversations/{conversationId}/messages",
                "Sends a message to a conversation. An unknown name opens it; read the events for the answers.",
            )
            .frames("message"),
        Operation::on_session("listMessages", Does::Reads, history::list)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/messages",
                "The messages of a session, page by page: the newest, or those before, after or around one.",
            )
            .frames("messages"),
        Operation::on_session("editMessage", Does::Changes, message::edit)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/messages/{messageId}/edit",
                "Changes the text of a message that waits for its round.",
            )
            .frames("edit-message"),
        Operation::on_session("withdrawMessage", Does::Changes, message::withdraw)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/messages/{messageId}/withdraw",
                "Takes back a message that waits for its round.",
            )
            .frames("withdraw-message"),
        Operation::on_session("listStreams", Does::Reads, stream::list)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/streams",
                "The answers that are being given, with their text so far.",
            )
            .frames("get-active-stream"),
    ]
}
