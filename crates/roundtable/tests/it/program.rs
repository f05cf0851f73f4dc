//! A program from outside of the workspace's products: the auction of `examples/`.

#[path = "../../../../examples/auction/auction.rs"]
mod auction;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use auction::{Auction, CREDIT, Credit, Rules, State};
use roundtable::core::event::{Body, Event, RoundEvent};
use roundtable::core::id::SessionId;
use roundtable::core::input::{Command, OnBusy};
use roundtable::prelude::*;
use roundtable::program::{AgentId, Job, JobError, JobOutcome, JobRequest, Opening};
use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{Act, Client, Conduct, Dice, Scenario, Seed, Visited};
use roundtable_testing::walk::Walk;
use roundtable_testing::{ProgramSet, RecordingModel, agent};
use serde_json::{Value, json};

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn opening() -> Opening {
    let agents = ["Ada", "Ben", "Cleo"].map(agent).to_vec();
    let rules = Rules {
        lot: "the clock".to_owned(),
        auctioneer: id("cleo"),
        bidders: vec![id("ada"), id("ben")],
    };
    Opening::of::<Auction>("A clock", agents, &rules).unwrap()
}

fn credit() -> Credit {
    Credit(BTreeMap::from([(id("ada"), 50), (id("ben"), 80)]))
}

/// Ben bids more than he has in the first round, and less than the price in the second.
fn script() -> Script {
    Script::default()
        .voice("ada", [Reply::text("I bid 40.")])
        .voice("ada", [Reply::text("pass")])
        .voice("ben", [Reply::text("90 for me.")])
        .voice("ben", [Reply::text("Fine: 35.")])
        .voice("cleo", [Reply::text("Ada leads.")])
        .voice("cleo", [Reply::text("Gone.")])
}

async fn engine(model: RecordingModel) -> Engine {
    let builder = Engine::builder().custom_model("scripted", model);
    builder.program(Auction).job(CREDIT, credit()).build().await.unwrap()
}

fn state_of(state: &roundtable::core::session::Session) -> (Option<AgentId>, u64, bool) {
    let State { leader, price, raised, .. } = state.state_of::<Auction>().unwrap();
    (leader, price, raised)
}

#[tokio::test]
async fn a_program_decides_in_mid_round_on_what_was_said_and_computed() {
    let engine = engine(RecordingModel::new(ScriptedModel::new(script()))).await;
    let auction = engine.open(opening()).await.unwrap();
    auction.ask("Who bids?").await.unwrap();
    assert_eq!(state_of(&auction.state().await.unwrap()), (Some(id("ada")), 40, true));
    auction.ask("Who bids more?").await.unwrap();
    assert_eq!(state_of(&auction.state().await.unwrap()), (Some(id("ada")), 40, false));
    let log = auction.log().await.unwrap();
    let last = log.last().unwrap().to_string();
    assert!(last.ends_with("session_completed agt_ada pays 40"), "{last}");
    engine.shutdown().await;
}

/// What a take changed in the state is undone with it, and done again when it is selected.
#[tokio::test]
async fn the_state_follows_the_take_that_counts() {
    /// Covers Ada in the first take and Ben in the second.
    struct Fickle(AtomicUsize);
    #[async_trait]
    impl Job for Fickle {
        async fn run(&self, _: JobRequest) -> Result<Value, JobError> {
            let run = self.0.fetch_add(1, Ordering::Relaxed);
            let covered = ["agt_ada", "agt_ben"][run];
            Ok(json!([covered]))
        }
    }
    let builder = Engine::builder().custom_model("scripted", ScriptedModel::new(script()));
    let job = Fickle(AtomicUsize::new(0));
    let engine = builder.program(Auction).job(CREDIT, job).build().await.unwrap();
    let auction = engine.open(opening()).await.unwrap();
    auction.ask("Who bids?").await.unwrap();
    let first = (Some(id("ada")), 40, true);
    assert_eq!(state_of(&auction.state().await.unwrap()), first);

    auction.command(Command::Regenerate).await.unwrap();
    let closed = |event: &Event| event.body.kind() == "round_closed";
    let mut events = auction.events(Since::Start).await.unwrap();
    let mut rounds = 0;
    while rounds < 2 {
        rounds += usize::from(closed(&events.next().await.unwrap().unwrap()));
    }
    let second = (Some(id("ben")), 90, true);
    assert_eq!(state_of(&auction.state().await.unwrap()), second);

    auction.command(Command::SelectTake { number: 1, take: 1 }).await.unwrap();
    assert_eq!(state_of(&auction.state().await.unwrap()), first);
    auction.command(Command::SelectTake { number: 1, take: 2 }).await.unwrap();
    assert_eq!(state_of(&auction.state().await.unwrap()), second);
    engine.shutdown().await;
}

#[tokio::test]
async fn what_is_said_in_a_private_stage_is_in_no_other_prompt() {
    let model = RecordingModel::new(ScriptedModel::new(script()));
    let engine = engine(model.clone()).await;
    let auction = engine.open(opening()).await.unwrap();
    auction.ask("Who bids?").await.unwrap();
    auction.ask("Who bids more?").await.unwrap();
    engine.shutdown().await;
    let requests = model.requests();
    assert_eq!(requests.len(), 6);
    for request in requests {
        let prompt = format!("{:?}", request.messages);
        assert!(!prompt.contains("90 for me"), "{prompt}");
        assert!(!prompt.contains("I bid 40"), "{prompt}");
    }
}

