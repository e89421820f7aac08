//! The files of CAs' folders: ledgers, certificates, keys, requests and policies. A folder is recognised by what it has, so that
//! they are kept from every command; that of the command itself is one whatever it has. Files elsewhere to which links lead are
//! found for the CA of the command, or else for the one that `pqtls ca` would use.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pq_ca::folder::Role;
use pq_ca::policy::Policy;
use pq_keys::files::folder_of;

use crate::files::error::OutputError;

/// What the command says of CAs.
#[derive(Default)]
struct Known {
    /// The folder of its CA, without links.
    folders: Vec<PathBuf>,
    /// Of one that it may be about.
    possible: Vec<PathBuf>,
    /// The files that it writes although they are a CA's.
    released: Vec<PathBuf>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    folders: Vec::new(),
    possible: Vec::new(),
    released: Vec::new(),
});

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on, this folder is a CA's. Files elsewhere to which its links lead are the CA's, too.
pub(crate) fn keep_ca(folder: &Path) -> io::Result<()> {
    let folder = match folder.canonicalize() {
        Ok(folder) => folder,
        // Without a folder, there is nothing to lose.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    known().folders.push(folder);
    Ok(())
}

/// The same for a folder that may be one, but that whoever uses another CA, or none, need not be able to read.
pub(crate) fn keep_possible_ca(folder: &Path) {
    // Into a folder that can't be entered nothing is written.
    if let Ok(folder) = folder.canonicalize()
        && is_ca(&folder)
    {
        known().possible.push(folder);
    }
}

/// From here on, a result may take this place, although it is a CA's.
pub(crate) fn release(path: &Path) {
    if let Ok(file) = where_it_leads(path) {
        known().released.push(file);
    }
}

/// The CAs' folders around the last file that was looked at. Files that are written together are mostly in one folder.
#[derive(Default)]
pub(in crate::files) struct Cas {
    last: Option<Around>,
    /// Where the links of the command's CA lead.
    elsewhere: Option<Vec<PathBuf>>,
}

struct Around {
    folder: PathBuf,
    cas: Vec<PathBuf>,
    is_ledger: bool,
}

impl Cas {
    pub(super) fn check(&mut self, path: &Path) -> Result<(), OutputError> {
        let at = |error| OutputError::at(path, error);
        let file = match where_it_leads(path) {
            Ok(file) => file,
            // Nothing can be written there.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(at(error)),
        };
        let known = known();
        let is_of_ca = self.is_own(&file, &known)
            || as_named(path).is_some_and(|named| self.is_own(&named, &known))
            || self.is_elsewhere(&file, &known)?;
        match is_of_ca && !known.released.contains(&file) {
            true => Err(OutputError::OfCa(path.display().to_string())),
            false => Ok(()),
        }
    }

    fn is_own(&mut self, file: &Path, known: &Known) -> bool {
        let folder = folder_of(file);
        let last = self.last.take().filter(|last| last.folder == folder);
        let around = self.last.insert(last.unwrap_or_else(|| {
            let is_known = |above: &&Path| known.folders.iter().any(|ca| ca == above);
            let above = folder.ancestors();
            let cas = above.filter(|above| is_known(above) || is_ca(above));
            Around {
                folder: folder.into(),
                cas: cas.map(Path::to_owned).collect(),
                is_ledger: is_ledger(folder),
            }
        }));
        around.is_ledger || around.cas.iter().any(|ca| is_own(ca, file))
    }

    /// Whether a file is one of the CA's, or in its ledger, that is elsewhere, and to which a link leads.
    fn is_elsewhere(&mut self, file: &Path, known: &Known) -> Result<bool, OutputError> {
        let led = match self.elsewhere.take() {
            Some(led) => led,
            None => {
                let mut led = Vec::new();
                for folder in &known.folders {
                    links_lead_to(folder, &mut led, |link, error| {
                        Err(OutputError::MayBeOfCa {
                            file: file.display().to_string(),
                            link: link.display().to_string(),
                            error,
                        })
                    })?;
                }
                for folder in &known.possible {
                    links_lead_to(folder, &mut led, |_, _| Ok(()))?;
                }
                led
            }
        };
        let led = self.elsewhere.insert(led);
        Ok(led.iter().any(|led| file.starts_with(led)))
    }
}

/// Whether a folder is a CA's: it has a ledger, or of one whose ledger is lost the policy and some of the keys' files.
fn is_ca(folder: &Path) -> bool {
    let has = |name: &&str| folder.join(name).symlink_metadata().is_ok();
    let of_keys = [
        "root.pem",
        "root.key",
        "issuing.pem",
        "issuing.key",
        "issuing.csr",
    ];
    let of_keys = of_keys.iter().filter(|name| has(name)).count();
    let has_ledger = has(&"ledger/journal") && of_keys > 0;
    let has_policy = || {
        let policy = fs::read_to_string(folder.join("policy.toml"));
        policy.is_ok_and(|policy| Policy::parse(&policy, "policy.toml").is_ok())
    };
    has_ledger || of_keys > 1 && has_policy()
}

/// Whether a folder is a ledger, which may be elsewhere than the CA.
fn is_ledger(folder: &Path) -> bool {
    let has = |name: &&str| folder.join(name).symlink_metadata().is_ok();
    ["journal", "head"].iter().all(has) && ["lock", "index"].iter().any(has)
}

/// Whether a file is one of the CA's in a folder, or has the name of one.
fn is_own(folder: &Path, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(folder) else {
        return false;
    };
    let name = inside.iter().next().unwrap_or_default();
    let is_of_key = |name: &OsStr| {
        let name = Path::new(name);
        let kind = name.extension().and_then(OsStr::to_str);
        let role = name.file_stem().and_then(OsStr::to_str);
        matches!(kind, Some("pem" | "key" | "csr")) && role.and_then(Role::from_name).is_some()
    };
    name == "ledger" || name == "policy.toml" || is_of_key(name)
}

/// Where the links lead that stand for files of a CA, or for those of its ledger. A link that can't be followed may lead to
/// the file that is to be written, so `unknown` says what becomes of that.
fn links_lead_to(
    folder: &Path,
    led: &mut Vec<PathBuf>,
    unknown: impl Fn(&Path, io::Error) -> Result<(), OutputError>,
) -> Result<(), OutputError> {
    for within in [folder.to_owned(), folder.join("ledger")] {
        let entries = fs::read_dir(&within).and_then(|entries| entries.collect());
        let entries: Vec<fs::DirEntry> = match entries {
            Ok(entries) => entries,
            // There are none, or the command says what is wrong with the folder.
            Err(_) => continue,
        };
        for path in entries.iter().map(fs::DirEntry::path) {
            if !path.is_symlink() || !is_own(folder, &path) {
                continue;
            }
            match where_it_leads(&path) {
                Ok(to) => led.push(to),
                // Nothing can be written there, at least not by this user.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::PermissionDenied
                    ) => {}
                Err(error) => unknown(&path, error)?,
            }
        }
    }
    Ok(())
}

/// The file that would be written, without links. Links are followed also where nothing is, as something may be there later.
fn where_it_leads(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            led => return led,
        }
        let folder = folder_of(&path);
        match path.read_link() {
            Ok(to) => path = folder.join(to),
            // no link, and nothing else
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let name = path.file_name().ok_or(ErrorKind::NotFound)?;
                return Ok(folder.canonicalize()?.join(name));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("it is a link to a link, and so on"))
}

/// The file by its own name, which may be that of a link to another.
fn as_named(path: &Path) -> Option<PathBuf> {
    Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?))
}
