//! Where requirements are named: in the descriptions of the schemas, in `export.toml`, `vectors.json` and conversations.

use super::rules::Rulebook;
use crate::error::{Problem, Problems};
use crate::export::intent::{Intent, Rules};
use crate::export::words;
use crate::ir::Revision;

/// The definitions that cite a requirement, in the order of the schemas.
pub(super) struct Citations(Vec<(String, String)>);

impl Citations {
    /// What the descriptions of a revision cite.
    pub(super) fn of(revision: &Revision) -> Self {
        let cited = revision.definitions().flat_map(|definition| {
            words::requirements(&definition.docs).map(|id| (id.to_owned(), definition.name.clone()))
        });
        Self(cited.collect())
    }

    /// The definitions whose description cites `id`.
    pub(super) fn definitions(&self, id: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(cited, _)| cited == id).map(|(_, name)| name.as_str())
    }
}

/// Checks that what is cited anywhere is a rule.
pub(super) fn check(revisions: &[Revision], intent: &Intent, rulebook: &Rulebook, problems: &mut Problems) {
    let mut check = |file: &str, pointer: String, id: &str| {
        if !rulebook.rule.contains_key(id) {
            let help = "mend the ID, or add the rule to `rules.toml`";
            problems.push(Problem::new(file, pointer, format!("there is no rule {id}")).help(help));
        }
    };
    for definition in revisions.iter().flat_map(Revision::definitions) {
        for id in words::requirements(&definition.docs) {
            check(&definition.file, format!("{}/description", definition.pointer), id);
        }
    }
    for (revision, rules) in &intent.revision {
        for (member, ids) in &rules.requirements {
            for (index, id) in ids.iter().enumerate() {
                check(&intent.file, format!("/revision/{revision}/requirements/{member}/{index}"), id);
            }
        }
        for (pointer, id) in of_messages(rules) {
            check(&rules.messages_file, pointer, id);
        }
        for conversation in &rules.conversations {
            for (index, id) in conversation.requirements.iter().enumerate() {
                check(&conversation.file, format!("/requirements/{index}"), id);
            }
        }
    }
}

/// The requirements of messages written by hand, with the place of each.
fn of_messages(rules: &Rules) -> impl Iterator<Item = (String, &str)> {
    rules.messages.iter().enumerate().flat_map(|(message, written)| {
        let ids = written.requirements.iter().enumerate();
        ids.map(move |(index, id)| (format!("/{message}/requirements/{index}"), id.as_str()))
    })
}
