//! Why a command on a key store failed: what was wrong, what to do next, its exit status and the store's stable code.

use core::error::Error;
use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};

use pq_keys::encoding::rfc3339;
use pq_keystore::audit::InvalidHead;
use pq_keystore::custody::TokenError;
use pq_keystore::policy::{InvalidPolicyFile, InvalidPrincipal, Verb};
use pq_keystore::sealing::{KekError, KekForm, KekServerProblem};
use pq_keystore::storage::{CopyError, StorageError};
use pq_keystore::{
    Damage, InvalidAttestation, InvalidGrantsFile, InvalidName, KeyId, KeyName, StoreError,
    VersionState,
};
use pq_x509::pki_types::UnixTime;

use super::Failure;
use super::database::DatabaseFailure;
use super::door::DoorFailure;
use super::transit::TransitFailure;
use crate::exit_status::ExitStatus;
use crate::keys::Algorithm;
use crate::report::with_unit;
use crate::shell::quoted;

/// Why a command on a key store failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFailure {
    #[error("{}", of_store_error(.0))]
    Store(StoreError),
    #[error(
        "{0} is sealed under a key: give it with --kek-file FILE, --kek-credential NAME, --kek-pkcs11 LABEL (with --pkcs11-module \
         and --token), --kek-transit ADDRESS or --store-passphrase-file FILE, or run this at a terminal to be asked for a passphrase"
    )]
    NoKek(String),
    #[error(
        "a store is sealed under a key: give it with --kek-file FILE (\"(umask 077; head -c 32 /dev/urandom > NEW)\" makes one in a \
         new file), --kek-credential NAME, --kek-pkcs11 LABEL (with --pkcs11-module and --token), --kek-transit ADDRESS or \
         --store-passphrase-file FILE, or run this at a terminal to be asked for a passphrase"
    )]
    NoNewKek,
    #[error("{0}; \"(umask 077; head -c 32 /dev/urandom > NEW)\" makes one in a new file")]
    NewKek(KekError),
    #[error(transparent)]
    Database(#[from] DatabaseFailure),
    #[error(transparent)]
    Door(#[from] DoorFailure),
    #[error(transparent)]
    Transit(#[from] TransitFailure),
    #[error(
        "{} begins as a key in a store, but was changed or cut off; restore it from a backup", .0.display()
    )]
    Reference(PathBuf),
    #[error(
        "a key in a store signs messages and µ, and no pre-hash of this program; leave --pre-hash out, or sign by a key in a file"
    )]
    NoPreHash,
    #[error(
        "a key in a store signs with randomness; leave --deterministic out, or sign by a key in a file"
    )]
    NotDeterministic,
    #[error(
        "{key} is a key of {algorithm}, and SSH has keys of MLDSA44-Ed25519-SHA512; make one by \"pqtls store \
         new NAME --algorithm MLDSA44-Ed25519-SHA512\""
    )]
    NotComposite {
        key: String,
        algorithm: &'static str,
    },
    #[error("the key store's file has no path that stays: {0}; name it by its absolute path")]
    NoAbsolutePath(io::Error),
    #[error(
        "the CA's keys are in the key store {0}, and the new one will be, too, under no passphrase of its own; leave \
         --no-passphrase, --passphrase-file and its like out"
    )]
    KeysOfCaInStore(String),
    #[error(
        "the key store of the CA's key: {error}; bring the store back to that place, or write where it is now after \"store:\" in \
         {}; {}", .file.display(), if_store_is_lost(*.has_root)
    )]
    StoreOfCa {
        file: PathBuf,
        error: StorageError,
        /// Whether it is the store of the root's key, too.
        has_root: bool,
    },
    #[error(
        "{missing}, which {} names: the store is older than the CA's folder, as after a backup; restore a newer one, or, if there is \
         none, the key is lost: have the next one issue (\"pqtls ca rollover\"), and the lost one's certificate revoked (\"pqtls \
         ca revoke {}\" and \"pqtls ca crl --root\", or at the CA above); a version that \"pqtls store rotate\" makes is another \
         key", .file.display(), .file.with_extension("pem").display()
    )]
    OlderThanCa {
        file: PathBuf,
        missing: String,
        code: Option<&'static str>,
    },
    #[error(
        "the key store for new keys: {0}; check --key-store, or make one with \"pqtls store init\""
    )]
    StoreOfNewKeys(StorageError),
    #[error("the backup: {0}; name a file that \"pqtls store backup\" wrote")]
    Backup(StorageError),
    #[error("{0}")]
    KeyName(InvalidName),
    #[error(
        "the store's key {key} is of {found}, and one of {asked} is asked for; name another key by --key-names, with \
         --key-store"
    )]
    OtherAlgorithm {
        key: String,
        found: &'static str,
        asked: &'static str,
    },
    #[error(
        "the store's key {0} was there already, and was made to be exported, which never changes: others may have it, so it is no \
         CA's; name another key by --key-names, with --key-store"
    )]
    ExportableKey(String),
    #[error(
        "the store's key {key} was there already, and its policy is not that of a CA's key: {found}; name another key by \
         --key-names, with --key-store, or, if you know who made it, change its policy (\"pqtls store policy set {key}\")"
    )]
    OtherPolicy { key: String, found: String },
    #[error(
        "{store:?} can't stand in a file of a CA's folder, which names the store in one line of text; give the store another name"
    )]
    UnwritablePlace { store: String },
    #[error(
        "--key-names is TENANT/PURPOSE for a store that is opened here, such as pki/ca, and NAME for one at https://, such as ca"
    )]
    KeyNames,
    #[error(
        "this needs a token: give its module with --pkcs11-module FILE and its label with --token LABEL"
    )]
    NoToken,
    #[error("a token has a module and a label: give both --pkcs11-module FILE and --token LABEL")]
    HalfAToken,
    #[error(
        "{0:?} is no label of a token that a store can name: it has 1 to 64 characters, and begins with a letter or a digit"
    )]
    TokenLabel(String),
    #[error("PQTLS_STORE_AS: {0}; name who you are with --as")]
    Principal(InvalidPrincipal),
    #[error("{file} is no policy: {error}")]
    PolicyFile {
        file: String,
        error: InvalidPolicyFile,
    },
    #[error(
        "{file} is no file of grants: {error}; \"pqtls store grants show\" writes one to change"
    )]
    GrantsFile {
        file: String,
        error: InvalidGrantsFile,
    },
    #[error("{0} begins as a signature of a key store, but was changed or cut off; get it again")]
    Signature(String),
    #[error(
        "{file} is a signature by {found}, not by {asked}; name the key that you expect, without a version or with this one"
    )]
    OtherKey {
        file: String,
        found: String,
        asked: String,
    },
    #[error(
        "{file} has more than {mebibytes} MiB; sign and verify the µ of large files, which \"pqtls mu\" computes, with --mu"
    )]
    LargeMessage { file: String, mebibytes: usize },
    #[error("{file}: {error}")]
    Head { file: String, error: InvalidHead },
    #[error("{file}: {error}; get it again from the store that made it")]
    Attestation {
        file: String,
        error: InvalidAttestation,
    },
    #[error("{file} is an attestation of {found}, not of {asked}")]
    AttestsAnother {
        file: String,
        found: KeyName,
        asked: KeyName,
    },
    #[error(
        "{count} of the store's rows are damaged: {}{}; the other keys can be used",
        named(.first, .others),
        if *count > 1 + .others.len() { "; and others, which --json names" } else { "" },
    )]
    Damaged {
        count: usize,
        first: StoreError,
        /// Some of the others.
        others: Vec<StoreError>,
    },
    /// Nothing can be done with the store, not even checked.
    #[error("{}; nothing in the store can be used until then", of_store_error(.0))]
    NotOpened(StoreError),
    #[error(
        "{file} is a copy of {store} as it is, of which {count} rows are damaged: {}; so keep the backups from before, since \"pqtls \
         store restore\" takes none with damaged rows, and the log with them",
        rows(.damaged, *.count)
    )]
    DamagedCopy {
        file: String,
        store: String,
        count: usize,
        /// What is wrong with some of them.
        damaged: Vec<StoreError>,
    },
    #[error(
        "nothing was restored: {count} rows of the backup {file} are damaged: {}; restore another backup; if there is none, copy \
         {file} to where the store was: the keys whose rows are whole can be used there, unless no command opens it",
        rows(.damaged, *.count)
    )]
    DamagedBackup {
        file: String,
        count: usize,
        /// What is wrong with some of them.
        damaged: Vec<StoreError>,
    },
    #[error("nothing was restored: the backup {file} is damaged: {reason}; restore another backup")]
    BrokenBackup { file: String, reason: String },
    #[error(
        "the store's index has {0} more keys than were found, whose rows are missing: \"pqtls store check\" names them; restore them \
         from a backup"
    )]
    MissingKeys(u64),
    #[error(
        "{failed} of {count} keys that were due were not rotated, the first, {key}: {}; the others were",
        of_store_error(.error)
    )]
    NotRotated {
        failed: usize,
        count: usize,
        key: KeyName,
        error: StoreError,
    },
    #[error("{}", of_copy(.0))]
    Copy(CopyError),
    #[error("{file} is no file of tokens: {problem}")]
    Tokens { file: String, problem: String },
    #[error(
        "can't read the file of tokens {file}: {problem}; check --tokens, or write one (\"pqtls store serve --help\")"
    )]
    TokensUnread { file: String, problem: io::Error },
    #[error("{id} is {}: {what}", .state.name())]
    State {
        id: KeyId,
        state: VersionState,
        what: &'static str,
    },
    #[error("the store can't be served: {}", with_causes(&**.0))]
    Serve(Box<dyn Error + Send + Sync>),
}

