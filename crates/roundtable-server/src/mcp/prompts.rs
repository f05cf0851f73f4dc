//! Prompts for the common uses: what people choose from a menu.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};

/// A prompt: its name, what it is for, its arguments (the first is required), and its text.
struct Entry {
    name: &'static str,
    title: &'static str,
    what: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    text: &'static str,
}

const GO_ON: &str = "After each answer, follow its nextStep. Answer its contextRequests before you continue. At the end, report the decision, who disagreed and why, and what I should verify myself.";

const ALL: &[Entry] = &[
    Entry {
        name: "debate",
        title: "Debate a question",
        what: "A panel debates a question until it agrees or has no new arguments.",
        arguments: &[("question", "The question."), ("context", "Background for the panel.")],
        text: "Start a debate about this question with start_roundtable (mode collaborative, exitOnConsensus true): {question}\n\nBackground: {context}",
    },
    Entry {
        name: "decide",
        title: "Decide between options",
        what: "Two sides argue for the options, and you get a recommendation.",
        arguments: &[
            ("options", "The options and the decision."),
            ("criteria", "Decision criteria."),
        ],
        text: "Use start_roundtable with mode adversarial and two rounds to decide between these options: {options}\n\nCriteria: {criteria}",
    },
    Entry {
        name: "review-plan",
        title: "Attack a plan",
        what: "A red team attacks a plan, a blue team defends it.",
        arguments: &[("plan", "The plan, or where to find it."), ("worries", "Your concerns.")],
        text: "Read the plan, then use start_roundtable with mode red-team-blue-team and put the plan itself into topic: {plan}\n\nFocus on these concerns: {worries}",
    },
    Entry {
        name: "ask-experts",
        title: "Ask a panel of experts",
        what: "Experts with different perspectives answer one question.",
        arguments: &[
            ("question", "The question."),
            ("perspectives", "Perspectives, separated by commas."),
        ],
        text: "Use start_roundtable with mode expert-panel and two rounds: {question}\n\nPerspectives (one per agent; choose suitable ones if the list is empty): {perspectives}",
    },
    Entry {
        name: "verdict",
        title: "Ask a council",
        what: "Several agents answer, rank the anonymous answers, and a chair writes the verdict.",
        arguments: &[
            ("question", "The question for the council."),
            ("context", "Background for the council."),
        ],
        text: "Use start_roundtable with mode council and one round: {question}\n\nBackground: {context}",
    },
];

pub(super) fn all() -> ListPromptsResult {
    let prompt = |entry: &Entry| {
        let argument = |(index, (name, what)): (usize, &(&str, &str))| {
            PromptArgument::new(*name).with_description(*what).with_required(index == 0)
        };
        let arguments = entry.arguments.iter().enumerate().map(argument).collect();
        Prompt::new(entry.name, Some(entry.what), Some(arguments)).with_title(entry.title)
    };
    ListPromptsResult::with_all_items(ALL.iter().map(prompt).collect())
}

pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let Some(entry) = ALL.iter().find(|entry| entry.name == request.name) else {
        let known: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        let name: String = request.name.chars().filter(|c| !c.is_control()).take(64).collect();
        let what = format!("unknown prompt {name}; available: {}", known.join(", "));
        return Err(ErrorData::invalid_params(what, None));
    };
    let given = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.map(str::trim).filter(|value| !value.is_empty())
    };
    let mut text = entry.text.to_owned();
    for (index, (name, _)) in entry.arguments.iter().enumerate() {
        match given(name) {
            None if index == 0 => {
                return Err(ErrorData::invalid_params(
                    format!("{} needs {name}", entry.name),
                    None,
                ));
            }
            value => {
                text =
                    text.replace(&format!("{{{name}}}"), value.unwrap_or("nothing in particular"))
            }
        }
    }
    let message = PromptMessage::new_text(Role::User, format!("{text}\n\n{GO_ON}"));
    Ok(GetPromptResult::new(vec![message]).with_description(entry.what))
}
