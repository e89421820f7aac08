//! Recipients whose key and certificate may not belong together.

use arbitrary::Arbitrary;
use pq_cms::{Recipient, RecipientKey};
use pq_x509::keys::SubjectKey;

use super::keys::{KEYS, check_secrecy};
use crate::one_of;

/// A key and a certificate, which is its own or another's.
#[derive(Arbitrary, Debug)]
pub struct Mismatched {
    of: u8,
    certificate: u8,
    shared_len: u8,
}

impl Mismatched {
    pub fn check(&self) {
        let agreements = KEYS.agreements.iter().map(|it| &it.certificate);
        let certificates: Vec<_> = (KEYS.kems.iter().map(|it| &it.certificate))
            .chain(agreements)
            .chain([&KEYS.misused])
            .collect();
        let certificate = one_of(&certificates, self.certificate);
        let kem = &one_of(&KEYS.kems.each_ref(), self.of).key;
        let agreement = &one_of(&KEYS.agreements.each_ref(), self.of).key;
        let is_of = |key: &dyn SubjectKey| key.spki().as_ref() == certificate.spki().as_ref();
        let named = RecipientKey::with_certificate(kem, certificate);
        assert_eq!(named.is_ok(), is_of(kem));
        let named = RecipientKey::agreement_with_certificate(agreement, certificate);
        assert_eq!(named.is_ok(), is_of(agreement));

        let is_of_kem = KEYS.kems.iter().any(|it| is_of(&it.key));
        let key = agreement.public_key().clone();
        let is_own = is_of(agreement) && certificate != &KEYS.misused;
        let is_key = matches!(self.shared_len, 16 | 32);
        for (recipient, is_one) in [
            (Recipient::certificate(certificate), is_of_kem),
            (Recipient::agreement_certificate(certificate, key), is_own),
            (
                Recipient::shared_key(b"id", &vec![0xa7; self.shared_len.into()]),
                is_key,
            ),
        ] {
            assert_eq!(recipient.is_ok(), is_one);
            match recipient {
                Ok(recipient) => check_secrecy(&format!("{recipient:?}")),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
