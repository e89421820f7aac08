//! Certification requests.

use super::REQUESTS;
use crate::linting::listed::hex;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc2986-version",
        "RFC 2986 section 4.1",
        "a request is of version 1",
        REQUESTS,
        |request| {
            let version = request.version?.value();
            (version != [0]).then(|| format!("has version number {}, not 00", hex(version)))
        },
    ),
    Rule::error(
        "rfc2985-extension-request",
        "RFC 2985 section 5.4.2",
        "a request asks for extensions at most once",
        REQUESTS,
        |request| {
            let times = request.extension_requests;
            (times > 1).then(|| format!("asks for extensions {times} times"))
        },
    ),
];
