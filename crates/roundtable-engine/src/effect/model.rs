//! Asking a model.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures_util::future::{Fuse, FusedFuture as _};
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use roundtable_core::event::CallRecord;
use roundtable_core::id::IterationId;
use roundtable_core::input::{AskedCall, Reply, Report, Unanswered};
use roundtable_core::json;
use roundtable_ports::{
    Attempts, Chunk, EvaluateError, Grant, Listener, Model, ModelError, ModelRequest, Ownership,
};

use crate::adapter::SessionBus;
use crate::engine::Engine;
use crate::permit;
use crate::quota::Admission;
use crate::speech::{ROOM, Speech};

/// A model call.
pub(crate) struct ModelCall {
    pub engine: Engine,
    pub model: Option<Arc<dyn Model>>,
    pub iteration: IterationId,
    pub attempt: u32,
    pub speech: Arc<Speech>,
    pub bus: Arc<SessionBus>,
    pub own: Ownership,
    pub admission: Admission,
    /// Set when something of this session was noted.
    pub noted: Arc<AtomicBool>,
}

impl ModelCall {
    /// Makes the call. A panic in an adapter is a failed call and nothing more.
    pub async fn make(self, mut request: ModelRequest) -> Report {
        let (iteration, attempt) = (self.iteration.clone(), self.attempt);
        let engine = self.engine.clone();
        // Before a permit is taken: whoever is ahead may wait for one.
        if let Err(refused) = self.admission.wait().await {
            let (error, unanswered) = (refused.to_string(), Unanswered::Refused);
            return Report::ModelFailed { iteration, attempt, error, unanswered };
        }
        let retries = Retries::of(&self);
        request.attempts = Attempts::new(retries.clone());
        let attempts = request.attempts.clone();
        let mut arrived = 0;
        let _permit = permit::take(engine.permits()).await;
        let answer = AssertUnwindSafe(self.ask(request, &mut arrived)).catch_unwind().await;
        let (error, unanswered) = match answer {
            Ok(Ok(reply)) => return Report::ModelReplied { iteration, attempt, reply },
            Ok(Err(error)) => {
                let unanswered = attempts.unanswered(&error);
                (retries.explain(&error), unanswered)
            }
            Err(_) => {
                let error = "the model adapter panicked; this is a bug in it".to_owned();
                (error, Unanswered::BrokenOff { arrived: 0 })
            }
        };
        // Text that was handed on has arrived, whether or not the model notes it.
        let unanswered = match unanswered {
            Unanswered::Refused if arrived == 0 => Unanswered::Refused,
            Unanswered::Refused => Unanswered::BrokenOff { arrived },
            Unanswered::BrokenOff { arrived: noted } => {
                Unanswered::BrokenOff { arrived: noted.max(arrived) }
            }
        };
        Report::ModelFailed { iteration, attempt, error, unanswered }
    }

    /// Asks the model, and counts the bytes of its answer as they arrive.
    async fn ask(self, mut request: ModelRequest, arrived: &mut u64) -> Result<Reply, ModelError> {
        let clock = self.engine.parts().clock.clone();
        let started = clock.now();
        let Some(model) = &self.model else {
            return Err(ModelError::BadRequest("the model is no longer registered".to_owned()));
        };
        let overheard = self.overhear(&mut request);
        let mut stream = model.stream(&request).await?;
        let mut reply = Reply { text: String::with_capacity(ROOM), ..Reply::default() };
        let mut noted = Noted { bytes: 0, at: started };
        let mut bytes = 0;
        // A note that waits for the store holds nobody up: the answer is read on meanwhile.
        let mut noting = std::pin::pin!(Fuse::terminated());
        loop {
            let chunk = tokio::select! {
                biased;
                () = noting.as_mut(), if !noting.is_terminated() => continue,
                chunk = stream.next() => chunk,
            };
            let Some(chunk) = chunk else { break };
            match chunk? {
                Chunk::Text(text) => {
                    bytes += text.len();
                    reply.text.push_str(&text);
                    if !overheard.load(Ordering::Relaxed) {
                        self.speech.say(&self.iteration, self.attempt, &text);
                    }
                    if noting.is_terminated()
                        && self.is_to_note(&reply.text, &mut noted, clock.now())
                    {
                        noting.set(self.note(reply.text.clone()).fuse());
                    }
                }
                Chunk::ToolCall { name, arguments, reference } => {
                    let call = AskedCall { name, arguments, reference, misfit: None };
                    let mut call = call.bounded();
                    bytes += call.name.len() + call.arguments.to_string().len();
                    let misfit = || self.engine.parts().tools.misfit(&call.name, &call.arguments);
                    call.misfit = call.misfit.take().or_else(misfit);
                    reply.calls.push(call);
                }
                Chunk::Reasoning(mut thought) => {
                    let Ok(payload) = json::bounded(std::mem::take(&mut thought.payload)) else {
                        continue;
                    };
                    thought.payload = payload;
                    bytes += thought.text.len() + thought.payload.to_string().len();
                    reply.thoughts.push(thought);
                }
                Chunk::Citation(source) => {
                    bytes += [&source.url, &source.title, &source.quote]
                        .into_iter()
                        .flatten()
                        .map(String::len)
                        .sum::<usize>();
                    reply.citations.push(source);
                }
                Chunk::Done(record) => {
                    let latency = clock.now().duration_since(started).as_millis();
                    let latency_ms = u64::try_from(latency).unwrap_or_default();
                    reply.record = CallRecord { latency_ms, ..record };
                    return Ok(reply);
                }
            }
            *arrived = bytes as u64;
            let most = self.engine.parts().config.max_reply_bytes;
            if bytes > most {
                return Err(ModelError::Broken(format!(
                    "the response is larger than {most} bytes"
                )));
            }
        }
        Err(ModelError::Broken("the response is incomplete".to_owned()))
    }

