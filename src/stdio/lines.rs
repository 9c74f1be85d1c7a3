//! Reads lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The longest line that is read from a client: 16 MiB, as rmcp has it.
pub const MAX_LINE: usize = 16 << 20;

/// Reads the next line into `line`, its end included. False at the end of the stream, where an unfinished line is dropped.
///
/// Lines that are longer than `limit` are left out.
pub(super) async fn next<R: AsyncBufRead + Unpin>(read: &mut R, line: &mut Vec<u8>, limit: usize) -> io::Result<bool> {
    loop {
        line.clear();
        match bounded(read, line, limit).await? {
            Read::Line => return Ok(true),
            Read::TooLong => tracing::error!(limit, "a message is too long, and was dropped"),
            Read::End => return Ok(false),
        }
    }
}

enum Read {
    Line,
    TooLong,
    End,
}

async fn bounded<R: AsyncBufRead + Unpin>(read: &mut R, line: &mut Vec<u8>, limit: usize) -> io::Result<Read> {
    let mut too_long = false;
    loop {
        let available = read.fill_buf().await?;
        if available.is_empty() {
            return Ok(Read::End);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        too_long |= taken > limit - line.len();
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(&available[..taken]);
        }
        read.consume(taken);
        match (end, too_long) {
            (Some(_), false) => return Ok(Read::Line),
            (Some(_), true) => return Ok(Read::TooLong),
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let text = ["a\n".to_owned(), "x".repeat(MAX_LINE + 1), "\nb\nc".to_owned()].concat();
        let mut read = BufReader::with_capacity(1 << 16, text.as_bytes());
        let (mut line, mut lines) = (Vec::new(), Vec::new());
        while next(&mut read, &mut line, MAX_LINE).await.expect("reading from memory") {
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        assert_eq!(lines, ["a\n", "b\n"]);
    }
}
