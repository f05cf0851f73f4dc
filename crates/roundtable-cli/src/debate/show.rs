//! What `debate` prints: the debate to standard output, everything about it to standard error.
//! Nothing here decides anything.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use console::Term;
use roundtable::core::Live;
use roundtable::core::event::{
    Body, Event, IterationEvent, RoundEvent, Seq, TurnEvent, TurnOutcome,
};
use roundtable::core::id::{AgentId, TurnId};
use roundtable::core::window::Utterance;
use roundtable::debate::{Findings, Quote, Record};
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::board::{Board, Words, purpose};
use super::progress::Progress;
use super::speaking::Speaking;
use super::words::readable;
use super::{panel, report};
use crate::wrap::{Wrap, fitted, wrapped};
use crate::{approval, out};

/// The widest lines that are pleasant to read.
const WIDEST: usize = 100;

/// What a debate is shown on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paper {
    /// A line of JSON per event.
    Json,
    /// Plain lines, in the order of the seats.
    Plain,
    /// A terminal of this width: words as they come.
    Live { width: usize },
}

pub(super) struct Show {
    paper: Paper,
    words: Words,
    progress: Progress,
    /// Rounds before this one, and events up to this one, were shown to someone already.
    first: u32,
    after: Seq,
    /// The last event that was shown.
    seen: Seq,
    introduced: bool,
    /// Output that waits until a person has answered: nothing is written over a prompt.
    held_back: Option<String>,
    /// The speaker whose words are being written.
    speaking: Option<Speaking>,
    /// Panels that wait for those of the seats before theirs.
    finished: BTreeMap<(u32, u32), String>,
    next: (u32, u32),
}

impl Show {
    pub fn new(as_json: bool) -> Self {
        let on_screen = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let width = || usize::from(Term::stdout().size().1).clamp(20, WIDEST);
        let paper = match (as_json, on_screen) {
            (true, _) => Paper::Json,
            (false, true) => Paper::Live { width: width() },
            (false, false) => Paper::Plain,
        };
        Self {
            paper,
            words: Words::default(),
            progress: Progress::default(),
            first: 1,
            after: Seq(0),
            seen: Seq(0),
            introduced: false,
            held_back: None,
            speaking: None,
            finished: BTreeMap::new(),
            next: (0, 0),
        }
    }

    /// Shows nothing of earlier rounds, and to programs nothing up to this event.
    pub fn going_on(&mut self, first: u32, after: Seq) {
        (self.first, self.after) = (first, after);
    }

    pub fn quote(&self, quote: &Quote) {
        if let Some(text) = report::quote(quote) {
            self.note(&text);
        }
    }

    /// Says what a stop waits for.
    pub fn stopping(&mut self, live: &Live) {
        self.answered();
        self.break_off();
        let board = Board(live);
        let open = board.turns().into_iter().filter(|turn| turn.outcome.is_none());
        let names: Vec<&str> = open.map(|turn| board.name(&turn.agent)).collect();
        let what = match names.as_slice() {
            [] => "the running step".to_owned(),
            names => format!("the answers of {}", names.join(", ")),
        };
        self.note(&format!(
            "\nStopping. Waiting for {what} to finish and be saved; press Ctrl-C again to stop at once."
        ));
    }

    /// Removes the progress line.
    pub fn end_live(&mut self) {
        self.progress.clear();
    }

    /// The last event that was shown.
    pub fn seen(&self) -> Seq {
        self.seen
    }

    /// Asks a person to decide on a tool call. All other output waits until [`Self::answered`].
    pub fn approval(&mut self, request: &ContextRequest) {
        self.answered();
        self.break_off();
        self.note(&format!("\n{}", approval::shown(request)));
        if matches!(self.paper, Paper::Live { .. }) {
            self.held_back = Some(String::new());
        }
    }

    /// Writes what waited for a person's answer.
    pub fn answered(&mut self) {
        if let Some(text) = self.held_back.take() {
            put(&text);
        }
    }

    fn put(&mut self, text: &str) {
        match &mut self.held_back {
            Some(waiting) => waiting.push_str(text),
            None => put(text),
        }
    }

    /// Asks again for an answer that counts.
    pub fn undecided(&self, request: &ContextRequest) {
        self.note(approval::again(request));
    }

