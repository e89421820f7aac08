//! The OCSP response that the server sends with its certificate: keeps what the check of it found, and says it in the
//! report.

use std::fmt;
use std::sync::{Arc, OnceLock};

use pq_keys::encoding::rfc3339;
use pq_x509::ocsp::SingleResponse;
use pq_x509::validation::ValidationError;
use rustls_pq::verify::OcspRefusal;
use serde::Serialize;

/// The result of checking the server's OCSP response. One is for one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct OcspOutcome(Arc<OnceLock<Result<Option<SingleResponse>, OcspRefusal>>>);

impl OcspOutcome {
    /// The function that takes it from [`CheckOcsp`](rustls_pq::verify::CheckOcsp).
    pub(super) fn report(
        &self,
    ) -> impl Fn(Result<Option<&SingleResponse>, &OcspRefusal>) + Send + Sync + 'static {
        let outcome = self.0.clone();
        move |said| {
            outcome.get_or_init(|| said.map(<Option<&_>>::cloned).map_err(Clone::clone));
        }
    }

    /// A response that is good.
    pub(super) fn response(&self) -> Option<&SingleResponse> {
        self.0.get()?.as_ref().ok()?.as_ref()
    }

    /// Why the server was refused because of it, if it was.
    pub(super) fn refusal(&self) -> Option<String> {
        let refusal = self.0.get()?.as_ref().err()?;
        Some(match refusal {
            OcspRefusal::Chain(ValidationError::Revoked {
                subject,
                entry: Some(entry),
            }) => format!(
                "its OCSP response says that the certificate of {} {entry}",
                subject.as_deref().unwrap_or("the server"),
            ),
            refusal => refusal.to_string(),
        })
    }
}

/// What the report says about an OCSP response that is good.
#[derive(Debug, Serialize)]
pub struct OcspSummary {
    /// The word for it.
    pub status: &'static str,
    /// When this status was known, in UTC.
    pub this_update: String,
    /// Until when the response is valid, in UTC.
    pub next_update: Option<String>,
}

impl From<&SingleResponse> for OcspSummary {
    fn from(response: &SingleResponse) -> Self {
        Self {
            status: "good",
            this_update: rfc3339(response.this_update()),
            next_update: response.next_update().map(rfc3339),
        }
    }
}

impl fmt::Display for OcspSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status)?;
        match &self.next_update {
            Some(until) => write!(f, ", until {until}"),
            None => Ok(()),
        }
    }
}
