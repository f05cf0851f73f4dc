//! Words of others in exports: two third-party renderers see no image, no HTML, no foreign scheme,
//! and the structure of a debate with harmless words.

use std::sync::LazyLock;

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};
use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};
use roundtable_core::context_request::{ContextRequest, ContextResult};
use roundtable_core::event::TurnOutcome;
use roundtable_core::{acts, printable};
use roundtable_debate::{Mode, Record};
use serde_json::{Value, json};

use super::{Asked, Hall, Wish, fitting};

const HOSTILE: &[&str] = &[
    "www.&lt;http://\\a``````~http://<b>http://```www.ftp://&lt;http://|http://http://www.http://~",
    "![x](https://evil.example/a.png)",
    "![x][y]\n\n[y]: https://evil.example/a.png",
    "[![x](data:image/png;base64,AA)](javascript:alert(1))",
    "[x](javascript:alert(1)) [y](data:text/html,x) [z](file:///etc/passwd) [v](vbscript:x)",
    "[x](/relative) [y](//evil.example) [z][] [w]: https://evil.example",
    "[x]: javascript:alert(1) \"title\"\n[x]\n[^1]: note\n[^1] ^[inline]",
    "<javascript:alert(1)> <https://x.example> <a@b.example> <x:y>",
    "ftp://evil.example/x xmpp:a@b.example XMPP:a@b.example/c ftp:\\//x.example",
    "www.x.example https://x.example/a_b_c?d=1&copy;=2 mailto:a@b.example a_b@c.example",
    "<script>alert(1)</script> <!-- x --> <?php ?> <![CDATA[x]]> <img src=x onerror=y> <b",
    "<table><tr><td>\n\n<div>\n</details>",
    "&lt;img src=x&gt; &#60;b&#62; &#x3c; &amp;lt; &nbsp &copy;",
    "```\ncode\n```",
    "~~~\ncode",
    "`` ` `` `<b>` ``` x",
    "    indented\n\n\tcode",
    "Heading\n=======\nOther\n---\n- - -\n***\n___\n* * *",
    "# a\n## b ##\n####### c\n#",
    "ends with ## #",
    "- a\n  - b\n* c\n+ d\n1. e\n2) f\n- [ ] g\n- [x] h\n-\n+",
    "> quote\n>> more\n> [!NOTE]\n>>>\nx\n>>>",
    "| a | b |\n|---|---|\n| c | d |",
    "a\n:-\nb\n:-:\n-|-",
    "term\n: details\n~ more\n:::note\n%%x%%",
    "a | b \\| c \\\\| d \\",
    "ends with a backslash\\\nand goes on\\",
    "**bold** *it* ***both*** __u__ ~~gone~~ ~sub~ ^sup^ ||spoiler|| _x_ snake_case",
    "$x$ $$y$$ $`z`$ [[wiki|link]] ![[embed]] :smile: @someone #12",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;https://evil.example\u{7}x\u{1b}]8;;\u{7} \u{9b}2J \u{1b}",
    "\0\u{7}\u{8}\r\u{b}\u{c}\u{7f}\u{85}\u{9d}x\u{ad}",
    "\u{202e}gnp.exe\u{202c} \u{2066}a\u{2069} \u{2028}# b\u{2029}- c \u{200f}ok",
    "a\r\n# b\r\n\r\n- c\r# d",
    "\u{a0}# a\n\u{3000}- b\n\u{feff}# c",
    "]( ) ![ ]( <> \" ' {#id} {.class}",
    "",
    " ",
    "\n\n",
];