impl StoreFailure {
    pub(crate) fn serve(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Serve(error.into())
    }

    pub(crate) fn tokens(file: &Path, problem: &dyn Error) -> Self {
        Self::Tokens {
            file: file.display().to_string(),
            problem: problem.to_string(),
        }
    }

    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Store(error) | Self::NotOpened(error) | Self::NotRotated { error, .. } => {
                of_error(error)
            }
            Self::Database(failure) => failure.status(),
            Self::Door(failure) => failure.status(),
            Self::Transit(failure) => failure.status(),
            Self::NoKek(_)
            | Self::NoNewKek
            | Self::NoToken
            | Self::HalfAToken
            | Self::TokenLabel(_)
            | Self::KeyName(_)
            | Self::KeyNames
            | Self::KeysOfCaInStore(_)
            | Self::NoPreHash
            | Self::NotDeterministic
            | Self::NotComposite { .. }
            | Self::OtherAlgorithm { .. }
            | Self::UnwritablePlace { .. }
            | Self::Principal(_)
            | Self::LargeMessage { .. } => ExitStatus::Usage,
            Self::Reference(_)
            | Self::StoreOfCa { .. }
            | Self::StoreOfNewKeys(_)
            | Self::Backup(_)
            | Self::BrokenBackup { .. }
            | Self::NoAbsolutePath(_)
            | Self::PolicyFile { .. }
            | Self::GrantsFile { .. }
            | Self::Signature(_)
            | Self::Copy(_)
            | Self::Tokens { .. }
            | Self::TokensUnread { .. }
            | Self::Serve(_)
            | Self::NewKek(_)
            | Self::Head {
                error: InvalidHead::Form(_),
                ..
            }
            | Self::Attestation {
                error: InvalidAttestation::Form(_),
                ..
            } => ExitStatus::InputOutput,
            Self::ExportableKey(_) | Self::OtherPolicy { .. } => ExitStatus::Policy,
            Self::OtherKey { .. }
            | Self::Head { .. }
            | Self::Attestation { .. }
            | Self::AttestsAnother { .. }
            | Self::OlderThanCa { .. }
            | Self::State { .. }
            | Self::MissingKeys(_)
            | Self::DamagedCopy { .. }
            | Self::DamagedBackup { .. }
            | Self::Damaged { .. } => ExitStatus::Refused,
        }
    }

    /// Says otherwise what to do about a store that isn't where it was looked for.
    pub(crate) fn if_missing(
        failure: Failure,
        otherwise: impl FnOnce(StorageError) -> Self,
    ) -> Failure {
        let Failure::Store(failure) = failure else {
            return failure;
        };
        match *failure {
            Self::Store(StoreError::Storage(
                error @ (StorageError::NotOpened { .. } | StorageError::NotAStorage { .. }),
            )) => otherwise(error).into(),
            other => other.into(),
        }
    }

    /// Why a store was not opened.
    pub(crate) fn not_opened(error: StoreError) -> Self {
        match error {
            StoreError::Damaged { .. } => Self::NotOpened(error),
            error => Self::Store(error),
        }
    }

    /// Speaks of a backup, which nobody can restore from a backup, and not of the copy in which it is checked.
    pub(crate) fn of_backup(failure: Failure, backup: &Path) -> Failure {
        let file = backup.display().to_string();
        let Failure::Store(failure) = failure else {
            return failure;
        };
        match *failure {
            Self::Damaged {
                count,
                first,
                others,
            } => Self::DamagedBackup {
                file,
                count,
                damaged: core::iter::once(first).chain(others).collect(),
            },
            Self::NotOpened(error) | Self::Store(error @ StoreError::Damaged { .. }) => {
                Self::DamagedBackup {
                    file,
                    count: 1,
                    damaged: vec![error],
                }
            }
            Self::Store(StoreError::Storage(StorageError::Damaged { reason, .. }))
            | Self::Copy(CopyError::Storage(StorageError::Damaged { reason, .. })) => {
                Self::BrokenBackup { file, reason }
            }
            Self::Store(StoreError::NoStore(_) | StoreError::Unfinished(_)) => {
                Self::Backup(StorageError::NotAStorage {
                    storage: format!("the file {file}"),
                })
            }
            other => other,
        }
        .into()
    }

    /// Says what to do about a key of a CA's folder that its store lacks.
    pub(crate) fn if_older(failure: Failure, file: &Path) -> Failure {
        let Failure::Store(failure) = failure else {
            return failure;
        };
        let (missing, code) = match &*failure {
            Self::Store(error @ (StoreError::VersionNotFound(_) | StoreError::NotFound(_))) => {
                (error.to_string(), Some(error.code()))
            }
            Self::Door(missing @ (DoorFailure::NoKey { .. } | DoorFailure::NoVersion { .. })) => {
                (missing.to_string(), missing.code())
            }
            _ => return Failure::Store(failure),
        };
        Self::OlderThanCa {
            file: file.into(),
            missing,
            code,
        }
        .into()
    }

    /// The store's stable name for what happened.
    pub(super) fn code(&self) -> Option<&'static str> {
        match self {
            Self::Store(error)
            | Self::NotOpened(error)
            | Self::NotRotated { error, .. }
            | Self::Damaged { first: error, .. } => Some(error.code()),
            Self::OlderThanCa { code, .. } => *code,
            Self::Door(failure) => failure.code(),
            Self::Head { .. } => Some("head"),
            Self::MissingKeys(_) => Some("missing"),
            Self::DamagedCopy { damaged, .. } | Self::DamagedBackup { damaged, .. } => {
                damaged.first().map(StoreError::code)
            }
            Self::BrokenBackup { .. } => Some("storage-damaged"),
            Self::NewKek(_) => Some("kek"),
            Self::State { .. } => Some("state"),
            Self::StoreOfCa { error, .. } | Self::StoreOfNewKeys(error) | Self::Backup(error) => {
                Some(StoreError::Storage(error.clone()).code())
            }
            _ => None,
        }
    }
}

