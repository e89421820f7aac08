//! Why a command failed: what was wrong, what to do next, and its exit status.
//!
//! This room uses [`chains`](crate::chains), [`documents`](crate::documents),
//! [`exit_status`](crate::exit_status), [`files`](crate::files), [`keys`](crate::keys),
//! [`passphrases`](crate::passphrases), [`shell`](crate::shell) and [`words`](crate::words).

mod acme;
mod database;
mod door;
mod signer;
mod store;
mod transit;

use core::error::Error;
use std::io;
use std::path::PathBuf;

use pq_ca::authority::{AuthorityError, ResponderError};
use pq_ca::folder::FolderError;
use pq_ca::issuing::IssuanceError;
use pq_ca::ledger::{InvalidAuditHead, LedgerError, SerialNumber};
use pq_ca::policy::{Forbidden, Reason, Refusal};
use pq_hpke::{DecryptionError, EncryptionError, HpkeError, KemError, XWingError};
use pq_jose::cose::CoseError;
use pq_jose::jwk::JwkError;
use pq_jose::jwt::JwtError;
use pq_keys::any::AnyKeyError;
use pq_keys::classical::ClassicalKeyError;
use pq_keys::composite::CompositeKeyError;
use pq_keys::protection::ProtectionError;
use pq_keys::{Algorithm, SignatureAlgorithm};
use pq_keystore::StoreError;
use pq_x509::certificate::AlternativeName;
use pq_x509::issuing::IssueError;
use pq_x509::ocsp::OcspRequestError;
use pq_x509::pkcs12::Pkcs12Error;
use pq_x509::request::RequestError;
use pq_x509::validation::ValidationError;

