//! What becomes of a folder whose making is interrupted, and what is refused in one that was changed.

use alloc::collections::BTreeSet;
use core::slice;
use core::time::Duration;
use std::sync::Mutex;

use pq_keys::files::steps;
use pq_x509::keys::{KeyError, SignError, SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::*;
use crate::authority::Order;
use crate::ledger::Ledger;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn new_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn plan<K>(key: impl Fn() -> K, has_issuing: bool) -> Plan<K> {
    let plan = |validity| KeyPlan {
        key: key(),
        validity,
    };
    Plan {
        name: "Example CA".into(),
        root: plan(20 * YEAR),
        issuing: has_issuing.then(|| plan(5 * YEAR)),
        constraints: Constraints::default(),
        policy: Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]),
    }
}

fn ca_of(plan: &Plan<SigningKey>) -> (TempDir, Folder) {
    let above = tempfile::tempdir().unwrap();
    let folder = Folder::create(above.path().join("ca"), plan, "tests", UnixTime::now()).unwrap();
    (above, folder)
}

fn ca() -> (TempDir, Folder) {
    ca_of(&plan(new_key, true))
}

/// The text of the error when the CA's issuing key is used.
fn refusal(folder: &Folder) -> String {
    let opened = Folder::open(folder.path());
    let used = opened.and_then(|folder| folder.authority::<SigningKey>(folder.issuing_role()?));
    used.unwrap_err().to_string()
}

/// Two processes make a CA in the same place.
#[test]
fn a_ca_that_appears_meanwhile_is_told_and_stays() {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("ca");
    let draft = Draft::new(&path, &Interruption::default()).unwrap();
    let other = || {
        fs::create_dir(&path).unwrap();
        fs::write(path.join("root.pem"), "precious").unwrap();
        Ok(())
    };
    let made = draft.complete(&path, &Interruption::default(), other);
    assert!(matches!(made, Err(FolderError::Exists(_))), "{made:?}");
    assert_eq!(fs::read(path.join("root.pem")).unwrap(), b"precious");
}

#[test]
fn a_new_ca_and_its_name_are_on_the_disk() {
    steps::take();
    let (above, folder) = ca();
    let steps = steps::take();
    let (files, names) = steps.split_at(steps.len().saturating_sub(3));
    let [(first, draft), second, third] = names else {
        panic!("{steps:?}");
    };
    // Each file is on the disk before its folder gets its name.
    assert!(!files.is_empty());
    for (what, file) in files {
        assert_eq!(*what, "sync file");
        assert!(file.starts_with(draft));
    }
    assert_eq!(*first, "sync");
    assert_eq!(draft.parent(), Some(above.path()));
    assert_eq!(*second, ("rename", folder.path().to_owned()));
    assert_eq!(*third, ("sync", above.path().to_owned()));
}

/// A key that notes which files there are when it is about to be written.
struct Watching<'a> {
    key: SigningKey,
    above: &'a Path,
    seen: &'a Mutex<Vec<BTreeSet<String>>>,
}

impl SubjectKey for Watching<'_> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for Watching<'_> {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.key.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        Signer::sign(&self.key, message)
    }
}

impl StoredKey for Watching<'_> {
    type Error = KeyError;

    fn from_pem(_: &[u8]) -> Result<Self, KeyError> {
        unreachable!("nothing is read")
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        let names = |folder: &Path| -> BTreeSet<String> {
            let entries = fs::read_dir(folder).unwrap();
            let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
            entries
                .map(|entry| name(entry).into_string().unwrap())
                .collect()
        };
        let draft = names(self.above).pop_first().unwrap();
        self.seen
            .lock()
            .unwrap()
            .push(names(&self.above.join(draft)));
        self.key.to_pkcs8_pem()
    }
}

#[test]
fn keys_are_written_when_nothing_else_is_left_to_do() {
    let above = tempfile::tempdir().unwrap();
    let seen = Mutex::default();
    let key = || Watching {
        key: new_key(),
        above: above.path(),
        seen: &seen,
    };
    let plan = plan(key, true);
    Folder::create(above.path().join("ca"), &plan, "tests", UnixTime::now()).unwrap();
    let before = &seen.lock().unwrap()[0];
    let expected = [
        ".draft-of-a-ca",
        "issuing.pem",
        "ledger",
        "policy.toml",
        "root.pem",
    ];
    assert!(before.iter().eq(expected), "{before:?}");
}

