//! What is in a file: keys, certificates and revocation lists, in PEM or DER, OCSP messages in DER, JOSE and
//! COSE keys, files of SSH's, or raw bytes.
//! Each function reads one file; its errors name the file.
//!
//! This room uses [`report`](crate::report), for warnings, [`passphrases`](crate::passphrases), [`files`](crate::files),
//! [`keys`](crate::keys), [`kind`](crate::kind) and [`words`](crate::words).

mod certificates;
mod contents;
mod error;
mod items;
mod jose;
mod keys;
mod long_list;
mod message;
mod ocsp;
mod pkcs12;
mod raw;
mod requests;
mod ssh;

pub(crate) use certificates::{
    Expiring, SignedDocument, all_certificates, certificates, certificates_also_in_messages,
    end_entities, expiring, first_certificate, first_of, revocation_lists, signed_documents,
};
pub(crate) use contents::Encoding;
pub(crate) use error::DocumentError;
pub(crate) use items::{Item, for_each_item};
pub(crate) use jose::{KeySet, claims, is_of_another_kind, token};
pub(crate) use keys::{
    Key, KeyOrCertificate, any_key, any_public_key, ca_key, decapsulation_key, decryption_key,
    encapsulation_key, encryption_key_or_certificate, is_ca_key_encrypted, key_or_certificate,
    narrow, post_quantum_signing_key, private_key, private_key_to_encrypt, recipient_key,
    signing_key, token_keys, verifying_key,
};
pub(crate) use long_list::LongList;
pub(crate) use ocsp::{ocsp_request, ocsp_response};
pub(crate) use pkcs12::pkcs12;
pub(crate) use raw::{raw_bytes, raw_ciphertext, raw_private_key};
pub(crate) use requests::{Numbered, OfAnotherCa, Requests, of_another_ca};
pub(crate) use ssh::{
    OtherSsh, SshLine, private_key as ssh_private_key, signature as ssh_signature,
};
