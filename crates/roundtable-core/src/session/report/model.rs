//! A model answered, or could not.

use crate::agent::Agent;
use crate::budget::{Fit, Usage};
use crate::context_request::{About, Ask, CallDetails, ContextRequest, Priority, Question};
use crate::delegation::Delegation;
use crate::digest::Digest;
use crate::event::{
    Body, CallRecord, ContextEvent, IterationEvent, Task, ToolCallEvent, TurnEvent,
};
use crate::id::{AgentId, ContextRequestId, IterationId, ToolCallId};
use crate::input::{AskedCall, Env, Reply, Unanswered};
use crate::iteration::{Iteration, Phase};
use crate::json;
use crate::message::Reasoning;
use crate::reject::Reject;
use crate::round::Round;
use crate::scope::Place;
use crate::session::close::finished;
use crate::session::{Draft, Session};
use crate::tool::{Effect, Runs, ToolDecl, ToolOutcome, ToolResult};
use crate::turn::{Turn, exceeded};

/// How many characters of arguments are part of an approval's query.
const MAX_SHOWN: usize = 900;

/// How many questions may be pending. Models raise them, and each one is kept until it is answered.
const MAX_QUESTIONS: usize = 1024;

/// A call of a reply, with all that deciding on it takes.
struct RequestedCall<'a> {
    round: &'a Round,
    turn: &'a Turn,
    agent: &'a Agent,
    call: &'a AskedCall,
    id: ToolCallId,
    place: Place,
}

impl Session {
    pub(crate) fn model_replied(
        &self,
        id: &IterationId,
        attempt: u32,
        reply: &Reply,
        env: &Env,
    ) -> Result<Vec<Draft>, Reject> {
        let (round, turn, iteration) = self.awaiting(id, attempt)?;
        let place = round.place().turn(&turn.id).iteration(id);
        let Some(agent) = self.find_agent(&turn.agent) else {
            return Err(Reject::UnknownAgent { agent: turn.agent.clone() });
        };
        let most = self.settings.max_tool_calls as usize;
        if reply.calls.len() > most {
            let error = format!(
                "the model requested {} tool calls at once; the limit is {most}",
                reply.calls.len()
            );
            // The answer came and was paid for; it is not used.
            let charge = Some(self.answered(iteration, agent, reply));
            let failed = IterationEvent::ModelCallFailed { attempt, error, charge };
            return Ok(vec![(place, Body::Iteration(failed))]);
        }
        let mut record = reply.record.clone();
        record.cost = cost_of(agent, &record);
        let uncounted = record.usage.is_none();
        let finished_call = IterationEvent::ModelCallFinished {
            attempt,
            text: reply.text.clone(),
            calls: u32::try_from(reply.calls.len()).unwrap_or(u32::MAX),
            thoughts: reply.thoughts.iter().filter(storable).cloned().collect(),
            citations: reply.citations.clone(),
            record,
            charge: uncounted.then(|| self.answered(iteration, agent, reply)),
        };
        let mut drafts = vec![(place.clone(), Body::Iteration(finished_call))];
        for (index, call) in reply.calls.iter().enumerate() {
            let id = ToolCallId::derive(id.as_str(), index + 1);
            let call = &call.clone().bounded();
            let opened =
                RequestedCall { round, turn, agent, call, place: place.tool_call(&id), id };
            self.open_call(&opened, iteration, env, &mut drafts);
        }
        Ok(drafts)
    }

    pub(crate) fn model_failed(
        &self,
        id: &IterationId,
        attempt: u32,
        error: &str,
        unanswered: Unanswered,
    ) -> Result<Vec<Draft>, Reject> {
        let (round, turn, iteration) = self.awaiting(id, attempt)?;
        let place = round.place().turn(&turn.id).iteration(id);
        let charge = self.unanswered(turn, iteration, unanswered);
        let failed = IterationEvent::ModelCallFailed { attempt, error: error.to_owned(), charge };
        Ok(vec![(place, Body::Iteration(failed))])
    }

