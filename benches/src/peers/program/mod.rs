//! Libraries in C that no crate gives a safe interface to all three schemes: each is a program of its own.
//!
//! `benches/c-peers` puts the libraries into the folder `c-peers` of the target folder. The program's
//! sources are in this folder: `driver.c`, which says how one talks to it, and a file for each library. It is
//! compiled when its rows are first wanted. It takes the CPU time of passes itself, so that pipes cost nothing, and
//! rows of such libraries take turns with all others.

mod process;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{fs, io};

use self::process::Process;
use crate::schemes::elsewhere::Elsewhere;
use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;
use crate::schemes::slh_dsa::Slh;
use crate::timing::Passes;
use crate::timing::results;

/// A library in C.
struct Library {
    /// The name of its row.
    name: &'static str,
    /// Its folder in `c-peers`.
    folder: &'static str,
    /// The file with its operations, by its name in this folder.
    source: &'static str,
    /// The folders of its headers, and of what is linked, in its folder.
    headers: &'static [&'static str],
    linked: &'static str,
    /// What the linker is told.
    link: &'static [&'static str],
    /// A dynamic linker in the folder of what is linked, if the library needs another C library than this
    /// machine's.
    loader: Option<&'static str>,
    /// Whether it has code with AVX-512 for the measured operations.
    has_avx512: bool,
    /// Whether its feature is enabled.
    is_enabled: bool,
}

const LIBRARIES: [Library; 2] = [
    Library {
        name: "wolfSSL",
        folder: "wolfssl",
        source: "wolfssl.c",
        headers: &["include"],
        linked: "lib",
        link: &["-lwolfssl", "-lpthread", "-lm"],
        loader: None,
        has_avx512: true,
        is_enabled: cfg!(feature = "wolfssl"),
    },
    Library {
        name: "OpenSSL 4",
        folder: "openssl-4",
        source: "openssl.c",
        headers: &["usr/include", "usr/include/x86_64-linux-gnu"],
        linked: "usr/lib/x86_64-linux-gnu",
        // it needs symbols of the newer C library
        link: &["-l:libcrypto.so.4", "-Wl,--allow-shlib-undefined"],
        loader: Some("ld-linux-x86-64.so.2"),
        // With that masked by OPENSSL_ia32cap, its operations take as long.
        has_avx512: false,
        is_enabled: cfg!(feature = "openssl-4"),
    },
];

/// Which instructions a row may use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Vectors {
    /// All that the machine has.
    All,
    /// Nothing beyond AVX2.
    Avx2,
}

impl Vectors {
    /// Those that make a difference. A row that stops at AVX2 says so even where the CPU does.
    fn of(library: &Library) -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        if library.has_avx512 && is_x86_feature_detected!("avx2") {
            return match is_x86_feature_detected!("avx512f") {
                true => &[Self::All, Self::Avx2],
                false => &[Self::Avx2],
            };
        }
        &[Self::All]
    }
}

/// A compiled program.
struct Program {
    library: &'static Library,
    file: PathBuf,
    version: String,
}

/// The programs of the enabled libraries, or why there is none.
static PROGRAMS: LazyLock<Vec<Result<Program, String>>> = LazyLock::new(|| {
    let enabled = LIBRARIES.iter().filter(|library| library.is_enabled);
    enabled.map(Program::compile).collect()
});

/// Which libraries have no rows, and why, a line for each.
pub fn missing() -> Vec<String> {
    let disabled = LIBRARIES.iter().filter(|library| !library.is_enabled);
    let disabled =
        disabled.map(|library| format!("{} has no rows: its feature is not enabled", library.name));
    let not_found = PROGRAMS
        .iter()
        .filter_map(|program| program.as_ref().err().cloned());
    disabled.chain(not_found).collect()
}

/// The name of each library's row, with the version that is in the target folder.
pub fn versions() -> Vec<(&'static str, Option<String>)> {
    let version = |library: &'static Library| Some(Program::compile(library).ok()?.version);
    LIBRARIES
        .iter()
        .map(|library| (library.name, version(library)))
        .collect()
}

