//! Conversions along composition: what is composed of a base can become the base, and the other way round where the
//! base says all that is needed.

use super::Emitter;
use super::object::{Kind, Member};
use crate::ir::{Content, Definition, Object, Shape, Tagged, Type};
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    /// The conversions of a definition to and from its bases, as far as the overlay asks for them.
    pub(super) fn conversions(&self, definition: &Definition) -> TokenStream {
        match &definition.shape {
            Shape::Object(object) => {
                let bases = object.bases.iter().filter(|base| self.is_convertible(base));
                bases.filter_map(|base| self.along(definition, object, base)).collect()
            }
            Shape::Tagged(union) => self.between_unions(definition, union),
            _ => TokenStream::new(),
        }
    }

    /// Whether a definition is one of the overlay's bases or composed of one.
    fn is_convertible(&self, name: &str) -> bool {
        let asked = self.settings.bases.iter().any(|base| base == name);
        asked || self.revision.object(name).is_some_and(|object| object.bases.iter().any(|b| self.is_convertible(b)))
    }

    fn along(&self, definition: &Definition, object: &Object, base: &str) -> Option<TokenStream> {
        let base_definition = self.revision.get(base)?;
        let base_object = self.revision.object(base)?;
        let members = self.members(definition, object).ok()?;
        let base_members = self.members(base_definition, base_object).ok()?;
        let up = self.conversion(&definition.name, &members, base, &base_members, base_object.open);
        let down = self.conversion(base, &base_members, &definition.name, &members, object.open);
        Some(quote!(#up #down))
    }

    /// `From<source> for target`, if each member of the target can be had from the source.
    fn conversion(
        &self,
        source: &str,
        source_members: &[Member<'_>],
        target: &str,
        target_members: &[Member<'_>],
        open: bool,
    ) -> Option<TokenStream> {
        let mut values = Vec::new();
        for member in target_members {
            let twin = source_members.iter().find(|twin| twin.field.wire == member.field.wire);
            values.push(self.converted(member, twin)?);
        }
        let extra = open.then(|| quote!(extra: value.extra,));
        let (usage, target_usage) = (self.generics(source).usage, self.generics(target).usage);
        // A payload cannot be made up, and what `converted` copies it has found on both sides.
        if usage.is_empty() && !target_usage.is_empty() {
            return None;
        }
        let (source, target) = (self.names.get(source), self.names.get(target));
        Some(quote! {
            impl #usage From<#source #usage> for #target #target_usage {
                fn from(value: #source #usage) -> Self {
                    Self { #(#values)* #extra }
                }
            }
        })
    }

    /// The value of a member of the target, or nothing if there is no way to have one.
    fn converted(&self, member: &Member<'_>, twin: Option<&Member<'_>>) -> Option<TokenStream> {
        let ident = &member.ident;
        let Some(stored) = member.stored_type() else {
            // A constant is written, not stored; but from a source that leaves it open it would be made up.
            let fixed = twin.is_none_or(|twin| twin.stored_type().is_none());
            return fixed.then(TokenStream::new);
        };
        match twin {
            Some(twin) if twin.stored_type().is_some_and(|own| own.to_string() == stored.to_string()) => {
                let own = &twin.ident;
                Some(quote!(#ident: value.#own,))
            }
            Some(twin) => {
                let Kind::Constant { value, .. } = &twin.kind else { return None };
                let Content::Typed(Type::Named(name)) = &member.field.content else { return None };
                let is_enum = self.is_text(&Type::Named(name.clone()));
                let target = self.names.get(name);
                is_enum.then(|| quote!(#ident: #target::from(#value),))
            }
            None if member.is_argument() => None,
            None => Some(quote!(#ident: Default::default(),)),
        }
    }

    /// `From` between two unions whose arms are composed of each other, tag by tag.
    fn between_unions(&self, definition: &Definition, union: &Tagged) -> TokenStream {
        let mut code = TokenStream::new();
        for other in self.revision.definitions() {
            let Shape::Tagged(base) = &other.shape else { continue };
            if other.name != definition.name && self.arms_follow(union, base) {
                code.extend(self.union_conversion(definition, other, union));
                code.extend(self.union_conversion(other, definition, union));
            }
        }
        code
    }

    fn arms_follow(&self, union: &Tagged, base: &Tagged) -> bool {
        union.tag == base.tag
            && union.arms.len() == base.arms.len()
            && union.arms.iter().zip(&base.arms).all(|(arm, below)| {
                let composed =
                    self.revision.object(&arm.target).is_some_and(|object| object.bases.contains(&below.target));
                arm.value == below.value && composed && self.is_convertible(&below.target)
            })
    }

    fn union_conversion(&self, source: &Definition, target: &Definition, union: &Tagged) -> TokenStream {
        let variants: Vec<_> = union.arms.iter().filter_map(|arm| super::names::variant_ident(&arm.value)).collect();
        let open = |name: &String| self.settings.open_unions.contains(name);
        let tag = super::names::field_ident(&union.tag);
        let (from, into) = (self.names.get(&source.name), self.names.get(&target.name));
        let rest = match open(&source.name) && open(&target.name) {
            true => quote!(#from::Other { #tag, fields } => Self::Other { #tag, fields },),
            false => TokenStream::new(),
        };
        let usage = self.generics(&source.name).usage;
        quote! {
            impl #usage From<#from #usage> for #into #usage {
                fn from(value: #from #usage) -> Self {
                    match value {
                        #(#from::#variants(value) => Self::#variants(value.into()),)*
                        #rest
                    }
                }
            }
        }
    }
}
