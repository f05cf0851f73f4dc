//! Whether what the configuration says goes together. Nothing is reached, nothing is started.

use std::collections::BTreeSet;
use std::path::Path;

use super::file::{Mcp, Price, Token};
use super::mistake::{Mistake, hint};
use super::origin::Key;
use super::reference::Link;
use super::{Config, build};

/// The tools that need no server; `fetch_url` has to be switched on.
const BUILTIN: [&str; 6] = ["ask", "delegate", "fact_check", "fetch_url", "now", "request_context"];

/// Shorter tokens can be guessed.
const SHORTEST_TOKEN: usize = 16;

impl Config {
    /// All that is wrong.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let mut found = Vec::new();
        self.check_providers(&mut found);
        for name in self.file.models.keys() {
            self.check_model(name, &Key::of(["models", name]), &mut found);
        }
        let (default, _) = self.default_model();
        if !self.file.models.contains_key(&default) {
            self.check_model(&default, &Key::of(["defaults", "model"]), &mut found);
        }
        if let Some(agent) = &self.file.defaults.agent {
            self.check_agent_name(agent, Key::of(["defaults", "agent"]), &mut found);
        }
        for (name, entry) in &self.file.models {
            self.check_price(name, &entry.price, &mut found);
        }
        for id in self.file.agents.keys() {
            self.check_agent(id, &mut found);
        }
        self.check_team(&mut found);
        for (name, server) in &self.file.mcp {
            self.check_server(name, server, &mut found);
        }
        self.check_tokens(&mut found);
        self.check_listen(&mut found);
        found
    }

    fn note(&self, key: Key, what: impl Into<String>, found: &mut Vec<Mistake>) {
        let mistake = Mistake { origin: self.layers.origin(&key), key, what: what.into() };
        // One mistake may be met on several ways.
        if !found.contains(&mistake) {
            found.push(mistake);
        }
    }

    fn check_providers(&self, found: &mut Vec<Mistake>) {
        let known = self.catalog.vendors();
        for name in self.file.providers.keys().filter(|name| !known.contains_key(*name)) {
            let hint = hint(name, known.keys().map(String::as_str));
            let what = format!("unknown vendor \"{name}\"; a custom vendor needs `wire`{hint}");
            self.note(Key::of(["providers", name]), what, found);
        }
    }

    fn check_model(&self, name: &str, key: &Key, found: &mut Vec<Mistake>) {
        let links = match self.links(name) {
            Ok(links) => links,
            Err(what) => return self.note(key.clone(), what, found),
        };
        for link in links {
            let wrong = match link {
                Link::Vendor(full, wanted) => self.http(&full, wanted).map(drop),
                Link::Local => self.check_generator(),
                Link::Scripted | Link::Host => Ok(()),
            };
            if let Err(what) = wrong {
                self.note(key.clone(), what, found);
            }
        }
    }

    /// Half a price would make a limit of money worth nothing.
    fn check_price(&self, name: &str, price: &Price, found: &mut Vec<Mistake>) {
        let parts = [price.input, price.output, price.cached];
        let said = parts.iter().any(Option::is_some);
        let numbers = parts.iter().flatten().all(|part| part.is_finite());
        if said && !(price.input.is_some() && price.output.is_some() && numbers) {
            let what = "a price needs both input and output, in dollars per million tokens";
            self.note(Key::of(["models", name, "price"]), what, found);
        }
    }

    fn check_agent_name(&self, id: &str, key: Key, found: &mut Vec<Mistake>) {
        if !self.file.agents.contains_key(id) {
            let hint = hint(id, self.file.agents.keys().map(String::as_str));
            self.note(key, format!("unknown agent \"{id}\"{hint}"), found);
        }
    }

    fn check_agent(&self, id: &str, found: &mut Vec<Mistake>) {
        let Some(entry) = self.file.agents.get(id) else { return };
        let key = Key::of(["agents", id]);
        if let Err(error) = roundtable::core::id::AgentId::new(id) {
            self.note(key.clone(), error.to_string(), found);
        }
        // What is wrong with a model that has a name is said there.
        if let Some(model) = entry.model.as_ref().filter(|model| !self.is_said_elsewhere(model)) {
            self.check_model(model, &key.join("model"), found);
        }
        let model = self.model_of_agent(id);
        if entry.limits.dollars.is_some() && !self.is_priced(&model) {
            let what = format!(
                "the price of {model} is unknown; set price = {{ input = …, output = … }} for a name \
                 under [models], or set limits in tokens or calls"
            );
            self.note(key.join("limits").join("dollars"), what, found);
        }
        for (index, tool) in entry.tools.iter().enumerate() {
            if let Some(what) = self.unknown_tool(tool) {
                self.note(key.join("tools").join(&index.to_string()), what, found);
            }
        }
        for (index, worker) in entry.workers.iter().enumerate() {
            self.check_agent_name(worker, key.join("workers").join(&index.to_string()), found);
        }
    }

    /// Whoever may delegate has someone to delegate to, and nobody delegates to who answers by name.
    fn check_team(&self, found: &mut Vec<Mistake>) {
        let team = &self.file.team;
        let key = Key::of(["team"]);
        for (list, ids) in [("workers", &team.workers), ("command_only", &team.command_only)] {
            for (index, id) in ids.iter().enumerate() {
                self.check_agent_name(id, key.join(list).join(&index.to_string()), found);
            }
            if team.supervisor.is_none() && !ids.is_empty() {
                let what = "the team needs a supervisor; set supervisor = \"AGENT\"";
                self.note(key.join(list), what, found);
            }
        }
        if let Some(id) = &team.supervisor {
            self.check_agent_name(id, key.join("supervisor"), found);
        }
        for (id, entry) in &self.file.agents {
            let key = Key::of(["agents", id]);
            let leads = team.supervisor.as_ref() == Some(id) && !team.workers.is_empty();
            let tool = entry.tools.iter().position(|tool| tool == "delegate");
            if let Some(index) = tool.filter(|_| entry.workers.is_empty() && !leads) {
                let what = "delegate needs workers; set workers = [\"AGENT\"]";
                self.note(key.join("tools").join(&index.to_string()), what, found);
            }
            for (index, worker) in entry.workers.iter().enumerate() {
                if team.command_only.contains(worker) {
                    let what = format!("{worker} is command-only and cannot be a worker");
                    self.note(key.join("workers").join(&index.to_string()), what, found);
                }
            }
        }
    }

    /// Whether the price of whatever answers is known. What cannot be asked is another mistake.
    fn is_priced(&self, model: &str) -> bool {
        let priced = |link: &Link| match link {
            Link::Scripted | Link::Host => false,
            Link::Local => true,
            Link::Vendor(full, wanted) => {
                wanted.price.is_some() || self.catalog.price(full).is_some()
            }
        };
        self.links(model).map_or(true, |links| links.iter().all(priced))
    }

    fn is_said_elsewhere(&self, model: &str) -> bool {
        self.file.models.contains_key(model) || self.default_model().0 == model
    }

    /// Why a tool cannot be there, as far as that is known without asking servers.
    pub(super) fn unknown_tool(&self, name: &str) -> Option<String> {
        if let Some((server, _)) = name.split_once("__") {
            let known = self.file.mcp.keys().map(String::as_str);
            let unknown = !self.file.mcp.contains_key(server);
            return unknown
                .then(|| format!("unknown MCP server \"{server}\"{}", hint(server, known)));
        }
        if name == "fetch_url" && !self.file.tools.fetch_url.enabled {
            let what = "fetch_url is disabled; set enabled = true under [tools.fetch_url]";
            return Some(what.to_owned());
        }
        let known = BUILTIN.contains(&name);
        (!known).then(|| {
            let hint = hint(name, BUILTIN);
            format!("unknown tool \"{name}\"{hint}; `roundtable tools` lists all tools")
        })
    }

    fn check_server(&self, name: &str, server: &Mcp, found: &mut Vec<Mistake>) {
        let key = Key::of(["mcp", name]);
        if let Some(what) = build::server(name, server).mistake() {
            self.note(key.clone(), what, found);
        }
        match (&server.command, &server.url) {
            (None, None) => {
                let what = "set command = \"PROGRAM\" or url = \"URL\"";
                self.note(key.clone(), what, found);
            }
            (Some(_), Some(_)) => self.note(key.clone(), "set command or url, not both", found),
            (Some(command), None) => {
                if let Some(what) = missing_program(command, server.directory.as_deref()) {
                    self.note(key.join("command"), what, found);
                }
            }
            (None, Some(_)) => {}
        }
        for (index, variable) in server.env_from.iter().enumerate() {
            if !server.env.contains_key(variable) {
                let key = key.join("env_from").join(&index.to_string());
                self.note(key, format!("{variable} is not set"), found);
            }
        }
        if let Some(variable) = &server.bearer_env
            && !server.headers.contains_key("authorization")
        {
            self.note(key.join("bearer_env"), format!("{variable} is not set"), found);
        }
    }

    /// Refuses an address that is invalid, or that others can reach without a token.
    fn check_listen(&self, found: &mut Vec<Mistake>) {
        let key = Key::of(["server", "listen"]);
        match self.listen() {
            Ok(address) if !address.ip().is_loopback() && self.file.token.is_empty() => {
                let what = "a public address needs a token; add [[token]], or listen on 127.0.0.1";
                self.note(key, what, found);
            }
            Ok(_) => {}
            Err(_) => self.note(key, super::server::LISTEN_FORMAT, found),
        }
    }

    fn check_tokens(&self, found: &mut Vec<Mistake>) {
        let mut values = BTreeSet::new();
        for (index, token) in self.file.token.iter().enumerate() {
            let key = Key::of(["token", &index.to_string()]);
            if let Some(what) = token_mistake(token) {
                self.note(key.clone(), what, found);
            }
            if let Some(value) = &token.value
                && !values.insert(value.reveal())
            {
                self.note(key, "another token has the same value", found);
            }
        }
    }
}

/// Why a program cannot be started, as far as that is known without starting it.
fn missing_program(command: &Path, directory: Option<&Path>) -> Option<String> {
    if command.components().count() > 1 {
        let places = [Some(command.to_owned()), directory.map(|start| start.join(command))];
        let exists = places.iter().flatten().any(|path| path.is_file());
        return (!exists).then(|| format!("{} does not exist", command.display()));
    }
    let path = super::variable("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|place| place.join(command).is_file());
    (!found).then(|| format!("{} is not installed: not found in PATH", command.display()))
}

fn token_mistake(token: &Token) -> Option<String> {
    if token.actor.as_deref().unwrap_or_default().is_empty() {
        return Some("missing actor; set actor = \"NAME\"".to_owned());
    }
    match (&token.value, &token.value_env) {
        (None, Some(variable)) => Some(format!("{variable} is not set")),
        (None, None) => Some("set value_env = \"VARIABLE\", or value".to_owned()),
        (Some(value), _) if value.reveal().len() < SHORTEST_TOKEN => {
            Some(format!("a token needs at least {SHORTEST_TOKEN} characters"))
        }
        (Some(_), _) => None,
    }
}
