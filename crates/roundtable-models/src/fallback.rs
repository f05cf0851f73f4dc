//! A chain of models: when one cannot answer, the next one is asked.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_core::budget::Price;
use roundtable_ports::{Facts, Listener, Model, ModelError, ModelRequest, ModelStream};

use crate::retry::begin;

/// A chain of models, asked in order until one begins to answer. Which one did is in the record of
/// the call.
pub struct Fallback {
    chain: Vec<Arc<dyn Model>>,
}

impl Fallback {
    /// A chain of models, the best one first.
    pub fn new(chain: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        Self { chain: chain.into_iter().collect() }
    }
}

#[async_trait]
impl Model for Fallback {
    /// What holds whichever model answers: the smallest window, and the highest price if all are
    /// known.
    fn facts(&self) -> Facts {
        let facts: Vec<Facts> = self.chain.iter().map(|model| model.facts()).collect();
        let prices: Option<Vec<Price>> = facts.iter().map(|facts| facts.price).collect();
        let highest = |prices: Vec<Price>| {
            prices.into_iter().reduce(|a, b| Price {
                input: a.input.max(b.input),
                output: a.output.max(b.output),
            })
        };
        Facts {
            window: facts.iter().filter_map(|facts| facts.window).min(),
            price: prices.and_then(highest),
        }
    }

    /// What the first model's answers need to be known for: it is the one that is meant to speak.
    fn notice(&self) -> Option<&str> {
        self.chain.first()?.notice()
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let mut request = Cow::Borrowed(request);
        let mut why: Option<ModelError> = None;
        let mut chain = self.chain.iter().peekable();
        while let Some(model) = chain.next() {
            match begin(&**model, &request).await {
                Ok(stream) => return Ok(stream),
                Err(error) if !another_may_help(&error) => return Err(error),
                // What may pass is worth more to the caller than what will not.
                Err(error) => {
                    let granted = chain.peek().is_none() || request.attempts.retry(&error).await;
                    why = Some(why.filter(ModelError::is_transient).unwrap_or(error));
                    if !granted {
                        break;
                    }
                    // Who has heard one model begin would take another one's words for the end.
                    request.to_mut().listener = Listener::default();
                }
            }
        }
        Err(why.unwrap_or_else(|| ModelError::BadRequest("the fallback chain is empty".to_owned())))
    }
}

/// Whether another model may do better. What one declines, or what makes no sense, is not carried
/// from door to door.
fn another_may_help(error: &ModelError) -> bool {
    match error {
        ModelError::Auth(_)
        | ModelError::RateLimited { .. }
        | ModelError::Overloaded(_)
        | ModelError::TooLong(_)
        | ModelError::Broken(_)
        | ModelError::Timeout => true,
        ModelError::Refused(_) | ModelError::BadRequest(_) => false,
    }
}
