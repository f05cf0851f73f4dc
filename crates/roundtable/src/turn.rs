//! What happened in a turn, found by going through the log.

use roundtable_core::Live;
use roundtable_core::event::{Body, Event, TurnEvent};
use roundtable_core::id::{SessionId, TurnId};
use roundtable_core::program::Programs;
use roundtable_core::turn::Context;

/// Looks at every event of a session for the record of one turn.
pub(crate) struct TurnReading<'a> {
    turn: &'a TurnId,
    live: Live,
    ended: Option<Context>,
}

impl<'a> TurnReading<'a> {
    pub fn new(session: &SessionId, turn: &'a TurnId, programs: &Programs) -> Self {
        Self { turn, live: Live::new(session.clone(), programs), ended: None }
    }

    pub fn look(&mut self, event: &Event) {
        // The transcript lets go of a turn when it ends.
        let ends = matches!(event.body, Body::Turn(TurnEvent::TurnEnded { .. }));
        if ends && event.place.turn.as_ref() == Some(self.turn) {
            self.ended = self.known();
        }
        self.live.apply(event);
    }

    /// The turn's record; as far as it got, if it is still open.
    pub fn end(self) -> Option<Context> {
        let known = self.known();
        self.ended.or(known)
    }

    fn known(&self) -> Option<Context> {
        self.live.window.find_turn(self.turn).map(|record| record.context.clone())
    }
}
