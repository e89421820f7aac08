//! What a client gets in place of a certificate (RFC 7030, section 4.2.3).

use core::time::Duration;

use hyper::body::Bytes;
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use crate::http::plain;

/// Why a client gets nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Refusal {
    /// The request is malformed.
    Malformed(String),
    /// It has to say who sends it, by a user's name and password.
    Unauthorized,
    /// Whoever it is may not have this.
    Forbidden(String),
    /// There were too many wrong passwords.
    Wait(Duration),
    /// The request is long.
    TooLong,
    /// It is no PKCS#10.
    ContentType,
    /// It doesn't take what is there.
    Accept,
    /// It is accepted, and can't be answered now: the client asks the same again.
    Later,
    /// Nobody can tell now who the client is.
    Unavailable,
}

/// When a client may ask again.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

impl Refusal {
    pub(super) fn response(self) -> Response<Bytes> {
        let (status, text, wait) = match self {
            Self::Malformed(text) => (StatusCode::BAD_REQUEST, text, None),
            Self::Unauthorized => {
                let text = "A user's name and password are needed, or others than these";
                (StatusCode::UNAUTHORIZED, text.into(), None)
            }
            Self::Forbidden(text) => (StatusCode::FORBIDDEN, text, None),
            Self::Wait(wait) => {
                let text = "There were too many wrong passwords: wait before the next".into();
                (StatusCode::TOO_MANY_REQUESTS, text, Some(wait))
            }
            Self::TooLong => {
                let text = "A request may have 256 KiB".into();
                (StatusCode::PAYLOAD_TOO_LARGE, text, None)
            }
            Self::ContentType => {
                let text = "The content type of requests is application/pkcs10".into();
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, text, None)
            }
            Self::Accept => {
                let text =
                    "Answers are application/pkcs7-mime, and for csrattrs application/csrattrs";
                (StatusCode::NOT_ACCEPTABLE, text.into(), None)
            }
            Self::Later => {
                let text = "The CA can't issue now: send the same request again".into();
                (StatusCode::ACCEPTED, text, Some(AGAIN_AFTER))
            }
            Self::Unavailable => {
                let text = "The CA can't get at its ledger now: try again".into();
                (StatusCode::SERVICE_UNAVAILABLE, text, Some(AGAIN_AFTER))
            }
        };
        let mut response = plain(status, format!("{text}\n"));
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Basic realm=\"EST\", charset=\"UTF-8\"");
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(wait) = wait {
            headers.insert(RETRY_AFTER, wait.as_secs().max(1).into());
        }
        response
    }
}
