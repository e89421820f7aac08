//! Errors as programs print them: the error, then its causes.

use core::error::Error;
use core::time::Duration;
use std::{fs, io};

use rustls_pq::Builder;
use rustls_pq::identity::{IdentityFiles, WatchError};
use tempfile::TempDir;

use crate::peers::any_base;

/// Each message is printed once.
#[test]
fn nothing_is_said_twice() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    fs::write(path("rubbish.pem"), certificate).unwrap();
    let key = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
    fs::write(path("rubbish.key"), key).unwrap();
    let provider = Builder::new(any_base()).build().unwrap();
    let files =
        |chain, key| IdentityFiles::new(provider.clone().into()).with(path(chain), path(key));
    let every = Duration::from_secs(3600);

    for (error, words) in [
        (
            with_causes(&files("rubbish.pem", "rubbish.key").load().unwrap_err()),
            &["rubbish.pem with the key", "is malformed"][..],
        ),
        (
            with_causes(&files("none.pem", "none.key").load().unwrap_err()),
            &["none.pem", "No such file or directory"],
        ),
        (
            with_causes(&files("none.pem", "none.key").watch(every).unwrap_err()),
            &["none.pem", "No such file or directory"],
        ),
        (
            with_causes(&WatchError::Thread(io::Error::other("too many threads"))),
            &["thread that watches the files", "too many threads"],
        ),
    ] {
        for words in words {
            assert_eq!(error.matches(words).count(), 1, "{words}: {error}");
        }
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
