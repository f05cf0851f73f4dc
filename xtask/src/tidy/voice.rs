//! Plain English in everything that users and calling models read. A phrase of the project's old
//! dialect is an error, and so is British spelling. There is no list of exceptions.

#[cfg(test)]
mod errors;
mod prose;

use super::{Finding, SourceFile};
use prose::passages;

/// Phrases that readers have to translate, each with its plain replacement.
const PHRASES: [(&str, &str); 52] = [
    ("is none", "is invalid, is missing"),
    ("are none", "are invalid, are missing"),
    ("is not there", "is not installed, was not found"),
    ("are not there", "are not installed, were not found"),
    ("is there twice", "is a duplicate"),
    ("goes together", "is valid"),
    ("go together", "are valid"),
    ("came to", "resulted in, the result"),
    ("comes to", "results in, the result"),
    ("counts before", "overrides"),
    ("count before", "override"),
    ("stands so", "has the status"),
    ("is told", "receives"),
    ("are told", "receive"),
    ("speaks by default", "is the default model"),
    ("speaks through", "uses the model"),
    ("speaks for", "answers for"),
    ("scripted voice", "scripted answer"),
    ("hears", "receives"),
    ("wishes", "requests, settings"),
    ("the wish", "the request"),
    ("say --", "pass --"),
    ("or say", "or pass, or set"),
    ("says so", "set by, reports it"),
    ("nothing is said", "by default"),
    ("is not said", "is not set"),
    ("as it says", "as described"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("picture", "image"),
    ("pictures", "images"),
    ("likeness", "similarity"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("going on", "continuing"),
    ("went on", "continued"),
    ("what happened in", "the details of"),
    ("who takes part", "the participants"),
    ("makes no sense", "is invalid"),
    ("whoever", "the caller, the operator, the user"),
    ("whatever goes wrong", "errors"),
    ("what goes wrong", "errors"),
    ("sums up", "summarizes"),
    ("summed up", "summarized"),
    ("sum up", "summarize"),
    ("thoughts go back", "reasoning is sent back"),
    ("to be relied on", "reliable"),
    ("is brought in", "is sent"),
    ("bring it in", "send it"),
    ("be had", "be available"),
    (", too.", "remove it, or use also"),
    (", too,", "remove it, or use also"),
];

/// British spellings.
const BRITISH: [(&str, &str); 30] = [
    ("analyse", "analyze"),
    ("artefact", "artifact"),
    ("behaviour", "behavior"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("colour", "color"),
    ("colours", "colors"),
    ("defence", "defense"),
    ("defences", "defenses"),
    ("favour", "favor"),
    ("favourite", "favorite"),
    ("favoured", "favored"),
    ("grey", "gray"),
    ("honour", "honor"),
    ("judgement", "judgment"),
    ("labelled", "labeled"),
    ("licence", "license"),
    ("modelled", "modeled"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("normalise", "normalize"),
    ("normalised", "normalized"),
    ("organise", "organize"),
    ("quantise", "quantize"),
    ("recognise", "recognize"),
    ("serialised", "serialized"),
    ("spelt", "spelled"),
    ("summarise", "summarize"),
    ("synthesise", "synthesize"),
    ("towards", "toward"),
];

pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let in_file = |file| {
        let passages = passages(file).into_iter();
        passages.flat_map(move |passage| find(file, passage.line, &passage.text))
    };
    files.iter().flat_map(in_file).collect()
}

fn find(file: &SourceFile, line: usize, text: &str) -> Vec<Finding> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let denied = denial(&text);
    let text = text.to_lowercase();
    let rules = PHRASES.iter().chain(&BRITISH);
    let found = rules.filter(|(phrase, _)| has_words(&text, phrase));
    let mut findings: Vec<Finding> = found
        .map(|(phrase, plain)| {
            Finding::at(file, line, format!("write plain English instead of {phrase:?}: {plain}"))
        })
        .collect();
    if let Some(phrase) = denied {
        let message = format!("write plain English instead of {phrase:?}: is not a, is invalid");
        findings.push(Finding::at(file, line, message));
    }
    findings
}

/// Whether a text has these words, not as parts of longer words.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    text.match_indices(phrase).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        let open = !phrase.starts_with(|c: char| c.is_alphanumeric());
        let closed = !phrase.ends_with(|c: char| c.is_alphanumeric());
        (open || !is_word(before)) && (closed || !is_word(after))
    })
}

/// "X is no Y", which says that X is not a Y. "There is no Y" and "is no longer" are plain.
fn denial(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(3).enumerate().find_map(|(at, window)| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let is_denial = matches!(window[0], "is" | "are") && window[1] == "no";
        let is_plain = before.to_lowercase().ends_with("there")
            || matches!(window[2], "longer" | "more" | "less" | "fewer" | "such");
        (is_denial && !is_plain).then(|| window.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&[file(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_phrase_in_a_text_is_found_and_one_in_a_comment_or_a_test_is_not() {
        let path = "crates/roundtable-core/src/a.rs";
        let hits = found(path, "let x = 1;\nbail!(\"A filter is none.\");");
        assert_eq!(
            hits,
            [
                "crates/roundtable-core/src/a.rs:2: write plain English instead of \"is none\": is invalid, is missing"
            ]
        );
        assert!(found(path, "// a filter is none\nfn is_none() {}").is_empty());
        assert!(found(path, "#[cfg(test)]\nmod tests {\n\"it is none\" }").is_empty());
        assert_eq!(found(path, "#[cfg(test)]\nmod tests;\nbail!(\"It is none.\");").len(), 1);
        assert!(found("crates/roundtable-core/tests/it/a.rs", "\"it is none\"").is_empty());
    }

    #[test]
    fn texts_over_several_lines_and_wire_types_and_documents_are_read() {
        let path = "crates/roundtable-server/src/a.rs";
        assert_eq!(found(path, "let x = \"go \\\n     on\";").len(), 1);
        assert_eq!(found(path, "#[derive(JsonSchema)]\n/// The value is\n/// none.").len(), 1);
        assert_eq!(found(path, "#[derive(clap::Args)]\n/// The value is none.").len(), 1);
        assert!(found(path, "/// The value is none.\nstruct X;").is_empty());
        assert_eq!(found("docs/guides/a.md", "It goes\non.").len(), 1);
        assert_eq!(found("README.md", "A picture.").len(), 1);
        assert_eq!(found("crates/a/tests/it/snapshots/a.snap", "Which colour?").len(), 1);
        assert!(found("docs/adr/0001.md", "It goes on.").is_empty());
        let code = "```rust\nlet colour = 1;\n```\n\nThe field `colour` is set.";
        assert!(found("docs/guides/a.md", code).is_empty());
        assert_eq!(found("docs/guides/a.md", "```console\nIt goes on\n```").len(), 1);
    }

    #[test]
    fn only_whole_words_are_found() {
        let path = "docs/guides/a.md";
        assert!(
            found(path, "Recommended amendments: 3. It is no longer there is no round.").is_empty()
        );
        assert_eq!(found(path, "This is no number.").len(), 1);
        assert_eq!(found(path, "Our behaviour.").len(), 1);
        assert_eq!(found(path, "This works, too.").len(), 1);
    }
}
