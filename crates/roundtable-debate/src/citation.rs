//! Sources of a debate: each once, with who named it and when.

use schemars::JsonSchema;
use serde::Serialize;

use roundtable_core::id::AgentId;
use roundtable_core::message::Citation;

/// A source with the agents and rounds that cite it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Source {
    /// Its address, title and words, as far as they were given.
    #[serde(flatten)]
    pub citation: Citation,
    /// Who named it, each once.
    #[serde(rename = "agentIds")]
    pub agents: Vec<AgentId>,
    /// In which rounds, each once.
    pub rounds: Vec<u32>,
}

/// Collects sources; one address is one source, and one without an address is known by its title.
pub(super) fn collect(named: impl IntoIterator<Item = (AgentId, u32, Citation)>) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for (agent, round, citation) in named {
        match sources.iter_mut().find(|source| is_same(&source.citation, &citation)) {
            None => sources.push(Source { citation, agents: vec![agent], rounds: vec![round] }),
            Some(source) => {
                source.citation.title = source.citation.title.take().or(citation.title);
                source.citation.quote = source.citation.quote.take().or(citation.quote);
                if !source.agents.contains(&agent) {
                    source.agents.push(agent);
                }
                if !source.rounds.contains(&round) {
                    source.rounds.push(round);
                }
            }
        }
    }
    sources
}

fn is_same(one: &Citation, other: &Citation) -> bool {
    match (&one.url, &other.url) {
        (Some(one), Some(other)) => plain(one) == plain(other),
        (None, None) => one.title == other.title && one.quote == other.quote,
        _ => false,
    }
}

/// An address without what does not change the page: the fragment, a last slash, `www.`, `http`.
fn plain(url: &str) -> String {
    let url = url.trim().split('#').next().unwrap_or_default().trim_end_matches('/');
    let url = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
    let (host, path) = url.split_once('/').map_or((url, None), |(host, path)| (host, Some(path)));
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
    path.map_or(host.clone(), |path| format!("{host}/{path}"))
}
