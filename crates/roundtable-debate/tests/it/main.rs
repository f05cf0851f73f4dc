//! Debates, decided and rendered without any model: a hall to hold them in.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::disallowed_methods,
    reason = "a test stops loudly when an assumption is wrong"
)]

#[path = "../../../roundtable-core/tests/it/table.rs"]
#[allow(dead_code, reason = "the table of the core's tests has more than debates need")]
mod table;
#[path = "../../../roundtable-core/tests/it/trace.rs"]
#[allow(dead_code, reason = "the table of the core's tests has more than debates need")]
mod trace;
mod vectors;

mod council;
mod depth;
mod exits;
mod export;
mod judges;
mod markup;
mod measures;
mod privacy;
mod prompts;
mod reservations;
mod roles;
mod synthesis;

use roundtable_core::Live;
use roundtable_core::agent::Agent;
use roundtable_core::event::Opening;
use roundtable_core::id::{AgentId, RoundId};
use roundtable_core::input::{Command, Report, Unanswered};
use roundtable_core::job::JobOutcome;
use roundtable_core::program::Programs;
use roundtable_core::prompt::RenderedPrompt;
use roundtable_core::settings::Settings;
use roundtable_core::want::Want;
use roundtable_debate::{Debate, Measuring, Mode, Record, Rules};
use serde_json::json;

use crate::table::{Table, agent, reply};
use crate::vectors::vector;

/// The programs that sessions under test can run.
fn programs() -> Programs {
    Programs::default().with(Debate)
}

const TOPIC: &str = "Should the town build a tram?";

/// A model call that a debate asks for.
#[derive(Debug, Clone)]
struct Asked {
    /// Who is asked, without the prefix.
    agent: String,
    /// For what: the prompt's name.
    prompt: String,
    round: u32,
    rendered: RenderedPrompt,
}

/// A debate under test.
struct Hall {
    table: Table,
    /// Every model call so far, in order.
    asked: Vec<Asked>,
}

/// What is held, by whom, how.
struct Wish {
    rules: Rules,
    names: Vec<String>,
    rounds: u32,
    change: fn(&mut Opening),
}

impl Wish {
    /// A debate of Ann, Bob and Cyd in three rounds.
    fn of(mode: Mode) -> Self {
        let names = ["Ann", "Bob", "Cyd"].map(str::to_owned).to_vec();
        Self { rules: Rules { mode, ..Rules::default() }, names, rounds: 3, change: |_| {} }
    }

    /// The same with someone who analyses and, in a council, someone in the chair.
    fn judged(mode: Mode) -> Self {
        let mut wish = Self::of(mode);
        wish.rules.analyst = Some(id("judge"));
        wish.rules.chair = (mode == Mode::Council).then(|| id("chair"));
        wish
    }

    fn opening(&self) -> Opening {
        let mut agents: Vec<Agent> = self.names.iter().map(|name| agent(name)).collect();
        let seats = agents.iter().map(|agent| agent.id.clone()).collect();
        agents.extend(self.rules.chair.as_ref().map(|_| agent("Chair")));
        agents.extend(self.rules.analyst.as_ref().map(|_| agent("Judge")));
        let settings = Settings {
            order: self.rules.mode.order(),
            seats,
            total_rounds: Some(self.rounds),
            program: (&self.rules).into(),
            ..Settings::default()
        };
        let mut opening = Opening {
            kind: Debate::KIND,
            topic: TOPIC.to_owned(),
            agents,
            settings,
            actor: None,
            tenant: None,
        };
        (self.change)(&mut opening);
        opening
    }

    fn open(&self) -> Hall {
        let mut table = Table::empty("debate");
        table.ok(Command::Open(Box::new(self.opening())));
        Hall { table: table.quietly(), asked: Vec::new() }
    }
}

impl Hall {
    /// Runs a round to its end. `says` gives what each call is answered with; an error fails it.
    fn round(&mut self, focus: Option<&str>, says: impl Fn(&Asked) -> Result<String, String>) {
        match focus {
            Some(focus) => self.table.say(focus),
            None => self.table.go_on(),
        };
        self.settle(says);
    }

