//! Canaries across agents: what was whispered, said in someone's absence or in a private stage is in
//! no prompt of another, however much the program would like to tell.

use roundtable_core::Reject;
use roundtable_core::audience::{Audience, Viewer};
use roundtable_core::event::{Body, RoundEvent};
use roundtable_core::id::AgentId;
use roundtable_core::input::{Command, Say};
use roundtable_core::message::Image;
use roundtable_core::program::{Brief, Program, Progress, RoundView, SeatView, Step};
use roundtable_core::settings::{Order, ProgramRef, Settings};
use roundtable_core::stage::{ANSWER, Name, Stage};
use roundtable_core::tool::ToolDecl;
use serde::{Deserialize, Serialize};

use crate::table::{Table, agent, agent_with, ask};

/// What comes next in a round: who is present from here on, and stages.
#[derive(Serialize, Deserialize)]
pub struct Act {
    present: Option<Vec<AgentId>>,
    stages: Vec<Stage>,
}

/// A program that follows a plan, and puts all that it can get at into its prompts.
pub struct Plan;

impl Program for Plan {
    type Rules = Vec<Vec<Act>>;
    type State = ();
    const NAME: Name = Name::constant("plan");
    const VERSION: u32 = 1;

    fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
        let acts = &progress.rules[progress.scope.number as usize - 1];
        let mut before = 0;
        let act = acts.iter().find(|act| {
            before += act.stages.len();
            before > progress.done.len()
        });
        let Some(Act { present, stages }) = act else { return Step::close() };
        let step = Step::stages(stages.clone());
        match present {
            Some(present) => step.among(present.iter().cloned()),
            None => step,
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        let rounds = view.earlier.iter().chain([&view.round]);
        let told = |round: &RoundView<'_>| {
            let input = round.input().and_then(|input| input.text.as_deref()).into_iter();
            input
                .chain(round.spoken().map(|said| said.text.as_str()))
                .collect::<Vec<_>>()
                .join("\n")
        };
        Brief::new("plan", view.persona(), rounds.map(told).collect::<Vec<_>>().join("\n"))
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn ids<const N: usize>(names: [&str; N]) -> Vec<AgentId> {
    names.map(id).to_vec()
}

fn act<const N: usize>(present: [&str; N], stages: Vec<Stage>) -> Act {
    Act { present: Some(ids(present)), stages }
}

fn answers(names: &[&str]) -> Stage {
    Stage::new(ANSWER, names.iter().map(|name| id(name)))
}

fn planned(rounds: &Vec<Vec<Act>>) -> Table {
    let program = ProgramRef::of::<Plan>(rounds).unwrap();
    let asks = vec![ToolDecl::request_context()];
    let agents = vec![agent_with("Ada", asks), agent("Bob"), agent("Cid")];
    Table::open_with(agents, Settings { program, ..Settings::default() })
}

fn whisper(table: &mut Table, to: &[&str], text: &str) -> Say {
    let to: Audience = to.iter().map(|name| id(name)).collect();
    Say { to: Some(to), ..table.next_say(Some(text)) }
}

#[test]
fn a_whisper_is_in_no_prompt_of_those_who_did_not_receive_it() {
    let settings = Settings { order: Order::Parallel, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada"), agent("Bob")], settings);
    let image = Image::at("https://example.com/canary.png", "image/png").unwrap();
    let say = Say { images: vec![image], ..whisper(&mut table, &["bob"], "canary-whisper") };
    table.ok(Command::Say(say));
    assert!(table.prompt("r1.t2").contains("canary-whisper"));
    let ada = format!("{:?}", table.live.render(&table.turn("r1.t1")).unwrap());
    assert!(!ada.contains("canary"), "{ada}");
    table.answer("r1.t1.i1", "Nothing.");
    table.answer("r1.t2.i1", "I know.");
    table.say("And now?");
    assert!(table.prompt("r2.t2").contains("User: canary-whisper"));
    let ada = format!("{:?}", table.live.render(&table.turn("r2.t1")).unwrap());
    assert!(ada.contains("I know.") && !ada.contains("canary"), "{ada}");
    table.check();
}

#[test]
fn a_whisper_needs_words_and_someone_who_takes_part() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    let say = whisper(&mut table, &[], "Psst.");
    assert!(matches!(table.refused(Command::Say(say)), Reject::Invalid { .. }));
    let say = Say { text: None, ..whisper(&mut table, &["ada"], "") };
    assert!(matches!(table.refused(Command::Say(say)), Reject::Invalid { .. }));
    let say = whisper(&mut table, &["ada", "eve"], "Psst.");
    assert_eq!(table.refused(Command::Say(say)), Reject::UnknownAgent { agent: id("eve") });
}

#[test]
fn who_was_absent_knows_nothing_of_a_round() {
    let mut table = planned(&vec![
        vec![act(["ada"], vec![answers(&["ada"])])],
        vec![Act { present: None, stages: vec![answers(&["ada", "bob"])] }],
    ]);
    table.say("canary-input");
    table.answer("r1.t1.i1", "canary-answer");
    table.say("Who is there?");
    let (ada, bob) = (table.prompt("r2.t1"), table.prompt("r2.t2"));
    assert!(ada.contains("canary-input") && ada.contains("canary-answer"));
    assert!(!bob.contains("canary") && !bob.contains("Round 1"), "{bob}");
    assert!(bob.contains("Who is there?"));
    table.check();
}

#[test]
fn who_leaves_receives_what_was_said_before_and_nothing_after() {
    let mut table = planned(&vec![
        vec![
            act(["ada", "bob", "cid"], vec![answers(&["ada"])]),
            act(["ada", "cid"], vec![answers(&["ada"]), answers(&["cid"])]),
        ],
        vec![Act { present: None, stages: vec![answers(&["bob"])] }],
    ]);
    table.say("Begin.");
    table.answer("r1.t1.i1", "for all");
    table.answer("r1.t2.i1", "canary-later");
    assert!(table.prompt("r1.t3").contains("canary-later"));
    table.answer("r1.t3.i1", "canary-last");
    table.say("Back?");
    let bob = table.prompt("r2.t1");
    assert!(bob.contains("for all") && !bob.contains("canary"), "{bob}");
    table.check();
}

#[test]
fn a_private_stage_is_for_the_program_and_for_those_it_names() {
    let plan = |name| Stage::new(Name::constant("direct"), [id(name)]).private();
    let mut table = planned(&vec![vec![Act {
        present: None,
        stages: vec![plan("cid"), plan("ada").to([id("bob")]), answers(&["ada", "bob", "cid"])],
    }]]);
    table.say("Begin.");
    table.answer("r1.t1.i1", "canary-one");
    table.answer("r1.t2.i1", "canary-two");
    let prompts = ["r1.t3", "r1.t4", "r1.t5"].map(|turn| table.prompt(turn));
    let has = |text: &str| prompts.each_ref().map(|prompt| prompt.contains(text));
    assert_eq!(has("canary-one"), [false, false, true], "its own words alone");
    assert_eq!(has("canary-two"), [true, true, false]);
    table.check();
}

#[test]
fn seats_beside_each_other_do_not_receive_each_other() {
    let mut table = planned(&vec![vec![Act {
        present: None,
        stages: vec![answers(&["ada", "bob"]), answers(&["cid"])],
    }]]);
    table.say("Begin.");
    table.answer("r1.t1.i1", "canary");
    // Bob's model is asked again after a restart: still without Ada's words.
    let (resumed, bob) = (table.resumed(), table.turn("r1.t2"));
    assert_eq!(resumed.render(&bob), table.live.render(&bob));
    assert!(!table.prompt("r1.t2").contains("canary"));
    let viewer = table.live.window.viewer(&bob).unwrap();
    assert!(table.live.messages(&viewer).iter().all(|message| message.text != "canary"));
    table.answer("r1.t2.i1", "So.");
    assert!(table.prompt("r1.t3").contains("canary"));
    let viewer = table.live.window.viewer(&table.turn("r1.t3")).unwrap();
    assert!(table.live.messages(&viewer).iter().any(|message| message.text == "canary"));
}

#[test]
fn answers_to_questions_go_to_those_who_are_present() {
    let mut table = planned(&vec![
        vec![Act { present: None, stages: vec![answers(&["ada"])] }],
        vec![act(["ada"], vec![answers(&["ada"])])],
        vec![Act { present: None, stages: vec![answers(&["ada", "bob"])] }],
    ]);
    table.say("Begin.");
    let wanted = serde_json::json!({ "query": "the price", "reason": "to decide" });
    table.asks("r1.t1.i1", "", vec![ask("request_context", wanted)]);
    table.answer("r1.t1.i2", "Later.");
    let results = vec![table.found("q1", "canary-price")];
    table.say_with("Go on.", results).unwrap();
    assert!(table.prompt("r2.t1").contains("canary-price"));
    table.answer("r2.t1.i1", "Cheap.");
    table.say("And?");
    assert!(table.prompt("r3.t1").contains("canary-price"));
    assert!(!table.prompt("r3.t2").contains("canary-price"));
}

#[test]
fn an_audience_that_is_absent_costs_no_bytes() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Begin.");
    let is_open = |body: &Body| matches!(body, Body::Round(RoundEvent::RoundOpened { .. }));
    let opened = table.log.iter().find(|event| is_open(&event.body)).unwrap();
    let text = serde_json::to_string(opened).unwrap();
    assert!(!text.contains("audience"), "{text}");
    assert!(!serde_json::to_string(&table.log).unwrap().contains("\"to\":["));
    assert!(Viewer::Everything.received(None, opened.seq));
}
