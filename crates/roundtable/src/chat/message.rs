//! Messages with the ids that everything they cause carries.

use roundtable_core::MessageContext;
use roundtable_core::context_request::ContextResult;
use roundtable_core::digest::Digest;
use roundtable_core::id::CommandId;
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::message::{Attachment, Image};
use roundtable_ports::{CommandKey, Receipt};

use crate::error::Result;
use crate::session::Session;

/// A message of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(Say);

impl Message {
    /// A message with its ids: message, conversation and turn.
    pub fn new(context: MessageContext, text: impl Into<String>) -> Self {
        Self(Say {
            context,
            sender: "User".to_owned(),
            text: Some(text.into()),
            to: None,
            images: Vec::new(),
            files: Vec::new(),
            on_busy: OnBusy::Queue,
            results: Vec::new(),
            limits: None,
        })
    }

    /// The same, from a person with this name.
    #[must_use]
    pub fn from(mut self, sender: &str) -> Self {
        sender.clone_into(&mut self.0.sender);
        self
    }

    /// The same, with images.
    #[must_use]
    pub fn showing(mut self, images: Vec<Image>) -> Self {
        self.0.images = images;
        self
    }

    /// The same, with one more image or text file.
    #[must_use]
    pub fn attach(self, attachment: Attachment) -> Self {
        Self(self.0.with(attachment))
    }

    /// The same, with what to do while a round is open.
    #[must_use]
    pub fn on_busy(mut self, on_busy: OnBusy) -> Self {
        self.0.on_busy = on_busy;
        self
    }

    /// The same, with answers to what agents asked.
    #[must_use]
    pub fn answering(mut self, results: Vec<ContextResult>) -> Self {
        self.0.results = results;
        self
    }
}

impl Session {
    /// The ids of a message to this session. Its turn is the one that the client names, else the
    /// message itself.
    ///
    /// # Errors
    /// [`crate::Error`] when an id could be mistaken for a path or a pattern.
    pub fn context(&self, message_id: &str, turn_id: Option<&str>) -> Result<MessageContext> {
        Ok(MessageContext::new(message_id, self.id(), turn_id)?)
    }

    /// Sends a message. Sending a message with the same id again returns the first receipt and does
    /// nothing.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or its id stands for another message.
    pub async fn send(&self, message: Message) -> Result<Receipt> {
        self.send_request(message, None).await
    }

    /// The same, where the message's id stands for a whole request with this digest.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or its id stands for another request.
    pub async fn send_request(&self, message: Message, digest: Option<Digest>) -> Result<Receipt> {
        let id = message.0.context.message_id();
        let id = CommandId::derive(self.id().as_str(), format_args!("message.{id}"));
        self.send_command(Command::Say(message.0), Some(CommandKey { id, digest })).await
    }

    /// Change the text of a queued message.
    ///
    /// # Errors
    /// [`crate::Error`] when the message does not wait; then nothing changed.
    pub async fn edit(&self, message_id: &str, text: &str) -> Result<Receipt> {
        let (message_id, text) = (message_id.to_owned(), text.to_owned());
        self.command(Command::Edit { message_id, text }).await
    }

    /// Withdraw a queued message.
    ///
    /// # Errors
    /// [`crate::Error`] when the message does not wait; then nothing changed.
    pub async fn withdraw(&self, message_id: &str) -> Result<Receipt> {
        self.command(Command::Withdraw { message_id: message_id.to_owned() }).await
    }
}
