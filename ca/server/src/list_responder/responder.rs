//! Answers from a list. What the list lacks is good only while the list is complete and current.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;
use pq_x509::ocsp::{CertStatus, OcspFailure, OcspRequest, OcspResponder, OcspResponse};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationList, UnusableList};

use crate::lists::of_key;
use crate::ocsp::{Answers, NoAnswer};

/// A list from the future came from a clock that is wrong, or this one is.
const AHEAD: u64 = 60 * 60;

/// Answers OCSP requests from a CA's revocation list, by a key that the CA certified for this.
///
/// A certificate on the list is revoked. One that is not is good, whether the CA issued it or not: a list can't tell. While there is
/// no list, or it has expired, requests get `tryLater`.
pub struct ListResponder<S> {
    signer: OcspResponder<S>,
    validity: Duration,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    known: Option<Arc<Known>>,
    /// The latest list that was ever taken, before which none is.
    latest: Option<Order>,
}

/// By which lists follow each other: the length and the bytes of the number, and the time.
type Order = (usize, Vec<u8>, u64);

/// What a list says.
struct Known {
    this_update: UnixTime,
    next_update: UnixTime,
    revoked: HashMap<Vec<u8>, CertStatus>,
}

impl<S: Signer> ListResponder<S> {
    /// A responder whose answers are valid for this long from now on, but no longer than the list and the responder's certificate. It
    /// has no list yet.
    pub fn new(signer: OcspResponder<S>, validity: Duration) -> Self {
        Self {
            signer,
            validity,
            state: RwLock::default(),
        }
    }

    /// Answers from this list from now on. Returns whether it is another one than before.
    ///
    /// # Errors
    ///
    /// [`UnfitList`], and then the one before stays.
    pub fn take(&self, list: &CertificateRevocationList) -> Result<bool, UnfitList> {
        if !of_key(list, self.signer.issuer()) {
            return Err(UnfitList::OfAnother(
                self.signer.issuer().describe_subject(),
            ));
        }
        if !list.is_complete()? {
            return Err(UnfitList::Incomplete);
        }
        let next_update = list.next_update().ok_or(UnusableList::NoNextUpdate)?;
        let number = list.number().unwrap_or_default();
        let number = number.iter().copied().skip_while(|byte| *byte == 0);
        let number: Vec<u8> = number.collect();
        let order = (number.len(), number, list.this_update().as_secs());
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(latest) = &state.latest {
                if order < *latest || order.2 < latest.2 {
                    return Err(UnfitList::Older);
                }
                if order == *latest && state.known.is_some() {
                    return Ok(false);
                }
            }
        }
        let revoked = list.entries().iter().map(|entry| {
            let status = CertStatus::Revoked {
                date: entry.date(),
                reason: entry.reason(),
            };
            (entry.serial_number().to_vec(), status)
        });
        let known = Known {
            this_update: list.this_update(),
            next_update,
            revoked: revoked.collect(),
        };
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.known = Some(known.into());
        state.latest = Some(order);
        Ok(true)
    }

    /// Answers nothing from now on but `tryLater`, until it takes a list: the one that it has can't be read again.
    pub fn forget(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.known = None;
    }

    /// What keeps it from answering, if something does.
    pub fn problem(&self, now: UnixTime) -> Option<String> {
        self.current(now).err().map(|error| error.to_string())
    }

    fn known(&self) -> Option<Arc<Known>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.known.clone()
    }

    /// The list, if it may be answered from.
    fn current(&self, now: UnixTime) -> Result<Arc<Known>, NoAnswer> {
        let later = |problem: &str| NoAnswer::new(OcspFailure::TryLater, problem.to_owned());
        let known = self.known();
        let known = known.ok_or_else(|| later("there is no revocation list to answer from"))?;
        if known.next_update <= now {
            return Err(later("the revocation list has expired"));
        }
        if known.this_update.as_secs() > now.as_secs().saturating_add(AHEAD) {
            return Err(later(
                "the revocation list is from the future; check the clock",
            ));
        }
        let own = self.signer.certificate();
        if now < own.not_before() || own.not_after() < now {
            return Err(later("the responder's certificate is not valid now"));
        }
        Ok(known)
    }
}

impl Known {
    fn status(&self, number: &[u8]) -> CertStatus {
        let revoked = self.revoked.get(number);
        revoked.copied().unwrap_or(CertStatus::Good)
    }
}

impl<S: Signer + 'static> Answers for ListResponder<S> {
    fn issuer(&self) -> &Certificate {
        self.signer.issuer()
    }

    fn answer(&self, request: &OcspRequest, now: UnixTime) -> Result<OcspResponse, NoAnswer> {
        let known = self.current(now)?;
        let own_end = self.signer.certificate().not_after();
        let by_validity = now.as_secs().saturating_add(self.validity.as_secs());
        let ends = [by_validity, known.next_update.as_secs(), own_end.as_secs()];
        let end = ends.into_iter().min().unwrap_or_default();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        // The status is known as of the list.
        let from = known.this_update.as_secs().min(now.as_secs());
        let validity = Validity::new(at(from), at(end));
        let response = self
            .signer
            .respond(request, at(now.as_secs()), validity, |number| {
                Ok::<_, IssueError>(known.status(number))
            });
        response.map_err(|error| NoAnswer::new(OcspFailure::TryLater, error))
    }

    fn still_says(&self, response: &OcspResponse, now: UnixTime) -> Result<bool, NoAnswer> {
        let known = self.current(now)?;
        Ok(response.answers().iter().all(|answer| {
            let certificate = answer.certificate();
            let status = match certificate.is_by(self.signer.issuer()) {
                true => known.status(certificate.serial_number()),
                false => CertStatus::Unknown,
            };
            status == answer.status() && answer.next_update().is_some_and(|next| now < next)
        }))
    }
}

impl<S> fmt::Debug for ListResponder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListResponder")
            .field("validity", &self.validity)
            .finish_non_exhaustive()
    }
}

/// Why a list is not answered from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitList {
    /// Another key signed it, or it has another name.
    #[error("it is not a list that {0} signed; get that CA's list")]
    OfAnother(String),
    /// It is for some certificates of the CA.
    #[error(
        "it is for a part of the CA's certificates, or one of several lists: what it lacks may be revoked; get the CA's \
         complete list, without a distribution point"
    )]
    Incomplete,
    /// One of before is later.
    #[error("it is older than the one before; get the newest")]
    Older,
    /// It can't be used.
    #[error(transparent)]
    Unusable(#[from] UnusableList),
}
