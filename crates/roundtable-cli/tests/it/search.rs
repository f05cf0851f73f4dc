//! `roundtable search`.

use crate::binary::Home;

#[test]
fn messages_of_all_sessions_are_found_by_their_words() {
    let (home, session) = Home::with_demo();
    let found = home.json(&["search", "billing"]);
    assert!(!found.is_empty());
    for message in &found {
        assert_eq!(message["session"], session.as_str());
        let snippet = message["snippet"].as_str().unwrap().to_lowercase();
        assert!(snippet.contains("billing"), "{snippet}");
        assert!(!message["matches"].as_array().unwrap().is_empty(), "{message}");
    }
    let lines = home.run(&["search", "billing", "--limit", "1"]);
    assert!(lines.out.starts_with(&session) && lines.out.lines().count() == 1, "{}", lines.out);
    assert_eq!(home.run(&["search", "zanzibarquokka"]).ok(), "No messages found.\n");
    let scenes = home.run(&["search", "billing", "--kind", "scene"]);
    assert_eq!(scenes.ok(), "No messages found.\n");
}

#[test]
fn pages_follow_each_other_by_the_printed_cursor() {
    let (home, _) = Home::with_demo();
    let all = home.json(&["search", "the"]);
    let first = home.run(&["search", "the", "--limit", "1"]);
    assert_eq!(first.code, Some(0));
    let cursor = first.err.split_once("--after ").unwrap().1.split('`').next().unwrap();
    let rest = home.json(&["search", "the", "--after", cursor]);
    assert_eq!(rest, all[1..]);
    let refused = home.run(&["search", "rust", "--after", cursor]).refused();
    assert!(refused.starts_with("error: unknown cursor"), "{refused}");
}

#[test]
fn a_search_by_meaning_without_weights_says_how_to_get_them() {
    let (home, _) = Home::with_demo();
    let err = home.run(&["search", "billing", "--mode", "semantic"]).failed();
    let data = home.path().display().to_string();
    assert_eq!(
        err,
        format!(
            "error: the embedding model is not installed\n\
             hint: run `roundtable models fetch --data-dir {data}`, or search with `--mode text`\n"
        )
    );
    let hybrid = home.run(&["search", "billing", "--mode", "hybrid", "--limit", "1"]);
    assert!(hybrid.err.contains("note: no embedder is configured"), "{}", hybrid.err);
    let empty = home.run(&["search", "**"]).refused();
    assert_eq!(empty, "error: the query has no words; use letters or digits\n");
}
