//! Reads the OCSP response beside a pair of files, once or again and again. One that is not valid yet is tried again
//! when it is.

use core::time::Duration;
use std::hash::RandomState;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pq_x509::ocsp::{OcspError, OcspVerifier};
use rustls::pki_types::UnixTime;
use tracing::{info, warn};

use super::FilePair;
use super::content::Response;
use crate::identity::{Identity, IdentityError};
use crate::watching::{FileTraits, Seen, Tracked};

/// Where the OCSP response for a chain is, if it is in a file.
pub(super) struct ResponseFile<'a>(Option<&'a Path>);

impl<'a> ResponseFile<'a> {
    pub(super) fn of(pair: &'a FilePair) -> Self {
        Self(pair.ocsp_response.as_deref())
    }

    /// Reads it once.
    pub(super) fn load(self, identity: &Identity) {
        if let Some(path) = self.0 {
            identity.never_ask_for_ocsp_response();
            match Response::read(path) {
                Ok(response) => drop(take(&response, path, identity, UnixTime::now())),
                Err(error) => refuse(path, &error),
            }
        }
    }

    /// Reads it for the first time.
    pub(super) fn watch(
        self,
        identity: &Identity,
        hasher: &RandomState,
    ) -> Option<WatchedResponse> {
        let path = self.0?.to_owned();
        let start = Instant::now();
        identity.never_ask_for_ocsp_response();
        match Response::read(&path) {
            Ok(response) => {
                let stamp = response.stamp(hasher);
                let mut watched = WatchedResponse {
                    tracked: Tracked::read(stamp, response.traits, start),
                    another_time: None,
                    path,
                };
                watched.take(&response, stamp, identity, UnixTime::now());
                Some(watched)
            }
            Err(error) => {
                refuse(&path, &error);
                Some(WatchedResponse {
                    tracked: Tracked::unreadable(),
                    another_time: None,
                    path,
                })
            }
        }
    }
}

/// A file with an OCSP response that is watched.
pub(super) struct WatchedResponse {
    path: PathBuf,
    tracked: Tracked<Option<FileTraits>>,
    /// When a response that was refused may be valid after all.
    another_time: Option<AnotherTime>,
}

impl WatchedResponse {
    /// Reads the file, and takes over a changed response for the identity: at once if `is_complete`,
    /// and otherwise if the last look found it as well.
    pub(super) fn look(&mut self, identity: &Identity, is_complete: bool, hasher: &RandomState) {
        self.look_at(identity, is_complete, hasher, UnixTime::now());
    }

    fn look_at(
        &mut self,
        identity: &Identity,
        is_complete: bool,
        hasher: &RandomState,
        now: UnixTime,
    ) {
        let start = Instant::now();
        if self.is_time(now) {
            self.another_time = None;
            self.tracked.start_over();
        }
        let response = match Response::read(&self.path) {
            Ok(response) => response,
            Err(error) => {
                if self.tracked.failed(is_complete) {
                    refuse(&self.path, &error);
                }
                return;
            }
        };
        let stamp = response.stamp(hasher);
        match (self.tracked).saw(stamp, response.traits, start, is_complete) {
            Seen::Same | Seen::NotYet => {}
            Seen::Restored => {
                info!(file = %self.path.display(), "what can't be used is gone, and the file is as before");
            }
            Seen::New => self.take(&response, stamp, identity, now),
        }
    }

    fn take(&mut self, response: &Response, stamp: u64, identity: &Identity, now: UnixTime) {
        self.another_time = None;
        match take(response, &self.path, identity, now) {
            Ok(()) => self.tracked.take(stamp),
            Err(Refused { another_time }) => {
                self.tracked.refuse(stamp);
                self.another_time = another_time;
            }
        }
    }

    fn is_time(&self, now: UnixTime) -> bool {
        (self.another_time.as_ref()).is_some_and(|time| time.is_now(now))
    }

    /// Notes that there is another identity, which the response in the file may be for.
    pub(super) fn start_over(&mut self, identity: &Identity) {
        identity.never_ask_for_ocsp_response();
        self.another_time = None;
        self.tracked.start_over();
    }

    pub(super) fn is_as_read(&self) -> bool {
        !self.is_time(UnixTime::now())
            && self.tracked.is_as_read(|| FileTraits::look_for(&self.path))
    }
}

/// The response was refused, and the log says why.
struct Refused {
    another_time: Option<AnotherTime>,
}

/// When a response that isn't valid now is valid: the clock goes on, and may be set.
enum AnotherTime {
    From(UnixTime),
    Before(UnixTime),
}

