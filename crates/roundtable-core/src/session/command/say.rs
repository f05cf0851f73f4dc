//! `say`: an input that opens a round, now or when it is its turn.

use crate::budget::{Exhausted, Limits};
use crate::context_request::ContextRequest;
use crate::event::{AcceptedInput, Body, SessionEvent};
use crate::input::{Env, OnBusy, Say};
use crate::message::{Image, MOST_ATTACHMENTS};
use crate::message_context::MessageContext;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::command::open::check_limits;
use crate::session::{Draft, Session};
use crate::settings::Settings;

impl Session {
    /// Checks in the order that callers rely on: not active, missing required, the input itself.
    pub(crate) fn say(&self, say: &Say, env: &Env) -> Result<Vec<Draft>, Reject> {
        self.check_active()?;
        self.check_required(say)?;
        self.check_context(&say.context)?;
        self.check_text(say.text.as_deref())?;
        self.check_images(say)?;
        self.check_files(say)?;
        self.check_whisper(say)?;
        self.check_room(say.on_busy)?;
        let limits = say.limits.map(|limits| self.raised(limits)).transpose()?;
        let mut drafts = match (&self.round, say.on_busy) {
            (Some(round), OnBusy::Reject) => return Err(Reject::Busy { round: round.number }),
            (Some(_), OnBusy::Interrupt) => self.provide_and_cut(&say.results)?,
            (Some(_), OnBusy::Queue) | (None, _) => self.provide(&say.results)?,
        };
        if say.on_busy == OnBusy::Interrupt {
            self.close_round(env, &mut drafts);
        }
        let accepted = AcceptedInput {
            context: say.context.clone(),
            sender: say.sender.clone(),
            text: say.text.clone(),
            images: say.images.clone(),
            files: say.files.clone(),
            limits,
            to: say.to.clone(),
        };
        drafts
            .push((Place::session(), Body::Session(SessionEvent::SessionInputAccepted(accepted))));
        Ok(drafts)
    }

