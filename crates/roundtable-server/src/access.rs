//! Who may call just now. Tokens can be replaced while a server runs: who was let in with one that is
//! gone is answered no more, and what is being sent to them ends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use http_body::{Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::Sleep;

use crate::app::App;
use crate::auth::{Principal, TokenDigest, Tokens, bearer};
use crate::problem::Problem;

/// Those who may call a server. Clones are the same: replace the tokens of one, and all know.
#[derive(Clone)]
pub struct Access(watch::Sender<Callers>);

/// How callers are known.
#[derive(Clone)]
enum Callers {
    /// Everyone who can reach the server is `local`.
    Anyone,
    /// Only those with a token.
    Known(Tokens),
}

/// What replacing tokens came to. One that names someone else now is counted as both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenChanges {
    /// How many can be used that could not be used before.
    pub added: usize,
    /// How many cannot be used any more.
    pub revoked: usize,
    /// How many there are.
    pub left: usize,
}

impl Default for Access {
    /// Anyone who can reach the server.
    fn default() -> Self {
        Tokens::default().into()
    }
}

impl From<Tokens> for Access {
    /// Those with one of these tokens; without any, everyone who can reach the server.
    fn from(tokens: Tokens) -> Self {
        let callers = if tokens.is_empty() { Callers::Anyone } else { Callers::Known(tokens) };
        Self(watch::Sender::new(callers))
    }
}

impl Access {
    /// From now on these tokens count and no others. A server that asked for one never stops asking:
    /// with none left, nobody is let in.
    pub fn replace(&self, tokens: Tokens) -> TokenChanges {
        let mut replaced = TokenChanges { added: 0, revoked: 0, left: tokens.count() };
        self.0.send_if_modified(|callers| {
            match callers {
                // Nothing was asked for, and nothing is.
                Callers::Anyone if tokens.is_empty() => return false,
                Callers::Anyone => replaced.added = tokens.count(),
                Callers::Known(before) => {
                    replaced.added = tokens.beyond(before);
                    replaced.revoked = before.beyond(&tokens);
                }
            }
            *callers = Callers::Known(tokens);
            true
        });
        replaced
    }

    /// Whether everyone is let in who can reach the server.
    pub fn is_open(&self) -> bool {
        matches!(*self.0.borrow(), Callers::Anyone)
    }

    /// Lets someone in, or not.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<Pass, Problem> {
        let callers = self.0.subscribe();
        let found = match &*callers.borrow() {
            Callers::Anyone => Some((None, Principal::local())),
            Callers::Known(tokens) => bearer(headers).and_then(|sent| {
                let (token, principal) = tokens.find(&sent)?;
                Some((Some(*token), principal.clone()))
            }),
        };
        let (token, principal) = found.ok_or_else(unknown)?;
        Ok(Pass { token, principal, callers })
    }
}

fn unknown() -> Problem {
    let what = "missing or invalid bearer token; send `Authorization: Bearer TOKEN` with a token \
                from [[token]] in the server's configuration";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", what)
}

/// What someone was let in with.
#[derive(Clone)]
pub(crate) struct Pass {
    token: Option<TokenDigest>,
    principal: Principal,
    callers: watch::Receiver<Callers>,
}

impl Pass {
    /// Who was let in.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Waits until it counts no more: the token is gone, names someone else, or is asked for now.
    pub async fn revoked(&mut self) {
        let (token, principal) = (&self.token, &self.principal);
        let is_gone = |callers: &Callers| match (callers, token) {
            (Callers::Anyone, token) => token.is_some(),
            (Callers::Known(_), None) => true,
            (Callers::Known(tokens), Some(token)) => !tokens.holds(token, principal),
        };
        // Without the server nobody can revoke anything.
        if self.callers.wait_for(is_gone).await.is_err() {
            std::future::pending().await
        }
    }
}