    /// What an agent wants to know.
    pub fn question(&self, request: &ContextRequest, live: &Live) {
        let question = report::question(Board(live).name(&request.agent), request);
        self.note(&format!("\n{question}\nYour answer (press Enter if you cannot answer):"));
    }

    /// Shows what happened or is being said; the session has it already.
    pub fn update(&mut self, update: &Update, live: &Live) {
        let board = Board(live);
        match update {
            Update::Event(event) => self.event(event, board),
            Update::Delta(delta) => {
                let said = self.words.say(&delta.iteration, delta.offset, &delta.text);
                if let Some(turn) = said {
                    self.write(&turn, board);
                }
            }
        }
    }

    fn event(&mut self, event: &Event, board: Board<'_>) {
        self.seen = event.seq;
        if self.paper == Paper::Json {
            if event.seq > self.after {
                put(&out::json_line(serde_json::to_string(event).unwrap_or_default()));
            }
            return;
        }
        self.words.take(event);
        if board.round().is_none_or(|round| round.number < self.first) {
            return;
        }
        match (&event.body, &event.place.turn) {
            (Body::Round(RoundEvent::RoundOpened { number, .. }), _) => {
                self.introduce(board);
                self.round_begins(*number, board);
            }
            (Body::Round(RoundEvent::RoundClosed { .. }), _) => self.progress.clear(),
            (Body::Iteration(body), Some(turn)) => self.call(turn, body, board),
            (Body::Turn(TurnEvent::TurnEnded { outcome, .. }), Some(turn)) => {
                self.turn_over(turn, outcome, board);
            }
            _ => {}
        }
        self.show_activity(board);
    }

    /// Topic, mode and models: once.
    fn introduce(&mut self, board: Board<'_>) {
        if !std::mem::replace(&mut self.introduced, true) {
            self.say_lines(&board.introduction());
        }
    }

    fn round_begins(&mut self, number: u32, board: Board<'_>) {
        self.progress.clear();
        (self.finished, self.next) = (BTreeMap::new(), (0, 0));
        let title = board.round_of(number);
        match self.paper {
            Paper::Live { .. } => self.put(&format!("\n{}\n", console::style(title).bold())),
            Paper::Plain | Paper::Json => self.put(&format!("\n{title}\n")),
        }
    }

    /// What a model call said, as far as it was not written while it was said.
    fn call(&mut self, turn: &TurnId, body: &IterationEvent, board: Board<'_>) {
        let cut_off = match body {
            IterationEvent::ModelCallFinished { .. }
            | IterationEvent::ModelCallCancelled { .. } => false,
            IterationEvent::ModelCallInterrupted { .. }
            | IterationEvent::ModelCallFailed { .. } => true,
            _ => return,
        };
        if !cut_off {
            self.write(turn, board);
        }
        let Some(speaking) = self.speaking.as_mut().filter(|own| own.turn == *turn) else { return };
        let mut rest = speaking.wrap.finish();
        if cut_off && !speaking.written.is_empty() {
            rest.push_str(&format!("{}[interrupted; trying again]\n", panel::MARGIN));
        }
        speaking.written.clear();
        self.put(&out::plain(&rest));
    }

    /// Writes what a speaker says, when nobody else speaks and someone looks.
    fn write(&mut self, turn: &TurnId, board: Board<'_>) {
        let Paper::Live { width } = self.paper else { return };
        let is_shown = board.round().is_some_and(|round| round.number >= self.first);
        let Some(spoken) = board.turn(turn) else { return };
        if !(is_shown && board.seats(spoken.stage) == 1 && purpose(spoken).speaks()) {
            return;
        }
        let words = out::plain(&readable(self.words.of(turn)));
        if words.is_empty() {
            return;
        }
        if self.speaking.as_ref().is_none_or(|speaking| speaking.turn != *turn) {
            self.progress.clear();
            self.put(&top(&spoken.agent, width, board));
            let wrap = Wrap::new(width, panel::MARGIN);
            self.speaking = Some(Speaking { turn: turn.clone(), wrap, written: String::new() });
        }
        let Some(speaking) = &mut self.speaking else { return };
        let text = speaking.extend(words);
        self.put(&text);
    }

