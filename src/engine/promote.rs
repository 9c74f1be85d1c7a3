//! Running a tool inside its request, and making it a task if it takes longer (case 45).
//!
//! The tool starts once and is never started again: promotion creates the task beside it, and the same future goes on.

use std::sync::Arc;

use tokio::{
    sync::{Notify, oneshot},
    task::AbortHandle,
};

use crate::{
    clock::{BoxFuture, UnixMillis},
    engine::{
        Call, Engine, Promotion, Ran,
        create::{Creation, is_ours},
        drive::start,
        metrics,
        run::{Inline, InlineInput, Run},
    },
    error::EngineError,
    task::Settlement,
    task_id::TaskId,
};

/// Stops a tool when the request that runs it is dropped (CAN-04).
struct StopOnDrop(Option<AbortHandle>);

impl StopOnDrop {
    fn keep_running(mut self) {
        self.0 = None;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(tool) = &self.0 {
            tool.abort();
        }
    }
}

impl Engine {
    pub(super) async fn run_inline(
        &self,
        call: Call,
        promotion: Promotion,
        input: Option<Arc<dyn InlineInput>>,
    ) -> Result<Ran, EngineError> {
        self.check(&call.task)?;
        let inline = Inline { may_promote: promotion != Promotion::Never, input, wish: Notify::new() };
        let run = Run::inline(&self.core.host, TaskId::random()?, call.task, inline);
        let listed = self.core.runs.enter(run).ok_or(EngineError::ShuttingDown)?;
        let run = Arc::clone(&listed.run);

        let (reply, mut ended) = oneshot::channel();
        let tool = StopOnDrop(Some(start(listed, self.gates(call.gate), call.work, Some(reply))));
        tokio::select! {
            biased;
            settlement = &mut ended => return finished(settlement),
            () = self.time_to_promote(&run, promotion) => {}
        }
        let Some(task) = run.begin_promotion() else {
            return finished(ended.await);
        };
        let mut creation = Creation::of(&self.core, run.id, task);
        let record = creation.stored().await?;
        if !is_ours(&record) {
            // Its lease was lost while the store did not say whether it was stored; the tool is dropped here.
            creation.keep();
            return Ok(Ran::Promoted(record));
        }
        metrics::created();
        if self.core.take_up(&run, &record).await {
            tool.keep_running();
        }
        creation.keep();
        tracing::debug!(task_id = %run.id, "call became a task");
        Ok(Ran::Promoted(record))
    }

    /// Resolves when the run should become a task: its time inline is over, or it asks what only a task can ask.
    async fn time_to_promote(&self, run: &Run, promotion: Promotion) {
        let wished = async {
            match &run.inline {
                Some(inline) if inline.may_promote => inline.wish.notified().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            () = wished => {}
            () = self.time_inline(promotion) => {}
        }
    }

    /// Resolves when the time is over that a call stays inside its request, counted from now.
    pub(super) fn time_inline(&self, promotion: Promotion) -> BoxFuture<'static, ()> {
        let clock = &self.core.host.clock;
        let until = match promotion {
            Promotion::After(patience) => clock.now().plus(patience),
            Promotion::Never | Promotion::WhenAsking => UnixMillis::NEVER,
        };
        clock.sleep_until(until)
    }
}

/// The end of an inline run; without one the tool was stopped, which only a shutdown does.
fn finished(settlement: Result<Settlement, oneshot::error::RecvError>) -> Result<Ran, EngineError> {
    settlement.map(Ran::Finished).map_err(|_| EngineError::ShuttingDown)
}
