//! `tools/call`: the gate before the tool, the decision, and the run.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CreateTaskResult, InputRequiredResult},
    service::{Peer, RequestContext},
};
use tokio::sync::mpsc;

use super::{
    Client, Shared,
    answers::error_data,
    ask::{Asked, Round, ask_directly, way},
    glue::CallFuture,
    panics::Guarded,
    recovery::target,
    registry::Known,
    work::{Answer, Becomes, work},
};
use crate::{
    engine::{Call, Engine, InlineInput, Promotion, Ran, TaskEngine},
    input::{InputLog, Question},
    protocol::{Decision, IDEMPOTENCY_KEY, ProtocolError, ToolPolicy, idempotency_key},
    request_state::{Binding, Rounds},
    task::{Failure, IdempotencyKey, NewTask, Settlement, TaskRecord},
    tool::{CallInfo, TaskMode, ToolOptions, check_arguments},
    types::support::JsonObject,
    wire,
};

/// What is known of a call before its tool runs.
pub(super) enum Gated<'a> {
    /// Tasks do not concern it.
    Plain,
    /// It is answered already.
    Answered(Result<CallToolResponse, ErrorData>),
    /// It goes on.
    Passed {
        /// The tool's options.
        options: &'a ToolOptions,
        /// Who calls.
        client: Client,
    },
}

/// The gate before the tool: refuses what cannot run inside the request (CAP-05, LEG-01), and arguments that do not fit
/// (ERR-04).
pub(super) fn gate<'a, H: ServerHandler>(
    shared: &'a Shared,
    known: Option<&Known>,
    handler: &H,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Gated<'a> {
    let options = known.and_then(|known| known.options).or(shared.default_options.as_ref());
    let (Some(known), Some(options)) = (known, options) else { return Gated::Plain };
    let client = Client::of(context, shared.principals.of(&context.extensions));
    if let Some(refusal) = Decision::of(&client.caller(), &policy(options)).refusal() {
        return Gated::Answered(Err(error_data(refusal)));
    }
    match check_arguments(handler, &known.tool, request.arguments.as_ref()) {
        Err(result) => Gated::Answered(Ok(CallToolResponse::Complete(*result))),
        Ok(()) => Gated::Passed { options, client },
    }
}

/// Answers a `tools/call` that has come through the gate; `run` is the tool's own code.
///
/// Dropping the future, or cancelling the request, stops a tool that runs inside the request, and no task (CAN-04).
pub(super) async fn answer<F>(
    shared: &Shared,
    gated: Gated<'_>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    run: F,
) -> Result<CallToolResponse, ErrorData>
where
    F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
{
    let (options, client) = match gated {
        Gated::Plain => return Guarded(Box::pin(async move { run(request, context).await })).await,
        Gated::Answered(answered) => return answered,
        Gated::Passed { options, client } => (options, client),
    };
    let site = Site::new(shared, options, &client, request, &context).map_err(error_data)?;
    let decision = Decision::of(&client.caller(), &ToolPolicy { wanted: site.wanted(), ..policy(options) });
    let cancelled = context.ct.clone();
    tokio::select! {
        biased;
        answered = site.carry_out(decision, context, run) => answered,
        () = cancelled.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
    }
}

fn policy(options: &ToolOptions) -> ToolPolicy {
    ToolPolicy { required: options.mode == TaskMode::Required, wanted: true, promote_after: options.promote_after }
}

/// One call of a tool, with all that is known before it runs.
struct Site<'a> {
    engine: &'a Engine,
    shared: &'a Shared,
    options: &'a ToolOptions,
    client: &'a Client,
    request: CallToolRequestParams,
    /// The arguments, as JSON text.
    arguments: Bytes,
    /// What was answered in earlier rounds.
    rounds: Rounds,
    /// What the client calls the call.
    key: Option<IdempotencyKey>,
}