    /// Says words of an answer that is data as they come, though it is held back until it is whole;
    /// whether any came is known afterwards, so that they are not said twice.
    fn overhear(&self, request: &mut ModelRequest) -> Arc<AtomicBool> {
        let overheard = Arc::new(AtomicBool::new(false));
        if request.output.is_some() {
            let (speech, iteration) = (self.speech.clone(), self.iteration.clone());
            let (attempt, heard) = (self.attempt, overheard.clone());
            request.listener = Listener::new(move |text| {
                heard.store(true, Ordering::Relaxed);
                speech.say(&iteration, attempt, text);
            });
        }
        overheard
    }

    /// Whether it is time to note how far the answer is, in case of a crash.
    fn is_to_note(&self, text: &str, noted: &mut Noted, now: Timestamp) -> bool {
        let config = &self.engine.parts().config;
        let waited = now.duration_since(noted.at).unsigned_abs();
        if text.len() - noted.bytes < config.draft_bytes && waited < config.draft_every {
            return false;
        }
        *noted = Noted { bytes: text.len(), at: now };
        true
    }

    /// Notes how far the answer is. It is a courtesy: a failure costs nothing but the note.
    async fn note(&self, text: String) {
        self.noted.store(true, Ordering::Relaxed);
        let _ = self.engine.parts().store.drafts.put_draft(&self.own, &self.iteration, &text).await;
    }
}

/// The requests of a call after its first: each is in the log, and covered by every budget, before it
/// is made.
#[derive(Clone)]
struct Retries {
    bus: Arc<SessionBus>,
    admission: Admission,
    iteration: IterationId,
    attempt: u32,
    /// Why one was not granted.
    denied: Arc<OnceLock<String>>,
}

impl Retries {
    fn of(call: &ModelCall) -> Self {
        Self {
            bus: call.bus.clone(),
            admission: call.admission.clone(),
            iteration: call.iteration.clone(),
            attempt: call.attempt,
            denied: Arc::default(),
        }
    }

    /// An error, and why the call was not made again.
    fn explain(&self, error: &ModelError) -> String {
        match self.denied.get() {
            None => error.to_string(),
            Some(why) => format!("{error}; {why}"),
        }
    }
}

#[async_trait]
impl Grant for Retries {
    async fn retry(&self, error: &ModelError, unanswered: Unanswered) -> bool {
        if let Err(refused) = self.admission.again(unanswered).await {
            let _ = self.denied.set(refused.to_string());
            return false;
        }
        let report = Report::ModelRetries {
            iteration: self.iteration.clone(),
            attempt: self.attempt,
            error: error.to_string(),
            unanswered,
        };
        match self.bus.commit(report).await {
            Ok(()) => true,
            Err(EvaluateError::Refused(why)) => {
                // The first refusal is the reason; a later one repeats it.
                let _ = self.denied.set(why);
                false
            }
            Err(_) => false,
        }
    }
}

struct Noted {
    bytes: usize,
    at: Timestamp,
}
