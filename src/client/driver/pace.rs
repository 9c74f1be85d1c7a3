//! How long to wait: for the next poll, and after a failure.

use std::time::Duration;

/// The least time between two polls: 50 a second.
pub(super) const FLOOR: Duration = Duration::from_millis(20);
/// The most time between two polls.
const CEILING: Duration = Duration::from_secs(60);
/// The first interval where the server names none, and the last one.
const DEFAULT: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// The least interval while the server pushes.
const SAFETY: Duration = Duration::from_secs(30);
/// The first wait after a failure, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));
/// The longest that a server may ask to be left alone.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// The rate at which one task is polled.
#[derive(Debug)]
pub(super) struct Pace {
    /// What the server said last.
    named: Option<Duration>,
    /// The interval where it says nothing.
    backed_off: Duration,
    random: u64,
}

impl Pace {
    pub fn new(seed: u64) -> Self {
        Self { named: None, backed_off: DEFAULT.0, random: seed }
    }

    /// The server's interval, which may change with each answer (CLI-01).
    pub fn heard(&mut self, interval: Option<Duration>) {
        self.named = interval;
    }

    /// The task has changed, and may soon change again.
    pub fn moved(&mut self) {
        self.backed_off = DEFAULT.0;
    }

    /// How long until the next poll.
    pub fn next(&mut self, listening: bool) -> Duration {
        let interval = self.named.unwrap_or_else(|| {
            let interval = self.backed_off;
            self.backed_off = (interval * 3 / 2).min(DEFAULT.1);
            interval
        });
        let interval = interval.clamp(FLOOR, CEILING);
        if listening { interval.max(SAFETY) } else { interval }
    }

    /// How long to wait after that many failures in a row. Never less than the server asks for.
    pub fn retry(&mut self, failures: u32, retry_after: Option<Duration>) -> Duration {
        let doubled = RETRY.0.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(RETRY.1);
        match retry_after {
            // The jitter keeps those that were turned away together from coming back together.
            Some(wait) => wait.min(MAX_RETRY_AFTER).max(FLOOR) + self.jitter(RETRY.0),
            None => doubled / 2 + self.jitter(doubled / 2),
        }
    }

    /// How long until a stream is opened again.
    pub fn reopen(&mut self, tries: u32) -> Duration {
        self.retry(tries + 2, None)
    }

    /// Anything from nothing to `most`.
    fn jitter(&mut self, most: Duration) -> Duration {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        most * u32::from((mixed ^ (mixed >> 31)) as u16) / u32::from(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CLI-01, case 37: whatever the server says, there are at most 50 polls a second, and one a minute at least.
    #[test]
    fn the_rate_has_bounds() {
        let mut pace = Pace::new(1);
        for (named, expected) in [(0, 20), (1, 20), (20, 20), (700, 700), (1_000_000_000_000, 60_000)] {
            pace.heard(Some(Duration::from_millis(named)));
            assert_eq!(pace.next(false), Duration::from_millis(expected));
        }
    }

    /// CLI-01: without an interval of the server's the polls get rarer, until something happens.
    #[test]
    fn it_backs_off_where_no_interval_is_named() {
        let mut pace = Pace::new(1);
        let first = pace.next(false);
        assert!(pace.next(false) > first);
        for _ in 0..20 {
            pace.next(false);
        }
        assert_eq!(pace.next(false), DEFAULT.1);
        pace.moved();
        assert_eq!(pace.next(false), first);
    }

    /// Case 41: a wait that the server asks for is kept, and never endless.
    #[test]
    fn retry_after_is_kept() {
        let mut pace = Pace::new(7);
        assert!(pace.retry(1, Some(Duration::from_secs(5))) >= Duration::from_secs(5));
        assert!(pace.retry(1, Some(Duration::MAX)) <= MAX_RETRY_AFTER + RETRY.0);
        for failures in 1..100 {
            assert!(pace.retry(failures, None) <= RETRY.1);
        }
    }
}
