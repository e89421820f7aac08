//! HTTP/1.1 as far as a key server needs it: requests with their length, and responses with theirs.

use std::io::{self, Read, Write};

use zeroize::Zeroizing;

use super::error::TransportError;
use super::transport::{TransportRequest, TransportResponse};

/// The most bytes of a response's head.
const MAX_HEAD_LEN: usize = 16 * 1024;

/// How many bytes are read at once.
const PIECE_LEN: usize = 4096;

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
    let optional = [request.token, request.namespace];
    if ![host, request.target].into_iter().all(is_plain)
        || !optional.into_iter().flatten().all(is_plain)
    {
        return Err(Failure::NotHttp(
            "the request has characters that no field has",
        ));
    }
    let len = request.body.len().to_string();
    let fields = [
        ("Host", Some(host)),
        ("X-Vault-Request", Some("true")),
        ("Content-Type", Some("application/json")),
        ("Content-Length", Some(&len)),
        ("X-Vault-Namespace", request.namespace),
        ("X-Vault-Token", request.token),
    ];
    let mut parts = vec![request.method, " ", request.target, " HTTP/1.1\r\n"];
    for (name, value) in fields {
        if let Some(value) = value {
            parts.extend([name, ": ", value, "\r\n"]);
        }
    }
    parts.push("\r\n");
    // One record for both where they fit, and room for all, so that no copy of a secret is left behind.
    let room = parts.iter().map(|part| part.len()).sum::<usize>() + request.body.len();
    let mut whole = Zeroizing::new(Vec::with_capacity(room));
    for part in parts {
        whole.extend_from_slice(part.as_bytes());
    }
    whole.extend_from_slice(request.body);
    stream.write_all(&whole)?;
    Ok(stream.flush()?)
}

/// Reads a response, whose body has at most this many bytes.
pub(super) fn read(stream: &mut impl Read, max_body_len: usize) -> Result<Received, Failure> {
    let mut head = Zeroizing::new(Vec::new());
    let body_start = loop {
        let begun = head.len();
        let count = match stream.read(lengthened(&mut head, PIECE_LEN)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                head.truncate(begun);
                continue;
            }
            Err(error)
                if begun == 0
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
        head.truncate(begun + count);
        if count == 0 {
            return Err(match begun {
                0 => Failure::Ended,
                _ => io::Error::from(io::ErrorKind::UnexpectedEof).into(),
            });
        }
        let seen = begun.saturating_sub(3);
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
    let mut rest = begun.chain(stream);
    let body = match len {
        Len::Known(len) if len > max_body_len => return Err(TOO_LONG),
        Len::Known(len) => {
            let mut body = Zeroizing::new(vec![0; len]);
            rest.read_exact(&mut body)?;
            body
        }
        Len::InChunks => read_chunks(&mut rest, max_body_len)?,
    };
    if !rest.get_ref().0.is_empty() {
        return Err(Failure::NotHttp("more bytes come than its body has"));
    }
    Ok(Received {
        response: TransportResponse { status, body },
        keeps,
    })
}

/// Reads a body in chunks (RFC 9112, section 7.1), as servers send it that don't know its length when they begin. What
/// follows the last chunk is read and not used.
fn read_chunks(stream: &mut impl Read, max_body_len: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut body = Zeroizing::new(Vec::new());
    loop {
        let line = read_line(stream)?;
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
        let digits = str::from_utf8(digits.trim_ascii_end()).unwrap_or_default();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = usize::from_str_radix(digits, 16).ok();
        let size = size.filter(|_| is_number);
        let size = size.ok_or(Failure::NotHttp("a chunk's length is no number"))?;
        if size == 0 {
            break;
        }
        let len = body.len().checked_add(size);
        if len.is_none_or(|len| len > max_body_len) {
            return Err(TOO_LONG);
        }
        stream.read_exact(lengthened(&mut body, size))?;
        if !read_line(stream)?.is_empty() {
            return Err(Failure::NotHttp("a chunk is longer than it says"));
        }
    }
    let mut after = 0;
    loop {
        let line = read_line(stream)?;
        after += line.len();
        if line.is_empty() {
            return Ok(body);
        }
        if after > MAX_HEAD_LEN {
            return Err(Failure::NotHttp("too much follows its body"));
        }
    }
}

/// Makes a buffer longer by some zeros, and returns these. A vector that grows by itself leaves behind what it had.
fn lengthened(bytes: &mut Zeroizing<Vec<u8>>, by: usize) -> &mut [u8] {
    let begun = bytes.len();
    let len = begun.saturating_add(by);
    if len > bytes.capacity() {
        let room = len.max(bytes.capacity().saturating_mul(2));
        let mut larger = Zeroizing::new(Vec::with_capacity(room));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.resize(len, 0);
    let (_, new) = bytes.split_at_mut(begun);
    new
}

/// Reads a line of what is between chunks, without its end.
fn read_line(stream: &mut impl Read) -> Result<Vec<u8>, Failure> {
    const MAX_LEN: usize = 1024;

    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte)?;
        if line.len() == MAX_LEN {
            return Err(Failure::NotHttp("a line between its chunks is too long"));
        }
        line.extend(byte);
        if let Some(whole) = line.strip_suffix(b"\r\n") {
            return Ok(whole.into());
        }
    }
}

const TOO_LONG: Failure = Failure::NotHttp("its body is too long");

struct Head {
    status: u16,
    len: Len,
    keeps: bool,
}

/// Where a body ends.
enum Len {
    Known(usize),
    InChunks,
}

