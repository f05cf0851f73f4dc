//! `roundtable mcp install`: adds this server to a client's settings, and touches nothing else there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::out;
use crate::replace::replace;

/// The name under which clients know the server.
const NAME: &str = "roundtable";

/// How long the settings of a client may be.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Where it is added.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The client.
    #[arg(long, value_name = "CLIENT")]
    client: Client,
    /// Print what would be written, and where, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Client {
    /// Write .mcp.json in this directory, for everyone who shares the project
    ClaudeCode,
    /// Write ~/.cursor/mcp.json, for all projects
    Cursor,
    /// .vscode/mcp.json in this directory: for this project.
    Vscode,
}

impl Client {
    fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
        }
    }

    fn file(self, config: &Config) -> anyhow::Result<PathBuf> {
        Ok(match self {
            Self::ClaudeCode => PathBuf::from(".mcp.json"),
            Self::Vscode => PathBuf::from(".vscode/mcp.json"),
            Self::Cursor => {
                let home = config.home_dir().context("no home directory; set HOME")?;
                home.join(".cursor/mcp.json")
            }
        })
    }

    /// What the client calls its list of servers.
    fn list(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
        }
    }
}

pub(super) fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let file = options.client.file(config)?;
    let entry = entry(config)?;
    let old = read(&file).with_context(|| by_hand(&file, options.client, &entry))?;
    let new = with_entry(old.as_deref(), options.client.list(), &entry)
        .with_context(|| by_hand(&file, options.client, &entry))?;
    if options.dry_run {
        out::put(&new)?;
        eprintln!("Dry run: nothing was written to {}.", file.display());
        return Ok(ExitCode::SUCCESS);
    }
    if old.as_deref() == Some(new.as_str()) {
        eprintln!("{} already has it.", file.display());
        return Ok(ExitCode::SUCCESS);
    }
    write(&file, &new).with_context(|| format!("writing {}", file.display()))?;
    let title = options.client.title();
    eprintln!(
        "Added to {}. Restart {title}, then ask it: \"Debate with roundtable: tabs or spaces?\"",
        file.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// How the client starts the server: as this program was started now.
fn entry(config: &Config) -> anyhow::Result<Value> {
    let program = config.program().context("cannot find the path of this program")?;
    let arguments: Vec<String> =
        ["mcp".to_owned()].into_iter().chain(config.again_arguments()).collect();
    Ok(json!({ "type": "stdio", "command": program, "args": arguments }))
}

/// The settings with the entry; everything else stays as it is.
fn with_entry(old: Option<&str>, list: &str, entry: &Value) -> anyhow::Result<String> {
    let settings = match old.map(str::trim).filter(|text| !text.is_empty()) {
        None => Value::Object(Map::new()),
        Some(text) => serde_json::from_str(text).context("invalid JSON")?,
    };
    let Value::Object(mut settings) = settings else { bail!("not a JSON object") };
    let servers = settings.entry(list).or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else { bail!("{list} is not an object") };
    servers.insert(NAME.to_owned(), entry.clone());
    Ok(format!("{}\n", serde_json::to_string_pretty(&Value::Object(settings))?))
}

fn by_hand(file: &Path, client: Client, entry: &Value) -> String {
    let (list, name) = (client.list(), NAME);
    format!(
        "{} was not changed; add this under \"{list}\" by hand: \"{name}\": {entry}",
        file.display()
    )
}

/// The settings as they are; `None` if the file does not exist. Settings behind a link are not touched:
/// a directory of somebody else could point it at any file.
fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let directory = file.parent().filter(|path| !path.as_os_str().is_empty());
    for path in directory.into_iter().chain([file]) {
        let found = match std::fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => bail!("{} cannot be read: {error}", path.display()),
        };
        if found.is_symlink() {
            bail!("{} is a symbolic link; symbolic links are not followed", path.display());
        }
        if path == file && !(found.is_file() && found.len() <= LONGEST) {
            bail!("{} is not a file of at most {LONGEST} bytes", path.display());
        }
    }
    let text = std::fs::read_to_string(file);
    text.map(Some).with_context(|| format!("{} cannot be read", file.display()))
}

/// Writes the whole file or nothing of it.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(directory) = file.parent().filter(|path| !path.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)?;
    }
    replace(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_the_settings_stays() {
        let entry = json!({ "command": "roundtable" });
        let old = r#"{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}"#;
        let new: Value =
            serde_json::from_str(&with_entry(Some(old), "mcpServers", &entry).unwrap()).unwrap();
        assert_eq!(new["mcpServers"]["other"]["command"], "x");
        assert_eq!(new["mcpServers"]["roundtable"], entry);
        assert_eq!(new["theme"], "dark");
        let again = with_entry(Some(&new.to_string()), "mcpServers", &entry).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), new);
    }

    #[test]
    fn settings_that_are_not_understood_are_left_alone() {
        let entry = json!({});
        for old in ["// comment\n{}", "[]", r#"{"servers": 1}"#, "{"] {
            assert!(with_entry(Some(old), "servers", &entry).is_err(), "{old}");
        }
        assert!(with_entry(None, "servers", &entry).is_ok());
        assert!(with_entry(Some("  \n"), "servers", &entry).is_ok());
    }
}
