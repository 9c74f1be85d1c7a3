//! Parse: the arguments of `#[task_tool(..)]`, each with its span. No checks across arguments.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, Expr, ExprLit, Lit, LitBool, LitInt, LitStr, Path, Result, Token, token};

use crate::diagnostics::{self, Errors};
use crate::duration;
use crate::model::{OnCancel, OnRestart, Sp, TaskMode, Ttl};

/// What was written in the attribute, argument by argument.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) krate: Option<Path>,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    pub(crate) read_only: Option<LitBool>,
    pub(crate) destructive: Option<LitBool>,
    pub(crate) idempotent: Option<LitBool>,
    pub(crate) open_world: Option<LitBool>,
    pub(crate) ttl: Option<Ttl>,
    pub(crate) poll_interval: Option<u64>,
    pub(crate) mode: Option<Sp<TaskMode>>,
    pub(crate) when: Option<Path>,
    pub(crate) promote_after: Option<Sp<u64>>,
    pub(crate) on_cancel: Option<OnCancel>,
    pub(crate) on_restart: Option<OnRestart>,
    pub(crate) max_attempts: Option<Sp<LitInt>>,
    pub(crate) version: Option<LitStr>,
    pub(crate) max_running: Option<LitInt>,
}

impl Args {
    /// Reads all arguments; those that are wrong go to `errors` and stay unset.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for entry in entries(tokens, errors) {
            let result = args.set(&entry);
            errors.absorb(result);
        }
        args
    }

    fn set(&mut self, entry: &Entry) -> Result<()> {
        match entry.key.to_string().as_str() {
            "crate" => self.krate = Some(entry.path("path")?),
            "name" => self.name = Some(entry.tool_name()?),
            "title" => self.title = Some(entry.text("text", "\"..\"")?),
            "description" => self.description = Some(entry.description()?),
            "read_only" => self.read_only = Some(entry.flag()?),
            "destructive" => self.destructive = Some(entry.flag()?),
            "idempotent" => self.idempotent = Some(entry.flag()?),
            "open_world" => self.open_world = Some(entry.flag()?),
            "ttl" => self.ttl = Some(entry.ttl()?),
            "poll_interval" => self.poll_interval = Some(entry.duration("\"1s\"")?.value),
            "mode" => self.mode = Some(entry.choice(TaskMode::CHOICES)?),
            "when" => self.when = Some(entry.path("path::of::a_fn")?),
            "promote_after" => self.promote_after = Some(entry.duration("\"2s\"")?),
            "on_cancel" => self.on_cancel = Some(entry.choice(OnCancel::CHOICES)?.value),
            "on_restart" => self.on_restart = Some(entry.choice(OnRestart::CHOICES)?.value),
            "max_attempts" => self.max_attempts = Some(Sp { value: entry.count()?, span: entry.key.span() }),
            "version" => self.version = Some(entry.version()?),
            "max_running" => self.max_running = Some(entry.count()?),
            _ => return Err(diagnostics::unknown_argument(&entry.key)),
        }
        Ok(())
    }
}

/// One argument, `key` or `key = value`.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    value: Option<Expr>,
}

/// Splits an argument list. After a syntax error it goes on behind the next comma; a repeated key is an error.
pub(crate) fn entries(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match next_entry(input) {
                Ok(entry) if entries.iter().any(|earlier| earlier.key == entry.key) => {
                    errors.push(diagnostics::repeated_argument(&entry.key));
                }
                Ok(entry) => entries.push(entry),
                Err(error) => errors.push(error),
            }
            skip_past_comma(input);
        }
        Ok(())
    };
    // It consumes all of its input and fails at nothing, so there is no error to lose.
    let _: Result<()> = parser.parse2(tokens);
    entries
}

fn next_entry(input: ParseStream<'_>) -> Result<Entry> {
    let entry = input.parse()?;
    if input.is_empty() || input.peek(Token![,]) { Ok(entry) } else { Err(diagnostics::no_comma(input.span())) }
}

