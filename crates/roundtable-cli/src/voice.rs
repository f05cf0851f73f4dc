//! Which model answers, in a sentence that is printed once.

use roundtable::models::local;

use crate::config::SCRIPTED;

/// Which model answers, and why; with a notice for demo models.
pub(crate) fn introduced(model: &str, why: &str) -> String {
    if model == SCRIPTED {
        return format!(
            "No model: answers are scripted ({why}).\n\
             hint: set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key, or pass --model"
        );
    }
    let line = format!("Model: {model} ({why})");
    // A name of the configuration is followed by everything that it stands for.
    let is_local = model.split([' ', ',']).any(|word| word == local::NAME);
    if is_local {
        format!(
            "{line}\n{}\nhint: pass --model VENDOR/MODEL, for example ollama/MODEL",
            local::NOTICE
        )
    } else {
        line
    }
}
