//! Revocation (RFC 8555, section 7.6), by the account that a certificate was issued to, by one that has authorizations for
//! all names in it, and by whoever has its key.
//!
//! Who has authorizations alone shows that the names are theirs now, and nothing of the key, which may be somebody else's: so
//! they may not say that it is compromised, by which the key would be refused from then on, in other certificates, too.

use core::net::IpAddr;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_x509::certificate::{AlternativeName, Certificate};

use super::Server;
use super::answer::{Answer, Refusal};
use super::content;
use super::policy::{Policy, RevocationWish, Revoker};
use super::posts::{Post, Signer};
use super::status::of_authorization;
use crate::identifier::Identifier;
use crate::objects::{AuthorizationStatus, Revocation, RevocationReason, Time};
use crate::problem::{Problem, ProblemType};
use crate::store::{AccountRecord, CertificateRecord, Store};

impl<S: Store, P: Policy> Server<S, P> {
    pub(super) fn revoke_certificate(
        &self,
        post: &Post,
        from: Option<IpAddr>,
    ) -> Result<Answer, Refusal> {
        let wish: Revocation<'_> = content::read(&post.content)?;
        let malformed =
            |why: &dyn core::fmt::Display| Problem::malformed(format!("the certificate: {why}"));
        let der = base64url::decode(&wish.certificate).map_err(|error| malformed(&error))?;
        let certificate = Certificate::from_der(&der).map_err(|error| malformed(&error))?;
        let reason = RevocationReason::of_number(wish.reason.unwrap_or_default());
        let reason = reason.ok_or_else(|| {
            Problem::new(
                ProblemType::BadRevocationReason,
                "the reason may be 0 (none given), 1 (the key is compromised), 3 (affiliation changed), 4 (superseded) or 5 \
                 (cessation of operation)",
            )
        })?;
        let by = match &post.by {
            Signer::Key(key) => {
                let spki = certificate
                    .parsed()
                    .tbs_certificate()
                    .subject_public_key_info();
                let spki = pq_keys::encoding::to_der(spki).map_err(|error| malformed(&error))?;
                let of_certificate = AnyJwk::from_spki_der(&spki);
                if !of_certificate.is_ok_and(|found| found == **key) {
                    return Err(Problem::unauthorized(
                        "the key that signed the request is not that of the certificate",
                    )
                    .into());
                }
                Revoker::Key
            }
            Signer::Account(account) => {
                let issued = self.store.certificate(&CertificateRecord::id_of(&der))?;
                match issued.is_some_and(|issued| issued.account == account.id) {
                    true => Revoker::Holder(account),
                    false if self.is_authorized(account, &certificate, post.now)? => {
                        Revoker::Authorized(account)
                    }
                    false => {
                        return Err(Problem::unauthorized(
                            "the certificate was not issued to this account, which has no authorizations for all its names",
                        )
                        .into());
                    }
                }
            }
        };
        if matches!(
            (by, reason),
            (Revoker::Authorized(_), RevocationReason::KeyCompromise)
        ) {
            return Err(Problem::new(
                ProblemType::BadRevocationReason,
                "that the key is compromised can be said by the account that the certificate was issued to, or by a request that is \
                 signed by the key: give another reason",
            )
            .into());
        }
        let revoked = self.policy.revoke(&RevocationWish {
            certificate: &der,
            reason,
            by,
            from,
        });
        revoked.map_err(Problem::from)?;
        Ok(Answer::empty(200))
    }

    /// Whether an account has valid authorizations for all names of a certificate.
    fn is_authorized(
        &self,
        account: &AccountRecord,
        certificate: &Certificate,
        now: Time,
    ) -> Result<bool, Refusal> {
        let mut is_any = false;
        for name in certificate.alternative_names() {
            let identifier = match name {
                AlternativeName::Dns(name) => Identifier::dns(&name).ok(),
                AlternativeName::Ip(address) => Some(Identifier::Ip(address)),
                _ => None,
            };
            let Some(identifier) = identifier else {
                return Ok(false);
            };
            let (base, is_wildcard) = (identifier.base(), identifier.is_wildcard());
            let all = self
                .store
                .valid_authorizations(&account.id, &base, is_wildcard, 1)?;
            let is_valid = |one: &AuthorizationStatus| *one == AuthorizationStatus::Valid;
            let mut states = all.iter().map(|one| of_authorization(one, now));
            if !states.any(|state| is_valid(&state)) {
                return Ok(false);
            }
            is_any = true;
        }
        // Names that are not read here can't be authorized.
        Ok(is_any && certificate_has_only_these(certificate))
    }
}

/// Whether all alternative names of a certificate are DNS names and addresses.
fn certificate_has_only_these(certificate: &Certificate) -> bool {
    use pq_x509::x509_cert::ext::pkix::SubjectAltName;
    let parsed = certificate.parsed().tbs_certificate();
    let names = parsed.get_extension::<SubjectAltName>().ok().flatten();
    names.is_some_and(|(_, names)| names.0.len() == certificate.alternative_names().count())
}
