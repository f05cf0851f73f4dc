//! A session on the command line: its id, or the start of one.

use std::str::FromStr;

use anyhow::bail;
use roundtable::Archive;
use roundtable::core::id::SessionId;
use roundtable::ports::SessionListing;

use crate::out;

/// How many sessions an error names.
const NAMED: usize = 8;

/// How much of a topic an error shows.
const TOPIC: usize = 40;

/// A session id or the start of one, with or without `ses_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionArg(String);

impl FromStr for SessionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let start = text.strip_prefix("ses_").unwrap_or(text);
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        const OTHERS: [&str; 8] = ["rnd_", "trn_", "itr_", "tcl_", "agt_", "evt_", "ctx_", "cmd_"];
        let is_other = OTHERS.iter().any(|other| start.starts_with(other));
        match is_other || start.is_empty() || start.len() > 64 || !start.chars().all(is_id) {
            true => Err("expected a session id like ses_01a1…, or the start of one".to_owned()),
            false => Ok(Self(start.to_owned())),
        }
    }
}

impl SessionArg {
    /// The session that is meant: the one with this id, else the only one whose id starts so.
    pub async fn find(&self, archive: &Archive) -> anyhow::Result<SessionListing> {
        if let Some(listed) = archive.find(&SessionId::new(&self.0)?).await? {
            return Ok(listed);
        }
        let mut found = archive.starting(&self.0, NAMED).await?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => bail!(unknown(archive, &self.0).await?),
            _ => bail!("{} matches several sessions:{}", self.0, lines(&found)),
        }
    }
}

async fn unknown(archive: &Archive, start: &str) -> anyhow::Result<String> {
    let known = archive.sessions(NAMED).await?;
    Ok(match known.is_empty() {
        true => format!("no session {start}: there are no sessions yet"),
        false => format!("no session {start}\nhint: the newest sessions are:{}", lines(&known)),
    })
}

fn lines(sessions: &[SessionListing]) -> String {
    let line = |listed: &SessionListing| {
        format!("\n  {}  {}", listed.session, out::line(&listed.summary.topic, TOPIC))
    };
    sessions.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_or_its_start_is_accepted_and_nothing_else() {
        for good in ["ses_01a1ee2b", "01a1ee2b", "a", "my-session"] {
            assert!(good.parse::<SessionArg>().is_ok(), "{good}");
        }
        for bad in ["", "ses_", "trn_1", "../x", "a b", "%", "*", &"x".repeat(65)] {
            assert!(bad.parse::<SessionArg>().is_err(), "{bad}");
        }
    }
}
