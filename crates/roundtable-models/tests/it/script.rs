//! Scripts: which reply a request gets, and how a script is written down.

use roundtable_models::scripted::{Call, Fails, Reply, Script};
use serde_json::json;

use crate::asked::request;

fn text(script: &Script, agent: &str, round: u32, iteration: u32) -> String {
    script.reply(&request(agent, round, iteration)).text
}

#[test]
fn a_reply_is_found_by_agent_round_and_iteration() {
    let script = Script::default()
        .voice("ann", [Reply::text("1.1"), Reply::text("1.2")])
        .voice("ann", [Reply::text("2.1")])
        .voice("bob", [Reply::text("b")]);
    let said = |round, iteration| text(&script, "ann", round, iteration);
    assert_eq!([said(1, 1), said(1, 2), said(2, 1)], ["1.1", "1.2", "2.1"]);
    assert_eq!(text(&script, "bob", 1, 1), "b");
}

#[test]
fn the_last_reply_serves_all_iterations_that_follow_and_turns_begin_again() {
    let script = Script::default()
        .voice("ann", [Reply::text("1.1"), Reply::text("1.2")])
        .voice("ann", [Reply::text("2.1")]);
    let said = |round, iteration| text(&script, "ann", round, iteration);
    assert_eq!([said(1, 3), said(1, 99), said(2, 2)], ["1.2", "1.2", "2.1"]);
    assert_eq!([said(3, 1), said(4, 1), said(5, 2)], ["1.1", "2.1", "1.2"]);
}

#[test]
fn a_prompt_of_a_tool_handler_may_have_a_voice_of_its_own() {
    let script = Script::default()
        .voice("ann", [Reply::text("in her seat")])
        .voice("ann/summary", [Reply::text("in short")]);
    let mut nested = request("ann", 1, 1);
    nested.prompt = "summary".to_owned();
    assert_eq!(script.reply(&nested).text, "in short");
    nested.prompt = "other".to_owned();
    assert_eq!(script.reply(&nested).text, "in her seat");
}

#[test]
fn an_agent_without_a_voice_says_who_it_is() {
    let nothing = "ANN has nothing to add.";
    assert_eq!(text(&Script::default(), "ann", 1, 1), nothing);
    let mute = Script::default().voice("ann", []);
    assert_eq!(text(&mute, "ann", 1, 1), nothing);
}

#[test]
fn the_same_request_gets_the_same_reply_however_often_it_is_made() {
    let script = Script::default().voice("ann", [Reply::text("again")]);
    let mut second = request("ann", 1, 1);
    second.attempt = 2;
    assert_eq!(script.reply(&request("ann", 1, 1)), script.reply(&second));
}

fn full() -> Script {
    let call = Call::new("search", json!({ "words": ["a", "b"], "most": 3 }));
    let mut rich = Reply::text("Wait: {input}").at_gate("go").in_pieces(4, 20).after(100);
    rich.calls.push(call);
    Script::default()
        .voice("ann", [rich, Reply::text("Done.")])
        .voice("ann", [Reply::fails(Fails::RateLimited)])
        .voice("ann/summary", [Reply::text("In short.")])
}

#[test]
fn a_script_survives_being_written_as_json_and_as_toml() {
    let json = serde_json::to_string(&full()).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&json).unwrap(), full());
    let toml = toml::to_string(&full()).unwrap();
    assert_eq!(toml::from_str::<Script>(&toml).unwrap(), full());
}

#[test]
fn a_script_is_written_by_hand_with_only_what_differs() {
    let script: Script = toml::from_str(
        r#"
        [[voices.ann.turns]]
        replies = [
            { calls = [{ tool = "search", arguments = { words = "rust" } }] },
            { text = "I found it.", chunk_chars = 3, chunk_delay_ms = 5 },
        ]

        [[voices.bob.turns]]
        replies = [{ fails = "timeout" }]
        "#,
    )
    .unwrap();
    let expected = Script::default()
        .voice(
            "ann",
            [
                Reply::calls([Call::new("search", json!({ "words": "rust" }))]),
                Reply::text("I found it.").in_pieces(3, 5),
            ],
        )
        .voice("bob", [Reply::fails(Fails::Timeout)]);
    assert_eq!(script, expected);
}

#[test]
fn a_key_that_a_script_does_not_have_is_refused_by_name() {
    let wrong = [
        ("[voice.ann]", "voice"),
        ("[voices.ann]\nturn = []", "turn"),
        ("[[voices.ann.turns]]\nreply = []", "reply"),
        ("[[voices.ann.turns]]\nreplies = [{ txt = \"x\" }]", "txt"),
        ("[[voices.ann.turns]]\nreplies = [{ calls = [{ tool = \"x\", args = 1 }] }]", "args"),
        ("[[voices.ann.turns]]\nreplies = [{ fails = \"badly\" }]", "badly"),
    ];
    for (text, key) in wrong {
        let refused = toml::from_str::<Script>(text).unwrap_err().to_string();
        assert!(refused.contains(&format!("`{key}`")), "{refused}");
    }
}
