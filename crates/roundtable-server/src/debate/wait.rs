//! Waiting for a round: not longer than the caller's own patience, and not in silence. The round goes
//! on whoever waits.

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use roundtable::core::Live;
use roundtable::core::event::{Body, Event};
use roundtable::debate::{Debate, Findings, Record, find_settled};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::problem::Problem;

/// How long a caller is left without a word at most.
const WORD_EVERY: Duration = Duration::from_secs(8);

/// Whoever wants to know how it goes.
#[async_trait]
pub(crate) trait Watch: Send + Sync {
    /// Whether anyone listens.
    fn listens(&self) -> bool;
    /// Tells how it goes.
    async fn tell(&self, message: &str);
    /// Cancelled when nobody waits for the answer any more.
    fn gone(&self) -> &CancellationToken;
}

/// Nobody wants to know.
#[derive(Default)]
pub(crate) struct Silent(CancellationToken);

#[async_trait]
impl Watch for Silent {
    fn listens(&self) -> bool {
        false
    }

    async fn tell(&self, _: &str) {}

    fn gone(&self) -> &CancellationToken {
        &self.0
    }
}

/// What a round came to, or how far it is when the time is up. The log is read once: what is told, the
/// end and the answer are all functions of the same reader.
pub(super) async fn wait(
    app: &App,
    debate: &Debate,
    number: u32,
    budget: Pin<&mut Sleep>,
    watch: &dyn Watch,
) -> Result<Findings, Problem> {
    let session = debate.session();
    let mut reader = debate.reader().await?;
    let ended = async {
        tokio::select! {
            () = budget => {}
            () = app.stopping.cancelled() => {}
            () = watch.gone().cancelled() => {}
        }
    };
    let parked = session.until_parked();
    tokio::pin!(ended, parked);
    let mut news = true;
    loop {
        if let Some(findings) = find_settled(reader.now(), number) {
            return Ok(findings?);
        }
        if reader.now().session.host_turns().next().is_some() {
            break;
        }
        if news
            && watch.listens()
            && let Some(message) = told(reader.now(), number)
        {
            tokio::select! {
                biased;
                () = &mut ended => break,
                () = watch.tell(&message) => {}
            }
        }
        let mut turns = false;
        news = tokio::select! {
            biased;
            read = reader.next_events(|event| turns |= is_turn(event)) => {
                read?;
                turns
            }
            () = &mut ended => break,
            reason = &mut parked => return Err(Problem::parked(&reason)),
            // Nobody is left without a word for long.
            () = tokio::time::sleep(WORD_EVERY), if watch.listens() => true,
        };
    }
    match Record::of(reader.now()).and_then(|record| record.findings(number)) {
        Some(findings) => Ok(findings),
        None => Ok(debate.findings(Some(number)).await?),
    }
}

fn is_turn(event: &Event) -> bool {
    matches!(event.body, Body::Turn(_))
}

/// Who is speaking.
fn told(live: &Live, number: u32) -> Option<String> {
    let findings = Record::of(live)?.findings(number)?;
    let total = findings.total_rounds.map_or_else(String::new, |total| format!("/{total}"));
    let names = match findings.speaking.as_slice() {
        [] => "analyzing the answers".to_owned(),
        names => names.join(", "),
    };
    Some(format!("Round {number}{total}: {names}"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use jiff::Timestamp;
    use roundtable::Engine;
    use roundtable::backend::MemoryStore;
    use roundtable::debate::RoundStatus;
    use roundtable::models::scripted::{Reply, Script, ScriptedModel};
    use roundtable::ports::Store;
    use roundtable_testing::{CountingLog, PausedClock};

    use super::*;

    /// Someone who writes down what is told, and when.
    struct Listener {
        engine: Engine,
        heard: Mutex<Vec<(Timestamp, String)>>,
        gone: CancellationToken,
    }

    #[async_trait]
    impl Watch for Listener {
        fn listens(&self) -> bool {
            true
        }

        async fn tell(&self, message: &str) {
            let now = self.engine.driver().parts().clock.now();
            self.heard.lock().unwrap().push((now, message.to_owned()));
        }

        fn gone(&self) -> &CancellationToken {
            &self.gone
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_hears_who_is_speaking_at_least_every_ten_seconds_and_is_answered_in_time()
     {
        let script = Script::default().voice("ann", [Reply::text("Yes.").at_gate("shut")]);
        let model = ScriptedModel::new(script.voice("bob", [Reply::text("No.")]));
        let engine = Engine::builder().custom_model("scripted", model.clone());
        let mut store = Store::of(Arc::new(MemoryStore::new()));
        let log = Arc::new(CountingLog::new(store.log.clone()));
        store.log = log.clone();
        let engine = engine.clock(PausedClock::starting(0)).store(store).build().await.unwrap();
        let debate = engine.debate("Shall we?").agent("Ann").agent("Bob").start().await.unwrap();
        let app = App::of(engine.clone());
        let clock = || engine.driver().parts().clock.now();
        let listener = Listener {
            engine: engine.clone(),
            heard: Mutex::default(),
            gone: CancellationToken::new(),
        };
        let began = clock();
        log.take(debate.id());
        let budget = || Box::pin(tokio::time::sleep(app.limits.wait_budget));
        let findings = wait(&app, &debate, 1, budget().as_mut(), &listener).await.unwrap();
        assert_eq!(findings.status, RoundStatus::Running);
        assert_eq!(clock().duration_since(began).as_secs(), 25);
        let heard = listener.heard.lock().unwrap().clone();
        let times = heard.iter().map(|(at, _)| *at).chain([clock()]);
        let longest =
            times.clone().zip(times.skip(1)).map(|(one, next)| next.duration_since(one)).max();
        assert!(longest.unwrap().as_secs() <= 10, "{heard:?}");
        assert_eq!(heard.last().unwrap().1, "Round 1/3: Ann");
        let reads = log.take(debate.id());
        assert!(reads.len() > 10 && reads.values().all(|times| *times == 1), "{reads:?}");
        listener.gone.cancel();
        let before = clock();
        wait(&app, &debate, 1, budget().as_mut(), &listener).await.unwrap();
        assert_eq!(clock(), before, "nobody waits for someone who is gone");
        model.gates().open("shut");
        assert_eq!(debate.wait(1).await.unwrap().status, RoundStatus::InProgress);
        engine.shutdown().await;
    }
}