    fn turn_over(&mut self, turn: &TurnId, outcome: &TurnOutcome, board: Board<'_>) {
        let Some(spoken) = board.turn(turn) else { return };
        let speaks = purpose(spoken).speaks();
        let text = if speaks { self.drawn(spoken, outcome, board) } else { String::new() };
        match self.paper {
            Paper::Live { .. } => {
                self.progress.clear();
                self.speaking.take_if(|speaking| speaking.turn == *turn);
                self.put(&text);
            }
            Paper::Plain => self.put_in_order((spoken.stage, spoken.seat), text, board),
            Paper::Json => {}
        }
    }

    /// A panel; only its end, if its words have been written.
    fn drawn(&self, turn: &Utterance, outcome: &TurnOutcome, board: Board<'_>) -> String {
        let heading = out::plain(&board.heading(&turn.agent));
        let summary = out::plain(&panel::summary(turn, outcome));
        let words = || out::plain(&panel::prose(&turn.text));
        let is_written = self.speaking.as_ref().is_some_and(|speaking| speaking.turn == turn.turn);
        match self.paper {
            Paper::Live { width } if is_written => panel::bottom(&summary, width),
            Paper::Live { width } => {
                panel::panel(&top(&turn.agent, width, board), &words(), &summary, width)
            }
            Paper::Plain | Paper::Json => panel::plain(&heading, &words(), &summary),
        }
    }

    fn put_in_order(&mut self, place: (u32, u32), text: String, board: Board<'_>) {
        self.finished.insert(place, text);
        while let Some(text) = self.finished.remove(&self.next) {
            put(&text);
            self.next.1 += 1;
            if self.next.1 as usize >= board.seats(self.next.0) {
                self.next = (self.next.0 + 1, 0);
            }
        }
    }

    /// Shows who is at work, while there is nothing else to read.
    fn show_activity(&mut self, board: Board<'_>) {
        let is_asking = self.held_back.is_some();
        if !matches!(self.paper, Paper::Live { .. }) || self.speaking.is_some() || is_asking {
            return;
        }
        if let Some(activity) = board.activity() {
            self.progress.say(&out::plain(&activity));
        }
    }

    /// What a round came to.
    pub fn round(&mut self, record: &Record, findings: &Findings) {
        self.progress.clear();
        self.say_lines(&report::round(record, findings));
    }

    /// What the debate came to, or how it stands, and what to do next.
    pub fn end(&mut self, record: &Record, findings: &Findings, over: bool, next: &str) {
        self.progress.clear();
        match self.paper {
            Paper::Json => {
                if let Some(mut line) = record.report(findings.number) {
                    line["kind"] = "findings".into();
                    line["nextStep"] = next.into();
                    put(&format!("{line}\n"));
                }
            }
            Paper::Plain | Paper::Live { .. } if over => {
                self.say_lines(&report::end(record, findings));
            }
            Paper::Plain | Paper::Live { .. } => {}
        }
    }

    fn say_lines(&mut self, lines: &[String]) {
        let lines = lines.iter().map(|line| out::plain(line));
        match self.paper {
            Paper::Json => {}
            Paper::Plain => self.put(&format!("\n{}\n", lines.collect::<Vec<_>>().join("\n"))),
            Paper::Live { width } => {
                self.put(&format!(
                    "\n{}",
                    lines.map(|line| wrapped(&line, width, "")).collect::<String>()
                ));
            }
        }
    }

    /// Ends the panel that is being written, so that something else can be said.
    fn break_off(&mut self) {
        self.progress.clear();
        if let Some(mut speaking) = self.speaking.take() {
            let rest = out::plain(&speaking.wrap.finish());
            self.put(&format!("{rest}{}", panel::end()));
        }
    }

    /// Words about the debate; a program that reads JSON gets none.
    pub fn note(&self, text: &str) {
        if self.paper != Paper::Json {
            eprintln!("{}", fitted(&out::plain(text)));
        }
    }
}

/// A reader that is gone is no reason to stop: the debate goes on without it.
fn put(text: &str) {
    let _ = out::put(text);
}

/// The first line of a panel.
fn top(agent: &AgentId, width: usize, board: Board<'_>) -> String {
    panel::top(&out::plain(&board.heading(agent)), board.seat(agent), width)
}
