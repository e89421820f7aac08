//! The system's trust store: a folder and an update program on Debian, Fedora and SUSE, or a tool on Arch, macOS and
//! Windows. Systems on which the code was never run get printed commands instead.

use alloc::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use pq_keys::encoding::pem;
use pq_x509::certificate::Certificate;

use super::action::{Action, Obstacle};
use super::java::KeyStore;
use super::{Changes, Kind, Store, program};
use crate::commands::dev::roots::{LABEL, Root, is_root_of, label_of_root};

/// The store of the system, if one is known. OpenSSL, GnuTLS, Go and others read it; those without ML-DSA
/// skip the post-quantum root.
pub(super) fn find() -> Option<Box<dyn Store>> {
    let found = match folder_of_tests() {
        Some(folder) => Anchors::of(&DEBIAN, &folder, &folder.with_extension("made")),
        None => [DEBIAN, FEDORA, SUSE].iter().find_map(|family| {
            Anchors::of(family, Path::new(family.folder), Path::new(family.made))
        }),
    };
    match found {
        Some(anchors) => Some(Box::new(anchors)),
        None => Some(Box::new(Tool::find()?)),
    }
}

/// The folder that tests use instead of this machine's store. What is made from it is beside it, in a folder with
/// the extension `made`.
fn folder_of_tests() -> Option<PathBuf> {
    env::var_os("PQTLS_DEV_SYSTEM_STORE").map(PathBuf::from)
}

/// Systems with a folder that has a file for each root, and a program that makes from these files what other
/// programs read.
#[derive(Clone, Copy)]
struct Family {
    folder: &'static str,
    extension: &'static str,
    update: &'static str,
    /// Where the program writes.
    made: &'static str,
    /// The file there that has all roots.
    bundle: &'static str,
    /// The arguments that make the program notice removed files.
    after_removal: &'static [&'static str],
    /// Whether this code has been run on such a system.
    is_tried: bool,
}

const DEBIAN: Family = Family {
    folder: "/usr/local/share/ca-certificates",
    extension: "crt",
    update: "update-ca-certificates",
    made: "/etc/ssl/certs",
    bundle: "ca-certificates.crt",
    // otherwise links to them are left
    after_removal: &["--fresh"],
    is_tried: true,
};
const FEDORA: Family = Family {
    folder: "/etc/pki/ca-trust/source/anchors",
    extension: "pem",
    update: "update-ca-trust",
    made: "/etc/pki/ca-trust/extracted/pem",
    bundle: "tls-ca-bundle.pem",
    after_removal: &[],
    is_tried: false,
};
const SUSE: Family = Family {
    folder: "/etc/pki/trust/anchors",
    extension: "pem",
    update: "update-ca-certificates",
    made: "/var/lib/ca-certificates",
    bundle: "ca-bundle.pem",
    after_removal: &[],
    is_tried: false,
};

/// The files and what the program made of them are two steps, and whoever was interrupted between them begins again. So
/// both are looked at.
struct Anchors {
    family: Family,
    folder: PathBuf,
    /// What the program makes for programs.
    bundle: PathBuf,
    /// What the program makes for Java, if Java is installed.
    java: KeyStore,
}

impl Anchors {
    /// If the system is of this family. `made` is where the program writes.
    fn of(family: &Family, folder: &Path, made: &Path) -> Option<Self> {
        let is_here = folder.is_dir() && program::find(family.update).is_some();
        is_here.then(|| Self {
            family: *family,
            folder: folder.into(),
            bundle: made.join(family.bundle),
            java: KeyStore::new(made.join("java/cacerts")),
        })
    }

    fn file(&self, root: &Root) -> PathBuf {
        let name = format!("{}.{}", root.label(), self.family.extension);
        self.folder.join(name)
    }

    /// The files that are there, with their content.
    fn files(&self) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        files.filter_map(|file| Some((file.clone(), fs::read(file).ok()?)))
    }

    /// The label of a root of this program in its file.
    fn label_in(&self, file: &Path, content: &[u8]) -> Option<String> {
        let extension = file.extension()?.to_str()?;
        let label = file.file_stem()?.to_str()?;
        if extension != self.family.extension || !label.starts_with(LABEL) {
            return None;
        }
        let certificate = Certificate::from_pem(content).ok()?;
        is_root_of(&certificate, label).then(|| label.to_owned())
    }

    /// The roots of this program that are there, by their labels, and how each is removed.
    fn roots_there(&self) -> BTreeMap<String, Action> {
        let root = |(file, content): (PathBuf, Vec<u8>)| {
            let label = self.label_in(&file, &content)?;
            Some((label, Action::Remove { file, content }))
        };
        self.files().filter_map(root).collect()
    }

    /// The certificates that programs trust.
    fn trusted(&self) -> Vec<Certificate> {
        let text = fs::read(&self.bundle).unwrap_or_default();
        let blocks = pem::blocks(&text).filter(|block| block.is_of("CERTIFICATE"));
        // Others' roots may be ones that can't be read here.
        let certificate = |block: pem::Block<'_>| {
            let der = block.decode().ok()?;
            Certificate::from_der(&der).ok()
        };
        blocks.filter_map(certificate).collect()
    }

    /// The labels of the roots of this program that programs trust, but for those that somebody else put there.
    fn labels_trusted(&self) -> impl Iterator<Item = String> {
        let others = self
            .files()
            .filter(|(file, content)| self.label_in(file, content).is_none());
        let others = others.filter_map(|(_, content)| Certificate::from_pem(&content).ok());
        let others: Vec<Certificate> = others.collect();
        let trusted = self.trusted().into_iter();
        trusted
            .filter(move |certificate| !others.contains(certificate))
            .filter_map(|certificate| label_of_root(&certificate))
    }

    fn update<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Action {
        Action::Update {
            program: self.family.update,
            arguments: arguments.into_iter().map(String::from).collect(),
        }
    }
}

