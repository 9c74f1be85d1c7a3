//! The options of a tool, as a constant.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use crate::model::{OnCancel, OnRestart, Options, TaskMode, Ttl};

/// An expression of type `&'static ToolOptions` that says what was given, and nothing else.
pub(super) fn expand(krate: &Path, options: &Options) -> TokenStream {
    let given = [
        options.ttl.map(ttl),
        options.poll_interval_ms.map(|ms| quote!(.poll_interval_ms(#ms))),
        options.mode.map(|mode| mode_of(krate, mode)),
        options.when.as_ref().map(|when| quote!(.when(#when))),
        options.promote_after_ms.map(|ms| quote!(.promote_after_ms(#ms))),
        options.on_cancel.map(|on_cancel| on_cancel_of(krate, on_cancel)),
        options.on_restart.map(|on_restart| on_restart_of(krate, on_restart)),
        options.max_attempts.as_ref().map(|count| quote!(.max_attempts(#count))),
        options.version.as_ref().map(|version| quote!(.version(#version))),
        options.max_running.as_ref().map(|count| quote!(.max_running(#count))),
    ];
    let given = given.iter().flatten();
    quote!(const { &#krate::private::ToolOptions::new() #(#given)* })
}

fn ttl(ttl: Ttl) -> TokenStream {
    match ttl {
        Ttl::Ms(ms) => quote!(.ttl_ms(#ms)),
        Ttl::Unlimited => quote!(.unlimited_ttl()),
    }
}

fn mode_of(krate: &Path, mode: TaskMode) -> TokenStream {
    match mode {
        TaskMode::Optional => quote!(.mode(#krate::private::TaskMode::Optional)),
        TaskMode::Required => quote!(.mode(#krate::private::TaskMode::Required)),
    }
}

fn on_cancel_of(krate: &Path, on_cancel: OnCancel) -> TokenStream {
    match on_cancel {
        OnCancel::Drop => quote!(.on_cancel(#krate::private::OnCancel::Drop)),
        OnCancel::Signal => quote!(.on_cancel(#krate::private::OnCancel::Signal)),
    }
}

fn on_restart_of(krate: &Path, on_restart: OnRestart) -> TokenStream {
    match on_restart {
        OnRestart::Fail => quote!(.on_restart(#krate::private::OnRestart::Fail)),
        OnRestart::Rerun => quote!(.on_restart(#krate::private::OnRestart::Rerun)),
    }
}
