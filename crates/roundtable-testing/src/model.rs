//! Models that a test looks into, or writes in place.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use roundtable_ports::{Model, ModelError, ModelRequest, ModelStream};

/// A model that keeps every request that it passes on.
#[derive(Clone)]
pub struct RecordingModel {
    inner: Arc<dyn Model>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl RecordingModel {
    /// Keeps what `inner` is asked.
    pub fn new(inner: impl Model + 'static) -> Self {
        Self { inner: Arc::new(inner), requests: Arc::default() }
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().expect("no test panics while it looks").clone()
    }
}

#[async_trait]
impl Model for RecordingModel {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        self.requests.lock().expect("no test panics while it looks").push(request.clone());
        self.inner.stream(request).await
    }
}

type Answers =
    dyn Fn(ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelError>> + Send + Sync;

/// A model whose answers a test writes in place.
#[derive(Clone)]
pub struct FnModel(Arc<Answers>);

impl FnModel {
    /// A model that answers like this.
    pub fn new<F>(answers: F) -> Self
    where
        F: Fn(ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelError>>
            + Send
            + Sync
            + 'static,
    {
        Self(Arc::new(answers))
    }
}

#[async_trait]
impl Model for FnModel {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        (self.0)(request.clone()).await
    }
}
