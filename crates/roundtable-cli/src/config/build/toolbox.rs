//! Tools: the built-in ones, and those of MCP servers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use roundtable::backend::prepare_directory;
use roundtable::core::tool::ToolDecl;
use roundtable::driver::SystemClock;
use roundtable::models::Secret;
use roundtable::ports::DynTool;
use roundtable::tools::mcp::{self, Finding, McpServer, PinFile, Report, Sources, Transport};
use roundtable::tools::{FetchUrl, builtin, fetch_url};

use super::super::file::{Approval, Mcp};
use super::{Config, tell};

/// The tools that there are, and the servers behind them.
pub(crate) struct Toolbox {
    tools: Vec<Arc<dyn DynTool>>,
    sources: Sources,
}

impl Toolbox {
    /// All tools that a handler runs.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.iter().cloned().chain(self.sources.tools()).collect()
    }

    /// A tool, as a session records it.
    pub fn declare(&self, name: &str) -> Option<ToolDecl> {
        match name {
            "request_context" => Some(ToolDecl::request_context()),
            "delegate" => Some(ToolDecl::delegate()),
            "ask" => Some(ToolDecl::ask()),
            _ => self.tools().iter().map(|tool| tool.declare()).find(|tool| tool.name == name),
        }
    }

    /// What the operator should know of the servers.
    pub fn reports(&self) -> Vec<Report> {
        self.sources.reports()
    }

    /// Why a tool of a server is not there, and what to do.
    pub fn why_not(&self, name: &str) -> Option<String> {
        let (server, tool) = name.split_once("__")?;
        let reports = self.reports();
        let about = reports.iter().filter(|report| report.server == server);
        let found = about.clone().find(|report| match &report.finding {
            Finding::Withheld { tool: withheld, .. } => withheld == tool,
            Finding::Gone { tool: gone } => gone == tool,
            Finding::Misconfigured { .. } | Finding::Unreachable { .. } => true,
        });
        match found {
            Some(report) if matches!(report.finding, Finding::Withheld { .. }) => Some(format!(
                "{report}; review it with `roundtable tools`, approve it with `roundtable tools approve {server}`"
            )),
            Some(report) => Some(report.to_string()),
            None => Some(format!(
                "the MCP server \"{server}\" has no tool \"{tool}\"; see `roundtable tools`"
            )),
        }
    }

    /// Ends the servers.
    pub async fn shutdown(&self) {
        self.sources.shutdown().await;
    }
}

impl Config {
    /// The built-in tools, and those of the servers that are wanted.
    pub async fn toolbox(&self, wanted: impl Fn(&str) -> bool) -> Result<Toolbox> {
        let mut tools = builtin(Arc::new(SystemClock));
        if self.file.tools.fetch_url.enabled {
            tools.push(Arc::new(FetchUrl::new(fetch_url::Config::default())?));
        }
        let wanted = self.file.mcp.iter().filter(|(name, _)| wanted(name));
        let servers: Vec<McpServer> = wanted.map(|(name, entry)| server(name, entry)).collect();
        let pins = self.pins().load().context("cannot read the approved tools")?;
        Ok(Toolbox { tools, sources: mcp::connect(servers, &pins).await })
    }

    /// Approves the definitions of these reports, and no others.
    pub fn approve(&self, reports: &[&Report]) -> Result<()> {
        tell(&prepare_directory(&self.data_dir)?);
        let mut pins = self.pins().load().context("cannot read the approved tools")?;
        for report in reports {
            pins.approve(report);
        }
        self.pins().store(&pins).context("cannot store the approved tools")
    }

    /// The MCP servers of the file.
    pub fn servers(&self) -> impl Iterator<Item = &String> {
        self.file.mcp.keys()
    }

    fn pins(&self) -> PinFile {
        PinFile::in_directory(&self.data_dir)
    }
}

pub(in super::super) fn server(name: &str, entry: &Mcp) -> McpServer {
    let revealed = |(name, secret): (&String, &Secret)| (name.clone(), secret.reveal().to_owned());
    let transport = match (&entry.command, &entry.url) {
        (Some(command), _) => Transport::Stdio {
            command: command.clone(),
            args: entry.args.clone(),
            env: entry.env.iter().map(revealed).collect(),
            directory: entry.directory.clone(),
        },
        (None, url) => Transport::Http {
            url: url.clone().unwrap_or_default(),
            headers: entry.headers.iter().map(revealed).collect(),
        },
    };
    let usual = McpServer::new(name, transport);
    McpServer {
        approval: match entry.approval {
            Approval::Effectful => mcp::Approval::Effectful,
            Approval::Always => mcp::Approval::Always,
            Approval::Never => mcp::Approval::Never,
        },
        timeout: entry.timeout_ms.map_or(usual.timeout, Duration::from_millis),
        start_timeout: entry.start_timeout_ms.map_or(usual.start_timeout, Duration::from_millis),
        ..usual
    }
}
