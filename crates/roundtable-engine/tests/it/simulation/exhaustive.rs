//! A crash before and after every commit of a story: 100 % of the points, none twice.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, SessionEvent};
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::settings::Order;
use roundtable_core::tool::{Effect, ToolDecl};
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::ProgramSet;
use roundtable_testing::oracle::{Answer, Evidence};
use roundtable_testing::sim::{Act, Client, Conduct, Scenario, Sight, Visited, job, questions};
use serde_json::json;

use super::people::{answers, call, closed, count, finishes, open, people, say, session, worker};

/// The same agent, who sends something only after a person agreed.
fn approving(mut agent: Agent) -> Agent {
    let send = agent.tools.iter_mut().find(|tool| tool.name == "send").unwrap();
    *send = ToolDecl::handler("send", Effect::Effectful).with_approval();
    agent
}

/// Tries every point of the story, and that every point was tried.
fn everywhere(scenario: &Scenario, check: impl Fn(&str, &Evidence)) {
    let Visited { commits, crashes } = scenario.crash_everywhere(&check);
    assert!(commits > 0 && crashes >= 2 * commits, "{}: {crashes} of {commits}", scenario.name);
    let twice = scenario.crash_twice_everywhere(&check);
    let faults = scenario.fail_everywhere(&check);
    println!(
        "{}: {commits} commits, {crashes} crashes, {twice} crashes in recovery, {faults} faults",
        scenario.name
    );
}

#[test]
fn parallel_turns_with_tools_of_every_class() {
    let scenario = Scenario {
        name: "parallel",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice(
                    "ann",
                    [
                        Reply::calls([
                            call("look", job("a", 30)),
                            call("note", job("b", 10)),
                            call("send", job("c", 20)),
                        ]),
                        Reply::text("Ann is done."),
                    ],
                )
                .voice("bob", [Reply::text("Bob says so.").in_pieces(3, 5)])
                .voice("cyd", [Reply::calls([call("note", job("d", 5))]), Reply::text("Cyd too.")])
        },
        clients: || {
            let agents = vec![worker("Ann"), worker("Bob"), worker("Cyd")];
            people("parallel", vec![open(agents, Order::Parallel), say("Go.")])
        },
    };
    everywhere(&scenario, |label, evidence| assert_eq!(closed(evidence), 1, "{label}"));
}

#[test]
fn a_sequential_round_with_delegation() {
    let scenario = Scenario {
        name: "delegation",
        programs: ProgramSet::default,
        script: || {
            let delegate =
                json!({ "agent": "cyd", "mission": "Find out.", "rationale": "Cyd knows." });
            Script::default()
                .voice("ann", [Reply::text("Ann first.")])
                .voice(
                    "bob",
                    [Reply::calls([call("delegate", delegate)]), Reply::text("So be it.")],
                )
                .voice(
                    "cyd/delegated",
                    [Reply::calls([call("look", job("it", 10))]), Reply::text("Found.")],
                )
        },
        clients: || {
            let agents = vec![worker("Ann"), worker("Bob"), worker("Cyd")];
            people("delegation", vec![open(agents, Order::Sequential), say("Go.")])
        },
    };
    everywhere(&scenario, |label, evidence| {
        assert_eq!(closed(evidence), 1, "{label}");
        assert_eq!(finishes(evidence).len(), 6, "{label}");
    });
}

#[test]
fn a_handler_with_two_evaluates_at_depth_three() {
    let scenario = Scenario {
        name: "nested",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice(
                    "ann",
                    [
                        Reply::calls([call(
                            "ponder",
                            questions(&["first", "second"], &["ponder"]),
                        )]),
                        Reply::text("I have thought."),
                    ],
                )
                .voice(
                    "ann/first",
                    [
                        Reply::calls([call("ponder", questions(&["deep", "deeper"], &[]))]),
                        Reply::text("First thought."),
                    ],
                )
                .voice("ann/second", [Reply::text("Second thought.").after(20)])
                .voice("ann/deep", [Reply::text("Deep.").after(10)])
                .voice("ann/deeper", [Reply::text("Deeper.").after(10)])
        },
        clients: || {
            people("nested", vec![open(vec![worker("Ann")], Order::Parallel), say("Think.")])
        },
    };
    everywhere(&scenario, |label, evidence| {
        let finishes = finishes(evidence);
        assert_eq!(finishes.len(), 7, "{label}: {finishes:?}");
        assert!(finishes.values().all(|times| *times == 1), "{label}: {finishes:?}");
    });
}

#[test]
fn an_effectful_handler_that_evaluates() {
    let scenario = Scenario {
        name: "consult",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice(
                    "ann",
                    [
                        Reply::calls([call("consult", questions(&["first", "second"], &[]))]),
                        Reply::text("I have asked."),
                    ],
                )
                .voice("ann/first", [Reply::text("First thought.").after(10)])
                .voice("ann/second", [Reply::text("Second thought.").after(20)])
        },
        clients: || {
            people("consult", vec![open(vec![worker("Ann")], Order::Parallel), say("Think.")])
        },
    };
    everywhere(&scenario, |label, evidence| assert_eq!(closed(evidence), 1, "{label}"));
}

#[test]
fn a_request_for_context_is_raised_and_answered_and_the_next_round_runs() {
    let scenario = Scenario {
        name: "context",
        programs: ProgramSet::default,
        script: || {
            let ask = json!({ "query": "How many?", "reason": "I have to know." });
            Script::default()
                .voice(
                    "ann",
                    [Reply::calls([call("request_context", ask)]), Reply::text("I asked.")],
                )
                .voice("ann", [Reply::text("Now I know.")])
        },
        clients: || {
            let acts = vec![
                open(vec![worker("Ann")], Order::Parallel),
                say("Go."),
                Act::Until(Sight::Asked(1)),
                Act::Until(Sight::Rest),
                say("Go on."),
                Act::AnswerAgain,
            ];
            people("context", acts)
        },
    };
    everywhere(&scenario, |label, evidence| {
        assert_eq!(closed(evidence), 2, "{label}");
        assert_eq!(finishes(evidence).len(), 3, "{label}");
    });
}

