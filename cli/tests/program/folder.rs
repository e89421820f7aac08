//! A temporary folder in which the program is run.

use alloc::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::CertificateRevocationListBuilder;
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With what a CA would have sent: `ca-root.pem`, `ca.pem`, `www.pem` and its `www.key`, the CA's
    /// lists `none.crl` and `www.crl`, of which the second revokes `www.pem`, each for both CAs.
    pub(crate) fn with_ca() -> Self {
        let folder = Self::new();
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Example Root CA"), key()).unwrap();
        let builder = CertificateBuilder::ca("Example CA").path_len(0);
        let ca = root.issue_ca(builder, key()).unwrap();
        let www_key = key();
        let builder = CertificateBuilder::server()
            .dns_name("www.example.org")
            // A validity that browsers will still allow in years.
            .validity(Validity::days(45))
            .revocation_list_url("http://ca.example.org/ca.crl");
        let www = ca.issue(builder, &www_key).unwrap();
        let list = || CertificateRevocationListBuilder::new(&[1]);
        let of_root = root.issue_revocation_list(list()).unwrap().to_pem();
        let none = ca.issue_revocation_list(list()).unwrap().to_pem();
        let revoked = list().revoke(
            www.serial_number(),
            std::time::SystemTime::now(),
            pq_x509::revocation::CrlReason::KeyCompromise,
        );
        let revoked = ca.issue_revocation_list(revoked).unwrap().to_pem();
        folder.write("ca-root.pem", root.certificate().to_pem());
        folder.write("ca.pem", ca.certificate().to_pem());
        folder.write("www.pem", www.to_pem());
        folder.write("www.key", www_key.to_pkcs8_pem().unwrap().as_bytes());
        folder.write("none.crl", of_root.clone() + &none);
        folder.write("www.crl", of_root + &revoked);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    /// Every file, hidden or not, and its content. Files that another process removes meanwhile are left
    /// out.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(self.path()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let files = paths.filter(|path| path.is_file());
        let read = |path: PathBuf| match fs::read(&path) {
            Ok(content) => Some((path, content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        files.filter_map(read).collect()
    }

    /// Runs the program with a command line, whose words have no spaces.
    pub(crate) fn pqtls(&self, command_line: &str) -> Outcome {
        self.pqtls_reading("", command_line)
    }

    /// The same with this as its standard input.
    pub(crate) fn pqtls_reading(&self, input: impl AsRef<[u8]>, command_line: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command.args(command_line.split_whitespace());
        self.run(command, input.as_ref())
    }

    /// Runs it with a standard output that nobody reads.
    pub(crate) fn pqtls_to_nobody(&self, command_line: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command.args(command_line.split_whitespace());
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        self.run_to(command, b"", writer.into())
    }

    /// Waits until the certificates of a file have expired, at most a minute.
    pub(crate) fn wait_until_expired(&self, file: &str) {
        let certificates = pq_x509::certificate::Certificate::chain_from_pem(&self.read(file));
        let first = &certificates.unwrap()[0];
        for _ in 0..600 {
            if pq_x509::pki_types::UnixTime::now() > first.not_after() {
                return;
            }
            std::thread::sleep(core::time::Duration::from_millis(100));
        }
        panic!("{file} doesn't expire");
    }

    /// Stops the program while it waits for more than this on its standard input.
    pub(crate) fn stop_reading(&self, input: &str, command_line: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command.args(command_line.split_whitespace());
        command.current_dir(self.path()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(input.as_bytes()).unwrap();
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
    }

    /// Runs a line in a shell, in which `pqtls` is the program.
    pub(crate) fn shell(&self, line: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.run(command, b"")
    }

    /// The first folders on the path: `bin` in this folder, and the program's own.
    pub(crate) fn search_path(&self) -> OsString {
        let program = Path::new(env!("CARGO_BIN_EXE_pqtls"));
        let mut folders = vec![self.path().join("bin"), program.parent().unwrap().into()];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        std::env::join_paths(folders).unwrap()
    }

    fn run(&self, command: Command, input: &[u8]) -> Outcome {
        self.run_to(command, input, Stdio::piped())
    }

    fn run_to(&self, mut command: Command, input: &[u8], output: Stdio) -> Outcome {
        command
            .current_dir(self.path())
            .env_remove("CLICOLOR_FORCE")
            .env_remove("COLUMNS")
            .env_remove("PQTLS_CA")
            .env_remove("PQTLS_DEV_DIR")
            .env_remove("PQTLS_STORE")
            .env_remove("PQTLS_STORE_AS")
            .env_remove("PQTLS_STORE_CA")
            .env_remove("PQTLS_STORE_CERT")
            .env_remove("PQTLS_STORE_CERT_KEY")
            .env_remove("PQTLS_STORE_KEK")
            .env_remove("PQTLS_STORE_TOKEN_FILE")
            .env_remove("SUDO_USER")
            .env_remove("VAULT_CACERT")
            .env_remove("VAULT_NAMESPACE")
            .env_remove("VAULT_TOKEN")
            .env_remove("XDG_DATA_HOME")
            .env("USER", "alice")
            .env("HOME", self.path())
            .env("PATH", self.search_path())
            // Nothing here changes which roots this machine trusts.
            .env("PQTLS_DEV_SYSTEM_STORE", self.path().join(SYSTEM_STORE))
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(Stdio::piped());
        let before = self.files();
        let mut child = command.spawn().unwrap();
        // A program that does not read it closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Outcome {
            what: format!("{command:?}"),
            is_as_before: before == self.files(),
            output,
        }
    }
}

/// The folder that the program takes for the system's store of roots, if it is there.
pub(crate) const SYSTEM_STORE: &str = "system-store";

/// How the program ended.
pub(crate) struct Outcome {
    what: String,
    output: Output,
    is_as_before: bool,
}

impl Outcome {
    pub(crate) fn status(&self) -> i32 {
        self.output.status.code().unwrap()
    }

    /// Whether a signal ended it.
    pub(crate) fn was_killed(&self) -> bool {
        self.output.status.code().is_none()
    }

    pub(crate) fn stdout_bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    pub(crate) fn stdout(&self) -> &str {
        core::str::from_utf8(&self.output.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        core::str::from_utf8(&self.output.stderr).unwrap()
    }

    /// Checks that it succeeded without complaint, and returns what it printed.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!((self.stderr(), self.status()), ("", 0), "{}", self.what);
        self.stdout()
    }

    /// Checks that it ended with this status and one complaint with these words in it, and left every file
    /// as it was.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, words: &str) {
        let complaint = self.stderr();
        assert_eq!(self.status(), status, "{}: {complaint}", self.what);
        assert!(complaint.starts_with("pqtls: "), "{complaint}");
        assert!(complaint.ends_with('\n'), "{complaint}");
        assert_eq!(complaint.matches("pqtls: ").count(), 1, "{complaint}");
        assert!(complaint.contains(words), "{complaint}");
        // After a usage error comes clap's help, and after a policy's refusal its lines.
        if status != 2 && status != 4 {
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
        assert!(
            self.is_as_before,
            "{}: files were made or changed",
            self.what
        );
    }
}