/// Reads the status and the fields that say where the response ends (RFC 9112, section 6).
fn parse(head: &[u8]) -> Result<Head, Failure> {
    let head = str::from_utf8(head).map_err(|_| Failure::NotHttp("its head is no text"))?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let status = status.and_then(|rest| rest.get(..3)?.parse().ok());
    let status: u16 = status.ok_or(Failure::NotHttp("its first line is no status"))?;
    let mut len = None;
    let mut is_in_chunks = false;
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
            if is_in_chunks || !value.eq_ignore_ascii_case("chunked") {
                return Err(Failure::NotHttp("its body is encoded in an unknown way"));
            }
            is_in_chunks = true;
        } else if name.eq_ignore_ascii_case("connection") {
            keeps &= !value.eq_ignore_ascii_case("close");
        }
    }
    let len = match (status, len, is_in_chunks) {
        (100..200, ..) => return Err(Failure::NotHttp("it is only an interim one")),
        (204 | 304, ..) => Len::Known(0),
        (_, Some(_), true) => {
            return Err(Failure::NotHttp("it has a length, and comes in chunks"));
        }
        (_, None, true) => Len::InChunks,
        (_, Some(len), false) => Len::Known(len),
        (_, None, false) => return Err(Failure::NotHttp("it does not say how long it is")),
    };
    Ok(Head { status, len, keeps })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    /// Gives one byte at a time.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let len = bytes.len().min(1);
            self.0.read(&mut bytes[..len])
        }
    }

    #[test]
    fn bodies_come_in_chunks() {
        for (chunks, body) in [
            ("2\r\n{}\r\n0\r\n\r\n", "{}"),
            ("1\r\n{\r\n1 ;a=b\r\n}\r\n00\r\nX-Sum: 1\r\n\r\n", "{}"),
            ("A\r\n{        }\r\n0\r\n\r\n", "{        }"),
            ("0\r\n\r\n", ""),
        ] {
            let text = [CHUNKED, chunks].concat();
            for answer in [received(&text), read(&mut Slowly(text.as_bytes()), 10)] {
                let answer = answer.unwrap();
                assert_eq!(&**answer.response.body, body.as_bytes());
                assert!(answer.keeps);
            }
        }
    }

    proptest! {
        /// However a body is divided into chunks, and these into reads, it is the same; a byte that is changed or cut off
        /// is no panic, and makes it no longer than it may be.
        #[test]
        fn chunks_are_one_body(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..9), 0..5),
            at: prop::sample::Index,
            byte: Option<u8>,
        ) {
            let mut text = CHUNKED.as_bytes().to_vec();
            for part in &parts {
                text.extend(format!("{:x}\r\n", part.len()).bytes());
                text.extend(part);
                text.extend(b"\r\n");
            }
            text.extend(b"0\r\n\r\n");
            for answer in [read(&mut &*text, 40), read(&mut Slowly(&text), 40)] {
                prop_assert_eq!(&**answer.unwrap().response.body, parts.concat());
            }
            let at = at.index(text.len());
            match byte {
                Some(byte) => text[at] = byte,
                None => text.truncate(at),
            }
            if let Ok(answer) = read(&mut &*text, 40) {
                prop_assert!(answer.response.body.len() <= 40 && byte.is_some());
            }
        }

        #[test]
        fn whatever_comes_is_an_answer_or_an_error(bytes: Vec<u8>, is_after_head: bool) {
            let head = if is_after_head { CHUNKED } else { "HTTP/1.1 200 " };
            let text = [head.as_bytes(), &bytes].concat();
            if let Ok(answer) = read(&mut &*text, 10) {
                prop_assert!(answer.response.body.len() <= 10);
            }
        }
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
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{        }\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{     \r\n6\r\n     }\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nmore",
            &format!("{CHUNKED}2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(1024)),
            &format!("{CHUNKED}0\r\n{}\r\n", "a: b\r\n".repeat(10_000)),
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
            &format!("{CHUNKED}2\r\n{{}}\r\n"),
            &format!("{CHUNKED}3\r\n{{}}"),
            &format!("{CHUNKED}2\r\n{{}}\r\n0\r\n"),
        ] {
            assert!(matches!(received(cut), Err(Failure::Io(_))), "{cut}");
        }
    }

    /// What stands in a line of a request ends no line.
    #[test]
    fn no_part_of_a_request_is_another_line() {
        let written = |host: &str, target: &str, token: Option<&str>| {
            let request = TransportRequest {
                method: "POST",
                target,
                token,
                namespace: None,
                body: b"{}",
                repeatable: true,
            };
            let mut stream = Vec::new();
            let done = write(&mut stream, host, &request);
            (done.is_ok(), stream)
        };
        let (is_done, stream) = written("host:1", "/v1/a", Some("token"));
        assert!(is_done && stream.ends_with(b"\r\nX-Vault-Token: token\r\n\r\n{}"));
        for bad in ["a\r\nX: y", "a\nb", "a b", "a\0", "\u{e9}"] {
            for parts in [
                (bad, "/v1/a", Some("token")),
                ("host", bad, None),
                ("host", "/v1/a", Some(bad)),
            ] {
                let (is_done, stream) = written(parts.0, parts.1, parts.2);
                assert!(!is_done && stream.is_empty(), "{parts:?}");
            }
        }
    }

    /// A server that never ends its head takes no more memory than that.
    #[test]
    fn heads_are_bounded() {
        let with = |len: usize| {
            let field = format!("x: {}\r\n", "y".repeat(len));
            received(&format!("HTTP/1.1 204 No Content\r\n{field}\r\n"))
        };
        assert!(with(MAX_HEAD_LEN - 64).is_ok());
        let refused = with(2 * MAX_HEAD_LEN).map(drop);
        assert!(matches!(refused, Err(Failure::NotHttp(_))), "{refused:?}");
    }
}