/// Once, these names were enough to have a folder removed.
#[test]
fn finished_cas_stay_whatever_their_names_are() {
    let above = tempfile::tempdir().unwrap();
    let random = format!(".pqtls-draft-of-a-ca-{}", "1".repeat(32));
    let names = ["ca.new-1", "ca.new-2026", &random, "ca"];
    let plan = plan(new_key, true);
    let make =
        |name: &str| Folder::create(above.path().join(name), &plan, "tests", UnixTime::now());
    let made = names.map(|name| make(name).unwrap());
    for folder in &made {
        folder.authority::<SigningKey>(Role::Root).unwrap();
        folder.authority::<SigningKey>(Role::Issuing).unwrap();
    }
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), names.len());

    // A draft is no CA. But if somebody made it one, and it issued, it stays as well.
    let used = &made[2];
    fs::write(used.path().join(".draft-of-a-ca"), draft::MARK).unwrap();
    let opened = Folder::open(used.path());
    assert!(
        matches!(&opened, Err(FolderError::Unfinished(_))),
        "{opened:?}"
    );
    let root = used.authority::<SigningKey>(Role::Root).unwrap();
    let another = CertificateBuilder::ca("Another").path_len(0);
    root.issue_ca(another, &new_key(), "tests", UnixTime::now())
        .unwrap();
    make("another").unwrap();
    assert!(used.key_path(Role::Root).exists());
}

#[test]
fn no_ca_is_made_after_it_was_stopped() {
    let above = tempfile::tempdir().unwrap();
    let interruption = Interruption::default();
    interruption.stop();
    let path = above.path().join("ca");
    let plan = plan(new_key, true);
    let now = UnixTime::now();
    let made = Folder::create_unless_stopped(path, &plan, "tests", now, &interruption);
    assert!(matches!(made, Err(FolderError::Stopped)));
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
}

#[test]
fn a_root_does_not_issue_in_place_of_a_lost_certificate() {
    let (_above, folder) = ca();
    let certificate = folder.path().join("issuing.pem");
    let text = fs::read(&certificate).unwrap();
    fs::remove_file(&certificate).unwrap();
    let lost = folder.issuing_role();
    assert!(
        matches!(&lost, Err(FolderError::NoIssuingCertificate { path, .. }) if *path == certificate),
        "{lost:?}"
    );
    assert!(matches!(
        folder.chain(),
        Err(FolderError::NoIssuingCertificate { .. })
    ));
    assert!(
        refusal(&folder)
            .contains("issuing.pem is not there, and the root is not for issuing; put it back")
    );
    // The root does its own work all the same.
    folder.authority::<SigningKey>(Role::Root).unwrap();
    fs::write(&certificate, text).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);

    let (_above, folder) = ca_of(&plan(new_key, false));
    assert_eq!(folder.issuing_role().unwrap(), Role::Root);
}

