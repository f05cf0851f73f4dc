//! The sessions, as callers may use them. The engine is not reached in any other way: who wants a
//! session needs an [`Authorized`] id. `Operation::call` gets one from [`Sessions::authorize`]; those who
//! read a feed by hand get one from [`crate::feed::authorize`].

mod chat;
mod completion;
mod debate;

pub(crate) use chat::NewConversation;

use roundtable::core::event::Origin;
use roundtable::core::id::SessionId;
use roundtable::core::input::Command;
use roundtable::ports::{Clock, CommandKey, Quotas, Selection, SessionListing};
use roundtable::search::{Search, SearchPage};
use roundtable::{Engine, Session};

use crate::auth::Principal;
use crate::key::Key;
use crate::problem::Problem;

/// What someone wants to do with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// See what is in it.
    Read,
    /// Have something done in it.
    Change,
}

/// Something that a caller may use: found, and allowed.
#[derive(Debug, Clone)]
pub(crate) struct Authorized<T> {
    id: T,
    listed: SessionListing,
}

impl Authorized<SessionId> {
    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The session, as lists show it, at the time when it was looked up.
    pub fn listed(&self) -> &SessionListing {
        &self.listed
    }
}

/// The sessions of an engine.
#[derive(Clone)]
pub(crate) struct Sessions {
    engine: Engine,
}

impl Sessions {
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Whether a caller may do something with a session, by its id or by the name that the caller's
    /// tenant gave it. One that does not exist and one of another tenant look the same.
    pub async fn authorize(
        &self,
        principal: &Principal,
        action: Action,
        session: &str,
    ) -> Result<Authorized<SessionId>, Problem> {
        let found = match chat::resolve(principal, session) {
            Some(id) => self.find_own(principal, action, id).await?,
            None => None,
        };
        found.ok_or_else(|| Problem::no_session(session))
    }

    async fn find_own(
        &self,
        principal: &Principal,
        action: Action,
        id: SessionId,
    ) -> Result<Option<Authorized<SessionId>>, Problem> {
        let listed = self.engine.find(&id).await?;
        let listed = listed.filter(|listed| may(principal, action, listed));
        Ok(listed.map(|listed| Authorized { id, listed }))
    }

    /// A session.
    pub fn get(&self, session: &Authorized<SessionId>) -> Session {
        self.engine.session(&session.id)
    }

    /// The id of a message: the same for the same key, so that a repeated request is the same message.
    pub fn message_id(&self, key: Option<&Key>, session: &SessionId) -> String {
        match key {
            Some(key) => format!("msg_{}", key.within(session).id.suffix()),
            None => format!("msg_{}", self.engine.driver().parts().ids.fresh()),
        }
    }

    /// The id of a fork, and the key under which it is made.
    pub fn fork_id(
        &self,
        key: Option<&Key>,
        origin: &SessionId,
    ) -> Result<(SessionId, Option<CommandKey>), Problem> {
        match key.map(|key| key.within(origin)) {
            Some(key) => Ok((SessionId::derive("fork", &key.id), Some(key))),
            None => Ok((self.engine.driver().fresh_session()?, None)),
        }
    }

    /// Opens a session as a copy of another one's past: the caller's, as that one is.
    pub async fn fork(
        &self,
        principal: &Principal,
        id: SessionId,
        origin: Origin,
        key: Option<CommandKey>,
    ) -> Result<Authorized<SessionId>, Problem> {
        let (session, command) = (self.engine.session(&id), Command::Fork { origin, agents: None });
        match key {
            Some(key) => session.command_keyed(command, key).await?,
            None => session.command(command).await?,
        };
        let missing = Problem::no_session(id.as_str());
        self.find_own(principal, Action::Read, id).await?.ok_or(missing)
    }

    /// The session that a page of a list ended with, if it is one of the caller's.
    pub async fn find_cursor(&self, principal: &Principal, cursor: &str) -> Option<SessionId> {
        let id = chat::resolve(principal, cursor)?;
        let own = self.find_own(principal, Action::Read, id).await.ok()?;
        own.map(|own| own.id)
    }

    /// Deletes a session for good.
    pub async fn delete(&self, session: &Authorized<SessionId>) -> Result<(), roundtable::Error> {
        self.engine.delete(&session.id).await
    }

    /// The newest of the caller's sessions that are asked for.
    pub async fn select(
        &self,
        principal: &Principal,
        selection: Selection,
        most: usize,
    ) -> Result<Vec<SessionListing>, Problem> {
        let selection = Selection { tenant: Some(principal.tenant.clone()), ..selection };
        Ok(self.engine.select(&selection, most).await?)
    }

    /// The messages of the caller's sessions that fit.
    pub async fn search(
        &self,
        principal: &Principal,
        search: Search,
    ) -> Result<SearchPage, roundtable::Error> {
        self.engine.search(&search.tenant(principal.tenant.clone())).await
    }

    /// What sessions spend and hold.
    pub fn quotas(&self) -> &dyn Quotas {
        self.engine.driver().parts().store.quotas.as_ref()
    }

    /// The engine's clock.
    pub fn clock(&self) -> &dyn Clock {
        self.engine.driver().parts().clock.as_ref()
    }
}

/// Whoever is of a session's tenant may read and change it.
fn may(principal: &Principal, action: Action, listed: &SessionListing) -> bool {
    match action {
        Action::Read | Action::Change => listed.summary.tenant == principal.tenant,
    }
}
