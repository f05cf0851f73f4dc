//! The operations on sessions of any kind.

use http::Method;

use super::{act, change, provide, read, search};
use crate::operation::{Does, Operation};

pub(crate) fn operations() -> Vec<Operation> {
    let mut all = reading();
    all.extend(talking());
    all.extend(changing());
    all
}

fn reading() -> Vec<Operation> {
    vec![
        Operation::on_nothing("listSessions", Does::Reads, read::list)
            .http(Method::GET, "/api/sessions", "The sessions, newest first.")
            .frames("sessions"),
        Operation::on_nothing("searchMessages", Does::Reads, search::search)
            .http(
                Method::GET,
                "/api/search",
                "Finds messages in sessions of any kind: by words, by meaning, or by both. The best first.",
            )
            .frames("search"),
        Operation::on_session("getSession", Does::Reads, read::show)
            .http(Method::GET, "/api/sessions/{sessionId}", "A session of any kind.")
            .frames("session"),
        Operation::on_session("listIterations", Does::Reads, read::iterations)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/turns/{turnId}/iterations",
                "What happened in a turn.",
            )
            .frames("turn"),
        Operation::on_session("getIteration", Does::Reads, read::iteration).http(
            Method::GET,
            "/api/sessions/{sessionId}/turns/{turnId}/iterations/{number}",
            "What happened in an iteration.",
        ),
    ]
}

/// Those that have rounds run, with models.
fn talking() -> Vec<Operation> {
    vec![
        Operation::on_session("say", Does::Adds, act::say)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/messages",
                "Sends a message to a session. Its round opens when it is its turn; read the events for the answers.",
            )
            .frames("say"),
        Operation::on_session("continueSession", Does::Adds, act::go_on)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/continue",
                "Runs the next round of a session without a message.",
            )
            .frames("continue"),
        Operation::on_session("provideContext", Does::Adds, provide::provide)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/context-results",
                "Answers context requests. The first answer to each counts; the next round gets them. An approval needs decision approve or deny, an unknown outcome happened, did_not_happen or unknown; anything else is refused and changes nothing.",
            )
            .frames("provide"),
        Operation::on_session("regenerate", Does::Adds, act::regenerate)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/regenerate",
                "Runs the last round again. The earlier take is kept and can be selected.",
            )
            .frames("regenerate"),
        Operation::on_session("forkSession", Does::Adds, change::fork)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/fork",
                "Opens a session as a copy of this one up to the end of a round.",
            )
            .frames("fork"),
    ]
}

/// Those that change what a session is.
fn changing() -> Vec<Operation> {
    vec![
        Operation::on_session("stop", Does::Changes, change::stop)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/stop",
                "Cuts the running round off. What was said is kept, and the session goes on with the next message.",
            )
            .frames("stop"),
        Operation::on_session("pause", Does::Changes, change::pause)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/pause",
                "Opens no more rounds until the session is resumed. A running round is finished.",
            )
            .frames("pause"),
        Operation::on_session("resume", Does::Changes, change::resume)
            .http(Method::POST, "/api/sessions/{sessionId}/resume", "Resumes a paused session.")
            .frames("resume"),
        Operation::on_session("complete", Does::Changes, change::complete)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/complete",
                "Ends a session. A running round is cut off; what was said is kept.",
            )
            .frames("complete"),
        Operation::on_session("selectTake", Does::Changes, change::select_take)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/select-take",
                "Lets another take of a round count.",
            )
            .frames("select_take"),
        Operation::on_session("rewind", Does::Changes, change::rewind)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/rewind",
                "Lets the rounds from this one on no longer count. They are kept.",
            )
            .frames("rewind"),
        Operation::on_session("renameSession", Does::Changes, change::rename)
            .http(Method::POST, "/api/sessions/{sessionId}/rename", "Gives a session a title.")
            .frames("rename"),
        Operation::on_session("archiveSession", Does::Changes, change::archive)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/archive",
                "Puts a session into the archive, or takes it out.",
            )
            .frames("archive"),
        Operation::on_session("deleteSession", Does::Changes, change::delete)
            .http(
                Method::DELETE,
                "/api/sessions/{sessionId}",
                "Deletes a session for good. A running round is cut off, and its event streams end.",
            )
            .frames("delete"),
    ]
}
