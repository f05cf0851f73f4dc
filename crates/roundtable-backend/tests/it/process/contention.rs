//! Processes that write all the time do not keep each other from writing, nor from beginning.

use std::path::Path;

use super::{Node, Role};
use crate::table::{lines, shell};

fn writer(directory: &Path, name: &str, times: u32) -> Node {
    let directory = directory.display().to_string();
    Node::start(&Role::Write { directory, name: name.to_owned(), times })
}

#[test]
fn processes_that_make_the_file_at_the_same_moment_do_not_get_in_each_others_way() {
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let mut nodes: Vec<Node> =
            (0..6).map(|index| writer(directory.path(), &format!("n{index}"), 1)).collect();
        for node in &mut nodes {
            assert!(node.wait_for_end(), "a process that could not open or write the file");
        }
        assert_eq!(lines(&shell(directory.path()), "SELECT count(*) FROM session"), ["6"]);
    }
}

#[test]
fn processes_that_write_all_the_time_all_get_their_turn() {
    let directory = tempfile::tempdir().unwrap();
    let mut nodes: Vec<Node> =
        (0..3).map(|index| writer(directory.path(), &format!("n{index}"), 60)).collect();
    for node in &mut nodes {
        for number in 0..60 {
            node.answer(number).expect("a process that gets its turn");
        }
        assert!(node.wait_for_end());
    }
    assert_eq!(
        lines(&shell(directory.path()), "SELECT count(*), count(DISTINCT number) FROM session"),
        ["180|180"]
    );
}
