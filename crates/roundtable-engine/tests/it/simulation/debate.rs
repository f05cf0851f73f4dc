//! Debates with a crash before and after every commit: every stage, the measure, what is done
//! between rounds, and the end by consensus.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, Opening, RoundEvent, SessionEvent};
use roundtable_core::id::AgentId;
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolDecl;
use roundtable_debate::{Debate, Mode, Purpose, Record, Rules};
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{Act, Scenario, Sight, Visited};
use roundtable_testing::{ProgramSet, agent};
use serde_json::json;

use super::people::{call, count, events, finishes, people, say};

const TOPIC: &str = "Should the town build a tram?";

fn debate(mode: Mode, rounds: u32, exit_on_consensus: bool) -> Act {
    let mut agents: Vec<Agent> = ["Ann", "Bob"].iter().map(|name| agent(name)).collect();
    agents[0].tools.push(ToolDecl::request_context());
    let seats = agents.iter().map(|agent| agent.id.clone()).collect();
    let chair = (mode == Mode::Council).then(|| agent("Chair"));
    let judge = agent("Judge");
    let rules = Rules {
        mode,
        exit_on_consensus,
        perspectives: Vec::new(),
        analyst: Some(judge.id.clone()),
        chair: chair.as_ref().map(|chair| chair.id.clone()),
    };
    agents.extend(chair);
    agents.push(judge);
    let settings = Settings {
        order: mode.order(),
        seats,
        total_rounds: Some(rounds),
        program: (&rules).into(),
        ..Settings::default()
    };
    Act::Open(Box::new(Opening {
        kind: Debate::KIND,
        topic: TOPIC.to_owned(),
        agents,
        settings,
        actor: None,
        tenant: None,
    }))
}

fn position(stance: &str, position: &str) -> Reply {
    Reply::text(json!({ "stance": stance, "position": position, "confidence": 0.6 }).to_string())
}

fn analysis(agreement: f64) -> Reply {
    Reply::text(json!({ "agreement": agreement, "summary": "So it is." }).to_string())
}

/// The debate, as its log tells it.
fn record(evidence: &Evidence) -> Record {
    let session = evidence.logs.keys().next().expect("a session");
    Record::fold(session, events(evidence)).expect("a debate")
}

/// Tries every point of the story, and that every point was tried; what the debate says is the same
/// wherever the crash was.
fn everywhere(scenario: &Scenario, check: impl Fn(&str, &Evidence)) {
    let (undisturbed, _) = scenario.undisturbed();
    let told = told(&record(&undisturbed));
    let same = |label: &str, evidence: &Evidence| {
        assert_eq!(self::told(&record(evidence)), told, "{label}");
        check(label, evidence);
    };
    let Visited { commits, crashes } = scenario.crash_everywhere(same);
    assert!(commits > 0 && crashes >= 2 * commits, "{}: {crashes} of {commits}", scenario.name);
    let twice = scenario.crash_twice_everywhere(same);
    let faults = scenario.fail_everywhere(same);
    println!(
        "{}: {commits} commits, {crashes} crashes, {twice} crashes in recovery, {faults} faults",
        scenario.name
    );
}

/// What a debate says, without times and without calls that had to be made again.
fn told(record: &Record) -> Vec<String> {
    let mut lines = vec![format!("{:?} {:?}", record.status, record.completed_because)];
    for round in &record.rounds {
        lines.push(format!("round {} {:?} {:?}", round.number, round.outcome, round.measure));
        let mut turns: Vec<String> = round
            .turns
            .iter()
            .map(|turn| {
                format!("{} {:?} {:?} {}", turn.agent, turn.purpose, turn.outcome, turn.text)
            })
            .collect();
        turns.sort();
        lines.extend(turns);
    }
    lines.extend(
        record.syntheses.iter().filter(|one| one.turn.answered()).map(|one| one.turn.text.clone()),
    );
    lines
}

#[test]
fn a_council_with_an_analyst_and_a_synthesis() {
    let scenario = Scenario {
        name: "council",
        programs: ProgramSet::default,
        script: || {
            let ranking = json!({ "ranking": ["Member B", "Member A"], "reasons": "B is clear." });
            Script::default()
                .voice("ann", [position("YES", "Build it now")])
                .voice("bob", [position("NO", "Wait for bids").after(10)])
                .voice("ann/rank", [Reply::text(ranking.to_string())])
                .voice("bob/rank", [Reply::text("Member A").after(5)])
                .voice("chair", [position("YES", "Build one line")])
                .voice("judge", [analysis(0.4)])
                .voice("judge/synthesize", [Reply::text("{\"conclusion\": \"One line.\"}")])
        },
        clients: || {
            let acts = vec![
                debate(Mode::Council, 1, false),
                say(TOPIC),
                Act::Until(Sight::Closed(1)),
                Act::Send(Debate::synthesize(None)),
            ];
            people("council", acts)
        },
    };
    everywhere(&scenario, |label, evidence| {
        let finishes = finishes(evidence);
        assert_eq!(finishes.len(), 7, "{label}: {finishes:?}");
        assert!(finishes.values().all(|times| *times == 1), "{label}: {finishes:?}");
        let measured = |body: &Body| matches!(body, Body::Round(RoundEvent::JobFinished { .. }));
        assert_eq!(count(evidence, measured), 1, "{label}");
        let aside = |body: &Body| matches!(body, Body::Round(RoundEvent::RoundAsideOpened { .. }));
        assert_eq!(count(evidence, aside), 1, "{label}");
        let verdicts = record(evidence).rounds[0].turns_for(Purpose::Verdict).count();
        assert_eq!(verdicts, 1, "{label}");
    });
}

#[test]
fn an_expert_panel_that_asks_people_and_ends_by_consensus() {
    let scenario = Scenario {
        name: "panel",
        programs: ProgramSet::default,
        script: || {
            let views = json!({ "perspectives": [{ "name": "riders" }, { "name": "budget" }] });
            let ask = json!({ "query": "How many?", "reason": "I have to know." });
            Script::default()
                .voice(
                    "ann",
                    [Reply::calls([call("request_context", ask)]), position("YES", "Build it")],
                )
                .voice("ann", [position("YES", "Build it")])
                .voice("bob", [position("YES", "Build it")])
                .voice("judge", [analysis(0.95)])
                .voice("judge/frame", [Reply::text(views.to_string())])
        },
        clients: || {
            let acts = vec![
                debate(Mode::ExpertPanel, 5, true),
                say(TOPIC),
                Act::Until(Sight::Asked(1)),
                Act::Until(Sight::Rest),
                say("And now?"),
            ];
            people("panel", acts)
        },
    };
    everywhere(&scenario, |label, evidence| {
        let record = record(evidence);
        assert_eq!(record.rounds.len(), 2, "{label}");
        let first = &record.rounds[0];
        assert!(first.measure.as_ref().is_some_and(|m| m.exit.is_none()), "{label}: someone waits");
        assert_eq!(record.perspectives()[0].name, "riders", "{label}");
        let framed: Vec<&AgentId> =
            first.turns_for(Purpose::Frame).map(|turn| &turn.agent).collect();
        assert_eq!(framed.len(), 1, "{label}");
        let completed = |body: &Body| matches!(body, Body::Session(SessionEvent::SessionCompleted { reason }) if reason.starts_with("consensus"));
        assert_eq!(count(evidence, completed), 1, "{label}");
    });
}
