//! Objects: a struct and its constructor. How it is read and written is a table, see [`record`](super::record).

use super::code::Code;
use super::{Emitter, docs, names};
use crate::error::{Error, Problem};
use crate::ir::{Content, Definition, Field, Object, Presence, Type};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// More arguments than this and clippy asks for a builder.
const MOST_ARGUMENTS: usize = 7;

/// A member with all that its code needs.
pub(super) struct Member<'a> {
    pub(super) field: &'a Field,
    pub(super) index: usize,
    pub(super) ident: Ident,
    pub(super) kind: Kind,
    /// In a union, the slot it is read into if that is not named like the member.
    pub(super) slot: Option<Ident>,
}

/// How a member is stored, read and written.
#[derive(Clone)]
pub(super) enum Kind {
    /// A value of this type, without the `Option` that presence adds.
    Typed(TokenStream),
    /// An opaque object: the type parameter.
    Payload,
    /// Written always, stored never.
    Constant { value: String, also: Vec<String>, absent: bool },
    /// Stored as whether it was there.
    OptionalConstant { value: String },
    /// An integer that is written always.
    ConstantInteger(i64),
}

impl Emitter<'_> {
    /// The members of an object with their Rust names.
    pub(super) fn members<'a>(&self, owner: &Definition, object: &'a Object) -> Result<Vec<Member<'a>>, Error> {
        let mut members: Vec<Member<'a>> = Vec::new();
        for (index, field) in object.fields.iter().enumerate() {
            let problem = |message: String| {
                Problem::new(&owner.file, format!("{}/properties/{}", owner.pointer, field.wire), message)
            };
            let ident = names::field_ident(&field.wire)
                .ok_or_else(|| problem(format!("`{}` gives no name for a Rust member", field.wire)))?;
            if let Some(twin) = members.iter().find(|member| member.ident == ident) {
                let message = format!("`{}` and `{}` have the same Rust name `{ident}`", twin.field.wire, field.wire);
                return Err(problem(message).into());
            }
            members.push(Member { field, index, ident, kind: self.kind(owner, field), slot: None });
        }
        Ok(members)
    }

    fn kind(&self, owner: &Definition, field: &Field) -> Kind {
        match &field.content {
            Content::ConstantInteger(value) => Kind::ConstantInteger(*value),
            Content::Constant(value) if !field.presence.is_required() => {
                Kind::OptionalConstant { value: value.clone() }
            }
            Content::Constant(value) => {
                let lenient = self.settings.lenient_for(&owner.name, &field.wire);
                let also = lenient.map(|lenient| lenient.also.clone()).unwrap_or_default();
                Kind::Constant { value: value.clone(), also, absent: lenient.is_some_and(|lenient| lenient.absent) }
            }
            Content::Typed(_) if self.settings.is_payload(field) => Kind::Payload,
            Content::Typed(value) => Kind::Typed(self.held_type(&owner.name, value)),
        }
    }

    /// A type, boxed where its owner would hold itself.
    fn held_type(&self, owner: &str, value: &Type) -> TokenStream {
        let plain = self.ty(value);
        match value {
            Type::Named(name) if self.graph.is_circular(owner, name) => quote!(Box<#plain>),
            _ => plain,
        }
    }

    /// The code of an object.
    pub(super) fn object(&self, definition: &Definition, object: &Object) -> Result<Code, Error> {
        let members = self.members(definition, object)?;
        let name = self.names.get(&definition.name);
        let generics = self.generics(&definition.name);
        let docs = docs::of_definition(definition);
        let stored = members.iter().filter_map(|member| self.declaration(member));
        let extra = object.open.then(|| {
            quote! {
                /// Members that the schema does not name.
                pub extra: support::Extra,
            }
        });
        let declaration_generics = &generics.declaration;
        let derive_default = members.iter().all(|member| !member.is_argument()).then(|| quote!(Default,));
        let methods = self.constructor(&name, &generics, &members, object.open);
        let declared = quote! {
            #docs
            #[derive(Clone, Debug, PartialEq, #derive_default)]
            #[non_exhaustive]
            pub struct #name #declaration_generics {
                #(#stored)*
                #extra
            }
            #methods
        };
        let mut code = Code::from(declared);
        self.record_table(definition, &members, object.open, &mut code);
        Ok(code)
    }

    fn declaration(&self, member: &Member<'_>) -> Option<TokenStream> {
        let Member { field, ident, .. } = member;
        let stored = member.stored_type()?;
        let docs = match &member.kind {
            Kind::OptionalConstant { value } => {
                docs::comment(&format!("Whether `{}` is given, which is always `{value}`.", field.wire))
            }
            _ => docs::of_field(field, self.revision),
        };
        Some(quote!(#docs pub #ident: #stored,))
    }

    fn constructor(&self, name: &Ident, generics: &super::Generics, members: &[Member<'_>], open: bool) -> TokenStream {
        let required: Vec<_> = members.iter().filter(|member| member.is_argument()).collect();
        let arguments = required.iter().map(|member| {
            let (ident, (accepted, _)) = (&member.ident, self.argument(member));
            quote!(#ident: #accepted)
        });
        let values = members.iter().filter(|member| member.is_stored()).map(|member| {
            let ident = &member.ident;
            match member.is_argument() {
                false if matches!(member.kind, Kind::OptionalConstant { .. }) => quote!(#ident: false),
                false => quote!(#ident: None),
                true => match self.argument(member).1 {
                    true => quote!(#ident: #ident.into()),
                    false => quote!(#ident),
                },
            }
        });
        let extra = open.then(|| quote!(extra: support::Extra::default(),));
        let setters = members.iter().filter(|member| member.is_settable()).map(|member| self.setter(member));
        let many = (required.len() > MOST_ARGUMENTS).then(|| quote!(#[allow(clippy::too_many_arguments)]));
        let (parameters, usage) = (&generics.bare, &generics.usage);
        quote! {
            impl #parameters #name #usage {
                /// A value with the members that must be there.
                #many
                pub fn new(#(#arguments),*) -> Self {
                    Self { #(#values,)* #extra }
                }
                #(#setters)*
            }
        }
    }

    fn setter(&self, member: &Member<'_>) -> TokenStream {
        let (ident, (accepted, converted)) = (&member.ident, self.argument(member));
        let method = format_ident!("with_{}", ident.to_string().trim_start_matches("r#"));
        let docs = docs::comment(&format!("Sets `{}`.", member.field.wire));
        let value = if converted { quote!(value.into()) } else { quote!(value) };
        let value = match member.field.presence.is_nullable() && !member.field.presence.is_required() {
            true => quote!(Some(Some(#value))),
            false => quote!(Some(#value)),
        };
        quote! {
            #docs
            #[must_use]
            pub fn #method(mut self, value: #accepted) -> Self {
                self.#ident = #value;
                self
            }
        }
    }

    /// What a function takes for a member, and whether that has to be converted.
    fn argument(&self, member: &Member<'_>) -> (TokenStream, bool) {
        let Content::Typed(value) = &member.field.content else { return (quote!(()), false) };
        let plain = match &member.kind {
            Kind::Typed(plain) => plain.clone(),
            _ => quote!(P),
        };
        match member.field.presence {
            Presence::RequiredNullable => (quote!(Option<#plain>), false),
            _ if self.is_text(value) => (quote!(impl Into<#plain>), true),
            _ => (plain, false),
        }
    }
}

impl Member<'_> {
    pub(super) fn is_stored(&self) -> bool {
        !matches!(self.kind, Kind::Constant { .. } | Kind::ConstantInteger(_))
    }

    /// Whether a constructor must be given it.
    pub(super) fn is_argument(&self) -> bool {
        matches!(self.kind, Kind::Typed(_) | Kind::Payload) && self.field.presence.is_required()
    }

    fn is_settable(&self) -> bool {
        matches!(self.kind, Kind::Typed(_) | Kind::Payload) && !self.field.presence.is_required()
    }

    /// The type of the struct's member.
    pub(super) fn stored_type(&self) -> Option<TokenStream> {
        let plain = match &self.kind {
            Kind::Typed(plain) => plain.clone(),
            Kind::Payload => quote!(P),
            Kind::OptionalConstant { .. } => return Some(quote!(bool)),
            Kind::Constant { .. } | Kind::ConstantInteger(_) => return None,
        };
        Some(match self.field.presence {
            Presence::Required => plain,
            Presence::Optional | Presence::RequiredNullable => quote!(Option<#plain>),
            Presence::OptionalNullable => quote!(Option<Option<#plain>>),
        })
    }

    /// The texts that are read for a constant.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        match &self.kind {
            Kind::Constant { value, also, .. } => Some(std::iter::once(value).chain(also).cloned().collect()),
            Kind::OptionalConstant { value } => Some(vec![value.clone()]),
            _ => None,
        }
    }

    /// What tells the types of two members apart that a union reads into one slot.
    pub(super) fn slot_type(&self) -> String {
        let nullable = self.field.presence.is_nullable();
        match &self.kind {
            Kind::Typed(plain) => format!("{plain} {nullable}"),
            Kind::Payload => "payload".to_owned(),
            Kind::Constant { .. } | Kind::OptionalConstant { .. } => "text".to_owned(),
            Kind::ConstantInteger(_) => "integer".to_owned(),
        }
    }
}
