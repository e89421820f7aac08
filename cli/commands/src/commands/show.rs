//! The command `pqtls show`: what is in a file, of whatever kind. It verifies nothing but the signature of a request, by
//! which its sender shows that the key is theirs.

use core::fmt;

use const_oid::{AssociatedOid, ObjectIdentifier};
use pq_cms::Outline;
use pq_jose::jwk::{Jwk, LeftOut};
use pq_keys::any::Readable;
use pq_keys::encoding::rfc3339;
use pq_ssh::{PrivateKey, Signature};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponse};
use pq_x509::pkcs12::Pkcs12;
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::reason_name;
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::request::ExtensionReq;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::key::KeyFacts;
use crate::documents::{self, Item, Key, KeySet, LongList, OtherSsh, SshLine, is_of_another_kind};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{OutputError, Source};
use crate::keys::{self, PublicKey, other_verification};
use crate::passphrases::PassphraseOptions;
use crate::report::{
    self, CertificateFacts, Report, alternative_names, asked, fingerprint, hex, printable,
    with_unit,
};
use crate::words::{algorithm_name, key_name, of_request_error, oid_name, protection_name};

/// Show what is in a file, of whatever kind
///
/// Certificates, requests, revocation lists, OCSP messages, PKCS#12, keys, JSON Web Keys and sets of them, and SSH's keys,
/// certificates and signatures: all that the file has, in order, up to 4096 items and 16 MiB. Only files of revocation
/// lists may be larger. A CA's operator reads here what a request asks for. Nothing is verified, except that the sender of
/// a request has its key. For more about messages (CMS), see "pqtls cms show"; for more about certificates and keys, "pqtls
/// cert show" and "pqtls key show".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file; "-" is standard input
    file: Source,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls show server.csr
  $ pqtls show ca.crl
  $ pqtls show web.ocsp --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    let file = arguments.file.to_string();
    let mut report = InFile {
        file: file.clone(),
        items: Vec::new(),
    };
    let mut room = MAX_REPORT;
    documents::for_each_item(&arguments.file, &arguments.passphrase, |item| {
        let written = Written::of(&Shown::of(&item, now), json)?;
        room = room
            .checked_sub(written.len())
            .ok_or_else(|| Failure::LongReport {
                file: file.clone(),
                limit: MAX_REPORT,
            })?;
        report.items.push(written);
        Ok::<_, Failure>(())
    })?;
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

/// What is shown is kept until the end of the file is known to be readable, too. A file of as many bytes as may be read
/// has less to show, unless somebody made it to take memory.
const MAX_REPORT: usize = 32 * 1024 * 1024;

#[derive(Debug, Serialize)]
struct InFile {
    file: String,
    /// In the file's order.
    items: Vec<Written>,
}

/// An item as it is printed: what was parsed may take many times the memory.
#[derive(Debug)]
enum Written {
    Text(String),
    Json(Box<RawValue>),
}

impl Written {
    fn of(shown: &Shown, json: bool) -> Result<Self, Failure> {
        if !json {
            return Ok(Self::Text(shown.to_string()));
        }
        // As deep as it stands in the report.
        let text = serde_json::to_string_pretty(shown).map(|text| text.replace('\n', "\n    "));
        let value = text.and_then(RawValue::from_string);
        let error = |error: serde_json::Error| OutputError::StandardOutput {
            error: error.into(),
        };
        Ok(Self::Json(value.map_err(error)?))
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Json(value) => value.get().len(),
        }
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Json(value) => value.serialize(serializer),
        }
    }
}

#[derive(Debug, Serialize)]
struct Shown {
    kind: &'static str,
    facts: Facts,
    /// Only of a certificate, which has no other facts.
    certificate: Option<CertificateFacts>,
}

/// Names and what they stand for, in the order in which people want to know them.
#[derive(Debug, Default)]
struct Facts(Vec<(&'static str, Vec<String>)>);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, values) in &self.0 {
            map.serialize_entry(name, values)?;
        }
        map.end()
    }
}

