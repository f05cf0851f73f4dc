//! Rounds of the first log format, whose stages were lists of agents: what a stage was for followed
//! from the rules of its debate. Frozen: it says what those logs meant when they were written.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::debate::{Mode, Purpose, Rules};
use crate::id::AgentId;
use crate::settings::Settings;
use crate::stage::{Name, Stage};

/// The purpose of a stage that was not recorded.
const UNRECORDED: Name = Name::constant("unrecorded");

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
        let purpose = Purpose::Synthesise.name();
        let seats = seats(&agents);
        let stage = json!({ "purpose": purpose, "seats": seats, "public": false, "tools": "none" });
        map.insert("purpose".to_owned(), json!(purpose));
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
    let filled = |index: usize| match &settings.debate {
        Some(rules) => purpose(rules, index, stages),
        None => Purpose::Answer,
    };
    let stage = |(index, stage): (usize, &Stage)| {
        let agents = stage.agents().cloned();
        let purpose = filled(index);
        let judges = matches!(purpose, Purpose::Rank | Purpose::Verdict | Purpose::Analyse);
        Stage { if_answered: judges, ..purpose.stage(agents) }
    };
    stages.iter().enumerate().map(stage).collect()
}

/// What a stage was for. Analyst and chair have no seat, so whether they are in it tells.
fn purpose(rules: &Rules, index: usize, stages: &[Stage]) -> Purpose {
    let has = |agent: &Option<AgentId>| {
        let agent = agent.as_ref();
        agent.is_some_and(|agent| stages.get(index).is_some_and(|s| s.agents().any(|a| a == agent)))
    };
    if has(&rules.analyst) {
        return if index == 0 { Purpose::Frame } else { Purpose::Analyse };
    }
    if has(&rules.chair) {
        return Purpose::Verdict;
    }
    if rules.mode == Mode::Council && index > 0 { Purpose::Rank } else { Purpose::Answer }
}
