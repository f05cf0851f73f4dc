//! Guides are run as written: every command and every HTTP request in them, with the built binary, and
//! what they print is compared. CONTRIBUTING.md explains how blocks are marked.

mod block;
mod compare;
mod exchange;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use block::{Block, blocks};
use page::Page;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The guides and the README, by their path from the root.
fn documents() -> Vec<String> {
    let guides = std::fs::read_dir(root().join("docs/guides")).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string();
    let guides = guides.map(|entry| format!("docs/guides/{}", name(entry).unwrap()));
    let mut all: Vec<String> = guides.chain(["README.md".to_owned()]).collect();
    all.sort();
    all
}

fn read(document: &str) -> Vec<Block> {
    blocks(&std::fs::read_to_string(root().join(document)).unwrap())
}

/// Runs all blocks of a guide, in order, on one data directory.
fn run(document: &str) {
    let mut page = Page::new(document);
    for block in read(document) {
        page.run(&block);
    }
    page.end();
}

#[test]
fn the_guide_to_the_command_line_runs_as_written() {
    run("docs/guides/command-line.md");
}

#[test]
fn the_guide_to_debates_runs_as_written() {
    run("docs/guides/debates.md");
}

#[test]
fn the_guide_to_chats_runs_as_written() {
    run("docs/guides/chats.md");
}

#[test]
fn the_guide_to_the_server_runs_as_written() {
    run("docs/guides/server.md");
}

#[test]
fn the_guide_to_the_configuration_runs_as_written() {
    run("docs/guides/configuration.md");
}

#[test]
fn the_guide_to_models_runs_as_written_against_a_provider_with_a_base_url() {
    run("docs/guides/models.md");
}

#[test]
fn all_other_guides_run_as_written() {
    let own_test = ["command-line", "debates", "chats", "server", "configuration", "models"];
    let own_test = own_test.map(|name| format!("docs/guides/{name}.md"));
    let others = documents().into_iter().filter(|document| !own_test.contains(document));
    others.for_each(|document| run(&document));
}

#[test]
fn no_command_in_a_guide_escapes_its_test() {
    for document in documents() {
        for block in read(&document) {
            let place = format!("{document}:{}", block.line);
            let has_command = block.text.lines().any(|line| line.starts_with("$ "));
            assert!(
                !has_command || block.language == "console",
                "{place}: commands belong into a console block, so that the test runs them"
            );
            let is_shell = ["sh", "bash", "shell"].contains(&block.language.as_str());
            assert!(
                !is_shell || block.info.starts_with('('),
                "{place}: use a console block, or give the reason: ```sh (needs an API key)"
            );
        }
    }
}

#[test]
fn the_guides_show_a_request_and_a_response_of_every_http_route() {
    let mut shown = BTreeSet::new();
    for document in documents() {
        let exchanges = read(&document).into_iter().filter(|block| block.language == "http");
        for block in exchanges {
            let request = exchange::Exchange::read(&block.text);
            shown.insert((request.method.to_lowercase(), request.path));
        }
    }
    let home = crate::binary::Home::new();
    let (child, url) = crate::serve::serve(&home, &[]);
    let answer = exchange::send(&url, "GET", "/openapi.json", &[], None);
    crate::binary::signal(&child, "-TERM");
    crate::binary::finish(child);
    let description: Value = serde_json::from_str(&answer.body).unwrap();
    let mut missing = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let is_shown = |(shown_method, shown_path): &(String, String)| {
                shown_method == method && exchange::fits(path, shown_path)
            };
            if !shown.iter().any(is_shown) {
                missing.push(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "routes without an http block in docs/guides");
}
