//! The binary, killed at many moments, goes on where it was: nothing is lost, nothing is done
//! twice without being declared.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::binary::{Home, finish, read_until, signal};

/// How the demonstration is run here: slow enough that a kill finds something under way.
const DEMO: [&str; 5] = ["demo", "--pace", "8", "--answer", "Two of five"];

/// What the agents say in the whole demonstration, in order.
const SAID: [&str; 7] = [
    "",
    "A third of the modules touch money; count those double.",
    "Twelve modules are about eighteen weeks, and the riskiest third comes first. I am for it.",
    "",
    "I have asked who would do it. Until that is answered I will not say yes.",
    "Then a pilot on the invoice module, with a way back, is the honest first step.",
    "With that answer I can agree to the pilot, and to nothing more yet.",
];

/// How a run is ended.
#[derive(Clone, Copy)]
enum How {
    Kill,
    Terminate,
}

/// Starts the demonstration, and ends it with a signal when it has printed so many bytes.
fn cut_off(home: &Home, after: usize, how: How) {
    let mut child = home.start(&DEMO);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    if read_until(&mut out, &mut seen, |seen| seen.len() >= after) {
        match how {
            How::Kill => child.kill().unwrap(),
            How::Terminate => signal(&child, "-TERM"),
        }
    }
    // Whatever is still in the pipe, so that a drain can print.
    read_until(&mut out, &mut seen, |_| false);
    let ran = finish(child);
    assert_eq!(ran.err, "", "after {after} bytes: {seen}");
    assert!([None, Some(0), Some(143)].contains(&ran.code), "{:?}: {seen}", ran.code);
}

/// Whether the demonstration has come to its end. Another run would begin a new one.
fn is_over(home: &Home) -> bool {
    home.run(&["sessions", "--json"]).out.contains(r#""status":"completed""#)
}

/// Checks the log of a demonstration that came to its end; how many calls were cut off on the way.
fn check(log: &[Value]) -> usize {
    let count = |kind: &str| log.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!([count("session_opened"), count("session_completed")], [1, 1]);
    assert_eq!(
        [count("session_input_accepted"), count("round_opened"), count("round_closed")],
        [2; 3]
    );
    assert_eq!([count("context_requested"), count("context_provided")], [1, 1]);
    assert_eq!([count("tool_call_requested"), count("tool_call_finished")], [2, 2]);
    let last = &log.last().unwrap()["kind"];
    assert_eq!(last, "session_completed");
    let finished = || log.iter().filter(|event| event["kind"] == "model_call_finished");
    let said: Vec<&str> = finished().map(|event| event["data"]["text"].as_str().unwrap()).collect();
    assert_eq!(said, SAID);
    let mut finishes: BTreeMap<&str, usize> = BTreeMap::new();
    finished()
        .for_each(|event| *finishes.entry(event["iteration"].as_str().unwrap()).or_default() += 1);
    assert!(finishes.values().all(|count| *count == 1), "{finishes:?}");
    let interrupted = count("model_call_interrupted");
    assert_eq!(
        count("model_call_started"),
        SAID.len() + interrupted,
        "each repeated call is declared"
    );
    let declared = |event: &&Value| {
        event["kind"] == "model_call_interrupted" && event["data"]["possible_duplicate"] == true
    };
    assert_eq!(log.iter().filter(declared).count(), interrupted);
    interrupted
}

#[test]
fn f04_killed_again_and_again_in_one_session_it_comes_to_its_end_once() {
    let home = Home::new();
    let mut kills = 0;
    // Each time a little further on, from before the first byte to the end of the session.
    while !is_over(&home) {
        cut_off(&home, 50 * kills, How::Kill);
        kills += 1;
        assert!(kills < 200, "it does not come to its end");
    }
    assert!(kills >= 25, "{kills}");
    let interrupted = check(&home.json(&["show", &home.session()]));
    assert!(interrupted > 0, "some kill found a call under way");
    home.assert_sound();
}

#[test]
fn f01_to_f06_killed_once_at_every_second_event_each_session_comes_to_its_end_once() {
    let home = Home::new();
    let moments: Vec<usize> = (1..54).step_by(2).collect();
    for lines in &moments {
        let mut child = home.start(&[&DEMO[..], &["--json", "--fresh"]].concat());
        let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
        read_until(&mut out, &mut seen, |seen| seen.lines().count() >= *lines);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let is_active = |session: &Value| session["status"] == "active";
    while home.json(&["sessions"]).iter().any(is_active) {
        home.run(&["demo", "--pace", "0", "--answer", "Two of five"]).ok();
    }
    let sessions = home.json(&["sessions"]);
    assert_eq!(sessions.len(), moments.len());
    for session in &sessions {
        check(&home.json(&["show", session["session"].as_str().unwrap()]));
    }
    home.assert_sound();
}

#[test]
fn stopped_again_and_again_by_a_signal_no_call_is_made_twice() {
    let home = Home::new();
    let mut stops = 0;
    while !is_over(&home) {
        cut_off(&home, 150 * stops, How::Terminate);
        stops += 1;
        assert!(stops < 100, "it does not come to its end");
    }
    assert!(stops >= 3, "{stops}");
    assert_eq!(check(&home.json(&["show", &home.session()])), 0);
    home.assert_sound();
}
