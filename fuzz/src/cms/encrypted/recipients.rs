//! Recipients, and the keys that open their messages.

use arbitrary::Arbitrary;
use pq_cms::{Kdf, Recipient, RecipientKey, key_identifier};
use pq_x509::certificate::Certificate;
use pq_x509::keys::SubjectKey;

use crate::cms::keys::{KEYS, Owned, SHARED};
use crate::one_of;

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum AnyRecipient {
    Kem { of: u8, kdf: u8, name: Name },
    KemCertificate { of: u8, kdf: u8 },
    Agreement { of: u8, name: Name },
    AgreementCertificate { of: u8 },
    Shared(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Name {
    Any,
    OfKey,
    OfCertificate,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum AnyKey {
    Kem {
        of: u8,
        certificate: bool,
    },
    Agreement {
        of: u8,
        certificate: bool,
    },
    Shared(u8),
    /// A key that nobody encrypts for.
    Strange,
}

impl AnyRecipient {
    pub fn recipient(self) -> Recipient {
        const KDFS: [Kdf; 3] = [Kdf::HkdfSha256, Kdf::HkdfSha384, Kdf::HkdfSha512];

        match self {
            Self::Kem { of, kdf, name } => {
                let owned = one_of(&KEYS.kems.each_ref(), of);
                let key = owned.key.encapsulation_key();
                let name = name.of(key, &owned.certificate);
                Recipient::key(key.clone(), &name).kdf(one_of(&KDFS, kdf))
            }
            Self::KemCertificate { of, kdf } => {
                let recipient =
                    Recipient::certificate(&one_of(&KEYS.kems.each_ref(), of).certificate);
                recipient.unwrap().kdf(one_of(&KDFS, kdf))
            }
            Self::Agreement { of, name } => {
                let owned = one_of(&KEYS.agreements.each_ref(), of);
                let key = owned.key.public_key();
                let name = name.of(key, &owned.certificate);
                Recipient::agreement_key(key.clone(), &name).kdf(Kdf::HkdfSha512)
            }
            Self::AgreementCertificate { of } => {
                let Owned { key, certificate } = one_of(&KEYS.agreements.each_ref(), of);
                let key = key.public_key().clone();
                Recipient::agreement_certificate(certificate, key).unwrap()
            }
            Self::Shared(of) => {
                let (id, key) = one_of(&SHARED, of);
                Recipient::shared_key(id, key).unwrap()
            }
        }
    }

    /// Whether this is the recipient's key. It is found whatever name is in the message.
    pub fn is_of(self, key: AnyKey) -> bool {
        match (self, key) {
            (
                Self::Kem { of, .. } | Self::KemCertificate { of, .. },
                AnyKey::Kem { of: own, .. },
            )
            | (
                Self::Agreement { of, .. } | Self::AgreementCertificate { of },
                AnyKey::Agreement { of: own, .. },
            ) => of % 3 == own % 3,
            (Self::Shared(of), AnyKey::Shared(own)) => of % 2 == own % 2,
            _ => false,
        }
    }
}

impl Name {
    fn of(self, key: &impl SubjectKey, certificate: &Certificate) -> Vec<u8> {
        match self {
            Self::Any => b"key".to_vec(),
            Self::OfKey => key_identifier(key).to_vec(),
            Self::OfCertificate => certificate.subject_key_id().unwrap().to_vec(),
        }
    }
}

impl AnyKey {
    pub fn key(self) -> RecipientKey<'static> {
        match self {
            Self::Kem { of, certificate } => {
                let owned = one_of(&KEYS.kems.each_ref(), of);
                match certificate {
                    true => RecipientKey::with_certificate(&owned.key, &owned.certificate).unwrap(),
                    false => RecipientKey::new(&owned.key),
                }
            }
            Self::Agreement { of, certificate } => {
                let Owned {
                    key,
                    certificate: own,
                } = one_of(&KEYS.agreements.each_ref(), of);
                match certificate {
                    true => RecipientKey::agreement_with_certificate(key, own).unwrap(),
                    false => RecipientKey::agreement(key),
                }
            }
            Self::Shared(of) => {
                let (id, key) = one_of(&SHARED, of);
                RecipientKey::shared_key(id, key)
            }
            Self::Strange => RecipientKey::new(&KEYS.strange),
        }
    }
}
