//! Decisions: what an input makes happen, as events. Nothing is changed here.

use super::{Draft, Session};
use crate::input::{Command, Env, Input, Report};
use crate::program::Programs;
use crate::reject::Reject;
use crate::window::Window;

impl Session {
    /// What an input makes happen. What follows from that is [`Session::follow`]'s part.
    ///
    /// # Errors
    /// [`Reject`] when the input is refused; nothing happens then.
    pub(crate) fn decide(
        &self,
        input: &Input,
        env: &Env,
        window: &Window,
        programs: &Programs,
    ) -> Result<Vec<Draft>, Reject> {
        if self.newer {
            return Err(Reject::Newer);
        }
        match input {
            Input::Command(command) => self.decide_command(command, env, window, programs),
            Input::Report(_) if !self.opened => self.not_found(),
            Input::Report(report) => self.decide_report(report, env),
        }
    }

    fn decide_command(
        &self,
        command: &Command,
        env: &Env,
        window: &Window,
        programs: &Programs,
    ) -> Result<Vec<Draft>, Reject> {
        match command {
            Command::Open(opening) => self.open(opening, programs),
            Command::Fork { origin, agents } => self.fork(origin, agents.as_deref()),
            Command::Import(imported) => self.import_record(imported, programs),
            _ if !self.opened => self.not_found(),
            Command::Change(change) => self.change_listing(change),
            _ if programs.missing(self).is_some() => Err(self.cannot_play()),
            Command::Say(say) => self.say(say, env),
            Command::Edit { message_id, text } => self.edit(message_id, text, window),
            Command::Withdraw { message_id } => self.withdraw(message_id),
            Command::Provide(results) => self.provide(results),
            Command::Contribute { iteration, text } => self.contribute(iteration, text, env),
            Command::Stop => self.stop(env),
            Command::Pause => self.pause(),
            Command::Resume => self.resume(),
            Command::Complete { reason } => self.complete(reason, env),
            Command::Regenerate => self.regenerate(),
            Command::Rewind { number } => self.rewind(*number),
            Command::SelectTake { number, take } => self.select_take(*number, *take),
            Command::Act { name, data } => self.act(name, data, window, programs.of(self)),
        }
    }

    /// A program that is not here decides nothing: the session can be read.
    fn cannot_play(&self) -> Reject {
        let name = &self.settings.program.name;
        Reject::Invalid {
            what: format!(
                "this process has no program \"{name}\", so it can only read the session"
            ),
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
            Report::JobRan { round, ordinal, outcome } => self.job_ran(round, *ordinal, outcome),
            Report::Woke => Ok(self.woke(env)),
            Report::WriterChanged => Ok(self.writer_changed(env)),
        }
    }
}
