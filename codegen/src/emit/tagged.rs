//! Tagged unions: an enum over the arms' structs, read in one flat pass whatever the order of the members.

use super::object::{Kind, Member, build};
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
        let reader = self.union_reader(definition, union, &arms, &shared, open.then_some(&tag));
        let writer = self.union_writer(&name, &generics, &arms, union, open.then_some(&tag));
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

    fn union_reader(
        &self,
        definition: &Definition,
        union: &Tagged,
        arms: &[Arm<'_>],
        shared: &[Shared],
        open: Option<&Ident>,
    ) -> TokenStream {
        let keys = shared.iter().map(|member| &member.wire);
        let tag_index = shared.iter().position(|member| matches!(member.place, Placing::Tag)).unwrap_or_default();
        let tag = &shared[tag_index].ident;
        let values: Vec<_> = arms.iter().map(|arm| arm.value).collect();
        let reading = reading(tag, shared, &values);
        let found = match self.absent_tag(union) {
            Some(value) => quote!(#tag.clone().unwrap_or(support::Tag::Borrowed(#value))),
            None => quote!(members.require_tag(#tag_index, #tag.clone())?),
        };
        let built = arms.iter().map(|arm| built(arm, shared));
        let otherwise = match open {
            None => quote!(other => Err(members.unknown_tag(#tag_index, other, &[#(#values),*]))),
            Some(field) => kept(field, shared),
        };
        let body = quote! {
            #reading
            let found = #found;
            match &*found {
                #(#built)*
                #otherwise
            }
        };
        let name = self.names.get(&definition.name);
        self.record(&name, &self.generics(&definition.name), &definition.name, quote!(#(#keys),*), body)
    }

    /// The tag that is meant where none is given.
    fn absent_tag<'u>(&self, union: &'u Tagged) -> Option<&'u str> {
        let lenient = union
            .arms
            .iter()
            .find(|arm| self.settings.lenient_for(&arm.target, &union.tag).is_some_and(|lenient| lenient.absent));
        union.absent.as_deref().or(lenient.map(|arm| arm.value.as_str()))
    }

    fn union_writer(
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

/// The loop over the members, each into its slot or kept until the tag is known.
fn reading(tag: &Ident, shared: &[Shared], values: &[&str]) -> TokenStream {
    let slots = shared.iter().flat_map(|member| match &member.place {
        Placing::ByTag(slots) => slots.iter().map(|(slot, _)| slot.clone()).collect(),
        _ => vec![member.ident.clone()],
    });
    let reads = shared.iter().enumerate().flat_map(|(index, member)| read(index, member, values));
    quote! {
        #(let mut #slots = None;)*
        while let Some(index) = members.advance()? {
            match (index, #tag.as_deref()) {
                #(#reads)*
                _ => members.keep(),
            }?
        }
    }
}

/// The arm of the final match that builds one variant.
fn built(arm: &Arm<'_>, shared: &[Shared]) -> TokenStream {
    let (value, variant) = (arm.value, &arm.variant);
    let strays = strays(arm, shared);
    let rebound = arm.members.iter().filter_map(rebound);
    let built = build(&arm.members, arm.open, Some(&arm.target));
    quote! {
        #value => {
            #strays
            #(#rebound)*
            let value: Result<_, A::Error> = { #built };
            value.map(Self::#variant)
        }
    }
}

/// Gives the slot of a member the member's own name, which is what building goes by.
fn rebound(member: &Member<'_>) -> Option<TokenStream> {
    let (slot, ident, index) = (member.slot.as_ref()?, &member.ident, member.index);
    match member.kind {
        Kind::Constant { .. } | Kind::OptionalConstant { .. } => Some(quote! {
            let #ident = members.take::<String>(#index, #slot)?.map(support::Tag::from);
        }),
        _ if slot == ident => None,
        _ => Some(quote!(let #ident = #slot;)),
    }
}

/// The arm of the final match that keeps what has no variant.
fn kept(tag: &Ident, shared: &[Shared]) -> TokenStream {
    let untyped = shared.iter().enumerate().filter_map(|(index, member)| untype(index, member));
    quote! {
        other => {
            let #tag = other.to_owned();
            #(#untyped)*
            Ok(Self::Other { #tag, fields: members.extra().into_object() })
        }
    }
}

fn read(index: usize, member: &Shared, tags: &[&str]) -> Vec<TokenStream> {
    let ident = &member.ident;
    match &member.place {
        Placing::Tag => vec![quote!((#index, _) => members.tag(&[#(#tags),*], &mut #ident),)],
        Placing::Constants(values) => vec![quote!((#index, _) => members.tag(&[#(#values),*], &mut #ident),)],
        Placing::Uniform | Placing::Payload => vec![quote!((#index, _) => members.put(&mut #ident),)],
        Placing::ByTag(slots) => {
            let reads = slots.iter();
            reads.map(|(slot, tags)| quote!((#index, Some(#(#tags)|*)) => members.put(&mut #slot),)).collect()
        }
    }
}

/// Keeps what was read without regard to the tag and does not belong to this arm.
fn strays(arm: &Arm<'_>, shared: &[Shared]) -> TokenStream {
    let strays = shared.iter().enumerate().filter_map(|(index, member)| {
        let ident = &member.ident;
        let belongs = arm.members.iter().any(|own| own.field.wire == member.wire);
        match member.place {
            _ if belongs => None,
            Placing::Payload => Some(quote!(members.stray::<P>(#index, #ident)?;)),
            Placing::Constants(_) => Some(quote!(members.untype(#index, #ident)?;)),
            _ => None,
        }
    });
    quote!(#(#strays)*)
}

/// Turns back into JSON what was read for a tag that turned out unknown.
fn untype(index: usize, member: &Shared) -> Option<TokenStream> {
    let ident = &member.ident;
    match &member.place {
        Placing::Tag => None,
        Placing::Payload => Some(quote!(members.stray::<P>(#index, #ident)?;)),
        Placing::Uniform | Placing::Constants(_) => Some(quote!(members.untype(#index, #ident)?;)),
        // Read for a known tag only, so that here they are empty; the type is that of some arm.
        Placing::ByTag(_) => None,
    }
}