#[test]
fn an_effectful_tool_is_approved() {
    let scenario = Scenario {
        name: "approval",
        programs: ProgramSet::default,
        script: || {
            let calls = [call("send", job("a letter", 10)), call("send", job("a parcel", 5))];
            Script::default().voice("ann", [Reply::calls(calls), Reply::text("Sent.")])
        },
        clients: || {
            let agents = vec![approving(worker("Ann"))];
            people("approval", vec![open(agents, Order::Parallel), say("Send them.")])
        },
    };
    everywhere(&scenario, |label, evidence| {
        assert_eq!(closed(evidence), 1, "{label}");
        assert!(evidence.executions.len() <= 2, "{label}: {:?}", evidence.executions);
    });
}

#[test]
fn a_stop_in_the_middle_of_streaming() {
    let scenario = Scenario {
        name: "stop",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice("ann", [Reply::text("A long story, slowly told.").in_pieces(2, 400)])
                .voice("bob", [Reply::calls([call("send", job("x", 9000))]), Reply::text("Bob.")])
        },
        clients: || {
            let acts = vec![
                open(vec![worker("Ann"), worker("Bob")], Order::Parallel),
                say("Tell."),
                Act::Until(Sight::Started(1)),
                Act::Wait(2500),
                Act::Send(Command::Stop),
                Act::Until(Sight::Rest),
                say("Once more."),
                Act::Until(Sight::Started(3)),
                Act::Wait(700),
                Act::Say("Wait!".to_owned(), OnBusy::Interrupt),
            ];
            people("stop", acts)
        },
    };
    // After a crash, the interruption may meet the question whether Bob's call took effect; then it
    // is refused until that is answered, like any other message.
    everywhere(&scenario, |label, evidence| {
        let refused = evidence.orders.iter().filter(|o| matches!(o.answer, Answer::Refused(_)));
        assert_eq!(closed(evidence) + refused.count(), 3, "{label}");
    });
}

#[test]
fn a_round_is_regenerated_and_its_takes_change() {
    let scenario = Scenario {
        name: "regenerate",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice("ann", [Reply::calls([call("look", job("a", 5))]), Reply::text("One.")])
                .voice("ann", [Reply::text("Two.")])
        },
        clients: || {
            let acts = vec![
                open(vec![worker("Ann")], Order::Parallel),
                say("Go."),
                Act::Until(Sight::Closed(1)),
                say("Go on."),
                Act::Until(Sight::Closed(2)),
                Act::Send(Command::Regenerate),
                Act::Until(Sight::Closed(3)),
                Act::Send(Command::SelectTake { number: 2, take: 1 }),
                Act::Send(Command::Rewind { number: 1 }),
                say("From the start."),
                Act::SendAgain,
            ];
            people("regenerate", acts)
        },
    };
    everywhere(&scenario, |label, evidence| assert_eq!(closed(evidence), 4, "{label}"));
}

#[test]
fn messages_wait_in_a_queue_through_a_pause() {
    let scenario = Scenario {
        name: "queue",
        programs: ProgramSet::default,
        script: || Script::default().voice("ann", [Reply::text("Yes.").after(300)]),
        clients: || {
            let acts = vec![
                open(vec![worker("Ann")], Order::Parallel),
                say("One."),
                say("Two."),
                Act::Send(Command::Pause),
                Act::Until(Sight::Closed(1)),
                Act::Wait(3000),
                Act::Send(Command::Resume),
                Act::SayOnce("Three.".to_owned()),
                say("Four."),
                Act::Until(Sight::Closed(2)),
                Act::Send(Command::Complete { reason: "enough".to_owned() }),
            ];
            people("queue", acts)
        },
    };
    everywhere(&scenario, |label, evidence| {
        let dropped = count(evidence, |body| {
            matches!(body, Body::Session(SessionEvent::SessionInputDropped { .. }))
        });
        // A message that was sent without an id is sent once: a crash may take it.
        let lost = evidence.orders.iter().filter(|o| o.answer == Answer::Lost).count();
        let said = closed(evidence) + dropped;
        assert!((4 - lost..=4).contains(&said), "{label}: {said} of 4, {lost} lost");
    });
}

#[test]
fn a_session_is_forked_and_both_go_on() {
    let scenario = Scenario {
        name: "fork",
        programs: ProgramSet::default,
        script: || {
            Script::default()
                .voice("ann", [Reply::text("Yes.").after(50)])
                .voice("bob", [Reply::text("No.").after(20)])
        },
        clients: || {
            let (trunk, branch) = (session("trunk"), session("branch"));
            let opened = vec![
                open(vec![worker("Ann")], Order::Parallel),
                say("One."),
                say("Two."),
                Act::Until(Sight::Closed(2)),
                say("Three."),
            ];
            let others = Some(vec![worker("Bob")]);
            let forked = vec![
                Act::Fork(trunk.clone(), 1, others),
                say("Another two."),
                say("Another three."),
                Act::Look,
            ];
            vec![
                Client::new("user", &trunk, answers(), opened),
                Client::new("other", &branch, answers(), forked),
                Client::new("tab", &branch, Conduct::Reads, Vec::new()),
            ]
        },
    };
    everywhere(&scenario, |label, evidence| assert_eq!(closed(evidence), 5, "{label}"));
}