    /// The first round, with the topic.
    fn first(&mut self, says: impl Fn(&Asked) -> Result<String, String>) {
        self.round(Some(TOPIC), says);
    }

    /// Answers everything that is wanted, until nothing is.
    fn settle(&mut self, says: impl Fn(&Asked) -> Result<String, String>) {
        while let Some(want) = self.table.session().wants().into_iter().next() {
            match want {
                Want::CallModel { turn, iteration, attempt, .. } => {
                    let asked = self.asked(&turn);
                    let said = says(&asked);
                    self.asked.push(asked);
                    self.table.ok(match said {
                        Ok(text) => Report::ModelReplied {
                            iteration,
                            attempt,
                            reply: reply(&text, Vec::new()),
                        },
                        Err(error) => Report::ModelFailed {
                            iteration,
                            attempt,
                            error,
                            unanswered: Unanswered::Refused,
                        },
                    });
                }
                Want::RunJob { round, ordinal, .. } => {
                    let outcome = measure(&self.table.live, &round);
                    self.table.ok(Report::JobRan { round, ordinal, outcome });
                }
                other => panic!("a debate without tools wants {other:?}"),
            }
        }
    }

    fn asked(&self, turn: &roundtable_core::id::TurnId) -> Asked {
        let live = &self.table.live;
        let (rendered, _) = live.render(turn).unwrap();
        let (round, open) = live.session.find_turn(turn).unwrap();
        Asked {
            agent: open.agent.suffix().to_owned(),
            prompt: live.window.prompt(&live.session, turn).unwrap().name,
            round: round.number,
            rendered,
        }
    }

    fn record(&self) -> Record {
        Record::fold(&self.table.session().id, &self.table.log).unwrap()
    }

    /// Who was asked for what in a round, in order.
    fn calls(&self, round: u32) -> Vec<String> {
        let own = self.asked.iter().filter(|asked| asked.round == round);
        own.map(|asked| format!("{} {}", asked.agent, asked.prompt)).collect()
    }
}

/// What measuring a round comes to.
fn measure(live: &Live, round: &RoundId) -> JobOutcome {
    let input = live.job_input(round).unwrap();
    let measuring: Measuring = serde_json::from_value(input).unwrap();
    let vectors = measuring.texts.iter().map(|text| vector(text)).collect();
    let data = serde_json::to_value(measuring.finish("words", vectors)).unwrap();
    JobOutcome::Done { data }
}

fn id(suffix: &str) -> AgentId {
    AgentId::new(suffix).unwrap()
}

/// An answer as a model gives it.
fn position(stance: Option<&str>, position: &str, confidence: f64) -> String {
    json!({
        "stance": stance, "position": position, "reasoning": format!("Because: {position}"),
        "confidence": confidence, "keyPoints": ["it is useful"], "citations": []
    })
    .to_string()
}

/// What a model says that follows its instructions.
fn fitting(asked: &Asked) -> Result<String, String> {
    let Asked { agent, round, .. } = asked;
    Ok(match asked.prompt.as_str() {
        "frame" => json!({ "perspectives": [
            { "name": "riders", "description": "those who would use it" },
            { "name": "budget", "description": "those who pay for it" },
            { "name": "climate", "description": "what it spares the air" }
        ] })
        .to_string(),
        "rank" => json!({ "ranking": ["Member B", "Member A", "Member C"], "reasons": "B is clearest." }).to_string(),
        "analyze" => json!({
            "agreement": 0.5, "clusters": [], "commonGround": ["buses are full"], "disagreements": [],
            "partialAgreements": [], "conditions": [], "uncertainties": [], "summary": "Half agree.",
            "groupthinkWarning": null
        })
        .to_string(),
        "synthesize" => json!({
            "commonGround": ["buses are full"], "keyDifferences": ["the price"], "evolutionSummary": "Bob moved.",
            "conclusion": "Build a line.", "recommendation": "Ask for bids.", "confidence": 0.7
        })
        .to_string(),
        _ => {
            let what = match agent.as_str() {
                "ann" => "rails carry crowds",
                "bob" => "rails cost less than roads",
                _ => "rails are quiet",
            };
            position(Some("YES"), &format!("In round {round} it holds that {what}"), 0.7)
        }
    })
}
