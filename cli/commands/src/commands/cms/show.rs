//! The command `pqtls cms show`: the outline of a message, signed or encrypted, whose claims nobody has verified.

use core::fmt;

use pq_cms::{
    EnvelopedOutline, Identifier, ObjectIdentifier, Outline, RecipientKind, RecipientOutline,
    SignedOutline, SignerOutline, decode_if_pem, inspect,
};
use pq_keys::encoding::rfc3339;
use serde::Serialize;

use crate::commands::watched::Watched;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report, hex, with_unit};
use crate::words::{algorithm_name, oid_name};

/// Show what a message is: who is said to have signed it, or who can decrypt it
///
/// The message is read to its end. Nothing is verified or decrypted: anybody can write such a message.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The message, in PEM or DER; "-" is standard input
    #[arg(default_value = "-")]
    message: Source,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cms show release.cms
  $ pqtls cms show release.enc --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let file = || arguments.message.to_string();
    let unreadable = |error| Failure::Message {
        file: file(),
        error,
    };
    let message = decode_if_pem(Watched::open(&arguments.message)?);
    let message = message.map_err(|error| unreadable(pq_cms::InspectionError::Encoding(error)))?;
    let outline = inspect(message).map_err(unreadable)?;
    report::print(&Shown::of(file(), &outline), json)?;
    Ok(ExitStatus::Done)
}

/// What a message says about itself.
#[derive(Debug, Serialize)]
struct Shown {
    message: String,
    /// Always false, for programs that read the report.
    verified: bool,
    /// Such as `signedData`.
    r#type: String,
    version: Option<u8>,
    content: Option<Content>,
    signed: Option<Signed>,
    encrypted: Option<Encrypted>,
}

#[derive(Debug, Serialize)]
struct Content {
    r#type: String,
    /// The content's length in the message, encrypted or not; none if it is elsewhere.
    bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Signed {
    digests: Vec<String>,
    /// Their subjects.
    certificates: Vec<String>,
    revocation_lists: u64,
    signers: Vec<Signer>,
}

#[derive(Debug, Serialize)]
struct Signer {
    signer: Named,
    digest: String,
    algorithm: String,
    signature_bytes: usize,
    signed_at: Option<String>,
    attributes: Option<Vec<String>>,
    /// Why attributes can't be read.
    fault: Option<String>,
}

#[derive(Debug, Serialize)]
struct Encrypted {
    authenticated: bool,
    cipher: String,
    tag_bytes: Option<usize>,
    attributes: Vec<String>,
    recipients_count: u64,
    /// The first of them.
    recipients: Vec<Recipient>,
}

#[derive(Debug, Serialize)]
struct Recipient {
    kind: &'static str,
    recipients: Vec<Named>,
    algorithm: Option<String>,
    kdf: Option<String>,
    wrap: Option<String>,
}

/// A certificate by issuer and number, or a key by its identifier.
#[derive(Debug, Serialize)]
struct Named {
    issuer: Option<String>,
    serial_number: Option<String>,
    key_identifier: Option<String>,
}

impl Shown {
    fn of(message: String, outline: &Outline) -> Self {
        let bare = |r#type: String| Self {
            message,
            verified: false,
            r#type,
            version: None,
            content: None,
            signed: None,
            encrypted: None,
        };
        match outline {
            Outline::Signed(outline) => Self {
                version: Some(outline.version),
                content: Some(Content {
                    r#type: oid_name(outline.content_type),
                    bytes: outline.content_len,
                }),
                signed: Some(Signed::of(outline)),
                ..bare("signedData".into())
            },
            Outline::Enveloped(outline) => Self {
                version: Some(outline.version),
                content: Some(Content {
                    r#type: oid_name(outline.content_type),
                    bytes: outline.encrypted_len,
                }),
                encrypted: Some(Encrypted::of(outline)),
                ..bare(match outline.is_authenticated {
                    true => "authEnvelopedData".into(),
                    false => "envelopedData".into(),
                })
            },
            Outline::Other(oid) => bare(oid_name(*oid)),
            // Future versions of pq-cms may read more types.
            _ => bare("unknown".into()),
        }
    }
}

fn names(oids: &[ObjectIdentifier]) -> Vec<String> {
    oids.iter().copied().map(oid_name).collect()
}

impl Signed {
    fn of(outline: &SignedOutline) -> Self {
        Self {
            digests: names(&outline.digests),
            certificates: outline
                .certificates
                .iter()
                .map(|certificate| certificate.describe_subject())
                .collect(),
            revocation_lists: outline.revocation_lists,
            signers: outline.signers.iter().map(Signer::of).collect(),
        }
    }
}

impl Signer {
    fn of(outline: &SignerOutline) -> Self {
        Self {
            signer: Named::of(&outline.signer),
            digest: oid_name(outline.digest),
            algorithm: algorithm_name(outline.algorithm),
            signature_bytes: outline.signature_len,
            signed_at: outline.signing_time.map(rfc3339),
            attributes: outline.attributes.as_deref().map(names),
            fault: outline.fault.as_ref().map(ToString::to_string),
        }
    }
}

