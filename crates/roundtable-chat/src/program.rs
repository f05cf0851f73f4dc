//! Chats as a program: one seat answers each message, and the first round that is completed gives
//! the conversation its title, beside the next rounds.

use roundtable_core::event::Opening;
use roundtable_core::id::AgentId;
use roundtable_core::program::{
    Aside, Brief, Done, Next, Program, Progress, RoundView, SeatView, Step,
};
pub use roundtable_core::stage::ANSWER;
use roundtable_core::stage::{Name, Stage, Tools};

use crate::brief;
use crate::command::addressed;
use crate::team::Rules;

/// The kind of sessions that are chats.
pub const CHAT: Name = Name::constant("chat");

/// What the aside is for that names a conversation.
pub const TITLE: Name = Name::constant("title");

/// The program of chats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chat;

impl Program for Chat {
    type Rules = Rules;
    type State = ();
    const NAME: Name = CHAT;
    const VERSION: u32 = 1;

    fn check(&self, rules: &Rules, opening: &Opening) -> Result<(), String> {
        rules.check(opening)
    }

    fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
        if progress.scope.aside.is_some() {
            return end_of_title(progress);
        }
        match progress.last() {
            None => Step::stages(vec![Stage::new(ANSWER, [who_answers(progress)])]),
            Some(_) => Step::of(close(progress)),
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        brief::brief(view)
    }
}

/// The supervisor; in a fork to other agents, where it takes no part, the first of those.
fn supervisor(progress: &Progress<'_, Chat>) -> AgentId {
    let (session, named) = (progress.session, &progress.rules.supervisor);
    let agent = session.find_agent(named).or(session.agents.first());
    agent.map_or_else(|| named.clone(), |agent| agent.id.clone())
}

/// The agent that the message names, else the supervisor.
fn who_answers(progress: &Progress<'_, Chat>) -> AgentId {
    let text = progress.scope.input.and_then(|input| input.text.as_deref());
    let named = text.and_then(|text| addressed(text, &progress.session.agents));
    named.map_or_else(|| supervisor(progress), |(agent, _)| agent.id.clone())
}

/// A round is over. The first one that is completed is what the conversation is named after.
fn close(progress: &Progress<'_, Chat>) -> Next {
    let session = progress.session;
    let first = session.rounds_completed == 0 && progress.scope.input.is_some();
    let unnamed = progress.rules.titled && session.title.is_none();
    let names = |_| {
        let (number, take) = (progress.scope.number, progress.scope.take);
        let stage = Stage::new(TITLE, [supervisor(progress)]);
        // The title is not a message; the aside is worth something when there is one.
        let stage = Stage { public: false, tools: Tools::None, ..stage };
        Aside { purpose: TITLE, number, take, stages: vec![stage] }
    };
    let asides = Some(()).filter(|()| first && unnamed).map(names).into_iter().collect();
    Next::Close { ends: None, note: None, asides }
}

/// A title that someone gave meanwhile stays. What is no title is replaced by the first words of the
/// message that the conversation begins with.
fn end_of_title(progress: &Progress<'_, Chat>) -> Step<()> {
    if progress.session.title.is_some() {
        return Step::close();
    }
    let about = progress.earlier.iter().find(|round| round.number() == progress.scope.number);
    let message = about.and_then(RoundView::input).and_then(|input| input.text.as_deref());
    let text = progress.last().and_then(Done::text);
    let title = text.and_then(brief::read_title);
    Step { title: title.or_else(|| brief::first_words(message?)), ..Step::close() }
}
