//! `roundtable config`: where values come from, and what is said about mistakes.

use roundtable::models::Catalog;
use roundtable_testing::provider::Received;
use serde_json::Value;

use crate::binary::{Home, Ran, finish, roundtable};
use crate::provider::{Provider, says};

/// Each value that is shown, by key: its value and where it comes from.
fn shown(
    home: &Home,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Vec<(String, String, String)> {
    let out = home.run_with(variables, &[&["config", "show", "--json"], arguments].concat()).ok();
    let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let from = if line["from"].is_null() { &line["origin"] } else { &line["from"] };
        (text(&line["key"]), text(&line["value"]), text(from))
    };
    out.lines().map(line).collect()
}

fn value(
    home: &Home,
    variables: &[(&str, &str)],
    arguments: &[&str],
    key: &str,
) -> (String, String) {
    let values = shown(home, variables, arguments);
    let found = values.into_iter().find(|(known, ..)| known == key);
    found.map(|(_, value, from)| (value, from)).unwrap_or_default()
}

fn pair(value: &str, from: &str) -> (String, String) {
    (value.to_owned(), from.to_owned())
}

fn check(text: &str) -> Ran {
    let home = Home::new();
    home.write("roundtable.toml", text);
    home.run_with(&[], &["config", "check"])
}

#[test]
fn check_finds_addresses_and_programs_that_cannot_work() {
    let refused = |text: &str| check(text).refused();
    assert_eq!(
        refused("[server]\nlisten = \"everywhere\"\n"),
        "error: roundtable.toml:2: server.listen: invalid address; expected ADDRESS:PORT, like \
         127.0.0.1:7777 or [::1]:7777\n"
    );
    assert_eq!(
        refused("[server]\nlisten = \"0.0.0.0:7777\"\n"),
        "error: roundtable.toml:2: server.listen: a public address needs a token; add [[token]], or \
         listen on 127.0.0.1\n"
    );
    assert_eq!(
        refused("[agents.ada]\ntools = [\"delegate\"]\n"),
        "error: roundtable.toml:2: agents.ada.tools.0: delegate needs workers; set workers = \
         [\"AGENT\"]\n"
    );
    assert_eq!(
        refused("[mcp.docs]\ncommand = \"no-such-program-here\"\n"),
        "error: roundtable.toml:2: mcp.docs.command: no-such-program-here is not installed: not \
         found in PATH\n"
    );
    assert_eq!(
        refused("[mcp.docs]\ncommand = \"/no/such/program\"\n"),
        "error: roundtable.toml:2: mcp.docs.command: /no/such/program does not exist\n"
    );
    let token = "[[token]]\nactor = \"ada\"\nvalue = \"0123456789abcdef0123456789abcdef\"\n";
    check(&format!("{token}[server]\nlisten = \"0.0.0.0:7777\"\n")).ok();
}

#[test]
fn a_flag_counts_before_the_environment_and_that_before_the_file() {
    let home = Home::new();
    let key = "defaults.model";
    assert_eq!(value(&home, &[], &[], key), pair("scripted", "default"));
    home.write("roundtable.toml", "[defaults]\n# why\nmodel = \"ollama/file\"\n");
    assert_eq!(value(&home, &[], &[], key), pair("ollama/file", "roundtable.toml:3"));
    let variables = [("ROUNDTABLE_MODEL", "ollama/variable")];
    assert_eq!(value(&home, &variables, &[], key), pair("ollama/variable", "ROUNDTABLE_MODEL"));
    let flag = ["--model", "ollama/flag"];
    assert_eq!(value(&home, &variables, &flag, key), pair("ollama/flag", "--model"));
    let empty = [("ROUNDTABLE_MODEL", " ")];
    assert_eq!(value(&home, &empty, &[], key), pair("ollama/file", "roundtable.toml:3"));
}