#[tokio::test]
async fn a_panel_a_debate_and_an_auction_run_in_one_engine_at_once() {
    let model = RecordingModel::new(ScriptedModel::new(script()));
    let engine = engine(model.clone()).await;
    let panel = engine.panel("PANEL-CANARY").agent("Pia").agent("Pim").open().await.unwrap();
    let debate = engine.debate("DEBATE-CANARY").agent("Dan").agent("Dora").rounds(1);
    let auction = engine.open(opening()).await.unwrap();
    let (panel, debate, auction) =
        tokio::join!(panel.ask("PANEL-CANARY?"), debate.run(), auction.ask("AUCTION-CANARY?"),);
    assert_eq!(panel.unwrap().answers.len(), 2);
    assert_eq!(auction.unwrap().number, 1);
    debate.unwrap();
    engine.shutdown().await;
    let canaries = ["PANEL-CANARY", "DEBATE-CANARY", "AUCTION-CANARY"];
    let mut seen = BTreeMap::new();
    for request in model.requests() {
        let prompt = format!("{request:?}");
        let own: Vec<&str> = canaries.into_iter().filter(|c| prompt.contains(c)).collect();
        assert!(own.len() <= 1, "{prompt}");
        *seen.entry(own.first().copied()).or_insert(0) += 1;
    }
    // The prompts of the auction are the program's own and do not repeat the message.
    assert_eq!(seen[&Some("PANEL-CANARY")], 2);
    assert!(seen[&Some("DEBATE-CANARY")] >= 2, "{seen:?}");
}

#[tokio::test]
async fn a_process_without_the_program_reads_its_sessions_and_does_not_drive_them() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || {
        let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(script()));
        engine.sqlite(directory.path())
    };
    let first = builder().program(Auction).job(CREDIT, credit()).build().await.unwrap();
    let auction = first.open(opening()).await.unwrap();
    auction.ask("Who bids?").await.unwrap();
    let before = auction.state().await.unwrap();
    first.shutdown().await;

    let without = builder().build().await.unwrap();
    let read = without.session(auction.id());
    let log = read.log().await.unwrap();
    assert_eq!(log.last().unwrap().seq, before.head);
    let refused = read.ask("Who bids more?").await.unwrap_err().to_string();
    assert!(refused.contains("auction"), "{refused}");
    assert_eq!(read.log().await.unwrap().len(), log.len(), "nothing was written");
    without.shutdown().await;

    let again = builder().program(Auction).job(CREDIT, credit()).build().await.unwrap();
    let auction = again.session(auction.id());
    assert_eq!(state_of(&auction.state().await.unwrap()), state_of(&before));
    auction.ask("Who bids more?").await.unwrap();
    assert_eq!(state_of(&auction.state().await.unwrap()), (Some(id("ada")), 40, false));
    again.shutdown().await;
}

#[tokio::test]
async fn an_opening_that_the_program_refuses_opens_nothing() {
    let engine = engine(RecordingModel::new(ScriptedModel::new(script()))).await;
    let mut opening = opening();
    opening.agents.pop();
    let refused = engine.open(opening).await.unwrap_err().to_string();
    assert!(refused.contains("agt_cleo is not a participant"), "{refused}");
    assert_eq!(engine.sessions(10).await.unwrap().len(), 0);
    engine.shutdown().await;
}

/// Whatever happens in whatever order: the log is sound, gives the state, and can be replayed.
#[test]
fn whatever_happens_in_an_auction_the_log_is_sound_and_gives_the_state() {
    Walk::new(Auction)
        .job(CREDIT, |bids| match bids.as_object() {
            Some(bids) if bids.len() == 1 => JobOutcome::Failed { error: "down".to_owned() },
            Some(bids) => JobOutcome::Done { data: bids.keys().cloned().collect() },
            None => panic!("bids are an object"),
        })
        .words(|number| format!("{} credits", number % 200))
        .run(|agents| json!({ "lot": "it", "auctioneer": agents[0], "bidders": agents }));
}

fn auction_scenario() -> Scenario {
    Scenario {
        name: "auction",
        script,
        programs: || ProgramSet::default().program(Auction).job(CREDIT, credit()),
        clients: || {
            let say = |text: &str| Act::Say(text.to_owned(), OnBusy::Queue);
            let acts = vec![Act::Open(Box::new(opening())), say("Who bids?"), say("More?")];
            let session = SessionId::new("auction").unwrap();
            let conduct = Conduct::Answers(Dice::new(Seed(1)));
            vec![Client::new("user", &session, conduct, acts)]
        },
    }
}

/// Every start of a job, and every finish: once each, in order, wherever the crash was.
fn check(label: &str, evidence: &Evidence) {
    let events = evidence.logs.values().flatten().map(|stored| &*stored.event);
    let told: Vec<String> = events
        .filter_map(|event| match &event.body {
            Body::Round(RoundEvent::JobFinished { outcome, .. }) => {
                Some(format!("covered {}", outcome.data().unwrap()))
            }
            Body::Round(RoundEvent::StagesAdded { stages, .. }) => stages[0].seats[0].note.clone(),
            Body::Round(RoundEvent::RoundClosed { outcome, .. }) => Some(format!("{outcome:?}")),
            _ => None,
        })
        .collect();
    let expected = [
        "covered [\"agt_ada\"]",
        "Ada leads with 40",
        "Completed",
        "covered []",
        "nobody raised the bid",
        "Completed",
    ];
    assert_eq!(told, expected, "{label}");
}

#[test]
fn a_crash_at_every_commit_of_an_auction_changes_nothing_that_it_decides() {
    let scenario = auction_scenario();
    let Visited { commits, crashes } = scenario.crash_everywhere(check);
    assert!(commits > 0 && crashes >= 2 * commits, "{crashes} crashes of {commits} commits");
    assert!(scenario.crash_twice_everywhere(check) > 0);
    assert!(scenario.fail_everywhere(check) > 0);
}
