//! Whether every rule is about what is there: a rule about a name that was changed would be lost without a word.

use super::Rules;
use crate::document::escape;
use crate::export::members::Members;
use crate::ir::Revision;

/// A place below the table of a revision, and what is wrong there.
pub(super) type Fault = (String, String);

impl Rules {
    /// What is wrong with the rules, and where.
    pub(super) fn faults(&self, revision: &Revision, anywhere: &Members<'_>) -> Vec<Fault> {
        let here = Members::of(std::slice::from_ref(revision));
        let places = self.objects();
        let unknown = places.into_iter().filter(|(_, name)| revision.object(name).is_none());
        let unknown = unknown.map(|(place, name)| (place, format!("there is no object `{name}`")));
        let unused = self.requirements.keys().filter(|member| !here.have(member));
        let unused = unused
            .map(|member| (format!("/requirements/{}", escape(member)), format!("no object has a member `{member}`")));
        let some = self.some.iter().flat_map(|(name, members)| faults_of_some(name, members, revision));
        let without =
            self.without.iter().flat_map(|(name, members)| faults_of_without(name, members, revision, anywhere));
        unknown.chain(unused).chain(some).chain(without).collect()
    }

    /// The objects that are named, each with its place.
    fn objects(&self) -> Vec<(String, &str)> {
        let closed = self.closed.iter().enumerate().map(|(index, name)| (format!("/closed/{index}"), name.as_str()));
        let keys = [("without", &self.without), ("some", &self.some)].into_iter();
        let keys = keys.flat_map(|(table, entries)| {
            entries.keys().map(move |name| (format!("/{table}/{}", escape(name)), name.as_str()))
        });
        closed.chain(keys).collect()
    }
}

fn faults_of_some(name: &str, members: &[String], revision: &Revision) -> Vec<Fault> {
    let Some(object) = revision.object(name) else { return Vec::new() };
    let place = format!("/some/{}", escape(name));
    if members.is_empty() {
        return vec![(place, "it names no member".to_owned())];
    }
    let unknown = members.iter().enumerate().filter(|(_, member)| object.field(member).is_none());
    unknown.map(|(index, member)| (format!("{place}/{index}"), format!("`{name}` has no member `{member}`"))).collect()
}

/// What is forbidden is often a member of another revision, or of another object. A name that no object has is a typo.
fn faults_of_without(name: &str, members: &[String], revision: &Revision, anywhere: &Members<'_>) -> Vec<Fault> {
    let is_required = |member: &str| {
        let field = revision.object(name).and_then(|object| object.field(member));
        field.is_some_and(|field| field.presence.is_required())
    };
    let fault = |(index, member): (usize, &String)| {
        let said = match anywhere.have(member) {
            false => format!("no object of any revision has a member `{member}`"),
            true if is_required(member) => format!("`{name}` has to have `{member}`"),
            true => return None,
        };
        Some((format!("/without/{}/{index}", escape(name)), said))
    };
    members.iter().enumerate().filter_map(fault).collect()
}