impl Facts {
    fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.push((name, vec![printable(&value.to_string())]));
        self
    }

    /// Nothing, if there are no values.
    fn with_all(mut self, name: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| printable(&value)).collect();
        if !values.is_empty() {
            self.0.push((name, values));
        }
        self
    }
}

impl Shown {
    fn of(item: &Item, now: UnixTime) -> Self {
        let (kind, facts) = match item {
            Item::Certificate(certificate) => {
                return Self {
                    kind: "certificate",
                    facts: Facts::default(),
                    certificate: Some(CertificateFacts::of(certificate, now)),
                };
            }
            Item::Request(request) => ("certificate request", of_request(request)),
            Item::List(list) => ("revocation list", of_list(list)),
            Item::Key(key, kid) => of_key(key, kid),
            Item::Pkcs12(store) => ("PKCS#12 file", of_pkcs12(store)),
            Item::OcspRequest(request) => ("OCSP request", of_ocsp_request(request)),
            Item::OcspResponse(response) => ("OCSP response", of_ocsp_response(response)),
            Item::Message(outline) => ("message (CMS)", of_message(outline)),
            Item::Unknown(what) => ("not understood", Facts::default().with("what", what)),
            Item::JwkSet(set) => ("set of JSON Web Keys", of_jwk_set(set)),
            Item::OtherJwk(key) => (
                "JSON Web Key",
                match key.unfit() {
                    None => Facts::default().with("not read here", key),
                    Some(why) => Facts::default().with("key", key).with("of no use", why),
                },
            ),
            Item::SshKey(key) => ("SSH private key", of_ssh_key(key)),
            Item::SshLine(line) => of_ssh_line(line),
            Item::OtherSsh(OtherSsh { kind, facts }) => {
                let each = facts.iter();
                let facts = each.fold(Facts::default(), |all, (name, value)| all.with(name, value));
                (*kind, facts)
            }
            Item::SshSignature(signature) => ("SSH signature", of_ssh_signature(signature)),
        };
        Self {
            kind,
            facts,
            certificate: None,
        }
    }
}

/// The attribute in which Microsoft's programs ask for extensions; its names count as those of RFC 2985's.
const MICROSOFT_EXTENSIONS: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");

fn of_request(request: &CertificateRequest) -> Facts {
    let parsed = request.parsed();
    let mut extensions = Vec::new();
    let mut others = Vec::new();
    for attribute in parsed.info.attributes.iter() {
        match attribute
            .values
            .iter()
            .next()
            .map(|value| value.decode_as())
        {
            Some(Ok(ExtensionReq(asked)))
                if [ExtensionReq::OID, MICROSOFT_EXTENSIONS].contains(&attribute.oid) =>
            {
                extensions.extend(asked);
            }
            _ => others.push(oid_name(attribute.oid)),
        }
    }
    let spki = parsed.info.public_key.to_der().unwrap_or_default();
    let proof = match request.verify_proof(other_verification()) {
        Ok(()) => "yes: its key signed it".to_owned(),
        Err(error) => format!("no: {}", of_request_error(&error)),
    };
    let refusal = match request.clone().verify_with(other_verification()) {
        Err(error) if proof.starts_with("yes") => {
            Some(format!("refuses it: {}", of_request_error(&error)))
        }
        _ => None,
    };
    let names = alternative_names(&extensions);
    let further = extensions
        .iter()
        .filter(|one| oid_name(one.extn_id) != "subjectAltName");
    Facts::default()
        .with("subject", &parsed.info.subject)
        .with_all("names", names)
        .with_all("asks for", further.map(asked))
        .with_all("attribute", others)
        .with("key", key_name(&spki))
        .with("fingerprint", fingerprint(&spki))
        .with("signature", algorithm_name(parsed.algorithm.oid))
        .with("proof", proof)
        .with_all("pqtls ca sign", refusal)
}

/// Of how many revoked certificates the numbers are shown.
const SHOWN: usize = 20;

