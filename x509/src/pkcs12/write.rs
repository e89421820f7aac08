//! Writes PKCS#12 files: one safe of certificates, encrypted as a whole, one of keys, each encrypted, and the MAC.

use der::asn1::{AnyRef, OctetStringRef};
use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use pq_keys::pkcs12::Pkcs12Mac;
use pq_keys::pkcs12::for_pkcs12::{self, Budget, MacData, Pbes2};
use pq_keys::protection::{CostLimits, EncryptedPrivateKey, Protection, ProtectionError};

use super::asn1::{
    CERT_BAG, CertBag, ContentInfo, ENCRYPTED_CONTENT, EncryptedContentInfo, EncryptedData,
    ID_DATA, ID_ENCRYPTED_DATA, PFX_VERSION, Pfx, SHROUDED_KEY_BAG, SafeBag, X509_CERTIFICATE,
};
use super::attributes;
use super::error::Pkcs12Error;
use super::store::{Pkcs12, Pkcs12Certificate, Pkcs12Key};

impl Pkcs12 {
    /// Writes a file: the certificates encrypted, each key encrypted by itself, and a MAC over all.
    ///
    /// With the default MAC, OpenSSL from 3.4 on reads the file, and others that know PBMAC1. For the rest,
    /// such as Windows and macOS, use [`Pkcs12Mac::Classic`].
    ///
    /// # Errors
    ///
    /// [`Pkcs12Error::Protection`] for an empty passphrase, for a cost that is impossible or above the
    /// default limits, and if there is no randomness; [`Pkcs12Error::MacParameters`] for a classic MAC
    /// without iterations.
    pub fn to_der(
        &self,
        passphrase: &str,
        protection: &Protection,
        mac: Pkcs12Mac,
    ) -> Result<Vec<u8>, Pkcs12Error> {
        if passphrase.is_empty() {
            return Err(ProtectionError::EmptyPassphrase.into());
        }
        // Nobody would read a higher cost by default, so it is not written.
        let mut budget = Budget::new(CostLimits::default());
        let mut safes = Vec::new();
        if !self.certificates.is_empty() {
            let bags = self.certificates.iter().map(certificate_bag);
            let bags = sequence(&bags.collect::<Result<Vec<_>, _>>()?)?;
            safes.push(encrypted_safe(&bags, passphrase, protection, &mut budget)?);
        }
        if !self.keys.is_empty() {
            let bags = self.keys.iter();
            let bags = bags.map(|key| key_bag(key, passphrase, protection, &mut budget));
            safes.push(data(&sequence(&bags.collect::<Result<Vec<_>, _>>()?)?)?);
        }
        let content = sequence(&safes)?;
        let mac_data = for_pkcs12::make(mac, &content, passphrase, &mut budget)?;
        let auth_safe = data(&content)?;
        let pfx = Pfx {
            version: PFX_VERSION,
            auth_safe: ContentInfo::from_der(&auth_safe)?,
            mac_data: Some(MacData::from_der(&mac_data)?),
        };
        Ok(pfx.to_der()?)
    }
}

/// A SEQUENCE OF elements that are DER already.
fn sequence(elements: &[Vec<u8>]) -> der::Result<Vec<u8>> {
    AnyRef::new(der::Tag::Sequence, &elements.concat())?.to_der()
}

/// A ContentInfo of some octets.
fn data(content: &[u8]) -> der::Result<Vec<u8>> {
    ContentInfo {
        content_type: ID_DATA,
        content: OctetStringRef::new(content)?.into(),
    }
    .to_der()
}

fn encrypted_safe(
    bags: &[u8],
    passphrase: &str,
    protection: &Protection,
    budget: &mut Budget,
) -> Result<Vec<u8>, Pkcs12Error> {
    let pbes2 = Pbes2::fresh(protection, false)?;
    let encrypted = pbes2.encrypt(passphrase.as_bytes(), bags, budget)?;
    let algorithm = pbes2.to_identifier()?;
    let data = EncryptedData {
        version: 0,
        content: EncryptedContentInfo {
            content_type: ID_DATA,
            algorithm: algorithm.owned_to_ref(),
            content: AnyRef::new(ENCRYPTED_CONTENT, &encrypted)?,
        },
    };
    let data = data.to_der()?;
    let info = ContentInfo {
        content_type: ID_ENCRYPTED_DATA,
        content: AnyRef::from_der(&data)?,
    };
    Ok(info.to_der()?)
}

fn certificate_bag(entry: &Pkcs12Certificate) -> Result<Vec<u8>, Pkcs12Error> {
    let value = CertBag {
        id: X509_CERTIFICATE,
        value: OctetStringRef::new(entry.certificate.der())?.into(),
    };
    let value = value.to_der()?;
    let bag = SafeBag {
        id: CERT_BAG,
        value: AnyRef::from_der(&value)?,
        attributes: attributes::write(entry.name(), entry.local_key_id())?,
    };
    Ok(bag.to_der()?)
}

fn key_bag(
    key: &Pkcs12Key,
    passphrase: &str,
    protection: &Protection,
    budget: &mut Budget,
) -> Result<Vec<u8>, Pkcs12Error> {
    let passphrase = passphrase.as_bytes();
    let encrypted =
        EncryptedPrivateKey::encrypt_from(key.pkcs8_der(), passphrase, protection, budget)?;
    let bag = SafeBag {
        id: SHROUDED_KEY_BAG,
        value: AnyRef::from_der(encrypted.as_der())?,
        attributes: attributes::write(key.name(), key.local_key_id())?,
    };
    Ok(bag.to_der()?)
}