/// What is left once the store of a CA's key is lost.
fn if_store_is_lost(has_root: bool) -> &'static str {
    match has_root {
        true => {
            "it has the root's key, too, so if it is lost, only a backup of the store is left (\"pqtls store restore BACKUP\"), or a \
             new CA, whose root clients have to trust: without the root's key, no key can issue in this one's place"
        }
        false => "if it is lost, \"pqtls ca rollover --key-store OTHER\" makes a new issuing key",
    }
}

/// An error and what caused it, as far as its text doesn't have that.
pub(super) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text += &format!(": {said}");
        }
        cause = error.source();
    }
    text
}

/// Why a store was not copied, and what is there now.
fn of_copy(error: &CopyError) -> String {
    match error {
        CopyError::NotEmpty(_) => format!(
            "nothing was copied: {error}; restore to another schema (schema=NAME in the address), or drop this one if nobody needs \
             what is there"
        ),
        CopyError::OtherCopy(_) => format!(
            "nothing was copied: {error}; restore the backup that was begun with, or drop the schema of the unfinished one first"
        ),
        _ => format!("no store was copied: {error}"),
    }
}

/// What is wrong with rows, where there is other advice than to restore them.
fn rows(damaged: &[StoreError], count: usize) -> String {
    let said = |error: &StoreError| match error {
        StoreError::Damaged { row, reason } => format!("{row} ({reason})"),
        error => error.to_string(),
    };
    let mut rows: Vec<_> = damaged.iter().map(said).collect();
    if count > rows.len() {
        rows.push("and others".into());
    }
    rows.join("; ")
}

