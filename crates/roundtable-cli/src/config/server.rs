//! The server, as the configuration describes it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use roundtable_server::{
    Access, Approvals as ServerApprovals, Limits, Principal, Quotas, Settings, Table, Tokens,
};

use super::Config;
use super::file::{Approvals, Token};
use super::mistake::Mistakes;
use super::origin::Key;

/// The format of an address to listen on.
pub(super) const LISTEN_FORMAT: &str =
    "invalid address; expected ADDRESS:PORT, like 127.0.0.1:7777 or [::1]:7777";

impl Config {
    /// Where the server listens.
    pub fn listen(&self) -> Result<SocketAddr, Mistakes> {
        let said = self.file.server.listen.as_deref().unwrap_or_default();
        // People write it as they would in an address bar.
        let numeric = said.replacen("localhost:", "127.0.0.1:", 1);
        numeric
            .parse()
            .map_err(|_| self.mistake(Key::of(["server", "listen"]), LISTEN_FORMAT.to_owned()))
    }

    /// Where clients keep settings of a person.
    pub fn home_dir(&self) -> Option<PathBuf> {
        super::variable("HOME").map(PathBuf::from)
    }

    /// This program.
    pub fn program(&self) -> std::io::Result<PathBuf> {
        std::env::current_exe()
    }

    /// The flags that have to be said again for the same configuration.
    pub fn again_arguments(&self) -> Vec<String> {
        self.again_arguments.clone()
    }

    /// How the server runs.
    pub fn server_settings(&self) -> Settings {
        let server = &self.file.server;
        let mut limits = Limits::default();
        limits.wait_budget =
            server.wait_budget_ms.map_or(limits.wait_budget, Duration::from_millis);
        Settings {
            limits,
            access: Access::from(self.tokens()),
            quotas: {
                let quotas = Quotas::default();
                quotas.replace(self.limits());
                quotas
            },
            hosts: server.hosts.clone(),
            origins: server.origins.clone(),
            approvals: match server.approvals {
                Some(Approvals::Caller) => ServerApprovals::Caller,
                Some(Approvals::Person) | None => ServerApprovals::Person,
            },
        }
    }

    /// Refuses tokens that are none: a server that leaves one out would let in whom it was to keep
    /// out.
    pub fn check_access(&self) -> Result<(), Mistakes> {
        let wrong = self.mistakes().into_iter();
        let wrong = wrong.filter(|mistake| mistake.key.0.first().is_some_and(|it| it == "token"));
        Mistakes::of(wrong.collect()).map_or(Ok(()), Err)
    }

    /// What callers may spend and hold.
    pub fn limits(&self) -> Table {
        let table = Table::server(self.file.limits.quota());
        let of = |table: Table, token: &Token| match &token.actor {
            Some(actor) => table.caller(token.tenant.as_deref(), actor, token.limits.quota()),
            None => table,
        };
        self.file.token.iter().fold(table, of)
    }

    /// Those who may call.
    pub fn tokens(&self) -> Tokens {
        let known = self.file.token.iter().filter_map(|token| {
            let actor = token.actor.clone()?;
            Some((token.value.as_ref()?, Principal { actor, tenant: token.tenant.clone() }))
        });
        known.fold(Tokens::default(), |tokens, (value, who)| tokens.token(value, who))
    }
}
