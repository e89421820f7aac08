use alloc::sync::Arc;
use core::cell::RefCell;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH, ID_KP_EMAIL_PROTECTION, ID_KP_SERVER_AUTH,
};
use pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, UnixTime};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeId, KeyPurposeIdIter, VerifiedPath,
};
use x509_cert::ext::pkix::KeyUsages;

use super::constraints::{self, Budget};
use super::diagnosis;
use super::error::ValidationError;
use super::revocation::{Revocation, RevocationChecks, RevocationPolicy};
use super::roots::{Candidates, Roots};
use super::spiffe;
use super::stand_ins::StandIns;
use crate::certificate::{
    Certificate, EmailAddress, KeyUsageError, NameError, OcspNonce, OcspResponse, Role, SpiffeId,
    Uri, key_usage,
};
use crate::keys::{Algorithm, KeyError, verification};

/// Decides whether a chain of certificates leads to a root that is trusted.
///
/// Paths are built and checked by webpki. Added to that are the roots' own validity, path
/// length, key usage, extended key usage and critical extensions, where webpki takes a
/// root for a mere name, key and name constraints, and the rules for key usage and for the end
/// entity's key of RFC 5280, RFC 9881, RFC 9909 and RFC 9935, where webpki has none.
///
/// Name constraints are checked for DNS names and addresses by webpki, and here for e-mail addresses,
/// those in subjects included, for URIs and for directory names, which webpki, and so rustls's
/// verifiers, take for violated whatever they say. For other kinds that is so here, too. What is not understood
/// is refused where its kind is constrained: e-mail addresses with quotation marks or outside of ASCII
/// (RFC 9598), URIs whose host is no DNS name, empty constraints of hosts, and strings in directory
/// names that differ and are not ASCII.
///
/// **Revocation is checked by [`with_revocation`](Self::with_revocation) and
/// [`with_ocsp_responses`](Self::with_ocsp_responses) only**: without them, keep validities short, or check
/// revocation elsewhere.
///
/// Every certificate on a path must also be read by [`Certificate::from_der`], which holds
/// to the RFC 5280 profile of `x509-cert`. That is stricter than webpki: a negative or
/// overlong serial number, for example, is refused. It is also wider: dates before 1970 and path
/// lengths above 255, which webpki alone takes for malformed, as rustls's verifiers then do, are
/// what they say.
///
/// # Cost
///
/// What a validation costs does not depend on how many roots there are, which are found by their
/// names, nor on how many certificates are revoked (see [`RevocationPolicy`]). The search for a path ends
/// after 100 signatures of certificates, and up to 32 more are verified to say which certificate is
/// bad. webpki also ends it after 200,000 steps, and each can read all certificates that were sent:
/// hundreds of CAs that name each other take seconds. rustls takes chains of up to 64 KiB; outside of
/// TLS bound what you pass.
///
/// In memory a root takes up to three times its certificate's length and half a kilobyte; copies of a
/// validator share them.
#[derive(Clone, Debug)]
pub struct ChainValidator {
    roots: Arc<Roots>,
    algorithms: Vec<&'static dyn SignatureVerificationAlgorithm>,
    check_key_usage: bool,
    revocation: Revocation,
}

impl ChainValidator {
    /// Trusts these roots, and signatures by ML-DSA and SLH-DSA.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRoots`] if there are none, [`ValidationError::RootNotACa`] if
    /// one is not a CA certificate, [`ValidationError::UnsupportedCriticalExtension`] if
    /// one has a critical extension that is not processed here.
    pub fn new(roots: impl IntoIterator<Item = Certificate>) -> Result<Self, ValidationError> {
        Ok(Self {
            roots: Arc::new(Roots::new(roots.into_iter().collect())?),
            algorithms: verification::ALL.to_vec(),
            check_key_usage: true,
            revocation: Revocation::default(),
        })
    }