    /// Every required request has to be answered. An interrupt withdraws the approvals that the
    /// round it cuts off waits for, so it need not answer those.
    fn check_required(&self, say: &Say) -> Result<(), Reject> {
        let withdrawn = |request: &ContextRequest| {
            say.on_busy == OnBusy::Interrupt && self.is_cut(&request.about)
        };
        let answered = |request: &ContextRequest| {
            say.results.iter().any(|result| result.request == request.id)
        };
        let open = |request: &&ContextRequest| !answered(request) && !withdrawn(request);
        let missing: Vec<_> = self.required().filter(open).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(Reject::ContextRequired { missing }) }
    }

    /// The ids of a message go wherever its answers go, so they have to be this conversation's;
    /// and two messages that wait under one id could not be told apart.
    fn check_context(&self, context: &MessageContext) -> Result<(), Reject> {
        if context.conversation_id() != self.id.as_str() {
            return Err(Reject::Invalid {
                what: format!(
                    "the message belongs to conversation {}; send it there, not to {}",
                    context.conversation_id(),
                    self.id
                ),
            });
        }
        let id = context.message_id();
        if self.waiting.iter().any(|waiting| waiting.context.message_id() == id) {
            return Err(Reject::Invalid {
                what: format!("message {id} is already queued; give each message its own id"),
            });
        }
        Ok(())
    }

    pub(crate) fn check_text(&self, text: Option<&str>) -> Result<(), Reject> {
        let Some(text) = text else { return Ok(()) };
        if text.trim().is_empty() {
            return Err(Reject::Invalid {
                what: "the message is empty; send a text, or continue without a message".to_owned(),
            });
        }
        self.check_bytes("the message", text.len())
    }

    /// Words for some alone go to agents that take part.
    fn check_whisper(&self, say: &Say) -> Result<(), Reject> {
        let Some(to) = &say.to else { return Ok(()) };
        if to.is_empty() || say.text.is_none() {
            let what = "a whisper needs a message and a receiving agent";
            return Err(Reject::Invalid { what: what.to_owned() });
        }
        let unknown = to.agents().find(|agent| self.find_agent(agent).is_none()).cloned();
        unknown.map_or(Ok(()), |agent| Err(Reject::UnknownAgent { agent }))
    }

    fn check_images(&self, say: &Say) -> Result<(), Reject> {
        if say.text.is_none() && !say.images.is_empty() {
            let what = "an image needs a message; add a text";
            return Err(Reject::Invalid { what: what.to_owned() });
        }
        for (index, image) in say.images.iter().enumerate() {
            let bad = |error| Reject::Invalid { what: format!("image {}: {error}", index + 1) };
            image.check().map_err(bad)?;
        }
        let bytes: usize = say.images.iter().map(Image::bytes).sum();
        let most = self.settings.max_image_bytes as usize;
        if bytes > most {
            return Err(Reject::Invalid {
                what: format!(
                    "the images of a message have {bytes} bytes as Base64; the limit is {most}. Use smaller images, or send URLs"
                ),
            });
        }
        Ok(())
    }

    /// Files count like the message that they are sent with; together they have its size at most.
    fn check_files(&self, say: &Say) -> Result<(), Reject> {
        let invalid = |what: String| Err(Reject::Invalid { what });
        let count = say.files.len() + say.images.len();
        if count > MOST_ATTACHMENTS {
            return invalid(format!(
                "a message may have {MOST_ATTACHMENTS} files and images at most, not {count}"
            ));
        }
        if say.text.is_none() && !say.files.is_empty() {
            return invalid("a file needs a message; say what the agents are to do with it".into());
        }
        for (index, file) in say.files.iter().enumerate() {
            let bad = |error| Reject::Invalid { what: format!("file {}: {error}", index + 1) };
            file.check().map_err(bad)?;
        }
        let bytes = say.files.iter().map(|file| file.name.len() + file.text.len()).sum();
        self.check_bytes("the text of all files", bytes)
    }

    pub(crate) fn check_bytes(&self, what: &str, bytes: usize) -> Result<(), Reject> {
        let most = self.settings.max_message_bytes as usize;
        if bytes > most {
            return Err(Reject::Invalid {
                what: format!("{what} has {bytes} bytes; the limit is {most}"),
            });
        }
        Ok(())
    }

    /// The session's limits with these in the place of its own. What is spent already leaves room
    /// below each of them, or the next call would find none.
    fn raised(&self, limits: Limits) -> Result<Limits, Reject> {
        let spent = self.account.spent;
        let given = [
            (limits.calls, spent.calls, Exhausted::Calls),
            (limits.tokens, spent.tokens, Exhausted::Tokens),
            (limits.cost, spent.cost, Exhausted::Cost),
        ];
        let low = |(limit, spent, _): &(Option<u64>, u64, Exhausted)| {
            limit.is_some_and(|limit| limit <= *spent)
        };
        if let Some((_, spent, budget)) = given.into_iter().find(low) {
            let spent = match budget {
                Exhausted::Cost => format!("${}.{:06}", spent / 1_000_000, spent % 1_000_000),
                _ => format!("{spent} {}", budget.word()),
            };
            return Err(Reject::Invalid {
                what: format!(
                    "the session has already spent {spent}, and the budget covers the whole session; set a higher budget"
                ),
            });
        }
        let own = self.settings.session_limits;
        let merged = Limits {
            calls: limits.calls.or(own.calls),
            tokens: limits.tokens.or(own.tokens),
            cost: limits.cost.or(own.cost),
            time_ms: limits.time_ms,
        };
        check_limits(&self.agents, &Settings { session_limits: merged, ..self.settings.clone() })?;
        Ok(merged)
    }

    fn check_room(&self, on_busy: OnBusy) -> Result<(), Reject> {
        let held_up = self.round.is_some() && on_busy == OnBusy::Queue;
        let waits = held_up || !self.waiting.is_empty();
        if waits && self.waiting.len() >= self.settings.max_waiting as usize {
            return Err(Reject::QueueFull { waiting: self.waiting.len() });
        }
        let taken = self.next_number() as usize - 1 + self.waiting.len();
        match self.settings.total_rounds {
            Some(total) if taken >= total as usize => Err(Reject::Invalid {
                what: format!(
                    "all {total} rounds of this session are used; open another session, or fork this one"
                ),
            }),
            _ => Ok(()),
        }
    }
}