pub(crate) use self::acme::{AcmeFailure, advice_on_no_answer};
pub(crate) use self::database::DatabaseFailure;
pub(crate) use self::door::{DoorFailure, InvalidDoorAddress};
use self::store::with_causes;
pub(crate) use self::store::{StoreFailure, of_store_error};
pub(crate) use self::transit::TransitFailure;
use crate::chains::NotAChain;
use crate::documents::DocumentError;
use crate::exit_status::ExitStatus;
use crate::files::{InputError, OutputError};
use crate::keys::{self, KeyError};
use crate::passphrases::PassphraseError;
use crate::shell::{command_line, quoted, with_options_of_ca};
use crate::words::{
    of_any_key_error, of_authority_error, of_folder_error, of_issue_error, of_jwt_error,
    of_jwt_error_at, of_message_error, of_opening_error, of_pkcs12_error, of_protection_error,
    of_request_error, of_validation_error,
};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{0}")]
    Store(Box<StoreFailure>),
    #[error("{0}")]
    Acme(Box<AcmeFailure>),
    #[error("{}", of_any_key_error(.0))]
    Key(KeyError),
    #[error("{}", of_protection_error(.0))]
    Protection(ProtectionError),
    #[error("{}", of_pkcs12_error(.0))]
    Pkcs12(Pkcs12Error),
    #[error("{}", of_issue_error(.0))]
    Issue(IssueError),
    #[error("{}", of_request_error(.0))]
    Request(RequestError),
    #[error("{}", of_validation_error(.0))]
    Trust(Box<ValidationError>),
    #[error("{}", of_folder_error(.0))]
    Folder(FolderError),
    #[error("{}", of_authority_error(.0))]
    Authority(AuthorityError),

    #[error(transparent)]
    OcspRequest(OcspRequestError),
    #[error("no response was made: {0}")]
    Unanswered(ResponderError),
    #[error("it can't be served: {}", with_causes(&**.0))]
    Serving(Box<dyn Error + Send + Sync>),
    #[error(
        "the issuer's certificate does not follow the certificate in its file; name the issuer's file, \
         too"
    )]
    NoIssuer,
    #[error("the certificates are not one chain: {0}")]
    NotAChain(NotAChain),
    #[error("refused: {}", of_validation_error(.0))]
    Chain(Box<ValidationError>),
    #[error("{file}: {what}; don't use this key, and get it again from where it was made")]
    UnsoundKey { file: String, what: String },
    #[error(
        "the key of {key} is not the one in the certificate of {subject} in {certificate}; find the \
         key that the certificate was issued for, or have a certificate issued for this key"
    )]
    OtherKey {
        key: String,
        certificate: String,
        subject: String,
    },

    #[error("nothing was signed: {0}")]
    Signing(pq_cms::SigningError),
    #[error(
        "nothing was signed: {0} may be the signed attributes of a CMS message, and a signature of them without a \
         context would be one of that message's content; use --context or --pre-hash, or sign it by \"pqtls cms sign\""
    )]
    MayBeAttributes(String),
    #[error("{file} was refused: {}", of_message_error(.error))]
    SignedMessage {
        file: String,
        error: Box<pq_cms::VerificationError>,
    },
    #[error("{file} can't be read: {error}")]
    Message {
        file: String,
        error: pq_cms::InspectionError,
    },
    #[error(
        "{file} was refused: the revocation list of {issuer} is of {list}, after the time of signing, {signed}; \
         --at-signing-time takes only lists that were valid then: give those, or leave the option out if the \
         certificate is still valid"
    )]
    ListAfterSigning {
        file: String,
        issuer: String,
        list: String,
        signed: String,
    },
    #[error(
        "{0}; to trust the signer's own certificate, and no CA, give it with --signer in place of --roots"
    )]
    SignerAsRoot(Box<ValidationError>),
    #[error(
        "{0} signed its own certificate, and is no CA, so that no chain ends there: compare its fingerprint (\"pqtls cert \
         fingerprint\") with its owner's; for certificates that can be verified, make a root with \"pqtls cert self-sign --ca\", \
         or a CA with \"pqtls ca init\""
    )]
    OwnRoot(String),
    #[error("nothing was encrypted: {0}")]
    Enveloping(pq_cms::EnvelopingError),
    #[error("{file} was not decrypted: {}", of_opening_error(.error))]
    EncryptedMessage {
        file: String,
        error: pq_cms::OpeningError,
    },
    #[error(
        "{0} is a key of RSA, and decryption by RSA is not supported here; if the message was encrypted to it, decrypt with \
         \"openssl cms -decrypt -inform DER -in FILE -inkey {quoted}\"",
        quoted = quoted(.0)
    )]
    RsaToDecrypt(String),
    #[error("{file} was not encrypted: {error}")]
    Encryption {
        file: String,
        error: EncryptionError,
    },
    #[error(
        "{0} was not decrypted: it is a message (CMS); decrypt it with \"pqtls cms decrypt\", which takes the same options"
    )]
    MessageToDecrypt(String),
    #[error("{file} was not decrypted: {error}")]
    Decryption {
        file: String,
        error: DecryptionError,
    },
    #[error(
        "the key usage of the certificate of {0} is not keyEncipherment; give a certificate for encryption, or \
         its owner's public key"
    )]
    NotForEncryption(String),
    #[error(
        "what {file} has would be more than {} MiB to read; show a part of it",
        .limit >> 20
    )]
    LongReport { file: String, limit: usize },
    #[error("no key was made: {0}")]
    NewSshKey(pq_ssh::PrivateKeyError),
    #[error("{file}: {error}")]
    SshSigners {
        file: String,
        error: pq_ssh::AllowedSignersError,
    },
    #[error("nothing was signed: {0}")]
    SshSigning(pq_ssh::SignatureError),
    #[error("{file} was refused: {error}{}", advice_on_signer(.error))]
    SshNotAllowed {
        file: String,
        error: Box<pq_ssh::NotAllowed>,
    },
    #[error("{file}: {cause}; name a file that \"pqtls ca audit --new-head\" wrote")]
    AuditHead {
        file: String,
        cause: InvalidAuditHead,
    },
    #[error("{0} is not text, as it has to be; name another file")]
    NotText(String),
    #[error(
        "there are {keys} keys and {certificates} certificates; give one --cert for each --key, in the same \
         order"
    )]
    KeysAndCertificates { keys: usize, certificates: usize },
    #[error(
        "{file} has {found} keys to choose from, and one is needed; {}",
        match .names.is_empty() {
            true => "none has a name to choose it by: take one out with \"openssl pkcs12 -nocerts\"".into(),
            false => format!("choose it with --name: the file has {names}"),
        }
    )]
    WhichKey {
        file: String,
        found: usize,
        names: String,
    },
    #[error(
        "{file} has no key called {name:?}; {}",
        match .names.is_empty() {
            true => "its keys have no names: leave --name out".into(),
            false => format!("choose it with --name: the file has {names}"),
        }
    )]
    NoKeyOfName {
        file: String,
        name: String,
        names: String,
    },
    #[error("{0} has no private key; take out its certificates with \"pqtls cert import\"")]
    NoKey(String),
    #[error("{0} has no certificates; take out a private key with \"pqtls key import\"")]
    NoCertificates(String),
    #[error("{file} has no certificate of the key, so that {to} would be empty; leave --certs out")]
    NoCertificatesOfKey { file: String, to: String },

    #[error("{signature} is no valid signature of {message} by the key in {key}; {advice}")]
    InvalidSignature {
        signature: String,
        message: String,
        key: String,
        advice: &'static str,
    },
    #[error("{0}")]
    Jwk(JwkError),
    #[error("{0}")]
    Cose(Box<CoseError>),
    #[error("{}", of_jwt_error(.0))]
    Token(Box<JwtError>),
    #[error(
        "{file}: {}",
        match .at {
            Some(at) => of_jwt_error_at(.error, at),
            None => of_jwt_error(.error),
        }
    )]
    RefusedToken {
        file: String,
        /// The time of --at.
        at: Option<String>,
        error: Box<JwtError>,
    },
    #[error(
        "{file} has more than {mebibytes} MiB, and {algorithm} needs the whole message in memory; with a \
         hash, files may be of any size: sign and verify with --pre-hash {}",
        .algorithm.usual_pre_hash()
    )]
    TooLargeForMemory {
        file: String,
        mebibytes: usize,
        algorithm: SignatureAlgorithm,
    },

    #[error(
        "{file} is not a certificate of this CA: its ledger has {found} with the serial number {number}; \
         ask the CA that issued it"
    )]
    NotOfThisCa {
        file: String,
        number: String,
        found: &'static str,
    },
    #[error(
        "{file} has several certificates, and this command takes one; name it by its number: {}",
        serial_numbers(.numbers)
    )]
    WhichCertificate {
        file: String,
        numbers: Vec<SerialNumber>,
    },
    #[error(
        "{0} is the certificate of a key of the CA itself, which is followed by a new key: \"pqtls ca rollover\""
    )]
    RenewsCa(String),
    #[error(
        "this is the CA's own key, {0}: in a server or a client, whoever gets at it could act as the CA; give another key, such as a \
         new one (--new-key FILE, or \"pqtls key new\")"
    )]
    OwnKeyOfCa(String),
    #[error(
        "the request asks for the certificate of a CA, and this command issues those of end entities; certify a CA with \
         \"pqtls ca certify\", or have the request made without CA:TRUE"
    )]
    AsksForCa,
    #[error(
        "the request doesn't ask for the certificate of a CA (CA:TRUE in its basic constraints): whoever has its key could \
         issue certificates; sign an ordinary request with \"pqtls ca sign\", have the request of a CA made with CA:TRUE, or \
         certify a CA all the same with --unasked"
    )]
    AsksForNoCa,
    #[error("--unasked is for a request, and this is the certificate of a root; leave it out")]
    UnaskedOfRoot,
    #[error(
        "--dns and --ip are for the request of a CA, and this is the certificate of a root; leave them out: the other root \
         can issue for all names that this one can"
    )]
    ConstraintsOfRoot,
    #[error(
        "this CA's root signed none of the certificates; leave out --of-root, or give the file of another"
    )]
    NoneOfRoot,
    #[error(
        "no key of this CA signed the list in {0}, as far as this copy of its folder knows, so nothing was changed; give a list \
         that this CA published, and if a later key did, put back that key's certificate first"
    )]
    ListOfAnother(String),
    #[error(
        "{0} is not a CA's folder: it has no root.pem; name the folder of the CA above with --under, or have a CA elsewhere \
         certify the new one (--request)"
    )]
    NoCaAbove(String),
    #[error(
        "the CA's own key signed {name}, but its ledger has no certificate with the serial number {number}: it may be \
         an older copy, which lacks what was issued and revoked since; restore the newest backup, or, if there is none, \
         have the ledger record the certificate again with \"pqtls ca adopt {}\"{}; if \
         the ledger is none from a backup, find out who else uses the CA's key",
        command_line(.options.iter().chain([file])),
        if .options.is_empty() { ", and --revoke REASON to revoke it" } else { "" }
    )]
    NotInLedger {
        name: String,
        file: String,
        number: String,
        /// The options of "pqtls ca adopt" that revoke it, if that was asked for.
        options: Vec<String>,
    },
    #[error(
        "the ledger has this already, so nothing was recorded: {}; revoke it with \"pqtls ca revoke {}{options}\", or \
         leave its file out",
        serial_numbers(.numbers),
        all(.numbers)
    )]
    InLedger {
        numbers: Vec<SerialNumber>,
        /// The options of the revocation that was asked for, each after a space.
        options: String,
    },
    #[error(
        "the ledger has another certificate of this CA with the serial number {number}; revocation lists have numbers \
         alone, so revoke that one, which revokes both: \"pqtls ca revoke {number}{options}\""
    )]
    NumberOfAnother {
        number: SerialNumber,
        /// The options of the revocation, if one was asked for.
        options: String,
    },
    #[error(
        "{0} exists, and a new key replaces no file, also not with --force; choose another name, or give that key with \
         --key"
    )]
    NewKeyExists(String),
    #[error(
        "\"{0}\" is the name of another key: of the CA above, of one of its keys, or of another CA that it certified; revoked \
         certificates are known by their issuer's name, so choose another with --name"
    )]
    NameOfAnotherCa(String),
    /// A command of a CA failed. Command lines that its text advises get what they need to be about this CA.
    #[error("{file} says where the CA's ledger is: {failure}")]
    LedgerElsewhere { file: String, failure: Box<Self> },
    #[error("{}", about_ca(.failure, .options, *.of_root))]
    AtCa {
        failure: Box<Self>,
        options: String,
        /// Whether the root's key was to be used.
        of_root: bool,
    },
    #[error("the CA's root issued {0}, so the root answers: \"pqtls ca ocsp --root --for {quoted}\"", quoted = quoted(.0))]
    OfTheRoot(String),
    #[error("the CA's root did not issue {0}, so another key answers: leave --root out")]
    NotOfTheRoot(String),
    #[error("the CA's key {key} issued {which}, so that key answers: leave --issuer out")]
    OfAnotherKey { which: String, key: String },
    #[error(
        "{error}; but the CA has issued it, and its ledger keeps it: {}; write it with \"pqtls ca show \
         NUMBER --pem\"",
        serial_numbers(.issued)
    )]
    NotWritten {
        issued: Vec<SerialNumber>,
        error: OutputError,
    },
    #[error(
        "{failure}; before that, the CA issued certificates, which its ledger keeps: {}; those that their files lack, \
         write with \"pqtls ca show NUMBER --pem\"",
        serial_numbers(.issued)
    )]
    StoppedAfter {
        issued: Vec<SerialNumber>,
        failure: Box<Self>,
    },
    #[error(
        "{failure}; the new key stays in {file}, since the ledger may have a certificate for it: look with \"pqtls ca \
         list\", and write the certificate with \"pqtls ca show NUMBER --pem\", or issue one with --key {}",
        quoted(.file)
    )]
    KeyKept { file: String, failure: Box<Self> },
    #[error(
        "{refused} of {count} requests {}:\n{reasons}",
        match .dry_run {
            true if refused == count => "would be refused",
            true => "would be refused, and the others signed",
            false if refused == count => "were refused, and nothing was signed",
            false => "were refused, and the others signed",
        }
    )]
    RequestsRefused {
        dry_run: bool,
        refused: usize,
        count: usize,
        /// At least one line for each.
        reasons: String,
        /// The exit status of the most important reason.
        status: ExitStatus,
    },

    #[error(
        "{name} is not a local name: the root is limited to {local}, so that whoever steals its key can \
         impersonate nobody else; choose a name such as app.test, or use a second root without this limit \
         with --any-name"
    )]
    NotLocal { name: String, local: String },
    #[error(
        "the root in {0} has expired; run \"pqtls dev --uninstall\", remove the root's folder, and run \
         this again for a new root"
    )]
    RootExpired(String),
    #[error(
        "{file} is of the same roots, but for other names ({names}); name these to renew it, replace it with --force, \
         or choose another folder with --out-dir"
    )]
    OtherNames { file: String, names: String },
    #[error(
        "{0} belongs to another user, or others can change it, so what it has is not used; look where it comes from, \
         and remove the folder, or make it yours alone (chown, chmod go-w)"
    )]
    RootOfOthers(String),
    #[error(
        "the root in {file} may be another's, or an older version's, and certify more: {what}; look where it comes \
         from, run \"pqtls dev --uninstall\", remove the folder, and run this again for a new root"
    )]
    NotOurRoot { file: String, what: &'static str },
    #[error(
        "{failure}; roots are of no use without all of their files: remove {folder}, and run this again for new roots, which \
         clients then have to be told to trust"
    )]
    BrokenRoots { folder: String, failure: Box<Self> },
    #[error(
        "with sudo, this would use another user's roots; run it without sudo, and run the lines that it \
         prints with sudo, or name the roots' folder with --data-dir"
    )]
    BySudo,
    #[error("can't wait for signals, which could leave a key behind: {0}; try again")]
    Signals(io::Error),
    #[error("there is no home directory to keep the roots in; name a folder with --data-dir")]
    NoHome,

    #[error(
        "{name} is a serial number and the name of a file; write 00{}{name} for the number, or ./{name} for the file",
        if .name.contains(':') { ":" } else { "" }
    )]
    NumberOrFile { name: String },
    #[error(
        "{0:?} is neither a serial number in hexadecimal nor a file; see \"pqtls ca list\" for the \
         serial numbers"
    )]
    NotACertificate(String),
    #[error(
        "the certificates for {one} and {other} would both go to {file}; sign the requests one at a time, with --out"
    )]
    SameName {
        one: String,
        other: String,
        file: String,
    },
    #[error(
        "the CA's name has {len} characters, and may have {most}, since its root is called \"NAME Root\" and common \
         names have at most 64 (RFC 5280); choose a shorter one"
    )]
    LongNameOfCa { len: usize, most: usize },
    #[error("{0} has only revocation lists that don't say when they expire; name others")]
    NothingExpires(String),
    #[error(
        "--validity is longer than --root-validity, but an issuing CA may not outlive its root; shorten \
         the one, or lengthen the other"
    )]
    OutlivesRoot,
    #[error(
        "another CA certified this one, whose root's key is not here; name the folder of that CA with --under, or make a \
         request to it with --request"
    )]
    UnderAnother,
    #[error("the root of this CA certifies its keys; leave --under and --request out")]
    OwnRootCertifies,
    #[error(
        "the key before is of an algorithm that this program makes no keys of; name one with --algorithm"
    )]
    NameTheAlgorithm,
    #[error(
        "{} is under a passphrase, so that the new key should be, too; give --passphrase-file, or --no-passphrase to leave it \
         in the clear",
        _0.display()
    )]
    NewKeyInTheClear(PathBuf),
    #[error(
        "--all-with-key is for keys that others may know; name a compromise with {0}, such as keyCompromise"
    )]
    NotACompromise(&'static str),
    #[error(
        "the options for a passphrase are of no use without a private key; leave them out, or give --key or --new-key"
    )]
    NoKeyToEncrypt,
    #[error(
        "--ca-passphrase-file and its like open a key of a CA that is there, such as that of --under, and none is used here; \
         leave them out, or name the passphrase of new keys with --passphrase-file, --passphrase-fd or --passphrase-env"
    )]
    NoCaKeyToOpen,
    #[error(
        "--passphrase-file and its like are for a new key, and --use makes none; leave them out, or name the passphrase of \
         the key that is to issue with --ca-passphrase-file, --ca-passphrase-fd or --ca-passphrase-env"
    )]
    NoNewKeyToEncrypt,
    #[error(
        "the CA that gets the request decides how long the certificate is valid; leave --validity out, and have that CA give \
         it (\"--validity\" of its command \"certify\")"
    )]
    ValidityOfRequest,
    #[error(
        "with --json the report goes to standard output, and so would the result; name a file with --out"
    )]
    JsonBesideResult,
    #[error(
        "the token would be valid from {from}, and expire before that, at {until}: --validity counts from now; give a \
         longer one, or an earlier --not-before"
    )]
    ExpiresFirst { from: String, until: String },
    #[error(
        "with --json the report goes to standard output, which has the result itself here; leave --json out{0}"
    )]
    NoReport(&'static str),
    #[error(
        "there is nobody whom this would be for; say whom, with --name <NAME> or with --subject <SUBJECT>"
    )]
    Nameless,
    #[error(
        "the names are longer than the 64 characters of a common name, and the issuer of a certificate has a name (RFC \
         5280 section 4.1.2.4), which here is the subject's; give one with --subject"
    )]
    OnlyLongNames,
    #[error(
        "clients check a server's names (RFC 9525), and this one has none; give one with --name"
    )]
    NamelessServer,
    #[error(
        "pqtls writes JSON Web Keys and COSE_Keys of ML-DSA (RFC 9964) alone, and this key is of {0}; choose another format, \
         such as --format pem"
    )]
    OnlyMlDsa(keys::Algorithm),
    #[error(
        "{0} has no seed, of which JSON Web Keys and COSE_Keys consist (RFC 9964), but the expanded key alone, from which it \
         can't be computed; use the file that has the seed, or make a new key"
    )]
    NoSeedToWrite(String),
    #[error(
        "SSH has keys of MLDSA44-Ed25519-SHA512, and this key is of {0}; choose another format, or make an SSH key with \"pqtls \
         ssh new\" or \"pqtls store new\""
    )]
    NoSshKey(keys::Algorithm),
    #[error(
        "pqtls writes public keys alone as SSH's lines; choose another format, or make an SSH key with \"pqtls ssh new\""
    )]
    SshPublicOnly,
    #[error("{0} private keys have one form; leave --form out")]
    NoForms(keys::Algorithm),
    #[error("raw bytes are a seed or an expanded key, not both; choose with --form")]
    BothAsRaw,
    #[error(
        "a JSON Web Key and a COSE_Key have the seed and nothing else (RFC 9964); leave --form out"
    )]
    SeedOnly,
    #[error("{0} is not supported by this command; choose another algorithm")]
    Unsupported(Algorithm),

    #[error(
        "no row of \"pqtls bench\" has {0} in its name; name an algorithm, such as ML-DSA-65, or an \
         operation, such as signing or issuing"
    )]
    NothingToMeasure(String),
    #[error("\"{0}\" failed while it was measured; run it by itself to see why")]
    NotMeasured(String),
    #[error("can't run {program}: {error}; name OpenSSL's program with --openssl")]
    NoOpenssl { program: String, error: io::Error },
    #[error(
        "{program} is not OpenSSL's program: asked for its version, it says {says:?}; name OpenSSL's \
         program with --openssl"
    )]
    NotOpenssl { program: String, says: String },
    #[error(
        "the environment variable {variable} names {name:?}, which this CPU doesn't have; unset it, or \
         set it to one of {known}"
    )]
    NoBackend {
        variable: &'static str,
        name: String,
        known: String,
    },
}

