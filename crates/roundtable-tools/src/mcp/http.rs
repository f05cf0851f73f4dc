//! Streamable HTTP with a limit on every response. The client in rmcp reads JSON bodies whole,
//! however long they are, so this one takes its place; sessions and framing stay with rmcp.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream_rmcp::{Sse, SseStream};

use super::allowance::ALLOWANCE;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const BOTH: &str = "application/json, text/event-stream";

/// Why a request came to nothing. No variant holds a URL or a header: they may carry secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("{0}")]
    Request(#[source] reqwest::Error),
    #[error("the server sent too much data")]
    TooMuch,
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error.without_url())
    }
}

type Failure = StreamableHttpError<HttpError>;

fn failed(error: impl Into<HttpError>) -> Failure {
    StreamableHttpError::Client(error.into())
}

/// A client that reads no more than it has to.
#[derive(Clone)]
pub(super) struct LimitedClient(Client);

impl LimitedClient {
    /// A client; the reason, if there can be none.
    pub fn new() -> Result<Self, String> {
        let builder = crate::tls::client().map_err(|error| error.to_string())?;
        Ok(Self(builder.build().map_err(|error| error.to_string())?))
    }
}

/// The operator's headers, in the form that requests take.
pub(super) fn headers(
    named: &BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let header = |(name, value): (&String, &String)| {
        let key: HeaderName =
            name.parse().map_err(|_| format!("invalid header name \"{name}\""))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("invalid value of the header \"{name}\""))?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    named.iter().map(header).collect()
}

impl StreamableHttpClient for LimitedClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session.is_some();
        let request = self.0.post(uri.as_ref()).header(ACCEPT, BOTH);
        let request =
            request.header(CONTENT_TYPE, "application/json").body(serde_json::to_vec(&message)?);
        let response = addressed(request, session, headers).send().await.map_err(failed)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response
            .headers()
            .get(SESSION)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        if status.is_success() && is(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        let wants_reply = matches!(message, JsonRpcMessage::Request(_));
        let body = body(response).await?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(reply @ JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(reply, session))
            }
            Ok(reply) if status.is_success() => {
                Ok(StreamableHttpPostResponse::Json(reply, session))
            }
            Err(_) if status.is_success() && !wants_reply => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            _ => Err(unexpected(status)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let request = addressed(self.0.delete(uri.as_ref()), Some(session), headers);
        request.send().await.map_err(failed)?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request =
            addressed(self.0.get(uri.as_ref()).header(ACCEPT, BOTH), session, headers);
        if let Some(last_event) = last_event {
            request = request.header(LAST_EVENT, last_event);
        }
        let response = request.send().await.map_err(failed)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(unexpected(status)),
            _ if is(&response, "text/event-stream") => Ok(events(response)),
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

fn addressed(
    mut request: RequestBuilder,
    session: Option<Arc<str>>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION, session.as_ref()),
        None => request,
    }
}

fn is(response: &Response, kind: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE);
    value.is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn unexpected(status: StatusCode) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(format!("the server answered {status}").into())
}

fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    SseStream::from_bytes_stream(limited(response)).boxed()
}

async fn body(response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    let mut chunks = std::pin::pin!(limited(response));
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(failed)?);
    }
    Ok(body)
}

/// The bytes of a response, with an error in the place of too many.
fn limited(response: Response) -> impl Stream<Item = Result<Bytes, HttpError>> {
    response.bytes_stream().scan(ALLOWANCE, |left, chunk| {
        let chunk = chunk.map_err(HttpError::from).and_then(|chunk| {
            *left = left.checked_sub(chunk.len()).ok_or(HttpError::TooMuch)?;
            Ok(chunk)
        });
        std::future::ready(Some(chunk))
    })
}
