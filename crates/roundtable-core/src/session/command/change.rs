//! `change`: how a session is listed. It says nothing to the agents, so it is allowed at any time.

use crate::event::{Body, Change, SessionEvent};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};

/// How many characters a title may have.
pub const MAX_TITLE: usize = 200;

impl Session {
    /// What is so already is not recorded again.
    pub(crate) fn change_listing(&self, change: &Change) -> Result<Vec<Draft>, Reject> {
        let title = change.title.as_deref().map(checked).transpose()?;
        let change = Change {
            title: title.filter(|title| title != self.title()),
            archived: change.archived.filter(|archived| *archived != self.archived),
        };
        if change == Change::default() {
            return Ok(Vec::new());
        }
        Ok(vec![(Place::session(), Body::Session(SessionEvent::SessionChanged(change)))])
    }
}

/// A title on one line.
fn checked(title: &str) -> Result<String, Reject> {
    let title = title.trim();
    let length = title.chars().count();
    if (1..=MAX_TITLE).contains(&length) && !title.chars().any(char::is_control) {
        return Ok(title.to_owned());
    }
    let what =
        format!("a title must have 1 to {MAX_TITLE} characters on one line; this one has {length}");
    Err(Reject::Invalid { what })
}
