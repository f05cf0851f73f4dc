//! What can happen next, as plain data: it shrinks, and means something in every state.

use proptest::prelude::*;
use proptest::sample::Index;
use roundtable_core::agent::{Agent, HOST};
use roundtable_core::budget::{Limits, Price};
use roundtable_core::input::OnBusy;
use roundtable_core::settings::{Order, Settings};
use roundtable_core::tool::{Effect, ToolDecl};

/// The tools of every agent, by the number that a move calls them with; 7 is unknown to all.
pub const TOOLS: [&str; 8] =
    ["look", "note", "pay", "sign", "delegate", "request_context", "ask", "unheard_of"];

/// How a session is set up.
#[derive(Debug, Clone)]
pub struct Setup {
    pub agents: Vec<Agent>,
    pub settings: Settings,
}

/// What a model says: whether there is a text, the calls by tool and variant, and which parts of
/// its reservation it uses up.
#[derive(Debug, Clone)]
pub struct Words {
    pub text: bool,
    pub calls: Vec<(usize, u8)>,
    pub usage: Option<(u8, u8)>,
    /// What it says is made of this.
    pub seed: u64,
}

/// What happens. An `Index` picks among what there is to pick from.
#[derive(Debug, Clone)]
pub enum Move {
    Say {
        text: bool,
        on_busy: OnBusy,
        answers: bool,
        /// One bit for each agent that receives it; without any, everyone.
        to: u8,
    },
    Provide {
        pick: Index,
        success: bool,
    },
    /// A message that waits is changed or taken back; where nothing waits, that is refused.
    Queued {
        pick: Index,
        withdraw: bool,
    },
    /// Someone brings in a turn that waits for the caller's own model.
    Contribute {
        pick: Index,
    },
    Stop,
    Pause,
    Resume,
    Complete,
    Regenerate,
    /// A caller asks for something that only the program knows.
    Wish {
        pick: Index,
    },
    Rewind {
        pick: Index,
    },
    Select {
        pick: Index,
    },
    /// One of the wants is met; where there is none, a person speaks.
    Act {
        pick: Index,
        reply: Words,
        how: u8,
    },
    Fail {
        pick: Index,
    },
    /// A request fails and is made again.
    Retry {
        pick: Index,
    },
    Stream {
        pick: Index,
    },
    Evaluate {
        pick: Index,
        ordinal: u32,
        other: bool,
    },
    Publish {
        pick: Index,
        ordinal: u32,
    },
    Repeat {
        pick: Index,
    },
    WriterChanged,
    Wait(i64),
    Hold(bool),
}

pub fn any_move() -> impl Strategy<Value = Move> {
    let on_busy = prop::sample::select(vec![OnBusy::Queue, OnBusy::Reject, OnBusy::Interrupt]);
    let pick = any::<Index>;
    prop_oneof![
        4 => (any::<bool>(), on_busy, prop::bool::weighted(0.8), 0..8_u8)
            .prop_map(|(text, on_busy, answers, to)| Move::Say { text, on_busy, answers, to }),
        4 => (pick(), any::<bool>()).prop_map(|(pick, success)| Move::Provide { pick, success }),
        3 => (pick(), any::<bool>())
            .prop_map(|(pick, withdraw)| Move::Queued { pick, withdraw }),
        6 => pick().prop_map(|pick| Move::Contribute { pick }),
        1 => Just(Move::Stop),
        1 => Just(Move::Pause),
        3 => Just(Move::Resume),
        1 => prop::bool::weighted(0.2)
            .prop_map(|really| if really { Move::Complete } else { Move::Resume }),
        2 => Just(Move::Regenerate),
        2 => pick().prop_map(|pick| Move::Wish { pick }),
        2 => pick().prop_map(|pick| Move::Rewind { pick }),
        4 => pick().prop_map(|pick| Move::Select { pick }),
        60 => (pick(), words(), 0..8_u8)
            .prop_map(|(pick, reply, how)| Move::Act { pick, reply, how }),
        2 => pick().prop_map(|pick| Move::Fail { pick }),
        1 => pick().prop_map(|pick| Move::Retry { pick }),
        2 => pick().prop_map(|pick| Move::Stream { pick }),
        8 => (pick(), 1..4_u32, prop::bool::weighted(0.1))
            .prop_map(|(pick, ordinal, other)| Move::Evaluate { pick, ordinal, other }),
        2 => (pick(), 1..3_u32).prop_map(|(pick, ordinal)| Move::Publish { pick, ordinal }),
        2 => pick().prop_map(|pick| Move::Repeat { pick }),
        3 => Just(Move::WriterChanged),
        2 => (0..40_i64).prop_map(Move::Wait),
        2 => any::<bool>().prop_map(Move::Hold),
    ]
}

