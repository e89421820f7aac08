use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use pq_x509::Certificate;

use super::action::{Action, Obstacle, output_of};
use super::{Change, Kind, Store, program};
use crate::commands::dev::data_folder::data_of_user;
use crate::commands::dev::roots::Root;
use crate::commands::dev::twin::Twin;

/// The databases of this user's browsers.
pub(super) fn find() -> impl Iterator<Item = Box<dyn Store>> {
    let home = env::home_dir().unwrap_or_default();
    let single = SINGLE.map(|folder| home.join(folder)).into_iter();
    let single = single.chain(data_of_user().map(|folder| folder.join("pki/nssdb")));
    let profiles = PROFILES.into_iter();
    let profiles = profiles.flat_map(|folder| folders_in(&home.join(folder)));
    let mut folders: Vec<PathBuf> = single
        .chain(profiles)
        .filter(|folder| is_one(folder))
        .collect();
    folders.sort();
    folders.dedup();
    folders
        .into_iter()
        .map(|folder| -> Box<dyn Store> { Box::new(Database { folder }) })
}

/// Chromium's, in the home directory.
const SINGLE: [&str; 2] = [".pki/nssdb", "snap/chromium/current/.pki/nssdb"];

/// Folders with Firefox's profiles, each of which has a database.
const PROFILES: [&str; 6] = [
    ".mozilla/firefox",
    ".config/mozilla/firefox",
    "snap/firefox/common/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/config/mozilla/firefox",
    "Library/Application Support/Firefox/Profiles",
];

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether the folder has a database. NSS itself would make one.
fn is_one(folder: &Path) -> bool {
    folder.join("cert9.db").is_file()
}

/// A database of Network Security Services, in a folder. Its program is `certutil`.
struct Database {
    folder: PathBuf,
}

const CERTUTIL: &str = "certutil";

impl Database {
    fn arguments(&self, command: &str, root: &Root) -> Vec<String> {
        let database = format!("sql:{}", self.folder.display());
        let root = root.label();
        [command, "-d", &database, "-n", &root]
            .map(String::from)
            .into()
    }
}

impl Store for Database {
    fn kind(&self) -> Kind {
        Kind::Nss
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }

    /// Databases of NSS refuse certificates whose keys they don't know.
    fn takes(&self, root: &Root) -> bool {
        root.twin == Twin::Classical
    }

    fn has(&self, root: &Root) -> Option<bool> {
        program::find(CERTUTIL)?;
        let mut arguments = self.arguments("-L", root);
        arguments.push("-a".into());
        let Ok(listed) = output_of(CERTUTIL, &arguments) else {
            return Some(false);
        };
        let pem = String::from_utf8_lossy(&listed);
        let there = Certificate::from_pem(&pem).ok();
        Some(there.as_ref() == Some(&root.certificate))
    }

    fn actions(&self, change: Change, roots: &[&Root]) -> Vec<Action> {
        let action = |root: &&Root| match change {
            Change::Install => {
                let mut arguments = self.arguments("-A", root);
                // trusted to issue servers' certificates, and for nothing else
                arguments.extend(["-t", "C,,", "-i"].map(String::from));
                arguments.push(root.file.display().to_string());
                Action::run(CERTUTIL, arguments)
            }
            Change::Uninstall => Action::run(CERTUTIL, self.arguments("-D", root)),
        };
        roots.iter().map(action).collect()
    }

    fn is_for_root(&self) -> bool {
        false
    }

    fn obstacle(&self) -> Option<Obstacle> {
        match program::find(CERTUTIL) {
            Some(_) => None,
            None => Some(Obstacle::Missing(CERTUTIL)),
        }
    }
}
