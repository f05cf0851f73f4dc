//! Positions that panels could take on a few questions, written for measuring how far panels agree:
//! each question has several wordings of one view, and views that go elsewhere.

use roundtable_core::id::AgentId;
use roundtable_debate::{Measure, PositionVector, Stance};
use roundtable_ports::Embedder;
use serde::Deserialize;

/// A question, and what can be said to it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// The question.
    pub topic: String,
    /// Whether it was written after the thresholds were chosen, to see what they are worth.
    #[serde(default)]
    pub held_out: bool,
    /// Views, each with its wordings: four of the first, two of the second, one of two others.
    pub views: [Vec<String>; 4],
    /// The first wording of the first view, as somebody who holds on to it puts it a round later.
    pub again: String,
    /// The same with a "not" in it.
    pub negated: String,
}

/// How far a panel agrees, by how it was put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All hold one view.
    Agreeing,
    /// Two hold one view, two another.
    Split,
    /// Everyone holds another view.
    Opposed,
}

impl Kind {
    /// All kinds, those who agree most first.
    pub const ALL: [Self; 3] = [Self::Agreeing, Self::Split, Self::Opposed];

    /// How many hold one view, the largest group first.
    pub fn groups(self) -> &'static [usize] {
        match self {
            Self::Agreeing => &[4],
            Self::Split => &[2, 2],
            Self::Opposed => &[1, 1, 1, 1],
        }
    }
}

impl Question {
    /// The committed questions.
    pub fn all() -> Vec<Self> {
        serde_json::from_str(include_str!("../data/positions.json")).expect("committed data")
    }

    /// What four agents say.
    pub fn panel(&self, kind: Kind) -> [&str; 4] {
        let [first, second, third, fourth] = &self.views;
        match kind {
            Kind::Agreeing => [&first[0], &first[1], &first[2], &first[3]],
            Kind::Split => [&first[0], &first[1], &second[0], &second[1]],
            Kind::Opposed => [&first[0], &second[0], &third[0], &fourth[0]],
        }
    }

    /// Measures what is said now, with the sides that are taken, against what was said before.
    pub async fn measure(
        &self,
        embedder: &dyn Embedder,
        now: &[(Option<Stance>, &str)],
        before: &[(Option<Stance>, &str)],
    ) -> Measure {
        let said = now.iter().chain(before).map(|(_, words)| *words);
        let text = |words: &str| PositionVector::text(&self.topic, words);
        let texts: Vec<String> = std::iter::once("").chain(said).map(text).collect();
        let mut vectors = embedder.embed(&texts).await.expect("vectors").into_iter();
        let question = vectors.next().expect("the question's");
        let mut measured = |said: &[(Option<Stance>, &str)]| -> Vec<PositionVector> {
            let agent = |seat: usize| AgentId::new(&format!("a{seat}")).expect("an id");
            let one = |(seat, (stance, _)): (usize, &(Option<Stance>, &str))| {
                PositionVector::new(
                    agent(seat),
                    *stance,
                    vectors.next().expect("one each"),
                    &question,
                )
            };
            said.iter().enumerate().map(one).collect()
        };
        let (now, before) = (measured(now), measured(before));
        Measure::of(&embedder.space().to_string(), &now, &before)
    }

    /// How far a panel agrees that takes no sides.
    pub async fn agreement(&self, embedder: &dyn Embedder, kind: Kind) -> Measure {
        self.measure(embedder, &self.panel(kind).map(|words| (None, words)), &[]).await
    }

    /// How far it is from the first wording of the first view to other words.
    pub async fn drift(&self, embedder: &dyn Embedder, words: &str) -> f64 {
        let before = [(None, self.views[0][0].as_str())];
        self.measure(embedder, &[(None, words)], &before).await.drift[0].change
    }
}
