//! Three processes on one directory: whoever is asked, the owner answers; whoever dies, the others
//! go on.

use std::collections::BTreeMap;
use std::path::Path;

use roundtable_core::event::{Body, Event, RoundEvent, SessionEvent};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::session::Session;
use roundtable_testing::oracle::{Answer, Order};
use roundtable_testing::say;

use super::crash::open;
use super::evidence::{People, check, kinds, reading};
use super::{Ask, Node, Role, Tell, until};
use crate::table::{lines, session, shell};

fn three(directory: &Path) -> [Node; 3] {
    [(); 3].map(|()| Node::on(directory, None))
}

fn order(session: &SessionId, id: &str, command: Command, told: Answer) -> Order {
    let id = Some(CommandId::new(id).unwrap());
    Order { session: session.clone(), id, command, answer: told }
}

fn leases(directory: &Path) -> Vec<String> {
    lines(&shell(directory), "SELECT session, epoch, owner FROM lease ORDER BY session")
}

fn owner_of(directory: &Path, session: &SessionId) -> String {
    let sql = format!("SELECT owner FROM lease WHERE session = '{session}'");
    lines(&shell(directory), &sql)[0].clone()
}

/// The lock files of the processes that live.
fn locks(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory.join("nodes")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Reads a watch until so many rounds have closed.
fn until_closed(node: &mut Node, watch: u64, count: usize, events: &mut Vec<Event>) {
    let closes = |event: &Event| matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. }));
    while events.iter().filter(|event| closes(event)).count() < count {
        events.push(node.next_event(watch).expect("a process that lives"));
    }
}

#[test]
fn a_command_reaches_the_owner_whoever_is_asked_and_is_answered_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut nodes = three(directory.path());
    let session = session("shared");
    let mut orders = Vec::new();
    let opening = open(&["Cyd"]);
    let receipt = nodes[0].done(&session, "open", opening.clone());
    orders.push(order(&session, "open", opening, Answer::Acknowledged(receipt)));
    let watches = [1, 2].map(|index: usize| nodes[index].watch(&session));
    let first = leases(directory.path());
    // Every process is asked, several things at a time, and each thing by two of them.
    let mut asked = Vec::new();
    for message in 0..12 {
        let id = format!("m{message}");
        let command = say(&session, &id, &format!("Message {message}."));
        for node in [message % 3, (message + 1) % 3] {
            let id = Some(CommandId::new(&id).unwrap());
            let ask = Ask::Send { session: session.clone(), id, command: command.clone() };
            asked.push((id_of(&ask), node, nodes[node].ask(ask), command.clone()));
        }
    }
    let mut told: BTreeMap<String, Tell> = BTreeMap::new();
    for (id, node, number, command) in asked {
        let answer = nodes[node].answer(number).expect("a process that lives");
        let Tell::Done(receipt) = &answer else { panic!("{id}: {answer:?}") };
        match told.get(&id) {
            Some(Tell::Done(first)) => assert_eq!(first, receipt, "{id}: both get one answer"),
            _ => {
                let known = Answer::Acknowledged(receipt.clone());
                orders.push(order(&session, &id, command, known));
                told.insert(id, answer);
            }
        }
    }
    let mut readings = Vec::new();
    for (index, watch) in [1, 2].into_iter().zip(watches) {
        let mut events = Vec::new();
        until_closed(&mut nodes[index], watch, 12, &mut events);
        readings.push(reading(&session, events));
    }
    assert_eq!(leases(directory.path()), first, "the session stayed where it was");
    assert_eq!(lines(&shell(directory.path()), "SELECT count(*) FROM inbox"), ["0"], "all taken");
    let states = nodes.iter_mut().map(|node| node.state(&session)).collect();
    nodes.into_iter().for_each(Node::quit);
    assert_eq!(locks(directory.path()), Vec::<String>::new(), "nothing is left of them");
    let people = People { orders, readings, states, ..People::default() };
    let evidence = check("shared", directory.path(), people);
    assert!(evidence.logs[&session].iter().all(|stored| stored.epoch == 1), "one writer");
}