impl Encrypted {
    fn of(outline: &EnvelopedOutline) -> Self {
        Self {
            authenticated: outline.is_authenticated,
            cipher: oid_name(outline.cipher),
            tag_bytes: outline.tag_len,
            attributes: names(&outline.attributes),
            recipients_count: outline.recipients_len,
            recipients: outline.recipients.iter().map(Recipient::of).collect(),
        }
    }
}

impl Recipient {
    fn of(outline: &RecipientOutline) -> Self {
        let (kind, other) = match outline.kind {
            RecipientKind::KeyTransport => ("key transport", None),
            RecipientKind::KeyAgreement => ("key agreement", None),
            RecipientKind::SharedKey => ("shared key", None),
            RecipientKind::Password => ("password", None),
            RecipientKind::Kem => ("KEM", None),
            RecipientKind::Other(oid) => ("other", Some(oid)),
            _ => ("unreadable", None),
        };
        Self {
            kind,
            recipients: outline.identifiers.iter().map(Named::of).collect(),
            algorithm: outline.algorithm.or(other).map(algorithm_name),
            kdf: outline.kdf.map(oid_name),
            wrap: outline.wrap.map(oid_name),
        }
    }
}

impl Named {
    fn of(identifier: &Identifier) -> Self {
        let (issuer, serial_number, key_identifier) = match identifier {
            Identifier::Certificate {
                issuer,
                serial_number,
            } => (Some(issuer.clone()), Some(hex(serial_number)), None),
            Identifier::Key(id) => (None, None, Some(hex(id))),
            other => (Some(other.to_string()), None, None),
        };
        Self {
            issuer,
            serial_number,
            key_identifier,
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.issuer, &self.serial_number, &self.key_identifier) {
            (_, _, Some(id)) => write!(f, "key identifier {id}"),
            (Some(issuer), Some(number), _) => write!(f, "number {number} of {issuer}"),
            (issuer, _, _) => f.write_str(issuer.as_deref().unwrap_or_default()),
        }
    }
}

impl Report for Shown {
    const SCHEMA: &'static str = "cms-show/1";
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.r#type)?;
        if let Some(version) = self.version {
            write!(f, ", version {version}")?;
        }
        writeln!(f, "; nothing was verified")?;
        if let Some(content) = &self.content {
            write!(f, "  content: {}, ", content.r#type)?;
            match content.bytes {
                Some(bytes) => writeln!(f, "{}", with_unit(bytes, "byte"))?,
                None => writeln!(f, "not in the message")?,
            }
        }
        if let Some(signed) = &self.signed {
            signed.fmt(f)?;
        }
        if let Some(encrypted) = &self.encrypted {
            encrypted.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.digests.is_empty() {
            writeln!(f, "  hashed by {}", self.digests.join(", "))?;
        }
        for certificate in &self.certificates {
            writeln!(f, "  has a certificate of {certificate}")?;
        }
        if self.revocation_lists > 0 {
            let lists = with_unit(self.revocation_lists, "revocation list");
            writeln!(f, "  has {lists}")?;
        }
        for signer in &self.signers {
            signer.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (algorithm, digest) = (&self.algorithm, &self.digest);
        let bytes = with_unit(self.signature_bytes as u64, "byte");
        writeln!(f, "  signature that names {}", self.signer)?;
        writeln!(f, "    {algorithm} with {digest}, {bytes}")?;
        if let Some(time) = &self.signed_at {
            writeln!(f, "    at {time}, as the signer says")?;
        }
        match (&self.attributes, &self.fault) {
            (Some(attributes), _) => writeln!(f, "    attributes: {}", attributes.join(", ")),
            (None, Some(fault)) => writeln!(f, "    attributes that can't be read: {fault}"),
            (None, None) => writeln!(f, "    no attributes"),
        }
    }
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  encrypted by {}", self.cipher)?;
        match self.tag_bytes {
            Some(bytes) => writeln!(f, ", with a tag of {}", with_unit(bytes as u64, "byte"))?,
            None => writeln!(f, ", and not authenticated")?,
        }
        if !self.attributes.is_empty() {
            writeln!(f, "  attributes: {}", self.attributes.join(", "))?;
        }
        writeln!(f, "  {}", with_unit(self.recipients_count, "recipient"))?;
        for recipient in &self.recipients {
            recipient.fmt(f)?;
        }
        let listed = self.recipients.len() as u64;
        match self.recipients_count - listed {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithms = [&self.algorithm, &self.kdf, &self.wrap];
        let algorithms: Vec<&str> = algorithms
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        match algorithms.is_empty() {
            true => writeln!(f, "  by {}", self.kind)?,
            false => writeln!(f, "  by {}: {}", self.kind, algorithms.join(", "))?,
        }
        for recipient in &self.recipients {
            writeln!(f, "    for {recipient}")?;
        }
        Ok(())
    }
}
