//! Which addresses may be reached: those of the public internet, and those that the operator names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Why an address is not fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no URL.
    #[error("invalid URL: {0}")]
    NotAUrl(String),
    /// It is not a page of the web.
    #[error("only http and https can be fetched")]
    Scheme,
    /// It carries a name or password.
    #[error("a URL with a user name or password is not fetched")]
    UserInfo,
    /// The port is not one of those that may be used.
    #[error("port {0} is not fetched")]
    Port(u16),
    /// The name is one that only means something inside a network.
    #[error("{0} is a name inside a private network and is not fetched")]
    PrivateName(String),
    /// The address does not belong to the public internet.
    #[error("{host} is at {address}, which is not a public address, and is not fetched")]
    PrivateAddress {
        /// The host of the URL.
        host: String,
        /// Its address.
        address: IpAddr,
    },
    /// The name has no address.
    #[error("{0} has no address")]
    NoAddress(String),
}

/// What may be reached.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub ports: Vec<u16>,
    pub allowed: Vec<IpAddr>,
}

impl Reach {
    /// The URL, unless its own words rule it out. A name's addresses are vetted when it is looked up.
    pub fn vet_url(&self, text: &str) -> Result<Url, Refusal> {
        let url = Url::parse(text.trim()).map_err(|error| Refusal::NotAUrl(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.ports.contains(&port) {
            return Err(Refusal::Port(port));
        }
        // The parser has read every spelling of an address (2130706433, 0x7f.1, 0) as that address,
        // and lookups do not happen for addresses: they are vetted here.
        let host = url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(address) => self.vet(host, [address]).map(|_| ())?,
            Err(_) => vet_name(host)?,
        }
        Ok(url)
    }

    /// The addresses of a host, if every one of them may be reached. One that may not condemns
    /// the name: a mixture is how names are made to point somewhere else.
    pub fn vet(
        &self,
        host: &str,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<Vec<IpAddr>, Refusal> {
        let addresses: Vec<IpAddr> = addresses.into_iter().collect();
        if addresses.is_empty() {
            return Err(Refusal::NoAddress(host.to_owned()));
        }
        let refused = |address: &&IpAddr| !is_public(**address) && !self.allowed.contains(address);
        match addresses.iter().find(refused) {
            Some(address) => {
                Err(Refusal::PrivateAddress { host: host.to_owned(), address: *address })
            }
            None => Ok(addresses),
        }
    }
}

fn vet_name(host: &str) -> Result<(), Refusal> {
    const PRIVATE: [&str; 6] = ["localhost", "internal", "local", "home.arpa", "lan", "intranet"];
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ends = |end: &str| name == end || name.strip_suffix(end).is_some_and(|n| n.ends_with('.'));
    if name.is_empty() || !name.contains('.') || PRIVATE.iter().any(|end| ends(end)) {
        return Err(Refusal::PrivateName(host.to_owned()));
    }
    Ok(())
}

/// Whether an address is reachable on the public internet, by the IANA special-purpose registries.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Global unicast is 2000::/3, less what carries an IPv4 address inside (6to4, Teredo) or is set
/// aside. Mapped addresses (::ffff:…), NAT64, local ones and the rest are outside of it.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    matches!(a, 0x2000..=0x3fff)
        && !matches!((a, b), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff))
}
