//! Who plays in the demonstration, and what they say.

use roundtable::core::id::CommandId;
use roundtable::core::input::{Command, Say};
use roundtable::core::session::Status;
use roundtable::core::tool::ToolDecl;
use roundtable::core::{MessageContext, Reject};
use roundtable::debate::DebateProgram;
use roundtable::prelude::*;

/// Which demonstration is played.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Play {
    /// A tool, a nested prompt, a question to you.
    #[value(skip)]
    Whole,
    /// Show that the next round waits for a required answer
    Context,
    /// Run two conversations at once, each with its own answers
    Tabs,
    /// Kill a process in the middle of a tool call and resume it
    Nested,
}

impl Play {
    /// What the agents are asked.
    pub fn question(self) -> &'static str {
        match self {
            Self::Whole => "Should we move our billing service to Rust this year?",
            Self::Context => "Should the pilot on the invoice module begin next month?",
            Self::Tabs => "Two conversations at once",
            Self::Nested => "How long would it take to move our billing service to Rust?",
        }
    }

    /// How it is asked for.
    pub fn command(self) -> &'static str {
        match self {
            Self::Whole => "demo",
            Self::Context => "demo context",
            Self::Tabs => "demo tabs",
            Self::Nested => "demo nested",
        }
    }

    fn rounds(self) -> u32 {
        if self == Self::Nested { 1 } else { 2 }
    }
}

/// Among how many of the newest sessions an unfinished demonstration is looked for.
const LOOK_BACK: usize = 1000;

/// How long the second nested prompt takes in a process that is to be killed before: long enough for
/// any machine, and not for ever, if nobody kills it.
const UNTIL_KILLED_MS: u64 = 60_000;

/// What the agents say, at this pace.
pub(super) fn script(play: Play, pace: u64, until_killed: bool) -> Script {
    let said = |text: &str| Reply::text(text).in_pieces(6, pace);
    let script = match play {
        Play::Context => Script::default()
            .voice("ada", [said("The invoice module is small, and there is a way back. I am for it.")]),
        Play::Whole | Play::Nested | Play::Tabs => Script::default().voice("ada", [
            Reply::calls([Call::new("estimate_effort", serde_json::json!({ "modules": 12 }))]),
            said("Twelve modules are about eighteen weeks, and the riskiest third comes first. I am for it."),
        ]),
    };
    let order =
        said("Begin with the invoices: few callers, and easy to compare with the old code.");
    let order = if until_killed { order.after(UNTIL_KILLED_MS) } else { order };
    let question = serde_json::json!({
        "query": "How many people on the team have shipped Rust before?",
        "reason": "The plan depends on it.",
        "priority": "required"
    });
    script
        .voice(
            "ada",
            [said(
                "Then a pilot on the invoice module, with a way back, is the honest first step.",
            )],
        )
        .voice("ada/risk", [said("A third of the modules touch money; count those double.")])
        .voice("ada/order", [order])
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
pub(super) async fn open(engine: &Engine, play: Play) -> roundtable::Result<Session> {
    let mut ada = Agent::new("Ada", "scripted")?;
    ada.persona = "You are Ada, an engineer who likes numbers.".to_owned();
    if play != Play::Context {
        ada.tools = vec![ToolDecl::handler("estimate_effort", Effect::Pure)];
    }
    let mut ben = Agent::new("Ben", "scripted")?;
    ben.persona = "You are Ben, who asks who will do the work.".to_owned();
    ben.tools = vec![ToolDecl::request_context()];
    let panel = engine.panel(play.question()).participant(ada);
    let panel = if play == Play::Nested { panel } else { panel.participant(ben) };
    panel.sequential().rounds(play.rounds()).open().await
}

/// The newest demonstration of this kind that was begun and not finished.
pub(super) async fn find(engine: &Engine, play: Play) -> roundtable::Result<Option<Session>> {
    let sessions = engine.sessions(LOOK_BACK).await?;
    let cut_off = sessions.into_iter().find(|listed| {
        let summary = &listed.summary;
        let is_demo = summary.kind == DebateProgram::KIND && summary.topic == play.question();
        is_demo && summary.status == Status::Active
    });
    Ok(cut_off.map(|listed| engine.session(&listed.session)))
}

/// The input that opens a round, and its id, which is the same for every process that sends it.
pub(super) fn input(
    session: &SessionId,
    play: Play,
    round: u32,
) -> Result<(Command, CommandId), Reject> {
    let context = MessageContext::new(&format!("msg_demo-{round}"), session, None)?;
    let text = (round == 1).then(|| play.question().to_owned());
    let say = Say { text, ..Say::new(context) };
    let id = CommandId::derive(session.as_str(), format_args!("demo-{round}"));
    Ok((Command::Say(say), id))
}

/// Estimates an effort. It asks prompts of its own on the way: child turns in the same session.
pub(super) struct EstimateEffort {
    pub play: Play,
}

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
        let risk = Prompt::new("risk", "What is the risk in migrating {modules} modules?")
            .with(Section::new("Role", "You weigh risks in one sentence."));
        let order = Prompt::new("order", "Which of {modules} modules comes first?")
            .with(Section::new("Role", "You plan in one sentence."));
        let prompts = if self.play == Play::Nested { vec![risk, order] } else { vec![risk] };
        let values = Params::from([("modules".to_owned(), params.modules.to_string())]);
        let mut told = String::new();
        for prompt in &prompts {
            let (bus, session) = (&context.event_bus, &context.session);
            let child = context.adapter.evaluate(prompt, &values, bus, session).await?;
            told.push_str(&format!(" {}", child.output));
        }
        let weeks = params.modules + params.modules / 2;
        Ok(ToolResult::ok(format!("About {weeks} weeks.{told}"))
            .with_value(serde_json::json!({ "weeks": weeks })))
    }
}
