//! The operations on conversations.

use http::Method;

use super::{history, message, open, stream};
use crate::attachment;
use crate::operation::{Does, Operation};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::on_nothing("openConversation", Does::Adds, open::open)
            .http(
                Method::POST,
                "/api/conversations",
                "Open a conversation. If the name is in use, the open conversation is returned unchanged.",
            )
            .frames("new-conversation"),
        Operation::on_nothing("sendMessage", Does::Adds, message::send)
            .http(
                Method::POST,
                "/api/conversations/{conversationId}/messages",
                "Send a message to a conversation. An unknown name opens a conversation. Read the events to get the answers.",
            )
            .takes_files()
            .frames("message"),
        Operation::on_session("listMessages", Does::Reads, history::list)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/messages",
                "List the messages of a session in pages: the newest, or those before, after or around a message.",
            )
            .frames("messages"),
        Operation::download("getAttachment", attachment::get).http(
            Method::GET,
            "/api/sessions/{sessionId}/attachments/{attachmentId}",
            "Downloads an image or a file of a message.",
        ),
        Operation::on_session("editMessage", Does::Changes, message::edit)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/messages/{messageId}/edit",
                "Change the text of a queued message.",
            )
            .frames("edit-message"),
        Operation::on_session("withdrawMessage", Does::Changes, message::withdraw)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/messages/{messageId}/withdraw",
                "Withdraw a queued message.",
            )
            .frames("withdraw-message"),
        Operation::on_session("listStreams", Does::Reads, stream::list)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/streams",
                "List the running answers with their text so far.",
            )
            .frames("get-active-stream"),
    ]
}
