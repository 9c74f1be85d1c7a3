//! Snapshots of the expansion, for valid and broken input.
//!
//! Each `tests/expand/NAME.rs` is one item below one of our attributes; `NAME.expanded.rs` beside it is what becomes of
//! it. `UPDATE_EXPECT=1 cargo test -p mcp-tasks-macros` writes the snapshots anew; nothing else does.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Meta};

use crate::{expand, handler};

/// Shows the difference in the assertion, and how to accept it.
const HOW_TO_UPDATE: &str = "if this is right: UPDATE_EXPECT=1 cargo test -p mcp-tasks-macros";

#[test]
fn expansions_are_as_recorded() {
    let inputs = inputs();
    assert!(!inputs.is_empty(), "no inputs in {}", folder().display());
    for input in inputs {
        check(&input);
    }
}

/// Every snapshot has its input, so that none outlives it.
#[test]
fn no_snapshot_is_left_over() {
    for snapshot in files().into_iter().filter(|path| is_snapshot(path)) {
        let input = snapshot.to_string_lossy().replace(".expanded.rs", ".rs");
        assert!(Path::new(&input).exists(), "{} has no input", snapshot.display());
    }
}

/// Where `crate = other` is given, the default name appears nowhere, in the valid and the broken case.
#[test]
fn the_given_crate_path_replaces_the_default_everywhere() {
    let free = quote::quote!(
        async fn tool(#[arg(default = 5)] a: i64, b: String, task: TaskContext, db: State<Db>) -> Result<i64, E> {}
    );
    let method = quote::quote!(
        #[tool]
        async fn tool(&self, task: TaskContext) -> String {}
    );
    let options = quote::quote!(
        crate = other,
        mode = "optional",
        on_cancel = "signal",
        on_restart = "rerun",
        ttl = "1s",
        promote_after = "1s"
    );
    let broken = quote::quote!(
        fn tool(a: &str) {}
    );
    for item in [&free, &method, &broken] {
        assert_not_named(expand::task_tool(options.clone(), item.clone()));
    }
    let block = quote::quote!(impl ServerHandler for X { async fn call_tool(&self) {} });
    let below = quote::quote!(
        #[tool_handler]
        impl ServerHandler for X {}
    );
    for block in [&block, &below] {
        assert_not_named(handler::task_handler(quote::quote!(crate = other), block.clone()));
    }
}

/// Whatever tokens come in, tokens come out.
#[test]
fn no_input_panics() {
    for input in inputs() {
        let source = fs::read_to_string(input).expect("the input is readable");
        let tokens: Vec<TokenTree> = source.parse::<TokenStream>().expect("the input is tokens").into_iter().collect();
        for cut in 0..=tokens.len() {
            let (head, tail) = tokens.split_at(cut);
            let (head, tail): (TokenStream, TokenStream) =
                (head.iter().cloned().collect(), tail.iter().cloned().collect());
            for (args, item) in [(&head, &tail), (&tail, &head)] {
                expand::task_tool(args.clone(), item.clone());
                handler::task_handler(args.clone(), item.clone());
            }
        }
    }
}

fn assert_not_named(tokens: TokenStream) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) => assert_ne!(ident, "mcp_tasks"),
            TokenTree::Group(group) => assert_not_named(group.stream()),
            TokenTree::Literal(literal) => assert!(!literal.to_string().contains("mcp_tasks::"), "{literal}"),
            TokenTree::Punct(_) => {}
        }
    }
}

fn check(input: &Path) {
    let source = fs::read_to_string(input).expect("the input is readable");
    let actual = pretty(expansion(&source));
    let snapshot = input.with_extension("expanded.rs");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&snapshot, actual).expect("the snapshot is writable");
        return;
    }
    let expected = fs::read_to_string(&snapshot).unwrap_or_default();
    assert!(actual == expected, "{} is now:\n{actual}\n{HOW_TO_UPDATE}", snapshot.display());
}

/// One of our attributes, and the item below it.
struct Case {
    attribute: Attribute,
    item: TokenStream,
}

impl Parse for Case {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let attribute = attributes.remove(0);
        let rest: TokenStream = input.parse()?;
        Ok(Self { attribute, item: quote::quote!(#(#attributes)* #rest) })
    }
}

fn expansion(source: &str) -> TokenStream {
    let Case { attribute, item } = syn::parse_str(source).expect("an attribute above an item");
    let args = match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    if attribute.path().is_ident("task_handler") {
        handler::task_handler(args, item)
    } else {
        expand::task_tool(args, item)
    }
}

/// As a file; for a method, as it stands in an impl; for a half-written body, as bare tokens.
fn pretty(tokens: TokenStream) -> String {
    let in_an_impl = || syn::parse2(quote::quote!(impl Server { #tokens }));
    let file = syn::parse2(tokens.clone()).or_else(|_| in_an_impl());
    file.map_or_else(|_| format!("{tokens}\n"), |file| prettyplease::unparse(&file))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn inputs() -> Vec<PathBuf> {
    files().into_iter().filter(|path| !is_snapshot(path)).collect()
}

fn is_snapshot(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".expanded.rs")
}
