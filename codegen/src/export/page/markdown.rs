//! The page as Markdown, as GitHub reads it.

use super::document::{Block, Page, Section, Span, Table, Target, Text, Title, id};
use super::states::Machine;

/// The whole file.
pub(super) fn written(page: &Page) -> String {
    let mut out = format!("<!-- {} -->\n\n# {}\n", page.origin, escaped(&page.title));
    out += &blocks(&page.opening);
    out += "\n";
    for section in &page.sections {
        out += &format!("- {}\n", link(&section.title.id(), &heading(&section.title)));
    }
    page.sections.iter().for_each(|part| section(part, 2, &mut out));
    out
}

fn section(section_: &Section, level: usize, out: &mut String) {
    out.push_str(&format!("\n{} {}\n", "#".repeat(level), heading(&section_.title)));
    out.push_str(&blocks(&section_.blocks));
    section_.sections.iter().for_each(|inner| section(inner, level + 1, out));
}

fn heading(title: &Title) -> String {
    match title {
        Title::Words(words) => escaped(words),
        Title::Name(name) => code(name),
    }
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(|it| format!("\n{}\n", block(it))).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(words) | Block::Remark(words) => text(words),
        Block::List(items) => items.iter().map(|item| format!("- {}", text(item))).collect::<Vec<_>>().join("\n"),
        Block::Table(it) => table(it),
        Block::Code { caption, json } => format!("{}\n\n```json\n{json}\n```", text(caption)),
        Block::Machine(machine) => mermaid(machine),
    }
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = line(table.head.iter().map(|head| (*head).to_owned()).collect());
    let rule = format!("|{}", "---|".repeat(table.head.len()));
    // In code a backslash is one, save before the bar that would end the cell.
    let cells = |row: &Vec<Text>| row.iter().map(|cell| text(cell).replace('|', "\\|")).collect();
    let rows = table.rows.iter().map(|row| line(cells(row)));
    [head, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn mermaid(machine: &Machine) -> String {
    let mut lines = vec!["```mermaid".to_owned(), "stateDiagram-v2".to_owned()];
    lines.push(format!("    [*] --> {}", machine.initial));
    for change in &machine.transitions {
        lines.push(format!("    {} --> {}: {}", change.from, change.to, change.by.join(", ")));
    }
    lines.extend(machine.ends().into_iter().map(|end| format!("    {end} --> [*]")));
    lines.push("```".to_owned());
    lines.join("\n")
}

fn text(text: &Text) -> String {
    text.iter().map(span).collect()
}

fn span(it: &Span) -> String {
    match it {
        Span::Words(words) => escaped(words),
        Span::Code(text) => code(text),
        Span::Link { to: Target::Here(id), label } => link(id, &span(label)),
        Span::Link { to: Target::File(path), label } => format!("[{}]({path})", span(label)),
        Span::Anchor(label) => format!("<a id=\"{}\"></a>{}", id(label), escaped(label)),
    }
}

fn link(id: &str, label: &str) -> String {
    format!("[{label}](#{id})")
}

fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn escaped(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for char in words.chars() {
        if matches!(char, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}
