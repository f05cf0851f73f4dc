//! What a server's tool handed back, as a result for the model.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use roundtable_core::tool::ToolResult;

use crate::fence::cut;

/// The result, with at most so many bytes of text. What is no text is named, not shown.
pub(super) fn result(result: CallToolResult, limit: usize) -> ToolResult {
    let mut text = String::new();
    for block in &result.content {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&shown(block));
        if text.len() > limit {
            break;
        }
    }
    // A server may answer with a value alone.
    let value = result.structured_content.filter(|value| value.to_string().len() <= limit);
    if let (true, Some(value)) = (text.is_empty(), &value) {
        text = value.to_string();
    }
    if text.len() > limit {
        text = format!("{}\n[truncated after {limit} bytes]", cut(&text, limit));
    }
    let success = result.is_error != Some(true);
    ToolResult { message: text, value, success }
}

fn shown(block: &ContentBlock) -> String {
    let left_out =
        |what: &str, kind: &str, size: usize| format!("[{what}, {kind}, {size} bytes, not shown]");
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => left_out("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => left_out("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                left_out("resource", uri, blob.len())
            }
            _ => "[resource, not shown]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}]", link.uri),
        _ => "[content of an unknown kind, not shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_told_and_the_rest_is_named() {
        let content = vec![
            ContentBlock::text("one"),
            ContentBlock::image("AAAA", "image/png"),
            ContentBlock::text("two"),
        ];
        let told = result(CallToolResult::success(content), 1000);
        assert_eq!(told, ToolResult::ok("one\n[image, image/png, 4 bytes, not shown]\ntwo"));
    }

    #[test]
    fn an_error_of_the_tool_is_a_failure_for_the_model() {
        let told = result(CallToolResult::error(vec![ContentBlock::text("no such file")]), 1000);
        assert_eq!(told, ToolResult::failed("no such file"));
    }

    #[test]
    fn f30_a_result_is_cut_between_characters() {
        let told = result(CallToolResult::success(vec![ContentBlock::text("é".repeat(100))]), 11);
        assert_eq!(told, ToolResult::ok("ééééé\n[truncated after 11 bytes]"));
        let large = CallToolResult::structured(json!({ "text": "x".repeat(100) }));
        assert_eq!(result(large, 50).value, None);
    }

    #[test]
    fn a_value_alone_is_told_as_json() {
        let mut only = CallToolResult::structured(json!({ "sum": 3 }));
        only.content.clear();
        assert_eq!(result(only, 50), ToolResult::ok("{\"sum\":3}").with_value(json!({ "sum": 3 })));
    }
}
