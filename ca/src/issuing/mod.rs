//! Issuing, from what is asked for to what may be handed out.
//!
//! The order is what keeps a CA honest, and it is the same for one certificate ([`Issuance`]) and for many
//! ([`Series`]):
//!
//! 1. The key is the asker's: a request is verified before it gets here. A key alone is the caller's word.
//! 2. The policy and the CA's own constraints permit it, and the certificate is made, linted and signed.
//! 3. What has to be there before, such as the file of a new key, is kept: see [`Companion`].
//! 4. The ledger records it, if the CA is not revoked, the key is not compromised and the old certificate, if there is
//!    one, still holds. That is one change of the ledger with its conditions.
//! 5. Only then it is handed out.
//!
//! Until the fourth step nothing has happened. If that fails, either nothing was issued, or nobody knows yet: then
//! [`Unsettled`] finds it out.

// This room uses authority, policy and ledger.

mod companion;
mod error;
mod issuance;
mod issued_certificate;
mod series;
mod terms;

pub use self::companion::Companion;
pub use self::error::{IssuanceError, Unsettled};
pub use self::issuance::Issuance;
pub use self::issued_certificate::IssuedCertificate;
pub use self::series::{Answer, Series};
pub use self::terms::Terms;
