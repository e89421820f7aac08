//! All that a file has, of whatever kind, for whoever only looks at it: one after the other, so that no more than one is in
//! memory.

use core::cell::Cell;

use pq_cms::Outline;
use pq_jose::jwk::Jwk;
use pq_keys::encoding::pem::{self, Mark};
use pq_ssh::{PrivateKey, Signature};
use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{OcspRequest, OcspResponse};
use pq_x509::pkcs12::Pkcs12;
use pq_x509::request::CertificateRequest;
use zeroize::Zeroizing;

use super::certificates::{DOCUMENT_LIMIT, LIST_LIMIT, certificate_of};
use super::contents::{Block, Contents, Encoding};
use super::error::DocumentError;
use super::jose::{self, KeySet, NamedKey};
use super::keys::{Key, key_of};
use super::long_list::LongList;
use super::message::message_of;
use super::pkcs12::pkcs12_of;
use super::ssh::{self, OtherSsh, SshLine};
use crate::files::Source;
use crate::kind::Kind;
use crate::passphrases::PassphraseOptions;

/// Something in a file.
pub(crate) enum Item {
    Certificate(Box<Certificate>),
    Request(Box<CertificateRequest>),
    List(Box<LongList>),
    /// The identifier is that of a JSON Web Key.
    Key(Box<Key>, Option<String>),
    Pkcs12(Box<Pkcs12>),
    OcspRequest(Box<OcspRequest>),
    OcspResponse(Box<OcspResponse>),
    Message(Box<Outline>),
    JwkSet(KeySet),
    /// A JSON Web Key of a type that isn't read here.
    OtherJwk(Box<NamedKey>),
    SshKey(Box<PrivateKey>),
    SshLine(Box<SshLine>),
    OtherSsh(OtherSsh),
    SshSignature(Box<Signature>),
    /// What nobody here understands, in words.
    Unknown(String),
}

/// All kinds that are understood.
const KINDS: [Kind; 10] = [
    Kind::Certificate,
    Kind::Request,
    Kind::RevocationList,
    Kind::PrivateKey,
    Kind::EncryptedPrivateKey,
    Kind::PublicKey,
    Kind::Pkcs12,
    Kind::OcspRequest,
    Kind::OcspResponse,
    Kind::Message,
];

/// Everything but a file of revocation lists has less.
const LIMIT: usize = 16 * 1024 * 1024;

/// Some thirty times as many as a store of all public roots has.
const MAX_ITEMS: usize = 4096;

/// Passes on all that a file has, in order; at least one that is understood.
pub(crate) fn for_each_item<E: From<DocumentError>>(
    source: &Source,
    passphrase: &PassphraseOptions,
    mut each: impl FnMut(Item) -> Result<(), E>,
) -> Result<(), E> {
    let file = source.to_string();
    let too_large = || DocumentError::TooLargeToShow {
        file: file.clone(),
        limit: LIMIT,
    };
    let bytes = source.read_further(LIMIT, LIST_LIMIT, may_be_list);
    let bytes = bytes.map_err(DocumentError::from)?.ok_or_else(too_large)?;
    let looked_at = File {
        file: &file,
        has_only_lists: bytes.len() > LIMIT,
        passphrase,
    };
    let (taken, understood) = (Cell::new(0), Cell::new(false));
    let mut take = |item: Item| {
        if taken.replace(taken.get() + 1) == MAX_ITEMS {
            let (file, limit) = (file.clone(), MAX_ITEMS);
            return Err(DocumentError::TooManyItems { file, limit }.into());
        }
        understood.set(understood.get() || !matches!(item, Item::Unknown(_)));
        each(item)
    };
    match pem::is_in(&bytes) && !is_set(&bytes) {
        true => looked_at.in_pem(&bytes, &mut take)?,
        false => looked_at.without_pem(&bytes, &mut take)?,
    }
    match understood.get() {
        true => Ok(()),
        // This says what is there instead.
        false => Err(match Contents::of(&bytes, &file)?.all(&KINDS) {
            Err(error) => error.into(),
            Ok(_) => DocumentError::Unknown { file }.into(),
        }),
    }
}

fn is_set(bytes: &[u8]) -> bool {
    jose::text(bytes).is_some_and(jose::is_set)
}

/// Whether a file of which this is the beginning may have nothing but revocation lists.
fn may_be_list(beginning: &[u8]) -> bool {
    match pem::is_in(beginning) {
        true => Mark::first_in(beginning).is_some_and(|mark| mark.is_of("X509 CRL")),
        false => Kind::is_begun_list(beginning),
    }
}

/// A file that is looked at.
struct File<'f> {
    file: &'f str,
    has_only_lists: bool,
    passphrase: &'f PassphraseOptions,
}

