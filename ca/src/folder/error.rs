//! What can be wrong with a CA's folder. The messages name the file and say what to do; two helpers add the file's path
//! to errors of the system and of keys.

use alloc::borrow::Cow;
use core::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use pq_keys::encoding::rfc3339;
use pq_x509::certificate::{Certificate, CertificateError, SignatureError};
use pq_x509::issuing::IssueError;
use pq_x509::pki_types::UnixTime;
use pq_x509::request::RequestError;
use pq_x509::validation::ValidationError;

use crate::authority::{AuthorityError, NotAdopted};
use crate::ledger::{AFTER_A_BACKUP, InvalidSerialNumber, LedgerError, SerialNumber, remedy};
use crate::policy::PolicyError;

/// Why a CA's folder can't be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The path exists already.
    #[error("{0} exists; choose another folder, or move that one away")]
    Exists(PathBuf),
    /// A CA was to be made, or to be completed, where one is complete.
    #[error(
        "{0} has a CA that is complete, so that there is nothing to go on with; for another one, choose another folder"
    )]
    Complete(PathBuf),
    /// A CA was to be made where a link is.
    #[error(
        "{0} is a link, and a CA's folder gets its name in one step; name the folder that the link leads to"
    )]
    Link(PathBuf),
    /// A CA was to be made in a folder that is not there.
    #[error(
        "{0} is not a folder that is there, and the CA's folder is made in it; make it first, or choose another place"
    )]
    NoPlace(PathBuf),
    /// There is no CA in the folder.
    #[error(
        "{0} is not a CA's folder: it has no {ROOT}; name the folder of a CA, or make a CA there",
        ROOT = super::ROOT_CERTIFICATE
    )]
    NoCa(PathBuf),
    /// The folder is what a process left that was killed while it made a CA.
    #[error(
        "{0} is the draft of a CA whose making was interrupted; make the CA again, which removes the draft"
    )]
    Unfinished(PathBuf),
    /// The certificate of the issuing key is gone. The root does not issue in its place.
    #[error(
        "{path} is not there, and the root is not for issuing; put it back from a backup, or from the ledger, which has \
         it as the certificate that the root issued{}",
        match .numbers.is_empty() {
            true => String::new(),
            false => format!(" ({})", joined(.numbers)),
        }
    )]
    NoIssuingCertificate {
        /// The file.
        path: PathBuf,
        /// The numbers of the certificates in the ledger that may be it, if it can be read.
        numbers: Vec<SerialNumber>,
    },
    /// Other users may write to a file or folder.
    #[error(
        "{0} can be changed by other users; look whether somebody did, and allow nobody else to (chmod go-w {0})"
    )]
    Writable(PathBuf),
    /// The system's administrator uses the folder of another user.
    #[error("{path} belongs to another user; run this as that user (sudo -u '#{owner}')")]
    OfAnother {
        /// The folder.
        path: PathBuf,
        /// The number of its owner.
        owner: u32,
    },
    /// A folder above the CA or above one of its keys can be changed by everybody.
    #[error(
        "in {0} everybody can put another folder in the place of the CA's or its key's; forbid that (chmod o-w {0}), \
         or move them elsewhere"
    )]
    Exposed(PathBuf),
    /// A file of the CA is lost: others are there.
    #[error("{0} is missing, which belongs to the CA there; {how}", how = how_to_restore(.0))]
    Missing(PathBuf),
    /// A file belongs to somebody else.
    #[error(
        "{0} belongs to another user, who can change it; run this as its owner, or look at it and take it over \
         (chown)"
    )]
    OtherOwner(PathBuf),
    /// A file is a folder, a pipe or a device.
    #[error("{0} is not a file; put the file there, from a backup")]
    NoFile(PathBuf),
    /// There is nothing in a file.
    #[error("{0} is empty, perhaps because a disk was full; restore it from a backup")]
    Empty(PathBuf),
    /// A file is larger than any of a CA.
    #[error("{0} is larger than a CA's files are; restore it from a backup")]
    TooLarge(PathBuf),
    /// A file is not text.
    #[error("{0} is not text, as a CA's files are; restore it from a backup")]
    NoText(PathBuf),
    /// A key is under a passphrase.
    #[error(
        "{0} is encrypted; give its passphrase, with a program that asks for it, such as pqtls, or by \
         Folder::authority_with"
    )]
    Encrypted(PathBuf),
    /// A key is not the one in the certificate.
    #[error(
        "the key in {key} is not the one in the certificate in {certificate}; put back the key alone, from any backup of this \
         CA, or of the key store if it is in one, that has it; {gone}",
        gone = if_gone(.key)
    )]
    OtherKey {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
    },
    /// A key fits its certificate's file, and the ledger has another one of this name, as where a backup of a later key was
    /// copied over it.
    #[error(
        "{key} and {certificate} fit each other, and are not the key that the ledger has as \"{name}\"; if they are another \
         key of this CA, move both to names that are free there, {free}.key and {free}.pem (\"pqtls ca rollover --use {free}\" \
         has it issue); then put back {key} alone, from a backup that was made since \"{name}\" followed, or, if there is \
         none, have a new key issue (\"pqtls ca rollover\")"
    )]
    OtherOfName {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
        /// The name of the key that the ledger has.
        name: String,
        /// The name that the other one can get.
        free: String,
    },
    /// A key's file doesn't say which key it is, as one that is encrypted or in a store, and that matters.
    #[error("{key} does not tell its public key here ({why}), so it is not known {then}")]
    UnknownFile {
        /// The key's file.
        key: PathBuf,
        /// Why.
        why: String,
        /// What is not known for this reason, and what to do.
        then: String,
    },
    /// The ledger is another CA's: it has other revocations.
    #[error(
        "{ledger} does not fit the CA in {certificate}: it is another CA's ledger, or older than that certificate; put \
         back {ledger} alone, from the newest backup of this CA; what was issued and revoked since that backup is \
         lost: record and revoke it again, before the next revocation list is made"
    )]
    OtherLedger {
        /// The ledger's folder.
        ledger: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
    },
    /// The folder remembers that its ledger is elsewhere, and a program looked for it in the folder.
    #[error(
        "{0} says that this CA's ledger is in a database, and what this program does needs one in the folder; use a program \
         or a command that opens it there, or have the ledger moved into the folder (\"pqtls ca move\")"
    )]
    LedgerElsewhere(PathBuf),
    /// The ledger was to be moved into the folder, and is there.
    #[error("this CA's ledger is in its folder already, in {0}; there is nothing to move")]
    LedgerInFolder(PathBuf),
    /// The file that says where the ledger is does not say it.
    #[error(
        "{path} does not say where this CA's ledger is: {why}; it has the one line postgres = \"ADDRESS\"; write that again, or \
         restore the file from a backup or another copy of the folder"
    )]
    LedgerFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A ledger for a new CA is not empty.
    #[error(
        "the ledger in {0} has certificates already, and each CA has a ledger of its own; give the new CA an empty one \
         (if these are left of a CA that could not be made, empty it, or take another schema)"
    )]
    UsedLedger(PathBuf),
    /// The issuing certificate is not the one that the root issued and that the ledger has.
    #[error(
        "{issuing} does not fit {ledger} and {root}, which fit each other; leave these as they are, and take the \
         certificate from the ledger, which has it under the serial number {number}"
    )]
    OtherIssuing {
        /// The file of the issuing certificate.
        issuing: PathBuf,
        /// The ledger's folder.
        ledger: PathBuf,
        /// The root's file.
        root: PathBuf,
        /// The number of the right certificate in the ledger: of several for its key, the newest.
        number: SerialNumber,
    },
    /// The file of the issuing certificate has none that fits, and the ledger has several that may be it.
    #[error(
        "{issuing} has no certificate that fits, and {ledger} has several, by their serial numbers {}: which of them is that \
         of the CA's first key is not known, since {key} doesn't tell ({why}); find out, as from an older backup, and take \
         that one from the ledger",
        joined(.numbers)
    )]
    SeveralFirst {
        /// The file of the issuing certificate.
        issuing: PathBuf,
        /// The ledger's folder.
        ledger: PathBuf,
        /// The file of its key.
        key: PathBuf,
        /// Why that doesn't tell.
        why: String,
        /// The numbers of the certificates.
        numbers: Vec<SerialNumber>,
    },
    /// The file of the first issuing key has another certificate than the ledger, which has it as that of a key that
    /// another CA certified.
    #[error(
        "{issuing} has another certificate than the one that {ledger} has for the CA's first key, or others above it; leave \
         the ledger as it is, and move {issuing} away: the CA goes by the ledger then"
    )]
    OtherFirst {
        /// The file of the issuing certificate.
        issuing: PathBuf,
        /// The ledger's folder.
        ledger: PathBuf,
    },
    /// The root's certificate is another CA's.
    #[error(
        "{root} did not issue the certificate in {issuing}, which the ledger has; leave the others as they are, and \
         put back {root} alone, from any backup of this CA or from whoever trusts it"
    )]
    OtherRoot {
        /// The root's file.
        root: PathBuf,
        /// The file of the issuing certificate.
        issuing: PathBuf,
    },
    /// No two of root, issuing certificate and ledger are of one CA.
    #[error(
        "of {root}, {issuing} and {ledger}, no two are of one CA; look where they come from; restoring the whole \
         folder from the newest backup is the last resort: what was issued and revoked since that backup is lost then, \
         so record and revoke it again, before the next revocation list is made"
    )]
    NotOneCa {
        /// The root's file.
        root: PathBuf,
        /// The file of the issuing certificate.
        issuing: PathBuf,
        /// The ledger's folder.
        ledger: PathBuf,
    },
    /// A certificate is not of this CA: none of its keys signed it.
    #[error(
        "no key of this CA signed the certificate of {0}, as far as this copy of its folder knows; ask the CA that issued it, \
         or if a newer key of this CA did, give the file with that key's certificate, too"
    )]
    NotOfThisCa(String),
    /// A certificate has a serial number that no list of this CA can have.
    #[error(
        "a key of this CA signed the certificate of {subject}, but with a serial number that the CA gives none and its \
         ledger takes not: {cause}; so it can't be recorded or revoked by itself: if whoever made it had the key, revoke that \
         key's own certificate with \"pqtls ca revoke --reason keyCompromise\", which is the end of all that it signed"
    )]
    Unlisted {
        /// The certificate's subject.
        subject: String,
        /// Why no ledger takes it.
        cause: InvalidSerialNumber,
    },
    /// A certificate names this CA as its issuer, but its signature can't be verified here.
    #[error(
        "the certificate of {subject} names {issuer} as its issuer, but whether that key signed it can't be told: {cause}"
    )]
    Unverifiable {
        /// Its issuer.
        issuer: String,
        /// The certificate's subject.
        subject: String,
        /// Why not.
        cause: Box<SignatureError>,
    },
    /// A certificate is of a key that the root certified, and that the folder and the ledger don't know.
    #[error(
        "the key of {issuer} issued the certificate of {subject}, and this CA's root certified that key, but this copy of the \
         folder, with its ledger, is from before that: put back a newer backup of the whole folder, which has the key; if \
         there is none, but the key's two files, copy these into the folder, which is enough, under names that are free there: \
         {free}.key and {free}.pem (\"pqtls ca rollover --use {free}\" has it issue again); if the key is lost, record its certificate, which is the second one \
         in a file of \"pqtls ca issue\", with \"pqtls ca adopt --of-root\" and --revoke, have the root's list made with \
         \"pqtls ca crl --root\", and issue anew what that key issued; if it is the key of another CA, which this one \
         certified since, name that CA's folder with --dir"
    )]
    OfLaterKey {
        /// The name of the key's owner, in its certificate.
        issuer: String,
        /// Whose certificate it is.
        subject: String,
        /// The name that a key can get which comes back.
        free: String,
    },
    /// A certificate is of a CA that this one certified, or of one below that.
    #[error(
        "{issuer} issued the certificate of {subject}: a CA that this one certified, or one below that, whose own ledger has it; \
         name the folder of that CA with --dir. If it is a later key of this CA, this copy of the folder, with its ledger, is \
         from before that: put back a newer backup"
    )]
    OfCaBelow {
        /// The name of the CA that issued it.
        issuer: String,
        /// Whose certificate it is.
        subject: String,
    },
    /// A certificate is of a CA above this one.
    #[error(
        "the CA above this one signed the certificate of {subject}: {issuer}, whose ledger has it, and whose lists say whether it \
         is revoked; what this CA recorded of it would reach nobody. To show or revoke it there, name the folder of that CA \
         with --dir"
    )]
    OfCaAbove {
        /// The name of the CA that issued it.
        issuer: String,
        /// Whose certificate it is.
        subject: String,
    },
    /// A certificate is of a key that a CA above this one certified, and that the folder and the ledger don't know.
    #[error(
        "{issuer} issued the certificate of {subject}, and is no key of this CA, as far as this copy of its folder knows, but \
         certified by a CA above it: name the folder of the CA whose key that is with --dir, such as that of the CA above; if \
         it is a later key of this CA, this copy is from before that: put back a newer backup of the whole folder, or copy the \
         key's two files into it under names that are free there, {free}.key and {free}.pem (\"pqtls ca rollover --use {free}\" \
         has it issue again); if the key is lost, have its certificate revoked at the CA above, whose ledger has it, and issue anew what that key issued"
    )]
    OfUnknownKey {
        /// The name of the key's owner, in its certificate.
        issuer: String,
        /// Whose certificate it is.
        subject: String,
        /// The name that a key can get which comes back.
        free: String,
    },
    /// A certificate is the root's own, which no ledger has.
    #[error(
        "this is the certificate of the CA's own root, which is in no ledger, and which no list of its own can revoke; \
         if others may know its key, have nobody trust it any more, and make a new CA"
    )]
    OwnRoot,
    /// The root itself issues, so that there is no issuing key below it which another could follow.
    #[error(
        "the root of this CA issues, and its certificate permits no key below it; a new key is a new root: make a new CA in \
         another folder, and have clients trust its root; for clients that trust only this one, it can certify a root of the \
         same name that issues, too (the new CA has the same --name and --no-intermediate; then \"pqtls ca certify \
         NEW/root.pem\"), and none of another name or with a key below it"
    )]
    RootIssues,
    /// The root has expired.
    #[error(
        "the root, \"{root}\", expired at {}, and nobody accepts anything below it any more, whichever key issues it; make a \
         new CA, and have clients trust its root",
        rfc3339(*.until)
    )]
    RootExpired {
        /// Its name.
        root: String,
        /// When it expired.
        until: UnixTime,
    },
    /// A CA's certificate was to be valid for longer than the one that signs it.
    #[error(
        "the certificate above it ends at {}, and nobody accepts what is below it for longer; choose a shorter time, or \
         have that certificate renewed first",
        rfc3339(*.until)
    )]
    OutlivesParent {
        /// Until when the certificate above is valid.
        until: UnixTime,
    },
    /// A CA may have CAs below it, and not one that has as many below itself.
    #[error(
        "\"{subject}\" has path length {path_len}, so that the CA that it certifies has at most {most}; ask for that"
    )]
    PathLength {
        /// The CA above.
        subject: String,
        /// Its path length.
        path_len: u8,
        /// The greatest path length of what it certifies.
        most: u8,
    },
    /// A root has CAs below it, and the certificate that it was to get would permit none.
    #[error(
        "\"{own}\" has path length 1, which leaves path length 0 for another root, and \"{root}\" has CAs below it (path \
         length {asked}): nobody would accept what these issue; have a root certify it whose path length is greater, or \
         which has none, or make the new root with the same name as this one, which doesn't count; --path-length 0 \
         certifies it all the same, for what that root issues itself"
    )]
    NoRoomBelow {
        /// The root that was to be certified.
        root: String,
        /// Its path length.
        asked: u8,
        /// The CA that was to certify it.
        own: String,
    },
    /// A CA was to be for names that the CA above it does not permit.
    #[error(
        "the certificate of {parent} does not permit {name}, so that nobody would accept a certificate for that name from \
         a CA below it; leave the name out, or have a CA certify this one whose name constraints permit it"
    )]
    OutsideParent {
        /// The name that is not permitted.
        name: String,
        /// The CA above.
        parent: String,
    },
    /// A request asks for name constraints that this CA can't write.
    #[error(
        "the request asks for name constraints that this CA does not write: {0}; say what the other CA is for, with --dns \
         and --ip of \"pqtls ca certify\", or have it make a request with other constraints"
    )]
    RequestedConstraints(Cow<'static, str>),
    /// A certificate that came back permits more names than its request asks for.
    #[error(
        "nothing was installed: the certificate of {subject} permits other names than those that the CA was made for, \
         {asked}: clients would accept whatever its key signs; have one issued with the name constraints of the request \
         (a CA of pqtls gives them by its command \"certify\"), or install it with --any-names: only the policy limits \
         the names then"
    )]
    WiderNames {
        /// Whose certificate it is.
        subject: String,
        /// The names that the request asks for.
        asked: String,
    },
    /// The CA waits for the certificate of its key.
    #[error(
        "the CA in {0} waits for its certificate; have its request, {0}/issuing.csr, signed by another CA, and install what \
         comes back (\"pqtls ca install\")"
    )]
    Pending(PathBuf),
    /// A certificate that is no root's own was to be certified as one.
    #[error(
        "the certificate of {0} is not a root's own, signed by its own key; give that of a root, or a request by the CA that \
         is to be certified"
    )]
    NotARoot(String),
    /// A CA was to certify its own key.
    #[error(
        "this is the key of the CA that would certify it, and what a key says of itself tells nobody anything; give the \
         request of another CA, or the certificate of another root"
    )]
    CertifiesItself,
    /// Nobody would accept what a CA issues.
    #[error("nobody would accept what the CA issues, so nothing was changed: {0}")]
    NotAccepted(ValidationError),
    /// A new key was to have the name of another one.
    #[error(
        "\"{0}\" is the name of another key: of a root, of one that issues, issued or will issue, or of another CA that is \
         certified; revoked certificates are known by their issuer's name, so choose another (the issuing keys of one CA share \
         one with \"pqtls ca rollover --same-name\"; the CA above certifies that with --same-name, too)"
    )]
    NameTaken(String),
    /// The root's key is another CA's.
    #[error(
        "another CA certified this one, and has the key of the root, whose certificate is {0}: what needs that key, such as \
         the root's revocation list, is done there"
    )]
    RootElsewhere(PathBuf),
    /// The certificates that came back for a request are not what the CA needs.
    #[error("nothing was installed: {0}")]
    NotInstalled(Cow<'static, str>),
    /// The request for a certificate can't be made.
    #[error(transparent)]
    Request(RequestError),
    /// The CA has no key of this name.
    #[error("this CA has no key \"{0}\"; \"pqtls ca show\" lists its keys")]
    UnknownKey(String),
    /// A key has no certificate yet.
    #[error(
        "the key \"{0}\" waits for its certificate; have its request, {0}.csr in the CA's folder, signed by the CA above, and \
         install what comes back (\"pqtls ca install\")"
    )]
    KeyWaits(String),
    /// A key that was to issue does so already.
    #[error("the key \"{0}\" issues already; there is nothing to do")]
    IssuesAlready(String),
    /// A new key is recorded, or may be, and something failed at the end or afterwards.
    #[error(
        "{}{}; {}, and look whether \"pqtls ca show\" lists the key{}",
        match .is_done {
            true => format!("the ledger has the new key \"{name}\" with its certificate, so don't repeat the command; but then this failed: "),
            false => format!("it is not known whether the ledger has the new key \"{name}\": "),
        },
        trouble(.cause),
        remedy_of(.cause),
        match .is_done { true => "", false => ", before you try again" }
    )]
    NotSure {
        /// The key's name in the ledger.
        name: String,
        /// Whether the ledger has it.
        is_done: bool,
        /// What failed.
        cause: Box<Self>,
    },
    /// What the CA above, or its ledger, refused. What the text advises is to be done there.
    #[error("{0}")]
    Above(Box<Self>),
    /// The CA that was to certify a key is another one than the one above.
    #[error(
        "the CA that was named as the one above has the root \"{given}\", and the one above this CA is another, whose name is \
         \"{own}\", and whose root's certificate belongs in {root}; name the folder of that CA (--under)"
    )]
    OtherAbove {
        /// The name of the CA that was given.
        given: String,
        /// The name of the CA above this one.
        own: String,
        /// The file of its certificate.
        root: PathBuf,
    },
    /// The CA above has certified a key, and this CA could not record that.
    #[error(
        "{cause}; the CA above has certified the key \"{name}\" in {path} already, and the same command goes on with that key"
    )]
    CertifiedAbove {
        /// The key's name in the ledger of this CA, which doesn't have it yet.
        name: String,
        /// This CA's folder.
        path: PathBuf,
        /// What failed.
        cause: Box<Self>,
    },
    /// A CA waits for its certificate, and another one was to be made in its folder.
    #[error(
        "the CA in {0} was begun and waits for its certificate, and it has another name, is for other names, is valid for \
         another time, or has another key, algorithm, protection or policy; give the options with which it was begun, or choose another folder"
    )]
    OtherPending(PathBuf),
    /// A CA was begun with a certificate that is of no use.
    #[error(
        "the CA in {path} was begun and is not complete, and can't be completed now: {why}; it issued nothing yet, so revoke \
         its certificate at the CA above, remove {path}, and begin again"
    )]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the certificate.
        why: String,
    },
    /// A CA was begun, and what did that was interrupted, or its root's certificate is lost.
    #[error(
        "{0} is missing: if the making of the CA there was interrupted, the same command completes it (\"pqtls ca init\" with \
         --under, or \"pqtls ca install\"); otherwise restore it from a backup"
    )]
    NotCompleted(PathBuf),
    /// A key that waits can't be read.
    #[error(
        "{key}, which waits for its certificate, can't be read as the new key is kept: {cause}; give the passphrase that it was \
         made with, or, to give that key up, remove {key} and {request}"
    )]
    WaitingKey {
        /// The key's file.
        key: PathBuf,
        /// Its request.
        request: PathBuf,
        /// The error of the key's [`StoredKey`](super::StoredKey).
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The key of a CA that was begun can't be read.
    #[error(
        "{key}, the key of a CA that was begun, can't be read as the new key is kept: {cause}; give the passphrase that it was \
         made with, or, to give that CA up, which issued nothing yet, {}remove {path}, and begin again",
        revoke_above(.certified)
    )]
    BegunKey {
        /// The CA's folder.
        path: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The numbers of the certificates that the CA above has for it.
        certified: Vec<SerialNumber>,
        /// The error of the key's [`StoredKey`](super::StoredKey).
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A CA was begun, and the ledger of the CA above lacks its certificate.
    #[error(
        "the CA in {path} was begun, and its certificate is not in the ledger of the CA above, which is from before that, as \
         from an older backup; have it recorded there again (\"pqtls ca adopt {certificate}\"), and do the same again"
    )]
    LackedAbove {
        /// The CA's folder.
        path: PathBuf,
        /// The file of its certificate.
        certificate: PathBuf,
    },
    /// A new key was to have the name of one that waits for its certificate.
    #[error(
        "\"{name}\" is the name of the key in {key}, which waits for its certificate: have its request, {request}, signed and \
         install what comes back (\"pqtls ca install\"), choose another name, or, to give that key up, remove {key} and \
         {request}"
    )]
    NameWaits {
        /// The name.
        name: String,
        /// The key's file.
        key: PathBuf,
        /// Its request.
        request: PathBuf,
    },
    /// Another thread stopped it, by [`Interruption::stop`](super::Interruption::stop).
    #[error("making the CA was stopped, and nothing is left of it; begin again")]
    Stopped,
    /// A key is not in the folder.
    #[error("{0} is not there; put the key back for as long as it is needed; {gone}", gone = if_gone(.0))]
    NoKey(PathBuf),
    /// A file can't be read or written.
    #[error("can't {doing} {path}: {cause}; {}", advice(.cause, path))]
    Io {
        /// What failed, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A certificate can't be read.
    #[error("{path}: {cause}; restore it from a backup")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why it can't be read.
        cause: CertificateError,
    },
    /// A key can't be read or written.
    #[error("{path}: {cause}; restore it from a backup")]
    Key {
        /// The file.
        path: PathBuf,
        /// The error of the key's [`StoredKey`](super::StoredKey).
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The key does not belong to the certificate, or a certificate can't be issued.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The policy is wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The ledger can't be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The root could not certify the issuing key.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

impl FolderError {
    /// Whether nothing was recorded for certain.
    pub(super) fn changed_nothing(&self) -> bool {
        match self {
            Self::Authority(error) => error.changed_nothing(),
            Self::Ledger(error) => error.changed_nothing(),
            _ => true,
        }
    }

    /// For `map_err`: a certificate of this CA's can't be recorded.
    pub(super) fn not_adopted(certificate: &Certificate, error: NotAdopted) -> Self {
        match error {
            NotAdopted::Key(error) => IssueError::SubjectKey(error).into(),
            NotAdopted::Number(cause) => Self::Unlisted {
                subject: certificate.describe_subject(),
                cause,
            },
        }
    }

    /// For `map_err`: the CA above refused it.
    pub(super) fn above(cause: impl Into<Self>) -> Self {
        Self::Above(Box::new(cause.into()))
    }

    /// Whether a file is there and can be read, and only what is in it can't be used.
    pub(super) fn is_of_content(&self) -> bool {
        matches!(
            self,
            Self::Empty(_) | Self::TooLarge(_) | Self::NoText(_) | Self::Certificate { .. }
        )
    }
}

/// What to do about a file of the CA that is lost.
fn how_to_restore(path: &Path) -> String {
    let ledger = Path::new(super::LEDGER);
    if path.ends_with(ledger) || path.ends_with(ledger.join(super::JOURNAL)) {
        return format!(
            "restore the newest backup of the ledger's folder, all of it, while nothing uses it, {AFTER_A_BACKUP}; if the ledger \
             is in a database, restore {} instead, which says where",
            super::LEDGER_FILE
        );
    }
    match path.ends_with(super::POLICY) {
        true => "restore it from a backup, or, if there is none, copy that of a new CA which is made in another folder for this \
                 alone, with the same --dns, --ip and --crl-url, and read it before you issue"
            .into(),
        false => "restore it from a backup".into(),
    }
}

/// What to do if a key is lost for good.
fn if_gone(key: &Path) -> String {
    match key.ends_with("root.key") {
        true => "if it is gone for good, nothing signs in its place: make a new CA, and have clients trust its root".into(),
        false => format!(
            "if it is gone for good, have another key issue (\"pqtls ca rollover\"), and its certificate revoked, as nobody \
             can make its lists any more (\"pqtls ca revoke {}\", or at the CA above)",
            key.with_extension("pem").display()
        ),
    }
}

/// What failed, without advice if the advice is to try again.
fn trouble(error: &FolderError) -> String {
    match io_of(error) {
        Some((doing, path, cause)) => format!("can't {doing} {}: {cause}", path.display()),
        None => error.to_string(),
    }
}

/// What to do about what failed, other than to try again.
fn remedy_of(error: &FolderError) -> &'static str {
    match io_of(error).map(|(_, _, cause)| cause.kind()) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => "free some space there",
        _ => "fix that",
    }
}

