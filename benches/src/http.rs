//! Reading answers of HTTP/1.1 by hand, so that a client costs little.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The body of the next answer on a connection that stays open; `answer` is room for all of it.
///
/// # Panics
/// The connection ends, or the answer is no success with a length.
pub async fn read_body<'a>(stream: &mut TcpStream, answer: &'a mut Vec<u8>) -> &'a [u8] {
    answer.clear();
    loop {
        let read = stream.read_buf(answer).await.expect("the connection stays open");
        assert!(read > 0, "the server closed the connection");
        if let Some((start, end)) = place(answer)
            && answer.len() >= end
        {
            return &answer[start..end];
        }
    }
}

/// Where the body of an answer begins and ends, once its head is there.
fn place(answer: &[u8]) -> Option<(usize, usize)> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&answer[..head]).expect("a head is text");
    assert!(text.starts_with("HTTP/1.1 200"), "{}", String::from_utf8_lossy(answer));
    let mut lines = text.split("\r\n").filter_map(|line| line.split_once(": "));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length")).expect("it has a length").1;
    Some((head + 4, head + 4 + length.parse::<usize>().expect("a length is a number")))
}
