//! Who is calling. A token of the configuration names an actor and a tenant; where there are no
//! tokens, the server listens on loopback only and everyone is `local`. What counts just now is in
//! `access`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use roundtable::models::Secret;
use roundtable::ports::Owner;
use sha2::{Digest as _, Sha256};

/// The actor of whoever calls a server without tokens.
const LOCAL: &str = "local";

/// Someone who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Who.
    pub actor: String,
    /// For which tenant.
    pub tenant: Option<String>,
}

impl Principal {
    /// Whose limits count for what this caller opens.
    pub(crate) fn owner(&self) -> Owner {
        Owner { tenant: self.tenant.clone(), actor: Some(self.actor.clone()) }
    }

    /// Whoever sits at this machine.
    pub fn local() -> Self {
        Self { actor: LOCAL.to_owned(), tenant: None }
    }
}

/// What is kept of a token.
pub(crate) type TokenDigest = [u8; 32];

/// Those who may call, and how they are known.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(TokenDigest, Principal)>);

impl Tokens {
    /// The same with one more. Only a digest of the token is kept.
    #[must_use]
    pub fn token(mut self, value: &Secret, principal: Principal) -> Self {
        self.0.push((digest(value.reveal()), principal));
        self
    }

    /// Whether anyone may call who can reach the server.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whose token it is. Every token is compared, in the same time, whatever was sent.
    pub(crate) fn find(&self, sent: &str) -> Option<(&TokenDigest, &Principal)> {
        let sent = digest(sent);
        let mut found = None;
        for (known, principal) in &self.0 {
            if is_same(known, &sent) {
                found = Some((known, principal));
            }
        }
        found
    }

    /// Whether this token still names the same caller.
    pub(crate) fn holds(&self, token: &TokenDigest, principal: &Principal) -> bool {
        self.0.iter().any(|(known, who)| is_same(known, token) && who == principal)
    }

    /// How many there are that others do not have.
    pub(crate) fn beyond(&self, others: &Self) -> usize {
        self.0.iter().filter(|(token, principal)| !others.holds(token, principal)).count()
    }
}

/// The protocol that WebSocket clients ask for.
pub(crate) const SUBPROTOCOL: &str = "roundtable.v1";

/// What a token begins with among the subprotocols of a WebSocket; base64url follows.
const SUBPROTOCOL_TOKEN: &str = "bearer.";

/// The token of a request: in the `Authorization` header, or for a WebSocket, where a browser cannot
/// set headers, among the subprotocols. Cookies and URLs are no place for it.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let offered = subprotocol_tokens(headers);
    match (values.next(), values.next(), offered.as_slice()) {
        (Some(value), None, []) => {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        }
        (None, None, [encoded]) => {
            let token = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok()?;
            String::from_utf8(token).ok()
        }
        _ => None,
    }
}

fn subprotocol_tokens(headers: &HeaderMap) -> Vec<&str> {
    let is_upgrade = headers.get(UPGRADE).and_then(|value| value.to_str().ok());
    if !is_upgrade.is_some_and(|to| to.eq_ignore_ascii_case("websocket")) {
        return Vec::new();
    }
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    names.filter_map(|name| name.trim().strip_prefix(SUBPROTOCOL_TOKEN)).collect()
}

fn digest(text: &str) -> TokenDigest {
    Sha256::digest(text.as_bytes()).into()
}

/// Compares without telling, by the time that it takes, how much is right.
fn is_same(one: &TokenDigest, other: &TokenDigest) -> bool {
    one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Tokens {
        let of =
            |actor: &str| Principal { actor: actor.to_owned(), tenant: Some(actor.to_owned()) };
        Tokens::default()
            .token(&Secret::new("aaaaaaaaaaaaaaaa"), of("ann"))
            .token(&Secret::new("bbbbbbbbbbbbbbbb"), of("bob"))
    }

    fn who(tokens: &Tokens, sent: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in sent {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        let found = bearer(&headers);
        let found = found.as_deref().and_then(|sent| tokens.find(sent));
        found.map(|(_, principal)| principal.actor.clone())
    }

    #[test]
    fn a_token_names_its_actor_and_nothing_else_does() {
        let tokens = tokens();
        assert_eq!(who(&tokens, &["Bearer bbbbbbbbbbbbbbbb"]).as_deref(), Some("bob"));
        assert_eq!(who(&tokens, &["bearer aaaaaaaaaaaaaaaa"]).as_deref(), Some("ann"));
        for wrong in ["", "Bearer", "Bearer ", "Bearer aaaaaaaaaaaaaaa", "Basic aaaaaaaaaaaaaaaa"] {
            assert_eq!(who(&tokens, &[wrong]), None, "{wrong}");
        }
        let both = ["Bearer aaaaaaaaaaaaaaaa", "Bearer bbbbbbbbbbbbbbbb"];
        assert_eq!(who(&tokens, &both), None, "two are one too many");
    }

    #[test]
    fn s29_tokens_are_compared_as_digests_of_one_length() {
        assert!(is_same(&digest("a"), &digest("a")));
        assert!(!is_same(&digest("a"), &digest("b")));
        let mut near = digest("a");
        near[31] ^= 1;
        assert!(!is_same(&digest("a"), &near));
    }

    #[test]
    fn s05_a_browser_sends_its_token_as_a_subprotocol_and_only_for_a_web_socket() {
        let tokens = tokens();
        let who = |pairs: &[(http::HeaderName, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(name, value.parse().unwrap());
            }
            let found = bearer(&headers);
            found.and_then(|sent| tokens.find(&sent).map(|(_, who)| who.actor.clone()))
        };
        let offered =
            format!("{SUBPROTOCOL}, bearer.{}", URL_SAFE_NO_PAD.encode("bbbbbbbbbbbbbbbb"));
        let upgrade = (UPGRADE, "websocket");
        let protocol = (SEC_WEBSOCKET_PROTOCOL, offered.as_str());
        assert_eq!(who(&[upgrade.clone(), protocol.clone()]).as_deref(), Some("bob"));
        assert_eq!(who(std::slice::from_ref(&protocol)), None, "not a WebSocket");
        let both = [upgrade, protocol, (AUTHORIZATION, "Bearer aaaaaaaaaaaaaaaa")];
        assert_eq!(who(&both), None, "two are one too many");
    }
}
