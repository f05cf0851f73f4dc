//! A streamed answer: chunks as server-sent events, and `[DONE]`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};

use super::answer::{Head, call_delta};
use super::answering::{Answering, failed};
use super::error::ErrorBody;
use super::reply::Piece;
use super::request::StreamOptions;
use crate::problem::Problem;

/// How often something is sent while nothing is said, so that nothing in between hangs up.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What ends a stream.
const DONE: &str = "[DONE]";

/// A streamed answer. Its reader hangs up by dropping it.
struct Chunks {
    /// Nothing after the end.
    answering: Option<Answering>,
    head: Head,
    options: StreamOptions,
    ready: VecDeque<String>,
}

pub(super) fn respond(answering: Answering, head: Head, options: StreamOptions) -> Response {
    let mut chunks = Chunks { answering: Some(answering), head, options, ready: VecDeque::new() };
    let first = chunks.head.chunk(&json!({ "role": "assistant", "content": "" }), None);
    chunks.push(first);
    let events = stream::unfold(chunks, |mut chunks| async move {
        let data = chunks.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(data)), chunks))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

impl Chunks {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Some(data);
            }
            let piece = self.answering.as_mut()?.next().await;
            match piece {
                Ok(Piece::Text(text)) => {
                    let chunk = self.head.chunk(&json!({ "content": text }), None);
                    self.push(chunk);
                }
                Ok(Piece::Calls(calls)) => {
                    let chunk = self.head.chunk(&call_delta(&calls), None);
                    self.push(chunk);
                }
                Ok(Piece::End(finish, tokens)) => {
                    self.answering = None;
                    let chunk = self.head.chunk(&json!({}), Some(finish));
                    self.push(chunk);
                    if self.options.include_usage {
                        self.ready.push_back(self.head.usage_chunk(tokens).to_string());
                    }
                    self.ready.push_back(DONE.to_owned());
                }
                Ok(Piece::Failed(why)) => self.fail(&failed(&why)),
                Err(problem) => self.fail(&problem),
            }
        }
    }

    /// Ends with an error. The status was sent long ago; clients raise an error for this chunk.
    fn fail(&mut self, problem: &Problem) {
        self.answering = None;
        self.ready.push_back(json!(ErrorBody::of(problem)).to_string());
    }

    fn push(&mut self, mut chunk: Value) {
        if self.options.include_usage {
            chunk["usage"] = Value::Null;
        }
        self.ready.push_back(chunk.to_string());
    }
}
