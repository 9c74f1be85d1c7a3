//! Types from schemas in the manner of the published ones: their names and members, and that they compile.

use crate::support::{cargo, codegen, folder, get, manifest, put, snapshot};
use std::fmt::Write;
use std::path::Path;
use syn::{Fields, Item, Visibility};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/published/tasks-like.schema.json");

/// The public types of a file: the members of structs with their types, the variants of enums.
fn outline(code: &str) -> String {
    let file = syn::parse_file(code).expect("the generator writes Rust");
    let mut outline = String::new();
    for item in &file.items {
        match item {
            Item::Struct(item) if is_public(&item.vis) => {
                writeln!(outline, "struct {}", item.ident).expect("text takes all");
                for (index, field) in item.fields.iter().enumerate() {
                    let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
                    writeln!(outline, "    {name}: {}", shown(&field.ty)).expect("text takes all");
                }
            }
            Item::Enum(item) if is_public(&item.vis) => {
                writeln!(outline, "enum {}", item.ident).expect("text takes all");
                for variant in &item.variants {
                    let content = match &variant.fields {
                        Fields::Unit => String::new(),
                        fields => {
                            let types: Vec<_> = fields.iter().map(|field| shown(&field.ty)).collect();
                            format!("({})", types.join(", "))
                        }
                    };
                    writeln!(outline, "    {}{content}", variant.ident).expect("text takes all");
                }
            }
            Item::Type(item) if is_public(&item.vis) => {
                writeln!(outline, "type {} = {}", item.ident, shown(&item.ty)).expect("text takes all");
            }
            _ => {}
        }
    }
    outline
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// A type without the paths to it.
fn shown(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return String::new() };
            let arguments: Vec<_> = match &last.arguments {
                syn::PathArguments::AngleBracketed(all) => all.args.iter().map(argument).collect(),
                _ => Vec::new(),
            };
            let arguments = if arguments.is_empty() { String::new() } else { format!("<{}>", arguments.join(", ")) };
            format!("{}{arguments}", last.ident)
        }
        _ => "?".to_owned(),
    }
}

fn argument(argument: &syn::GenericArgument) -> String {
    match argument {
        syn::GenericArgument::Type(ty) => shown(ty),
        syn::GenericArgument::Const(syn::Expr::Lit(literal)) => number(literal),
        syn::GenericArgument::Const(syn::Expr::Unary(syn::ExprUnary { expr, .. })) => match &**expr {
            syn::Expr::Lit(literal) => format!("-{}", number(literal)),
            _ => "?".to_owned(),
        },
        _ => "?".to_owned(),
    }
}

fn number(literal: &syn::ExprLit) -> String {
    match &literal.lit {
        syn::Lit::Int(number) => number.to_string(),
        _ => "?".to_owned(),
    }
}

/// Names and members are those of a schema that names what this one writes inline, and each shape is there once.
#[test]
fn copies_are_folded_and_inline_shapes_get_names() {
    let place = folder("published/outline");
    let run = codegen(&place, &["generate", "--schema", FIXTURE, "--out", "src"]);
    assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (Some(0), "", "3 files in src\n"));
    snapshot("published/tasks-like.outline.txt", &outline(&get(&place.join("src/types.rs"))));
}

/// A message through the compiled types: what the schema does not name survives, and errors name the place.
const PROBE: &str = r##"
use published::registry::{NAMES, recode};

fn main() {
    assert!(NAMES.contains(&"FetchParcelResult"), "{NAMES:?}");
    let text = r#"{"kind":"final","parcelId":"p","state":"sent","keepForMs":null,"route":{},"more":[1]}"#;
    assert_eq!(recode("FetchParcelResult", text).unwrap().unwrap(), text);
    assert!(NAMES.iter().all(|name| recode(name, "{}").is_some()), "each name has a type");
    assert!(recode("NoSuchType", "{}").is_none());
    let error = recode("FetchParcelResult", r#"{"kind":"final","parcelId":"p","state":"sent","keepForMs":null}"#);
    println!("{}", error.unwrap().unwrap_err());
}
"##;

/// The emitted crate compiles with all warnings denied, and its registry knows every type.
#[test]
fn the_crate_compiles_without_warnings() {
    let place = folder("published/compiled");
    let run = codegen(&place, &["generate", "--schema", FIXTURE, "--out", "src", "--registry"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    put(&place.join("Cargo.toml"), &manifest("published"));
    put(&place.join("src/main.rs"), PROBE);
    let said = cargo(Path::new(&place), &["run", "--quiet"]);
    assert_eq!(said, "FetchParcelResult.route: is missing at line 1 column 63\n");
}
