//! The page as one HTML file that loads nothing.

use super::document::{Block, Page, Section, Span, Table, Target, Text, Title, id};
use super::drawing;

const STYLE: &str = include_str!("style.css");

/// The whole file.
pub(super) fn written(page: &Page) -> String {
    let title = escaped(&page.title);
    let mut body = String::new();
    page.opening.iter().for_each(|it| block(it, &mut body));
    page.sections.iter().for_each(|it| section(it, 2, &mut body));
    format!(
        "<!DOCTYPE html>\n<!-- {origin} -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#{top}\">To the text</a>\n{contents}<main>\n<h1 id=\"{top}\">{title}</h1>\n\
         {body}</main>\n<footer><p>{origin}</p></footer>\n</body>\n</html>\n",
        origin = escaped(&page.origin),
        top = id(&page.title),
        contents = contents(page),
    )
}

fn contents(page: &Page) -> String {
    let mut out = "<nav aria-label=\"Contents\">\n<p>Contents</p>\n<ul>\n".to_owned();
    for part in &page.sections {
        out += &format!("<li>{}", entry(&part.title));
        if !part.sections.is_empty() {
            let inner: String = part.sections.iter().map(|it| format!("<li>{}</li>\n", entry(&it.title))).collect();
            out += &format!("\n<ul>\n{inner}</ul>\n");
        }
        out += "</li>\n";
    }
    out + "</ul>\n</nav>\n"
}

fn entry(title: &Title) -> String {
    format!("<a href=\"#{}\">{}</a>", title.id(), escaped(title.text()))
}

fn section(part: &Section, level: usize, out: &mut String) {
    let heading = match &part.title {
        Title::Words(words) => escaped(words),
        Title::Name(name) => code(name),
    };
    let id = part.title.id();
    out.push_str(&format!("<section>\n<h{level} id=\"{id}\">{heading}</h{level}>\n"));
    part.blocks.iter().for_each(|it| block(it, out));
    part.sections.iter().for_each(|it| section(it, level + 1, out));
    out.push_str("</section>\n");
}

fn block(block: &Block, out: &mut String) {
    let written = match block {
        Block::Paragraph(words) => format!("<p>{}</p>\n", text(words)),
        Block::Remark(words) => format!("<p class=\"remark\">{}</p>\n", text(words)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", text(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table(it) => table(it),
        Block::Code { caption, json } => {
            // It scrolls sideways where it is too wide, with a keyboard too.
            let label = "role=\"group\" tabindex=\"0\" aria-label=\"Example\"";
            let caption = text(caption);
            format!(
                "<figure>\n<figcaption>{caption}</figcaption>\n<pre {label}><code>{}</code></pre>\n</figure>\n",
                escaped(json)
            )
        }
        Block::Machine(machine) => format!("<figure class=\"drawing\">\n{}</figure>\n", drawing::svg(machine)),
    };
    out.push_str(&written);
}

fn table(table: &Table) -> String {
    let kind = table.head.first().map(|head| id(head)).unwrap_or_default();
    let head: String = table.head.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    let rows: String = table.rows.iter().map(|row| self::row(row)).collect();
    format!(
        "<table class=\"{kind}\" aria-label=\"{}\">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n",
        escaped(&table.label)
    )
}

fn row(cells: &[Text]) -> String {
    let cell = |(index, cell): (usize, &Text)| match (index, cell.as_slice()) {
        (0, [Span::Anchor(label)]) => format!("<th scope=\"row\" id=\"{}\">{}</th>", id(label), escaped(label)),
        (0, cell) => format!("<th scope=\"row\">{}</th>", text(cell)),
        (_, cell) => format!("<td>{}</td>", text(cell)),
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<tr>{cells}</tr>\n")
}

fn text(text: &[Span]) -> String {
    text.iter().map(span).collect()
}

fn span(it: &Span) -> String {
    match it {
        Span::Words(words) => escaped(words),
        Span::Code(text) => code(text),
        Span::Link { to: Target::Here(id), label } => format!("<a href=\"#{id}\">{}</a>", span(label)),
        Span::Link { to: Target::File(path), label } => format!("<a href=\"{}\">{}</a>", escaped(path), span(label)),
        Span::Anchor(label) => format!("<span id=\"{}\">{}</span>", id(label), escaped(label)),
    }
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Text as it may stand in an element and in a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
