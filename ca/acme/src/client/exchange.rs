//! Requests and answers, as far as ACME looks at them.

use core::time::Duration;

use pq_keys::der::DateTime;

use crate::objects::Time;
use crate::problem::Problem;

/// A request to be sent over TLS, to whose server the URL belongs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The URL, of `https`.
    pub url: String,
    /// The body, of the type [`jws::CONTENT_TYPE`](crate::jws::CONTENT_TYPE), with [`Method::Post`].
    pub body: Option<String>,
    /// What the answer may be, for the header `Accept`.
    pub accept: &'static str,
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
    /// `POST`.
    Post,
}

/// An answer. Of each header its first value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header `Replay-Nonce`.
    pub replay_nonce: Option<String>,
    /// The header `Location`.
    pub location: Option<String>,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The body, whose length the program has bounded.
    pub body: Vec<u8>,
}

impl Answer {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// How long to wait, if the answer says so: a number of seconds, or a date (RFC 9110, section 10.2.3).
    pub fn wait(&self, now: Time) -> Option<Duration> {
        let text = self.retry_after.as_deref()?.trim();
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => Some(now.until(http_date(text)?)),
        }
    }

    /// The nonce, if there is one that may be used (RFC 8555, section 6.5.1).
    pub(super) fn nonce(&self) -> Option<String> {
        let nonce = self.replay_nonce.as_ref()?;
        let is_nonce = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=MAX_NONCE).contains(&nonce.len()) && nonce.bytes().all(is_nonce);
        fits.then(|| nonce.clone())
    }

    /// The problem that an answer is about. A server in front of that of ACME may send something else.
    pub(super) fn problem(&self, now: Time) -> Problem {
        let mut problem = Problem::from_json(self.status, &self.body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&self.body);
            let begin: String = text.chars().take(200).collect();
            let kind = crate::problem::ProblemType::Other("about:blank".into());
            Problem::new(kind, format!("status {}: {begin:?}", self.status))
                .with_status(self.status)
        });
        problem.retry_after = self.wait(now);
        problem
    }
}

/// The bytes of a nonce that is used.
const MAX_NONCE: usize = 512;

/// A date as HTTP has it, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Older forms count as none.
fn http_date(text: &str) -> Option<Time> {
    let (_, date) = text.split_once(", ")?;
    let parts: Vec<&str> = date.split([' ', ':']).collect();
    let [day, month, year, hour, minute, second, "GMT"] = parts[..] else {
        return None;
    };
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let small = |text: &str| text.parse::<u8>().ok();
    let date = DateTime::new(
        year.parse().ok()?,
        u8::try_from(month).ok()?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
    );
    Some(Time::from_secs(date.ok()?.unix_duration().as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_to_wait() {
        let now = Time::from_secs(784_111_700);
        for (text, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(77)),
            ("Sun, 06 Nov 1993 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 36 Nov 1994 08:49:37 GMT", None),
        ] {
            let answer = Answer {
                retry_after: Some(text.into()),
                ..Answer::default()
            };
            assert_eq!(answer.wait(now), seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn only_what_may_be_a_nonce_is_one() {
        for (text, is_one) in [
            ("oFvnlFP1wIhRlYS2jTaXbA", true),
            ("a-_9", true),
            ("", false),
            ("a=", false),
            ("a\"b", false),
            ("a b", false),
            (&"a".repeat(513), false),
        ] {
            let answer = Answer {
                replay_nonce: Some(text.into()),
                ..Answer::default()
            };
            assert_eq!(answer.nonce().is_some(), is_one, "{text}");
        }
    }
}
