//! Who speaks, in a sentence that is said once.

use roundtable::models::local;

use crate::config::SCRIPTED;

/// Which model speaks for someone, and why; with what to know about it.
pub(crate) fn introduced(who: &str, model: &str, why: &str) -> String {
    if model == SCRIPTED {
        return format!(
            "No model speaks, only a scripted voice: {why}. \
             Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key, or say --model."
        );
    }
    let said = format!("{who} speaks through {model} ({why}).");
    // A name of the configuration is followed by all that it stands for.
    let is_local = model.split([' ', ',']).any(|word| word == local::NAME);
    if is_local { format!("{said}\n{}", local::NOTICE) } else { said }
}
