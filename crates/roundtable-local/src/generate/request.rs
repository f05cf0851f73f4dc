//! What is asked of the model, and how an answer ended.

use super::mask::Mask;

/// What is asked of the model.
///
/// ```
/// use roundtable_local::{Message, Request};
///
/// let request = Request {
///     messages: vec![
///         Message::system("You are Ada, a lighthouse keeper."),
///         Message::user("How is the weather?"),
///     ],
///     prefill: "From up here,".into(),
///     max_tokens: 60,
///     ..Request::default()
/// };
/// assert_eq!(request.sampling.temperature, 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The chat so far. Its text is only ever text: what looks like a control token is spelled out
    /// in ordinary ones, so nobody can end a message from inside of it.
    pub messages: Vec<Message>,
    /// How the answer begins. It is not repeated in what comes out. Let it end in a word, not in a
    /// space: tokens carry the space before them.
    pub prefill: String,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// Texts at which the answer ends; they are not part of it. Not looked for when there is a
    /// mask, which says by itself where the answer ends.
    pub stop: Vec<String>,
    /// Which answers are possible; all, if there is none.
    pub mask: Option<Mask>,
    /// How many tokens the answer may have.
    pub max_tokens: usize,
    /// Where chance begins. The same request with the same seed gives the same text, on any
    /// machine, whatever runs beside it.
    pub seed: u64,
    /// To whom the prompt belongs. What was worked out for a prompt is kept for later requests of
    /// the same session that begin alike, and never used for another session. Nothing is kept
    /// without one.
    pub session: Option<String>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            prefill: String::new(),
            sampling: Sampling::default(),
            stop: Vec::new(),
            mask: None,
            max_tokens: 256,
            seed: 0,
            session: None,
        }
    }
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

impl Message {
    /// Says how the model is to behave.
    pub fn system(text: impl Into<String>) -> Self {
        Self { role: Role::System, text: text.into() }
    }

    /// Something that was said to the model.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    /// Something that the model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who says how the model is to behave.
    System,
    /// Who talks to the model.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// As the model was trained to read it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// How tokens are drawn. The default suits a model of this size: tame, and kept from repeating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// How much chance there is; at 0 the likeliest token is taken.
    pub temperature: f32,
    /// How many of the likeliest tokens are drawn from, between 1 and 1,024.
    pub top_k: usize,
    /// Of these, so many that they have this share of the likelihood, between 0 and 1.
    pub top_p: f32,
    /// By how much tokens that were used lately become less likely; at 1 they do not. Answers
    /// under a mask are not punished for it: their words often are in the prompt.
    pub repeat_penalty: f32,
    /// How many of the last tokens count as used lately.
    pub repeat_window: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.5, top_k: 40, top_p: 0.9, repeat_penalty: 1.15, repeat_window: 64 }
    }
}

/// How an answer ended, and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish {
    /// Why it ended.
    pub reason: FinishReason,
    /// How many tokens the prompt had.
    pub prompt_tokens: usize,
    /// How many of them were known from an earlier request of the session.
    pub cached_tokens: usize,
    /// How many tokens were drawn.
    pub output_tokens: usize,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model ended it, or the mask had nothing to add.
    End,
    /// One of the stop texts came.
    Stop,
    /// It had as many tokens as it may have. Never under a mask: an answer is complete.
    Length,
    /// Nobody listens any more, or the generator was dropped.
    Cancelled,
}