fn words() -> impl Strategy<Value = Words> {
    let calls = prop_oneof![
        1 => Just(Vec::new()),
        1 => prop::collection::vec((0..TOOLS.len(), 0..2_u8), 1..4),
    ];
    let usage = prop::option::weighted(0.8, (any::<u8>(), any::<u8>()));
    (any::<bool>(), calls, usage, any::<u64>()).prop_map(|(text, calls, usage, seed)| Words {
        text,
        calls,
        usage,
        seed,
    })
}

fn limits(calls: std::ops::Range<u64>) -> impl Strategy<Value = Limits> {
    let calls = prop::option::weighted(0.15, calls);
    let tokens = prop::option::weighted(0.15, 200..4_000_u64);
    let cost = prop::option::weighted(0.1, 200..2_000_u64);
    let time_ms = prop::option::weighted(0.1, 1_000..40_000_u64);
    (calls, tokens, cost, time_ms).prop_map(|(calls, tokens, cost, time_ms)| Limits {
        calls,
        tokens,
        cost,
        time_ms,
    })
}

pub fn setup() -> impl Strategy<Value = Setup> {
    let shape = (any::<bool>(), prop::option::weighted(0.3, 1..6_u32), 1..4_u32, 1..4_u32);
    let host = prop::bool::weighted(0.3);
    let agents = (1..4_usize, 1..6_u32, limits(1..5), host);
    (shape, agents, limits(1..30), limits(1..12)).prop_map(
        |((sequential, total_rounds, max_depth, window_rounds), agents, session, round)| {
            let (count, max_iterations, limits, host) = agents;
            let order = if sequential { Order::Sequential } else { Order::Parallel };
            let auto_continue = max_iterations % 2 == 0;
            let settings = Settings {
                order,
                total_rounds,
                auto_continue,
                max_depth,
                window_rounds,
                session_limits: Limits { time_ms: None, ..session },
                round_limits: round,
                max_waiting: 4,
                ..Settings::default()
            };
            let mut agents = cast(count, max_iterations, limits);
            // Sometimes the last one speaks through whoever calls.
            if let Some(last) = agents.last_mut().filter(|_| host) {
                HOST.clone_into(&mut last.model);
            }
            Setup { agents, settings }
        },
    )
}

pub fn cast(count: usize, max_iterations: u32, limits: Limits) -> Vec<Agent> {
    let tools = vec![
        ToolDecl::handler("look", Effect::Pure),
        ToolDecl::handler("note", Effect::Idempotent),
        ToolDecl::handler("pay", Effect::Effectful),
        ToolDecl::handler("sign", Effect::Effectful).with_approval(),
        ToolDecl::delegate(),
        ToolDecl::request_context(),
        ToolDecl::ask(),
    ];
    let names = ["Ada", "Bob", "Cid"];
    let ids: Vec<_> = names.iter().take(count).map(|name| agent(name).id).collect();
    let price = Some(Price { input: 500_000, output: 1_000_000 });
    let member = |name: &&str| Agent {
        max_iterations,
        max_tokens: 20,
        limits,
        price,
        workers: ids.clone(),
        tools: tools.clone(),
        ..agent(name)
    };
    names.iter().take(count).map(member).collect()
}

pub fn agent(name: &str) -> Agent {
    Agent::new(name, "scripted").unwrap()
}
