//! Unions that only the shape of the value tells apart.

use super::{Emitter, docs, names};
use crate::error::{Error, Problem};
use crate::ir::{Choice, Content, Definition, Object, Scalar, Shape, Type};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// The code of such a union. The value is read whole and then given to the arm it shows to be of.
    pub(super) fn choice(&self, definition: &Definition, choice: &Choice) -> Result<TokenStream, Error> {
        let name = self.names.get(&definition.name);
        let generics = self.generics(&definition.name);
        let docs = docs::of_definition(definition);
        let variants = self.variants(definition, choice)?;
        let declared = choice.arms.iter().zip(&variants).map(|(arm, variant)| {
            let held = self.ty(arm);
            let docs = docs::comment(&self.arm_docs(arm));
            quote!(#docs #variant(#held),)
        });
        let error_name = &definition.name;
        let labels = choice.arms.iter().map(|arm| self.arm_label(arm)).collect::<Vec<_>>().join(", ");
        let readings = self.readings(error_name, choice, &variants, &labels);
        let declaration = &generics.declaration;
        let (bounded, usage) = (&generics.bounded, &generics.usage);
        Ok(quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            #[allow(clippy::large_enum_variant)]
            pub enum #name #declaration {
                #(#declared)*
            }
            impl #bounded ::serde::Serialize for #name #usage {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        #(Self::#variants(value) => value.serialize(serializer),)*
                    }
                }
            }
            impl<'de> ::serde::Deserialize<'de> for #name #usage {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = support::read_value(deserializer)?;
                    match &value {
                        #readings
                        _ => Err(support::no_arm(#error_name, &value, #labels)),
                    }
                }
            }
        })
    }

    fn variants(&self, definition: &Definition, choice: &Choice) -> Result<Vec<Ident>, Error> {
        let named: Vec<String> = choice
            .arms
            .iter()
            .filter_map(|arm| match arm {
                Type::Named(name) => Some(self.names.get(name).to_string()),
                _ => None,
            })
            .collect();
        let mut short = names::without_common_suffix(&named).into_iter();
        let mut variants: Vec<Ident> = Vec::new();
        for arm in &choice.arms {
            let text = match arm {
                Type::Named(_) => short.next().unwrap_or_default(),
                other => kind_name(other).to_owned(),
            };
            match syn::parse_str::<Ident>(&text) {
                Ok(ident) if !variants.contains(&ident) => variants.push(ident),
                _ => {
                    let message = format!("the arms of this union have no names of their own (`{text}`)");
                    return Err(Problem::new(&definition.file, &definition.pointer, message).into());
                }
            }
        }
        Ok(variants)
    }

    fn arm_docs(&self, arm: &Type) -> String {
        match arm {
            Type::Named(name) => match self.revision.get(name).and_then(|target| target.docs.title.clone()) {
                Some(title) => format!("{title}."),
                None => format!("`{name}`."),
            },
            other => format!("A JSON {}.", kind_name(other).to_lowercase()),
        }
    }

    fn arm_label(&self, arm: &Type) -> String {
        match arm {
            Type::Named(name) => name.clone(),
            other => kind_name(other).to_lowercase(),
        }
    }

    fn readings(&self, union: &str, choice: &Choice, variants: &[Ident], labels: &str) -> TokenStream {
        let mut readings = TokenStream::new();
        let mut objects = Vec::new();
        for (arm, variant) in choice.arms.iter().zip(variants) {
            if let Type::Named(name) = arm
                && let Some(object) = self.revision.object(name)
            {
                objects.push((object, variant));
                continue;
            }
            let pattern = self.pattern(arm);
            readings.extend(quote!(#pattern => support::arm(#union, value).map(Self::#variant),));
        }
        match objects.as_slice() {
            [] => {}
            [(_, variant)] => readings.extend(quote! {
                ::serde_json::Value::Object(_) => support::arm(#union, value).map(Self::#variant),
            }),
            several => {
                let evidence = several.iter().map(|(object, _)| self.evidence(object));
                let chosen = several.iter().enumerate().map(
                    |(index, (_, variant))| quote!(Some(#index) => support::arm(#union, value).map(Self::#variant),),
                );
                readings.extend(quote! {
                    ::serde_json::Value::Object(object) => match support::choose(object, &[#(#evidence),*]) {
                        #(#chosen)*
                        _ => Err(support::no_arm(#union, &value, #labels)),
                    },
                });
            }
        }
        readings
    }

    fn pattern(&self, arm: &Type) -> TokenStream {
        let variant = match self.json_kind(arm) {
            kind @ ("String" | "Number" | "Array" | "Object" | "Bool") => format_ident!("{kind}"),
            _ => return quote!(_),
        };
        quote!(::serde_json::Value::#variant(_))
    }

    /// The variant of `serde_json::Value` that the values of a type have.
    fn json_kind(&self, value: &Type) -> &'static str {
        match value {
            Type::String => "String",
            Type::Integer { .. } | Type::Number => "Number",
            Type::Boolean => "Bool",
            Type::List(_) => "Array",
            Type::Free => "Object",
            Type::Any | Type::Nullable(_) => "any",
            Type::Named(name) => match self.revision.get(name).map(|definition| &definition.shape) {
                Some(Shape::Enum(_) | Shape::Scalar(Scalar::String { .. })) => "String",
                Some(Shape::Scalar(Scalar::Integer { .. } | Scalar::Number { .. })) => "Number",
                Some(Shape::Scalar(Scalar::Boolean)) => "Bool",
                Some(Shape::List(_)) => "Array",
                Some(Shape::Object(_) | Shape::Tagged(_) | Shape::Choice(_) | Shape::Map(_)) => "Object",
                Some(Shape::Alias(target)) => self.json_kind(target),
                None => "any",
            },
        }
    }

    fn evidence(&self, object: &Object) -> TokenStream {
        let mut required = Vec::new();
        let mut constants = Vec::new();
        for field in &object.fields {
            let wire = &field.wire;
            if field.presence.is_required() {
                required.extend(self.required_paths(field));
            }
            match &field.content {
                Content::Constant(value) => constants.push(quote!((#wire, &[#value]))),
                Content::Typed(Type::Named(name)) if !self.settings.open_enums.contains(name) => {
                    if let Some(Shape::Enum(values)) = self.revision.get(name).map(|definition| &definition.shape) {
                        let values = &values.values;
                        constants.push(quote!((#wire, &[#(#values),*])));
                    }
                }
                _ => {}
            }
        }
        let known = object.fields.iter().map(|field| &field.wire);
        quote! {
            support::Evidence { required: &[#(#required),*], constants: &[#(#constants),*], known: &[#(#known),*] }
        }
    }

    /// A required member, and those that the object it holds requires in turn.
    fn required_paths(&self, field: &crate::ir::Field) -> Vec<TokenStream> {
        let wire = &field.wire;
        let inner = match &field.content {
            Content::Typed(Type::Named(name)) => self.revision.object(name),
            _ => None,
        };
        let below = inner.into_iter().flat_map(|object| &object.fields).filter(|field| field.presence.is_required());
        let below = below.map(|inner| {
            let inner = &inner.wire;
            quote!(&[#wire, #inner])
        });
        std::iter::once(quote!(&[#wire])).chain(below).collect()
    }
}

fn kind_name(arm: &Type) -> &'static str {
    match arm {
        Type::String => "String",
        Type::Integer { .. } => "Integer",
        Type::Number => "Number",
        Type::Boolean => "Boolean",
        Type::List(_) => "List",
        Type::Free => "Object",
        Type::Any | Type::Nullable(_) | Type::Named(_) => "Value",
    }
}