fn of_list(LongList { list, further }: &LongList) -> Facts {
    let entries = list.entries();
    let count = entries.len() + further;
    let more = report::of_entries(list.der(), SHOWN).into_iter();
    let revoked = entries.iter().zip(more).map(|(entry, more)| {
        let number = hex(entry.serial_number());
        let (since, why) = (rfc3339(entry.date()), reason_name(entry.reason()));
        let more: String = more.iter().map(|one| format!("; {one}")).collect();
        format!("{number} since {since} ({why}){more}")
    });
    let further = count.saturating_sub(SHOWN);
    let further = (further > 0).then(|| format!("and {further} more"));
    Facts::default()
        .with("issued by", list.issuer())
        .with_all(
            "number",
            list.number().map(|number| format!("0x{}", hex(number))),
        )
        .with("valid from", rfc3339(list.this_update()))
        .with(
            "valid until",
            list.next_update()
                .map_or_else(|| "(not said)".into(), rfc3339),
        )
        .with_all("issuer's key", list.authority_key_id().map(hex))
        .with_all("extension", report::of_list(list.der()))
        .with("signature", algorithm_name(list.signature_algorithm().oid))
        .with("revoked", with_unit(count as u64, "certificate"))
        .with_all("entry", revoked.chain(further))
}

fn of_key(key: &Key, kid: &Option<String>) -> (&'static str, Facts) {
    let (kind, public, protection) = match key {
        Key::Private(file) => (
            "private key",
            &file.key.public_half(),
            file.protection.as_ref(),
        ),
        Key::Public(key, _) => ("public key", key, None),
    };
    let facts = of_public_key(public)
        .with_all("encrypted", protection.map(protection_name))
        .with_all("key id", kid.clone());
    (kind, facts)
}

fn of_public_key(key: &PublicKey) -> Facts {
    let facts = KeyFacts::of(key);
    Facts::default()
        .with("algorithm", &facts.algorithm)
        .with("use", facts.use_)
        .with("fingerprint", &facts.fingerprint)
}

fn of_pkcs12(store: &Pkcs12) -> Facts {
    let named = |name: Option<&str>| name.map_or(String::new(), |name| format!(" \"{name}\""));
    let keys = store.keys().iter().map(|key| {
        let algorithm = match keys::PrivateKey::from_der(key.pkcs8_der()) {
            Ok(key) => KeyFacts::of(&key.public_half()).algorithm,
            Err(_) => "another algorithm".into(),
        };
        format!("private key of {algorithm}{}", named(key.name()))
    });
    let certificates = store.certificates().iter().map(|one| {
        let certificate = one.certificate();
        let (subject, until) = (
            certificate.describe_subject(),
            rfc3339(certificate.not_after()),
        );
        format!("{subject}, until {until}{}", named(one.name()))
    });
    let mac = store
        .has_mac_by_sha1()
        .then(|| "by SHA-1, which is old".to_owned());
    Facts::default()
        .with_all("key", keys)
        .with_all("certificate", certificates)
        .with_all("integrity", mac)
}

fn of_ocsp_request(request: &OcspRequest) -> Facts {
    let asked = request.certificates().iter();
    Facts::default()
        .with_all("certificate", asked.map(|id| hex(id.serial_number())))
        .with_all("nonce", request.nonce().map(|nonce| hex(nonce.as_bytes())))
}

fn of_ocsp_response(response: &OcspResponse) -> Facts {
    let answers = response.answers().iter().map(|answer| {
        let number = hex(answer.certificate().serial_number());
        let status = match answer.status() {
            CertStatus::Good => "good".into(),
            CertStatus::Revoked { date, reason } => {
                format!("revoked since {} ({})", rfc3339(date), reason_name(reason))
            }
            _ => "unknown".to_owned(),
        };
        let until = answer.next_update().map_or_else(String::new, |until| {
            format!(", valid until {}", rfc3339(until))
        });
        format!(
            "{number} is {status} at {}{until}",
            rfc3339(answer.this_update())
        )
    });
    let certificates = response.certificates().iter();
    Facts::default()
        .with("responder", response.responder())
        .with("made", rfc3339(response.produced_at()))
        .with_all("answer", answers)
        .with_all("nonce", response.nonce().map(|nonce| hex(nonce.as_bytes())))
        .with(
            "signature",
            algorithm_name(response.signature_algorithm().oid),
        )
        .with_all(
            "certificate",
            certificates.map(|one| one.describe_subject()),
        )
}

