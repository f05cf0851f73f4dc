//! Debates, for those who may use them.

use roundtable::core::agent::Agent;
use roundtable::core::id::SessionId;
use roundtable::debate::{Debate, DebateBuilder, DebateEntry, DebateFilter};

use super::{Authorized, Sessions};
use crate::auth::Principal;
use crate::problem::Problem;

impl Sessions {
    /// A session as a debate.
    pub fn debate(&self, session: &Authorized<SessionId>) -> Debate {
        self.engine.find_debate(&session.id)
    }

    /// A debate of the caller, to be put together.
    pub fn new_debate(&self, principal: &Principal, topic: &str) -> DebateBuilder {
        let debate = self.engine.debate(topic).actor(&principal.actor);
        match &principal.tenant {
            Some(tenant) => debate.tenant(tenant),
            None => debate,
        }
    }

    /// The newest of the caller's debates that are asked for.
    pub async fn debates(
        &self,
        principal: &Principal,
        filter: DebateFilter,
    ) -> Result<Vec<DebateEntry>, Problem> {
        let filter = DebateFilter { tenant: Some(principal.tenant.clone()), ..filter };
        Ok(self.engine.debates(&filter).await?)
    }

    /// List the configured agents.
    pub fn agents(&self) -> &[Agent] {
        self.engine.agents()
    }

    /// The models that can be asked.
    pub fn models(&self) -> Vec<String> {
        self.engine.driver().parts().models.keys().cloned().collect()
    }
}
