//! The task that obtains certificates and renews them.

use alloc::sync::Arc;
use core::time::Duration;
use std::path::{Path, PathBuf};

use pq_acme::client::renewal::{self, By};
use pq_acme::client::{ClientError, Wanted, request_for};
use pq_acme::identifier::Identifier;
use pq_acme::objects::{CertificateId, RenewalInfo, Time, Window};
use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnySigningKey};
use pq_keys::pki_types::UnixTime;
use pq_x509::certificate::Certificate;
use pq_x509::request::{CertificateRequest, RequestError};
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls_pq::identity::{Identities, IdentitySet};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};
use zeroize::Zeroizing;

use super::error::SourceError;
use super::kept::{self, Kept, Unfit};
use super::pause::Pauses;
use super::settings::Settings;
use super::status::CertificateStatus;
use crate::account::Account;
use crate::https::Https;
use crate::obtaining::{Notice, ObtainError, obtain};
use crate::renewal::renewal_advice;
use crate::showing::{Challenges, ShowingError};

/// What the CA's server is told that this is.
const AGENT: &str = concat!("pq-acme-client/", env!("CARGO_PKG_VERSION"));

/// How often the CA is asked when to renew, if it says nothing about that, and the bounds of what it says (RFC 9773, section
/// 4.3.3).
const ASK_EVERY: Duration = Duration::from_secs(6 * 3600);
const ASK_AT_MOST_EVERY: Duration = Duration::from_secs(60);
const ASK_AT_LEAST_EVERY: Duration = Duration::from_secs(24 * 3600);

/// All that keeps certificates new.
pub(super) struct Running {
    pub(super) settings: Settings,
    pub(super) challenges: Challenges,
    pub(super) client: Arc<ClientConfig>,
    pub(super) account: Account,
    pub(super) slots: Vec<Slot>,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) identities: Arc<Identities>,
    pub(super) statuses: watch::Sender<Vec<CertificateStatus>>,
    pub(super) wake: Arc<Notify>,
}

/// The certificate of one algorithm.
pub(super) struct Slot {
    file: PathBuf,
    kept: Option<Kept>,
    /// When there is something to do.
    next: Instant,
    status: CertificateStatus,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Folder(SourceError),
    #[error("no key can be made: {0}")]
    Key(AnyKeyError),
    #[error("no request can be made: {0}")]
    Request(RequestError),
    #[error("{0}")]
    Obtain(#[from] ObtainError<ShowingError>),
    #[error("the certificate that came can't be served: {0}")]
    Unfit(Unfit),
    #[error("the work was broken off: {0}")]
    BrokenOff(tokio::task::JoinError),
}

impl Failure {
    /// How long to wait after so many in a row.
    fn pause(&self, pauses: Pauses, failures: u32, now: Time) -> Duration {
        let Self::Obtain(ObtainError::Client(error)) = self else {
            return pauses.after(failures, Duration::ZERO);
        };
        match error {
            ClientError::RateLimited { until, .. } => pauses.after(failures, now.until(*until)),
            // Another request would not change that; somebody has to.
            ClientError::Terms(_)
            | ClientError::NoExternalAccount
            | ClientError::NoProfile { .. }
            | ClientError::NoChallenge { .. }
            | ClientError::AccountKey { .. } => pauses.after(u32::MAX, Duration::ZERO),
            _ => pauses.after(failures, Duration::ZERO),
        }
    }
}

impl Slot {
    /// The certificate that is in the folder, if there is one.
    pub(super) fn open(
        algorithm: AnyAlgorithm,
        folder: &Path,
        names: &[Identifier],
        provider: &CryptoProvider,
    ) -> Self {
        let name = algorithm.name().to_ascii_lowercase();
        let file = folder.join(format!("{name}.pem"));
        let kept = Kept::read(&file, names, provider).unwrap_or_else(|why| {
            tracing::warn!(file = %file.display(), %why, "a certificate can't be used; another one is obtained");
            None
        });
        Self {
            status: CertificateStatus {
                algorithm,
                not_after: kept.as_ref().map(|kept| kept.leaf.not_after()),
                obtained: 0,
                failures: 0,
                last_failure: None,
            },
            file,
            kept,
            next: Instant::now(),
        }
    }
}

fn now() -> Time {
    Time::from(UnixTime::now())
}

impl Running {
    /// Serves what there is.
    pub(super) fn begin(&self) {
        self.serve(None);
        self.say();
    }

