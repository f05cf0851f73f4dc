//! `roundtable sessions`.

use crate::binary::{Home, steady};

#[test]
fn sessions_are_listed_newest_first_with_what_they_are_about() {
    let (home, first) = Home::with_demo();
    home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    let out = home.run(&["sessions"]).ok();
    // The date stands behind the id, which has 36 characters.
    let dated = |line: &str| {
        assert!(line[38..54].starts_with("20"), "{line}");
        format!("{}DATE{}\n", &line[..38], &line[54..])
    };
    let listed: String = out.lines().map(dated).collect();
    insta::assert_snapshot!(steady(&listed), @r"
    ses_…  DATE  debate  completed  2 rounds   Should we move our billing service to Rust this year?
    ses_…  DATE  debate  completed  2 rounds   Should we move our billing service to Rust this year?
    ");
    let (newest, oldest) = out.split_once('\n').unwrap();
    assert!(oldest.starts_with(&first) && !newest.starts_with(&first));
    assert_eq!(home.run(&["sessions", "--limit", "1"]).ok(), format!("{newest}\n"));
    assert_eq!(home.run(&["sessions", "--limit", "0"]).ok(), "");
}

#[test]
fn as_json_a_session_is_a_line() {
    let (home, session) = Home::with_demo();
    let out = home.run(&["sessions", "--json"]).ok();
    let out = steady_times(&out);
    assert_eq!(
        out,
        format!(
            "{{\"created_at\":\"TIME\",\"current_round\":2,\"events\":54,\"kind\":\"debate\",\"rounds_completed\":2,\
             \"session\":\"{session}\",\"status\":\"completed\",\
             \"topic\":\"Should we move our billing service to Rust this year?\",\"updated_at\":\"TIME\"}}\n"
        )
    );
}

#[test]
fn what_a_topic_says_to_a_terminal_is_not_passed_on() {
    let (home, _) = Home::with_demo();
    home.database()
        .execute("UPDATE session SET topic = ?1", ["\u{1b}[2Jgone\u{7}\nsecond line"])
        .unwrap();
    let out = home.run(&["sessions"]).ok();
    assert!(out.ends_with("  gone\u{fffd} second line\n"), "{out:?}");
}

#[test]
fn a_directory_without_sessions_is_said_to_have_none_and_is_not_made() {
    let home = Home::new();
    for command in ["sessions", "verify"] {
        let err = home.run(&[command]).failed();
        let path = home.path().display().to_string();
        assert_eq!(
            err,
            format!(
                "error: there are no sessions in {path}; run `roundtable demo` to create one, or pass --data-dir DIR\n"
            )
        );
    }
    assert!(!home.path().exists());
}

#[test]
fn a_store_without_sessions_is_said_to_have_none() {
    let (home, _) = Home::with_demo();
    home.database().execute_batch("DELETE FROM event; DELETE FROM session").unwrap();
    let out = home.run(&["sessions"]).ok();
    assert_eq!(out, "No sessions yet. `roundtable demo` creates one.\n");
    assert_eq!(home.run(&["sessions", "--json"]).ok(), "");
}

#[test]
fn a_newer_file_is_refused_by_every_command_with_what_to_do() {
    let (home, session) = Home::with_demo();
    home.database().pragma_update(None, "user_version", 99).unwrap();
    for command in [&["sessions"][..], &["show", &session], &["verify"], &["demo"]] {
        let err = home.run(command).failed();
        let file = home.path().join("roundtable.db").display().to_string();
        assert_eq!(
            err,
            format!(
                "error: {file} has format 99; this build supports formats up to 8: update roundtable, or choose another data directory\n"
            )
        );
    }
}

#[test]
fn a_file_that_is_no_database_is_refused_by_every_command() {
    let (home, session) = Home::with_demo();
    let file = home.path().join("roundtable.db");
    for beside in ["roundtable.db-wal", "roundtable.db-shm"] {
        let _ = std::fs::remove_file(home.path().join(beside));
    }
    std::fs::write(&file, "This is not a database. ".repeat(100)).unwrap();
    for command in [&["sessions"][..], &["show", &session], &["verify"], &["demo"]] {
        let err = home.run(command).failed();
        let file = file.display().to_string();
        assert_eq!(err, format!("error: {file} cannot be used: file is not a database\n"));
    }
}

/// A line without what differs from run to run.
fn steady_times(line: &str) -> String {
    let mut json: serde_json::Value = serde_json::from_str(line).unwrap();
    for field in ["created_at", "updated_at"] {
        json[field].as_str().unwrap().parse::<roundtable::core::Timestamp>().unwrap();
        json[field] = "TIME".into();
    }
    format!("{json}\n")
}