/// A debate in which others wrote one text wherever they can write anything.
fn with(words: &str) -> Record {
    static HARMLESS: LazyLock<Record> = LazyLock::new(harmless);
    let mut record = HARMLESS.clone();
    let write = |text: &mut String| words.clone_into(text);
    write(&mut record.topic);
    for member in &mut record.members {
        write(&mut member.name);
        write(&mut member.model);
    }
    record.completed_because.iter_mut().for_each(write);
    for request in record
        .pending_context_requests
        .iter_mut()
        .chain(record.rounds.iter_mut().flat_map(|round| &mut round.requests))
    {
        write(&mut request.query);
        write(&mut request.reason);
    }
    for round in &mut record.rounds {
        round.focus.iter_mut().for_each(write);
        round.provided.iter_mut().for_each(|it| it.result.iter_mut().for_each(write));
    }
    let turns = record.rounds.iter_mut().flat_map(|round| &mut round.turns);
    for turn in turns.chain(record.syntheses.iter_mut().map(|one| &mut one.turn)) {
        turn.notice.iter_mut().for_each(write);
        for citation in &mut turn.citations {
            citation.url.iter_mut().chain(&mut citation.title).for_each(write);
            citation.quote.iter_mut().for_each(write);
        }
        match &mut turn.outcome {
            Some(TurnOutcome::Failed { error }) => write(error),
            _ => {
                let mut said: Value = serde_json::from_str(&turn.text).unwrap();
                replace(&mut said, words);
                // A position without letters adds a reservation, which is structure of its own.
                if !words.trim().is_empty() && !words.chars().any(char::is_alphanumeric) {
                    said["position"] = format!("{words}\nx").into();
                }
                turn.text = said.to_string();
            }
        }
    }
    record
}

/// Replaces every text that is not one of a model's fixed words.
fn replace(value: &mut Value, words: &str) {
    match value {
        Value::String(text) if !["YES", "NO"].contains(&text.as_str()) => {
            words.clone_into(text);
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, words)),
        Value::Object(fields) => fields.values_mut().for_each(|value| replace(value, words)),
        _ => {}
    }
}

fn harmless() -> Record {
    let mut wish = Wish::judged(Mode::Collaborative);
    wish.rounds = 2;
    let mut hall: Hall = wish.open();
    let says = |asked: &Asked| {
        if asked.agent == "bob" && asked.round == 2 {
            return Err("the key is wrong".to_owned());
        }
        let mut said: Value = serde_json::from_str(&fitting(asked)?).unwrap();
        if asked.prompt == "analyze" {
            said["disagreements"] =
                json!([{ "issue": "x", "views": [{ "agent": "Ann", "view": "x" }] }]);
            said["conditions"] = json!(["x", "y"]);
            said["groupthinkWarning"] = json!("x");
        } else if asked.agent == "cyd" {
            said["citations"] = json!([{ "url": "x", "title": "x", "quote": "x" }]);
        }
        Ok(said.to_string())
    };
    hall.first(says);
    hall.round(Some("What about the hills?"), says);
    hall.table.ok(roundtable_debate::Debate::synthesize(None));
    hall.settle(says);
    let mut record = hall.record();
    record.rounds[0].turns[0].notice = Some("x".to_owned());
    let request: ContextRequest = serde_json::from_value(json!({
        "id": "ctx_a", "agent": "agt_ann", "query": "x", "reason": "x", "priority": "optional",
        "about": "information", "at": "2026-01-01T00:00:00Z"
    }))
    .unwrap();
    record.rounds[1].provided = vec![ContextResult::found(request.id.clone(), "x")];
    record.rounds[0].requests = vec![request.clone()];
    record.pending_context_requests = vec![request];
    record
}

/// The same words, line by line and word by word, without anything that could be markup.
fn tamed(words: &str) -> String {
    printable(words).chars().map(|c| if c.is_whitespace() { c } else { 'x' }).collect()
}

/// The blocks of a document as comrak reads it, and what must not be in one.
fn blocks_of_comrak(markdown: &str) -> (Vec<String>, Vec<String>) {
    let arena = Arena::new();
    let mut options = comrak::Options::default();
    let on = &mut options.extension;
    (on.table, on.strikethrough, on.tasklist, on.autolink) = (true, true, true, true);
    (on.footnotes, on.inline_footnotes, on.description_lists) = (true, true, true);
    (on.math_dollars, on.math_code, on.alerts) = (true, true, true);
    (on.wikilinks_title_after_pipe, on.multiline_block_quotes) = (true, true);
    (on.underline, on.subscript, on.block_directive, on.ofm_comments) = (true, true, true, true);
    let root = parse_document(&arena, markdown, &options);
    let (mut blocks, mut refused) = (Vec::new(), Vec::new());
    for node in root.descendants() {
        let depth = node.ancestors().count();
        match &node.data().value {
            NodeValue::Link(link) if is_allowed(&link.url) => {}
            NodeValue::Text(_) | NodeValue::SoftBreak | NodeValue::LineBreak => {}
            NodeValue::Emph | NodeValue::Strong => {}
            NodeValue::Heading(heading) => {
                blocks.push(format!("{depth} heading {}", heading.level))
            }
            block if block.block() => blocks.push(format!("{depth} {}", block.xml_node_name())),
            inline => refused.push(format!("{inline:?}")),
        }
    }
    (blocks, refused)
}

