//! What `debate` prints: the debate to standard output, everything about it to standard error.
//! Nothing here decides anything.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use console::Term;
use roundtable::core::Live;
use roundtable::core::event::{
    Body, Event, IterationEvent, RoundEvent, Seq, TurnEvent, TurnOutcome,
};
use roundtable::core::id::TurnId;
use roundtable::core::window::Utterance;
use roundtable::debate::Purpose;
use roundtable::debate::{Findings, Quote, Record};
use roundtable::driver::Update;
use roundtable::prelude::*;

use super::board::{Board, Words, purpose};
use super::progress::Progress;
use super::words::readable;
use super::wrap::{Wrap, wrapped};
use super::{panel, report};
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
    /// The speaker whose words are being written.
    speaking: Option<Speaking>,
    /// Panels that wait for those of the seats before theirs.
    finished: BTreeMap<(u32, u32), String>,
    next: (u32, u32),
}

/// A speaker whose words are written as they come.
struct Speaking {
    turn: TurnId,
    wrap: Wrap,
    /// What is written of the words of this model call.
    written: String,
}

impl Speaking {
    /// What is to be written of these words. What is heard of an answer before it is checked may
    /// differ from what it is in the end, when it had to be mended or asked for again: then it is
    /// said so, and written as a whole.
    fn extend(&mut self, words: String) -> String {
        let text = match words.strip_prefix(&self.written) {
            Some(fresh) => self.wrap.push(fresh),
            None => {
                let before = self.wrap.finish();
                format!(
                    "{before}{}[what counts is this:]\n{}",
                    panel::MARGIN,
                    self.wrap.push(&words)
                )
            }
        };
        self.written = words;
        text
    }
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

    pub fn stopping(&mut self) {
        self.break_off();
        self.note("\nStopping: what runs is finished and recorded; another signal stops at once.");
    }

    pub fn approval(&mut self, request: &ContextRequest) {
        self.break_off();
        self.note(&approval::shown(request));
    }

    /// Asks again for an answer that counts.
    pub fn undecided(&self, request: &ContextRequest) {
        self.note(approval::again(request));
    }

    /// What an agent wants to know.
    pub fn question(&self, request: &ContextRequest, live: &Live) {
        let question = report::question(Board(live).name(&request.agent), request);
        self.note(&format!("\n{question}\nYour answer (empty: not available):"));
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
                self.round_begins(*number, board);
            }
            (Body::Round(RoundEvent::RoundClosed { .. }), _) => self.progress.clear(),
            (Body::Iteration(body), Some(turn)) => self.call(turn, body, board),
            (Body::Turn(TurnEvent::TurnEnded { outcome, .. }), Some(turn)) => {
                self.turn_over(turn, outcome, board);
            }
            _ => {}
        }
        self.who_speaks(board);
    }

    fn round_begins(&mut self, number: u32, board: Board<'_>) {
        self.progress.clear();
        (self.finished, self.next) = (BTreeMap::new(), (0, 0));
        let title = board.round_of(number);
        match self.paper {
            Paper::Live { .. } => put(&format!("\n{}\n", console::style(title).bold().cyan())),
            Paper::Plain | Paper::Json => put(&format!("\n{title}\n")),
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
            rest.push_str(&format!("{}[cut off; asked again]\n", panel::MARGIN));
        }
        speaking.written.clear();
        put(&out::plain(&rest));
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
            put(&panel::top(&out::plain(&board.heading(&spoken.agent))));
            let wrap = Wrap::new(width, panel::MARGIN);
            self.speaking = Some(Speaking { turn: turn.clone(), wrap, written: String::new() });
        }
        let Some(speaking) = &mut self.speaking else { return };
        put(&speaking.extend(words));
    }

    fn turn_over(&mut self, turn: &TurnId, outcome: &TurnOutcome, board: Board<'_>) {
        let Some(spoken) = board.turn(turn) else { return };
        let speaks = purpose(spoken).speaks();
        let text = if speaks { self.drawn(spoken, outcome, board) } else { String::new() };
        match self.paper {
            Paper::Live { .. } => {
                self.progress.clear();
                self.speaking.take_if(|speaking| speaking.turn == *turn);
                put(&text);
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
            Paper::Live { width } => panel::panel(&heading, &words(), &summary, width),
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

    /// The line that says who is speaking, while there is nothing else to read.
    fn who_speaks(&mut self, board: Board<'_>) {
        if !matches!(self.paper, Paper::Live { .. }) || self.speaking.is_some() {
            return;
        }
        let Some(round) = board.round() else { return };
        let (mut open, over): (Vec<&Utterance>, Vec<&Utterance>) =
            board.turns().into_iter().partition(|turn| turn.outcome.is_none());
        open.sort_by_key(|turn| (turn.stage, turn.seat));
        let Some(one) = open.first() else { return };
        let done = over.iter().filter(|turn| turn.stage == one.stage).count();
        let of = board.seats(one.stage);
        let names: Vec<&str> = open.iter().map(|turn| board.name(&turn.agent)).collect();
        let what = match purpose(one) {
            Purpose::Frame => "naming the points of view".to_owned(),
            Purpose::Answer if of == 1 => format!("{} is thinking", names.join(", ")),
            Purpose::Answer => {
                format!("{} ({done} of {of} have answered)", names.join(", "))
            }
            Purpose::Rank => format!("ranking the answers: {}", names.join(", ")),
            Purpose::Verdict => format!("{} is writing the verdict", names.join(", ")),
            Purpose::Analyse => "judging how far the panel agrees".to_owned(),
            Purpose::Synthesise => "summing up".to_owned(),
        };
        self.progress.say(&out::plain(&format!("{}: {what}", board.round_of(round.number))));
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
                if let Some(mut line) = roundtable_server::report(record, findings.number, next) {
                    line["kind"] = "findings".into();
                    put(&format!("{line}\n"));
                }
            }
            Paper::Plain | Paper::Live { .. } if over => {
                self.say_lines(&report::end(record, findings));
            }
            Paper::Plain | Paper::Live { .. } => {}
        }
    }

    fn say_lines(&self, lines: &[String]) {
        let lines = lines.iter().map(|line| out::plain(line));
        match self.paper {
            Paper::Json => {}
            Paper::Plain => put(&format!("\n{}\n", lines.collect::<Vec<_>>().join("\n"))),
            Paper::Live { width } => {
                put(&format!(
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
            put(&format!("{}{}", out::plain(&speaking.wrap.finish()), panel::end()));
        }
    }

    /// Words about the debate; a program that reads JSON gets none.
    pub fn note(&self, text: &str) {
        if self.paper != Paper::Json {
            eprintln!("{}", out::plain(text));
        }
    }
}

/// A reader that is gone is no reason to stop: the debate goes on without it.
fn put(text: &str) {
    let _ = out::put(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_and_what_turns_out_otherwise_is_written_as_a_whole()
    -> Result<(), Box<dyn std::error::Error>> {
        let turn = "trn_1".parse()?;
        let wrap = Wrap::new(40, panel::MARGIN);
        let mut speaking = Speaking { turn, wrap, written: String::new() };
        let said = ["Begin ", "Begin now ", "Wait a year. "]
            .map(|words| speaking.extend(words.to_owned()));
        let margin = panel::MARGIN;
        let anew = format!("\n{margin}[what counts is this:]\n{margin}Wait a year.");
        assert_eq!(said, [format!("{margin}Begin"), " now".to_owned(), anew]);
        Ok(())
    }
}
