//! `roundtable chat`: a conversation with a team, at the terminal.

mod attachment;
mod input;
mod show;
mod talk;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use roundtable::Session;

use crate::ask::Trouble;
use crate::config::{Config, Needs, Overrides, Running};
use crate::session_arg::SessionArg;
use crate::signal::Signals;
use talk::{End, Talk};

/// With whom, and where.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub overrides: Overrides,
    /// Continue this conversation instead of beginning one: its id, or a unique start of it
    #[arg(long, value_name = "ID")]
    conversation: Option<SessionArg>,
}

pub(crate) const HELP: &str = "\
/attach FILE  send a text file or an image with the next message
/new          start another conversation
/stop         stop the answer; Ctrl-C does the same
/regenerate   answer the last message again
/help         show this
/quit         leave; Ctrl-D does the same
#Name …       ask one member of the team
A backslash at the end of a line continues the message on the next one.";

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let trouble = Trouble::new(false);
    let (running, session, team) = match &options.conversation {
        Some(conversation) => continued(config, conversation, &trouble).await?,
        None => begun(config, &trouble).await?,
    };
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let mut talk = Talk::new(running.engine.clone(), session, team).await?;
    talk.greet(config);
    let ended = talk.converse(&mut signals).await;
    let code = match ended {
        Ok(End::Left) => ExitCode::SUCCESS,
        Ok(End::Signal(code)) => code,
        Err(error) => {
            running.shutdown().await;
            return Err(error);
        }
    };
    running.shutdown().await;
    let again = config.command(&format!("chat --conversation {}", talk.session.id()));
    talk.leave(&again);
    Ok(code)
}

/// A new conversation with the team of the configuration.
async fn begun(
    config: &Config,
    trouble: &Trouble,
) -> anyhow::Result<(Running, Session, roundtable::chat::Team)> {
    let needs = config.team_needs()?;
    let toolbox = config.toolbox_for(&needs).await?;
    let team = config.team(&toolbox)?;
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    let session = running.engine.open(team.clone().opening("")).await?;
    Ok((running, session, team))
}

/// A conversation that there is, with the agents that it has.
async fn continued(
    config: &Config,
    conversation: &SessionArg,
    trouble: &Trouble,
) -> anyhow::Result<(Running, Session, roundtable::chat::Team)> {
    let archive = config.archive()?;
    let id = &conversation.find(&archive).await?.session;
    let state = archive.state(id).await?;
    let Some(team) = roundtable::chat::Team::of(&state) else {
        let again = config.command(&format!("continue {id} \"…\""));
        bail!("{id} is not a conversation with a team; continue it with `{again}`");
    };
    let needs = Needs::of(&state.agents);
    let toolbox = config.toolbox_for(&needs).await?;
    let running = config.engine(&needs, toolbox, &trouble.watch()).await?;
    let session = running.engine.session(id);
    session.try_again().await?;
    Ok((running, session, team))
}
