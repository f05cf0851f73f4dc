//! A restart between any two calls changes nothing of what a debate says.

use std::path::Path;

use roundtable::core::agent::Agent;
use roundtable::debate::{Consensus, Findings, Record};
use roundtable::prelude::*;

use super::{analysis, position, question};

fn script() -> Script {
    Script::default()
        .voice("ann", [question("How many?", "required"), position(Some("YES"), "Begin now.", 0.6)])
        .voice("ann", [position(Some("YES"), "Begin small.", 0.8)])
        .voice("bob", [position(Some("NO"), "Wait for data.", 0.7)])
        .voice("bob", [position(Some("YES"), "Begin small.", 0.9)])
        .voice("cyd", [position(Some("NEUTRAL"), "Ask the users.", 0.5)])
        .voice("judge", [analysis(0.4)])
        .voice("judge", [analysis(0.8)])
        .voice(
            "judge/synthesize",
            [Reply::text(r#"{"conclusion": "Begin.", "recommendation": "Small."}"#)],
        )
}

/// Everything that can be asked about the debate after it.
#[derive(Debug, PartialEq)]
struct Story {
    first: Findings,
    second: Findings,
    consensus: Consensus,
    recommendation: String,
    minutes: String,
    calls: usize,
}

/// One engine per call, or one for all.
struct House<'a> {
    directory: &'a Path,
    restarts: bool,
    engine: Option<Engine>,
    calls: usize,
    model: ScriptedModel,
}

impl House<'_> {
    async fn engine(&mut self) -> Engine {
        if let Some(engine) = self.engine.clone() {
            if !self.restarts {
                return engine;
            }
            engine.shutdown().await;
            self.calls += self.model.count();
            self.model = ScriptedModel::new(script());
        }
        let builder =
            Engine::builder().sqlite(self.directory).custom_model("scripted", self.model.clone());
        let engine = builder.build().await.unwrap();
        self.engine = Some(engine.clone());
        engine
    }

    async fn tell(&mut self) -> Story {
        let id = {
            let judge = Agent::new("Judge", "scripted").unwrap();
            let wish = self
                .engine()
                .await
                .debate("Should we begin?")
                .agent("Ann")
                .agent("Bob")
                .agent("Cyd");
            wish.rounds(2).analyst(judge).key("one").start().await.unwrap().id().clone()
        };
        let first = self.engine().await.find_debate(&id).wait(1).await.unwrap();
        let results =
            first.requests.iter().map(|r| ContextResult::found(r.id.clone(), "Two")).collect();
        let wish = ContinueRequest {
            results,
            after_round: Some(1),
            focus: Some("The cost?".to_owned()),
            ..ContinueRequest::default()
        };
        for _ in 0..2 {
            self.engine().await.find_debate(&id).continue_round(wish.clone()).await.unwrap();
        }
        let second = self.engine().await.find_debate(&id).wait(2).await.unwrap();
        for _ in 0..2 {
            self.engine().await.find_debate(&id).synthesize(None).await.unwrap();
        }
        let summed = self.engine().await.find_debate(&id).synthesize(None).await.unwrap();
        let consensus = self.engine().await.find_debate(&id).consensus(Some(1)).await.unwrap();
        let record: Record = self.engine().await.find_debate(&id).record().await.unwrap();
        self.engine().await.shutdown().await;
        Story {
            first,
            second,
            consensus,
            recommendation: summed.synthesis.recommendation,
            minutes: without_times(&record.minutes()),
            calls: self.calls + self.model.count(),
        }
    }
}

/// The day is not what is compared.
fn without_times(minutes: &str) -> String {
    minutes.lines().filter(|line| !line.contains(" UTC, ")).collect::<Vec<_>>().join("\n")
}

/// The time of a request is not either.
fn timeless(mut told: Story) -> Story {
    for request in &mut told.first.requests {
        request.at = roundtable::core::Timestamp::UNIX_EPOCH;
    }
    told
}

#[tokio::test]
async fn a_restart_between_any_two_calls_gives_the_same_report_and_the_same_bill() {
    let mut told = Vec::new();
    for restarts in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let model = ScriptedModel::new(script());
        let mut house =
            House { directory: directory.path(), restarts, engine: None, calls: 0, model };
        told.push(timeless(house.tell().await));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].recommendation, "Small.");
    assert_eq!(told[0].calls, 10, "five calls and four in the rounds, one synthesis");
}
