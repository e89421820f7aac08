//! The NSS databases of Firefox and Chromium: where they are, and how `certutil` lists, adds and removes roots. Only
//! classical roots go there, as NSS refuses keys that it doesn't know.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem;
use pq_x509::certificate::Certificate;

use super::action::{Action, Obstacle, output_of};
use super::{Changes, Kind, Store, program};
use crate::commands::dev::data_folder::data_of_user;
use crate::commands::dev::roots::{ID_LEN, LABEL, Root, is_root_of};
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
    folder.join(FILE).is_file()
}

const FILE: &str = "cert9.db";

/// A database of Network Security Services, in a folder. Its program is `certutil`.
struct Database {
    folder: PathBuf,
}

const CERTUTIL: &str = "certutil";

impl Database {
    fn arguments(&self, command: &str) -> Vec<String> {
        let database = format!("sql:{}", self.folder.display());
        [command, "-d", &database].map(String::from).into()
    }

    /// For the certificate of this name.
    fn arguments_for(&self, command: &str, label: &str) -> Vec<String> {
        let mut arguments = self.arguments(command);
        arguments.extend(["-n", label].map(String::from));
        arguments
    }

    /// The certificate of this name, if there is one.
    fn certificate(&self, label: &str) -> Option<Certificate> {
        let mut arguments = self.arguments_for("-L", label);
        arguments.push("-a".into());
        let listed = output_of(CERTUTIL, &arguments).ok()?;
        Certificate::from_pem(&listed).ok()
    }

    /// The names of the roots of this program that are there.
    fn labels(&self) -> Result<Vec<String>, Obstacle> {
        let listed = output_of(CERTUTIL, &self.arguments("-L"))?;
        let listed = String::from_utf8_lossy(&listed);
        let names = listed
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let is_root = |name: &&str| {
            let is_one = |certificate: Certificate| is_root_of(&certificate, name);
            name.starts_with(LABEL) && self.certificate(name).is_some_and(is_one)
        };
        let mut labels: Vec<String> = names.filter(is_root).map(String::from).collect();
        labels.sort();
        labels.dedup();
        Ok(labels)
    }

    /// The names that the file has, be it of what was deleted. The file has them in the clear.
    fn labels_in_file(&self) -> Vec<String> {
        let file = fs::read(self.folder.join(FILE)).unwrap_or_default();
        let starts = memmem::find_iter(&file, LABEL).map(|at| &file[at..]);
        let labels = starts.map(|bytes| {
            let is_of_label = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
            let label = bytes.iter().take(LABEL.len() + ID_LEN);
            label
                .take_while(is_of_label)
                .map(|byte| char::from(*byte))
                .collect()
        });
        let mut labels: Vec<String> = labels.collect();
        labels.sort();
        labels.dedup();
        labels
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
        let there = self.certificate(&root.label());
        Some(there.as_ref() == Some(&root.for_browsers.1))
    }

    fn install(&self, roots: &[&Root]) -> Vec<Action> {
        let action = |root: &&Root| {
            let mut arguments = self.arguments_for("-A", &root.label());
            // trusted to issue servers' certificates, and for nothing else
            arguments.extend(["-t", "C,,", "-i"].map(String::from));
            Action::RunWithFile {
                program: CERTUTIL,
                arguments,
                from: root.for_browsers.0.clone(),
                content: root.for_browsers.1.to_pem(),
            }
        };
        roots.iter().map(action).collect()
    }

    fn removal(&self, _: &[Root]) -> Changes {
        let (labels, obstacle) = match self.labels() {
            Ok(labels) => (labels, None),
            Err(obstacle) => (self.labels_in_file(), Some(obstacle)),
        };
        let remove = |label: &String| Action::run(CERTUTIL, self.arguments_for("-D", label));
        Changes {
            actions: labels.iter().map(remove).collect(),
            labels,
            obstacle,
        }
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
