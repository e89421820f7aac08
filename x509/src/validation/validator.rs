//! `ChainValidator`: it has webpki search for a path, checks on that path what webpki does not, and returns it as a
//! `ValidatedChain`.

use alloc::sync::Arc;
use core::cell::RefCell;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH, ID_KP_EMAIL_PROTECTION, ID_KP_SERVER_AUTH,
};
use der::flagset::FlagSet;
use pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, UnixTime};
use pq_keys::encoding::syntax::{self, SyntaxError};
use pq_keys::{Algorithm, KeyError};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeId, KeyPurposeIdIter, VerifiedPath,
};
use x509_cert::ext::pkix::KeyUsages;

use super::constraints::{self, Budget, Left};
use super::critical::check_policies;
use super::diagnosis::{self, bits_of_rsa, unusable_rsa_bits};
use super::error::ValidationError;
use super::probe::Probe;
use super::revocation::{Revocation, RevocationChecks, RevocationPolicy};
use super::roots::{Candidates, Roots};
use super::search;
use super::spiffe;
use super::stand_ins::StandIns;
use crate::certificate::{
    Certificate, EmailAddress, KeyUsageError, NameError, OcspNonce, OcspResponse, Role, SpiffeId,
    Uri, key_usage,
};
use crate::verification;

/// Decides whether a chain of certificates leads to a trusted root.
///
/// webpki builds and checks the paths. This type adds checks of the roots' own validity, path
/// length, key usage, extended key usage and critical extensions (webpki uses only a
/// root's name, key and name constraints), and the rules of RFC 5280, RFC 9881, RFC 9909 and RFC 9935
/// for key usage and for the end entity's key (webpki has none).
///
/// webpki checks name constraints of DNS names and addresses. This type checks those of e-mail addresses
/// (including those in subjects), URIs and directory names, which webpki, and so rustls's
/// verifiers, always consider violated. Constraints of other kinds count as violated here, too. If the kind
/// of a name is constrained, what is not understood is refused: e-mail addresses with quotation marks or
/// outside of ASCII (RFC 9598), URIs whose host is no DNS name, empty constraints of hosts, and strings in
/// directory names that differ and are not ASCII.
///
/// **Revocation is checked only with [`with_revocation`](Self::with_revocation) or
/// [`with_ocsp_responses`](Self::with_ocsp_responses)**: without them, keep validities short, or check
/// revocation elsewhere.
///
/// [`Certificate::from_der`], which follows the RFC 5280 profile of `x509-cert`, must also be able to read
/// every certificate on a path. It is stricter than webpki: an overlong serial number, for example, is refused. It also
/// accepts more: dates before 1970, path lengths above 255 and unique identifiers, which webpki on its own, and so
/// rustls's verifiers, consider malformed.
///
/// Certificate policies, policyMappings and inhibitAnyPolicy may be critical, if they can be read whole and have no qualifiers
/// but those of RFC 5280. All policies will do, so none is compared with another; a chain with such a critical extension in
/// which a CA has policyConstraints is refused, and so is one in which a CA maps anyPolicy. rustls's own verifiers refuse
/// critical ones.
///
/// If webpki finds no path, it searches once more where it would judge in another way than RFC 5280. Names of issuers
/// may differ from their subjects' in the case of letters and the types of strings (section 7.1). CAs that are
/// self-issued, such as those with which a CA announces its next key, count neither for path lengths (section 4.2.1.9)
/// nor, except as end entities, for name constraints (section 6.1). rustls's own verifiers accept neither.
///
/// RSA keys must have 2048 to 8192 bits, in every certificate on the path. Others can be read and shown.
///
/// # Cost
///
/// The cost of a validation does not depend on the number of roots, which are found by their
/// names, nor on the number of revoked certificates (see [`RevocationPolicy`]). The search for a path ends
/// after 100 signatures of certificates, a second search after as many, and up to 32 more are verified in each to find
/// the bad certificate. At most four more signatures of revocation lists and OCSP responses may be invalid. Certificates
/// that a search would have to read more than 100,000 times are refused before it begins
/// ([`ValidationError::TooManyPaths`]): more than seven CAs that all name each other. Those that
/// lead nowhere don't count, so a message may have hundreds of certificates of others.
///
/// In memory a root takes up to three times its certificate's length plus half a kilobyte; copies of a
/// validator share the roots. A validation takes a few times as much memory as the certificates that were sent.
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
    /// none. They also verify OCSP responses, and revocation lists, whose signatures are all verified
    /// again.
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
    /// digitalSignature or have keyCertSign, for certificates that others issued
    /// carelessly. CAs still need keyCertSign.
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

    /// Whether rustls's own verifiers, which are webpki's, accept a path that this validator found valid. They refuse some that
    /// RFC 5280 permits, such as those with critical certificate policies, with dates before 1970, or with names that differ
    /// in case. Names and revocation are not asked about.
    pub fn is_valid_for_rustls(
        &self,
        valid: &ValidatedChain,
        purpose: Purpose,
        time: UnixTime,
    ) -> bool {
        let ders: Vec<_> = (valid.certificates.iter())
            .map(|one| one.der().clone())
            .collect();
        let [leaf, intermediates @ .., root] = &*ders else {
            return false;
        };
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> =
            self.algorithms.iter().map(|a| *a as _).collect();
        let accepted = || {
            let anchors = [webpki::anchor_from_trusted_cert(root)?];
            EndEntityCert::try_from(leaf)?
                .verify_for_usage(
                    &algorithms,
                    &anchors,
                    intermediates,
                    time,
                    purpose,
                    None,
                    None,
                )
                .map(|_| ())
        };
        accepted().is_ok()
    }

    /// The algorithms that verify signatures: those of this crate, and those that were added.
    pub fn algorithms(&self) -> &[&'static dyn SignatureVerificationAlgorithm] {
        &self.algorithms
    }

    /// Adds OCSP responses to those that the validator has.
    ///
    /// They say whether certificates are revoked, beside the lists of a [`RevocationPolicy`]. The order of this
    /// method and [`with_revocation`](Self::with_revocation) doesn't matter.
    ///
    /// A response is usable for a certificate on the path if it is about that certificate of its issuer, and
    /// passes the checks of an [`OcspVerifier`](crate::ocsp::OcspVerifier). If its signer has a certificate, no list may revoke
    /// that, and without id-pkix-ocsp-nocheck a list must cover it unless the policy allows unknown status. Responses about other certificates are ignored. A response is not usable if it
    /// has expired, or has neither a nextUpdate nor a requested nonce. But if it says that the certificate is
    /// revoked, this still counts unless something newer says good: see [`RevocationPolicy`].
    ///
    /// Without a policy, the status of certificates need not be known: a certificate is refused if a response
    /// says that it was revoked, and also if a response about it is not usable. With a policy, a
    /// good response counts as much as a list.
    ///
    /// For a response that came with the chain, such as a staple, make a copy of the validator, which shares the
    /// large parts:
    ///
    /// ```
    /// # use pq_x509::pki_types::{ServerName, UnixTime};
    /// # use pq_x509::certificate::Certificate;
    /// # use pq_x509::ocsp::OcspResponse;
    /// # use pq_x509::revocation::RevocationPolicy;
    /// # use pq_x509::validation::ChainValidator;
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

    /// Accepts only OCSP responses that were made for the request with this nonce. They may lack a
    /// nextUpdate. A response that says that a certificate is revoked counts without the nonce, too, which protects
    /// against old ones that say good.
    #[must_use]
    pub fn with_ocsp_nonce(mut self, nonce: OcspNonce) -> Self {
        self.revocation = self.revocation.with_nonce(nonce);
        self
    }

    /// Validates the chain of a TLS server for the name or address that the client connects to.
    ///
    /// The chain starts with the server's certificate; those of CAs follow in any order,
    /// and the root may be left out. The server's key must be one that signs: a certificate
    /// for an ML-KEM key cannot authenticate a TLS server, and only [`validate`](Self::validate)
    /// accepts it.
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

    /// Validates the chain of a TLS client.
    ///
    /// The caller reads from the first certificate who the client is. The client's key must be one that signs,
    /// like a server's.
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

    /// Validates the chain of a workload that must have this SPIFFE ID.
    ///
    /// The purpose says which side the peer is on. The peer's key must be one that signs, and its certificate
    /// must obey the [X.509-SVID standard](https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md):
    /// see [`SvidError`](crate::validation::SvidError).
    ///
    /// **The roots must be only those of the ID's trust domain**: any of them can vouch for the ID, unless its
    /// name constraints forbid it. Use a separate validator for each trust domain. To accept many IDs,
    /// see [`ValidatedChain::spiffe_id`].
    ///
    /// ```
    /// use pq_x509::pki_types::UnixTime;
    /// use pq_x509::issuing::{CertificateBuilder, Issuer};
    /// use pq_x509::keys::SignatureAlgorithm;
    /// use pq_x509::validation::{ChainValidator, Purpose};
    /// use pq_x509::certificate::SpiffeId;
    /// use pq_x509::keys::SigningKey;
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

    /// Validates a chain for a purpose and a URI.
    ///
    /// The URI must be among the end entity's alternative names, with exactly the same characters. The end
    /// entity's key may be of any algorithm. For SPIFFE IDs use [`validate_spiffe`](Self::validate_spiffe).
    ///
    /// # Errors
    ///
    /// [`ValidationError::ExpectedName`] if `uri` is no [`Uri`], and others that say what is wrong.
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

    /// Validates a chain for a purpose and an e-mail address.
    ///
    /// The address must be among the end entity's alternative names, with exactly the same characters in the
    /// local part, and with the same host in letters of any case (RFC 5280 section 7.5). The end entity's key
    /// may be of any algorithm. Addresses in the subject's name, and those that are not in ASCII (RFC 9598),
    /// don't count.
    ///
    /// # Errors
    ///
    /// [`ValidationError::ExpectedName`] if `address` is no [`EmailAddress`], and others that say what is
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
        // For certificates that webpki can't read.
        let stand_ins = StandIns::of(&sent);
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> =
            self.algorithms.iter().map(|a| *a as _).collect();
        let asked = Asked {
            algorithms: &algorithms,
            purpose,
            time,
            is_of_a_ca: false,
        };
        let certificates = self.find(&sent, stand_ins.as_ref(), &asked)?;
        if let Some(name) = name {
            let leaf = stand_ins
                .as_ref()
                .map_or(&sent[..], |stand_ins| &stand_ins.chain);
            let leaf = leaf.first().ok_or(ValidationError::EmptyChain)?;
            let fits = EndEntityCert::try_from(leaf)?.verify_is_valid_for_subject_name(name);
            fits.map_err(
                |error| match (ValidationError::from(error), certificates.first()) {
                    (ValidationError::NameMismatch { expected, .. }, Some(leaf)) => {
                        mismatch(expected, leaf)
                    }
                    (error, _) => error,
                },
            )?;
        }
        Ok(ValidatedChain { certificates })
    }

    /// Validates the chain of a CA: whether what it issues for a purpose can be valid.
    ///
    /// The chain starts with the CA's certificate; those of CAs above it follow in any order, and the root may be left
    /// out. The CA is judged as the issuer of an end entity: it has to be one, its key usage has to permit it, and it
    /// counts for the path lengths of those above. The path that is returned begins with it.
    ///
    /// # Errors
    ///
    /// A [`ValidationError`] that says what is wrong: [`NotACa`](ValidationError::NotACa) if it is the certificate of an
    /// end entity, and [`UnsupportedAlgorithm`](ValidationError::UnsupportedAlgorithm) if this validator verifies no
    /// signatures by its key.
    pub fn validate_ca(
        &self,
        chain: &[impl AsRef<[u8]>],
        purpose: Purpose,
        time: UnixTime,
    ) -> Result<ValidatedChain, ValidationError> {
        let (own, above) = chain.split_first().ok_or(ValidationError::EmptyChain)?;
        let own = Certificate::from_der(own.as_ref())?;
        if !own.is_ca() {
            return Err(ValidationError::NotACa {
                subject: Some(own.describe_subject()),
            });
        }
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> =
            self.algorithms.iter().map(|a| *a as _).collect();
        let probe = Probe::below(&own, &algorithms, time)?;
        let signed: Vec<_> = self
            .algorithms
            .iter()
            .map(|algorithm| probe.signed_for(*algorithm))
            .collect();
        // Another certificate for its name and key is not the one that was asked about.
        let is_another = |der: &&[u8]| {
            Certificate::from_der(der).is_ok_and(|other| {
                other.subject() == own.subject() && other.spki_ref() == own.spki_ref()
            })
        };
        let above = above.iter().map(AsRef::as_ref);
        let above = above.filter(|der| !is_another(der));
        let sent: Vec<_> = [probe.der.as_slice(), own.der().as_ref()]
            .into_iter()
            .chain(above)
            .map(CertificateDer::from)
            .collect();
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> =
            signed.iter().map(|a| a as _).collect();
        let asked = Asked {
            algorithms: &algorithms,
            purpose,
            time,
            is_of_a_ca: true,
        };
        let mut certificates = self.find(&sent, StandIns::of(&sent).as_ref(), &asked)?;
        certificates.remove(0);
        Ok(ValidatedChain { certificates })
    }

    /// Finds a path by webpki's rules, or else by those of RFC 5280.
    fn find(
        &self,
        sent: &[CertificateDer<'_>],
        stand_ins: Option<&StandIns>,
        asked: &Asked<'_>,
    ) -> Result<Vec<Certificate>, ValidationError> {
        let limits = Limits {
            revocation: self.revocation.begin(asked.time, &self.algorithms),
            names: Budget::default(),
        };
        let found = self.search(sent, stand_ins, Left::ByWebpki, &limits, asked);
        found.or_else(|refused| {
            // Without a bad signature, something else is wrong with the path.
            let is_unexplained = refused == ValidationError::BadSignature { subject: None };
            let loosened = match is_limit(&refused) {
                true => None,
                false => StandIns::loosened(sent, &self.roots, is_unexplained),
            };
            match loosened {
                None => Err(refused),
                Some(loosened) => self.search(sent, Some(&loosened), Left::All, &limits, asked),
            }
        })
    }

    /// Has webpki search for a path that our own checks accept, too.
    fn search(
        &self,
        sent: &[CertificateDer<'_>],
        stand_ins: Option<&StandIns>,
        left: Left,
        limits: &Limits<'_>,
        asked: &Asked<'_>,
    ) -> Result<Vec<Certificate>, ValidationError> {
        let explain = |error| {
            // Nobody's signature is the one of what stands below a CA.
            let signed = match error {
                webpki::Error::InvalidSignatureForPublicKey if asked.is_of_a_ca => &sent[1..],
                _ => sent,
            };
            diagnosis::explain(error, signed, &self.roots, &self.algorithms)
        };
        let chain = stand_ins.map_or(sent, |stand_ins| &stand_ins.chain);
        let (leaf, intermediates) = chain.split_first().ok_or(ValidationError::EmptyChain)?;
        let end_entity = EndEntityCert::try_from(leaf).map_err(explain)?;
        search::check(&end_entity, intermediates)?;
        let over_originals: Vec<_> = stand_ins
            .into_iter()
            .flat_map(|stand_ins| {
                let algorithms = asked.algorithms.iter();
                algorithms.map(|algorithm| stand_ins.over_originals(*algorithm))
            })
            .collect();
        let algorithms: Vec<&dyn SignatureVerificationAlgorithm> = match stand_ins {
            None => asked.algorithms.to_vec(),
            Some(_) => over_originals.iter().map(|a| a as _).collect(),
        };
        let roots = match left {
            Left::ByWebpki => self.roots.of_chain(chain),
            Left::All => self.roots.loosened_of_chain(chain),
        };
        let ours = Ours {
            roots: &roots,
            stand_ins,
            left,
            limits,
            asked,
        };

        // webpki's errors have no room for ours, so the result of our own checks on the
        // latest path is kept beside them.
        let outcome = RefCell::new(None);
        let check = |path: &VerifiedPath<'_>| {
            let result = self.check_path(path, &ours);
            let ok = result.is_ok();
            outcome.replace(Some(result));
            // Any error that is not fatal makes webpki try the next path.
            ok.then_some(()).ok_or(webpki::Error::UnknownIssuer)
        };
        let found = end_entity
            .verify_for_usage(
                &algorithms,
                &roots.anchors,
                intermediates,
                asked.time,
                asked.purpose,
                None,
                Some(&check),
            )
            .map(|_| ());
        verdict(found, outcome.into_inner(), explain)
    }

    /// Makes the checks that webpki leaves out, for a path whose signatures it has verified.
    fn check_path(
        &self,
        path: &VerifiedPath<'_>,
        ours: &Ours<'_>,
    ) -> Result<Vec<Certificate>, ValidationError> {
        let Asked { purpose, time, .. } = *ours.asked;
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
            check_rsa(certificate)?;
        }
        check_policies(&certificates)?;
        constraints::check(&certificates, ours.left, &ours.limits.names)?;
        // What stands below a CA was issued by nobody.
        let issued = &certificates[usize::from(ours.asked.is_of_a_ca)..];
        ours.limits.revocation.check(issued)?;
        check_key(leaf)?;
        check_root(root, purpose, time)?;
        constraints::check_lengths(&certificates)?;
        for ca in intermediates.iter().chain([root]) {
            if let Some(usages) = ca.key_usage() {
                key_usage::check_role(Role::Ca, usages).map_err(of(ca))?;
            }
        }
        if self.check_key_usage {
            check_key_usage(&certificates, purpose)?;
        }
        Ok(certificates)
    }
}

