//! Measures contenders side by side.
//!
//! The machine is shared, so a time by itself says little. All contenders take turns in short slices, many rounds over.
//! What counts is the CPU time of the process, which leaves out the turns of others, and of each contender the median.
//! What is reported are ratios of one run.

pub mod http;

use cpu_time::ProcessTime;
use schemars08::schema::RootSchema;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;
use std::time::Duration;
use typify::{TypeSpace, TypeSpaceSettings};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// How often each contender has its turn.
    pub rounds: usize,
    /// How long a turn should last; a contender that takes longer runs once.
    pub slice: Duration,
}

/// One of several ways to do the same thing. What it returns says what came out, so that nothing is optimised away.
pub struct Contender<'a> {
    name: &'static str,
    turn: Turn<'a>,
}

enum Turn<'a> {
    /// Repeated until it fills a slice.
    Repeated(Box<dyn FnMut() -> u64 + 'a>),
    /// Once in each round.
    Timed(Box<dyn FnMut() -> (f64, u64) + 'a>),
}

impl<'a> Contender<'a> {
    /// A contender under a name.
    pub fn new(name: &'static str, run: impl FnMut() -> u64 + 'a) -> Self {
        Self { name, turn: Turn::Repeated(Box::new(run)) }
    }

    /// A contender that must prepare something each time, or is not to be measured by CPU time: it says how many
    /// nanoseconds one of what it did took, and what came out.
    pub fn timed(name: &'static str, run: impl FnMut() -> (f64, u64) + 'a) -> Self {
        Self { name, turn: Turn::Timed(Box::new(run)) }
    }

    /// Takes a turn: nanoseconds for one of what it does, and what came out.
    fn turn(&mut self, repeats: u32) -> (f64, u64) {
        match &mut self.turn {
            Turn::Timed(run) => run(),
            Turn::Repeated(run) => {
                let start = ProcessTime::now();
                let sum = (0..repeats).fold(0_u64, |sum, _| sum.wrapping_add(run()));
                (start.elapsed().as_nanos() as f64 / f64::from(repeats), sum / u64::from(repeats))
            }
        }
    }
}

/// What a contender took, in nanoseconds.
struct Taken {
    name: &'static str,
    least: f64,
    median: f64,
}

/// The outcome of a race.
pub struct Race(Vec<Taken>);

impl Race {
    /// Lets contenders take turns, prints what each took and a hash of what came out. The first is the measure of all.
    pub fn run(title: &str, size: Size, mut contenders: Vec<Contender<'_>>) -> Self {
        let mut outcomes = DefaultHasher::new();
        let repeats: Vec<u32> = contenders.iter_mut().map(|contender| repeats(contender, size.slice)).collect();
        let mut times = vec![Vec::with_capacity(size.rounds); contenders.len()];
        for _ in 0..size.rounds {
            for (index, contender) in contenders.iter_mut().enumerate() {
                let (nanoseconds, outcome) = contender.turn(repeats[index]);
                times[index].push(nanoseconds);
                outcome.hash(&mut outcomes);
            }
        }
        let taken = contenders.iter().zip(times).map(|(contender, times)| Taken::of(contender.name, times));
        let race = Self(taken.collect());
        race.print(title, outcomes.finish());
        race
    }

    /// How many times as long the one took as the other.
    pub fn ratio(&self, one: &str, other: &str) -> f64 {
        self.median(one) / self.median(other)
    }

    /// The nanoseconds of a contender's middle turn.
    pub fn median(&self, name: &str) -> f64 {
        self.0.iter().find(|taken| taken.name == name).expect("a contender of the race").median
    }

    fn print(&self, title: &str, hash: u64) {
        println!("{title} (outcome {hash:016x})");
        let first = self.0[0].median;
        for Taken { name, least, median } in &self.0 {
            println!("  {name:<24} {median:>14.0} ns  least {least:>14.0} ns  ratio {:>7.2}", median / first);
        }
    }
}

impl Taken {
    fn of(name: &'static str, mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { name, least: times[0], median: times[times.len() / 2] }
    }
}

/// How often a contender runs in one turn.
fn repeats(contender: &mut Contender<'_>, slice: Duration) -> u32 {
    let Turn::Repeated(run) = &mut contender.turn else { return 1 };
    let mut repeats = 1;
    loop {
        let start = ProcessTime::now();
        for _ in 0..repeats {
            run();
        }
        if start.elapsed() >= slice || repeats >= 1 << 20 {
            return repeats;
        }
        repeats *= 2;
    }
}

/// What is to be reached, and whether it was.
#[derive(Default)]
pub struct Goals {
    short: usize,
}

impl Goals {
    /// A value that should be at most this.
    pub fn at_most(&mut self, name: &str, value: f64, bound: f64) {
        self.line(name, value, "<=", bound, value <= bound);
    }

    /// A value that should be at least this.
    pub fn at_least(&mut self, name: &str, value: f64, bound: f64) {
        self.line(name, value, ">=", bound, value >= bound);
    }

    fn line(&mut self, name: &str, value: f64, relation: &str, bound: f64, reached: bool) {
        self.short += usize::from(!reached);
        println!("goal {name}: {value:.2} ({relation} {bound}) {}", if reached { "ok" } else { "short" });
    }

    /// Failure only if asked to be strict and a goal is short: on a busy machine a ratio may slip.
    pub fn exit_code(&self, strict: bool) -> ExitCode {
        ExitCode::from(u8::from(strict && self.short > 0))
    }
}

/// What typify writes for a schema, laid out by prettyplease as ours is.
///
/// # Panics
/// It cannot take the schema.
pub fn typify_rust(root: Value) -> String {
    let schema: RootSchema = serde_json::from_value(root).expect("a schema");
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    space.add_root_schema(schema).expect("typify takes the schema");
    prettyplease::unparse(&syn::parse2(space.to_stream()).expect("typify writes Rust"))
}