/// The rows of a parameter set, by its standard's name.
pub(super) fn peers(set: &'static str) -> impl Iterator<Item = Peer> {
    PROGRAMS.iter().flatten().flat_map(move |program| {
        Vectors::of(program.library)
            .iter()
            .map(move |&vectors| Peer {
                program,
                set,
                vectors,
            })
    })
}

impl Program {
    /// Compiles the program of a library.
    fn compile(library: &'static Library) -> Result<Self, String> {
        let name = library.name;
        let place = place().map_err(|error| format!("{name} has no rows: {error}"))?;
        let folder = place.join(library.folder);
        let linked = folder.join(library.linked);
        if !linked.is_dir() {
            let folder = folder.display();
            return Err(format!(
                "{name} has no rows: it is not in {folder}, where benches/c-peers puts it"
            ));
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/peers/program");
        let file = place.join(format!("{}.driver", library.folder));
        // Two processes may compile at once.
        let made = file.with_extension(std::process::id().to_string());
        let output = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&made)
            .args(
                library
                    .headers
                    .iter()
                    .map(|headers| format!("-I{}", folder.join(headers).display())),
            )
            .args(["driver.c", library.source].map(|source| sources.join(source)))
            .arg(format!("-L{}", linked.display()))
            .args(library.link)
            .output()
            .map_err(|error| format!("{name} has no rows: cc: {error}"))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{name} has no rows: its program does not compile: {errors}"
            ));
        }
        let mut program = Self {
            library,
            file: made.clone(),
            version: String::new(),
        };
        let version = program.command().arg("version").output();
        let version = version.map_err(|error| format!("{name} has no rows: {error}"))?;
        program.version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        if program.version.is_empty() {
            let errors = String::from_utf8_lossy(&version.stderr);
            return Err(format!(
                "{name} has no rows: its program does not run: {errors}"
            ));
        }
        fs::rename(&made, &file).map_err(|error| format!("{name} has no rows: {error}"))?;
        program.file = file;
        Ok(program)
    }

    /// A command that runs the program.
    fn command(&self) -> Command {
        match self.library.loader {
            None => Command::new(&self.file),
            Some(loader) => {
                let folder = self
                    .file
                    .with_file_name(self.library.folder)
                    .join(self.library.linked);
                let mut command = Command::new(folder.join(loader));
                command.arg("--library-path").arg(folder).arg(&self.file);
                command
            }
        }
    }
}

/// The folder of the libraries.
fn place() -> io::Result<PathBuf> {
    Ok(results::folder()?.with_file_name("c-peers"))
}

/// A library's row of a parameter set.
pub(super) struct Peer {
    program: &'static Program,
    set: &'static str,
    vectors: Vectors,
}

impl Peer {
    fn row(&self) -> String {
        let name = self.program.library.name;
        match self.vectors {
            Vectors::All => name.to_owned(),
            Vectors::Avx2 => format!("{name}/AVX2"),
        }
    }

    /// The process that performs an operation on some items.
    fn process(&self, operation: &str, key: &[u8], items: &[Vec<&[u8]>]) -> Process {
        let mut command = self.program.command();
        let vectors = match self.vectors {
            Vectors::All => "all",
            Vectors::Avx2 => "AVX2",
        };
        command.args([self.set, operation, vectors]);
        Process::start(command, key, items)
            .unwrap_or_else(|error| panic!("{}, {} {operation}: {error}", self.row(), self.set))
    }

    /// The output of an operation; empty if the library refuses the inputs.
    fn output(&self, operation: &str, key: &[u8], fields: Vec<&[u8]>) -> Vec<u8> {
        let output = self.process(operation, key, &[fields]).output();
        output.unwrap_or_else(|error| panic!("{}, {} {operation}: {error}", self.row(), self.set))
    }
}