/// What is wrong with each row.
fn named(first: &StoreError, others: &[StoreError]) -> String {
    let all = core::iter::once(first).chain(others).map(of_store_error);
    all.collect::<Vec<_>>().join("; ")
}

fn of_error(error: &StoreError) -> ExitStatus {
    match error {
        StoreError::Denied { .. }
        | StoreError::InputNotPermitted { .. }
        | StoreError::MessageTooLong { .. }
        | StoreError::BelowMinimum { .. }
        | StoreError::NotExportable(_)
        | StoreError::ExportableChanged(_)
        | StoreError::Policy(_) => ExitStatus::Policy,
        StoreError::NoStore(_)
        | StoreError::Unfinished(_)
        | StoreError::OtherStore(_)
        | StoreError::StoreExists(_)
        | StoreError::Storage(_)
        | StoreError::Away { .. }
        | StoreError::OutcomeUnknown(_)
        | StoreError::Contended
        | StoreError::Randomness(_)
        | StoreError::Kek(
            KekError::NotAvailable { .. }
            | KekError::Parameters { .. }
            | KekError::Length { .. }
            | KekError::Guessable { .. }
            | KekError::Server { .. },
        )
        | StoreError::Damaged {
            reason: Damage::Record(_) | Damage::Missing,
            ..
        } => ExitStatus::InputOutput,
        StoreError::Key(error) if error.is_lack_of_randomness() => ExitStatus::InputOutput,
        _ => ExitStatus::Refused,
    }
}

