//! What went wrong with a model, and what to do about it.

use std::sync::{Arc, Mutex, PoisonError};

use roundtable::ports::ModelError;

use crate::config::{Config, Watch};
use crate::out;

/// What each model said last, when it could not answer.
pub(crate) struct Trouble {
    seen: Arc<Mutex<Vec<(String, ModelError)>>>,
    quiet: bool,
}

impl Trouble {
    pub fn new(quiet: bool) -> Self {
        Self { seen: Arc::default(), quiet }
    }

    /// Whoever hears of failed attempts. A wait that a provider asks for can be long, so it is said.
    pub fn watch(&self) -> Watch {
        let (seen, quiet) = (self.seen.clone(), self.quiet);
        Arc::new(move |model, error| {
            if let (false, ModelError::RateLimited { retry_after: Some(_) }) = (quiet, error) {
                eprintln!("{model}: {}", out::plain(&error.to_string()));
            }
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.retain(|(known, _)| known != model);
            seen.push((model.to_owned(), error.clone()));
        })
    }

    /// The error with what to do: for each model that was asked.
    pub fn explain(&self, config: &Config, error: &str, again: &str) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let told = seen.iter().map(|(model, error)| {
            let hint = hint(config, model, error);
            let hint = hint.map_or_else(String::new, |hint| format!("\n  {hint}"));
            format!("{model}: {error}{hint}\n")
        });
        let told: String = told.collect();
        let what = if told.is_empty() { format!("{error}\n") } else { told };
        format!("no answer: {what}hint: your message is saved; retry with {again}")
    }
}

fn hint(config: &Config, name: &str, error: &ModelError) -> Option<String> {
    let (vendor, model) = name.split_once('/')?;
    let address = config.address_variable(vendor);
    match error {
        ModelError::Auth(_) => Some(format!("Check {}.", config.key_place(vendor))),
        ModelError::RateLimited { retry_after: None } => Some("Try again in a minute.".to_owned()),
        ModelError::RateLimited { retry_after: Some(after) } => {
            Some(format!("Try again in {} s.", after.as_secs().max(1)))
        }
        ModelError::Overloaded(_) if vendor == "ollama" => {
            Some("Is Ollama running? Start it with `ollama serve`, or set OLLAMA_HOST.".to_owned())
        }
        ModelError::Overloaded(_) => Some(match address {
            Some(variable) => format!("Check the network, and {variable} if you set it."),
            None => "Check the network.".to_owned(),
        }),
        ModelError::BadRequest(_) if vendor == "ollama" => Some(format!(
            "List installed models with `ollama list`; install one with `ollama pull {model}`."
        )),
        ModelError::BadRequest(_) if vendor == "openai" && config.is_elsewhere(vendor) => {
            Some(format!(
                "If the server supports only chat completions, pass --model openai-chat/{model}."
            ))
        }
        ModelError::Timeout => {
            Some("A slow model needs more time: see [defaults.timeouts].".to_owned())
        }
        ModelError::TooLong(_)
        | ModelError::Refused(_)
        | ModelError::BadRequest(_)
        | ModelError::Broken(_) => None,
    }
}