impl Failure {
    pub(crate) fn status(&self) -> ExitStatus {
        if let Some(failure) = self.of_key_in_store() {
            return failure.status();
        }
        match self {
            Self::Document(error) if error.is_refusal() => ExitStatus::Refused,
            Self::Document(DocumentError::Passphrase(error)) if error.is_usage() => {
                ExitStatus::Usage
            }
            Self::Protection(ProtectionError::Randomness(_))
            | Self::Pkcs12(Pkcs12Error::Protection(ProtectionError::Randomness(_))) => {
                ExitStatus::InputOutput
            }
            Self::Document(_) | Self::Output(_) | Self::Signals(_) => ExitStatus::InputOutput,
            // Then a file is meant, and is missing.
            Self::NotACertificate(name) if name.contains(['.', '/']) => ExitStatus::InputOutput,
            Self::NewKeyExists(_) | Self::OtherNames { .. } => ExitStatus::InputOutput,
            Self::NotWritten { .. } | Self::NoCaAbove(_) => ExitStatus::InputOutput,
            Self::Key(error) if error.is_lack_of_randomness() => ExitStatus::InputOutput,
            Self::Key(
                KeyError::Any(AnyKeyError::Classical(ClassicalKeyError::NoRawBytes(_)))
                | KeyError::NoRawBytes(_),
            ) => ExitStatus::Usage,
            Self::NoOpenssl { .. } | Self::NotOpenssl { .. } | Self::NotMeasured(_) => {
                ExitStatus::InputOutput
            }
            Self::Folder(error) => of_folder(error),
            Self::Store(failure) => failure.status(),
            Self::Acme(failure) => failure.status(),
            Self::Authority(error) => of_authority(error),
            Self::RequestsRefused { status, .. } => *status,
            Self::StoppedAfter { failure, .. }
            | Self::KeyKept { failure, .. }
            | Self::AtCa { failure, .. }
            | Self::LedgerElsewhere { failure, .. }
            | Self::BrokenRoots { failure, .. } => failure.status(),
            Self::Unanswered(ResponderError::Ledger(
                LedgerError::Clock { .. } | LedgerError::IssuerRevoked { .. },
            )) => ExitStatus::Refused,
            Self::Unanswered(ResponderError::Ledger(_)) => ExitStatus::InputOutput,
            Self::NotLocal { .. } => ExitStatus::Policy,
            Self::Signing(pq_cms::SigningError::Encoding(_))
            | Self::Enveloping(
                pq_cms::EnvelopingError::Encoding(_) | pq_cms::EnvelopingError::Randomness(_),
            ) => ExitStatus::InputOutput,
            Self::SignedMessage { error, .. } => match **error {
                pq_cms::VerificationError::Encoding(_) => ExitStatus::InputOutput,
                _ => ExitStatus::Refused,
            },
            Self::EncryptedMessage {
                error: pq_cms::OpeningError::Encoding(_),
                ..
            } => ExitStatus::InputOutput,
            Self::Encryption { error, .. } => of_encryption(error),
            Self::Decryption { error, .. } => of_decryption(error),
            Self::SshNotAllowed { .. } => ExitStatus::Refused,
            Self::SshSigners { .. }
            | Self::Message { .. }
            | Self::LongReport { .. }
            | Self::MessageToDecrypt(_)
            | Self::NewSshKey(pq_ssh::PrivateKeyError::Randomness)
            | Self::RsaToDecrypt(_)
            | Self::AuditHead { .. }
            | Self::NotText(_)
            | Self::Serving(_) => ExitStatus::InputOutput,
            Self::NewSshKey(_) | Self::SshSigning(_) => ExitStatus::Usage,
            Self::Signing(_)
            | Self::MayBeAttributes(_)
            | Self::Enveloping(_)
            | Self::ListAfterSigning { .. }
            | Self::SignerAsRoot(_)
            | Self::EncryptedMessage { .. } => ExitStatus::Refused,
            Self::Key(_)
            | Self::Protection(_)
            | Self::Pkcs12(_)
            | Self::Issue(_)
            | Self::Request(_)
            | Self::Trust(_)
            | Self::OcspRequest(_)
            | Self::Unanswered(_)
            | Self::NotAChain(_)
            | Self::Chain(_)
            | Self::OwnRoot(_)
            | Self::NoSeedToWrite(_)
            | Self::UnsoundKey { .. }
            | Self::OtherKey { .. }
            | Self::InvalidSignature { .. }
            | Self::Jwk(_)
            | Self::Cose(_)
            | Self::Token(_)
            | Self::RefusedToken { .. }
            | Self::NotForEncryption(_)
            | Self::NotOfThisCa { .. }
            | Self::NotInLedger { .. }
            | Self::InLedger { .. }
            | Self::AsksForCa
            | Self::OwnKeyOfCa(_)
            | Self::RenewsCa(_)
            | Self::NameOfAnotherCa(_)
            | Self::AsksForNoCa
            | Self::NoneOfRoot
            | Self::ListOfAnother(_)
            | Self::OnlyMlDsa(_)
            | Self::NoSshKey(_)
            | Self::OfTheRoot(_)
            | Self::NotOfTheRoot(_)
            | Self::OfAnotherKey { .. }
            | Self::NumberOfAnother { .. }
            | Self::RootOfOthers(_)
            | Self::NotOurRoot { .. }
            | Self::RootExpired(_) => ExitStatus::Refused,
            Self::TooLargeForMemory { .. }
            | Self::KeysAndCertificates { .. }
            | Self::NotACertificate(_)
            | Self::NumberOrFile { .. }
            | Self::WhichKey { .. }
            | Self::NoKeyOfName { .. }
            | Self::NoKey(_)
            | Self::NoCertificates(_)
            | Self::NoCertificatesOfKey { .. }
            | Self::WhichCertificate { .. }
            | Self::NoIssuer
            | Self::BySudo
            | Self::NoHome
            | Self::SameName { .. }
            | Self::LongNameOfCa { .. }
            | Self::NothingExpires(_)
            | Self::OutlivesRoot
            | Self::ConstraintsOfRoot
            | Self::UnaskedOfRoot
            | Self::UnderAnother
            | Self::OwnRootCertifies
            | Self::NameTheAlgorithm
            | Self::NewKeyInTheClear(_)
            | Self::JsonBesideResult
            | Self::NotACompromise(_)
            | Self::NoKeyToEncrypt
            | Self::NoCaKeyToOpen
            | Self::NoNewKeyToEncrypt
            | Self::ValidityOfRequest
            | Self::NamelessServer
            | Self::ExpiresFirst { .. }
            | Self::NoReport(_)
            | Self::Nameless
            | Self::OnlyLongNames
            | Self::NoForms(_)
            | Self::BothAsRaw
            | Self::SshPublicOnly
            | Self::SeedOnly
            | Self::Unsupported(_)
            | Self::NothingToMeasure(_)
            | Self::NoBackend { .. } => ExitStatus::Usage,
        }
    }

