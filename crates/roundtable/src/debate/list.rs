//! Lists of debates, newest first.

use roundtable_core::Timestamp;
use roundtable_core::event::{Body, RoundOutcome, Seq, SessionEvent};
use roundtable_core::id::SessionId;
use roundtable_core::session::Status;
use roundtable_debate::{Debate as Program, Member, Mode, Record};
use roundtable_ports::{Selection, SessionListing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::engine::Engine;
use crate::error::Result;

/// How many are listed when nobody says.
const DEFAULT_LIMIT: usize = 50;

/// How many sessions are looked at together.
const PAGE: usize = 200;

/// The status of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DebateStatus {
    /// It opens rounds.
    Active,
    /// It opens no rounds until it is resumed.
    Paused,
    /// It is over.
    Completed,
    /// No agent could answer in the last round. You can run it again.
    Error,
}

/// Filters for debates. Omitted filters match every debate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebateFilter {
    /// Those of a tenant; nothing inside means those of no tenant.
    pub tenant: Option<Option<String>>,
    /// Those with this in their topic, in capitals or not.
    pub topic: Option<String>,
    /// Filter by mode.
    pub mode: Option<Mode>,
    /// Filter by status.
    pub status: Option<DebateStatus>,
    /// Those that are archived, or those that are not.
    pub archived: Option<bool>,
    /// Those that began at this time or later.
    pub from: Option<Timestamp>,
    /// Those that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Started before this one: the cursor of a page.
    pub before: Option<SessionId>,
    /// How many; 50 when nobody says.
    pub limit: Option<usize>,
}

/// A debate in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DebateEntry {
    /// Its session.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// The question.
    pub topic: String,
    /// Debate mode.
    pub mode: Mode,
    /// Its status.
    pub status: DebateStatus,
    /// Number of finished rounds.
    #[serde(rename = "currentRound")]
    pub rounds_completed: u32,
    /// How many there will be at most.
    pub total_rounds: Option<u32>,
    /// The agents; in JSON, the names of those who argue.
    #[serde(rename = "agents", serialize_with = "seat_names")]
    #[schemars(with = "Vec<String>", description = "The names of those who argue.")]
    pub members: Vec<Member>,
    /// Start time.
    pub created_at: Timestamp,
}

fn seat_names<S: Serializer>(
    members: &[Member],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let seats = members.iter().filter(|member| member.seat.is_some());
    serializer.collect_seq(seats.map(|member| &member.name))
}

impl Engine {
    /// Debates, newest first.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn debates(&self, filter: &DebateFilter) -> Result<Vec<DebateEntry>> {
        let limit = filter.limit.unwrap_or(DEFAULT_LIMIT);
        let mut selection = filter.selection();
        let mut entries = Vec::new();
        loop {
            let page = self.select(&selection, PAGE).await?;
            let Some(last) = page.last() else { return Ok(entries) };
            selection.before = Some(last.session.clone());
            for listed in &page {
                if entries.len() >= limit {
                    return Ok(entries);
                }
                let entry = self.entry(listed).await?;
                entries.extend(entry.filter(|entry| filter.has(entry)));
            }
        }
    }

    /// A session as an entry of the list of debates; nothing if it is not a debate.
    async fn entry(&self, listed: &SessionListing) -> Result<Option<DebateEntry>> {
        let first = self.session(&listed.session).read(Seq(1), 1).await?;
        let Some(first) = first.first() else { return Ok(None) };
        let Some(record) = Record::fold(&listed.session, [first.as_ref()]) else { return Ok(None) };
        let summary = &listed.summary;
        let imported = matches!(&first.body, Body::Session(SessionEvent::SessionImported(_)));
        // A round is missing among the completed ones: was it the last?
        let doubt = summary.status == Status::Active
            && summary.rounds_completed + 1 < summary.current_round
            && !imported;
        let failed = doubt && self.last_failed(&listed.session).await?;
        Ok(Some(DebateEntry {
            session: listed.session.clone(),
            topic: summary.topic.clone(),
            mode: record.rules.mode,
            status: if failed { DebateStatus::Error } else { summary.status.into() },
            rounds_completed: summary.rounds_completed,
            total_rounds: record.total_rounds,
            members: record.members,
            created_at: listed.created_at,
        }))
    }

    async fn last_failed(&self, session: &SessionId) -> Result<bool> {
        let record = self.find_debate(session).record().await?;
        Ok(record.rounds.last().is_some_and(|round| round.outcome == Some(RoundOutcome::Failed)))
    }
}

impl DebateFilter {
    fn selection(&self) -> Selection {
        let status = self.status.map(|status| match status {
            DebateStatus::Active | DebateStatus::Error => Status::Active,
            DebateStatus::Paused => Status::Paused,
            DebateStatus::Completed => Status::Completed,
        });
        Selection {
            tenant: self.tenant.clone(),
            kind: Some(Program::KIND),
            status,
            topic: self.topic.clone(),
            archived: self.archived,
            from: self.from,
            to: self.to,
            before: self.before.clone(),
        }
    }

    /// What the store does not know.
    fn has(&self, entry: &DebateEntry) -> bool {
        self.mode.is_none_or(|mode| mode == entry.mode)
            && self.status.is_none_or(|status| status == entry.status)
    }
}

impl From<Status> for DebateStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Paused => Self::Paused,
            Status::Completed => Self::Completed,
        }
    }
}
