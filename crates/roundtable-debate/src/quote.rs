//! What a debate may cost, before it starts.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::Rules;
use roundtable_core::agent::Agent;
use roundtable_core::document::dollars;
use roundtable_core::id::AgentId;
use roundtable_core::stage::Stage;

/// How many bytes make a token in running text, when a prompt is estimated.
const TOKEN_BYTES: u64 = 3;

/// How many tokens of instructions every prompt has.
const INSTRUCTIONS: u64 = 1_200;

/// Estimated maximum cost: one model call per turn and replies of maximum length. Tool calls are
/// extra.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Quote {
    /// Model calls.
    pub calls: u64,
    /// Input tokens.
    #[serde(rename = "inputTokens")]
    pub input: u64,
    /// Output tokens.
    #[serde(rename = "outputTokens")]
    pub output: u64,
    /// Millionths of a dollar, nothing where the price of a model is not known; in JSON dollars or
    /// null.
    #[serde(serialize_with = "in_dollars")]
    #[schemars(with = "Option<f64>", description = "Cost in dollars. Null if a price is unknown.")]
    pub cost: Option<u64>,
}

fn in_dollars<S: Serializer>(cost: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    cost.map(dollars).serialize(serializer)
}

impl Quote {
    /// The quote for a debate of these agents.
    pub fn of(
        topic: &str,
        rules: &Rules,
        agents: &[Agent],
        seats: &[AgentId],
        rounds: u32,
    ) -> Self {
        let find = |id: &AgentId| agents.iter().find(|agent| agent.id == *id);
        let mut quote = Self { cost: Some(0), ..Self::default() };
        // What everyone has said in earlier rounds, as far as it is told again.
        let mut told: u64 = 0;
        for number in 1..=rounds {
            let here = |id: &AgentId| find(id).is_some();
            let frame = rules.frame(number, here);
            let judged = rules.answers(seats).into_iter().chain(rules.judges(seats, here));
            let stages: Vec<Stage> = frame.into_iter().chain(judged).collect();
            let mut said: u64 = 0;
            for (index, stage) in stages.iter().enumerate() {
                let heard = if index == 0 { 0 } else { said };
                for agent in stage.agents().filter_map(find) {
                    let own = (topic.len() + agent.persona.len()) as u64 / TOKEN_BYTES;
                    quote.add(agent, INSTRUCTIONS + own + told + heard);
                }
                let words =
                    stage.agents().filter_map(find).map(|agent| u64::from(agent.max_tokens));
                said = said.saturating_add(words.sum::<u64>() * u64::from(stage.public));
            }
            told = told.saturating_add(said);
        }
        quote
    }

    fn add(&mut self, agent: &Agent, input: u64) {
        let output = u64::from(agent.max_tokens);
        self.calls += 1;
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        let price = agent.price.map(|price| price.of(input, output));
        self.cost = self.cost.zip(price).map(|(sum, price)| sum.saturating_add(price));
    }
}
