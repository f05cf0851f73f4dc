//! What a program of one's own is written with: the trait, what it is given, what it answers, and
//! the jobs that compute something for it. `docs/guides/programs.md` builds one step by step.

pub use roundtable_core::Reject;
pub use roundtable_core::event::{AcceptedInput, Opening, TurnOutcome};
pub use roundtable_core::id::AgentId;
pub use roundtable_core::job::JobOutcome;
pub use roundtable_core::program::{
    Act, Aside, Brief, Done, Next, Panel, Program, Progress, RoundView, Scope, SeatView,
    SessionView, Step,
};
pub use roundtable_core::prompt::OutputSchema;
pub use roundtable_core::settings::ProgramRef;
pub use roundtable_core::stage::{ANSWER, Name, Seat, Stage, Tools};
pub use roundtable_core::window::Utterance;
pub use roundtable_ports::{Job, JobError, JobRequest};
