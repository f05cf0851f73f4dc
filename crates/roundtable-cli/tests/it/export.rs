//! `roundtable export` and `import`.

use serde_json::Value;

use crate::binary::Home;

fn debated() -> (Home, String) {
    let home = Home::new();
    home.run(&["debate", "Should we begin?", "--agents", "2", "--rounds", "2"]);
    let session = home.session();
    (home, session)
}

#[test]
fn an_exported_debate_can_be_imported_elsewhere_and_reads_the_same() {
    let (home, session) = debated();
    let file = home.write("debate.json", "");
    let file = file.display().to_string();
    home.run(&["export", &session, "--format", "json", "--output", &file]).ok();
    let other = Home::new();
    let said = other.run(&["import", &file]).ok();
    let copy = other.session();
    assert!(
        said.starts_with(&format!("Imported as {copy}. Read it: roundtable export ")),
        "{said}"
    );
    let minutes = home.run(&["export", &session]).ok();
    assert!(minutes.starts_with("# Should we begin?"), "{minutes}");
    let copied = other.run(&["export", &copy]).ok();
    assert_eq!(copied.replace(&copy, &session), minutes);
    let rounds = |text: &str| serde_json::from_str::<Value>(text).unwrap()["rounds"].clone();
    let (first, second) = (
        home.run(&["export", &session, "--json"]).ok(),
        other.run(&["export", &copy, "--json"]).ok(),
    );
    assert_eq!(rounds(&first), rounds(&second));
    assert!(first == std::fs::read_to_string(&file).unwrap(), "a file has what is printed");
    let err = other.run(&["continue", &copy]).failed();
    assert!(err.contains("is imported and read-only"), "{err}");
    other.assert_sound();
}

#[test]
fn what_is_no_debate_is_refused_and_leaves_no_trace() {
    let home = Home::new();
    let file = home.write("wrong.json", "{\"topic\": 7}").display().to_string();
    let err = home.run(&["import", &file]).failed();
    assert!(err.contains("wrong.json: "), "{err}");
    assert!(home.run(&["import", "nowhere.json"]).failed().contains("reading nowhere.json"));
    assert!(!home.path().exists());
    home.run(&["ask", "Hello?"]);
    let chat = home.session();
    let err = home.run(&["export", &chat]).failed();
    assert!(
        err.contains(&format!(
            "{chat} is not a debate\nhint: print its events with `roundtable show {chat} --json"
        )),
        "{err}"
    );
    let err = home.run(&["export", "ses_gone"]).failed();
    assert!(err.starts_with("error: no session gone\nhint: the newest sessions are:"), "{err}");
}
