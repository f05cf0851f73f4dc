//! `say`: an input that opens a round, now or when it is its turn.

use crate::event::{Accepted, Body, SessionEvent};
use crate::input::{Env, OnBusy, Say};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};

impl Session {
    /// Checks in the order that callers rely on: not active, missing required, the input itself.
    pub(crate) fn say(&self, say: &Say, env: &Env) -> Result<Vec<Draft>, Reject> {
        self.check_active()?;
        let missing: Vec<_> = self
            .required()
            .filter(|request| !say.results.iter().any(|result| result.request == request.id))
            .cloned()
            .collect();
        if !missing.is_empty() {
            return Err(Reject::ContextRequired { missing });
        }
        self.check_text(say.text.as_deref())?;
        self.check_room()?;
        let mut drafts = match (&self.round, say.on_busy) {
            (Some(round), OnBusy::Reject) => return Err(Reject::Busy { round: round.number }),
            (Some(_), OnBusy::Interrupt) => self.provide_and_cut(&say.results)?,
            (Some(_), OnBusy::Queue) | (None, _) => self.provide(&say.results)?,
        };
        if say.on_busy == OnBusy::Interrupt {
            self.close_round(env, &mut drafts);
        }
        let accepted = Accepted {
            context: say.context.clone(),
            sender: say.sender.clone(),
            text: say.text.clone(),
        };
        drafts
            .push((Place::session(), Body::Session(SessionEvent::SessionInputAccepted(accepted))));
        Ok(drafts)
    }

    fn check_text(&self, text: Option<&str>) -> Result<(), Reject> {
        let Some(text) = text else { return Ok(()) };
        if text.trim().is_empty() {
            return Err(Reject::Invalid {
                what:
                    "the message is empty; say something, or continue the round without a message"
                        .to_owned(),
            });
        }
        self.check_bytes("the message", text.len())
    }

    pub(crate) fn check_bytes(&self, what: &str, bytes: usize) -> Result<(), Reject> {
        let most = self.settings.max_message_bytes as usize;
        if bytes > most {
            return Err(Reject::Invalid {
                what: format!("{what} has {bytes} bytes; at most {most} are taken"),
            });
        }
        Ok(())
    }

    fn check_room(&self) -> Result<(), Reject> {
        if self.waiting.len() >= self.settings.max_waiting as usize {
            return Err(Reject::QueueFull { waiting: self.waiting.len() });
        }
        let taken = self.last_number as usize + self.waiting.len();
        match self.settings.total_rounds {
            Some(total) if taken >= total as usize => Err(Reject::Invalid {
                what: format!(
                    "all {total} rounds of this session are taken; open another session, or fork this one"
                ),
            }),
            _ => Ok(()),
        }
    }
}
