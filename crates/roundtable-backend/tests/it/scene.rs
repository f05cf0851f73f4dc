//! The tables that a person reads in the sqlite3 shell, and the operations of the same names.

use jiff::Timestamp;
use roundtable_backend::SceneRound;
use roundtable_core::event::{Body, Event, Opening, TurnEvent};
use roundtable_core::input::Command;
use roundtable_engine::SessionHandle;
use roundtable_testing::{agent, go_on};

use crate::table::{Table, events_until, lines, rounds, scene, session, shell};

const MESSAGES: &str =
    "SELECT messageNumber, roundNumber, sender, message FROM Messages WHERE sceneId = 1 ORDER BY 1";

/// The texts of messages.
fn texts(messages: Vec<roundtable_backend::SceneMessage>) -> Vec<String> {
    messages.into_iter().map(|message| message.text).collect()
}

/// Waits until so many turns have begun.
async fn turns(handle: &SessionHandle, count: usize) {
    let begun = std::cell::Cell::new(0);
    let begins = |event: &Event| matches!(event.body, Body::Turn(TurnEvent::TurnStarted { .. }));
    events_until(handle, |event| {
        begun.set(begun.get() + usize::from(begins(event)));
        begun.get() == count
    })
    .await;
}

#[tokio::test]
async fn r003_1_messages_and_scenes_have_round_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 0).await;
    let shell = shell(directory.path());
    let scenes = "SELECT id, title, sessionId, currentRoundNumber, status FROM Scenes";
    assert_eq!(lines(&shell, scenes), ["1|By the lake|ses_lake|1|active"]);
    table.say(&lake, "m1", "Hello.").await;
    rounds(&lake, 1).await;
    assert_eq!(
        lines(&shell, MESSAGES),
        ["1|1|User|Hello.", "2|1|Ann|Ann nods.", "3|1|Bob|Bob waves."],
        "R003-7: one cycle, one number"
    );
    assert_eq!(lines(&shell, scenes), ["1|By the lake|ses_lake|2|active"]);
    let column = "SELECT type, \"notnull\", dflt_value FROM pragma_table_info('message') WHERE name = 'cycle' \
                  UNION ALL SELECT type, \"notnull\", dflt_value FROM pragma_table_info('session') WHERE name = 'current_round'";
    assert_eq!(lines(&shell, column), ["INTEGER|1|1", "INTEGER|1|1"]);
    let index = "SELECT group_concat(name) FROM pragma_index_info('idx_messages_scene_round')";
    assert_eq!(lines(&shell, index), ["session,cycle,number"]);
    let columns = "SELECT group_concat(name) FROM pragma_table_info('Messages')";
    assert_eq!(
        lines(&shell, columns),
        ["id,sceneId,messageNumber,message,sender,timestamp,tokenCount,roundNumber"]
    );
    assert_eq!(
        lines(&shell, "SELECT DISTINCT tokenCount FROM Messages WHERE sender <> 'User'"),
        ["2"]
    );
    table.close().await;
}

#[tokio::test]
async fn r003_1_a_scene_has_no_message_number_twice() {
    let directory = tempfile::tempdir().unwrap();
    Table::at(directory.path()).await.play("lake", 1).await;
    let shell = shell(directory.path());
    let again = "INSERT INTO message (session, number, round, sender, body, at) SELECT session, number, round, sender, body, at FROM message LIMIT 1";
    let refused = shell.execute(again, []).unwrap_err().to_string();
    assert_eq!(refused, "UNIQUE constraint failed: message.session, message.number");
}

#[tokio::test]
async fn r003_2_rounds_have_status_characters_and_times() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let opening = scene();
    let agents = [opening.agents.clone(), vec![agent("Cyd")]].concat();
    let lake =
        table.engine.open_as(&session("lake"), Opening { agents, ..opening }, None).await.unwrap();
    table.say(&lake, "m1", "Hello.").await;
    turns(&lake, 3).await;
    let shell = shell(directory.path());
    let columns = "SELECT group_concat(name) FROM pragma_table_info('SceneRounds')";
    assert_eq!(
        lines(&shell, columns),
        [
            "sceneId,roundNumber,status,activeCharacters,roundStartedAt,roundCompletedAt,vectorized,vectorizedAt"
        ]
    );
    let round = "SELECT sceneId, roundNumber, status, activeCharacters, roundStartedAt IS NOT NULL, \
                 roundCompletedAt IS NOT NULL, vectorized, vectorizedAt FROM SceneRounds";
    let open = "1|1|in-progress|[\"Ann\",\"Bob\",\"Cyd\"]|1|0|0|";
    assert_eq!(lines(&shell, round), [open]);
    table.model.gates().open("cyd");
    rounds(&lake, 1).await;
    let done = "1|1|completed|[\"Ann\",\"Bob\",\"Cyd\"]|1|1|0|";
    assert_eq!(lines(&shell, round), [done]);
    let index =
        "SELECT group_concat(name) FROM pragma_index_info('idx_scene_rounds_scene_vectorized')";
    assert_eq!(lines(&shell, index), ["session,vectorized"]);
    let again = "INSERT INTO round (id, session, number, take, agents, started_at) VALUES ('rnd_x', 1, 1, 2, '[]', 0)";
    let refused = shell.execute(again, []).unwrap_err().to_string();
    assert_eq!(refused, "UNIQUE constraint failed: round.session, round.number");
    table.close().await;
}

