//! Reads PKCS#12 files: the MAC first, then each safe and the bags of keys and certificates in it. What is in BER is made
//! into DER at each level: what the MAC is about is what the file has.

use alloc::borrow::Cow;

use const_oid::ObjectIdentifier;
use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Encode, Reader, SliceReader, Tag, Tagged};
use pq_keys::encoding::syntax;
use pq_keys::identifiers::check_pkcs8;
use pq_keys::pkcs12::for_pkcs12::{self, Budget, IsBySha1, Pbes2};
use pq_keys::protection::{CostLimits, EncryptedPrivateKey};
use zeroize::Zeroizing;

use super::asn1::{
    CERT_BAG, CertBag, ContentInfo, ENCRYPTED_CONTENT, ENCRYPTED_PIECES, EncryptedData, ID_DATA,
    ID_ENCRYPTED_DATA, KEY_BAG, PFX_VERSION, Pfx, SAFE_CONTENTS_BAG, SHROUDED_KEY_BAG, SafeBag,
    X509_CERTIFICATE,
};
use super::attributes::Labels;
use super::error::Pkcs12Error;
use super::store::{Pkcs12, Pkcs12Certificate, Pkcs12Key};
use crate::certificate::Certificate;

impl Pkcs12 {
    /// Reads a file in DER or BER, within the default limits on the cost.
    ///
    /// The MAC is checked before the contents are looked at. Bags of other kinds, such as revocation lists,
    /// are left out.
    ///
    /// # Errors
    ///
    /// [`Pkcs12Error::WrongPassphraseOrChanged`], [`Pkcs12Error::Protection`] for costs above the
    /// limits, before that key is derived, and others that say what in the file is not supported.
    pub fn from_der(der: &[u8], passphrase: &str) -> Result<Self, Pkcs12Error> {
        Self::from_der_within(der, passphrase, &CostLimits::default())
    }

    /// Reads a file, within these limits on the cost of all its derivations together.
    ///
    /// # Errors
    ///
    /// Those of [`from_der`](Self::from_der).
    pub fn from_der_within(
        der: &[u8],
        passphrase: &str,
        limits: &CostLimits,
    ) -> Result<Self, Pkcs12Error> {
        let mut reader = Contents {
            passphrase,
            budget: Budget::new(*limits),
            store: Self::new(),
        };
        let content = reader.verified(der)?;
        check_contents(&content)?;
        for safe in sequence::<ContentInfo<'_>>(&content)? {
            reader.safe(&safe?)?;
        }
        Ok(reader.store)
    }
}

/// The octets of a part of this type.
fn octets<'a>(info: &ContentInfo<'a>, wanted: ObjectIdentifier) -> Result<&'a [u8], Pkcs12Error> {
    match info.content_type == wanted {
        true => Ok(info.content.decode_as::<&OctetStringRef>()?.as_bytes()),
        false => Err(Pkcs12Error::UnsupportedContent(info.content_type)),
    }
}

/// What is encrypted, whether it was in pieces or not.
fn encrypted_octets<'a>(content: &AnyRef<'a>) -> der::Result<Cow<'a, [u8]>> {
    if content.tag() != ENCRYPTED_PIECES {
        content.tag().assert_eq(ENCRYPTED_CONTENT)?;
        return Ok(content.value().into());
    }
    let mut octets = Vec::with_capacity(content.value().len());
    let mut pieces = SliceReader::new(content.value())?;
    while !pieces.is_finished() {
        octets.extend_from_slice(<&OctetStringRef>::decode(&mut pieces)?.as_bytes());
    }
    Ok(octets.into())
}

/// How many values the contents of a file, or of a safe in it, may have: enough for thousands of keys.
const MAX_VALUES: usize = 100_000;

fn check_contents(der: &[u8]) -> Result<(), Pkcs12Error> {
    syntax::check_number_within(der, MAX_VALUES)?;
    Ok(syntax::check(der)?)
}

/// The elements of a SEQUENCE OF, which is the whole DER, one at a time.
fn sequence<'a, T: Decode<'a, Error = der::Error>>(
    der: &'a [u8],
) -> der::Result<impl Iterator<Item = der::Result<T>>> {
    let all = AnyRef::from_der(der)?;
    all.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(all.value())?;
    let mut is_over = false;
    Ok(core::iter::from_fn(move || {
        if is_over || reader.is_finished() {
            return None;
        }
        let element = T::decode(&mut reader);
        is_over = element.is_err();
        Some(element)
    }))
}

