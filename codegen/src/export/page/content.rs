//! What stands on the page, in order.

use super::chapters::{Chapter, Entry, ErrorCode, Other};
use super::citations::Citations;
use super::document::{Block, Page, Section, Span, Table, Target, Text, Title, listed};
use super::examples::{Example, shown_under};
use super::json;
use super::message;
use super::proofs::Proofs;
use super::prose::Prose;
use super::rules::{EXCHANGE, Rule};
use super::shape::Shapes;
use super::sources::Sources;
use super::states::Machine;
use super::subject::{Subjects, method};
use crate::export::{bundle, status, words};
use crate::ir::{Content, Definition, Part, Revision, Shape};

/// Writes the page of one revision.
pub(super) struct Writer<'a> {
    pub(super) revision: &'a Revision,
    pub(super) sources: &'a Sources,
    pub(super) subjects: &'a Subjects<'a>,
    pub(super) citations: &'a Citations,
    pub(super) proofs: &'a Proofs,
    pub(super) shapes: Shapes<'a>,
    /// The definitions with a schema file of their own.
    pub(super) messages: &'a [&'a str],
}

impl Writer<'_> {
    pub(super) fn page(&self) -> Page {
        let chapters = &self.sources.chapters.value;
        let mut sections: Vec<Section> = chapters.chapter.iter().map(|chapter| self.chapter(chapter)).collect();
        sections.push(self.states());
        sections.push(self.error_codes());
        sections.push(self.rules());
        let mut parts: Vec<&Part> = self.revision.parts.iter().collect();
        // The extension before what it leans on.
        parts.sort_by_key(|part| part.name == "core");
        sections.extend(parts.into_iter().map(|part| self.types(part)));
        sections.extend(chapters.other.iter().map(|other| self.other(other)));
        Page {
            title: chapters.title.clone(),
            origin: bundle::origin(&self.revision.name),
            opening: self.opening(),
            sections,
        }
    }

    fn prose(&self) -> Prose<'_> {
        self.shapes.prose
    }

    fn paragraph(&self, sentence: &str) -> Block {
        Block::Paragraph(self.prose().text(sentence))
    }

    fn opening(&self) -> Vec<Block> {
        let strengths = "Rules have an ID and a strength: MUST, SHOULD and MAY as the specification means them, and own for \
                         what it leaves open and mcp-tasks holds to. Each example is valid by the strict schema.";
        vec![self.paragraph(&self.sources.chapters.value.says), self.paragraph(strengths)]
    }

    fn chapter(&self, chapter: &Chapter) -> Section {
        Section {
            title: Title::Words(chapter.title.clone()),
            blocks: vec![self.paragraph(&chapter.says)],
            sections: chapter.messages.iter().filter_map(|entry| self.message(entry)).collect(),
        }
    }

    fn message(&self, entry: &Entry) -> Option<Section> {
        let definition = self.revision.get(&entry.name)?;
        let name = definition.name.as_str();
        let mut section = self.definition(definition);
        section.blocks.insert(0, Block::Remark(self.facts(entry, definition)));
        if let Shape::Tagged(union) = &definition.shape
            && union.arms.iter().all(|arm| !self.has_place(&arm.target))
        {
            section.blocks.push(self.shapes.members_of_arms(name, union));
        }
        let parts = message::parts(self.revision, name);
        section.sections.extend(parts.iter().filter_map(|part| Some(self.definition(self.revision.get(part)?))));
        section.sections.push(self.examples(name));
        section.sections.extend(self.rules_of_message(name));
        Some(section)
    }

    /// Who sends it, under which method, and where its schema is.
    fn facts(&self, entry: &Entry, definition: &Definition) -> Text {
        let mut facts = vec![Span::words(format!("From {}", entry.from.direction()))];
        if let Some(method) = method(definition) {
            facts.extend([Span::words("; method "), Span::code(method)]);
        }
        if self.messages.contains(&entry.name.as_str()) {
            for (before, flavour) in [("; schema: ", "strict"), (", ", "tolerant")] {
                let path =
                    format!("schema/{}/2020-12/{flavour}/messages/{}.schema.json", self.revision.name, entry.name);
                facts.extend([Span::words(before), to_file(path, Span::words(flavour))]);
            }
        }
        facts.extend(words::source(&definition.docs).map(|source| Span::words(format!("; from {source}"))));
        facts
    }

    fn definition(&self, definition: &Definition) -> Section {
        Section {
            title: Title::Name(definition.name.clone()),
            blocks: self.shapes.of(definition),
            sections: Vec::new(),
        }
    }

    fn examples(&self, name: &str) -> Section {
        let sources = self.sources;
        let examples = shown_under(name, &sources.examples.value, self.revision, &sources.chapters.value);
        let code = |example: &Example| Block::Code {
            caption: self.prose().text(&example.says),
            json: json::laid_out(&example.message),
        };
        Section {
            title: Title::Words(format!("{name}: examples")),
            blocks: examples.map(code).collect(),
            sections: Vec::new(),
        }
    }

    /// The rules of a message: those of all it is made of, and those that are about it.
    fn rules_of_message(&self, name: &str) -> Option<Section> {
        let covered = message::covers(self.revision, &self.sources.chapters.value, name);
        let rules = &self.sources.rules.value;
        let is_of = |id: &str| self.places(id).iter().any(|place| covered.contains(place));
        let lines = rules.rule.iter().filter(|(id, _)| is_of(id)).map(|(id, rule)| {
            let head = [Span::link(id, Span::words(id)), Span::words(format!(" {}: ", rule.strength.word()))];
            head.into_iter().chain(self.prose().text(&rule.says)).collect()
        });
        let lines: Vec<Text> = lines.collect();
        (!lines.is_empty()).then(|| Section {
            title: Title::Words(format!("{name}: rules")),
            blocks: vec![Block::List(lines)],
            sections: Vec::new(),
        })
    }

    /// The definitions that a rule is about.
    fn places(&self, id: &str) -> Vec<&str> {
        let about = self.sources.rules.value.rule.get(id).map(|rule| rule.about.as_slice()).unwrap_or_default();
        let about = about.iter().filter_map(|subject| self.subjects.find(subject));
        self.citations.definitions(id).chain(about).collect()
    }

    fn has_place(&self, name: &str) -> bool {
        self.sources.chapters.value.names().any(|placed| placed == name)
    }

    fn states(&self) -> Section {
        let machine = &self.sources.machine.value;
        let status = |name: &String| vec![Span::code(name)];
        let rows = machine
            .transitions
            .iter()
            .map(|it| vec![status(&it.from), status(&it.to), vec![Span::words(it.by.join(", "))]]);
        let causes = machine.causes.iter().map(|(cause, says)| vec![vec![Span::words(cause)], self.prose().text(says)]);
        let opening = format!(
            "A task usually begins with `{}`, and ours always do. What nothing leads out of is final: TSK-08, TSK-09.",
            machine.initial
        );
        Section {
            title: Title::Words("States of a task".to_owned()),
            blocks: vec![
                self.paragraph(&opening),
                Block::Machine(Machine::clone(machine)),
                Block::Table(table("What leads from state to state", &["From", "To", "By"], rows.collect())),
                Block::Table(table("What the causes are", &["Cause", "Meaning"], causes.collect())),
            ],
            sections: Vec::new(),
        }
    }

    fn error_codes(&self) -> Section {
        let fixed = self.revision.definitions().filter_map(|definition| {
            let name = definition.name.as_str();
            let label = Span::link(name, Span::words(definition.docs.title.as_deref().unwrap_or(name)));
            Some((fixed_code(definition)?, label, words::text(&definition.docs)))
        });
        let ours =
            self.sources.chapters.value.error.iter().map(|ErrorCode { code, title, data, says }| {
                (*code, Span::link(data, Span::words(title)), says.as_str())
            });
        let mut codes: Vec<_> = fixed.chain(ours).collect();
        codes.sort_by_key(|(code, ..)| *code);
        let rows = codes.into_iter().map(|(code, label, says)| {
            let status = status::of_error(code).map(|status| Span::words(status.to_string()));
            vec![vec![Span::code(code.to_string())], vec![label], status.into_iter().collect(), self.prose().text(says)]
        });
        Section {
            title: Title::Words("Error codes".to_owned()),
            blocks: vec![Block::Table(table(
                "Error codes",
                &["Code", "Name", "HTTP status", "Meaning"],
                rows.collect(),
            ))],
            sections: Vec::new(),
        }
    }

    fn rules(&self) -> Section {
        let rules = &self.sources.rules.value;
        let area = |(letters, title): (&String, &String)| {
            let rows = rules.of_area(letters).map(|(id, rule)| {
                let strength = vec![Span::words(rule.strength.word())];
                let says = self.prose().text(&rule.says);
                vec![vec![Span::Anchor(id.clone())], strength, says, self.whereabouts(id), self.proofs_of(id, rule)]
            });
            Section {
                title: Title::Words(format!("{letters}: {title}")),
                blocks: vec![Block::Table(table(
                    title,
                    &["ID", "Strength", "Rule", "Where", "Shown by"],
                    rows.collect(),
                ))],
                sections: Vec::new(),
            }
        };
        Section {
            title: Title::Words("Rules".to_owned()),
            blocks: vec![self.rules_opening()],
            sections: rules.area.iter().map(area).collect(),
        }
    }

    /// Links to what a rule is about.
    fn whereabouts(&self, id: &str) -> Text {
        let mut links: Text = self.places(id).iter().map(|name| Span::link(name, Span::code(*name))).collect();
        let rule = self.sources.rules.value.rule.get(id);
        links.extend(
            rule.filter(|rule| rule.about.iter().any(|it| it == EXCHANGE)).map(|_| Span::words("the exchange")),
        );
        listed(links.into_iter().map(|link| vec![link]))
    }

    /// Links to the conversations that show a rule, or why there is none.
    fn proofs_of(&self, id: &str, rule: &Rule) -> Text {
        match &rule.unseen {
            Some(why) => self.prose().text(why),
            None => listed(self.proofs.of_rule(id).map(|(name, file)| vec![to_file(file, Span::words(name))])),
        }
    }

    fn rules_opening(&self) -> Block {
        let mut text =
            self.prose().text("All rules by ID. Tests of mcp-tasks name the rule they prove. What shows a rule is a ");
        text.extend([
            to_file("vectors/conversations.md".to_owned(), Span::words("conversation")),
            Span::words(" to replay."),
        ]);
        Block::Paragraph(text)
    }

    /// The definitions of a document that do not stand with a message.
    fn types(&self, part: &Part) -> Section {
        let named: Vec<&str> = self.sources.chapters.value.names().collect();
        let stands =
            |name: &str| named.iter().any(|it| *it == name || message::parts(self.revision, it).contains(&name));
        let rest = part.definitions.iter().filter(|definition| !stands(&definition.name));
        Section {
            title: Title::Words(format!("Types of {}", part.name)),
            blocks: part.docs.description.iter().map(|text| self.paragraph(text)).collect(),
            sections: rest.map(|definition| self.typed(definition)).collect(),
        }
    }

    /// A definition with its own rules in a line.
    fn typed(&self, definition: &Definition) -> Section {
        let mut section = self.definition(definition);
        let mut ids: Vec<&str> = words::requirements(&definition.docs).collect();
        let about = self.sources.rules.value.rule.iter().filter(|(_, rule)| rule.about.contains(&definition.name));
        ids.extend(about.map(|(id, _)| id.as_str()));
        let before = (!ids.is_empty()).then(|| Span::words("Rules: "));
        let rules = listed(ids.into_iter().map(|id| vec![Span::link(id, Span::words(id))]));
        let mut remark: Text = before.into_iter().chain(rules).collect();
        if let Some(source) = words::source(&definition.docs) {
            let before = if remark.is_empty() { "From" } else { "; from" };
            remark.push(Span::words(format!("{before} {source}")));
        }
        section.blocks.push(Block::Remark(remark));
        section
    }

    fn other(&self, other: &Other) -> Section {
        let path = format!("schema/{}/2020-12/strict/bundle.schema.json", other.revision);
        let link = vec![Span::words("Schema: "), to_file(path.clone(), Span::code(path)), Span::words(".")];
        Section {
            title: Title::Words(other.title.clone()),
            blocks: vec![self.paragraph(&other.says), Block::Paragraph(link)],
            sections: Vec::new(),
        }
    }
}

/// The code of an error object that can have no other.
fn fixed_code(definition: &Definition) -> Option<i64> {
    let Shape::Object(object) = &definition.shape else { return None };
    match object.field("code")?.content {
        Content::ConstantInteger(code) => Some(code),
        _ => None,
    }
}

fn table(label: &str, head: &[&'static str], rows: Vec<Vec<Text>>) -> Table {
    Table { label: label.to_owned(), head: head.to_vec(), rows }
}

fn to_file(path: String, label: Span) -> Span {
    Span::Link { to: Target::File(path), label: Box::new(label) }
}
