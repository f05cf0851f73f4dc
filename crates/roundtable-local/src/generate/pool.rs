//! A bounded queue of requests, and the threads that work on them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::generation::Listener;
use super::job::Engine;
use super::{Finish, FinishReason, GenerateError, Request, StartError};
use crate::weights::LoadError;

/// A request and who hears the answer.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) listener: Box<dyn Listener>,
}

/// The threads and their queue. Dropping it cancels everything; a thread that is in the middle of
/// a token ends after it.
pub(super) struct Pool {
    queue: Arc<Queue>,
}

impl Pool {
    pub(super) fn start(
        engine: &Arc<Engine>,
        threads: usize,
        waiting: usize,
    ) -> Result<Self, LoadError> {
        let pool = Self { queue: Arc::new(Queue::new(waiting)) };
        for number in 0..threads.max(1) {
            let (engine, queue) = (engine.clone(), pool.queue.clone());
            let thread = thread::Builder::new().name(format!("local-model-{number}"));
            thread.spawn(move || work(&engine, &queue)).map_err(LoadError::Thread)?;
        }
        Ok(pool)
    }

    /// Puts a request into the queue, unless it is full.
    pub(super) fn push(&self, job: Job) -> Result<(), StartError> {
        self.queue.push(job)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.close().into_iter().for_each(cancel);
    }
}

/// Takes one request after the other until the pool is dropped.
fn work(engine: &Engine, queue: &Queue) {
    while let Some(Job { request, mut listener }) = queue.pop() {
        // A bug that one request meets must not take the thread from all others. What it may leave
        // half done belongs to that request; the cache is changed in one step.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let run = || engine.run(&request, &mut *listener, &|| queue.is_closed());
            let outcome = catch_unwind(AssertUnwindSafe(run));
            listener.end(outcome.unwrap_or(Err(GenerateError::Broken)));
        }));
    }
}

fn cancel(job: Job) {
    let reason = FinishReason::Cancelled;
    let finish = Finish { reason, prompt_tokens: 0, cached_tokens: 0, output_tokens: 0 };
    job.listener.end(Ok(finish));
}

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job: what is pushed for them does not wait.
    idle: usize,
    closed: bool,
}

impl Queue {
    fn new(most: usize) -> Self {
        let state = State { jobs: VecDeque::new(), idle: 0, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    fn push(&self, job: Job) -> Result<(), StartError> {
        let mut state = self.state();
        if state.jobs.len() >= self.most + state.idle {
            // Those who left the queue make room.
            let (gone, jobs): (VecDeque<_>, _) =
                state.jobs.drain(..).partition(|job| job.listener.is_gone());
            state.jobs = jobs;
            drop(state);
            gone.into_iter().for_each(cancel);
            state = self.state();
        }
        let waiting = state.jobs.len();
        if waiting >= self.most + state.idle {
            return Err(StartError::Busy { waiting });
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// The next job, when there is one; none once the queue is closed.
    fn pop(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn close(&self) -> VecDeque<Job> {
        let mut state = self.state();
        state.closed = true;
        self.changed.notify_all();
        std::mem::take(&mut state.jobs)
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
