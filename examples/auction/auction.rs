//! A program of its own: an auction with sealed bids. In each round the bidders answer side by side
//! and in private, a job checks who can pay, and the auctioneer announces the highest bid.

use std::collections::BTreeMap;

use async_trait::async_trait;
use roundtable::program::{
    AgentId, Brief, Done, Job, JobError, JobRequest, Name, Opening, Program, Progress, SeatView,
    Stage, Step, Utterance,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub struct Auction;

#[derive(Serialize, Deserialize)]
pub struct Rules {
    pub lot: String,
    pub auctioneer: AgentId,
    pub bidders: Vec<AgentId>,
}

/// What changes: the bids of a round until they are checked, and the highest one so far.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub bids: BTreeMap<AgentId, u64>,
    pub raised: bool,
    pub leader: Option<AgentId>,
    pub price: u64,
}

const BID: Name = Name::constant("bid");
const ANNOUNCE: Name = Name::constant("announce");
pub const CREDIT: Name = Name::constant("credit");

impl Program for Auction {
    type Rules = Rules;
    type State = State;
    const NAME: Name = Name::constant("auction");
    const VERSION: u32 = 1;

    fn check(&self, rules: &Rules, opening: &Opening) -> Result<(), String> {
        let takes_part = |id: &AgentId| opening.agents.iter().any(|agent| agent.id == *id);
        match rules.bidders.iter().chain([&rules.auctioneer]).find(|id| !takes_part(id)) {
            Some(missing) => Err(format!("{missing} is not a participant; add it to the agents")),
            None => Ok(()),
        }
    }

    fn next(&self, progress: &Progress<'_, Self>) -> Step<State> {
        let Progress { session, rules, state, .. } = progress;
        let mut state = (*state).clone();
        match progress.last() {
            None => Step::stages(vec![Stage::new(BID, rules.bidders.clone()).private()]),
            // What a bidder wrote is read here, once, and the result is recorded.
            Some(Done::Stage { stage, turns }) if stage.purpose == BID => {
                let bid = |turn: &&Utterance| Some((turn.agent.clone(), read(&turn.text)?));
                let bids = turns.iter().filter_map(bid);
                state.bids = bids.filter(|(_, bid)| *bid > state.price).collect();
                Step::job(CREDIT).with(state)
            }
            // A job that failed covers nobody.
            Some(Done::Job { outcome, .. }) => {
                let covered = Vec::<AgentId>::deserialize(outcome.data().unwrap_or(&json!([])));
                let covered = covered.unwrap_or_default();
                let mut bids = std::mem::take(&mut state.bids);
                bids.retain(|who, _| covered.contains(who));
                let best = bids.into_iter().max_by_key(|(_, bid)| *bid);
                state.raised = best.is_some();
                let note = match best {
                    Some((who, bid)) => {
                        (state.leader, state.price) = (Some(who.clone()), bid);
                        format!("{} leads with {bid}", session.name_of(&who))
                    }
                    None => "nobody raised the bid".to_owned(),
                };
                let stage = Stage::new(ANNOUNCE, [rules.auctioneer.clone()]).with_note(&note);
                Step::stages(vec![stage]).with(state)
            }
            Some(Done::Stage { .. }) => match &state.leader {
                Some(who) if !state.raised => Step::end(format!("{who} pays {}", state.price)),
                _ => Step::close(),
            },
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        let (lot, price) = (&view.rules.lot, view.state.price);
        let ask = match &view.seat.note {
            Some(note) => format!("Announce in one sentence: {note}."),
            None => format!("The price of {lot} is {price}. Bid more, or say \"pass\"."),
        };
        Brief::new(view.stage.purpose.as_str(), view.persona(), ask)
    }

    fn input(&self, progress: &Progress<'_, Self>, _job: &Name) -> Value {
        json!(progress.state.bids)
    }
}

/// The first number in a text.
fn read(text: &str) -> Option<u64> {
    text.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok())
}

/// Answers which of the bidders can pay what they bid.
pub struct Credit(pub BTreeMap<AgentId, u64>);

#[async_trait]
impl Job for Credit {
    async fn run(&self, request: JobRequest) -> Result<Value, JobError> {
        let mut bids: BTreeMap<AgentId, u64> =
            serde_json::from_value(request.input).map_err(|error| JobError(error.to_string()))?;
        bids.retain(|bidder, bid| self.0.get(bidder).is_some_and(|credit| credit >= bid));
        Ok(json!(bids.into_keys().collect::<Vec<_>>()))
    }
}
