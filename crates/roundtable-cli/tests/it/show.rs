//! `roundtable show`.

use std::io::{BufRead as _, BufReader};

use crate::binary::{Home, finish, steady};
use crate::provider::{Provider, says};

#[test]
fn the_log_is_shown_line_by_line_each_inside_what_it_belongs_to() {
    let (home, session) = Home::with_demo();
    let out = home.run(&["show", &session]).ok();
    let first: String = out.lines().take(31).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(steady(&first), @r#"
       1  session_opened "Should we move our billing service to Rust this year?" with Ada, Ben
       2  session_input_accepted User: "Should we move our billing service to Rust this year?"
       3    round_opened 1
       4      turn_started ada (turn 1, trn_…)
       5        iteration_opened 1
       6        model_call_started
       7        model_call_finished (1 tool call)
       8          tool_call_requested estimate_effort {"modules":12}
       9          tool_call_started
      10          tool_call_published progress {"counted":12}
      11            turn_started ada for the nested prompt risk (turn 2, trn_…)
      12              iteration_opened 1
      13              model_call_started
      14              model_call_finished "A third of the modules touch money; count those double."
      15              iteration_closed answered
      16            turn_ended answered
      17          tool_call_finished "About 18 weeks. A third of the modules touch money; count those double."
      18        iteration_closed tools done
      19        iteration_opened 2
      20        model_call_started
      21        model_call_finished "Twelve modules are about eighteen weeks, and the riskiest third comes f…"
      22        iteration_closed answered
      23      turn_ended answered
      24      turn_started ben (turn 3, trn_…)
      25        iteration_opened 1
      26        model_call_started
      27        model_call_finished (1 tool call)
      28          tool_call_requested request_context {"priority":"required","query":"How many people on the team have shippe…
      29          context_requested ctx_… by ben: "How many people on the team have shipped Rust before?"
      30          tool_call_finished "Context request queued."
      31        iteration_closed tools done
    "#);
    assert_eq!(out.lines().count(), 54);
}

#[test]
fn r004_11_what_happened_in_an_iteration_can_be_asked() {
    let (home, session) = Home::with_demo();
    let out = home.run(&["show", &session, "--turn", "1", "--iteration", "1"]).ok();
    let timed = |line: &&str| !line.starts_with("  latency_ms: ");
    let shown: Vec<&str> = out.lines().filter(timed).collect();
    insta::assert_snapshot!(steady(&shown.join("\n")), @r#"
    ada (trn_…)

    iteration 1, <time> to <time>
      system: You are Ada, an engineer who likes numbers.
      user: User: Should we move our billing service to Rust this year?
      calls estimate_effort {"modules":12} (tcl_…)
        = About 18 weeks. A third of the modules touch money; count those double.
        {"weeks":18}
      model: scripted
      stop: tool_calls
      usage: {"cached":0,"input":19,"output":0,"reasoning":0}
    "#);
    let both = home.run(&["show", &session, "--turn", "1"]).ok();
    assert!(both.starts_with(&out) && both.contains("\niteration 2, "), "{both}");
}

#[test]
fn a_turn_can_be_named_by_its_id_too() {
    let (home, session) = Home::with_demo();
    let by_number = home.run(&["show", &session, "--turn", "2"]).ok();
    let id = by_number.split(['(', ')']).nth(1).unwrap();
    assert!(id.starts_with("trn_"), "{id}");
    assert_eq!(home.run(&["show", &session, "--turn", id]).ok(), by_number);
}

#[test]
fn as_json_an_iteration_is_a_line() {
    let (home, session) = Home::with_demo();
    let iterations = home.json(&["show", &session, "--turn", "1"]);
    let numbers: Vec<_> = iterations.iter().map(|known| known["number"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    let call = &iterations[0]["tool_calls"][0];
    assert_eq!(call["result"]["success"], true);
    assert_eq!(iterations[1]["tool_calls"], serde_json::json!([]), "empty, never absent");
    assert_eq!(home.json(&["show", &session, "--turn", "1", "--iteration", "2"]), iterations[1..]);
}

#[test]
fn an_unknown_session_turn_or_iteration_is_answered_with_what_there_is() {
    let (home, session) = Home::with_demo();
    let failed = |arguments: &[&str]| steady(&home.run(arguments).failed());
    insta::assert_snapshot!(failed(&["show", "ses_none"]), @r"
    error: no session none
    hint: the newest sessions are:
      ses_…  Should we move our billing service to R…
    ");
    insta::assert_snapshot!(failed(&["show", &session, "--turn", "9"]), @r"
    error: no turn 9
    hint: the turns are:
      1  trn_…  ada
      2  trn_…  ada
      3  trn_…  ben
      4  trn_…  ada
      5  trn_…  ben
    ");
    insta::assert_snapshot!(failed(&["show", &session, "--turn", "0"]), @r"
    error: no turn 0
    hint: the turns are:
      1  trn_…  ada
      2  trn_…  ada
      3  trn_…  ben
      4  trn_…  ada
      5  trn_…  ben
    ");
    insta::assert_snapshot!(failed(&["show", &session, "--turn", "1", "--iteration", "3"]), @"
    error: no iteration 3: this turn has iterations 1 to 2
    ");
    insta::assert_snapshot!(failed(&["show", &session, "--turn", "2", "--iteration", "0"]), @"
    error: no iteration 0: this turn has only iteration 1
    ");
}

#[test]
fn what_is_no_session_id_is_refused_with_what_is_one() {
    let (home, _) = Home::with_demo();
    for (id, hint) in [
        ("trn_1", "expected a session id"),
        ("ses_../x", "expected a session id"),
        ("ses_'; DROP TABLE event", "expected a session id"),
        ("", "expected a session id"),
    ] {
        let ran = home.run(&["show", id]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains(hint), "{id}: {}", ran.err);
    }
    let ran = home.run(&["show", "ses_a", "--iteration", "1"]);
    assert!(ran.code == Some(2) && ran.err.contains("--turn <TURN>"), "{}", ran.err);
}

#[test]
fn f18_what_there_is_before_the_damage_is_shown_and_the_damage_is_named() {
    let (home, session) = Home::with_demo();
    let sql =
        "UPDATE event SET body = replace(body, 'eighteen', 'nineteen') WHERE id & 0xffffffff = 21";
    home.database().execute(sql, []).unwrap();
    let ran = home.run(&["show", &session]);
    assert_eq!((ran.out.lines().count(), ran.code), (20, Some(1)));
    let expected = format!(
        "error: the log of {session} is damaged at 21: the body does not match its digest\n"
    );
    assert_eq!(ran.err, expected);
}

#[test]
fn a_reader_that_has_seen_enough_is_not_a_crash() {
    let (home, session) = Home::with_demo();
    for arguments in [&["show", &session][..], &["show", &session, "--json"], &["sessions"]] {
        let mut child = home.start(arguments);
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ran = finish(child);
        assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)), "{arguments:?}");
    }
}

#[test]
fn looking_at_a_session_changes_nothing() {
    let (home, session) = Home::with_demo();
    let leases = |home: &Home| -> String {
        let sql = "SELECT group_concat(session || epoch || coalesce(owner, '-')) FROM lease";
        home.database().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let (before, log) = (leases(&home), home.run(&["show", &session]).ok());
    home.run(&["sessions"]).ok();
    home.run(&["verify"]).ok();
    home.run(&["show", &session, "--turn", "1"]).ok();
    assert_eq!((leases(&home), home.run(&["show", &session]).ok()), (before, log));
}

#[test]
fn f35_a_parked_session_says_so_and_is_tried_again_when_it_is_continued() {
    let provider = Provider::start(vec![says("Well."), says("Well, too.")]);
    let (home, address) = (Home::new(), provider.address.clone());
    let variables =
        [("OPENAI_API_KEY", "sk-canary-1234567890"), ("OPENAI_BASE_URL", address.as_str())];
    home.run_with(&variables, &["ask", "How are you?"]);
    let session = home.session();
    let park = "UPDATE lease SET parked = 'it failed 3 times'";
    assert_eq!(home.database().execute(park, []).unwrap(), 1);
    let told = home.run(&["show", &session]).ok();
    let told = told.lines().last().unwrap();
    assert!(
        told.starts_with("The session is parked: it failed 3 times. Try again: roundtable "),
        "{told}"
    );
    assert!(told.contains(&format!(" continue {session}")), "{told}");
    assert!(home.run(&["sessions"]).ok().contains("  (parked) How are you?"));
    assert_eq!(home.json(&["sessions"])[0]["parked"], "it failed 3 times");
    let ran = home.run_with(&variables, &["continue", &session, "And now?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("Well, too.\n", Some(0)), "{}", ran.err);
    assert!(!home.run(&["show", &session]).ok().contains("parked"));
}
