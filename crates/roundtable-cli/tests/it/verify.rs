//! `roundtable verify`: damage is found, named, and does not hide what is sound.

use crate::binary::{Home, Ran, read_until, steady};

/// Two demonstrations, the first of which is then damaged.
fn damaged(sql: &str) -> (Home, String) {
    let (home, session) = Home::with_demo();
    home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    let changed = home.database().execute(&sql.replace("SESSION", "1"), []).unwrap();
    assert!(changed > 0, "{sql}");
    (home, session)
}

/// What is found after the first session was damaged.
fn found(sql: &str) -> String {
    let (home, session) = damaged(sql);
    let Ran { out, err, code } = home.run(&["verify"]);
    assert_eq!((err.as_str(), code), ("", Some(1)), "{out}");
    steady(&out.replace(&session, "FIRST"))
}

/// The state in the only session's snapshot.
fn snapshot(home: &Home) -> String {
    let sql = "SELECT CAST(state AS TEXT) FROM snapshot";
    home.database().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Makes another snapshot of the only session, in such a way that it seems to be one.
fn put_snapshot(home: &Home, version: u32, state: &str) {
    let digest = roundtable::core::digest::Digest::of(state.as_bytes());
    let sql = "UPDATE snapshot SET version = ?1, state = ?2, digest = ?3";
    home.database().execute(sql, (version, state.as_bytes(), digest.as_str())).unwrap();
}

#[test]
fn what_is_sound_is_said_to_be_and_counted() {
    let (home, _) = Home::with_demo();
    let out = home.run(&["verify"]).ok();
    assert_eq!(out, "Checked 1 session and 54 events: no errors.\n");
    let out = home.run(&["verify", "--json"]).ok();
    assert_eq!(out, "{\"damages\":[],\"events\":54,\"sessions\":1}\n");
}

#[test]
fn f18_a_changed_body_is_found_with_its_position_and_the_other_session_is_checked() {
    let sql = "UPDATE event SET body = replace(body, 'eighteen', 'nineteen') WHERE id = (SESSION << 32) + 21";
    insta::assert_snapshot!(found(sql), @r"
    FIRST at event 21: the body does not match its digest
    Checked 2 sessions and 74 events: 1 damage found.
    ");
    let (home, session) = damaged(sql);
    let expected = format!(
        "{{\"damages\":[{{\"seq\":21,\"session\":\"{session}\",\"what\":\"the body does not match \
         its digest\"}}],\"events\":74,\"sessions\":2}}\n"
    );
    let ran = home.run(&["verify", "--json"]);
    assert_eq!((ran.out, ran.code), (expected, Some(1)));
}

#[test]
fn f18_a_changed_header_is_found() {
    insta::assert_snapshot!(found("UPDATE event SET at = at + 1 WHERE id = (SESSION << 32) + 5"), @r"
    FIRST at event 5: the chain is broken
    Checked 2 sessions and 58 events: 1 damage found.
    ");
}

#[test]
fn f18_missing_events_are_found_wherever_they_were() {
    insta::assert_snapshot!(found("DELETE FROM event WHERE id = (SESSION << 32) + 1"), @r"
    FIRST at event 1: the event is missing
    Checked 2 sessions and 54 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("DELETE FROM event WHERE id = (SESSION << 32) + 30"), @r"
    FIRST at event 30: the event is missing
    Checked 2 sessions and 83 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("DELETE FROM event WHERE id = (SESSION << 32) + 54"), @r"
    FIRST at event 54: the event is missing
    Checked 2 sessions and 107 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("DELETE FROM event WHERE id >> 32 = SESSION"), @r"
    FIRST at event 1: the event is missing
    Checked 2 sessions and 54 events: 1 damage found.
    ");
}

#[test]
fn a_row_that_is_not_what_the_log_says_is_found() {
    insta::assert_snapshot!(found("UPDATE session SET head = 53 WHERE number = SESSION"), @r"
    FIRST at event 53: the last event does not match its hash
    Checked 2 sessions and 106 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("UPDATE session SET head_hash = '00' WHERE number = SESSION"), @r"
    FIRST at event 54: the last event does not match its hash
    Checked 2 sessions and 107 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("UPDATE session SET status = 'activ' WHERE number = SESSION"), @r"
    FIRST at event 54: the session's row does not match the log
    Checked 2 sessions and 108 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("UPDATE session SET head = 'many' WHERE number = SESSION"), @r"
    the file: invalid row of session number 1: Invalid column type Text at index: 1, name: head
    Checked 2 sessions and 54 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("UPDATE session SET id = 'x' WHERE number = SESSION"), @r"
    x: invalid session id
    Checked 2 sessions and 54 events: 1 damage found.
    ");
}

#[test]
fn an_origin_that_is_none_is_found_and_followed_nowhere() {
    let itself = "UPDATE session SET parent = id, parent_seq = 20 WHERE number = SESSION";
    insta::assert_snapshot!(found(itself), @r"
    FIRST at event 20: its parent FIRST is also its child
    Checked 2 sessions and 54 events: 1 damage found.
    ");
    let gone = "UPDATE session SET parent = 'ses_gone', parent_seq = 20 WHERE number = SESSION";
    insta::assert_snapshot!(found(gone), @r"
    FIRST at event 20: its parent ses_gone is missing
    Checked 2 sessions and 54 events: 1 damage found.
    ");
}

#[test]
fn a_snapshot_that_is_not_the_state_of_the_log_is_found() {
    let (home, session) = Home::with_demo();
    let state = snapshot(&home).replace("\"last_number\":2", "\"last_number\":3");
    put_snapshot(&home, 3, &state);
    let Ran { out, code, .. } = home.run(&["verify"]);
    insta::assert_snapshot!(out.replace(&session, "FIRST"), @r"
    FIRST at event 54: the snapshot does not match the log
    Checked 1 session and 54 events: 1 damage found.
    ");
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(found("UPDATE snapshot SET state = x'7b' WHERE session = SESSION"), @r"
    FIRST at event 54: the snapshot does not match its digest and is not used
    Checked 2 sessions and 108 events: 1 damage found.
    ");
    insta::assert_snapshot!(found("UPDATE snapshot SET seq = 60 WHERE session = SESSION"), @r"
    FIRST at event 60: the snapshot refers to a missing event and is not used
    Checked 2 sessions and 108 events: 1 damage found.
    ");
}

#[test]
fn a_snapshot_of_another_form_is_not_used_and_so_no_damage() {
    let (home, _) = Home::with_demo();
    put_snapshot(&home, 4, "{}");
    home.assert_sound();
}

#[test]
fn an_erased_body_is_no_damage() {
    let sql = "UPDATE event SET body = NULL, salt = NULL WHERE id = (SESSION << 32) + 38";
    let (home, _) = damaged(sql);
    home.assert_sound();
}

#[test]
fn events_of_no_session_are_found() {
    insta::assert_snapshot!(found("DELETE FROM session WHERE number = SESSION"), @r"
    the file: event 1 belongs to session number 1, which is missing
    Checked 1 session and 54 events: 1 damage found.
    ");
}

#[test]
fn f18_a_page_of_the_file_that_was_overwritten_is_found() {
    let (home, _) = Home::with_demo();
    home.run(&["demo", "--pace", "0", "--answer", "Two"]).ok();
    home.database().pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    let page: u64 = home
        .database()
        .query_row("SELECT max(pageno) FROM dbstat WHERE name = 'event'", [], |row| row.get(0))
        .unwrap_or(30);
    let file = home.path().join("roundtable.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = usize::try_from(page - 1).unwrap() * 4096;
    bytes[at..at + 4096].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let ran = home.run(&["verify"]);
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(1)), "{}", ran.out);
    assert!(ran.out.contains("Checked 2 sessions"), "{}", ran.out);
}

#[test]
fn a_session_that_is_being_written_is_no_damage() {
    let home = Home::new();
    let mut child = home.start(&["demo", "--pace", "5", "--answer", "Two", "--json"]);
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    let mut enough = 1;
    while read_until(&mut out, &mut seen, |seen| seen.lines().count() >= enough) {
        enough += 6;
        home.assert_sound();
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
