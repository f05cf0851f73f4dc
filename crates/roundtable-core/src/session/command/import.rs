//! `import`: the record of a debate that was held elsewhere, to be read.

use crate::debate::Record;
use crate::event::{Body, SessionEvent};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};

impl Session {
    pub(crate) fn import(&self, record: &Record) -> Result<Vec<Draft>, Reject> {
        if self.opened {
            return Err(Reject::Exists { session: self.id.clone() });
        }
        record.check().map_err(|what| Reject::Invalid { what })?;
        let imported = SessionEvent::SessionImported(Box::new(record.clone()));
        Ok(vec![(Place::session(), Body::Session(imported))])
    }
}
