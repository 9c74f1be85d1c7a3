//! Tagged unions: an enum over the arms' structs, read in one flat pass whatever the order of the members.

mod reader;

use super::object::{Kind, Member};
use super::{Emitter, docs, names};
use crate::error::{Error, Problem};
use crate::ir::{Definition, Tagged};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// An arm with its Rust names and members.
struct Arm<'a> {
    value: &'a str,
    variant: Ident,
    target: Ident,
    usage: TokenStream,
    open: bool,
    members: Vec<Member<'a>>,
}

/// A member of any of the arms.
struct Shared {
    wire: String,
    ident: Ident,
    place: Placing,
}

/// When a member of the union can be read.
enum Placing {
    /// It is the tag.
    Tag,
    /// All arms have it, with one type.
    Uniform,
    /// It is a constant in every arm that has it; these are its values.
    Constants(Vec<String>),
    /// It is the opaque payload of some arms.
    Payload,
    /// Its type hangs on the tag: the slot of each type, with the tags it belongs to.
    ByTag(Vec<(Ident, Vec<String>)>),
}

impl Emitter<'_> {
    /// The code of a tagged union.
    pub(super) fn tagged(&self, definition: &Definition, union: &Tagged) -> Result<TokenStream, Error> {
        let mut arms = self.arms(definition, union)?;
        let shared = self.shared(&mut arms, union);
        let name = self.names.get(&definition.name);
        let generics = self.generics(&definition.name);
        let open = self.settings.open_unions.contains(&definition.name);
        let docs = docs::of_definition(definition);
        let variants = arms.iter().map(|arm| {
            let (variant, target, usage) = (&arm.variant, &arm.target, &arm.usage);
            let docs = docs::comment(&format!("`{}` is `{}`.", union.tag, arm.value));
            quote!(#docs #variant(#target #usage),)
        });
        let tag = names::field_ident(&union.tag).unwrap_or_else(|| format_ident!("tag"));
        let other = open.then(|| self.other_variant(union, &tag));
        let reader = self.reader(definition, union, &arms, &shared, open.then_some(&tag));
        let writer = self.writer(&name, &generics, &arms, union, open.then_some(&tag));
        let conversions = arms.iter().map(|arm| {
            let (variant, target, usage) = (&arm.variant, &arm.target, &arm.usage);
            let (parameters, own) = (&generics.bare, &generics.usage);
            quote! {
                impl #parameters From<#target #usage> for #name #own {
                    fn from(value: #target #usage) -> Self { Self::#variant(value) }
                }
            }
        });
        let text = self.tag_text(&generics, &name, &arms, union, &tag, open);
        let declaration = &generics.declaration;
        Ok(quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            #[allow(clippy::large_enum_variant)]
            pub enum #name #declaration {
                #(#variants)*
                #other
            }
            #text
            #(#conversions)*
            #reader
            #writer
        })
    }

    /// The tag of a value, whichever arm it is.
    fn tag_text(
        &self,
        generics: &super::Generics,
        name: &Ident,
        arms: &[Arm<'_>],
        union: &Tagged,
        tag: &Ident,
        open: bool,
    ) -> TokenStream {
        let docs = docs::comment(&format!("The value of `{}`.", union.tag));
        let variants = arms.iter().map(|arm| {
            let (variant, value) = (&arm.variant, arm.value);
            quote!(Self::#variant(_) => #value,)
        });
        let other = open.then(|| quote!(Self::Other { #tag, .. } => #tag,));
        let (parameters, usage) = (&generics.bare, &generics.usage);
        quote! {
            impl #parameters #name #usage {
                #docs
                pub fn #tag(&self) -> &str {
                    match self { #(#variants)* #other }
                }
            }
        }
    }

    fn other_variant(&self, union: &Tagged, tag: &Ident) -> TokenStream {
        let docs = docs::comment(&format!("`{}` is none of these; nothing of the message is lost.", union.tag));
        let tag_docs = docs::comment(&format!("The value of `{}`.", union.tag));
        quote! {
            #docs
            Other {
                #tag_docs
                #tag: String,
                /// All other members.
                fields: support::JsonObject,
            },
        }
    }

    fn arms<'a>(&'a self, definition: &Definition, union: &'a Tagged) -> Result<Vec<Arm<'a>>, Error> {
        let mut arms: Vec<Arm<'a>> = Vec::new();
        let by_value: Option<Vec<_>> = union.arms.iter().map(|arm| names::variant_ident(&arm.value)).collect();
        let distinct = |idents: &Vec<Ident>| idents.iter().collect::<BTreeSet<_>>().len() == idents.len();
        let variants = by_value
            .filter(distinct)
            .unwrap_or_else(|| union.arms.iter().map(|arm| self.names.get(&arm.target)).collect());
        for (arm, variant) in union.arms.iter().zip(variants) {
            let missing =
                || Problem::new(&definition.file, &definition.pointer, format!("`{}` is no object", arm.target));
            let target = self.revision.get(&arm.target).ok_or_else(missing)?;
            let object = self.revision.object(&arm.target).ok_or_else(missing)?;
            arms.push(Arm {
                value: &arm.value,
                variant,
                target: self.names.get(&arm.target),
                usage: self.generics(&arm.target).usage,
                open: object.open,
                members: self.members(target, object)?,
            });
        }
        Ok(arms)
    }

    /// The members of all arms, in the order in which they first occur. Gives the arms' members their place among them.
    fn shared(&self, arms: &mut [Arm<'_>], union: &Tagged) -> Vec<Shared> {
        let mut wires: Vec<String> = Vec::new();
        for member in arms.iter().flat_map(|arm| &arm.members) {
            if !wires.contains(&member.field.wire) {
                wires.push(member.field.wire.clone());
            }
        }
        let shared: Vec<Shared> = wires.into_iter().filter_map(|wire| place(arms, wire, union)).collect();
        for arm in arms.iter_mut() {
            for member in &mut arm.members {
                let Some(index) = shared.iter().position(|one| one.wire == member.field.wire) else { continue };
                member.index = index;
                if let Placing::ByTag(slots) = &shared[index].place
                    && let Some((slot, _)) = slots.iter().find(|(_, tags)| tags.iter().any(|tag| tag == arm.value))
                {
                    member.slot = Some(slot.clone());
                }
            }
        }
        shared
    }

    fn writer(
        &self,
        name: &Ident,
        generics: &super::Generics,
        arms: &[Arm<'_>],
        union: &Tagged,
        open: Option<&Ident>,
    ) -> TokenStream {
        let variants = arms.iter().map(|arm| &arm.variant);
        let tag = &union.tag;
        let other = open.map(
            |field| quote!(Self::Other { #field, fields } => support::write_other(serializer, #tag, #field, fields),),
        );
        let (parameters, usage) = (&generics.bounded, &generics.usage);
        quote! {
            impl #parameters ::serde::Serialize for #name #usage {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        #(Self::#variants(value) => value.serialize(serializer),)*
                        #other
                    }
                }
            }
        }
    }
}

/// Decides when a member of the union can be read.
fn place(arms: &[Arm<'_>], wire: String, union: &Tagged) -> Option<Shared> {
    let holders: Vec<(&str, &Member<'_>)> = arms
        .iter()
        .filter_map(|arm| Some((arm.value, arm.members.iter().find(|member| member.field.wire == wire)?)))
        .collect();
    let ident = holders.first()?.1.ident.clone();
    let constants: Option<Vec<Vec<String>>> = holders.iter().map(|(_, member)| member.texts()).collect();
    let place = match constants {
        _ if wire == union.tag => Placing::Tag,
        Some(texts) => {
            let mut texts: Vec<String> = texts.concat();
            let mut seen = BTreeSet::new();
            texts.retain(|text| seen.insert(text.clone()));
            Placing::Constants(texts)
        }
        None if holders.iter().all(|(_, member)| matches!(member.kind, Kind::Payload)) => Placing::Payload,
        None if holders.len() == arms.len() && one_type(&holders) => Placing::Uniform,
        None => Placing::ByTag(by_type(&holders, &ident)),
    };
    Some(Shared { wire, ident, place })
}

fn one_type(holders: &[(&str, &Member<'_>)]) -> bool {
    holders.windows(2).all(|pair| pair[0].1.slot_type() == pair[1].1.slot_type())
}

fn by_type(holders: &[(&str, &Member<'_>)], ident: &Ident) -> Vec<(Ident, Vec<String>)> {
    let mut types: Vec<(String, Vec<String>)> = Vec::new();
    for (value, member) in holders {
        let slot_type = member.slot_type();
        match types.iter_mut().find(|(known, _)| *known == slot_type) {
            Some((_, values)) => values.push((*value).to_owned()),
            None => types.push((slot_type, vec![(*value).to_owned()])),
        }
    }
    let plain = ident.to_string();
    let name = |count: usize| match count {
        0 => ident.clone(),
        count => format_ident!("{}_{}", plain.trim_start_matches("r#"), count),
    };
    types.into_iter().enumerate().map(|(count, (_, values))| (name(count), values)).collect()
}