    /// Another request is reserved like the first, so no number of retries overshoots a limit. It
    /// does not wait for room: whoever retries has waited already.
    pub(crate) fn model_retries(
        &self,
        id: &IterationId,
        attempt: u32,
        error: &str,
        unanswered: Unanswered,
    ) -> Result<Vec<Draft>, Reject> {
        let (round, turn, iteration) = self.awaiting(id, attempt)?;
        let place = round.place().turn(&turn.id).iteration(id);
        let Some(charge) = self.unanswered(turn, iteration, unanswered) else {
            return Err(Reject::UnknownAgent { agent: turn.agent.clone() });
        };
        // What was reserved for the failed request is reserved for the next one.
        match self.fit(round, turn, charge.spend()) {
            Fit::Yes => {
                let error = error.to_owned();
                let retried = IterationEvent::ModelCallRetried { attempt, error, charge };
                Ok(vec![(place, Body::Iteration(retried))])
            }
            Fit::Later(budget) | Fit::No(budget) => Err(Reject::Invalid {
                what: format!("the budget of {} leaves no room for a retry", budget.word()),
            }),
        }
    }

    fn awaiting(
        &self,
        id: &IterationId,
        attempt: u32,
    ) -> Result<(&Round, &Turn, &Iteration), Reject> {
        let stale = || Reject::Stale { what: format!("model call {id} attempt {attempt}") };
        let (round, turn) = self.turn_of_iteration(id).ok_or_else(stale)?;
        let iteration = turn.iteration.as_ref().ok_or_else(stale)?;
        match iteration.phase {
            Phase::AwaitingModel { attempt: current, .. } if current == attempt => {
                Ok((round, turn, iteration))
            }
            Phase::Pending
            | Phase::AwaitingModel { .. }
            | Phase::AwaitingTools(_)
            | Phase::Over => Err(stale()),
        }
    }

    /// Opens a tool call, and ends it at once where no handler is needed to know how.
    fn open_call(
        &self,
        opened: &RequestedCall<'_>,
        iteration: &Iteration,
        env: &Env,
        drafts: &mut Vec<Draft>,
    ) {
        let decl = offered(opened.agent, opened.turn).find(|tool| tool.name == opened.call.name);
        let requested = ToolCallEvent::ToolCallRequested {
            name: opened.call.name.clone(),
            arguments: opened.call.arguments.clone(),
            effect: decl.map_or(Effect::Pure, |decl| decl.effect),
            reference: opened.call.reference.clone(),
        };
        drafts.push((opened.place.clone(), Body::ToolCall(requested)));
        if exceeded(iteration.number, opened.agent.max_iterations.max(1)) {
            let reason = "not run: the turn has reached its iteration limit".to_owned();
            drafts.push((opened.place.clone(), finished(ToolOutcome::NotRun { reason })));
            return;
        }
        let next = match decl {
            None => Err(unknown_tool(opened)),
            Some(decl) => self.begin_call(opened, decl, env),
        };
        match next {
            Ok(more) => drafts.extend(more),
            Err(why) => drafts.push((opened.place.clone(), failed(why))),
        }
    }

    fn begin_call(
        &self,
        opened: &RequestedCall<'_>,
        decl: &ToolDecl,
        env: &Env,
    ) -> Result<Vec<Draft>, String> {
        if let Some(misfit) = &opened.call.misfit {
            return Err(misfit.clone());
        }
        match decl.runs {
            Runs::RequestContext => self.raise(opened, env),
            Runs::Delegate => self.delegate(opened),
            Runs::Ask => self.ask(opened, env),
            Runs::Caller => self.hand_over(opened, env),
            Runs::Handler => {
                let action = action_digest(&opened.call.name, &opened.call.arguments);
                self.check_doubt(&opened.call.name, &action)?;
                if !decl.approval {
                    return Ok(Vec::new());
                }
                Ok(vec![ask_approval(opened, action, env)?])
            }
        }
    }

    /// An action whose outcome is in doubt is not done again until a person has said what happened.
    pub(crate) fn check_doubt(&self, name: &str, action: &Digest) -> Result<(), String> {
        let in_doubt = |about: &About| matches!(about, About::Outcome { action: asked, .. } if asked == action);
        match self.requests.iter().find(|request| in_doubt(&request.about)) {
            None => Ok(()),
            Some(request) => Err(format!(
                "not run: an equal call of {name} may already have taken effect ({}); wait for \
                 the answer",
                request.id
            )),
        }
    }

