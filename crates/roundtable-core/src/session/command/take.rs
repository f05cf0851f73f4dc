//! `regenerate`, `rewind` and `select_take`: one mechanism, takes of a round that count or do not.

use crate::event::{Body, SessionEvent};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};

impl Session {
    pub(crate) fn regenerate(&self) -> Result<Vec<Draft>, Reject> {
        self.check_quiet()?;
        let active = self.marks.iter().filter(|mark| mark.active);
        let Some(mark) = active.max_by_key(|mark| mark.number) else {
            return Err(invalid("no round to run again; send a message first"));
        };
        Ok(vec![superseded(mark.number, mark.take, true)])
    }

    pub(crate) fn rewind(&self, number: u32) -> Result<Vec<Draft>, Reject> {
        self.check_quiet()?;
        let active = self.marks.iter().filter(|mark| mark.active);
        let doomed: Vec<Draft> = active
            .rev()
            .filter(|mark| mark.number >= number)
            .map(|mark| superseded(mark.number, mark.take, false))
            .collect();
        if !self.marks.iter().any(|mark| mark.active && mark.number == number) {
            let active = self.marks.iter().filter(|mark| mark.active);
            let Some(oldest) = active.map(|mark| mark.number).min() else {
                return Err(invalid("no round to go back to; send a message first"));
            };
            return Err(invalid(format!(
                "round {number} is not among rounds {oldest} to {}; fork the session there instead",
                self.last_number
            )));
        }
        Ok(doomed)
    }

    pub(crate) fn select_take(&self, number: u32, take: u32) -> Result<Vec<Draft>, Reject> {
        self.check_quiet()?;
        if self.marks.iter().any(|mark| mark.active && mark.number > number) {
            return Err(invalid(format!(
                "later rounds depend on round {number}; rewind to it, or fork there"
            )));
        }
        match self.marks.iter().find(|mark| mark.number == number && mark.take == take) {
            None => Err(invalid(format!("round {number} has no take {take}"))),
            Some(_) if number > self.last_number + 1 => Err(invalid(format!(
                "round {} is inactive; select one of its takes first",
                self.last_number + 1
            ))),
            Some(mark) if mark.active => Ok(Vec::new()),
            Some(_) => {
                let selected = SessionEvent::SessionTakeSelected { number, take };
                Ok(vec![(Place::session(), Body::Session(selected))])
            }
        }
    }

    /// What is past can be changed only while nothing is under way.
    fn check_quiet(&self) -> Result<(), Reject> {
        self.check_active()?;
        if let Some(round) = &self.round {
            return Err(Reject::Busy { round: round.number });
        }
        let missing: Vec<_> = self.required().cloned().collect();
        if !missing.is_empty() {
            return Err(Reject::ContextRequired { missing });
        }
        Ok(())
    }
}

pub(crate) fn superseded(number: u32, take: u32, redo: bool) -> Draft {
    (Place::session(), Body::Session(SessionEvent::SessionRoundSuperseded { number, take, redo }))
}

fn invalid(what: impl Into<String>) -> Reject {
    Reject::Invalid { what: what.into() }
}
