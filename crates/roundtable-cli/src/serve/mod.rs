//! `roundtable serve`: sessions over HTTP and MCP.

mod access;

use std::process::ExitCode;

use anyhow::Context as _;
use roundtable::driver::Parking;
use roundtable_server::{Server, check};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot};

use crate::config::{Config, Overrides};
use crate::descriptors;
use crate::out;
use crate::signal::{DrainOutcome, Signals};
use access::Keeper;

/// Where it listens, and what it prints.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where to listen; also ROUNDTABLE_LISTEN [default: 127.0.0.1:7777]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    overrides: Overrides,
    /// Print the address as a line of JSON, and nothing else.
    #[arg(long)]
    json: bool,
}

impl Options {
    pub fn overrides(&self) -> Overrides {
        Overrides { listen: self.listen.clone(), ..self.overrides.clone() }
    }
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    if let Some(notice) = config.ignored_notice() {
        eprintln!("{}", out::plain(&notice));
    }
    config.check_access()?;
    let (address, mut settings) = (config.listen()?, config.server_settings());
    if let Some(files) = descriptors::raise() {
        settings.limits = settings.limits.with_open_files(files);
    }
    // Before the port is taken: for a moment it would be open to all.
    check(address, &settings.access)?;
    let keeper = Keeper::new(config, settings.access.clone(), settings.quotas.clone())
        .context("cannot listen for signals")?;
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| taken(&address.to_string()))?;
    let running = config.engine_for_all(&settings.quotas).await?;
    let parkings = running.engine.driver().listen_parkings();
    let url = format!("http://{}", listener.local_addr()?);
    announce(config, &url, options.json)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let server = Server::new(running.engine.clone(), settings).run(listener, shutdown);
    tokio::pin!(server);
    let asked_to_stop = async {
        tokio::select! {
            _ = signals.next() => {}
            () = keeper.keep() => {}
            () = tell_parkings(config, parkings) => {}
        }
    };
    let (drained, ended) = tokio::select! {
        ended = &mut server => (DrainOutcome::Whole, ended),
        () = asked_to_stop => {
            drop(stop);
            // What runs is finished while callers are told where to go on.
            tokio::join!(signals.drain(&running.engine), server)
        }
    };
    running.shutdown().await;
    ended?;
    Ok(drained.code(ExitCode::SUCCESS))
}

/// Says which sessions are parked while the server runs.
async fn tell_parkings(config: &Config, mut parkings: broadcast::Receiver<Parking>) {
    loop {
        match parkings.recv().await {
            Ok(Parking { session, reason }) => {
                let told = crate::show::parked(config, &session, &reason);
                eprintln!("{}", out::plain(&format!("{session}: {told}")));
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn taken(address: &str) -> String {
    format!(
        "cannot listen on {address}; if another program uses it, pass --listen with another port"
    )
}

/// One line with the URL of the server.
fn announce(config: &Config, url: &str, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        out::put(&format!("{}\n", json!({ "url": url, "mcp": format!("{url}/mcp") })))?;
        return Ok(());
    }
    let (model, why) = config.speaking();
    eprintln!("{}", out::plain(&format!("Default model: {model} ({why}). Press Ctrl-C to stop.")));
    out::put(&format!("{url}\n"))?;
    Ok(())
}