    fn raise(&self, opened: &RequestedCall<'_>, env: &Env) -> Result<Vec<Draft>, String> {
        let number = opened.round.number;
        if self.is_final_round(number) {
            let total = self.settings.total_rounds.unwrap_or(number);
            return Err(format!(
                "Cannot request context on the final round. This is round {number} of {total}. \
                 Please provide your best response with available information."
            ));
        }
        let ask = Ask::parse(&opened.call.arguments)?;
        self.check_questions()?;
        let id = ContextRequestId::derive(opened.id.as_str(), "ask");
        let request = ContextRequest {
            id: id.clone(),
            agent: opened.turn.agent.clone(),
            query: ask.query,
            reason: ask.reason,
            priority: ask.priority,
            about: About::Information,
            at: env.now,
        };
        let value = serde_json::json!({ "requestId": id, "message": "Context request queued." });
        let result = ToolResult::ok("Context request queued.").with_value(value);
        Ok(vec![
            (opened.place.clone(), Body::Context(ContextEvent::ContextRequested(request))),
            (opened.place.clone(), finished(ToolOutcome::Returned(result))),
        ])
    }

    /// Asks the person. The call waits as a row, and goes on in place when the answer comes.
    fn ask(&self, opened: &RequestedCall<'_>, env: &Env) -> Result<Vec<Draft>, String> {
        let Question { question, reason } = Question::parse(&opened.call.arguments)?;
        self.await_answer(opened, question, reason, env)
    }

    /// Leaves a call to the caller. It waits like a question, and its answer is the result.
    fn hand_over(&self, opened: &RequestedCall<'_>, env: &Env) -> Result<Vec<Draft>, String> {
        let AskedCall { name, arguments, .. } = opened.call;
        let shown: String = arguments.to_string().chars().take(MAX_SHOWN).collect();
        let query = format!("The result of {name} with {shown}");
        self.await_answer(opened, query, "The caller runs this tool.".to_owned(), env)
    }

    fn await_answer(
        &self,
        opened: &RequestedCall<'_>,
        query: String,
        reason: String,
        env: &Env,
    ) -> Result<Vec<Draft>, String> {
        self.check_questions()?;
        let request = ContextRequest {
            id: ContextRequestId::derive(opened.id.as_str(), "question"),
            agent: opened.turn.agent.clone(),
            query,
            reason,
            priority: Priority::Required,
            about: About::Question { tool_call: opened.id.clone() },
            at: env.now,
        };
        let requested = ContextEvent::ContextRequested(request);
        Ok(vec![(opened.place.clone(), Body::Context(requested))])
    }

    fn check_questions(&self) -> Result<(), String> {
        if self.requests.len() < MAX_QUESTIONS {
            return Ok(());
        }
        Err(format!(
            "Cannot request context: {MAX_QUESTIONS} requests are already pending. \
             Please provide your best response with available information."
        ))
    }

    fn delegate(&self, opened: &RequestedCall<'_>) -> Result<Vec<Draft>, String> {
        let Delegation { agent, mission, rationale } = Delegation::parse(&opened.call.arguments)?;
        let workers = &opened.agent.workers;
        let wanted = |id: &AgentId| id.as_str() == agent || id.suffix() == agent;
        let Some(worker) = workers.iter().find(|id| wanted(id)).and_then(|id| self.find_agent(id))
        else {
            return Err(self.refuse_worker(opened.agent, &agent));
        };
        self.check_depth(opened.turn)?;
        let task = Task::Delegated { tool_call: opened.id.clone(), mission, rationale };
        let place = opened.round.place().turn(&task.turn_id(opened.round.id.as_str()));
        let started = TurnEvent::TurnStarted { agent: worker.id.clone(), task };
        Ok(vec![(place, Body::Turn(started))])
    }

