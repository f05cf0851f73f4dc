//! The debate summed up: between rounds or after the last, once for the same rounds.

use roundtable_core::Reject;
use roundtable_core::input::Command;
use roundtable_core::session::Status;
use roundtable_debate::{Debate, Mode, Synthesis};

use super::{Hall, Wish, fitting, id};

fn synthesise(hall: &mut Hall, agent: Option<&str>) -> usize {
    let before = hall.asked.len();
    hall.table.ok(Debate::synthesize(agent.map(id).as_ref()));
    hall.settle(fitting);
    hall.asked.len() - before
}

fn held(rounds: u32) -> Hall {
    let mut wish = Wish::judged(Mode::Collaborative);
    wish.rounds = rounds;
    let mut hall = wish.open();
    hall.first(fitting);
    hall
}

#[test]
fn a_debate_is_summed_up_once_for_the_same_rounds_and_again_after_another() {
    let mut hall = held(3);
    assert_eq!(synthesise(&mut hall, None), 1);
    assert_eq!(synthesise(&mut hall, None), 0, "what there is is read");
    assert_eq!(synthesise(&mut hall, Some("ann")), 1, "someone else may sum up, too");
    hall.round(None, fitting);
    assert_eq!(synthesise(&mut hall, None), 1);
    let record = hall.record();
    let by: Vec<_> =
        record.syntheses.iter().map(|one| (one.number, one.turn.agent.suffix())).collect();
    assert_eq!(by, [(1, "judge"), (1, "ann"), (2, "judge")]);
    assert_eq!(Synthesis::read(&record.syntheses[0].turn.text).recommendation, "Ask for bids.");
}

#[test]
fn it_is_possible_after_the_end_and_changes_nothing_of_the_rounds() {
    let mut hall = held(1);
    assert_eq!(hall.table.session().status, Status::Completed);
    let before = hall.record();
    assert_eq!(synthesise(&mut hall, None), 1);
    let after = hall.record();
    assert_eq!(after.rounds, before.rounds);
    assert_eq!((after.status, after.syntheses.len()), (Status::Completed, 1));
    assert_eq!(hall.table.session().last_message, 4, "it is no message");
    assert_eq!(hall.table.session().current_round(), 2);
}

#[test]
fn one_who_could_not_sum_up_is_asked_again() {
    let mut hall = held(2);
    hall.table.ok(Debate::synthesize(None));
    hall.settle(|_| Err("overloaded".to_owned()));
    assert_eq!(synthesise(&mut hall, None), 1);
    let record = hall.record();
    let answered: Vec<bool> = record.syntheses.iter().map(|one| one.turn.answered()).collect();
    assert_eq!(answered, [false, true]);
}

#[test]
fn it_reads_the_whole_debate_and_not_what_was_judged() {
    let mut hall = held(2);
    hall.round(None, fitting);
    synthesise(&mut hall, None);
    let text = hall.asked.last().unwrap().rendered.text();
    for round in 1..=2 {
        assert!(
            text.contains(&format!("In round {round} it holds that rails carry crowds")),
            "{text}"
        );
    }
    assert!(!text.contains("Half agree."));
    assert!(text.contains("# Your role: Synthesizer of the debate"));
}

#[test]
fn there_has_to_be_something_to_sum_up_and_a_debate_to_sum_up() {
    let mut hall = Wish::judged(Mode::Delphi).open();
    let refused = hall.table.refused(Debate::synthesize(None)).to_string();
    assert!(refused.starts_with("no round is finished yet"), "{refused}");
    hall.first(fitting);
    let unknown = hall.table.refused(Debate::synthesize(Some(&id("nobody"))));
    assert!(matches!(unknown, Reject::UnknownAgent { .. }));
    let mut plain = crate::table::Table::open(vec![crate::table::agent("Ann")]);
    let refused = plain.refused(Debate::synthesize(None)).to_string();
    assert_eq!(refused, "a panel session cannot synthesize");
}

#[test]
fn it_runs_beside_a_round_and_holds_up_no_message() {
    let mut hall = held(3);
    hall.table.go_on();
    hall.table.ok(Debate::synthesize(None));
    hall.table.ok(Debate::synthesize(None));
    let session = hall.table.session();
    assert_eq!(session.round.as_ref().map(|round| round.number), Some(2), "the round goes on");
    assert_eq!(session.asides.iter().map(|aside| aside.number).collect::<Vec<_>>(), [1]);
    hall.settle(fitting);
    hall.table.ok(Debate::synthesize(None));
    hall.table.go_on();
    assert_eq!(hall.table.session().waiting.len(), 0, "the next round opens at once");
    hall.settle(fitting);
    let record = hall.record();
    assert_eq!(record.rounds.len(), 3);
    assert_eq!(record.syntheses.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2]);
    let beside = hall.asked.iter().find(|asked| asked.prompt == "synthesize").unwrap();
    assert!(!beside.rendered.text().contains("In round 2"), "it reads the rounds that were over");
}

#[test]
fn stopping_or_completing_a_debate_leaves_the_synthesis_alone() {
    let mut hall = held(3);
    hall.table.ok(Debate::synthesize(None));
    hall.table.go_on();
    hall.table.ok(Command::Stop);
    hall.table.ok(Command::Complete { reason: "enough".to_owned() });
    assert_eq!(hall.table.session().asides.len(), 1);
    hall.settle(fitting);
    let record = hall.record();
    let answered: Vec<bool> = record.syntheses.iter().map(|one| one.turn.answered()).collect();
    assert_eq!((record.status, answered), (Status::Completed, vec![true]));
}

#[test]
fn a_round_is_run_again_without_what_was_done_beside_it() {
    let mut hall = held(3);
    synthesise(&mut hall, None);
    hall.table.ok(Command::Regenerate);
    hall.settle(fitting);
    let record = hall.record();
    assert_eq!((record.rounds.len(), record.rounds[0].take), (1, 2));
    assert_eq!(synthesise(&mut hall, None), 1, "another take is another debate");
}
