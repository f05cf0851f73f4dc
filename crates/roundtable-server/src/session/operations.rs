//! The operations on sessions of any kind.

use http::Method;

use super::{provide, read};
use crate::operation::{Does, Operation};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::on_nothing("listSessions", Does::Reads, read::list)
            .http(Method::GET, "/api/sessions", "The sessions, newest first.")
            .frames("sessions"),
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
        Operation::on_session("provideContext", Does::Adds, provide::provide)
            .http(
                Method::POST,
                "/api/sessions/{sessionId}/context-results",
                "Answers context requests. The first answer to each counts; the next round gets them. An approval needs decision approve or deny, an unknown outcome happened, did_not_happen or unknown; anything else is refused and changes nothing.",
            )
            .frames("provide"),
    ]
}
