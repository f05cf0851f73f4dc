//! A process that is killed in the middle of a tool's second prompt, as a power cut would.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use crate::config::Config;

/// A process that does not outlive whoever started it to kill it.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has another process begin the demonstration, and kills it when its tool waits for a model. False
/// when it came to its end before.
pub(super) async fn begin_and_kill(config: &Config) -> anyhow::Result<bool> {
    let program = config.program().context("finding this program")?;
    let data_dir = config.data_dir.clone();
    let killed = tokio::task::spawn_blocking(move || blocking(&program, &data_dir));
    killed.await.context("waiting for the other process")?
}

fn blocking(program: &Path, data_dir: &Path) -> anyhow::Result<bool> {
    let mut command = Command::new(program);
    command.args(["demo", "nested", "--until-killed", "--fresh", "--json", "--pace", "0"]);
    command.arg("--data-dir").arg(data_dir).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut doomed = Doomed(command.spawn().context("starting another process")?);
    let out = doomed.0.stdout.take().context("reading from the other process")?;
    let mut is_second = false;
    for line in BufReader::new(out).lines() {
        let event: Value = serde_json::from_str(&line?).context("reading an event")?;
        is_second |= event["data"]["ordinal"] == 2;
        if is_second && event["kind"] == "model_call_started" {
            return Ok(true);
        }
    }
    Ok(false)
}