/// Lets only those pass who are known, tells the handlers who it is, and stays until all is sent.
pub(crate) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let mut pass = app.access.admit(request.headers())?;
    request.extensions_mut().insert(pass.principal.clone());
    request.extensions_mut().insert(pass.clone());
    let response = tokio::select! {
        biased;
        () = pass.revoked() => return Err(unknown()),
        response = next.run(request) => response,
    };
    Ok(response.map(|body| guarded(body, pass)))
}

/// A body that ends with the pass of whoever reads it. One that is all there already is sent.
fn guarded(body: Body, mut pass: Pass) -> Body {
    if body.size_hint().exact().is_some() {
        return body;
    }
    let revoked = async move { pass.revoked().await }.boxed();
    Body::new(GuardedBody { body, revoked, stage: Stage::Sending })
}

/// How long a body has to say why it ends. It hears of that as the guard does, but not at the same
/// moment.
const LAST_WORD: Duration = Duration::from_millis(200);

struct GuardedBody {
    body: Body,
    revoked: BoxFuture<'static, ()>,
    stage: Stage,
}

enum Stage {
    Sending,
    /// The pass is gone; the body may say why it ends, for so long.
    LastWord(Pin<Box<Sleep>>),
    Over,
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if matches!(self.stage, Stage::Sending) && self.revoked.poll_unpin(context).is_ready() {
            self.stage = Stage::LastWord(Box::pin(tokio::time::sleep(LAST_WORD)));
        }
        let next = Pin::new(&mut self.body).poll_frame(context).map_err(Into::into);
        match (&mut self.stage, next) {
            (Stage::Sending, next) => return next,
            (_, Poll::Ready(None)) => return Poll::Ready(None),
            (Stage::LastWord(_), Poll::Ready(word)) => {
                self.stage = Stage::Over;
                return Poll::Ready(word);
            }
            (Stage::LastWord(time), Poll::Pending) => ready!(time.as_mut().poll(context)),
            (Stage::Over, _) => {}
        }
        // Broken off, so that nobody takes it for the whole.
        Poll::Ready(Some(Err("the token was revoked".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};
    use http::header::AUTHORIZATION;
    use roundtable::models::Secret;

    use super::*;

    const ANN: &str = "aaaaaaaaaaaaaaaa";
    const BOB: &str = "bbbbbbbbbbbbbbbb";

    fn tokens(known: &[(&str, &str)]) -> Tokens {
        known.iter().fold(Tokens::default(), |tokens, (token, actor)| {
            let principal = Principal { actor: (*actor).to_owned(), tenant: None };
            tokens.token(&Secret::new(*token), principal)
        })
    }

    fn admit(access: &Access, token: &str) -> Option<Pass> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        access.admit(&headers).ok()
    }

    /// Whether someone was shown out.
    fn is_out(pass: &mut Pass) -> bool {
        pass.revoked().now_or_never().is_some()
    }

    #[test]
    fn s04_replacing_tokens_shows_those_out_whose_token_is_gone_and_nobody_else() {
        let access = Access::from(tokens(&[(ANN, "ann"), (BOB, "bob")]));
        let (mut ann, mut bob) = (admit(&access, ANN).unwrap(), admit(&access, BOB).unwrap());
        assert!(!is_out(&mut ann) && !is_out(&mut bob));
        let replaced = access.replace(tokens(&[(BOB, "bob"), ("cccccccccccccccc", "cy")]));
        assert_eq!(replaced, TokenChanges { added: 1, revoked: 1, left: 2 });
        assert!(is_out(&mut ann) && !is_out(&mut bob));
        assert!(admit(&access, ANN).is_none() && admit(&access, BOB).is_some());
    }

    #[test]
    fn s04_a_token_that_names_someone_else_is_another_one() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let mut ann = admit(&access, ANN).unwrap();
        let replaced = access.replace(tokens(&[(ANN, "amy")]));
        assert_eq!(replaced, TokenChanges { added: 1, revoked: 1, left: 1 });
        assert!(is_out(&mut ann));
        assert_eq!(admit(&access, ANN).unwrap().principal.actor, "amy");
    }

