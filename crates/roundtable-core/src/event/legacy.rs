//! The first log format: debates were a part of every session, stages were lists of agents, and what
//! a stage was for followed from the rules of its debate. Frozen: it says what those logs meant when
//! they were written. Nothing else in this crate knows a product.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::id::AgentId;
use crate::settings::{ProgramRef, Settings};
use crate::stage::{ANSWER, Name, Stage, Tools};

/// The program of sessions whose settings had rules of a debate.
const DEBATE: Name = Name::constant("debate");

/// The purpose of a stage that was not recorded.
const UNRECORDED: Name = Name::constant("unrecorded");

const SYNTHESIZE: Name = Name::constant("synthesize");

/// `session_opened`, from version 1 to 2: the rules of a debate are those of its program.
pub(super) fn session_opened(mut data: Value) -> Value {
    let settings = data.get_mut("settings").and_then(Value::as_object_mut);
    if let Some(settings) = settings
        && let Some(rules) = settings.remove("debate").filter(|rules| !rules.is_null())
    {
        settings.insert("program".to_owned(), json!({ "name": DEBATE, "rules": rules }));
    }
    data
}

/// `session_imported`, from version 1 to 2: all were records of debates.
#[expect(clippy::needless_pass_by_value, reason = "the form of every upcaster")]
pub(super) fn session_imported(data: Value) -> Value {
    let rounds = data.get("rounds").and_then(Value::as_array).map(Vec::as_slice);
    let rounds = rounds.unwrap_or_default();
    let completed = rounds.iter().filter(|round| round["outcome"] == "completed").count();
    json!({
        "program": DEBATE,
        "topic": data.get("topic").cloned().unwrap_or_default(),
        "total_rounds": data.get("totalRounds").cloned().unwrap_or_default(),
        "completed": completed,
        "last": rounds.last().map_or(json!(0), |round| round["number"].clone()),
        "data": data,
    })
}

/// `round_measured`: what was measured is the result of the first job of its round.
pub(super) fn round_measured(mut event: Value) -> Value {
    let data = event.get_mut("data").map(Value::take).unwrap_or_default();
    let ends = data.get("exit").and_then(Value::as_str).map(|exit| match exit {
        "agreement" => "consensus: the panel agrees (agreement of 0.9 or more)",
        "convergence" => "consensus: nobody's position changed in two rounds in a row",
        _ => "consensus: everyone is sure (confidence of 0.85 or more)",
    });
    let mut finished = json!({ "name": "measure", "ordinal": 1, "outcome": "done", "data": data });
    if let (Some(ends), Some(map)) = (ends, finished.as_object_mut()) {
        map.insert("ends".to_owned(), json!(ends));
    }
    json!({ "kind": "job_finished", "data": finished })
}

/// `round_opened`, from version 1 to 2.
pub(super) fn round_opened(mut data: Value) -> Value {
    if let Some(stages) = data.get_mut("stages").and_then(Value::as_array_mut) {
        for stage in stages {
            *stage = json!({ "purpose": UNRECORDED, "seats": seats(stage) });
        }
    }
    data
}

/// `round_aside_opened`, from version 1 to 2: all were syntheses.
pub(super) fn round_aside_opened(mut data: Value) -> Value {
    if let Some(map) = data.as_object_mut() {
        let agents = Value::Array(map.remove("agent").into_iter().collect());
        let seats = seats(&agents);
        let stage =
            json!({ "purpose": SYNTHESIZE, "seats": seats, "public": false, "tools": "none" });
        map.insert("purpose".to_owned(), json!(SYNTHESIZE));
        map.insert("stages".to_owned(), json!([stage]));
    }
    data
}

fn seats(agents: &Value) -> Value {
    let agents = agents.as_array().map(Vec::as_slice).unwrap_or_default();
    agents.iter().map(|agent| json!({ "agent": agent })).collect()
}

/// The stages of a round, with what was not recorded of them filled in.
pub fn stages<'a>(stages: &'a [Stage], settings: &Settings) -> Cow<'a, [Stage]> {
    if stages.iter().all(|stage| stage.purpose != UNRECORDED) {
        return Cow::Borrowed(stages);
    }
    let ProgramRef { name, rules } = &settings.program;
    let rules = rules.as_object().filter(|_| *name == DEBATE);
    let stage = |(index, stage): (usize, &Stage)| {
        let purpose = rules.map_or(ANSWER, |rules| purpose(rules, index, stage));
        let agents = stage.agents().cloned();
        filled(purpose, agents)
    };
    stages.iter().enumerate().map(stage).collect()
}

/// A stage, with the rules that its purpose had.
fn filled(purpose: Name, agents: impl IntoIterator<Item = AgentId>) -> Stage {
    let judges = ["rank", "verdict", "analyze"].contains(&purpose.as_str());
    let answers = purpose == ANSWER;
    Stage {
        public: answers || purpose.as_str() == "verdict",
        counts: answers,
        tools: if answers { Tools::Own } else { Tools::None },
        if_answered: judges,
        ..Stage::new(purpose, agents)
    }
}

/// What a stage was for. Analyst and chair have no seat, so whether they are in it tells.
fn purpose(rules: &Map<String, Value>, index: usize, stage: &Stage) -> Name {
    let has = |judge: &str| {
        let judge = rules.get(judge).and_then(Value::as_str);
        judge.is_some_and(|judge| stage.agents().any(|agent| agent.as_str() == judge))
    };
    if has("analyst") {
        return if index == 0 { Name::constant("frame") } else { Name::constant("analyze") };
    }
    if has("chair") {
        return Name::constant("verdict");
    }
    let council = rules.get("mode").and_then(Value::as_str) == Some("council");
    if council && index > 0 { Name::constant("rank") } else { ANSWER }
}
