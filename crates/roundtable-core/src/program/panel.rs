//! The program of sessions that name none: everyone answers, side by side or one after another.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Brief, Program, Progress, RoundView, SeatView, Step};
use crate::prompt::TEMPLATE;
use crate::session::Session;
use crate::stage::{Name, Stage};

/// Its name.
pub const PANEL: Name = Name::constant("panel");

/// The rules of a program that has none. It reads those of any other program as none, so that a
/// process without that program can show its sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NoRules;

impl<'de> Deserialize<'de> for NoRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// The program of sessions that name none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Panel;

impl Program for Panel {
    type Rules = NoRules;
    type State = ();
    const NAME: Name = PANEL;
    const VERSION: u32 = TEMPLATE;

    fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
        match progress.last() {
            None => Step::stages(Stage::answers(
                progress.session.settings.order,
                progress.session.seats(),
            )),
            Some(_) => Step::close(),
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        let agent = view.session.find_agent(view.agent);
        let output = agent.and_then(|agent| agent.output.clone());
        Brief { output, ..Brief::new("seat", view.persona(), view.asked()) }
    }
}

/// How long a speaker's name may be before a line's text needs more room than was reckoned.
const LABEL: usize = 48;

/// A round as plain lines.
pub(super) fn render_round(session: &Session, round: &RoundView<'_>) -> String {
    let said = round.input().and_then(|input| Some((&input.sender, input.text.as_ref()?)));
    let length = said.map_or(0, |(sender, said)| sender.len() + said.len())
        + round.messages().map(|spoken| spoken.text.len() + LABEL).sum::<usize>();
    let mut text = String::with_capacity(length + LABEL);
    // Every prompt renders many rounds; formatting would take most of that time.
    if let Some((sender, said)) = said {
        push_line(&mut text, sender, [said, ""]);
    }
    for spoken in round.messages() {
        let cut = if spoken.is_partial() { " [cut off]" } else { "" };
        push_line(&mut text, session.name_of(&spoken.agent), [&spoken.text, cut]);
    }
    text
}

fn push_line(text: &mut String, label: &str, line: [&str; 2]) {
    text.push_str(label);
    text.push_str(": ");
    line.into_iter().for_each(|part| text.push_str(part));
    text.push('\n');
}