    pub(super) async fn run(mut self) {
        loop {
            for index in 0..self.slots.len() {
                if self.slots[index].next <= Instant::now() {
                    let pause = self.work(index).await;
                    self.slots[index].next = Instant::now() + pause;
                    self.say();
                }
            }
            let next = self.slots.iter().map(|slot| slot.next).min();
            let next = next.unwrap_or_else(|| Instant::now() + ASK_AT_LEAST_EVERY);
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.wake.notified() => {
                    for slot in &mut self.slots {
                        slot.next = Instant::now();
                    }
                }
            }
        }
    }

    /// Does what is to be done for a certificate. Returns how long there is nothing more to do.
    async fn work(&mut self, index: usize) -> Duration {
        let algorithm = self.slots[index].status.algorithm;
        let mut replaces = None;
        if let Some(kept) = &self.slots[index].kept {
            let leaf = kept.leaf.clone();
            if let Some(pause) = self.not_due(algorithm, &leaf).await {
                return pause;
            }
            replaces = CertificateId::of(&leaf).map(|id| id.to_string());
        }
        let failure = match self.order(index, replaces).await {
            Ok(kept) => {
                let end = kept.leaf.not_after();
                let lifetime = Duration::from_secs(
                    end.as_secs() - kept.leaf.not_before().as_secs().min(end.as_secs()),
                );
                let old = self.slots[index].kept.replace(kept);
                self.serve(old.as_ref());
                let status = &mut self.slots[index].status;
                status.not_after = Some(end);
                status.obtained += 1;
                status.failures = 0;
                status.last_failure = None;
                count(algorithm, "issued");
                tracing::info!(%algorithm, not_after = %Time::from(end), "there is a new certificate");
                // Whatever the CA says then: certificates that are to be renewed at once would follow each other.
                return (lifetime / 20).clamp(ASK_AT_MOST_EVERY, Duration::from_secs(3600));
            }
            Err(failure) => failure,
        };
        let status = &mut self.slots[index].status;
        status.failures = status.failures.saturating_add(1);
        status.last_failure = Some(failure.to_string());
        let pause = failure.pause(self.settings.pauses, status.failures, now());
        count(algorithm, "failed");
        tracing::warn!(
            %algorithm,
            %failure,
            again_after = pause.as_secs(),
            is_served = status.not_after.is_some(),
            "there is no new certificate"
        );
        pause
    }

    /// How long a certificate is not due. It is not if nothing is returned.
    async fn not_due(&self, algorithm: AnyAlgorithm, leaf: &Certificate) -> Option<Duration> {
        let mut https = self.https();
        let advice = renewal_advice(&mut https, &self.settings.directory, leaf).await;
        let (info, again_after) = match advice {
            Ok(advice) => (advice.info, advice.again_after),
            Err(why) => {
                tracing::warn!(%algorithm, %why, "the CA doesn't say when to renew, so the certificate's age decides");
                (None, None)
            }
        };
        let now = now();
        let moment = renewal::moment(leaf, Some(&info.unwrap_or_else(|| by_age(leaf))));
        let is_over = Time::from(leaf.not_after()) <= now;
        if moment.at <= now || is_over {
            tracing::info!(%algorithm, since = %moment.at, "a certificate is to be renewed");
            return None;
        }
        tracing::debug!(%algorithm, at = %moment.at, by_ca = matches!(moment.by, By::Ca(_)), "a certificate is not due");
        let again_after = again_after.unwrap_or(ASK_EVERY);
        let again_after = again_after.clamp(ASK_AT_MOST_EVERY, ASK_AT_LEAST_EVERY);
        Some(
            again_after
                .min(now.until(moment.at))
                .max(Duration::from_secs(1)),
        )
    }