/// Whether the system says that there is no such file.
fn is_missing(reason: &str) -> bool {
    reason.contains(&io::Error::from(io::ErrorKind::NotFound).to_string())
        || ["(os error 2)", "(os error 3)"]
            .iter()
            .any(|end| reason.ends_with(end))
}

/// What to do about a file that isn't what the store is sealed under, and may be made into it.
fn of_other_form(file: &Path, form: Option<KekForm>) -> String {
    let file = quoted(&file.to_string_lossy());
    let how = match form {
        Some(KekForm::LineEnd) => format!("head -c 32 {file}"),
        Some(KekForm::Hexadecimal) => format!("xxd -r -p {file}"),
        Some(KekForm::Base64) => format!("base64 -d {file}"),
        _ => {
            return "it is not what the store is sealed under; find the right copy, and overwrite none"
                .into();
        }
    };
    format!(
        "it is not what the store is sealed under, but may have it in it: \"(umask 077; {how} > NEW)\" writes that into a new \
         file to give; overwrite none"
    )
}

/// What to do about a server that has the key that a store is sealed under.
fn of_server(problem: KekServerProblem) -> &'static str {
    match problem {
        KekServerProblem::Away => "; try again when it is back: meanwhile nobody opens the store",
        KekServerProblem::Tls => {
            "; check that the certificate of Vault or OpenBao is for this host, and by the CA of ?cacert=FILE or VAULT_CACERT"
        }
        KekServerProblem::Token => {
            "; renew the token, or have its policy permit what \"Seal under a key of Vault or OpenBao\" in docs/keys.md lists"
        }
        KekServerProblem::NoKey => {
            "; check the address; a version that wrapped is needed until \"pqtls store rewrap\", so lower the key's \
             min_decryption_version until then; for a new store, make a key by \"vault write -f transit/keys/NAME\""
        }
        KekServerProblem::Unfit => "; make another by \"vault write -f transit/keys/NAME\"",
        KekServerProblem::Answer => "; check that Vault or OpenBao answers at this address",
        _ => "",
    }
}

/// The option for what a store is sealed under.
fn of_kind(found: &str) -> &'static str {
    match found {
        "key-file" => ", with --kek-file FILE",
        "credential" => ", with --kek-credential NAME",
        "pkcs11" => ", with --kek-pkcs11 LABEL, --pkcs11-module FILE and --token LABEL",
        "transit" => ", with --kek-transit ADDRESS",
        "passphrase" => ", with --store-passphrase-file FILE, or at a terminal",
        _ => "",
    }
}

/// What to do about a token that does not do something.
fn of_token(error: &TokenError) -> &'static str {
    match error {
        TokenError::NotGiven => ": --pkcs11-module, --token and --pin-file",
        TokenError::Pin(_) | TokenError::PinSource(_) => "; check --pin-file or --pin-credential",
        TokenError::Module { .. } => "; check --pkcs11-module",
        TokenError::NoObject(_) => ", with --token-serial",
        _ => "",
    }
}

/// When a version may be destroyed: the store counts seconds.
fn not_yet(id: &KeyId, seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(24 * 60 * 60, "day"), (60 * 60, "hour"), (60, "minute")];
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "second"));
    let at = UnixTime::now().as_secs().saturating_add(seconds);
    format!(
        "{id} may be destroyed from {} on, {} from now",
        rfc3339(UnixTime::since_unix_epoch(Duration::from_secs(at))),
        with_unit(seconds.div_ceil(length), unit)
    )
}

