//! `pqtls store serve` for tests: a store, what its server needs, and the server, which ends with the test.

use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::folder::Folder;
use crate::store::make_keks;

/// The token of the principal `operator`, in the file `token`.
pub(crate) const TOKEN: &str = "a-token-of-a-test";

/// A server that ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
    /// The first line that it said.
    pub(crate) serving: String,
    lines: Lines<BufReader<ChildStdout>>,
}

/// A store; a CA in `tls`, which certified its server for 127.0.0.1; and tokens of some principals in files of their names, beside
/// that of the operator in `token`.
pub(crate) fn with_server(principals: &[&str]) -> Folder {
    let folder = Folder::new();
    make_keks(&folder);
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls("ca init --name Servers --algorithm ML-DSA-44 --dir tls")
        .ok();
    folder
        .pqtls("ca issue 127.0.0.1 --dir tls --new-key server.key --out server.pem")
        .ok();
    folder.write("tokens.toml", "");
    let operator = ("token", "operator", TOKEN.to_owned());
    let others = principals
        .iter()
        .map(|name| (*name, *name, format!("the-token-of-{name}")));
    for (file, name, token) in core::iter::once(operator).chain(others) {
        folder
            .shell(&format!(
                "umask 077; echo '{token}' > {file}; printf '[[tokens]]\\nsha256 = \"%s\"\\nprincipal = \"{name}\"\\n' \
                 \"$(printf %s '{token}' | sha256sum | cut -d' ' -f1)\" >> tokens.toml"
            ))
            .ok();
    }
    folder
}

impl Served {
    /// Serves the store of a folder, with these options.
    pub(crate) fn start(folder: &Folder, options: &str) -> Self {
        Self::start_with(folder, &format!("--key server.key {options}"))
    }

    /// The same with a TLS key that the options name. What it says of itself is in `log`.
    pub(crate) fn start_with(folder: &Folder, options: &str) -> Self {
        let line =
            format!("store serve --kek-file kek --cert server.pem --tokens tokens.toml {options}");
        let line = match options.contains("--listen") {
            true => line,
            false => line + " --listen 127.0.0.1:0",
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
        command
            .args(line.split_whitespace())
            .current_dir(folder.path())
            .env_remove("PQTLS_STORE")
            .env_remove("PQTLS_STORE_AS")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("log")).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let serving = lines.next();
        let serving = serving.unwrap_or_else(|| panic!("{}", folder.read("log")));
        let serving = serving.unwrap();
        assert!(serving.starts_with("Serving https://"), "{serving}");
        Self {
            child,
            port: port_of(&serving),
            lines,
            serving,
        }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says.
    pub(crate) fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Waits until it has ended because it was asked to, without a complaint.
    pub(crate) fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it, and waits for that.
    pub(crate) fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Stops it, so that it answers nothing, and ends nothing.
    #[cfg(unix)]
    pub(crate) fn stop(&self) {
        let stop = format!("kill -STOP {}", self.child.id());
        let status = Command::new("sh").args(["-c", &stop]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

/// The port at the end of a line, or before its full stop.
pub(crate) fn port_of(line: &str) -> u16 {
    let (_, port) = line
        .trim_end()
        .trim_end_matches('.')
        .rsplit_once(':')
        .unwrap();
    port.parse().unwrap()
}
