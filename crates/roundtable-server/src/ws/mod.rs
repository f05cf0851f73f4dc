//! WebSocket: JSON frames in both directions. It encodes the feed of sessions and calls the table of
//! operations; it knows nothing that another transport does not.

mod connection;
mod encode;
mod frame;
mod lanes;
mod pace;
mod request;
mod subscription;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use axum::routing::get;
use http::{Method, StatusCode};

use crate::access::Pass;
use crate::app::App;
use crate::auth::SUBPROTOCOL;
use crate::openapi::{Answer, Description, Param};
use crate::places::{Busy, Place};
use crate::problem::Problem;
use crate::routes::{Door, Route};
use connection::Connection;

/// By how much a frame may exceed the limit and still be answered with an error. A larger one is not
/// read to its end, so the connection ends.
const READ_AT_MOST: usize = 4;

pub(crate) fn routes() -> Vec<Route> {
    let what = "The subprotocol; browsers add the token: `roundtable.v1, bearer.<base64url>`.";
    vec![Route {
        method: Method::GET,
        path: "/ws",
        door: Door::Known,
        description: Description {
            id: "openSocket",
            what: "WebSocket with JSON frames for messages, subscriptions and operations. See \
                   docs/guides/websocket.md.",
            params: vec![Param::header("Sec-WebSocket-Protocol", what, 1024)],
            body: None,
            answer: Answer::Upgrade,
            problems: vec![(426, "The request is not a WebSocket upgrade.")],
        },
        handler: get(upgrade),
    }]
}

async fn upgrade(
    State(app): State<App>,
    Extension(pass): Extension<Pass>,
    place: Option<Extension<Arc<Place>>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| {
        let what = format!("this is the URL of a WebSocket; {}", rejection.body_text());
        Problem::new(StatusCode::UPGRADE_REQUIRED, "not_a_websocket", what)
    })?;
    let limit = app.limits.sockets.frame.saturating_mul(READ_AT_MOST);
    let upgrade = upgrade.protocols([SUBPROTOCOL]).max_message_size(limit).max_frame_size(limit);
    // The connection keeps its place, and the server waits for it when it stops.
    let busy = place.map(|Extension(place)| Busy::new(place));
    let open = app.open_sockets.token();
    Ok(upgrade.on_upgrade(move |socket| async move {
        Connection::new(app, pass).serve(socket).await;
        drop((busy, open));
    }))
}