fn io_of(error: &FolderError) -> Option<(&'static str, &Path, &io::Error)> {
    match error {
        FolderError::Io { doing, path, cause }
        | FolderError::Ledger(LedgerError::Io { doing, path, cause })
        | FolderError::Authority(AuthorityError::Ledger(LedgerError::Io { doing, path, cause })) => {
            Some((doing, path, cause))
        }
        _ => None,
    }
}

/// What is to be done about certificates at the CA above first.
fn revoke_above(numbers: &[SerialNumber]) -> String {
    match numbers.is_empty() {
        true => String::new(),
        false => format!(
            "revoke its certificate at the CA above ({}), ",
            joined(numbers)
        ),
    }
}

fn joined(numbers: &[SerialNumber]) -> String {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

fn advice(cause: &io::Error, path: &Path) -> String {
    remedy(cause, path).unwrap_or_else(|| "fix that, and try again".into())
}

/// For `map_err`: an error that says what failed, and with which file.
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    move |cause| FolderError::Io {
        doing,
        path: path.into(),
        cause,
    }
}

/// For `map_err`: an error that says which file has the key.
pub(super) fn key_error<E>(path: PathBuf) -> impl FnOnce(E) -> FolderError
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    |cause| FolderError::Key {
        path,
        cause: cause.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn files_that_fail_say_what_to_do() {
        let says =
            |kind: ErrorKind| io_error("write", Path::new("ca/root.pem"))(kind.into()).to_string();
        assert_eq!(
            says(ErrorKind::StorageFull),
            "can't write ca/root.pem: no storage space; free some space there, and try again"
        );
        assert!(says(ErrorKind::PermissionDenied).contains("as the user who owns the CA"));
        assert!(says(ErrorKind::Other).ends_with("; fix that, and try again"));
    }
}
