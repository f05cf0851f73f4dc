//! `roundtable show`: what happened in a session, or in one of its turns.

mod iteration;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use roundtable::Archive;
use roundtable::core::event::{Body, Event, Seq, TurnEvent};
use roundtable::core::id::{AgentId, SessionId, TurnId};
use roundtable::core::turn::Context;

use crate::config::Config;
use crate::out;
use crate::session_arg::SessionArg;
use crate::trace::Trace;

/// How many events are read and printed at once.
const PAGE: usize = 256;

/// How many sessions or turns an error names.
const NAMED: usize = 8;

/// What is shown, and how.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The session id, or a unique start of it
    session: SessionArg,
    /// Print every event or iteration as a line of JSON
    #[arg(long)]
    json: bool,
    /// Show the details of this turn: its number in the trace, or its id
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Show only this iteration of the turn
    #[arg(long, value_name = "N", requires = "turn")]
    iteration: Option<u32>,
}

/// A turn of a session.
struct TurnRef {
    turn: TurnId,
    agent: AgentId,
}

pub(crate) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let archive = config.archive()?;
    let listed = options.session.find(&archive).await?;
    let session = &listed.session;
    match &options.turn {
        None => show_log(&archive, session, options).await?,
        Some(turn) => show_turn(&archive, session, options, turn).await?,
    }
    if let Some(reason) = &listed.parked {
        let told = out::plain(&format!("{}\n", parked(config, session, reason)));
        // What programs read has events only.
        if options.json {
            eprint!("{told}");
        } else {
            out::put(&told)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What there is to say of a parked session.
pub(crate) fn parked(config: &Config, session: &SessionId, reason: &str) -> String {
    let again = config.command(&format!("continue {session}"));
    format!("The session is parked: {reason}. Try again: {again}")
}

async fn show_log(archive: &Archive, session: &SessionId, options: &Options) -> anyhow::Result<()> {
    let (mut trace, mut next, mut most) = (Trace::default(), Seq(1), PAGE);
    loop {
        let page = match archive.read(session, next, most).await {
            Ok(page) => page,
            // One after another, to show what there is before the damage.
            Err(_) if most > 1 => {
                most = 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let Some(last) = page.last() else { return Ok(()) };
        next = last.seq.next();
        let lines: String = if options.json {
            page.iter().map(json_line).collect::<Result<_, _>>()?
        } else {
            page.iter().map(|event| out::plain(&trace.line(event))).collect()
        };
        if !out::put(&lines)? {
            return Ok(());
        }
    }
}

fn json_line(value: &impl serde::Serialize) -> serde_json::Result<String> {
    Ok(out::json_line(serde_json::to_string(value)?))
}

async fn show_turn(
    archive: &Archive,
    session: &SessionId,
    options: &Options,
    wanted: &str,
) -> anyhow::Result<()> {
    let turns = turns(&archive.log(session).await?);
    let by_number = wanted.parse().ok().and_then(|number: usize| number.checked_sub(1));
    let found = match by_number {
        Some(index) => turns.get(index),
        None => turns.iter().find(|named| named.turn.as_str() == wanted),
    };
    let Some(named) = found else { bail!(unknown_turn(wanted, &turns)) };
    let Some(context) = archive.turn(session, &named.turn).await? else {
        bail!(
            "{} has no details; run `roundtable show` without --turn to see its events",
            named.turn
        )
    };
    let iterations = context.iterations().iter();
    let iterations = iterations.filter(|known| options.iteration.is_none_or(|n| known.number == n));
    let shown: String = if options.json {
        iterations.map(|known| json_line(known.as_ref())).collect::<Result<_, _>>()?
    } else {
        let heading = format!("{} ({})\n", named.agent.suffix(), named.turn);
        let lines: String = iterations.map(|known| iteration::lines(known)).collect();
        if lines.is_empty() { lines } else { out::plain(&format!("{heading}{lines}")) }
    };
    match (shown.is_empty(), options.iteration) {
        (true, Some(number)) => bail!(unknown_iteration(number, &context)),
        _ => Ok(out::put(&shown).map(|_| ())?),
    }
}

/// The turns of a log, in the order in which they began.
fn turns(log: &[Arc<Event>]) -> Vec<TurnRef> {
    let begun = log.iter().filter_map(|event| match (&event.body, &event.place.turn) {
        (Body::Turn(TurnEvent::TurnStarted { agent, .. }), Some(turn)) => {
            Some(TurnRef { turn: turn.clone(), agent: agent.clone() })
        }
        _ => None,
    });
    begun.collect()
}

fn unknown_turn(wanted: &str, turns: &[TurnRef]) -> String {
    let named = |(index, named): (usize, &TurnRef)| {
        format!("\n  {}  {}  {}", index + 1, named.turn, named.agent.suffix())
    };
    let known: String = turns.iter().enumerate().take(NAMED).map(named).collect();
    match turns.len() {
        0 => format!("no turn {wanted}: this session has no turns yet"),
        count if count > NAMED => format!(
            "no turn {wanted}\nhint: run `roundtable show` without --turn to see all {count} turns; \
             the first are:{known}"
        ),
        _ => format!("no turn {wanted}\nhint: the turns are:{known}"),
    }
}

fn unknown_iteration(wanted: u32, context: &Context) -> String {
    let known = match context.current_iteration() {
        1 => "only iteration 1".to_owned(),
        last => format!("iterations 1 to {last}"),
    };
    format!("no iteration {wanted}: this turn has {known}")
}
