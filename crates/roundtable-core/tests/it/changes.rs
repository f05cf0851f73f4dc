//! Titles and the archive: how a session is listed, and that nothing else depends on it.

use roundtable_core::Reject;
use roundtable_core::event::Change;
use roundtable_core::input::Command;
use roundtable_core::projection::Summary;

use crate::table::{Table, agent};

fn rename(title: &str) -> Command {
    Command::Change(Change { title: Some(title.to_owned()), archived: None })
}

fn archive(archived: bool) -> Command {
    Command::Change(Change { title: None, archived: Some(archived) })
}

fn listed(table: &Table) -> (String, bool) {
    let summary = Summary::of(table.session());
    (summary.topic, summary.archived)
}

#[test]
fn a_session_is_renamed_and_archived_while_a_round_runs_and_nothing_is_recorded_twice() {
    let mut table = Table::open(vec![agent("Ada")]);
    let topic = table.session().topic.clone();
    table.say("one");
    let before = table.prompt("r1.t1");
    table.trace();
    table.ok(rename("  Plans for May "));
    table.ok(archive(true));
    table.ok(rename("Plans for May"));
    table.ok(archive(true));
    insta::assert_snapshot!(table.trace(), @r#"
    session changed title "Plans for May"
      wants model r1.t1.i1 #1
    session changed archived true
      wants model r1.t1.i1 #1
      wants model r1.t1.i1 #1
      wants model r1.t1.i1 #1
    "#);
    assert_eq!(listed(&table), ("Plans for May".to_owned(), true));
    assert_eq!(table.session().topic, topic, "prompts depend on it");
    assert_eq!(table.prompt("r1.t1"), before);
    table.answer("r1.t1.i1", "1");
    table.ok(Command::Complete { reason: "enough".to_owned() });
    table.ok(archive(false));
    assert_eq!(listed(&table), ("Plans for May".to_owned(), false), "also when it is over");
}

#[test]
fn a_title_is_one_line_of_at_most_200_characters() {
    let mut table = Table::open(vec![agent("Ada")]);
    for title in ["", "   ", "two\nlines", &"x".repeat(201)] {
        let refused = table.refused(rename(title));
        assert!(matches!(refused, Reject::Invalid { .. }), "{title:?}: {refused}");
    }
    table.ok(rename(&"ä".repeat(200)));
}
