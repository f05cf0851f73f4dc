//! Waiting for a round: not longer than the caller's own patience, and not in silence. The round goes
//! on whoever waits.

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use roundtable::Since;
use roundtable::core::event::{Body, Event};
use roundtable::debate::{Debate, Findings};
use roundtable::driver::Update;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use super::answer::speaking;
use crate::app::App;
use crate::host;
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

/// What a round came to, or how far it is when the time is up.
pub(super) async fn wait(
    app: &App,
    debate: &Debate,
    number: u32,
    budget: Pin<&mut Sleep>,
    watch: &dyn Watch,
) -> Result<Findings, Problem> {
    tokio::select! {
        biased;
        findings = debate.wait(number) => return Ok(findings?),
        () = budget => {}
        () = app.stopping.cancelled() => {}
        () = watch.gone().cancelled() => {}
        () = host::wait_for(debate) => {}
        reason = debate.session().until_parked() => return Err(Problem::parked(&reason)),
        () = narrate(debate, number, watch) => {}
    }
    Ok(debate.findings(Some(number)).await?)
}

/// Tells who is speaking, when that changes and now and then. Never done: the round is what ends it.
async fn narrate(debate: &Debate, number: u32, watch: &dyn Watch) {
    if watch.listens() {
        // Without a reader it is still told now and then.
        let head = debate.session().state().await.map(|state| state.head).unwrap_or_default();
        let mut updates = debate.session().updates(Since::After(head)).await.ok();
        loop {
            if let Ok(findings) = debate.findings(Some(number)).await {
                watch.tell(&told(&findings)).await;
            }
            let change = async {
                match &mut updates {
                    Some(updates) => {
                        while !matches!(updates.next().await, Ok(Update::Event(event)) if is_turn(&event))
                        {
                        }
                    }
                    None => std::future::pending().await,
                }
            };
            // A time that is up is a reason to tell it again, too.
            let _ = tokio::time::timeout(WORD_EVERY, change).await;
        }
    }
    std::future::pending().await
}

fn is_turn(event: &Event) -> bool {
    matches!(event.body, Body::Turn(_))
}

fn told(findings: &Findings) -> String {
    let total = findings.total_rounds.map_or_else(String::new, |total| format!("/{total}"));
    let names = match speaking(findings) {
        names if names.is_empty() => "weighing what was said".to_owned(),
        names => names.join(", "),
    };
    format!("Round {}{total}: {names}", findings.number)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jiff::Timestamp;
    use roundtable::Engine;
    use roundtable::debate::Standing;
    use roundtable::models::scripted::{Reply, Script, ScriptedModel};
    use roundtable_testing::PausedClock;

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
        let engine = engine.clock(PausedClock::starting(0)).build().await.unwrap();
        let debate = engine.debate("Shall we?").agent("Ann").agent("Bob").start().await.unwrap();
        let app = App::of(engine.clone());
        let clock = || engine.driver().parts().clock.now();
        let listener = Listener {
            engine: engine.clone(),
            heard: Mutex::default(),
            gone: CancellationToken::new(),
        };
        let began = clock();
        let budget = || Box::pin(tokio::time::sleep(app.limits.wait_budget));
        let findings = wait(&app, &debate, 1, budget().as_mut(), &listener).await.unwrap();
        assert_eq!(findings.standing, Standing::Running);
        assert_eq!(clock().duration_since(began).as_secs(), 25);
        let heard = listener.heard.lock().unwrap().clone();
        let times = heard.iter().map(|(at, _)| *at).chain([clock()]);
        let longest =
            times.clone().zip(times.skip(1)).map(|(one, next)| next.duration_since(one)).max();
        assert!(longest.unwrap().as_secs() <= 10, "{heard:?}");
        assert_eq!(heard.last().unwrap().1, "Round 1/3: Ann");
        listener.gone.cancel();
        let before = clock();
        wait(&app, &debate, 1, budget().as_mut(), &listener).await.unwrap();
        assert_eq!(clock(), before, "nobody waits for someone who is gone");
        model.gates().open("shut");
        assert_eq!(debate.wait(1).await.unwrap().standing, Standing::InProgress);
        engine.shutdown().await;
    }
}
