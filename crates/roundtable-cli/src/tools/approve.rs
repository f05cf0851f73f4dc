//! `roundtable tools approve`: shows whole definitions, and approves those that were shown.

use anyhow::bail;
use roundtable::core::digest::Digest;
use roundtable::tools::mcp::{Definition, Finding, Report, Withheld};

use super::{effect, offered, report_json};
use crate::config::Config;
use crate::{out, prompt};

/// What is approved.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The server.
    server: String,
    /// Approve without asking what was shown with this digest, of a tool or of all; repeatable
    #[arg(long, value_name = "SHA256")]
    digest: Vec<String>,
}

pub(super) async fn run(config: &Config, options: &Options, json: bool) -> anyhow::Result<String> {
    let server = options.server.as_str();
    check_name(config, server)?;
    let waiting = waiting(config, server).await?;
    if waiting.is_empty() {
        return Ok(if json {
            String::new()
        } else {
            format!("No tools of \"{server}\" need approval.\n")
        });
    }
    if options.digest.is_empty() {
        if json {
            bail!(
                "--json does not ask for confirmation; pass each digest from `roundtable tools \
                 --json` with --digest"
            );
        }
        return ask(config, server, &waiting).await;
    }
    let chosen = chosen(server, &waiting, &options.digest)?;
    config.approve(&chosen)?;
    Ok(if json {
        chosen.iter().map(|report| format!("{}\n", report_json(report))).collect()
    } else {
        chosen.iter().map(|report| approved(report)).collect()
    })
}

/// Shows everything, asks, and looks whether it still holds before it is approved.
async fn ask(config: &Config, server: &str, shown: &[Report]) -> anyhow::Result<String> {
    out::put(&out::visible(&shown.iter().map(whole).collect::<String>()))?;
    let all = digest_of_all(shown);
    out::put(&format!("SHA-256 of all {}: {}\n", shown.len(), all.as_str()))?;
    if !prompt::agrees("Approve all tools shown above?")? {
        bail!(
            "nothing was approved; approve with `{}`",
            config.command(&format!("tools approve {server} --digest {}", all.as_str()))
        );
    }
    if digest_of_all(&waiting(config, server).await?) != all {
        bail!(
            "the tools of \"{server}\" changed in the meantime; nothing was approved. Run the \
             command again to review them."
        );
    }
    config.approve(&shown.iter().collect::<Vec<_>>())?;
    Ok(shown.iter().map(approved).collect())
}

fn check_name(config: &Config, server: &str) -> anyhow::Result<()> {
    if config.servers().any(|known| known == server) {
        return Ok(());
    }
    let known: Vec<&str> = config.servers().map(String::as_str).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    bail!("unknown MCP server \"{server}\"; configured servers: {known}")
}

/// What a server offers now and nobody has approved.
async fn waiting(config: &Config, server: &str) -> anyhow::Result<Vec<Report>> {
    let toolbox = config.toolbox(|name| name == server).await?;
    let reports = toolbox.reports();
    toolbox.shutdown().await;
    let lost = reports.iter().find(|report| {
        matches!(report.finding, Finding::Unreachable { .. } | Finding::Misconfigured { .. })
    });
    if let Some(lost) = lost {
        bail!("{lost}");
    }
    Ok(reports.into_iter().filter(|report| offered(report).is_some()).collect())
}

/// The reports with these digests. An unknown digest refuses all: the caller has seen other
/// definitions.
fn chosen<'a>(
    server: &str,
    waiting: &'a [Report],
    digests: &[String],
) -> anyhow::Result<Vec<&'a Report>> {
    let all = digest_of_all(waiting);
    let is = |digest: &Digest, named: &str| digest.as_str().eq_ignore_ascii_case(named.trim());
    let names = |report: &Report, named: &str| {
        is(&all, named) || report.approval_digest().is_some_and(|digest| is(&digest, named))
    };
    for named in digests {
        if !waiting.iter().any(|report| names(report, named)) {
            bail!(
                "\"{server}\" has no tool with the digest {named}; nothing was approved. Run \
                 `roundtable tools approve {server}` to review its tools."
            );
        }
    }
    let is_chosen = |report: &&Report| digests.iter().any(|named| names(report, named));
    Ok(waiting.iter().filter(is_chosen).collect())
}

