//! What the watcher does with one pair of files: it looks for changes, and makes a new identity from files that have
//! changed.

use alloc::sync::Arc;
use core::panic::AssertUnwindSafe;
use std::hash::RandomState;
use std::panic::catch_unwind;
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use tracing::{info, warn};

use super::FilePair;
use super::content::{PairTraits, traits_of_pair};
use super::response::{ResponseFile, WatchedResponse};
use crate::identity::{Identity, IdentityError};
use crate::watching::{Seen, Tracked};

/// A pair of files, and the identity made from it.
pub(super) struct Watched {
    pub(super) files: FilePair,
    pub(super) current: Arc<Identity>,
    tracked: Tracked<PairTraits>,
    response: Option<WatchedResponse>,
    /// The mode of the file with the key, as in the last warning.
    exposed_by: Option<u32>,
}

/// The outcome of a look.
pub(super) enum Look {
    /// There is a new identity now.
    Changed,
    /// The files are those of the identity.
    Same,
    /// The files can't be used, or not yet.
    Unusable,
}

impl Watched {
    pub(super) fn load(
        files: FilePair,
        provider: &CryptoProvider,
        hasher: &RandomState,
    ) -> Result<Self, IdentityError> {
        let start = Instant::now();
        let content = files.read()?;
        let stamp = content.stamp(hasher);
        let mut tracked = Tracked::read(stamp, content.traits, start);
        let current = Arc::new(files.first(&content, provider)?);
        tracked.take(stamp);
        Ok(Self {
            response: ResponseFile::of(&files).watch(&current, hasher),
            current,
            tracked,
            exposed_by: content.exposed_by,
            files,
        })
    }

    /// Reads the files, and takes over changes: at once if `is_complete`, and otherwise if the last
    /// look found them as well.
    pub(super) fn look(
        &mut self,
        is_complete: bool,
        provider: &CryptoProvider,
        hasher: &RandomState,
    ) -> Look {
        let look = self.look_at_pair(is_complete, provider, hasher);
        if let Some(response) = &mut self.response {
            if let Look::Changed = look {
                response.start_over(&self.current);
            }
            response.look(&self.current, is_complete, hasher);
        }
        look
    }

    fn look_at_pair(
        &mut self,
        is_complete: bool,
        provider: &CryptoProvider,
        hasher: &RandomState,
    ) -> Look {
        let start = Instant::now();
        let content = match self.files.read() {
            Ok(content) => content,
            Err(error) => {
                if self.tracked.failed(is_complete) {
                    self.refuse(&error);
                }
                return Look::Unusable;
            }
        };
        let stamp = content.stamp(hasher);
        match (self.tracked).saw(stamp, content.traits, start, is_complete) {
            seen @ (Seen::Same | Seen::Restored) => {
                if seen == Seen::Restored {
                    self.restored();
                }
                if content.exposed_by != self.exposed_by {
                    self.files.warn_about_mode(&content);
                    self.exposed_by = content.exposed_by;
                }
                return Look::Same;
            }
            Seen::NotYet => return Look::Unusable,
            Seen::New => {}
        }

        // A panic would end the thread, and nobody would look at any of the files again.
        let identity = catch_unwind(AssertUnwindSafe(|| self.files.identity(&content, provider)))
            .unwrap_or(Err(IdentityError::Panicked));
        match identity {
            Ok(identity) => {
                self.files.warn_about(&identity, &content);
                self.exposed_by = content.exposed_by;
                self.current = Arc::new(identity);
                self.tracked.take(stamp);
                Look::Changed
            }
            // The chain may be of use in a while, as it is.
            Err(error @ IdentityError::NoSigner(_)) => {
                if self.tracked.postpone(stamp, is_complete) {
                    self.refuse(&error);
                }
                Look::Unusable
            }
            Err(error) => {
                self.refuse(&error);
                self.tracked.refuse(stamp);
                Look::Unusable
            }
        }
    }

