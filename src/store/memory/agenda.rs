//! When to look at which task. Entries are not taken out when plans change: whoever looks finds that in the task.

use std::collections::BTreeMap;

use crate::{clock::UnixMillis, task_id::TaskId};

#[derive(Default)]
pub(super) struct Agenda(BTreeMap<UnixMillis, Vec<TaskId>>);

impl Agenda {
    pub fn add(&mut self, time: UnixMillis, id: TaskId) {
        self.0.entry(time).or_default().push(id);
    }

    /// Takes out an entry whose time has come; an earliest one.
    pub fn take_due(&mut self, now: UnixMillis) -> Option<(UnixMillis, TaskId)> {
        let mut first = self.0.first_entry().filter(|first| *first.key() <= now)?;
        let (time, id) = (*first.key(), first.get_mut().pop()?);
        if first.get().is_empty() {
            first.remove();
        }
        Some((time, id))
    }
}
