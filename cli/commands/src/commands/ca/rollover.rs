//! The command `pqtls ca rollover`: a new key issues, and the one before it goes on to sign its revocation lists.

use core::fmt;
use core::time::Duration;

use pq_ca::folder::{FolderError, NewName, Role, Successor};
use pq_ca::ledger::{Ledger, LedgerError, Stage};
use pq_ca::policy::parse_duration;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::below::{Above, NewRequest};
use super::ca_key::{Keeping, Kept, KeyStoreOptions, NewKeys};
use super::crl::{OtherList, other_lists};
use super::opened::CaFolder;
use super::place::{Actor, Place};
use super::which_key::role;
use crate::arguments::AlgorithmParser;
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::keys::Algorithm;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, CertificateFacts, Report};

/// Have a new key issue, in the place of the one that issues now
///
/// The root's key certifies the new key, so put it back for this if it is kept elsewhere. The certificates of the key
/// before stay valid, and that key goes on to sign their revocation lists and OCSP responses: make them with
/// "pqtls ca crl --issuer" and "pqtls ca ocsp --issuer" until its last certificate has expired. Whatever names revoked
/// certificates, "pqtls ca revoke" knows which list they belong on.
///
/// Where the key before is in a key store, the new key is that key's next version; with --key-store, it is a key or version of
/// another store, or of another name.
///
/// The new certificate has the name of the first one with a number and the beginning of the key's digest, such as
/// "Example CA 2 (3f9a01c4)": no two keys have one name, since revoked certificates are known by their issuer's. With
/// --same-name, all keys of the name share what is on their lists; rustls's verifiers can't tell the lists of such keys
/// apart.
///
/// --use has a key issue that is there already, also one that issued earlier: if the clock was ahead when a key was made,
/// its certificate is not valid yet, and the key before it can take its place again. The certificate has to be valid now
/// and not revoked, and its key is opened; otherwise nothing is changed.
///
/// Make a new backup of the CA's folder after this: older ones lack the new key. After going back to an older one, copy the
/// key's two files into it, such as issuing-2.key and issuing-2.pem, under a number that no file there has: "pqtls ca rollover
/// --use issuing-2" has it issue again.
///
/// Of several processes that do this at once, one succeeds. If this one is killed, the CA works, with the old key or with
/// the new one; with --under, the same command completes what was begun, with the key that was made then. A program that runs on with the old key issues nothing more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(of_new_key))]
pub(crate) struct Arguments {
    /// The name in the new certificate, which no other key of the CA has [default: the CA's name with a number and the
    /// beginning of the key's digest]
    #[arg(long)]
    name: Option<String>,

    /// Use the name of the key before
    #[arg(long, conflicts_with = "name")]
    same_name: bool,

    /// The signature algorithm of the new key [default: that of the key before]
    #[arg(
        long,
        value_name = "ALGORITHM",
        value_parser = AlgorithmParser,
        hide_possible_values = true,
    )]
    algorithm: Option<Algorithm>,

    /// How long the new certificate is valid, such as 5y [default: as long as the one before, or the root's time if that
    /// is shorter]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// Only publish the new certificate; --use has its key issue later
    #[arg(long)]
    publish: bool,

    /// Have this key issue, which was published before or installed by "pqtls ca install", or issued earlier
    #[arg(
        long = "use",
        value_name = "NAME",
        value_parser = issuing_key,
        conflicts_with_all = [
            "name", "same_name", "algorithm", "validity", "publish", "under", "request", "no_passphrase", "key_store",
        ],
    )]
    use_key: Option<Role>,

    #[command(flatten)]
    pub(super) above: Above,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    /// Leave the key in the clear without asking
    #[arg(
        long,
        conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_env"],
    )]
    no_passphrase: bool,

    #[command(flatten)]
    key_store: KeyStoreOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca rollover --dir old-ca
  $ pqtls ca rollover --dir old-ca --publish --name \"Small CA of 2027\"
  $ pqtls ca rollover --dir old-ca --use issuing-3
  $ pqtls ca crl --dir old-ca --issuer issuing-2 --out small-2.crl";

