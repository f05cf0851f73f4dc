//! Recorded streams of each wire: what they mean, wherever the network cuts them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use roundtable_models::output::Shape;
use roundtable_models::wire::{Settings, Wire};
use roundtable_models::{Caps, Catalog};
use roundtable_ports::{Chunk, ModelError};
use sse_stream::SseByteStream;

use crate::asked::{offering, request};

const WIRES: [(Wire, &str); 4] = [
    (Wire::OpenaiChat, "openrouter/model-1"),
    (Wire::OpenaiResponses, "openai/gpt-5-mini"),
    (Wire::Anthropic, "anthropic/claude-sonnet-4-5"),
    (Wire::Gemini, "gemini/gemini-3-flash"),
];

/// Decodes the pieces of a body.
pub fn decode(model: &str, pieces: &[&[u8]]) -> Result<Vec<Chunk>, ModelError> {
    // Read once: it is the same for every cut.
    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::builtin().unwrap());
    let mut profile = CATALOG.profile(model).unwrap();
    profile.quirks.reasoning_fields =
        ["reasoning_details", "reasoning_content"].map(str::to_owned).to_vec();
    let request = offering(request("ann", 1, 1), &["search", "files.read"]);
    let settings = Settings::new(&request, &profile, &Shape::Free, Caps::default());
    let mut decoder = profile.wire.decoder(settings);
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let pieces = stream::iter(pieces).chain(stream::iter([Ok(Bytes::from_static(b"\n\n"))]));
    let events: SseByteStream<_> =
        SseByteStream::new(pieces.map(|piece: Result<_, std::io::Error>| piece));
    let events = events.collect::<Vec<_>>().now_or_never().unwrap();
    let mut chunks = Vec::new();
    for event in events {
        let event = event.map_err(|error| ModelError::Broken(error.to_string()))?;
        let Some(data) = event.data.filter(|data| !data.is_empty()) else { continue };
        match decoder.token(&data) {
            Some(text) => chunks.push(Chunk::Text(text)),
            None => chunks.extend(decoder.event(event.event.as_deref(), &data)?),
        }
        if matches!(chunks.last(), Some(Chunk::Done(_))) {
            return Ok(chunks);
        }
    }
    chunks.extend(decoder.end()?);
    Ok(chunks)
}

fn streams(wire: Wire) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(wire.name());
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().unwrap() == "sse").collect();
    files.sort();
    assert!(files.len() >= 3, "every wire has its streams");
    files
}

/// The chunks as lines; text that comes in pieces is one line.
fn lines(chunks: &[Chunk]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut text = String::new();
    for chunk in chunks {
        if let Chunk::Text(piece) = chunk {
            text.push_str(piece);
            continue;
        }
        if !text.is_empty() {
            lines.push(format!("text {:?}", std::mem::take(&mut text)));
        }
        lines.push(match chunk {
            Chunk::Text(_) => unreachable!(),
            Chunk::ToolCall { name, arguments, reference } => {
                format!("call {name} {arguments} {}", reference.as_deref().unwrap_or("-"))
            }
            Chunk::Reasoning(thought) => {
                format!("thought {} {:?} {}", thought.wire, thought.text, thought.payload)
            }
            Chunk::Citation(citation) => format!("source {citation:?}"),
            Chunk::Done(record) => format!(
                "done {} {:?} {:?} cost {:?}",
                record.model, record.stop, record.usage, record.cost
            ),
        });
    }
    lines.push(String::new());
    lines.join("\n")
}

#[test]
fn a_stream_means_the_same_wherever_it_is_cut() {
    for (wire, model) in WIRES {
        for file in streams(wire) {
            let body = std::fs::read(&file).unwrap();
            let whole = decode(model, &[&body]).unwrap();
            let expected = std::fs::read_to_string(file.with_extension("chunks")).unwrap();
            assert_eq!(lines(&whole), expected, "{}", file.display());
            for cut in 0..body.len() {
                let (head, tail) = body.split_at(cut);
                let cut_up = decode(model, &[head, tail]).unwrap();
                assert_eq!(cut_up, whole, "{} cut at {cut}", file.display());
            }
            let bytes: Vec<&[u8]> = body.chunks(1).collect();
            assert_eq!(decode(model, &bytes).unwrap(), whole, "{} byte by byte", file.display());
            let other_lines = String::from_utf8(body).unwrap().replace('\n', "\r\n");
            assert_eq!(decode(model, &[other_lines.as_bytes()]).unwrap(), whole);
        }
    }
}

