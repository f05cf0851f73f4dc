//! A program in which people come, go, whisper and think, by chance: in each round others are
//! present, and each seat says its part to others. Its prompts have all that they can get at.

use roundtable_core::digest::Digest;
use roundtable_core::id::AgentId;
use roundtable_core::program::{Brief, NoRules, Program, Progress, RoundView, SeatView, Step};
use roundtable_core::stage::{ANSWER, Name, Stage};

pub struct Gathering;

const PLAN: Name = Name::constant("plan");

/// Some of these agents: others for each name.
fn some(agents: &[AgentId], name: &str) -> Vec<AgentId> {
    let chosen = |agent: &&AgentId| {
        let digest = Digest::of_json(&(name, agent.as_str()));
        digest.as_str().bytes().map(u32::from).sum::<u32>() % 3 > 0
    };
    agents.iter().filter(chosen).cloned().collect()
}

impl Program for Gathering {
    type Rules = NoRules;
    type State = ();
    const NAME: Name = Name::constant("gathering");
    const VERSION: u32 = 1;

    fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
        let agents = progress.session.seats();
        let (number, take, done) =
            (progress.scope.number, progress.scope.take, progress.done.len());
        let some = |what: &str| some(&agents, &format!("{number}.{take}.{done} {what}"));
        let say = |purpose, what: &str| Stage::new(purpose, agents.clone()).to(some(what));
        match done {
            0 if number % 2 == 0 => Step::stages(vec![Stage::new(ANSWER, agents.clone())]),
            0 => {
                let stages = vec![say(PLAN, "plan").private(), say(ANSWER, "first")];
                Step::stages(stages).among(some("present"))
            }
            1 | 2 => Step::stages(vec![say(ANSWER, "last")]).among(some("stay")),
            _ => Step::close(),
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        let rounds = view.earlier.iter().chain([&view.round]).chain(&view.aside);
        let told = |round: &RoundView<'_>| {
            let input = round.input().and_then(|input| input.text.as_deref()).into_iter();
            let words = round.spoken().map(|spoken| spoken.text.as_str());
            input.chain(words).collect::<Vec<_>>().join("\n")
        };
        let ask = rounds.map(told).collect::<Vec<_>>().join("\n");
        Brief::new("gathering", view.persona(), format!("{}\n{ask}", view.asked()))
    }
}
