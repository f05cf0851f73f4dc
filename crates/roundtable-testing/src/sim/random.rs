//! Worlds by chance: a seed decides who is there, what they say and do, and what goes wrong.

use std::time::Duration;

use roundtable_core::agent::Agent;
use roundtable_core::event::Change;
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::settings::{Order, Settings};
use roundtable_models::scripted::{Call, Fails, Reply, Script};
use serde_json::json;

use super::act::{Act, Conduct, Sight};
use super::client::Client;
use super::dice::{Dice, Seed};
use super::life::{End, Fate, Life, Turn};
use super::plan::{Odds, Plan};
use super::workshop::{Workshop, job, questions};
use super::world::World;
use crate::oracle::Evidence;
use crate::{agent, opening};

/// The cast: sessions draw their agents from it.
const CAST: [&str; 4] = ["Ann", "Bob", "Cyd", "Dan"];

/// The prompts that handlers ask, outermost first.
const PROMPTS: [&str; 3] = ["first", "second", "deep"];

/// Lives a seed's world from beginning to end, and checks everything.
///
/// # Panics
/// When a promise is broken; the message says which, and how to have the same run again.
pub fn simulate(seed: Seed) -> Evidence {
    let mut dice = Dice::new(seed);
    let mut world = world(format!("simulate({seed:?})"), &mut dice);
    for _ in 0..dice.within(1..8) {
        let life = life(&mut dice);
        if world.live(&life) == End::Rest {
            break;
        }
    }
    world.come_to_rest(away(&mut dice))
}

/// The same with processes that always leave in an orderly way, and a store that never fails.
///
/// # Panics
/// When a promise is broken, as [`simulate`] does.
pub fn simulate_planned_stops(seed: Seed) -> Evidence {
    let mut dice = Dice::new(seed);
    let mut world = world(format!("simulate_planned_stops({seed:?})"), &mut dice);
    for _ in 0..dice.within(1..5) {
        let after = Duration::from_millis(dice.within(0..6000));
        world.live(&Life::fine().ending(Fate::Drained(after)).alone_for(away(&mut dice)));
    }
    world.come_to_rest(away(&mut dice))
}

fn world(label: String, dice: &mut Dice) -> World {
    let script = script(&mut dice.split());
    let mut clients = Vec::new();
    let sessions: Vec<SessionId> = (0..*dice.pick(&[3, 3, 3, 3, 4, 4, 5, 8]))
        .map(|n| SessionId::new(&format!("s{n}")).expect("a session id"))
        .collect();
    let mut opened: Vec<SessionId> = Vec::new();
    for session in &sessions {
        let mut dice = dice.split();
        let hello = Act::Say("Hello.".to_owned(), OnBusy::Queue);
        let begins = if !opened.is_empty() && dice.permille(250) {
            let agents = dice.permille(400).then(|| cast(&mut dice));
            vec![Act::Fork(dice.pick(&opened).clone(), 1, agents), Act::Until(Sight::Rest), hello]
        } else {
            opened.push(session.clone());
            vec![open(&mut dice), hello]
        };
        let acts = begins.into_iter().chain(acts(&mut dice)).collect();
        clients.push(Client::new("user", session, Conduct::Answers(dice.split()), acts));
        if dice.permille(250) {
            let mut acts = vec![Act::Until(Sight::Started(1))];
            acts.extend(self::acts(&mut dice));
            clients.push(Client::new("friend", session, Conduct::Answers(dice.split()), acts));
        }
        if dice.permille(250) {
            clients.push(Client::new("tab", session, Conduct::Reads, Vec::new()));
        }
    }
    let mut world = World::new(label, script, clients);
    world.config.permits = if dice.permille(200) { 1 } else { 64 };
    world.config.snapshot_every = dice.within(1..40);
    world
}

