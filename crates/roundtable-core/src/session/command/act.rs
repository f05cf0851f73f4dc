//! `act`: a caller wants something that only the program of the session knows.

use serde_json::Value;

use crate::json;
use crate::program::{AnyProgram, Folds};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session};
use crate::stage::Name;
use crate::window::Window;

impl Session {
    /// The same wish for the same round does nothing: what there is can be read.
    pub(crate) fn act(
        &self,
        name: &Name,
        data: &Value,
        window: &Window,
        program: &dyn AnyProgram,
    ) -> Result<Vec<Draft>, Reject> {
        json::check(data).map_err(|error| Reject::Invalid { what: error.to_string() })?;
        self.check_bytes("the request", data.to_string().len())?;
        let act = program.act(Folds { session: self, window }, name, data)?;
        let changed = act.state.and_then(|new| self.change(new));
        let mut drafts: Vec<Draft> =
            changed.map(|body| (Place::session(), body)).into_iter().collect();
        drafts.extend(self.open_asides(act.aside.as_slice()));
        Ok(drafts)
    }
}
