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
            .http(Method::GET, "/api/sessions", "List sessions, newest first.")
            .frames("sessions"),
        Operation::on_nothing("searchMessages", Does::Reads, search::search)
            .http(
                Method::GET,
                "/api/search",
                "Finds messages in sessions of any kind: by words, by meaning, or by both. The best first.",
            )
            .frames("search")
            .problem(404, "There is no such conversation, or it is not yours.")
            .problem(409, "Semantic search needs an embedder, and the server has none."),
        Operation::on_session("getSession", Does::Reads, read::show)
            .http(Method::GET, "/api/sessions/{sessionId}", "Get a session of any kind.")
            .frames("session"),
        Operation::on_session("listIterations", Does::Reads, read::iterations)
            .http(
                Method::GET,
                "/api/sessions/{sessionId}/turns/{turnId}/iterations",
                "Get the details of a turn.",
            )
            .frames("turn"),
        Operation::on_session("getIteration", Does::Reads, read::iteration).http(
            Method::GET,
            "/api/sessions/{sessionId}/turns/{turnId}/iterations/{number}",
            "Get the details of an iteration.",
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
                "Send a message to a session. Its round starts after the running one. Read the events to get the answers.",
            )
            .takes_files()
            .frames("say"),
        Operation::on_session("continueSession", Does::Adds, act::go_on)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/continue",
                "Run the next round of a session without a message.",
            )
            .frames("continue"),
        Operation::on_session("provideContext", Does::Adds, provide::provide)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/context-results",
                "Answer context requests. The first answer to each request counts and is passed to the next round. An approval needs the decision approve or deny. An unknown outcome needs happened, did_not_happen or unknown. Other answers are refused.",
            )
            .frames("provide"),
        Operation::on_session("regenerate", Does::Adds, act::regenerate)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/regenerate",
                "Run the last round again. The earlier take is kept and can be selected.",
            )
            .frames("regenerate"),
        Operation::on_session("forkSession", Does::Adds, change::fork)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/fork",
                "Create a copy of this session up to the end of a round.",
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
                "Stop the running round. Partial answers are kept, and the session continues with the next message.",
            )
            .frames("stop"),
        Operation::on_session("pause", Does::Changes, change::pause)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/pause",
                "Start no new rounds until the session is resumed. A running round finishes.",
            )
            .frames("pause"),
        Operation::on_session("resume", Does::Changes, change::resume)
            .http(Method::POST, "/api/sessions/{sessionId}/resume", "Resume a paused session.")
            .frames("resume"),
        Operation::on_session("complete", Does::Changes, change::complete)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/complete",
                "End a session. A running round is stopped. Partial answers are kept.",
            )
            .frames("complete"),
        Operation::on_session("selectTake", Does::Changes, change::select_take)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/select-take",
                "Select another take of a round.",
            )
            .frames("select_take"),
        Operation::on_session("rewind", Does::Changes, change::rewind)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/rewind",
                "Go back to the state before a round. The later rounds are kept as inactive.",
            )
            .frames("rewind"),
        Operation::on_session("renameSession", Does::Changes, change::rename)
            .http(Method::POST, "/api/sessions/{sessionId}/rename", "Set the title of a session.")
            .frames("rename"),
        Operation::on_session("archiveSession", Does::Changes, change::archive)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/archive",
                "Archive or unarchive a session.",
            )
            .frames("archive"),
        Operation::on_session("deleteSession", Does::Changes, change::delete)
            .http(
                Method::DELETE,
                "/api/sessions/{sessionId}",
                "Delete a session permanently. A running round is stopped, and event streams end.",
            )
            .frames("delete"),
    ]
}
