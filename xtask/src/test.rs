//! `cargo xtask test`: everything a change has to pass. The steps are those of `Step`, in their order.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::{conformance, deny, features, interop, run, shell, tidy};

/// Where tests look for weights.
const MODELS: &str = "ROUNDTABLE_MODELS_DIR";

#[derive(clap::Args)]
pub struct Args {
    /// Run this step alone.
    #[arg(long, value_name = "NAME")]
    step: Option<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    Fmt,
    Clippy,
    Tidy,
    Deny,
    Features,
    Nextest,
    Doc,
    Conformance,
    Interop,
}

/// What every change has to pass. The steps beyond these install packages of others first.
const USUAL: &[Step] =
    &[Step::Fmt, Step::Clippy, Step::Tidy, Step::Deny, Step::Features, Step::Nextest, Step::Doc];

/// One step that ran, and how long it took.
struct Ran {
    step: Step,
    took: Duration,
    passed: bool,
}

pub fn test(args: &Args) -> Result<()> {
    let steps = args.step.as_ref().map_or(USUAL, std::slice::from_ref);
    if steps.contains(&Step::Nextest) {
        shell::ensure("nextest", &["cargo-nextest", "--locked"])?;
    }
    let mut ran = Vec::new();
    for &step in steps {
        let started = Instant::now();
        println!("== {}", step.name());
        let outcome = step.run();
        ran.push(Ran { step, took: started.elapsed(), passed: outcome.is_ok() });
        if let Err(error) = outcome {
            println!("\n{}", table(&ran));
            bail!(
                "step {0} failed: {error:#}\nrun it alone: cargo xtask test --step {0}",
                step.name()
            );
        }
    }
    println!("\n{}", table(&ran));
    match args.step {
        None => println!("all {} steps passed", ran.len()),
        Some(step) => println!("step {} passed; the others were not run", step.name()),
    }
    Ok(())
}

impl Step {
    fn run(self) -> Result<()> {
        let words: &[&str] = match self {
            Step::Fmt => &["fmt", "--all", "--check"],
            Step::Clippy => &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
            Step::Tidy => return tidy::tidy(),
            Step::Deny => return deny::deny(),
            Step::Features => return features::features(),
            Step::Nextest => return nextest(),
            Step::Doc => &["test", "--doc", "--workspace"],
            Step::Conformance => return conformance::conformance(),
            Step::Interop => return interop::interop(),
        };
        shell::run(&mut shell::cargo(words))
    }

    fn name(self) -> &'static str {
        match self {
            Step::Fmt => "fmt",
            Step::Clippy => "clippy",
            Step::Tidy => "tidy",
            Step::Deny => "deny",
            Step::Features => "features",
            Step::Nextest => "nextest",
            Step::Doc => "doc",
            Step::Conformance => "conformance",
            Step::Interop => "interop",
        }
    }
}

/// The tests, with the weights that some of them need.
fn nextest() -> Result<()> {
    let models = shell::root().join("target/models");
    let mut fetch = Command::new(run::build()?);
    shell::run(fetch.args(["models", "fetch"]).env(MODELS, &models))?;
    shell::run(shell::cargo(["nextest", "run", "--workspace"]).env(MODELS, &models))
}

fn table(ran: &[Ran]) -> String {
    let mut table = String::from("step         seconds  result\n");
    for Ran { step, took, passed } in ran {
        let result = if *passed { "ok" } else { "FAILED" };
        writeln!(table, "{:<11} {:>8.1}  {result}", step.name(), took.as_secs_f64()).unwrap();
    }
    let total: Duration = ran.iter().map(|ran| ran.took).sum();
    writeln!(table, "{:<11} {:>8.1}", "total", total.as_secs_f64()).unwrap();
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_called_on_the_command_line_what_messages_call_it() {
        for step in Step::value_variants() {
            assert_eq!(Step::from_str(step.name(), false), Ok(*step));
        }
    }

    #[test]
    fn the_table_shows_each_step_and_the_total() {
        let ran = [
            Ran { step: Step::Fmt, took: Duration::from_millis(420), passed: true },
            Ran { step: Step::Clippy, took: Duration::from_secs(101), passed: false },
        ];
        let expected = "\
step         seconds  result
fmt              0.4  ok
clippy         101.0  FAILED
total          101.4
";
        assert_eq!(table(&ran), expected);
    }
}
