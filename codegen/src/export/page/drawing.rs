//! The state machine as a drawing: the state a task begins in above, the one it waits in below, the ends between them, so
//! that no two arrows cross.

use super::html::escaped;
use super::states::{Change, Machine};

/// Width and height of a state.
const STATE: Point = Point { x: 116, y: 40 };
/// Between two ends.
const GAP: i32 = 16;
/// Beside the ends, for the arrows that pass them.
const SIDE: i32 = 76;
/// The upper edges of the three rows.
const ROWS: [i32; 3] = [36, 186, 336];
const HEIGHT: i32 = 384;
const LINE: i32 = 16;

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

/// Where the states stand.
struct Layout<'a> {
    open: Vec<&'a str>,
    ends: Vec<&'a str>,
}

impl Layout<'_> {
    fn width(&self) -> i32 {
        let count = self.count();
        2 * SIDE + count * STATE.x + (count - 1) * GAP
    }

    fn count(&self) -> i32 {
        i32::try_from(self.ends.len()).unwrap_or(i32::MAX / 1000).clamp(1, 100)
    }

    /// The upper left corner of a state.
    fn corner(&self, state: &str) -> Point {
        let middle = (self.width() - STATE.x) / 2;
        if let Some(place) = self.place(state) {
            Point { x: SIDE + place * (STATE.x + GAP), y: ROWS[1] }
        } else if self.open.first() == Some(&state) {
            Point { x: middle, y: ROWS[0] }
        } else {
            Point { x: middle, y: ROWS[2] }
        }
    }

    /// Which of the ends it is.
    fn place(&self, state: &str) -> Option<i32> {
        self.ends.iter().position(|end| *end == state).and_then(|place| i32::try_from(place).ok())
    }
}

/// The drawing as an element of an HTML page.
pub(super) fn svg(machine: &Machine) -> String {
    // The state a task begins in is the first to lead anywhere.
    let layout = Layout { open: machine.open(), ends: machine.ends() };
    let width = layout.width();
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-labelledby=\"states-title states-desc\">\n\
         <title id=\"states-title\">The states of a task</title>\n<desc id=\"states-desc\">{}</desc>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"currentColor\"/></marker></defs>\n",
        escaped(&spoken(machine))
    );
    out += &beginning(&layout, &machine.initial);
    // All lines before all words, so that no line runs over a word.
    let arrows: Vec<Arrow> = machine.transitions.iter().map(|change| arrow(&layout, change)).collect();
    arrows.iter().for_each(|arrow| out += &arrow.line());
    let states = layout.open.iter().chain(&layout.ends);
    states.for_each(|state| out += &self::state(layout.corner(state), state, layout.place(state).is_some()));
    arrows.iter().zip(&machine.transitions).for_each(|(arrow, change)| out += &label(arrow.label, &change.by));
    out + "</svg>\n"
}

/// The table as sentences.
fn spoken(machine: &Machine) -> String {
    let changes = machine.transitions.iter().map(|it| format!("{} to {} by {}.", it.from, it.to, it.by.join(", ")));
    format!("It begins with {}. {}", machine.initial, changes.collect::<Vec<_>>().join(" "))
}

fn beginning(layout: &Layout<'_>, initial: &str) -> String {
    let Point { x, y } = layout.corner(initial);
    let x = x + STATE.x / 2;
    format!("<circle cx=\"{x}\" cy=\"8\" r=\"6\"/>\n<path class=\"arrow\" d=\"M{x} 14V{}\"/>\n", y - 2)
}

struct Arrow {
    path: String,
    label: Point,
}

impl Arrow {
    fn line(&self) -> String {
        format!("<path class=\"arrow\" d=\"{}\"/>\n", self.path)
    }
}

fn arrow(layout: &Layout<'_>, change: &Change) -> Arrow {
    match layout.place(&change.to) {
        Some(place) => to_end(layout, change, place),
        None => around(layout, change),
    }
}

/// Straight, from the side of the state that faces the ends.
fn to_end(layout: &Layout<'_>, change: &Change, place: i32) -> Arrow {
    let (from, to) = (layout.corner(&change.from), layout.corner(&change.to));
    let is_down = from.y < to.y;
    let spread = (2 * place - (layout.count() - 1)) * 18;
    let start = Point { x: from.x + STATE.x / 2 + spread, y: if is_down { from.y + STATE.y } else { from.y } };
    let end = Point { x: to.x + STATE.x / 2, y: if is_down { to.y - 2 } else { to.y + STATE.y + 2 } };
    let label = Point { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
    Arrow { path: format!("M{} {}L{} {}", start.x, start.y, end.x, end.y), label }
}

/// Past the ends: down on the right, up on the left.
fn around(layout: &Layout<'_>, change: &Change) -> Arrow {
    let (from, to) = (layout.corner(&change.from), layout.corner(&change.to));
    let (x, edge, gap) = match from.y < to.y {
        true => (from.x + STATE.x, layout.width() - SIDE / 2, 2),
        false => (from.x, SIDE / 2, -2),
    };
    // The curve is farthest out in its middle, three quarters of the way to this.
    let bend = x + (edge - x) * 4 / 3;
    let (start, end) = (from.y + STATE.y / 2, to.y + STATE.y / 2);
    let path = format!("M{x} {start}C{bend} {start} {bend} {end} {} {end}", x + gap);
    Arrow { path, label: Point { x: edge, y: (start + end) / 2 } }
}

fn state(Point { x, y }: Point, name: &str, is_end: bool) -> String {
    let rect = |inset: i32| {
        let (width, height) = (STATE.x - 2 * inset, STATE.y - 2 * inset);
        let (x, y) = (x + inset, y + inset);
        format!("<rect class=\"state\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n")
    };
    let inner = if is_end { rect(3) } else { String::new() };
    let name = words(Point { x: x + STATE.x / 2, y: y + STATE.y / 2 }, &[name.to_owned()]);
    rect(0) + &inner + &name
}

/// Words on an arrow, which is not seen below them.
fn label(at: Point, lines: &[String]) -> String {
    let size = |count: usize, each: i32| i32::try_from(count).unwrap_or_default() * each + 6;
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let (width, height) = (size(longest, 7), size(lines.len(), LINE));
    let (x, y) = (at.x - width / 2, at.y - height / 2);
    format!("<rect class=\"ground\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n") + &words(at, lines)
}

/// Lines around a point.
fn words(Point { x, y }: Point, lines: &[String]) -> String {
    let count = i32::try_from(lines.len()).unwrap_or_default();
    let first = y + 5 - (count - 1) * LINE / 2;
    let line = |(index, line): (usize, &String)| {
        let y = first + i32::try_from(index).unwrap_or_default() * LINE;
        format!("<text x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(line))
    };
    lines.iter().enumerate().map(line).collect()
}
