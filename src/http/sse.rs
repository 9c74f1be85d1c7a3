//! Server-sent events: writing one, and taking those of rmcp's stream one by one.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::http::body::ResponseBody;

/// What keeps a quiet stream from being closed by something in between.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// A message as an event. JSON has line breaks only between its tokens, so that they may stand between `data` lines.
pub(super) fn event(message: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(message.len() + 8);
    for line in message.split(|byte| matches!(byte, b'\n' | b'\r')) {
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.push(b'\n');
    text.into()
}

/// The message of an event; empty for one that has none.
pub(super) fn message(event: &[u8]) -> Vec<u8> {
    let lines = event.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    data.collect::<Vec<_>>().join(&b'\n')
}

/// Events of a stream.
pub(super) struct Events {
    body: ResponseBody,
    unread: BytesMut,
}

impl Events {
    pub fn of(body: ResponseBody) -> Self {
        Self { body, unread: BytesMut::new() }
    }

    /// The next event, whole; `None` at the end of the stream. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(end) = end_of_event(&self.unread) {
                return Some(self.unread.split_to(end).freeze());
            }
            let Ok(frame) = self.body.frame().await?;
            if let Ok(data) = frame.into_data() {
                self.unread.extend_from_slice(&data);
            }
        }
    }
}

fn end_of_event(text: &[u8]) -> Option<usize> {
    let ends = [&b"\n\n"[..], b"\r\n\r\n"]
        .map(|end| text.windows(end.len()).position(|window| window == end).map(|start| start + end.len()));
    ends.into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::http::body;

    #[test]
    fn a_message_survives_being_an_event() {
        for text in [r#"{"a":1}"#, "{\n\"a\":\r\n1}"] {
            let read = message(&event(text.as_bytes()));
            let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).expect("JSON");
            assert_eq!(value(&read), value(text.as_bytes()));
        }
        assert_eq!(message(&KEEP_ALIVE), b"");
        assert_eq!(message(b"id: 1\ndata:{}\n\n"), b"{}");
    }

    #[tokio::test]
    async fn events_come_whole_however_the_stream_is_cut() {
        let (sender, receiver) = mpsc::channel(8);
        for part in ["data: 1\n", "\ndata: 2\r\n\r", "\n:", "\n\ndata: 3\n"] {
            sender.send(Bytes::from(part)).await.expect("the receiver is there");
        }
        drop(sender);
        let mut events = Events::of(body::stream(receiver));
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push(event);
        }
        assert_eq!(seen, ["data: 1\n\n", "data: 2\r\n\r\n", ":\n\n"]);
    }
}