#[test]
fn the_data_directory_is_said_by_flag_variable_file_or_platform() {
    let home = Home::new();
    let show = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = roundtable();
        command.current_dir(home.write("x", "").parent().unwrap()).envs(variables.iter().copied());
        let out = finish(command.args(["config", "show"]).args(arguments).spawn().unwrap()).ok();
        let line = out.lines().find(|line| line.starts_with("data_dir")).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let xdg = ("XDG_DATA_HOME", "/xdg");
    assert_eq!(show(&[xdg], &[]), "data_dir = \"/xdg/roundtable\" # default");
    home.write("roundtable.toml", "data_dir = \"/file\"\n");
    let xdg = [xdg, ("ROUNDTABLE_CONFIG", "roundtable.toml")];
    assert_eq!(show(&xdg, &[]), "data_dir = \"/file\" # roundtable.toml:1");
    let own = ("ROUNDTABLE_DATA_DIR", "/variable");
    let own = [xdg[0], xdg[1], own];
    assert_eq!(show(&own, &[]), "data_dir = \"/variable\" # ROUNDTABLE_DATA_DIR");
    assert_eq!(show(&own, &["--data-dir", "/flag"]), "data_dir = \"/flag\" # --data-dir");
}

#[test]
fn the_file_is_the_one_that_is_named_or_here_or_of_the_platform() {
    let home = Home::new();
    let model = |name: &str| format!("[defaults]\nmodel = \"ollama/{name}\"\n");
    let platform = home.write("config/roundtable/roundtable.toml", &model("platform"));
    let config = platform.parent().unwrap().parent().unwrap().display().to_string();
    let xdg = ("XDG_CONFIG_HOME", config.as_str());
    let found = |variables: &[(&str, &str)], arguments: &[&str]| {
        value(&home, variables, arguments, "defaults.model").0
    };
    assert_eq!(found(&[xdg], &[]), "ollama/platform");
    home.write("roundtable.toml", &model("here"));
    let unnamed = ("ROUNDTABLE_CONFIG", "");
    assert_eq!(found(&[xdg, unnamed], &[]), "ollama/here");
    home.write("variable.toml", &model("variable"));
    let own = ("ROUNDTABLE_CONFIG", "variable.toml");
    assert_eq!(found(&[xdg, own], &[]), "ollama/variable");
    home.write("flag.toml", &model("flag"));
    assert_eq!(found(&[xdg, own], &["--config", "flag.toml"]), "ollama/flag");
    let missing = home.run_with(&[], &["config", "show", "--config", "gone.toml"]).refused();
    assert_eq!(
        missing,
        "error: --config: gone.toml cannot be read: No such file or directory (os error 2)\n"
    );
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_name_and_its_line() {
    let text = "[agents.ada]\npersona = \"x\"\nmodle = \"ollama/x\"\n\n[agnets.ben]\n";
    assert_eq!(
        check(text).refused(),
        "error: roundtable.toml:3: agents.ada.modle: unknown key; did you mean \"model\"?\n  \
         roundtable.toml:5: agnets: unknown key; did you mean \"agents\"?\n"
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_and_not_repeated() {
    let text = "providers.openai = \"sk-canary-1\"\n[defaults]\nmax_tokens = \"sk-canary-2\"\n\
                max_iterations = 0\n[mcp.docs]\napproval = \"sk-canary-3\"\nargs = 3\n";
    assert_eq!(
        check(text).refused(),
        "error: roundtable.toml:1: providers.openai: must be a table\n  \
         roundtable.toml:3: defaults.max_tokens: must be a whole number\n  \
         roundtable.toml:4: defaults.max_iterations: must be at least 1\n  \
         roundtable.toml:6: mcp.docs.approval: must be one of effectful, always, never\n  \
         roundtable.toml:7: mcp.docs.args: must be a list\n"
    );
    let broken = check("[providers.openai]\nkey = sk-canary-4\n").refused();
    assert!(broken.starts_with("error: roundtable.toml:2: invalid TOML: "), "{broken}");
    assert!(!broken.contains("canary"), "{broken}");
}

#[test]
fn names_that_lead_nowhere_are_found_with_what_to_do() {
    let text = r#"
[defaults]
model = "quick"
agent = "eva"
[providers.opnai]
base_url = "http://127.0.0.1:1"
[models.quick]
model = "openai/gpt-5-mini"
[models.empty]
[agents.ada]
model = "quik"
tools = ["now", "fact_chek", "fetch_url", "docs__find", "doc__find"]
workers = ["eve"]
[agents.eve]
model = "anthropc/claude-sonnet-5"
limits = { dollars = 1.0 }
[mcp.docs]
env_from = ["NOT_SET"]
[[token]]
value_env = "NOT_SET"
actor = "ann"
[[token]]
value = "short"
"#;
    insta::assert_snapshot!(check(text).refused(), @r#"
    error: roundtable.toml:4: defaults.agent: unknown agent "eva"; did you mean "eve"?
      roundtable.toml:5: providers.opnai: unknown vendor "opnai"; a custom vendor needs `wire`; did you mean "openai"?
      roundtable.toml:7: models.quick: openai needs an API key; set OPENAI_API_KEY
      roundtable.toml:9: models.empty: "empty" has no model; set model = "vendor/model"
      roundtable.toml:11: agents.ada.model: unknown model "quik"; use vendor/model, or a name from [models]; did you mean "quick"?
      roundtable.toml:12: agents.ada.tools.1: unknown tool "fact_chek"; did you mean "fact_check"?; `roundtable tools` lists all tools
      roundtable.toml:12: agents.ada.tools.2: fetch_url is disabled; set enabled = true under [tools.fetch_url]
      roundtable.toml:12: agents.ada.tools.4: unknown MCP server "doc"; did you mean "docs"?
      roundtable.toml:15: agents.eve.model: unknown vendor "anthropc"; did you mean "anthropic"?
      roundtable.toml:17: mcp.docs: set command = "PROGRAM" or url = "URL"
      roundtable.toml:18: mcp.docs.env_from.0: NOT_SET is not set
      roundtable.toml:19: token.0: NOT_SET is not set
      roundtable.toml:22: token.1: missing actor; set actor = "NAME"
    "#);
}

#[test]
fn names_that_cannot_be_names_are_refused() {
    assert_eq!(
        check("[mcp.\"Bad name\"]\nurl = \"http://x\"\n[agents.\"Ada L\"]\n").refused(),
        "error: roundtable.toml:1: mcp.\"Bad name\": a server name must have 1 to 32 lowercase \
         letters, digits, `-` and single `_`\n  \
         roundtable.toml:3: agents.\"Ada L\": \"agt_Ada L\" is not a valid agent id; use letters, digits, \
         \"_\" and \"-\", at most 64 characters\n"
    );
    assert_eq!(
        check("[providers.openai]\nwire = \"gemini\"\n").refused(),
        "error: roundtable.toml:1: providers.openai: this vendor is built in; use another name for your own\n"
    );
}

#[test]
fn with_nothing_configured_scripted_voices_speak_and_say_so() {
    let home = Home::new();
    let out = home.run_with(&[], &["config", "show"]).ok();
    let last = out.lines().last().unwrap();
    assert_eq!(
        last,
        "# default model: scripted (no API key found, and the local model is not installed: run `roundtable models fetch`)"
    );
    let mistral = home.run_with(&[("MISTRAL_API_KEY", "k")], &["config", "check"]).ok();
    assert!(
        mistral.contains("Mistral is configured without a model: set MISTRAL_MODEL"),
        "{mistral}"
    );
}

/// What each vendor's own tools read, and the model and reason that follow.
const VENDORS: &[(&[(&str, &str)], &str, &str)] = &[
    (&[("OPENAI_API_KEY", "k")], "openai/gpt-5-mini", "OPENAI_API_KEY is set"),
    (
        &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "gpt-5")],
        "openai/gpt-5",
        "OPENAI_API_KEY and OPENAI_MODEL are set",
    ),
    (
        &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://gateway/v1")],
        "openai-chat/gpt-5-mini",
        "OPENAI_API_KEY and OPENAI_BASE_URL are set",
    ),
    (
        &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "https://api.openai.com/v1")],
        "openai/gpt-5-mini",
        "OPENAI_API_KEY and OPENAI_BASE_URL are set",
    ),
    (&[("ANTHROPIC_API_KEY", "k")], "anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY is set"),
    (
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://x"), ("ANTHROPIC_MODEL", "m")],
        "anthropic/m",
        "ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL and ANTHROPIC_MODEL are set",
    ),
    (&[("GEMINI_API_KEY", "k")], "gemini/gemini-2.5-flash", "GEMINI_API_KEY is set"),
    (
        &[("GEMINI_API_KEY", "k"), ("GOOGLE_API_KEY", "g")],
        "gemini/gemini-2.5-flash",
        "GOOGLE_API_KEY is set",
    ),
    (
        &[("OLLAMA_HOST", "0.0.0.0"), ("OLLAMA_MODEL", "llama3.2")],
        "ollama/llama3.2",
        "OLLAMA_HOST and OLLAMA_MODEL are set",
    ),
    (
        &[("VLLM_BASE_URL", "http://x/v1"), ("VLLM_MODEL", "m")],
        "vllm/m",
        "VLLM_BASE_URL and VLLM_MODEL are set",
    ),
    (&[("LMSTUDIO_MODEL", "m")], "lmstudio/m", "LMSTUDIO_MODEL is set"),
    (
        &[("OPENROUTER_API_KEY", "k"), ("OPENROUTER_MODEL", "a/b")],
        "openrouter/a/b",
        "OPENROUTER_API_KEY and OPENROUTER_MODEL are set",
    ),
    (
        &[("GROQ_API_KEY", "k"), ("GROQ_MODEL", "m")],
        "groq/m",
        "GROQ_API_KEY and GROQ_MODEL are set",
    ),
    (
        &[("DEEPSEEK_API_KEY", "k"), ("DEEPSEEK_MODEL", "m")],
        "deepseek/m",
        "DEEPSEEK_API_KEY and DEEPSEEK_MODEL are set",
    ),
    (
        &[("MISTRAL_API_KEY", "k"), ("MISTRAL_MODEL", "m")],
        "mistral/m",
        "MISTRAL_API_KEY and MISTRAL_MODEL are set",
    ),
    (
        &[("PPLX_API_KEY", "k"), ("PERPLEXITY_MODEL", "sonar")],
        "perplexity/sonar",
        "PPLX_API_KEY and PERPLEXITY_MODEL are set",
    ),
    (&[("XAI_API_KEY", "k"), ("XAI_MODEL", "m")], "xai/m", "XAI_API_KEY and XAI_MODEL are set"),
    (
        &[("TOGETHER_API_KEY", "k"), ("TOGETHER_MODEL", "m")],
        "together/m",
        "TOGETHER_API_KEY and TOGETHER_MODEL are set",
    ),
    (
        &[("FIREWORKS_API_KEY", "k"), ("FIREWORKS_MODEL", "m")],
        "fireworks/m",
        "FIREWORKS_API_KEY and FIREWORKS_MODEL are set",
    ),
    (
        &[("CEREBRAS_API_KEY", "k"), ("CEREBRAS_MODEL", "m")],
        "cerebras/m",
        "CEREBRAS_API_KEY and CEREBRAS_MODEL are set",
    ),
    // A model that was named counts before a key alone.
    (
        &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "gpt-5")],
        "openai/gpt-5",
        "OPENAI_API_KEY and OPENAI_MODEL are set",
    ),
];