impl Elsewhere for Peer {
    fn passes<'a>(&self, operation: &str, key: &[u8], items: &[Vec<&[u8]>]) -> Passes<'a> {
        let mut process = self.process(operation, key, items);
        Passes::elsewhere(items.len(), move |passes| {
            process.time(passes).expect("the program runs on")
        })
    }
}

impl Kem for Peer {
    /// The seed.
    type Key = [u8; 64];

    fn name(&self) -> String {
        self.row()
    }

    fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
        encapsulation_key.copy_from_slice(&self.output("key-generation", &[], vec![seed]));
        *seed
    }

    fn load(&self, seed: &[u8; 64], _: &[u8]) -> Self::Key {
        *seed
    }

    fn encapsulate(
        &self,
        encapsulation_key: &[u8],
        m: &[u8; 32],
        ciphertext: &mut [u8],
    ) -> Option<[u8; 32]> {
        let output = self.output("encapsulation", &[], vec![encapsulation_key, m]);
        let (encapsulated, secret) = output.split_last_chunk()?;
        ciphertext.copy_from_slice(encapsulated);
        Some(*secret)
    }

    fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
        let secret = self.output("decapsulation", key, vec![ciphertext]);
        secret.try_into().expect("32 bytes")
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }
}

impl Dsa for Peer {
    /// ξ.
    type SigningKey = [u8; 32];
    /// The bytes; what the process keeps in memory is the library's choice.
    type VerifyingKey = Vec<u8>;

    fn name(&self) -> String {
        self.row()
    }

    fn generate(&self, xi: &[u8; 32], verifying_key: &mut [u8]) -> Self::SigningKey {
        verifying_key.copy_from_slice(&self.output("key-generation", &[], vec![xi]));
        *xi
    }

    fn load(&self, xi: &[u8; 32], _: &[u8]) -> Self::SigningKey {
        *xi
    }

    fn sign(&self, key: &Self::SigningKey, message: &[u8], rnd: &[u8; 32], signature: &mut [u8]) {
        signature.copy_from_slice(&self.output("signing", key, vec![message, rnd]));
    }

    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let fields = vec![verifying_key, message, signature];
        !self.output("verification", &[], fields).is_empty()
    }

    fn expand(&self, verifying_key: &[u8]) -> Option<Self::VerifyingKey> {
        Some(verifying_key.to_vec())
    }

    fn verify_expanded(&self, key: &Self::VerifyingKey, message: &[u8], signature: &[u8]) -> bool {
        let fields = vec![message, signature];
        !self.output("verification-expanded", key, fields).is_empty()
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }
}

impl Slh for Peer {
    type SigningKey = Vec<u8>;

    fn name(&self) -> String {
        self.row()
    }

    fn generate(&self, seed: &[u8], verifying_key: &mut [u8]) {
        verifying_key.copy_from_slice(&self.output("key-generation", &[], vec![seed]));
    }

    fn load(&self, signing_key: &[u8]) -> Self::SigningKey {
        signing_key.to_vec()
    }

    fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]) {
        signature.copy_from_slice(&self.output("signing", key, vec![message]));
    }

    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let fields = vec![verifying_key, message, signature];
        !self.output("verification", &[], fields).is_empty()
    }

    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine with the libraries' files, the programs compile and run, whatever the features are.
    #[test]
    fn programs_of_libraries_that_are_there_compile() {
        for library in &LIBRARIES {
            let is_there = place().unwrap().join(library.folder).is_dir();
            match Program::compile(library) {
                Ok(program) => assert!(is_there && !program.version.is_empty()),
                Err(why) => assert!(!is_there && why.contains("benches/c-peers"), "{why}"),
            }
        }
    }

    #[test]
    fn a_library_that_is_not_found_says_so() {
        static NOWHERE: Library = Library {
            name: "Nowhere",
            folder: "nowhere",
            ..LIBRARIES[0]
        };
        let why = Program::compile(&NOWHERE).err().unwrap();
        assert!(
            why.starts_with("Nowhere has no rows: it is not in "),
            "{why}"
        );
    }
}