fn life(dice: &mut Dice) -> Life {
    let after = Duration::from_millis(dice.within(0..8000));
    let fate = match dice.within(0..10) {
        0..2 => Fate::Drained(after),
        2..4 => Fate::Killed(after),
        4 => Fate::Stopped(after),
        _ => Fate::Rest,
    };
    let life = Life::with(plan(dice)).ending(fate).alone_for(away(dice));
    let soon = Duration::from_millis(dice.within(0..6000));
    match dice.within(0..10) {
        0..2 => life.beside(plan(dice)),
        2 => life.beside(plan(dice)).taking(Turn::Leaves(soon)),
        3 => life.beside(plan(dice)).taking(Turn::CutOff(soon)),
        4 => life.taking(Turn::CutOff(soon)),
        5 => life.taking(Turn::Outage(soon)),
        _ => life,
    }
}

/// Most processes have a calm life; some have a stormy one.
fn plan(dice: &mut Dice) -> Plan {
    let mut often = |most: &[u64]| *dice.pick(most);
    let odds = Odds {
        conflict: often(&[0, 0, 10, 100]),
        unavailable: often(&[0, 10, 30, 150]),
        ack_lost: often(&[0, 10, 30, 150]),
        slow: often(&[0, 10, 50, 300]),
        fenced: often(&[0, 0, 20, 60]),
        crash_before: often(&[0, 5, 10, 30]),
        crash_after: often(&[0, 5, 10, 30]),
        unreadable: often(&[0, 0, 10, 50]),
        silent: often(&[0, 0, 200, 1000]),
    };
    Plan::chance(dice.split(), odds)
}

/// Sometimes people are back at once; sometimes everything is done before they are.
fn away(dice: &mut Dice) -> Duration {
    Duration::from_secs(*dice.pick(&[0, 0, 1, 60]))
}

/// Some of the cast, in any order.
fn cast(dice: &mut Dice) -> Vec<Agent> {
    let mut seats = CAST.to_vec();
    seats.rotate_left(dice.within(0..4) as usize);
    seats.truncate(*dice.pick(&[1, 1, 1, 2, 2, 3]));
    seats.iter().map(|name| member(name, &seats, dice)).collect()
}

fn open(dice: &mut Dice) -> Act {
    let agents = cast(dice);
    let order = *dice.pick(&[Order::Parallel, Order::Sequential]);
    let total_rounds = if dice.permille(100) { Some(3) } else { None };
    let window_rounds = if dice.permille(200) { 2 } else { 32 };
    let mut settings = Settings { order, total_rounds, window_rounds, ..Settings::default() };
    if dice.permille(100) {
        settings.round_limits.calls = Some(dice.within(1..6));
    }
    if dice.permille(100) {
        settings.round_limits.time_ms = Some(dice.within(100..5000));
    }
    Act::Open(Box::new(opening(agents, settings)))
}

fn member(name: &str, seats: &[&str], dice: &mut Dice) -> Agent {
    let mut agent = agent(name);
    agent.tools = Workshop::declarations();
    agent.max_iterations = 4;
    agent.max_tokens = 100;
    let others = seats.iter().filter(|other| **other != name);
    agent.workers =
        others.map(|other| AgentId::new(&other.to_lowercase()).expect("an agent id")).collect();
    let asks_first = dice.permille(300);
    for tool in agent.tools.iter_mut().filter(|tool| tool.name == "send") {
        tool.approval = asks_first;
    }
    agent
}

fn say(dice: &mut Dice) -> Act {
    let text = format!("Message {}.", dice.within(0..1000));
    match dice.within(0..10) {
        0 => Act::Say(text, OnBusy::Interrupt),
        1 => Act::Say(text, OnBusy::Reject),
        2..4 => Act::SayOnce(text),
        4..6 => Act::SayAndAnswer(text),
        _ => Act::Say(text, OnBusy::Queue),
    }
}

/// Another title, or into the archive and out of it.
fn change(dice: &mut Dice) -> Command {
    let title = dice.permille(500).then(|| format!("Title {}", dice.within(0..3)));
    Command::Change(Change { title, archived: Some(dice.permille(500)) })
}

