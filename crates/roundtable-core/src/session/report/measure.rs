//! It was measured how far a panel agrees.

use crate::debate::Measure;
use crate::event::{Body, RoundEvent};
use crate::id::RoundId;
use crate::reject::Reject;
use crate::session::{Draft, Session};

impl Session {
    /// A measure is recorded once. It ends the debate only where the debate is to end so, nobody waits
    /// for an answer of people, and the panel has heard all answers that it was given.
    pub(crate) fn measured(&self, id: &RoundId, measure: &Measure) -> Result<Vec<Draft>, Reject> {
        let open = self.round.as_ref().filter(|round| round.id == *id && self.wants_measure(round));
        let Some(round) = open else {
            return Err(Reject::Stale { what: format!("the measure of round {id}") });
        };
        let rules = self.settings.debate.as_ref();
        let wanted = rules.is_some_and(|rules| rules.exit_on_consensus);
        let may_end = wanted && self.required().next().is_none() && self.carried.is_empty();
        let measure = Measure { exit: measure.exit.filter(|_| may_end), ..measure.clone() };
        Ok(vec![(round.place(), Body::Round(RoundEvent::RoundMeasured(measure)))])
    }
}
