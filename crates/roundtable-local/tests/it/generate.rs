//! Generation: sessions side by side, sessions that go on, shapes of answers, files that are known.

use std::path::PathBuf;

use roundtable_local::{
    FinishReason, Generator, LoadError, Mask, Message, Options, Request, SMOLLM2_FILE, Shape, Trust,
};

/// The real weights; without them the test fails.
fn weights() -> PathBuf {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/models").to_owned();
    let folder = std::env::var("ROUNDTABLE_MODELS_DIR").unwrap_or(usual);
    let path = PathBuf::from(folder).join(SMOLLM2_FILE);
    assert!(path.is_file(), "no weights at {}; `cargo xtask test` fetches them", path.display());
    path
}

fn generator() -> Generator {
    Generator::open(&weights(), &Options { threads: 2, ..Options::default() }).unwrap()
}

fn request(name: &str, seed: u64) -> Request {
    Request {
        messages: vec![
            Message::system(format!("You are {name}. Answer in one sentence.")),
            Message::user("Who are you, and what do you do all day?"),
        ],
        prefill: format!("My name is {name}, and"),
        max_tokens: 12,
        seed,
        session: Some(name.to_owned()),
        ..Request::default()
    }
}

#[test]
fn two_sessions_at_once_do_not_mix_and_one_that_goes_on_is_remembered() {
    let names = ["Ada the lighthouse keeper", "Bo the baker"];
    let generator = generator();
    let running = names.map(|name| generator.start(request(name, 7)).unwrap());
    let together = running.map(|answer| answer.read().unwrap());
    // Asked alone, and without what was kept.
    let alone = names.map(|name| {
        let alone = Request { session: None, ..request(name, 7) };
        generator.start(alone).unwrap().read().unwrap()
    });
    assert_eq!(together, alone);
    assert_ne!(together[0].0, together[1].0);
    assert_eq!(together[0].1.output_tokens, 12);

    let mut next = request(names[0], 8);
    next.messages.push(Message::assistant(format!("{}{}", next.prefill, together[0].0)));
    next.messages.push(Message::user("And at night?"));
    let (known, finish) = generator.start(next.clone()).unwrap().read().unwrap();
    let (fresh, plain) =
        generator.start(Request { session: None, ..next }).unwrap().read().unwrap();
    assert_eq!(known, fresh);
    assert!(finish.cached_tokens > 40 && plain.cached_tokens == 0, "{finish:?}");
}

#[test]
fn answers_have_the_shape_that_is_asked_for() {
    let generator = generator();
    let ask = |mask: &Mask, seed| {
        let mask = Some(mask.clone());
        let request =
            Request { mask, prefill: String::new(), max_tokens: 60, ..request("Cy", seed) };
        let (text, finish) = generator.start(request).unwrap().read().unwrap();
        assert_eq!(finish.reason, FinishReason::End);
        text
    };
    let verdict = Mask::choice(["agree", "agree in part", "disagree"]).unwrap();
    let shape = Shape::Object(vec![
        ("say".into(), Shape::Text { max_chars: 30 }),
        ("mood".into(), Shape::OneOf(vec!["calm".into(), "angry".into()])),
        ("sure".into(), Shape::Integer),
    ]);
    let data = Mask::json(&shape).unwrap();
    for seed in 0..2 {
        let (choice, json) = (ask(&verdict, seed), ask(&data, seed));
        assert!(verdict.accepts(&choice), "{choice:?}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(value["say"].is_string() && value["sure"].is_i64(), "{json}");
    }
}

#[test]
fn only_the_known_file_is_opened_unless_any_is_allowed() {
    let folder = std::env::temp_dir().join(format!("roundtable-local-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("other.gguf");
    std::fs::write(&path, b"GGUF and then nothing").unwrap();
    let open = |trust| Generator::open(&path, &Options { trust, ..Options::default() }).err();
    assert!(matches!(open(Trust::Known), Some(LoadError::Digest { .. })));
    assert!(matches!(open(Trust::Any), Some(LoadError::Version(_))));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(open(Trust::Known), Some(LoadError::Open { .. })));
}