    /// Why an agent may not delegate to whom it named, and to whom it may.
    fn refuse_worker(&self, agent: &Agent, wanted: &str) -> String {
        let workers = agent.workers.iter().filter(|id| self.find_agent(id).is_some());
        let names: Vec<&str> = workers.map(AgentId::suffix).collect();
        let is_wanted = |known: &Agent| known.id.as_str() == wanted || known.id.suffix() == wanted;
        let shown: String = wanted.chars().take(80).collect();
        let why = if self.agents.iter().any(is_wanted) {
            format!("{} may not delegate to \"{shown}\"", agent.name)
        } else {
            format!("unknown worker \"{shown}\"")
        };
        match names.as_slice() {
            [] => format!("delegate: {why}; no workers are available, answer yourself"),
            names => {
                format!("delegate: {why}; {} may delegate to: {}", agent.name, names.join(", "))
            }
        }
    }

    pub(crate) fn check_depth(&self, turn: &Turn) -> Result<(), String> {
        if turn.depth >= self.settings.max_depth {
            return Err(format!(
                "turns can be nested at most {} levels deep",
                self.settings.max_depth
            ));
        }
        Ok(())
    }
}

/// Whether a thought can be stored. A provider that cannot have it back answers without it.
fn storable(thought: &&Reasoning) -> bool {
    json::check(&thought.payload).is_ok()
}

/// What an answer cost: as the provider says, else by the agent's price.
pub(crate) fn cost_of(agent: &Agent, record: &CallRecord) -> Option<u64> {
    let by_price = |usage: Usage| Some(agent.price?.of(usage.input, usage.output));
    record.cost.or_else(|| record.usage.and_then(by_price))
}

/// The tools that a turn offers: its agent's own, or those of them that its prompt chooses.
fn offered<'a>(agent: &'a Agent, turn: &Turn) -> impl Iterator<Item = &'a ToolDecl> {
    let chosen = |name: &str| turn.tools.as_ref().is_none_or(|t| t.iter().any(|tool| tool == name));
    agent.tools.iter().filter(move |tool| chosen(&tool.name))
}

fn unknown_tool(opened: &RequestedCall<'_>) -> String {
    let offered = offered(opened.agent, opened.turn);
    let names: Vec<&str> = offered.map(|tool| tool.name.as_str()).collect();
    let shown: String = opened.call.name.chars().take(80).collect();
    match names.as_slice() {
        [] => format!("unknown tool \"{shown}\"; answer without tools"),
        names => format!("unknown tool \"{shown}\"; available: {}", names.join(", ")),
    }
}

fn ask_approval(opened: &RequestedCall<'_>, digest: Digest, env: &Env) -> Result<Draft, String> {
    let AskedCall { name, arguments, .. } = opened.call;
    let text = arguments.to_string();
    let (bytes, limit) = (text.len(), CallDetails::MAX_BYTES);
    if bytes > limit {
        return Err(format!(
            "not run: a person must read the arguments of {name} before the call; they have {bytes} bytes, the limit is {limit}"
        ));
    }
    // A query is one line of a list. Arguments that do not fit are shown whole with the call, never
    // cut: half of them would look like all of them.
    let query = if text.chars().count() <= MAX_SHOWN {
        format!("May {name} be called with {text}?")
    } else {
        format!(
            "May {name} be called? Its arguments have {bytes} bytes and are shown with the call (digest {}).",
            digest.as_str()
        )
    };
    let call = CallDetails {
        agent_name: opened.agent.name.clone(),
        tool: name.clone(),
        arguments: Some(arguments.clone()),
        digest,
    };
    let request = ContextRequest {
        id: ContextRequestId::derive(opened.id.as_str(), "approval"),
        agent: opened.turn.agent.clone(),
        query,
        reason: "A person must approve each call of this tool.".to_owned(),
        priority: Priority::Required,
        about: About::Approval { tool_call: opened.id.clone(), call: Some(Box::new(call)) },
        at: env.now,
    };
    Ok((opened.place.clone(), Body::Context(ContextEvent::ContextRequested(request))))
}

/// What makes two calls the same action.
pub(crate) fn action_digest(name: &str, arguments: &serde_json::Value) -> Digest {
    Digest::of_json(&(name, arguments))
}

pub(crate) fn failed(why: impl Into<String>) -> Body {
    finished(ToolOutcome::Returned(ToolResult::failed(why)))
}
