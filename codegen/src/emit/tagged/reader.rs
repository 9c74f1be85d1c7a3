//! How a union is read: one pass over the members, and then the arm that the tag says.

use super::{Arm, Placing, Shared};
use crate::emit::object::{Kind, Member};
use crate::emit::{Emitter, Generics};
use crate::ir::{Definition, Tagged};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Emitter<'_> {
    /// The reader of a union; `open` is the tag's Rust name if unknown tags are kept.
    pub(super) fn reader(
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
        let (name, error_name) = (self.names.get(&definition.name), &definition.name);
        let Generics { bounded, usage, .. } = self.generics(&definition.name);
        quote! {
            impl #bounded support::Record for #name #usage {
                const NAME: &'static str = #error_name;
                const KEYS: &'static [&'static str] = &[#(#keys),*];

                fn read<'de, A: support::MapAccess<'de>>(mut members: support::Members<A>) -> Result<Self, A::Error> {
                    #reading
                    let found = #found;
                    match &*found {
                        #(#built)*
                        #otherwise
                    }
                }
            }
            support::deserialize!(#name #usage);
        }
    }

    /// The tag that is meant where none is given.
    fn absent_tag<'u>(&self, union: &'u Tagged) -> Option<&'u str> {
        let lenient = union
            .arms
            .iter()
            .find(|arm| self.settings.lenient_for(&arm.target, &union.tag).is_some_and(|lenient| lenient.absent));
        union.absent.as_deref().or(lenient.map(|arm| arm.value.as_str()))
    }
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
    let built = build(arm);
    quote! {
        #value => {
            #strays
            #(#rebound)*
            let value: Result<_, A::Error> = { #built };
            value.map(Self::#variant)
        }
    }
}

/// The value of an arm's struct from the slots of its members.
fn build(arm: &Arm<'_>) -> TokenStream {
    let checks = arm.members.iter().filter_map(|member| {
        let (index, ident) = (member.index, &member.ident);
        match &member.kind {
            Kind::Constant { value, also, absent: false } => {
                Some(quote!(members.constant(#index, #ident, #value, &[#(#also),*])?;))
            }
            Kind::Constant { value, also, absent: true } => {
                Some(quote!(members.assumed(#index, #ident, #value, &[#(#also),*])?;))
            }
            Kind::OptionalConstant { value } => Some(quote!(let #ident = members.flag(#index, #ident, #value)?;)),
            Kind::ConstantInteger(value) => Some(quote!(members.constant_integer(#index, #ident, #value)?;)),
            _ => None,
        }
    });
    let values = arm.members.iter().filter(|member| member.is_stored()).map(|member| {
        let (index, ident) = (member.index, &member.ident);
        match &member.kind {
            Kind::OptionalConstant { .. } => quote!(#ident),
            Kind::Payload => quote!(#ident: members.payload(#index, #ident)?),
            _ if member.field.presence.is_required() => quote!(#ident: members.require(#index, #ident)?),
            _ => quote!(#ident: members.take(#index, #ident)?),
        }
    });
    let extra = arm.open.then(|| quote!(extra: members.extra(),));
    let name = &arm.target;
    quote! {
        #(#checks)*
        Ok(#name { #(#values,)* #extra })
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
