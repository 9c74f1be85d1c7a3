//! Group commit under a model checker, which chooses what runs when: every guarantee of the module, in thousands of orders.

use std::sync::Arc;

use shuttle::{
    future::block_on,
    rand::{Rng, thread_rng},
    sync::{Condvar, Mutex},
    thread,
};

use super::*;

/// The monitor that the model checker sees into.
struct Modelled<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T: Send> Monitor<T> for Modelled<T> {
    fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Condvar::new() }
    }

    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut self.value.lock().expect("no panic"));
        self.changed.notify_one();
        changed
    }

    fn change_for_all<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut self.value.lock().expect("no panic"));
        self.changed.notify_all();
        changed
    }

    fn wait_for<R>(&self, mut ready: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut value = self.value.lock().expect("no panic");
        loop {
            if let Some(ready) = ready(&mut value) {
                return ready;
            }
            value = self.changed.wait(value).expect("no panic");
        }
    }
}

/// What has happened to the jobs.
#[derive(Default)]
struct World {
    /// What is on the disk, in that order.
    durable: Mutex<Vec<u32>>,
    /// Commits that the disk refused.
    refused: Mutex<Vec<Vec<u32>>>,
    answers: Mutex<Vec<(u32, Result<(), &'static str>)>>,
}

const ROTTEN: &str = "rotten";
const DISK: &str = "disk";

struct Write {
    number: u32,
    rotten: bool,
    world: Arc<World>,
}

impl Job<&'static str> for Write {
    fn answer(self, ended: Result<(), &'static str>) {
        let durable = self.world.durable.lock().expect("no panic").contains(&self.number);
        match ended {
            Ok(()) => assert!(durable, "{} was acknowledged and is not there", self.number),
            Err(_) => assert!(!durable, "{} is there and failed", self.number),
        }
        self.world.answers.lock().expect("no panic").push((self.number, ended));
    }
}

/// A disk that fails now and then.
struct Disk {
    world: Arc<World>,
    fails: bool,
}

impl Ledger for Disk {
    type Job = Write;
    type Failure = &'static str;

    fn commit(&mut self, jobs: &mut [Write]) -> Result<(), Failed<&'static str>> {
        if jobs.iter().any(|job| job.rotten) {
            return Err(Failed::Job(ROTTEN));
        }
        thread::yield_now();
        let numbers: Vec<u32> = jobs.iter().map(|job| job.number).collect();
        if self.fails && thread_rng().gen_range(0..4) == 0 {
            self.world.refused.lock().expect("no panic").push(numbers);
            return Err(Failed::All(DISK));
        }
        self.world.durable.lock().expect("no panic").extend(numbers);
        Ok(())
    }
}

/// Three clients submit three jobs each, one of nine rotten; the queue has room for two, and is closed at the end, or in
/// the midst of it.
fn play(fails: bool, closed_early: bool) {
    let world = Arc::new(World::default());
    let queue: Arc<Queue<Write, Modelled<_>>> = Arc::new(Queue::new(2));
    let writer = thread::spawn({
        let (queue, disk) = (Arc::clone(&queue), Disk { world: Arc::clone(&world), fails });
        move || drop(serve(&queue, disk))
    });
    let clients: Vec<_> = (0..3).map(|client| thread::spawn(submits(client, &queue, &world))).collect();
    if closed_early {
        queue.close();
    } else {
        queue.nudge();
    }
    let taken: Vec<u32> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
    queue.close();
    writer.join().expect("no panic");
    check(&world, &taken, closed_early);
}

/// A client: the numbers of those of its jobs that were taken.
fn submits(
    client: u32,
    queue: &Arc<Queue<Write, Modelled<Waiting<Write>>>>,
    world: &Arc<World>,
) -> impl FnOnce() -> Vec<u32> + Send + 'static {
    let (queue, world) = (Arc::clone(queue), Arc::clone(world));
    move || {
        let numbers = (0..3).map(|n| client * 10 + n);
        let taken = numbers.filter(|number| {
            let job = Write { number: *number, rotten: *number == 11, world: Arc::clone(&world) };
            block_on(queue.submit(job)).is_ok()
        });
        taken.collect()
    }
}

