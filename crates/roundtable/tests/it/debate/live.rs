//! Answers that are data are held back until they are whole, and can be followed all the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use roundtable::driver::Update;
use roundtable::ports::{Chunk, ModelError};
use roundtable::prelude::*;
use roundtable_core::event::CallRecord;
use roundtable_testing::FnModel;
use tokio::sync::Semaphore;

const SAID: [&str; 2] = ["{\"position\": \"Begin", " now.\", \"confidence\": 0.9}"];

/// Says its answer in two pieces, the second one when it may, and hands it on when it is checked.
fn model(may_end: Arc<Semaphore>) -> FnModel {
    FnModel::new(move |request| {
        let may_end = may_end.clone();
        async move {
            request.listener.hear(SAID[0]);
            let _turn = may_end.acquire().await.map_err(|_| ModelError::Timeout)?;
            request.listener.hear(SAID[1]);
            let chunks = [Chunk::Text(SAID.concat()), Chunk::Done(CallRecord::default())];
            Ok(stream::iter(chunks.map(Ok)).boxed())
        }
        .boxed()
    })
}

#[tokio::test(start_paused = true)]
async fn words_of_an_answer_that_is_data_come_while_it_is_said_and_once() {
    let may_end = Arc::new(Semaphore::new(0));
    let engine =
        Engine::builder().custom_model("slow", model(may_end.clone())).build().await.unwrap();
    let wish = engine.debate("Should we begin?").agent("Ann").agent("Bob").rounds(1);
    let debate = wish.start().await.unwrap();
    let mut updates = debate.session().updates(Since::Start).await.unwrap();
    let mut heard: BTreeMap<_, String> = BTreeMap::new();
    loop {
        match updates.next().await.unwrap() {
            Update::Delta(delta) => {
                heard.entry(delta.iteration).or_default().push_str(&delta.text);
                // Both have begun to speak, and nobody has ended.
                if heard.len() == 2 && may_end.available_permits() == 0 {
                    assert!(heard.values().all(|words| words == SAID[0]), "{heard:?}");
                    may_end.add_permits(1);
                }
            }
            Update::Event(event) if event.body.kind() == "round_closed" => break,
            Update::Event(_) => {}
        }
    }
    for words in heard.values() {
        // The end may be overtaken by the event that has it all.
        assert!(SAID.concat().starts_with(words.as_str()), "{words}");
    }
    let findings = debate.wait(1).await.unwrap();
    let positions: Vec<&str> =
        findings.responses.iter().map(|one| one.position.position.as_str()).collect();
    assert_eq!(positions, ["Begin now.", "Begin now."]);
    engine.stop().await;
}
