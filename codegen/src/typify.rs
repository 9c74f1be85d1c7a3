//! `typify`, which renders the leaves. The only file that knows it, and the schemars 0.8 it speaks.

use crate::emit::{Leaf, LeafRenderer};
use schemars08::schema::Schema;
use std::collections::BTreeMap;
use typify::{TypeSpace, TypeSpaceSettings};

/// Renders leaves with `typify`.
pub(crate) struct Typify;

impl LeafRenderer for Typify {
    fn render(&self, leaves: &[Leaf]) -> Result<Vec<Vec<syn::Item>>, String> {
        if leaves.is_empty() {
            return Ok(Vec::new());
        }
        let mut space = TypeSpace::new(&TypeSpaceSettings::default());
        let mut types = Vec::new();
        for leaf in leaves {
            let schema: Schema = serde_json::from_value(leaf.schema.clone()).map_err(|error| error.to_string())?;
            types.push((leaf.name.clone(), schema));
        }
        space.add_ref_types(types).map_err(|error| error.to_string())?;
        let mut items = by_type(space.to_stream())?;
        leaves.iter().map(|leaf| items.remove(&leaf.name).ok_or_else(|| lost(&leaf.name))).collect()
    }
}

fn lost(name: &str) -> String {
    format!("typify gave `{name}` another name; rename it in the overlay to the form `{}`", heck_of(name))
}

fn heck_of(name: &str) -> String {
    heck::ToUpperCamelCase::to_upper_camel_case(name)
}

/// The items of each type, with the error type of ours in place of the one that typify emits each time.
fn by_type(stream: proc_macro2::TokenStream) -> Result<BTreeMap<String, Vec<syn::Item>>, String> {
    let text = stream.to_string().replace("self :: error :: ConversionError", "support :: ConversionError");
    let file: syn::File = syn::parse_str(&text).map_err(|error| error.to_string())?;
    let mut types: BTreeMap<String, Vec<syn::Item>> = BTreeMap::new();
    for mut item in file.items {
        let Some(name) = subject(&mut item) else { continue };
        types.entry(name).or_default().push(item);
    }
    Ok(types)
}

/// The type an item is about, with the item's own words and derived copies taken off; nothing for what is not kept.
fn subject(item: &mut syn::Item) -> Option<String> {
    match item {
        syn::Item::Enum(item) => {
            item.attrs.retain(is_no_doc);
            item.variants.iter_mut().for_each(|variant| variant.attrs.retain(is_no_doc));
            Some(item.ident.to_string())
        }
        syn::Item::Struct(item) => {
            item.attrs.retain(is_no_doc);
            Some(item.ident.to_string())
        }
        syn::Item::Impl(item) if !converts_from_itself(item) => subject_of_impl(item),
        _ => None,
    }
}

fn is_no_doc(attribute: &syn::Attribute) -> bool {
    !attribute.path().is_ident("doc")
}

/// `impl From<&T> for T` is a clone by another name.
fn converts_from_itself(item: &syn::ItemImpl) -> bool {
    let Some((_, path, _)) = &item.trait_ else { return false };
    let Some(last) = path.segments.last() else { return false };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    arguments.args.iter().any(|argument| match argument {
        syn::GenericArgument::Type(syn::Type::Reference(reference)) => reference.elem == item.self_ty,
        _ => false,
    })
}

fn subject_of_impl(item: &syn::ItemImpl) -> Option<String> {
    let is_subject = |path: &syn::Path| path.get_ident().map(ToString::to_string);
    if let syn::Type::Path(own) = &*item.self_ty
        && let Some(last) = own.path.segments.last()
        && !matches!(last.ident.to_string().as_str(), "String")
    {
        return Some(last.ident.to_string());
    }
    // `impl From<T> for String`: the type is the argument.
    let (_, path, _) = item.trait_.as_ref()?;
    let syn::PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(syn::Type::Path(argument)) => is_subject(&argument.path),
        _ => None,
    })
}