    /// The stable name of a key store's failure.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Self::Store(failure) => failure.code(),
            Self::AtCa { failure, .. }
            | Self::LedgerElsewhere { failure, .. }
            | Self::StoppedAfter { failure, .. } => failure.code(),
            _ => self.of_key_in_store().and_then(StoreFailure::code),
        }
    }
}

fn advice_on_signer(error: &pq_ssh::NotAllowed) -> &'static str {
    match error {
        pq_ssh::NotAllowed::UnknownKey { .. } => {
            "; check --identity and --signers, and if it is the signer's key, add a line with it"
        }
        pq_ssh::NotAllowed::Namespace { .. } => {
            "; check --namespace, or have its line permit that one"
        }
        pq_ssh::NotAllowed::Time { .. } => "; if it was signed at another time, say when with --at",
        _ => "",
    }
}

fn of_encryption(error: &EncryptionError) -> ExitStatus {
    match error {
        EncryptionError::Read(_)
        | EncryptionError::Write(_)
        | EncryptionError::Hpke(HpkeError::Kem(
            KemError::XWing(XWingError::Randomness(_))
            | KemError::MlKem(pq_keys::KeyError::Randomness(_)),
        )) => ExitStatus::InputOutput,
        _ => ExitStatus::Refused,
    }
}

