//! The measure without a model, with the embedder that an engine has when nobody gives it another.

use roundtable::debate::Measurement;
use roundtable::ports::{Embedder, EmbedderError, Space};
use roundtable::prelude::*;

use super::position;

/// How far Ann, Bob and Cyd agree with these positions and sides.
async fn measured(
    builder: roundtable::Builder,
    positions: [(Option<&str>, &str); 3],
) -> Measurement {
    let mut script = Script::default();
    for (agent, (stance, words)) in ["ann", "bob", "cyd"].iter().zip(positions) {
        script = script.voice(agent, [position(stance, words, 0.5)]);
    }
    let engine =
        builder.custom_model("scripted", ScriptedModel::new(script)).build().await.unwrap();
    let wish = engine.debate("A tram?").agent("Ann").agent("Bob").agent("Cyd").rounds(1);
    let debate = wish.start().await.unwrap();
    let measure = debate.wait(1).await.unwrap().consensus.measured.unwrap();
    engine.shutdown().await;
    measure
}

const AGREEING: [&str; 3] = [
    "Build the tram now, it pays for itself in ten years",
    "The tram should be built now because it pays for itself",
    "Build the tram: within ten years it pays for itself",
];
const SPLIT: [&str; 3] =
    [AGREEING[0], AGREEING[1], "First ask citizens, then decide between buses and cycle lanes"];
const OPPOSED: [&str; 3] = [
    AGREEING[0],
    "Never lay rails: concrete ruins budgets for a generation",
    "More night buses are cheaper and come sooner",
];

#[tokio::test]
async fn agreeing_split_and_opposed_positions_rank_in_that_order_with_and_without_sides() {
    let sides = [
        [Some("YES"); 3],
        [Some("YES"), Some("YES"), Some("NEUTRAL")],
        [Some("YES"), Some("NO"), Some("NO")],
    ];
    for with_sides in [true, false] {
        let mut figures = Vec::new();
        for (words, sides) in [AGREEING, SPLIT, OPPOSED].into_iter().zip(sides) {
            let side = |seat: usize| sides[seat].filter(|_| with_sides);
            let positions = [(side(0), words[0]), (side(1), words[1]), (side(2), words[2])];
            figures.push(measured(Engine::builder(), positions).await.agreement);
        }
        assert!(figures[0] > figures[1] && figures[1] > figures[2], "{with_sides}: {figures:?}");
    }
}

struct Broken(Space);

#[async_trait::async_trait]
impl Embedder for Broken {
    fn space(&self) -> &Space {
        &self.0
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        match texts.len() {
            // The question and three positions.
            4 => Err(EmbedderError::Unavailable("gone".to_owned())),
            _ => panic!("it is broken"),
        }
    }
}

#[tokio::test]
async fn an_embedder_that_fails_leaves_the_stances_and_never_the_round_without_a_measure() {
    let builder = Engine::builder().embedder(Broken(Space::new("broken", 3)));
    let positions =
        [(Some("YES"), "Build."), (Some("YES"), "Yes, build."), (Some("NO"), "Do not.")];
    let measure = measured(builder, positions).await;
    assert_eq!(measure.by, "stances alone");
    assert_eq!(measure.clusters.iter().map(|it| it.agents.len()).collect::<Vec<_>>(), [2, 1]);
}
