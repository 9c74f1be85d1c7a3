//! How a struct is read and written: a table of its members, which a macro of `support.rs` turns into both.

use super::Emitter;
use super::code::Code;
use super::object::{Kind, Member};
use crate::ir::Definition;

impl Emitter<'_> {
    /// The table of an object: a row for each member, in the order of the schema.
    pub(super) fn record_table(&self, definition: &Definition, members: &[Member<'_>], open: bool, code: &mut Code) {
        let name = self.names.get(&definition.name);
        let usage = if self.generics(&definition.name).usage.is_empty() { "" } else { "<P>" };
        let head = format!("{name}{usage} = {:?}", definition.name);
        let others = if open { ".. keep extra" } else { ".. refuse" };
        let rows = members.iter().map(row);
        code.table("support::record!", std::iter::once(head).chain(rows).chain([others.to_owned()]));
    }
}

fn row(member: &Member<'_>) -> String {
    let Member { field, index, ident, kind, .. } = member;
    let what = match kind {
        Kind::Typed(_) | Kind::Payload if field.presence.is_required() => format!("required {ident}"),
        Kind::Typed(_) | Kind::Payload => format!("optional {ident}"),
        Kind::Constant { value, also, absent } => {
            let kind = if *absent { "assumed" } else { "constant" };
            let also: String = also.iter().map(|also| format!(" or {also:?}")).collect();
            format!("{kind} {ident} = {value:?}{also}")
        }
        Kind::OptionalConstant { value } => format!("flag {ident} = {value:?}"),
        Kind::ConstantInteger(value) => format!("integer {ident} = {value}"),
    };
    format!("{index} {:?} {what}", field.wire)
}