/// What was read so far.
struct Contents<'p> {
    passphrase: &'p str,
    budget: Budget,
    store: Pkcs12,
}

impl Contents<'_> {
    /// The DER of what the MAC is about, which was verified. The file's own is forgotten then: together they would be too
    /// much.
    fn verified(&mut self, ber: &[u8]) -> Result<Zeroizing<Vec<u8>>, Pkcs12Error> {
        let der = for_pkcs12::to_der(ber)?;
        let pfx = Pfx::from_der(&der)?;
        if pfx.version != PFX_VERSION {
            return Err(Pkcs12Error::Version(pfx.version));
        }
        // A file that is signed instead of having a MAC has another content type.
        let Some(mac_data) = &pfx.mac_data else {
            return Err(Pkcs12Error::NoMac);
        };
        let content = octets(&pfx.auth_safe, ID_DATA)?;
        let is_by_sha1 = for_pkcs12::verify(mac_data, content, self.passphrase, &mut self.budget)?;
        self.store.has_mac_by_sha1 = is_by_sha1 == IsBySha1::Yes;
        Ok(for_pkcs12::to_der(content)?)
    }

    fn safe(&mut self, info: &ContentInfo<'_>) -> Result<(), Pkcs12Error> {
        match info.content_type {
            ID_DATA => self.bags(octets(info, ID_DATA)?),
            ID_ENCRYPTED_DATA => {
                let data: EncryptedData<'_> = info.content.decode_as()?;
                let content = data.content;
                if data.version != 0 || content.content_type != ID_DATA {
                    return Err(Pkcs12Error::UnsupportedContent(content.content_type));
                }
                let pbes2 = Pbes2::read(&content.algorithm)?;
                let passphrase = self.passphrase.as_bytes();
                let ciphertext = encrypted_octets(&content.content)?;
                let bags = pbes2.decrypt(passphrase, &ciphertext, &mut self.budget)?;
                self.bags(&bags)
            }
            other => Err(Pkcs12Error::UnsupportedContent(other)),
        }
    }

    fn bags(&mut self, ber: &[u8]) -> Result<(), Pkcs12Error> {
        let der = for_pkcs12::to_der(ber)?;
        check_contents(&der)?;
        for bag in sequence::<SafeBag<'_>>(&der)? {
            self.bag(&bag?)?;
        }
        Ok(())
    }

    fn bag(&mut self, bag: &SafeBag<'_>) -> Result<(), Pkcs12Error> {
        match bag.id {
            KEY_BAG => {
                let pkcs8 = Zeroizing::new(bag.value.to_der()?);
                self.key(pkcs8, bag)
            }
            SHROUDED_KEY_BAG => {
                let encrypted = EncryptedPrivateKey::from_der(&bag.value.to_der()?)?;
                let passphrase = self.passphrase.as_bytes();
                let pkcs8 = encrypted.decrypt_from(passphrase, &mut self.budget)?;
                self.key(pkcs8, bag)
            }
            CERT_BAG => self.certificate(bag),
            // A safe within this one, and so on to any depth: nobody writes that.
            SAFE_CONTENTS_BAG => Err(Pkcs12Error::UnsupportedContent(bag.id)),
            _ => Ok(()),
        }
    }

    fn key(&mut self, pkcs8: Zeroizing<Vec<u8>>, bag: &SafeBag<'_>) -> Result<(), Pkcs12Error> {
        check_pkcs8(&pkcs8)?;
        let labels = Labels::read(bag.attributes.as_ref())?;
        self.store.keys.push(Pkcs12Key {
            pkcs8,
            name: labels.name,
            id: labels.id,
        });
        Ok(())
    }

    fn certificate(&mut self, bag: &SafeBag<'_>) -> Result<(), Pkcs12Error> {
        let value: CertBag<'_> = bag.value.decode_as()?;
        if value.id != X509_CERTIFICATE {
            return Err(Pkcs12Error::UnsupportedContent(value.id));
        }
        let der = value.value.decode_as::<&OctetStringRef>()?;
        let labels = Labels::read(bag.attributes.as_ref())?;
        self.store.certificates.push(Pkcs12Certificate {
            certificate: Certificate::from_der(der.as_bytes())?,
            name: labels.name,
            id: labels.id,
        });
        Ok(())
    }
}