    /// Orders a certificate for a new key, and keeps both.
    async fn order(&mut self, index: usize, replaces: Option<String>) -> Result<Kept, Failure> {
        let slot = &self.slots[index];
        let (algorithm, file) = (slot.status.algorithm, slot.file.clone());
        let names = self.settings.names.clone();
        let (key, csr) = blocking(move || {
            // A certificate that can't be kept would be ordered again and again.
            kept::check_place_of(&file).map_err(Failure::Folder)?;
            key_and_request(algorithm, &names)
        })
        .await?;
        let mut wanted = Wanted::new(self.settings.names.clone(), csr, Vec::new());
        wanted.profile.clone_from(&self.settings.profile);
        wanted.contact.clone_from(&self.settings.contact);
        wanted.agrees = self.settings.agrees;
        wanted.external.clone_from(&self.settings.external);
        wanted.replaces = replaces;
        let mut https = self.https();
        let notice = |notice: Notice<'_>| tracing::info!("{notice}");
        let issued = obtain(
            &mut https,
            &self.settings.directory,
            &mut self.account,
            &wanted,
            &self.challenges,
            &notice,
        )
        .await?;
        let (file, provider) = (self.slots[index].file.clone(), self.provider.clone());
        blocking(move || {
            let text = kept::text(&key, &issued.chain);
            let kept = Kept::parse(text.as_bytes(), &provider).map_err(Failure::Unfit)?;
            if let Err(error) = kept::write(&file, &text) {
                tracing::error!(%error, "a certificate is served and can't be kept; the next start obtains another one");
            }
            Ok(kept)
        })
        .await
    }

    /// A connection of its own: one that was kept for hours would be closed by now.
    fn https(&self) -> Https {
        Https::new((*self.client).clone(), AGENT)
    }

    /// Serves all that there is, in the order of the algorithms, and no more what was served before in the place of one.
    fn serve(&self, before: Option<&Kept>) {
        let all = self.slots.iter().filter_map(|slot| slot.kept.as_ref());
        self.identities.update(|set| {
            let old = all.clone().chain(before);
            let rest = old.fold(set, |set, kept| set.without(&kept.identity));
            all.fold(rest, |set: IdentitySet, kept| {
                set.with_default(kept.identity.clone())
            })
        });
    }

    fn say(&self) {
        let all = self.slots.iter().map(|slot| slot.status.clone());
        for slot in &self.slots {
            if let Some(end) = slot.status.not_after {
                metrics::gauge!("pq_acme_client_certificate_expiry_timestamp_seconds", "algorithm" => slot.status.algorithm.name())
                    .set(end.as_secs() as f64);
            }
        }
        // Nobody may look any more.
        self.statuses.send_replace(all.collect());
    }
}

fn count(algorithm: AnyAlgorithm, result: &'static str) {
    metrics::counter!("pq_acme_client_orders", "algorithm" => algorithm.name(), "result" => result)
        .increment(1);
}

/// After two thirds of a certificate's time and up to a twentieth more, so that not all are renewed at once.
fn by_age(leaf: &Certificate) -> RenewalInfo {
    let begin = Time::from(leaf.not_before());
    let whole = begin.until(leaf.not_after().into());
    let start = begin.after(whole * 2 / 3);
    RenewalInfo {
        suggested_window: Window {
            start,
            end: start.after(whole / 20),
        },
        explanation_url: None,
    }
}

/// A new key in PEM, and its request.
fn key_and_request(
    algorithm: AnyAlgorithm,
    names: &[Identifier],
) -> Result<(Zeroizing<String>, CertificateRequest), Failure> {
    let key = AnyPrivateKey::generate(algorithm).map_err(Failure::Key)?;
    let pem = key.to_pkcs8_pem().map_err(Failure::Key)?;
    let key = AnySigningKey::try_from(key).map_err(Failure::Key)?;
    let request = request_for(names, &key).map_err(Failure::Request)?;
    Ok((pem, request))
}

/// Runs what may block on a thread for that.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    spawn_blocking(work).await.map_err(Failure::BrokenOff)?
}