    /// Accepts signatures by these algorithms too, such as those of a classical provider. `&[]` adds
    /// none. The signatures of revocation lists are verified anew, by all of them, and those of OCSP
    /// responses.
    #[must_use]
    pub fn with_algorithms(
        mut self,
        algorithms: &[&'static dyn SignatureVerificationAlgorithm],
    ) -> Self {
        self.algorithms.extend_from_slice(algorithms);
        self.revocation = self.revocation.afresh();
        self
    }

    /// Accepts key usages that RFC 9881, RFC 9909 and RFC 9935 forbid, and end entities that lack
    /// digitalSignature or have keyCertSign, for the sake of certificates that others issued
    /// carelessly. That CAs need keyCertSign stays.
    #[must_use]
    pub fn relax_key_usage(mut self) -> Self {
        self.check_key_usage = false;
        self
    }

    /// Refuses revoked certificates, as this policy says.
    #[must_use]
    pub fn with_revocation(mut self, policy: RevocationPolicy) -> Self {
        self.revocation = self.revocation.with_policy(policy);
        self
    }

    /// The algorithms by which signatures are verified: those of this crate, and those that were added.
    pub fn algorithms(&self) -> &[&'static dyn SignatureVerificationAlgorithm] {
        &self.algorithms
    }

    /// Has these OCSP responses say whether certificates are revoked, beside those that it has, and beside
    /// the lists of a [`RevocationPolicy`]. The order of the two methods doesn't matter.
    ///
    /// A response is of use for the certificates that it is about, by their issuers on the path, if it
    /// passes an [`OcspVerifier`](crate::OcspVerifier)'s checks; if its signer has a certificate without
    /// id-pkix-ocsp-nocheck, that must be on no list, and be covered by one unless the policy allows
    /// unknown status. Responses about other certificates are passed over. One that has expired or says no end is of
    /// no use either, but that it says revoked still counts unless something good is newer, as
    /// [`RevocationPolicy`] has it.
    ///
    /// Without a policy the status of certificates need not be known: a certificate is refused if a response
    /// says that it was revoked, and also if a response is about it and of no use. With one, a
    /// good response is as much as a list.
    ///
    /// For a response that came with the chain, as staples do, have a copy of the validator, which shares what is
    /// large:
    ///
    /// ```
    /// # use pq_x509::pki_types::{ServerName, UnixTime};
    /// # use pq_x509::{Certificate, ChainValidator, OcspResponse, RevocationPolicy};
    /// # fn check(
    /// #     validator: &ChainValidator,
    /// #     chain: &[Certificate],
    /// #     staple: &[u8],
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// // validator.with_revocation(RevocationPolicy::without_lists().end_entity_only())
    /// let validator = validator.clone().with_ocsp_responses([OcspResponse::from_der(staple)?]);
    /// let name = ServerName::try_from("example.org")?;
    /// validator.validate_server(chain, &name, UnixTime::now())?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_ocsp_responses(
        mut self,
        responses: impl IntoIterator<Item = OcspResponse>,
    ) -> Self {
        self.revocation = self.revocation.with_responses(responses);
        self
    }

    /// Takes OCSP responses only that were made for the request with this nonce, and of these also one
    /// that has no nextUpdate.
    #[must_use]
    pub fn with_ocsp_nonce(mut self, nonce: OcspNonce) -> Self {
        self.revocation = self.revocation.with_nonce(nonce);
        self
    }