fn skip_past_comma(input: ParseStream<'_>) {
    // The step below fails at nothing.
    let _: Result<()> = input.step(|cursor| {
        let mut rest = *cursor;
        while let Some((tree, next)) = rest.token_tree() {
            rest = next;
            if matches!(&tree, proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ',') {
                break;
            }
        }
        Ok(((), rest))
    });
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.call(Ident::parse_any).map_err(|error| diagnostics::no_key(error.span()))?;
        let equals = input.parse::<Option<Token![=]>>()?;
        if let Some(equals) = equals.filter(|_| input.is_empty() || input.peek(Token![,])) {
            return Err(diagnostics::no_value(&key, equals));
        }
        let has_value = equals.is_some() || input.peek(token::Paren);
        let value = if has_value { Some(input.parse()?) } else { None };
        Ok(Self { key, value })
    }
}

impl Entry {
    fn value(&self, example: &str) -> Result<&Expr> {
        self.value.as_ref().ok_or_else(|| diagnostics::missing_value(&self.key, example))
    }

    fn wrong(&self, what: &str, example: &str) -> Error {
        let key = &self.key;
        let found = self.value.as_ref().map_or_else(|| quote!(#key), ToTokens::to_token_stream);
        diagnostics::wrong_value(key, found, what, example)
    }

    fn text(&self, what: &str, example: &str) -> Result<LitStr> {
        match self.value(example)? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
            _ => Err(self.wrong(what, example)),
        }
    }

    fn tool_name(&self) -> Result<LitStr> {
        let name = self.text("text", "\"my_tool\"")?;
        let text = name.value();
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let is_name = (1..=128).contains(&text.len()) && text.chars().all(is_allowed);
        if is_name { Ok(name) } else { Err(diagnostics::tool_name(name.span(), &text)) }
    }

    fn version(&self) -> Result<LitStr> {
        let version = self.text("text", "\"2\"")?;
        let is_version = (1..=64).contains(&version.value().chars().count());
        if is_version { Ok(version) } else { Err(diagnostics::version(version.span())) }
    }

    fn description(&self) -> Result<Expr> {
        match self.value("\"..\"")? {
            text @ (Expr::Macro(_) | Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => Ok(text.clone()),
            _ => Err(self.wrong("text, or a macro that gives text", "\"..\"")),
        }
    }

    fn flag(&self) -> Result<LitBool> {
        match &self.value {
            None => Ok(LitBool::new(true, self.key.span())),
            Some(Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. })) => Ok(flag.clone()),
            Some(_) => Err(self.wrong("`true` or `false`", "true")),
        }
    }

    fn count(&self) -> Result<LitInt> {
        let what = "a whole number from 1";
        let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = self.value("4")? else {
            return Err(self.wrong(what, "4"));
        };
        match number.base10_parse::<u32>() {
            Ok(0) => Err(diagnostics::zero_count(&self.key, number.span())),
            Ok(_) if number.suffix().is_empty() => Ok(number.clone()),
            _ => Err(self.wrong(what, "4")),
        }
    }

    fn ttl(&self) -> Result<Ttl> {
        let text = self.text("a duration as text, or `\"unlimited\"`", "\"10m\"")?;
        if text.value() == "unlimited" {
            return Ok(Ttl::Unlimited);
        }
        self.duration("\"10m\"").map(|ttl| Ttl::Ms(ttl.value))
    }

    fn duration(&self, example: &str) -> Result<Sp<u64>> {
        let text = self.text("a duration as text", example)?;
        let ms = duration::parse_ms(&text.value());
        let ms = ms.map_err(|error| diagnostics::duration(&self.key, text.span(), &text.value(), &error))?;
        Ok(Sp { value: ms, span: self.key.span() })
    }

    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<Sp<T>> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let example = format!("\"{}\"", names.first().copied().unwrap_or_default());
        let text = self.text("text", &example)?;
        let chosen = choices.iter().find(|(name, _)| *name == text.value());
        let (_, value) =
            chosen.ok_or_else(|| diagnostics::unknown_choice(&self.key, text.span(), &text.value(), &names))?;
        Ok(Sp { value: *value, span: self.key.span() })
    }

    pub(crate) fn path(&self, example: &str) -> Result<Path> {
        match self.value(example)? {
            Expr::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
            _ => Err(self.wrong("a path", example)),
        }
    }

    pub(crate) fn expression(&self, example: &str) -> Result<Expr> {
        self.value(example).cloned()
    }
}
