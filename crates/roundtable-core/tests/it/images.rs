//! Pictures beside a message: shown to everyone whom it is said to, kept in the transcript, checked.

use roundtable_core::Reject;
use roundtable_core::input::{Command, Say};
use roundtable_core::message::{Image, ImageSource, Message, Part};
use roundtable_core::settings::Settings;

use crate::table::{Table, agent};

fn png() -> Image {
    Image::from_bytes(b"\x89PNG\r\n\x1a\n and so on").unwrap()
}

fn show(table: &mut Table, text: Option<&str>, images: Vec<Image>) -> Result<(), Reject> {
    let say = Say { images, ..table.next_say(text) };
    table.step(Command::Say(say)).map(drop)
}

fn shape(messages: &[Message]) -> Vec<Vec<String>> {
    let part = |part: &Part| match part {
        Part::Text { text } => text.trim().to_owned(),
        Part::Image(image) => format!("<{}>", image.media_type),
        part => panic!("{part:?}"),
    };
    messages.iter().map(|message| message.parts.iter().map(part).collect()).collect()
}

fn rendered(table: &Table, turn: &str) -> Vec<Message> {
    let (rendered, _) = table.live.render(&table.turn(turn)).unwrap();
    rendered.messages.to_vec()
}

#[test]
fn every_agent_of_the_round_sees_the_picture() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    show(&mut table, Some("What is this?"), vec![png()]).unwrap();
    for turn in ["r1.t1", "r1.t2"] {
        let asked = shape(&rendered(&table, turn)).pop().unwrap();
        assert_eq!(asked, ["User: What is this?", "<image/png>"]);
    }
}

#[test]
fn a_picture_stays_in_the_transcript_where_it_was_shown() {
    let mut table = Table::open(vec![agent("Ada")]);
    show(&mut table, Some("What is this?"), vec![png()]).unwrap();
    table.answer("r1.t1.i1", "A cat.");
    table.say("And its colour?");
    let messages = rendered(&table, "r2.t1");
    assert_eq!(
        shape(&messages[..1]),
        [[
            "The conversation so far:",
            "[Round 1]\nUser: What is this?\nAda: A cat.",
            "<image/png>"
        ]]
    );
    assert_eq!(shape(&messages).pop().unwrap(), ["User: And its colour?"], "it is not shown twice");
}

#[test]
fn what_cannot_be_shown_is_refused_and_nothing_changes() {
    let settings = Settings { max_image_bytes: 100, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    let before = table.session().clone();
    let broken = Image { source: ImageSource::Base64("%".into()), ..png() };
    let refusals = [
        (None, vec![png()], "an image needs a message; add a text"),
        (
            Some("This?"),
            vec![png(), broken],
            "image 2: the image is not valid Base64; use the standard alphabet with padding",
        ),
        (
            Some("This?"),
            vec![png(), png(), png(), png(), png()],
            "the images of a message have 120 bytes as Base64; the limit is 100. Use smaller images, or send URLs",
        ),
    ];
    for (text, images, why) in refusals {
        let refused = show(&mut table, text, images).unwrap_err().to_string();
        assert_eq!(refused, why);
    }
    assert_eq!(table.session(), &before);
}
