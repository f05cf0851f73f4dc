//! Asking again, while nothing of an answer was handed out: with patience that grows, as the
//! provider asks for it, and not for ever.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable_ports::{Chunk, Facts, Listener, Model, ModelError, ModelRequest, ModelStream};
use serde::Deserialize;

use crate::http::millis;

/// How often and how long. In configuration: waits in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// How often a request is made at most.
    pub attempts: u32,
    /// How long the first wait is; each further one is twice as long.
    #[serde(deserialize_with = "millis")]
    pub first_wait: Duration,
    /// The longest wait that is chosen here; a provider may ask for a longer one.
    #[serde(deserialize_with = "millis")]
    pub longest_wait: Duration,
    /// The time in which an answer has to begin, waits included. A long thought, or data that is
    /// checked as a whole, begins late.
    #[serde(deserialize_with = "millis")]
    pub within: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            within: Duration::from_secs(600),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after a failed attempt. Providers' own wishes are kept to the letter;
    /// otherwise half of the wait is left to chance, drawn from the request's key, so that many
    /// sessions that failed together do not come back together.
    fn wait(&self, request: &ModelRequest, attempt: u32, error: &ModelError) -> Duration {
        if let ModelError::RateLimited { retry_after: Some(asked) } = error {
            return *asked;
        }
        let doubled = self.first_wait.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        let whole = doubled.min(self.longest_wait);
        let mut hasher = DefaultHasher::new();
        (request.key.as_str(), request.attempt, attempt).hash(&mut hasher);
        let share = (hasher.finish() % 1_000) as u32;
        whole / 2 + whole.saturating_mul(share) / 2_000
    }
}

/// A model that is asked again when it fails for a while.
pub struct Retry {
    inner: Arc<dyn Model>,
    policy: RetryPolicy,
}

impl Retry {
    /// This model, asked again.
    pub fn new(inner: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let mut request = Cow::Borrowed(request);
        let mut waited = Duration::ZERO;
        let mut attempt = 1;
        loop {
            let error = match begin(&*self.inner, &request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let wait = self.policy.wait(&request, attempt, &error);
            waited = waited.saturating_add(wait);
            // A wait that the deadline would cut short is not begun.
            let hopeless = attempt >= self.policy.attempts || waited > self.policy.within;
            if !error.is_transient() || hopeless || !request.attempts.retry(&error).await {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            attempt += 1;
            // Who has heard one answer begin would take another one for its end.
            request.to_mut().listener = Listener::default();
        }
    }
}

#[async_trait]
impl Model for Retry {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn notice(&self) -> Option<&str> {
        self.inner.notice()
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = tokio::time::timeout(self.policy.within, self.ask(request));
        asked.await.unwrap_or(Err(ModelError::Timeout))
    }
}

/// Asks, and waits for the first chunk: until then nothing is lost by asking again.
pub(crate) async fn begin(
    model: &dyn Model,
    request: &ModelRequest,
) -> Result<ModelStream, ModelError> {
    let mut rest = model.stream(request).await?;
    let Some(first) = rest.next().await else {
        return Err(ModelError::Broken("the response ended before the first chunk".to_owned()));
    };
    let first: Chunk = first?;
    Ok(stream::iter([Ok(first)]).chain(rest).boxed())
}