fn acts(dice: &mut Dice) -> Vec<Act> {
    let mut acts = Vec::new();
    for _ in 0..*dice.pick(&[1, 1, 1, 2, 2, 3]) {
        if dice.permille(500) {
            acts.push(Act::Wait(dice.within(0..4000)));
        }
        match dice.within(0..20) {
            0..8 => acts.push(say(dice)),
            8 => acts.push(Act::Send(Command::Stop)),
            9 => acts.extend([
                Act::Send(Command::Pause),
                Act::Wait(dice.within(0..4000)),
                Act::Send(Command::Resume),
            ]),
            10 => acts.extend([Act::Until(Sight::Rest), Act::Send(Command::Regenerate)]),
            11 => acts.push(Act::Send(Command::Regenerate)),
            12 => acts.extend([
                Act::Until(Sight::Rest),
                Act::Send(Command::Rewind { number: dice.within(1..3) as u32 }),
            ]),
            13 => acts.push(Act::Send(Command::SelectTake { number: 1, take: 1 })),
            14 if dice.permille(500) => acts.push(Act::Send(change(dice))),
            14 => acts.push(Act::AnswerAgain),
            15..17 => acts.push(Act::SendAgain),
            17 => acts.extend([Act::Until(Sight::Rest), say(dice)]),
            18 if dice.permille(200) => {
                acts.push(Act::Send(Command::Complete { reason: "enough".to_owned() }));
            }
            _ => acts.push(Act::Look),
        }
    }
    acts
}

fn script(dice: &mut Dice) -> Script {
    let mut script = Script::default();
    for name in CAST.map(str::to_lowercase) {
        for _ in 0..dice.within(1..4) {
            let mut replies: Vec<Reply> =
                (0..*dice.pick(&[0, 0, 1, 1, 2])).map(|_| asking(dice)).collect();
            if replies.is_empty() || !dice.permille(50) {
                replies.push(telling(&name, dice));
            }
            script = script.voice(&name, replies);
        }
        for prompt in PROMPTS.into_iter().chain(["delegated"]) {
            let mut replies = Vec::new();
            if dice.permille(300) {
                replies.push(Reply::calls([call(dice, prompt != "deep" && prompt != "delegated")]));
            }
            replies.push(telling(prompt, dice));
            script = script.voice(&format!("{name}/{prompt}"), replies);
        }
    }
    script
}

/// A reply in words, slow or quick, and now and then a failure.
fn telling(name: &str, dice: &mut Dice) -> Reply {
    if dice.permille(40) {
        return Reply::fails(*dice.pick(&[Fails::Overloaded, Fails::Refused, Fails::Broken]));
    }
    let reply = Reply::text(format!("{name} thinks of {{input}}")).after(dice.within(0..800));
    if dice.permille(400) { reply.in_pieces(8, dice.within(0..120)) } else { reply }
}

/// A reply that asks for tools.
fn asking(dice: &mut Dice) -> Reply {
    let calls: Vec<Call> = (0..dice.within(1..3)).map(|_| call(dice, true)).collect();
    Reply::calls(calls).after(dice.within(0..300))
}

fn call(dice: &mut Dice, may_nest: bool) -> Call {
    // Few things to do, so that equal calls happen.
    let what = format!("thing {}", dice.within(0..4));
    let job = job(&what, dice.within(0..900));
    match dice.within(0..if may_nest { 16 } else { 10 }) {
        0..3 => Call::new("look", job),
        3..6 => Call::new("note", job),
        6..9 => Call::new("send", job),
        9 => Call::new(dice.pick::<&str>(&["burst", "missing"]), job),
        10 => Call::new("ponder", questions(&["first"], &["ponder", "note"])),
        11 => Call::new("ponder", questions(&["deep", "second"], &["look"])),
        12 => Call::new("consult", questions(&["second", "deep"], &["look", "send"])),
        13..15 => {
            let priority = *dice.pick(&["required", "optional"]);
            let ask = json!({ "query": what, "reason": "to know", "priority": priority });
            Call::new("request_context", ask)
        }
        _ => {
            let agent = dice.pick(&CAST).to_lowercase();
            Call::new("delegate", json!({ "agent": agent, "mission": what }))
        }
    }
}