#[tokio::test]
async fn r003_2_what_belongs_to_a_scene_goes_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 2).await;
    table.play("hill", 1).await;
    table.close().await;
    let shell = shell(directory.path());
    shell
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM session WHERE id = 'ses_lake'")
        .unwrap();
    let left = "SELECT (SELECT count(*) FROM Scenes), (SELECT count(*) FROM SceneRounds), \
                (SELECT count(*) FROM Messages), (SELECT count(*) FROM agent)";
    assert_eq!(lines(&shell, left), ["1|1|3|2"]);
    let found = "SELECT count(*) FROM message_text WHERE message_text MATCH 'nods'";
    assert_eq!(lines(&shell, found), ["1"], "nor does the search know of it");
    shell
        .execute_batch(
            "INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 1)",
        )
        .unwrap();
}

#[tokio::test]
async fn r003_3_messages_are_found_by_round() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 3).await;
    table.play("hill", 1).await;
    let store = &table.store;
    let lake = store.find_scene(&session("lake")).await.unwrap().unwrap();
    let second = store.get_round_messages(lake, 2).await.unwrap();
    let numbers: Vec<u64> = second.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [4, 5, 6], "ascending");
    assert!(second.iter().all(|message| message.round == 2 && message.scene == lake));
    assert_eq!(texts(second), ["This is message 2.", "Ann nods.", "Bob waves."]);
    assert_eq!(store.get_round_messages(lake, 9).await.unwrap(), []);
    assert_eq!(store.get_messages(lake, None).await.unwrap().len(), 9);
    let third = store.get_messages(lake, Some(3)).await.unwrap();
    assert_eq!(third, store.get_round_messages(lake, 3).await.unwrap());
    assert_eq!(store.get_latest_round(lake).await.unwrap(), 3);
    assert_eq!(store.get_latest_round(99).await.unwrap(), 1, "1 when there is none");
    let last = store.get_last_message(lake).await.unwrap().unwrap();
    assert_eq!((last.number, last.sender.as_str()), (9, "Bob"));
    assert_eq!(store.get_last_message(99).await.unwrap(), None);
    assert_eq!(store.find_scene(&session("nowhere")).await.unwrap(), None);
    table.close().await;
}

#[tokio::test]
async fn r003_3_the_current_round_has_its_messages_while_it_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let opening = Opening { agents: vec![agent("Cyd")], ..scene() };
    let lake = table.engine.open_as(&session("lake"), opening, None).await.unwrap();
    let store = &table.store;
    assert_eq!(store.get_current_round_messages(1).await.unwrap(), []);
    assert_eq!(store.get_current_round(1).await.unwrap(), Some(1));
    table.say(&lake, "m1", "Hello.").await;
    assert_eq!(texts(store.get_current_round_messages(1).await.unwrap()), ["Hello."]);
    table.model.gates().open("cyd");
    rounds(&lake, 1).await;
    assert_eq!(store.get_current_round(1).await.unwrap(), Some(2), "the next one to open");
    assert_eq!(store.get_current_round_messages(1).await.unwrap(), []);
    assert_eq!(store.get_current_round_messages(99).await.unwrap(), [], "no such scene");
    assert_eq!(store.get_current_round(99).await.unwrap(), None);
    table.close().await;
}

#[tokio::test]
async fn r003_4_the_next_round_is_one_more_than_the_latest_and_1_on_an_empty_scene() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 0).await;
    let store = &table.store;
    assert_eq!(store.initialize_round(1).await.unwrap(), 1);
    table.say(&lake, "m1", "Hello.").await;
    rounds(&lake, 1).await;
    assert_eq!(store.initialize_round(1).await.unwrap(), 2);
    // R003-10, R003-12: a round without a message has a number of its own.
    table.until_closed(&lake, go_on(lake.id(), "m2", Vec::new()), 2).await;
    assert_eq!(store.initialize_round(1).await.unwrap(), 3, "the latest over both tables");
    let second = store.get_round_messages(1, 2).await.unwrap();
    assert_eq!(texts(second), ["Ann nods.", "Bob waves."], "no message of the player");
    assert_eq!(store.initialize_round(1).await.unwrap(), 3, "asking changes nothing");
    table.close().await;
}

