//! Invalid calls end with exit code 2 and change nothing; help and completions can be printed.

use std::io::Write as _;

use crate::binary::{Home, finish, steady};

#[test]
fn an_invalid_call_is_refused_with_exit_code_2_and_leaves_no_trace() {
    let calls: [(&[&str], &str); 8] = [
        (&["debate", "   "], "must not be blank"),
        (&["ask", ""], "must not be blank"),
        (&["debate", "Begin?", "--rounds", "1000000"], "1000000 is not in 1..=100"),
        (&["debate", "Begin?", "--rounds", "0"], "0 is not in 1..=100"),
        (&["debate", "Begin?", "--agents", "1"], "1 is not in 2..=10"),
        (&["debate", "Begin?", "--agent", "nobody"], "unknown agent"),
        (&["show", "ctx_1"], "expected a session id"),
        (&["delete", "../x"], "expected a session id"),
    ];
    for (arguments, why) in calls {
        let home = Home::new();
        let ran = home.run(arguments);
        assert_eq!((ran.out.as_str(), ran.code), ("", Some(2)), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{arguments:?}: {}", ran.err);
        assert!(!home.path().exists(), "{arguments:?} left something behind");
    }
}

#[test]
fn a_topic_comes_from_standard_input_and_a_blank_one_is_refused() {
    let home = Home::new();
    let debate = ["debate", "--rounds", "1", "--agents", "2"];
    let mut child = home.command(&[], &debate).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Should we begin?\n").unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains(
            "\nTopic: Should we begin?\nMode: collaborative, 2 agents, 1 round\nModels: scripted\n"
        ),
        "{}",
        ran.out
    );
    let other = Home::new();
    let mut child = other.command(&[], &debate).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b" \n").unwrap();
    let ran = finish(child);
    assert_eq!((ran.err.as_str(), ran.code), ("error: the topic must not be blank\n", Some(2)));
    assert!(!other.path().exists());
}

#[test]
fn a_session_is_found_by_the_start_of_its_id_and_can_be_deleted() {
    let (home, session) = Home::with_demo();
    let start = &session[4..20];
    assert_eq!(home.run(&["show", start]).ok(), home.run(&["show", &session]).ok());
    let asked = home.run(&["delete", start]);
    assert!(asked.code == Some(1) && asked.err.contains("not deleted"), "{}", asked.err);
    assert_eq!(home.run(&["delete", start, "--yes"]).ok(), format!("Deleted {session}.\n"));
    assert_eq!(home.json(&["sessions"]), Vec::<serde_json::Value>::new());
    let gone = home.run(&["show", start]).failed();
    assert!(gone.contains("there are no sessions yet"), "{gone}");
    home.assert_sound();
}

#[test]
fn two_perspectives_make_two_agents_with_their_names() {
    let home = Home::new();
    let perspectives = ["--perspective", "cost", "--perspective", "taste: what people like"];
    let debate = ["debate", "Tea?", "--mode", "expert-panel", "--rounds", "1", "--json"];
    let out = home.run(&[&debate[..], &perspectives].concat()).ok();
    let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let named: Vec<(&str, &str, &str)> = last["agentResponses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| ["agentName", "role", "model"].map(|field| it[field].as_str().unwrap()))
        .map(|[name, role, model]| (name, role, model))
        .collect();
    assert_eq!(named, [("cost", "cost", "scripted"), ("taste", "taste", "scripted")]);
    assert_eq!(last["decision"]["consensusLevel"], "medium");
    assert_eq!(last["decision"]["actionRecommendation"]["type"], "verify");
    assert_eq!(last["usage"]["cost"], serde_json::Value::Null);
}

#[test]
fn every_shell_gets_a_completion_script() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = Home::new().run(&["completions", shell]).ok();
        assert!(script.contains("roundtable") && script.contains("debate"), "{shell}");
    }
}

#[test]
fn the_help_texts_of_all_commands_are_the_committed_ones() {
    let mut names = Vec::new();
    snapshot_help(&mut Vec::new(), &mut names);
    assert!(names.len() >= 25, "subcommands are found in the help texts: {names:?}");
}

/// Takes a snapshot of the help of a command, and of all commands below it.
fn snapshot_help(path: &mut Vec<String>, names: &mut Vec<String>) {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = finish(crate::binary::roundtable().args(arguments).spawn().unwrap()).ok();
    let name = ["help"].into_iter().chain(path.iter().map(String::as_str));
    let name = name.collect::<Vec<_>>().join("_");
    insta::assert_snapshot!(name.clone(), help);
    names.push(name);
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, listed)| listed);
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let is_command = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    for line in listed.filter(is_command) {
        let command = line.split_whitespace().next().unwrap();
        if command != "help" {
            path.push(command.to_owned());
            snapshot_help(path, names);
            path.pop();
        }
    }
}

#[test]
fn the_errors_of_the_commands_are_the_committed_ones() {
    let (home, session) = Home::with_demo();
    home.write("broken.toml", "[agents.ada]\ntolls = []\n");
    home.write("invalid.toml", "[agents\n");
    home.write("wrong.toml", "[defaults]\nmodel = \"nowhere/x\"\n[server]\nlisten = \"here\"\n");
    home.write("not-a-debate.json", "{}");
    let calls: [&[&str]; 22] = [
        &["ask", ""],
        &["ask", "Hello?", "--model", "nowhere/x"],
        &["ask", "Hello?", "--model", "openai/gpt-5-mini"],
        &["ask", "Hello?", "--agent", "nobody"],
        &["ask", "Hello?", "--image", "missing.png"],
        &["debate", "   "],
        &["debate", "Begin?", "--mode", "loud"],
        &["debate", "Begin?", "--agents", "1"],
        &["debate", "Begin?", "--budget", "cats=3"],
        &["debate", "Begin?", "--budget", "calls=many"],
        &["continue", &session, "More?"],
        &["continue", "ses_00000000000000000000000000000000"],
        &["chat", "--conversation", &session],
        &["show", &session, "--turn", "99"],
        &["show", &session, "--turn", "1", "--iteration", "99"],
        &["delete", &session],
        &["import", "not-a-debate.json"],
        &["import", "missing.json"],
        &["tools", "approve", "nowhere"],
        &["config", "check", "--config", "broken.toml"],
        &["config", "check", "--config", "invalid.toml"],
        &["config", "check", "--config", "wrong.toml"],
    ];
    let mut table = String::new();
    for arguments in calls {
        let ran = home.run_with(&[], arguments);
        assert_ne!(ran.code, Some(0), "{arguments:?}: {}", ran.out);
        let command = arguments.join(" ");
        let code = ran.code.unwrap();
        table.push_str(&format!("$ roundtable {command}\n{}[exit code {code}]\n\n", ran.err));
    }
    let root = home.path().parent().unwrap().display().to_string();
    insta::assert_snapshot!("errors", steady(&table.replace(&root, "/project")));
}
