//! Hidden sessions: each keeps one request of a program. Lists leave them out.

use roundtable::core::event::Opening;
use roundtable::core::id::SessionId;
use roundtable::core::projection::COMPLETION;
use roundtable::ports::CommandKey;

use super::chat::owned;
use super::{Authorized, Sessions};
use crate::auth::Principal;
use crate::key::Key;
use crate::problem::Problem;

impl Sessions {
    /// The session that keeps a request: the same whenever it is sent again under its key.
    pub fn completion_id(&self, principal: &Principal, key: Option<&Key>) -> SessionId {
        match key {
            Some(key) => {
                let who = (&principal.tenant, &principal.actor);
                SessionId::derive("completion", format_args!("{who:?}.{}", key.text()))
            }
            None => SessionId::derive("completion", self.engine.driver().parts().ids.fresh()),
        }
    }

    /// Opens a hidden session; one that is open under the same key is returned as it is.
    pub async fn open_completion(
        &self,
        principal: &Principal,
        id: &SessionId,
        opening: Opening,
        key: CommandKey,
    ) -> Result<Authorized<SessionId>, Problem> {
        let opening = Opening { kind: COMPLETION, ..owned(principal, opening) };
        self.engine.driver().open_keyed(id, opening, Some(key)).await?;
        let found = self.find_conversation(principal, id).await?;
        found.ok_or_else(|| Problem::no_session(id.as_str()))
    }

    /// Whether the engine has a tool with this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.engine.driver().parts().tools.is_known(name)
    }
}