#[tokio::test]
async fn r003_5_a_completed_round_is_known_and_marked_as_vectorized_once() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 1).await;
    let store = &table.store;
    let data = store.get_round_data(1, 1).await.unwrap().unwrap();
    let SceneRound { started_at, completed_at, .. } = data.clone();
    let expected = SceneRound {
        scene: 1,
        number: 1,
        status: "completed".to_owned(),
        active_characters: vec!["Ann".to_owned(), "Bob".to_owned()],
        started_at: started_at.clone(),
        completed_at: completed_at.clone(),
        vectorized_at: None,
    };
    assert_eq!(data, expected);
    assert!(completed_at.unwrap() >= started_at);
    assert_eq!(store.get_round_data(1, 2).await.unwrap(), None);
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    assert!(store.mark_round_vectorized(1, 1, at(1_800_000_000)).await.unwrap());
    assert!(store.mark_round_vectorized(1, 1, at(1_900_000_000)).await.unwrap());
    assert!(!store.mark_round_vectorized(1, 2, at(1_800_000_000)).await.unwrap());
    let marked = store.get_round_data(1, 1).await.unwrap().unwrap();
    assert_eq!(marked.vectorized_at.as_deref(), Some("2027-01-15 08:00:00"));
    let shell = shell(directory.path());
    let pending = "SELECT count(*) FROM SceneRounds WHERE sceneId = 1 AND NOT vectorized";
    assert_eq!(lines(&shell, pending), ["0"]);
    table.close().await;
}

#[tokio::test]
async fn r003_15_a_round_that_is_left_is_incomplete_and_keeps_what_was_said() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let agents = vec![agent("Ann"), agent("Cyd")];
    let opening = Opening { agents, ..scene() };
    let lake = table.engine.open_as(&session("lake"), opening, None).await.unwrap();
    table.say(&lake, "m1", "Hello.").await;
    turns(&lake, 2).await;
    table.until_closed(&lake, Command::Stop, 1).await;
    let data = table.store.get_round_data(1, 1).await.unwrap().unwrap();
    assert_eq!(data.status, "incomplete");
    assert_eq!(texts(table.store.get_round_messages(1, 1).await.unwrap()), ["Hello.", "Ann nods."]);
    table.close().await;
}

#[tokio::test]
async fn r003_18_rounds_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 2).await;
    let before = (
        table.store.get_messages(1, None).await.unwrap(),
        table.store.get_round_data(1, 2).await.unwrap(),
    );
    table.close().await;
    let table = Table::at(directory.path()).await;
    let after = (
        table.store.get_messages(1, None).await.unwrap(),
        table.store.get_round_data(1, 2).await.unwrap(),
    );
    assert_eq!(after, before);
    let lake = table.engine.session(&session("lake"));
    table.say(&lake, "m3", "Still here?").await;
    rounds(&lake, 3).await;
    assert_eq!(texts(table.store.get_round_messages(1, 3).await.unwrap())[0], "Still here?");
    table.close().await;
}

#[tokio::test]
async fn the_views_show_the_take_that_counts() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 2).await;
    let shell = shell(directory.path());
    let before = lines(&shell, MESSAGES);
    table.until_closed(&lake, Command::Regenerate, 3).await;
    let again = lines(&shell, MESSAGES);
    assert_eq!(
        again[3..],
        ["4|2|User|This is message 2.", "7|2|Ann|Ann nods.", "8|2|Bob|Bob waves."],
        "the input is the same, the answers are new"
    );
    let round = "SELECT roundNumber, status FROM SceneRounds ORDER BY 1";
    assert_eq!(lines(&shell, round), ["1|completed", "2|completed"]);
    lake.command(Command::SelectTake { number: 2, take: 1 }, None).await.unwrap();
    assert_eq!(lines(&shell, MESSAGES), before, "the earlier take can be chosen again");
    lake.command(Command::Rewind { number: 2 }, None).await.unwrap();
    assert_eq!(lines(&shell, MESSAGES), before[..3]);
    assert_eq!(lines(&shell, round), ["1|completed"]);
    let scene = "SELECT currentRoundNumber FROM Scenes";
    assert_eq!(lines(&shell, scene), ["2"]);
    assert_eq!(table.store.get_latest_round(1).await.unwrap(), 1);
    assert_eq!(table.store.get_last_message(1).await.unwrap().unwrap().number, 3);
    table.close().await;
}

#[tokio::test]
async fn messages_are_found_by_the_stem_of_a_word() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    let lake = table.play("lake", 0).await;
    for (number, text) in
        ["The geese were flying south.", "A boat!", "We flew kites."].iter().enumerate()
    {
        table.say(&lake, &format!("m{number}"), text).await;
        rounds(&lake, number + 1).await;
    }
    let shell = shell(directory.path());
    let search = |words: &str| {
        let sql = format!(
            "SELECT message FROM Messages WHERE id IN (SELECT rowid FROM message_text WHERE message_text MATCH '{words}') \
             AND sender = 'User'"
        );
        lines(&shell, &sql)
    };
    assert_eq!(search("fly"), ["The geese were flying south."]);
    assert_eq!(search("boats"), ["A boat!"]);
    assert_eq!(search("kite OR goose"), ["We flew kites."]);
    assert_eq!(
        lines(&shell, "SELECT count(*) FROM message_text WHERE message_text MATCH 'nod'"),
        ["3"]
    );
    shell
        .execute_batch(
            "INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 1)",
        )
        .unwrap();
    table.close().await;
}