/// What our own checks of one validation's paths need.
struct Ours<'a> {
    roots: &'a Candidates<'a>,
    stand_ins: Option<&'a StandIns>,
    left: Left,
    limits: &'a Limits<'a>,
    asked: &'a Asked<'a>,
}

/// What a chain is validated for.
struct Asked<'a> {
    /// The algorithms of the certificates' signatures.
    algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    purpose: Purpose,
    time: UnixTime,
    /// Whether the first certificate is a [`Probe`].
    is_of_a_ca: bool,
}

/// What the searches of one validation may cost together.
struct Limits<'a> {
    revocation: RevocationChecks<'a>,
    names: Budget,
}

/// The purpose that a chain is validated for, by the extended key usage of its certificates.
/// Certificates without that extension serve every purpose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Purpose {
    /// A TLS server.
    ServerAuth,
    /// A TLS client.
    ClientAuth,
    /// A signer of documents or mails, or a recipient of encrypted ones, as in CMS: emailProtection,
    /// id-kp-documentSigning (RFC 9336) or anyExtendedKeyUsage.
    Documents,
}

/// id-kp-documentSigning (RFC 9336).
const ID_KP_DOCUMENT_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.36");

impl Purpose {
    /// Whether the extended key usages of a CA's certificate permit those below it to be for this purpose: without the
    /// extension there is no limit, and anyExtendedKeyUsage counts only for documents.
    pub fn is_permitted_by(self, ca: &Certificate) -> bool {
        let purposes = ca.extended_key_usage();
        purposes.is_none_or(|purposes| self.is_among(purposes))
    }

