//! Turns that wait for the model of whoever calls. Nothing runs for them: that they wait is in the log,
//! for as long as it takes, and whichever process is there takes the answer.

use super::Session;
use crate::agent::HOST;
use crate::turn::Turn;

impl Session {
    /// The turns that wait for someone to bring them in, in the order in which they began.
    pub fn host_turns(&self) -> impl Iterator<Item = &Turn> {
        self.scopes().flat_map(|scope| &scope.turns).filter(|turn| self.waits_for_host(turn))
    }

    pub(crate) fn waits_for_host(&self, turn: &Turn) -> bool {
        turn.awaits_model() && self.find_agent(&turn.agent).is_some_and(|agent| agent.model == HOST)
    }
}