impl<'a> Site<'a> {
    fn new(
        shared: &'a Shared,
        options: &'a ToolOptions,
        client: &'a Client,
        mut request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Self, ProtocolError> {
        let none = JsonObject::new();
        let arguments = request.arguments.as_ref().unwrap_or(&none);
        let key = key(client, context, || Binding::new(&client.principal, &request.name, arguments))?;
        let written = serde_json::to_vec(arguments).map_err(|_| ProtocolError::internal())?;
        let rounds = if Rounds::are_in(&request) {
            let binding = Binding::new(&client.principal, &request.name, arguments);
            let rounds = Rounds::open(&shared.state_key, &binding, &request, shared.engine.clock().now())?;
            (request.request_state, request.input_responses) = (None, None);
            rounds
        } else {
            Rounds::default()
        };
        Ok(Self { engine: &shared.engine, shared, options, client, request, arguments: written.into(), rounds, key })
    }

    /// What the tool's `when` says of this call.
    fn wanted(&self) -> bool {
        let none = JsonObject::new();
        let arguments = self.request.arguments.as_ref().unwrap_or(&none);
        let call = CallInfo::new(&self.request.name, arguments, &self.client.principal);
        self.options.when.is_none_or(|when| when(&call.with_answers(!self.rounds.is_empty())))
    }

    async fn carry_out<F>(
        self,
        decision: Decision,
        context: RequestContext<RoleServer>,
        run: F,
    ) -> Result<CallToolResponse, ErrorData>
    where
        F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
    {
        match decision {
            Decision::Refuse => Err(error_data(ProtocolError::extension_not_declared())),
            Decision::Inline => self.inline(context, run).await,
            Decision::Task => {
                let call = self.call(context, run, Becomes::Task, Answer::default());
                let record = self.engine.create(call).await.map_err(|error| error_data(error.into()))?;
                created(&record)
            }
            Decision::Promote(patience) => self.promotable(patience, context, run).await,
        }
    }

    /// Inside the request, unless it takes longer than `patience` (case 45).
    async fn promotable<F>(
        self,
        patience: Duration,
        context: RequestContext<RoleServer>,
        run: F,
    ) -> Result<CallToolResponse, ErrorData>
    where
        F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
    {
        let answer = Answer::default();
        let call = self.call(context, run, Becomes::Task, answer.clone());
        let ran = self.engine.run(call, Promotion::After(patience), None).await;
        match ran.map_err(|error| error_data(error.into()))? {
            Ran::Promoted(record) => created(&record),
            Ran::Finished(settlement) => finished(&settlement, &answer),
        }
    }

    /// Inside the request, to its end or to its first question (NEW-02).
    async fn inline<F>(self, context: RequestContext<RoleServer>, run: F) -> Result<CallToolResponse, ErrorData>
    where
        F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
    {
        let (questions, mut asked) = way();
        let (answer, peer) = (Answer::default(), context.peer.clone());
        let call = self.call(context, run, Becomes::Nothing, answer.clone());
        let input: Arc<dyn InlineInput> = Arc::new(questions);
        let running = self.engine.run(call, Promotion::Never, Some(input));
        let put = async {
            if self.client.has_round_trips() {
                self.next_round(&mut asked).await
            } else {
                forward(&peer, &mut asked).await
            }
        };
        tokio::select! {
            biased;
            ran = running => match ran.map_err(|error| error_data(error.into()))? {
                Ran::Finished(settlement) => finished(&settlement, &answer),
                Ran::Promoted(record) => created(&record),
            },
            // The tool is dropped here; it runs again from its start when the answers are there.
            questions = put => self.input_required(questions),
        }
    }

    /// The questions that the tool asks next.
    async fn next_round(&self, asked: &mut mpsc::UnboundedReceiver<Asked>) -> Vec<Question> {
        let mut round = Round::default();
        while let Some(next) = asked.recv().await {
            if let Some(questions) = round.take(next) {
                return questions;
            }
        }
        // The tool has ended without a question.
        std::future::pending().await
    }

    fn input_required(&self, questions: Vec<Question>) -> Result<CallToolResponse, ErrorData> {
        let none = JsonObject::new();
        let arguments = self.request.arguments.as_ref().unwrap_or(&none);
        let binding = Binding::new(&self.client.principal, &self.request.name, arguments);
        let rounds = self.rounds.clone().ask(questions);
        let requests = rounds.requests().map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "a question is no input request");
            ErrorData::internal_error("internal error", None)
        })?;
        let state = rounds.seal(&self.shared.state_key, &binding, self.engine.clock().now());
        Ok(CallToolResponse::InputRequired(InputRequiredResult::new(Some(requests), Some(state))))
    }

    fn call<F>(&self, context: RequestContext<RoleServer>, run: F, becomes: Becomes, answer: Answer) -> Call
    where
        F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
    {
        let work = work(run, self.request.clone(), context, becomes, answer);
        Call { gate: self.shared.gate(&self.request.name, self.options), ..Call::new(self.new_task(), work) }
    }

    fn new_task(&self) -> NewTask {
        let target = Arc::new(target(&self.request.name, self.options));
        let inputs: InputLog = self.rounds.answered();
        NewTask {
            ttl: self.options.ttl,
            poll_interval: Some(self.options.poll_interval),
            on_cancel: self.options.on_cancel,
            on_restart: self.options.restart(),
            declared: self.client.inputs,
            inputs,
            key: self.key.clone(),
            ..NewTask::new(self.client.principal.clone(), target, self.arguments.clone())
        }
    }
}

/// The key of a call that can be answered with a task; any other call's is not even looked at.
fn key(
    client: &Client,
    context: &RequestContext<RoleServer>,
    call: impl FnOnce() -> Binding,
) -> Result<Option<IdempotencyKey>, ProtocolError> {
    if !client.caller().takes_tasks() {
        return Ok(None);
    }
    let given = idempotency_key(context.meta.0.0.get(IDEMPOTENCY_KEY))?;
    Ok(given.map(|key| IdempotencyKey { text: key.into(), call: call().fingerprint() }))
}

/// Puts each question to the client while the call waits, as 2025-11-25 has it: at once, whatever else is open. Never
/// resolves.
async fn forward(peer: &Peer<RoleServer>, asked: &mut mpsc::UnboundedReceiver<Asked>) -> Vec<Question> {
    while let Some(next) = asked.recv().await {
        if let Asked::Question(question, reply) = next {
            ask_directly(peer, &question, reply).await;
        }
    }
    std::future::pending().await
}

fn created(record: &TaskRecord) -> Result<CallToolResponse, ErrorData> {
    let created: Result<CreateTaskResult, _> = serde_json::from_slice(&wire::create_task_result(record));
    created.map(CallToolResponse::Task).map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a task does not read as one");
        ErrorData::internal_error("internal error", None)
    })
}

/// What a tool that ended inside the request is answered with: what it said itself, or why it said nothing.
fn finished(settlement: &Settlement, answer: &Answer) -> Result<CallToolResponse, ErrorData> {
    let own = |failure: &Failure| matches!(failure, Failure::Reported { .. });
    match settlement {
        Settlement::Failed(failure) if !own(failure) => {
            Err(ErrorData::internal_error(failure.message().to_string(), None))
        }
        _ => answer.take().unwrap_or_else(|| Err(ErrorData::internal_error("the call was stopped", None))),
    }
}