    /// Whether an end entity may sign for this purpose. Certificates for signatures of documents that bind people often
    /// have nonRepudiation alone.
    fn check_signing(self, usages: FlagSet<KeyUsages>) -> Result<(), KeyUsageError> {
        let signs = usages.contains(KeyUsages::DigitalSignature);
        match self {
            _ if signs => Ok(()),
            Self::Documents if usages.contains(KeyUsages::NonRepudiation) => Ok(()),
            Self::Documents => Err(KeyUsageError::WithoutSigningDocuments),
            _ => Err(KeyUsageError::WithoutDigitalSignature),
        }
    }

    /// The extended key usages for this purpose. A certificate that has any must have one of these.
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

/// Like webpki's own: a certificate without the extension serves every purpose.
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
    /// sent but are not on the path are left out.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// The SPIFFE ID that the end entity's certificate vouches for.
    ///
    /// The caller must make sure that the roots were those of its trust domain: see
    /// [`ChainValidator::validate_spiffe`].
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

/// The chain, if a name of this kind in its end entity's certificate is the expected one.
fn is_for(
    chain: ValidatedChain,
    expected: &str,
    names: fn(&Certificate) -> &[String],
    is_expected: impl Fn(&str) -> bool,
) -> Result<ValidatedChain, ValidationError> {
    let leaf = chain.certificates.first();
    let leaf = leaf.ok_or(ValidationError::EmptyChain)?;
    match names(leaf).iter().any(|name| is_expected(name)) {
        true => Ok(chain),
        false => Err(mismatch(expected.into(), leaf)),
    }
}

/// The certificate is for its names, of whatever kinds, and not for the expected one.
fn mismatch(expected: String, leaf: &Certificate) -> ValidationError {
    ValidationError::NameMismatch {
        expected,
        presented: leaf
            .alternative_names()
            .map(|name| name.to_string())
            .collect(),
    }
}

/// Refuses a certificate that ended before 1970, because webpki sees it as if it ended in 1970.
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

/// Refuses RSA keys that signatures are not verified with: shorter ones are too weak (NIST SP 800-131A), and longer
/// ones take too long. A malformed key has no length that could be judged.
fn check_rsa(certificate: &Certificate) -> Result<(), ValidationError> {
    if let Some(Err(error)) = bits_of_rsa(certificate) {
        return Err(ValidationError::Key {
            subject: certificate.describe_subject(),
            error: KeyError::Syntax(SyntaxError::Form {
                place: "its RSAPublicKey".into(),
                found: syntax::found(error),
            }),
        });
    }
    match unusable_rsa_bits(certificate) {
        None => Ok(()),
        Some(bits) => Err(ValidationError::RsaKeyLength {
            subject: certificate.describe_subject(),
            bits,
        }),
    }
}

/// Checks a root's certificate by its own validity and purposes. RFC 5280 section 6.2 leaves
/// this to the implementation; if a root is expired or constrained, that is its owner's decision.
fn check_root(root: &Certificate, purpose: Purpose, time: UnixTime) -> Result<(), ValidationError> {
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
    // as webpki does below the root
    if !purpose.is_permitted_by(root) {
        return Err(ValidationError::WrongPurpose);
    }
    Ok(())
}

/// Whether a search ended because it would have cost too much.
fn is_limit(error: &ValidationError) -> bool {
    matches!(
        error,
        ValidationError::TooManyPaths { .. }
            | ValidationError::Other(
                webpki::Error::MaximumSignatureChecksExceeded
                    | webpki::Error::MaximumPathBuildCallsExceeded
                    | webpki::Error::MaximumNameConstraintComparisonsExceeded
            )
    )
}

/// Combines webpki's verdict with ours on the latest path, if there was one: a path is valid only
/// if both accept it.
fn verdict<T>(
    webpki: Result<(), webpki::Error>,
    ours: Option<Result<T, ValidationError>>,
    explain: impl FnOnce(webpki::Error) -> ValidationError,
) -> Result<T, ValidationError> {
    match (webpki, ours) {
        // If our rules refuse a path with valid signatures, this says more than the reason why
        // webpki found no other.
        (_, Some(Err(error))) => Err(error),
        (Err(error), _) => Err(explain(error)),
        (Ok(()), Some(Ok(path))) => Ok(path),
        (Ok(()), None) => Err(ValidationError::Other(webpki::Error::UnknownIssuer)),
    }
}

/// Checks an end entity's key by its standard, if this crate has the algorithm. webpki does not use
/// this key; it verifies with the keys of CAs.
fn check_key(leaf: &Certificate) -> Result<(), ValidationError> {
    match leaf.public_key() {
        Ok(_) | Err(KeyError::UnsupportedAlgorithm(_)) => Ok(()),
        Err(error) => Err(ValidationError::Key {
            subject: leaf.describe_subject(),
            error,
        }),
    }
}

/// The rules that the caller may relax, for each certificate, starting with the end entity's.
fn check_key_usage(certificates: &[Certificate], purpose: Purpose) -> Result<(), ValidationError> {
    for (index, certificate) in certificates.iter().enumerate() {
        let Some(usages) = certificate.key_usage() else {
            continue;
        };
        let spki = certificate.spki_ref();
        key_usage::check_key(spki.algorithm.oid, usages).map_err(of(certificate))?;
        if index == 0 {
            key_usage::check_role(Role::EndEntity, usages).map_err(of(certificate))?;
        }
        // also for classical keys, which have no `algorithm` here
        let algorithm = certificate.key_algorithm();
        let signs = !matches!(algorithm, Some(Algorithm::Kem(_)));
        if index == 0 && signs {
            purpose.check_signing(usages).map_err(of(certificate))?;
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