#[test]
fn events_with_fields_that_nobody_knows_mean_what_they_mean_without_them() {
    for (wire, model) in WIRES {
        for file in streams(wire) {
            let body = std::fs::read_to_string(&file).unwrap();
            let whole = decode(model, &[body.as_bytes()]).unwrap();
            // Events as usual take a shorter way than these.
            let longer = body.replace("data: {", "data: {\"not_known\":{},");
            assert_ne!(longer, body);
            assert_eq!(decode(model, &[longer.as_bytes()]).unwrap(), whole, "{}", file.display());
        }
    }
}

/// What counts as final: words and calls.
fn said(chunks: &[Chunk]) -> Vec<Chunk> {
    let said = |chunk: &&Chunk| matches!(chunk, Chunk::Text(_) | Chunk::ToolCall { .. });
    chunks.iter().filter(said).cloned().collect()
}

#[test]
fn f28_an_answer_that_breaks_off_anywhere_is_never_taken_for_a_whole_one() {
    for (wire, model) in WIRES {
        for file in streams(wire) {
            let body = std::fs::read(&file).unwrap();
            let whole = decode(model, &[&body]).unwrap();
            for cut in 0..body.len() {
                match decode(model, &[&body[..cut]]) {
                    Ok(chunks) => assert_eq!(said(&chunks), said(&whole), "cut at {cut}"),
                    Err(error) => assert!(matches!(error, ModelError::Broken(_)), "{error:?}"),
                }
            }
        }
    }
}

#[test]
fn f28_a_damaged_stream_is_an_answer_or_an_error_and_never_a_panic() {
    for (wire, model) in WIRES {
        for file in streams(wire) {
            let body = std::fs::read(&file).unwrap();
            for at in (0..body.len()).step_by(17) {
                for damage in *b"\"{]0\n\0\xff" {
                    let mut damaged = body.clone();
                    damaged[at] = damage;
                    let _ = decode(model, &[&damaged]);
                }
            }
        }
    }
}

#[test]
fn f28_frames_that_make_no_sense_are_refused_and_nothing_panics() {
    let frames = [
        "data: {\"choices\":\n\n",
        "data: garbage\n\n",
        "data: []\n\n",
        "data: null\n\n",
        "data: 1e999\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":7}]}}]}\n\n",
        "data: {\"candidates\":{\"content\":3}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":99,\"delta\":{\"type\":\"input_json_delta\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":-1}\n\n",
        "data: {\"type\":\"response.output_item.done\",\"item\":null}\n\n",
        "event: nothing\n\n",
        "\u{feff}data\n\n",
    ];
    for (_, model) in WIRES {
        for frame in frames {
            let error = decode(model, &[frame.as_bytes()]).unwrap_err();
            assert!(matches!(error, ModelError::Broken(_)), "{model} {frame:?} {error:?}");
        }
        let error = decode(model, &[b"data: \xff\xfe\n\n"]).unwrap_err();
        assert!(matches!(error, ModelError::Broken(_)), "{error:?}");
    }
}

#[test]
fn errors_inside_a_stream_say_what_to_do() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let error = decode("anthropic/claude-sonnet-4-5", &[overloaded.as_bytes()]).unwrap_err();
    assert_eq!(error, ModelError::Overloaded("Overloaded".to_owned()));
    let limited = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Slow\"}}}\n\n";
    let error = decode("openai/gpt-5", &[limited.as_bytes()]).unwrap_err();
    assert_eq!(error, ModelError::RateLimited { retry_after: None });
    let down = "data: {\"error\":{\"code\":502,\"message\":\"Provider is down\"}}\n\n";
    let error = decode("openrouter/x", &[down.as_bytes()]).unwrap_err();
    assert_eq!(error, ModelError::Overloaded("Provider is down".to_owned()));
    let blocked = "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n";
    let error = decode("gemini/gemini-3-flash", &[blocked.as_bytes()]).unwrap_err();
    assert_eq!(error, ModelError::Refused("the prompt was blocked (SAFETY)".to_owned()));
}