    /// Validates the chain of a TLS server for the name or address that was dialled.
    ///
    /// The chain starts with the server's certificate; those of CAs follow in any order,
    /// and the root may be left out. The server's key must be one that signs: a certificate
    /// for an ML-KEM key cannot authenticate a TLS server, only [`validate`](Self::validate)
    /// takes it.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate_server(
        &self,
        chain: &[impl AsRef<[u8]>],
        name: &ServerName<'_>,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        signs(self.validate(chain, Purpose::ServerAuth, Some(name), time)?)
    }

    /// Validates the chain of a TLS client. Who the client is, the caller reads from the
    /// first certificate. Its key must be one that signs, as a server's.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate_client(
        &self,
        chain: &[impl AsRef<[u8]>],
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        signs(self.validate(chain, Purpose::ClientAuth, None, time)?)
    }

    /// Validates the chain of a workload by its SPIFFE ID, which has to be this one. The purpose says
    /// which side the peer is on. Its key must be one that signs, and its certificate as the
    /// [X.509-SVID standard](https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md) has it: see
    /// [`SvidError`](crate::SvidError).
    ///
    /// **The roots must be those of the ID's trust domain alone**: any of them can vouch for the ID, unless its
    /// name constraints are against that. For each trust domain have a validator of its own. To accept many IDs,
    /// see [`ValidatedChain::spiffe_id`].
    ///
    /// ```
    /// use pq_x509::pki_types::UnixTime;
    /// use pq_x509::{CertificateBuilder, ChainValidator, Issuer, Purpose, SignatureAlgorithm};
    /// use pq_x509::{SigningKey, SpiffeId};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    /// let builder = CertificateBuilder::ca("Example CA").permit_uri("example.org");
    /// let ca = Issuer::self_signed(builder, ca_key)?;
    /// let id: SpiffeId = "spiffe://example.org/billing".parse()?;
    /// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    /// let builder = CertificateBuilder::server().client_auth().uri(id.clone());
    /// let leaf = ca.issue(builder, &key)?;
    ///
    /// let validator = ChainValidator::new([ca.certificate().clone()])?;
    /// validator.validate_spiffe(&[leaf], &id, Purpose::ClientAuth, UnixTime::now())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate_spiffe(
        &self,
        chain: &[impl AsRef<[u8]>],
        id: &SpiffeId,
        purpose: Purpose,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let valid = signs(self.validate(chain, purpose, None, time)?)?;
        let found = valid.spiffe_id()?;
        match found == *id {
            true => Ok(valid),
            false => Err(ValidationError::NameMismatch {
                expected: id.to_string(),
                presented: vec![found.to_string()],
            }),
        }
    }

    /// Validates a chain for a purpose and a URI, which has to be among the end entity's alternative names
    /// with all its characters the same. The end entity's key may be of any algorithm. For SPIFFE IDs there
    /// is [`validate_spiffe`](Self::validate_spiffe).
    ///
    /// # Errors
    ///
    /// [`ValidationError::ExpectedName`] for what is no [`Uri`], and others that say what is wrong.
    pub fn validate_uri(
        &self,
        chain: &[impl AsRef<[u8]>],
        uri: &str,
        purpose: Purpose,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let uri: Uri = uri.parse().map_err(NameError::from)?;
        let valid = self.validate(chain, purpose, None, time)?;
        is_for(valid, uri.as_str(), Certificate::uris, |found| {
            found == uri.as_str()
        })
    }

    /// Validates a chain for a purpose and an e-mail address, which has to be among the end entity's
    /// alternative names: the local part with all its characters the same, and the host in letters of any
    /// case (RFC 5280 section 7.5). The end entity's key may be of any algorithm. Addresses in the subject's name,
    /// and those that are not in ASCII (RFC 9598), don't count.
    ///
    /// # Errors
    ///
    /// [`ValidationError::ExpectedName`] for what is no [`EmailAddress`], and others that say what is
    /// wrong.
    pub fn validate_email(
        &self,
        chain: &[impl AsRef<[u8]>],
        address: &str,
        purpose: Purpose,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let address: EmailAddress = address.parse().map_err(NameError::from)?;
        let valid = self.validate(chain, purpose, None, time)?;
        is_for(
            valid,
            address.as_str(),
            Certificate::email_addresses,
            |found| {
                found
                    .parse()
                    .is_ok_and(|found: EmailAddress| found == address)
            },
        )
    }

    /// Validates a chain for a purpose, for a name if one is given, and at a time. The end
    /// entity's key may be of any algorithm, ML-KEM included.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong.
    pub fn validate(
        &self,
        chain: &[impl AsRef<[u8]>],
        purpose: Purpose,
        name: Option<&ServerName<'_>>,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let sent: Vec<CertificateDer<'_>> = chain
            .iter()
            .map(|certificate| CertificateDer::from(certificate.as_ref()))
            .collect();
        // For what webpki can't read.
        let stand_ins = StandIns::of(&sent);
        let stand_ins = stand_ins.as_ref();
        let explain = |error| diagnosis::explain(error, &sent, &self.roots, &self.algorithms);
        let chain = stand_ins.map_or(&sent[..], |stand_ins| &stand_ins.chain);
        let (leaf, intermediates) = chain.split_first().ok_or(ValidationError::EmptyChain)?;
        let end_entity = EndEntityCert::try_from(leaf).map_err(explain)?;
        let over_originals: Vec<_> = stand_ins
            .into_iter()
            .flat_map(|stand_ins| {
                let algorithms = self.algorithms.iter();
                algorithms.map(|algorithm| stand_ins.over_originals(*algorithm))
            })
            .collect();
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> = match stand_ins {
            None => self.algorithms.iter().map(|a| *a as _).collect(),
            Some(_) => over_originals.iter().map(|a| a as _).collect(),
        };
        let roots = self.roots.of_chain(chain);
        let revocation = self.revocation.begin(time, &self.algorithms);

        let names = Budget::default();
        let ours = Ours {
            roots: &roots,
            stand_ins,
            revocation: &revocation,
            names: &names,
            purpose,
            time,
        };

        // webpki's errors have no room for ours, so the outcome of our own checks on the
        // latest path goes beside them.
        let outcome = RefCell::new(None);
        let check = |path: &VerifiedPath<'_>| {
            let result = self.check_path(path, &ours);
            let ok = result.is_ok();
            outcome.replace(Some(result));
            // Any error that is not fatal has webpki try the next path.
            ok.then_some(()).ok_or(webpki::Error::UnknownIssuer)
        };
        let found = end_entity
            .verify_for_usage(
                &algorithms,
                &roots.anchors,
                intermediates,
                time,
                purpose,
                None,
                Some(&check),
            )
            .map(|_| ());
        let certificates = verdict(found, outcome.into_inner(), explain)?;
        if let Some(name) = name {
            end_entity.verify_is_valid_for_subject_name(name)?;
        }
        Ok(ValidatedChain { certificates })
    }

    /// What webpki leaves out, for a path whose signatures it has verified.
    fn check_path(
        &self,
        path: &VerifiedPath<'_>,
        ours: &Ours<'_>,
    ) -> Result<Vec<Certificate>, ValidationError> {
        let Ours { purpose, time, .. } = *ours;
        let root = ours
            .roots
            .certificate(path.anchor())
            .ok_or(webpki::Error::UnknownIssuer)?;
        let read = |der: CertificateDer<'_>| match ours
            .stand_ins
            .and_then(|stand_ins| stand_ins.original(&der))
        {
            Some(original) => Ok(original.clone()),
            None => Certificate::from_der(&der),
        };
        let mut certificates = vec![read(path.end_entity().der())?];
        for intermediate in path.intermediate_certificates() {
            certificates.push(read(intermediate.der())?);
        }
        certificates.push(root.clone());
        let [leaf, intermediates @ .., _] = &*certificates else {
            return Err(ValidationError::EmptyChain);
        };

        for certificate in &certificates {
            check_end(certificate, time)?;
        }
        constraints::check(&certificates, ours.names)?;
        ours.revocation.check(&certificates)?;
        check_key(leaf)?;
        check_root(root, intermediates, purpose, time)?;
        for ca in intermediates.iter().chain([root]) {
            if let Some(usages) = ca.key_usage() {
                key_usage::check_role(Role::Ca, usages).map_err(of(ca))?;
            }
        }
        if self.check_key_usage {
            check_key_usage(&certificates)?;
        }
        Ok(certificates)
    }
}