/// Why a store did not do something, and what to do, in options of the command line.
pub(crate) fn of_store_error(error: &StoreError) -> String {
    if let StoreError::Kek(KekError::Length { file, form, .. }) = error {
        return format!("{error}; {}", of_other_form(file, *form));
    }
    let key = match error {
        StoreError::VersionNotFound(id)
        | StoreError::State { id, .. }
        | StoreError::NotYet { id, .. } => Some(id.name()),
        StoreError::NoVersionWithKey(name) => Some(name),
        _ => None,
    };
    if let Some(key) = key {
        let said = match error {
            StoreError::NotYet { id, seconds } => not_yet(id, *seconds),
            error => error.to_string(),
        };
        return format!("{said}; see \"pqtls store show {key}\"");
    }
    let advice = match error {
        StoreError::Denied {
            verb: Verb::Export, ..
        } => {
            "; only a key that was made to be exported can be, which \"pqtls store show\" says of each, and by whom its policy (\"pqtls \
             store policy set\") grants it: say who you are with --as"
        }
        StoreError::Denied { key, .. } if key == "the store" => {
            "; have it granted by the store's grants (\"pqtls store grants set\"), or say who you are with --as"
        }
        StoreError::Denied { .. } => {
            "; if \"pqtls store list\" has it, have it granted by the key's policy (\"pqtls store policy set\") or the store's \
             (\"pqtls store grants set\"), or say who you are with --as"
        }
        StoreError::NotFound(_) => "; see \"pqtls store list\"",
        StoreError::Exists(_) => {
            "; choose another name, or give it another version by \"pqtls store rotate\""
        }
        StoreError::InputNotPermitted { .. } | StoreError::MessageTooLong { .. } => {
            "; see \"pqtls store policy show\""
        }
        StoreError::InvalidSignature => "; check that message, key and context are the signer's",
        StoreError::VersionNeeded { .. } => ", with --key NAME#VERSION",
        StoreError::NotExportable(_) => {
            "; only a new key can be exportable, by its policy or --exportable"
        }
        StoreError::ClockBehind { .. } | StoreError::ClockAhead { .. } => {
            ", by \"pqtls store confirm-time\""
        }
        StoreError::BelowMinimum { .. } => "; see \"pqtls store policy show\"",
        StoreError::ExportableChanged(_) => {
            "; leave it as \"pqtls store policy show\" has it, or make another key"
        }
        StoreError::Algorithm {
            algorithm: Algorithm::Agreement(_),
            ..
        } => "; take another algorithm: \"pqtls store new --help\" lists them",
        StoreError::Algorithm { .. } => {
            "; name another key: \"pqtls store list\" says what each is of"
        }
        StoreError::StoreExists(_) => "; choose another place with --store",
        StoreError::Log(_) => {
            "; find out who changed the store before you use its keys, or restore a backup"
        }
        StoreError::HeadNotReached { .. } => {
            "; find out who changed the store before you use its keys"
        }
        StoreError::Kek(KekError::Wrong { .. } | KekError::Other { .. }) => {
            "; give that one, or open a backup from before"
        }
        StoreError::Kek(KekError::Kind { found }) => of_kind(found),
        StoreError::Kek(KekError::NotAvailable { .. }) => {
            "; check the option or variable that names it"
        }
        StoreError::Token { error, .. } => of_token(error),
        StoreError::Kek(KekError::Guessable { .. }) => {
            "; \"(umask 077; head -c 32 /dev/urandom > NEW)\" makes one in a new file"
        }
        StoreError::Kek(KekError::Server { problem, .. }) => of_server(*problem),
        StoreError::Storage(StorageError::NotOpened { reason, .. }) if !is_missing(reason) => {
            "; check where the store is (--store), and that you may read and write it"
        }
        StoreError::Storage(StorageError::NotOpened { .. }) => {
            "; check where the store is (--store), or make one with \"pqtls store init\""
        }
        StoreError::Storage(StorageError::Full { .. }) => "; make room, and try again",
        StoreError::Storage(StorageError::InUse { .. }) => {
            "; try again, or keep the store in PostgreSQL (docs/keys.md)"
        }
        StoreError::Storage(StorageError::NotAStorage { .. }) => {
            "; check where the store is (--store), or restore it from a backup"
        }
        StoreError::Unfinished(_) => {
            ": run \"pqtls store restore\" with the same backup again, which goes on with it, or drop the schema"
        }
        StoreError::NoStore(_) => " by \"pqtls store init\"",
        StoreError::OutcomeUnknown(_) => "; look at the key before you try again",
        _ => "",
    };
    format!("{error}{advice}")
}