fn of_message(outline: &Outline) -> Facts {
    let (kind, certificates, lists) = match outline {
        Outline::Signed(outline) => {
            let certificates = outline.certificates.iter().map(|one| {
                let until = rfc3339(one.not_after());
                format!("{}, until {until}", one.describe_subject())
            });
            (
                "signed".into(),
                certificates.collect(),
                outline.revocation_lists,
            )
        }
        Outline::Enveloped(_) => ("encrypted".into(), Vec::new(), 0),
        Outline::Other(oid) => (oid_name(*oid), Vec::new(), 0),
        // Future versions of pq-cms may read more types.
        _ => ("unknown".into(), Vec::new(), 0),
    };
    let lists = (lists > 0).then(|| with_unit(lists, "revocation list"));
    Facts::default()
        .with("type", kind)
        .with_all("certificate", certificates)
        .with_all("has", lists)
        .with("more", "\"pqtls cms show\"")
}

fn of_jwk_set(set: &KeySet) -> Facts {
    let describe = |key: &Jwk| {
        let algorithm = key.verifying_key().algorithm();
        let kid = key
            .kid()
            .map_or_else(String::new, |kid| format!(", key id \"{kid}\""));
        format!("{algorithm}, thumbprint {}{kid}", key.thumbprint())
    };
    let (mut keys, mut others, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let mut number = 0;
    set.for_each(|named, key| {
        number += 1;
        match key {
            Ok(key) => keys.push(describe(&key)),
            Err(error) if is_of_another_kind(&error) => others.push(named.to_string()),
            Err(error) => left_out.push(LeftOut { number, error }.to_string()),
        }
    });
    if number == 0 {
        keys.push("none".into());
    }
    Facts::default()
        .with_all("key", keys)
        .with_all("not read here", others)
        .with_all("left out", left_out)
}

fn of_ssh_key(key: &PrivateKey) -> Facts {
    let public = key.public_key();
    let comment = Some(public.comment()).filter(|comment| !comment.is_empty());
    Facts::default()
        .with("algorithm", public.name().as_str())
        .with("fingerprint", public.fingerprint())
        .with_all("comment", comment.map(String::from))
}

fn of_ssh_line(line: &SshLine) -> (&'static str, Facts) {
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    let facts = Facts::default()
        .with("algorithm", &line.algorithm)
        .with_all("fingerprint", line.fingerprint.clone())
        .with_all("comment", some(&line.comment))
        .with_all("in front", some(&line.options));
    let Some(certificate) = &line.certificate else {
        return ("SSH public key", facts);
    };
    let time = |seconds: u64| match seconds {
        u64::MAX => "for ever".into(),
        seconds => rfc3339(UnixTime::since_unix_epoch(core::time::Duration::from_secs(
            seconds,
        ))),
    };
    let facts = facts
        .with(
            "for",
            if certificate.is_of_host {
                "a host"
            } else {
                "a user"
            },
        )
        .with("key id", &certificate.key_id)
        .with("serial", certificate.serial)
        .with_all("principal", certificate.principals.iter().cloned())
        .with("valid from", time(certificate.after))
        .with("valid until", time(certificate.before))
        .with_all("critical", certificate.critical_options.iter().cloned())
        .with_all("extension", certificate.extensions.iter().cloned())
        .with("CA's key", &certificate.ca);
    ("SSH certificate", facts)
}

fn of_ssh_signature(signature: &Signature) -> Facts {
    Facts::default()
        .with("namespace", signature.namespace())
        .with("hash", signature.hash_algorithm().as_str())
        .with("algorithm", signature.public_key().name().as_str())
        .with("fingerprint", signature.public_key().fingerprint())
}

impl Report for InFile {
    const SCHEMA: &'static str = "show/1";
}

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if let Written::Text(text) = item {
                f.write_str(text)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.certificate {
            Some(certificate) => write!(f, "{certificate}")?,
            None => writeln!(f, "{}", self.kind)?,
        }
        for (name, values) in &self.facts.0 {
            for value in values {
                writeln!(f, "  {name:<13} {value}")?;
            }
        }
        Ok(())
    }
}
