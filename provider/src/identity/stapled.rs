//! OCSP responses that servers staple: which one may be sent, which of two is newer, and when to ask a source for the
//! next.

use alloc::sync::Arc;
use core::error::Error;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::{OnceLock, PoisonError, RwLock};

use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{CertStatus, OcspError, OcspResponse, OcspVerifier, SingleResponse};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};
use rustls::sign::CertifiedKey;

use super::IdentityError;

/// Gives OCSP responses for the leaves of chains, so that servers always have a valid one: see
/// [`Identities::refresh_ocsp_responses`](super::Identities::refresh_ocsp_responses) and
/// [`IdentityFiles::with_ocsp_source`](super::IdentityFiles::with_ocsp_source).
///
/// Closures are sources. A source that asks a responder over the network must limit how long it waits:
/// the thread that calls it does nothing else meanwhile.
pub trait OcspSource: Send + Sync {
    /// Returns a response in DER for the leaf, the first certificate of `chain`.
    ///
    /// # Errors
    ///
    /// Why there is no response now. The source is asked again later.
    fn ocsp_response(
        &self,
        chain: &[CertificateDer<'static>],
    ) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>>;
}

impl<F, E> OcspSource for F
where
    F: Fn(&[CertificateDer<'static>]) -> Result<Vec<u8>, E> + Send + Sync,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn ocsp_response(
        &self,
        chain: &[CertificateDer<'static>],
    ) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        self(chain).map_err(Into::into)
    }
}

/// Asks a source; a panic becomes an error.
pub(super) fn ask(
    source: &dyn OcspSource,
    chain: &[CertificateDer<'static>],
) -> Result<Vec<u8>, IdentityError> {
    // A panic would end the thread that keeps all responses fresh.
    catch_unwind(AssertUnwindSafe(|| source.ocsp_response(chain)))
        .unwrap_or_else(|_| Err("it panicked, and standard error may say why".into()))
        .map_err(IdentityError::OcspSource)
}

/// What a response in DER says about the leaf of a chain, or why a server may not send it.
///
/// The issuer of the leaf is one of `chain` or of `others`. What can't be verified is refused: a client that can verify
/// it would refuse the server because of a forged one.
pub(super) fn check(
    response: &[u8],
    chain: &[CertificateDer<'_>],
    others: &[Certificate],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    now: UnixTime,
) -> Result<Answer, IdentityError> {
    let response = OcspResponse::from_der(response).map_err(IdentityError::OcspResponse)?;
    let certificates = chain.iter().enumerate().map(|(index, certificate)| {
        Certificate::from_der(certificate)
            .map_err(|error| IdentityError::Certificate { index, error })
    });
    let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
    let leaf = certificates.first().ok_or(IdentityError::NoCertificate)?;
    let issuers = certificates.iter().chain(others);
    let mut issuers = issuers
        .filter(|one| one.is_ca() && one.subject() == leaf.issuer())
        .peekable();
    if issuers.peek().is_none() {
        return Err(IdentityError::NoOcspIssuer {
            issuer: leaf.describe_issuer(),
        });
    }
    // Several CA certificates with one name may have different keys.
    let issuer = issuers.find(|one| response.answer_for(leaf, one).is_some());
    let issuer = issuer.ok_or(IdentityError::Ocsp(OcspError::NotAbout))?;
    let verify = || {
        // Clients ask the key that has signed the leaf, and no other of this name.
        leaf.verify_signature(issuer, algorithms).map_err(|error| {
            IdentityError::OtherOcspIssuer {
                issuer: leaf.describe_issuer(),
                error,
            }
        })?;
        let verifier = OcspVerifier::new(issuer, now).with_algorithms(algorithms);
        let verified = verifier
            .verify(&response, leaf)
            .map_err(IdentityError::Ocsp)?;
        Answer::read(verified.answer(), now).map_err(IdentityError::Ocsp)
    };
    // A panic of somebody else's algorithm would end the thread that watches files.
    catch_unwind(AssertUnwindSafe(verify)).map_err(|_| IdentityError::AlgorithmPanicked)?
}

/// What a server needs to know about the response that it sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) status: CertStatus,
    pub(super) this_update: UnixTime,
    pub(super) next_update: UnixTime,
}

impl Answer {
    fn read(answer: &SingleResponse, now: UnixTime) -> Result<Self, OcspError> {
        let this_update = answer.this_update();
        let next_update = answer.next_update().ok_or(OcspError::NoNextUpdate)?;
        if !has_come(this_update, now) {
            return Err(OcspError::NotYetCurrent {
                this_update,
                time: now,
            });
        }
        if now >= next_update {
            return Err(OcspError::Stale {
                next_update,
                time: now,
            });
        }
        match answer.status() {
            CertStatus::Unknown => Err(OcspError::UnknownCertificate),
            status => Ok(Self {
                status,
                this_update,
                next_update,
            }),
        }
    }

    /// Whether clients accept it at this time. The clock may have been ahead when it was taken, and been set back.
    pub(super) fn is_current(&self, now: UnixTime) -> bool {
        has_come(self.this_update, now) && now < self.next_update
    }

    /// Whether it takes the place of another one that is current: if it is newer, or of the same time and says revoked
    /// where the other says good. Validators of chains weigh responses in the same way; when a response was signed
    /// (producedAt) says nothing about how old the news in it is.
    pub(super) fn supersedes(&self, before: &Self) -> bool {
        let revokes = |one: &Self| matches!(one.status, CertStatus::Revoked { .. });
        match self.this_update == before.this_update {
            true => revokes(self) && !revokes(before),
            false => self.this_update > before.this_update,
        }
    }

    /// When to ask for a newer one: after half of its validity, and after a day at most.
    fn ask_at(&self, now: UnixTime) -> UnixTime {
        let [this_update, next_update] = [self.this_update, self.next_update].map(|t| t.as_secs());
        let half = this_update + next_update.saturating_sub(this_update) / 2;
        let after_a_day = now.as_secs() + A_DAY.as_secs();
        at_seconds(half.clamp(now.as_secs() + 1, after_a_day))
    }

    /// When to ask again, after there was nothing newer: in a quarter of the time that is left.
    fn ask_again_at(&self, now: UnixTime) -> UnixTime {
        let left = self.next_update.as_secs().saturating_sub(now.as_secs());
        let pause = (left / 4).clamp(SHORTEST_RETRY.as_secs(), LONGEST_RETRY.as_secs());
        at_seconds(now.as_secs() + pause)
    }
}

/// Whether a response of this time counts already. Clients judge so, which may use the clock of this machine.
fn has_come(this_update: UnixTime, now: UnixTime) -> bool {
    let ahead = this_update.as_secs().saturating_sub(now.as_secs());
    ahead <= OcspVerifier::CLOCK_TOLERANCE.as_secs()
}

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
const SHORTEST_RETRY: Duration = Duration::from_secs(10);
const LONGEST_RETRY: Duration = Duration::from_secs(60 * 60);

/// How long to wait after there was no response at all.
const PAUSE_WITHOUT: Duration = Duration::from_secs(60);

fn at_seconds(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

/// The place for the OCSP response of a chain. As long as there never was one, a look costs
/// nothing.
#[derive(Default)]
pub(super) struct Stapled(OnceLock<RwLock<State>>);

#[derive(Default)]
struct State {
    staple: Option<Staple>,
    /// When a source is to be asked.
    ask_at: AskAt,
}

#[derive(Clone, Copy, Default)]
enum AskAt {
    #[default]
    Now,
    Time {
        time: UnixTime,
        /// When that was decided.
        since: UnixTime,
    },
    /// The response comes from elsewhere.
    Never,
}

/// A response, and what it is about.
struct Staple {
    /// The chain, the key and the response.
    certified: Arc<CertifiedKey>,
    answer: Answer,
    is_end_reported: AtomicBool,
    is_early_reported: AtomicBool,
}

/// What there is to send.
pub(super) enum Shown {
    Staple(Arc<CertifiedKey>),
    Nothing,
    /// The response has expired since the last call.
    Ended(UnixTime),
    /// The clock was set back since the last call, and the response is from the future.
    Early(UnixTime),
}

impl Stapled {
    /// What to send. `now` is called only if there is a response.
    pub(super) fn shown(&self, now: impl FnOnce() -> UnixTime) -> Shown {
        self.read(|state| {
            let Some(staple) = &state.staple else {
                return Shown::Nothing;
            };
            let (now, answer) = (now(), &staple.answer);
            if answer.is_current(now) {
                return Shown::Staple(Arc::clone(&staple.certified));
            }
            let (is_reported, outcome) = match now < answer.next_update {
                true => (&staple.is_early_reported, Shown::Early(answer.this_update)),
                false => (&staple.is_end_reported, Shown::Ended(answer.next_update)),
            };
            match is_reported.swap(true, Ordering::Relaxed) {
                true => Shown::Nothing,
                false => outcome,
            }
        })
        .unwrap_or(Shown::Nothing)
    }

    pub(super) fn answer(&self) -> Option<Answer> {
        self.read(|state| Some(state.staple.as_ref()?.answer))?
    }

    /// The response's length, in bytes.
    pub(super) fn len(&self) -> usize {
        let response =
            self.read(|state| Some(state.staple.as_ref()?.certified.ocsp.as_ref()?.len()));
        response.flatten().unwrap_or(0)
    }

    pub(super) fn set(&self, staple: Option<(CertifiedKey, Answer)>) {
        if staple.is_none() && self.0.get().is_none() {
            return;
        }
        let staple = staple.map(|(certified, answer)| Staple {
            certified: certified.into(),
            answer,
            is_end_reported: AtomicBool::new(false),
            is_early_reported: AtomicBool::new(false),
        });
        self.write(|state| state.staple = staple);
    }

    /// Has no source asked from now on.
    pub(super) fn never_ask(&self) {
        self.write(|state| state.ask_at = AskAt::Never);
    }

    /// When to ask a source, if ever.
    pub(super) fn ask_at(&self, now: UnixTime) -> Option<UnixTime> {
        match self.read(|state| state.ask_at).unwrap_or_default() {
            AskAt::Now => Some(now),
            // The clock was ahead when the time was decided, so the time is wrong.
            AskAt::Time { since, .. } if now < since => Some(now),
            AskAt::Time { time, .. } => Some(time),
            AskAt::Never => None,
        }
    }

    /// Notes that a source was asked, and returns when to ask it the next time. `is_new` says that the
    /// current response came from it now.
    pub(super) fn asked(&self, is_new: bool, now: UnixTime) -> UnixTime {
        self.write(|state| {
            let time = match &state.staple {
                Some(staple) if is_new => staple.answer.ask_at(now),
                Some(staple) if staple.answer.is_current(now) => staple.answer.ask_again_at(now),
                _ => at_seconds(now.as_secs() + PAUSE_WITHOUT.as_secs()),
            };
            state.ask_at = AskAt::Time { time, since: now };
            time
        })
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> Option<T> {
        // The state is consistent whenever the lock is free.
        let state = self.0.get()?.read();
        Some(read(&state.unwrap_or_else(PoisonError::into_inner)))
    }

    fn write<T>(&self, write: impl FnOnce(&mut State) -> T) -> T {
        let state = self.0.get_or_init(RwLock::default).write();
        write(&mut state.unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    fn answer(this_update: u64, next_update: u64) -> Answer {
        Answer {
            status: CertStatus::Good,
            this_update: at_seconds(this_update),
            next_update: at_seconds(next_update),
        }
    }

    #[test]
    fn a_newer_one_is_asked_for_after_half_of_the_time() {
        for (validity, now, expected) in [
            (100, 0, 50),
            (100, 49, 50),
            // The responder has made no newer one.
            (100, 50, 51),
            (100, 99, 100),
            (DAY, 0, DAY / 2),
            // A revocation must not stay unknown for long.
            (10 * DAY, 0, DAY),
            (10 * DAY, 1, DAY + 1),
            (1, 0, 1),
        ] {
            let at = answer(0, validity).ask_at(at_seconds(now));
            assert_eq!(at.as_secs(), expected, "{validity} {now}");
        }
    }

    /// As with a machine that starts with a wrong clock, and then learns the time.
    #[test]
    fn a_source_is_asked_when_the_clock_is_set_back() {
        let stapled = Stapled::default();
        let [right, ahead] = [1_000, 1_000 + 1_000 * DAY].map(at_seconds);
        let again = stapled.asked(false, ahead);
        assert!(again.as_secs() > ahead.as_secs());
        assert_eq!(stapled.ask_at(ahead), Some(again));
        assert_eq!(stapled.ask_at(right), Some(right));
        let again = stapled.asked(false, right);
        assert_eq!(stapled.ask_at(right), Some(again));
    }

    #[test]
    fn a_response_counts_from_its_time_on_until_its_end() {
        let tolerance = OcspVerifier::CLOCK_TOLERANCE.as_secs();
        let [right, year] = [1_000_000, 365 * DAY];
        let future = answer(right + year, right + 2 * year);
        for (now, expected) in [
            (right, false),
            (right + year - tolerance - 1, false),
            (right + year - tolerance, true),
            (right + 2 * year - 1, true),
            (right + 2 * year, false),
        ] {
            assert_eq!(future.is_current(at_seconds(now)), expected, "{now}");
        }
    }

    #[test]
    fn a_source_that_fails_is_asked_again() {
        for (left, expected) in [
            (0, 10),
            (39, 10),
            (80, 20),
            (14_400, 3_600),
            (10 * DAY, 3_600),
        ] {
            let now = at_seconds(1_000);
            let again = answer(0, 1_000 + left).ask_again_at(now);
            assert_eq!(again.as_secs(), 1_000 + expected, "{left}");
        }
    }
}
