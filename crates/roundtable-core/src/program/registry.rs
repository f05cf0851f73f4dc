//! The programs that a process has.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AnyProgram, Panel, Program};
use crate::session::Session;
use crate::stage::Name;

/// The programs that a process has, by name. There is always the panel.
#[derive(Clone)]
pub struct Programs(Arc<BTreeMap<Name, Arc<dyn AnyProgram>>>);

impl Default for Programs {
    fn default() -> Self {
        let panel: Arc<dyn AnyProgram> = Arc::new(Panel);
        Self(Arc::new(BTreeMap::from([(Panel::NAME, panel)])))
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys().map(Name::as_str)).finish()
    }
}

impl Programs {
    /// The same programs, and this one; it takes the place of another with its name.
    #[must_use]
    pub fn with<P: Program>(mut self, program: P) -> Self {
        Arc::make_mut(&mut self.0).insert(P::NAME, Arc::new(program));
        self
    }

    /// The name of the program that a session runs, when this process does not have it.
    pub fn missing<'a>(&self, session: &'a Session) -> Option<&'a Name> {
        let name = &session.settings.program.name;
        (!self.0.contains_key(name)).then_some(name)
    }

    pub(crate) fn find(&self, name: &Name) -> Option<&dyn AnyProgram> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// The program of a session. One that is missing is read as a panel, and cannot be driven.
    pub(crate) fn of(&self, session: &Session) -> &dyn AnyProgram {
        self.find(&session.settings.program.name).unwrap_or(&Panel)
    }
}
