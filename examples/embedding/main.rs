//! `cargo run -p roundtable --example embedding`: the programs of `docs/guides/embedding.md`, each on
//! a script. The tests run them, and compare them with the guide.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

mod approve;
mod ask;
mod budget;
mod build;
mod command;
mod context;
mod data;
mod delegate;
mod fork;
mod image;
mod model;
mod open;
mod opening;
mod own_server;
mod restart;
mod stop;
mod stream;
mod tool;
mod vendor;

use roundtable::prelude::*;

#[tokio::main]
async fn main() -> roundtable::Result<()> {
    vendor::run().await?;
    own_server::run().await?;
    build::run().await?;
    open::run().await?;
    opening::run().await?;
    ask::run().await?;
    image::run().await?;
    command::run().await?;
    restart::run().await?;
    stream::run().await?;
    tool::run().await?;
    delegate::run().await?;
    context::run().await?;
    approve::run().await?;
    budget::run().await?;
    data::run().await?;
    fork::run().await?;
    model::run().await?;
    stop::run().await
}

/// An engine in memory whose model answers from a script.
async fn engine(script: Script) -> roundtable::Result<Engine> {
    Engine::builder().custom_model("scripted", ScriptedModel::new(script)).build().await
}

/// A script in which this agent answers with this text.
fn says(agent: &str, text: &str) -> Script {
    Script::default().voice(agent, [Reply::text(text)])
}

#[cfg(test)]
mod tests {
    const GUIDE: &str = include_str!("../../docs/guides/embedding.md");

    const PROGRAMS: &[&str] = &[
        include_str!("../hello.rs"),
        include_str!("approve.rs"),
        include_str!("ask.rs"),
        include_str!("budget.rs"),
        include_str!("build.rs"),
        include_str!("command.rs"),
        include_str!("context.rs"),
        include_str!("data.rs"),
        include_str!("delegate.rs"),
        include_str!("fork.rs"),
        include_str!("image.rs"),
        include_str!("model.rs"),
        include_str!("open.rs"),
        include_str!("opening.rs"),
        include_str!("own_server.rs"),
        include_str!("restart.rs"),
        include_str!("stop.rs"),
        include_str!("stream.rs"),
        include_str!("tool.rs"),
        include_str!("vendor.rs"),
    ];

    #[test]
    fn the_programs_of_the_guide_run() {
        super::main().unwrap();
    }

    #[test]
    fn every_program_in_the_guide_is_one_of_these() {
        let blocks: Vec<&str> = GUIDE
            .split("```rust\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default().trim())
            .collect();
        assert_eq!(blocks.len(), PROGRAMS.len());
        for block in blocks {
            assert!(PROGRAMS.iter().any(|program| program.contains(block)), "{block}");
        }
    }
}
