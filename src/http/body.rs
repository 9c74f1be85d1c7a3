//! Bodies: a request's is read whole, up to a limit; a response's is whole or a stream.

use std::{
    convert::Infallible,
    error::Error,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, combinators::BoxBody};
use tokio::sync::mpsc;

/// The body of every response, as in rmcp.
pub(super) type ResponseBody = BoxBody<Bytes, Infallible>;

/// Why a request's body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    TooLarge,
    Broken,
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn read<B>(body: B, limit: usize) -> Result<Bytes, Unread>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Unread::TooLarge),
        Err(_) => Err(Unread::Broken),
    }
}

pub(super) fn whole(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).boxed()
}

/// What comes out of a channel, until its sender is dropped.
pub(super) fn stream(receiver: mpsc::Receiver<Bytes>) -> ResponseBody {
    Received(receiver).boxed()
}

struct Received(mpsc::Receiver<Bytes>);

impl Body for Received {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
