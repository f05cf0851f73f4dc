//! Several processes on one data directory.

use crate::binary::{Home, finish, read_until};

fn count(home: &Home, kind: &str) -> usize {
    home.json(&["show", &home.session()]).iter().filter(|event| event["kind"] == kind).count()
}

#[test]
fn a_second_process_plays_the_same_session_and_nothing_happens_twice() {
    let home = Home::new();
    let mut first = home.start(&["demo", "--pace", "10", "--answer", "Two of five"]);
    let (mut out, mut seen) = (first.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Ada: ")), "{seen}");
    let second = home.start(&["demo", "--pace", "10", "--answer", "Three of five"]);
    read_until(&mut out, &mut seen, |_| false);
    let first = finish(first);
    let second = finish(second);
    assert_eq!((first.err.as_str(), first.code), ("", Some(0)), "{seen}");
    let shown = second.ok();
    assert!(shown.starts_with("Resuming ses_"), "{shown}");
    let ends = |kinds: [&str; 4]| kinds.map(|kind| count(&home, kind));
    let kinds = ["session_input_accepted", "round_opened", "context_provided", "session_completed"];
    assert_eq!(ends(kinds), [2, 2, 1, 1]);
    assert_eq!(count(&home, "model_call_interrupted"), 0);
    home.assert_sound();
}

#[test]
fn a_process_that_watches_goes_on_when_the_one_that_works_is_killed() {
    let home = Home::new();
    let mut first = home.start(&["demo", "--pace", "100", "--answer", "Two of five"]);
    let (mut out, mut seen) = (first.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Ada: ")), "{seen}");
    let mut second = home.start(&["demo", "--pace", "1", "--answer", "Two of five"]);
    let (mut out, mut seen) = (second.stdout.take().unwrap(), String::new());
    assert!(read_until(&mut out, &mut seen, |seen| seen.contains("Ada: ")), "{seen}");
    first.kill().unwrap();
    first.wait().unwrap();
    read_until(&mut out, &mut seen, |_| false);
    let second = finish(second);
    assert_eq!((second.err.as_str(), second.code), ("", Some(0)), "{seen}");
    assert_eq!([count(&home, "round_opened"), count(&home, "session_completed")], [2, 1]);
    home.assert_sound();
}

#[test]
fn begun_at_the_same_time_each_comes_to_its_end() {
    let home = Home::new();
    let start = |_| home.start(&["demo", "--fresh", "--pace", "1", "--answer", "Two"]);
    let children: Vec<_> = (0..4).map(start).collect();
    for child in children {
        finish(child).ok();
    }
    let sessions = home.json(&["sessions"]);
    let over = |session: &&serde_json::Value| session["status"] == "completed";
    assert_eq!((sessions.len(), sessions.iter().filter(over).count()), (4, 4));
    home.assert_sound();
}
