//! Which conversations show that a rule is kept.

use super::rules::Rulebook;
use super::sources::Read;
use crate::error::Problems;
use crate::export::intent::Intent;

/// Conversations by the requirements they prove.
pub(super) struct Proofs(Vec<Proof>);

/// One conversation that proves one requirement.
struct Proof {
    rule: String,
    revision: String,
    conversation: String,
}

impl Proofs {
    /// What the conversations of all revisions prove.
    pub(super) fn of(intent: &Intent) -> Self {
        let conversations = intent
            .revision
            .iter()
            .flat_map(|(revision, rules)| rules.conversations.iter().map(move |conversation| (revision, conversation)));
        let proofs = conversations.flat_map(|(revision, conversation)| {
            conversation.requirements.iter().map(|rule| Proof {
                rule: rule.clone(),
                revision: revision.clone(),
                conversation: conversation.name.clone(),
            })
        });
        Self(proofs.collect())
    }

    /// The conversations that prove a rule: name, and file from `generated/`.
    pub(super) fn of_rule(&self, id: &str) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().filter(move |proof| proof.rule == id).map(|proof| {
            let file = format!("vectors/{}/conversations/{}.json", proof.revision, proof.conversation);
            (proof.conversation.as_str(), file)
        })
    }
}

impl Read<Rulebook> {
    /// Checks that each rule is shown by a conversation, or says why it cannot be.
    pub(super) fn check_proofs(&self, proofs: &Proofs, problems: &mut Problems) {
        for (id, rule) in &self.value.rule {
            let proof = proofs.of_rule(id).next();
            match (proof, &rule.unseen) {
                (None, None) => {
                    let help = "write one, or say why none can in `unseen`";
                    problems.push(self.problem(format!("/rule/{id}"), "no conversation shows it").help(help));
                }
                (Some((name, _)), Some(_)) => {
                    let said = format!("the conversation `{name}` shows it");
                    problems.push(self.problem(format!("/rule/{id}/unseen"), said).help("leave it out here"));
                }
                _ => (),
            }
        }
    }
}
