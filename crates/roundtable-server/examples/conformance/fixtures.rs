//! An MCP server with the suite's fixtures.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::input::States;
use crate::listen::Changes;
use crate::{ask, content, input, listen, task};

const TOOLS: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "json_schema_2020_12_tool",
    "test_custom_headers",
    "test_headers",
    "test_missing_capability",
];

/// The fixtures. All clones are one.
#[derive(Clone, Default)]
pub struct Fixtures {
    tasks: TaskManager,
    states: States,
    changes: Changes,
    watched: Arc<Mutex<BTreeSet<String>>>,
    /// Whether clients of the older era can be asked something: their answers need a session of the
    /// transport to find their way back.
    sessions: bool,
}

impl Fixtures {
    pub fn new(sessions: bool) -> Self {
        Self { sessions, ..Self::default() }
    }
}

type Page = Option<PaginatedRequestParams>;
type Context = RequestContext<RoleServer>;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_logging()
            .enable_tasks();
        ServerConfig::new(capabilities.build())
    }

    async fn list_tools(&self, _: Page, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(names().map(tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        names().find(|known| *known == name).map(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = context.client_capabilities();
        let result = match request.name.as_ref() {
            name if input::TOOLS.contains(&name) => {
                return input::call(&self.states, &request, client);
            }
            name if task::TOOLS.contains(&name) => {
                return task::call(&self.tasks, &self.states, &request, client).await;
            }
            name if listen::TOOLS.contains(&name) => {
                self.changes.change(name);
                CallToolResult::success(vec![ContentBlock::text("changed")])
            }
            name if ask::NEED_A_SESSION.contains(&name) && !self.sessions => {
                let what = "without a session nobody's answer would find its way back";
                return Err(ErrorData::invalid_request(what, None));
            }
            name if ask::TOOLS.contains(&name) => {
                ask::call(name, &request.arguments.unwrap_or_default(), &context).await?
            }
            "test_error_handling" => {
                let what = "This tool intentionally returns an error for testing";
                CallToolResult::error(vec![ContentBlock::text(what)])
            }
            "test_missing_capability" => {
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

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        // Nothing is logged that anyone could want to leave out.
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.tell(context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.watched.lock().unwrap().insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.watched.lock().unwrap().remove(&request.uri);
        Ok(())
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
            prompt(input::PROMPT, &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == input::PROMPT {
            return Ok(input::prompt(&request));
        }
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

fn names() -> impl Iterator<Item = &'static str> {
    let old = TOOLS.into_iter().chain(ask::TOOLS);
    old.chain(input::TOOLS).chain(task::TOOLS).chain(listen::TOOLS)
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, "a fixture of the conformance suite", content::schema(name))
}