    #[test]
    fn s04_without_any_token_left_nobody_is_let_in() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let mut ann = admit(&access, ANN).unwrap();
        assert_eq!(
            access.replace(Tokens::default()),
            TokenChanges { added: 0, revoked: 1, left: 0 }
        );
        assert!(is_out(&mut ann) && !access.is_open());
        assert!(admit(&access, ANN).is_none() && access.admit(&HeaderMap::new()).is_err());
    }

    #[test]
    fn s04_the_first_token_shows_those_out_who_came_without() {
        let access = Access::default();
        let mut local = access.admit(&HeaderMap::new()).unwrap();
        access.replace(Tokens::default());
        assert!(access.is_open() && !is_out(&mut local), "nothing changed");
        access.replace(tokens(&[(ANN, "ann")]));
        assert!(is_out(&mut local) && access.admit(&HeaderMap::new()).is_err());
    }

    /// What is read of a body until it ends, and how that was.
    async fn read(mut body: Body, mut on_piece: impl FnMut(&str)) -> Result<(), String> {
        loop {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            match frame {
                Some(Ok(frame)) => on_piece(str::from_utf8(&frame.into_data().unwrap()).unwrap()),
                Some(Err(error)) => return Err(error.to_string()),
                None => return Ok(()),
            }
        }
    }

    #[tokio::test]
    async fn s04_what_is_being_sent_breaks_off_when_the_token_is_revoked() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let endless = stream::repeat_with(|| Ok::<_, BoxError>("more"));
        let body = guarded(Body::from_stream(endless), admit(&access, ANN).unwrap());
        let mut pieces = 0;
        let ended = read(body, |_| {
            pieces += 1;
            if pieces == 3 {
                access.replace(Tokens::default());
            }
        });
        assert_eq!(ended.await, Err("the token was revoked".to_owned()));
        assert_eq!(pieces, 4, "a body may say one thing more");
    }

    #[tokio::test(start_paused = true)]
    async fn s04_a_body_that_says_nothing_any_more_breaks_off() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let silent = stream::iter(["Hello."].map(Ok::<_, BoxError>)).chain(stream::pending());
        let body = guarded(Body::from_stream(silent), admit(&access, ANN).unwrap());
        let ended = read(body, |_| {
            access.replace(Tokens::default());
        });
        assert_eq!(ended.await, Err("the token was revoked".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn s04_a_body_may_hear_of_it_a_moment_later() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let late = stream::once(async {
            tokio::time::sleep(LAST_WORD / 2).await;
            Ok::<_, BoxError>("Bye.")
        });
        let words = stream::iter(["Hello."].map(Ok::<_, BoxError>)).chain(late);
        let body = guarded(Body::from_stream(words), admit(&access, ANN).unwrap());
        let mut heard = Vec::new();
        let ended = read(body, |piece| {
            heard.push(piece.to_owned());
            access.replace(Tokens::default());
        });
        assert_eq!((ended.await, heard), (Ok(()), vec!["Hello.".to_owned(), "Bye.".to_owned()]));
    }

    #[tokio::test]
    async fn s04_a_body_that_says_why_it_ends_ends_in_order() {
        let access = Access::from(tokens(&[(ANN, "ann")]));
        let pass = admit(&access, ANN).unwrap();
        let words = stream::iter(["Hello.", "Bye."].map(Ok::<_, BoxError>));
        let body = guarded(Body::from_stream(words), pass);
        let mut heard = Vec::new();
        let ended = read(body, |piece| {
            heard.push(piece.to_owned());
            access.replace(Tokens::default());
        });
        assert_eq!((ended.await, heard), (Ok(()), vec!["Hello.".to_owned(), "Bye.".to_owned()]));
    }
}
