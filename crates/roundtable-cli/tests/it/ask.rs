//! `roundtable ask` and `continue`, against a provider on this machine.

use roundtable_testing::provider::Answer;
use serde_json::Value;

use crate::binary::{Home, read_until, steady};
use crate::provider::{Provider, calls, refuses, says, words};

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-canary-1234567890");

/// One attempt, so that nothing waits.
const ONCE: &str = "[defaults]\nretry = { attempts = 1 }\n";

fn home(text: &str) -> Home {
    let home = Home::new();
    home.write("roundtable.toml", text);
    home
}

#[test]
fn an_answer_is_printed_as_it_comes() {
    let provider = Provider::start(vec![Answer::Stall(words("Hello, "))]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    let mut child = home.command(&variables, &["ask", "Who are you?"]).spawn().unwrap();
    let (mut out, mut seen) = (child.stdout.take().unwrap(), String::new());
    // The provider says nothing more until the client is gone.
    assert!(read_until(&mut out, &mut seen, |seen| seen == "Hello, "), "{seen}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_vendor_of_the_environment_answers_and_it_is_said_which_one_and_why() {
    let provider = Provider::start(vec![says("Hello, world.")]);
    let (home, address) = (home(ONCE), format!("{}/v1", provider.address));
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str()), ("OPENAI_MODEL", "small")];
    let ran = home.run_with(&variables, &["ask", "Who are you?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("Hello, world.\n", Some(0)));
    let data = home.path().display().to_string();
    assert_eq!(
        steady(&ran.err).replace(&data, "DATA"),
        "Model: openai-chat/small (OPENAI_API_KEY and OPENAI_BASE_URL and OPENAI_MODEL are set)\n\
         (model-1: 1 model call, 27 tokens, cost unknown)\n\
         Continue: roundtable continue ses_… \"…\" --data-dir DATA\n"
    );
    let [asked] = provider.received().try_into().unwrap();
    assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(asked.headers["authorization"], "Bearer sk-canary-1234567890");
    assert_eq!(asked.body["model"], "small");
    home.assert_sound();
}

#[test]
fn a_session_is_continued_with_what_was_said_before() {
    let provider = Provider::start(vec![says("Blue."), says("As I said: blue.")]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    home.run_with(&variables, &["ask", "Which colour?"]);
    let ran = home.run_with(&variables, &["continue", &home.session(), "Say it again."]);
    assert_eq!((ran.out.as_str(), ran.code), ("As I said: blue.\n", Some(0)), "{}", ran.err);
    let said = provider.received()[1].body["messages"].to_string();
    for text in ["Which colour?", "Blue.", "Say it again."] {
        assert!(said.contains(text), "{said}");
    }
    let gone = home.run_with(&variables, &["continue", "ses_gone", "Hello?"]).failed();
    assert!(gone.starts_with("error: no session gone\nhint: the newest sessions are:"), "{gone}");
    home.assert_sound();
}

#[test]
fn a_token_of_anthropics_own_tools_is_sent_as_they_send_it() {
    let provider = Provider::start(vec![refuses(401, &[], "no")]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables =
        [("ANTHROPIC_AUTH_TOKEN", "token-canary"), ("ANTHROPIC_BASE_URL", address.as_str())];
    let ran = home.run_with(&variables, &["ask", "Well?"]);
    assert!(ran.err.contains("  Check ANTHROPIC_AUTH_TOKEN.\n"), "{}", ran.err);
    let asked = &provider.received()[0];
    assert_eq!(asked.headers["authorization"], "Bearer token-canary");
    assert!(!asked.headers.contains_key("x-api-key"));
}

#[test]
fn what_an_agent_asks_is_answered_by_what_is_said_next() {
    let question = r#"{"query":"How old is she?","reason":"It matters.","priority":"required"}"#;
    let answers = vec![calls("request_context", question), says("I asked."), says("Then yes.")];
    let provider = Provider::start(answers);
    let file = format!(
        "[providers.vllm]\nbase_url = \"{}\"\n\
         [agents.ada]\nmodel = \"vllm/m\"\ntools = [\"request_context\"]\n",
        provider.address
    );
    let home = home(&file);
    let ran = home.run_with(&[], &["ask", "May she vote?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("I asked.\n", Some(0)), "{}", ran.err);
    assert!(ran.err.contains("\nIt asks: How old is she?\n"), "{}", ran.err);
    let ran = home.run_with(&[], &["continue", &home.session(), "Nineteen."]);
    assert_eq!((ran.out.as_str(), ran.code), ("Then yes.\n", Some(0)), "{}", ran.err);
    assert!(provider.received()[2].body["messages"].to_string().contains("Nineteen."));
    home.assert_sound();
}

#[test]
fn as_json_every_event_is_a_line_and_nothing_else_is_printed() {
    let provider = Provider::start(vec![says("Yes.")]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    let out = home.run_with(&variables, &["ask", "Well?", "--json"]).ok();
    let kinds: Vec<String> = out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.first().unwrap(), "session_input_accepted");
    assert_eq!(kinds[kinds.len() - 2..], ["round_closed", "usage"]);
}

#[test]
fn an_agent_of_the_file_uses_its_persona_its_model_and_its_tools() {
    let provider =
        Provider::start(vec![calls("fact_check", r#"{"quote":"forty-two"}"#), says("42.")]);
    let file = format!(
        "{ONCE}[providers.acme]\nwire = \"openai_chat\"\nkey_optional = true\nbase_url = \"{}\"\n\
         [agents.ada]\npersona = \"You are terse.\"\nmodel = \"acme/tiny\"\nmax_tokens = 77\ntools = [\"fact_check\"]\n",
        provider.address
    );
    let home = home(&file);
    let ran = home.run_with(&[], &["ask", "6*7?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("42.\n", Some(0)), "{}", ran.err);
    let notes: Vec<&str> = ran.err.lines().take(3).collect();
    assert_eq!(
        notes,
        [
            "Model: acme/tiny (set by roundtable.toml:9)",
            "  calls fact_check {\"quote\":\"forty-two\"}",
            "  = Not found in 1 message(s) of this session."
        ]
    );
    let body = &provider.received()[0].body;
    assert_eq!((&body["model"], &body["max_tokens"]), (&"tiny".into(), &77.into()));
    assert_eq!(body["tools"][0]["function"]["name"], "fact_check");
    assert!(body["messages"].to_string().contains("You are terse."), "{body}");
}

#[test]
fn the_next_model_is_asked_when_the_first_cannot_answer() {
    let (first, second) = (
        Provider::start(vec![refuses(503, &[], "busy")]),
        Provider::start(vec![says("Here I am.")]),
    );
    let file = format!(
        "[defaults]\nmodel = \"both\"\nretry = {{ attempts = 1 }}\n\
         [providers.vllm]\nbase_url = \"{}\"\n[providers.lmstudio]\nbase_url = \"{}\"\n\
         [models.both]\nmodel = \"vllm/a\"\nfallback = [\"lmstudio/b\"]\n",
        first.address, second.address
    );
    let ran = home(&file).run_with(&[], &["ask", "Anyone?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("Here I am.\n", Some(0)), "{}", ran.err);
    assert!(ran.err.starts_with("Model: both: vllm/a, else lmstudio/b ("));
    assert_eq!(first.received().len() + second.received().len(), 2);
}

/// What is said when a provider gives this answer.
fn told(answer: Answer) -> String {
    let provider = Provider::start(vec![answer]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    let ran = home.run_with(&variables, &["ask", "Well?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(1)), "{}", ran.err);
    let data = home.path().display().to_string();
    let err = steady(&ran.err).replace(&data, "DATA");
    let (_, told) = err.split_once("error: no answer: ").unwrap();
    let (told, again) = told.split_once("hint: your message is saved; retry with ").unwrap();
    assert_eq!(again, "roundtable continue ses_… \"…\" --data-dir DATA\n");
    told.to_owned()
}

#[test]
fn s28_a_refused_key_names_the_variable_and_not_the_key() {
    let message = "Incorrect API key provided: sk-canary-1234567890.";
    assert_eq!(
        told(refuses(401, &[("content-type", "application/json")], message)),
        "openai-chat/gpt-5-mini: the provider rejected the API key: Incorrect API key provided: ***.\n  \
         Check OPENAI_API_KEY.\n"
    );
}

#[test]
fn a_rate_limit_says_when_to_try_again() {
    assert_eq!(
        told(refuses(429, &[("retry-after", "17")], "rate limit")),
        "openai-chat/gpt-5-mini: rate limit of the provider reached; retry in 17 s\n  Try again in 17 s.\n"
    );
}

#[test]
fn a_refusal_inside_the_stream_is_explained_like_one_before_it() {
    let error = r#"data: {"error":{"type":"invalid_api_key","message":"no"}}"#;
    let told = told(Answer::events(&format!("{error}\n\n")));
    assert!(told.ends_with("  Check OPENAI_API_KEY.\n"), "{told}");
}

#[test]
fn an_ollama_that_does_not_run_says_how_to_start_it() {
    let home = home(ONCE);
    // Nobody listens there: it takes rights that servers do not have.
    let variables = [("OLLAMA_HOST", "127.0.0.1:1"), ("OLLAMA_MODEL", "llama3.2")];
    let ran = home.run_with(&variables, &["ask", "Well?"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(1)));
    let hint = "  Is Ollama running? Start it with `ollama serve`, or set OLLAMA_HOST.\n";
    assert!(ran.err.contains(hint), "{}", ran.err);
}

#[test]
fn without_any_key_a_scripted_voice_says_what_it_is() {
    let home = Home::new();
    let ran = home.run_with(&[], &["ask", "Hello?"]);
    assert_eq!(ran.out, "Scripted answer: no model was called. Your message: User: Hello?\n");
    assert!(ran.err.starts_with(
        "No model: answers are scripted (no API key found, and the local model is not installed: run `roundtable models fetch`).\nhint: set "
    ));
    let ran = home.run_with(&[], &["continue", &home.session(), "And now?"]);
    assert_eq!((ran.out.ends_with("And now?\n"), ran.code), (true, Some(0)), "{}", ran.err);
}

#[test]
fn what_cannot_be_asked_is_refused_before_a_session_is_opened() {
    let home = Home::new();
    let refused = |arguments: &[&str]| home.run_with(&[], arguments).refused();
    assert_eq!(
        refused(&["ask", "hi", "--model", "openai/gpt-5"]),
        "error: --model: openai needs an API key; set OPENAI_API_KEY\n"
    );
    assert_eq!(
        refused(&["ask", "hi", "--model", "antropic/x"]),
        "error: --model: unknown vendor \"antropic\"; did you mean \"anthropic\"?\n"
    );
    assert_eq!(
        refused(&["ask", "hi", "--agent", "ada"]),
        "error: --agent: unknown agent \"ada\"\n"
    );
    home.write("roundtable.toml", "[agents.ada]\n[agents.ben]\n");
    assert_eq!(
        refused(&["ask", "hi"]),
        "error: which agent? Pass --agent NAME, or set agent under [defaults]; configured agents: ada, ben\n"
    );
    home.write("roundtable.toml", "[agents.ada]\nworkers = [\"bne\"]\n[agents.ben]\n");
    assert_eq!(
        refused(&["ask", "hi", "--agent", "ada"]),
        "error: roundtable.toml:2: agents.ada.workers.0: unknown agent \"bne\"; did you mean \"ben\"?\n"
    );
    assert!(!home.path().exists() || home.json(&["sessions"]).is_empty());
}

#[test]
fn a_picture_is_shown_to_the_model() {
    let provider = Provider::start(vec![says("A dot.")]);
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    let picture = home.write("dot.png", "");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\n and so on").unwrap();
    let picture = picture.display().to_string();
    let ran = home.run_with(&variables, &["ask", "What is this?", "--image", &picture]);
    assert_eq!((ran.out.as_str(), ran.code), ("A dot.\n", Some(0)), "{}", ran.err);
    let [asked] = provider.received().try_into().unwrap();
    let parts = &asked.body["messages"][1]["content"];
    assert_eq!(parts[0]["text"], "User: What is this?");
    assert_eq!(parts[1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgogYW5kIHNvIG9u");
    home.assert_sound();
}

#[test]
fn a_file_that_is_no_picture_is_refused_before_anything_is_sent() {
    let provider = Provider::start(Vec::new());
    let (home, address) = (home(ONCE), provider.address.clone());
    let variables = [KEY, ("OPENAI_BASE_URL", address.as_str())];
    let toml = home.write("roundtable.toml", ONCE).display().to_string();
    for (file, why) in
        [(toml.as_str(), "use PNG, JPEG, GIF or WebP"), ("none.png", "reading none.png")]
    {
        let ran = home.run_with(&variables, &["ask", "What is this?", "--image", file]);
        assert!(ran.err.contains(why) && ran.code == Some(1), "{}", ran.err);
    }
    assert!(provider.received().is_empty());
}
