//! The council: all answer, all rank, one decides.

use roundtable_debate::Mode;

use super::{Asked, Wish, fitting, position};

#[test]
fn all_answer_then_all_rank_then_the_chair_decides_then_it_is_analyzed() {
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(fitting);
    assert_eq!(
        hall.calls(1),
        [
            "ann seat",
            "bob seat",
            "cyd seat",
            "ann rank",
            "bob rank",
            "cyd rank",
            "chair verdict",
            "judge analyze"
        ]
    );
}

#[test]
fn rankers_read_answers_without_names_each_in_another_order_and_never_a_ranking() {
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(fitting);
    let orders: Vec<Vec<usize>> = hall
        .asked
        .iter()
        .filter(|asked| asked.prompt == "rank")
        .map(|asked| {
            let text = asked.rendered.text();
            assert!(!text.contains("mean place"));
            ["## Member A", "## Member B", "## Member C"]
                .map(|name| text.find(name).unwrap())
                .to_vec()
        })
        .collect();
    let first = |order: &Vec<usize>| order.iter().enumerate().min_by_key(|(_, at)| **at).unwrap().0;
    assert_eq!(orders.iter().map(first).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn the_chair_reads_what_the_rankings_come_to_and_writes_a_message() {
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(|asked| match asked.prompt.as_str() {
        "verdict" => Ok(position(Some("YES"), "The council says build it", 0.9)),
        _ => fitting(asked),
    });
    let chair = hall.asked.iter().find(|asked| asked.prompt == "verdict").unwrap();
    let expected = "Ranking by 3 members, best first: Member B (mean place 1.00), Member A (mean place 2.00), Member C (mean place 3.00)";
    assert!(chair.rendered.text().contains(expected));
    let consensus = hall.record().consensus(1).unwrap();
    assert_eq!(consensus.verdict.unwrap().position, "The council says build it");
    // Three answers, one question and one verdict are messages; rankings and analysis are not.
    assert_eq!(hall.table.session().last_message, 5);
}

#[test]
fn rankings_that_fail_or_say_nothing_leave_the_verdict_to_the_chair() {
    let odd = |asked: &Asked| match (asked.prompt.as_str(), asked.agent.as_str()) {
        ("rank", "ann") => Err("out of reach".to_owned()),
        ("rank", _) => Ok("I cannot choose.".to_owned()),
        _ => fitting(asked),
    };
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(odd);
    let chair = hall.asked.iter().find(|asked| asked.prompt == "verdict").unwrap();
    assert!(!chair.rendered.text().contains("mean place"));
    assert!(hall.record().consensus(1).unwrap().verdict.is_some());
}

#[test]
fn the_chair_is_not_ranked_and_has_no_vote() {
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(fitting);
    let record = hall.record();
    assert_eq!(record.responses(1).len(), 3);
    assert!(hall.asked.iter().all(|asked| !asked.rendered.text().contains("Chair:")));
}
