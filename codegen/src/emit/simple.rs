//! Shapes of a line or two: open enums, numbers of their own meaning, maps, bounded lists and other names.

use super::{Emitter, docs, names};
use crate::ir::{Definition, List, Map, Scalar, Type};
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    /// An enum of strings that keeps values it does not know.
    pub(super) fn open_enum(&self, definition: &Definition, values: &[String]) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let variants: Vec<_> = values.iter().filter_map(|value| names::variant_ident(value)).collect();
        let variant_docs = values.iter().map(|value| docs::comment(&format!("`{value}`.")));
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            #[non_exhaustive]
            pub enum #name {
                #(#variant_docs #variants,)*
                /// A value that the schema does not list.
                Other(String),
            }
            impl #name {
                /// The value on the wire.
                pub fn as_str(&self) -> &str {
                    match self {
                        #(Self::#variants => #values,)*
                        Self::Other(text) => text,
                    }
                }
            }
            impl From<&str> for #name {
                fn from(text: &str) -> Self {
                    match text {
                        #(#values => Self::#variants,)*
                        other => Self::Other(other.to_owned()),
                    }
                }
            }
            impl From<String> for #name {
                fn from(text: String) -> Self {
                    Self::from(text.as_str())
                }
            }
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::read_text(&[#(#values),*], deserializer).map(|text| Self::from(&*text))
                }
            }
        }
    }

    /// A number or boolean of its own meaning. Strings are leaves.
    pub(super) fn scalar(&self, definition: &Definition, scalar: &Scalar) -> TokenStream {
        match scalar {
            Scalar::Integer { min: Some(min @ 0..), max } => self.unsigned(definition, *min, *max),
            Scalar::Integer { min, max } => self.signed(definition, *min, *max),
            Scalar::Number { min: None, max: None } => self.alias(definition, &Type::Number),
            Scalar::Number { min, max } => self.bounded_number(definition, *min, *max),
            Scalar::Boolean => self.alias(definition, &Type::Boolean),
            Scalar::String { .. } => self.alias(definition, &Type::String),
        }
    }

    fn unsigned(&self, definition: &Definition, min: i64, max: Option<i64>) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let (min, max) = (min.unsigned_abs(), max.unwrap_or(i64::MAX).unsigned_abs());
        let range = docs::comment(&format!("The integer, if it is from {min} to {max}."));
        let refusal = format!("not an integer from {min} to {max}");
        let check = match min {
            0 => quote!(value <= #max),
            min => quote!((#min..=#max).contains(&value)),
        };
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct #name(u64);
            impl #name {
                #range
                pub const fn new(value: u64) -> Option<Self> {
                    if #check { Some(Self(value)) } else { None }
                }
                /// The integer.
                pub const fn get(self) -> u64 { self.0 }
            }
            impl TryFrom<u64> for #name {
                type Error = support::ConversionError;
                fn try_from(value: u64) -> Result<Self, support::ConversionError> {
                    Self::new(value).ok_or_else(|| #refusal.into())
                }
            }
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { self.0.fmt(f) }
            }
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_u64(self.0)
                }
            }
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::read_unsigned(#min, #max, deserializer).map(Self)
                }
            }
        }
    }

    fn signed(&self, definition: &Definition, min: Option<i64>, max: Option<i64>) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let checked = self.ty(&Type::Integer { min, max });
        let conversion = match (min, max) {
            (None, None) => quote! {
                impl #name {
                    /// The integer as a value of this type.
                    pub const fn new(value: i64) -> Self { Self(value) }
                }
                impl From<i64> for #name {
                    fn from(value: i64) -> Self { Self(value) }
                }
            },
            _ => quote! {
                impl TryFrom<i64> for #name {
                    type Error = support::ConversionError;
                    fn try_from(value: i64) -> Result<Self, support::ConversionError> {
                        let checked = <#checked>::new(value).ok_or("not an integer in range")?;
                        Ok(Self(checked.get()))
                    }
                }
            },
        };
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct #name(i64);
            impl #name {
                /// The integer.
                pub const fn get(self) -> i64 { self.0 }
            }
            #conversion
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { self.0.fmt(f) }
            }
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_i64(self.0)
                }
            }
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    <#checked as ::serde::Deserialize>::deserialize(deserializer).map(|value| Self(value.get()))
                }
            }
        }
    }

    fn bounded_number(&self, definition: &Definition, min: Option<f64>, max: Option<f64>) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let bound = |bound: Option<f64>| match bound {
            Some(bound) => quote!(Some(#bound)),
            None => quote!(None),
        };
        let (min, max) = (bound(min), bound(max));
        let inner = quote!(::serde_json::Number);
        let reading = self.checked_reading(definition, &inner);
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            pub struct #name(::serde_json::Number);
            impl #name {
                /// The number, as it was written.
                pub fn get(&self) -> &::serde_json::Number { &self.0 }
            }
            impl TryFrom<::serde_json::Number> for #name {
                type Error = support::ConversionError;
                fn try_from(value: ::serde_json::Number) -> Result<Self, support::ConversionError> {
                    support::check_number(&value, #min, #max)?;
                    Ok(Self(value))
                }
            }
            impl TryFrom<f64> for #name {
                type Error = support::ConversionError;
                fn try_from(value: f64) -> Result<Self, support::ConversionError> {
                    let number = ::serde_json::Number::from_f64(value).ok_or("not a number of JSON")?;
                    Self::try_from(number)
                }
            }
            #reading
        }
    }

    /// Writing, and reading by way of `TryFrom`, for a newtype over a value of another type.
    fn checked_reading(&self, definition: &Definition, inner: &TokenStream) -> TokenStream {
        let name = self.names.get(&definition.name);
        quote! {
            impl ::serde::Serialize for #name {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    self.0.serialize(serializer)
                }
            }
            impl<'de> ::serde::Deserialize<'de> for #name {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value: #inner = ::serde::Deserialize::deserialize(deserializer)?;
                    Self::try_from(value).map_err(::serde::de::Error::custom)
                }
            }
        }
    }

    /// A list with a bound on its length.
    pub(super) fn list(&self, definition: &Definition, list: &List) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let item = self.ty(&list.item);
        let (min, max) = limits(list.min, list.max);
        let inner = quote!(Vec<#item>);
        let reading = self.checked_reading(definition, &inner);
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name(Vec<#item>);
            impl ::std::ops::Deref for #name {
                type Target = [#item];
                fn deref(&self) -> &[#item] { &self.0 }
            }
            impl TryFrom<Vec<#item>> for #name {
                type Error = support::ConversionError;
                fn try_from(value: Vec<#item>) -> Result<Self, support::ConversionError> {
                    support::check_count(value.len(), #min..=#max)?;
                    Ok(Self(value))
                }
            }
            #reading
        }
    }

    /// An object whose members all have one type, in the order of its text.
    pub(super) fn map(&self, definition: &Definition, map: &Map) -> TokenStream {
        let name = self.names.get(&definition.name);
        let generics = self.generics(&definition.name);
        let docs = docs::of_definition(definition);
        let value = match self.settings.opaque_maps.contains(&definition.name) {
            true => quote!(::serde_json::Value),
            false => self.ty(&map.value),
        };
        let key = match self.settings.keys.get(&definition.name) {
            Some(key) => {
                let key = self.names.get(key);
                quote!(#key)
            }
            None => quote!(String),
        };
        let (min, max) = match self.settings.lenient_maps.contains(&definition.name) {
            true => (None, None),
            false => (map.min, map.max),
        };
        let (min, max) = limits(min, max);
        let error_name = &definition.name;
        let (declaration, bounded, usage) = (&generics.declaration, &generics.bounded, &generics.usage);
        let bare = &generics.bare;
        let with_lifetime = match usage.is_empty() {
            true => quote!(<'de>),
            false => quote!(<'de, P: support::Payload>),
        };
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name #declaration (pub support::IndexMap<#key, #value>);
            impl #bare Default for #name #usage {
                fn default() -> Self { Self(support::IndexMap::new()) }
            }
            impl #bare ::std::ops::Deref for #name #usage {
                type Target = support::IndexMap<#key, #value>;
                fn deref(&self) -> &Self::Target { &self.0 }
            }
            impl #bare ::std::ops::DerefMut for #name #usage {
                fn deref_mut(&mut self) -> &mut Self::Target { &mut self.0 }
            }
            impl #bare FromIterator<(#key, #value)> for #name #usage {
                fn from_iter<T: IntoIterator<Item = (#key, #value)>>(entries: T) -> Self {
                    Self(entries.into_iter().collect())
                }
            }
            impl #bounded ::serde::Serialize for #name #usage {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    self.0.serialize(serializer)
                }
            }
            impl #with_lifetime ::serde::Deserialize<'de> for #name #usage {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    support::read_map(#error_name, #min..=#max, deserializer).map(Self)
                }
            }
        }
    }

    /// Another name for a type.
    pub(super) fn alias(&self, definition: &Definition, target: &Type) -> TokenStream {
        let name = self.names.get(&definition.name);
        let docs = docs::of_definition(definition);
        let declaration = self.generics(&definition.name).declaration;
        let target = self.ty(target);
        quote!(#docs pub type #name #declaration = #target;)
    }
}

/// The bounds of a number of entries, as literals that are the same wherever the generator runs.
fn limits(min: Option<u64>, max: Option<u64>) -> (TokenStream, TokenStream) {
    let literal = |bound| match u32::try_from(bound) {
        Ok(bound) => {
            let bound = proc_macro2::Literal::u32_unsuffixed(bound);
            quote!(#bound)
        }
        Err(_) => quote!(usize::MAX),
    };
    (literal(min.unwrap_or(0)), literal(max.unwrap_or(u64::MAX)))
}
