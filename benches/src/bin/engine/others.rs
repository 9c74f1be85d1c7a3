//! What others have for the same: rmcp's `TaskManager`, and the task store of tower-mcp (which runs nothing).

use crate::ours::{all_started, ready};
use rmcp::model::CallToolResult;
use rmcp::task_manager::{TaskManager, TaskOptions};
use std::future::pending;
use tokio::runtime::{Builder, Runtime};
use tower_mcp::async_task::{MemoryTaskStore, TaskRetentionLimits, TaskStore};

const HOUR_MS: u64 = 3_600_000;

/// rmcp's manager on a runtime that runs only while it is asked to.
pub struct Rmcp {
    runtime: Runtime,
    pub manager: TaskManager,
    pub ids: Vec<String>,
}

impl Rmcp {
    /// A manager with so many tasks that run and never end.
    pub fn with_live(count: usize) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut rmcp = Self { runtime, manager: TaskManager::new(), ids: Vec::new() };
        for rest in (0..count).step_by(1000) {
            rmcp.create(1000.min(count - rest));
        }
        rmcp
    }

    pub fn create(&mut self, count: usize) -> u64 {
        let Self { runtime, manager, ids } = self;
        runtime.block_on(async {
            for _ in 0..count {
                let task = manager.spawn(TaskOptions::new().with_ttl_ms(HOUR_MS), |task| {
                    Box::pin(async move {
                        let _task = task;
                        pending().await
                    })
                });
                ids.push(task.task_id);
            }
            all_started().await;
        });
        count as u64
    }

    /// Adds a task that has ended with this result.
    pub fn complete(&self, result: CallToolResult) -> String {
        self.runtime.block_on(async {
            let task = self.manager.spawn(TaskOptions::new(), |_| Box::pin(async { Ok(result) }));
            all_started().await;
            task.task_id
        })
    }
}

/// tower-mcp's store.
pub struct Tower {
    pub store: MemoryTaskStore,
    pub ids: Vec<String>,
}

impl Tower {
    pub fn with_live(count: usize) -> Self {
        let store = MemoryTaskStore::with_retention_limits(TaskRetentionLimits::unbounded());
        let mut tower = Self { store, ids: Vec::new() };
        tower.create(count);
        tower
    }

    pub fn create(&mut self, count: usize) -> u64 {
        for _ in 0..count {
            let arguments = serde_json::json!({ "topic": "the state of the art", "pages": 12 });
            let created = ready(self.store.create_task("report", arguments, Some(HOUR_MS), None));
            self.ids.push(created.expect("it is created").0);
        }
        count as u64
    }
}
