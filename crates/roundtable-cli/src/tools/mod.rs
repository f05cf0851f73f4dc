//! `roundtable tools`: what agents can use, and what waits for approval.

mod approve;

use std::process::ExitCode;

use roundtable::core::tool::{Effect, ToolDecl};
use roundtable::tools::mcp::{Definition, Finding, Report, Withheld};
use serde_json::{Value, json};

use crate::config::{Config, Toolbox};
use crate::out;

/// How much of a description is shown.
const SHOWN: usize = 200;

/// What to do with the tools.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print every tool as a line of JSON, and nothing else.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show the whole definitions of an MCP server's tools that wait, and approve them
    Approve(approve::Options),
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let text = match &options.command {
        None => list(config, options.json).await?,
        Some(Command::Approve(approval)) => approve::run(config, approval, options.json).await?,
    };
    out::put(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn list(config: &Config, json: bool) -> anyhow::Result<String> {
    let toolbox = config.toolbox(|_| true).await?;
    let (tools, reports) = (declared(&toolbox), toolbox.reports());
    toolbox.shutdown().await;
    Ok(if json {
        let tools = tools.iter().map(|tool| format!("{}\n", tool_json(tool)));
        tools.chain(reports.iter().map(|report| format!("{}\n", report_json(report)))).collect()
    } else {
        let tools = tools.iter().map(tool_line);
        out::plain(&tools.chain(reports.iter().map(report_lines)).collect::<String>())
    })
}

/// All tools, the core's own among them.
fn declared(toolbox: &Toolbox) -> Vec<ToolDecl> {
    let mut tools: Vec<ToolDecl> = toolbox.tools().iter().map(|tool| tool.declare()).collect();
    tools.extend([ToolDecl::ask(), ToolDecl::delegate(), ToolDecl::request_context()]);
    tools.sort_by(|a, b| (source(&a.name), &a.name).cmp(&(source(&b.name), &b.name)));
    tools
}

/// Where a tool comes from: a server, or nothing for a built-in one.
fn source(name: &str) -> Option<&str> {
    name.split_once("__").map(|(server, _)| server)
}

fn tool_line(tool: &ToolDecl) -> String {
    let source = source(&tool.name).map_or("built in".to_owned(), |server| format!("MCP {server}"));
    let approval = if tool.approval { "asks before each call" } else { "no approval needed" };
    format!("{:28}  {source:14}  {:10}  {approval}\n", tool.name, effect(tool.effect))
}

fn tool_json(tool: &ToolDecl) -> Value {
    json!({
        "tool": tool.name, "server": source(&tool.name), "effect": tool.effect,
        "approval": tool.approval, "offered": true,
    })
}

fn report_lines(report: &Report) -> String {
    let Finding::Withheld { why, .. } = &report.finding else { return format!("{report}\n") };
    let details = match why {
        Withheld::New { offered } => definition("  says: ", offered),
        Withheld::Changed { approved, offered } => {
            format!("{}{}", definition("  was: ", approved), definition("  now: ", offered))
        }
        Withheld::Unusable { .. } => return format!("{report}\n"),
    };
    let server = &report.server;
    format!("{report}\n{details}  review and approve: roundtable tools approve {server}\n")
}

fn definition(label: &str, definition: &Definition) -> String {
    let words = out::line(&definition.description, SHOWN);
    let schema = out::line(&definition.schema.to_string(), SHOWN);
    format!("{label}{words} ({}) {schema}\n", effect(definition.effect))
}

fn report_json(report: &Report) -> Value {
    let tool = match &report.finding {
        Finding::Withheld { tool, .. } | Finding::Gone { tool } => {
            Some(format!("{}__{tool}", report.server))
        }
        Finding::Misconfigured { .. } | Finding::Unreachable { .. } => None,
    };
    json!({
        "tool": tool, "server": report.server, "offered": false, "why": report.to_string(),
        "definition": offered(report), "digest": report.approval_digest(),
    })
}

/// What a server offers and nobody has approved.
fn offered(report: &Report) -> Option<&Definition> {
    match &report.finding {
        Finding::Withheld {
            why: Withheld::New { offered } | Withheld::Changed { offered, .. },
            ..
        } => Some(offered),
        _ => None,
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => "pure",
        Effect::Idempotent => "idempotent",
        Effect::Effectful => "effectful",
    }
}
