//! An HTTP request of a document with its response. It is sent as written, without a client that might
//! be missing on a machine.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A request, and the response that the document shows.
pub struct Exchange {
    pub method: String,
    pub path: String,
    pub headers: Vec<String>,
    pub body: Option<String>,
    /// The first line of the response, such as `200 OK`.
    pub status: String,
    pub answer: String,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: String,
    pub body: String,
}

impl Exchange {
    /// Reads a block: a request line, headers, a body; an empty line; a status, a body.
    pub fn read(text: &str) -> Self {
        let (request, answer) = text.split_once("\n\n").expect("an empty line before the response");
        let (first, rest) = request.split_once('\n').unwrap_or((request, ""));
        let (method, path) = first.split_once(' ').expect("a method and a path");
        let is_header = |line: &&str| !line.starts_with(['{', '[']);
        let headers: Vec<String> =
            rest.lines().take_while(is_header).map(ToOwned::to_owned).collect();
        let body: Vec<&str> = rest.lines().skip(headers.len()).collect();
        let (status, answer) = answer.split_once('\n').unwrap_or((answer, ""));
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
            body: (!body.is_empty()).then(|| body.join("\n")),
            status: status.to_owned(),
            answer: answer.to_owned(),
        }
    }
}

/// Sends a request. HTTP/1.0 ends a response with the connection, so there are no chunks in it.
pub fn send(url: &str, method: &str, path: &str, headers: &[String], body: Option<&str>) -> Answer {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let mut request = format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\n");
    headers.iter().for_each(|header| request.push_str(&format!("{header}\r\n")));
    if let Some(body) = body {
        let length = body.len();
        request
            .push_str(&format!("content-type: application/json\r\ncontent-length: {length}\r\n"));
    }
    write!(stream, "{request}\r\n{}", body.unwrap_or_default()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    let status = status.split_once(' ').map_or("", |(_, status)| status);
    Answer { status: status.to_owned(), body: body.to_owned() }
}

/// Whether a path is one of these: `/api/sessions/{sessionId}`.
pub fn fits(template: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let (templates, parts) = (template.split('/'), path.split('/'));
    let same = |(template, part): (&str, &str)| {
        (template.starts_with('{') && !part.is_empty()) || template == part
    };
    templates.clone().count() == parts.clone().count() && templates.zip(parts).all(same)
}
