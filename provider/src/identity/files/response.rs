use std::hash::RandomState;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tracing::{info, warn};

use super::FilePair;
use super::content::{Response, Traits};
use super::tracked::{Seen, Tracked};
use crate::identity::{Identity, IdentityError};

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
                Ok(response) => drop(take(&response, path, identity)),
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
        let tracked = match Response::read(&path) {
            Ok(response) => {
                let stamp = response.stamp(hasher);
                let mut tracked = Tracked::read(stamp, response.traits, start);
                match take(&response, &path, identity) {
                    Ok(()) => tracked.take(stamp),
                    Err(Refused) => tracked.refuse(stamp),
                }
                tracked
            }
            Err(error) => {
                refuse(&path, &error);
                Tracked::unreadable()
            }
        };
        Some(WatchedResponse { path, tracked })
    }
}

/// A file with an OCSP response that is watched.
pub(super) struct WatchedResponse {
    path: PathBuf,
    tracked: Tracked<Option<Traits>>,
}

impl WatchedResponse {
    /// Reads the file, and shows what is new in it along with the identity: with `is_complete` at once,
    /// and else if it has been there before.
    pub(super) fn look(&mut self, identity: &Identity, is_complete: bool, hasher: &RandomState) {
        let start = Instant::now();
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
            Seen::New => match take(&response, &self.path, identity) {
                Ok(()) => self.tracked.take(stamp),
                Err(Refused) => self.tracked.refuse(stamp),
            },
        }
    }

    /// There is another identity, and what is in the file may be for that one.
    pub(super) fn start_over(&mut self, identity: &Identity) {
        identity.never_ask_for_ocsp_response();
        self.tracked.start_over();
    }

    pub(super) fn is_as_read(&self) -> bool {
        self.tracked.is_as_read(|| Traits::look_for(&self.path))
    }
}

/// What the log says why of.
struct Refused;

fn take(response: &Response, path: &Path, identity: &Identity) -> Result<(), Refused> {
    let Some(der) = &response.der else {
        if identity.ocsp_response_until().is_some() {
            info!(file = %path.display(), "the file with the OCSP response is gone, and none is shown");
            // That there is none is never refused.
            let _ = identity.set_ocsp_response(&[]);
        }
        return Ok(());
    };
    // An empty file is what a command leaves that has failed, or isn't done.
    identity.take_ocsp_response(der).map_err(|error| {
        refuse(path, &error);
        Refused
    })
}

fn refuse(path: &Path, error: &IdentityError) {
    warn!(
        file = %path.display(),
        %error,
        "OCSP response refused; the one before, if there is one, is shown until it expires"
    );
}
