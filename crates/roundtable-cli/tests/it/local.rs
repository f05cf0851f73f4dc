//! Whole debates on the model in the box, measured by the embeddings in the box: no key, no network.
//! What it says is not judged; that a debate comes out of it is.

use serde_json::Value;

use crate::binary::{Home, Ran, weights};
use crate::debate::{as_json, findings};

/// Two agents who say little, so that it is soon over.
fn home() -> Home {
    let home = Home::new();
    let agents = "[agents.ada]\nmax_tokens = 24\n[agents.ben]\nmax_tokens = 24\n";
    home.write("roundtable.toml", agents);
    home
}

fn run(home: &Home, arguments: &[&str]) -> Ran {
    let directory = weights().display().to_string();
    let variables = [("ROUNDTABLE_MODELS_DIR", directory.as_str())];
    let debate = ["debate", "Is tea better than coffee?", "--rounds", "1", "--model", "local"];
    home.run_with(&variables, &[&debate[..], arguments].concat())
}

/// The measures that are stored.
fn measures(lines: &[Value]) -> Vec<&Value> {
    let measured = lines.iter().filter(|line| line["kind"] == "job_finished");
    measured.map(|line| &line["data"]["data"]).collect()
}

#[test]
fn a_debate_with_sides_on_the_local_model_is_measured_labelled_and_sound() {
    let home = home();
    let ran = run(&home, &["--mode", "adversarial", "--json"]);
    let last = findings(&ran);
    let lines = as_json(&ran.out);
    assert_eq!((&last["status"], &last["roundNumber"]), (&"completed".into(), &1.into()));
    let responses = last["agentResponses"].as_array().unwrap();
    assert_eq!(responses.len(), 2);
    for (response, role) in responses.iter().zip(["Proponent", "Opponent"]) {
        assert_eq!(response["role"], role);
        let position = response["position"].as_str().unwrap();
        assert!(position.len() > 10 && !position.contains("<|"), "{position}");
        let notice = response["notice"].as_str().unwrap();
        assert!(notice.contains("Demo model: do not rely on its answers"), "{notice}");
        assert_eq!(response["usage"]["cost"], 0.0);
    }
    let measures = measures(&lines);
    assert_eq!(measures.len(), 1, "stored once");
    assert_eq!(measures[0]["by"], "all-MiniLM-L6-v2/384");
    assert_eq!(last["consensus"]["measured"]["agreement"], measures[0]["agreement"]);
    let agreement = measures[0]["agreement"].as_f64().unwrap();
    assert!(agreement <= 0.2, "sides stay apart, whatever the words are: {agreement}");
    assert_eq!(measures[0]["clusters"].as_array().unwrap().len(), 2);
    let advice = &last["decision"]["actionRecommendation"];
    assert_eq!(advice["type"], "verify", "nobody acts on what a demonstration says: {advice}");
    home.assert_sound();
}

#[test]
fn a_debate_on_the_local_model_reads_well_and_its_minutes_say_who_spoke() {
    let home = home();
    let ran = run(&home, &["--mode", "collaborative"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        ran.err.matches("Demo model: do not rely on its answers").count(),
        1,
        "once: {}",
        ran.err
    );
    assert!(ran.err.starts_with("Model: local/smollm2-135m (set by --model)\n"));
    for heading in ["Ada · synthesizer · local", "Ben · analyst · local"] {
        assert!(
            ran.out.contains(&format!("\n{heading}/smollm2-135m:\n"))
                || ran.out.contains(&format!("\n{heading}:\n")),
            "{}",
            ran.out
        );
    }
    assert!(ran.out.contains("\nRecommendation: verify (agreement "), "{}", ran.out);
    assert!(!ran.out.contains('{') && !ran.out.contains("stance"), "no data: {}", ran.out);
    let minutes = home.run_with(&[], &["export", &home.session()]).ok();
    let told = "\n\n**Ada, Ben:** Demo model: do not rely on its answers";
    assert!(minutes.contains(told), "{minutes}");
    for part in [
        "# Is tea better than coffee?\n",
        "## Result\n",
        "### Ada: Synthesizer\n",
        "*After this round:* agreement ",
    ] {
        assert!(minutes.contains(part), "{part} in {minutes}");
    }
    home.assert_sound();
}