fn of_decryption(error: &DecryptionError) -> ExitStatus {
    match error {
        DecryptionError::Read(_)
        | DecryptionError::Write(_)
        | DecryptionError::NotEncrypted
        | DecryptionError::NoChunk => ExitStatus::InputOutput,
        _ => ExitStatus::Refused,
    }
}

fn of_folder(error: &FolderError) -> ExitStatus {
    match error {
        // the name of a new CA
        FolderError::Issue(IssueError::Name(_))
        | FolderError::Request(RequestError::Name(_))
        | FolderError::Authority(AuthorityError::Issue(IssueError::Name(_))) => ExitStatus::Usage,
        FolderError::Authority(error) => of_authority(error),
        FolderError::Ledger(error) => of_ledger(error),
        FolderError::Above(cause) | FolderError::CertifiedAbove { cause, .. } => of_folder(cause),
        FolderError::Issue(_)
        | FolderError::OtherKey { .. }
        | FolderError::OtherOfName { .. }
        | FolderError::NotOfThisCa(_)
        | FolderError::Unlisted { .. }
        | FolderError::Unverifiable { .. }
        | FolderError::OfLaterKey { .. }
        | FolderError::OfCaBelow { .. }
        | FolderError::OfCaAbove { .. }
        | FolderError::OfUnknownKey { .. }
        | FolderError::OwnRoot
        | FolderError::OtherLedger { .. }
        | FolderError::OtherIssuing { .. }
        | FolderError::SeveralFirst { .. }
        | FolderError::OtherFirst { .. }
        | FolderError::UnknownFile { .. }
        | FolderError::NotOneCa { .. }
        | FolderError::OtherRoot { .. }
        | FolderError::OtherAbove { .. }
        | FolderError::OtherPending(_)
        | FolderError::Unusable { .. }
        | FolderError::WaitingKey { .. }
        | FolderError::BegunKey { .. }
        | FolderError::LackedAbove { .. }
        | FolderError::NameWaits { .. }
        | FolderError::RootIssues
        | FolderError::RootElsewhere(_)
        | FolderError::OutlivesParent { .. }
        | FolderError::RootExpired { .. }
        | FolderError::PathLength { .. }
        | FolderError::NoRoomBelow { .. }
        | FolderError::RequestedConstraints(_)
        | FolderError::WiderNames { .. }
        | FolderError::OutsideParent { .. }
        | FolderError::NotARoot(_)
        | FolderError::CertifiesItself
        | FolderError::NotAccepted(_)
        | FolderError::NameTaken(_)
        | FolderError::NotInstalled(_)
        | FolderError::UnknownKey(_)
        | FolderError::KeyWaits(_)
        | FolderError::IssuesAlready(_)
        | FolderError::Request(_) => ExitStatus::Refused,
        _ => ExitStatus::InputOutput,
    }
}

