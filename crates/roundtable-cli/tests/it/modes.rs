//! The modes at the terminal: who sits where, what is asked of whom, and what is told of it.

use roundtable_testing::provider::Answer;
use serde_json::json;

use crate::binary::Home;
use crate::debate::{analysis, findings, home, position};
use crate::provider::{Provider, says};

fn ranking(order: [&str; 2]) -> Answer {
    says(&json!({ "ranking": order, "reasons": "It is clearer." }).to_string())
}

/// What a council says in one round: two answers, two rankings, a verdict, an analysis. The answers
/// of those who speak at once are the same, whoever is asked first.
fn council() -> Vec<Answer> {
    vec![
        position("YES", "Begin now.", 0.8),
        position("YES", "Begin now.", 0.8),
        ranking(["Member A", "Member B"]),
        ranking(["Member A", "Member B"]),
        position("YES", "Begin, and look again in spring.", 0.9),
        analysis(0.8),
    ]
}

const COUNCIL: [&str; 6] = ["debate", "Should we begin?", "--mode", "council", "--rounds", "1"];

#[test]
fn a_council_answers_ranks_unseen_and_its_chair_writes_the_verdict() {
    let provider = Provider::start(council());
    let home = home(&provider);
    let ran = home.run_with(&[], &COUNCIL);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    insta::assert_snapshot!(ran.out, @r"
    Topic: Should we begin?
    Mode: council, 2 agents, 1 round
    Models: vllm/m

    Round 1/1

    Ada · member · vllm/m:
    Begin now.

    It is so.
    (YES · confidence 0.80)

    Ben · member · vllm/m:
    Begin now.

    It is so.
    (YES · confidence 0.80)

    Chair · vllm/m:
    Begin, and look again in spring.

    It is so.
    (YES · confidence 0.90)

    Consensus: high (agreement 0.80)
    They differ on the time.
    Ranking: 1. Ada (mean place 1.00), 2. Ben (mean place 2.00), ranked by 2 members
    Groups: Ada (now); Ben (later).
    Common ground: Something has to be done.
    In dispute: when.
    Total so far: 6 model calls, 162 tokens, cost unknown

    The debate is over: all rounds are done.
    Recommendation: proceed (the panel agrees (0.80))
    Verdict: Begin, and look again in spring.
    Total: 6 model calls, 162 tokens, cost unknown
    ");
    let asked = provider.received();
    assert_eq!(asked.len(), 6);
    for ranks in &asked[2..4] {
        let told = ranks.body["messages"].to_string();
        assert!(told.contains("Rank all of these answers") && told.contains("Member B"), "{told}");
        assert!(
            !told.contains("Ada") && !told.contains("Ben"),
            "nobody knows whose they are: {told}"
        );
    }
    let minutes = home.run_with(&[], &["export", &home.session()]).ok();
    assert!(
        minutes.contains("**The chair's verdict:** Begin, and look again in spring."),
        "{minutes}"
    );
    assert!(minutes.contains("| Chair | Chair |"), "{minutes}");
    home.assert_sound();
}

#[test]
fn the_verdict_of_a_council_is_in_what_programs_read() {
    let provider = Provider::start(council());
    let ran = home(&provider).run_with(&[], &[&COUNCIL[..], &["--json"]].concat());
    let last = findings(&ran);
    assert_eq!(last["consensus"]["verdict"], "Begin, and look again in spring.");
    assert_eq!(last["agentResponses"].as_array().unwrap().len(), 2, "the chair is none of them");
}

#[test]
fn an_expert_panel_looks_from_the_points_of_view_that_are_given() {
    let provider = Provider::start(vec![position("YES", "Begin now.", 0.8)]);
    let home = home(&provider);
    let points = ["--perspective", "Law: what courts would say", "--perspective", " Money "];
    let debate = ["debate", "Should we begin?", "--mode", "expert-panel", "--rounds", "1"];
    let ran = home.run_with(&[], &[&debate[..], &points].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let asked = provider.received();
    assert_eq!(asked.len(), 3, "nobody has to name points of view");
    let told: Vec<String> = asked[..2].iter().map(|it| it.body["messages"].to_string()).collect();
    let about = |name: &str| told.iter().filter(|told| told.contains(name)).count();
    assert_eq!(
        (about("Law"), about("what courts would say"), about("Money")),
        (1, 1, 1),
        "{told:#?}"
    );
    let minutes = home.run_with(&[], &["export", &home.session()]).ok();
    assert!(minutes.contains("| Ada | Expert, Law | vllm/m |"), "{minutes}");
    assert!(minutes.contains("| Ben | Expert, Money | vllm/m |"), "{minutes}");
    home.assert_sound();
}

#[test]
fn an_expert_panel_without_points_of_view_has_them_named_first() {
    let views = json!({ "perspectives": [
        { "name": "Riders", "description": "those who use it" },
        { "name": "Payers", "description": "those who pay" },
    ] });
    let mut answers = vec![says(&views.to_string())];
    answers.extend([position("YES", "Begin now.", 0.8), position("YES", "Begin now.", 0.8)]);
    answers.push(analysis(0.8));
    let provider = Provider::start(answers);
    let home = home(&provider);
    let debate = ["debate", "Should we begin?", "--mode", "expert-panel", "--rounds", "1"];
    let ran = home.run_with(&[], &debate);
    assert_eq!((ran.code, provider.received().len()), (Some(0), 4), "{}", ran.err);
    let minutes = home.run_with(&[], &["export", &home.session()]).ok();
    assert!(minutes.contains("| Ada | Expert, Riders |"), "{minutes}");
    assert!(!ran.out.contains("perspectives"), "what nobody says is not shown: {}", ran.out);
}

#[test]
fn agents_that_are_made_for_points_of_view_are_called_after_them() {
    let home = Home::new();
    let points = ["--perspective", "Law: what courts would say", "--perspective", "Money"];
    let debate = ["debate", "Begin?", "--mode", "expert-panel", "--agents", "2", "--rounds", "1"];
    let ran = home.run_with(&[], &[&debate[..], &points].concat());
    assert!(ran.out.contains("\nLaw · expert · scripted:\n"), "{}", ran.out);
    assert!(ran.out.contains("\nMoney · expert · scripted:\n"), "{}", ran.out);
}

#[test]
fn every_mode_is_held_to_its_end_without_any_key() {
    let home = Home::new();
    for mode in [
        "collaborative",
        "adversarial",
        "socratic",
        "expert-panel",
        "devils-advocate",
        "delphi",
        "red-team-blue-team",
        "council",
    ] {
        let debate = ["debate", "Begin?", "--mode", mode, "--agents", "3", "--rounds", "2"];
        let ran = home.run_with(&[], &debate);
        assert_eq!(ran.code, Some(0), "{mode}: {}", ran.err);
        let spoken = ran.out.matches(": no model was called.\n").count();
        // The chair of a council speaks in each round, and once more as the verdict.
        let expected = if mode == "council" { 9 } else { 6 };
        assert_eq!(spoken, expected, "{mode}: {}", ran.out);
        assert!(ran.out.contains("\nRecommendation: verify ("), "{mode}: {}", ran.out);
    }
    home.assert_sound();
}

#[test]
fn agents_that_are_made_keep_to_the_length_that_is_configured_for_all() {
    let provider = Provider::start(vec![position("YES", "Begin now.", 0.8)]);
    let home = Home::new();
    let text = format!(
        "[defaults]\nmodel = \"vllm/m\"\nmax_tokens = 33\n[providers.vllm]\nbase_url = \"{}\"\n",
        provider.address
    );
    home.write("roundtable.toml", &text);
    let ran = home.run_with(&[], &["debate", "Begin?", "--agents", "2", "--rounds", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let asked = provider.received();
    let rooms: Vec<_> = asked.iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert_eq!(rooms, [33, 33, 4096], "two agents, and who judges them");
}
