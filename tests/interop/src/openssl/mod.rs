//! The OpenSSL command-line program: finding it, and running it in a folder of its
//! own.

use core::net::SocketAddr;
use core::time::Duration;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::pki::NAME;
use crate::process::{Output, Process};
use crate::skip;

mod build;
mod chain;

/// An OpenSSL program of version 3.5 or later.
#[derive(Debug)]
pub struct Openssl {
    program: PathBuf,
}

impl Openssl {
    /// The program that `OPENSSL` names, else one on `PATH` that is at least 3.5,
    /// else one that is built from source, once, into cargo's target folder.
    ///
    /// `None` where there is nothing to build it with; a notice has been printed
    /// then, and the caller returns, which skips its test. In CI that is a failure
    /// instead.
    ///
    /// # Panics
    /// If `OPENSSL` names something unusable, or the build fails, or (with the
    /// environment variable `CI` set) something that the build needs is missing.
    pub fn find() -> Option<&'static Self> {
        // A failure is remembered, too, so that not every test has to find it out.
        static FOUND: OnceLock<Result<Openssl, Unavailable>> = OnceLock::new();
        match FOUND.get_or_init(Self::locate) {
            Ok(openssl) => Some(openssl),
            Err(Unavailable::Missing(tool)) => {
                skip(&format!(
                    "no OpenSSL {MINIMUM} on PATH or in $OPENSSL, and it can't be built: \
                     {tool} is missing"
                ));
                None
            }
            Err(Unavailable::Broken(why)) => panic!("{why}"),
        }
    }

    /// The folder of the OpenSSL that is built here, with `libcrypto.a`, `libssl.a` and `include` for programs that
    /// link with it.
    ///
    /// # Errors
    ///
    /// A sentence that says what is missing, or why it can't be built.
    pub fn folder() -> Result<PathBuf, String> {
        build::cached_folder().map_err(|error| match error {
            Unavailable::Missing(tool) => format!("OpenSSL can't be built: {tool} is missing"),
            Unavailable::Broken(why) => why,
        })
    }

    fn locate() -> Result<Self, Unavailable> {
        if let Some(named) = env::var_os("OPENSSL") {
            return Self::named(named.into());
        }
        let on_path = PathBuf::from("openssl");
        if Version::of(&on_path).is_some_and(|version| version >= MINIMUM) {
            return Ok(Self { program: on_path });
        }
        let program = build::cached_folder()?.join("openssl");
        Ok(Self { program })
    }

    /// The program that somebody asks for: if it can't be used, no other is tried.
    fn named(program: PathBuf) -> Result<Self, Unavailable> {
        let shown = program.display();
        match Version::of(&program) {
            Some(version) if version >= MINIMUM => Ok(Self { program }),
            Some(version) => Err(Unavailable::Broken(format!(
                "OPENSSL names {shown}, which is version {version}; these tests need at least \
                 {MINIMUM}"
            ))),
            None => Err(Unavailable::Broken(format!(
                "OPENSSL names {shown}, which does not answer to `version` as OpenSSL does"
            ))),
        }
    }

    /// A command for this program in `folder`, free of the caller's configuration.
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(folder)
            .env("OPENSSL_CONF", folder.join(CONFIG_NAME));
        for variable in [
            "OPENSSL_MODULES",
            "OPENSSL_ENGINES",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
        ] {
            command.env_remove(variable);
        }
        command
    }
}