#[test]
fn the_variables_of_every_vendor_are_enough_for_a_default() {
    let home = Home::new();
    for (variables, model, why) in VENDORS {
        let out = home.run_with(variables, &["config", "check"]).ok();
        let said = format!(
            "no configuration file: configuration is valid\nDefault model: {model} ({why})\n"
        );
        assert_eq!(out, said, "{variables:?}");
    }
}

#[test]
fn every_variable_of_the_catalog_is_read() {
    let (home, catalog) = (Home::new(), Catalog::builtin().unwrap());
    for (name, vendor) in catalog.vendors() {
        let parts = [
            ("key", &vendor.key_env),
            ("key", &vendor.bearer_env),
            ("base_url", &vendor.base_url_env),
            ("model", &vendor.model_env),
        ];
        for (part, variable) in
            parts.iter().flat_map(|(part, names)| names.iter().map(move |name| (part, name)))
        {
            let shown =
                value(&home, &[(variable, "said")], &[], &format!("providers.{name}.{part}"));
            let said = if *part == "key" { "***" } else { "said" };
            assert_eq!(shown, pair(said, variable), "{name}");
        }
        let lines =
            vendor.header_lines_env.iter().map(|variable| ("x-team", variable, "x-team: a"));
        let own = vendor.header_env.iter().map(|(header, name)| (header.as_str(), name, "a"));
        for (header, variable, said) in own.chain(lines) {
            let key = format!("providers.{name}.headers.{header}");
            assert_eq!(value(&home, &[(variable, said)], &[], &key), pair("***", variable));
        }
    }
}

