//! Agents for debates in which nobody named any: one per seat, spread over the models there are.

use roundtable_core::agent::Agent;
use roundtable_debate::{Mode, Perspective, numbered};

use crate::error::Result;

/// Models for so many seats: one provider after another, from the default model's on, before any
/// provider has a second seat.
pub(super) fn spread<'a>(
    models: impl Iterator<Item = &'a str>,
    default: &str,
    count: usize,
) -> Vec<String> {
    let mut providers: Vec<(&str, Vec<&str>)> = Vec::new();
    for model in models {
        let provider = model.split('/').next().unwrap_or(model);
        match providers.iter_mut().find(|(name, _)| *name == provider) {
            Some((_, own)) => own.push(model),
            None => providers.push((provider, vec![model])),
        }
    }
    providers.sort_by_key(|(_, own)| !own.contains(&default));
    for (_, own) in &mut providers {
        own.sort_by_key(|model| *model != default);
    }
    let turn = |seat: usize| {
        let (_, own) = providers.get(seat % providers.len().max(1))?;
        own.get(seat / providers.len() % own.len()).map(|model| (*model).to_owned())
    };
    (0..count).map(|seat| turn(seat).unwrap_or_else(|| default.to_owned())).collect()
}

/// A panel for a mode: who each one is follows from its role or point of view.
pub(super) fn panel(
    mode: Mode,
    perspectives: &[Perspective],
    models: &[String],
) -> Result<Vec<Agent>> {
    let title = |seat: usize| match perspectives {
        [] => mode.role(seat, models.len()).title.to_owned(),
        given => given[seat % given.len()].name.clone(),
    };
    let titles: Vec<String> = (0..models.len()).map(title).collect();
    let names = numbered(&titles);
    let mut agents = Vec::with_capacity(models.len());
    for (seat, (name, model)) in names.into_iter().zip(models).enumerate() {
        let mut agent = Agent::new(&id_of(&name, seat), model)?;
        agent.persona =
            "You are a member of a panel that debates a question: knowledgeable, precise and honest about what you do not know."
                .to_owned();
        agent.name = name;
        agents.push(agent);
    }
    Ok(agents)
}

/// Letters and digits of a name; a number where there are none.
fn id_of(name: &str, seat: usize) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words.as_slice() {
        [] => format!("seat {}", seat + 1),
        words => words.join(" ").chars().take(40).collect(),
    }
}

/// Who judges how far a panel agrees.
pub(super) fn analyst(model: &str) -> Result<Agent> {
    Ok(Agent::new("Debate analyst", model)?)
}

/// Who chairs a council.
pub(super) fn chair(model: &str) -> Result<Agent> {
    let mut chair = Agent::new("Chair", model)?;
    chair.persona =
        "You chair a council: fair, precise, and answerable for its verdict.".to_owned();
    Ok(chair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_spread_over_providers_before_one_has_two() {
        let models = ["a/one", "a/two", "b/one", "c/one"];
        assert_eq!(
            spread(models.into_iter(), "b/one", 5),
            ["b/one", "a/one", "c/one", "b/one", "a/two"]
        );
        assert_eq!(spread(std::iter::empty(), "scripted", 2), ["scripted", "scripted"]);
    }

    #[test]
    fn names_follow_from_roles_and_are_told_apart() {
        let models = vec!["m".to_owned(); 3];
        let names = |mode, perspectives: &[Perspective]| {
            let agents = panel(mode, perspectives, &models).unwrap();
            agents.iter().map(|agent| format!("{} {}", agent.id, agent.name)).collect::<Vec<_>>()
        };
        assert_eq!(
            names(Mode::Adversarial, &[]),
            ["agt_proponent-1 Proponent 1", "agt_opponent Opponent", "agt_proponent-2 Proponent 2"]
        );
        let given = [Perspective::new("Öko"), Perspective::new("法")];
        assert_eq!(
            names(Mode::ExpertPanel, &given),
            ["agt_ko-1 Öko 1", "agt_seat-2 法", "agt_ko-2 Öko 2"]
        );
    }
}