impl AnotherTime {
    fn of(error: &IdentityError) -> Option<Self> {
        match error {
            IdentityError::Ocsp(OcspError::NotYetCurrent { this_update, .. }) => {
                let tolerance = OcspVerifier::CLOCK_TOLERANCE.as_secs();
                let from = this_update.as_secs().saturating_sub(tolerance);
                Some(Self::From(UnixTime::since_unix_epoch(Duration::from_secs(
                    from,
                ))))
            }
            IdentityError::Ocsp(OcspError::Stale { next_update, .. }) => {
                Some(Self::Before(*next_update))
            }
            _ => None,
        }
    }

    fn is_now(&self, now: UnixTime) -> bool {
        match self {
            Self::From(time) => now >= *time,
            Self::Before(time) => now < *time,
        }
    }
}

fn take(
    response: &Response,
    path: &Path,
    identity: &Identity,
    now: UnixTime,
) -> Result<(), Refused> {
    let Some(der) = &response.der else {
        if identity.ocsp_response_until().is_some() {
            info!(file = %path.display(), "the file with the OCSP response is gone, and none is shown");
            // Removing a response never fails.
            let _ = identity.set_ocsp_response(&[]);
        }
        return Ok(());
    };
    // An empty file is refused here: a command that has failed, or isn't done, leaves one.
    identity.take_ocsp_response(der, now).map_err(|error| {
        refuse(path, &error);
        Refused {
            another_time: AnotherTime::of(&error),
        }
    })
}

fn refuse(path: &Path, error: &IdentityError) {
    warn!(
        file = %path.display(),
        %error,
        "OCSP response refused; the one before, if there is one, is shown until it expires"
    );
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::fs;
    use std::time::SystemTime;

    use pq_x509::certificate::Validity;
    use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};

    use rustls::pki_types::CertificateDer;

    use super::*;
    use crate::Builder;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// An identity, and what makes responses that are good for a day from a time on.
    fn identity() -> (Identity, impl Fn(SystemTime) -> Vec<u8>) {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
        let leaf_key = key();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = ca.issue(leaf, &leaf_key).unwrap();
        let provider = Builder::new(rustls::crypto::ring::default_provider());
        let pem = leaf_key.to_pkcs8_pem().unwrap();
        let identity = Identity::from_pem(
            leaf.to_pem().as_bytes(),
            pem.as_bytes(),
            &provider.build().unwrap(),
        );
        let identity = identity
            .unwrap()
            .with_ocsp_issuers([ca.certificate().clone()]);
        let respond = move |time: SystemTime| {
            let request = OcspRequest::builder().certificate(&leaf, ca.certificate());
            let response = OcspResponder::ca(&ca).respond(
                &request.build().unwrap(),
                time,
                Validity::new(time, time + DAY),
                |_| Ok::<_, IssueError>(CertStatus::Good),
            );
            response.unwrap().der().to_vec()
        };
        (identity, respond)
    }

    /// A machine may start with its clock at 1970, and the next response come a day later.
    #[test]
    fn one_from_the_future_is_taken_when_its_time_comes() {
        let (identity, respond) = identity();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("chain.ocsp");
        fs::write(&path, respond(SystemTime::now() + DAY)).unwrap();

        let files = FilePair::new("chain.pem", "key.pem").with_ocsp_response(&path);
        let hasher = RandomState::new();
        let mut watched = ResponseFile::of(&files).watch(&identity, &hasher).unwrap();
        let now = UnixTime::now();
        let after =
            |long: Duration| UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + long);
        assert!(!watched.is_time(now));
        watched.look_at(&identity, false, &hasher, now);
        assert_eq!(identity.ocsp_response_until(), None);

        // A clock that is a little behind is no reason to wait.
        let in_time = after(DAY - OcspVerifier::CLOCK_TOLERANCE + Duration::from_secs(5));
        assert!(!watched.is_time(after(DAY - Duration::from_secs(60 * 60))));
        assert!(watched.is_time(in_time));
        watched.look_at(&identity, false, &hasher, in_time);
        assert!(identity.ocsp_response_until().is_some());
        assert!(!watched.is_time(in_time));
    }

    /// Both clocks were a year ahead. Once they are set back, a response of then is neither sent nor in the way of a
    /// true one.
    #[test]
    fn one_from_the_future_is_none_when_the_clock_is_set_back() {
        let (identity, respond) = identity();
        let next_year = SystemTime::now() + 365 * DAY;
        let then = next_year.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        identity
            .take_ocsp_response(&respond(next_year), UnixTime::since_unix_epoch(then))
            .unwrap();
        for _ in 0..2 {
            assert_eq!(identity.certified_key().ocsp, None);
        }
        let now = respond(SystemTime::now());
        let source = |_: &[CertificateDer<'static>]| Ok::<_, &'static str>(now.clone());
        identity.refresh_ocsp_response(&source, || true);
        assert_eq!(identity.certified_key().ocsp, Some(now));
    }
}
