//! How many files this process may have open. Systems start programs with a low limit, for the sake of
//! old ones, and let them raise it themselves.

/// Raises the limit of open files as far as the system lets this process, and says how many it may have
/// open; nothing where there is no limit, or none is known.
#[cfg(unix)]
pub(crate) fn raise() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let found = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: found.maximum, maximum: found.maximum };
    // A system that refuses leaves the limit as it was.
    let allowed = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => found.maximum,
        Err(_) => found.current,
    };
    allowed.and_then(|files| usize::try_from(files).ok())
}

/// The same where the system has no such limit.
#[cfg(not(unix))]
pub(crate) fn raise() -> Option<usize> {
    None
}
