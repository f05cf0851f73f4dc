//! The one driver for all wires: sends what a wire built, reads what its decoder understands, and
//! holds both to time and size. Dropping the stream ends the request.

mod body;
mod client;
pub(crate) mod failure;
mod limits;
mod patience;
mod reading;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use roundtable_core::id::IterationId;
use roundtable_ports::{Facts, Model, ModelError, ModelRequest, ModelStream};

pub use client::ClientError;
pub(crate) use limits::millis;
pub use limits::{Caps, Timeouts};

use crate::catalog::{Auth, Profile};
use crate::output::{Shape, Shaper};
use crate::secret::Secret;
use crate::window;
use crate::wire::{Outgoing, Settings};
use body::Events;
use failure::{Failure, shown};
use patience::{Late, Patience};
use reading::Reading;

/// The most of a refusal's body that is read.
const REFUSAL_BYTES: usize = 64 << 10;

/// A model behind an HTTP endpoint.
pub struct HttpModel {
    profile: Profile,
    target: Target,
    /// Where requests go, and the headers that all of them have: read once.
    url: Url,
    headers: Result<HeaderMap, ModelError>,
    client: Client,
    timeouts: Timeouts,
    caps: Caps,
}

/// Where requests go, and who pays.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub base_url: String,
    pub auth: Auth,
    pub key: Option<Secret>,
    /// Headers that its user wants to be sent.
    pub headers: HeaderMap,
    /// What is taken out of everything that the provider says.
    pub secrets: Arc<[Secret]>,
    pub proxy: Option<Secret>,
}

impl Target {
    /// The headers of every request. What its user wants counts before what is usual.
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = self.credentials()? {
            headers.insert(name, value);
        }
        self.headers.keys().for_each(|name| drop(headers.remove(name)));
        headers.extend(self.headers.clone());
        Ok(headers)
    }

    /// The header with the key, marked so that nothing prints it.
    fn credentials(&self) -> Result<Option<(&'static str, HeaderValue)>, ModelError> {
        let Some(key) = &self.key else { return Ok(None) };
        let (name, text) = match self.auth {
            Auth::Bearer => ("authorization", format!("Bearer {}", key.reveal())),
            Auth::XApiKey => ("x-api-key", key.reveal().to_owned()),
            Auth::XGoogApiKey => ("x-goog-api-key", key.reveal().to_owned()),
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| ModelError::Auth("the API key contains invalid characters".to_owned()))?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }
}

impl HttpModel {
    pub(crate) fn new(
        profile: Profile,
        target: Target,
        timeouts: Timeouts,
        caps: Caps,
    ) -> Result<Self, ClientError> {
        let client = client::build(timeouts.connect, target.proxy.as_ref())?;
        let address = format!("{}{}", target.base_url, profile.wire.path(&profile.model));
        let url = Url::parse(&address).map_err(|error| ClientError::Address(error.to_string()))?;
        let headers = target.headers();
        Ok(Self { profile, target, url, headers, client, timeouts, caps })
    }

    /// What is known of the model.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn send(
        &self,
        outgoing: Outgoing,
        key: &IterationId,
        patience: &mut Patience,
    ) -> Result<Response, ModelError> {
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        let mut headers = self.headers.clone()?;
        let mut add = |name: &'static str, value: HeaderValue| {
            headers.entry(name).or_insert(value);
        };
        for (name, value) in &outgoing.headers {
            add(name, HeaderValue::from_static(value));
        }
        // The same in every attempt, so that a gateway that can tell repeats apart does.
        if let Ok(key) = HeaderValue::from_str(key.as_str()) {
            add("idempotency-key", key);
        }
        *request.headers_mut() = headers;
        *request.body_mut() = Some(outgoing.body.into());
        let sent = self.client.execute(request);
        let response = patience.with(sent).await.map_err(|Late| ModelError::Timeout)?;
        response.map_err(|error| self.unreachable(error))
    }

    fn unreachable(&self, error: reqwest::Error) -> ModelError {
        let (connecting, late) = (error.is_connect(), error.is_timeout());
        let text = self.scrub(&chain(&error.without_url()));
        match (connecting, late) {
            (true, _) => ModelError::Overloaded(format!("{} {text}", self.target.base_url)),
            (false, true) => ModelError::Timeout,
            (false, false) => ModelError::Broken(text),
        }
    }

    /// A refusal, read as far as it makes sense.
    async fn refused(&self, response: Response) -> ModelError {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        let mut bytes = response.bytes_stream();
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(self.timeouts.idle, bytes.next()).await
        {
            body.extend_from_slice(&piece);
            if body.len() > REFUSAL_BYTES {
                break;
            }
        }
        let body = self.scrub(&String::from_utf8_lossy(&body));
        if status.is_success() {
            let json = serde_json::from_str(&body).unwrap_or_default();
            let failure = Failure::of_json(&json);
            return match json.get("error") {
                Some(error) if !error.is_null() => failure.error(),
                _ => ModelError::Broken(format!("the provider did not stream: {}", shown(&body))),
            };
        }
        Failure::of_response(status.as_u16(), &headers, &body).error()
    }

    fn scrub(&self, text: &str) -> String {
        scrub(&self.target.secrets, text.to_owned())
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("profile", &self.profile)
            .field("target", &self.target)
            .field("timeouts", &self.timeouts)
            .field("caps", &self.caps)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for HttpModel {
    fn facts(&self) -> Facts {
        Facts {
            window: self.profile.window,
            price: self.profile.price.map(|price| price.ceiling()),
        }
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        window::check(request, &self.profile)?;
        let shape = Shape::choose(request, &self.profile)?;
        let wire = self.profile.wire;
        let outgoing = wire.request(request, &self.profile, &shape)?;
        let settings = Settings::new(request, &self.profile, &shape, self.caps);
        let mut patience = Patience::new(self.timeouts);
        let response = self.send(outgoing, &request.key, &mut patience).await?;
        if !response.status().is_success() || !may_be_events(&response) {
            return Err(self.refused(response).await);
        }
        let events = Events::new(response.bytes_stream().boxed(), patience, self.caps);
        let (decoder, shaper) = (wire.decoder(settings), Shaper::new(shape));
        let secrets = self.target.secrets.clone();
        Ok(Reading::new(events, decoder, shaper, request, secrets).boxed())
    }
}

/// Whether a body can be a stream of events. Some servers do not say; those that say something
/// else mean it.
fn may_be_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    !kind.is_some_and(|kind| kind.starts_with("application/json") || kind.starts_with("text/html"))
}

/// A text without these secrets.
fn scrub(secrets: &[Secret], text: String) -> String {
    secrets.iter().fold(text, |text, secret| secret.scrub(&text))
}

/// An error and what caused it, without repeating itself.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