impl File<'_> {
    /// Each block, and the lines of SSH's between them.
    fn in_pem<E: From<DocumentError>>(
        &self,
        text: &[u8],
        take: &mut impl FnMut(Item) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut rest, mut lines) = (text, 0);
        while let Some(begin) = Mark::first_in(rest) {
            for line in ssh::lines(&rest[..begin.start]) {
                take(Item::SshLine(line.into()))?;
            }
            // As blocks are found: up to the next mark, if that ends it.
            let end = match Mark::first_in(&rest[begin.end..]) {
                Some(next) if begin.is_begin && !next.is_begin => begin.end + next.end,
                _ => begin.end,
            };
            let (block, after) = rest.split_at(end);
            take(self.of_block(block, begin.start, lines)?)?;
            lines += block.iter().filter(|byte| **byte == b'\n').count();
            rest = after;
        }
        for line in ssh::lines(rest) {
            take(Item::SshLine(line.into()))?;
        }
        Ok(())
    }

    /// The item in a block, in front of which there may be other text up to `start`, and so many lines of the file.
    fn of_block(&self, text: &[u8], start: usize, lines: usize) -> Result<Item, DocumentError> {
        let block = pem::blocks(text).next();
        let label = block.map_or_else(String::new, |block| block.label());
        let only = || {
            let text = String::from_utf8_lossy(&text[start..]);
            Zeroizing::new(text.into_owned())
        };
        if let ssh::PRIVATE_KEY = &*label {
            if let Some(other) = ssh::other_private_key(&only()) {
                return Ok(Item::OtherSsh(other));
            }
            let key = ssh::private_key(&only(), self.file, self.passphrase)?;
            return Ok(Item::SshKey(key.into()));
        }
        if let ssh::SIGNATURE = &*label {
            if let Some(other) = ssh::other_signature(&only()) {
                return Ok(Item::OtherSsh(other));
            }
            let signature = ssh::signature(&only(), self.file)?;
            return Ok(Item::SshSignature(signature.into()));
        }
        let contents = Contents::of_part(text, self.file, lines)?;
        match contents.has(&KINDS) {
            true => self.item(&contents, contents.first(&KINDS)?, &None),
            false => Ok(Item::Unknown(Kind::Other(label).to_string())),
        }
    }

    /// A single document, or lines of SSH's.
    fn without_pem<E: From<DocumentError>>(
        &self,
        bytes: &[u8],
        take: &mut impl FnMut(Item) -> Result<(), E>,
    ) -> Result<(), E> {
        let text = jose::text(bytes);
        if let Some(set) = text.filter(|text| jose::is_set(text)) {
            return take(Item::JwkSet(KeySet::read(set, self.file)?));
        }
        if let Some(key) = text.filter(|text| jose::is_object(text))
            && let Some(other) = NamedKey::of_other(key)
        {
            return take(Item::OtherJwk(other.into()));
        }
        match Kind::of_der(bytes) {
            // Without the copy that all contents have.
            Some(Kind::RevocationList) => return take(self.list(bytes)?),
            Some(_) => {}
            None => {
                if let Some(message) = ocsp_message(bytes) {
                    return take(message);
                }
                if ssh::lines(bytes).next().is_some() {
                    return ssh::all_lines(bytes).try_for_each(|line| {
                        take(match line {
                            Ok(line) => Item::SshLine(line.into()),
                            Err(number) => Item::Unknown(format!("line {number}")),
                        })
                    });
                }
            }
        }
        let contents = Contents::of(bytes, self.file)?;
        let kid = match (contents.encoding, text) {
            (Encoding::Jwk, Some(text)) => Jwk::from_json(text).ok(),
            _ => None,
        };
        let kid = kid.and_then(|key| key.kid().map(String::from));
        take(self.item(&contents, contents.first(&KINDS)?, &kid)?)
    }

    fn item(
        &self,
        contents: &Contents,
        block: &Block,
        kid: &Option<String>,
    ) -> Result<Item, DocumentError> {
        let file = || self.file.to_owned();
        self.check_len(block)?;
        Ok(match block.kind {
            Kind::Certificate => Item::Certificate(certificate_of(contents, block)?.into()),
            Kind::RevocationList => self.list(&block.der)?,
            Kind::Request => {
                let request = CertificateRequest::from_der(&block.der);
                let request = request.map_err(|error| DocumentError::Request {
                    file: file(),
                    error,
                })?;
                Item::Request(request.into())
            }
            Kind::OcspRequest => {
                let request = OcspRequest::from_der(&block.der);
                let request = request.map_err(|error| DocumentError::OcspRequest {
                    file: file(),
                    error,
                })?;
                Item::OcspRequest(request.into())
            }
            Kind::OcspResponse => {
                let response = OcspResponse::from_der(&block.der);
                let response = response.map_err(|error| DocumentError::OcspResponse {
                    file: file(),
                    error,
                })?;
                Item::OcspResponse(response.into())
            }
            Kind::Message => Item::Message(message_of(contents, block)?.into()),
            Kind::Pkcs12 => Item::Pkcs12(pkcs12_of(contents, block, self.passphrase)?.into()),
            _ => Item::Key(
                key_of(contents, block, self.passphrase)?.into(),
                kid.clone(),
            ),
        })
    }

    /// Only revocation lists, messages and stores of keys have no limit of their own.
    fn check_len(&self, block: &Block) -> Result<(), DocumentError> {
        match block.kind {
            Kind::RevocationList => Ok(()),
            _ if self.has_only_lists => Err(DocumentError::TooLargeToShow {
                file: self.file.into(),
                limit: LIMIT,
            }),
            Kind::Message | Kind::Pkcs12 => Ok(()),
            _ if block.der.len() <= DOCUMENT_LIMIT => Ok(()),
            _ => Err(DocumentError::TooLong {
                file: self.file.into(),
                kind: block.kind.to_string(),
                found: block.der.len(),
                limit: DOCUMENT_LIMIT,
            }),
        }
    }

    fn list(&self, der: &[u8]) -> Result<Item, DocumentError> {
        match LongList::from_der(der) {
            Some(Ok(list)) => Ok(Item::List(list.into())),
            Some(Err(error)) => Err(DocumentError::RevocationList {
                file: self.file.into(),
                error,
            }),
            None => Err(DocumentError::LongParts {
                file: self.file.into(),
            }),
        }
    }
}

/// An OCSP message in DER, if the bytes are one.
fn ocsp_message(bytes: &[u8]) -> Option<Item> {
    if let Ok(request) = OcspRequest::from_der(bytes) {
        return Some(Item::OcspRequest(request.into()));
    }
    let response = OcspResponse::from_der(bytes).ok()?;
    Some(Item::OcspResponse(response.into()))
}