fn of_authority(error: &AuthorityError) -> ExitStatus {
    match error {
        AuthorityError::Forbidden(_)
        | AuthorityError::OutsideConstraints { .. }
        | AuthorityError::OutsidePurposes { .. } => ExitStatus::Policy,
        AuthorityError::Ledger(error) => of_ledger(error),
        _ => ExitStatus::Refused,
    }
}

fn of_ledger(error: &LedgerError) -> ExitStatus {
    match error {
        LedgerError::SerialNumberTaken(_)
        | LedgerError::RequestTaken { .. }
        | LedgerError::LostHead(_)
        | LedgerError::Unknown(_)
        | LedgerError::NotOnHold(_)
        | LedgerError::NotAReason
        | LedgerError::KeyCompromised(_)
        | LedgerError::Revoked { .. }
        | LedgerError::IssuerRevoked { .. }
        | LedgerError::AnotherIssuers { .. }
        | LedgerError::NotIssuing { .. }
        | LedgerError::GenerationsChanged
        | LedgerError::NoSuccession(_)
        | LedgerError::Clock { .. }
        | LedgerError::LaterList { .. }
        | LedgerError::NotAboveLists { .. } => ExitStatus::Refused,
        _ => ExitStatus::InputOutput,
    }
}

fn about_ca(failure: &Failure, options: &str, of_root: bool) -> String {
    const CONFIRM: &str = "pqtls ca crl --clock-is-right";
    const OF_ROOT: &str = "pqtls ca crl --root --clock-is-right";
    let mut text = failure.to_string();
    if of_root {
        text = text.replace(CONFIRM, OF_ROOT);
    }
    with_options_of_ca(&text, options)
}