/// What our own checks of one validation's paths need.
struct Ours<'a> {
    roots: &'a Candidates<'a>,
    stand_ins: Option<&'a StandIns>,
    revocation: &'a RevocationChecks<'a>,
    names: &'a Budget,
    purpose: Purpose,
    time: UnixTime,
}

/// What a chain is validated for, by the extended key usage of its certificates.
/// Certificates without that extension serve every purpose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Purpose {
    /// A TLS server.
    ServerAuth,
    /// A TLS client.
    ClientAuth,
    /// Whoever signs a document or a mail, or is sent an encrypted one, as CMS has them: emailProtection,
    /// id-kp-documentSigning (RFC 9336) or anyExtendedKeyUsage.
    Documents,
}

/// id-kp-documentSigning (RFC 9336).
const ID_KP_DOCUMENT_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.36");

impl Purpose {
    /// The extended key usages of which one has to be there, if there are any.
    fn oids(self) -> &'static [ObjectIdentifier] {
        match self {
            Self::ServerAuth => &[ID_KP_SERVER_AUTH],
            Self::ClientAuth => &[ID_KP_CLIENT_AUTH],
            Self::Documents => &[
                ID_KP_EMAIL_PROTECTION,
                ID_KP_DOCUMENT_SIGNING,
                ANY_EXTENDED_KEY_USAGE,
            ],
        }
    }

    fn is_among(self, purposes: &[ObjectIdentifier]) -> bool {
        self.oids().iter().any(|oid| purposes.contains(oid))
    }

    fn to_webpki(self) -> impl Iterator<Item = KeyPurposeId<'static>> {
        self.oids()
            .iter()
            .map(|oid| KeyPurposeId::new(oid.as_bytes()))
    }
}

