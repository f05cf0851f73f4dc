//! `tests/oracle.py`: it passes what is sound, and it can fail.

use roundtable::prelude::*;

use crate::binary::{Home, steady};

/// What the oracle says after a good directory was doctored.
fn judged(sql: &str) -> String {
    let (home, session) = Home::with_demo();
    home.database().execute_batch(sql).unwrap();
    let ran = home.oracle();
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(1)), "{}", ran.out);
    steady(&ran.out.replace(&session, "SESSION"))
}

#[test]
fn a_good_directory_is_passed_with_what_is_in_it() {
    let (home, _) = Home::with_demo();
    assert_eq!(home.oracle().ok(), "ok: 1 sessions, 54 events\n");
}

#[tokio::test]
async fn a_synthesis_between_rounds_and_after_the_last_one_is_sound() {
    let home = Home::new();
    let model = ScriptedModel::new(Script::default());
    let builder = Engine::builder().custom_model("scripted", model).sqlite(home.path());
    let engine = builder.build().await.unwrap();
    let wish = engine.debate("Should we begin?").agent("Ann").agent("Bob").rounds(2);
    let debate = wish.start().await.unwrap();
    debate.wait(1).await.unwrap();
    debate.synthesize(None).await.unwrap();
    debate.continue_round(ContinueRequest::default()).await.unwrap();
    debate.wait(2).await.unwrap();
    debate.synthesize(None).await.unwrap();
    engine.shutdown().await;
    let sql = "SELECT count(*) FROM event WHERE kind = 'round_aside_opened'";
    let asides: u32 = home.database().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(asides, 2);
    home.assert_sound();
}

#[test]
fn a_flipped_byte_in_a_body_is_found() {
    let sql =
        "UPDATE event SET body = replace(body, 'eighteen', 'eightees') WHERE id & 0xffffffff = 21";
    let found = judged(sql);
    assert_eq!(found, "chain: SESSION at 21: the body is not the one of its digest\n");
}

#[test]
fn a_deleted_event_is_found() {
    let found = judged("DELETE FROM event WHERE id & 0xffffffff = 22");
    insta::assert_snapshot!(found, @r"
    I1: SESSION at 22: is missing; 23 follows
    chain: SESSION at 23: the header does not follow on the one before it
    scopes: SESSION at 23: trn_… closes before itr_… in it
    scopes: SESSION at 40: rnd_… opens while a round is open
    scopes: SESSION: itr_… is open, and the session is over
    ");
}

#[test]
fn a_finish_that_is_there_twice_is_found() {
    let sql = "CREATE TEMP TABLE twice AS SELECT * FROM event WHERE id & 0xffffffff = 14; \
               UPDATE twice SET id = (SELECT max(id) + 1 FROM event); \
               INSERT INTO event SELECT * FROM twice; UPDATE session SET head = 55;";
    let found = judged(sql);
    insta::assert_snapshot!(found, @r"
    chain: SESSION at 55: the header does not follow on the one before it
    chain: SESSION: the session's row has another hash of its head
    I3: SESSION at 55: finished, after it was finished
    scopes: SESSION at 55: itr_… attempt 1 closes and is not open
    ");
}

#[test]
fn a_changed_header_a_lower_epoch_and_a_foreign_event_are_found() {
    let sql = "UPDATE event SET kind = 'turn_ended' WHERE id & 0xffffffff = 22; \
               UPDATE event SET epoch = 0 WHERE id & 0xffffffff = 40; \
               UPDATE event SET id = id + (7 << 32) WHERE id & 0xffffffff = 54;";
    let found = judged(sql);
    insta::assert_snapshot!(found, @r"
    I1: session number 8 at 54: belongs to no session
    I1: SESSION at 54: the log ends here; the head is 54
    chain: SESSION at 22: the header does not follow on the one before it
    chain: SESSION at 40: the header does not follow on the one before it
    chain: SESSION: the session's row has another hash of its head
    I4: SESSION at 40: epoch 0 after 1
    scopes: SESSION at 22: trn_… closes before itr_… in it
    scopes: SESSION at 23: trn_… closes and is not open
    scopes: SESSION at 23: trn_… closes before itr_… in it
    scopes: SESSION at 40: rnd_… opens while a round is open
    scopes: SESSION: itr_… is open, and the session is over
    ");
}

#[test]
fn a_command_that_was_acknowledged_and_is_not_in_the_log_is_found() {
    let sql = "UPDATE command SET receipt = '{\"after\":60,\"seq\":66}' WHERE id = (SELECT min(id) FROM command)";
    let found = judged(sql);
    insta::assert_snapshot!(found, @r"
    I2: SESSION: cmd_… was acknowledged with {'after': 60, 'seq': 66}
    ");
}
