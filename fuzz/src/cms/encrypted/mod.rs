//! Encrypted messages.

mod changes;
mod recipients;

use arbitrary::Arbitrary;
use pq_cms::{
    ContentCipher, EncodingError, EnvelopeBuilder, EnvelopingError, ObjectIdentifier, Opened,
    Opener, OpeningError, Outline, inspect,
};

use self::changes::{Change, Expected, Fate};
use self::recipients::{AnyKey, AnyRecipient};
use super::ber::parse;
use super::content::{AnyContent, TYPES};
use super::keys::check_secrecy;
use super::streams::Pace;
use super::transport::Transport;
use crate::one_of;

#[derive(Arbitrary, Debug)]
pub struct Encrypted<'a> {
    cipher: u8,
    content_type: u8,
    recipients: Vec<AnyRecipient>,
    key: AnyKey,
    changes: Vec<Change>,
    transport: Transport<'a>,
    content: AnyContent,
    reader: Pace,
    writer: Pace,
}

impl Encrypted<'_> {
    /// The changes, but not all of them, as some add a lot of bytes.
    fn changes(&self) -> &[Change] {
        &self.changes[..self.changes.len().min(8)]
    }

    pub fn check(&self) {
        const CIPHERS: [ContentCipher; 4] = [
            ContentCipher::Aes256Gcm,
            ContentCipher::Aes128Gcm,
            ContentCipher::Aes256Cbc,
            ContentCipher::Aes128Cbc,
        ];
        let recipients = &self.recipients[..self.recipients.len().min(4)];
        let cipher = one_of(&CIPHERS, self.cipher);
        let content_type = one_of(&TYPES, self.content_type);
        let mut builder = EnvelopeBuilder::new()
            .cipher(cipher)
            .content_type(content_type);
        for recipient in recipients {
            builder = builder.recipient(recipient.recipient());
        }
        check_secrecy(&format!("{builder:?}"));
        let content = self.content.bytes();

        let mut sink = self.writer.writer();
        let written = builder.encrypt(self.reader.reader(&content), &mut sink);
        let message = match written {
            Ok(()) => {
                assert!(self.reader.fails_at() > content.len());
                sink.bytes
            }
            Err(EnvelopingError::NoRecipient) => return assert!(recipients.is_empty()),
            Err(EnvelopingError::Encoding(error)) => {
                match error {
                    EncodingError::Read(_) => assert!(self.reader.fails_at() <= content.len()),
                    EncodingError::Write(_) => assert_eq!(sink.bytes.len(), self.writer.fails_at()),
                    other => panic!("{other}"),
                }
                let mut message = Vec::new();
                builder.encrypt(&*content, &mut message).unwrap();
                message
            }
            Err(error) => panic!("{error}"),
        };
        self.open(message, cipher, content_type, &content, recipients);
    }

    fn open(
        &self,
        message: Vec<u8>,
        cipher: ContentCipher,
        content_type: ObjectIdentifier,
        content: &[u8],
        recipients: &[AnyRecipient],
    ) {
        let mut fate = match recipients.iter().any(|it| it.is_of(self.key)) {
            true => Fate::Opens,
            false => Fate::IsRefused,
        };
        let mut element = parse(&mut &*message);
        let mut expected = Expected {
            content_type,
            recipients: recipients.len() as u64,
        };
        let mut is_trailed = false;
        for change in self.changes() {
            let becomes = change.apply(&mut element, self.key, cipher, &mut expected);
            is_trailed |= matches!(change, Change::Trail);
            fate = match (fate, becomes) {
                (Fate::IsRefused, _) | (_, Fate::IsRefused) => Fate::IsRefused,
                (Fate::Unpredictable, _) | (_, Fate::Unpredictable) => Fate::Unpredictable,
                _ => Fate::Opens,
            };
        }
        let (message, is_edited) = self.transport.carry(element, is_trailed, &self.reader);
        if is_edited {
            fate = Fate::Unpredictable;
        }
        match inspect(self.reader.reader(&message)) {
            Ok(Outline::Enveloped(outline)) if fate == Fate::Opens => {
                assert_eq!(outline.content_type, expected.content_type);
                assert_eq!(outline.recipients_len, expected.recipients);
                assert_eq!(outline.is_authenticated, cipher.is_authenticated());
            }
            Ok(outline) => assert!(fate != Fate::Opens, "{outline:?}"),
            Err(error) => {
                let fails = self.reader.fails_at() <= message.len();
                assert!(fails || fate != Fate::Opens, "{error}");
            }
        }
        self.open_every_way(&message, cipher, fate, content, &expected);
    }

    fn open_every_way(
        &self,
        message: &[u8],
        cipher: ContentCipher,
        fate: Fate,
        content: &[u8],
        expected: &Expected,
    ) {
        let strict = Opener::new(self.key.key());
        check_secrecy(&format!("{strict:?}"));
        let opener = strict.clone().take_unauthenticated();
        let (kept, opened) = match opener.open(message, 1 << 20) {
            Ok((kept, opened)) => {
                assert_ne!(fate, Fate::IsRefused);
                // Content that is not authenticated may be changed.
                if fate == Fate::Opens || opened.cipher.is_authenticated() {
                    assert!(*kept == *content);
                }
                if fate == Fate::Opens {
                    assert_eq!(opened.cipher, cipher);
                    assert_eq!(opened.content_type, expected.content_type);
                    assert_eq!(opened.recipients, expected.recipients);
                }
                assert_eq!(opened.len, kept.len() as u64);
                (Some(kept), Some(opened))
            }
            Err(error) => {
                assert_ne!(fate, Fate::Opens, "{error}");
                assert!(!error.to_string().is_empty());
                (None, None)
            }
        };
        let reads = self.reader.fails_at() > message.len();
        let fits = |content: &[u8]| self.writer.fails_at() >= content.len();

        let mut sink = self.writer.writer();
        let once = opener.write_unauthenticated(self.reader.reader(message), &mut sink);
        match &kept {
            Some(kept) if reads && fits(kept) => {
                assert_eq!(once.ok(), opened);
                assert!(sink.bytes == **kept);
            }
            _ => assert!(once.is_err()),
        }

        let mut sink = self.writer.writer();
        match opener.open_seekable(self.reader.reader(message), &mut sink) {
            Ok(again) => {
                assert!(cipher_is_authenticated(&opened) && reads);
                assert_eq!(Some(again), opened);
                assert!(Some(&sink.bytes) == kept.as_deref());
            }
            Err(OpeningError::Encoding(EncodingError::Write(_))) => {
                let kept = kept.as_deref().expect("authentic content");
                assert!(!fits(kept) && kept.starts_with(&sink.bytes));
            }
            Err(_) => {
                assert!(sink.bytes.is_empty());
                assert!(!(reads && cipher_is_authenticated(&opened)));
            }
        }

        if let Some(kept) = &kept {
            let limited = strict.open(message, kept.len());
            assert_eq!(limited.is_ok(), cipher_is_authenticated(&opened));
            if let Some(less) = kept.len().checked_sub(1) {
                assert!(strict.open(message, less).is_err());
            }
        }
    }
}

fn cipher_is_authenticated(opened: &Option<Opened>) -> bool {
    opened
        .as_ref()
        .is_some_and(|it| it.cipher.is_authenticated())
}