fn id_of(ask: &Ask) -> String {
    match ask {
        Ask::Send { id: Some(id), .. } => id.suffix().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_comes_back_from_the_owner_too() {
    let directory = tempfile::tempdir().unwrap();
    let [mut owner, mut other, third] = three(directory.path());
    let session = session("shared");
    owner.done(&session, "open", open(&["Hal"]));
    let refused = other.send(&session, "resume", Command::Resume);
    assert!(matches!(refused, Some(Tell::Refused(_))), "{refused:?}");
    owner.done(&session, "m1", say(&session, "m1", "Hello."));
    let reused = other.send(&session, "m1", say(&session, "m1", "Something else."));
    assert!(matches!(reused, Some(Tell::Refused(_))), "S31: {reused:?}");
    other.done(&session, "stop", Command::Stop);
    let nothing = other.send(&session, "again", Command::SelectTake { number: 7, take: 1 });
    assert!(matches!(nothing, Some(Tell::Refused(_))), "{nothing:?}");
    for node in [owner, other, third] {
        node.quit();
    }
    check("refused", directory.path(), orders_of(&session));
}

/// What was acknowledged above.
fn orders_of(session: &SessionId) -> People {
    let records = |id: &str, command: Command| order(session, id, command, Answer::Lost);
    let mut open = records("open", open(&["Hal"]));
    let mut said = records("m1", say(session, "m1", "Hello."));
    (open.id, said.id) = (None, None);
    People { orders: vec![open, said], ..People::default() }
}

#[test]
fn whoever_dies_the_others_take_its_work_over_without_being_asked() {
    let directory = tempfile::tempdir().unwrap();
    let mut nodes: Vec<Node> = three(directory.path()).into();
    let session = session("shared");
    let mut orders = Vec::new();
    let opening = open(&["Hal", "Cyd"]);
    let receipt = nodes[0].done(&session, "open", opening.clone());
    orders.push(order(&session, "open", opening, Answer::Acknowledged(receipt)));
    let (mut torn, mut calls) = (Vec::new(), 0);
    for round in 1..=3 {
        let id = format!("m{round}");
        let command = say(&session, &id, "Hello.");
        let receipt = nodes[0].done(&session, &id, command.clone());
        orders.push(order(&session, &id, command, Answer::Acknowledged(receipt)));
        let watch = nodes[1].watch(&session);
        let mut events = Vec::new();
        let started = |events: &[Event]| {
            events.iter().filter(|event| event.body.kind() == "model_call_started").count()
        };
        while started(&events) < calls + 2 {
            events.push(nodes[1].next_event(watch).expect("a process that lives"));
        }
        // The owner dies while its model calls are under way.
        let mut gone = nodes.remove(0);
        gone.kill();
        for node in &mut nodes {
            node.ask(Ask::Gate { name: format!("hal{round}") });
        }
        until_closed(&mut nodes[0], watch, round, &mut events);
        calls = started(&events);
        torn.push(reading(&session, events));
        nodes.push(Node::on(directory.path(), None));
        // Whoever has the session now is to die next.
        let name = owner_of(directory.path(), &session);
        let at = nodes.iter().position(|node| node.name == name).expect("an owner that lives");
        nodes.swap(0, at);
    }
    let states = nodes.iter_mut().map(|node| node.state(&session)).collect();
    nodes.into_iter().for_each(Node::quit);
    let people = People { orders, torn, states, ..People::default() };
    let evidence = check("takeover", directory.path(), people);
    let kinds = kinds(&evidence);
    assert_eq!(kinds["round_closed"], 3);
    assert_eq!(kinds["session_input_accepted"], 3, "nothing lost, nothing doubled");
    let epochs: Vec<u64> = evidence.logs[&session].iter().map(|stored| stored.epoch).collect();
    assert!(epochs.is_sorted() && epochs.last() >= Some(&4), "{epochs:?}");
}

#[test]
fn a_command_on_its_way_to_a_process_that_dies_is_carried_out_once() {
    let directory = tempfile::tempdir().unwrap();
    let [mut owner, mut other, third] = three(directory.path());
    let session = session("shared");
    let opening = open(&["Cyd"]);
    let receipt = owner.done(&session, "open", opening.clone());
    let mut orders = vec![order(&session, "open", opening, Answer::Acknowledged(receipt))];
    // A process that is stopped owns its sessions, and does nothing.
    signal(&owner, "STOP");
    let mut asked = Vec::new();
    for message in 0..5 {
        let id = format!("m{message}");
        let command = say(&session, &id, "Is anybody there?");
        let ask = Ask::Send {
            session: session.clone(),
            id: Some(CommandId::new(&id).unwrap()),
            command: command.clone(),
        };
        asked.push((id, command, other.ask(ask)));
    }
    let posted = || lines(&shell(directory.path()), "SELECT count(*) FROM inbox")[0].clone();
    until("five commands wait", || posted() == "5");
    let watch = other.watch(&session);
    // Meanwhile a fourth one writes all the time: what rings always says nothing.
    let directory_name = directory.path().display().to_string();
    let _noise =
        Node::start(&Role::Write { directory: directory_name, name: "noise".into(), times: 5000 });
    owner.kill();
    for (id, command, number) in asked {
        let told = other.answer(number);
        let Some(Tell::Done(receipt)) = told else { panic!("{id}: {told:?}") };
        orders.push(order(&session, &id, command, Answer::Acknowledged(receipt)));
    }
    let mut events = Vec::new();
    until_closed(&mut other, watch, 5, &mut events);
    let states = vec![other.state(&session)];
    assert_eq!(posted(), "0", "nothing is left to be done again");
    other.quit();
    third.quit();
    let readings = vec![reading(&session, events)];
    let people = People { orders, readings, states, ..People::default() };
    check("on its way", directory.path(), people);
}

/// F08 on one machine: nobody takes a session from a process that only sleeps, and a process that
/// was given up all the same is fenced.
#[test]
fn f08_a_process_that_was_given_up_writes_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    let mut owner = Node::on(directory.path(), None);
    let lock = directory.path().join("nodes").join(&locks(directory.path())[0]);
    let session = session("shared");
    let (opening, command) = (open(&["Hal"]), say(&session, "m1", "Hello."));
    let mut orders = Vec::new();
    for (id, command) in [("open", opening), ("m1", command)] {
        let receipt = owner.done(&session, id, command.clone());
        orders.push(order(&session, id, command, Answer::Acknowledged(receipt)));
    }
    // Someone clears the lock files away: the process seems to be gone, and is not.
    std::fs::remove_file(lock).unwrap();
    let mut other = Node::on(directory.path(), None);
    let watch = other.watch(&session);
    let mut events = Vec::new();
    while !events.iter().any(|event: &Event| event.body.kind() == "model_call_interrupted") {
        events.push(other.next_event(watch).expect("a process that lives"));
    }
    owner.ask(Ask::Gate { name: "hal1".to_owned() });
    let late = owner.send(&session, "late", Command::Pause);
    other.ask(Ask::Gate { name: "hal1".to_owned() });
    until_closed(&mut other, watch, 1, &mut events);
    match late {
        // It came to the new owner, by way of the inbox or after a second look.
        Some(Tell::Done(receipt)) => {
            orders.push(order(&session, "late", Command::Pause, Answer::Acknowledged(receipt)));
        }
        Some(Tell::Unsure(why)) => assert!(why.contains("another writer"), "{why}"),
        other => panic!("{other:?}"),
    }
    let paused = |event: &Event| matches!(event.body, Body::Session(SessionEvent::SessionPaused));
    let states = vec![other.state(&session)];
    drop(owner);
    other.quit();
    let wanted = orders.iter().filter(|order| matches!(order.command, Command::Pause)).count();
    let torn = vec![reading(&session, events)];
    let evidence =
        check("given up", directory.path(), People { orders, torn, states, ..People::default() });
    let log = &evidence.logs[&session];
    assert_eq!(log.iter().filter(|stored| paused(&stored.event)).count(), wanted);
    assert_eq!(kinds(&evidence)["model_call_finished"], 1, "one answer counts");
    let epochs: Vec<u64> = log.iter().map(|stored| stored.epoch).collect();
    assert!(epochs.is_sorted() && epochs.first() < epochs.last(), "{epochs:?}");
}

fn signal(node: &Node, name: &str) {
    let pid = node.child.id().to_string();
    let sent = std::process::Command::new("kill").args([format!("-{name}"), pid]).status();
    assert!(sent.unwrap().success());
}

/// Many sessions, three processes, and one of them killed again and again.
#[test]
fn processes_are_killed_under_load_and_nothing_is_lost_or_doubled() {
    let directory = tempfile::tempdir().unwrap();
    let mut nodes: Vec<Node> = three(directory.path()).into();
    let sessions: Vec<SessionId> = (0..6).map(|index| session(&format!("s{index}"))).collect();
    let mut orders: Vec<Order> = Vec::new();
    for session in &sessions {
        orders.push(order(session, "open", open(&["Ann", "Cyd"]), Answer::Open));
    }
    for round in 0..5 {
        for session in &sessions {
            let id = format!("m{round}");
            orders.push(order(session, &id, say(session, &id, "Go on."), Answer::Open));
        }
        send_all(directory.path(), &mut nodes, &mut orders, round);
    }
    let states: Vec<_> =
        sessions.iter().map(|session| rest(&mut nodes[0], session, &orders)).collect();
    nodes.into_iter().for_each(Node::quit);
    let evidence = check("load", directory.path(), People { orders, states, ..People::default() });
    assert_eq!(kinds(&evidence)["round_closed"], 30);
}

/// Sends what is not answered, a part to each process, kills one of them once it has answered a
/// few, and sends the rest again until all of it is answered.
fn send_all(directory: &Path, nodes: &mut [Node], orders: &mut [Order], round: usize) {
    let mut victim = Some(round % 3);
    while orders.iter().any(|order| order.answer == Answer::Open) {
        let mut asked = Vec::new();
        for (index, order) in orders.iter().enumerate().filter(|(_, o)| o.answer == Answer::Open) {
            let node = (index + round) % nodes.len();
            let (session, id) = (order.session.clone(), order.id.clone());
            let ask = Ask::Send { session, id, command: order.command.clone() };
            asked.push((index, node, nodes[node].ask(ask)));
        }
        // What the one that dies is heard of comes first.
        asked.sort_by_key(|(_, node, _)| Some(*node) != victim);
        for (heard, (index, node, number)) in asked.into_iter().enumerate() {
            if heard == round
                && let Some(victim) = victim.take()
            {
                nodes[victim].kill();
            }
            match nodes[node].answer(number) {
                Some(Tell::Done(receipt)) => orders[index].answer = Answer::Acknowledged(receipt),
                // A session whose opening was not answered may not be there yet.
                Some(Tell::Refused(_) | Tell::Unsure(_)) | None => {}
                other => panic!("{other:?}"),
            }
        }
        for node in nodes.iter_mut() {
            if node.is_gone() {
                *node = Node::on(directory, None);
            }
        }
    }
    assert_eq!(victim, None, "one was killed");
}

/// The state once everything that was acknowledged is done with.
fn rest(node: &mut Node, session: &SessionId, orders: &[Order]) -> Session {
    let told = orders.iter().filter(|order| order.session == *session);
    let told = told.filter_map(|order| match &order.answer {
        Answer::Acknowledged(receipt) => Some(receipt.seq),
        _ => None,
    });
    let told = told.max().unwrap_or_default();
    let watch = node.watch(session);
    let mut state = Session::new(session.clone());
    while state.head < told || state.round.is_some() || !state.waiting.is_empty() {
        state.evolve(&node.next_event(watch).expect("a process that lives"));
    }
    node.state(session)
}

/// F16: the system refuses to let a file grow, in the middle of writing it.
#[test]
fn f16_a_process_whose_disk_is_full_loses_nothing_that_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let session = session("full");
    let mut orders = vec![order(&session, "open", open(&["Cyd"]), Answer::Open)];
    for message in 0..60 {
        let id = format!("m{message}");
        let text = "words and words ".repeat(3000);
        orders.push(order(&session, &id, say(&session, &id, &text), Answer::Open));
    }
    let mut node = Node::within(directory.path(), 2048);
    let mut refused = None;
    for order in &mut orders {
        let id = order.id.as_ref().unwrap().suffix().to_owned();
        match node.send(&session, &id, order.command.clone()) {
            Some(Tell::Done(receipt)) => order.answer = Answer::Acknowledged(receipt),
            Some(Tell::Unsure(why)) => {
                refused = Some(why);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    let why = refused.expect("a disk that is full");
    assert!(why.contains("disk I/O error") || why.contains("full"), "{why}");
    drop(node);
    let said = orders.iter().filter(|order| order.answer != Answer::Open).count();
    orders.truncate(said + 1);
    let mut node = Node::on(directory.path(), None);
    // What was not acknowledged is sent again, now that there is room.
    let last = orders.last_mut().unwrap();
    let id = last.id.as_ref().unwrap().suffix().to_owned();
    last.answer = Answer::Acknowledged(node.done(&session, &id, last.command.clone()));
    let states = vec![rest(&mut node, &session, &orders)];
    node.quit();
    let evidence = check("full", directory.path(), People { orders, states, ..People::default() });
    assert_eq!(kinds(&evidence)["round_closed"], said);
}