fn digest_of_all(reports: &[Report]) -> Digest {
    let mut digests: Vec<Digest> = reports.iter().filter_map(Report::approval_digest).collect();
    digests.sort();
    Digest::of_json(&digests)
}

fn name(report: &Report) -> String {
    match &report.finding {
        Finding::Withheld { tool, .. } => format!("{}__{tool}", report.server),
        _ => report.server.clone(),
    }
}

fn approved(report: &Report) -> String {
    let digest = report.approval_digest();
    let digest = digest.as_ref().map_or("", |digest| digest.as_str());
    out::visible(&format!("Approved {} (SHA-256 {digest}).\n", name(report)))
}

/// All of a definition that models and the engine act on.
fn whole(report: &Report) -> String {
    let digest = report.approval_digest();
    let digest = digest.as_ref().map_or("", |digest| digest.as_str());
    let parts = match &report.finding {
        Finding::Withheld { why: Withheld::New { offered }, .. } => definition("", offered),
        Finding::Withheld { why: Withheld::Changed { approved, offered }, .. } => {
            let (before, now) = (definition("approved ", approved), definition("new ", offered));
            format!("{before}{now}")
        }
        _ => String::new(),
    };
    format!("{}\n{parts}  SHA-256: {digest}\n\n", name(report))
}

fn definition(which: &str, definition: &Definition) -> String {
    let schema = serde_json::to_string_pretty(&definition.schema).unwrap_or_default();
    let effect = effect(definition.effect);
    format!(
        "  {which}effect, by the server's annotations: {effect}\n\
         \x20 {which}description:\n{}  {which}parameters:\n{}",
        quoted(&definition.description),
        quoted(&schema)
    )
}

/// A text of the server, with a margin: it cannot look like a line of this command.
fn quoted(text: &str) -> String {
    text.split('\n').map(|line| format!("    | {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use roundtable::core::tool::Effect;
    use serde_json::json;

    use super::*;

    fn report(tool: &str, description: &str) -> Report {
        let offered = Definition {
            description: description.to_owned(),
            schema: json!({ "type": "object" }),
            effect: Effect::Pure,
        };
        let finding = Finding::Withheld { tool: tool.to_owned(), why: Withheld::New { offered } };
        Report { server: "notes".to_owned(), finding }
    }

    #[test]
    fn s11_a_digest_chooses_what_was_shown_with_it_and_another_one_refuses_all() {
        let waiting = [report("read", "Reads."), report("write", "Writes.")];
        let digest = |report: &Report| report.approval_digest().unwrap().as_str().to_owned();
        let one = digest(&waiting[0]);
        assert_eq!(chosen("notes", &waiting, std::slice::from_ref(&one)).unwrap(), [&waiting[0]]);
        let all = digest_of_all(&waiting).as_str().to_uppercase();
        assert_eq!(chosen("notes", &waiting, &[all]).unwrap(), [&waiting[0], &waiting[1]]);
        let other = digest(&report("read", "Reads and mails."));
        assert!(chosen("notes", &waiting, &[one, other]).is_err());
    }

    #[test]
    fn s11_a_description_is_shown_whole_and_cannot_pass_for_lines_of_ours() {
        let long = format!("Reads.\nSHA-256: forged\n\u{1b}[2J{}", "x".repeat(5000));
        let shown = out::visible(&whole(&report("read", &long)));
        assert!(shown.contains("    | SHA-256: forged\n    | \\u{1b}[2Jxxx"), "{shown}");
        assert!(shown.contains(&"x".repeat(5000)));
    }
}
