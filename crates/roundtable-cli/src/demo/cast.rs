//! Who plays in the demonstration, and what they say.

use roundtable::core::id::CommandId;
use roundtable::core::input::{Command, OnBusy, Say};
use roundtable::core::session::Status;
use roundtable::core::settings::Kind;
use roundtable::core::tool::ToolDecl;
use roundtable::core::{MessageContext, Reject};
use roundtable::prelude::*;

/// What the agents are asked.
pub(super) const QUESTION: &str = "Should we move our billing service to Rust this year?";

/// Among how many of the newest sessions an unfinished demonstration is looked for.
const LOOK_BACK: usize = 1000;

/// What the agents say, at this pace.
pub(super) fn script(pace: u64) -> Script {
    let said = |text: &str| Reply::text(text).in_pieces(6, pace);
    let modules = serde_json::json!({ "modules": 12 });
    let question = serde_json::json!({
        "query": "How many people on the team have shipped Rust before?",
        "reason": "The plan stands or falls with it.",
        "priority": "required"
    });
    Script::default()
        .voice(
            "ada",
            [
                Reply::calls([Call::new("estimate_effort", modules)]),
                said("Twelve modules are about eighteen weeks, and the riskiest third comes first. I am for it."),
            ],
        )
        .voice("ada", [said("Then a pilot on the invoice module, with a way back, is the honest first step.")])
        .voice("ada/risk", [said("A third of the modules touch money; count those double.")])
        .voice(
            "ben",
            [
                Reply::calls([Call::new("request_context", question)]),
                said("I have asked who would do it. Until that is answered I will not say yes."),
            ],
        )
        .voice("ben", [said("With that answer I can agree to the pilot, and to nothing more yet.")])
}

/// Opens the session.
pub(super) async fn open(engine: &Engine) -> roundtable::Result<Session> {
    let mut ada = Agent::new("Ada", "scripted")?;
    ada.persona = "You are Ada, an engineer who likes numbers.".to_owned();
    ada.tools = vec![ToolDecl::handler("estimate_effort", Effect::Pure)];
    let mut ben = Agent::new("Ben", "scripted")?;
    ben.persona = "You are Ben, who asks who will do the work.".to_owned();
    ben.tools = vec![ToolDecl::request_context()];
    engine.panel(QUESTION).participant(ada).participant(ben).sequential().rounds(2).open().await
}

/// The newest demonstration that was begun and not finished.
pub(super) async fn find(engine: &Engine) -> roundtable::Result<Option<Session>> {
    let sessions = engine.sessions(LOOK_BACK).await?;
    let cut_off = sessions.into_iter().find(|listed| {
        let summary = &listed.summary;
        let is_demo = summary.kind == Kind::Debate && summary.topic == QUESTION;
        is_demo && summary.status == Status::Active
    });
    Ok(cut_off.map(|listed| engine.session(&listed.session)))
}

/// The input that opens a round, and its id: the same whoever sends it, however often.
pub(super) fn input(session: &SessionId, round: u32) -> Result<(Command, CommandId), Reject> {
    let say = Say {
        context: MessageContext::new(&format!("msg_demo-{round}"), session, None)?,
        sender: "User".to_owned(),
        text: (round == 1).then(|| QUESTION.to_owned()),
        images: Vec::new(),
        on_busy: OnBusy::Queue,
        results: Vec::new(),
    };
    let id = CommandId::derive(session.as_str(), format_args!("demo-{round}"));
    Ok((Command::Say(say), id))
}

/// Estimates an effort. It asks a prompt of its own on the way: a child turn in the same session.
pub(super) struct EstimateEffort;

/// What the model has to say to call it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(super) struct Modules {
    /// How many modules there are.
    modules: u32,
}

impl Tool for EstimateEffort {
    type Params = Modules;

    fn name(&self) -> &'static str {
        "estimate_effort"
    }

    fn description(&self) -> &'static str {
        "Estimates how many weeks a migration of so many modules takes."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Modules, context: &ToolContext) -> Result<ToolResult, ToolError> {
        context
            .event_bus
            .publish("progress", serde_json::json!({ "counted": params.modules }))
            .await?;
        let prompt = Prompt::new("risk", "What is the risk in migrating {modules} modules?")
            .with(Section::new("Role", "You weigh risks in one sentence."));
        let values = Params::from([("modules".to_owned(), params.modules.to_string())]);
        let child = context
            .adapter
            .evaluate(&prompt, &values, &context.event_bus, &context.session)
            .await?;
        let weeks = params.modules + params.modules / 2;
        Ok(ToolResult::ok(format!("About {weeks} weeks. {}", child.output))
            .with_value(serde_json::json!({ "weeks": weeks })))
    }
}
