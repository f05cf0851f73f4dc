//! `edit` and `withdraw`: a message that waits for its round is changed or taken back.

use crate::event::{AcceptedInput, Body, SessionEvent};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};
use crate::window::Window;

impl Session {
    /// The message keeps its ids, its place in the queue, its sender and its pictures.
    pub(crate) fn edit(
        &self,
        message_id: &str,
        text: &str,
        window: &Window,
    ) -> Result<Vec<Draft>, Reject> {
        self.check_waiting(message_id, "edited")?;
        self.check_text(Some(text))?;
        let Some(waiting) = window.find_waiting(message_id) else {
            return Err(not_waiting(message_id, "edited"));
        };
        if waiting.text.as_deref() == Some(text) {
            return Ok(Vec::new());
        }
        // What the message set for the session is set already.
        let edited = AcceptedInput { text: Some(text.to_owned()), limits: None, ..waiting.clone() };
        Ok(vec![(Place::session(), Body::Session(SessionEvent::SessionInputEdited(edited)))])
    }

    pub(crate) fn withdraw(&self, message_id: &str) -> Result<Vec<Draft>, Reject> {
        self.check_waiting(message_id, "withdrawn")?;
        let (message_id, withdrawn) = (message_id.to_owned(), true);
        let dropped = SessionEvent::SessionInputDropped { message_id, withdrawn };
        Ok(vec![(Place::session(), Body::Session(dropped))])
    }

    /// Refuses what does not wait, and says what became of it as far as that is known.
    fn check_waiting(&self, message_id: &str, what: &str) -> Result<(), Reject> {
        if self.waiting.iter().any(|waiting| waiting.context.message_id() == message_id) {
            return Ok(());
        }
        let marks = self.marks.iter().rev();
        let Some(mark) = marks.into_iter().find(|mark| mark.input.message_id() == message_id)
        else {
            return Err(not_waiting(message_id, what));
        };
        let number = mark.number;
        let hint = match &self.round {
            Some(round) if round.number == number => "stop the round, then send another message",
            Some(_) | None => "rewind to its round, or send another message",
        };
        Err(Reject::Invalid {
            what: format!(
                "message {message_id} cannot be {what}: its round {number} has started; {hint}"
            ),
        })
    }
}

fn not_waiting(message_id: &str, what: &str) -> Reject {
    let shown: String = message_id.chars().take(80).collect();
    Reject::Invalid { what: format!("message {shown} cannot be {what}: it is not queued") }
}