/// As webpki's own: a certificate without the extension is good for everything.
impl ExtendedKeyUsageValidator for Purpose {
    fn validate(&self, purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        let mut present = Vec::new();
        for purpose in purposes {
            let purpose = purpose?;
            if self.to_webpki().any(|wanted| wanted == purpose) {
                return Ok(());
            }
            present.push(purpose.to_decoded_oid());
        }
        match (&*present, self.oids()) {
            ([], _) | (_, []) => Ok(()),
            (_, [wanted, ..]) => Err(webpki::Error::RequiredEkuNotFoundContext(
                webpki::RequiredEkuNotFoundContext {
                    required: webpki::KeyUsage::required_if_present(wanted.as_bytes()),
                    present,
                },
            )),
        }
    }
}

/// A chain that was found valid.
#[derive(Clone, Debug)]
pub struct ValidatedChain {
    certificates: Vec<Certificate>,
}

impl ValidatedChain {
    /// The path from the end entity to the root, both included. Certificates that were
    /// sent and are not on it are not here.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// The SPIFFE ID that the end entity's certificate vouches for. That the roots were those of its trust
    /// domain, the caller has to see to: see [`ChainValidator::validate_spiffe`].
    ///
    /// # Errors
    ///
    /// [`ValidationError::Svid`] if it vouches for none.
    pub fn spiffe_id(&self) -> Result<SpiffeId, ValidationError> {
        let leaf = self.certificates.first();
        let leaf = leaf.ok_or(ValidationError::EmptyChain)?;
        spiffe::id_of(leaf).map_err(|error| ValidationError::Svid {
            subject: leaf.describe_subject(),
            error,
        })
    }
}

/// The chain, if a name of this kind in its end entity's certificate is the one that is expected.
fn is_for(
    chain: ValidatedChain,
    expected: &str,
    names: fn(&Certificate) -> &[String],
    is_expected: impl Fn(&str) -> bool,
) -> Result<ValidatedChain, ValidationError> {
    let presented = chain.certificates.first().map_or(&[][..], names);
    match presented.iter().any(|name| is_expected(name)) {
        true => Ok(chain),
        false => Err(ValidationError::NameMismatch {
            expected: expected.into(),
            presented: presented.to_vec(),
        }),
    }
}

/// What ended before 1970 is shown to webpki as if it ended then.
fn check_end(certificate: &Certificate, time: UnixTime) -> Result<(), ValidationError> {
    match certificate.readable() {
        Some(readable) if readable.ends_before_1970 => Err(ValidationError::Expired {
            subject: Some(certificate.describe_subject()),
            not_after: certificate.not_after(),
            time,
        }),
        _ => Ok(()),
    }
}

/// A root's certificate is held to its own terms: RFC 5280 section 6.2 leaves that to the
/// implementation, and an expired or constrained root is what its owner made it.
fn check_root(
    root: &Certificate,
    intermediates: &[Certificate],
    purpose: Purpose,
    time: UnixTime,
) -> Result<(), ValidationError> {
    let subject = || Some(root.describe_subject());
    let (not_before, not_after) = (root.not_before(), root.not_after());
    if time < not_before {
        return Err(ValidationError::NotYetValid {
            subject: subject(),
            not_before,
            time,
        });
    }
    if time > not_after {
        return Err(ValidationError::Expired {
            subject: subject(),
            not_after,
            time,
        });
    }
    // As webpki does below the root: no extension, no limit, and no wildcard.
    if root
        .extended_key_usage()
        .is_some_and(|purposes| !purpose.is_among(purposes))
    {
        return Err(ValidationError::WrongPurpose);
    }
    // RFC 5280 section 4.2.1.9 counts the intermediates that are not self-issued.
    let below = intermediates
        .iter()
        .filter(|ca| ca.subject() != ca.issuer())
        .count();
    match root.path_len() {
        Some(limit) if below > usize::from(limit) => {
            Err(ValidationError::PathLengthExceeded { subject: subject() })
        }
        _ => Ok(()),
    }
}