/// Serial numbers as arguments.
fn all(numbers: &[SerialNumber]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(" ")
}

/// Names the first few serial numbers, and counts the rest.
fn serial_numbers(issued: &[SerialNumber]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = issued.iter().take(SHOWN).map(ToString::to_string).collect();
    match issued.len() - shown.len() {
        0 => format!("serial number {}", shown.join(", ")),
        more => format!("serial number {} and {more} more", shown.join(", ")),
    }
}

/// Converts causes into failures. `#[from]` would also make a cause the `source()`, but the failure's text
/// has the cause's text already.
macro_rules! from_causes {
    ($($variant:ident($cause:ty)),+) => {$(
        impl From<$cause> for Failure {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause)
            }
        }
    )+};
}

from_causes!(
    Jwk(JwkError),
    Key(KeyError),
    Protection(ProtectionError),
    Pkcs12(Pkcs12Error),
    Issue(IssueError),
    Request(RequestError),
    OcspRequest(OcspRequestError),
    NotAChain(NotAChain),
    Folder(FolderError),
    Signing(pq_cms::SigningError),
    Enveloping(pq_cms::EnvelopingError),
    NewSshKey(pq_ssh::PrivateKeyError)
);

impl From<StoreFailure> for Failure {
    fn from(failure: StoreFailure) -> Self {
        Self::Store(Box::new(failure))
    }
}

