//! A session that version 5 wrote and could not read again, because a tool call in it has arguments
//! with 127 levels.

use std::path::Path;

use crate::binary::Home;

fn poisoned() -> Home {
    let home = Home::new();
    let dump = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../roundtable-backend/tests/golden/v5/poisoned.sql");
    std::fs::create_dir_all(home.path()).unwrap();
    let dump = std::fs::read_to_string(dump).unwrap();
    rusqlite::Connection::open(home.path().join("roundtable.db"))
        .unwrap()
        .execute_batch(&dump)
        .unwrap();
    home
}

#[test]
fn s23_a_poisoned_session_is_shown_verified_and_listed() {
    let home = poisoned();
    let shown = home.run(&["show", "ses_poisoned"]).ok();
    assert_eq!(shown.lines().count(), 25, "{shown}");
    assert!(shown.contains("A finished round."), "{shown}");
    let lines = home.run(&["show", "ses_poisoned", "--json"]).ok();
    assert_eq!(lines.lines().count(), 25);
    let turn = home.run(&["show", "ses_poisoned", "--turn", "2", "--iteration", "1"]).ok();
    assert!(turn.contains(&"[".repeat(127)), "{turn}");
    home.assert_sound();
}

#[test]
fn s23_a_poisoned_session_is_refused_only_for_what_is_missing() {
    let home = poisoned();
    let refused = home.run(&["continue", "ses_poisoned", "Go on."]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("look"), "{}", refused.err);
    assert!(!refused.err.contains("recursion"), "{}", refused.err);
    // The session is a chat, so there are no minutes of it; it was read to find that out.
    let exported = home.run(&["export", "ses_poisoned"]).failed();
    assert!(exported.starts_with("error: ses_poisoned is not a debate\n"), "{exported}");
}
