//! The chores of this repository behind one command, `cargo xtask`. Knows the tools, nothing about the engine.

mod bench;
mod conformance;
mod deny;
mod features;
mod interop;
mod mutants;
mod run;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

/// The chores of this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Chore {
    /// Build and start `roundtable`; without arguments, its demo.
    Run(run::Args),
    /// Everything a change has to pass, in order, stopping at the first failure.
    Test(test::Args),
    /// The rules of this repository that compilers and lints do not know.
    Tidy,
    /// Run one benchmark in the release profile; without a name, list them.
    Bench(bench::Args),
    /// Hold the server against the protocol's own suite and other people's clients.
    Conformance,
    /// Change the core in small ways and see whether a test notices.
    Mutants(mutants::Args),
    /// Our model clients against the vendors' own SDKs and a third-party proxy.
    Interop,
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Run(args) => run::run(&args),
        Chore::Test(args) => test::test(&args),
        Chore::Tidy => tidy::tidy(),
        Chore::Bench(args) => bench::bench(&args),
        Chore::Conformance => conformance::conformance(),
        Chore::Mutants(args) => mutants::mutants(&args),
        Chore::Interop => interop::interop(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