/// Why there is no program.
#[derive(Debug)]
enum Unavailable {
    /// There is no program, and none can be built, because this tool is missing.
    Missing(&'static str),
    /// The program can't be used, for this reason.
    Broken(String),
}

/// A temporary folder and an OpenSSL that runs in it.
///
/// Commands are given as one line and split at white space: file names are relative
/// to the folder, and there is no quoting. All methods panic, with
/// everything that OpenSSL printed, if they can't do what they promise within
/// [`TIME_LIMIT`].
#[derive(Debug)]
pub struct Workdir {
    openssl: &'static Openssl,
    folder: TempDir,
}

impl Workdir {
    /// A fresh folder, or `None` where [`Openssl::find()`] has none.
    ///
    /// # Panics
    /// If the folder can't be made, and where `Openssl::find()` does.
    pub fn new() -> Option<Self> {
        let openssl = Openssl::find()?;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let workdir = Self { openssl, folder };
        workdir.write(CONFIG_NAME, CONFIG);
        Some(workdir)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If the file system refuses.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), contents)
            .unwrap_or_else(|err| panic!("can't write {name}: {err}"));
    }

    /// Where its files are.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Reads a file.
    ///
    /// # Panics
    /// If there is none.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name))
            .unwrap_or_else(|err| panic!("can't read {name}: {err}"))
    }

    /// Reads a text file.
    ///
    /// # Panics
    /// If there is none, or it is no text.
    pub fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap_or_else(|err| panic!("{name} is no text: {err}"))
    }

    /// Runs `openssl <line>` to its successful end.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn run(&self, line: &str) -> Output {
        let output = self.attempt(line);
        assert!(output.success(), "this should succeed: {output}");
        output
    }

    /// Runs `openssl <line>`, which has to fail.
    ///
    /// # Panics
    /// If it succeeds.
    #[track_caller]
    pub fn run_failing(&self, line: &str) -> Output {
        let output = self.attempt(line);
        assert!(!output.success(), "this should fail: {output}");
        output
    }

    /// Runs another program in the folder, to its end.
    ///
    /// # Panics
    /// If it does not end.
    pub fn run_other(&self, command: &mut Command) -> Output {
        Process::spawn(command.current_dir(self.folder.path())).finish(TIME_LIMIT)
    }

    /// Has OpenSSL issue a root and a server's certificate for [`NAME`] below it, with keys that
    /// `root_key` and `key` describe in options for `req`. They are in the files `{name}-ca.pem`,
    /// `{name}.pem` and `{name}.key`, and their common names are `{name}-root` and `{name}`.
    ///
    /// # Panics
    /// If they can't be issued.
    pub fn issue(&self, name: &str, root_key: &str, key: &str) {
        self.run(&format!(
            "req -x509 {root_key} -noenc -keyout ca.key -subj /CN={name}-root -out {name}-ca.pem \
             -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign"
        ));
        self.run(&format!(
            "req -x509 -CA {name}-ca.pem -CAkey ca.key {key} -noenc -keyout {name}.key \
             -subj /CN={name} -addext subjectAltName=DNS:{NAME} \
             -addext basicConstraints=critical,CA:false -out {name}.pem"
        ));
    }

    /// Starts `openssl s_server` with the options `line` on a free port of 127.0.0.1.
    /// It answers every line that a client sends with the line reversed (`-rev`), and
    /// prints a summary of every connection.
    ///
    /// # Panics
    /// If it does not start to listen.
    pub fn serve(&self, line: &str) -> SServer {
        let process = Process::spawn(
            self.openssl
                .command(self.folder.path())
                .args("s_server -accept 127.0.0.1:0 -rev".split_whitespace())
                .args(line.split_whitespace()),
        );
        let address = process.wait_for_line(TIME_LIMIT, |line| {
            line.strip_prefix("ACCEPT ")?.parse().ok()
        });
        SServer { process, address }
    }

    /// Connects with `openssl s_client` and the options `line` to `address`, sends
    /// `message` and a line feed, and waits until the connection has ended.
    ///
    /// # Panics
    /// If s_client does not end.
    pub fn connect(&self, address: SocketAddr, line: &str, message: &str) -> Output {
        let mut process = Process::spawn(
            self.openssl
                .command(self.folder.path())
                .arg("s_client")
                .arg("-connect")
                .arg(address.to_string())
                .args(line.split_whitespace()),
        );
        process.write(format!("{message}\n").as_bytes());
        process.wait(TIME_LIMIT)
    }

    /// Runs `openssl <line>` to its end, whatever that is.
    ///
    /// # Panics
    /// If it does not end.
    pub fn attempt(&self, line: &str) -> Output {
        Process::spawn(
            self.openssl
                .command(self.folder.path())
                .args(line.split_whitespace()),
        )
        .finish(TIME_LIMIT)
    }
}

/// A running `openssl s_server`. Dropping it kills it.
#[derive(Debug)]
pub struct SServer {
    process: Process,
    address: SocketAddr,
}

impl SServer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it and returns what it printed.
    pub fn stop(self) -> Output {
        self.process.stop()
    }
}

/// How long anything that these tests start may take. Far above what is needed: it
/// bounds a failure.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// OpenSSL's version: the two numbers that matter.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// The version that `program` says it has; `None` if it does not start or is no
    /// OpenSSL.
    fn of(program: &Path) -> Option<Self> {
        let output = Command::new(program).arg("version").output().ok()?;
        Self::parse(core::str::from_utf8(&output.stdout).ok()?)
    }

    /// Reads the first line of `openssl version`, such as `OpenSSL 3.5.5 27 Jan 2026
    /// (Library: …)`. Forks such as LibreSSL have other names and numbers of their own.
    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line
            .strip_prefix("OpenSSL ")?
            .split_whitespace()
            .next()?
            .split('.')
            .map(|number| number.parse().ok());
        Some(Self {
            major: numbers.next()??,
            minor: numbers.next()??,
        })
    }
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The first version with ML-KEM and ML-DSA.
const MINIMUM: Version = Version { major: 3, minor: 5 };

const CONFIG_NAME: &str = "openssl.cnf";

/// The configuration that `openssl req` needs.
const CONFIG: &str = "\
[req]
distinguished_name = name

[name]
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        for (line, expected) in [
            (
                "OpenSSL 3.5.5 27 Jan 2026 (Library: OpenSSL 3.5.5)",
                Some((3, 5)),
            ),
            (
                "OpenSSL 4.0.0-dev  (Library: OpenSSL 4.0.0-dev )",
                Some((4, 0)),
            ),
            ("OpenSSL 3.0.19 27 Jan 2026", Some((3, 0))),
            ("OpenSSL 1.1.1w  11 Sep 2023", Some((1, 1))),
            ("LibreSSL 4.0.0", None),
            ("BoringSSL", None),
            ("OpenSSL", None),
            ("OpenSSL x.y", None),
        ] {
            let expected = expected.map(|(major, minor)| Version { major, minor });
            assert_eq!(Version::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn old_versions_do_not_do() {
        let older = Version { major: 3, minor: 4 };
        assert!(older < MINIMUM);
        assert!(Version { major: 4, minor: 0 } >= MINIMUM);
    }
}
