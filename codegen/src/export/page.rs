//! The reference page: every message of the newest revision, its members, examples and rules, and the states of a task.
//! It is made once as a [`Page`] and written as Markdown and as HTML.

mod chapters;
mod citations;
mod content;
mod document;
mod drawing;
mod examples;
mod html;
mod json;
mod markdown;
mod message;
mod proofs;
mod prose;
mod rules;
mod shape;
mod sources;
mod states;
mod subject;

pub use sources::Sources;

use super::flavour::Flavour;
use super::intent::{Intent, Rules};
use super::judge::Judge;
use super::{flat, messages};
use crate::emit::OutputFile;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use crate::overlay::Overlay;
use citations::Citations;
use content::Writer;
use document::Page;
use proofs::Proofs;
use prose::Prose;
use shape::Shapes;
use std::collections::BTreeSet;
use subject::Subjects;

/// The page in both forms; of an overlay that names no newest revision, none.
pub(super) fn files(revisions: &[Revision], overlay: &Overlay, intent: &Intent) -> Result<Vec<OutputFile>, Error> {
    let newest = overlay.newest.as_deref();
    let Some(revision) = revisions.iter().find(|revision| Some(revision.name.as_str()) == newest) else {
        return Ok(Vec::new());
    };
    let settings = overlay.revision.get(&revision.name).cloned().unwrap_or_default();
    let (rules, sources) = sources_of(revision, intent)?;
    let strict = Flavour::Strict.apply(flat::definitions(revision)?, revision, &settings, rules);
    let ground = Ground {
        revision,
        rules,
        sources,
        subjects: Subjects::of(revision),
        citations: Citations::of(revision),
        proofs: Proofs::of(intent),
        messages: messages::names(revision, &settings),
    };
    ground.check(revisions, intent, Judge::of(&strict, revision)?)?;
    let page = ground.page();
    ids_differ(&page, &sources.chapters.file)?;
    Ok(vec![
        OutputFile::new("reference.md", markdown::written(&page)),
        OutputFile::new("reference.html", html::written(&page)),
    ])
}

/// What the page of one revision stands on.
struct Ground<'a> {
    revision: &'a Revision,
    rules: &'a Rules,
    sources: &'a Sources,
    subjects: Subjects<'a>,
    citations: Citations,
    proofs: Proofs,
    messages: Vec<&'a str>,
}

impl Ground<'_> {
    /// Checks that what a person wrote is whole, and about what is there.
    fn check(&self, revisions: &[Revision], intent: &Intent, strict: Judge<'_>) -> Result<(), Error> {
        let Self { revision, sources, .. } = self;
        let mut problems = Problems::default();
        citations::check(revisions, intent, &sources.rules.value, &mut problems);
        sources.rules.check(&self.subjects, &self.citations, &mut problems);
        sources.rules.check_proofs(&self.proofs, &mut problems);
        sources.machine.check(revision, &mut problems);
        sources.chapters.check(revisions, revision, &self.messages, &mut problems);
        sources.examples.check(revision, &sources.chapters.value, strict, &mut problems);
        problems.finish(())
    }

    fn page(&self) -> Page {
        let Self { revision, sources, subjects, .. } = self;
        let prose = Prose { subjects, rules: &sources.rules.value };
        let shapes = Shapes { revision, intent: self.rules, prose, chapters: &sources.chapters.value };
        let writer = Writer {
            revision,
            sources,
            subjects,
            citations: &self.citations,
            proofs: &self.proofs,
            shapes,
            messages: &self.messages,
        };
        writer.page()
    }
}

fn sources_of<'a>(revision: &Revision, intent: &'a Intent) -> Result<(&'a Rules, &'a Sources), Error> {
    let rules = intent.revision.get(&revision.name);
    let found = rules.and_then(|rules| Some((rules, rules.page.as_ref()?)));
    found.ok_or_else(|| {
        let help = "bring over the files of the revision before it, and give the revision a table in `export.toml`";
        let said = format!("the newest revision, {}, has no `page.toml` beside its schemas", revision.name);
        Problem::new(&intent.file, format!("/revision/{}", revision.name), said).help(help).into()
    })
}

/// A link leads to one place.
fn ids_differ(page: &Page, file: &str) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    let mut problems = Problems::default();
    for id in page.ids() {
        if let Some(id) = seen.replace(id) {
            problems.push(Problem::new(file, "", format!("two headings of the page would be `#{id}`")));
        }
    }
    problems.finish(())
}
