//! Limits per day, checked before every model call.
//!
//! What a call may spend was committed before it is made, so every call that competes with it can be seen.
//! Of several that do not fit together the first one is made and the others wait; no interleaving, and no
//! second process, spends more than the limit.

use std::time::Duration;

use roundtable_core::budget::{Exhausted, Fit, Limits, Spend};
use roundtable_core::id::IterationId;
use roundtable_core::input::Unanswered;
use roundtable_core::quota::Day;
use roundtable_ports::{ModelError, Owner};

use crate::engine::Engine;

/// How often a call that waits for others looks again.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How long a call waits for others: one of them may wait for a person.
const WAIT: Duration = Duration::from_secs(60);

/// Why a model without a price is not asked under a limit on money: nobody could keep the limit.
const UNPRICED: &str = "a daily limit on dollars needs known prices, and the price of this model \
    is unknown; set its price, or limit tokens";

/// A model call that is about to be made.
#[derive(Clone)]
pub(crate) struct Admission {
    pub engine: Engine,
    pub owner: Owner,
    pub iteration: IterationId,
    pub reserved: Spend,
    /// Whether the price of its model is known.
    pub priced: bool,
}

impl Admission {
    /// Waits until the call fits.
    ///
    /// # Errors
    /// [`ModelError::BadRequest`] when it does not fit; then nothing was spent.
    pub async fn wait(&self) -> Result<(), ModelError> {
        if self.engine.parts().config.allowances.is_none() {
            return Ok(());
        }
        let mut waited = Duration::ZERO;
        loop {
            let Some((whose, limit)) = self.obstacle(Spend::default()).await? else {
                return Ok(());
            };
            if waited >= WAIT {
                return Err(self.refusal(whose, limit));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            waited += LOOK_EVERY;
        }
    }

    /// Checks whether the provider may be asked again, after a request that failed.
    ///
    /// # Errors
    /// [`ModelError::BadRequest`] when that does not fit now.
    pub async fn again(&self, failed: Unanswered) -> Result<(), ModelError> {
        let booked = match failed {
            Unanswered::Refused => Spend { calls: 1, ..Spend::default() },
            // It may have been billed: at most what was reserved for it.
            Unanswered::BrokenOff { .. } => self.reserved,
        };
        match self.obstacle(booked).await? {
            None => Ok(()),
            Some((whose, limit)) => Err(self.refusal(whose, limit)),
        }
    }

    /// The limit that other calls have reserved for now, if there is one.
    async fn obstacle(&self, booked: Spend) -> Result<Option<(Whose, Exhausted)>, ModelError> {
        let parts = self.engine.parts();
        let Some(allowances) = &parts.config.allowances else { return Ok(None) };
        let day = Day::of(parts.clock.now());
        let checks = [
            (Whose::Caller, Some(&self.owner), allowances.of(&self.owner)),
            (Whose::Server, None, allowances.total()),
        ];
        let mut obstacle = None;
        for (whose, owner, limits) in checks {
            if limits == Limits::default() {
                continue;
            }
            if limits.cost.is_some() && !self.priced {
                return Err(ModelError::BadRequest(UNPRICED.to_owned()));
            }
            let spending = parts.store.quotas.spending(owner, day, Some(&self.iteration)).await;
            let spending = spending.map_err(|error| {
                ModelError::BadRequest(format!("the daily limits cannot be checked: {error}"))
            })?;
            match spending.fit(limits, self.reserved, booked) {
                Fit::Yes => {}
                Fit::Later(limit) => obstacle = Some((whose, limit)),
                Fit::No(limit) => return Err(self.refusal(whose, limit)),
            }
        }
        Ok(obstacle)
    }

    fn refusal(&self, whose: Whose, limit: Exhausted) -> ModelError {
        let ends = Day::of(self.engine.parts().clock.now()).end();
        let whose = match whose {
            Whose::Caller => "of this caller",
            Whose::Server => "of this server",
        };
        let word = limit.word();
        ModelError::BadRequest(format!(
            "the daily limit on {word} {whose} is reached; it resets at {ends}"
        ))
    }
}

#[derive(Debug, Clone, Copy)]
enum Whose {
    Caller,
    Server,
}
