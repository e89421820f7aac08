//! A document with its fields for caches (RFC 9111), and the answer to a request for it (RFC 9110 section 13).

use core::time::Duration;
use std::time::SystemTime;

use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderMap, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED,
};
use hyper::{Response, StatusCode};
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

/// How long others may keep a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caching {
    /// Until it ends, or for this long.
    Until {
        /// Its end.
        end: UnixTime,
        /// And no longer than this.
        most: Duration,
    },
    /// For this long.
    For(Duration),
}

/// Bytes that many ask for.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    body: Bytes,
    content_type: HeaderValue,
    etag: HeaderValue,
    /// When it was made, in the words of HTTP.
    modified: Option<(SystemTime, HeaderValue)>,
    /// Whether a time alone tells that it is the same.
    by_time: bool,
    caching: Caching,
}

impl Document {
    pub(crate) fn new(
        body: impl Into<Bytes>,
        content_type: &'static str,
        modified: Option<UnixTime>,
        caching: Caching,
    ) -> Self {
        let body = body.into();
        let digest = Sha256::digest(&body);
        let etag = format!("\"{}\"", base16ct::lower::encode_string(&digest[..16]));
        Self {
            body,
            content_type: HeaderValue::from_static(content_type),
            etag: HeaderValue::from_str(&etag).expect("it is hexadecimal"),
            modified: modified.map(|at| (system_time(at), date(at))),
            by_time: true,
            caching,
        }
    }

    /// The same, of which there may be several of one second, so that only its tag tells whether a client has this one.
    pub(crate) fn by_tag_alone(self) -> Self {
        Self {
            by_time: false,
            ..self
        }
    }

    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The answer to a GET, HEAD or POST with these fields.
    pub(crate) fn answer(&self, asked: &HeaderMap, now: UnixTime) -> Response<Bytes> {
        let is_known = self.is_known(asked);
        let mut response = Response::new(match is_known {
            true => Bytes::new(),
            false => self.body.clone(),
        });
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        if !is_known {
            headers.insert(CONTENT_TYPE, self.content_type.clone());
        }
        headers.insert(ETAG, self.etag.clone());
        if let Some((_, modified)) = &self.modified {
            headers.insert(LAST_MODIFIED, modified.clone());
        }
        let seconds = match self.caching {
            Caching::For(time) => time.as_secs(),
            Caching::Until { end, most } => {
                headers.insert(EXPIRES, date(end));
                // Less than what is left (RFC 9919 section 7.2).
                let left = end.as_secs().saturating_sub(now.as_secs());
                left.saturating_sub(1).min(most.as_secs())
            }
        };
        let control = format!("max-age={seconds}, public, no-transform, must-revalidate");
        let control = HeaderValue::from_str(&control).expect("it is a number between words");
        headers.insert(CACHE_CONTROL, control);
        response
    }

    /// Whether the client has it (RFC 9110 section 13.2.2): by its tag if it sent any, or else by time.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let mut tags = asked.get_all(IF_NONE_MATCH).iter().peekable();
        if tags.peek().is_some() {
            let mut tags = tags.filter_map(|value| value.to_str().ok());
            return tags.any(|value| self.is_among(value));
        }
        let mut since = asked.get_all(IF_MODIFIED_SINCE).iter();
        let (Some(value), None) = (since.next(), since.next()) else {
            return false;
        };
        let value = value.to_str().ok();
        let since = value.and_then(|value| httpdate::parse_http_date(value).ok());
        match (&self.modified, since) {
            (Some((modified, _)), Some(since)) => self.by_time && *modified <= since,
            _ => false,
        }
    }

    /// Tags are compared weakly; none has a comma of ours in it.
    fn is_among(&self, tags: &str) -> bool {
        let mut tags = tags.split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.etag)
    }
}

fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs().min(LAST))
}

/// The last second of the year 9999, the last that HTTP can write.
const LAST: u64 = 253_402_300_799;

fn date(time: UnixTime) -> HeaderValue {
    let text = httpdate::fmt_http_date(system_time(time));
    HeaderValue::from_str(&text).expect("dates are in ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    fn document() -> Document {
        let caching = Caching::Until {
            end: at(1_000_100),
            most: Duration::from_secs(60),
        };
        Document::new("text", "text/plain", Some(at(1_000_000)), caching)
    }

    fn status(document: &Document, fields: &[(&'static str, &str)]) -> u16 {
        let mut asked = HeaderMap::new();
        for (name, value) in fields {
            asked.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let response = document.answer(&asked, at(1_000_000));
        assert_eq!(response.body().is_empty(), response.status() == 304);
        response.status().as_u16()
    }

    #[test]
    fn no_cache_keeps_it_until_its_end() {
        for (now, seconds) in [
            (1_000_000, 60),
            (1_000_050, 49),
            (1_000_099, 0),
            (1_000_200, 0),
        ] {
            let response = document().answer(&HeaderMap::new(), at(now));
            let control = response.headers()[CACHE_CONTROL].to_str().unwrap();
            let expected = format!("max-age={seconds}, public, no-transform, must-revalidate");
            assert_eq!(control, expected);
            assert_eq!(response.headers()[EXPIRES], "Mon, 12 Jan 1970 13:48:20 GMT");
            assert_eq!(
                response.headers()[LAST_MODIFIED],
                "Mon, 12 Jan 1970 13:46:40 GMT"
            );
        }
    }

    #[test]
    fn who_has_it_gets_nothing_again() {
        let document = document();
        let tag = document.etag.to_str().unwrap().to_owned();
        let weak = format!("\"other\" , W/{tag}");
        const SAME: &str = "Mon, 12 Jan 1970 13:46:40 GMT";
        const EARLIER: &str = "Mon, 12 Jan 1970 13:46:39 GMT";
        for (expected, fields) in [
            (304, &[("if-none-match", &*tag)][..]),
            (304, &[("if-none-match", &weak)]),
            (304, &[("if-none-match", "*")]),
            (304, &[("if-none-match", "\"a\""), ("if-none-match", &tag)]),
            (200, &[("if-none-match", "\"a\"")]),
            (200, &[("if-none-match", &tag[1..])]),
            // The tag decides.
            (
                200,
                &[("if-none-match", "\"a\""), ("if-modified-since", SAME)],
            ),
            (304, &[("if-modified-since", SAME)]),
            (200, &[("if-modified-since", EARLIER)]),
            (200, &[("if-modified-since", "yesterday")]),
            (
                200,
                &[("if-modified-since", SAME), ("if-modified-since", SAME)],
            ),
        ] {
            assert_eq!(status(&document, fields), expected, "{fields:?}");
        }
        let by_tag = document.by_tag_alone();
        assert_eq!(status(&by_tag, &[("if-modified-since", SAME)]), 200);
        assert_eq!(status(&by_tag, &[("if-none-match", &tag)]), 304);
    }
}
