//! Which key signed a certificate: one of the CA's, or another CA's above, below or beside it.

use core::cell::OnceCell;
use core::ops::ControlFlow;

use pq_x509::certificate::{Certificate, CertificateError, SignatureError};
use pq_x509::issuing::IssueError;
use pq_x509::pki_types::SignatureVerificationAlgorithm;

use super::error::FolderError;
use super::{Folder, Role, certificate_path};
use crate::authority::{CA_PROFILE, SUBORDINATE_PROFILE};
use crate::ledger::{Filter, Ledger};

fn read(error: CertificateError) -> FolderError {
    FolderError::from(IssueError::from(error))
}

/// The root and the issuing keys of a CA, and whether another CA has the root's key.
pub(super) struct OwnKeys {
    root: Certificate,
    is_below: bool,
    pub(super) issuing: Vec<(Role, Certificate)>,
    /// The certificates of CAs that this one certified, once somebody needs them.
    certified: OnceCell<Certified>,
}

/// Those of other CAs, and of own keys, which may be recorded although their files are away.
#[derive(Default)]
struct Certified {
    others: Vec<Certificate>,
    own: Vec<Certificate>,
}

/// How far up one looks from a certificate, from one CA to the next: no chain is longer.
const MOST_ABOVE: usize = 10;

impl<L: Ledger> Folder<L> {
    /// The CA's key that signed a certificate, by the algorithms of pq-x509 and those given. `beside` are certificates that
    /// may be of those above it, such as the others in its file. The root's key is this CA's unless this CA is
    /// [below another](Self::is_below_another).
    ///
    /// # Errors
    ///
    /// If none did: [`FolderError::OwnRoot`] for the root's own certificate, or [`FolderError::RootElsewhere`] if
    /// another CA has its key, [`FolderError::OfCaBelow`] and
    /// [`FolderError::OfCaAbove`] if another CA's key did, [`FolderError::OfLaterKey`] and
    /// [`FolderError::OfUnknownKey`] if a key did that the root certified, by a certificate among those `beside`, and
    /// otherwise [`FolderError::NotOfThisCa`]. Others if certificates or the ledger can't be read.
    pub fn signer_of(
        &self,
        certificate: &Certificate,
        beside: &[Certificate],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<Role, FolderError> {
        self.signer_among(&self.own_keys()?, certificate, beside, algorithms)
    }

    /// What [`signer_of`](Self::signer_of) looks among, to be read once for many certificates.
    pub(super) fn own_keys(&self) -> Result<OwnKeys, FolderError> {
        Ok(OwnKeys {
            root: self.certificate(Role::Root)?,
            is_below: self.is_below_another()?,
            issuing: self.issuing_keys()?,
            certified: OnceCell::new(),
        })
    }

    pub(super) fn signer_among(
        &self,
        own: &OwnKeys,
        certificate: &Certificate,
        beside: &[Certificate],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<Role, FolderError> {
        let OwnKeys {
            root,
            is_below,
            issuing,
            certified,
        } = own;
        let is_below = *is_below;
        let is_signed = |one: &Certificate, ca: &Certificate| {
            one.issuer() == ca.subject() && one.verify_signature(ca, algorithms).is_ok()
        };
        if root.der() == certificate.der() {
            return Err(match is_below {
                true => FolderError::RootElsewhere(certificate_path(&self.path, Role::Root)),
                false => FolderError::OwnRoot,
            });
        }
        let own_cas = issuing.iter().map(|(_, ca)| ca).chain([root]);
        // most are by the newest
        let mut own = issuing.iter().rev();
        if let Some((role, _)) = own.find(|(_, ca)| is_signed(certificate, ca)) {
            return Ok(*role);
        }
        if !is_below && is_signed(certificate, root) {
            return Ok(Role::Root);
        }
        let subject = certificate.describe_subject();
        let issuer = certificate.describe_issuer();
        let mut above = vec![root.clone()];
        if is_below {
            for generation in self.ledger()?.generations()? {
                for der in generation.chain.iter().skip(1) {
                    above.push(Certificate::from_der(der).map_err(read)?);
                }
            }
            if above.iter().any(|ca| is_signed(certificate, ca)) {
                return Err(FolderError::OfCaAbove { issuer, subject });
            }
        }
        if certified.get().is_none() {
            let _ = certified.set(self.certified()?);
        }
        let none = Certified::default();
        let Certified { others, own } = certified.get().unwrap_or(&none);
        let mut path = vec![certificate];
        while let Some(signed) = path.last().filter(|_| path.len() <= MOST_ABOVE) {
            if others.iter().any(|ca| is_signed(signed, ca)) {
                return Err(FolderError::OfCaBelow { issuer, subject });
            }
            let is_new = |ca: &&Certificate| path.iter().all(|one| one.der() != ca.der());
            match beside
                .iter()
                .filter(is_new)
                .find(|ca| is_signed(signed, ca))
            {
                Some(ca) => path.push(ca),
                None => break,
            }
        }
        let certified = |ca: &Certificate| {
            is_signed(certificate, ca) && above.iter().any(|up| is_signed(ca, up))
        };
        // What can't be verified may be one's own, too.
        let issued = own_cas.filter(|ca| ca.subject() == certificate.issuer());
        let errors = issued.filter_map(|ca| certificate.verify_signature(ca, algorithms).err());
        let unverifiable = errors.into_iter().find(|error| {
            matches!(
                error,
                SignatureError::UnsupportedAlgorithm(_)
                    | SignatureError::UnsupportedParameters { .. }
            )
        });
        let is_of_own = own.iter().any(|ca| is_signed(certificate, ca));
        if !is_of_own && !beside.iter().any(certified) {
            return Err(match unverifiable {
                Some(cause) => FolderError::Unverifiable {
                    issuer,
                    subject,
                    cause: cause.into(),
                },
                None => FolderError::NotOfThisCa(subject),
            });
        }
        let free = self.free_name()?;
        Err(match is_below {
            false => FolderError::OfLaterKey {
                issuer,
                subject,
                free,
            },
            true => FolderError::OfUnknownKey {
                issuer,
                subject,
                free,
            },
        })
    }

    /// The certificates of CAs that this one certified, as the ledger has them.
    fn certified(&self) -> Result<Certified, FolderError> {
        let ledger = self.ledger()?;
        let mut found = Vec::new();
        let of_cas = Filter::all().profiles([CA_PROFILE, SUBORDINATE_PROFILE]);
        ledger.find(&of_cas, &mut |entry| {
            found.push(entry.issued);
            ControlFlow::Continue(())
        })?;
        let mut certified = Certified::default();
        for issued in found {
            let der = ledger.certificate(&issued.serial_number)?;
            let one = der.map(|der| Certificate::from_der(&der)).transpose();
            let of_kind = match issued.profile == CA_PROFILE {
                true => &mut certified.own,
                false => &mut certified.others,
            };
            of_kind.extend(one.map_err(read)?);
        }
        Ok(certified)
    }
}
