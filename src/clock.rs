//! `Clock`: the only place that asks for the time or waits for it.
//!
//! Time is an input of everything else, so that time to live, leases and promotion are tested without sleeping.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::sync::watch;

/// A boxed future that may be sent between threads: what the dyn-safe traits of this crate return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A point in time: whole milliseconds since the Unix epoch, the precision of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// A time that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// The time that many milliseconds after the Unix epoch.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The time `duration` later (whole milliseconds, rounded down); [`NEVER`](Self::NEVER) where that is too far off.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(u64::try_from(duration.as_millis()).ok().and_then(|ms| self.0.checked_add(ms)).unwrap_or(u64::MAX))
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + 'static {
    /// The time now. It may step back: nothing that is stored relies on its growing (TSK-03).
    fn now(&self) -> UnixMillis;

    /// Resolves once [`now`](Self::now) is at or past `deadline`; at once if it already is. May be dropped at any time.
    fn sleep_until(&self, deadline: UnixMillis) -> BoxFuture<'static, ()>;
}

/// The clock of the operating system, waiting on tokio's timer.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    /// No single wait is longer, so that a clock that was set is noticed.
    const LONGEST_NAP: Duration = Duration::from_secs(3600);
}

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        UnixMillis::new(0).plus(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    fn sleep_until(&self, deadline: UnixMillis) -> BoxFuture<'static, ()> {
        let clock = *self;
        Box::pin(async move {
            loop {
                let left = deadline.since(clock.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(Self::LONGEST_NAP)).await;
            }
        })
    }
}

/// A clock that moves only when it is told to: for tests.
///
/// Clones share one time.
#[derive(Clone)]
pub struct ManualClock {
    time: Arc<watch::Sender<UnixMillis>>,
    sleepers: Arc<watch::Sender<usize>>,
}

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: UnixMillis) -> Self {
        Self { time: Arc::new(watch::Sender::new(start)), sleepers: Arc::new(watch::Sender::new(0)) }
    }

    /// Moves the clock on by `step` and wakes whoever waited for a time that has come.
    pub fn advance(&self, step: Duration) {
        self.time.send_modify(|now| *now = now.plus(step));
    }

    /// Sets the clock, also back.
    pub fn set(&self, now: UnixMillis) {
        self.time.send_replace(now);
    }

    /// Resolves once at least `count` waits are pending on this clock, so that a test knows that advancing it will be
    /// noticed.
    pub async fn sleepers(&self, count: usize) {
        let mut sleepers = self.sleepers.subscribe();
        // The sender lives as long as `self`.
        let _ = sleepers.wait_for(|now| *now >= count).await;
    }
}

impl Default for ManualClock {
    /// Stands at a fixed time in 2026.
    fn default() -> Self {
        Self::new(UnixMillis::new(1_790_000_000_000))
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMillis {
        *self.time.borrow()
    }

    fn sleep_until(&self, deadline: UnixMillis) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(async move {
            let mut time = clock.time.subscribe();
            if *time.borrow() >= deadline {
                return;
            }
            let _counted = Sleeper::new(&clock.sleepers);
            let _ = time.wait_for(|now| *now >= deadline).await;
        })
    }
}

/// Counts one pending wait for as long as it lives.
struct Sleeper(Arc<watch::Sender<usize>>);

impl Sleeper {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|n| *n += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_wakes_exactly_those_whose_time_has_come() {
        let clock = ManualClock::default();
        let soon = tokio::spawn(clock.sleep_until(clock.now().plus(Duration::from_millis(10))));
        let late = tokio::spawn(clock.sleep_until(clock.now().plus(Duration::from_millis(20))));
        clock.sleepers(2).await;
        clock.advance(Duration::from_millis(10));
        soon.await.expect("the first sleeper wakes");
        assert!(!late.is_finished());
        clock.advance(Duration::from_millis(10));
        late.await.expect("the second sleeper wakes");
    }

    #[tokio::test]
    async fn a_time_that_has_passed_is_not_waited_for() {
        SystemClock.sleep_until(UnixMillis::new(1)).await;
        ManualClock::default().sleep_until(UnixMillis::new(1)).await;
    }

    #[test]
    fn time_saturates() {
        assert_eq!(UnixMillis::new(5).plus(Duration::MAX), UnixMillis::NEVER);
        assert_eq!(UnixMillis::new(5).since(UnixMillis::new(9)), Duration::ZERO);
    }
}