/// The same as pulldown-cmark reads it.
fn blocks_of_pulldown(markdown: &str) -> (Vec<String>, Vec<String>) {
    let extensions = pulldown_cmark::Options::all()
        - pulldown_cmark::Options::ENABLE_SMART_PUNCTUATION
        - pulldown_cmark::Options::ENABLE_HEADING_ATTRIBUTES;
    let (mut blocks, mut refused) = (Vec::new(), Vec::new());
    for event in Parser::new_ext(markdown, extensions) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) if is_allowed(&dest_url) => {}
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Superscript) => {}
            Event::Start(
                tag @ (Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::HtmlBlock
                | Tag::Subscript
                | Tag::Strikethrough),
            ) => refused.push(format!("{tag:?}")),
            Event::Start(tag) => blocks.push(format!("{tag:?}")),
            Event::Rule => blocks.push("rule".to_owned()),
            Event::End(_) | Event::Text(_) | Event::SoftBreak | Event::HardBreak => {}
            other => refused.push(format!("{other:?}")),
        }
    }
    (blocks, refused)
}

fn is_allowed(url: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| url.to_ascii_lowercase().starts_with(scheme))
}

/// What the first heading says.
fn heading(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(words) => text.push_str(&words),
            Event::End(_) => break,
            _ => {}
        }
    }
    text
}

fn check(words: &str) {
    let minutes = with(words).minutes();
    let tamed = with(&tamed(words)).minutes();
    let acting: Vec<char> = minutes.chars().filter(|c| acts(*c)).collect();
    assert_eq!(acting, [], "{words:?}");
    for blocks in [blocks_of_comrak, blocks_of_pulldown] {
        let (found, refused) = blocks(&minutes);
        assert_eq!(refused, [""; 0], "{words:?}");
        // Words of which nothing can be printed leave their places empty.
        if printable(words).trim().is_empty() {
            continue;
        }
        let (expected, _) = blocks(&tamed);
        let same = found.iter().zip(&expected).take_while(|(one, other)| one == other).count();
        assert_eq!(found.get(same..), expected.get(same..), "{words:?} after {same} blocks");
    }
}

#[test]
fn hostile_words_break_no_structure_of_the_minutes_and_load_nothing() {
    HOSTILE.iter().for_each(|words| check(words));
}

#[test]
fn hostile_words_side_by_side_break_no_structure_either() {
    for first in HOSTILE {
        check(&format!("{first}{}", HOSTILE[HOSTILE.len() / 3]));
        check(&format!("a {first}\n{first} b"));
    }
}

#[test]
fn words_in_minutes_read_as_they_were_written() {
    for words in HOSTILE.iter().filter(|words| !words.contains("ftp:")) {
        let printable = printable(words);
        let expected: Vec<&str> = printable.split_whitespace().collect();
        assert_eq!(heading(&with(words).minutes()), expected.join(" "));
    }
}

#[test]
fn a_json_export_spells_control_characters_out_and_reads_back_as_it_was() {
    for words in HOSTILE.iter().filter(|words| !words.trim().is_empty()) {
        let record = with(words);
        let json = record.export();
        let acting: Vec<char> = json.chars().filter(|c| acts(*c)).collect();
        assert_eq!(acting, [], "{words:?}");
        assert_eq!(Record::import(&json), Ok(record));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_words_of_markup_characters_break_the_structure(
        words in r"([ \n\t#>*+=~`_|:<>&;!$\[\]()\\/\-\.0-9ab\r\u{1b}\u{202e}]|www\.|http://|ftp://|&lt;|<b>|```){0,24}"
    ) {
        check(&words);
    }

    #[test]
    fn no_words_at_all_break_the_structure(words in r"[\s\S]{0,24}") {
        check(&words);
    }
}
