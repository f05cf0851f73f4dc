//! The description of the HTTP API, OpenAPI 3.1, made of the table of routes. Its schemas are JSON
//! Schema, so the types' own are used as they are.

use http::Method;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::openai;
use crate::problem::ProblemBody;
use crate::routes::{self, Door, Route};
use crate::schema::ID;

/// A type's schema.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub(crate) fn schema_of<T: JsonSchema>() -> SchemaOf {
    |generator| generator.subschema_for::<T>()
}

/// What a route answers when all goes well.
pub(crate) enum Answer {
    /// JSON.
    Json(SchemaOf),
    /// JSON, now or when a round is over.
    Round(SchemaOf),
    /// Server-sent events; nothing more when there is nothing more to come.
    Events,
    /// A WebSocket.
    Upgrade,
    /// The bytes of a file.
    Bytes,
}

/// A parameter in the path, the query or a header.
pub(crate) struct Param {
    pub name: String,
    pub place: &'static str,
    pub what: String,
    pub schema: Value,
    required: bool,
}

impl Param {
    fn new(name: &str, place: &'static str, what: impl Into<String>, schema: Value) -> Self {
        let required = place == "path";
        Self { name: name.to_owned(), place, what: what.into(), schema, required }
    }

    /// A part of the path that is an id.
    pub fn id(name: &str, what: impl Into<String>) -> Self {
        let schema =
            json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "maxLength": ID });
        Self::new(name, "path", what, schema)
    }

    /// A part of the path.
    pub fn path(name: &str, what: impl Into<String>, schema: Value) -> Self {
        Self::new(name, "path", what, schema)
    }

    /// A part of the path that is a number, from 1.
    pub fn number(name: &str, what: impl Into<String>) -> Self {
        let schema = json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
        Self::new(name, "path", what, schema)
    }

    pub fn query(name: &str, what: impl Into<String>, schema: Value) -> Self {
        Self::new(name, "query", what, schema)
    }

    pub fn header(name: &str, what: impl Into<String>, limit: usize) -> Self {
        Self::new(name, "header", what, json!({ "type": "string", "maxLength": limit }))
    }

    /// The same, required or not.
    #[must_use]
    pub fn required(self, required: bool) -> Self {
        Self { required, ..self }
    }

    fn describe(&self) -> Value {
        json!({
            "name": self.name,
            "in": self.place,
            "description": self.what,
            "required": self.required,
            "schema": self.schema,
        })
    }
}

/// What there is to know of a route.
pub(crate) struct Description {
    pub id: &'static str,
    pub what: &'static str,
    pub params: Vec<Param>,
    pub body: Option<SchemaOf>,
    pub answer: Answer,
    /// What else can come of it, besides what can come of every route.
    pub problems: Vec<(u16, &'static str)>,
}

/// How schemas are made for others: without formats that only Rust knows, which make clients in
/// other languages complain.
pub(crate) fn schema_settings() -> SchemaSettings {
    let own = ["uint", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float", "double"];
    let strip = move |schema: &mut Schema| {
        if schema.get("format").and_then(Value::as_str).is_some_and(|format| own.contains(&format))
        {
            schema.remove("format");
        }
    };
    SchemaSettings::draft2020_12().with_transform(RecursiveTransform(strip))
}

/// The whole description.
pub(crate) fn document() -> Value {
    let settings = schema_settings().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes::all() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = describe(&route, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Roundtable",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Durable conversations among several LLM agents.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn describe(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let operation = &route.description;
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.what,
        "parameters": operation.params.iter().map(Param::describe).collect::<Vec<_>>(),
        "responses": responses(route, generator),
    });
    if route.door == Door::Known {
        described["security"] = json!([{}, { "token": [] }]);
    }
    if let Some(body) = operation.body {
        let content = json!({ "application/json": { "schema": body(generator) } });
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let problem = match route.path.starts_with(openai::BELOW) {
        true => generator.subschema_for::<openai::ErrorBody>(),
        false => generator.subschema_for::<ProblemBody>(),
    };
    let problem = json!({ "application/json": { "schema": problem } });
    let mut responses = match route.description.answer {
        Answer::Json(schema) => {
            let content = json!({ "application/json": { "schema": schema(generator) } });
            json!({ "200": { "description": "The result.", "content": content } })
        }
        Answer::Round(schema) => {
            let content = json!({ "application/json": { "schema": schema(generator) } });
            json!({
                "200": { "description": "The result.", "content": content },
                "202": { "description": "The round is still running.", "content": content },
            })
        }
        Answer::Events => json!({
            "200": {
                "description": "Server-sent events.",
                "content": { "text/event-stream": { "schema": { "type": "string" } } },
            },
            "204": { "description": "The session is over, and you have received all events." },
        }),
        Answer::Bytes => json!({
            "200": {
                "description": "The file, as a download.",
                "content": { "*/*": { "schema": { "type": "string", "format": "binary" } } },
            },
        }),
        Answer::Upgrade => json!({ "101": { "description": "A WebSocket with JSON frames." } }),
    };
    let bodies: &[(u16, &str)] =
        &[(413, "The request body is too large."), (415, "The content type is not JSON.")];
    let bodies = if route.method == Method::POST { bodies } else { &[] };
    let known: &[(u16, &str)] = &[(401, "Missing or invalid bearer token.")];
    let known = if route.door == Door::Known { known } else { &[] };
    let always = [
        (403, "The host or the origin is not allowed."),
        (503, "The server is stopping, or the store is unavailable."),
    ];
    let all = route.description.problems.iter().chain(bodies).chain(known).chain(&always);
    for (status, what) in all {
        responses[status.to_string()] = json!({ "description": what, "content": problem });
    }
    responses
}
