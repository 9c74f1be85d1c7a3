//! Catches panics of a tool that runs outside the engine: a panic in a handler would leave its caller without an answer
//! (ERR-03).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use rmcp::ErrorData;

/// A future whose panic is an internal error.
pub(super) struct Guarded<F>(pub Pin<Box<F>>);

impl<T, F: Future<Output = Result<T, ErrorData>>> Future for Guarded<F> {
    type Output = Result<T, ErrorData>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))).unwrap_or_else(|_| {
            tracing::error!("a tool panicked");
            Poll::Ready(Err(ErrorData::internal_error("the tool stopped unexpectedly", None)))
        })
    }
}
