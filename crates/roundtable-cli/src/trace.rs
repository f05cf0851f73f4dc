//! A log as lines for people: what happened, inside what.

use std::collections::BTreeMap;

use roundtable::core::event::{Body, Event, TurnEvent};
use roundtable::core::id::{ToolCallId, TurnId};

/// How deep a turn lies that is a seat of its round.
const SEAT: usize = 2;

/// The lines of a log, which has to be read from its first event on.
#[derive(Default)]
pub(crate) struct Trace {
    /// The turns so far, and how deep each lies.
    depths: BTreeMap<TurnId, usize>,
    /// How deep the tool calls lie: a turn that one of them waits for lies inside it.
    calls: BTreeMap<ToolCallId, usize>,
}

impl Trace {
    /// The line of the next event. Turns are counted, so that people can name them.
    pub fn line(&mut self, event: &Event) -> String {
        if let (Body::Turn(TurnEvent::TurnStarted { task, .. }), Some(turn)) =
            (&event.body, &event.place.turn)
        {
            let inside = task.tool_call().and_then(|call| self.calls.get(call));
            self.depths.insert(turn.clone(), inside.map_or(SEAT, |depth| depth + 1));
            let number = self.depths.len();
            return format!("{} (turn {number}, {turn})\n", self.plain_line(event));
        }
        format!("{}\n", self.plain_line(event))
    }

    fn plain_line(&mut self, event: &Event) -> String {
        let depth = self.depth(event);
        format!("{:>4}  {:indent$}{}", event.seq.0, "", event.body, indent = 2 * depth)
    }

    fn depth(&mut self, event: &Event) -> usize {
        let place = &event.place;
        let Some(turn) = &place.turn else { return usize::from(place.round.is_some()) };
        let turn = self.depths.get(turn).copied().unwrap_or(SEAT);
        match (&place.iteration, &place.tool_call) {
            (None, _) => turn,
            (Some(_), None) => turn + 1,
            (Some(_), Some(call)) => {
                self.calls.insert(call.clone(), turn + 2);
                turn + 2
            }
        }
    }
}
