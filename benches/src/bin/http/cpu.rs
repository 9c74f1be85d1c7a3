//! The time that threads were on a processor, as Linux counts it: other programs do not add to it.

use std::fs::{read_link, read_to_string};
use std::sync::{Arc, Mutex};

/// The threads of a runtime.
#[derive(Clone, Default)]
pub struct Threads(Arc<Mutex<Vec<String>>>);

impl Threads {
    /// Counts the calling thread from now on.
    pub fn enter(&self) {
        if let Ok(thread) = read_link("/proc/thread-self") {
            self.0.lock().expect("no holder panics").push(format!("/proc/{}/schedstat", thread.display()));
        }
    }

    /// Nanoseconds on a processor so far; 0 where that is not counted.
    pub fn nanoseconds(&self) -> u64 {
        let threads = self.0.lock().expect("no holder panics");
        let spent = |thread: &String| read_to_string(thread).ok()?.split(' ').next()?.parse::<u64>().ok();
        threads.iter().filter_map(spent).sum()
    }
}