/// Each file, damaged in each way: the error names the file and says what to do.
#[test]
fn each_damaged_file_is_named_with_a_remedy() {
    type Damage = fn(&str) -> Vec<u8>;
    const EMPTY: Damage = |_| Vec::new();
    const BLANK: Damage = |_| b"\n \n".to_vec();
    const HALF: Damage = |text| text[..text.len() / 2].into();
    const NO_TEXT: Damage = |text| [text.as_bytes(), b"\xff"].concat();
    const LARGE: Damage = |text| text.repeat(2 * 1024 * 1024 / text.len()).into();
    let (_above, folder) = ca();
    for file in ["issuing.pem", "issuing.key", "policy.toml"] {
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        for (damage, words) in [
            (
                EMPTY,
                "is empty, perhaps because a disk was full; restore it",
            ),
            (
                BLANK,
                "is empty, perhaps because a disk was full; restore it",
            ),
            (HALF, ""),
            (NO_TEXT, "is not text, as a CA's files are; restore it"),
            (LARGE, "is larger than a CA's files are; restore it"),
        ] {
            let (words, remedy) = match file {
                // The ledger has it.
                "issuing.pem" => ("does not fit", "take the certificate from the ledger"),
                _ => (words, "restore it"),
            };
            // A policy is text that people write, and half of one may be one.
            if file == "policy.toml" && words.is_empty() {
                continue;
            }
            fs::write(&path, damage(&text)).unwrap();
            // Text beside a block of PEM may be in any encoding.
            if file != "policy.toml" && damage(&text).ends_with(b"\xff") {
                folder.authority::<SigningKey>(Role::Issuing).unwrap();
                continue;
            }
            let error = refusal(&folder);
            let is_named = error.contains(&path.display().to_string());
            assert!(
                is_named && error.contains(words) && error.contains(remedy),
                "{error}"
            );
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = refusal(&folder);
        assert!(
            error.contains(&format!("{file} is not a file; put the file there")),
            "{error}"
        );
        fs::remove_dir(&path).unwrap();
        fs::write(&path, text).unwrap();
        folder.authority::<SigningKey>(Role::Issuing).unwrap();
    }

    // a key of another certificate, and one under a passphrase
    let key = folder.key_path(Role::Issuing);
    let text = fs::read(&key).unwrap();
    fs::copy(folder.key_path(Role::Root), &key).unwrap();
    let error = refusal(&folder);
    assert!(
        error.contains("issuing.key is not the one in the certificate in "),
        "{error}"
    );
    assert!(
        error.contains("issuing.pem; put back the key alone, from any backup of this CA"),
        "{error}"
    );
    fs::write(&key, format!("-----BEGIN {ENCRYPTED}-----\nAA==\n")).unwrap();
    let error = refusal(&folder);
    assert!(
        error.contains("issuing.key is encrypted; give its passphrase"),
        "{error}"
    );
    fs::write(&key, text).unwrap();
    folder.authority::<SigningKey>(Role::Issuing).unwrap();
}

#[test]
fn the_passphrase_is_asked_for_when_all_else_is_right() {
    let (_above, folder) = ca();
    fs::write(folder.policy_path(), "nothing = 1").unwrap();
    let asked = folder.authority_with(Role::Issuing, |_, _| -> Result<SigningKey, FolderError> {
        panic!("the policy is wrong")
    });
    assert!(matches!(asked, Err(FolderError::Policy(_))));
}

#[cfg(unix)]
#[test]
fn what_others_can_write_or_wrote_is_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let (_above, folder) = ca();
    for file in [
        "",
        "root.pem",
        "issuing.pem",
        "issuing.key",
        "policy.toml",
        "ledger",
    ] {
        let path = match file {
            "" => folder.path().to_owned(),
            file => folder.path().join(file),
        };
        let refusal = || match file {
            "root.pem" => folder.certificate(Role::Root).unwrap_err().to_string(),
            _ => refusal(&folder),
        };
        let mode = fs::metadata(&path).unwrap().permissions();
        for bits in [0o020, 0o002] {
            let open = fs::Permissions::from_mode(mode.mode() | bits);
            fs::set_permissions(&path, open).unwrap();
            let error = refusal();
            let words = format!("(chmod go-w {})", path.display());
            assert!(error.ends_with(&words), "{error}");
        }
        fs::set_permissions(&path, mode).unwrap();
        // Only the administrator can give files away; `files_of_others_are_for_nobody` tests the rule for all.
        if file.is_empty() || chown(&path, Some(65533), None).is_err() {
            continue;
        }
        let error = refusal();
        let words = format!("{} belongs to another user", path.display());
        assert!(error.starts_with(&words), "{error}");
        chown(&path, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    }
    folder.authority::<SigningKey>(Role::Issuing).unwrap();
}

/// In a folder that everybody can change, anybody could put a folder of their own in the place of the CA's.
#[cfg(unix)]
#[test]
fn keys_where_everybody_can_rename_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (above, folder) = ca();
    let elsewhere = tempfile::tempdir().unwrap();
    let key = folder.key_path(Role::Issuing);
    let moved = elsewhere.path().join("key");
    fs::rename(&key, &moved).unwrap();
    symlink(&moved, &key).unwrap();
    folder.authority::<SigningKey>(Role::Issuing).unwrap();
    let plan = plan(new_key, false);
    fs::set_permissions(above.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let made = Folder::create(above.path().join("new"), &plan, "tests", UnixTime::now());
    assert!(matches!(made, Err(FolderError::Exposed(_))), "{made:?}");
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1);
    for exposed in [above.path(), elsewhere.path()] {
        for (mode, is_refused) in [
            (0o777, true),
            (0o1777, false),
            (0o702, true),
            (0o700, false),
        ] {
            fs::set_permissions(exposed, fs::Permissions::from_mode(mode)).unwrap();
            match folder.authority::<SigningKey>(Role::Issuing) {
                Ok(_) => assert!(!is_refused, "{mode:o}"),
                Err(FolderError::Exposed(path)) => {
                    assert!(is_refused, "{mode:o}");
                    assert_eq!(path, exposed.canonicalize().unwrap());
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Links and folders of others are refused, and so is the administrator in a folder of another user. Only the
/// administrator can give them away; `files_of_others_are_for_nobody` tests the rule for all.
#[cfg(unix)]
#[test]
fn keys_behind_links_of_others_are_refused() {
    use std::os::unix::fs::{chown, lchown, symlink};
    const OTHER: Option<u32> = Some(65533);
    let (above, folder) = ca();
    let key = folder.key_path(Role::Issuing);
    let moved = above.path().join("key");
    fs::rename(&key, &moved).unwrap();
    symlink(&moved, &key).unwrap();
    let link = above.path().join("link");
    symlink(folder.path(), &link).unwrap();
    let by_link = Folder::open(&link).unwrap();
    by_link.authority::<SigningKey>(Role::Issuing).unwrap();
    if lchown(&link, OTHER, None).is_err() {
        return;
    }
    assert!(refusal(&by_link).contains("link belongs to another user"));
    lchown(&key, OTHER, None).unwrap();
    assert!(refusal(&folder).contains("issuing.key belongs to another user"));
    chown(folder.path(), OTHER, None).unwrap();
    let opened = Folder::open(folder.path());
    assert!(
        matches!(opened, Err(FolderError::OfAnother { owner: 65533, .. })),
        "{opened:?}"
    );
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let (_above, folder) = ca();
    assert!(folder.keys_for_others().unwrap().is_empty());
    for role in [Role::Root, Role::Issuing] {
        let key = folder.key_path(role);
        for mode in [0o644, 0o640, 0o604] {
            fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(folder.keys_for_others().unwrap(), slice::from_ref(&key));
        }
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_lost_file_is_named_and_no_new_ca_is_proposed() {
    for lost in ["root.pem", "policy.toml", "ledger", "ledger/journal"] {
        let (above, folder) = ca();
        let path = folder.path().join(lost);
        fs::rename(&path, above.path().join("lost")).unwrap();
        let error = refusal(&folder);
        let words = "is missing, which belongs to the CA there; restore ";
        let says = format!("{} {words}", path.display());
        assert!(error.starts_with(&says), "{error}");
        let is_told = |words: &str| error.contains(words);
        let is_of_ledger = lost.starts_with("ledger");
        assert_eq!(is_told("revoke again what was revoked since"), is_of_ledger);
        assert_eq!(is_told("--crl-url"), lost == "policy.toml");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_no_trap() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (_above, folder) = ca();
    for file in ["issuing.pem", "issuing.key", "policy.toml"] {
        let path = folder.path().join(file);
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(refusal(&folder).contains(&format!("{file} is not a file")));
        fs::remove_file(&path).unwrap();
        fs::write(&path, text).unwrap();
    }
}

/// Moves a file or folder of one CA into the place of another's.
fn put_in_place_of(file: &str, from: &Folder, to: &Folder) {
    let (from, to) = (from.path().join(file), to.path().join(file));
    fs::rename(&to, to.with_extension("away")).unwrap();
    fs::rename(from, to).unwrap();
}

/// Revocations vanish where the ledger is another CA's.
#[test]
fn files_of_two_cas_are_not_used_together() {
    for files in [
        &["ledger"][..],
        &["issuing.pem", "issuing.key"],
        &["root.pem", "root.key"],
        &["root.pem", "root.key", "ledger"],
        &["issuing.pem", "issuing.key", "ledger"],
    ] {
        let ((_one, folder), (_two, other)) = (ca(), ca());
        folder.ledger().unwrap();
        for file in files {
            put_in_place_of(file, &other, &folder);
        }
        for refused in [
            folder.ledger().map(drop),
            folder.authority::<SigningKey>(Role::Root).map(drop),
            folder.authority::<SigningKey>(Role::Issuing).map(drop),
        ] {
            let is_told = match (files, &refused) {
                (["ledger"], Err(FolderError::OtherLedger { .. })) => true,
                (["issuing.pem", "issuing.key"], Err(FolderError::OtherIssuing { .. })) => true,
                (["root.pem", "root.key"], Err(FolderError::OtherRoot { .. })) => true,
                // two are another CA's, and one is this one's
                (["root.pem", .., "ledger"], Err(FolderError::OtherIssuing { .. })) => true,
                (["issuing.pem", .., "ledger"], Err(FolderError::OtherRoot { .. })) => true,
                _ => false,
            };
            assert!(is_told, "{files:?}: {refused:?}");
            // A whole older folder would lose what was revoked since.
            let text = refused.unwrap_err().to_string();
            assert!(!text.contains("whole folder"), "{text}");
        }
    }
}

#[test]
fn files_of_three_cas_are_told() {
    let ((_one, folder), (_two, other), (_three, third)) = (ca(), ca(), ca());
    put_in_place_of("ledger", &other, &folder);
    put_in_place_of("root.pem", &third, &folder);
    let refused = folder.ledger().unwrap_err();
    assert!(matches!(refused, FolderError::NotOneCa { .. }));
    let text = refused.to_string();
    assert!(text.contains("since that backup is lost then"), "{text}");
}

/// The ledger has the issuing certificate, whatever became of the file.
#[test]
fn the_ledger_has_the_issuing_certificate() {
    let (_above, folder) = ca();
    let path = folder.path().join("issuing.pem");
    let right = folder.certificate(Role::Issuing).unwrap();
    let mut changed = right.der().to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let changed = Certificate::from_der(&changed).unwrap().to_pem();
    for text in [changed.as_str(), "", "no certificate"] {
        fs::write(&path, text).unwrap();
        for refused in [
            folder.ledger().map(drop),
            folder.authority::<SigningKey>(Role::Root).map(drop),
            folder.authority::<SigningKey>(Role::Issuing).map(drop),
        ] {
            let Err(FolderError::OtherIssuing { number, .. }) = refused else {
                panic!("{refused:?}")
            };
            let ledger = folder.ledger_of_root().unwrap();
            let kept = ledger.certificate(&number).unwrap();
            assert_eq!(kept.as_ref(), Some(right.der()));
        }
    }
    fs::write(&path, right.to_pem()).unwrap();
    folder.authority::<SigningKey>(Role::Issuing).unwrap();
}

/// Where the issuing certificate is lost, too, the ledger has to be the root's.
#[test]
fn a_ledger_of_another_root_is_refused_without_an_issuing_certificate() {
    for is_lost in [true, false] {
        let make = || ca_of(&plan(new_key, is_lost));
        let ((_one, folder), (_two, other)) = (make(), make());
        if is_lost {
            for folder in [&folder, &other] {
                fs::remove_file(folder.path().join("issuing.pem")).unwrap();
            }
        } else {
            let authority = other.authority::<SigningKey>(Role::Root).unwrap();
            let key = new_key();
            let order = Order::for_key(&key).unwrap();
            let order = order.with(|wanted| wanted.dns_name("www.example.org"));
            authority.issue(&order, "tests", UnixTime::now()).unwrap();
        }
        folder.ledger().unwrap();
        other.ledger().unwrap();
        put_in_place_of("ledger", &other, &folder);
        let refused = folder.authority::<SigningKey>(Role::Root);
        assert!(
            matches!(refused, Err(FolderError::OtherLedger { .. })),
            "{refused:?}"
        );
    }
    // a CA whose root issues, with the ledger of one whose root does not
    let ((_one, folder), (_two, other)) = (ca_of(&plan(new_key, false)), ca());
    put_in_place_of("ledger", &other, &folder);
    assert!(matches!(
        folder.ledger(),
        Err(FolderError::OtherLedger { .. })
    ));
}

/// What can't be listed is not taken for a folder without further keys.
#[test]
fn a_folder_that_is_gone_has_no_keys_to_list() {
    let (_above, folder) = ca();
    fs::rename(folder.path(), folder.path().with_file_name("away")).unwrap();
    for listed in [
        folder.next_keys(),
        folder.issuing_keys().map(|_| Vec::new()),
    ] {
        assert!(listed.is_err(), "{listed:?}");
    }
    let refused = folder.keys_for_others().unwrap_err();
    assert!(
        matches!(&refused, FolderError::Io { doing: "read", path, .. } if path == folder.path()),
        "{refused}"
    );
}

/// A key whose request can't be written is nobody's, and the request that is there stays.
#[test]
fn a_key_without_its_request_is_removed() {
    let (_above, folder) = ca();
    let role = Role::Next(2);
    let request = request_path(folder.path(), role);
    fs::write(&request, "of another key").unwrap();
    let key = new_key();
    let asked = subordinate::request_of(&key, |request| request.common_name("New")).unwrap();
    folder.write_requested(role, &key, &asked).unwrap_err();
    assert!(!folder.key_path(role).exists());
    assert_eq!(fs::read_to_string(&request).unwrap(), "of another key");
}
