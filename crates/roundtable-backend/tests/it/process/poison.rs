//! A session that ends every process that loads it is parked by the next one, which lives on (F35).

use roundtable_testing::say;

use super::crash::open;
use super::{CrashAt, Node, Tell, until};
use crate::table::{lines, session, shell};

#[test]
fn f35_a_session_that_ends_three_processes_is_parked_and_the_fourth_lives_on() {
    let directory = tempfile::tempdir().unwrap();
    let (bad, good) = (session("bad"), session("good"));
    let mut first = Node::on(directory.path(), None);
    first.done(&bad, "open", open(&["Hal"]));
    first.done(&bad, "m1", say(&bad, "m1", "Go."));
    until("the model is asked", || {
        let sql = "SELECT count(*) FROM event WHERE kind = 'model_call_started'";
        lines(&shell(directory.path()), sql) == ["1"]
    });
    first.kill();
    // Each finds work that was left, and ends with the first thing that it writes of it.
    for _ in 0..2 {
        let at = CrashAt { append: 0, after: false };
        let mut next = Node::on(directory.path(), Some(at));
        assert!(!next.wait_for_end());
    }
    let mut last = Node::on(directory.path(), None);
    until("it is parked", || {
        lines(&shell(directory.path()), "SELECT parked IS NOT NULL FROM lease") == ["1"]
    });
    let why = "3 processes in a row ended while they owned it";
    let told = last.send(&bad, "stop", roundtable_core::input::Command::Stop);
    let Some(Tell::Unsure(told)) = told else { panic!("{told:?}") };
    assert_eq!(told, format!("the session is parked: {why}. Continue it to try again"));
    assert_eq!(last.state(&bad).id, bad);
    // The process is well, and goes on with the parked one when it is spoken to.
    last.done(&good, "open", open(&["Cyd"]));
    last.done(&bad, "m2", say(&bad, "m2", "Go on."));
    assert_eq!(lines(&shell(directory.path()), "SELECT count(parked) FROM lease"), ["0"]);
}
