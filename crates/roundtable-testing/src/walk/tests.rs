//! The walks of panels and debates.

use proptest::prelude::*;
use proptest::test_runner::Config;
use roundtable_core::Live;
use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, Event, Origin, RoundEvent};
use roundtable_core::id::SessionId;
use roundtable_core::input::{Command, Env};
use roundtable_core::job::JobOutcome;
use roundtable_core::session::Status;
use roundtable_core::settings::Settings;
use roundtable_debate::{Debate, Measuring, Mode, Record, Rules};
use serde_json::Value;

use super::Walk;
use super::gathering::Gathering;
use super::moves::{self, Move, Setup, agent, cast};
use super::player::Player;

#[test]
fn prompts_have_what_went_to_their_agents_whoever_is_present_and_whoever_is_whispered_to() {
    Walk::new(Gathering).plain().cases(96).run(|_| Value::Null);
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn debates() -> Walk {
    let Command::Act { name, data } = Debate::synthesize(None) else { unreachable!() };
    Walk::new(Debate).job(Measuring::JOB, measure).act(name, data)
}

/// Measures by how often each letter occurs.
fn measure(input: Value) -> JobOutcome {
    let measuring: Measuring = serde_json::from_value(input).unwrap();
    let letters = |text: &String| -> Vec<f32> {
        ('a'..='z').map(|letter| text.chars().filter(|c| *c == letter).count() as f32).collect()
    };
    let vectors = measuring.texts.iter().map(letters).collect();
    let data = serde_json::to_value(measuring.finish("letters", vectors)).unwrap();
    JobOutcome::Done { data }
}

fn walk(setup: &Setup, moves: &[Move]) -> Player {
    debates().play(setup, moves)
}

/// The same for a debate: three argue, and one or two judge.
fn debate() -> impl Strategy<Value = Setup> {
    let modes = prop::sample::select(Mode::ALL.to_vec());
    (moves::setup(), modes, any::<[bool; 3]>()).prop_map(
        |(mut setup, mode, [judged, chaired, exits])| {
            let mut agents = cast(3, setup.agents[0].max_iterations, setup.agents[0].limits);
            let seats = agents.iter().map(|agent| agent.id.clone()).collect();
            let judge =
                |name: &str| Agent { tools: Vec::new(), id: agent(name).id, ..agents[0].clone() };
            let (analyst, chair) = (judge("Judge"), judge("Chair"));
            let rules = Rules {
                mode,
                exit_on_consensus: exits,
                perspectives: Vec::new(),
                analyst: judged.then(|| analyst.id.clone()),
                chair: chaired.then(|| chair.id.clone()),
            };
            agents.extend([analyst, chair]);
            setup.agents = agents;
            setup.settings =
                Settings { order: mode.order(), seats, program: (&rules).into(), ..setup.settings };
            setup
        },
    )
}

proptest! {
    #![proptest_config(config(64))]

    /// Scopes close once, children first; budgets hold; the log alone gives the state; inputs,
    /// requests and effects have one fate each. The oracle and the ledger know only events.
    #[test]
    fn whatever_happens_the_log_is_sound_and_gives_the_state(
        setup in moves::setup(),
        moves in prop::collection::vec(moves::any_move(), 10..90),
    ) {
        let mut player = walk(&setup, &moves);
        player.check_resume();
        player.finish();
        player.oracle.check_all_closed();
    }
}

proptest! {
    #![proptest_config(config(48))]

    /// The same holds of debates: stages with a purpose, measures, and what is done between rounds.
    #[test]
    fn whatever_happens_in_a_debate_the_log_is_sound_and_gives_the_state(
        setup in debate(),
        moves in prop::collection::vec(moves::any_move(), 10..90),
    ) {
        let mut player = walk(&setup, &moves);
        player.check_resume();
        let ended = player.live.session.status == Status::Completed;
        player.drive();
        prop_assert!(!player.live.session.has_work());
        if !ended {
            player.finish();
        }
        player.oracle.check_all_closed();
        prop_assert!(Record::fold(&player.live.session.id, &player.log).is_some());
    }
}

proptest! {
    #![proptest_config(config(32))]

    /// A round that no person holds up comes to its end by itself, whatever came before.
    #[test]
    fn what_has_work_can_be_driven_to_the_end_of_its_rounds(
        setup in moves::setup(),
        moves in prop::collection::vec(moves::any_move(), 5..50),
    ) {
        let mut player = walk(&setup, &moves);
        player.drive();
        prop_assert!(!player.live.session.has_work());
        prop_assert!(player.live.session.wants().is_empty());
    }

    /// A fork at any closed round is a session of its own, and resumes like any other.
    #[test]
    fn a_fork_can_be_had_at_the_end_of_every_round(
        setup in moves::setup(),
        moves in prop::collection::vec(moves::any_move(), 5..60),
        pick in any::<prop::sample::Index>(),
    ) {
        let player = walk(&setup, &moves);
        let closed = |event: &&Event| matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. }));
        let ends: Vec<&Event> = player.log.iter().filter(closed).collect();
        prop_assume!(!ends.is_empty());
        check_fork(&player, ends[pick.index(ends.len())]);
    }

    /// Replaying is total: a log that lost, doubled or swapped events stops nobody.
    #[test]
    fn a_damaged_log_is_folded_without_a_panic(
        setup in moves::setup(),
        moves in prop::collection::vec(moves::any_move(), 5..60),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 1..12),
    ) {
        let mut log = walk(&setup, &moves).log;
        for (index, kind) in damage {
            let at = index.index(log.len());
            match kind {
                0 => log[at].body = Body::Redacted,
                1 => log.insert(at, log[at].clone()),
                _ => log.swap(at, 0),
            }
        }
        let mut live = Live::new(SessionId::new("damaged").unwrap(), &debates().programs);
        for event in &log {
            live.apply(event);
            let _ = (live.session.wants(), live.session.has_work(), live.session.window_from());
        }
    }
}

fn check_fork(player: &Player, end: &Event) {
    let past: Vec<&Event> = player.log.iter().filter(|event| event.seq <= end.seq).collect();
    let mut fork = Live::new(SessionId::new("fork").unwrap(), &debates().programs);
    past.iter().for_each(|event| fork.apply(event));
    let origin = Origin { session: player.live.session.id.clone(), seq: end.seq };
    let done =
        fork.session.settings.total_rounds.is_some_and(|total| fork.session.next_number() > total);
    let input = Command::Fork { origin, agents: None }.into();
    let forked = fork.step(&input, &Env::at(player.now), roundtable_core::Starts::Allowed);
    let Ok(events) = forked else {
        assert!(done, "a fork is refused only where no round is left");
        return;
    };
    if !fork.session.settings.auto_continue {
        assert_eq!(events.len(), 1, "nothing follows from a fork by itself");
    }
    assert_eq!(fork.session.status, Status::Active);
    let conversation = |live: &Live| {
        live.session.marks.iter().all(|mark| mark.input.conversation_id() == "ses_fork")
    };
    assert!(conversation(&fork), "what is run again here answers here");
    let json = serde_json::to_string(&fork.session).unwrap();
    let session = serde_json::from_str::<roundtable_core::session::Session>(&json).unwrap();
    let from = session.window_from();
    let log = past.into_iter().chain(&events).filter(|event| event.seq >= from);
    assert_eq!(Live::resume(session, log, &debates().programs), fork);
}
