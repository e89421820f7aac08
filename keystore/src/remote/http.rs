//! HTTP/1.1 as far as a key server needs it: requests with their length, and responses with theirs.

use std::io::{self, Read, Write};

use zeroize::Zeroizing;

use super::error::TransportError;
use super::transport::{TransportRequest, TransportResponse};

/// The most bytes of a response's head.
const MAX_HEAD_LEN: usize = 16 * 1024;

/// A response, and whether the connection can be used again.
pub(super) struct Received {
    pub(super) response: TransportResponse,
    pub(super) keeps: bool,
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection ended before a byte of the response came, as a kept one does that the server has closed.
    Ended,
    Io(io::Error),
    NotHttp(&'static str),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Failure> for TransportError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Ended => Self::Broken(io::ErrorKind::UnexpectedEof.into()),
            Failure::Io(error) => match error.kind() {
                // Sockets with a time limit say either.
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::TimedOut,
                // rustls's own errors.
                io::ErrorKind::InvalidData => Self::Tls(error.to_string()),
                _ => Self::Broken(error),
            },
            Failure::NotHttp(problem) => Self::NotHttp(problem),
        }
    }
}

/// Writes a request.
pub(super) fn write(
    stream: &mut impl Write,
    host: &str,
    request: &TransportRequest<'_>,
) -> Result<(), Failure> {
    // What stands in a line has no line ends.
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain(host) || !is_plain(request.target) || !request.token.is_none_or(is_plain) {
        return Err(Failure::NotHttp(
            "the request has characters that no field has",
        ));
    }
    let mut text = Zeroizing::new(String::with_capacity(1024));
    for part in [
        request.method,
        " ",
        request.target,
        " HTTP/1.1\r\nHost: ",
        host,
        "\r\nX-Vault-Request: true\r\nContent-Type: application/json\r\nContent-Length: ",
        &request.body.len().to_string(),
    ] {
        text.push_str(part);
    }
    if let Some(token) = request.token {
        text.push_str("\r\nX-Vault-Token: ");
        text.push_str(token);
    }
    text.push_str("\r\n\r\n");
    // One record for both where they fit.
    let mut whole = Zeroizing::new(Vec::with_capacity(text.len() + request.body.len()));
    whole.extend_from_slice(text.as_bytes());
    whole.extend_from_slice(request.body);
    stream.write_all(&whole)?;
    Ok(stream.flush()?)
}

/// Reads a response, whose body has at most this many bytes.
pub(super) fn read(stream: &mut impl Read, max_body_len: usize) -> Result<Received, Failure> {
    let mut head = Vec::new();
    let body_start = loop {
        let mut piece = [0; 4096];
        let count = match stream.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error)
                if head.is_empty()
                    && matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionReset
                            | io::ErrorKind::ConnectionAborted
                            | io::ErrorKind::BrokenPipe
                            | io::ErrorKind::UnexpectedEof
                    ) =>
            {
                return Err(Failure::Ended);
            }
            count => count?,
        };
        let Some(new) = piece.get(..count).filter(|new| !new.is_empty()) else {
            return Err(match head.is_empty() {
                true => Failure::Ended,
                false => io::Error::from(io::ErrorKind::UnexpectedEof).into(),
            });
        };
        let seen = head.len().saturating_sub(3);
        head.extend_from_slice(new);
        let end = head.get(seen..).and_then(|rest| {
            let position = rest.windows(4).position(|four| four == b"\r\n\r\n")?;
            Some(seen + position + 4)
        });
        match end {
            Some(end) => break end,
            None if head.len() > MAX_HEAD_LEN => {
                return Err(Failure::NotHttp("its head is too long"));
            }
            None => {}
        }
    };
    let (head, begun) = head.split_at(body_start);
    let Head { status, len, keeps } = parse(head)?;
    if len > max_body_len {
        return Err(Failure::NotHttp("its body is too long"));
    }
    if begun.len() > len {
        return Err(Failure::NotHttp("more bytes come than its body has"));
    }
    let mut body = Zeroizing::new(vec![0; len]);
    let (first, rest) = body.split_at_mut(begun.len());
    first.copy_from_slice(begun);
    stream.read_exact(rest)?;
    Ok(Received {
        response: TransportResponse { status, body },
        keeps,
    })
}

struct Head {
    status: u16,
    len: usize,
    keeps: bool,
}

/// Reads the status and the fields that say where the response ends (RFC 9112, section 6).
fn parse(head: &[u8]) -> Result<Head, Failure> {
    let head = str::from_utf8(head).map_err(|_| Failure::NotHttp("its head is no text"))?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let status = status.and_then(|rest| rest.get(..3)?.parse().ok());
    let status: u16 = status.ok_or(Failure::NotHttp("its first line is no status"))?;
    let mut len = None;
    let mut keeps = true;
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line
            .split_once(':')
            .ok_or(Failure::NotHttp("a field has no name"))?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let number = value.parse::<usize>().ok().filter(|_| is_number);
            let number = number.ok_or(Failure::NotHttp("its length is no number"))?;
            if len.is_some_and(|len| len != number) {
                return Err(Failure::NotHttp("it has two lengths"));
            }
            len = Some(number);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Failure::NotHttp("its body comes in pieces"));
        } else if name.eq_ignore_ascii_case("connection") {
            keeps &= !value.eq_ignore_ascii_case("close");
        }
    }
    let len = match (status, len) {
        (100..200, _) => return Err(Failure::NotHttp("it is only an interim one")),
        (204 | 304, _) => 0,
        (_, Some(len)) => len,
        (_, None) => return Err(Failure::NotHttp("it does not say how long it is")),
    };
    Ok(Head { status, len, keeps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(text: &str) -> Result<Received, Failure> {
        read(&mut text.as_bytes(), 10)
    }

    #[test]
    fn responses_end_where_they_say() {
        let answer = received("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        assert_eq!(
            (answer.response.status, &**answer.response.body),
            (200, &b"{}"[..])
        );
        assert!(answer.keeps);
        let answer = received("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
        assert_eq!(
            (answer.response.status, answer.response.body.len()),
            (204, 0)
        );
        assert!(!answer.keeps);
    }

    #[test]
    fn what_is_no_response_is_refused() {
        for text in [
            "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 2\u{b2}0 OK\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{        }",
            "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 1\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}",
            "HTTP/1.1 100 Continue\r\ncontent-length: 2\r\n\r\n{}",
        ] {
            let refused = received(text).map(drop).unwrap_err();
            assert!(
                matches!(refused, Failure::NotHttp(_)),
                "{text}: {refused:?}"
            );
        }
        assert!(matches!(received(""), Err(Failure::Ended)));
        for cut in [
            "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}",
        ] {
            assert!(matches!(received(cut), Err(Failure::Io(_))), "{cut}");
        }
    }
}
