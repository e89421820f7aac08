//! Where a list is, and how it is read again.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hyper::Uri;
use hyper::header::HeaderValue;
use pq_x509::keys::Signer;
use pq_x509::revocation::CertificateRevocationList;

use super::fetching::{MAX_LEN, fetch};
use super::responder::ListResponder;

/// How often a file is looked at.
const FILE_EVERY: Duration = Duration::from_secs(10);
/// How often a list is fetched.
const URL_EVERY: Duration = Duration::from_secs(300);
/// How often it is tried again after a failure.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// Where a list is: a file with it in DER or PEM, or a URL with `http://`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListSource(Place);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Place {
    File(PathBuf),
    Url(Uri),
}

impl FromStr for ListSource {
    type Err = InvalidListSource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with("https://") {
            return Err(InvalidListSource);
        }
        if !text.starts_with("http://") {
            return Ok(Self(Place::File(text.into())));
        }
        let url: Uri = text.parse().map_err(|_| InvalidListSource)?;
        let authority = url.authority().map_or("", |authority| authority.as_str());
        match url.host().is_some_and(|host| !host.is_empty()) && !authority.contains('@') {
            true => Ok(Self(Place::Url(url))),
            false => Err(InvalidListSource),
        }
    }
}

impl fmt::Display for ListSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::File(path) => path.display().fmt(f),
            Place::Url(url) => url.fmt(f),
        }
    }
}

impl ListSource {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Place::File(path) => Some(path),
            Place::Url(_) => None,
        }
    }
}

/// The text is no place of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "write a file, or a URL such as http://ca.example.org/ca.crl; lists are signed, so they need no https"
)]
pub struct InvalidListSource;

/// Reads the list now and then, and has the responder take it when it is another one. The log says what fails. A file that can't be
/// read, or has no list that fits, twice in a row ends the answers from the list before, since what was revoked may be in it; what
/// fails over the network does not, and then the list counts until it expires.
pub async fn keep_list<S: Signer + 'static>(
    source: ListSource,
    responder: Arc<ListResponder<S>>,
) -> Infallible {
    let mut looks = Looks::default();
    loop {
        let wait = looks.look(&source, &responder).await;
        tokio::time::sleep(wait).await;
    }
}

/// What looks have found.
#[derive(Default)]
struct Looks {
    /// What was read last.
    last: Option<Vec<u8>>,
    tag: Option<HeaderValue>,
    failed: Option<String>,
}

impl Looks {
    /// Reads the list. Returns how long to wait then.
    async fn look<S: Signer + 'static>(
        &mut self,
        source: &ListSource,
        responder: &Arc<ListResponder<S>>,
    ) -> Duration {
        let every = match source.0 {
            Place::File(_) => FILE_EVERY,
            Place::Url(_) => URL_EVERY,
        };
        let taken = self.take(source, responder).await;
        match taken {
            Ok(is_new) => {
                let had_failed = self.failed.take().is_some();
                if is_new || had_failed {
                    tracing::info!(list = %source, "the revocation list is in use");
                }
                every
            }
            Err(problem) => {
                let is_second = self.failed.is_some();
                if self.failed.as_ref() != Some(&problem) {
                    tracing::error!(list = %source, problem, "the revocation list can't be used");
                }
                if is_second && source.file().is_some() {
                    responder.forget();
                }
                self.last = None;
                self.tag = None;
                self.failed = Some(problem);
                every.min(AGAIN_AFTER)
            }
        }
    }

    async fn take<S: Signer + 'static>(
        &mut self,
        source: &ListSource,
        responder: &Arc<ListResponder<S>>,
    ) -> Result<bool, String> {
        let (text, tag) = match &source.0 {
            Place::Url(url) => match fetch(url, self.tag.as_ref()).await {
                Ok(None) => return Ok(false),
                Ok(Some(fetched)) => (fetched.body.to_vec(), fetched.tag),
                Err(error) => return Err(error.to_string()),
            },
            Place::File(path) => {
                let path = path.clone();
                let reading = tokio::task::spawn_blocking(move || read(&path)).await;
                let text = reading.map_err(|error| error.to_string())?;
                (text.map_err(|error| error.to_string())?, None)
            }
        };
        if self.last.as_ref() == Some(&text) {
            return Ok(false);
        }
        let responder = responder.clone();
        let taking = tokio::task::spawn_blocking(move || {
            let taken = taken(&responder, &text);
            (text, taken)
        });
        let (text, taken) = taking.await.map_err(|error| error.to_string())?;
        let is_new = taken?;
        (self.last, self.tag) = (Some(text), tag);
        Ok(is_new)
    }
}

/// Has the responder take the list of its CA, of those that are there.
fn taken<S: Signer>(responder: &ListResponder<S>, text: &[u8]) -> Result<bool, String> {
    let lists = CertificateRevocationList::all_in(text).map_err(|error| error.to_string())?;
    let mut refused = "there is no list in it".to_owned();
    for list in &lists {
        match responder.take(list) {
            Ok(is_new) => return Ok(is_new),
            Err(error) => refused = error.to_string(),
        }
    }
    Err(refused)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut file = File::open(path)?.take(MAX_LEN as u64 + 1);
    file.read_to_end(&mut text)?;
    match text.len() > MAX_LEN {
        true => Err(io::Error::other("it is too long")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_a_url() {
        for good in [
            "ca.crl",
            "http/ca.crl",
            "http://ca.example.org/a.crl",
            "http://[::1]:81",
        ] {
            let source: ListSource = good.parse().unwrap();
            assert!(source.to_string().starts_with(good), "{good}");
            assert_eq!(source.file().is_none(), good.starts_with("http://"));
        }
        for bad in ["https://a/b", "http://", "http://a@b/c", "http:///a"] {
            assert_eq!(bad.parse::<ListSource>(), Err(InvalidListSource), "{bad}");
        }
    }
}
