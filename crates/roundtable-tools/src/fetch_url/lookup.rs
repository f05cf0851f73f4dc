//! Names are looked up and vetted in one step, right before the connection: what was vetted is what
//! is connected to, so a name cannot change its mind in between.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::Reach;

/// A way to find the addresses of a name.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// The addresses of a host.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's way.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// The resolver that connections use.
pub(super) struct VettedResolver {
    pub lookup: Arc<dyn Lookup>,
    pub reach: Arc<Reach>,
}

impl Resolve for VettedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, reach) = (self.lookup.clone(), self.reach.clone());
        Box::pin(async move {
            let found = lookup.lookup(name.as_str()).await?;
            let vetted = reach.vet(name.as_str(), found)?;
            let addresses = vetted.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}