impl Arguments {
    /// Whether the root's key of the CA in the folder certifies the new key.
    pub(super) fn is_by_the_root(&self) -> bool {
        self.use_key.is_none() && self.above.under.is_none() && self.above.request.is_none()
    }
}

fn issuing_key(name: &str) -> Result<Role, String> {
    match role(name)? {
        Role::Root => Err("the root certifies the keys that issue; name one of those".into()),
        role => Ok(role),
    }
}

/// The options for passphrases stand under a heading that says whose they are.
fn of_new_key(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "passphrase_file" | "passphrase_fd" | "passphrase_env" | "no_passphrase" => {
            argument.help_heading("Passphrase of the new key [default: a terminal is asked]")
        }
        _ => argument,
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    arguments.above.check_passphrase(false)?;
    arguments.above.check_validity(arguments.validity)?;
    if arguments.use_key.is_some() && arguments.passphrase.is_given() {
        return Err(Failure::NoNewKeyToEncrypt);
    }
    let folder = arguments.place.open()?;
    let (by, now) = (arguments.actor.name(), UnixTime::now());
    let before = folder.issuing_role()?;
    if let Some(role) = arguments.use_key {
        let authority = arguments.above.ca_key.authority(&folder, role)?;
        folder.issue_with(&authority, &by, now)?;
        return report(arguments, &folder, (before, role), None, false, json);
    }
    let is_below = folder.is_below_another()?;
    let (under, request) = (&arguments.above.under, &arguments.above.request);
    match (is_below, under.is_some() || request.is_some()) {
        (true, false) => return Err(Failure::UnderAnother),
        (false, true) => return Err(Failure::OwnRootCertifies),
        _ => {}
    }
    if let Some(to) = request {
        Delivery::to(&[to], false, json)?;
    }
    // Before a passphrase is asked for
    let own = CertificateFacts::of(&folder.certificate(before)?, now);
    let access = &arguments.above.ca_key.access;
    let has_said_where = arguments.no_passphrase
        || arguments.passphrase.is_given()
        || arguments.key_store.is_given();
    if has_said_where && !arguments.key_store.is_given() {
        match Kept::in_file(&folder.key_path(before)) {
            Ok(Kept::InStore(reference)) => {
                return Err(StoreFailure::KeysOfCaInStore(reference.store.to_string()).into());
            }
            Err(error @ Failure::Store(_)) => return Err(error),
            // A new key can follow one that nobody can read.
            _ => {}
        }
    }
    // As the key before, unless somebody says otherwise
    let as_before = match has_said_where {
        true => None,
        false => Some(Kept::in_file(&folder.key_path(before))?),
    };
    let is_asked = !arguments.no_passphrase
        && !arguments.key_store.is_given()
        && !matches!(as_before, Some(Kept::InStore(_)));
    let passphrase = match is_asked {
        true => arguments.passphrase.of_new_or_none("the new key")?,
        false => None,
    };
    let keys = match as_before {
        Some(Kept::Encrypted) if passphrase.is_none() => {
            return Err(Failure::NewKeyInTheClear(folder.key_path(before)));
        }
        Some(Kept::InStore(reference)) => NewKeys::NextOf {
            reference,
            file: folder.key_path(before),
            access,
        },
        _ => {
            let own = Kept::in_stores(&folder)?;
            NewKeys::by(&arguments.key_store, access, passphrase.as_ref(), own)?
        }
    };
    let algorithm = match arguments.algorithm {
        Some(algorithm) => algorithm,
        None => Algorithm::named(&own.key_algorithm).ok_or(Failure::NameTheAlgorithm)?,
    };
    let successor = |name| -> Result<_, Failure> {
        Ok(Successor {
            key: keys.make(Role::Issuing, algorithm)?,
            name,
            validity: arguments.validity,
            is_for_later: arguments.publish,
        })
    };
    let name = match (&arguments.name, arguments.same_name) {
        (Some(name), _) => NewName::Given(name.clone()),
        (None, true) => NewName::Same,
        (None, false) => NewName::Numbered,
    };
    warn_if_behind(&folder.ledger()?, now)?;
    let waiting = folder.waiting()?;
    let (role, keeping) = match (under, request) {
        (Some(under), _) => {
            let parent = arguments.above.parent(under)?;
            let successor = successor(name)?;
            arguments.place.warn_if_in_use();
            let done = folder.rollover_below(&parent.authority, &[], &successor, &by, now);
            let done = done.inspect_err(|_| warn_if_unused(&folder, &successor.key.keeping));
            let role = done.map_err(|error| parent.failure(error))?;
            // Which may be one that was begun before
            match Kept::in_file(&folder.key_path(role))? {
                Kept::InStore(reference) => (role, Keeping::in_store(&reference)),
                _ => (role, successor.key.keeping),
            }
        }
        (None, Some(to)) => {
            let successor = successor(name)?;
            arguments.place.warn_if_in_use();
            let asked = folder.request_successor(&successor.key, &successor.name);
            let asked = asked.inspect_err(|_| warn_if_unused(&folder, &successor.key.keeping));
            let (role, request) = asked?;
            let new = NewRequest::of(&request, folder.path(), role, successor.key.keeping);
            return new.deliver(to, &request, &arguments.place, json);
        }
        (None, None) => {
            let root = arguments.above.ca_key.authority(&folder, Role::Root)?;
            let successor = successor(name)?;
            let done = folder.rollover(&root, &successor, &by, now);
            let role = done.inspect_err(|_| warn_if_unused(&folder, &successor.key.keeping))?;
            (role, successor.key.keeping)
        }
    };
    let was_begun = role == before || waiting.iter().any(|(one, _)| *one == role);
    report(
        arguments,
        &folder,
        (before, role),
        Some(keeping),
        was_begun,
        json,
    )
}

