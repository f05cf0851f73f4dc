//! Conversations, for those who may use them. A conversation is a session; besides its id it can have
//! a name that a client chose, which means something within the client's tenant alone.

use roundtable::chat::Team;
use roundtable::core::Reject;
use roundtable::core::event::Opening;
use roundtable::core::id::{SessionId, is_safe};
use roundtable::driver::EngineError;
use roundtable::ports::CommandKey;

use super::{Action, Authorized, Sessions};
use crate::auth::Principal;
use crate::problem::Problem;

/// The session that a text stands for: an id, or a name within the caller's tenant.
pub(super) fn resolve(principal: &Principal, text: &str) -> Option<SessionId> {
    if text.starts_with(SessionId::PREFIX) {
        return text.parse().ok();
    }
    // Debug quotes and escapes the tenant, so that no tenant and name read as another pair.
    is_safe(text)
        .then(|| SessionId::derive("conversation", format_args!("{:?}.{text}", principal.tenant)))
}

/// Who answers in a new conversation, and what it is called.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewConversation {
    /// Absent: it is named after its first round.
    pub title: Option<String>,
    /// Configured agents; the first one is the supervisor. Without any, the configured team answers.
    pub agents: Vec<String>,
}

impl Sessions {
    /// The session that a conversation is or will be: the one that is named, or else one that is the
    /// same whenever the same request is sent again.
    pub fn conversation_id(
        &self,
        principal: &Principal,
        name: Option<&str>,
        request: Option<&str>,
    ) -> Result<SessionId, Problem> {
        match (name, request) {
            (Some(name), _) => resolve(principal, name).ok_or_else(|| {
                let what = "invalid conversationId; use letters, digits, \"_\" and \"-\", at most 64 characters";
                Problem::bad_request("invalid", what)
            }),
            (None, Some(request)) => {
                let who = (&principal.tenant, &principal.actor);
                Ok(SessionId::derive("request", format_args!("{who:?}.{request}")))
            }
            (None, None) => Ok(self.engine.driver().fresh_session()?),
        }
    }

    /// A conversation of the caller, if there is one with this id.
    pub async fn find_conversation(
        &self,
        principal: &Principal,
        id: &SessionId,
    ) -> Result<Option<Authorized<SessionId>>, Problem> {
        self.find_own(principal, Action::Change, id.clone()).await
    }

    /// Opens a conversation. When another request opened it a moment ago, that one is returned.
    pub async fn open_conversation(
        &self,
        principal: &Principal,
        id: &SessionId,
        new: NewConversation,
        key: CommandKey,
    ) -> Result<Authorized<SessionId>, Problem> {
        let opening = self.opening(principal, new)?;
        match self.engine.driver().open_keyed(id, opening, Some(key)).await {
            Ok(_)
            | Err(EngineError::Reject(Reject::Exists { .. }) | EngineError::CommandReused { .. }) =>
                {}
            Err(error) => return Err(error.into()),
        }
        let found = self.find_conversation(principal, id).await?;
        found.ok_or_else(|| Problem::no_session(id.as_str()))
    }

    fn opening(&self, principal: &Principal, new: NewConversation) -> Result<Opening, Problem> {
        let opening = self.team(&new.agents)?.opening(&new.title.unwrap_or_default());
        Ok(owned(principal, opening))
    }

    /// The team of these agents, the first of whom is the supervisor; without any, the configured team
    /// or else the standard one. Those whom they may delegate to are on it.
    pub fn team(&self, agents: &[String]) -> Result<Team, Problem> {
        let mut agents = agents.iter().map(|id| self.engine.known_agent(id).cloned());
        let Some(supervisor) = agents.next() else { return Ok(self.engine.standard_team()?) };
        let team = agents.try_fold(Team::new(supervisor?), |team, worker| {
            Ok::<_, Problem>(team.worker(worker?, ""))
        })?;
        Ok(team.complete(self.engine.agents()))
    }
}

/// An opening of the caller's.
pub(super) fn owned(principal: &Principal, opening: Opening) -> Opening {
    Opening { actor: Some(principal.actor.clone()), tenant: principal.tenant.clone(), ..opening }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r001_2_a_name_means_another_conversation_in_another_tenant() {
        let of = |tenant: Option<&str>| Principal {
            actor: "ann".to_owned(),
            tenant: tenant.map(str::to_owned),
        };
        let (ann, bob, nobody) = (of(Some("ann")), of(Some("bob")), of(None));
        assert_eq!(resolve(&ann, "abc"), resolve(&ann, "abc"));
        assert_ne!(resolve(&ann, "abc"), resolve(&ann, "xyz"));
        assert_ne!(resolve(&ann, "abc"), resolve(&bob, "abc"));
        assert_ne!(resolve(&ann, "abc"), resolve(&nobody, "abc"));
        assert_eq!(resolve(&ann, "ses_1"), resolve(&bob, "ses_1"), "an id is an id");
        for bad in ["", "../x", "a b", "ses_", "ses_.", "a\0"] {
            assert_eq!(resolve(&ann, bad), None, "{bad}");
        }
        // The tenant is quoted, so it cannot run into the name.
        assert_ne!(resolve(&of(Some("a\").b")), "c"), resolve(&of(Some("a")), "b-c"));
    }
}
