//! A tool is about to run, is done, or has something to tell.

use serde_json::Value;

use super::model::failed;
use crate::event::{Body, ToolCallEvent};
use crate::id::ToolCallId;
use crate::input::{Env, Ran};
use crate::json;
use crate::reject::Reject;
use crate::round::Round;
use crate::session::close::finished;
use crate::session::{Draft, Session};
use crate::tool::ToolOutcome;
use crate::tool_call::{Phase, ToolCall};
use crate::turn::Turn;

impl Session {
    /// Asked again right before the start: while this call waited, an equal one may have ended in
    /// doubt.
    pub(crate) fn effect_begins(&self, id: &ToolCallId) -> Result<Vec<Draft>, Reject> {
        let (_, _, call) = self.open_call_of(id)?;
        let Some(place) = self.place_of_call(id).filter(|_| call.wants_own_start()) else {
            return Err(stale(id));
        };
        Ok(match self.check_doubt(&call.name, &call.action) {
            Ok(()) => self.started(call).into_iter().collect(),
            Err(why) => vec![(place, failed(why))],
        })
    }

    /// The start of a call, as an event.
    pub(crate) fn started(&self, call: &ToolCall) -> Option<Draft> {
        let place = self.place_of_call(&call.id)?;
        Some((place, Body::ToolCall(ToolCallEvent::ToolCallStarted { attempt: call.attempts + 1 })))
    }

    pub(crate) fn tool_ran(
        &self,
        id: &ToolCallId,
        attempt: u32,
        ran: &Ran,
        env: &Env,
    ) -> Result<Vec<Draft>, Reject> {
        let (round, turn, call) = self.running_call(id)?;
        if call.attempts != attempt {
            return Err(stale(id));
        }
        let Some(place) = self.place_of_call(id) else { return Err(stale(id)) };
        let mut drafts = Vec::new();
        self.close_children(round, call, env, &mut drafts);
        match ran {
            Ran::Returned(result) => {
                let most = self.settings.max_message_bytes as usize;
                drafts.push((place, finished(ToolOutcome::Returned(result.clone().bounded(most)))))
            }
            Ran::CutOff(why) if call.may_have_happened() => {
                self.doubt(turn, call, why, env, &mut drafts)
            }
            Ran::Refused(why) | Ran::CutOff(why) => drafts.push((place, failed(why.clone()))),
        }
        Ok(drafts)
    }

    /// A handler that runs again publishes the same things again: only new ones are noted.
    pub(crate) fn publish(
        &self,
        id: &ToolCallId,
        ordinal: u32,
        topic: &str,
        data: &Value,
    ) -> Result<Vec<Draft>, Reject> {
        let (_, _, call) = self.running_call(id)?;
        let Some(place) = self.place_of_call(id) else { return Err(stale(id)) };
        if ordinal <= call.published {
            return Ok(Vec::new());
        }
        json::check(data)
            .map_err(|error| Reject::Invalid { what: format!("the published data is {error}") })?;
        self.check_bytes("the published data", topic.len() + data.to_string().len())?;
        let published = ToolCallEvent::ToolCallPublished {
            ordinal,
            topic: topic.to_owned(),
            data: data.clone(),
        };
        Ok(vec![(place, Body::ToolCall(published))])
    }

    pub(crate) fn running_call(
        &self,
        id: &ToolCallId,
    ) -> Result<(&Round, &Turn, &ToolCall), Reject> {
        let (round, turn, call) = self.open_call_of(id)?;
        match call.phase {
            Phase::Started { .. } => Ok((round, turn, call)),
            Phase::Ready
            | Phase::AwaitingApproval(_)
            | Phase::AwaitingAnswer(_)
            | Phase::Finished => Err(stale(id)),
        }
    }

    fn open_call_of(&self, id: &ToolCallId) -> Result<(&Round, &Turn, &ToolCall), Reject> {
        self.find_call(id).ok_or_else(|| stale(id))
    }
}

pub(crate) fn stale(id: &ToolCallId) -> Reject {
    Reject::Stale { what: format!("tool call {id}") }
}
