//! Something between the store and its database that can be cut.

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What comes in goes out.
    Pass,
    /// They stay, and nothing comes through: the cable is out.
    HalfOpen,
    /// They are closed, and so are new ones.
    Closed,
}

/// Passes TCP connections on, as long as it is told to. Connections end with this.
pub struct Proxy {
    mode: watch::Sender<Mode>,
}

impl Proxy {
    /// In front of the host and port of a URL; gives the URL to use in its place.
    pub async fn before(url: &str) -> (Self, String) {
        let behind = url.rsplit_once('@').expect("a password").1.split('/').next().expect("a host").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mode = watch::Sender::new(Mode::Pass);
        tokio::spawn(accept(listener, behind.clone(), mode.subscribe()));
        (Self { mode }, url.replace(&behind, &address.to_string()))
    }

    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Ends the connections there are, at once; new ones pass.
    pub fn reset(&self) {
        self.set(Mode::Closed);
        self.set(Mode::Pass);
    }
}

async fn accept(listener: TcpListener, behind: String, mut mode: watch::Receiver<Mode>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // The proxy is gone.
            Err(_) = mode.wait_for(|_| false) => return,
        };
        if let Ok((inside, _)) = accepted {
            tokio::spawn(pass(inside, behind.clone(), mode.clone()));
        }
    }
}

async fn pass(inside: TcpStream, behind: String, mut mode: watch::Receiver<Mode>) {
    let mut end = mode.clone();
    mode.mark_unchanged();
    let work = async {
        if mode.wait_for(|mode| *mode != Mode::HalfOpen).await.is_err() {
            return;
        }
        let Ok(outside) = TcpStream::connect(behind).await else { return };
        let ((from_inside, to_inside), (from_outside, to_outside)) = (inside.into_split(), outside.into_split());
        tokio::select! {
            () = copy(from_inside, to_outside, mode.clone()) => {}
            () = copy(from_outside, to_inside, mode.clone()) => {}
        }
    };
    tokio::select! {
        () = work => {}
        () = closed(&mut end) => {}
    }
}

/// Resolves when connections are to be closed, however short that is.
async fn closed(mode: &mut watch::Receiver<Mode>) {
    if *mode.borrow_and_update() == Mode::Closed {
        return;
    }
    // From passing, the only changes are to half open and back, and to closed.
    let mut last = *mode.borrow();
    while mode.changed().await.is_ok() {
        let now = *mode.borrow_and_update();
        if now == Mode::Closed || (now == Mode::Pass && last == Mode::Pass) {
            return;
        }
        last = now;
    }
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut mode: watch::Receiver<Mode>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        if mode.wait_for(|mode| *mode == Mode::Pass).await.is_err() {
            return;
        }
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            changed = mode.changed() => if changed.is_ok() { continue } else { return },
        };
        match read {
            Ok(count) if count > 0 && to.write_all(&buffer[..count]).await.is_ok() => {}
            _ => return,
        }
    }
}
