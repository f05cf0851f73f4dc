//! What running model calls have said so far: hints for readers, never the truth.
//!
//! A reader keeps the offset up to which it has read, so nothing can be lost or doubled, and a
//! slow one costs nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roundtable_core::event::Seq;
use roundtable_core::id::{IterationId, SessionId};
use tokio::sync::watch;

use crate::subscribe::Delta;

/// The room that an answer has before it has to be moved: most are longer than a few words, and many
/// come at once.
pub(crate) const ROOM: usize = 256;

/// What one model call has said so far.
pub(crate) struct Utterance {
    pub attempt: u32,
    pub since: Seq,
    pub text: String,
}

/// What the running model calls of one session have said so far.
pub(crate) struct Speech {
    utterances: Mutex<BTreeMap<IterationId, Utterance>>,
    changes: watch::Sender<u64>,
}

impl Speech {
    fn utterances(&self) -> MutexGuard<'_, BTreeMap<IterationId, Utterance>> {
        self.utterances.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, iteration: &IterationId, attempt: u32, since: Seq) {
        let utterance = Utterance { attempt, since, text: String::with_capacity(ROOM) };
        self.utterances().insert(iteration.clone(), utterance);
    }

    /// A call that was cut off may still have a word to say: it is not the next attempt's.
    pub fn say(&self, iteration: &IterationId, attempt: u32, text: &str) {
        if let Some(utterance) = self.utterances().get_mut(iteration)
            && utterance.attempt == attempt
        {
            utterance.text.push_str(text);
        }
        // Waking nobody is not free, and most sessions are not listened to while they speak. Whoever
        // comes later reads what was said after it has subscribed.
        if self.changes.receiver_count() > 0 {
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    pub fn end(&self, iteration: &IterationId) {
        self.utterances().remove(iteration);
    }

    /// What all calls have said so far, but for one whose whole answer is known.
    pub fn all_but(&self, whole: Option<&IterationId>) -> BTreeMap<IterationId, String> {
        self.utterances()
            .iter()
            .filter(|(id, _)| Some(*id) != whole)
            .map(|(id, utterance)| (id.clone(), utterance.text.clone()))
            .collect()
    }

    /// Reads on from an offset, if the call is still running.
    pub fn read<T>(
        &self,
        iteration: &IterationId,
        read: impl FnOnce(&Utterance) -> T,
    ) -> Option<T> {
        self.utterances().get(iteration).map(read)
    }

    /// All that is being said, from its beginning.
    pub fn deltas(&self) -> Vec<Delta> {
        let delta = |(iteration, utterance): (&IterationId, &Utterance)| Delta {
            since: utterance.since,
            iteration: iteration.clone(),
            attempt: utterance.attempt,
            offset: 0,
            text: utterance.text.clone(),
        };
        self.utterances().iter().map(delta).collect()
    }

    /// Where the log says that the oldest call that is still running started.
    pub fn since(&self) -> Option<Seq> {
        self.utterances().values().map(|utterance| utterance.since).min()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// The speech of every session that runs or is read.
#[derive(Default)]
pub(crate) struct Speeches(Mutex<HashMap<SessionId, Arc<Speech>>>);

impl Speeches {
    pub fn of(&self, session: &SessionId) -> Arc<Speech> {
        let mut speeches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh =
            || Arc::new(Speech { utterances: Mutex::default(), changes: watch::Sender::new(0) });
        speeches.entry(session.clone()).or_insert_with(fresh).clone()
    }

    /// Forgets a session's speech when nobody but the caller has it any more.
    pub fn forget(&self, session: &SessionId, held: Arc<Speech>) {
        let mut speeches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(held);
        if speeches.get(session).is_some_and(|speech| Arc::strong_count(speech) == 1) {
            speeches.remove(session);
        }
    }
}
