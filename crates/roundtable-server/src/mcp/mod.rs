//! The MCP server: the twelve tools of a debate, transcripts as resources, prompts for common uses.
//!
//! Sessions are explicit handles in arguments and answers. Nothing is kept here between two calls, so
//! a restart between them goes unnoticed.

mod elicit;
mod http;
mod progress;
mod prompts;
mod resources;
mod stdio;
mod tools;

use ::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::app::App;
use crate::auth::Principal;

pub(crate) use http::{McpService, Memory, routes, service};
pub use stdio::{serve_pipes, serve_stdio};
#[cfg(test)]
pub(crate) use tools::all as tools;

/// What a client's model is told of the server.
const INSTRUCTIONS: &str = "Roundtable runs debates among several AI agents. \
    start_roundtable asks a panel a question and runs one round; continue_roundtable runs the next one. \
    Follow status and nextStep of every answer. \
    When status is needs_context, answer the contextRequests of kind question (search, read files, ask the user) and pass contextResults to continue_roundtable. For approvals and unknown outcomes, follow nextStep. \
    When status is running, call continue_roundtable again with the afterRound that nextStep names. \
    get_consensus, get_round_details and synthesize_debate return details; export_session returns the minutes.";

/// The MCP server, for one connection or for one request.
#[derive(Clone)]
pub(crate) struct Mcp {
    app: App,
    /// Who calls, where the connection itself says so.
    caller: Option<Principal>,
}

impl Mcp {
    pub fn new(app: App, caller: Option<Principal>) -> Self {
        Self { app, caller }
    }

    /// Who calls: over HTTP that was found out before the request came here.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
        let told = context.extensions.get::<Parts>();
        let told = told.and_then(|parts| parts.extensions.get::<Principal>().cloned());
        told.or_else(|| self.caller.clone())
            .ok_or_else(|| ErrorData::invalid_request("missing or invalid bearer token", None))
    }
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("roundtable", env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("Roundtable".to_owned());
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        tools::call(&self.app, &caller, request, &context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        resources::list(&self.app, &caller, page.and_then(|page| page.cursor)).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        resources::read(&self.app, &caller, &request.uri).await.map(ReadResourceResponse::Complete)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::all())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request).map(GetPromptResponse::Complete)
    }
}
