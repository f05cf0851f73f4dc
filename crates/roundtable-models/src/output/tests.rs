use roundtable_core::event::CallRecord;
use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
        "additionalProperties": false,
    })
}

fn held(mode: OutputMode) -> Shape {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let name = "verdict".to_owned();
    Shape::Held(Box::new(Held { mode, name, schema: schema(), or_text: false, validator }))
}

fn done(stop: StopReason) -> Chunk {
    Chunk::Done(CallRecord { stop, ..CallRecord::default() })
}

/// What becomes of an answer.
fn shaped(shape: Shape, chunks: Vec<Chunk>) -> Result<Vec<Chunk>, ModelError> {
    let mut shaper = Shaper::new(shape);
    let mut all = VecDeque::new();
    for chunk in chunks {
        shaper.take(chunk, &mut all)?;
    }
    Ok(all.into())
}

fn text(text: &str) -> Chunk {
    Chunk::Text(text.to_owned())
}

#[test]
fn what_models_wrap_around_json_is_taken_off_and_what_fits_becomes_the_reply() {
    let tellings = [
        "{\"score\":7}",
        "```json\n{\"score\": 7}\n```",
        "Here you are: {\"score\": 7,} Anything else?",
        "{\"verdict\": {\"score\": 7}}",
    ];
    for telling in tellings {
        let chunks = vec![text(&telling[..5]), text(&telling[5..]), done(StopReason::End)];
        let reply = vec![text("{\"score\":7}"), done(StopReason::End)];
        assert_eq!(shaped(held(OutputMode::Instruction), chunks), Ok(reply), "{telling}");
    }
}

#[test]
fn what_does_not_fit_is_a_broken_answer_with_the_reason() {
    let misfit = vec![text("{\"score\":\"high\"}"), done(StopReason::End)];
    let error = shaped(held(OutputMode::Schema), misfit).unwrap_err();
    let why = "the response does not match its schema: \"high\" is not of type \"integer\"";
    assert_eq!(error, ModelError::Broken(why.to_owned()));
    let prose = vec![text("seven"), done(StopReason::End)];
    let error = shaped(held(OutputMode::Schema), prose).unwrap_err();
    assert_eq!(error, ModelError::Broken("the response is not JSON".to_owned()));
    let cut = vec![text("{\"score\":"), done(StopReason::MaxTokens)];
    assert!(shaped(held(OutputMode::Schema), cut).is_err());
}

#[test]
fn the_arguments_of_the_reply_s_own_tool_are_the_reply() {
    let call = |name: &str| Chunk::ToolCall {
        name: name.to_owned(),
        arguments: json!({"score": 7}),
        reference: None,
    };
    let chunks = vec![text("Well."), call("verdict"), done(StopReason::ToolCalls)];
    let reply = vec![text("{\"score\":7}"), done(StopReason::End)];
    assert_eq!(shaped(held(OutputMode::Tool), chunks), Ok(reply));
    let first_looks = vec![call("search"), done(StopReason::ToolCalls)];
    assert_eq!(shaped(held(OutputMode::Tool), first_looks.clone()), Ok(first_looks));
}

#[test]
fn commas_in_strings_stay() {
    assert_eq!(extract_json("[{\"a\": \",}\\\",]\",},]"), Some(json!([{"a": ",}\",]"}])));
    assert_eq!(extract_json("no"), None);
    assert_eq!(extract_json("} {"), None);
}

#[test]
fn a_schema_is_closed_when_every_object_in_it_is() {
    assert!(is_closed(&schema()));
    assert!(!is_closed(&json!({"type": "object", "properties": {"a": {}}})));
    let mut open = schema();
    open["properties"]["score"] = json!({"type": "object"});
    assert!(!is_closed(&open));
}

/// The same shape, where prose will do.
fn lenient() -> Shape {
    let Shape::Held(held) = held(OutputMode::Instruction) else { panic!("it is held") };
    Shape::Held(Box::new(Held { or_text: true, ..*held }))
}

#[test]
fn where_prose_will_do_words_that_are_no_data_are_the_reply_and_data_is_still_taken() {
    let reply = |said: &str, stop: StopReason| shaped(lenient(), vec![text(said), done(stop)]);
    let words = "I would rather say it in words.";
    assert_eq!(reply(words, StopReason::End), Ok(vec![text(words), done(StopReason::End)]));
    let misfit = "{\"score\": \"high\"}";
    assert_eq!(reply(misfit, StopReason::End), Ok(vec![text(misfit), done(StopReason::End)]));
    let cut = "{\"score\": 7, \"why";
    assert_eq!(reply(cut, StopReason::MaxTokens), Ok(vec![text(cut), done(StopReason::MaxTokens)]));
    let data = "So: {\"score\": 7}";
    assert_eq!(
        reply(data, StopReason::End),
        Ok(vec![text("{\"score\":7}"), done(StopReason::End)])
    );
    assert!(reply("  ", StopReason::End).is_err(), "nothing is no prose either");
}