/// Warns of a version that was made in a store, unless the folder has it nevertheless, or can't say.
fn warn_if_unused(folder: &CaFolder, keeping: &Keeping) {
    let (Ok(own), Ok(waiting)) = (Kept::in_stores(folder), folder.waiting()) else {
        return;
    };
    let waiting = waiting
        .iter()
        .map(|(role, _)| Kept::in_file(&folder.key_path(*role)));
    let waiting = waiting.filter_map(|kept| match kept {
        Ok(Kept::InStore(reference)) => Some(reference),
        _ => None,
    });
    let mut known = own.into_iter().chain(waiting);
    if !known.any(|one| keeping.stored_keys.contains(&one.key.to_string())) {
        keeping.warn_of_unused();
    }
}

/// A clock that was set back is no reason to refuse a new key, and it ends its certificate too early.
fn warn_if_behind(ledger: &impl Ledger, now: UnixTime) -> Result<(), Failure> {
    match ledger.check_time(now) {
        Err(LedgerError::Clock { last, .. }) if now < last => {
            report::warn(format_args!(
                "the clock says {}, and the last list or certificate in the ledger is of {}; the validity of the new \
                 certificate counts from what the clock says: if that is wrong, set it, and have another key follow",
                rfc3339(now),
                rfc3339(last)
            ));
            Ok(())
        }
        // Whoever records the new key says the rest.
        Err(LedgerError::Clock { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(FolderError::from(error).into()),
    }
}

fn report(
    arguments: &Arguments,
    folder: &CaFolder,
    (before, role): (Role, Role),
    keeping: Option<Keeping>,
    was_begun: bool,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    let issues = folder.issuing_role()? == role;
    // It may have taken the place of the one before in an earlier command.
    let before = match before == role {
        true => issued_before(folder, role)?,
        false => before,
    };
    let urls = folder.policy()?.revocation_list_urls().to_vec();
    let report = RolledOver {
        name: role.name().into(),
        certificate: CertificateFacts::of(&folder.certificate(role)?, now),
        is_new: keeping.is_some(),
        keeping: keeping.unwrap_or_default(),
        was_begun,
        issues,
        before: before.name().into(),
        before_until: CertificateFacts::of(&folder.certificate(before)?, now).not_after,
        other_lists: other_lists(folder, role, now)?,
        list_urls: urls.iter().map(ToString::to_string).collect(),
        policy: folder.policy_path().display().to_string(),
    };
    arguments.place.print(report, json)?;
    Ok(ExitStatus::Done)
}

/// The key whose place this one took: the last one that was retired with it.
fn issued_before(folder: &CaFolder, role: Role) -> Result<Role, Failure> {
    let generations = folder.generations()?;
    let own = generations.iter().find(|one| one.name == role.name());
    let since = own.map(|own| own.since);
    let mut others = generations.iter().rev();
    let before = others.find(|one| {
        let is_past = matches!(one.stage, Stage::Retired | Stage::Ended);
        is_past && Some(one.since) == since
    });
    let before = before.and_then(|one| Role::from_name(&one.name));
    Ok(before.unwrap_or(role))
}

#[derive(Debug, Serialize)]
struct RolledOver {
    /// The new key's name in the ledger.
    name: String,
    certificate: CertificateFacts,
    #[serde(flatten)]
    keeping: Keeping,
    /// Whether the key was made by this command, so that `keeping` is known.
    #[serde(skip)]
    is_new: bool,
    /// Whether an earlier command made it, and this one completed that.
    #[serde(skip)]
    was_begun: bool,
    /// Whether it issues from now on.
    issues: bool,
    /// The name of the key that issued until now.
    before: String,
    /// Until when the certificate of that key is valid.
    before_until: String,
    /// The keys whose lists clients need, too.
    #[serde(skip)]
    other_lists: Vec<OtherList>,
    #[serde(skip)]
    list_urls: Vec<String>,
    #[serde(skip)]
    policy: String,
}

impl Report for RolledOver {
    const SCHEMA: &'static str = "ca-rollover/1";
}

impl fmt::Display for RolledOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            certificate,
            before,
            ..
        } = self;
        let (subject, algorithm, until) = (
            &certificate.subject,
            &certificate.key_algorithm,
            &certificate.not_after,
        );
        writeln!(f, "{name}: {subject}, {algorithm}, until {until}")?;
        if self.is_new {
            writeln!(f, "  key       {}", self.keeping.in_words("it"))?;
        }
        if self.was_begun {
            writeln!(
                f,
                "It was begun before: the key is the one that was made then, as is its passphrase if it has one."
            )?;
        }
        if !self.issues {
            return writeln!(
                f,
                "It is published, and issues nothing yet; have it issue with \"pqtls ca rollover --use {name}\".\n\
                 Back up the CA's folder again: older backups lack the new key."
            );
        }
        writeln!(f, "It issues from now on. What to do next:")?;
        if before != name {
            writeln!(
                f,
                "  start programs again that issue with \"{before}\"; they issue nothing more, but for \"ca serve\", which notices"
            )?;
        }
        let lack = match self.is_new {
            true => "older backups lack the new key",
            false => "by older backups another key issues",
        };
        writeln!(f, "  back up the CA's folder again: {lack}")?;
        writeln!(
            f,
            "  make the list of each key from now on: \"pqtls ca crl\""
        )?;
        for OtherList { name, until } in &self.other_lists {
            let until = rfc3339(*until);
            writeln!(f, "    and until {until} \"pqtls ca crl --issuer {name}\"")?;
        }
        if !self.list_urls.is_empty() {
            writeln!(
                f,
                "  give the new list a URL of its own in {}, and keep the old list at {}, where certificates say that it is",
                self.policy,
                self.list_urls.join(", ")
            )?;
        }
        Ok(())
    }
}
