//! The ids of one incoming message, made once at the entry and threaded through all it causes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, is_safe};
use crate::reject::Reject;

/// Which message, of which conversation, in which turn of the people who talk (R001-1).
///
/// It is a value: nothing remembers a "current" one, and there is no way to change one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageContext {
    message_id: Arc<str>,
    conversation_id: Arc<str>,
    turn_id: Arc<str>,
}

impl MessageContext {
    /// The context of a message: its turn is the one that the client names, else the message
    /// itself (R001-2).
    ///
    /// # Errors
    /// [`Reject::BadId`] when an id that the client chose could be mistaken for a path or pattern.
    pub fn new(
        message_id: &str,
        session: &SessionId,
        turn_id: Option<&str>,
    ) -> Result<Self, Reject> {
        for id in [message_id].into_iter().chain(turn_id) {
            if !is_safe(id) {
                return Err(Reject::BadId { id: id.chars().take(80).collect() });
            }
        }
        let message_id: Arc<str> = message_id.into();
        Ok(Self {
            turn_id: turn_id.map_or_else(|| message_id.clone(), Arc::from),
            message_id,
            conversation_id: session.as_str().into(),
        })
    }

    /// The same message in a copy of its conversation.
    pub(crate) fn moved_to(&self, session: &SessionId) -> Self {
        Self { conversation_id: session.as_str().into(), ..self.clone() }
    }

    /// The message.
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The conversation that it belongs to.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id
    }

    /// The turn that it begins or continues.
    pub fn turn_id(&self) -> &str {
        &self.turn_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::new("abc").unwrap()
    }

    #[test]
    fn r001_1_a_context_names_message_conversation_and_turn() {
        let context = MessageContext::new("m1", &session(), Some("t1")).unwrap();
        assert_eq!(
            (context.message_id(), context.conversation_id(), context.turn_id()),
            ("m1", "ses_abc", "t1")
        );
    }

    #[test]
    fn r001_2_without_a_turn_id_the_message_is_the_turn() {
        let context = MessageContext::new("m1", &session(), None).unwrap();
        assert_eq!(context.turn_id(), "m1");
    }

    #[test]
    fn an_id_that_could_be_a_path_is_refused() {
        assert!(MessageContext::new("../m", &session(), None).is_err());
        assert!(MessageContext::new("m1", &session(), Some("")).is_err());
    }
}
