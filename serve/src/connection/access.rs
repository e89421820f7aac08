//! The access log: a line for each request, with what protected it. It says nothing at length that a client chooses, and
//! the log's formats escape what it does say.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::Request;
use tracing::info;

use crate::events::ACCESS;
use crate::http::Protection;

/// The most bytes of a text that a client chooses, as the log writes them.
const MOST: usize = 256;

/// The lines of one connection, which may have so many requests that they would fill the disk.
#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<LineLimit>);

/// Allows so many lines in each second.
#[derive(Debug, Default)]
struct LineLimit {
    second: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl LineLimit {
    const LINES: u32 = 100;

    /// If a line may be written now, how many were left out since the last one.
    fn next_line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |second| now.duration_since(second) >= Duration::from_secs(1);
        if self.second.is_none_or(is_over) {
            self.second = Some(now);
            self.written = 0;
        }
        if self.written >= Self::LINES {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(mem::take(&mut self.left_out))
    }
}

impl Lines {
    fn next(&self) -> Option<u64> {
        let mut limit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        limit.next_line(Instant::now())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let limit = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if limit.left_out > 0 {
            info!(target: ACCESS, parent: None, left_out = limit.left_out, "a connection is over whose last lines were left out");
        }
    }
}

/// A line of the access log. It is written when this is dropped, whether the answer was sent or not.
pub(super) struct Line {
    method: String,
    path: String,
    version: hyper::Version,
    began: Instant,
    protection: Arc<Protection>,
    lines: Arc<Lines>,
    /// None if the handler had no answer before the connection was over.
    pub(super) status: Option<u16>,
    /// How many bytes of the answer's body were taken for sending.
    pub(super) bytes: u64,
}

impl Line {
    pub(super) fn begin<B>(
        request: &Request<B>,
        protection: Arc<Protection>,
        lines: Arc<Lines>,
    ) -> Self {
        Self {
            method: start(request.method().as_str()),
            // Without the query, which may have secrets.
            path: start(request.uri().path()),
            version: request.version(),
            began: Instant::now(),
            protection,
            lines,
            status: None,
            bytes: 0,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Some(left_out) = self.lines.next() else {
            return;
        };
        let Protection {
            summary,
            client_certificate,
            peer,
            ..
        } = &*self.protection;
        let peer = peer.map(|peer| peer.to_string());
        // Without the span of the connection, whose fields are here, too. As `str`, text is escaped in all formats.
        info!(
            target: ACCESS,
            parent: None,
            peer = peer.as_deref().unwrap_or("unix"),
            method = self.method,
            path = self.path,
            version = ?self.version,
            status = self.status,
            bytes = self.bytes,
            microseconds = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            tls = summary.protocol,
            handshake = summary.handshake,
            group = summary.group,
            suite = summary.cipher_suite,
            signature = summary.signature_scheme.as_deref(),
            client = client_certificate.as_deref().map(start),
            left_out = (left_out > 0).then_some(left_out),
            "answered"
        );
    }
}

/// No more of a text than is to be logged, with what escaping adds to it in either format.
fn start(text: &str) -> String {
    const MORE: char = '…';

    let mut length = 0;
    // Where it would be cut.
    let mut end = 0;
    for (at, character) in text.char_indices() {
        if length <= MOST - MORE.len_utf8() {
            end = at;
        }
        length += escaped_length(character);
        if length > MOST {
            return format!("{}{MORE}", &text[..end]);
        }
    }
    text.to_owned()
}

/// The most bytes that a character takes as text and as JSON, which has six for those of ASCII without a sign.
fn escaped_length(character: char) -> usize {
    let as_text = character.escape_debug().map(char::len_utf8).sum();
    match character.is_ascii_control() {
        true => 6.max(as_text),
        false => as_text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cut = MOST - "…".len();
        assert_eq!(start("short"), "short");
        assert_eq!(start(&"x".repeat(MOST)), "x".repeat(MOST));
        assert_eq!(start(&"x".repeat(MOST + 1)), "x".repeat(cut) + "…");
        let wide = "é".repeat(MOST);
        let expected = format!("x{}…", &wide[..cut - 1]);
        assert_eq!(start(&format!("x{wide}")), expected);
    }

    /// Whatever a client chooses, it can't make its lines longer.
    #[test]
    fn texts_are_short_after_they_were_escaped() {
        for character in ['x', '"', '\\', '\0', '\u{7f}', '\u{202e}', '\u{e0001}', 'é'] {
            let said = start(&character.to_string().repeat(1000));
            let text = format!("{said:?}");
            let json = serde_json::to_string(&said).unwrap();
            assert!(text.len() <= MOST + 2, "{text}");
            assert!(json.len() <= MOST + 2, "{json}");
            assert!(said.ends_with('…'), "{text}");
            assert!(text.len().max(json.len()) > MOST - 16, "{text}");
        }
    }

    #[test]
    fn a_connection_has_so_many_lines_in_a_second() {
        let mut limit = LineLimit::default();
        let begin = Instant::now();
        for _ in 0..LineLimit::LINES {
            assert_eq!(limit.next_line(begin), Some(0));
        }
        for _ in 0..5 {
            assert_eq!(limit.next_line(begin + Duration::from_millis(999)), None);
        }
        let next = begin + Duration::from_secs(1);
        assert_eq!(limit.next_line(next), Some(5));
        assert_eq!(limit.next_line(next), Some(0));
    }
}
