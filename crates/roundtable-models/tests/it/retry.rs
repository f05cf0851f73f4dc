//! Asking again: how often, how long, and when not.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable_core::event::CallRecord;
use roundtable_core::input::Unanswered;
use roundtable_models::{Fallback, Retry, RetryPolicy};
use roundtable_ports::{Attempts, Chunk, Grant, Model, ModelError, ModelRequest, ModelStream};
use tokio::time::Instant;

use crate::asked::request;

/// A model that fails as it is told, and then answers; it notes when it was asked.
#[derive(Default)]
struct Failing {
    errors: Mutex<VecDeque<ModelError>>,
    asked: Mutex<Vec<Instant>>,
}

impl Failing {
    fn new(errors: &[ModelError]) -> Arc<Self> {
        Arc::new(Self { errors: Mutex::new(errors.to_vec().into()), ..Self::default() })
    }

    /// The waits between attempts.
    fn waits(&self) -> Vec<Duration> {
        let asked = self.asked.lock().unwrap();
        asked.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

#[async_trait]
impl Model for Failing {
    async fn stream(&self, _request: &ModelRequest) -> Result<ModelStream, ModelError> {
        self.asked.lock().unwrap().push(Instant::now());
        let error = self.errors.lock().unwrap().pop_front();
        match error {
            // Whether the request fails or the first thing that is read makes no difference.
            Some(ModelError::Broken(why)) => {
                Ok(stream::iter([Err(ModelError::Broken(why))]).boxed())
            }
            Some(error) => Err(error),
            None => Ok(stream::iter([Ok(Chunk::Done(CallRecord::default()))]).boxed()),
        }
    }
}

fn busy() -> ModelError {
    ModelError::Overloaded("busy".to_owned())
}

fn after(seconds: u64) -> ModelError {
    ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) }
}

async fn ask(model: &Arc<Failing>, agent: &str) -> Result<(), ModelError> {
    let retry = Retry::new(model.clone(), RetryPolicy::default());
    retry.stream(&request(agent, 1, 1)).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn f28_waits_grow_and_differ_from_call_to_call() {
    let errors = [busy(), ModelError::Timeout, ModelError::Broken("cut".to_owned())];
    let (one, two) = (Failing::new(&errors), Failing::new(&errors));
    assert_eq!(ask(&one, "ann").await, Ok(()));
    assert_eq!(ask(&two, "bob").await, Ok(()));
    let ranges = [250..=500, 500..=1_000, 1_000..=2_000];
    for (wait, range) in one.waits().iter().zip(&ranges) {
        assert!(range.contains(&wait.as_millis()), "{wait:?} {range:?}");
    }
    assert_eq!(one.waits().len(), 3);
    assert_ne!(one.waits(), two.waits());
    let again = Failing::new(&errors);
    assert_eq!(ask(&again, "ann").await, Ok(()));
    assert_eq!(again.waits(), one.waits());
}

#[tokio::test(start_paused = true)]
async fn f28_what_the_provider_asks_for_is_kept_to_the_letter() {
    let model = Failing::new(&[after(7), after(0)]);
    assert_eq!(ask(&model, "ann").await, Ok(()));
    assert_eq!(model.waits(), [Duration::from_secs(7), Duration::ZERO]);
}

#[tokio::test(start_paused = true)]
async fn f28_a_wait_beyond_the_deadline_is_not_begun() {
    let model = Failing::new(&[after(3_600)]);
    let before = Instant::now();
    assert_eq!(ask(&model, "ann").await, Err(after(3_600)));
    assert_eq!(Instant::now(), before);
}

#[tokio::test(start_paused = true)]
async fn f28_attempts_are_counted_and_the_last_error_is_told() {
    let model = Failing::new(&vec![busy(); 10]);
    assert_eq!(ask(&model, "ann").await, Err(busy()));
    assert_eq!(model.asked.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn f28_what_will_not_pass_is_not_tried_again() {
    let lasting = [
        ModelError::Auth(String::new()),
        ModelError::TooLong(String::new()),
        ModelError::Refused(String::new()),
        ModelError::BadRequest(String::new()),
    ];
    for error in lasting {
        let model = Failing::new(std::slice::from_ref(&error));
        assert_eq!(ask(&model, "ann").await, Err(error));
        assert_eq!(model.asked.lock().unwrap().len(), 1);
    }
}

/// A model that says nothing.
struct Silent;

#[async_trait]
impl Model for Silent {
    async fn stream(&self, _request: &ModelRequest) -> Result<ModelStream, ModelError> {
        Ok(stream::pending().boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn f28_the_deadline_fires_while_nothing_is_said() {
    let retry = Retry::new(Arc::new(Silent), RetryPolicy::default());
    let error = retry.stream(&request("ann", 1, 1)).await.err();
    assert_eq!(error, Some(ModelError::Timeout));
}

/// Grants so many further requests, and notes what became of those before.
#[derive(Clone, Default)]
struct Purse {
    left: Arc<Mutex<u32>>,
    failed: Arc<Mutex<Vec<Unanswered>>>,
}

#[async_trait]
impl Grant for Purse {
    async fn retry(&self, _error: &ModelError, unanswered: Unanswered) -> bool {
        let mut left = self.left.lock().unwrap();
        let granted = *left > 0;
        *left = left.saturating_sub(1);
        if granted {
            self.failed.lock().unwrap().push(unanswered);
        }
        granted
    }
}

/// A request for which so many further ones are granted, and the purse that grants them.
fn granted(further: u32) -> (ModelRequest, Purse) {
    let purse = Purse { left: Arc::new(Mutex::new(further)), ..Purse::default() };
    (ModelRequest { attempts: Attempts::new(purse.clone()), ..request("ann", 1, 1) }, purse)
}

#[tokio::test(start_paused = true)]
async fn f28_every_further_request_is_asked_for_and_says_what_became_of_the_one_before() {
    let broken = || ModelError::Broken("cut".to_owned());
    let inner = Failing::new(&[broken(), busy(), ModelError::Timeout]);
    let retry = Retry::new(inner.clone(), RetryPolicy::default());
    let (request, purse) = granted(9);
    assert!(retry.stream(&request).await.is_ok());
    let cut = Unanswered::BrokenOff { arrived: 0 };
    assert_eq!(*purse.failed.lock().unwrap(), [cut, Unanswered::Refused, cut]);
    assert_eq!(inner.asked.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_four_calls_makes_four_requests_over_retries_and_fallbacks() {
    let down: Vec<ModelError> = (0..9).map(|_| busy()).collect();
    let models = [Failing::new(&down), Failing::new(&down), Failing::new(&down)];
    let retried = |model: &Arc<Failing>| {
        Arc::new(Retry::new(model.clone(), RetryPolicy::default())) as Arc<dyn Model>
    };
    let made = || models.iter().map(|model| model.asked.lock().unwrap().len()).sum::<usize>();
    let (limited, _) = granted(3);
    assert!(Fallback::new(models.iter().map(retried)).stream(&limited).await.is_err());
    assert_eq!(made(), 4);
    assert!(Fallback::new(models.iter().map(retried)).stream(&request("ann", 1, 1)).await.is_err());
    assert_eq!(made(), 4 + 12, "without a limit, each is asked as often as its policy says");
}
