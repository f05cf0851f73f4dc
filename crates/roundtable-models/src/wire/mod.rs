//! Wire families: the protocols that models speak. Each is two pure things, a body made of a
//! request and a decoder that makes chunks of events. Neither knows the network.

pub mod anthropic;
mod calls;
pub mod gemini;
mod ids;
mod names;
mod offer;
pub mod openai_chat;
pub mod openai_responses;
mod template;
mod turns;

use roundtable_core::event::{CallRecord, StopReason};
use roundtable_core::json;
use roundtable_ports::{Chunk, ModelError, ModelRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Profile;
use crate::http::Caps;
use crate::output::Shape;
use crate::price::{PriceTable, Tally};

pub(crate) use names::Names;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// `/chat/completions`, as most vendors speak it.
    OpenaiChat,
    /// `/responses`.
    OpenaiResponses,
    /// `/v1/messages`.
    Anthropic,
    /// `:streamGenerateContent`.
    Gemini,
}

impl Wire {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The path behind the base address that this model is asked at.
    pub fn path(self, model: &str) -> String {
        match self {
            Self::OpenaiChat => "/chat/completions".to_owned(),
            Self::OpenaiResponses => "/responses".to_owned(),
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::Gemini => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// The request as the vendor wants it.
    ///
    /// # Errors
    /// [`ModelError::BadRequest`] when it has no JSON form.
    pub fn request(
        self,
        request: &ModelRequest,
        profile: &Profile,
        shape: &Shape,
    ) -> Result<Outgoing, ModelError> {
        match self {
            Self::OpenaiChat => openai_chat::request(request, profile, shape),
            Self::OpenaiResponses => openai_responses::request(request, profile, shape),
            Self::Anthropic => anthropic::request(request, profile, shape),
            Self::Gemini => gemini::request(request, profile, shape),
        }
    }

    /// A decoder for the answer to a request.
    pub fn decoder(self, settings: Settings) -> Box<dyn Decoder> {
        match self {
            Self::OpenaiChat => Box::new(openai_chat::ChatDecoder::new(settings)),
            Self::OpenaiResponses => Box::new(openai_responses::ResponsesDecoder::new(settings)),
            Self::Anthropic => Box::new(anthropic::AnthropicDecoder::new(settings)),
            Self::Gemini => Box::new(gemini::GeminiDecoder::new(settings)),
        }
    }
}

/// A request on its way, without the key and the vendor's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Headers besides the key's.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body, as JSON.
    pub body: Vec<u8>,
}

impl Outgoing {
    fn new(body: &impl Serialize) -> Result<Self, ModelError> {
        let bad = |error: serde_json::Error| ModelError::BadRequest(error.to_string());
        Ok(Self { headers: Vec::new(), body: serde_json::to_vec(body).map_err(bad)? })
    }
}

/// What a decoder has to know besides the events.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The model that was asked, for answers that do not say which one spoke.
    pub model: String,
    /// What thoughts are marked with.
    pub mark: String,
    /// The fields that thoughts come in.
    pub reasoning_fields: Vec<String>,
    /// The tools' names, there and back.
    pub(crate) names: Names,
    /// What the model costs.
    pub price: Option<PriceTable>,
    /// How much is too much.
    pub caps: Caps,
}

impl Settings {
    /// What the decoder of an answer to this request has to know.
    pub fn new(request: &ModelRequest, profile: &Profile, shape: &Shape, caps: Caps) -> Self {
        Self {
            model: profile.model.clone(),
            mark: profile.mark(),
            reasoning_fields: profile.quirks.reasoning_fields.clone(),
            names: Names::new(request.tools.iter().map(|tool| tool.name.as_str()), shape),
            price: profile.price,
            caps,
        }
    }

    /// The end of an answer.
    fn done(&self, end: End) -> Chunk {
        let model = if end.model.is_empty() { self.model.clone() } else { end.model };
        let cost = end.cost.or_else(|| Some(self.price?.cost(&end.tally?)));
        Chunk::Done(CallRecord {
            model,
            latency_ms: 0,
            usage: end.tally.map(|tally| tally.usage),
            cost,
            stop: end.stop,
            ..CallRecord::default()
        })
    }
}

/// How an answer ended.
#[derive(Debug, Default)]
struct End {
    model: String,
    tally: Option<Tally>,
    /// The cost, where the vendor says it itself.
    cost: Option<u64>,
    stop: StopReason,
}

/// Makes chunks of an answer's events: a state machine without I/O.
pub trait Decoder: Send {
    /// Takes an event that is a piece of text like the one before, if it is one: a shortcut past
    /// [`Decoder::event`] for what most of an answer is made of.
    fn token(&mut self, data: &str) -> Option<String> {
        let _ = data;
        None
    }

    /// Takes one event: its name, if it has one, and its data.
    ///
    /// # Errors
    /// What the event says went wrong, or that it makes no sense.
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<Chunk>, ModelError>;

    /// The body is over.
    ///
    /// # Errors
    /// [`ModelError::Broken`] when the answer is not.
    fn end(&mut self) -> Result<Vec<Chunk>, ModelError>;
}

/// An event's data as JSON. Depth is no reason to lose an answer: a call whose arguments nest too
/// deeply is refused by the session, and the rest of the answer counts.
fn parse(data: &str) -> Result<Value, ModelError> {
    json::parse_stored(data)
        .map_err(|error| ModelError::Broken(format!("an event is not JSON ({error})")))
}

/// The body was over before the answer was.
fn broke_off() -> ModelError {
    ModelError::Broken("the response is incomplete".to_owned())
}

/// A number of tokens; what is no number counts as none.
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// A text that is there and says something.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// A text as it is owned.
fn owned(value: &Value) -> Option<String> {
    text(value).map(str::to_owned)
}