impl Store for Anchors {
    fn kind(&self) -> Kind {
        Kind::System
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }

    fn takes(&self, _: &Root) -> bool {
        true
    }

    fn has(&self, root: &Root) -> Option<bool> {
        let text = fs::read(self.file(root));
        let there = text.ok().and_then(|text| Certificate::from_pem(&text).ok());
        let is_there = there.as_ref() == Some(&root.certificate);
        Some(is_there && self.trusted().contains(&root.certificate))
    }

    fn install(&self, roots: &[&Root]) -> Vec<Action> {
        let copy = |root: &&Root| Action::Copy {
            from: root.file.clone(),
            content: root.certificate.to_pem(),
            to: self.file(root),
            replaced: fs::read(self.file(root)).ok(),
        };
        roots.iter().map(copy).chain([self.update([])]).collect()
    }

    fn removal(&self, _: &[Root]) -> Changes {
        let there = self.roots_there();
        let labels = there.keys().cloned();
        let labels: BTreeSet<String> = labels.chain(self.labels_trusted()).collect();
        if labels.is_empty() {
            return Changes::default();
        }
        // Java's are first: without the others, nobody would know their labels.
        let of_java = labels.iter().filter_map(|label| self.java.removal(label));
        let files = there.into_values();
        let update = self.update(self.family.after_removal.iter().copied());
        Changes {
            actions: of_java.chain(files).chain([update]).collect(),
            labels: labels.into_iter().collect(),
            obstacle: None,
        }
    }

    fn is_for_root(&self) -> bool {
        true
    }

    fn obstacle(&self) -> Option<Obstacle> {
        (!self.family.is_tried).then_some(Obstacle::Untried)
    }
}

/// A program that manages the store. It is not asked what is in the store.
#[derive(Clone, Copy)]
enum Tool {
    Arch,
    Mac,
    Windows,
}

const FOLDER_OF_ARCH: &str = "/etc/ca-certificates/trust-source/anchors";

impl Tool {
    fn find() -> Option<Self> {
        if cfg!(windows) {
            Some(Self::Windows)
        } else if cfg!(target_os = "macos") {
            Some(Self::Mac)
        } else {
            let is_arch = Path::new(FOLDER_OF_ARCH).is_dir();
            is_arch.then_some(Self::Arch)
        }
    }

    fn install_one(self, root: &Root) -> Action {
        let file = root.file.display().to_string();
        match self {
            Self::Arch => Action::run("trust", ["anchor", "--store", &file]),
            Self::Mac => {
                let options = ["add-trusted-cert", "-d", "-r", "trustRoot", "-k"];
                Action::run("security", options.into_iter().chain([KEYCHAIN, &file]))
            }
            Self::Windows => Action::run("certutil", ["-user", "-addstore", "Root", &file]),
        }
    }

    fn remove_one(self, root: &Root) -> Action {
        let file = root.file.display().to_string();
        let number = base16ct::lower::encode_string(root.certificate.serial_number());
        match self {
            Self::Arch => Action::run("trust", ["anchor", "--remove", &file]),
            Self::Mac => Action::run("security", ["remove-trusted-cert", "-d", &file]),
            Self::Windows => Action::run("certutil", ["-user", "-delstore", "Root", &number]),
        }
    }

    /// Shows what is there, so that users can find roots whose files are gone.
    fn look(self) -> Action {
        match self {
            Self::Arch => Action::run("trust", ["list", "--filter=ca-anchors"]),
            Self::Mac => {
                let options = ["find-certificate", "-a", "-c", "pqtls dev CA", KEYCHAIN];
                Action::run("security", options)
            }
            Self::Windows => Action::run("certutil", ["-user", "-store", "Root"]),
        }
    }
}

const KEYCHAIN: &str = "/Library/Keychains/System.keychain";

impl Store for Tool {
    fn kind(&self) -> Kind {
        Kind::System
    }

    fn place(&self) -> String {
        let place = match self {
            Self::Arch => FOLDER_OF_ARCH,
            Self::Mac => KEYCHAIN,
            Self::Windows => "Root",
        };
        place.into()
    }

    fn takes(&self, _: &Root) -> bool {
        true
    }

    fn has(&self, _: &Root) -> Option<bool> {
        None
    }

    fn install(&self, roots: &[&Root]) -> Vec<Action> {
        roots.iter().map(|root| self.install_one(root)).collect()
    }

    fn removal(&self, known: &[Root]) -> Changes {
        let removed = known.iter().map(|root| self.remove_one(root));
        Changes {
            labels: known.iter().map(Root::label).collect(),
            actions: removed.chain([self.look()]).collect(),
            obstacle: None,
        }
    }

    fn is_for_root(&self) -> bool {
        !matches!(self, Self::Windows)
    }

    fn obstacle(&self) -> Option<Obstacle> {
        Some(Obstacle::Untried)
    }
}
