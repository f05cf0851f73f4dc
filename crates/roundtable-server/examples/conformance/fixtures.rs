//! An MCP server with the suite's fixtures.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::content;

const TOOLS: [&str; 12] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "json_schema_2020_12_tool",
    "test_custom_headers",
    "test_headers",
    "test_logging_tool",
    "test_missing_capability",
];

#[derive(Clone)]
pub struct Fixtures;

type Page = Option<PaginatedRequestParams>;
type Context = RequestContext<RoleServer>;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .enable_prompts()
                .enable_completions()
                .build(),
        )
    }

    async fn list_tools(&self, _: Page, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.map(tool).to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.into_iter().find(|known| *known == name).map(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match request.name.as_ref() {
            "test_error_handling" => {
                let what = "This tool intentionally returns an error for testing";
                CallToolResult::error(vec![ContentBlock::text(what)])
            }
            "test_tool_with_progress" => progress(&context).await,
            "test_missing_capability" => {
                #[expect(deprecated, reason = "the suite asks for it")]
                let wanted = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(wanted));
            }
            name => match content::fixed(name) {
                Some(content) => CallToolResult::success(content),
                None => {
                    return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
                }
            },
        };
        Ok(result.into())
    }

    async fn list_resources(&self, _: Page, _: Context) -> Result<ListResourcesResult, ErrorData> {
        let resources = vec![
            Resource::new("test://static-text", "static-text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "static-binary").with_mime_type("image/png"),
        ];
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Page,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = content::resource(&request.uri);
        let uri = serde_json::json!({ "uri": request.uri });
        let found = found
            .ok_or_else(|| ErrorData::resource_not_found("there is no such resource", Some(uri)))?;
        Ok(ReadResourceResult::new(vec![found]).into())
    }

    async fn list_prompts(&self, _: Page, _: Context) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| {
            PromptArgument::new(name).with_description("an argument").with_required(true)
        };
        let prompt = |name: &str, arguments: &[&str]| {
            Prompt::new(
                name,
                Some("a prompt"),
                Some(arguments.iter().map(|name| argument(name)).collect()),
            )
        };
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = |name: &str| {
            let value =
                request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
            value.unwrap_or_default().to_owned()
        };
        let text = |text: &str| PromptMessage::new_text(Role::User, text);
        let messages = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let said = format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    given("arg1"),
                    given("arg2")
                );
                vec![text(&said)]
            }
            "test_prompt_with_embedded_resource" => {
                let inside = ResourceContents::text(
                    "Embedded resource content for testing.",
                    given("resourceUri"),
                );
                let resource = PromptMessage::new(Role::User, ContentBlock::resource(inside));
                vec![resource, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                let picture = ContentBlock::image(content::PNG, "image/png");
                vec![
                    PromptMessage::new(Role::User, picture),
                    text("Please analyze the image above."),
                ]
            }
            name => {
                return Err(ErrorData::invalid_params(format!("there is no prompt {name}"), None));
            }
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let fitting = ["paris", "park", "party"]
            .into_iter()
            .filter(|word| word.starts_with(&request.argument.value));
        let values = fitting.map(str::to_owned).collect();
        CompletionInfo::with_all_values(values)
            .map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, "a fixture of the conformance suite", content::schema(name))
}

async fn progress(context: &Context) -> CallToolResult {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let mut progress = ProgressNotificationParam::new(token, done);
            progress.total = Some(100.0);
            let _ = context.peer.notify_progress(progress).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    CallToolResult::success(vec![ContentBlock::text("done")])
}
