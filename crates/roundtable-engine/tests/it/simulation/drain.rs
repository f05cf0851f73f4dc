//! A planned stop: what runs is finished, what is not started is left, and nothing is done twice.

use std::time::Duration;

use roundtable_core::event::{Body, IterationEvent, ToolCallEvent};
use roundtable_core::settings::Order;
use roundtable_core::tool::ToolOutcome;
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{
    End, Fate, Life, Seed, World, job, questions, simulate_planned_stops,
};

use super::people::{call, closed, count, finishes, open, people, say, worker};

/// How often something was cut off, or left in doubt.
fn cuts(evidence: &Evidence) -> usize {
    count(evidence, |body| {
        matches!(
            body,
            Body::Iteration(IterationEvent::ModelCallInterrupted { .. })
                | Body::ToolCall(ToolCallEvent::ToolCallInterrupted { .. })
                | Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Unknown { .. }))
        )
    })
}

#[test]
fn nothing_is_done_twice_whenever_an_engine_is_shut_down() {
    for seed in 0..60 {
        let evidence = simulate_planned_stops(Seed(seed));
        let interrupted = count(&evidence, |body| {
            matches!(body, Body::Iteration(IterationEvent::ModelCallInterrupted { .. }))
        });
        assert_eq!(interrupted, 0, "simulate_planned_stops({:?})", Seed(seed));
    }
}

#[test]
fn a_round_that_is_shut_down_at_every_point_costs_what_it_costs_undisturbed() {
    for ms in (0..260).step_by(7) {
        let calls =
            [call("look", job("a", 40)), call("note", job("b", 20)), call("send", job("c", 30))];
        let script = Script::default()
            .voice("ann", [Reply::calls(calls).after(25), Reply::text("Done.").in_pieces(2, 15)])
            .voice("bob", [Reply::text("Also done.").in_pieces(3, 30)]);
        let acts = vec![open(vec![worker("Ann"), worker("Bob")], Order::Sequential), say("Go.")];
        let mut world = World::new(format!("drained at {ms} ms"), script, people("drain", acts));
        let life = Life::fine().ending(Fate::Drained(Duration::from_millis(ms)));
        assert_eq!(world.live(&life), End::Left);
        let evidence = world.come_to_rest(Duration::from_secs(30));
        assert_eq!(closed(&evidence), 1);
        assert_eq!((cuts(&evidence), evidence.executions.len()), (0, 3), "drained at {ms} ms");
        assert_eq!(evidence.received.len(), finishes(&evidence).len(), "drained at {ms} ms");
    }
}

#[test]
fn a_handler_that_asks_is_answered_before_its_engine_stops() {
    for (tool, ms) in [("ponder", 30), ("consult", 30), ("ponder", 120), ("consult", 120)] {
        let asks = questions(&["first", "second"], &["look"]);
        let script = Script::default()
            .voice("ann", [Reply::calls([call(tool, asks)]), Reply::text("Done.")])
            .voice(
                "ann/first",
                [
                    Reply::calls([call("look", job("a", 50))]).after(50),
                    Reply::text("One.").after(50),
                ],
            )
            .voice("ann/second", [Reply::text("Two.").after(50)]);
        let acts = vec![open(vec![worker("Ann")], Order::Parallel), say("Go.")];
        let label = format!("{tool} drained at {ms} ms");
        let mut world = World::new(&label, script, people("asking", acts));
        let life = Life::fine().ending(Fate::Drained(Duration::from_millis(ms)));
        assert_eq!(world.live(&life), End::Left);
        let evidence = world.come_to_rest(Duration::from_secs(30));
        assert_eq!((cuts(&evidence), evidence.executions.len()), (0, 2), "{label}");
        assert_eq!(evidence.received.len(), finishes(&evidence).len(), "{label}");
    }
}
