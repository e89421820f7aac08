//! What addresses of other machines share: options, and variables.

use core::time::Duration;
use std::env;
use std::path::PathBuf;

/// Text without its percent-encoding (RFC 3986, section 2.1).
pub(in crate::commands) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let mut byte = [0];
        base16ct::mixed::decode(digits, &mut byte).ok()?;
        bytes.push(byte[0]);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Text in percent-encoding, as a value of an option: all but what is the same in every part of an address.
pub(super) fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// How long is waited for a server, a number of seconds between one and an hour; or what is there instead.
pub(in crate::commands) fn waiting_time(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (1..=3600).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or("no number of seconds, 1 to 3600")
}

/// A value of the command line, or else of an environment variable that isn't empty.
pub(in crate::commands) fn or_variable(value: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
    value.cloned().or_else(|| variable(name))
}

/// An environment variable that isn't empty.
pub(in crate::commands) fn variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