fn check(world: &World, taken: &[u32], closed_early: bool) {
    assert!(closed_early || taken.len() == 9, "a queue that is open takes every job");
    let answers = world.answers.lock().expect("no panic");
    let mut answered: Vec<u32> = answers.iter().map(|(number, _)| *number).collect();
    answered.sort_unstable();
    let mut expected = taken.to_vec();
    expected.sort_unstable();
    assert_eq!(answered, expected, "each job that was taken is answered once");
    let refused = world.refused.lock().expect("no panic").concat();
    for (number, ended) in answers.iter() {
        let expected = match number {
            11 => Err(ROTTEN),
            _ if refused.contains(number) => Err(DISK),
            _ => Ok(()),
        };
        assert_eq!(*ended, expected, "{number}");
    }
    let durable = world.durable.lock().expect("no panic");
    for client in 0..3 {
        let order: Vec<&u32> = durable.iter().filter(|number| **number / 10 == client).collect();
        assert!(order.is_sorted(), "{order:?}");
    }
}

/// NEW-01: each call is answered once, and after what it did is on the disk, however threads interleave.
#[test]
fn jobs_are_answered_once_and_after_their_commit() {
    shuttle::check_random(|| play(false, false), 1_000);
    shuttle::check_pct(|| play(false, false), 1_000, 3);
}

/// NEW-03: a commit that the disk refuses is nobody's success, and a job that fails undoes no other.
#[test]
fn failures_are_told_to_whom_they_concern() {
    shuttle::check_random(|| play(true, false), 1_000);
}

/// A queue that is closed ends what it has, and nobody waits for ever.
#[test]
fn a_closed_queue_ends_what_it_has() {
    shuttle::check_random(|| play(true, true), 1_000);
    shuttle::check_pct(|| play(true, true), 1_000, 3);
}

/// Readers take a job each.
#[test]
fn threads_share_a_queue() {
    shuttle::check_random(
        || {
            let queue: Arc<Queue<u32, Modelled<_>>> = Arc::new(Queue::new(2));
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    let queue = Arc::clone(&queue);
                    thread::spawn(move || std::iter::from_fn(|| queue.take_one()).collect::<Vec<_>>())
                })
                .collect();
            (0..6).for_each(|job| block_on(queue.submit(job)).expect("it is open"));
            queue.close();
            let mut taken: Vec<u32> = readers.into_iter().flat_map(|reader| reader.join().expect("no panic")).collect();
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
        },
        1_000,
    );
}

/// A thread that panics leaves nobody waiting: its queue takes nothing more, and what it had is dropped.
#[test]
fn a_panic_closes_the_queue() {
    struct Panics;
    struct Told(tokio::sync::oneshot::Sender<()>);
    impl Job<()> for Told {
        fn answer(self, _: Result<(), ()>) {
            let _ = self.0.send(());
        }
    }
    impl Ledger for Panics {
        type Job = Told;
        type Failure = ();
        fn commit(&mut self, _: &mut [Told]) -> Result<(), Failed<()>> {
            panic!("on purpose")
        }
    }
    let queue: Arc<Queue<Told>> = Arc::new(Queue::new(8));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let (told, answer) = tokio::sync::oneshot::channel();
        queue.submit(Told(told)).await.expect("it is open");
        let thread = std::thread::spawn({
            let queue = Arc::clone(&queue);
            move || drop(serve(&queue, Panics))
        });
        assert!(answer.await.is_err());
        assert!(thread.join().is_err());
        let (told, _) = tokio::sync::oneshot::channel();
        assert!(queue.submit(Told(told)).await.is_err());
    });
}
