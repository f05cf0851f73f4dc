//! What the fixtures answer, as the suite wants it.

use std::sync::Arc;

use rmcp::model::{ContentBlock, JsonObject, ResourceContents};
use serde_json::{Value, json};

/// A picture of one red point.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound of no length.
pub const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// The tools that answer with something fixed: name, and what.
pub fn fixed(name: &str) -> Option<Vec<ContentBlock>> {
    let text = |text: &str| ContentBlock::text(text);
    let picture = || ContentBlock::image(PNG, "image/png");
    Some(match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![picture()],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            let inside = ResourceContents::text(
                "This is an embedded resource content.",
                "test://embedded-resource",
            );
            vec![ContentBlock::resource(inside)]
        }
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let inside = ResourceContents::text(data, "test://mixed-content-resource")
                .with_mime_type("application/json");
            vec![text("Multiple content types test:"), picture(), ContentBlock::resource(inside)]
        }
        "test_custom_headers" | "test_headers" | "json_schema_2020_12_tool" => vec![text("ok")],
        _ => return None,
    })
}

/// The schemas of the tools that have more to say than that they are objects.
pub fn schema(name: &str) -> Arc<JsonObject> {
    let schema = match name {
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
        "test_custom_headers" => json!({
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "query": { "type": "string" },
            },
        }),
        _ => json!({ "type": "object", "properties": {} }),
    };
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// A resource; nothing when there is none.
pub fn resource(uri: &str) -> Option<ResourceContents> {
    if uri == "test://static-text" {
        return Some(ResourceContents::text(
            "This is the content of the static text resource.",
            uri,
        ));
    }
    if uri == "test://static-binary" {
        return Some(ResourceContents::blob(PNG, uri).with_mime_type("image/png"));
    }
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let data: Value =
        json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"))
}