impl From<AcmeFailure> for Failure {
    fn from(failure: AcmeFailure) -> Self {
        Self::Acme(Box::new(failure))
    }
}

impl From<DoorFailure> for Failure {
    fn from(failure: DoorFailure) -> Self {
        StoreFailure::Door(failure).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        StoreFailure::Store(error).into()
    }
}

impl From<pq_ssh::SignatureError> for Failure {
    fn from(error: pq_ssh::SignatureError) -> Self {
        Self::SshSigning(error)
    }
}

impl From<CoseError> for Failure {
    fn from(error: CoseError) -> Self {
        Self::Cose(Box::new(error))
    }
}

impl From<JwtError> for Failure {
    fn from(error: JwtError) -> Self {
        Self::Token(Box::new(error))
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Document(error.into())
    }
}

impl From<PassphraseError> for Failure {
    fn from(error: PassphraseError) -> Self {
        Self::Document(error.into())
    }
}

impl From<pq_keys::KeyError> for Failure {
    fn from(error: pq_keys::KeyError) -> Self {
        Self::Key(error.into())
    }
}

impl From<AnyKeyError> for Failure {
    fn from(error: AnyKeyError) -> Self {
        Self::Key(error.into())
    }
}

impl From<CompositeKeyError> for Failure {
    fn from(error: CompositeKeyError) -> Self {
        Self::Key(error.into())
    }
}

impl From<ClassicalKeyError> for Failure {
    fn from(error: ClassicalKeyError) -> Self {
        Self::Key(error.into())
    }
}

impl From<AuthorityError> for Failure {
    fn from(error: AuthorityError) -> Self {
        let AuthorityError::Forbidden(forbidden) = &error else {
            return Self::Authority(error);
        };
        // No policy could permit such a name: it is wrong wherever it is given.
        let reasons = forbidden.refusals().iter().map(Refusal::reason);
        let mut wrong = reasons.filter_map(|reason| match reason {
            Reason::NotADnsName(name) | Reason::WideWildcard(name) => {
                AlternativeName::Dns(name.clone()).check().err()
            }
            Reason::NotAnEmailAddress(error) => Some(error.clone().into()),
            Reason::NotAUri(error) => Some(error.clone().into()),
            _ => None,
        });
        match wrong.next() {
            Some(name) => Self::Issue(IssueError::Name(name)),
            None => Self::Authority(error),
        }
    }
}

impl From<IssuanceError> for Failure {
    fn from(error: IssuanceError) -> Self {
        error.into_cause().into()
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        AuthorityError::from(error).into()
    }
}

impl From<Forbidden> for Failure {
    fn from(error: Forbidden) -> Self {
        AuthorityError::from(error).into()
    }
}
