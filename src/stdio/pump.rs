//! Moves lines between the client's streams and rmcp's.
//!
//! ```text
//!   client --read--> inbound --------> rmcp
//!                      | answers         |
//!   client <--write-- outbox <-------- outbound
//! ```
//! Everything that goes to the client goes through one outbox, in order. It is bounded: who writes to a client that does
//! not read waits (case 43), and so, in the end, does what that client itself writes.

use std::{io, sync::Arc};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
};

use super::{
    is_closed, lines,
    route::{Onward, Router},
};
use crate::subscriptions::Outbox;

/// How many messages may wait for the client.
pub(super) const OUTBOX: usize = 64;

pub(super) struct Pump;

impl Pump {
    /// Starts the three movements. They end with the client's streams, or with rmcp's.
    pub fn start<R, W>(router: Router, read: R, write: W, rmcp: DuplexStream)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let router = Arc::new(router);
        let (from_rmcp, to_rmcp) = tokio::io::split(rmcp);
        let (outbox, waiting) = mpsc::channel(OUTBOX);
        let writing = tokio::spawn(report(deliver(waiting, write)));
        let inward = tokio::spawn(report(inbound(Arc::clone(&router), read, to_rmcp, outbox.clone())));
        tokio::spawn(async move {
            report(outbound(&router, from_rmcp, &outbox)).await;
            // rmcp has closed: nobody is left to hand the client's messages to.
            inward.abort();
            for last in router.subscriptions.end_all() {
                let _ = outbox.send(last).await;
            }
            drop(outbox);
            let _ = writing.await;
        });
    }
}

async fn report(moving: impl Future<Output = io::Result<()>>) {
    if let Err(error) = moving.await
        && !is_closed(&error)
    {
        tracing::warn!(%error, "a stream to the client broke");
    }
}

async fn inbound<R: AsyncRead + Unpin>(
    router: Arc<Router>,
    read: R,
    mut to_rmcp: WriteHalf<DuplexStream>,
    out: Outbox,
) -> io::Result<()> {
    let (mut read, mut line) = (BufReader::new(read), Vec::new());
    while lines::next(&mut read, &mut line, lines::MAX_LINE).await? {
        if let Onward::AsItCame = router.inbound(&line, &out).await {
            to_rmcp.write_all(&line).await?;
        }
    }
    // rmcp ends the session when it has answered what is still open.
    to_rmcp.shutdown().await
}

async fn outbound(router: &Router, from_rmcp: ReadHalf<DuplexStream>, out: &Outbox) -> io::Result<()> {
    let (mut read, mut line) = (BufReader::new(from_rmcp), Vec::new());
    let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    while lines::next(&mut read, &mut line, usize::MAX).await? {
        match router.outbound(&line) {
            Onward::AsItCame => out.send(Bytes::copy_from_slice(line.trim_ascii_end())).await.map_err(gone)?,
            Onward::Acknowledged { message, id, subscription } => {
                out.send(message).await.map_err(gone)?;
                router.subscriptions.run_beside_core(id, *subscription, out.clone());
            }
            Onward::Nowhere => {}
        }
    }
    Ok(())
}

/// Writes messages, each as a line.
async fn deliver<W: AsyncWrite + Unpin>(mut waiting: mpsc::Receiver<Bytes>, mut write: W) -> io::Result<()> {
    while let Some(message) = waiting.recv().await {
        write.write_all(&message).await?;
        write.write_all(b"\n").await?;
        if waiting.is_empty() {
            write.flush().await?;
        }
    }
    write.flush().await
}