/// What a provider at an address made of its own is asked, with these variables.
fn asked(
    model: &str,
    variables: &[(&str, &str)],
    address: impl Fn(&str) -> (String, String),
) -> Received {
    let provider = Provider::start(vec![says("Fine.")]);
    let (variable, place) = address(provider.address.strip_prefix("http://").unwrap());
    let variables = [variables, &[(variable.as_str(), place.as_str())]].concat();
    // What comes of an answer in another protocol is none of this test's business.
    Home::new().run_with(&variables, &["ask", "Hi", "--model", model]);
    provider.received().swap_remove(0)
}

#[test]
fn accounts_and_headers_are_sent_as_the_vendors_own_sdks_send_them() {
    let variables =
        [("OPENAI_API_KEY", "k"), ("OPENAI_ORG_ID", "org-1"), ("OPENAI_PROJECT_ID", "proj_1")];
    for end in ["", "/"] {
        let at = |place: &str| ("OPENAI_BASE_URL".to_owned(), format!("http://{place}/v1{end}"));
        for (model, path) in [("openai/x", "responses"), ("openai-chat/x", "chat/completions")] {
            let asked = asked(model, &variables, at);
            assert_eq!(asked.line, format!("POST /v1/{path} HTTP/1.1"));
            assert_eq!(asked.headers["authorization"], "Bearer k");
            assert_eq!(asked.headers["openai-organization"], "org-1");
            assert_eq!(asked.headers["openai-project"], "proj_1");
        }
    }
    let at = |place: &str| ("ANTHROPIC_BASE_URL".to_owned(), format!("http://{place}/"));
    let lines = "X-Team: blue: sky\nnothing\n x-trace : on ";
    let token = [("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_CUSTOM_HEADERS", lines)];
    let asked_with_token = asked("anthropic/x", &token, at);
    assert_eq!(asked_with_token.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(asked_with_token.headers["authorization"], "Bearer t");
    assert_eq!(asked_with_token.headers.get("x-api-key"), None);
    assert_eq!(asked_with_token.headers["x-team"], "blue: sky");
    assert_eq!(asked_with_token.headers["x-trace"], "on");
    // A key counts before a token.
    let both = asked("anthropic/x", &[("ANTHROPIC_API_KEY", "k"), token[0]], at);
    assert_eq!(
        (both.headers["x-api-key"].as_str(), both.headers.get("authorization")),
        ("k", None)
    );
    let at = |place: &str| ("GOOGLE_GEMINI_BASE_URL".to_owned(), format!("http://{place}"));
    let both = [("GEMINI_API_KEY", "second"), ("GOOGLE_API_KEY", "first")];
    assert_eq!(asked("gemini/x", &both, at).headers["x-goog-api-key"], "first");
    assert_eq!(asked("gemini/x", &both[..1], at).headers["x-goog-api-key"], "second");
    for form in
        ["127.0.0.1:PORT", "0.0.0.0:PORT", ":PORT", "http://0.0.0.0:PORT/", "localhost:PORT"]
    {
        let at = |place: &str| {
            let port = place.rsplit_once(':').unwrap().1;
            ("OLLAMA_HOST".to_owned(), form.replace("PORT", port))
        };
        assert_eq!(asked("ollama/x", &[], at).line, "POST /v1/chat/completions HTTP/1.1", "{form}");
    }
}

#[test]
fn every_variable_shows_where_it_counts() {
    let home = Home::new();
    let variables = [
        ("OPENAI_API_KEY", "sk-canary"),
        ("OPENAI_BASE_URL", "http://gateway/v1"),
        ("OLLAMA_HOST", "box"),
        ("HTTPS_PROXY", "http://me:sk-canary@proxy"),
        ("ANTHROPIC_API_KEY", "sk-canary"),
    ];
    let of = |key: &str| value(&home, &variables, &[], key);
    assert_eq!(of("providers.openai.key"), pair("***", "OPENAI_API_KEY"));
    assert_eq!(of("providers.openai.base_url"), pair("http://gateway/v1", "OPENAI_BASE_URL"));
    assert_eq!(of("providers.openai.proxy"), pair("", ""));
    assert_eq!(of("providers.ollama.base_url"), pair("box", "OLLAMA_HOST"));
    assert_eq!(of("providers.anthropic.base_url"), pair("https://api.anthropic.com", "default"));
    assert_eq!(of("providers.anthropic.proxy"), pair("***", "HTTPS_PROXY"));
}

#[test]
fn a_variable_that_the_file_names_is_used_instead_of_the_usual_one() {
    let home = Home::new();
    home.write("roundtable.toml", "[providers.openai]\nkey_env = \"TEAM_KEY\"\n");
    let both = [("TEAM_KEY", "a"), ("OPENAI_API_KEY", "b")];
    assert_eq!(value(&home, &both, &[], "providers.openai.key"), pair("***", "TEAM_KEY"));
    let err = home.run_with(&[("OPENAI_API_KEY", "b")], &["ask", "hi", "--model", "openai/x"]);
    assert_eq!(err.refused(), "error: --model: openai needs an API key; set TEAM_KEY\n");
}

#[test]
fn the_example_makes_sense_and_an_engine_can_be_built_from_it() {
    let home = Home::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/roundtable.example.toml");
    // The program of its MCP server.
    home.write("bin/npx", "");
    let path = home.path().with_file_name("bin").display().to_string();
    let key = [("ANTHROPIC_API_KEY", "k"), ("PATH", path.as_str())];
    let out = home.run_with(&key, &["config", "check", "--config", example]).ok();
    assert!(out.ends_with(":10)\n"), "{out}");
    let ran = home.run_with(&key, &["ask", "Hi", "--model", "scripted", "--config", example]);
    assert_eq!(
        ran.out, "Scripted answer: no model was called. Your message: User: Hi\n",
        "{}",
        ran.err
    );
}

#[test]
fn the_schema_is_the_committed_one() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/roundtable.schema.json");
    let committed = std::fs::read_to_string(committed).unwrap();
    assert_eq!(Home::new().run_with(&[], &["config", "schema"]).ok(), committed);
}
