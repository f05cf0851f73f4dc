//! Decisions: what an input makes happen, as events. Nothing is changed here.

use super::{Draft, Session};
use crate::input::{Command, Env, Input, Report};
use crate::reject::Reject;

impl Session {
    /// What an input makes happen. What follows from that is [`Session::follow`]'s part.
    ///
    /// # Errors
    /// [`Reject`] when the input is refused; nothing happens then.
    pub(crate) fn decide(&self, input: &Input, env: &Env) -> Result<Vec<Draft>, Reject> {
        if self.newer {
            return Err(Reject::Newer);
        }
        match input {
            Input::Command(command) => self.decide_command(command, env),
            Input::Report(_) if !self.opened => self.not_found(),
            Input::Report(report) => self.decide_report(report, env),
        }
    }

    fn decide_command(&self, command: &Command, env: &Env) -> Result<Vec<Draft>, Reject> {
        match command {
            Command::Open(opening) => self.open(opening),
            Command::Fork { origin, agents } => self.fork(origin, agents.as_deref()),
            Command::Import(record) => self.import(record),
            _ if !self.opened => self.not_found(),
            Command::Say(say) => self.say(say, env),
            Command::Provide(results) => self.provide(results),
            Command::Contribute { iteration, text } => self.contribute(iteration, text, env),
            Command::Stop => self.stop(env),
            Command::Pause => self.pause(),
            Command::Resume => self.resume(),
            Command::Complete { reason } => self.complete(reason, env),
            Command::Regenerate => self.regenerate(),
            Command::Rewind { number } => self.rewind(*number),
            Command::SelectTake { number, take } => self.select_take(*number, *take),
            Command::Synthesise { agent } => self.synthesise(agent.as_ref()),
        }
    }

    fn not_found<T>(&self) -> Result<T, Reject> {
        Err(Reject::NotFound { session: self.id.clone() })
    }

    fn decide_report(&self, report: &Report, env: &Env) -> Result<Vec<Draft>, Reject> {
        match report {
            Report::ModelReplied { iteration, attempt, reply } => {
                self.model_replied(iteration, *attempt, reply, env)
            }
            Report::ModelFailed { iteration, attempt, error, unanswered } => {
                self.model_failed(iteration, *attempt, error, *unanswered)
            }
            Report::ModelRetries { iteration, attempt, error, unanswered } => {
                self.model_retries(iteration, *attempt, error, *unanswered)
            }
            Report::EffectBegins { tool_call } => self.effect_begins(tool_call),
            Report::ToolRan { tool_call, attempt, ran } => {
                self.tool_ran(tool_call, *attempt, ran, env)
            }
            Report::Evaluate { tool_call, ordinal, prompt } => {
                self.evaluate(tool_call, *ordinal, prompt, env)
            }
            Report::Publish { tool_call, ordinal, topic, data } => {
                self.publish(tool_call, *ordinal, topic, data)
            }
            Report::Measured { round, measure } => self.measured(round, measure),
            Report::Woke => Ok(self.woke(env)),
            Report::WriterChanged => Ok(self.writer_changed(env)),
        }
    }
}
