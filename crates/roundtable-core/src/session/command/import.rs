//! `import`: the record of a session that was held elsewhere, to be read.

use crate::event::{Body, ImportedSession, SessionEvent};
use crate::json;
use crate::program::Programs;
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};

impl Session {
    pub(crate) fn import_record(
        &self,
        imported: &ImportedSession,
        programs: &Programs,
    ) -> Result<Vec<Draft>, Reject> {
        if self.opened {
            return Err(Reject::Exists { session: self.id.clone() });
        }
        let invalid = |what: String| Reject::Invalid { what };
        json::check(&imported.data).map_err(|error| invalid(format!("the record is {error}")))?;
        let program = programs.find(&imported.program).ok_or_else(|| {
            invalid(format!("no program can import a record of kind {}", imported.program))
        })?;
        program.check_import(imported).map_err(invalid)?;
        let imported = SessionEvent::SessionImported(Box::new(imported.clone()));
        Ok(vec![(Place::session(), Body::Session(imported))])
    }
}
