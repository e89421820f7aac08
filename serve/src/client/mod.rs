//! A client for one request: it fetches a page, and reports what protected the connection, or why there is none.

// This room uses `provider`, `revocation` and `summary`.

mod chain;
mod counted;
mod diagnosis;
mod error;
mod fetch;
mod observer;
mod ocsp;
mod report;
mod target;
mod trust;

pub use chain::CertificateSummary;
pub use counted::{Bytes, Counted, Counter};
pub use diagnosis::Diagnosis;
pub use error::{FetchError, Phase};
pub use fetch::{ClientIdentity, Request, fetch};
pub use ocsp::OcspSummary;
pub use report::{ByteCounts, Report, Response, Times};
pub use target::{NotATarget, Target, server_name};
pub use trust::{Trust, TrustError};