/// What webpki's verdict and ours on the latest path, if it came to that, make together: a path is
/// valid that both accept.
fn verdict<T>(
    webpki: Result<(), webpki::Error>,
    ours: Option<Result<T, ValidationError>>,
    explain: impl FnOnce(webpki::Error) -> ValidationError,
) -> Result<T, ValidationError> {
    match (webpki, ours) {
        // A path with sound signatures that our rules refuse says more than whatever
        // kept webpki from finding another.
        (_, Some(Err(error))) => Err(error),
        (Err(error), _) => Err(explain(error)),
        (Ok(()), Some(Ok(path))) => Ok(path),
        (Ok(()), None) => Err(ValidationError::Other(webpki::Error::UnknownIssuer)),
    }
}

/// An end entity's key must be as its standard asks, where it is known here. webpki has no use for
/// that key; those of CAs it verifies with.
fn check_key(leaf: &Certificate) -> Result<(), ValidationError> {
    match leaf.public_key() {
        Ok(_) | Err(KeyError::UnsupportedAlgorithm(_)) => Ok(()),
        Err(error) => Err(ValidationError::Key {
            subject: leaf.describe_subject(),
            error,
        }),
    }
}

/// The rules that the caller may relax, for each certificate from the end entity's on.
fn check_key_usage(certificates: &[Certificate]) -> Result<(), ValidationError> {
    for (index, certificate) in certificates.iter().enumerate() {
        let Some(usages) = certificate.key_usage() else {
            continue;
        };
        let spki = certificate.spki_ref();
        key_usage::check_key(spki.algorithm.oid, usages).map_err(of(certificate))?;
        if index == 0 {
            key_usage::check_role(Role::EndEntity, usages).map_err(of(certificate))?;
        }
        // classical ones, of which `algorithm` knows nothing, included
        let algorithm = certificate.key_algorithm();
        let signs = !matches!(algorithm, Some(Algorithm::Kem(_)));
        if index == 0 && signs && !usages.contains(KeyUsages::DigitalSignature) {
            return Err(of(certificate)(KeyUsageError::WithoutDigitalSignature));
        }
    }
    Ok(())
}

/// An end entity authenticates in TLS by signing, which a key for a KEM cannot.
fn signs(chain: ValidatedChain) -> Result<ValidatedChain, ValidationError> {
    match chain
        .certificates
        .first()
        .and_then(Certificate::key_algorithm)
    {
        Some(Algorithm::Kem(algorithm)) => Err(ValidationError::CannotSign(algorithm)),
        _ => Ok(chain),
    }
}

/// Says whose key usage an error is about.
fn of(certificate: &Certificate) -> impl Fn(KeyUsageError) -> ValidationError {
    move |error| ValidationError::KeyUsage {
        subject: certificate.describe_subject(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_valid_that_both_accept() {
        let judge = |webpki, ours| verdict::<u8>(webpki, ours, ValidationError::from);
        let refused = || Err(webpki::Error::UnknownIssuer);
        let ours = || Some(Err(ValidationError::WrongPurpose));
        assert_eq!(judge(Ok(()), Some(Ok(1))), Ok(1));
        // webpki asks us last, and might one day not.
        let unknown_issuer = Err(ValidationError::UnknownIssuer);
        assert_eq!(judge(refused(), Some(Ok(1))), unknown_issuer);
        assert_eq!(judge(refused(), None), unknown_issuer);
        assert_eq!(judge(refused(), ours()), Err(ValidationError::WrongPurpose));
        assert_eq!(judge(Ok(()), ours()), Err(ValidationError::WrongPurpose));
        let other = ValidationError::Other(webpki::Error::UnknownIssuer);
        assert_eq!(judge(Ok(()), None), Err(other));
    }
}