    /// Whether the files are certainly unchanged since they were read last, and nothing is pending.
    pub(super) fn is_as_read(&self) -> bool {
        let FilePair { chain, key, .. } = &self.files;
        self.tracked.is_as_read(|| traits_of_pair(chain, key).ok())
            && (self.response.as_ref()).is_none_or(WatchedResponse::is_as_read)
    }

    fn restored(&self) {
        info!(
            chain = %self.files.chain.display(),
            key = %self.files.key,
            "the files have the certificate again that is in use"
        );
    }

    fn refuse(&self, error: &IdentityError) {
        warn!(
            chain = %self.files.chain.display(),
            key = %self.files.key,
            %error,
            "new certificate refused; the one before stays in use"
        );
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::fs;

    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use tempfile::TempDir;

    use super::*;
    use crate::Builder;
    use crate::watching::TICK;

    /// A pair in files, as the watcher has it.
    struct Setup {
        directory: TempDir,
        provider: CryptoProvider,
        hasher: RandomState,
        watched: Watched,
    }

    impl Setup {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let [chain, key] = ["chain.pem", "key.pem"].map(|name| directory.path().join(name));
            let signing_key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
            fs::write(&key, signing_key.to_pkcs8_pem().unwrap().as_bytes()).unwrap();
            fs::write(&chain, new_chain(&signing_key)).unwrap();

            let provider = Builder::new(rustls::crypto::ring::default_provider());
            let provider = provider.build().unwrap();
            let hasher = RandomState::new();
            let files = FilePair::new(chain, key);
            Self {
                watched: Watched::load(files, &provider, &hasher).unwrap(),
                directory,
                provider,
                hasher,
            }
        }

        /// Another certificate of the same key and length.
        fn renew(&self) {
            let signing_key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
            let chain = &self.watched.files.chain;
            let before = fs::metadata(chain).unwrap().len();
            fs::write(chain, new_chain(&signing_key)).unwrap();
            assert_eq!(fs::metadata(chain).unwrap().len(), before);
        }

        /// Makes the files as they are now look unchanged.
        fn forget_changes(&mut self) {
            let FilePair { chain, key, .. } = &self.watched.files;
            let traits = traits_of_pair(chain, key).unwrap();
            self.watched.tracked.pretend(traits);
        }

        fn read_for(&mut self, long: Duration) {
            self.watched.tracked.read_for(long);
        }

        fn look(&mut self) -> Look {
            self.watched.look(false, &self.provider, &self.hasher)
        }
    }

    fn new_chain(key: &SigningKey) -> String {
        let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        root.issue(leaf, key).unwrap().to_pem()
    }

    /// Files that are certainly unchanged aren't read, so that many files take little CPU time.
    #[test]
    fn what_is_as_it_was_is_not_read() {
        let mut setup = Setup::new();
        setup.read_for(2 * TICK);
        assert!(setup.watched.is_as_read());

        // Only reading the files can tell that these are others.
        setup.renew();
        setup.forget_changes();
        assert!(setup.watched.is_as_read());
        // And they are read for as long as they may have been written twice in one tick of a clock.
        setup.read_for(TICK);
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        // What may not be complete yet is read again.
        setup.read_for(2 * TICK);
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Changed));
    }

    #[test]
    fn what_changes_after_all_is_read() {
        let mut setup = Setup::new();
        setup.read_for(2 * TICK);
        let before = setup.watched.tracked.times();
        setup.renew();
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        // From then on, the seconds are counted anew.
        let [first, last] = setup.watched.tracked.times();
        assert!(first > before[0] && last <= first);
        assert!(matches!(setup.look(), Look::Changed));

        setup.read_for(2 * TICK);
        fs::remove_file(setup.watched.files.key.file().unwrap()).unwrap();
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        assert!(!setup.watched.is_as_read());
        assert!(setup.directory.path().exists());
    }

    /// What was written while the reader waited for a file is as new as the end of the wait.
    #[test]
    fn reading_begins_to_count_at_its_end() {
        let setup = Setup::new();
        let [first, last] = setup.watched.tracked.times();
        // Loading took a while.
        assert!(first > last);
        assert!(!setup.watched.is_as_read());
    }
}
