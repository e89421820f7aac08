//! Whether the certificates of a path were revoked: lists and OCSP responses, and what each weighs.
//!
//! # The order of evidence
//!
//! A list or a response is first judged by itself (`evidence::Standing`):
//!
//! 1. *for another scope*: it is about other certificates. It says nothing.
//! 2. *for another key*: the key of the certificate's issuer did not sign it. It says nothing, whoever's name is on
//!    it: a CA has two keys during every rollover, and a stranger may use any name. If there is no algorithm here for
//!    the signature, nobody knows that. So if it says revoked, and doesn't name another key itself, this counts as
//!    *unverified*.
//! 3. *not yet valid*: its thisUpdate is to come. It says nothing good. If it says that the certificate was revoked
//!    at a time that has come, this counts: somebody's clock is wrong, and it may be ours.
//! 4. *expired*: its nextUpdate has come. It says nothing good. If it says revoked, this counts until it is taken back.
//! 5. *current*: it counts.
//!
//! Then all that counts is weighed together (`evidence::weigh`). The order in which lists and responses were
//! given never matters.
//!
//! 1. **Revoked**, if one says so and no other takes it back. Only a current one that says good and has a later
//!    thisUpdate can take it back. If both are lists of one scope, and both have a cRLNumber, its number must be
//!    greater, too: numbers and times that contradict each other, such as after a rollback of the CA, decide nothing in
//!    favour of the certificate. A list that says that another key signed it than the one that did takes nothing
//!    back that a list says which names its key: contradictions are no proof. In all other cases (lists of different
//!    scopes, and wherever a response is involved) only what has expired can be taken back: RFC 5280 section 6.3.3 ends
//!    at the first list that revokes.
//! 2. **Unverified**, and refused, if there is such a one that says revoked, and no other takes it back, by the same
//!    rules.
//! 3. **Unknown**, if a responder doesn't know the certificate, unless a current list says good (RFC 6960 section 2.2
//!    sends clients there) or a response of a later thisUpdate does.
//! 4. **Good**, if one that is current says so.
//! 5. Otherwise nothing is known.
//!
//! To say revoked takes less than to say anything else, because what makes a statement unusable must not let another
//! one win that says good. A response counts only as a revocation
//!
//! * if it lacks the nonce that was asked for, since it may be an old one sent again;
//! * if its delegate's certificate has expired, and was valid when the response was made;
//! * if nobody knows whether its delegate was revoked. If the delegate was, the response counts for nothing: whoever
//!   has that key could revoke anything.
//!
//! So does a list if the key usage of its CA lacks cRLSign: the CA signed it nevertheless, and the peer may have chosen
//! which of the CA's certificates is on the path.
//!
//! Each answer of a response is a statement of its own. Of answers that say the same, and are all expired, or all
//! current, the latest is enough.
//!
//! The key that a list names (its authorityKeyIdentifier) is a hint, which saves signatures: while others say good, of
//! the lists that name another key only those are verified that have the certificate on them. The hint never keeps
//! a revocation from counting that can be verified.
//!
//! This is stricter than OpenSSL, which takes the list with the latest thisUpdate and asks neither for its number
//! nor what others say; the test `revocation_openssl` of the package `interop` compares both.
//!
//! `lists` finds lists, `verdicts` remembers their signatures, `policy` is what users configure, and `checks` puts all
//! together. They use what the [parent module](super) may use.

mod checks;
mod evidence;
mod lists;
mod policy;
mod verdicts;

pub(super) use checks::{Revocation, RevocationChecks};
pub use policy::RevocationPolicy;
