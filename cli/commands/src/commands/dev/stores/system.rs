use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use pq_x509::Certificate;

use super::action::{Action, Obstacle};
use super::java::KeyStore;
use super::{Change, Kind, Store, program};
use crate::commands::dev::roots::Root;

/// The store of the system, if one is known. OpenSSL, GnuTLS, Go and others read it; those without ML-DSA
/// skip the post-quantum root.
pub(super) fn find() -> Option<Box<dyn Store>> {
    let found = match folder_of_tests() {
        Some(folder) => Anchors::of(&DEBIAN, &folder, &folder),
        None => [DEBIAN, FEDORA, SUSE].iter().find_map(|family| {
            let folder = Path::new(family.folder);
            Anchors::of(family, folder, Path::new("/etc/ssl/certs"))
        }),
    };
    match found {
        Some(anchors) => Some(Box::new(anchors)),
        None => Some(Box::new(Tool::find()?)),
    }
}

/// The folder that tests use instead of this machine's store.
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
    /// The arguments that make the program notice removed files.
    after_removal: &'static [&'static str],
    /// Whether this code has been run on such a system.
    is_tried: bool,
}

const DEBIAN: Family = Family {
    folder: "/usr/local/share/ca-certificates",
    extension: "crt",
    update: "update-ca-certificates",
    // otherwise links to them are left
    after_removal: &["--fresh"],
    is_tried: true,
};
const FEDORA: Family = Family {
    folder: "/etc/pki/ca-trust/source/anchors",
    extension: "pem",
    update: "update-ca-trust",
    after_removal: &[],
    is_tried: false,
};
const SUSE: Family = Family {
    folder: "/etc/pki/trust/anchors",
    extension: "pem",
    update: "update-ca-certificates",
    after_removal: &[],
    is_tried: false,
};

struct Anchors {
    family: Family,
    folder: PathBuf,
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
            java: KeyStore::new(made.join("java/cacerts")),
        })
    }

    fn file(&self, root: &Root) -> PathBuf {
        let name = format!("{}.{}", root.label(), self.family.extension);
        self.folder.join(name)
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
        let text = fs::read_to_string(self.file(root));
        let there = text.ok().and_then(|text| Certificate::from_pem(&text).ok());
        Some(there.as_ref() == Some(&root.certificate))
    }

    fn actions(&self, change: Change, roots: &[&Root]) -> Vec<Action> {
        let Family {
            update,
            after_removal,
            ..
        } = self.family;
        let copy = |root: &&Root| Action::Copy {
            from: root.file.clone(),
            to: self.file(root),
        };
        let remove = |root: &&Root| Action::Remove {
            file: self.file(root),
            copy_of: root.file.clone(),
        };
        let roots = roots.iter();
        match change {
            Change::Install => {
                let update = Action::run::<&str>(update, []);
                roots.map(copy).chain([update]).collect()
            }
            Change::Uninstall => {
                let update = Action::run(update, after_removal.iter().copied());
                let of_java = roots.clone().filter_map(|root| self.java.removal(root));
                roots.map(remove).chain([update]).chain(of_java).collect()
            }
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

    fn action(self, change: Change, root: &Root) -> Action {
        let file = root.file.display().to_string();
        let number = base16ct::lower::encode_string(root.certificate.serial_number());
        match (self, change) {
            (Self::Arch, Change::Install) => Action::run("trust", ["anchor", "--store", &file]),
            (Self::Arch, Change::Uninstall) => Action::run("trust", ["anchor", "--remove", &file]),
            (Self::Mac, Change::Install) => {
                let options = ["add-trusted-cert", "-d", "-r", "trustRoot", "-k"];
                let operands = ["/Library/Keychains/System.keychain", &file];
                Action::run("security", options.into_iter().chain(operands))
            }
            (Self::Mac, Change::Uninstall) => {
                Action::run("security", ["remove-trusted-cert", "-d", &file])
            }
            (Self::Windows, Change::Install) => {
                Action::run("certutil", ["-user", "-addstore", "Root", &file])
            }
            (Self::Windows, Change::Uninstall) => {
                Action::run("certutil", ["-user", "-delstore", "Root", &number])
            }
        }
    }
}

impl Store for Tool {
    fn kind(&self) -> Kind {
        Kind::System
    }

    fn place(&self) -> String {
        let place = match self {
            Self::Arch => FOLDER_OF_ARCH,
            Self::Mac => "/Library/Keychains/System.keychain",
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

    fn actions(&self, change: Change, roots: &[&Root]) -> Vec<Action> {
        roots.iter().map(|root| self.action(change, root)).collect()
    }

    fn is_for_root(&self) -> bool {
        !matches!(self, Self::Windows)
    }

    fn obstacle(&self) -> Option<Obstacle> {
        Some(Obstacle::Untried)
    }
}
