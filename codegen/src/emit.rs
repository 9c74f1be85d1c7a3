//! [`ir`](crate::ir) to Rust: what each shape becomes, and the files that it all goes into.

mod choice;
mod code;
mod convert;
mod docs;
mod files;
mod graph;
mod leaf;
mod messages;
mod names;
mod object;
mod record;
mod registry;
mod simple;
mod tagged;

pub(crate) use docs::split_source;
pub use files::OutputFile;
pub(crate) use files::{Header, crate_files, module_file, workspace_files};
pub(crate) use leaf::{Leaf, LeafRenderer};

use crate::error::{Error, Problems};
use crate::ir::{Definition, Part, Revision, Scalar, Shape, Type};
use crate::overlay::Settings;
use code::Code;
use graph::Graph;
use names::TypeNames;
use proc_macro2::TokenStream;
use quote::quote;

/// Writes the Rust of one revision.
struct Emitter<'a> {
    revision: &'a Revision,
    settings: &'a Settings,
    names: TypeNames,
    graph: Graph,
}

/// The type parameters of a definition, in the places where Rust wants them.
#[derive(Default)]
struct Generics {
    /// Where the type is declared, with its default.
    declaration: TokenStream,
    /// Where nothing is asked of the parameter.
    bare: TokenStream,
    /// Where it is read or written.
    bounded: TokenStream,
    /// Where the type is named.
    usage: TokenStream,
}

impl<'a> Emitter<'a> {
    fn new(revision: &'a Revision, settings: &'a Settings) -> Result<Self, Error> {
        let names = TypeNames::of(revision, settings)?;
        Ok(Self { revision, settings, names, graph: Graph::of(revision, settings) })
    }

    /// The code of all definitions of a part.
    fn part(&self, part: &Part) -> Result<Code, Error> {
        let mut problems = Problems::default();
        let mut code = Code::default();
        let mut leaves = problems.take(leaf::render(self, part)).unwrap_or_default();
        for definition in &part.definitions {
            let own = match leaves.remove(&definition.name) {
                Some(leaf) => Ok(leaf.into()),
                None => self.definition(definition),
            };
            let Some(own) = problems.take(own) else { continue };
            code.append(own);
            code.rust(self.message(definition).unwrap_or_default());
            code.rust(self.conversions(definition));
        }
        problems.finish(code)
    }

    fn definition(&self, definition: &Definition) -> Result<Code, Error> {
        if let Some(values) = self.settings.known_values.get(&definition.name) {
            return Ok(self.open_enum(definition, values).into());
        }
        Ok(match &definition.shape {
            Shape::Object(object) => return self.object(definition, object),
            Shape::Tagged(union) => self.tagged(definition, union)?,
            Shape::Choice(choice) => self.choice(definition, choice)?,
            Shape::Enum(values) => self.open_enum(definition, &values.values),
            Shape::Scalar(scalar) => self.scalar(definition, scalar),
            Shape::Map(map) => self.map(definition, map),
            Shape::List(list) => self.list(definition, list),
            Shape::Alias(target) => self.alias(definition, target),
        }
        .into())
    }

    /// The Rust type of a value.
    fn ty(&self, value: &Type) -> TokenStream {
        match value {
            Type::Named(name) => {
                let (ident, usage) = (self.names.get(name), self.generics(name).usage);
                quote!(#ident #usage)
            }
            Type::String => quote!(String),
            Type::Integer { min: None, max: None } => quote!(support::Int),
            Type::Integer { min, max } => {
                let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
                let (min, max) = (integer(min), integer(max));
                quote!(support::Int<#min, #max>)
            }
            Type::Number => quote!(::serde_json::Number),
            Type::Boolean => quote!(bool),
            Type::Any => quote!(::serde_json::Value),
            Type::Free => quote!(support::JsonObject),
            Type::List(item) => {
                let item = self.ty(item);
                quote!(Vec<#item>)
            }
            Type::Nullable(value) => {
                let value = self.ty(value);
                quote!(Option<#value>)
            }
        }
    }

    /// Whether a `&str` can become the type: a string, or a string of its own meaning without bounds.
    fn is_text(&self, value: &Type) -> bool {
        match value {
            Type::String => true,
            Type::Named(name) if self.settings.known_values.contains_key(name) => true,
            Type::Named(name) => match self.revision.get(name).map(|definition| &definition.shape) {
                Some(Shape::Scalar(Scalar::String { min: None, max: None })) => true,
                Some(Shape::Enum(_)) => self.settings.open_enums.contains(name),
                Some(Shape::Alias(target)) => self.is_text(target),
                _ => false,
            },
            _ => false,
        }
    }

    fn generics(&self, definition: &str) -> Generics {
        match self.graph.is_generic(definition) {
            false => Generics::default(),
            true => Generics {
                declaration: quote!(<P = support::JsonObject>),
                bare: quote!(<P>),
                bounded: quote!(<P: support::Payload>),
                usage: quote!(<P>),
            },
        }
    }
}

/// An integer literal that is also a valid constant argument.
fn integer(value: i64) -> TokenStream {
    match value {
        i64::MIN => quote!({ i64::MIN }),
        i64::MAX => quote!({ i64::MAX }),
        value => {
            let digits = proc_macro2::Literal::u64_unsuffixed(value.unsigned_abs());
            if value < 0 { quote!(-#digits) } else { quote!(#digits) }
        }
    }
}
