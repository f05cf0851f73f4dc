//! `stop`, `pause`, `resume` and `complete`.

use crate::event::{Body, SessionEvent};
use crate::input::Env;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session, Status};

impl Session {
    pub(crate) fn check_active(&self) -> Result<(), Reject> {
        match self.status {
            Status::Active => Ok(()),
            Status::Paused => {
                Err(Reject::NotActive { status: "paused".into(), hint: "resume it first".into() })
            }
            Status::Completed => Err(Reject::NotActive {
                status: "completed".into(),
                hint: "open another session, or fork this one".into(),
            }),
        }
    }

    /// Stopping when nothing runs is not an error: the caller wanted it quiet, and it is.
    pub(crate) fn stop(&self, env: &Env) -> Result<Vec<Draft>, Reject> {
        let mut drafts = Vec::new();
        self.close_round(env, &mut drafts);
        Ok(drafts)
    }

    pub(crate) fn pause(&self) -> Result<Vec<Draft>, Reject> {
        self.check_active()?;
        Ok(vec![draft(SessionEvent::SessionPaused)])
    }

    pub(crate) fn resume(&self) -> Result<Vec<Draft>, Reject> {
        match self.status {
            Status::Paused => Ok(vec![draft(SessionEvent::SessionResumed)]),
            Status::Active => Err(Reject::Invalid {
                what: "only a paused session can be resumed; this one is active".to_owned(),
            }),
            Status::Completed => self.check_active().map(|()| Vec::new()),
        }
    }

    pub(crate) fn complete(&self, reason: &str, env: &Env) -> Result<Vec<Draft>, Reject> {
        if self.status == Status::Completed {
            self.check_active()?;
        }
        let mut drafts = Vec::new();
        self.close_round(env, &mut drafts);
        drafts.extend(self.drop_waiting());
        drafts.push(draft(SessionEvent::SessionCompleted { reason: reason.to_owned() }));
        Ok(drafts)
    }

    /// An acknowledged input never vanishes silently: the log says that it opens no round.
    pub(crate) fn drop_waiting(&self) -> impl Iterator<Item = Draft> {
        self.waiting.iter().map(|waiting| {
            draft(SessionEvent::SessionInputDropped {
                message_id: waiting.context.message_id().to_owned(),
                withdrawn: false,
            })
        })
    }
}

fn draft(event: SessionEvent) -> Draft {
    (Place::session(), Body::Session(event))
}
