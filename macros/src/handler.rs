//! `#[task_handler]`: an rmcp `ServerHandler` whose calls can become tasks.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, ImplItem, ImplItemFn, ItemImpl, Path, Visibility, parse_quote};

use crate::args::{self, Entry};
use crate::diagnostics::{self, Errors};
use crate::signature::is_called;
use crate::validate::default_crate;

/// The methods that are wrapped: what was there moves aside, under another name.
const WRAPPED: [&str; 4] = ["call_tool", "list_tools", "get_info", "on_custom_request"];
/// The methods that are added.
const ADDED: [&str; 3] = ["get_task", "update_task", "cancel_task"];
/// rmcp's attributes that write some of these methods, if they stand below ours.
const RMCP_HANDLERS: [&str; 2] = ["tool_handler", "prompt_handler"];

/// All stages of `#[task_handler(args)] item`.
pub(crate) fn task_handler(args: TokenStream, item: TokenStream) -> TokenStream {
    match expand(args, &item) {
        Ok(tokens) => tokens,
        Err(errors) => {
            let errors = errors.to_compile_errors();
            quote!(#errors #item)
        }
    }
}

fn expand(args: TokenStream, item: &TokenStream) -> Result<TokenStream, Errors> {
    let mut errors = Errors::default();
    let handler_args = HandlerArgs::parse(args.clone(), &mut errors);
    let block = errors.absorb(parse_impl(item));
    if let Some(block) = block.as_ref().filter(|block| is_below_us(block)) {
        return errors.finish(Some(moved_down(&handler_args.krate, args, block.clone())));
    }
    if let Some(block) = &block {
        check_methods(block, &mut errors);
    }
    errors.finish(block.map(|block| wrap(&handler_args, block)))
}

/// The arguments of the attribute.
struct HandlerArgs {
    krate: Path,
    engine: Option<Expr>,
}

impl HandlerArgs {
    fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self { krate: default_crate(), engine: None };
        for entry in args::entries(tokens, errors) {
            let result = args.set(&entry);
            errors.absorb(result);
        }
        args
    }

    fn set(&mut self, entry: &Entry) -> syn::Result<()> {
        match entry.key.to_string().as_str() {
            "crate" => self.krate = entry.path("path")?,
            "engine" => self.engine = Some(entry.expression("self.engine")?),
            _ => return Err(diagnostics::unknown_handler_argument(&entry.key)),
        }
        Ok(())
    }

    /// An expression of type `&Engine`.
    fn engine(&self) -> TokenStream {
        let krate = &self.krate;
        match &self.engine {
            Some(engine) => quote!(&#engine),
            None => quote!(#krate::private::handler::process_engine()),
        }
    }
}

fn parse_impl(item: &TokenStream) -> syn::Result<ItemImpl> {
    let block: ItemImpl = syn::parse2(item.clone()).map_err(|_| diagnostics::not_a_handler(item))?;
    if block.trait_.is_some() { Ok(block) } else { Err(diagnostics::not_a_handler(&block.self_ty)) }
}

/// Whether an attribute of rmcp is still to write methods that we wrap.
fn is_below_us(block: &ItemImpl) -> bool {
    block.attrs.iter().any(|attribute| RMCP_HANDLERS.iter().any(|name| is_called(attribute, name)))
}

/// The same block with `#[task_handler]` as its last attribute, to be expanded when rmcp's are done.
fn moved_down(krate: &Path, args: TokenStream, mut block: ItemImpl) -> TokenStream {
    block.attrs.push(parse_quote!(#[#krate::task_handler(#args)]));
    block.into_token_stream()
}

fn check_methods(block: &ItemImpl, errors: &mut Errors) {
    if method(block, "call_tool").is_none() {
        errors.push(diagnostics::no_call_tool(&block.self_ty));
    }
    for method in ADDED.iter().filter_map(|name| method(block, name)) {
        errors.push(diagnostics::handwritten_method(&method.sig.ident));
    }
}

fn method<'a>(block: &'a ItemImpl, name: &str) -> Option<&'a ImplItemFn> {
    block.items.iter().find_map(|item| as_method(item).filter(|method| method.sig.ident == name))
}

fn as_method(item: &ImplItem) -> Option<&ImplItemFn> {
    match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    }
}

/// From
/// ```text
/// impl ServerHandler for X {
///     async fn call_tool(&self, ..) -> Result<CallToolResponse, ErrorData> { theirs }
/// }
/// ```
/// to
/// ```text
/// impl ServerHandler for X {
///     async fn call_tool(&self, ..) -> Result<CallToolResponse, ErrorData> {
///         handler::call_tool(engine, self.clone(), .., |handler, ..| handler.task_handler_call_tool(..)).await
///     }
///     async fn get_task(..) { .. }
/// }
/// impl TaskHandler for X {
///     fn recover_tasks(&self) { handler::recover_tasks(engine, self, |handler, ..| ..) }
/// }
/// impl X {
///     async fn task_handler_call_tool(&self, ..) -> Result<CallToolResponse, ErrorData> { theirs }
/// }
/// ```
fn wrap(args: &HandlerArgs, mut block: ItemImpl) -> TokenStream {
    let recovery = recovery(args, &block);
    let (theirs, others): (Vec<_>, Vec<_>) = block.items.into_iter().partition(is_wrapped);
    let names: Vec<String> = theirs.iter().filter_map(as_method).map(|method| method.sig.ident.to_string()).collect();
    block.items = others;
    let has = |name: &str| names.iter().any(|wrapped| wrapped == name);
    let ours = [
        call_tool(args, &block),
        if has("list_tools") { list_tools(&args.krate) } else { TokenStream::new() },
        get_info(&args.krate, has("get_info")),
        if method(&block, "negotiate_initialize").is_some() {
            TokenStream::new()
        } else {
            negotiate_initialize(&args.krate)
        },
        on_custom_request(args, has("on_custom_request")),
        task_methods(args),
    ];
    block.items.extend(ours.into_iter().map(ImplItem::Verbatim));
    let aside = aside(&block, theirs);
    quote!(#block #recovery #aside)
}

fn is_wrapped(item: &ImplItem) -> bool {
    as_method(item).is_some_and(|method| WRAPPED.iter().any(|name| method.sig.ident == name))
}

/// The name under which a wrapped method is kept.
fn aside_name(method: &Ident) -> Ident {
    format_ident!("task_handler_{method}")
}

/// An inherent impl with the wrapped methods.
fn aside(block: &ItemImpl, theirs: Vec<ImplItem>) -> TokenStream {
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let self_ty = &block.self_ty;
    let methods = theirs.into_iter().map(|item| match item {
        ImplItem::Fn(mut method) => {
            method.sig.ident = aside_name(&method.sig.ident);
            method.vis = Visibility::Inherited;
            method.into_token_stream()
        }
        other => other.into_token_stream(),
    });
    quote! {
        #[doc(hidden)]
        impl #impl_generics #self_ty #where_clause {
            #(#methods)*
        }
    }
}

fn call_tool(args: &HandlerArgs, block: &ItemImpl) -> TokenStream {
    let (krate, engine, self_ty) = (&args.krate, args.engine(), &block.self_ty);
    // At the type, so that a handler that is not `Clone` is told so there.
    let clone = quote_spanned!(self_ty.span()=> <#self_ty as ::core::clone::Clone>::clone);
    let theirs = their_call_tool();
    quote! {
        async fn call_tool(
            &self,
            request: #krate::private::rmcp::model::CallToolRequestParams,
            context: #krate::private::rmcp::service::RequestContext<#krate::private::rmcp::RoleServer>,
        ) -> ::core::result::Result<
            #krate::private::rmcp::model::CallToolResponse,
            #krate::private::rmcp::ErrorData,
        > {
            #krate::private::handler::call_tool(#engine, #clone(self), request, context, #theirs).await
        }
    }
}

/// Their own code, as a fn of the handler.
fn their_call_tool() -> TokenStream {
    quote! {
        |handler, request, context| {
            ::std::boxed::Box::pin(async move { handler.task_handler_call_tool(request, context).await })
        }
    }
}

/// The impl by which lost tasks run again. The engine of the process keeps nothing that outlives it, so that nothing can
/// be lost there.
fn recovery(args: &HandlerArgs, block: &ItemImpl) -> TokenStream {
    let (krate, self_ty) = (&args.krate, &block.self_ty);
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let recover = args.engine.as_ref().map(|engine| {
        let theirs = their_call_tool();
        quote!(#krate::private::handler::recover_tasks(&#engine, self, #theirs);)
    });
    quote! {
        impl #impl_generics #krate::handler::TaskHandler for #self_ty #where_clause {
            fn recover_tasks(&self) {
                #recover
            }
        }
    }
}

fn list_tools(krate: &Path) -> TokenStream {
    quote! {
        async fn list_tools(
            &self,
            request: ::core::option::Option<#krate::private::rmcp::model::PaginatedRequestParams>,
            context: #krate::private::rmcp::service::RequestContext<#krate::private::rmcp::RoleServer>,
        ) -> ::core::result::Result<
            #krate::private::rmcp::model::ListToolsResult,
            #krate::private::rmcp::ErrorData,
        > {
            self.task_handler_list_tools(request, context).await.map(#krate::private::handler::list_tools)
        }
    }
}

fn get_info(krate: &Path, is_wrapped: bool) -> TokenStream {
    let theirs =
        if is_wrapped { quote!(self.task_handler_get_info()) } else { quote!(::core::default::Default::default()) };
    quote! {
        fn get_info(&self) -> #krate::private::rmcp::model::ServerConfig {
            #krate::private::handler::get_info(self, #theirs)
        }
    }
}

/// The versions that `initialize` can agree to do not have the extension, so that it is not advertised there.
fn negotiate_initialize(krate: &Path) -> TokenStream {
    let model = quote!(#krate::private::rmcp::model);
    quote! {
        fn negotiate_initialize(
            &self,
            request: &#model::InitializeRequestParams,
        ) -> ::core::result::Result<#model::InitializeResult, #krate::private::rmcp::ErrorData> {
            let versions = #krate::private::rmcp::ServerHandler::supported_protocol_versions(self);
            let config = #krate::private::rmcp::ServerHandler::get_info(self);
            #krate::private::handler::negotiate_initialize(config, versions, request)
        }
    }
}

fn on_custom_request(args: &HandlerArgs, is_wrapped: bool) -> TokenStream {
    let (krate, engine) = (&args.krate, args.engine());
    let theirs = if is_wrapped {
        quote!(|request, context| self.task_handler_on_custom_request(request, context))
    } else {
        quote!(#krate::private::handler::unknown_request)
    };
    quote! {
        async fn on_custom_request(
            &self,
            request: #krate::private::rmcp::model::CustomRequest,
            context: #krate::private::rmcp::service::RequestContext<#krate::private::rmcp::RoleServer>,
        ) -> ::core::result::Result<#krate::private::rmcp::model::CustomResult, #krate::private::rmcp::ErrorData> {
            #krate::private::handler::on_custom_request(#engine, request, context, #theirs).await
        }
    }
}

fn task_methods(args: &HandlerArgs) -> TokenStream {
    let (krate, engine) = (&args.krate, args.engine());
    let model = quote!(#krate::private::rmcp::model);
    let methods = [
        ("get_task", quote!(#model::GetTaskParams), quote!(#model::GetTaskResult)),
        ("update_task", quote!(#model::UpdateTaskParams), quote!(())),
        ("cancel_task", quote!(#model::CancelTaskParams), quote!(())),
    ];
    let methods = methods.into_iter().map(|(name, params, result)| {
        let name = format_ident!("{name}");
        quote! {
            async fn #name(
                &self,
                request: #params,
                context: #krate::private::rmcp::service::RequestContext<#krate::private::rmcp::RoleServer>,
            ) -> ::core::result::Result<#result, #krate::private::rmcp::ErrorData> {
                #krate::private::handler::#name(#engine, request, context).await
            }
        }
    });
    quote!(#(#methods)*)
}
