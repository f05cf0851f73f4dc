//! The table of operations. Routes, the description of the HTTP API and the tools of the MCP server
//! are made of it; a new endpoint is one row here and one function.

use std::sync::LazyLock;

use crate::operation::{Operation, Transport};
use crate::problem::Problem;
use crate::{chat, debate, session};

static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let all = [session::operations(), chat::operations(), debate::operations()];
    all.into_iter().flatten().collect()
});

/// All operations.
pub(crate) fn all() -> &'static [Operation] {
    &ALL
}

/// The operation that a caller names over a transport.
pub(crate) fn find(transport: Transport, name: &str) -> Result<&'static Operation, Problem> {
    let found = all().iter().find(|operation| operation.name_on(transport) == Some(name));
    found.ok_or_else(|| {
        let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        Problem::bad_request("unknown_operation", format!("unknown operation: {name}"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use roundtable::Engine;
    use roundtable::models::scripted::{Script, ScriptedModel};
    use serde_json::{Map, Value};

    use super::*;
    use crate::app::App;
    use crate::auth::Principal;
    use crate::debate::{Caller, Silent};
    use crate::operation::{Call, SESSION, Target};

    const ALL_TRANSPORTS: [Transport; 4] =
        [Transport::Http, Transport::Mcp, Transport::WebSocket, Transport::SocketIo];

    /// An app with a session of one tenant, and its id.
    async fn anns() -> (App, Engine, String) {
        let model = ScriptedModel::new(Script::default());
        let engine = Engine::builder().custom_model("scripted", model).build().await.unwrap();
        let debate = engine.debate("canary").agent("Ada").agent("Bo").tenant("ann");
        let id = debate.start().await.unwrap().id().to_string();
        (App::of(engine.clone()), engine, id)
    }

    async fn call(app: &App, operation: &Operation, session: &str) -> Result<Value, Problem> {
        let bob = Principal { actor: "bob".to_owned(), tenant: Some("bob".to_owned()) };
        let call = Call::new(app.clone(), bob, Caller::Http, Arc::new(Silent::default()));
        let fields = Map::from_iter([(SESSION.to_owned(), session.into())]);
        operation.call(call, operation.envelope(None, fields)).await?.into_value()
    }

    #[tokio::test]
    async fn s01_no_name_on_any_transport_leads_to_another_tenants_session() {
        let (app, engine, session) = anns().await;
        for transport in ALL_TRANSPORTS {
            for name in all().iter().filter_map(|operation| operation.name_on(transport)) {
                let operation = find(transport, name).unwrap();
                let answer = call(&app, operation, &session).await;
                match operation.target {
                    Target::Session => {
                        let nobodys = call(&app, operation, "ses_nobody").await.unwrap_err();
                        let problem = answer.unwrap_err();
                        assert_eq!(problem.body.reason, "not_found", "{name}: {problem:?}");
                        let error = nobodys.body.error.replace("ses_nobody", &session);
                        assert_eq!(problem.body.error, error, "{name}");
                    }
                    // A session that is not asked for is an unknown field.
                    Target::Nothing => {
                        assert_eq!(answer.unwrap_err().body.reason, "invalid", "{name}");
                    }
                }
            }
        }
        engine.shutdown().await;
    }

    #[test]
    fn a_name_that_is_not_in_the_table_is_refused_on_every_transport() {
        for transport in ALL_TRANSPORTS {
            for name in ["", "getEverything", "say\0", "../say"] {
                let refused = find(transport, name).err().map(|problem| problem.body.reason);
                assert_eq!(refused.as_deref(), Some("unknown_operation"), "{transport:?} {name}");
            }
        }
    }
}
