//! Every prompt of every mode, as the models get it: three agents, two rounds.

use std::fmt::Write as _;

use roundtable_debate::Mode;

use super::{Wish, fitting};

/// All prompts of two rounds and what is offered with them.
fn prompts(mode: Mode) -> String {
    let mut hall = Wish::judged(mode).open();
    hall.first(fitting);
    hall.round(Some("What about the hills?"), fitting);
    let mut text = String::new();
    for asked in &hall.asked {
        let rendered = &asked.rendered;
        let _ = writeln!(text, "=== round {}, {}, {}", asked.round, asked.agent, asked.prompt);
        let output =
            rendered.output.as_ref().map(|output| output.name.as_str()).unwrap_or_default();
        let _ = writeln!(text, "--- shared messages: {}, answers with: {output}", rendered.stable);
        let _ = writeln!(text, "{}", rendered.text());
    }
    text
}

macro_rules! snapshots {
    ($($name:ident $mode:ident;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($mode), prompts(Mode::$mode));
        }
    )*};
}

snapshots! {
    the_prompts_of_a_collaborative_debate Collaborative;
    the_prompts_of_an_adversarial_debate Adversarial;
    the_prompts_of_a_socratic_debate Socratic;
    the_prompts_of_an_expert_panel ExpertPanel;
    the_prompts_of_a_devils_advocate_debate DevilsAdvocate;
    the_prompts_of_a_delphi_panel Delphi;
    the_prompts_of_red_team_and_blue_team RedTeamBlueTeam;
    the_prompts_of_a_council Council;
}

#[test]
fn the_agents_of_a_later_round_share_the_transcript_to_the_byte() {
    for mode in Mode::ALL {
        let mut hall = Wish::judged(mode).open();
        hall.first(fitting);
        hall.round(None, fitting);
        let shared: Vec<_> = hall
            .asked
            .iter()
            .filter(|asked| asked.round == 2)
            .map(|asked| asked.rendered.messages[..asked.rendered.stable].to_vec())
            .collect();
        assert!(shared.len() > 3 && shared[0].len() == 1, "{mode}");
        assert!(shared.iter().all(|messages| *messages == shared[0]), "{mode}");
    }
}

#[test]
fn only_who_can_ask_is_told_how_and_not_in_the_last_round() {
    let mut wish = Wish::of(Mode::Collaborative);
    wish.rounds = 2;
    wish.change = |opening| {
        opening.agents[0].tools.push(roundtable_core::tool::ToolDecl::request_context());
    };
    let mut hall = wish.open();
    hall.first(fitting);
    hall.round(None, fitting);
    let told: Vec<bool> =
        hall.asked.iter().map(|asked| asked.rendered.text().contains("request_context")).collect();
    assert_eq!(told, [true, false, false, false, false, false]);
}

#[test]
fn the_last_round_asks_for_the_position_to_be_held_to() {
    let mut wish = Wish::of(Mode::Delphi);
    wish.rounds = 2;
    let mut hall = wish.open();
    hall.first(fitting);
    hall.round(None, fitting);
    let last = |round: u32| {
        let mut own = hall.asked.iter().filter(move |asked| asked.round == round);
        own.all(|asked| asked.rendered.text().contains("It is the last one"))
    };
    assert_eq!((last(1), last(2)), (false, true));
}
