//! Keys: nothing that is printed or kept repeats one (S28).

use crate::binary::{Home, Ran};
use crate::provider::{Provider, refuses, says};

const CANARY: &str = "sk-canary-0123456789";

/// Every key that a configuration can hold is the canary.
fn file(address: &str) -> String {
    format!(
        r#"
[defaults]
model = "openai-chat/small"
retry = {{ attempts = 1 }}
[providers.openai-chat]
base_url = "{address}"
key = "{CANARY}"
headers = {{ x-gateway = "{CANARY}" }}
[providers.ollama]
base_url = "http://me:{CANARY}@127.0.0.1:1"
[mcp.docs]
url = "http://127.0.0.1:1/mcp?key={CANARY}"
headers = {{ authorization = "Bearer {CANARY}" }}
[mcp.files]
command = "/nonexistent/server"
env = {{ TOKEN = "{CANARY}" }}
env_from = ["TEAM_TOKEN"]
[[token]]
value = "{CANARY}"
actor = "ann"
[[token]]
value_env = "TEAM_TOKEN"
actor = "ben"
"#
    )
}

fn assert_clean(what: &str, ran: &Ran) {
    let found = ran.out.contains("canary") || ran.err.contains("canary");
    assert!(!found, "{what}: {} {}", ran.out, ran.err);
}

#[test]
fn s28_no_output_no_error_and_no_file_repeats_a_key() {
    let refusal = format!("Incorrect API key: {CANARY}");
    let answers = vec![refuses(401, &[], &refusal), says("Fine.")];
    let provider = Provider::start(answers);
    let home = Home::new();
    home.write("roundtable.toml", &file(&provider.address));
    let variables = [
        ("ANTHROPIC_API_KEY", CANARY),
        ("TEAM_TOKEN", CANARY),
        ("HTTPS_PROXY", "http://me:sk-canary-0123456789@proxy"),
    ];
    for arguments in [
        &["ask", "Hello?"][..],
        &["ask", "Hello?", "--json"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "check"],
        &["tools"],
        &["tools", "--json"],
        &["tools", "approve", "docs"],
        &["tools", "approve", "files"],
        &["sessions"],
        &["verify"],
        &["ask", "Hi", "--model", "ollama/x"],
    ] {
        assert_clean(&format!("{arguments:?}"), &home.run_with(&variables, arguments));
    }
    let prompts = provider.received();
    assert!(
        prompts.len() == 2
            && !prompts.iter().any(|asked| asked.body.to_string().contains("canary"))
    );
    assert_eq!(prompts[0].headers["authorization"], format!("Bearer {CANARY}"));
    let kept = home.bytes();
    assert!(!kept.windows(9).any(|window| window == b"sk-canary"));
}

#[test]
fn s28_a_key_in_the_wrong_place_is_refused_and_not_repeated() {
    let home = Home::new();
    for text in [
        format!("providers.openai = \"{CANARY}\"\n"),
        format!("[providers.openai]\nkey = {CANARY}\n"),
        format!("[providers.openai]\nkey = \"{CANARY}\n"),
        format!("[providers.openai]\nkey = [\"{CANARY}\"]\n"),
        format!("[defaults]\nmax_tokens = \"{CANARY}\"\n"),
        format!("token = \"{CANARY}\"\n"),
        format!("[mcp.docs]\nheaders = \"{CANARY}\"\n"),
    ] {
        home.write("roundtable.toml", &text);
        let ran = home.run_with(&[], &["config", "check"]);
        assert_eq!(ran.code, Some(2), "{text}");
        assert_clean(&text, &ran);
    }
}
