//! How the processes of a world hear of each other: bells that may stay silent, and leases that
//! are out of reach while a process is cut off from its store.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable_backend::MemoryStore;
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_ports::{
    Answered, Bell, Crash, Inbox, LeaseError, Leases, LogError, Ownership, PostedCommand, Rings,
    Store,
};
use tokio::sync::broadcast;

use super::plan::{Plan, Reach};

/// How many rings wait for a slow listener. One that missed some has heard enough to look.
const RINGS: usize = 64;

/// The bells of a world. Listeners hear a ring in the order in which they began to listen, so that
/// the same start gives the same run.
#[derive(Clone)]
pub(super) struct Wire {
    rings: broadcast::Sender<SessionId>,
    posts: broadcast::Sender<()>,
}

impl Wire {
    pub fn new() -> Self {
        Self { rings: broadcast::Sender::new(RINGS), posts: broadcast::Sender::new(RINGS) }
    }

    /// A store on this wire, for one process.
    pub fn connect(&self, memory: MemoryStore, plan: Arc<Plan>) -> Store {
        let memory = Arc::new(memory);
        let line = Arc::new(Line { memory: memory.clone(), plan, wire: self.clone() });
        Store { leases: line.clone(), bell: line.clone(), inbox: line, ..Store::of(memory) }
    }
}

struct Line {
    memory: Arc<MemoryStore>,
    plan: Arc<Plan>,
    wire: Wire,
}

impl Line {
    fn check_reachable(&self) -> Result<(), LeaseError> {
        match self.plan.reach() {
            Reach::Well => Ok(()),
            Reach::Silence | Reach::Refusal => {
                Err(LeaseError::Unavailable("out of reach".to_owned()))
            }
        }
    }

    fn ring_for_posts(&self) {
        // Nobody listens, or a ring is lost: both are allowed.
        if !self.plan.loses_ring() {
            let _ = self.wire.posts.send(());
        }
    }
}

/// The processes of a world die by plan, often several in a row, and not of the session that they load:
/// someone is there who continues what was parked for that.
#[async_trait]
impl Leases for Line {
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError> {
        self.check_reachable()?;
        match self.memory.claim_one(session, node).await {
            Err(LeaseError::Parked { .. }) => {
                self.unpark(session).await?;
                self.memory.claim_one(session, node).await
            }
            claimed => claimed,
        }
    }

    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError> {
        self.check_reachable()?;
        self.memory.renew(node).await
    }

    async fn release(&self, own: &Ownership) -> Result<(), LeaseError> {
        self.check_reachable()?;
        self.memory.release(own).await
    }

    async fn claim_alone(
        &self,
        session: &SessionId,
        node: &NodeId,
    ) -> Result<Ownership, LeaseError> {
        self.check_reachable()?;
        match self.memory.claim_alone(session, node).await {
            Err(LeaseError::Parked { .. }) => {
                self.unpark(session).await?;
                self.memory.claim_one(session, node).await
            }
            claimed => claimed,
        }
    }

    async fn settle(&self, own: &Ownership) -> Result<(), LeaseError> {
        self.check_reachable()?;
        self.memory.settle(own).await
    }

    async fn crashed(
        &self,
        session: &SessionId,
        node: &NodeId,
        crash: &Crash,
    ) -> Result<Option<String>, LeaseError> {
        self.check_reachable()?;
        self.memory.crashed(session, node, crash).await
    }

    async fn unpark(&self, session: &SessionId) -> Result<bool, LeaseError> {
        self.check_reachable()?;
        self.memory.unpark(session).await
    }
}

#[async_trait]
impl Bell for Line {
    async fn ring(&self, session: &SessionId) {
        if !self.plan.loses_ring() {
            let _ = self.wire.rings.send(session.clone());
        }
    }

    async fn listen(&self, session: &SessionId) -> Rings {
        let wanted = session.clone();
        let rings = heard(self.wire.rings.subscribe()).filter(move |rung| {
            // Rings that were missed may have been any session's.
            let rung = rung.as_ref().is_none_or(|rung| *rung == wanted);
            std::future::ready(rung)
        });
        rings.map(|_| ()).boxed()
    }
}

#[async_trait]
impl Inbox for Line {
    async fn post(&self, posted: &PostedCommand) -> Result<(), LogError> {
        self.memory.post(posted).await?;
        self.ring_for_posts();
        Ok(())
    }

    async fn list_posted(&self, node: &NodeId) -> Result<Vec<PostedCommand>, LogError> {
        self.memory.list_posted(node).await
    }

    async fn answer(
        &self,
        session: &SessionId,
        id: &CommandId,
        answer: &Answered,
    ) -> Result<(), LogError> {
        self.memory.answer(session, id, answer).await?;
        self.ring_for_posts();
        Ok(())
    }

    async fn take_answer(
        &self,
        session: &SessionId,
        id: &CommandId,
    ) -> Result<Option<Answered>, LogError> {
        self.memory.take_answer(session, id).await
    }

    async fn listen_inbox(&self) -> Rings {
        heard(self.wire.posts.subscribe()).map(|_| ()).boxed()
    }
}

/// What a receiver hears; nothing stands for rings that it missed.
fn heard<T: Clone + Send + 'static>(
    receiver: broadcast::Receiver<T>,
) -> impl stream::Stream<Item = Option<T>> + Send {
    stream::unfold(receiver, |mut receiver| async {
        match receiver.recv().await {
            Ok(rung) => Some((Some(rung), receiver)),
            Err(broadcast::error::RecvError::Lagged(_)) => Some((None, receiver)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    })
}
